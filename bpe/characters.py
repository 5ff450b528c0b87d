"""CharacterVocabulary: a BPE whose first symbols are characters, as in SentencePiece.

Characters and bytes are two alphabets of one merger. `merge` of bpe/merge.py merges symbols, which
are numbers, and does not know what they stand for. A vocabulary says how text becomes the first
symbols:

    Vocabulary            one symbol per byte
    CharacterVocabulary   one symbol per character

After all merges, a single character may be left that is not a token. It becomes the tokens of its
bytes (`byte_ids`), or else the unknown token. Adjacent unknown characters become one unknown token.

No pre-tokenizer splits the text of such a model. Merging still works on short parts. In most
vocabularies, a token has "▁" only at its start. Then no merge joins another character to a "▁" that
follows it. `CharacterMerger` cuts the text between the two, and caches the ids of each part. If the
vocabulary allows no cut, `CharacterMerger` merges the whole text, in O(n log n) time.

C++ merges the same vocabulary as bytes (bpe/encoding/character_backend.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bpe.character_runs import TiedRuns, tied_runs
from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.errors import VocabularyError, shortened
from bpe.merge import RankedMerge, merge
from bpe.once import once
from bpe.vocabulary import ID_LIMIT, Merge, Packed, Rows, Vocabulary, check_tokens
from pretok.machine.backend import backend

SPACE_MARK = "\u2581"
"""The character ▁, which stands for a space in pieces."""

MAX_CACHED = 1 << 16
"""The maximal number of parts that a PartCache keeps; a full PartCache is emptied."""
MAX_CACHED_CHARACTERS = 32
"""The maximal length of a part that a PartCache keeps; longer parts rarely repeat."""


class PieceMerger(Protocol):
    """Merges text with one vocabulary."""

    def merge(self, pre_token: bytes) -> list[int]:
        """Return the ids of the tokens of `pre_token`, which is UTF-8."""

    def spans(self, pre_token: bytes) -> list[tuple[int, int]]:
        """Return the half-open span of each token in the bytes of `pre_token`."""

    def trim(self) -> None:
        """Free the cache."""


def spans_of(sized: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the half-open spans of adjacent tokens; `sized` has the id and size of each token.

    >>> spans_of([(7, 2), (5, 1)])
    [(0, 2), (2, 3)]
    """
    return list(pairwise(accumulate((size for _, size in sized), initial=0)))


