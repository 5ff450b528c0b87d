"""Define NextIds, which finds the ids that may follow other ids.

The ids after the last proven cut are open: more text may change them. So are only those after a
joint, if the ids beside it stay apart (`may_cut`). The ids that may follow are found from the open
ids alone. They are the ids t for which some text w exists so that encoding the
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

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TypeAlias

import numpy as np

from bpe.canonical.bits import has_bit, packed_bits, places_of, set_bits
from bpe.canonical.classes import Classes
from bpe.canonical.contents import Contents
from bpe.canonical.open_ids import OpenIds, is_valid
from bpe.canonical.open_ways import OpenWay, OpenWays
from bpe.canonical.pairs import Pairs
from bpe.canonical.splits import CLOSED, Split, Splits
from bpe.canonical.token_texts import TokenTexts, complete_part
from bpe.canonical.tried_texts import Encode, Firsts, TriedTexts
from bpe.canonical.unmade import Unmade
from bpe.encoding.added_tokens import AddedToken
from bpe.once import kept
from bpe.types import Ids
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

Uncertain: TypeAlias = dict[int, Firsts]
MAX_STATES = 1024
"""The maximal number of open ids whose masks are kept."""
MAX_ENDS = 1 << 14
"""The maximal number of ids and ends of texts for which the effect of NFC is kept."""


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
        ways: OpenWays,
        stable_end: Callable[[bytes], int] | None,
        size: int,
    ) -> None:
        """Store the parts.

        `tokens` has the bytes of the tokens that merging may give, and `whole` the ids of
        pre-tokens that are looked up before merging. `encode` returns the ids of texts.
        `stable_end` returns the number of bytes of a text whose pre-tokens any longer text has as
        well; the rest can be encoded by itself. It is None if not all such places are known.
        """
        self._pairs, self._classes, self._splits, self._texts = pairs, classes, splits, texts
        self._tokens, self._whole, self._encode, self._ways = tokens, whole, encode, ways
        self._stable_end, self._size = stable_end, size
        self._made = packed_bits(pairs.is_made)
        # If tokens share an id, decoding gives the text of the first one.
        by_id = {token.id: token for token in reversed(added)}
        self._added = {id: token.content.encode() for id, token in by_id.items()}
        self._added_bits = self._bits_of(self._added)
        # NFC may join a mark with the last character of a token that is searched after NFC.
        self._joins_marks = {
            token.id: token.content[-1] for token in added if token.normalized and texts.normalizes
        }
        self._strips_after = {token.id for token in added if token.rstrip}
        self._contents = Contents(added)
        # Tokens that are found wherever no other one covers their text. NFC does not join one with
        # text before it (`is_firm` in build.py).
        alone = zip(by_id.values(), encode([*self._added.values()]), strict=True)
        self._plain = frozenset(
            token.id
            for token, ids in alone
            if ids == [token.id]
            and not token.lstrip
            and ord(token.content[0]) not in WHITE_SPACE_CODE_POINTS
        )
        self._not_plain = self._added.keys() - self._plain
        is_whole = pairs.is_made.copy()
        is_whole[list(whole.values())] = True
        for id, token in tokens.items():
            if whole.get(token, id) != id:
                is_whole[id] = False
        self._alone = packed_bits(is_whole)
        self._is_open = packed_bits(texts.is_open)
        self._depends = packed_bits(texts.depends)
        self._unmade = Unmade(tokens, whole, pairs.is_made, texts.is_open)
        self._tried = TriedTexts(pairs, classes, texts, tokens, encode)
        self._inside_bits = self._bits_of(texts.inside)
        self._has_content = self._bits_of(
            id for id, token in tokens.items() if self._contents.is_in(token)
        )
        begins_white = np.zeros(size, bool)
        is_white = np.isin([ord(text[0]) for text in texts.texts], list(WHITE_SPACE_CODE_POINTS))
        begins_white[texts.ids[is_white]] = True
        begins_white[texts.ids[~is_white]] = False
        self._begins_white = packed_bits(begins_white)

    def _bits_of(self, ids: Iterable[int]) -> Ids:
        """Return a bit mask of ids."""
        words = np.zeros_like(self._made)
        set_bits(words, ids, True)
        return words

    @kept(MAX_STATES)
    def allowed(self, open_ids: tuple[int, ...]) -> Ids:
        """Return a bit mask of the ids that may follow open ids; it must not be changed."""
        found = self.find(open_ids, None)
        found.flags.writeable = False
        return found

    def find(self, open_ids: tuple[int, ...], asked: int | None) -> Ids:
        """Return a bit mask of the ids that may follow, or only the bit of the id `asked`.

        One bit takes less time.
        """
        state = OpenIds(open_ids, self._added, self._tokens)
        settled = self._settled(state)
        if settled:
            rest = open_ids[settled:]
            return self.allowed(rest) if asked is None else self.find(rest, asked)
        is_text = settled is not None and self._added_fits(state)
        return self._find(state, asked) if is_text else np.zeros_like(self._made)

    def _added_fits(self, state: OpenIds) -> bool:
        """Return whether the ids up to the last added token are those of their text.

        If they are not, another added token covers a part of the text, whatever follows.
        """
        if state.last_added < 0:
            return True
        data = state.data[: len(state.data) - len(state.after)]
        ids = state.all_ids[: len(state.all_ids) - len(state.ids)]
        return is_valid(data) and self._encode([data])[0] == list(ids)

    def _settled(self, state: OpenIds) -> int | None:
        """Return the number of leading open ids that no text after them can change.

        None if no text has these ids.
        """
        if self._stable_end is None or not state.text:
            return 0
        whole = state.data[: len(state.data) - len(state.tail)]
        first = len(state.data) - len(state.after)  # the end of the last added token
        end = self._stable_end(whole)
        if end <= first:
            return 0
        size, at = len(state.all_ids) - len(state.ids), first
        for id in state.ids:
            if at >= end:
                break
            at += len(self._tokens[id])
            size += 1
        # A token across the end, or ids that the text has not.
        if at != end or self._encode([whole])[0][:size] != list(state.all_ids[:size]):
            return None
        return size

    def witness(self, open_ids: tuple[int, ...], id: int) -> bytes | None:
        """Return a text whose ids begin with the open ids and `id`, or None."""
        state = OpenIds(open_ids, self._added, self._tokens)
        content = self._added.get(id)
        if content is not None:
            return self._tried.first([*open_ids, id], [state.data + content])
        return self._tried.search(state, id, None) if id in self._tokens else None

    def is_made(self, id: int) -> bool:
        """Return whether some pre-token becomes the token alone."""
        return has_bit(self._alone | self._made, id)

    def stay_apart(self, left: int, right: int) -> bool:
        """Return whether merging the bytes of two tokens gives the two tokens."""
        return has_bit(self._pairs.followers(left), right)

    def may_cut(self, left: int, right: int) -> bool:
        """Return whether `left` does not change the ids that may follow, at a joint before `right`.

        Two tokens that merges do not join stay two tokens, whether or not a pre-token holds the
        joint. But the pre-token, or the rest of it from the joint on, must not be a token that
        merging never gives.
        """
        if left in self._added or right in self._added:
            return False
        may_be_whole = self._unmade.may_hold(self._tokens[left], self._tokens[right])
        return not may_be_whole and self._pairs.stay_apart(left, right)

    def is_text(self, last: Sequence[int], id: int) -> bool:
        """Return whether valid UTF-8 may have the bytes of `id` after those of `last`."""
        before = b"".join(self._added.get(each) or self._tokens[each] for each in last)
        data = before[-3:] + self._tokens[id]
        start = 0
        while start < len(data) and data[start] & 0xC0 == 0x80 and start < len(before[-3:]):
            start += 1
        return is_valid(data[start : complete_part(data)[1]])

    def _find(self, state: OpenIds, asked: int | None) -> Ids:
        """Return a bit mask of the ids that may follow the open ids, or only the bit of `asked`."""
        allowed = np.zeros_like(self._made)
        if state.text is None:
            return allowed
        if asked is None or self.is_made(asked):
            allowed = self._find_tokens(state, asked)
        if not state.tail and (asked is None or asked in self._added):
            set_bits(allowed, self._find_added(state, asked), True)
        return allowed

    def _find_added(self, state: OpenIds, asked: int | None) -> list[int]:
        """Return the added tokens, or whether that of the id `asked` may follow the open ids."""
        covered = {
            content
            for end in self._contents.open_ends(state.data)
            for rest in self._contents.rests(end)
            for content in self._contents.starting(rest)
        }
        plain, others = self._plain, self._not_plain
        if covered:
            plain = frozenset(id for id in plain if self._added[id] not in covered)
            others = self._added.keys() - plain
        if asked is not None:
            plain, others = plain & {asked}, others & {asked}
        # The open ids end a text before all plain tokens, or before none.
        tried = [*others, *islice(plain, 1)]
        encoded = self._encode([state.data + self._added[id] for id in tried])
        size = len(state.all_ids) + 1
        found = [
            id for id, ids in zip(tried, encoded, strict=True) if ids[:size] == [*state.all_ids, id]
        ]
        return [*found, *plain] if not plain.isdisjoint(found) else found

    def _find_tokens(self, state: OpenIds, asked: int | None) -> Ids:
        """Return a bit mask of the tokens of text that may follow the open ids."""
        if state.tail:
            allowed, uncertain = self._inside(state, asked)
        else:
            allowed, uncertain = self._by_ways(state, asked)
        depending = places_of(allowed & self._depends)
        end = self._texts.end_of_normal(self._before(state)) if depending else None
        refused = []
        for id in depending:
            size, kept = (1, 0) if end is None else self._count_normal(id, end)
            if not kept:
                refused.append(id)
            elif kept < size:
                uncertain[id] = partial(frozenset, range(self._classes.count))
        set_bits(allowed, refused, False)
        allowed &= ~self._has_content
        if state.last_added in self._strips_after and not state.ids:
            allowed &= ~self._begins_white
        touched: set[int] = set()
        for rest in self._found_rests(state):
            touched.update(self._unmade.ids_beginning(rest))
        set_bits(allowed, touched.union(uncertain), False)
        for id in touched.intersection(uncertain):
            del uncertain[id]
        set_bits(allowed, self._tried.found(state, uncertain), True)
        allowed &= ~self._added_bits
        return allowed

    @kept(MAX_ENDS)
    def _count_normal(self, id: int, end: str) -> tuple[int, int]:
        """Return the number of texts of an id, and how many of them NFC keeps after `end`."""
        texts = self._texts.of(id, end)
        return len(texts), sum(self._texts.is_normal(end + text) for text in texts)

    def _followers(self, left: int, asked: int | None) -> Ids:
        """Return a bit mask of the ids that stay apart from `left`, or only the bit of `asked`."""
        if asked is None:
            return self._pairs.followers(left)
        return self._bits_of([asked] if self._pairs.stay_apart(left, asked) else [])

    def _before(self, state: OpenIds) -> str:
        """Return the text before the next id that NFC may join with it."""
        return self._joins_marks.get(state.last_added, "") + (state.text or "")

    def _inside(self, state: OpenIds, asked: int | None) -> tuple[Ids, Uncertain]:
        """Do the same as `_by_ways` after ids that end inside a character."""
        assert state.text is not None
        found: list[int] = []
        uncertain: dict[int, frozenset[int]] = {}
        apart = self._followers(state.ids[-1], asked)
        known: dict[bytes, tuple[bool, frozenset[int]]] = {}
        is_stripped = not state.text and state.last_added in self._strips_after
        for id in places_of(apart & self._inside_bits):
            data = state.tail + self._tokens[id]
            _, end = complete_part(data)
            if not is_valid(data[:end]):
                continue
            text = data[:end].decode()
            ends: Iterable[str] = [""]
            if end < len(data):
                before = self._before(state) + text
                ends = self._texts.completions(id, data[end:], before)
            for more in ends:
                if not self._texts.is_normal(self._before(state) + text + more):
                    continue
                if is_stripped and ord((text + more)[0]) in WHITE_SPACE_CODE_POINTS:
                    continue
                key = self._classes.text(text + more).tobytes()
                if key not in known:
                    known[key] = self._fitting(state, text + more)
                is_closed, classes = known[key]
                end_bytes = (text + more).encode()
                if is_closed and not self._unmade.may_end_with(end_bytes):
                    found.append(id)
                    uncertain.pop(id, None)
                    break
                if is_closed or classes:
                    uncertain[id] = uncertain.get(id, frozenset()) | classes
        return self._bits_of(found), {
            id: partial(frozenset, classes) for id, classes in uncertain.items()
        }

    def _fitting(self, state: OpenIds, token: str) -> tuple[bool, frozenset[int]]:
        """Return whether a closed way fits the open ids, and the classes of open ways that fit."""
        assert state.text is not None
        ways = self._splits.of(state.text, [token])

        def fits(way: Split) -> bool:
            size = len(state.text or "")
            places = (*way.places, size) if way.begins and size else way.places
            inner = Split(places, False)
            pieces = state.pieces(inner)
            return pieces is not None and self._fits(state, pieces, inner)

        fitting = [fits(way) for way in ways.ways]
        rows = [first for _, way, first in ways.rows.tolist() if fitting[way]]
        return CLOSED in rows, frozenset(rows) - {CLOSED}

    def _by_ways(self, state: OpenIds, asked: int | None) -> tuple[Ids, Uncertain]:
        """Return a bit mask of the ids that the ways to split allow.

        Also return the ids that must be tried with texts, each with a function that returns the
        classes of the first characters of these texts.
        """
        assert state.text is not None
        allowed = np.zeros_like(self._made)
        doubtful = np.zeros_like(self._made)
        fitting = []
        among = None if asked is None else self._bits_of([asked])
        for each in self._ways.of(state.text):
            pieces = state.pieces(each.way)
            if pieces is None or not self._fits(state, pieces, each.way):
                continue
            if each.way.begins:
                # An open token goes on with the rest of its character, so it is not alone.
                fits, sure = self._made, self._alone ^ (self._alone ^ self._made) & self._is_open
            else:
                fits = sure = self._followers(state.ids[-1], asked)
            sure = sure & each.closed
            if among is not None:
                sure, fits = sure & among, fits & among
            set_bits(sure, self._unmade.after(b"" if each.way.begins else pieces[-1]), False)
            allowed |= sure
            doubtful |= fits & each.tried
            fitting.append((each, fits))
        ids = places_of(doubtful & ~allowed)
        return allowed, {id: partial(self._firsts_after, fitting, id) for id in ids}

    def _firsts_after(self, fitting: list[tuple[OpenWay, Ids]], id: int) -> frozenset[int]:
        """Return the classes of the characters that may follow an id in one of the ways that fit.

        Each way comes with the ids that fit it.
        """
        places = self._texts.places(id)
        found = (
            each.firsts_after(places) for each, fits in fitting if has_bit(fits & each.tried, id)
        )
        return frozenset().union(*found)

    def _found_rests(self, state: OpenIds) -> list[bytes]:
        """Return the texts that complete an added token that is then found.

        A text that begins within the last added token is found if that token is not, which stays so
        for any longer text: the search takes the leftmost token, and of these the longest.
        """
        first = list(state.all_ids[: len(state.all_ids) - len(state.ids)])
        is_found: dict[bytes, bool] = {}
        for end in self._contents.open_ends(state.data):
            for rest in self._contents.rests(end):
                if len(end) <= len(state.after):
                    is_found[rest] = True
                elif rest not in is_found:
                    ids = self._encode([state.data + rest])[0]
                    is_found[rest] = ids[: len(first)] != first
        return [rest for rest, found in is_found.items() if found]

    def _fits(self, state: OpenIds, pieces: list[bytes], way: Split) -> bool:
        """Return whether the open ids are those of the pre-tokens of a way to split."""
        ids: list[int] = []
        for piece in pieces if way.begins else pieces[:-1]:
            whole = self._whole.get(piece)
            ids += self._pairs.merged(piece) if whole is None else [whole]
        if not way.begins:
            ids += self._pairs.merged(pieces[-1])
        return tuple(ids) == state.ids
