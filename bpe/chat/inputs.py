"""Convert messages, tools and documents to values that know where they come from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from bpe.chat.origins import Origin, TextSource
from bpe.chat.text import TracedText, literal, make
from pretok.machine.backend import native_core

_RAW = attrgetter("_raw")
_REASONING = ("reasoning_content", "thinking", "reasoning")
"""The names of a message's reasoning. Templates read _ALIASES."""
_REASONING_NAMES = frozenset(_REASONING)
_ALIASES = ("reasoning_content", "thinking")
ROLES = frozenset({"assistant", "developer", "function", "system", "tool", "user"})
"""The roles that count as text of the template, which may make special tokens of them: Phi-4-mini
writes "<|" and the role and "|>". Any other role is untrusted."""
_TRUSTED_ROLES = {role: literal(role) for role in ROLES}
_USUAL_NAMES = frozenset({"content", "name", "role", "tool_call_id", *_REASONING})


@lru_cache(1024)
def _origin_of(message: int, name: str) -> Origin:
    """Return the origin of a field of _USUAL_NAMES, which all chats share."""
    return Origin(("messages", message, name))


class Fields(dict[Any, Any]):
    """A mapping at `_path`. `_raw` is the mapping it was made of, which JSON is written from.

    The keys are plain str, and TracedText when a template asks for them.
    """

    __slots__ = ("_path", "_raw")
    _path: TextSource
    _raw: object

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def keys(self) -> list[Any]:  # type: ignore[override]
        """Return the keys, as texts of this mapping."""
        return [self._key(key) for key in dict.keys(self)]

    def items(self) -> list[tuple[Any, Any]]:  # type: ignore[override]
        """Return the keys and the values."""
        return [(self._key(key), value) for key, value in dict.items(self)]

    def _key(self, key: Any) -> Any:
        return make(key, Origin((*self._path, key))) if type(key) is str else key


class Items(list[Any]):
    """A list at `_path`, made of the list `_raw`."""

    __slots__ = ("_path", "_raw")
    _path: TextSource
    _raw: object


def _convert(value: Any, path: TextSource) -> Any:
    """Return `value` with each str as a TracedText of its own path; no part of it is trusted.

    Mappings, dataclasses and objects with `model_dump` become `Fields`, lists `Items`. Other
    objects become their type in angle brackets, so that a template cannot call their methods.
    """
    kind = type(value)
    if kind is str:
        return make(value, Origin(path))
    if value is None or kind is bool or kind is int or kind is float:
        return value
    if kind is dict:
        fields = Fields()
        for key, item in value.items():
            known = key if type(key) is str else _plain_key(key)
            fields[known] = convert(item, (*path, known))
        fields._path, fields._raw = path, value
        return fields
    if kind is list:
        items = Items([convert(item, (*path, at)) for at, item in enumerate(value)])
        items._path, items._raw = path, value
        return items
    return _convert_object(value, path)


def _convert_object(value: Any, path: TextSource) -> Any:
    if isinstance(value, str):
        return make(str.__str__(value), Origin(path))
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, list):
        return convert([*value], path)
    if isinstance(value, tuple):
        return tuple(convert(item, (*path, at)) for at, item in enumerate(value))
    if isinstance(value, np.generic):
        return convert(value.item(), path)
    fields = _fields_of(value)
    if fields is None:
        return make(f"<{type(value).__name__}>", Origin(path))
    return convert(fields, path)


def _fields_of(value: Any) -> dict[Any, Any] | None:
    """Return the fields of a mapping, a dataclass or a model of pydantic."""
    if isinstance(value, Mapping):
        return {key: value[key] for key in value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)):
        return dict(value.model_dump())
    return None


def _plain_key(key: Any) -> Any:
    plain = convert(key, ())
    return str(plain) if isinstance(plain, TracedText) else plain