class CharacterVocabulary(Vocabulary):
    """The pieces of a SentencePiece BPE model by id, and their scores. Immutable.

    Two adjacent symbols merge if `scores` has a piece of their text. The pair whose piece has the
    highest score merges first; among equal scores, the leftmost pair. `token_bytes` has all tokens:
    the pieces of `scores`, the tokens of `byte_ids`, `unknown_id`, and tokens that are only matched
    as added tokens.

    Raises VocabularyError if an id or a token is invalid.

    >>> tokens = {0: b"<unk>", 1: b"a", 2: b"b", 3: b"ab"}
    >>> vocabulary = CharacterVocabulary(tokens, {1: -2.0, 2: -3.0, 3: -1.0}, unknown_id=0)
    >>> CharacterMerger(vocabulary).merge("abcca".encode())
    [3, 0, 1]
    """

    def __init__(
        self,
        token_bytes: Mapping[int, bytes],
        scores: Mapping[int, float],
        unknown_id: int,
        byte_ids: Sequence[int] | None = None,
    ) -> None:
        self._token_bytes = dict(token_bytes)
        self._packed = None
        self._merges, self._merge_rows = None, None
        self._from_ranks, self._ignore_merges = False, False
        # Either `_token_bytes` and `_scores` are set, or `_packed_pieces` and `_others`.
        self._scores: dict[int, float] | None = dict(scores)
        self._packed_pieces: tuple[Packed, NDArray[np.float32]] | None = None
        self._others: dict[int, bytes] = {}
        self._unknown_id = unknown_id
        self._fallback = None if byte_ids is None else tuple(byte_ids)
        self._check()

    @classmethod
    def of_pieces(
        cls,
        pieces: Packed,
        scores: NDArray[np.float32],
        others: Mapping[int, bytes],
        unknown_id: int,
        byte_ids: Sequence[int] | None,
    ) -> CharacterVocabulary:
        """Return a vocabulary; `_core.read_pieces` has checked `pieces` and `scores`.

        `others` has the tokens that are no pieces.
        """
        vocabulary = cls.__new__(cls)
        vocabulary._token_bytes, vocabulary._packed = None, None
        vocabulary._merges, vocabulary._merge_rows = None, None
        vocabulary._from_ranks, vocabulary._ignore_merges = False, False
        vocabulary._scores, vocabulary._unknown_id = None, unknown_id
        vocabulary._fallback = None if byte_ids is None else tuple(byte_ids)
        vocabulary._packed_pieces = pieces, scores
        vocabulary._others = dict(others)
        return vocabulary

    def _check(self) -> None:
        check_tokens(self.token_bytes)
        if self._fallback is not None and len(self._fallback) != 256:
            raise VocabularyError(f"byte_ids has {len(self._fallback)} ids; expected 256")
        for id in (self._unknown_id, *self.scores, *(self._fallback or ())):
            if id not in self.token_bytes:
                raise VocabularyError(f"id {id} has no token; add it to the tokens")
        pieces: dict[bytes, int] = {}
        for id, score in self.scores.items():
            token = self.token_bytes[id]
            if pieces.setdefault(token, id) != id:
                raise VocabularyError(
                    f"tokens {pieces[token]} and {id} are both {shortened(token)}; expected "
                    "different pieces"
                )
            if score != score:
                raise VocabularyError(f"token {id} has the score NaN; expected a number")
            try:
                token.decode()
            except UnicodeDecodeError:
                raise VocabularyError(
                    f"token {id} is {shortened(token)}; expected valid UTF-8"
                ) from None

    @property
    def scores(self) -> dict[int, float]:
        """The score of each piece that merges may make; do not change it."""
        scores = self._scores
        if scores is None:
            pieces, values = self.packed_scores
            scores = self._scores = dict(zip(pieces.ids.tolist(), values.tolist(), strict=True))
        return scores

    @property
    def token_bytes(self) -> dict[int, bytes]:
        """The bytes of each token by its id; do not change it."""
        tokens = self._token_bytes
        if tokens is None:
            every = self.packed_pieces.unpacked() | self._others
            tokens = self._token_bytes = dict(sorted(every.items()))
        return tokens

    def bytes_of(self, id: int) -> bytes | None:
        """Return the bytes of the token with this id, or None."""
        other = self._others.get(id)
        return self.token_bytes.get(id) if other is None else other

    @once
    def size(self) -> int:
        """One more than the largest id."""
        if self._token_bytes is not None:
            return 1 + max(self._token_bytes)
        return 1 + max(int(self.packed_pieces.ids.max(initial=0)), *self._others)

    @property
    def packed_pieces(self) -> Packed:
        """The pieces as arrays."""
        return self.packed_scores[0]

    @property
    def packed_scores(self) -> tuple[Packed, NDArray[np.float32]]:
        """The pieces as arrays, and their scores, which may be rounded."""
        if self._packed_pieces is not None:
            return self._packed_pieces
        tokens, scores = self.token_bytes, self.scores
        values = np.fromiter(scores.values(), np.float64, len(scores))
        with np.errstate(over="ignore"):
            return Packed.of({id: tokens[id] for id in scores}), values.astype(np.float32)

    @property
    def unknown_id(self) -> int:
        """The id of unknown characters."""
        return self._unknown_id

    @property
    def fallback_ids(self) -> tuple[int, ...] | None:
        """The ids of the tokens for the 256 bytes of unknown characters, or None."""
        return self._fallback

    @once
    def pieces(self) -> Mapping[str, int]:
        """The id of each piece by its text."""
        tokens = self.token_bytes
        return {tokens[id].decode(): id for id in self.scores}

    @once
    def ids(self) -> dict[bytes, int]:
        """The id of each token by its bytes.

        If a piece and a fallback token have equal bytes, this is the id of the piece.
        """
        others = {token: id for id, token in sorted(self.token_bytes.items(), reverse=True)}
        return others | {text.encode(): id for text, id in self.pieces.items()}

    @once
    def byte_ids(self) -> dict[int, int]:
        """The id of the fallback token of each byte."""
        return dict(enumerate(self._fallback or ()))

    @once
    def missing_bytes(self) -> tuple[int, ...]:
        """Empty: unknown characters become fallback tokens or the unknown token."""
        return ()

    @once
    def ranks(self) -> dict[int, int]:
        """The rank of each piece: 0 for the highest score; equal scores have equal ranks."""
        order = {score: rank for rank, score in enumerate(sorted({*self.scores.values()})[::-1])}
        return {id: order[score] for id, score in self.scores.items()}

    @once
    def tied_runs(self) -> TiedRuns | None:
        """The pieces of the lowest score, if they are runs of one character and merge last."""
        return tied_runs(self.pieces, self.ranks)

    @once
    def allows_cuts(self) -> bool:
        """True if no merge crosses the start of a run of "▁", so that text may be cut there."""
        if self.native_rows is None:
            return allows_cuts(self.pieces)
        return self.has_mark and not len(inner_marks(self.packed_pieces))

    @once
    def has_mark(self) -> bool:
        """True if "▁" is a piece."""
        if self._packed_pieces is None:
            return SPACE_MARK in self.pieces
        mark = np.frombuffer(SPACE_MARK.encode(), np.uint8)
        data, lengths, _ = self.packed_pieces
        ends = np.cumsum(lengths, dtype=np.int64)[lengths == len(mark)]
        pieces = np.frombuffer(data, np.uint8)[ends[:, np.newaxis] + np.arange(-len(mark), 0)]
        return bool((pieces == mark).all(axis=1).any())

    @property
    def native_rows(self) -> Rows | None:
        """The merges in order of rank from C++, or None if C++ does not find them."""
        return self._native_rows

    @once
    def _native_rows(self) -> Rows | None:
        # C++ adds symbols for bytes and for the beginnings of characters. Their ids, too, must be
        # below ID_LIMIT.
        if backend() != "native" or self.size + 256 + 3 * len(self.packed_pieces.ids) > ID_LIMIT:
            return None
        from pretok import _core

        pieces, scores = self.packed_scores
        if self._packed_pieces is None and scores.tolist() != list(self.scores.values()):
            return None  # C++ would take rounded scores for equal ones
        return _core.piece_merges(*pieces, scores)

    @property
    def merges_any_split(self) -> bool:
        """True if C++ merges the pre-tokens of any preset; False if it merges only whole texts."""
        return False

    def merger(self) -> PieceMerger:
        """Return a new merger."""
        return CharacterMerger(self)

    @once
    def why_not_native(self) -> str:
        """Why C++ cannot merge these pieces, or ""."""
        if self.native_rows is not None:
            return ""
        ranks = [self.ranks[id] for text, id in self.pieces.items() if len(text) > 1]
        if len(set(ranks)) < len(ranks) and self.tied_runs is None:
            return "pieces of several characters have equal scores"
        # C++ adds a symbol for each byte value, and for the first 2, 3 and 4 bytes of a character.
        # The ids of these symbols, too, must be below ID_LIMIT.
        if self.size + 256 + 3 * len(set("".join(self.pieces))) > ID_LIMIT:
            return "the ids are too large"
        return ""

    @once
    def _pairs(self) -> tuple[Merge, ...]:
        pieces = self.pieces
        merges = [
            (pieces[text[:at]], pieces[text[at:]], id)
            for text, id in pieces.items()
            for at in range(1, len(text))
            if text[:at] in pieces and text[at:] in pieces
        ]
        return tuple(sorted(merges, key=lambda merge: (self.ranks[merge[2]], merge)))

    @once
    def ranked_merges(self) -> tuple[Merge, ...]:
        """Merges, in order of rank, that give the same ids as the scores.

        Every character of a piece must be a piece, and `why_not_native` must be empty.
        """
        # If scores differ, at most one pair of symbols ever merges to a given piece. To find it,
        # merge the text of the piece, but not to the piece itself: the pair is left.
        pieces, ranks, runs = self.pieces, self.ranks, self.tied_runs
        texts = {id: text for text, id in pieces.items()}
        tied = set() if runs is None else {id for size, id in runs.ids.items() if size > 1}
        merges: list[Merge] = []
        words = [(ranks[id], id) for text, id in pieces.items() if len(text) > 1 and id not in tied]
        for _, own in sorted(words):

            def find(left: int, right: int, own: int = own) -> RankedMerge | None:
                id = pieces.get(texts[left] + texts[right])
                return None if id is None or id == own else (ranks[id], id)

            symbols = merge([pieces[char] for char in texts[own]], find)
            if len(symbols) == 2:
                merges.append((symbols[0], symbols[1], own))
        return (*merges, *self.run_merges)

    @once
    def run_merges(self) -> tuple[Merge, ...]:
        """The merges of `tied_runs` in order of rank; all other merges have lower ranks."""
        runs = self.tied_runs
        lengths = None if runs is None else runs.merges
        if runs is None or lengths is None:
            return ()
        ids = runs.ids
        return tuple((ids[left], ids[right], ids[left + right]) for left, right in lengths)

    @property
    def merges(self) -> tuple[Merge, ...]:
        """Every pair of pieces whose joined text is a piece, in order of rank."""
        return self._pairs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CharacterVocabulary):
            return NotImplemented
        return self is other or self._key() == other._key()

    def __hash__(self) -> int:
        return hash((len(self.token_bytes), self._unknown_id, self._fallback))

    def _key(self) -> tuple[object, ...]:
        return self.token_bytes, self.scores, self._unknown_id, self._fallback

    def __repr__(self) -> str:
        return f"<CharacterVocabulary of {len(self.token_bytes)} tokens>"

    def __reduce__(self) -> tuple[object, ...]:
        return CharacterVocabulary, self._key()


