"""Define ChatEnvironment, which compiles chat templates so that they keep the origins of text.

`bpe.chat.templates` imports this module when it needs jinja2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Macro

from bpe.chat import code, filters, text
from bpe.chat.formatting import TextFormatter, modulo
from bpe.chat.text import TracedText, generated


class _Generation(Extension):
    """The block `{% generation %}`, which holds what the model generates."""

    tags = {"generation"}  # noqa: RUF012 - the name and type of the base class

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse a block to a call of `_mark`."""
        parser.environment.has_generation = True  # type: ignore[attr-defined]
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_mark"), [], [], body).set_lineno(line)

    def _mark(self, caller: Macro) -> TracedText:
        return generated(caller())


class ChatEnvironment(code.Access):
    """Compiles templates like the environment of transformers, with TracedText for str."""

    code_generator_class = code.TextCode
    concat = staticmethod(text.concat_parts)
    added = staticmethod(code.added)
    added_parts = staticmethod(text.added_parts)
    joined_parts = staticmethod(text.joined_parts)
    loop = staticmethod(code.loop)
    modulo = staticmethod(modulo)
    output = staticmethod(code.output)
    str_join = staticmethod(text.str_join)
    literal = staticmethod(text.literal)
    trim = staticmethod(text.trim)

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
        )
        self.has_generation = False
        self.eval_context = nodes.EvalContext(self)  # which no template changes
        for name in filters.NEW_TEXT:
            self.filters[name] = filters.labeled(self.filters[name])
        self.filters.update(filters.FILTERS)
        self.globals.update(filters.GLOBALS, namespace=code.PublicNamespace)

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
