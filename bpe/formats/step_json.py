"""Convert a normalizer or decoder to the JSON of a tokenizer.json and back, by its FIELDS."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from typing import Any

from bpe.errors import VocabularyError
from bpe.formats.json_value import Value
from bpe.normalizers.step import MAX_COUNT, MAX_TEXT, AnyStep, Field, Registry, Step
from bpe.normalizers.steps import NOT_COMPILED


def read_step(part: Value, registry: Registry[AnyStep]) -> AnyStep:
    """Return a step; raises UnsupportedError or VocabularyError."""
    name = part.kind()
    if name not in registry.makers:
        raise part.unsupported(f"expected one of {', '.join(registry.names)}, Sequence or null")
    fields = registry.fields(name)
    part.only("type", *fields)
    options: dict[str, Any] = {}
    for key, field in fields.items():
        if field is Field.PATTERN:
            options |= _pattern(part[key])
        else:
            options[key] = _read(part[key], field)
    try:
        return registry.makers[name](**options)
    except NOT_COMPILED as error:
        problem = f"its pattern does not compile to rules: {error}"
        raise part["pattern"].unsupported(problem) from None
    except VocabularyError as error:
        raise VocabularyError(f"{part[next(iter(fields))].path}: {error}") from None


def write_step(step: Step) -> dict[str, Any]:
    """Return the JSON object of a step."""
    found: dict[str, Any] = {"type": step.name}
    for key, field in step.FIELDS.items():
        value = getattr(step, key)
        if field is Field.PATTERN:
            value = {"Regex" if step.has_regex else "String": value}
        found[key] = b64encode(value).decode() if field is Field.CHARSMAP else value
    return found


def short_text(value: Value, may_be_empty: bool = False) -> str:
    """Return a text of at most MAX_TEXT characters, which is not empty unless `may_be_empty`.

    Raises VocabularyError for any other value.
    """
    text = value.text()
    if len(text) > MAX_TEXT or not (text or may_be_empty):
        raise value.malformed(f"a text of 1 to {MAX_TEXT} characters")
    return text


def _pattern(pattern: Value) -> dict[str, Any]:
    pattern.only("String", "Regex")
    is_regex = pattern["String"].value is None
    text = short_text(pattern["Regex" if is_regex else "String"])
    return {"pattern": text, "is_regex": is_regex}


def _read(value: Value, field: Field) -> Any:
    match field:
        case Field.FLAG:
            return value.flag()
        case Field.OPTIONAL_FLAG:
            return None if value.value is None else value.flag()
        case Field.TEXT | Field.FILLED_TEXT:
            return short_text(value, may_be_empty=field is Field.TEXT)
        case Field.CHARACTER:
            text = value.text()
            if len(text) != 1:
                raise value.malformed("one character")
            return text
        case Field.COUNT:
            if not 0 <= value.number() <= MAX_COUNT:
                raise value.malformed(f"a number from 0 to {MAX_COUNT}")
            return value.number()
        case Field.CHARSMAP:
            try:
                return b64decode(value.text(), validate=True)
            except (Error, ValueError):
                raise value.malformed("base64") from None
    raise NotImplementedError(field)
