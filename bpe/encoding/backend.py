"""Define Backend, which encodes text with one vocabulary, in C++ or in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.utf8 import StrOrBytes
from bpe.types import Ids, Offsets

Calls = TypeVar("Calls", bound=tuple[Callable[..., object], ...])


class TokenPlaces(Protocol):
    """The places of the tokens of several segments."""

    def find(self) -> tuple[Offsets, Offsets, Offsets]:
        """Return (ends, starts, stops).

        These are the number of ids that begin before the end of each segment, and the spans of the
        ids in bytes of all segments together.
        """
        ...


class Backend(Protocol):
    """The methods of all backends, in C++ or in Python. All backends give the same results.

    They are PythonBackend, and _core.Tokenizer in C++. The methods of _core.Tokenizer also
    normalize text, except `spans_of_normalized`. In a str, a surrogate pair counts as the character
    that it encodes, and a lone surrogate as U+FFFD. `added` comes from `make_added`. The position
    of a SpecialTokenError is in bytes. `threads` bounds the number of threads; 0 lets the backend
    choose. If `continuation`, no prefix comes before the text.
    """

    def encode(
        self, text: StrOrBytes, added: Any, threads: int = 0, continuation: bool = False
    ) -> list[int]:
        """Return the ids of `text`."""
        ...

    def encode_array(
        self, text: StrOrBytes, added: Any, threads: int = 0, continuation: bool = False
    ) -> Ids:
        """Return the ids of `text` as an array."""
        ...

    def count(
        self, text: StrOrBytes, added: Any, threads: int = 0, continuation: bool = False
    ) -> int:
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

    def spans(
        self, text: StrOrBytes, added: Any, threads: int = 0, continuation: bool = False
    ) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, and the start and the end of each id in bytes of UTF-8.

        A token of an added space alone gets the first byte after the space, as in Hugging Face's
        tokenizers.
        """
        ...

    def spans_of_normalized(self, text: bytes, added: Any) -> tuple[Ids, Offsets, Offsets]:
        """Do the same as `spans`, but a token of an added space alone gets an empty span.

        `added` must not refuse tokens.
        """
        ...

    def encode_segments(
        self, segments: list[Any], searches: dict[str, Any], special: Any
    ) -> tuple[Ids, TokenPlaces] | None:
        """Return the ids of texts or pairs (text, policy), as one text that needs no work before.

        `searches` has the search for the added tokens of each policy, and `special` is the policy
        of a text without one. The result is None if the backend cannot encode these segments at
        once, or a policy refuses a token.
        """
        ...

    def session(self, all: Any, continuation: bool) -> Any:
        """Return an empty bpe.sessions.kept_text.KeptText; `all` has all added tokens."""
        ...

    def safe_cut(self, text: bytes, added: Any, later: bool = False) -> int:
        """Return a byte offset at which a cut of `text` does not change the ids, or 0.

        The cut is safe for any text that may follow `text`. The result is 0 if the backend finds no
        safe offset. Pass later=True if you encode the part after the cut as a continuation.
        """
        ...

    @property
    def normalizer(self) -> str:
        """How the backend normalizes text: "none", "nfc", "sentencepiece" or "chain"."""
        ...

    @property
    def takes_spaces(self) -> bool:
        """True if spaces of a text stand for "▁", so that the text needs no normalizer."""
        ...

    @property
    def merge(self) -> Callable[[bytes], list[int]]:
        """A function that merges the bytes of one pre-token into ids."""
        ...

    @property
    def merges(self) -> Callable[[], NDArray[np.uint32]]:
        """A function that returns the merges, one per row, recovered from ranks if necessary."""
        ...

    def decode(self, ids: list[int]) -> bytes | None:
        """Return the bytes of `ids`, or None if an id has no token."""
        ...

    def is_normal(self, text: StrOrBytes) -> bool:
        """Return True only if `text` is in NFC; False may be returned for any text."""
        ...

    def all_take_fast_path(self, texts: list[Any], only_str: bool, only_ascii: bool) -> bool:
        """Return True only if `encode_batch` can take `texts` without checking them.

        The result is False if a text is neither str nor bytes. It is also False if `only_str` is
        true and a text is bytes, or if `only_ascii` is true and a text is not ASCII.
        """
        ...

    def fast_calls(
        self,
        make_added: Callable[[Any], object],
        slow_calls: Calls,
        only_str: bool,
        only_ascii: bool,
    ) -> Calls:
        """Return replacements for `slow_calls`: encode, encode_array and count of Pipeline.

        A replacement may encode a short text itself, with the AddedTokens that `make_added` returns
        for the argument `special` of the call. It passes all other calls to the function that it
        replaces. `all_take_fast_path` explains the flags.
        """
        ...

    def decode_calls(self, slow_calls: Calls) -> Calls:
        """Return replacements for `slow_calls`: decode and decode_bytes of Decoder.

        A replacement passes calls that it does not handle to the function that it replaces.
        """
        ...

    def text_stream(
        self, skip_special: bool, continuation: bool, clean_up: bool, stop: tuple[str, ...]
    ) -> Any | None:
        """Return a bpe.decoders.text_stream.TextStream, or None if the backend does not decode."""
        ...

    def rendered(self) -> tuple[NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint32]] | None:
        """Return the rendered bytes of all tokens, their offsets by id, and the sorted ids.

        Returns None if the backend does not decode.
        """
        ...

    @property
    def cache_bytes(self) -> int:
        """The number of bytes that the caches hold."""
        ...

    def trim(self) -> None:
        """Free the caches."""
        ...
