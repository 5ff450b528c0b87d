"""Convert the truncation and padding of a tokenizer.json to Truncation and Padding, and back.

bpe keeps both and writes them back, but no call applies them: `encode` returns every id of a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from bpe.formats.json_value import Value
from bpe.types import Direction, Padding, Truncation

Name = TypeVar("Name", bound=str)
_DIRECTIONS: dict[str, Direction] = {"Right": "right", "Left": "left"}
_STRATEGIES = {
    "LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second"
}  # fmt: skip
_BATCH_LONGEST = "BatchLongest"


def read_truncation(value: Value) -> Truncation | None:
    """Return the truncation of a tokenizer.json, or None if it is null.

    Raises VocabularyError if it is malformed, UnsupportedError if it has unknown members.
    """
    if value.value is None:
        return None
    value.only("direction", "max_length", "strategy", "stride")
    return Truncation(
        _number(value["max_length"], 64),
        _number(value["stride"], 64),
        _one_of(value["strategy"], _STRATEGIES),
        "right" if value["direction"].value is None else _one_of(value["direction"], _DIRECTIONS),
    )


def read_padding(value: Value) -> Padding | None:
    """Return the padding of a tokenizer.json, or None if it is null.

    Raises VocabularyError if it is malformed, UnsupportedError if it has unknown members.
    """
    if value.value is None:
        return None
    value.only("strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token")
    strategy, multiple = value["strategy"], value["pad_to_multiple_of"]
    length = None
    if strategy.value != _BATCH_LONGEST:
        if type(strategy.value) is not dict or strategy.value.keys() != {"Fixed"}:
            raise strategy.malformed(f'"{_BATCH_LONGEST}" or {{"Fixed": length}}')
        length = _number(strategy["Fixed"], 64)
    return Padding(
        length,
        _one_of(value["direction"], _DIRECTIONS),
        _number(value["pad_id"], 32),
        value["pad_token"].text(),
        _number(value["pad_type_id"], 32),
        None if multiple.value is None else _number(multiple, 64),
    )


def write_truncation(truncation: Truncation | None) -> dict[str, Any] | None:
    """Return `truncation` as a tokenizer.json stores it."""
    if truncation is None:
        return None
    strategy = next(name for name, each in _STRATEGIES.items() if each == truncation.strategy)
    direction = truncation.direction.capitalize()
    written = truncation._asdict() | {"direction": direction, "strategy": strategy}
    return dict(sorted(written.items()))


def write_padding(padding: Padding | None) -> dict[str, Any] | None:
    """Return `padding` as a tokenizer.json stores it."""
    if padding is None:
        return None
    return {
        "strategy": _BATCH_LONGEST if padding.length is None else {"Fixed": padding.length},
        "direction": padding.direction.capitalize(),
        "pad_to_multiple_of": padding.pad_to_multiple_of,
        "pad_id": padding.pad_id,
        "pad_type_id": padding.pad_type_id,
        "pad_token": padding.pad_token,
    }


def _one_of(value: Value, names: Mapping[str, Name]) -> Name:
    if value.text() not in names:
        raise value.malformed(f"one of {', '.join(names)}")
    return names[value.text()]


def _number(value: Value, bits: int) -> int:
    """Return an unsigned number of at most `bits` bits."""
    if not 0 <= value.number() < 1 << bits:
        raise value.malformed(f"a number from 0 to {(1 << bits) - 1}")
    return value.number()
