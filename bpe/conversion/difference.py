"""Find a text whose ids or decoded text differ between two tokenizers, and make it short."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from bpe.errors import BpeError, shortened
from bpe.tokenizer import Tokenizer

_TREATMENTS: tuple[Literal["allow", "text"], ...] = ("allow", "text")
_MAX_IDS = 24
_MAX_TRIALS = 300

Result = list[int] | str
"""The ids of a text, or the error of encoding it."""


class TextDifference(NamedTuple):
    """A text that two tokenizers encode or decode differently."""

    text: str
    special: Literal["allow", "text"]
    """The argument `special` of `encode` that shows the difference."""
    ids: list[int] | str
    """The ids of the first tokenizer, or its error."""
    other_ids: list[int] | str
    """The ids of the second tokenizer, or its error."""
    decoded: str | None = None
    """The text that the first tokenizer decodes, if the ids are equal."""
    other_decoded: str | None = None

    def __str__(self) -> str:
        """Return a sentence without a period."""
        shown = shortened(self.text, show=ascii)
        how = "" if self.special == "allow" else f" with special={self.special!r}"
        if self.decoded is not None:
            return (
                f"the ids of {shown} are equal{how}, but decode to {shortened(self.decoded)} and "
                f"{shortened(self.other_decoded)}"
            )
        return f"the ids of {shown}{how} are {_shown(self.ids)} and {_shown(self.other_ids)}"


def find_difference(
    tokenizer: Tokenizer, other: Tokenizer, texts: Sequence[str], *, decodes: bool = True
) -> TextDifference | None:
    """Return a text that the two tokenizers treat differently, or None if `texts` has none.

    Compares the ids of all texts, with special tokens as their ids and as text. If `decodes`, also
    compares the text of these ids without special tokens. The returned text is shortened: without
    any one of its characters, the difference disappears, or it is in a text that took many trials.
    """
    for special in _TREATMENTS:
        index = _first_other(tokenizer, other, texts, special)
        if index is not None:
            return _shorten(tokenizer, other, texts[index], special)
    if not decodes:
        return None
    for special in _TREATMENTS:
        ids = _rows(tokenizer, texts, special)
        if ids is None:
            continue
        ours = tokenizer.decode_batch(ids, skip_special=True)
        theirs = other.decode_batch(ids, skip_special=True)
        for text, decoded, other_decoded in zip(texts, ours, theirs, strict=True):
            if decoded != other_decoded:
                return _shorten_decoded(tokenizer, other, text, special)
    return None


def _first_other(
    tokenizer: Tokenizer, other: Tokenizer, texts: Sequence[str], special: Literal["allow", "text"]
) -> int | None:
    try:
        ids, offsets = tokenizer.encode_batch_array(texts, special)
        other_ids, other_offsets = other.encode_batch_array(texts, special)
    except BpeError:  # some text cannot be encoded: compare one by one
        for index, text in enumerate(texts):
            if _encode(tokenizer, text, special) != _encode(other, text, special):
                return index
        return None
    if np.array_equal(ids, other_ids) and np.array_equal(offsets, other_offsets):
        return None
    for index in range(len(texts)):
        row = ids[offsets[index] : offsets[index + 1]]
        if not np.array_equal(row, other_ids[other_offsets[index] : other_offsets[index + 1]]):
            return index
    return None


def _rows(
    tokenizer: Tokenizer, texts: Sequence[str], special: Literal["allow", "text"]
) -> list[list[int]] | None:
    try:
        return tokenizer.encode_batch(texts, special)
    except BpeError:
        return None


def _encode(tokenizer: Tokenizer, text: str, special: Literal["allow", "text"]) -> Result:
    try:
        return tokenizer.encode(text, special)
    except BpeError as error:
        return f"{type(error).__name__}: {error}"


def _shorten(
    tokenizer: Tokenizer, other: Tokenizer, text: str, special: Literal["allow", "text"]
) -> TextDifference:
    def differs(shorter: str) -> bool:
        return _encode(tokenizer, shorter, special) != _encode(other, shorter, special)

    text = shortest(text, differs)
    return TextDifference(
        text, special, _encode(tokenizer, text, special), _encode(other, text, special)
    )


def _shorten_decoded(
    tokenizer: Tokenizer, other: Tokenizer, text: str, special: Literal["allow", "text"]
) -> TextDifference:
    """Return a short text whose ids are equal, but decode differently, as those of `text` do."""

    def decoded(shorter: str) -> tuple[list[int], str, str]:
        ids = tokenizer.encode(shorter, special)
        decoded_ids = tokenizer.decode(ids, skip_special=True)
        return ids, decoded_ids, other.decode(ids, skip_special=True)

    def differs(shorter: str) -> bool:
        ids = _encode(tokenizer, shorter, special)
        if isinstance(ids, str) or ids != _encode(other, shorter, special):
            return False
        _, ours, theirs = decoded(shorter)
        return ours != theirs

    text = shortest(text, differs)
    ids, ours, theirs = decoded(text)
    return TextDifference(text, special, ids, ids, ours, theirs)


def shortest(text: str, differs: Callable[[str], bool]) -> str:
    """Return `text` without parts that `differs` does not need, after a limited number of trials.

    >>> shortest("some text", lambda text: "x" in text)
    'x'
    """
    size, trials = len(text) // 2, 0
    while size and trials < _MAX_TRIALS:
        start = 0
        while start < len(text) and trials < _MAX_TRIALS:
            shorter = text[:start] + text[start + size :]
            trials += 1
            if shorter and differs(shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text


def _shown(ids: Result) -> str:
    if isinstance(ids, str):
        return f"an error ({ids})"
    return f"[{', '.join(map(str, ids[:_MAX_IDS]))}{', …' if len(ids) > _MAX_IDS else ''}]"
