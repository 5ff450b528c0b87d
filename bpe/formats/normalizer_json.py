"""Convert the normalizer of a tokenizer.json to a NormalizerChain and back."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.json_value import Value
from bpe.normalizers import steps
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.normalizers.growth import problem_of_growth
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.steps import Step
from bpe.normalizers.unicode_forms import FORMS, UnicodeForm
from bpe.types import NormalizesText
from pretok.errors import UnknownPatternError
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError

MAX_TEXT = 256
"""The maximal length of a prefix, pattern or replacement, in characters.

A long replacement could multiply the size of a text.
"""


def read(normalizer: Value) -> tuple[Step, ...]:
    """Return the steps of a normalizer.

    Raises UnsupportedError for a step that bpe does not have, or if the steps grow a text too much,
    and VocabularyError for a malformed step.
    """
    listed: list[Step] = []
    for part in normalizer.parts("normalizers"):
        if part.value is not None:
            reader = _READERS.get(part.kind())
            if reader is None:
                raise part.unsupported(f"expected one of {', '.join(_READERS)}, Sequence or null")
            listed.append(reader(part))
    if problem := problem_of_growth(listed):
        raise normalizer.unsupported(f"the normalizers {problem}")
    return tuple(listed)


def for_byte_level(listed: tuple[Step, ...]) -> NormalizerChain | None:
    """Return the normalizer of a byte-level tokenizer, or None if there is no step."""
    if set(listed) == set(NFC.steps):  # listed twice, NFC has the same effect
        return NFC
    return NormalizerChain(listed) if listed else None


def write(normalizer: NormalizesText | None) -> dict[str, Any] | None:
    """Return the normalizer of a tokenizer.json, without Metaspace, which is a pre_tokenizer.

    Raises UnsupportedError for any other normalizer, such as that of SentencePiece.
    """
    if normalizer is None:
        return None
    if not isinstance(normalizer, NormalizerChain):
        raise UnsupportedError(
            f"a tokenizer.json cannot hold the normalizer {type(normalizer).__name__}"
        )
    listed = [_to_json(step) for step in normalizer.steps]
    if len(listed) == 1:
        return listed[0]
    return {"type": "Sequence", "normalizers": listed} if listed else None


def pattern_of(part: Value) -> steps.Replace:
    """Return the Replace of a normalizer or of a decoder."""
    part.only("type", "pattern", "content")
    pattern = part["pattern"]
    pattern.only("String", "Regex")
    is_regex = pattern["String"].value is None
    text = short_text(pattern["Regex" if is_regex else "String"])
    if not text:
        raise pattern.unsupported("an empty pattern matches between all characters")
    try:
        return steps.Replace(text, short_text(part["content"], may_be_empty=True), is_regex)
    except (UnknownPatternError, UnreadablePatternError, NotCompiledError) as error:
        raise pattern.unsupported(f"its pattern does not compile to rules: {error}") from None


def short_text(value: Value, may_be_empty: bool = False) -> str:
    """Return a text of at most MAX_TEXT characters, which is not empty unless `may_be_empty`.

    Raises VocabularyError for any other value.
    """
    text = value.text()
    if len(text) > MAX_TEXT or not (text or may_be_empty):
        raise value.malformed(f"a text of 1 to {MAX_TEXT} characters")
    return text


def _to_json(step: Step) -> dict[str, Any]:
    if isinstance(step, UnicodeForm):
        return {"type": step.type}
    if isinstance(step, steps.Replace):
        return replace_json(step)
    if isinstance(step, Precompiled):
        charsmap = b64encode(step.precompiled_charsmap).decode()
        return {"type": "Precompiled", "precompiled_charsmap": charsmap}
    return {"type": type(step).__name__, **asdict(step)}  # type: ignore[call-overload]


def replace_json(step: steps.Replace) -> dict[str, Any]:
    """Return the JSON object of a Replace."""
    pattern = {"Regex" if step.is_regex else "String": step.pattern}
    return {"type": "Replace", "pattern": pattern, "content": step.content}


def _prepend(part: Value) -> Step:
    part.only("type", "prepend")
    return steps.Prepend(short_text(part["prepend"], may_be_empty=True))


def _precompiled(part: Value) -> Step:
    part.only("type", "precompiled_charsmap")
    charsmap = part["precompiled_charsmap"]
    try:
        data = b64decode(charsmap.text(), validate=True)
    except (Error, ValueError):
        raise charsmap.malformed("base64") from None
    try:
        return Precompiled(data)
    except VocabularyError as error:
        raise VocabularyError(f"{charsmap.path}: {error}") from None


def _strip(part: Value) -> Step:
    part.only("type", "strip_left", "strip_right")
    return steps.Strip(part["strip_left"].flag(), part["strip_right"].flag())


def _bert(part: Value) -> Step:
    part.only("type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    accents = part["strip_accents"]
    return steps.BertNormalizer(
        part["clean_text"].flag(),
        part["handle_chinese_chars"].flag(),
        None if accents.value is None else accents.flag(),
        part["lowercase"].flag(),
    )


def _plain(step: Step) -> Callable[[Value], Step]:
    """Return a reader for a normalizer without options."""

    def read_plain(part: Value) -> Step:
        part.only("type")
        return step

    return read_plain


_READERS: dict[str, Callable[[Value], Step]] = {
    **{form: _plain(UnicodeForm(form)) for form in FORMS},
    "Prepend": _prepend,
    "Replace": pattern_of,
    "Strip": _strip,
    "Precompiled": _precompiled,
    "BertNormalizer": _bert,
    "Lowercase": _plain(steps.Lowercase()),
    "StripAccents": _plain(steps.StripAccents()),
    "Nmt": _plain(steps.Nmt()),
    "ByteLevel": _plain(steps.ByteLevel()),
}
