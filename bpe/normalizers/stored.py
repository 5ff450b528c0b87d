"""Read and write the normalizers and decoders of .pretok files.

A step is a normalizer or a decoder. A list of steps begins with the number of steps. The code of
each step follows, and the fields of the step, in the order of its FIELDS.

A flag is 0 or 1; an optional flag is 0, 1, or 2 for None; a scheme is its index in SCHEMES. A
literal pattern is its text, then 0. A regex is its text, 1, and its program: the Unicode version,
the number of words, and the words of one stage (pretok.machine.program.serialize_stages). The rules
of this stage match what the regex matches. A charsmap is its size and its bytes.

cpp/formats/pretok_file_steps.cpp is the C++ reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bpe.encoding.utf8 import has_surrogates
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.normalizers.growth import find_excess
from bpe.normalizers.step import MAX_COUNT, MAX_TEXT, SCHEMES, Field, Registry
from bpe.normalizers.steps import NOT_COMPILED, Replace
from pretok.machine.program import serialize_stages

MAX_STEPS = 256
"""The maximal number of normalizers, and of decoders.

Each step takes some memory, so a small file with many of them could fill the memory.
"""


def dump_list(steps: Sequence[Any], registry: Registry[Any], what: str, more: int = 0) -> bytes:
    """Return the bytes of the number len(steps) + more, then the bytes of each step.

    Raises UnsupportedError for a step that is not in `registry`, or has too large fields.
    """
    if len(steps) > MAX_STEPS:
        raise UnsupportedError(f"more than {MAX_STEPS} normalizers or decoders")
    parts = [encode_number(len(steps) + more)]
    for step in steps:
        name = type(step).__name__
        code = registry.code(step) if hasattr(step, "FIELDS") else -1
        if code < 0:
            raise UnsupportedError(f"the {what} {name}")
        parts.append(encode_number(code))
        for key, field in step.FIELDS.items():
            parts.append(dump_field(getattr(step, key), field))
            if field is Field.PATTERN:
                parts.append(_dump_program(step))
    return b"".join(parts)


def read_list(
    reader: Reader, registry: Registry[Any], count: int, what: str, unit: str
) -> tuple[Any, ...]:
    """Return `count` steps.

    In errors, `what` names the steps, and `unit` names their input: "text" or "token".
    """
    steps = tuple(_read_step(reader, registry) for _ in range(count))
    if problem := find_excess(steps, unit)[1]:
        raise UnsupportedError(f"the file has {what} that {problem}")
    return steps


def _read_step(reader: Reader, registry: Registry[Any]) -> Any:
    name = registry.names[read_number(reader, len(registry.names) - 1)]
    options: dict[str, Any] = {}
    program = None
    for key, field in registry.fields(name).items():
        options[key] = read_field(reader, field)
        if field is Field.PATTERN:
            options["is_regex"] = bool(read_number(reader, 1))
            program = _read_program(reader) if options["is_regex"] else None
    try:
        step = registry.makers[name](**options)
    except NOT_COMPILED as error:
        raise reader.error(f"has a wrong regex: {error}") from None
    except VocabularyError as error:
        raise reader.error(f"has a wrong charsmap: {error}") from None
    if program is not None and program != _program(step):
        raise UnsupportedError(
            f"the file has a program for the regex {step.pattern[:80]!a} that differs from the "
            "program of this version of pretok; save the tokenizer again"
        )
    return step


def dump_field(value: Any, field: Field) -> bytes:
    """Return the bytes of the value of a field; raise UnsupportedError if it is too large."""
    match field:
        case Field.FLAG | Field.COUNT:
            if value > MAX_COUNT:
                raise UnsupportedError(f"a decoder that strips more than {MAX_COUNT} characters")
            return encode_number(value)
        case Field.OPTIONAL_FLAG:
            return encode_number(2 if value is None else value)
        case Field.SCHEME:
            return encode_number(SCHEMES.index(value))
        case Field.CHARSMAP:
            return encode_number(len(value)) + bytes(value)
    if has_surrogates(value) or (field is not Field.ANY_TEXT and len(value) > MAX_TEXT):
        raise UnsupportedError("a text of a normalizer or decoder that is too long or not Unicode")
    if field is Field.CHARACTER and len(value) != 1:
        raise UnsupportedError("a normalizer or decoder with a text in place of a character")
    return encode_text(value)


def read_field(reader: Reader, field: Field) -> Any:
    """Return the value of a field."""
    match field:
        case Field.FLAG:
            return bool(read_number(reader, 1))
        case Field.OPTIONAL_FLAG:
            return (False, True, None)[read_number(reader, 2)]
        case Field.COUNT:
            return read_number(reader, MAX_COUNT)
        case Field.SCHEME:
            return SCHEMES[read_number(reader, len(SCHEMES) - 1)]
        case Field.CHARSMAP:
            return reader.take(reader.count(1))
    text = reader.text()
    if field is not Field.ANY_TEXT:
        if len(text) > MAX_TEXT or not (text or field is Field.TEXT):
            raise reader.error("has a text of a normalizer or decoder that is empty or too long")
        if field is Field.CHARACTER and len(text) != 1:
            raise unknown_step(reader)
    return text


def _program(step: Replace) -> tuple[str, list[int]]:
    """Return the Unicode version and the words of the program of a regex."""
    preset = step.isolated.preset
    return preset.unicode, serialize_stages(preset.stages)


def _dump_program(step: Replace) -> bytes:
    if not step.is_regex:
        return encode_number(0)
    unicode, words = _program(step)
    numbers: Iterable[bytes] = map(encode_number, [len(words), *words])
    return b"".join([encode_number(1), encode_text(unicode), *numbers])


def _read_program(reader: Reader) -> tuple[str, list[int]]:
    return reader.text(), [reader.number() for _ in range(reader.count(1))]


def read_number(reader: Reader, limit: int) -> int:
    """Return a number of at most `limit`."""
    number = reader.number()
    if number > limit:
        raise unknown_step(reader)
    return number


def unknown_step(reader: Reader) -> VocabularyError:
    """Return the error for a step that no version of pretok writes."""
    return reader.error("has an unknown normalizer or decoder")
