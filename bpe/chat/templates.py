"""Compile chat templates, and find the template and the special tokens of a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from bpe.chat.text import literal
from bpe.errors import BpeError, shortened
from bpe.optional import optional_package

if TYPE_CHECKING:
    from jinja2 import Template

    from bpe.chat.code import Variables


class ChatTemplateError(BpeError, ValueError):
    """A chat template is malformed, or does not accept the messages."""


class CompiledTemplate:
    """A chat template, compiled so that it keeps the origins of text."""

    def __init__(self, source: str) -> None:
        """Compile `source`; raises ChatTemplateError if it is malformed."""
        jinja2 = optional_package("jinja2", "a chat template")
        from bpe.chat.code import ChatContext, Variables
        from bpe.chat.environment import ChatEnvironment

        environment = ChatEnvironment()
        try:
            self._template: Template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise _error_of(error, getattr(error, "lineno", None)) from error
        self._errors = jinja2.TemplateError, *_ERRORS
        self._new_context, self._new_variables = ChatContext, Variables
        self.has_generation = environment.has_generation
        """True if the template has a `{% generation %}` block."""

    def variables(self, special_tokens: Mapping[str, Any]) -> Variables:
        """Return the functions of templates, and the special tokens as trusted texts."""
        variables = self._new_variables(self._template.environment.globals)
        for name, value in special_tokens.items():
            variables[name] = _literal(value) if type(value) is str else _trusted(value)
        return variables

    def parts(self, variables: Variables) -> list[str | tuple[str, ...]]:
        """Return the parts of the rendered text. Raises ChatTemplateError."""
        template = self._template
        try:
            return list(template.root_render_func(self._new_context(template, variables)))
        except self._errors as error:
            raise _error_of(error, self._line_of(error)) from error

    def _line_of(self, error: BaseException) -> int | None:
        """Return the last line of the template that an error passed."""
        found = None
        for frame, line in walk_tb(error.__traceback__):
            if frame.f_globals.get("__jinja_template__") is self._template:
                found = self._template.get_corresponding_lineno(line)
        return found


_ERRORS = TypeError, ValueError, LookupError, ArithmeticError, RecursionError
"""The errors that expressions of a template raise, besides those of jinja2."""
_SHOWN = (
    ("TracedText", "bpe.chat.text", "str"),
    ("Fields", "bpe.chat.inputs", "dict"),
    ("Items", "bpe.chat.inputs", "list"),
)
"""The types of values in a template, their modules, and the types that its author knows."""


def _error_of(error: Exception, line: int | None) -> ChatTemplateError:
    message = str(error)
    for name, module, shown in _SHOWN:
        message = message.replace(f"{module}.{name} object", f"{shown} object")
        message = message.replace(f"'{name}'", f"'{shown}'")
    place = "" if line is None else f", line {line}"
    name = message.removesuffix("' is undefined").removeprefix("'")
    hint = f'; pass special_tokens={{"{name}": …}}' if name.endswith("_token") else ""
    return ChatTemplateError(f"chat template{place}: {message}{hint}")


@lru_cache(64)
def compiled(source: str) -> CompiledTemplate:
    """Return a compiled template; the last 64 templates are kept."""
    return CompiledTemplate(source)


def choose_template(
    templates: str | Mapping[str, str] | None, requested: str | None, has_tools: bool
) -> str:
    """Return the template to use, like `get_chat_template` of transformers.

    `requested` is a template, or the name of one of `templates`. Without it, this is the template
    "tool_use" for chats with tools, if there is one, and else "default". Raises ValueError if there
    is no template, and for a `requested` without a brace that is no name.
    """
    if requested is None and type(templates) is str:
        return templates
    if requested is not None and not isinstance(requested, str):
        raise TypeError(f"chat_template={shortened(requested)}; expected a template or its name")
    named = {} if templates is None or isinstance(templates, str) else templates
    if requested and "{" not in requested and requested not in named:
        raise ValueError(
            f"chat_template={shortened(requested)}; expected the text of a template, or one of "
            f"the names {sorted(named)}"
        )
    if templates is None or isinstance(templates, str):
        text = templates if requested is None else requested
        if text is None:
            raise ValueError(
                "expected a tokenizer with a chat template, got one without; pass chat_template=, "
                "or load a folder with a chat_template.jinja or a tokenizer_config.json"
            )
        return text
    if requested is None:
        requested = "tool_use" if has_tools and "tool_use" in named else "default"
        if requested not in named:
            raise ValueError(
                f"expected a template with the name 'default', got {sorted(named)}; pass "
                "chat_template="
            )
    return named.get(requested, requested)


def _trusted(value: Any) -> Any:
    """Return a text, or the texts of a list, as trusted like the template itself."""
    if type(value) is str:
        return _literal(value)
    if isinstance(value, (list, tuple)):
        return [_trusted(item) for item in value]
    return _literal(str(value)) if isinstance(value, str) else value


_literal = lru_cache(256)(literal)
