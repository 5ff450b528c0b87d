"""Types of Tokenizer's arguments and results."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.text import Text as Text

__all__ = [
    "MAX_TEMPLATE_IDS",
    "Direction",
    "Errors",
    "Ids",
    "NewIds",
    "Nfc",
    "Normalizer",
    "NormalizesText",
    "Offsets",
    "Padding",
    "PresetLike",
    "SegmentLike",
    "Spans",
    "Special",
    "SupportsOffsets",
    "Template",
    "Text",
    "Token",
    "Treatment",
    "Truncation",
    "Unit",
]

Ids: TypeAlias = NDArray[np.uint32]
Offsets: TypeAlias = NDArray[np.int64]
Spans: TypeAlias = tuple[Ids, Offsets, Offsets]
"""The ids of a text, and the start and the end of each id in it."""

Treatment: TypeAlias = Literal["raise", "text", "allow", "plain", "content"]
"""The policy for all special tokens in a text.

"raise" raises SpecialTokenError, "text" encodes them as ordinary text, "allow" as their ids.
"plain" encodes all added tokens as ordinary text, also those that are not special. "content" does
the same, but for tokens of white space alone that are not special: they cannot mark structure.
"""
Special: TypeAlias = Treatment | Collection[str]
"""A policy for all special tokens, or the set of special tokens to allow."""
SegmentLike: TypeAlias = "Text | tuple[Text, Special] | Iterable[int]"
"""A segment of a text: a text, a text with its own policy, or ids."""
Errors: TypeAlias = Literal["replace", "strict", "surrogateescape"]
"""The error handler for lone surrogates in a str to encode."""
NewIds: TypeAlias = Literal["after", "gaps"] | int
"""The ids that new tokens get: those after the largest id, the lowest free ids, or the free ids
from this one on."""
Unit: TypeAlias = Literal["char", "byte", "utf16", "grapheme"]
"""The unit of a span: code points, bytes of UTF-8, code units of UTF-16, or graphemes.

A grapheme is an extended grapheme cluster of Unicode 18: what a reader takes for one character.
"""
Nfc: TypeAlias = Literal["NFC"]
"""The normalizer for Unicode's form NFC."""


class NormalizesText(Protocol):
    """A normalizer. In a str, a lone surrogate stands for an invalid byte ("surrogateescape")."""

    def normalize(self, text: str, /) -> str:
        """Return `text` normalized."""

    def align(self, text: str, /) -> tuple[str, list[tuple[int, int]]]:
        """Return `text` normalized, and the origin of each code point of the result.

        An origin is a half-open span (start, end) of code points in `text`.
        """


Normalizer: TypeAlias = Nfc | NormalizesText
"""A normalizer as an argument; "NFC" stands for the normalizer of this form."""


class Token(NamedTuple):
    """A token of a text: its id, its bytes, and its half-open span (start, end) in the text.

    By default, a span in a str counts code points, and a span in bytes counts bytes. Unless the
    span counts bytes, it covers each code point, or each grapheme, of which the token has a byte.
    """

    id: int
    bytes: bytes
    start: int
    end: int


class Template(NamedTuple):
    """The ids that `add_special_tokens` puts before and after the ids of a text."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


MAX_TEMPLATE_IDS = 256
"""The maximal number of ids of a Template. Published templates have four ids or fewer."""


Direction: TypeAlias = Literal["left", "right"]


class Truncation(NamedTuple):
    """The arguments of `Tokenizer.enable_truncation` in Hugging Face's tokenizers."""

    max_length: int
    stride: int
    strategy: str
    direction: Direction


class Padding(NamedTuple):
    """The arguments of `Tokenizer.enable_padding` in Hugging Face's tokenizers.

    If `length` is None, encodings are padded to the length of the longest one.
    """

    length: int | None
    direction: Direction
    pad_id: int
    pad_token: str
    pad_type_id: int
    pad_to_multiple_of: int | None

    def target(self, longest: int) -> int:
        """Return the length to pad to if the longest encoding has `longest` ids.

        It is `length`, or else `longest`, rounded up to a multiple of `pad_to_multiple_of`.
        """
        length = longest if self.length is None else self.length
        multiple = self.pad_to_multiple_of
        if multiple and length % multiple:
            length += multiple - length % multiple
        return length


class SupportsOffsets(Protocol):
    """The method of a custom pre-tokenizer: any object that splits a str."""

    def offsets(self, text: str, /) -> NDArray[np.int64]:
        """Return the n + 1 boundaries of n pre-tokens, in code points.

        The first boundary is 0, the last one is the length of `text`.
        """


PresetLike: TypeAlias = str | Preset | PreTokenizer | SupportsOffsets
"""The argument `preset`: the name of a preset, a preset, or an object that splits texts."""