class CharacterMerger:
    """Merges text with the pieces and scores of one CharacterVocabulary."""

    def __init__(self, vocabulary: CharacterVocabulary) -> None:
        self._pieces = vocabulary.pieces
        self._ranks = vocabulary.ranks
        self._unknown_id = vocabulary.unknown_id
        self._fallback = vocabulary.fallback_ids
        # Symbol `_first_character` + n is the character chr(n), which is not a piece.
        self._first_character = 1 + max(vocabulary.token_bytes)
        self._texts = {id: text for text, id in self._pieces.items()}
        self._cuts = vocabulary.allows_cuts
        self._cache = PartCache(self._merge)

    def merge(self, pre_token: bytes) -> list[int]:
        """Return the ids of the tokens of `pre_token`, which is UTF-8, in O(n log n) time."""
        return [id for id, _ in self.sized(pre_token)]

    def spans(self, pre_token: bytes) -> list[tuple[int, int]]:
        """Return the half-open span of each token in the bytes of `pre_token`."""
        return spans_of(self.sized(pre_token))

    def sized(self, pre_token: bytes) -> list[tuple[int, int]]:
        """Return the id of each token of `pre_token`, and the number of bytes it stands for.

        A byte that is not UTF-8 is an unknown character.
        """
        text = decode_utf8(pre_token)
        # After a cut, a part begins with "▁", which is a piece. So adjacent unknown characters are
        # in one part, and `_merge` can join them to one token.
        parts = cut_at_marks(text) if self._cuts else [text] if text else []
        return [token for part in parts for token in self._cache.get(part)]

    def trim(self) -> None:
        """Free the cache."""
        self._cache.clear()

    def _merge(self, part: str) -> list[tuple[int, int]]:
        pieces, first = self._pieces, self._first_character
        symbols = [
            first + ord(char) if (piece := pieces.get(char)) is None else piece for char in part
        ]
        tokens: list[tuple[int, int]] = []
        is_unknown = False
        for symbol in merge(symbols, self._find):
            data = self._text(symbol).encode("utf-8", ESCAPE)
            was_unknown, is_unknown = is_unknown, symbol >= first and self._fallback is None
            if symbol < first:
                tokens.append((symbol, len(data)))
            elif self._fallback is not None:
                tokens += [(self._fallback[byte], 1) for byte in data]
            elif was_unknown:
                tokens[-1] = self._unknown_id, tokens[-1][1] + len(data)
            else:
                tokens.append((self._unknown_id, len(data)))
        return tokens

    def _find(self, left: int, right: int) -> RankedMerge | None:
        id = self._pieces.get(self._text(left) + self._text(right))
        return None if id is None else (self._ranks[id], id)

    def _text(self, symbol: int) -> str:
        if symbol < self._first_character:
            return self._texts[symbol]
        return chr(symbol - self._first_character)