def _convert_any_message(message: dict[Any, Any], at: int) -> Fields:
    for item in message.values():
        if item is None:
            message = {key: item for key, item in message.items() if item is not None}
            break
    shown, reasoning = message, ""
    if not _REASONING_NAMES.isdisjoint(message):
        reasoning = next(name for name in _REASONING if name in message)
        shown = _with_reasoning(message, message[reasoning])
    converted = Fields()
    for key, item in shown.items():
        known = key if type(key) is str else _plain_key(key)
        if type(item) is not str:
            converted[known] = convert(item, ("messages", at, known))
        elif known == "role" and item in _TRUSTED_ROLES:
            converted[known] = _TRUSTED_ROLES[item]
        elif known in _USUAL_NAMES:
            converted[known] = make(item, _origin_of(at, known))
        else:
            converted[known] = make(item, Origin(("messages", at, known)))
    converted._path, converted._raw = ("messages", at), shown
    for alias in _ALIASES if reasoning else ():
        if alias not in message:
            converted[alias] = converted[reasoning]
    return converted


def _with_reasoning(message: Mapping[str, Any], reasoning: Any) -> dict[str, Any]:
    return {"thinking": reasoning, **message, "reasoning_content": reasoning}


def _convert_any_messages(messages: Any) -> Items:
    listed = messages if type(messages) is list else getattr(messages, "messages", messages)
    if type(listed) is not list and (
        not isinstance(listed, Sequence) or isinstance(listed, (str, bytes))
    ):
        raise TypeError(
            f"messages is of type {type(messages).__name__}; expected a list of messages, which "
            'are mappings such as {"role": "user", "content": "Hello"}'
        )
    if not listed:
        raise ValueError("messages is empty; expected at least one message")
    converted = Items()
    for at, message in enumerate(listed):
        fields = message if type(message) is dict else _fields_of(message)
        if fields is None:
            raise TypeError(
                f"messages[{at}] is of type {type(message).__name__}; expected a mapping such as "
                '{"role": "user", "content": "Hello"}'
            )
        converted.append(_convert_message(fields, at))
    converted._path, converted._raw = ("messages",), [*map(_RAW, converted)]
    return converted


_native = native_core()
_calls: tuple[Callable[..., Any], ...] = (_convert, _convert_any_message, _convert_any_messages)
if _native is not None:
    _calls = _native.chat_value_calls(
        (TracedText, Origin, Fields, Items),
        (_convert_object, _plain_key, _origin_of),
        _TRUSTED_ROLES,
        _USUAL_NAMES,
        _REASONING_NAMES,
        _calls,
    )
convert: Callable[[Any, TextSource], Any] = _calls[0]
_convert_message: Callable[[dict[Any, Any], int], Fields] = _calls[1]
convert_messages: Callable[[Any], Items] = _calls[2]
"""Returns the messages without their fields that are None. Roles of ROLES are trusted.

Like transformers 5, shows reasoning under the names `reasoning_content` and `thinking`, whichever
of them, or `reasoning`, a message has. Raises TypeError for other types, and ValueError for an
empty list.
"""


def convert_tools(tools: Any) -> Any:
    """Return the tools; raises TypeError unless they are a list of mappings."""
    return _convert_list(tools, "tools", "JSON schemas; transformers.utils.get_json_schema(f) "
                         "returns that of a function")  # fmt: skip


def convert_documents(documents: Any) -> Any:
    """Return the documents; raises TypeError unless they are a list of mappings."""
    return _convert_list(documents, "documents", "mappings with the keys title and text")


def _convert_list(values: Any, name: str, expected: str) -> Any:
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is of type {type(values).__name__}; expected a list of {expected}")
    for at, value in enumerate(values):
        if type(value) is not dict and (_fields_of(value) is None or isinstance(value, type)):
            raise TypeError(
                f"{name}[{at}] is of type {type(value).__name__}; expected {name} to be {expected}"
            )
    return convert([*values], (name,))
