"""MissingBytesBackend: a TextVocabulary whose characters stand for bytes, in C++.

Such a vocabulary may lack tokens for some bytes. C++ merges bytes, and needs a token for each byte
value. So the missing bytes get new ids, which are in no merge. If C++ returns such an id, the text
is encoded again by an encoder that merges characters. It is slower, and drops the byte, or replaces
it by the unknown token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bpe.byte_level import to_bytes
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.encoding.character_encoder import characters_encoder, first_symbol
from bpe.encoding.packed import PackedTexts
from bpe.encoding.python_backend import OneByOne, concatenate_ids
from bpe.encoding.utf8 import StrOrBytes
from bpe.once import forget, once
from bpe.types import Ids, Offsets
from bpe.vocabulary import ID_LIMIT, Packed
from pretok.pre_tokenizer import PreTokenizer, native_machine

if TYPE_CHECKING:
    from pretok import _core


class MissingBytesBackend(OneByOne):
    """The Backend of a TextVocabulary that is `byte_level` and `merges_as_bytes`."""

    def __init__(
        self,
        vocabulary: TextVocabulary,
        added: Mapping[int, bytes],
        pre_tokenizer: PreTokenizer,
        add_prefix_space: bool,
        cache_limit: int,
    ) -> None:
        from pretok import _core

        tokens = {
            id: data
            for id, text in vocabulary.texts.items()
            if (data := to_bytes(text)) is not None
        }
        known = set(tokens.values())
        missing = [byte for byte in range(256) if bytes([byte]) not in known]
        # An added token has an id of `_first_missing` or more only if the id is almost ID_LIMIT.
        # The slow encoder also encodes the texts with such a token.
        self._first_missing = min(first_symbol(vocabulary, added), ID_LIMIT - 256)
        tokens |= {self._first_missing + at: bytes([byte]) for at, byte in enumerate(missing)}
        # A token with a character that stands for no byte is not in `tokens`. No text gives such a
        # token, so its merges are dropped.
        rows = vocabulary.merge_rows
        rows = rows[np.isin(rows, list(tokens)).all(axis=1)]
        packed = Packed.of(tokens)
        from_ranks, ignore_merges = False, False
        self._make_slow = partial(
            characters_encoder, vocabulary, added, pre_tokenizer, add_prefix_space, cache_limit
        )
        self._native = _core.Encoder(
            cast(_core.Machine, native_machine(pre_tokenizer)), *packed, len(packed.ids), rows,
            from_ranks, ignore_merges, add_prefix_space, cache_limit,
        )  # fmt: skip

    @once
    def _slow(self) -> _core.Encoder:
        """The encoder that merges characters; few texts need it."""
        return self._make_slow()

    def _misses(self, ids: Ids) -> bool:
        """Return whether `ids` may have the id of a missing byte.

        An added token may have an id of `_first_missing` or more too. The slow encoder
        then encodes the text, with the same ids.
        """
        return bool(len(ids)) and int(ids.max()) >= self._first_missing

    def encode(self, text: StrOrBytes, added: Any, threads: int = 0) -> list[int]:
        """Return the ids of `text`."""
        ids: list[int] = self.encode_array(text, added, threads).tolist()
        return ids

    def encode_array(self, text: StrOrBytes, added: Any, threads: int = 0) -> Ids:
        """Return the ids of `text` as an array."""
        ids = self._native.encode_array(text, added, threads)
        return self._slow.encode_array(text, added) if self._misses(ids) else ids

    def count(self, text: StrOrBytes, added: Any, threads: int = 0) -> int:
        """Return the number of ids of `text`."""
        return len(self.encode_array(text, added, threads))

    def encode_batch(
        self, texts: Sequence[StrOrBytes], added: Any, threads: int = 0
    ) -> list[list[int]]:
        """Return the ids of each of `texts`."""
        ids, offsets = self._native.encode_batch_array(texts, added, threads)
        rows = [ids[start:end].tolist() for start, end in pairwise(offsets.tolist())]
        places = np.flatnonzero(ids >= self._first_missing)
        for row in np.unique(np.searchsorted(offsets, places, side="right") - 1).tolist():
            rows[row] = self._slow.encode(texts[row], added)
        return rows

    def encode_batch_array(
        self, texts: Sequence[StrOrBytes], added: Any, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all texts, and offsets: text i has ids[offsets[i]:offsets[i + 1]]."""
        ids, offsets = self._native.encode_batch_array(texts, added, threads)
        if self._misses(ids):
            return concatenate_ids(self.encode_batch(texts, added, threads))
        return ids, offsets

    def encode_packed(
        self, data: Any, offsets: Offsets, added: Any, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all texts, and offsets: text i has ids[offsets[i]:offsets[i + 1]]."""
        ids, ends = self._native.encode_packed(data, offsets, added, threads)
        if self._misses(ids):
            return self.encode_batch_array(list(PackedTexts(data, offsets)), added, threads)
        return ids, ends

    def spans(self, text: StrOrBytes, added: Any, threads: int = 0) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, and the half-open span of each id in bytes of UTF-8."""
        spans = self._native.spans(text, added, threads)
        return self._slow.spans(text, added) if self._misses(spans[0]) else spans

    def merge(self, pre_token: bytes) -> list[int]:
        """Merge the bytes of one pre-token into ids."""
        return self._slow.merge(pre_token)

    def merges(self) -> NDArray[np.uint32]:
        """Return the merges, one per row."""
        return self._slow.merges()

    def safe_cut(self, text: bytes, added: Any, nfc: bool, later: bool = False) -> int:
        """Return a byte offset at which a cut of `text` does not change the ids, or 0."""
        return self._native.safe_cut(text, added, nfc, later)

    def encode_later(self, text: bytes, added: Any) -> Ids:
        """Return the ids of a part of a text that begins at a safe cut."""
        ids = self._native.encode_later(text, added)
        return self._slow.encode_later(text, added) if self._misses(ids) else ids

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> bytes | None:
        """Return the bytes of `ids`, or None if an id has no token."""
        return self._slow.decode(ids)

    def is_normal(self, text: StrOrBytes) -> bool:
        """Return True only if `text` is in NFC; False may be returned for any text."""
        return self._native.is_normal(text)

    @property
    def cache_bytes(self) -> int:
        """The number of bytes that the caches hold."""
        return self._native.cache_bytes

    def trim(self) -> None:
        """Free the caches."""
        self._native.trim()
        forget(self, "_slow")
