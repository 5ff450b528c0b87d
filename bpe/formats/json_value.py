"""Value: a part of a JSON file that knows where it is, so that errors can say so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.files import utf8_text
from pretok import json_text
from pretok.errors import shortened

_LONGEST_KEY = 80
_MOST_SHOWN = 120
MOST_PARTS = 256
"""The number of parts of a pre_tokenizer or normalizer, counting nested Sequences."""
_Kind = TypeVar("_Kind")
_KINDS = {
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
            f"line {error.lineno} column {error.colno}: {error.msg}; the JSON is damaged, "
            "or only a part of it is there"
        ) from None
    except ValueError as error:
        raise VocabularyError(f"{error}; expected a vocabulary file") from None


_ENCODER = json.JSONEncoder(default=str)


def _beginning(value: Any) -> Any:
    """Return a value, or its beginning if it is long, whose JSON begins as that of `value`."""
    if type(value) in (str, list):
        return value[:_MOST_SHOWN]
    if type(value) is dict:
        return dict(islice(value.items(), _MOST_SHOWN))
    return value


class Value:
    """A JSON value, and its path in the file."""

    def __init__(self, value: Any, path: str) -> None:
        self.value = value
        self.path = path

    def __getitem__(self, key: str) -> Value:
        """Return a member of an object; its value is None if there is no such."""
        name = key if len(key) <= _LONGEST_KEY else shortened(key)
        return Value(self.object().get(key), f"{self.path}.{name}" if self.path else name)

    def items(self) -> Iterator[Value]:
        """Yield the values of a list."""
        for index, value in enumerate(self.values()):
            yield Value(value, f"{self.path}[{index}]")

    def values(self) -> list[Any]:
        """Return the values of a list as they are."""
        return self._of(list)

    def object(self) -> dict[str, Any]:
        """Return the members of an object."""
        return self._of(dict)

    def text(self) -> str:
        """Return a string."""
        text = self._of(str)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.malformed("text without lone surrogates") from None
        return text

    def number(self) -> int:
        """Return a whole number."""
        return self._of(int)

    def flag(self, default: bool | None = None) -> bool:
        """Return true or false; where there is none, `default` if one is given."""
        if self.value is None and default is not None:
            return default
        return self._of(bool)

    def kind(self) -> str:
        """Return the member "type", which says what the value is."""
        return self["type"].text()

    def parts(self, key: str) -> Iterator[Value]:
        """Yield the parts of a Sequence, which has them under `key`, nested as they may be.

        What is null or of another kind is its own only part.
        """
        pending = [self]
        seen = 0
        while pending:
            part = pending.pop()
            seen += 1
            if part.value is not None and part.kind() == "Sequence":
                part.only("type", key)
                if seen + len(pending) + len(part[key].values()) > MOST_PARTS:
                    raise self.malformed(f"{MOST_PARTS} parts at most")
                pending += reversed(list(part[key].items()))
            else:
                yield part

    def only(self, *names: str) -> None:
        """Raise UnsupportedError if the object has a member besides `names` that is not null."""
        for name, value in self.object().items():
            if name not in names and value is not None:
                raise self[name].unsupported(
                    f"of these bpe knows only {', '.join(names)}, and what this one changes it "
                    "cannot say"
                )

    def malformed(self, expected: str) -> VocabularyError:
        """Return the error for a value that the format does not allow."""
        return VocabularyError(f"{self._named()}; expected {expected}")

    def unsupported(self, advice: str) -> UnsupportedError:
        """Return the error for a value that asks for what bpe does not do."""
        return UnsupportedError(f"{self._named()} is not supported: {advice}")

    def _named(self) -> str:
        # Only the beginning of a long value is put into words.
        shown = ""
        for part in _ENCODER.iterencode(_beginning(self.value)):
            shown += part
            if len(shown) > _MOST_SHOWN:
                shown = shown[: _MOST_SHOWN - 3] + "..."
                break
        return (
            f"{self.path or 'the file'} is {shown if self.value is not None else 'missing or null'}"
        )

    def _of(self, kind: type[_Kind]) -> _Kind:
        if type(self.value) is not kind:
            raise self.malformed(_KINDS[kind])
        return self.value
