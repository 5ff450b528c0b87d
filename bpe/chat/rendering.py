"""Render a chat template into segments of trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bpe.chat.inputs import (
    Fields,
    Items,
    convert,
    convert_documents,
    convert_messages,
    convert_tools,
)
from bpe.chat.origins import Origin, TextSource
from bpe.chat.templates import CompiledTemplate, choose_template, compiled
from bpe.chat.text import joined_segments
from bpe.errors import shortened
from bpe.once import once
from bpe.tokenizer import Tokenizer
from bpe.types import Special

if TYPE_CHECKING:
    from bpe.chat.code import Variables


class Segments(list[tuple[str, Special]]):
    """The segments of a rendered chat, pairs of a text and its policy for `encode_segments`.

    The policy is "allow" for text of the template, in which added tokens are found. Any other text
    has the policy that `render` got, which is "plain" by default: no added token is found.
    """

    has_generation: bool = False
    """True if the template has a `{% generation %}` block."""
    _origins: Sequence[Origin] = ()
    _messages: Sequence[Fields] = ()

    @once
    def roles(self) -> tuple[str | None, ...]:
        """The role of each message; None if a message has none."""
        return tuple([_role(message) for message in self._messages])

    @property
    def sources(self) -> list[TextSource | None]:
        """The path of each segment, such as ("messages", 0, "content").

        It is None for text of the template, and () for text without a single place, such as a date.
        """
        return [origin.path for origin in self._origins]

    @property
    def is_generated(self) -> list[bool]:
        """For each segment, True if it is in a `{% generation %}` block."""
        return [origin.is_generated for origin in self._origins]

    @property
    def text(self) -> str:
        """The whole rendered text."""
        return "".join(text for text, _ in self)


def render(
    tok_or_template: Tokenizer | str | Mapping[str, str],
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    documents: Sequence[Mapping[str, Any]] | None = None,
    chat_template: str | None = None,
    special_tokens: Mapping[str, Any] | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    special: Special = "plain",
    **kwargs: Any,
) -> Segments:
    """Return the chat as segments, whose texts together are the text that the template makes.

    The template is that of a tokenizer, or a Jinja template, or a mapping of names to templates.
    `chat_template` is another template, or the name of one of them. Only text of the template, and
    the `special_tokens` (variables such as bos_token), may hold added tokens. By default they are
    those of the tokenizer. All text from messages, tools, documents and other `kwargs` may not,
    wherever the template puts it and however it changes it. `special` is the policy of that text:
    "raise" refuses special tokens in it, and "text" finds added tokens that are not special.

    `continue_final_message` omits all text after the content of the final message, or after its
    field of this name. Raises ChatTemplateError if the template is malformed or rejects the
    messages, and TypeError or ValueError for other wrong arguments.

    >>> from bpe.chat import render
    >>> template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}<eot>{% endfor %}"
    >>> segments = render(template, [{"role": "user", "content": "Hi <eot> "}])
    >>> list(segments)
    [('<|user|>', 'allow'), ('Hi <eot>', 'plain'), ('<eot>', 'allow')]
    >>> segments.sources
    [None, ('messages', 0, 'content'), None]
    """
    is_tokenizer = isinstance(tok_or_template, Tokenizer)
    if is_tokenizer and chat_template is None and tools is None and special_tokens is None:
        template, usual = _usual.__get__(tok_or_template)
        variables = usual.copy()
    else:
        template = compiled(_template_of(tok_or_template, chat_template, tools is not None))
        if special_tokens is None and isinstance(tok_or_template, Tokenizer):
            special_tokens = tok_or_template.special_token_variables
        variables = template.variables(special_tokens or {})
    for name, value in kwargs.items():
        variables[name] = convert(value, (name,))
    variables["messages"] = converted = convert_messages(messages)
    variables["tools"] = None if tools is None else convert_tools(tools)
    variables["documents"] = None if documents is None else convert_documents(documents)
    variables["add_generation_prompt"] = add_generation_prompt
    final = None
    if continue_final_message:
        if add_generation_prompt:
            raise ValueError("pass add_generation_prompt or continue_final_message, not both")
        final = _origin_of_final(converted, continue_final_message)
    texts, origins = joined_segments(template.parts(variables), special)
    if final is not None:
        origins = _until(origins, final)
        del texts[len(origins) :]
    segments = Segments(texts)
    segments._origins = origins
    segments._messages = converted
    segments.has_generation = template.has_generation
    return segments


@once
def _usual(tok: Tokenizer) -> tuple[CompiledTemplate, Variables]:
    """The template of chats without tools, and its variables before those of a call."""
    template = compiled(_template_of(tok, None, False))
    return template, template.variables(tok.special_token_variables)


def _template_of(
    tok_or_template: Tokenizer | str | Mapping[str, str], requested: str | None, has_tools: bool
) -> str:
    """Return the text of the template that the arguments of `render` choose."""
    if isinstance(tok_or_template, Tokenizer):
        if isinstance(requested, str) and "{" in requested:
            return requested
        return choose_template(tok_or_template.chat_templates or None, requested, has_tools)
    if isinstance(tok_or_template, (str, Mapping)):
        return choose_template(tok_or_template, requested, has_tools)
    raise TypeError(f"expected a bpe.Tokenizer or a template, got {type(tok_or_template).__name__}")


def _role(message: Fields) -> str | None:
    role = dict.get(message, "role")
    return str(role) if isinstance(role, str) else None


def _origin_of_final(messages: Items, field: bool | str) -> Origin:
    """Return the origin of the text of the final message that is to be continued.

    Raises ValueError if there is no such text.
    """
    name = field if isinstance(field, str) else "content"
    message = messages[-1]
    value = dict.get(message, name)
    container, key = message, name
    if isinstance(value, list):
        texts = [block for block in value if isinstance(block, dict) and block.get("text")]
        container, key = (texts[-1], "text") if texts else (message, name)
        value = dict.get(container, key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(
            f"continue_final_message: expected text in the field {name!r} of the final message, "
            f"got {shortened(value)}; pass add_generation_prompt=True to start a new message"
        )
    return value._origin  # type: ignore[attr-defined, no-any-return]


def _until(origins: list[Origin], final: Origin) -> list[Origin]:
    """Return `origins` up to the last one of the text `final`."""
    shown = (final, final.generated())
    last = max((at for at, origin in enumerate(origins) if origin in shown), default=-1)
    if last < 0:
        raise ValueError(
            "continue_final_message: the template does not show the text of the final message; "
            "expected a template that does"
        )
    return origins[: last + 1]
