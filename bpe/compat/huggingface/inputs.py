"""Read the arguments of the calls that encode; raise CallFallbackError for unusual ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import MappingProxyType
from typing import Any

from bpe.compat.huggingface.bpe_engine import BpeEngine, are_str
from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.rows import Row, TextRow
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.compat.huggingface.windows import Padding, Truncation, checked, pad
from bpe.types import Treatment

_NOT_SEQUENCES = str, dict, MappingProxyType


def check_flags(*flags: Any) -> None:
    """Raise CallFallbackError for a flag that is not a bool; tokenizers refuses most of them."""
    if any(type(flag) is not bool for flag in flags):
        raise CallFallbackError("an option that is not a bool")


def items(batch: Any) -> Collection[Any]:
    """Return the items of a batch, which may be any sequence, such as an array or a series.

    The library tokenizers takes all objects with items by index, except str and dict.
    """
    if type(batch) in (list, tuple):
        return batch  # type: ignore[no-any-return]
    if isinstance(batch, _NOT_SEQUENCES) or not hasattr(type(batch), "__getitem__"):
        raise CallFallbackError("a batch that is not a sequence")
    return list(batch)


def parts(input: Any, is_pretokenized: bool) -> Sequence[Any]:
    """Return the sequences of an input of a batch: one or two."""
    if is_words(input) if is_pretokenized else isinstance(input, str):
        return (input,)
    pair = input if type(input) in (tuple, list) else [*items(input)]
    if len(pair) != 2:
        raise CallFallbackError("an input that is neither a sequence nor a pair")
    return pair


def rows(
    engine: BpeEngine, real: Any, parts: Sequence[Any], is_pretokenized: bool
) -> list[TextRow]:
    """Return the row of each sequence: a text, or a list of words.

    Special tokens in a text are ordinary text if `real` encodes special tokens.
    """
    treatment: Treatment = "text" if real.encode_special_tokens else "allow"
    if not is_pretokenized:
        one = len(parts) == 1
        return [engine.row(parts[0], treatment)] if one else engine.rows([*parts], treatment)
    if not all(map(is_words, parts)):
        raise CallFallbackError("a pre-tokenized input that is not a list of str")
    return [engine.words_row(part, treatment) for part in parts]


def encodings(
    engine: BpeEngine, real: Any, inputs: Sequence[tuple[Row, ...]], add_special_tokens: bool
) -> list[Encoding]:
    """Return the encoding of the rows of each input, with the settings of `real`."""
    truncation, padding = real.truncation, real.padding
    if truncation is None and padding is None:
        return [engine.encoding(rows, add_special_tokens) for rows in inputs]
    limit = None if truncation is None else checked(Truncation(**truncation))
    windows = [engine.window(rows, add_special_tokens, limit) for rows in inputs]
    if padding is not None:
        windows = pad(windows, Padding(**padding))
    return [Encoding.of(window) for window in windows]


def is_words(part: Any) -> bool:
    """Return whether `part` is a list or a tuple of str."""
    return type(part) in (list, tuple) and are_str(part)
