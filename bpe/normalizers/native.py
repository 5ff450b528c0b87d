"""Define NativeNormalizer, which normalizes UTF-8 with C++.

The methods `normalize` of the normalizers are the definition. Steps that C++ lacks run in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bpe.encoding.sentencepiece_normalizer import SentencePieceNormalizer
from bpe.encoding.utf8 import ESCAPE, decode_utf8, has_surrogates
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.characters import NONSPACING_MARKS, is_in
from bpe.normalizers.graphemes import kind_of
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.steps import (
    BertNormalizer,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Step,
    StripAccents,
)
from bpe.normalizers.unicode_forms import UnicodeForm
from bpe.types import NormalizesText

if TYPE_CHECKING:
    from pretok import _core

NativeStep: TypeAlias = Callable[[bytes], "bytes | None"]
"""Normalizes UTF-8. Returns None for bytes that are not UTF-8, or gives no defined result."""

_CHECKING = BertNormalizer, Lowercase, Nmt, Precompiled, StripAccents
"""Steps that return None for bytes that are not UTF-8."""
_PAGE = 256
"""The number of code points whose replacements C++ asks for at once."""


class NativeNormalizer:
    """Gives the results of a normalizer for UTF-8.

    If the text has bytes that are not UTF-8, only a SentencePieceNormalizer runs in C++.
    """

    def __init__(self, normalizer: NormalizesText) -> None:
        self._normalizer = normalizer
        self._steps = _chain_steps(normalizer)
        self._sentencepiece = _sentencepiece(normalizer)
        self.normalized: Callable[[bytes], bytes] = (
            self._normalized if self._sentencepiece is None else self._sentencepiece.normalized
        )
        """Returns the normalized text of UTF-8."""

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

    def align(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Return `text` normalized, and the span in `text` of each code point of the result."""
        if self._sentencepiece is None:
            return self._normalizer.align(text)
        normal, origins = self._sentencepiece.align(text.encode("utf-8", ESCAPE))
        return normal.decode(), list(pairwise(origins.tolist()))


def _sentencepiece(normalizer: NormalizesText) -> _core.SentencePieceNormalizer | None:
    """Return the normalizer in C++, or None for any other normalizer."""
    if not isinstance(normalizer, SentencePieceNormalizer) or any(
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


def _chain_steps(normalizer: NormalizesText) -> list[NativeStep] | None:
    """Return the steps of a NormalizerChain, or None for any other normalizer."""
    if not isinstance(normalizer, NormalizerChain) or any(map(_has_surrogates, normalizer.steps)):
        return None
    from pretok import _core

    steps: list[NativeStep] = []
    simple = chain.from_iterable(map(_simple_steps, normalizer.steps))
    for is_per_character, group in groupby(simple, lambda step: isinstance(step, PerCharacter)):
        if is_per_character:
            spells = [step.spell for step in group if isinstance(step, PerCharacter)]
            steps.append(_core.CharacterMap(partial(_spell_page, spells)).normalized)
        else:
            steps += map(_native_step, group)
    is_checked = normalizer.steps and isinstance(normalizer.steps[0], _CHECKING)
    return steps if is_checked else [_checked, *steps]


class PerCharacter(NamedTuple):
    """A step that replaces each character, whatever its neighbors are."""

    spell: Callable[[str], str]


def _simple_steps(step: Step) -> list[Step | PerCharacter]:
    """Return simpler steps that together have the effect of `step`."""
    if isinstance(step, (Lowercase, StripAccents, Nmt)):
        return [PerCharacter(step.normalize)]
    if isinstance(step, BertNormalizer):
        # Without the other two options, BertNormalizer treats each character by itself.
        clean = replace(step, strip_accents=False, lowercase=False)
        steps: list[Step | PerCharacter] = [PerCharacter(clean.normalize)]
        if step.strips_accents:
            steps += [UnicodeForm("NFD"), PerCharacter(_without_mark)]
        if step.lowercase:
            steps.append(PerCharacter(Lowercase().normalize))
        return steps
    if isinstance(step, UnicodeForm) and step.type in ("NFKC", "NFKD"):
        # The compatibility decomposition of a text is the canonical decomposition of the
        # compatibility decompositions of its characters.
        canonical = UnicodeForm("NFC" if step.type == "NFKC" else "NFD")
        return [PerCharacter(step.normalize), canonical]
    return [step]


def _native_step(step: Step | PerCharacter) -> NativeStep:
    from pretok import _core

    if isinstance(step, UnicodeForm) and step.type in ("NFC", "NFD"):
        return _core.Encoder.normalized if step.type == "NFC" else _core.nfd
    if isinstance(step, Precompiled):
        return _core.Precompiled(step.precompiled_charsmap, _kinds).normalized
    if isinstance(step, Prepend):
        prefix = step.prepend.encode()
        return lambda data: prefix + data if data else data
    if isinstance(step, Replace) and not step.is_regex:
        pattern, content = step.pattern.encode(), step.content.encode()
        return lambda data: data.replace(pattern, content)
    assert not isinstance(step, PerCharacter)
    normalize = step.normalize
    return lambda data: normalize(data.decode()).encode()


def _checked(data: bytes) -> bytes | None:
    """Return `data` if it is UTF-8, else None."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return None
    return data


def _has_surrogates(step: Step) -> bool:
    texts = (getattr(step, name, "") for name in ("prepend", "pattern", "content"))
    return any(map(has_surrogates, texts))


def _without_mark(char: str) -> str:
    return "" if is_in(NONSPACING_MARKS, char) else char


def _spell_page(spells: Sequence[Callable[[str], str]], first: int) -> list[bytes]:
    """Return the replacements of the code points from `first` on, as UTF-8."""

    def spelled(code: int) -> bytes:
        if 0xD800 <= code < 0xE000:  # no UTF-8 has surrogates
            return b""
        return reduce(lambda text, spell: spell(text), spells, chr(code)).encode()

    return [spelled(code) for code in range(first, first + _PAGE)]


def _kinds(first: int) -> bytes:
    """Return the kinds of the code points from `first` on."""
    return bytes(kind_of(chr(code)) for code in range(first, first + _PAGE))