class PartCache:
    """Keeps the tokens of parts of a text."""

    def __init__(self, merge: Callable[[str], list[tuple[int, int]]]) -> None:
        self._merge = merge
        self._tokens: dict[str, list[tuple[int, int]]] = {}

    def get(self, part: str) -> list[tuple[int, int]]:
        """Return the id of each token of `part`, and the number of bytes it stands for."""
        tokens = self._tokens.get(part)
        if tokens is None:
            tokens = self._merge(part)
            if len(part) <= MAX_CACHED_CHARACTERS:
                if len(self._tokens) >= MAX_CACHED:
                    self._tokens.clear()
                self._tokens[part] = tokens
        return tokens

    def clear(self) -> None:
        """Drop all parts."""
        self._tokens.clear()


def cut_at_marks(text: str) -> list[str]:
    """Return the parts of `text`, which is cut before each run of "▁".

    If the vocabulary allows cuts, no merge crosses from one part to the next.
    """
    cuts = [0]
    at = text.find(SPACE_MARK, 1)
    while at > 0:
        if text[at - 1] != SPACE_MARK:
            cuts.append(at)
        at = text.find(SPACE_MARK, at + 1)
    return [text[start:end] for start, end in pairwise([*cuts, len(text)])] if text else []


def inner_marks(texts: Packed) -> NDArray[np.uint32]:
    """Return the ids of the texts that have a "▁" after another character; needs C++."""
    from pretok import _core

    return texts.ids[_core.find_inner_marks(texts.data, texts.lengths)]


def allows_cuts(pieces: Collection[str]) -> bool:
    """Return whether "▁" is a piece, and pieces have "▁" only at their start.

    Then no merge joins another character to a "▁" that follows it.
    """
    return SPACE_MARK in pieces and not any(
        SPACE_MARK in text.lstrip(SPACE_MARK) for text in pieces
    )
