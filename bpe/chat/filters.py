"""The filters and functions of chat templates, for texts with origins."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import wraps
from typing import Any

from jinja2 import Environment, pass_environment
from jinja2.exceptions import FilterArgumentError, TemplateError
from jinja2.filters import do_indent, do_trim, make_attrgetter
from markupsafe import Markup

from bpe.chat.formatting import modulo
from bpe.chat.inputs import Fields, Items
from bpe.chat.origins import Pieces
from bpe.chat.text import TracedText, concat, derived, pieces_of, to_text, trim
from pretok.machine.backend import native_core

_native = native_core()
_INDENTS = range(17)


class Safe(Markup):
    """The result of the filter `safe`, which has the origins of its text."""

    __slots__ = ("_pieces",)
    _pieces: Pieces

    def __new__(cls, value: Any = "", *args: Any) -> Safe:  # noqa: D102 - that of the class
        text = to_text(value)
        new = super().__new__(cls, text, *args)
        new._pieces = pieces_of(text)
        return new

    def __add__(self, other: Any) -> Any:
        return _tracked(super().__add__(other), self, other)

    def __radd__(self, other: Any) -> Any:
        return _tracked(super().__radd__(other), other, self)


def _tracked(result: Any, *parts: Any) -> Any:
    """Return `result` with the origins of `parts`, unless escaping has changed them."""
    if isinstance(result, str):
        text = concat(map(to_text, parts))
        return Safe(text) if text == result else result
    return result


NEW_TEXT = ("center", "e", "escape", "filesizeformat", "forceescape", "pprint", "striptags",
            "title", "truncate", "urlencode", "urlize", "wordwrap", "xmlattr")  # fmt: skip
"""The filters of jinja2 that make a new plain str, which is not trusted."""


def labeled(filter: Callable[..., Any]) -> Callable[..., Any]:
    """Return `filter`, whose result, if it is a plain str, gets the path of its arguments."""

    @wraps(filter)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = filter(*args, **kwargs)
        return derived(result, args, kwargs) if type(result) is str else result

    return call


def _trim(value: Any, chars: str | None = None) -> str:
    return trim(value) if chars is None else do_trim(value, chars)


def _replace(s: Any, old: Any, new: Any, count: int | None = None) -> str:
    text = concat((to_text(s),))
    return text.replace(str(to_text(old)), to_text(new), -1 if count is None else count)


@pass_environment
def _join(
    environment: Environment, value: Iterable[Any], d: Any = "", attribute: Any = None
) -> str:
    if attribute is not None:
        value = map(make_attrgetter(environment, attribute), value)
    return concat((to_text(d),)).join(map(to_text, value))


def _indent(s: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    if not isinstance(s, TracedText):
        return derived(do_indent(s, width, first, blank), s)
    space = width if isinstance(width, str) else derived(" " * width, s)
    newline = derived("\n", s)
    first_line, *lines = (s + newline).splitlines()
    parts: list[str] = [space, first_line] if first else [first_line]
    for line in lines:
        parts += (newline, space, line) if line or blank else (newline, line)
    return concat(parts)


def _format(value: Any, *args: Any, **kwargs: Any) -> Any:
    if args and kwargs:
        raise FilterArgumentError("expected values by position or by name, got both")
    return modulo(to_text(value), kwargs or args)


def _tojson(
    x: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    def dump(value: Any) -> str:
        return json.dumps(
            value,
            ensure_ascii=ensure_ascii,
            indent=indent,
            separators=separators,
            sort_keys=sort_keys,
        )

    raw = getattr(x, "_raw", x) if isinstance(x, (Fields, Items)) else x
    is_usual = not ensure_ascii and separators is None and not sort_keys
    if _native is not None and is_usual and (indent is None or indent in _INDENTS):
        text = _native.json_text(raw, -1 if indent is None else indent)
        if text is not None:
            return derived(text, x)
    try:
        return derived(dump(raw), x)
    except TypeError:  # an object that JSON does not know; `x` shows it as its type
        return derived(dump(x), x)


def _dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


def _raise_exception(message: object) -> None:
    raise TemplateError(str(message))


def _strftime_now(format: str) -> str:
    return derived(datetime.now().strftime(format))


FILTERS: dict[str, Callable[..., Any]] = {
    "format": _format,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "safe": Safe,
    "tojson": _tojson,
    "trim": _trim,
}
"""The filters that keep the origins of text, where those of jinja2 do not, or are slower."""
GLOBALS: dict[str, Callable[..., Any]] = {
    "dict": _dict,
    "raise_exception": _raise_exception,
    "strftime_now": _strftime_now,
}
"""The functions of transformers."""
