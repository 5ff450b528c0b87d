"""Convert unusual arguments of the calls that encode and decode to usual ones.

Raises the errors of tokenizers 0.23.3 for arguments that it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bpe.compat.huggingface.record import rust
from bpe.encoding.utf8 import has_surrogates

_TEXT = "TextInputSequence must be str"
_TEXT_INPUT = (
    "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]"
)
_WORDS = "PreTokenizedInputSequence must be Union[List[str], Tuple[str]]"
_WORDS_INPUT = (
    "PreTokenizedEncodeInput must be Union[PreTokenizedInputSequence, "
    "Tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]]"
)


def usual(method: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return equal arguments of a method of Tokenizer, as bpe takes them."""
    return _CONVERTERS[method.removeprefix("async_")](*args)


def _encode(
    sequence: Any, pair: Any, is_pretokenized: Any, add_special_tokens: Any
) -> tuple[Any, ...]:
    is_pretokenized, adds = rust.flag(is_pretokenized), rust.flag(add_special_tokens)
    convert = _words if is_pretokenized else _text
    return convert(sequence), None if pair is None else convert(pair), is_pretokenized, adds


def _encode_batch(input: Any, is_pretokenized: Any, add_special_tokens: Any) -> tuple[Any, ...]:
    inputs = rust.items(input)
    is_pretokenized, adds = rust.flag(is_pretokenized), rust.flag(add_special_tokens)
    return [_input(item, is_pretokenized) for item in inputs], is_pretokenized, adds


def _input(item: Any, is_pretokenized: bool) -> Any:
    """Return an input of a batch: one sequence, or a pair."""
    convert = _words if is_pretokenized else _text
    try:
        return convert(item)
    except TypeError:
        pass
    try:
        first, second = rust.items(item)
    except (TypeError, ValueError):
        raise TypeError(_WORDS_INPUT if is_pretokenized else _TEXT_INPUT) from None
    return convert(first), convert(second)


def _text(value: Any) -> str:
    if not isinstance(value, str) or has_surrogates(value):
        raise TypeError(_TEXT)
    return str(value)


def _words(value: Any) -> list[str]:
    is_array = isinstance(value, np.ndarray) and value.ndim == 1
    if not is_array and not isinstance(value, (list, tuple)):
        raise TypeError(_WORDS)
    try:
        return [_text(word) for word in value]
    except TypeError:
        raise TypeError(_WORDS) from None


def _decode(ids: Any, skip_special_tokens: Any) -> tuple[Any, ...]:
    return rust.ids(ids), rust.flag(skip_special_tokens)


def _decode_batch(sequences: Any, skip_special_tokens: Any) -> tuple[Any, ...]:
    return [rust.ids(ids) for ids in rust.items(sequences)], rust.flag(skip_special_tokens)


_CONVERTERS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "encode": _encode,
    "encode_batch": _encode_batch,
    "encode_batch_fast": _encode_batch,
    "decode": _decode,
    "decode_batch": _decode_batch,
}
