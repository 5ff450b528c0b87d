"""Make the backend of a tokenizer, in C++ or in Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from bpe.characters.merger import make_merger
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.encoding.added_tokens import AddedToken, AddedTokens, Record, word_ranges
from bpe.encoding.python_backend import Backend, PythonBackend
from bpe.encoding.ranged_tokens import AddedTokenSearch, RangedTokens, TextRange, WholeTextSearch
from bpe.encoding.text_spaces import keeps_whole, splits_alike
from bpe.encoding.token_list import AddedTokenList
from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.merge import Merger, recover_merges
from bpe.types import SupportsOffsets
from bpe.vocabulary import Vocabulary
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer, native_machine

if TYPE_CHECKING:
    from pretok import _core


def make_backend(
    vocabulary: Vocabulary,
    added: Mapping[int, bytes],
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    add_prefix_space: bool,
    spec: _core.Spec | None,
    cache_limit: int,
) -> Backend:
    """Return the backend of `vocabulary`, which also decodes the ids of `added`.

    `spec` has the same parts for C++, or is None if the backend is "python". The caches of the
    backend hold at most `cache_limit` bytes.
    """
    if spec is not None and isinstance(pre_tokenizer, PreTokenizer):
        # Only the first tokenizer of a file waits for its first text to make the merge tables.
        is_deferred = vocabulary._is_fresh
        vocabulary._is_fresh = False
        return native_backend(spec, pre_tokenizer, cache_limit, is_deferred)
    spans_in = trim_merger = None
    if isinstance(vocabulary, AnyCharacterVocabulary):
        characters = make_merger(vocabulary)
        merge, spans_in, trim_merger = characters.merge, characters.spans, characters.trim

        def merges() -> NDArray[np.uint32]:
            return np.array(vocabulary.merges, np.uint32).reshape(-1, 3)

    elif spec is not None:
        native = native_backend(spec, None, cache_limit)
        merge, merges, trim_merger = native.merge, native.merges, native.trim
    else:
        merge = Merger(vocabulary).merge

        def merges() -> NDArray[np.uint32]:
            return np.array(list(recover_merges(vocabulary)), np.uint32).reshape(-1, 3)

    token_bytes = {**vocabulary.token_bytes, **added}
    return python_backend(
        pre_tokenizer, add_prefix_space, merge, merges, token_bytes, spans_in, trim_merger
    )


def python_backend(
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    add_prefix_space: bool,
    merge: Callable[[bytes], list[int]],
    merges: Callable[[], NDArray[np.uint32]],
    token_bytes: dict[int, bytes],
    spans_in: Callable[[bytes], list[tuple[int, int]]] | None = None,
    trim_merger: Callable[[], None] | None = None,
) -> PythonBackend:
    """Return a PythonBackend, which explains the arguments, with the split of `pre_tokenizer`."""
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


def native_backend(
    spec: _core.Spec,
    pre_tokenizer: PreTokenizer | None,
    cache_limit: int,
    is_deferred: bool = False,
    takes_normalized_text: bool = False,
    for_dropout: bool = False,
) -> _core.Tokenizer:
    """Return the backend in C++; `spec` says how to split text if `pre_tokenizer` is None.

    Raises ValueError or NotImplementedError if C++ cannot make it, which may only happen for the
    spec of a file.
    """
    from pretok import _core

    machine = None
    if pre_tokenizer is not None and pre_tokenizer.preset != WHOLE:
        machine = cast("_core.Machine", native_machine(pre_tokenizer))
    return _core.Tokenizer(
        spec, machine, cache_limit, is_deferred, takes_normalized_text, for_dropout
    )


def make_spec(
    vocabulary: Vocabulary,
    added: AddedTokenList,
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    add_prefix_space: bool,
    steps: bytes,
    decodes: bool,
    invisible: Collection[int],
) -> _core.Spec:
    """Return the parts of a tokenizer for C++, but for its split and template.

    bpe.formats.pretok_steps.native_steps returns `steps` and `decodes`. `invisible` has the ids
    that SentencePiece decodes to no text.
    """
    from pretok import _core

    packed, fields = vocabulary.for_spec()
    if steps:
        fields["steps"] = steps
    preset = pre_tokenizer.preset if isinstance(pre_tokenizer, PreTokenizer) else None
    is_text = isinstance(vocabulary, AnyCharacterVocabulary)
    if is_text and preset is not None and splits_alike(preset):
        fields["split_at_marks"] = "no" if keeps_whole(preset) else "yes"
    fields["added"] = records = _records(vocabulary, added)
    fields["decodes"] = decodes and records == added.records
    if decodes and invisible:
        fields["invisible"] = list(invisible)
    fields["add_prefix_space"] = add_prefix_space
    return _core.Spec(*packed, fields)


def _records(vocabulary: Vocabulary, added: AddedTokenList) -> list[Record]:
    """Return the added tokens for make_spec.

    C++ merges special tokens even if `ignore_merges`; a TextVocabulary has a list of these tokens.
    """
    if not isinstance(vocabulary, AnyCharacterVocabulary):
        return added.records
    # The text of a fallback token is "<0x0A>", and its added token may be "\n".
    fallback = vocabulary.byte_ids.values()
    records = [record for record in added.records if record[1] not in fallback or record[3]]
    if isinstance(vocabulary, TextVocabulary) and vocabulary.ignore_merges:
        listed, not_whole = {id for _, id, *_ in records}, vocabulary.not_whole
        records = [(*record[:2], record[1] in not_whole, *record[3:]) for record in records]
        records += [
            (vocabulary.texts[id], id, True, False, False, False, False)
            for id in not_whole - listed
            if id in vocabulary.texts
        ]
    return records


def make_added(tokens: Iterable[AddedToken], backend: Backend) -> WholeTextSearch:
    """Return an object that searches for `tokens`, of the type that `backend` takes."""
    listed = AddedTokenList.of(tokens)
    words = word_ranges() if any(record[-1] for record in listed.records) else ()
    if isinstance(backend, PythonBackend):
        return AddedTokens(listed, words)
    from pretok import _core

    return _core.AddedTokens(listed.records, list(words))


def make_ranged(
    rows: Sequence[tuple[int, AddedTokenSearch, Sequence[int]]], backend: Backend
) -> AddedTokenSearch:
    """Return a search by ranges (end, tokens, ids) of one text; TextRange explains them."""
    if isinstance(backend, PythonBackend):
        return RangedTokens(
            [TextRange(end, cast(AddedTokens, tokens), ids) for end, tokens, ids in rows]
        )
    from pretok import _core

    return _core.AddedTokens.of_ranges(
        cast("list[tuple[int, _core.AddedTokens, Sequence[int]]]", rows)
    )


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
