"""Every method of TracedText returns the text of str, and no untrusted character is trusted."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.chat import text as module
from bpe.chat.origins import TEMPLATE, Origin, common_source
from bpe.chat.text import (
    TracedText,
    concat,
    cut,
    derived,
    generated,
    literal,
    make,
    pieces_of,
    source_of_value,
    to_text,
)
from support import max_examples

# Greek letters are untrusted, Latin letters trusted. Both have all other characters.
TRUSTED, UNTRUSTED = "abAßﬁ", "αβΣσ"
COMMON = " \n\r\t,-{}%0"
MESSAGE = Origin(("messages", 0, "content"))


def texts() -> st.SearchStrategy[TracedText]:
    ours = st.text(TRUSTED + COMMON, max_size=4).map(literal)
    theirs = st.text(UNTRUSTED + COMMON, max_size=4).map(lambda text: make(text, MESSAGE))
    return st.lists(ours | theirs, max_size=4).map(concat)


def flat(value: Any) -> Iterator[str]:
    """Yield the texts of a result."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)


def check(result: Any, expected: Any) -> None:
    """Check that a result equals that of str, and that its origins cover it and are right."""
    assert result == expected
    for text in flat(result):
        pieces = pieces_of(text)
        assert sum(length for length, _ in pieces) == len(text)
        assert all(length > 0 for length, _ in pieces)
        at = 0
        for length, origin in pieces:
            part = str(text)[at : at + length]
            at += length
            forbidden = UNTRUSTED if origin is TEMPLATE else TRUSTED
            if origin in (TEMPLATE, MESSAGE):  # not those of untracked text
                assert not set(part.casefold()) & set(forbidden.casefold()), (text, pieces)


NO_ARGUMENTS = ("capitalize", "casefold", "expandtabs", "lower", "swapcase", "title", "upper")
# The values of `other` and `number` for each method.
CALLS: dict[str, Callable[[Any, Any, int], Any]] = {
    "__add__": lambda text, other, number: text + other,
    "__radd__": lambda text, other, number: str(other) + text,
    "__getitem__": lambda text, other, number: [
        text[number:], text[:number], text[number:2], text[::-1], text[::2], text[-1:],
        text[number % len(text)] if text else "",
    ],
    "__iter__": lambda text, other, number: list(text),
    "__mul__": lambda text, other, number: text * number,
    "__rmul__": lambda text, other, number: number * text,
    "__format__": lambda text, other, number: f"{text}",
    "center": lambda text, other, number: text.center(12),
    "join": lambda text, other, number: text.join([other, text, other][:number]),
    "ljust": lambda text, other, number: text.ljust(12, "-"),
    "lstrip": lambda text, other, number: [text.lstrip(), text.lstrip(other)],
    "partition": lambda text, other, number: text.partition(other or "-"),
    "removeprefix": lambda text, other, number: text.removeprefix(text[:number]),
    "removesuffix": lambda text, other, number: text.removesuffix(text[number:]),
    "replace": lambda text, other, number: [
        text.replace(other, "-"), text.replace("-", other), text.replace("a", other, number),
        text.replace("", other, number), text.replace("", other),
    ],
    "rjust": lambda text, other, number: text.rjust(12),
    "rpartition": lambda text, other, number: text.rpartition(other or "-"),
    "rsplit": lambda text, other, number: [
        text.rsplit(), text.rsplit(None, number), text.rsplit(other or ","),
        text.rsplit(",", number),
    ],
    "rstrip": lambda text, other, number: [text.rstrip(), text.rstrip(other)],
    "split": lambda text, other, number: [
        text.split(), text.split(None, number), text.split(other or ","), text.split(",", number),
        text.split(sep=",", maxsplit=1),
    ],
    "splitlines": lambda text, other, number: [text.splitlines(), text.splitlines(True)],
    "strip": lambda text, other, number: [text.strip(), text.strip(other)],
    "translate": lambda text, other, number: text.translate({97: "-", 945: "+"}),
    "zfill": lambda text, other, number: text.zfill(12),
}  # fmt: skip
# They return text only if it has no formats, or are checked by other tests.
OTHERS = ("__mod__", "__rmod__", "__repr__", "__str__", "format", "format_map", "maketrans")


