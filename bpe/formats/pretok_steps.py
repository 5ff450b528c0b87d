"""Read and write the section `steps` of .pretok files: the normalizer and the decoder.

    normalizer    the number of steps; for each its code, an index in NORMALIZERS (below), and its
                  fields, in the order of FIELDS
    Metaspace     0, or one plus the scheme, the replacement, and 0, or 1 and a built-in preset, or
                  2 and another preset (the split before it); a preset is stored as in the section
                  `preset`
    decoder       0: decoding joins the bytes of tokens; or one plus the number of steps, and for
                  each its code, an index in DECODERS, and its fields

A flag is 0 or 1; an optional flag is 0, 1, or 2 for None; a scheme is its index in SCHEMES. A
pattern is its text, then 0; or its text, 1, and the program of the regex: the Unicode version, the
number of words, and the words of one stage, whose rules match what the regex matches
(pretok.machine.program.serialize_stages). A charsmap is its size and its bytes.

cpp/formats/pretok_file_steps.cpp is the C++ reader.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpe.decoders.chain import DecoderChain
from bpe.decoders.piece_decoder import Decoding, SentencePieceDecoding
from bpe.decoders.registry import DECODERS as CHAINED_DECODERS
from bpe.decoders.steps import Spaces
from bpe.encoding.utf8 import has_surrogates
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.formats.pretok_preset import dump_preset, is_own, read_preset
from bpe.formats.spec import TokenizerSpec
from bpe.formats.step_json import NOT_COMPILED
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.normalizers.growth import find_excess
from bpe.normalizers.registry import NORMALIZERS as CHAINED_NORMALIZERS
from bpe.normalizers.registry import Registry
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import MAX_COUNT, MAX_TEXT, SCHEMES, Field
from bpe.normalizers.steps import Replace
from bpe.types import NormalizesText
from pretok.machine.program import serialize_stages

NORMALIZERS: Registry[Any] = Registry(
    {**CHAINED_NORMALIZERS.makers, "SentencePieceNormalizer": SentencePieceNormalizer}
)
DECODERS: Registry[Any] = Registry(
    {
        **CHAINED_DECODERS.makers,
        "Spaces": Spaces,
        "SentencePieceDecoding": SentencePieceDecoding,
    }
)
MAX_STEPS = 256
"""The maximal number of normalizers, and of decoders.

