"""TextVocabulary: the BPE of a tokenizer.json whose first symbols are characters.

Hugging Face's tokenizers makes the first symbols of a pre-token as follows. A character that is a
token becomes this token. Any other character becomes the fallback tokens of its bytes if each byte
has such a token, or else the unknown token. Then the listed merges apply, as in any BPE.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bpe.characters import (
    SPACE_MARK,
    CharacterVocabulary,
    PartCache,
    allows_cuts,
    cut_at_marks,
    inner_marks,
    spans_of,
)
from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.merge import RankedMerge, merge
from bpe.once import once
from bpe.vocabulary import ID_LIMIT, Merge, Packed, Rows, invalid_id
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.machine.backend import backend

BYTE_NAMES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The texts of fallback tokens."""
_ID_BITS = 24
_ID_MASK = ID_LIMIT - 1


@dataclass(frozen=True)
class TextOptions:
    """The options of a TextVocabulary.

    `unknown` is the token for an unknown character, which is a character without a token; None
    drops the character. If `fuses_unknown`, adjacent unknown characters become one unknown token.
    If `has_fallback`, an unknown character becomes the fallback tokens of its bytes, such as
    <0x0A>. Characters are looked up with `prefix` before each character except the first of a
    pre-token, and with `suffix` after the last. If `ignores_merges`, a pre-token that is a token is
    not merged. If `byte_level`, the characters are GPT-2's, which stand for bytes.
    """

    unknown: str | None = None
    fuses_unknown: bool = False
    has_fallback: bool = False
    prefix: str = ""
    suffix: str = ""
    ignores_merges: bool = False
    byte_level: bool = False


