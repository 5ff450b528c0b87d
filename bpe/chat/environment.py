"""Define ChatEnvironment, which compiles chat templates so that they keep the origins of text.

Only this module and `formatting` import jinja2; `bpe.chat.templates` imports them when needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import wraps
from typing import Any

from jinja2 import Environment, nodes, pass_environment
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import FilterArgumentError, SecurityError, TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import do_indent, make_attrgetter
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from markupsafe import Markup

from bpe.chat.formatting import TextFormatter, modulo
from bpe.chat.inputs import Fields, Items
from bpe.chat.origins import Pieces
from bpe.chat.text import (
    TracedText,
    concat,
    derived,
    generated,
    literal,
    pieces_of,
    str_join,
    to_text,
)

_MAPPING_NAMES = frozenset(dir(dict))


class _Safe(Markup):
    """The result of the filter `safe`, which has the origins of its text."""

    __slots__ = ("_pieces",)
    _pieces: Pieces

    def __new__(cls, value: Any = "", *args: Any) -> _Safe:
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
        return _Safe(text) if text == result else result
    return result


class _TextCode(CodeGenerator):
    """Writes the literals of a template as constants of its module, each a trusted TracedText."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names: dict[str, str] = {}

    def _name_of(self, text: str) -> str:
        return self._names.setdefault(text, f"literal_{len(self._names)}")

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """Write the module, and after it the names that its functions look up in it."""
        super().visit_Template(node, frame)
        self.writeline("str_join, to_text = environment.str_join, environment.to_text")
        for text, name in self._names.items():
            self.writeline(f"{name} = environment.literal({text!r})")

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        """Write a constant; the optimizer also makes constants of tuples, lists and mappings."""
        self.write(self._constant(node.as_const(frame.eval_ctx)))

    def _constant(self, value: Any) -> str:
        if isinstance(value, str):
            return self._name_of(str(value))
        if isinstance(value, dict):
            pairs = (f"{self._constant(k)}: {self._constant(v)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, (list, tuple)):
            items = "".join(f"{self._constant(item)}, " for item in value)
            return f"[{items}]" if isinstance(value, list) else f"({items})"
        return str(value) if isinstance(value, float) else repr(value)

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:
        """Write text between tags."""
        self.write(self._name_of(node.data))

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return self._name_of("".join(group))

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("to_text(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")

    def visit_EvalContextModifier(self, node: nodes.EvalContextModifier, frame: Frame) -> None:
        """Reject `{% autoescape %}`, which makes text that no chat needs."""
        self.fail("expected no {% autoescape %} in a chat template; remove it", node.lineno)


class _Generation(Extension):
    """The block `{% generation %}`, which holds what the model generates."""

    tags = {"generation"}  # noqa: RUF012 - the name and type of the base class

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse a block to a call of `_mark`."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_mark"), [], [], body).set_lineno(line)

    def _mark(self, caller: Macro) -> TracedText:
        return generated(caller())


class _PublicNamespace(Namespace):
    """A namespace without names that Python or jinja2 give a meaning."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *values = args
        attributes = dict(*values, **kwargs)
        for name in attributes:
            _check_name(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"expected a name without _ at its start in a namespace, got {name!r}")


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """Compiles templates like the environment of transformers, with TracedText for str."""

    code_generator_class = _TextCode
    concat = staticmethod(concat)
    str_join = staticmethod(str_join)
    to_text = staticmethod(to_text)
    literal = staticmethod(literal)
    intercepted_binops = frozenset("%")

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
        )
        self.binop_table["%"] = modulo
        self.filters = {name: _labeled(filter) for name, filter in self.filters.items()}
        self.filters.update(
            format=_format, indent=_indent, join=_join, replace=_replace, safe=_Safe, tojson=_tojson
        )
        self.globals.update(
            dict=_dict,
            namespace=_PublicNamespace,
            raise_exception=_raise_exception,
            strftime_now=_strftime_now,
        )

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute, or an item, of `obj`."""
        if type(obj) is Fields and attribute not in _MAPPING_NAMES and attribute[:1] != "_":
            try:
                return obj[attribute]
            except KeyError:
                return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return the sandboxed `format` or `format_map` of a text."""
        template = getattr(value, "__self__", None)
        if not isinstance(template, TracedText) or value.__name__ not in ("format", "format_map"):
            return super().wrap_str_format(value)

        def call(*args: Any, **kwargs: Any) -> str:
            formatter = TextFormatter(self, template)
            if value.__name__ == "format_map":
                return formatter.vformat(template, (), *args, **kwargs)
            return formatter.vformat(template, args, kwargs)

        return call


def _labeled(filter: Callable[..., Any]) -> Callable[..., Any]:
    """Return `filter`, whose result, if it is a plain str, gets the path of its arguments."""

    @wraps(filter)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = filter(*args, **kwargs)
        return derived(result, args, kwargs) if type(result) is str else result

    return call


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

    try:
        return derived(dump(getattr(x, "_raw", x) if isinstance(x, (Fields, Items)) else x), x)
    except TypeError:  # an object that JSON does not know; `x` shows it as its type
        return derived(dump(x), x)


def _dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


def _raise_exception(message: object) -> None:
    raise TemplateError(str(message))


def _strftime_now(format: str) -> str:
    return derived(datetime.now().strftime(format))
