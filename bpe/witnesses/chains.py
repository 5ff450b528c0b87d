"""Define Chains, which completes the characters at both ends of a token by other tokens.

Two tokens are neighbors if merging their joined bytes gives the two tokens again. The merges of a
pre-token give the tokens t1, t2, …, tn if and only if each of them is made by merges, and each two
adjacent ones are neighbors. Proof: merges at the same time, with no regard to the rest, give each
part the symbols that it has alone, as long as no merge crosses the border of two parts. The first
merge that crosses a border would cross it in the two parts around the border alone, too.

So some valid UTF-8 merges to tokens with the token t if and only if a chain of neighbors around t
begins and ends between two characters. Chains finds such chains.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from bpe.once import kept
from bpe.witnesses.utf8_parts import Parts, is_character, is_prefix, parts_of


class Chain(NamedTuple):
    """The neighbors of a token that complete the characters at its ends."""

    before: bytes
    """The bytes before the token, from the start of a character on."""
    after: bytes
    """The bytes after the token, up to the end of a character."""
    first: str
    """The characters up to the one at the start of the token, which have tokens of the chain.

    "" if the token begins between two characters. A character at the start of the chain is omitted
    if other characters may stand there, too.
    """
    last: str
    """The same for the characters from the end of the token on; "" for a token in a character."""


class Chains:
    """Completes the characters of tokens of a byte-level vocabulary.

    `tokens` has the tokens that merges make, by id. `merge` returns the ids to which the merges
    turn some bytes.
    """

    def __init__(self, tokens: dict[int, bytes], merge: Callable[[bytes], list[int]]) -> None:
        self._tokens = tokens
        self._parts: dict[int, Parts] = {}
        # Tokens that begin or end in the middle of a character, by the bytes of this character.
        self._by_head: dict[bytes, list[int]] = {}
        self._by_tail: dict[bytes, list[int]] = {}
        self._inner: list[int] = []
        for id, token in tokens.items():
            if token.isascii() or not (parts := parts_of(token)).is_valid:
                continue
            self._parts[id] = parts
            if parts.is_inner:
                self._inner.append(id)
            elif parts.head:
                self._by_head.setdefault(parts.head, []).append(id)
            if parts.tail:
                self._by_tail.setdefault(parts.tail, []).append(id)
        self._merge = merge

    def of(self, id: int, completes: bool = True) -> Iterator[Chain]:
        """Yield a chain for each pair of characters that may be at the ends of the token.

        No chain means that no valid UTF-8 merges to tokens with this one. Unless `completes`, yield
        chains that complete only the characters of this token, in any bytes around it.
        """
        parts = parts_of(self._tokens[id])
        if id not in self._parts:
            return
        if parts.is_inner:
            for char, before, _ in self._leads(id, parts.head, completes):
                if is_character(char):
                    yield Chain(before, b"", char.decode(), "")
                elif is_prefix(char):
                    for whole, after in self._ends(id, char, completes):
                        yield Chain(before, after, whole, "")
            return
        for first, before in self._firsts(id, parts.head, completes):
            for last, after in self._lasts(id, parts.tail, completes):
                yield Chain(before, after, first, last)

    def _firsts(self, id: int, head: bytes, completes: bool) -> Iterator[tuple[str, bytes]]:
        if not head:
            yield "", b""
        else:
            for char, before, text in self._leads(id, head, completes):
                if is_character(char):
                    yield text + char.decode(), before

    def _lasts(self, id: int, tail: bytes, completes: bool) -> Iterator[tuple[str, bytes]]:
        return self._ends(id, tail, completes) if tail else iter([("", b"")])

    @kept(1 << 20)
    def _are_neighbors(self, left: int, right: int) -> bool:
        return self._merge(self._tokens[left] + self._tokens[right]) == [left, right]

    def _leads(self, id: int, middle: bytes, completes: bool) -> Iterator[tuple[bytes, bytes, str]]:
        """Yield (character up to the end of `middle`, bytes before the token, text).

        `middle` has the bytes of the character from the token on. The text is before the character,
        in the token that begins the character.
        """
        for tail, ids in self._by_tail.items():
            char = tail + middle
            if not (is_character(char) or is_prefix(char)):
                continue
            for other in ids:
                if self._are_neighbors(other, id):
                    before = self._completion(other, True) if completes else b""
                    if before is not None:
                        yield char, before + self._tokens[other], self._parts[other].text
        for other in self._inner_before(id, middle):
            for char, before, text in self._leads(other, self._tokens[other] + middle, completes):
                yield char, before + self._tokens[other], text

    def _ends(self, id: int, start: bytes, completes: bool) -> Iterator[tuple[str, bytes]]:
        """Yield (text from the character on, bytes after the token).

        `start` has the bytes of the character up to the end of the token.
        """
        for head, ids in self._by_head.items():
            if not is_character(start + head):
                continue
            for other in ids:
                if self._are_neighbors(id, other):
                    after = self._completion(other, False) if completes else b""
                    if after is not None:
                        yield (
                            (start + head).decode() + self._parts[other].text,
                            self._tokens[other] + after,
                        )
        for other in self._inner_after(id, start):
            char = start + self._tokens[other]
            if is_character(char):
                yield char.decode(), self._tokens[other]
            else:
                for whole, after in self._ends(other, char, completes):
                    yield whole, self._tokens[other] + after

    def _inner_before(self, id: int, known: bytes) -> list[int]:
        return [
            other
            for other in self._inner
            if len(self._tokens[other]) + len(known) <= 3 and self._are_neighbors(other, id)
        ]

    def _inner_after(self, id: int, known: bytes) -> list[int]:
        return [
            other
            for other in self._inner
            if (is_character(char := known + self._tokens[other]) or is_prefix(char))
            and self._are_neighbors(id, other)
        ]

    @kept()
    def _completion(self, id: int, is_before: bool) -> bytes | None:
        """Return bytes before or after the token that complete the character at this end of it.

        None if no bytes can. A state is the last token so far, and the known bytes of the
        character to complete.
        """
        by_end, inner = self._by_head, self._inner_after
        if is_before:
            by_end, inner = self._by_tail, self._inner_before

        def edge(id: int) -> bytes:
            return self._parts[id].head if is_before else self._parts[id].tail

        def join(new: bytes, known: bytes) -> bytes:
            return new + known if is_before else known + new

        queue, seen = deque([(id, edge(id), b"")]), {(id, edge(id))}
        while queue:
            at, known, found = queue.popleft()
            if not known:
                return found
            states = [
                (other, edge(other))
                for end, ids in by_end.items()
                if is_character(join(end, known))
                for other in ids
                if self._are_neighbors(*((other, at) if is_before else (at, other)))
            ]
            for other in inner(at, known):
                char = join(self._tokens[other], known)
                states.append((other, b"" if is_character(char) else char))
            for state in states:
                if state not in seen:
                    seen.add(state)
                    queue.append((*state, join(self._tokens[state[0]], found)))
        return None
