"""Define NativeNormalizer, which normalizes UTF-8 with C++.

The methods `normalize` of the normalizers are the definition. Steps that C++ lacks run in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial, reduce
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np

from bpe.encoding.utf8 import ESCAPE, decode_utf8, has_surrogates
from bpe.normalizers.aligned_text import AlignedText
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.characters import NONSPACING_MARKS, is_in
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import TextStep
from bpe.normalizers.steps import (
    WHITE_SPACE,
    BertNormalizer,
    ByteLevel,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Strip,
    StripAccents,
)
from bpe.normalizers.unicode_forms import FORMS, UnicodeForm
from bpe.once import once
from bpe.types import NormalizesText, Offsets

if TYPE_CHECKING:
    from pretok import _core

Made = TypeVar("Made")
Spellings: TypeAlias = Sequence[Callable[[str], str]]
"""Functions that spell the characters of a text, each applied to the result of the one before."""
AligningStep: TypeAlias = Callable[[bytes], "tuple[bytes, Offsets | None] | None"]
"""Normalizes UTF-8. Returns the result, and the origin of each of its code points.

An origin is the index of a code point in the text; -1 stands for the span (0, 0). None instead of
origins means that no code point changes. None instead of a result means that Python must align.
"""
NativeStep: TypeAlias = Callable[[bytes], "bytes | None"]
"""Normalizes UTF-8. For other bytes, the result is None or undefined."""

_CHECKING = BertNormalizer, Lowercase, Nmt, StripAccents
"""Steps that return None for bytes that are not UTF-8."""
_KNOWN = *_CHECKING, ByteLevel, Precompiled, Prepend, Replace, Strip, UnicodeForm
"""The types of steps that run in C++ or on valid UTF-8. A subclass may have any other effect."""
_ASCII_SPACE = "".join(filter(str.isascii, WHITE_SPACE)).encode()
_PAGE = 256
"""The number of code points whose replacements C++ asks for at once."""
_MAX_SPELLS = 16
"""The maximal number of steps that change each character by itself, to spell whole pages.

