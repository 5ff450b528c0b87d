"""The operator `%` and the method `format` of TracedText."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jinja2.sandbox import SandboxedEnvironment, SandboxedFormatter

from bpe.chat.origins import Origin
from bpe.chat.text import TracedText, concat, derived, make, source_of_value, to_text


def modulo(template: Any, values: Any) -> Any:
    """Return `template % values`; a plain %s keeps the origins of its value."""
    if not isinstance(template, TracedText):
        return template % values
    whole = str.__mod__(template, values)  # raises the errors of Python
    queue = list(values) if isinstance(values, tuple) else [values]
    origin = _only_origin(template)
    parts: list[str] = []
    for text, conversion in _conversions(str(template)):
        parts.append(make(text, origin))
        if conversion == "%%":
            parts.append(make("%", origin))
        elif conversion == "%s":
            parts.append(to_text(queue.pop(0)))
        elif conversion.startswith("%(") and conversion.endswith(")s"):
            parts.append(to_text(values[conversion[2:-2]]))
        elif conversion:
            return derived(whole, template, values)
    return concat(parts)


def _conversions(template: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a format with the conversion after it; after the last text, "".

    A conversion with flags, a width or a precision is cut short, so `modulo` does not track it.
    """
    at = 0
    while (place := template.find("%", at)) >= 0:
        end = place + 1
        if template[end] == "(":
            depth = 1
            while depth:
                end += 1
                depth += {"(": 1, ")": -1}.get(template[end], 0)
            end += 1
        yield template[at:place], template[place : end + 1]
        at = end + 1
    yield template[at:], ""


def _only_origin(template: TracedText) -> Origin:
    """Return the origin of a format; that of a format of several origins is untrusted."""
    origins = [origin for _, origin in template._pieces]
    if origins and all(origin is origins[0] for origin in origins):
        return origins[0]
    return Origin(source_of_value(template) or ())


class TextFormatter(SandboxedFormatter):
    """Formats a TracedText; a field without a format keeps the origins of its value."""

    def __init__(self, environment: SandboxedEnvironment, template: TracedText) -> None:
        super().__init__(environment)
        self._origin = _only_origin(template)
        # The parts of the format that is read, and of those whose fields it is in.
        self._open: list[list[str]] = []
        self._parts: list[str] = []

    def vformat(
        self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> TracedText:
        """Return the formatted text."""
        whole = super().vformat(format_string, args, kwargs)
        text = concat(self._parts)
        return text if text == whole else derived(whole, format_string, *args, *kwargs.values())

    def parse(self, format_string: str) -> Iterable[tuple[str, Any, Any, Any]]:
        """Yield the texts and fields of a format, and note the texts."""
        self._open.append([])
        for item in super().parse(str(format_string)):
            self._open[-1].append(make(item[0], self._origin))
            yield item
        self._parts = self._open.pop()

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Return `value`, or its text for "!s"."""
        return to_text(value) if conversion == "s" else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Return `value` as text, and note it."""
        if isinstance(value, str) and not format_spec:
            text = to_text(value)
        else:
            text = derived(super().format_field(value, format_spec), value)
        self._open[-1].append(text)
        return text
