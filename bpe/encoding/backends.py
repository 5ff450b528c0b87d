"""Define Backend, which encodes text with one vocabulary, in C++ or in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bpe.characters.merger import make_merger
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.encoding.added_tokens import AddedToken, AddedTokens, AddedTokenSearch, word_ranges
from bpe.encoding.character_encoder import character_encoder
from bpe.encoding.missing_bytes_backend import MissingBytesBackend
from bpe.encoding.python_backend import PythonBackend
from bpe.encoding.text_spaces import TextSpaces, splits_alike
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, decode_utf8
from bpe.merge import Merger, recover_merges
from bpe.types import Ids, Offsets, SupportsOffsets
from bpe.vocabulary import Vocabulary
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer, native_machine

Calls = TypeVar("Calls", bound=tuple[Callable[..., object], ...])


class Backend(Protocol):
    """The methods of all backends, in C++ or in Python. All backends give the same results.

    They are PythonBackend, MissingBytesBackend, and _core.Encoder in C++.
    In a str, a surrogate pair counts as the character that it encodes, and a lone surrogate as
    U+FFFD. `added` comes from `make_added`. The position of a SpecialTokenError is in bytes.
    `threads` bounds the number of threads; 0 lets the backend choose.
    """

    def encode(self, text: StrOrBytes, added: Any, threads: int = 0) -> list[int]:
        """Return the ids of `text`."""
        ...

    def encode_array(self, text: StrOrBytes, added: Any, threads: int = 0) -> Ids:
        """Return the ids of `text` as an array."""
        ...

    def count(self, text: StrOrBytes, added: Any, threads: int = 0) -> int:
        """Return the number of ids of `text`."""
        ...

    def encode_batch(
        self, texts: Sequence[StrOrBytes], added: Any, threads: int = 0
    ) -> list[list[int]]:
        """Return the ids of each of `texts`."""
        ...

    def encode_batch_array(
        self, texts: Sequence[StrOrBytes], added: Any, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all n texts in one array, and n + 1 offsets.

        The ids of text i are ids[offsets[i]:offsets[i + 1]].
        """
        ...

    def encode_packed(
        self, data: Any, offsets: Offsets, added: Any, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Do the same as `encode_batch_array` for the texts of PackedTexts(data, offsets)."""
        ...

    def spans(self, text: StrOrBytes, added: Any, threads: int = 0) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, and the half-open span of each id in bytes of UTF-8."""
        ...

    def safe_cut(self, text: bytes, added: Any, nfc: bool, later: bool = False) -> int:
        """Return a byte offset at which a cut of `text` does not change the ids, or 0.

        The cut is safe for any text that may follow `text`. The result is 0 if the backend finds no
        safe offset. If `nfc` is true, the parts are normalized to NFC before they are encoded; the
        cut must not change this either. If `later` is true, `encode_later` encodes the part after
        the cut.
        """
        ...

    def encode_later(self, text: bytes, added: Any) -> Ids:
        """Return the ids of a part of a text that begins at a safe cut.

        Unlike the other methods, this method puts no prefix before the part.
        """
        ...

    @property
    def merge(self) -> Callable[[bytes], list[int]]:
        """A function that merges the bytes of one pre-token into ids."""
        ...

    @property
    def merges(self) -> Callable[[], NDArray[np.uint32]]:
        """A function that returns the merges, one per row, recovered from ranks if necessary."""
        ...

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> bytes | None:
        """Return the bytes of `ids`, or None if an id has no token."""
        ...

    def is_normal(self, text: StrOrBytes) -> bool:
        """Return True only if `text` is in NFC; False may be returned for any text."""
        ...

    def normalized(self, data: bytes) -> bytes:
        """Return `data` in NFC; invalid bytes are kept, and no character moves past them."""
        ...

    def all_take_fast_path(
        self, texts: list[Any], only_str: bool, only_ascii: bool, only_normal: bool
    ) -> bool:
        """Return True only if `encode_batch` can take `texts` unchecked.

        The result is False if a text is neither str nor bytes. It is also False if `only_str` and a
        text is bytes, if `only_ascii` and a text is not ASCII, or if `only_normal` and a text may
        not be in NFC.
        """
        ...

    def fast_calls(
        self,
        make_added: Callable[[Any], object],
        slow_calls: Calls,
        only_str: bool,
        only_ascii: bool,
        only_normal: bool,
    ) -> Calls:
        """Return replacements for `slow_calls`: encode, encode_array and count of Pipeline.

        A replacement may encode a short text itself, with the AddedTokens that `make_added` returns
        for the argument `special` of the call. It passes all other calls to the function that it
        replaces. `all_take_fast_path` explains the flags.
        """
        ...

    def decode_calls(self, special: Sequence[int], slow_calls: Calls) -> Calls:
        """Return replacements for `slow_calls`: decode and decode_bytes of Decoder.

        A replacement passes calls that it does not handle to the function that it replaces.
        """
        ...

    @property
    def cache_bytes(self) -> int:
        """The number of bytes that the caches hold."""
        ...

    def trim(self) -> None:
        """Free the caches."""
        ...


def make_backend(
    vocabulary: Vocabulary,
    added: Mapping[int, bytes],
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    add_prefix_space: bool,
    backend: BackendName,
    cache_limit: int,
    spaces: TextSpaces | None = None,
) -> Backend:
    """Return the backend of `vocabulary`, which also decodes the ids of `added`.

    The caches of the backend hold at most `cache_limit` bytes. Pass `spaces` only if `takes_spaces`
    returns True. The backend then normalizes the spaces of a text itself, as `spaces` says.
    """
    spans_in = trim_merger = None
    if isinstance(vocabulary, CharacterVocabulary):
        if backend == "native":  # `backend_for` (arguments.py) has checked that C++ can merge
            assert isinstance(pre_tokenizer, PreTokenizer)
            if (
                isinstance(vocabulary, TextVocabulary)
                and vocabulary.options.byte_level
                and vocabulary.merges_as_bytes
            ):
                return MissingBytesBackend(
                    vocabulary, added, pre_tokenizer, add_prefix_space, cache_limit
                )
            return character_encoder(
                vocabulary, added, pre_tokenizer, add_prefix_space, cache_limit, spaces
            )
        characters = make_merger(vocabulary)
        merge, spans_in, trim_merger = characters.merge, characters.spans, characters.trim

        def merges() -> NDArray[np.uint32]:
            return np.array(vocabulary.merges, np.uint32).reshape(-1, 3)

    elif backend == "native":
        from pretok import _core

        is_native_split = isinstance(pre_tokenizer, PreTokenizer)
        packed = vocabulary.packed
        native = _core.Encoder(
            cast(_core.Machine, native_machine(pre_tokenizer))
            if isinstance(pre_tokenizer, PreTokenizer)
            else None,
            *packed.with_tokens(added),
            len(packed.ids),
            vocabulary.merge_rows,
            vocabulary.from_ranks,
            vocabulary.ignore_merges,
            add_prefix_space,
            cache_limit,
        )
        if is_native_split:
            return native
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
        and isinstance(vocabulary, CharacterVocabulary)
        and vocabulary.has_mark
        and vocabulary.takes_spaces
        and splits_alike(getattr(pre_tokenizer, "preset", None))
    )


def make_added(tokens: Iterable[AddedToken], nfc: bool, backend: Backend) -> AddedTokenSearch:
    """Return the search for `tokens`, of the type that the methods of `backend` take."""
    tokens = list(tokens)
    words = word_ranges() if any(token.single_word for token in tokens) else ()
    if isinstance(backend, PythonBackend):
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
    return _core.AddedTokens(records, list(words), nfc)


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