A page takes as much time as 256 characters, even if a text has only one character of the page. If
there are more steps, each of them changes the text.
"""


class NativeNormalizer:
    """Normalizes and aligns text as `normalizer` does, if possible in C++.

    If a text has bytes that are not UTF-8, only a SentencePieceNormalizer runs in C++.
    """

    def __init__(self, normalizer: NormalizesText) -> None:
        self._normalizer = normalizer
        self._steps = _chain_steps(normalizer, _native_map, _native_step)
        if self._steps is not None and not _takes_any_bytes(normalizer):
            self._steps.insert(0, _checked)
        self._sentencepiece = _sentencepiece(normalizer)
        self.normalized: Callable[[bytes], bytes] = (
            self._normalized if self._sentencepiece is None else self._sentencepiece.normalized
        )
        """Return the normalized text of UTF-8."""

    def _normalized(self, data: bytes) -> bytes:
        if self._steps is not None:
            result = data
            for step in self._steps:
                changed = step(result)
                if changed is None:
                    break
                result = changed
            else:
                return result
        return self._normalizer.normalize(decode_utf8(data)).encode("utf-8", ESCAPE)

    def align(self, text: str) -> tuple[str, Offsets]:
        """Return `text` normalized, and the span in `text` of each code point of the result.

        The spans are the rows of an array.
        """
        if self._sentencepiece is not None:
            normal, origins = self._sentencepiece.align(text.encode("utf-8", ESCAPE))
            return normal.decode(), np.stack([origins[:-1], origins[1:]], axis=1)
        if self._aligning_steps is not None and not has_surrogates(text):
            aligned = _align(self._aligning_steps, text)
            if aligned is not None:
                return aligned
        return span_rows(self._normalizer.align)(text)

    @once
    def _aligning_steps(self) -> list[AligningStep] | None:
        return _chain_steps(self._normalizer, _aligning_map, _aligning_step)


def as_rows(spans: list[tuple[int, int]]) -> Offsets:
    """Return an array with `spans` as its rows."""
    return np.array(spans, np.int64).reshape(-1, 2)


def span_rows(
    align: Callable[[str], tuple[str, list[tuple[int, int]]]],
) -> Callable[[str], tuple[str, Offsets]]:
    """Return a function with the results of `align`, but with the spans as rows of an array."""

    def align_rows(text: str) -> tuple[str, Offsets]:
        normal, spans = align(text)
        return normal, as_rows(spans)

    return align_rows


def _align(steps: Sequence[AligningStep], text: str) -> tuple[str, Offsets] | None:
    """Return the result of `steps`, and the span of each code point in `text`."""
    data = text.encode()
    starts = np.arange(len(text))
    spans = np.stack([starts, starts + 1], axis=1)
    for step in steps:
        aligned = step(data)
        if aligned is None:
            return None
        data, origins = aligned
        if origins is not None:
            spans = np.where(origins[:, np.newaxis] < 0, 0, spans[origins])
    return data.decode(), spans


def _sentencepiece(normalizer: NormalizesText) -> _core.SentencePieceNormalizer | None:
    """Return the normalizer in C++, or None for any other normalizer."""
    if type(normalizer) is not SentencePieceNormalizer or any(
        map(has_surrogates, normalizer.user_defined)
    ):
        return None
    from pretok import _core

    return _core.SentencePieceNormalizer(
        normalizer.charsmap,
        normalizer.add_dummy_prefix,
        normalizer.remove_extra_whitespaces,
        normalizer.escape_whitespaces,
        normalizer.treat_whitespace_as_suffix,
        [symbol.encode() for symbol in normalizer.user_defined],
    )


def _chain_steps(
    normalizer: NormalizesText,
    make_map: Callable[[Spellings, bool], list[Made]],
    make_step: Callable[[TextStep], Made],
) -> list[Made] | None:
    """Return the steps of a NormalizerChain of known steps, or None for any other normalizer."""
    if type(normalizer) is not NormalizerChain:
        return None
    if any(type(step) not in _KNOWN or _has_surrogates(step) for step in normalizer.steps):
        return None
    steps: list[Made] = []
    simple = list(chain.from_iterable(map(_simple_steps, normalizer.steps)))
    has_maps = sum(isinstance(step, PerCharacter) for step in simple) <= _MAX_SPELLS
    for is_per_character, group in groupby(simple, lambda step: isinstance(step, PerCharacter)):
        if is_per_character:
            spells = [step.spell for step in group if isinstance(step, PerCharacter)]
            steps += make_map(spells, has_maps)
        else:
            steps += [make_step(step) for step in group if not isinstance(step, PerCharacter)]
    return steps


class PerCharacter(NamedTuple):
    """A step that replaces each character of a text, whatever its neighbors are."""

    spell: Callable[[str], str]


def _simple_steps(step: TextStep) -> list[TextStep | PerCharacter]:
    """Return simpler steps that together have the effect of `step`."""
    if isinstance(step, (Lowercase, StripAccents, Nmt)):
        return [PerCharacter(step.normalize)]
    if isinstance(step, Replace) and not step.is_regex and len(step.pattern) == 1:
        return [PerCharacter(step.normalize)]
    if isinstance(step, BertNormalizer):
        # Without the other two options, BertNormalizer treats each character by itself.
        clean = replace(step, strip_accents=False, lowercase=False)
        steps: list[TextStep | PerCharacter] = [PerCharacter(clean.normalize)]
        if step.strips_accents:
            steps += [UnicodeForm("NFD"), PerCharacter(_without_marks)]
        if step.lowercase:
            steps.append(PerCharacter(Lowercase().normalize))
        return steps
    return [step]


def _native_map(spells: Spellings, has_maps: bool) -> list[NativeStep]:
    from pretok import _core

    if not has_maps:
        return list(map(_in_python, spells))
    return [_core.CharacterMap(partial(_spell_page, spells)).normalized]


def _in_python(change: Callable[[str], str]) -> NativeStep:
    return lambda data: change(data.decode()).encode()


def _aligning_map(spells: Spellings, has_maps: bool) -> list[AligningStep]:
    from pretok import _core

    if not has_maps:
        return [lambda data: None]
    return [_core.CharacterMap(partial(_spell_page, spells)).align]


def _aligning_step(step: TextStep) -> AligningStep:
    if isinstance(step, UnicodeForm):
        return _native_form(step).align
    normalized = _native_step(step)

    def align(data: bytes) -> tuple[bytes, Offsets | None] | None:
        text = data.decode()
        if isinstance(step, Replace) and not step.matches(text):
            return data, None
        if isinstance(step, Strip) and normalized(data) == data:
            return data, None
        result = step.align(AlignedText.of(text))
        # A span has one character of `text`, or it is (0, 0).
        origins = np.array([end - 1 for _, end in result.spans], np.int64)
        return result.text.encode(), origins

    return align


@lru_cache(maxsize=4)
def _native_form(form: UnicodeForm) -> _core.UnicodeForm:
    from pretok import _core

    return _core.UnicodeForm(FORMS.index(form.type))


def _native_step(step: TextStep) -> NativeStep:
    from pretok import _core

    if isinstance(step, UnicodeForm):
        return _native_form(step).normalized
    if isinstance(step, Precompiled):
        return _core.Precompiled(step.precompiled_charsmap).normalized
    if isinstance(step, Prepend):
        prefix = step.prepend.encode()
        return lambda data: prefix + data if data else data
    if isinstance(step, Replace) and not step.is_regex:
        pattern, content = step.pattern.encode(), step.content.encode()
        return lambda data: data.replace(pattern, content)
    if isinstance(step, Strip):
        return partial(_stripped, step)
    return _in_python(step.normalize)


def _stripped(step: Strip, data: bytes) -> bytes:
    """Return `data` without white space at its ends; decodes it only if an end is not ASCII."""
    ends = data.lstrip(_ASCII_SPACE) if step.strip_left else data
    ends = ends.rstrip(_ASCII_SPACE) if step.strip_right else ends
    is_left_done = not step.strip_left or ends[:1].isascii()
    is_right_done = not step.strip_right or ends[-1:].isascii()
    return ends if is_left_done and is_right_done else step.normalize(data.decode()).encode()


def _checked(data: bytes) -> bytes | None:
    """Return `data` if it is UTF-8, else None."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return None
    return data


def _takes_any_bytes(normalizer: NormalizesText) -> bool:
    """Return whether the steps in C++ need no `_checked` before them."""
    if not isinstance(normalizer, NormalizerChain) or not normalizer.steps:
        return False
    is_form = all(isinstance(step, UnicodeForm) for step in normalizer.steps)
    return is_form or isinstance(normalizer.steps[0], _CHECKING)


def _has_surrogates(step: TextStep) -> bool:
    texts = (getattr(step, name, "") for name in ("prepend", "pattern", "content"))
    return any(map(has_surrogates, texts))


def _without_marks(text: str) -> str:
    return "".join([char for char in text if not is_in(NONSPACING_MARKS, char)])


def _spell_page(spells: Spellings, first: int) -> list[bytes]:
    """Return the replacements of the code points from `first` on, as UTF-8."""

    def spelled(code: int) -> bytes:
        if 0xD800 <= code < 0xE000:  # no UTF-8 has surrogates
            return b""
        return reduce(lambda text, spell: spell(text), spells, chr(code)).encode()

    return [spelled(code) for code in range(first, first + _PAGE)]
