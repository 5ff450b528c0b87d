"""C++ converts messages and tools as Python does, and writes the JSON that Python writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.chat import inputs, render
from bpe.chat.text import TracedText
from pretok.machine.backend import native_core
from support import max_examples

native = native_core()


@dataclass
class Point:
    x: int
    name: str


class Text(str):
    pass


PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.text('a"\\\n\t\x00\x1f\x7f\xe9\u2028\U0001f600\ud800', max_size=5)
)  # fmt: skip
KEYS = st.sampled_from(["role", "content", "thinking", "reasoning", "a"]) | st.text(max_size=2)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda item: st.lists(item, max_size=3) | st.dictionaries(KEYS, item, max_size=3),
        max_leaves=8,
    )


JSON = nested(PLAIN)
OTHER = st.sampled_from(
    [Point(1, "p"), Text("t"), np.int64(3), (1, "u"), {5: "v", Text("w"): "x"}, b"y", 10**30]
)  # fmt: skip


def described(value: Any) -> Any:
    """Return all that a template can see of a converted value, as something to compare."""
    kind = type(value)
    if kind is TracedText:
        return str(value), [(size, origin.path) for size, origin in value._pieces]
    if isinstance(value, (inputs.Fields, inputs.Items)):
        items = value if isinstance(value, list) else dict.items(value)
        return kind, value._path, value._raw, [described(item) for item in list.__iter__([*items])]
    return (kind, [*map(described, value)]) if kind is tuple else (kind, value)


@given(nested(PLAIN | OTHER))
@settings(max_examples=max_examples(200))
def test_values_are_converted_alike(value: Any) -> None:
    path = ("tools", 0)
    assert described(inputs.convert(value, path)) == described(inputs._convert(value, path))


@given(st.dictionaries(KEYS | st.just(5), nested(PLAIN | OTHER), max_size=4))
@settings(max_examples=max_examples(200))
def test_messages_are_converted_alike(message: dict[Any, Any]) -> None:
    for role in ({}, {"role": "user"}, {"role": "\u03b1"}):
        found, expected = (
            described(convert({**message, **role}, 3))
            for convert in (inputs._convert_message, inputs._convert_any_message)
        )
        assert found == expected


def test_texts_of_messages_share_their_origins() -> None:
    """Rendering one chat after the other makes no new origins."""
    first, second = (inputs.convert_messages([{"role": "r", "content": "a"}])[0] for _ in "ab")
    for name in ("role", "content"):
        assert first[name]._origin is second[name]._origin


def test_deep_values_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        inputs.convert(deep, ())


@given(JSON, st.none() | st.integers(-1, 20))
@settings(max_examples=max_examples(300))
def test_json_is_that_of_python(value: Any, indent: int | None) -> None:
    template = "{{ messages[0].content|tojson(indent=indent) }}"
    text = render(template, [{"role": "user", "content": {"": value}}], indent=indent).text
    assert text == json.dumps({"": value}, ensure_ascii=False, indent=indent)


@pytest.mark.skipif(native is None, reason="no C++ core")
def test_json_text_leaves_other_values_to_python() -> None:
    assert native is not None
    circle: list[Any] = []
    circle.append(circle)
    for value in (circle, {1: "a"}, (1,), float("inf"), Text("a"), "\ud800", {"\ud800": 1}):
        assert native.json_text([value]) is None
    assert native.json_text([0.1, -0.0, 1e300, 10**40, True, "\x1b"], 1) == json.dumps(
        [0.1, -0.0, 1e300, 10**40, True, "\x1b"], indent=1
    )