@settings(max_examples=max_examples(200))
@given(text=texts(), other=texts(), number=st.integers(0, 3))
def test_methods_equal_those_of_str(text: TracedText, other: TracedText, number: int) -> None:
    for call in CALLS.values():
        check(call(text, other, number), call(str(text), str(other), number))
        check(call(text, str(other), number), call(str(text), str(other), number))
    for name in NO_ARGUMENTS:
        check(getattr(text, name)(), getattr(str(text), name)())


def test_every_method_of_str_is_checked() -> None:
    """A method that only a later Python has returns a plain str, which is not trusted."""
    known = {*NO_ARGUMENTS, *CALLS, *OTHERS}
    for name in dir(str):
        if name in known or not callable(getattr(str, name)):
            continue
        for arguments in ((), ("a",), (1,), ("a", "b"), (["a"],)):
            try:
                result = getattr(literal("a1,b"), name)(*arguments)
            except Exception:
                continue
            origins = [origin for text in flat(result) for _, origin in pieces_of(text)]
            assert TEMPLATE not in origins, name


def test_a_plain_str_is_not_trusted() -> None:
    text = literal("<s>")
    rebuilt: Iterable[str] = (
        TracedText("<s>"), TracedText(text), concat([str(text)]), concat(["<s>"]),
        derived("<s>", text), literal("<s") + ">", f"{text}"[:2] + literal(">"),
        pickle.loads(pickle.dumps(TracedText("<s>"))),
    )  # fmt: skip
    for value in rebuilt:
        assert any(origin is not TEMPLATE for _, origin in pieces_of(value)), value
    assert pieces_of(copy.copy(text)) == pieces_of(text)


def test_lost_separators_do_not_shift_origins() -> None:
    text = literal(",") + make(",,", MESSAGE)
    assert [pieces_of(part) for part in text.split(",", 1)] == [(), ((2, MESSAGE),)]
    text = make("b b", MESSAGE) + literal("b")
    assert [pieces_of(part) for part in text.split()] == [
        ((1, MESSAGE),),
        ((1, MESSAGE), (1, TEMPLATE)),
    ]


def test_case_that_depends_on_neighbors_is_untrusted() -> None:
    text = literal("a") + make("Σ", MESSAGE)
    assert text.lower() == "aς"
    assert [origin.path for _, origin in pieces_of(text.lower())] == [MESSAGE.path]


@given(st.lists(texts() | st.text(TRUSTED + COMMON, max_size=3), max_size=5))
@settings(max_examples=max_examples(200))
def test_calls_in_cpp_equal_those_in_python(values: list[str]) -> None:
    nested: list[Any] = [*values, tuple(values)]
    pairs: list[tuple[Any, Any]] = [
        (module.concat_parts(nested), module._concat(nested)),
        (module.joined_parts(*values), module._joined_parts(*values)),
        *((module.trim(value), module._trim(value)) for value in values),
        *((module.added_parts(*some), module._added_parts(*some)) for some in [values] if some),
    ]  # fmt: skip
    for ours, theirs in pairs:
        found, expected = (
            concat(value) if isinstance(value, tuple) else value for value in (ours, theirs)
        )
        assert found == expected
        assert pieces_of(found) == pieces_of(expected)


def test_errors_are_those_of_str() -> None:
    for call, kind in (
        (lambda: literal("a") + 1, TypeError),
        (lambda: 1 + literal("a"), TypeError),
        (lambda: literal("a").join(cast(Any, [1])), TypeError),
        (lambda: literal("a")[3], IndexError),
        (lambda: literal("a").split(""), ValueError),
        (lambda: literal("a").split(cast(Any, 1)), TypeError),
    ):
        with pytest.raises(kind):
            call()


def test_paths() -> None:
    assert common_source([None, ("a", 0, "b"), ("a", 0, "c")]) == ("a", 0)
    assert common_source([None]) is None
    assert source_of_value([literal("x"), {"k": make("y", MESSAGE)}]) == MESSAGE.path
    assert source_of_value([1, None]) is None
    assert pieces_of(to_text(12)) == pieces_of(to_text(12))
    assert pieces_of(generated(literal("x")))[0][1].is_generated
    assert pieces_of(cut(literal("x"), 1, 1)) == ()
