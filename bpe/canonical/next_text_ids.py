"""Define NextTextIds, which finds the ids that may follow in a model whose tokens are text.

No rule splits the text of such a model. So its ids are those of a text if each is the result of
merging its own characters, and each pair of neighbors stays apart (`Pairs`). After merging, a
character without a token becomes the tokens of its bytes; no merge joins them with other tokens. So
the ids that may follow depend on the last id, on the bytes of an unfinished character, and on the
text at the end that may begin an added token.

A "▁" of a token is a space of the text or a "▁". All are taken for the one that no added token has,
because a text with the other one is that of fewer ids. An id may have two readings: it is the id of
an added token, and merging gives it too. Gemma 3 has added tokens of several "▁", and merging gives
their ids for spaces. Such an id is followed by the ids that one of its readings allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bpe.canonical.beginnings import beginning_with
from bpe.canonical.bits import has_bit, packed_bits, set_bits
from bpe.canonical.contents import Contents
from bpe.canonical.pairs import Pairs
from bpe.canonical.token_texts import codes_beginning
from bpe.characters.marks import SPACE_MARK
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.utf8 import MAX_CHAR
from bpe.once import kept
from bpe.types import Ids
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

Segments = Callable[[bytes], "list[tuple[int, int, int | None]]"]
MARK = SPACE_MARK.encode()
WHITE_SPACE = frozenset(WHITE_SPACE_CODE_POINTS)
CODE_POINTS, SURROGATES = 0x110000, slice(0xD800, 0xE000)
PROBES = (b"a", b"0", b".", b"\n")
"""Texts that show whether a text gets a prefix."""
MAX_STATES = 1024
"""The maximal number of states whose masks are kept."""


class State(NamedTuple):
    """All that decides which ids may follow.

    `last` is the last reading, or None. `tail` has the bytes of an unfinished character. `open` is
    the text at the end that may begin an added token, with the whole text of an added token in it.
    Its last `own` bytes come after this token. `before` is the reading before the last one if the
    last one is only the prefix of a text; else it is the last one. `ends_white` is true if an
    `lstrip` token takes the end of the text, and `is_stripped` if an `rstrip` token takes white
    space that follows.
    """

    last: int | None
    tail: bytes
    open: bytes
    own: int
    before: int | None
    ends_white: bool
    is_stripped: bool


class Following(NamedTuple):
    """The ids that may follow a state, as a bit mask, and the readings of ids that have two."""

    mask: Ids
    readings: frozenset[int]


class NextTextIds:
    """Finds the ids that may follow, for one tokenizer.

    A reading of an id is the id itself, or ~id for the added token of an id that merging gives too.
    """

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

        `tokens` has the UTF-8 of all tokens but those of bytes, which have the ids `fallback`.
        `segments` finds the added tokens in a text.
        """
        self._pairs, self._tokens, self._size = pairs, tokens, size
        self._encode, self._segments = encode, segments
        self._bytes = {id: byte for byte, id in fallback.items()}
        self._fallback = fallback
        self._contents = Contents(added)
        has_mark = any(SPACE_MARK in token.content for token in added)
        self._space = b" " if has_mark else MARK
        self._texts = {id: token.replace(MARK, self._space) for id, token in tokens.items()}
        self._sorted_ids = sorted(self._texts, key=lambda id: self._texts[id])
        self._sorted = [self._texts[id] for id in self._sorted_ids]
        fits = np.zeros(size, bool)
        for id, text in self._texts.items():
            fits[id] = not self._contents.is_in(text)
        self._pieces = packed_bits(pairs.is_made & fits)
        self._twins = {token.id for token in added if has_bit(self._pieces, token.id)}
        readings = {token.id: ~token.id if token.id in self._twins else token.id for token in added}
        self._added_twins = frozenset(~id for id in self._twins)
        self._added = {readings[token.id]: token.content.encode() for token in added}
        self._by_content = {content: reading for reading, content in self._added.items()}
        # Added tokens whose texts have another added token.
        self._hidden = frozenset(
            reading
            for content, reading in self._by_content.items()
            if segments(content) != [(0, len(content), _id_of(reading))]
        )
        self._characters = frozenset(
            ord(token.content) for token in added if len(token.content) == 1
        )
        self._strips_before = {readings[token.id] for token in added if token.lstrip}
        self._strips_after = {readings[token.id] for token in added if token.rstrip}
        self._added_bits = self._bits_of(readings)
        self._begins_mark = self._bits_of(id for id in tokens if tokens[id].startswith(MARK))
        self._unknown = UnknownCharacters(tokens.values())
        self._reach = self._contents.longest + MAX_CHAR

    def _bits_of(self, ids: Iterable[int]) -> Ids:
        """Return a bit mask of ids."""
        bits = np.zeros(self._size, bool)
        bits[list(ids)] = True
        return packed_bits(bits)

    def allowed(self, ids: Sequence[int], start: int) -> Ids:
        """Return a bit mask of the ids that may follow; it must not be changed.

        `start` is the number of leading ids that are known to begin the ids of a text.
        """
        # Each way to read the ids, by its state.
        at = self._agreement(ids, start)
        first = max(at - self._reach, 0)
        way = list(map(int, ids[first:at]))
        ways = {self._state(way, len(way)): way}
        for id in ids[at:]:
            ways = self._extended(ways, int(id))
        masks = [self._following(state).mask for state in ways]
        if len(masks) == 1:
            return masks[0]
        union: Ids = np.bitwise_or.reduce([np.zeros_like(self._pieces), *masks])
        return union

    def _extended(self, ways: dict[State, list[int]], id: int) -> dict[State, list[int]]:
        """Return the ways to read `id` after other ids."""
        longer = {}
        for state, way in ways.items():
            following = self._following(state)
            if id in self._twins:
                readings = following.readings & {id, ~id}
            else:
                readings = frozenset({id} if has_bit(following.mask, id) else ())
            for reading in readings:
                new = [*way, reading]
                longer[self._state(new, len(new))] = new
        return longer

    def _agreement(self, ids: Sequence[int], start: int) -> int:
        """Return the last place up to `start` where all readings of ids have the same state."""
        while start and self._twins and self._depends_on_reading(ids, start):
            start -= 1
        return start

    def _depends_on_reading(self, ids: Sequence[int], end: int) -> bool:
        """Return whether the state after ids[:end] depends on the readings of ids."""
        first = max(self._open_text(ids, end)[0] - 1, 0)
        for at in range(end - 1, first - 1, -1):
            if ids[at] in self._twins:
                # The open text ends at an added token, and at a space: no added token has one.
                way = list(map(int, ids[max(end - self._reach, 0) : end]))
                other = list(way)
                other[at - end] = ~other[at - end]
                return self._state(way, len(way)) != self._state(other, len(way))
        return False

    def is_made(self, id: int) -> bool:
        """Return whether some text becomes the token."""
        if id in self._bytes:
            byte = self._bytes[id]
            return byte & 0xC0 == 0x80 or byte in self._unknown.bytes_after(b"", frozenset())
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
        for at in range(end - 1, max(end - MAX_CHAR, -1), -1):
            if ids[at] not in self._bytes:
                break
            byte = self._bytes[ids[at]]
            tail = bytes([byte]) + tail
            if byte & 0xC0 != 0x80:
                break
        if tail and len(tail) >= utf8_size(tail[0]):
            tail = b""
        at, text, own = self._open_text(ids, end)
        begins_text = at < end and ids[at] in self._added
        size = self._contents.open_size(text)
        last = ids[end - 1] if end else None
        is_prefix = last is not None and not self._text(ids, end - 1)
        return State(
            last,
            tail,
            text if size > own else text[len(text) - size :],
            min(own, size) if size <= own else own,
            (ids[end - 2] if end > 1 else None) if is_prefix else last,
            bool(self._strips_before and own) and _ends_white(text[-min(own, MAX_CHAR) :]),
            begins_text and own == len(tail) and ids[at] in self._strips_after,
        )

    def _open_text(self, ids: Sequence[int], end: int) -> tuple[int, bytes, int]:
        """Return a text that the open text ends, after ids[:end].

        Also return the index of the first id of this text, and the number of bytes after the last
        added token in it.
        """
        text, at = b"", end
        while at and len(text) < max(self._contents.longest - 1, MAX_CHAR):
            at -= 1
            content = self._added.get(ids[at])
            if content is not None:
                return at, content + text, len(text)
            part = self._text(ids, at)
            text = part + text
            if ids[at] not in self._bytes and self._contents.has_byte_outside(part):
                break
        return at, text, len(text)

    def _text(self, ids: Sequence[int], at: int) -> bytes:
        """Return the text of ids[at], without the prefix of the text after an added token."""
        id = ids[at]
        if id in self._bytes:
            return bytes([self._bytes[id]])
        if id in self._added:
            return self._added[id]
        before = ids[at - 1] if at else None
        begins = before is None or before in self._added
        return self._texts.get(id, b"")[self._prefix(before)[1] if begins else 0 :]

    @kept()
    def _prefix(self, before: int | None) -> tuple[bool, int]:
        """Return whether the first token after an added token, or of all, begins with "▁".

        Also return the number of bytes of this token that are not in the text.
        """
        known = [] if before is None else [_id_of(before)]
        content = b"" if before is None else self._added[before]
        for probe in PROBES:
            plain, spaced = self._encode([content + probe, content + self._space + probe])
            if plain[: len(known)] == known and len(plain) > len(known):
                first = self._tokens.get(plain[len(known)], b"")
                if not first.startswith(MARK):
                    return False, 0
                joined = b"".join(self._tokens.get(id, b"") for id in spaced[len(known) :])
                return True, len(self._space) if joined.startswith(MARK + MARK) else 0
        return False, 0

    @kept(MAX_STATES)
    def _following(self, state: State) -> Following:
        allowed = np.zeros_like(self._pieces)
        set_bits(allowed, self._bytes_after(state), True)
        if state.tail:
            allowed.flags.writeable = False
            return Following(allowed, frozenset())
        begins = state.last is None or state.last in self._added
        needs_mark, skipped = self._prefix(state.last) if begins else (False, 0)
        if begins:
            allowed |= self._pieces & self._begins_mark if needs_mark else self._pieces
        elif state.last in self._bytes:
            allowed |= self._pieces
        else:
            assert state.last is not None, "begins"
            allowed |= self._pieces & self._pairs.followers(state.last)
        if state.is_stripped:
            allowed &= ~self._beginning_white(skipped)
        prefix = self._space[:skipped]
        if state.open:
            set_bits(allowed, self._completing(state.open, state.own, prefix), False)
        merged = {id for id in self._twins if has_bit(allowed, id)}
        allowed |= self._added_bits
        refused = self._refused_added(state, needs_mark)
        twins = self._added_twins - refused
        set_bits(allowed, (id for id in map(_id_of, refused) if id not in merged), False)
        allowed.flags.writeable = False
        return Following(allowed, frozenset(merged | twins))

    @kept()
    def _beginning_white(self, skipped: int) -> Ids:
        """Return a bit mask of the tokens whose text, after `skipped` bytes, begins white."""
        return self._bits_of(
            id
            for id, text in self._texts.items()
            if (rest := text[skipped:].decode("utf-8", "replace")) and ord(rest[0]) in WHITE_SPACE
        )

    def _refused_added(self, state: State, needs_mark: bool) -> frozenset[int]:
        """Return the readings of added tokens that may not follow."""
        if not needs_mark and state.before == state.last:
            refused = self._refusals(state.open, state.own, b"")[0] if state.open else frozenset()
            return refused | self._hidden | (self._strips_before if state.ends_white else set())
        # A prefix may stand before the text of the token, or before an empty or white text.
        gaps = [b""] if needs_mark else [b"", b" ", MARK]
        start = [] if state.before is None else [state.before]
        before = b"".join(self._added[reading] for reading in start)
        if not needs_mark:
            assert state.last is not None, "it is the prefix"
            start.append(state.last)
        ids = list(map(_id_of, start))
        refused = frozenset(self._added)
        for gap in gaps:
            texts = [before + gap + content for content in self._added.values()]
            found = zip(self._added, self._encode(texts), strict=True)
            refused -= {reading for reading, ids_ in found if ids_ == [*ids, _id_of(reading)]}
        return refused

    def _bytes_after(self, state: State) -> list[int]:
        """Return the ids of bytes of characters without a token."""
        begins = state.last is None or state.last in self._added
        if begins and self._prefix(state.last)[0]:
            return []
        refused = frozenset() if state.tail else self._characters
        if state.open:
            refused |= self._refusals(state.open, state.own, state.tail)[1]
        if state.is_stripped:
            refused |= WHITE_SPACE
        return [self._fallback[byte] for byte in self._unknown.bytes_after(state.tail, refused)]

    @kept(MAX_STATES)
    def _refusals(
        self, open: bytes, own: int, tail: bytes
    ) -> tuple[frozenset[int], frozenset[int]]:
        """Return the readings and the characters that may not follow the open text.

        `tail` has the first bytes of the character.
        """
        added, characters = set(), set()
        for rest, is_own in self._open_rests(open, own):
            for content in self._contents.starting(rest):
                reading, segment = self._by_content[content], self._segments(open + content)[-1]
                if segment != (len(open), len(open) + len(content), _id_of(reading)):
                    added.add(reading)
            data = tail + rest
            if len(data) == utf8_size(data[0]) and (is_own or self._is_matched(open, rest)):
                characters.add(ord(data.decode()))
        return frozenset(added), frozenset(characters)

    def _open_rests(self, open: bytes, own: int) -> Iterator[tuple[bytes, bool]]:
        """Yield the rests of the added tokens that begin in the open text.

        The flag is true if the token begins in the last `own` bytes.
        """
        for end in self._contents.open_ends(open):
            for rest in self._contents.rests(end):
                yield rest, len(end) <= own

    @kept(MAX_STATES)
    def _completing(self, open: bytes, own: int, prefix: bytes) -> list[int]:
        """Return the ids that complete the text of an added token after a prefix."""
        return [
            self._sorted_ids[at]
            for rest, is_own in self._open_rests(open, own)
            for at in beginning_with(self._sorted, prefix + rest)
            if is_own or self._is_matched(open, self._sorted[at][len(prefix) :])
        ]

    def _is_matched(self, open: bytes, text: bytes) -> bool:
        """Return whether an added token takes a part of `text` after the open text."""
        return any(id is not None and end > len(open) for _, end, id in self._segments(open + text))


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

    @kept(MAX_STATES)
    def bytes_after(self, start: bytes, but: frozenset[int]) -> list[int]:
        """Return the bytes after `start` in the UTF-8 of a character.

        `start` is empty or begins a character. The characters `but` do not count.
        """
        if not start:
            leads = [byte for byte in range(0xC2, 0xF5) if self.bytes_after(bytes([byte]), but)]
            single = [byte for byte in np.flatnonzero(self._is_unknown[:0x80]) if byte not in but]
            return [*map(int, single), *leads]
        codes = codes_beginning(start)
        codes = codes[self._is_unknown[codes]]
        codes = codes[~np.isin(codes, list(but))]
        size = utf8_size(start[0]) - len(start)
        found: list[int] = np.unique(codes >> 6 * (size - 1) & 0x3F | 0x80).tolist()
        return found


def _id_of(reading: int) -> int:
    """Return the id of a reading."""
    return max(reading, ~reading)


def _ends_white(text: bytes) -> bool:
    """Return whether the last character of UTF-8 is white space."""
    return ord(text.decode("utf-8", "replace")[-1]) in WHITE_SPACE


def utf8_size(lead: int) -> int:
    """Return the number of bytes of a character in UTF-8, by its first byte."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
