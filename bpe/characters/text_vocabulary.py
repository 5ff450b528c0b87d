"""TextVocabulary: the BPE of a tokenizer.json whose first symbols are characters.

Hugging Face's tokenizers makes the first symbols of a pre-token as follows. A character that is a
token becomes this token. Any other character becomes the fallback tokens of its bytes if each byte
has such a token, or else the unknown token. Then the listed merges apply, as in any BPE.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from bpe.characters.marks import BYTE_NAMES, SPACE_MARK, allows_cuts
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.once import once
from bpe.text_ids import find_all
from bpe.token_table import Packed, TokenTable
from bpe.vocabulary import ID_LIMIT, Merge, Rows, Vocabulary, invalid_id


@dataclass(frozen=True)
class TextOptions:
    """The options of a TextVocabulary.

    `unknown` is the token for an unknown character, which is a character without a token; None
    drops the character. If `fuses_unknown`, adjacent unknown characters become one unknown token.
    If `has_fallback`, an unknown character becomes the fallback tokens of its bytes, such as
    <0x0A>. The lookup of a character's token puts `prefix` before each character but the first of a
    pre-token, and `suffix` after the last. If `ignores_merges`, a pre-token that is a token is not
    merged. If `byte_level`, the characters are GPT-2's, which stand for bytes.
    """

    unknown: str | None = None
    fuses_unknown: bool = False
    has_fallback: bool = False
    prefix: str = ""
    suffix: str = ""
    ignores_merges: bool = False
    byte_level: bool = False


class TextVocabulary(Vocabulary):
    """The tokens of a tokenizer.json by id, their merges in order of rank, and options. Immutable.

    Raises VocabularyError if an id, a token or a merge is invalid.

    >>> texts = {0: "<unk>", 1: "a", 2: "b", 3: "ab"}
    >>> vocabulary = TextVocabulary(texts, [(1, 2, 3)], TextOptions(unknown="<unk>"))
    >>> vocabulary.unknown_id
    0
    """

    def __init__(
        self,
        texts: Mapping[int, str],
        merges: Iterable[Merge],
        options: TextOptions | None = None,
        not_whole: Iterable[int] = (),
    ) -> None:
        """Store the tokens.

        `not_whole` has the ids of special tokens. A pre-token that equals such a token is merged
        even if `ignores_merges`.
        """
        self._texts: dict[int, str] | None = dict(texts)
        self._pieces: Mapping[str, int] | None = None
        self._merges = tuple(merges)
        self._set_options(options, not_whole)
        self._check_texts()
        self._table = TokenTable({id: text.encode() for id, text in texts.items()})
        self._check_options()

    @classmethod
    def of_checked(
        cls,
        pieces: Mapping[str, int] | None,
        packed: Packed,
        merges: Rows,
        options: TextOptions,
        not_whole: Iterable[int],
    ) -> TextVocabulary:
        """Return a vocabulary; the caller has checked the tokens and merges.

        `packed` has the texts and ids of `pieces`. Without `pieces`, the caller has also checked
        that the unknown token exists.
        """
        vocabulary = cls.__new__(cls)
        vocabulary._texts, vocabulary._pieces = None, pieces
        vocabulary._table = TokenTable(arrays=packed)
        vocabulary._merge_rows = merges
        vocabulary._is_fresh = True
        vocabulary._set_options(options, not_whole)
        vocabulary._check_options(has_unknown=pieces is None)
        return vocabulary

    def _set_options(self, options: TextOptions | None, not_whole: Iterable[int]) -> None:
        self._options = options or TextOptions()
        # Without `ignores_merges`, every pre-token is merged, so `not_whole` has no effect.
        self._not_whole = frozenset(not_whole if self._options.ignores_merges else ())
        self._ignore_merges = self._options.ignores_merges

    def _check_texts(self) -> None:
        if not self.texts:
            raise VocabularyError("the vocabulary is empty; expected at least one token")
        for id, text in self.texts.items():
            if type(id) is not int or not 0 <= id < ID_LIMIT:
                raise invalid_id(id, text)
            try:
                is_text = bool(text.encode())
            except UnicodeEncodeError:
                is_text = False
            if not is_text:
                raise VocabularyError(
                    f"token {id} is {shortened(text, show=ascii)}, which is empty or has a lone "
                    "surrogate; expected text"
                )
        absent = set(chain.from_iterable(self.merges)) - self.texts.keys()
        if absent:
            raise VocabularyError(
                f"a merge has id {min(absent)}, which is the id of no token; add the token"
            )

    def _check_options(self, has_unknown: bool = False) -> None:
        options = self._options
        if not has_unknown and options.unknown is not None and options.unknown not in self.pieces:
            raise VocabularyError(
                f"the unknown token is {shortened(options.unknown)}, which is not in the "
                "vocabulary; add it, or name another token"
            )
        if (options.prefix or options.suffix) and self.byte_ids:
            raise UnsupportedError(
                "byte_fallback is set together with continuing_subword_prefix or "
                "end_of_word_suffix, so the fallback tokens of an unknown character would include "
                "those of the prefix or suffix; bpe supports byte_fallback only without them"
            )

    def _bytes_of(self, text: str) -> bytes:
        if self._options.has_fallback and text in _BYTES_BY_NAME:
            return bytes([_BYTES_BY_NAME[text]])
        return text.encode()

    @property
    def texts(self) -> dict[int, str]:
        """The text of each token; do not change it."""
        if self._texts is None and self._pieces is None:
            packed = self._table.packed
            self._texts = dict(zip(packed.ids.tolist(), packed.texts(), strict=True))
        elif self._texts is None:
            self._texts = {id: text for text, id in self.pieces.items()}
        return self._texts

    @once
    def token_bytes(self) -> dict[int, bytes]:
        """The bytes of each token by its id; do not change it."""
        return {id: self._bytes_of(text) for id, text in self.texts.items()}

    def bytes_of(self, id: int) -> bytes | None:
        """Return the bytes of the token with this id, or None."""
        text = self._table.get(id)
        return None if text is None else self._bytes_of(text.decode())

    @property
    def options(self) -> TextOptions:
        """The options, which say how text becomes the first symbols."""
        return self._options

    @property
    def pieces(self) -> Mapping[str, int]:
        """The id of each token by its text."""
        if self._pieces is None:
            self._pieces = {text: id for id, text in self.texts.items()}
        return self._pieces

    @property
    def packed_pieces(self) -> Packed:
        """The texts of all tokens as arrays."""
        return self._table.packed

    @once
    def has_mark(self) -> bool:
        """True if "▁" is a token."""
        return SPACE_MARK in self.pieces

    def for_spec(self) -> tuple[Packed, dict[str, Any]]:
        """Return the tokens and the fields of pretok._core.Spec, except `not_whole`."""
        options = self._options
        text = (
            None if options.unknown is None else self.unknown_id,
            options.fuses_unknown,
            options.has_fallback,
            options.byte_level,
            options.prefix,
            options.suffix,
        )
        fields = {"merges": self.merge_rows, "ignore_merges": options.ignores_merges, "text": text}
        return self.packed_pieces, fields

    @once
    def ids(self) -> dict[bytes, int]:
        """The id of each token by its bytes.

        If a fallback token and another token have equal bytes, this is the id of the other token.
        """
        fallback = frozenset(self.byte_ids.values())
        ids = {self.token_bytes[id]: id for id in self.byte_ids.values()}
        ids.update((token, id) for id, token in self.token_bytes.items() if id not in fallback)
        return ids

    @once
    def byte_ids(self) -> dict[int, int]:
        """The id of the fallback token of each byte that has one."""
        if not self._options.has_fallback:
            return {}
        ids = enumerate(find_all(self.pieces, BYTE_NAMES))
        return {byte: id for byte, id in ids if id is not None}

    @once
    def missing_bytes(self) -> tuple[int, ...]:
        """Empty: unknown characters become fallback tokens or the unknown token, or are dropped."""
        return ()

    @property
    def fallback_ids(self) -> tuple[int, ...] | None:
        """The ids of the fallback tokens of all 256 bytes, or None if one is missing."""
        ids = self.byte_ids
        return tuple(ids[byte] for byte in range(256)) if len(ids) == 256 else None

    @once
    def covers_characters(self) -> bool:
        """True if each character without a token becomes fallback tokens.

        A fallback token may be missing if the byte is a character with a token. The vocabularies of
        Gemma and Gemma 2 have "\\t" in place of <0x09>.
        """
        if not self._options.has_fallback:
            return False
        missing = set(range(256)).difference(self.byte_ids)
        return all(byte < 0x80 and byte != 0x20 and chr(byte) in self.pieces for byte in missing)

    @property
    def unknown_id(self) -> int:
        """The id of unknown characters; -1 if they are dropped."""
        unknown = self._options.unknown
        return -1 if unknown is None else self.pieces[unknown]

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merges in order of rank."""
        merges = self._merges
        if merges is None:
            assert self._merge_rows is not None, "one of the two is set"
            merges = self._merges = tuple(map(tuple, self._merge_rows.tolist()))
        return merges

    @property
    def merge_rows(self) -> Rows:
        """The merges as an array of shape (n, 3)."""
        rows = self._merge_rows
        if rows is None:
            rows = self._merge_rows = np.array(self._merges, np.uint32).reshape(-1, 3)
        return rows

    @once
    def concatenates(self) -> bool:
        """True if each merge makes the token whose text is that of its two tokens."""
        texts = self.texts
        return all(texts[left] + texts[right] == texts[id] for left, right, id in self.merges)

    @once
    def allows_cuts(self) -> bool:
        """True if no merge crosses the start of a run of "▁", so that text may be cut there."""
        options = self._options
        if options.prefix or options.suffix or options.byte_level or SPACE_MARK not in self.pieces:
            return False
        if options.unknown is None and not self.covers_characters:
            return False  # A dropped character lets its neighbors merge.
        texts = self.texts
        merged = [texts[id] for id in np.unique(self.merge_rows[:, 2]).tolist()]
        return allows_cuts([SPACE_MARK, *merged])

    @property
    def why_not_native(self) -> str:
        """Why C++ cannot merge these tokens, or "".

        C++ makes at most one first symbol for each byte of a text.
        """
        if self._options.byte_level and self.byte_ids:
            return "byte_fallback is set together with a ByteLevel pre_tokenizer"
        return ""

    @property
    def not_whole(self) -> frozenset[int]:
        """The ids of tokens that `ignores_merges` does not affect."""
        return self._not_whole

    @once
    def why_not_as_bytes(self) -> str:
        """Why merging the bytes of characters may give other ids, or ""."""
        options = self._options
        if options.prefix or options.suffix:
            return "the characters have a prefix or suffix"
        if options.ignores_merges:
            return "ignore_merges is true"
        if options.byte_level:
            if not self.concatenates:
                return "a merge does not concatenate its two tokens"
            return "" if self.size + 256 <= ID_LIMIT else "the ids are too large"
        if not self.covers_characters:
            return "some bytes have no fallback token"
        unmerged = [*self.byte_ids.values(), self.unknown_id]
        if np.isin(self.merge_rows.astype(np.int64), unmerged).any():
            return "a merge has the unknown token or a fallback token"
        if self.size + 256 + 3 * len(self.pieces) > ID_LIMIT:
            characters = {text for text in self.pieces if len(text) == 1}
            if self.size + 256 + 3 * len(characters) > ID_LIMIT:
                return "the ids are too large"
        return ""

    def whole_id(self, text: str) -> int | None:
        """Return the id of the token `text` if a pre-token `text` is not merged; else None."""
        if not self._options.ignores_merges:
            return None
        id = self.pieces.get(text)
        return None if id in self._not_whole else id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TextVocabulary):
            return NotImplemented
        return self is other or self._key() == other._key()

    def __hash__(self) -> int:
        return hash((len(self.pieces), len(self.merge_rows), self._options))

    def _key(self) -> tuple[object, ...]:
        return self.texts, self.merges, self._options, self._not_whole

    def __repr__(self) -> str:
        return f"<TextVocabulary of {len(self.pieces)} tokens, {len(self.merge_rows)} merges>"

    def __reduce__(self) -> tuple[object, ...]:
        return TextVocabulary, self._key()


_BYTES_BY_NAME = {name: byte for byte, name in enumerate(BYTE_NAMES)}

AnyCharacterVocabulary: TypeAlias = CharacterVocabulary | TextVocabulary
"""A vocabulary whose first symbols are characters."""