class TextVocabulary(CharacterVocabulary):
    """The tokens of a tokenizer.json by id, their merges in order of rank, and options. Immutable.

    Raises VocabularyError if an id, a token or a merge is invalid.

    >>> texts = {0: "<unk>", 1: "a", 2: "b", 3: "ab"}
    >>> vocabulary = TextVocabulary(texts, [(1, 2, 3)], TextOptions(unknown="<unk>"))
    >>> TextMerger(vocabulary).merge("abcca".encode())
    [3, 0, 0, 1]
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
        # At least one of `_texts` and `_pieces` is set, and at least one of `_merges` and
        # `_merge_rows`.
        self._texts: dict[int, str] | None = dict(texts)
        self._pieces: Mapping[str, int] | None = None
        self._packed_texts: Packed | None = None
        self._merges: tuple[Merge, ...] | None = tuple(merges)
        self._merge_rows = None
        self._set_options(options, not_whole)
        self._check_texts()
        self._check_options()

    @classmethod
    def of_checked(
        cls,
        pieces: Mapping[str, int],
        packed: Packed,
        merges: Rows,
        options: TextOptions,
        not_whole: Iterable[int],
    ) -> TextVocabulary:
        """Return a vocabulary; `_core.merge_rows` has checked `pieces`, and made the arrays."""
        vocabulary = cls.__new__(cls)
        vocabulary._texts, vocabulary._pieces = None, pieces
        vocabulary._packed_texts = packed
        vocabulary._merges, vocabulary._merge_rows = None, merges
        vocabulary._set_options(options, not_whole)
        vocabulary._check_options()
        return vocabulary

    def _set_options(self, options: TextOptions | None, not_whole: Iterable[int]) -> None:
        self._options = options or TextOptions()
        # Without `ignores_merges`, every pre-token is merged, so `not_whole` has no effect.
        self._not_whole = frozenset(not_whole if self._options.ignores_merges else ())
        self._token_bytes, self._packed = None, None
        self._from_ranks, self._ignore_merges = False, self._options.ignores_merges

    def _check_texts(self) -> None:
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
        for id in chain.from_iterable(self.merges):
            if id not in self.texts:
                raise VocabularyError(
                    f"a merge has id {id}, which is the id of no token; add the token"
                )

    def _check_options(self) -> None:
        options = self._options
        if options.unknown is not None and options.unknown not in self.pieces:
            raise VocabularyError(
                f"the unknown token is {shortened(options.unknown)}, which is not in the "
                "vocabulary; add it, or name another token"
            )
        changes_names = options.prefix or options.suffix or options.byte_level
        if changes_names and self.byte_ids:
            raise UnsupportedError(
                "byte_fallback is set together with continuing_subword_prefix, end_of_word_suffix "
                "or a ByteLevel pre_tokenizer; bpe supports byte_fallback only without them"
            )

    def _bytes_of(self, text: str) -> bytes:
        if self._options.has_fallback and text in _BYTES_BY_NAME:
            return bytes([_BYTES_BY_NAME[text]])
        return text.encode()

    @property
    def texts(self) -> dict[int, str]:
        """The text of each token; do not change it."""
        texts = self._texts
        if texts is None:
            texts = self._texts = {id: text for text, id in self.pieces.items()}
        return texts

    @property
    def token_bytes(self) -> dict[int, bytes]:
        """The bytes of each token by its id; do not change it."""
        tokens = self._token_bytes
        if tokens is None:
            tokens = {id: self._bytes_of(text) for id, text in self.texts.items()}
            self._token_bytes = tokens
        return tokens

    def bytes_of(self, id: int) -> bytes | None:
        """Return the bytes of the token with this id, or None."""
        text = self._text_of(id)
        return None if text is None else self._bytes_of(text)

    def _text_of(self, id: int) -> str | None:
        packed = self._packed_texts
        if self._texts is not None or packed is None:
            return self.texts.get(id)
        places, ends = self._places
        place = int(places[id]) if 0 <= id < len(places) else -1
        end = int(ends[place])
        return None if place < 0 else packed.data[end - int(packed.lengths[place]) : end].decode()

    @once
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The index of each id in `packed_pieces`, or -1; and the end of each text in its data."""
        packed = self.packed_pieces
        places = np.full(self.size, -1, np.int64)
        places[packed.ids] = np.arange(len(packed.ids))
        return places, np.cumsum(packed.lengths, dtype=np.int64)

    @once
    def size(self) -> int:
        """One more than the largest id."""
        if self._packed_texts is not None:
            return 1 + int(self._packed_texts.ids.max())
        return 1 + max(self.texts, default=-1)

    @property
    def options(self) -> TextOptions:
        """The options, which say how text becomes the first symbols."""
        return self._options

    @property
    def pieces(self) -> Mapping[str, int]:
        """The id of each token by its text."""
        pieces = self._pieces
        if pieces is None:
            pieces = self._pieces = {text: id for id, text in self.texts.items()}
        return pieces

    @property
    def packed_pieces(self) -> Packed:
        """The texts of all tokens as arrays."""
        if self._packed_texts is None:
            self._packed_texts = Packed.of({id: text.encode() for id, text in self.texts.items()})
        return self._packed_texts

    @once
    def has_mark(self) -> bool:
        """True if "▁" is a token."""
        return SPACE_MARK in self.pieces

    @property
    def native_rows(self) -> Rows:
        """The merges in order of rank, as an array of shape (n, 3)."""
        return self.merge_rows

    @once
    def ids(self) -> dict[bytes, int]:
        """The id of each token by its bytes.

        If a fallback token and another token have equal bytes, this is the id of the other token.
        """
        others = {self.token_bytes[id]: id for id in self.byte_ids.values()}
        fallback = frozenset(self.byte_ids.values())
        return others | {token: id for id, token in self.token_bytes.items() if id not in fallback}

    @once
    def byte_ids(self) -> dict[int, int]:
        """The id of the fallback token of each byte that has one."""
        if not self._options.has_fallback:
            return {}
        pieces = self.pieces
        return {byte: pieces[name] for byte, name in enumerate(BYTE_NAMES) if name in pieces}

    @property
    def fallback_ids(self) -> tuple[int, ...] | None:
        """The ids of the fallback tokens of all 256 bytes, or None if one is missing."""
        ids = self.byte_ids
        return tuple(ids[byte] for byte in range(256)) if len(ids) == 256 else None

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
            assert self._merge_rows is not None, "one of both is set"
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
    def allows_cuts(self) -> bool:
        """True if no merge crosses the start of a run of "▁", so that text may be cut there."""
        options = self._options
        if options.prefix or options.suffix or options.byte_level or SPACE_MARK not in self.pieces:
            return False
        if options.unknown is None and self.fallback_ids is None:
            return False  # A dropped character lets its neighbors merge.
        if backend() == "native":
            return not np.isin(inner_marks(self.packed_pieces), self.merge_rows[:, 2]).any()
        texts = self.texts
        merged = [texts[id] for id in np.unique(self.merge_rows[:, 2]).tolist()]
        return allows_cuts([SPACE_MARK, *merged])

    @once
    def why_not_native(self) -> str:
        """Why C++ cannot merge these tokens, or ""."""
        options = self._options
        if options.prefix or options.suffix:
            return "the characters have a prefix or suffix"
        if options.ignores_merges:
            return "ignore_merges is true"
        if options.byte_level:
            texts, rows = self.texts, self.merges
            if any(texts[left] + texts[right] != texts[id] for left, right, id in rows):
                return "a merge does not concatenate its two tokens"
            return "" if self.size + 256 <= ID_LIMIT else "the ids are too large"
        if self.fallback_ids is None and self.byte_ids:
            return "only some bytes have a fallback token"
        if self.fallback_ids is None and options.unknown is None:
            return "there is no unknown token"
        if self.fallback_ids is None and not options.fuses_unknown:
            return "the options do not fuse unknown tokens"
        unmerged = [*self.byte_ids.values(), self.unknown_id]
        if np.isin(self.merge_rows.astype(np.int64), unmerged).any():
            return "a merge has the unknown token or a fallback token"
        if self.size + 256 + 3 * len(self.pieces) > ID_LIMIT:
            characters = {text for text in self.pieces if len(text) == 1}
            if self.size + 256 + 3 * len(characters) > ID_LIMIT:
                return "the ids are too large"
        return ""

    def is_whole(self, text: str) -> int | None:
        """Return the id of the token `text` if a pre-token `text` is not merged; else None."""
        if not self._options.ignores_merges:
            return None
        id = self.pieces.get(text)
        return None if id in self._not_whole else id

    @property
    def merges_any_split(self) -> bool:
        """True if C++ merges the pre-tokens of any preset; False if it merges only whole texts."""
        # Otherwise, C++ would join unknown characters of two pre-tokens to one unknown token.
        return self._options.byte_level or self.fallback_ids is not None

    def merger(self) -> TextMerger:
        """Return a new merger."""
        return TextMerger(self)

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


