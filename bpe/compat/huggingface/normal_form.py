"""Find the origins of code points in NFC as tokenizers does, which counts instead of tracing.

A normalized code point takes over as many code points of the source, in order, as were decomposed
into its parts. Its origin is the first of them, or the one before if there are none.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import unicodedata2

from bpe.compat.huggingface.errors import CallFallbackError
from bpe.compat.huggingface.rows import Span
from bpe.encoding.normalize import _joins, left_alone, normalize


class _Char(NamedTuple):
    """A code point, and the number of source code points that it takes over."""

    char: str
    sources: int


def origins(text: str) -> tuple[str, list[Span]]:
    """Return `text` in NFC, and the span in `text` of each code point of the result.

    >>> origins("e\u0301x")
    ('éx', [(0, 1), (2, 3)])
    """
    spans: list[Span] = []
    parts: list[str] = []
    bounds = [at for at, char in enumerate(text) if at == 0 or not _joins(char)]
    for start, end in pairwise([*bounds, len(text)]):
        part = text[start:end]
        normal = normalize(part)
        parts.append(normal)
        if normal == part:
            spans += [(at, at + 1) for at in range(start, end)]
            continue
        chars = _composed(part)
        if "".join(char.char for char in chars) != normal:
            raise CallFallbackError("a text whose NFC has no known origins")
        at = start
        for _, count in chars:
            origin = at if count else max(at - 1, start)
            spans.append((origin, origin + 1))
            at += count
    return "".join(parts), spans


def _composed(text: str) -> list[_Char]:
    result: list[_Char] = []
    run: list[_Char] = []
    for char in text:
        if char in left_alone():
            result += _recomposed(_ordered(run))
            result.append(_Char(char, 1))
            run = []
        else:
            first, *rest = unicodedata2.normalize("NFD", char)
            run.append(_Char(first, 1))
            run += [_Char(other, 0) for other in rest]
    return result + _recomposed(_ordered(run))


def _ordered(chars: list[_Char]) -> list[_Char]:
    """Return the canonical order of decomposed code points."""
    result: list[_Char] = []
    marks: list[_Char] = []
    for char in chars:
        if unicodedata2.combining(char.char):
            marks.append(char)
            continue
        result += sorted(marks, key=_class)
        marks = []
        result.append(char)
    return result + sorted(marks, key=_class)


def _recomposed(chars: list[_Char]) -> list[_Char]:
    """Compose each starter with the marks that nothing blocks."""
    result: list[_Char] = []
    starter: _Char | None = None
    marks: list[_Char] = []
    for char in chars:
        own_class = _class(char)
        if starter is None:
            if own_class:
                result.append(char)
            else:
                starter = char
            continue
        if not marks or _class(marks[-1]) < own_class:
            composed = unicodedata2.normalize("NFC", starter.char + char.char)
            if len(composed) == 1:
                starter = _Char(composed, starter.sources + char.sources)
                continue
        if own_class:
            marks.append(char)
        else:
            result += [starter, *marks]
            starter, marks = char, []
    return result if starter is None else [*result, starter, *marks]


def _class(char: _Char) -> int:
    number: int = unicodedata2.combining(char.char)
    return number
