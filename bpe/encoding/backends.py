"""Choosing what does the work of a Tokenizer: C++ or Python, and pre-tokenizers of users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.added_tokens import AddedToken, AddedTokens, word_ranges
from bpe.encoding.python_backend import ESCAPE, Backend, Encoder, as_text
from bpe.merge import Merger
from bpe.vocabulary import Vocabulary
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer, native_machine


class SupportsOffsets(Protocol):
    """What can stand in for a PreTokenizer: it has the n + 1 boundaries of a str in code points."""

    def offsets(self, text: str, /) -> NDArray[np.int64]:
        """Return the boundaries of `text`: 0, those between pre-tokens, and its length."""


def make_encoder(
    vocabulary: Vocabulary,
    added: Mapping[int, bytes],
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    add_prefix_space: bool,
    backend: BackendName,
    cache_limit: int,
) -> Backend:
    """Return what encodes with `vocabulary`, and decodes that and `added`, other ids to bytes.

    Its caches hold at most `cache_limit` bytes.
    """
    if backend == "native":
        from pretok import _core

        known = pre_tokenizer if isinstance(pre_tokenizer, PreTokenizer) else None
        packed = vocabulary.packed
        native = _core.Encoder(
            cast(_core.Machine, native_machine(known)) if known is not None else None,
            *packed.and_also(added),
            len(packed.ids),
            vocabulary.merge_rows,
            vocabulary.from_ranks,
            vocabulary.ignore_merges,
            add_prefix_space,
            cache_limit,
        )
        if known is not None:
            return cast(Backend, native)
        merge = native.merge
    else:
        merge = Merger(vocabulary).merge
    decoder = {**vocabulary.token_bytes, **added}
    if isinstance(pre_tokenizer, PreTokenizer):
        return Encoder(pre_tokenizer.split_bytes, merge, decoder, add_prefix_space)
    return Encoder(splitter(pre_tokenizer), merge, decoder, add_prefix_space)


def make_added(tokens: Iterable[AddedToken], nfc: bool, encoder: Backend) -> AddedTokens:
    """Return what finds `tokens`, of the kind that `encoder` takes."""
    tokens = list(tokens)
    words = word_ranges() if any(token.single_word for token in tokens) else ()
    if isinstance(encoder, Encoder):
        return AddedTokens(tokens, words, nfc)
    from pretok import _core

    records = [
        (
            token.content.encode(),
            token.id,
            token.normalized,
            token.lstrip,
            token.rstrip,
            token.single_word,
            token.special,
        )
        for token in tokens
    ]
    return cast(AddedTokens, _core.AddedTokens(records, list(words), nfc))


def splitter(pre_tokenizer: SupportsOffsets) -> Callable[[bytes], list[bytes]]:
    """Return a function that splits UTF-8 with a pre-tokenizer that knows only str."""

    def split(data: bytes) -> list[bytes]:
        text = as_text(data)
        bounds = [int(bound) for bound in pre_tokenizer.offsets(text)]
        if bounds[:1] != [0] or bounds[-1] != len(text) or sorted(bounds) != bounds:
            raise ValueError(
                f"{type(pre_tokenizer).__name__}.offsets gave boundaries from {bounds[:1]} to "
                f"{bounds[-1:]} for a text of {len(text)} code points; expected them in order, "
                "from 0 to its length"
            )
        return [
            text[start:end].encode("utf-8", ESCAPE)
            for start, end in pairwise(bounds)
            if start < end
        ]

    return split