Each step takes some memory, so a small file with many of them could fill the memory.
"""


def dump_steps(spec: TokenizerSpec) -> bytes:
    """Return the section.

    Raises UnsupportedError for a step that it cannot hold. The user-defined symbols of
    SentencePiece's normalizer and its invisible tokens follow from the added tokens of the file.
    """
    normalizer, decoder = spec.normalizer, spec.decoder
    steps: list[Any] = [normalizer]
    metaspace = None
    if isinstance(normalizer, NormalizerChain | None):
        chain = normalizer or NormalizerChain()
        steps, metaspace = [*chain.steps], chain.metaspace
    listed: list[Any] = [*decoder.steps] if isinstance(decoder, DecoderChain) else [decoder]
    parts = [
        _dump_list(steps, NORMALIZERS, "normalizer"),
        _dump_metaspace(metaspace),
        encode_number(0) if decoder is None else _dump_list(listed, DECODERS, "decoder", 1),
    ]
    return b"".join(parts)


def read_steps(reader: Reader) -> tuple[NormalizesText | None, Decoding | None]:
    """Return the normalizer and the decoder."""
    steps = _read_list(reader, NORMALIZERS, _number(reader, MAX_STEPS), "normalizers", "text")
    metaspace = _read_metaspace(reader)
    normalizer: NormalizesText | None = None
    if steps or metaspace is not None:
        normalizer = _only(steps, SentencePieceNormalizer, reader)
        if normalizer is None:
            normalizer = NormalizerChain(steps, metaspace)
        elif metaspace is not None:
            raise _unknown(reader)
    count = _number(reader, MAX_STEPS + 1)
    if count == 0:
        return normalizer, None
    listed = _read_list(reader, DECODERS, count - 1, "decoders", "token")
    decoding = _only(listed, SentencePieceDecoding, reader)
    return normalizer, decoding or DecoderChain(listed)


def _only(steps: tuple[Any, ...], kind: type, reader: Reader) -> Any:
    """Return the only step if it is a `kind`, else None; `kind` stands alone."""
    if not any(isinstance(step, kind) for step in steps):
        return None
    if len(steps) != 1:
        raise _unknown(reader)
    return steps[0]


def _dump_list(steps: list[Any], registry: Registry[Any], what: str, more: int = 0) -> bytes:
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
            parts.append(_dump_field(getattr(step, key), field))
            if field is Field.PATTERN:
                parts.append(_dump_program(step))
    return b"".join(parts)


def _read_list(
    reader: Reader, registry: Registry[Any], count: int, what: str, unit: str
) -> tuple[Any, ...]:
    steps = tuple(_read_step(reader, registry) for _ in range(count))
    if problem := find_excess(steps, unit)[1]:
        raise UnsupportedError(f"the file has {what} that {problem}")
    return steps


def _read_step(reader: Reader, registry: Registry[Any]) -> Any:
    name = registry.names[_number(reader, len(registry.names) - 1)]
    options: dict[str, Any] = {}
    program = None
    for key, field in registry.fields(name).items():
        options[key] = _read_field(reader, field)
        if field is Field.PATTERN:
            options["is_regex"] = bool(_number(reader, 1))
            program = _read_program(reader) if options["is_regex"] else None
    try:
        step = registry.makers[name](**options)
    except NOT_COMPILED as error:
        raise reader.error(f"has a wrong regex: {error}") from None
    except VocabularyError as error:
        raise reader.error(f"has a wrong charsmap: {error}") from None
    if program is not None and program != _program(step):
        raise UnsupportedError(
            f"the file has another program for the regex {step.pattern[:80]!a} than this version "
            "of pretok; save the tokenizer again"
        )
    return step


def _dump_field(value: Any, field: Field) -> bytes:
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


def _read_field(reader: Reader, field: Field) -> Any:
    match field:
        case Field.FLAG:
            return bool(_number(reader, 1))
        case Field.OPTIONAL_FLAG:
            return (False, True, None)[_number(reader, 2)]
        case Field.COUNT:
            return _number(reader, MAX_COUNT)
        case Field.SCHEME:
            return SCHEMES[_number(reader, len(SCHEMES) - 1)]
        case Field.CHARSMAP:
            return reader.take(reader.count(1))
    text = reader.text()
    if field is not Field.ANY_TEXT:
        if len(text) > MAX_TEXT or not (text or field is Field.TEXT):
            raise reader.error("has a text of a normalizer or decoder that is empty or too long")
        if field is Field.CHARACTER and len(text) != 1:
            raise _unknown(reader)
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


def _dump_metaspace(step: MetaspaceStep | None) -> bytes:
    if step is None:
        return encode_number(0)
    scheme = encode_number(1 + SCHEMES.index(step.prepend_scheme))
    texts = scheme + _dump_field(step.replacement, Field.CHARACTER)
    if step.before is None:
        return texts + encode_number(0)
    # The split before Metaspace uses the Unicode version of the preset.
    preset = dump_preset(step.before, step.before.unicode)
    return texts + encode_number(1 + is_own(step.before)) + preset


def _read_metaspace(reader: Reader) -> MetaspaceStep | None:
    scheme = _number(reader, len(SCHEMES))
    if scheme == 0:
        return None
    replacement, form = _read_field(reader, Field.CHARACTER), _number(reader, 2)
    before = None
    if form:
        before, why, unicode = read_preset(reader, form == 2)
        if before is None or unicode != before.unicode:
            raise UnsupportedError(why or f"the file uses Unicode {unicode} for a preset")
    return MetaspaceStep(replacement, SCHEMES[scheme - 1], before)


def _number(reader: Reader, limit: int) -> int:
    number = reader.number()
    if number > limit:
        raise _unknown(reader)
    return number


def _unknown(reader: Reader) -> VocabularyError:
    return reader.error("has an unknown normalizer or decoder")
