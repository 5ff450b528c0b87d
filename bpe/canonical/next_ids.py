"""Define NextIds, which finds the ids that may follow other ids.

The ids after the last proven cut are open: more text may change them. The ids that may follow are
found from the open ids alone. They are the ids t for which some text w exists so that encoding the
text of the open ids and of t, followed by w, gives the open ids and t first. The steps:

1. `Splits` finds all ways to split the open text, the text of t and w. Tokens with equal classes
   are split alike, so it tries one token of each group. In no way does a boundary lie inside t.
2. The open ids must fit the way: each pre-token must merge to its ids.
3. If t begins a pre-token that ends with t, its bytes must merge to t alone. If t continues a
   pre-token that ends with t, t and the id before it must stay apart (`Pairs`).
4. Any other id is tried with texts after it: if a pre-token must go on after t, if NFC or an added
   token may change t, if t or an open id ends inside a character, or if the look-up of whole
   pre-tokens may replace it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple, TypeAlias

import numpy as np

from bpe.canonical.bits import packed_bits
from bpe.canonical.classes import APOSTROPHE, Classes
from bpe.canonical.contents import Contents
from bpe.canonical.open_ids import OpenIds, is_valid
from bpe.canonical.pairs import Bits, Pairs
from bpe.canonical.splits import Split, Splits, Ways
from bpe.canonical.token_groups import TokenGroups, class_keys
from bpe.canonical.token_texts import TokenTexts, complete_part
from bpe.encoding.added_tokens import AddedToken, is_white
from bpe.types import Ids

Encode: TypeAlias = Callable[[list[bytes]], "list[list[int]]"]
MAX_STATES = 1024
"""The maximal number of open ids whose masks are kept."""
MAX_WAYS = 4096
"""The maximal number of open texts whose ways to split are kept."""
MAX_EXAMPLES = 40
"""The maximal number of characters of a class that are tried after an id."""
BATCH = 4096
"""The number of texts that are encoded at once."""


class GroupWays(NamedTuple):
    """The ways to split an open text and each group of tokens: bits, and classes, by group."""

    closed: dict[Split, Bits]
    open: dict[Split, dict[int, frozenset[int]]]


class NextIds:
    """Finds the ids that may follow, for one tokenizer."""

    def __init__(
        self,
        pairs: Pairs,
        classes: Classes,
        splits: Splits,
        texts: TokenTexts,
        tokens: Mapping[int, bytes],
        whole: Mapping[bytes, int],
        added: Sequence[AddedToken],
        encode: Encode,
        is_cut: Callable[[str, str], bool],
        size: int,
    ) -> None:
        """Store the parts.

        `tokens` has the bytes of the tokens that merging may give, and `whole` the ids of
        pre-tokens that are looked up before merging. `encode` returns the ids of texts.
        """
        self._pairs, self._classes, self._splits, self._texts = pairs, classes, splits, texts
        self._tokens, self._whole, self._encode, self._is_cut = tokens, whole, encode, is_cut
        self._size = size
        self._added = {token.id: token.content.encode() for token in added}
        self._strips_after = {token.id for token in added if token.rstrip}
        self._contents = Contents(added)
        self._groups = TokenGroups(texts.texts, classes)
        self._after_apostrophe: TokenGroups | None = None
        self._alone: Bits = pairs.is_made.copy()
        self._alone[list(whole.values())] = True
        for id, token in tokens.items():
            if whole.get(token, id) != id:
                self._alone[id] = False
        # Tokens that only the look-up of a whole pre-token gives, in the order of their bytes.
        self._unmade = sorted(
            token for token, id in whole.items() if not pairs.is_made[id] and len(token) > 1
        )
        self._open_unmade: list[int] | None = None
        self._sorted = sorted((token, id) for id, token in tokens.items())
        self._has_content: Bits = np.zeros(size, bool)
        for id, token in tokens.items():
            self._has_content[id] = self._contents.is_in(token)
        self._begins_white: Bits = np.zeros(size, bool)
        for id, text in zip(texts.ids.tolist(), texts.texts, strict=True):
            self._begins_white[id] = is_white(text[0])
        self._ways: OrderedDict[tuple[bytes, bool], tuple[GroupWays, TokenGroups, bool]] = (
            OrderedDict()
        )
        self._solo: dict[str, Ways] = {}
        self._masks: OrderedDict[tuple[int, ...], Ids] = OrderedDict()

    def allowed(self, open_ids: tuple[int, ...]) -> Ids:
        """Return a bit mask of the ids that may follow the open ids; it must not be changed."""
        found = self._masks.get(open_ids)
        if found is None:
            found = self._masks[open_ids] = packed_bits(self._find(open_ids))
            found.flags.writeable = False
            while len(self._masks) > MAX_STATES:
                self._masks.pop(next(iter(self._masks)), None)
        return found

    def witness(self, open_ids: tuple[int, ...], id: int) -> bytes | None:
        """Return a text whose ids begin with the open ids and `id`, or None."""
        return self._search(OpenIds(open_ids, self._added, self._tokens), id, None)

    def is_made(self, id: int) -> bool:
        """Return whether some pre-token becomes the token alone."""
        return bool(self._alone[id] or self._pairs.is_made[id])

    def stay_apart(self, left: int, right: int) -> bool:
        """Return whether merging the bytes of two tokens gives the two tokens."""
        return bool(self._pairs.followers(left)[right])

    def is_text(self, last: Sequence[int], id: int) -> bool:
        """Return whether valid UTF-8 may have the bytes of `id` after those of `last`."""
        before = b"".join(self._added.get(each) or self._tokens[each] for each in last)
        data = before[-3:] + self._tokens[id]
        start = 0
        while start < len(data) and data[start] & 0xC0 == 0x80 and start < len(before[-3:]):
            start += 1
        return is_valid(data[start : complete_part(data)[1]])

    def _find(self, open_ids: tuple[int, ...]) -> Bits:
        state = OpenIds(open_ids, self._added, self._tokens)
        allowed = np.zeros(self._size, bool)
        if state.text is None:
            return allowed
        uncertain: dict[int, frozenset[int]] = {}
        if state.tail:
            self._add_inside(state, allowed, uncertain)
        else:
            self._add_by_way(state, allowed, uncertain)
        for id in np.flatnonzero(allowed & self._texts.depends).tolist():
            allowed[id] = any(
                self._texts.is_normal(state.text + text) for text in self._texts.by_id[id]
            )
        allowed &= ~self._has_content
        if state.last_added in self._strips_after and not state.ids:
            allowed &= ~self._begins_white
        for id, is_sure in self._touched(state):
            if is_sure:
                allowed[id] = False
                uncertain.pop(id, None)
            elif allowed[id]:
                uncertain.setdefault(id, frozenset())
        for id, classes in uncertain.items():
            allowed[id] = self._search(state, id, classes) is not None
        for id in self._added:
            allowed[id] = not state.tail and self._search(state, id, None) is not None
        return allowed

    def _add_inside(
        self, state: OpenIds, allowed: Bits, uncertain: dict[int, frozenset[int]]
    ) -> None:
        """Do the same as `_add_by_way` after ids that end inside a character."""
        assert state.text is not None
        apart = self._pairs.followers(state.ids[-1])
        known: dict[bytes, tuple[bool, frozenset[int]]] = {}
        for id in self._texts.inside:
            if not apart[id]:
                continue
            data = state.tail + self._tokens[id]
            _, end = complete_part(data)
            if not is_valid(data[:end]):
                continue
            text = data[:end].decode()
            ends = [""] if end == len(data) else self._texts.completions(id, data[end:])
            for more in ends:
                if not self._texts.is_normal(state.text + text + more):
                    continue
                key = self._classes.text(text + more).tobytes()
                if key not in known:
                    known[key] = self._fitting(state, text + more)
                is_closed, classes = known[key]
                end_bytes = (text + more).encode()
                if is_closed and not any(token.endswith(end_bytes) for token in self._unmade):
                    allowed[id] = True
                elif is_closed or classes:
                    uncertain[id] = uncertain.get(id, frozenset()) | classes
            if allowed[id]:
                uncertain.pop(id, None)

    def _fitting(self, state: OpenIds, token: str) -> tuple[bool, frozenset[int]]:
        """Return whether a closed way fits the open ids, and the classes of open ways that fit."""
        assert state.text is not None
        ways = self._splits.ways(state.text, token)

        def fits(way: Split) -> bool:
            size = len(state.text or "")
            places = (*way.places, size) if way.begins and size else way.places
            inner = Split(places, False)
            pieces = state.pieces(inner)
            return pieces is not None and self._fits(state, pieces, inner)

        classes = [firsts for way, firsts in ways.open.items() if fits(way)]
        return any(map(fits, ways.closed)), frozenset().union(*classes)

    def _add_by_way(
        self, state: OpenIds, allowed: Bits, uncertain: dict[int, frozenset[int]]
    ) -> None:
        """Set the ids that the ways to split allow; collect the ids to try with texts."""
        assert state.text is not None
        ways, groups = self._group_ways(state.text)
        ids, of, is_open = self._texts.ids, groups.of, self._texts.is_open[self._texts.ids]
        for way in {**ways.closed, **ways.open}:
            pieces = state.pieces(way)
            if pieces is None or not self._fits(state, pieces, way):
                continue
            if way.begins:
                fits, alone = self._pairs.is_made, self._alone
            else:
                fits = alone = self._pairs.followers(state.ids[-1])
            closed, opened = ways.closed.get(way), ways.open.get(way, {})
            fitting = fits[ids] & ~allowed[ids]
            tried = np.zeros(len(groups.examples), bool)
            tried[list(opened)] = True
            if closed is not None:
                # An open token goes on with the rest of its character, so it is not alone.
                sure = np.zeros(self._size, bool)
                sure[ids[closed[of] & np.where(is_open, fits[ids], alone[ids])]] = True
                sure[self._unmade_after(b"" if way.begins else pieces[-1])] = False
                allowed |= sure
                tried |= closed
            for place in np.flatnonzero(tried[of] & fitting & ~allowed[ids]).tolist():
                id, classes = int(ids[place]), opened.get(int(of[place]), frozenset())
                uncertain[id] = uncertain.get(id, frozenset()) | classes
        for id in [id for id in uncertain if allowed[id]]:
            del uncertain[id]

    def _unmade_after(self, start: bytes) -> list[int]:
        """Return the ids that, after `start`, may become part of a token that merging never gives.

        If `start` is empty, a token that is a whole pre-token is no doubt.
        """
        if not start and self._open_unmade is not None:
            return self._open_unmade
        doubtful: list[int] = []
        for token in islice(self._unmade, bisect_left(self._unmade, start), None):
            if not token.startswith(start):
                break
            rest = token[len(start) :]
            if start:
                doubtful += self._ids_of(rest)
            for size in range(1, len(rest)):
                doubtful += [id for id in self._ids_of(rest[:size]) if self._texts.is_open[id]]
        if not start:
            self._open_unmade = doubtful
        return doubtful

    def _ids_of(self, token: bytes) -> Iterator[int]:
        at = bisect_left(self._sorted, (token, -1))
        while at < len(self._sorted) and self._sorted[at][0] == token:
            yield self._sorted[at][1]
            at += 1

    def _touched(self, state: OpenIds) -> Iterator[tuple[int, bool]]:
        """Yield the ids that complete the text of an added token.

        The flag is true if the text is not a part of another added token before the id.
        """
        data = state.data
        for size in range(1, min(self._contents.longest - 1, len(data)) + 1):
            tail = data[-size:]
            for content in self._contents.all:
                if len(content) > size and content.startswith(tail):
                    rest = content[size:]
                    for token, id in islice(
                        self._sorted, bisect_left(self._sorted, (rest, -1)), None
                    ):
                        if not token.startswith(rest):
                            break
                        yield id, size <= len(state.after)

    def _fits(self, state: OpenIds, pieces: list[bytes], way: Split) -> bool:
        """Return whether the open ids are those of the pre-tokens of a way to split."""
        ids: list[int] = []
        for piece in pieces if way.begins else pieces[:-1]:
            whole = self._whole.get(piece)
            ids += self._pairs.merged(piece) if whole is None else [whole]
        if not way.begins:
            ids += self._pairs.merged(pieces[-1])
        return tuple(ids) == state.ids

    def _group_ways(self, text: str) -> tuple[GroupWays, TokenGroups]:
        """Return the ways to split `text` and each group of tokens."""
        classes = self._classes
        reach = max(classes.suffix_size, 1)
        is_after = APOSTROPHE in text[-reach:]
        short = next(iter(class_keys([text], classes, 3))) if text else b""
        exact = classes.text(text).tobytes() if text else b""
        for key in ((short, True), (exact, False)):
            found = self._ways.get(key)
            if found is not None:
                return found[0], found[1]
        groups = self._groups
        if is_after:
            if self._after_apostrophe is None:
                self._after_apostrophe = TokenGroups(self._texts.texts, classes, True)
            groups = self._after_apostrophe
        ways = GroupWays({}, {})
        for group, example in enumerate(groups.examples):
            found_ways = self._ways_of_text(text, example)
            for way in found_ways.closed:
                bits = ways.closed.get(way)
                if bits is None:
                    bits = ways.closed[way] = np.zeros(len(groups.examples), bool)
                bits[group] = True
            for way, firsts in found_ways.open.items():
                ways.open.setdefault(way, {})[group] = firsts
        is_short = not any(way.places for way in (*ways.closed, *ways.open))
        self._ways[(short, True) if is_short else (exact, False)] = ways, groups, is_after
        while len(self._ways) > MAX_WAYS:
            self._ways.pop(next(iter(self._ways)), None)
        return ways, groups

    def _ways_of_text(self, text: str, token: str) -> Ways:
        if text and not self._is_cut(text[-1], token[0]):
            return self._splits.ways(text, token)
        solo = self._solo.get(token)
        if solo is None:
            solo = self._solo[token] = self._splits.ways("", token)
        if not text:
            return solo
        way = Split(tuple(self._splits.ends(text)[:-1]), True)
        return Ways(
            dict.fromkeys([way] if solo.closed else [], ""),
            dict.fromkeys([way] if solo.open else [], frozenset().union(*solo.open.values())),
        )

    def _search(self, state: OpenIds, id: int, classes: Collection[int] | None) -> bytes | None:
        """Return a text whose ids begin with the open ids and `id`, or None.

        `classes` are the classes of the characters that may follow, or None for any.
        """
        wanted = [*state.all_ids, id]
        content = self._added.get(id)
        if content is not None:
            return self._first(wanted, [state.data + content])
        token = self._tokens.get(id)
        if token is None:
            return None
        found = self._first(wanted, self._endings(state.data + token, id, classes))
        if found is not None or self._texts.is_open[id] or not self._pairs.is_made[id]:
            return found
        # Each token that may be the next one of the same pre-token.
        apart = self._pairs.followers(id)[self._texts.ids]
        if classes is not None:
            firsts = [-1, *self._classes.plain[list(classes)]]
            apart = apart & np.isin(self._texts.firsts[self._texts.ids], firsts)
        followers = np.flatnonzero(apart).tolist()
        start = state.data + token
        return self._first(wanted, (start + self._texts.texts[n].encode() for n in followers))

    def _endings(self, data: bytes, id: int, classes: Collection[int] | None) -> Iterator[bytes]:
        """Yield `data` with texts after it, so that it ends with a whole character."""
        _, end = complete_part(data)
        starts = [data]
        if end < len(data):
            starts = [
                data[:end] + char.encode() for char in self._texts.completions(id, data[end:])
            ]
        examples = [
            char
            for class_, chars in enumerate(self._classes.examples)
            if classes is None or class_ in classes
            for char in chars[:MAX_EXAMPLES]
        ]
        any_class = [chars[0] for chars in self._classes.examples if chars]
        for start in starts:
            yield start
        for start in starts:
            for char in examples:
                yield start + char.encode()
        for start, char, last in product(starts[:8], examples[:64], any_class):
            yield start + (char + last).encode()

    def _first(self, wanted: list[int], texts: Iterable[bytes]) -> bytes | None:
        """Return the first text whose ids begin with `wanted`."""
        rest, size = iter(texts), 8
        while batch := list(islice(rest, size)):
            size = min(size * 4, BATCH)
            valid = [text for text in batch if is_valid(text)]
            for text, ids in zip(valid, self._encode(valid), strict=True):
                if ids[: len(wanted)] == wanted:
                    return text
        return None
