"""Define NextTextIds, which finds the ids that may follow in a model whose tokens are text.

No rule splits the text of such a model. So its ids are those of a text if each is the result of
merging its own characters, and each pair of neighbors stays apart (`Pairs`). After merging, a
character without a token becomes the tokens of its bytes; no merge joins them with other tokens. So
the ids that may follow depend on the last id, on the bytes of an unfinished character, and on the
text at the end that may begin an added token.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from bpe.canonical.bits import has_bit, packed_bits, set_bits
from bpe.canonical.contents import Contents
from bpe.canonical.pairs import Pairs
from bpe.canonical.token_texts import codes_beginning
from bpe.characters.marks import SPACE_MARK
from bpe.encoding.added_tokens import AddedToken
from bpe.types import Ids

Segments = Callable[[bytes], "list[tuple[int, int, int | None]]"]
MARK = SPACE_MARK.encode()
CODE_POINTS, SURROGATES = 0x110000, slice(0xD800, 0xE000)
PROBES = (b"a", b"0", b".", b"\n")
"""Texts that show whether a text gets a prefix."""
MAX_STATES = 1024
"""The maximal number of states whose masks are kept."""


class State(NamedTuple):
    """All that decides which ids may follow.

    `last` is the last id, or None. `tail` has the bytes of an unfinished character. `open` is the
    text at the end that may begin an added token, with the whole text of an added token in it. Its
    last `own` bytes come after this token. `before` is the id before the last one if the last one
    is only the prefix of a text; else it is the last id.
    """

    last: int | None
    tail: bytes
    open: bytes
    own: int
    before: int | None


class NextTextIds:
    """Finds the ids that may follow, for one tokenizer."""

    def __init__(
        self,
        pairs: Pairs,
        tokens: Mapping[int, bytes],
        fallback: Mapping[int, int],
        added: Sequence[AddedToken],
        encode: Callable[[list[bytes]], list[list[int]]],
        segments: Segments,
        size: int,
    ) -> None:
        """Store the parts.

        `tokens` has the UTF-8 of all tokens but added tokens and those of bytes, which have the ids
        `fallback`. `segments` finds the added tokens in a text.
        """
        self._pairs, self._tokens, self._size = pairs, tokens, size
        self._encode, self._segments = encode, segments
        self._bytes = {id: byte for byte, id in fallback.items()}
        self._fallback = fallback
        self._added = {token.id: token.content.encode() for token in added}
        self._contents = Contents(added)
        self.reach = self._contents.longest + 4
        """The number of ids before an id that may decide whether it may follow."""
        self._texts = {id: token.replace(MARK, b" ") for id, token in tokens.items()}
        self._sorted = sorted((text, id) for id, text in self._texts.items())
        fits, begins_mark = np.zeros(size, bool), np.zeros(size, bool)
        for id, token in tokens.items():
            fits[id] = not self._contents.is_in(self._texts[id])
            begins_mark[id] = token.startswith(MARK)
        self._pieces = packed_bits(pairs.is_made & fits)
        self._begins_mark = packed_bits(begins_mark)
        self._unknown = UnknownCharacters(tokens.values())
        self._puts_prefix: dict[int | None, bool] = {}
        self._masks: OrderedDict[State, Ids] = OrderedDict()

    def allowed(self, ids: Sequence[int], start: int) -> Ids:
        """Return a bit mask of the ids that may follow; it must not be changed.

        `start` is the number of leading ids that are known to begin the ids of a text.
        """
        for at in range(start, len(ids)):
            if not has_bit(self._mask(self._state(ids, at)), ids[at]):
                return np.zeros_like(self._pieces)
        return self._mask(self._state(ids, len(ids)))

    def is_made(self, id: int) -> bool:
        """Return whether some text becomes the token."""
        if id in self._bytes:
            byte = self._bytes[id]
            return byte & 0xC0 == 0x80 or byte in self._unknown.bytes_after(b"")
        return bool(self._pairs.is_made[id])

    def stay_apart(self, left: int, right: int) -> bool:
        """Return whether no merge joins two tokens."""
        if left in self._bytes or right in self._bytes:
            return True
        return has_bit(self._pairs.followers(left), right)

    def is_text(self, last: Sequence[int], id: int) -> bool:
        """Return whether some text with characters that have no token may have the ids."""
        state = self._state(last, len(last))
        return id in self._bytes_after(state) if state.tail or id in self._bytes else True

    def _state(self, ids: Sequence[int], end: int) -> State:
        tail = b""
        for at in range(end - 1, max(end - 4, -1), -1):
            if ids[at] not in self._bytes:
                break
            byte = self._bytes[ids[at]]
            tail = bytes([byte]) + tail
            if byte & 0xC0 != 0x80:
                break
        if tail and len(tail) >= utf8_size(tail[0]):
            tail = b""
        text, own, at = b"", 0, end
        while at and len(text) < self._contents.longest - 1:
            at -= 1
            content = self._added.get(ids[at])
            if content is not None:
                own, text = len(text), content + text
                break
            text = self._text(ids, at) + text
            own = len(text)
        size = self._contents.open_size(text)
        last = ids[end - 1] if end else None
        is_prefix = last is not None and not self._text(ids, end - 1)
        return State(
            last,
            tail,
            text if size > own else text[len(text) - size :],
            min(own, size) if size <= own else own,
            (ids[end - 2] if end > 1 else None) if is_prefix else last,
        )

    def _text(self, ids: Sequence[int], at: int) -> bytes:
        """Return the text of ids[at], without the prefix of the text after an added token."""
        id = ids[at]
        if id in self._bytes:
            return bytes([self._bytes[id]])
        if id in self._added:
            return self._added[id]
        before = ids[at - 1] if at else None
        begins = before is None or before in self._added
        return self._texts[id][1:] if begins and self._has_prefix(before) else self._texts[id]

    def _has_prefix(self, before: int | None) -> bool:
        """Return whether the text after an added token, or at the start, gets "▁" before it."""
        known = self._puts_prefix.get(before)
        if known is None:
            content = b"" if before is None else self._added[before]
            at = int(before is not None)
            for probe in PROBES:
                ids = self._encode([content + probe])[0]
                if len(ids) > at and ids[at] in self._tokens and ids[:at] == [before][:at]:
                    break
            token = self._tokens.get(ids[at], b"") if len(ids) > at else b""
            known = self._puts_prefix[before] = token.startswith(MARK)
        return known

    def _mask(self, state: State) -> Ids:
        found = self._masks.get(state)
        if found is None:
            found = self._masks[state] = self._find(state)
            found.flags.writeable = False
            while len(self._masks) > MAX_STATES:
                self._masks.pop(next(iter(self._masks)), None)
        return found

    def _find(self, state: State) -> Ids:
        allowed = np.zeros_like(self._pieces)
        set_bits(allowed, self._bytes_after(state), True)
        if state.tail:
            return allowed
        begins = state.last is None or state.last in self._added
        if begins:
            has_prefix = self._has_prefix(state.last)
            allowed |= self._pieces & self._begins_mark if has_prefix else self._pieces
        elif state.last in self._bytes:
            allowed |= self._pieces
        else:
            assert state.last is not None, "begins"
            allowed |= self._pieces & self._pairs.followers(state.last)
        set_bits(allowed, self._touched(state, begins), False)
        set_bits(allowed, self._added_after(state), True)
        return allowed

    def _added_after(self, state: State) -> list[int]:
        """Return the ids of added tokens that may follow."""
        if state.before != state.last:
            # A text that is only a space, which the prefix may come before.
            known = [] if state.before is None else [state.before]
            start = b"".join(self._added[id] for id in known) + b" "
            texts = [start + content for content in self._added.values()]
            found = zip(self._added, self._encode(texts), strict=True)
            return [id for id, ids in found if ids == [*known, state.last, id]]
        size = len(state.open)
        return [
            id
            for id, content in self._added.items()
            if not size
            or self._segments(state.open + content)[-1] == (size, size + len(content), id)
        ]

    def _bytes_after(self, state: State) -> list[int]:
        """Return the ids of bytes of characters without a token."""
        begins = state.last is None or state.last in self._added
        if begins and self._has_prefix(state.last):
            return []
        return [self._fallback[byte] for byte in self._unknown.bytes_after(state.tail)]

    def _touched(self, state: State, begins: bool) -> Iterator[int]:
        """Yield the ids that complete the text of an added token."""
        prefix = b" " if begins and self._has_prefix(state.last) else b""
        for size in range(1, len(state.open) + 1):
            tail = state.open[-size:]
            for content in self._contents.all:
                if len(content) <= size or not content.startswith(tail):
                    continue
                rest = prefix + content[size:]
                for text, id in islice(self._sorted, bisect_left(self._sorted, (rest, -1)), None):
                    if not text.startswith(rest):
                        break
                    if size <= state.own or self._is_matched(state, text[len(prefix) :]):
                        yield id

    def _is_matched(self, state: State, text: bytes) -> bool:
        """Return whether an added token takes a part of `text` after the open text."""
        return any(
            id is not None and end > len(state.open)
            for _, end, id in self._segments(state.open + text)
        )


class UnknownCharacters:
    """The characters that have no token, and so become the tokens of their bytes."""

    def __init__(self, tokens: Iterable[bytes]) -> None:
        """Find the characters; `tokens` are UTF-8."""
        self._is_unknown = np.ones(CODE_POINTS, bool)
        self._is_unknown[SURROGATES] = False
        self._is_unknown[ord(" ")] = False  # a space becomes "▁"
        for token in tokens:
            text = token.decode("utf-8", "ignore")
            if len(text) == 1:
                self._is_unknown[ord(text)] = False
        self._known: dict[bytes, list[int]] = {}

    def bytes_after(self, start: bytes) -> list[int]:
        """Return the bytes after `start`, which is empty or begins a character, in their UTF-8."""
        known = self._known.get(start)
        if known is None:
            known = self._known[start] = self._find(start)
        return known

    def _find(self, start: bytes) -> list[int]:
        if not start:
            leads = [byte for byte in range(0xC2, 0xF5) if self._find(bytes([byte]))]
            return [*np.flatnonzero(self._is_unknown[:0x80]).tolist(), *leads]
        codes = codes_beginning(start)
        codes = codes[self._is_unknown[codes]]
        size = utf8_size(start[0]) - len(start)
        found: list[int] = np.unique(codes >> 6 * (size - 1) & 0x3F | 0x80).tolist()
        return found


def utf8_size(lead: int) -> int:
    """Return the number of bytes of a character in UTF-8, by its first byte."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
