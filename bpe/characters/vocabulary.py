"""Define CharacterVocabulary, whose first symbols are characters and whose pieces have scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import copysign
from typing import Any

import numpy as np

from bpe.characters.marks import BYTE_NAMES, SPACE_MARK, allows_cuts
from bpe.characters.runs import TiedRuns, tied_runs
from bpe.errors import VocabularyError, shortened
from bpe.merge import RankedMerge, merge
from bpe.once import once
from bpe.token_table import Packed, TokenTable
from bpe.vocabulary import ID_LIMIT, Merge, Rows, Vocabulary, check_tokens


class CharacterVocabulary(Vocabulary):
    """The pieces of a SentencePiece BPE model by id, and their scores. Immutable.

    Two adjacent symbols merge if `scores` has a piece of their text. The pair whose piece has the
    highest score merges first; among equal scores, the leftmost pair. `token_bytes` has all tokens:
    the pieces of `scores`, the tokens of `byte_ids`, `unknown_id`, and tokens that are only matched
    as added tokens. Adjacent unknown characters become one unknown token.

    Raises VocabularyError if an id or a token is invalid.

    >>> tokens = {0: b"<unk>", 1: b"a", 2: b"b", 3: b"ab"}
    >>> vocabulary = CharacterVocabulary(tokens, {1: -2.0, 2: -3.0, 3: -1.0}, unknown_id=0)
    >>> vocabulary.merges
    ((1, 2, 3),)
    """

    def __init__(
        self,
        token_bytes: Mapping[int, bytes],
        scores: Mapping[int, float],
        unknown_id: int,
        byte_ids: Sequence[int] | None = None,
    ) -> None:
        self._table = TokenTable(token_bytes)
        self._scores = dict(scores)
        self._unknown_id = unknown_id
        self._fallback = None if byte_ids is None else tuple(byte_ids)
        self._check()

    @classmethod
    def of_checked(
        cls,
        token_bytes: dict[int, bytes],
        scores: dict[int, float],
        unknown_id: int,
        byte_ids: Sequence[int] | None,
    ) -> CharacterVocabulary:
        """Return a vocabulary; the caller has checked the arguments."""
        vocabulary = cls.__new__(cls)
        vocabulary._table, vocabulary._scores = TokenTable(token_bytes), scores
        vocabulary._unknown_id = unknown_id
        vocabulary._fallback = None if byte_ids is None else tuple(byte_ids)
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
        return self._scores

    @property
    def unknown_id(self) -> int:
        """The id of unknown characters."""
        return self._unknown_id

    @property
    def fallback_ids(self) -> tuple[int, ...] | None:
        """The ids of the tokens for the 256 bytes of unknown characters, or None."""
        return self._fallback

    @property
    def covers_characters(self) -> bool:
        """True if each character that is no piece becomes fallback tokens."""
        return self._fallback is not None

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
        all_tokens = {token: id for id, token in sorted(self.token_bytes.items(), reverse=True)}
        return all_tokens | {text.encode(): id for text, id in self.pieces.items()}

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
        # As in sentencepiece, -0.0 is less than 0.0.
        scores = {id: (score, copysign(1.0, score)) for id, score in self.scores.items()}
        order = {score: rank for rank, score in enumerate(sorted({*scores.values()})[::-1])}
        return {id: order[score] for id, score in scores.items()}

    @once
    def tied_runs(self) -> TiedRuns | None:
        """The pieces of equal scores, if they are runs of one character."""
        return tied_runs(self.pieces, self._words)

    @once
    def _words(self) -> dict[str, int]:
        """The rank of each piece of several characters.

        Omits a piece with the rank of another piece if no two symbols make it: if no two parts of
        it are characters or pieces. Its score ties with no other.
        """
        words = {text: self.ranks[id] for text, id in self.pieces.items() if len(text) > 1}
        counts = Counter(words.values())
        return {
            text: rank for text, rank in words.items() if counts[rank] == 1 or self._is_made(text)
        }

    def _is_made(self, text: str) -> bool:
        """Return whether two symbols may make a piece of several characters."""
        return any(
            (at == 1 or text[:at] in self.pieces)
            and (at == len(text) - 1 or text[at:] in self.pieces)
            for at in range(1, len(text))
        )

    @once
    def allows_cuts(self) -> bool:
        """True if no merge crosses the start of a run of "▁", so that text may be cut there."""
        return allows_cuts(self.pieces)

    @once
    def has_mark(self) -> bool:
        """True if "▁" is a piece."""
        return SPACE_MARK in self.pieces

    def for_spec(self) -> tuple[Packed, dict[str, Any]]:
        """Return the tokens and the fields of pretok._core.Spec."""
        tokens = {id: self.token_bytes[id] for id in self.scores}
        # The ranks have the order of the scores, and float32 holds them exactly.
        scores = [-float(self.ranks[id]) for id in tokens]
        tokens |= {id: BYTE_NAMES[byte].encode() for byte, id in self.byte_ids.items()}
        mergeable = len(tokens)
        tokens |= {id: token for id, token in self.token_bytes.items() if id not in tokens}
        has_fallback = self._fallback is not None
        is_byte = has_fallback and self._unknown_id in self.byte_ids.values()
        unknown = None if is_byte else self._unknown_id
        return Packed.of(tokens), {
            "mergeable": mergeable,
            "scores": np.array(scores + [np.nan] * (mergeable - len(scores)), np.float32),
            "text": (unknown, True, has_fallback, False, "", ""),
        }

    @property
    def why_not_native(self) -> str:
        """Why C++ cannot merge these pieces, or ""."""
        fallback = set(self._fallback or ())
        if self._fallback is not None and (len(fallback) < 256 or fallback & self.scores.keys()):
            return "the fallback tokens of two bytes, or a piece and a fallback token, have one id"
        return ""

    @once
    def why_not_ranked(self) -> str:
        """Why no list of merges with distinct ranks gives the same ids, or ""."""
        ranks = self._words.values()
        if len(set(ranks)) < len(ranks) and self.tied_runs is None:
            return "pieces of several characters have equal scores"
        characters = set("".join(self.pieces))
        if self._fallback is None:
            missing = characters.difference(self.pieces)
            return f"a piece has {min(missing)!a}, which is not a piece" if missing else ""
        # C++ adds a symbol for each byte value, and for the first 2, 3 and 4 bytes of a character.
        # The ids of these symbols, too, must be below ID_LIMIT.
        if self.size + 256 + 3 * len(characters) > ID_LIMIT:
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

    def ranked_merges(self) -> tuple[Merge, ...]:
        """Return merges, in order of rank, that give the same ids as the scores.

        Every character of a piece must be a piece, and `why_not_ranked` must be empty.
        """
        return self._ranked_merges

    @once
    def _ranked_merges(self) -> tuple[Merge, ...]:
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
        if runs is not None:
            ids, rank = runs.ids, ranks[runs.ids[runs.longest]]
            at = sum(ranks[id] < rank for _, _, id in merges)
            merges[at:at] = [(ids[a], ids[b], ids[a + b]) for a, b in runs.merges or ()]
        return tuple(merges)

    @property
    def merges(self) -> tuple[Merge, ...]:
        """Every pair of pieces whose joined text is a piece, in order of rank."""
        return self._pairs

    @property
    def merge_rows(self) -> Rows:
        """The merges as an array of shape (n, 3)."""
        return np.array(self.merges, np.uint32).reshape(-1, 3)

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
