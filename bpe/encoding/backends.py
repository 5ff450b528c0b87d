"""Make the backend of a tokenizer, in C++ or in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from bpe.characters.merger import make_merger
from bpe.characters.text_vocabulary import AnyCharacterVocabulary
from bpe.encoding.added_tokens import AddedToken, AddedTokens, AddedTokenSearch, word_ranges
from bpe.encoding.backend import Backend
from bpe.encoding.python_backend import PythonBackend
from bpe.encoding.text_spaces import TextSpaces, keeps_whole, splits_alike
from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.merge import Merger, recover_merges
from bpe.token_table import Packed
from bpe.types import SupportsOffsets
from bpe.vocabulary import Vocabulary
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer, native_machine

if TYPE_CHECKING:
    from pretok import _core


NOTHING: tuple[bytes, list[bytes]] = b"", []
"""The argument `normalizer` of `make_backend` for no normalizer."""


def make_backend(
    vocabulary: Vocabulary,
    added: Mapping[int, bytes],
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    add_prefix_space: bool,
    backend: BackendName,
    cache_limit: int,
    spaces: TextSpaces | None = None,
    normalizer: tuple[bytes, list[bytes]] = NOTHING,
) -> Backend:
    """Return the backend of `vocabulary`, which also decodes the ids of `added`.

    The caches of the backend hold at most `cache_limit` bytes. Pass `spaces` only if `takes_spaces`
    returns True. The backend then normalizes the spaces of a text itself, as `spaces` says. It also
    applies `normalizer`, as bpe.formats.pretok_steps.stored_normalizer returns it.
    """
    if backend == "native" and isinstance(pre_tokenizer, PreTokenizer):
        return _native_backend(
            vocabulary, added, pre_tokenizer, add_prefix_space, cache_limit, spaces, normalizer
        )
    spans_in = trim_merger = None
    if isinstance(vocabulary, AnyCharacterVocabulary):
        characters = make_merger(vocabulary)
        merge, spans_in, trim_merger = characters.merge, characters.spans, characters.trim

        def merges() -> NDArray[np.uint32]:
            return np.array(vocabulary.merges, np.uint32).reshape(-1, 3)

    elif backend == "native":
        native = _byte_tokenizer(vocabulary, added, None, add_prefix_space, cache_limit)
        merge, merges, trim_merger = native.merge, native.merges, native.trim
    else:
        merge = Merger(vocabulary).merge

        def merges() -> NDArray[np.uint32]:
            return np.array(list(recover_merges(vocabulary)), np.uint32).reshape(-1, 3)

    token_bytes = {**vocabulary.token_bytes, **added}
    split = (
        pre_tokenizer.split_bytes
        if isinstance(pre_tokenizer, PreTokenizer)
        else utf8_splitter(pre_tokenizer)
    )
    spans = None
    if isinstance(pre_tokenizer, PreTokenizer) and pre_tokenizer.preset.drops_text:
        spans = pre_tokenizer.spans
    return PythonBackend(
        split, merge, merges, token_bytes, add_prefix_space, spans_in, spans, trim_merger
    )


def _native_backend(
    vocabulary: Vocabulary,
    added: Mapping[int, bytes],
    pre_tokenizer: PreTokenizer,
    add_prefix_space: bool,
    cache_limit: int,
    spaces: TextSpaces | None,
    normalizer: tuple[bytes, list[bytes]],
) -> _core.Tokenizer:
    is_deferred, vocabulary._is_fresh = vocabulary._is_fresh, False
    machine = cast("_core.Machine", native_machine(pre_tokenizer))
    if not isinstance(vocabulary, AnyCharacterVocabulary):
        return _byte_tokenizer(
            vocabulary, added, machine, add_prefix_space, cache_limit, normalizer, is_deferred
        )
    from pretok import _core

    preset = pre_tokenizer.preset
    cuts = "split"
    if preset == WHOLE or (spaces is not None and keeps_whole(preset)):
        cuts = "whole"
    elif spaces is not None:
        cuts = "at_marks"
    # With spaces, another object decodes ids (`make_decoder`).
    tokens = {} if spaces is not None else {**vocabulary.token_bytes, **added}
    return _core.Tokenizer(
        machine,
        *Packed.of(tokens),
        0,
        None,
        False,
        False,
        add_prefix_space,
        cache_limit,
        spaces,
        vocabulary.native(),
        max(vocabulary.size, 1 + max(added, default=0)),
        cuts,
        *normalizer,
        is_deferred and spaces is not None,
    )


def _byte_tokenizer(
    vocabulary: Vocabulary,
    added: Mapping[int, bytes],
    machine: _core.Machine | None,
    add_prefix_space: bool,
    cache_limit: int,
    normalizer: tuple[bytes, list[bytes]] = NOTHING,
    is_deferred: bool = False,
) -> _core.Tokenizer:
    """Return the backend in C++ of a vocabulary whose tokens are bytes."""
    from pretok import _core

    packed = vocabulary.packed
    return _core.Tokenizer(
        machine,
        *packed.with_tokens(added),
        len(packed.ids),
        vocabulary.merge_rows,
        vocabulary.from_ranks,
        vocabulary.ignore_merges,
        add_prefix_space,
        cache_limit,
        normalizer=normalizer[0],
        symbols=normalizer[1],
        is_deferred=is_deferred,
    )


def takes_spaces(
    vocabulary: Vocabulary,
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    backend: BackendName,
) -> bool:
    """Return whether `make_backend` accepts `spaces`.

    Then C++ encodes a text whose spaces have not been replaced by "▁" (see TextSpaces).
    """
    return (
        backend == "native"
        and isinstance(vocabulary, AnyCharacterVocabulary)
        and vocabulary.has_mark
        and vocabulary.takes_spaces
        and splits_alike(getattr(pre_tokenizer, "preset", None))
    )


def make_added(tokens: Iterable[AddedToken], backend: Backend) -> AddedTokenSearch:
    """Return the search for `tokens`, of the type that the methods of `backend` take."""
    tokens = list(tokens)
    words = word_ranges() if any(token.single_word for token in tokens) else ()
    if isinstance(backend, PythonBackend):
        return AddedTokens(tokens, words)
    from pretok import _core

    return _core.AddedTokens([token._record() for token in tokens], list(words))


def utf8_splitter(pre_tokenizer: SupportsOffsets) -> Callable[[bytes], list[bytes]]:
    """Return a function that splits UTF-8 with a pre-tokenizer that takes only str.

    The function raises ValueError unless the boundaries ascend from 0 to the length of the text. It
    omits empty pre-tokens.
    """

    def split(data: bytes) -> list[bytes]:
        text = decode_utf8(data)
        bounds = [int(bound) for bound in pre_tokenizer.offsets(text)]
        if bounds[:1] != [0] or bounds[-1] != len(text) or sorted(bounds) != bounds:
            raise ValueError(
                f"{type(pre_tokenizer).__name__}.offsets gave boundaries from {bounds[:1]} to "
                f"{bounds[-1:]} for a text of {len(text)} code points; expected ascending "
                "boundaries from 0 to that length"
            )
        return [
            text[start:end].encode("utf-8", ESCAPE)
            for start, end in pairwise(bounds)
            if start < end
        ]

    return split