class TextMerger:
    """Merges pre-tokens with one TextVocabulary."""

    def __init__(self, vocabulary: TextVocabulary) -> None:
        self._vocabulary = vocabulary
        self._options = vocabulary.options
        self._pieces = vocabulary.pieces
        self._fallback = vocabulary.byte_ids
        self._unknown_id = vocabulary.unknown_id
        # If a pair is listed twice, the later rank counts.
        self._ranks = {
            (left, right): (rank, result)
            for rank, (left, right, result) in enumerate(vocabulary.merges)
        }
        self._cache = PartCache(self._merge)

    def merge(self, pre_token: bytes) -> list[int]:
        """Return the ids of the tokens of `pre_token`, which is UTF-8, in O(n log n) time."""
        return [id for id, _ in self.sized(pre_token)]

    def spans(self, pre_token: bytes) -> list[tuple[int, int]]:
        """Return the half-open span of each token in the bytes of `pre_token`.

        As in Hugging Face's tokenizers, each token begins where the token before it ends, even if a
        character between the two was dropped.
        """
        spans = spans_of(self.sized(pre_token))
        if not self._options.byte_level:
            return spans
        # The spans are in the UTF-8 of GPT-2's characters. `places` has, for each byte of this
        # UTF-8, the index of the byte of `pre_token` that it belongs to.
        places = [at for at, byte in enumerate(pre_token) for _ in BYTE_CHARACTERS[byte].encode()]
        return [(places[start], places[end - 1] + 1) for start, end in spans]

    def sized(self, pre_token: bytes) -> list[tuple[int, int]]:
        """Return the id of each token, and the number of bytes of UTF-8 that it stands for.

        If `byte_level`, this is the UTF-8 of GPT-2's characters.
        """
        if not pre_token:
            return []
        if self._options.byte_level:
            text = pre_token.decode("latin-1").translate(BYTE_CHARACTERS)
        else:
            text = decode_utf8(pre_token)
        whole = self._vocabulary.is_whole(text)
        if whole is not None:
            return [(whole, len(text.encode("utf-8", ESCAPE)))]
        if not self._vocabulary.allows_cuts:
            return self._cache.get(text)
        return [token for part in cut_at_marks(text) for token in self._cache.get(part)]

    def trim(self) -> None:
        """Free the cache."""
        self._cache.clear()

    def _merge(self, text: str) -> list[tuple[int, int]]:
        # The low bits of a symbol are an id. The high bits are the number of bytes that the symbol
        # stands for.
        symbols = merge(self._symbols(text), self._find)
        return [(symbol & _ID_MASK, symbol >> _ID_BITS) for symbol in symbols]

    def _find(self, left: int, right: int) -> RankedMerge | None:
        pair = self._ranks.get((left & _ID_MASK, right & _ID_MASK))
        if pair is None:
            return None
        size = (left >> _ID_BITS) + (right >> _ID_BITS)
        return pair[0], pair[1] | size << _ID_BITS

    def _symbols(self, text: str) -> list[int]:
        options, pieces = self._options, self._pieces
        symbols: list[int] = []
        unknown = 0  # the number of bytes of the pending unknown token
        last = len(text) - 1
        for at, char in enumerate(text):
            data = char.encode("utf-8", ESCAPE)
            size = len(data)
            name = f"{options.prefix if at else ''}{char}{options.suffix if at == last else ''}"
            id = pieces.get(name)
            if id is None and all(byte in self._fallback for byte in data):
                # As in Hugging Face's tokenizers, a pending unknown token comes after these tokens.
                symbols += [self._fallback[byte] | 1 << _ID_BITS for byte in data]
            elif id is not None:
                if unknown:
                    symbols.append(self._unknown_id | unknown << _ID_BITS)
                    unknown = 0
                symbols.append(id | size << _ID_BITS)
            elif options.unknown is not None:
                if unknown and not options.fuses_unknown:
                    symbols.append(self._unknown_id | unknown << _ID_BITS)
                    unknown = 0
                unknown += size
        if unknown:
            symbols.append(self._unknown_id | unknown << _ID_BITS)
        return symbols
