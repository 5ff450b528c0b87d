"""Define Value, a JSON value with its path in the file, which error messages show.

cpp/formats/json_part.hpp is the C++ version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.files import utf8_text
from pretok import json_text
from pretok.errors import shortened

_MAX_SHOWN_KEY = 80
_MAX_SHOWN = 120
MAX_PARTS = 256
"""The maximal number of parts of a pre_tokenizer or normalizer, counting nested Sequences."""
BYTE_LEVEL = ("trim_offsets", "add_prefix_space", "use_regex")
"""The members of a ByteLevel. Files of Cohere repeat them in their TemplateProcessing."""
_Type = TypeVar("_Type")
_TYPE_NAMES = {
    dict: "an object", list: "a list", str: "a string", bool: "true or false", int: "a whole number"
}  # fmt: skip


def parse(data: bytes) -> Value:
    """Return the JSON value that `data` holds; raises VocabularyError with line and column."""
    try:
        return Value(json_text.parse(data), "")
    except UnicodeDecodeError:
        utf8_text(data)  # raises, with the line
        raise
    except json.JSONDecodeError as error:
        raise VocabularyError(
            f"line {error.lineno} column {error.colno}: {error.msg}; the JSON is damaged or "
            "incomplete"
        ) from None
    except ValueError as error:
        raise VocabularyError(f"{error}; expected a vocabulary file") from None


_ENCODER = json.JSONEncoder(default=str)


def _beginning(value: Any) -> Any:
    """Return `value` or, if it is long, a part of it whose JSON begins with the same characters."""
    if type(value) in (str, list):
        return value[:_MAX_SHOWN]
    if type(value) is dict:
        return dict(islice(value.items(), _MAX_SHOWN))
    return value


class Value:
    """A JSON value and its path in the file.

    Methods that return a value of a certain type raise VocabularyError if the value has another.
    """

    def __init__(self, value: Any, path: str) -> None:
        self.value = value
        self.path = path

    def __getitem__(self, key: str) -> Value:
        """Return a member of an object; a missing member has the value None."""
        name = key if len(key) <= _MAX_SHOWN_KEY else shortened(key)
        members = self.value if type(self.value) is dict else self.object()
        return Value(members.get(key), f"{self.path}.{name}" if self.path else name)

    def items(self) -> Iterator[Value]:
        """Yield the values of a list."""
        for index, value in enumerate(self.values()):
            yield Value(value, f"{self.path}[{index}]")

    def values(self) -> list[Any]:
        """Return the items of a list as Python objects, without their paths."""
        return self._checked(list)

    def object(self) -> dict[str, Any]:
        """Return the members of an object."""
        return self._checked(dict)

    def text(self) -> str:
        """Return a string."""
        text = self._checked(str)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.malformed("text without lone surrogates") from None
        return text

    def number(self) -> int:
        """Return a whole number."""
        return self._checked(int)

    def flag(self, default: bool | None = None) -> bool:
        """Return a bool; if the value is missing or null, return `default` if this is a bool."""
        if self.value is None and default is not None:
            return default
        return self._checked(bool)

    def kind(self) -> str:
        """Return the text of the member "type"."""
        return self["type"].text()

    def parts(self, key: str) -> Iterator[Value]:
        """Yield the parts of a pre_tokenizer, normalizer, or similar value.

        If its type is Sequence, it lists its parts under `key`; nested Sequences are flattened.
        Otherwise the value itself is the only part; it may be null.
        """
        pending = [self]
        count = 0
        while pending:
            part = pending.pop()
            if part.value is not None and part.kind() == "Sequence":
                part.only("type", key)
                if count + len(pending) + len(part[key].values()) > MAX_PARTS:
                    raise self.malformed(f"at most {MAX_PARTS} parts")
                pending += reversed(list(part[key].items()))
            else:
                count += 1
                yield part

    def only(self, *names: str) -> None:
        """Raise UnsupportedError if the object has a non-null member other than `names`.

        A part with a type may also have members of BYTE_LEVEL, which have no effect there.
        """
        known = (*names, *BYTE_LEVEL) if "type" in names else names
        for name, value in self.object().items():
            if name not in known and value is not None:
                raise self[name].unsupported(f"bpe knows only {', '.join(names)} here")

    def malformed(self, expected: str) -> VocabularyError:
        """Return the error for a value that the format does not allow."""
        return VocabularyError(f"{self._description()}; expected {expected}")

    def unsupported(self, advice: str) -> UnsupportedError:
        """Return the error for a valid value that bpe does not support."""
        return UnsupportedError(f"{self._description()}, which is not supported: {advice}")

    def _description(self) -> str:
        # Encodes only the beginning of a long value.
        shown = ""
        for part in _ENCODER.iterencode(_beginning(self.value)):
            shown += part
            if len(shown) > _MAX_SHOWN:
                shown = shown[: _MAX_SHOWN - 3] + "..."
                break
        return (
            f"{self.path or 'the file'} is {shown if self.value is not None else 'missing or null'}"
        )

    def _checked(self, type_: type[_Type]) -> _Type:
        if type(self.value) is not type_:
            raise self.malformed(_TYPE_NAMES[type_])
        return self.value
