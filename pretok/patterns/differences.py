"""Explain why no preset and no rules have a pattern, beside the nearest pattern of a preset."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from heapq import nsmallest
from itertools import groupby, zip_longest
from operator import add
from typing import NamedTuple

from pretok.errors import UnknownPatternError
from pretok.patterns.alternatives import alternatives_of, printable
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError, compile_pattern
from pretok.patterns.lookup import KnownPattern, find, known_patterns, meaning
from pretok.patterns.parser import MAX_PATTERN_LENGTH
from pretok.patterns.words import all_texts
from pretok.preset import Engine

MIN_LIKENESS = 0.7
"""The error shows the nearest pattern only if its likeness (2.01 at most) is above this number."""
MAX_COMPARED_ALTERNATIVES = 256
"""Maximum alternatives of a pattern that the error compares with known patterns."""
MAX_CONSTRUCT = 60
"""Maximum characters of a construct that an error shows."""
MAX_LINES, MAX_WIDTH = 40, 160
"""Maximum lines of a difference, and maximum characters of a line."""
_ELLIPSIS = "..."
ENGINE_NAMES: dict[Engine, str] = {"hf": "Hugging Face tokenizers", "tiktoken": "tiktoken"}


def unknown_pattern(pattern: str, engine: Engine) -> UnknownPatternError:
    """Return an error that shows how `pattern` differs from the nearest known pattern."""
    other: Engine = "tiktoken" if engine == "hf" else "hf"
    message = f"no preset is equivalent to this pattern in {ENGINE_NAMES[engine]}"
    if len(pattern) > MAX_PATTERN_LENGTH:
        message += f": expected at most {MAX_PATTERN_LENGTH:,} characters, got {len(pattern):,}"
        return UnknownPatternError(message, pattern, engine, "", "")
    refusal = "", -1, ""
    try:
        compile_pattern(pattern, engine)
        # So the pattern failed only together with the other stages of a tokenizer.json.
        reason = "it compiles alone, but not together with the other stages"
        refusal = pattern, 0, f"{reason}; use fewer stages or simpler patterns"
    except UnreadablePatternError as error:
        message = f"pretok cannot read this pattern of {ENGINE_NAMES[engine]}: {error}"
    except NotCompiledError as error:
        refusal = error.construct, error.position, error.reason
    construct, position, reason = refusal
    if construct:
        shown = _shortened(printable(construct), max_width=MAX_CONSTRUCT)
        message += f", and it does not compile: {shown} at index {position}: {reason}"
    elsewhere = find(pattern, other)
    known = (elsewhere.name, other, pattern) if elsewhere else _nearest(pattern, engine)
    if known is None:
        return UnknownPatternError(
            f"{message}; no preset has a similar pattern", pattern, engine, "", "", *refusal
        )
    nearest, known_engine, known_pattern = known
    difference = difference_of(known_pattern, known_engine, pattern, engine)
    if elsewhere is None:
        message += f"; the nearest is {nearest!r} (-), which differs from this pattern (+):\n"
    elif difference:
        message += f"; as {ENGINE_NAMES[other]} reads it, it is {nearest!r}:\n"
    else:
        message += (
            f"; in {ENGINE_NAMES[other]} it is {nearest!r}; the engines treat the text that the "
            f"pattern does not match differently: {ENGINE_NAMES['hf']} keeps it, "
            f"{ENGINE_NAMES['tiktoken']} drops it"
        )
    return UnknownPatternError(message + difference, pattern, engine, nearest, difference, *refusal)


def difference_of(known: str, known_engine: Engine, pattern: str, engine: Engine) -> str:
    r"""Return a line-by-line difference of the alternatives of two patterns; "" if all are equal.

    `known_engine` reads `known`, and `engine` reads `pattern`. Lines with "-" are only in `known`,
    lines with "+" only in `pattern`. A caret below a "+" line shows the first difference.
    Equivalent spellings of an alternative count as equal.

    >>> print(difference_of(r"\p{L}+|\p{N}{1,3}|\s+", "hf", r"\p{L}++|\p{N}{1,2}|\s+", "hf"))
      \p{L}++
    - \p{N}{1,3}
    + \p{N}{1,2}
              ^
      \s+
    """
    lines: list[str] = []
    differs = False
    ours, theirs = _units(known, known_engine), _units(pattern, engine)
    # Import difflib only here, for an error: its import takes half as long as importing pretok.
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(
        None, [unit.key for unit in ours], [unit.key for unit in theirs], autojunk=False
    )
    for _, start, end, their_start, their_end in matcher.get_opcodes():
        for old, new in zip_longest(ours[start:end], theirs[their_start:their_end]):
            if old is not None and new is not None and old.key == new.key:
                lines.append(f"  {_shortened(new.text)}")
                continue
            differs = True
            if old is None or new is None:
                units = (("-", old), ("+", new))
                lines += [f"{sign} {_shortened(unit.text)}" for sign, unit in units if unit]
            else:
                lines += _changed(old, known_engine, new, engine)
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [f"  ... and {len(lines) - MAX_LINES + 1:,} more lines"]
    return "\n".join(lines) if differs else ""


class _Unit(NamedTuple):
    """One alternative of a pattern, or a run of adjacent literal alternatives.

    Equivalent units have equal keys. `words` are the texts that literal alternatives match.
    """

    text: str
    key: Hashable
    words: set[str] | None = None


def _units(pattern: str, engine: Engine) -> list[_Unit]:
    """Return the units of `pattern`, in order."""
    alternatives = [(text, _unit(text, engine)) for text in alternatives_of(pattern)]
    units: list[_Unit] = []
    for is_literal, group in groupby(alternatives, lambda each: each[1].words is not None):
        texts, alone = zip(*group, strict=True)
        units += [_unit("|".join(texts), engine)] if is_literal else alone
    return units


def _unit(text: str, engine: Engine) -> _Unit:
    key = meaning(text, engine)
    words = all_texts(key[0]) if isinstance(key, tuple) and len(key) == 1 else None
    return _Unit(printable(text), key, words)


def _changed(old: _Unit, known_engine: Engine, new: _Unit, engine: Engine) -> list[str]:
    """Return the lines that show two different units and the position of the first difference."""
    if old.text == new.text:
        text = _shortened(old.text)
        return [
            f"- {text}  as {ENGINE_NAMES[known_engine]} reads it",
            f"+ {text}  as {ENGINE_NAMES[engine]} reads it",
        ]
    at = _first_difference(old.text, new.text)
    # Shorten both texts at the same column, so the caret is below the first difference.
    start = max(0, at - MAX_WIDTH // 2) if max(len(old.text), len(new.text)) > MAX_WIDTH else 0
    caret = " " * (at - start + len(_ELLIPSIS) * (start > 0))
    return [
        f"- {_shortened(old.text, start)}",
        f"+ {_shortened(new.text, start)}",
        f"  {caret}^",
        *_word_differences(old.words, new.words),
    ]


def _word_differences(old: set[str] | None, new: set[str] | None) -> list[str]:
    if old is None or new is None:
        return []
    return [
        f"  only the {sign} line matches "
        + ", ".join(_shortened(ascii(word), max_width=40) for word in nsmallest(5, words))
        for sign, words in (("-", old - new), ("+", new - old))
        if words
    ]


def _first_difference(old: str, new: str) -> int:
    pairs = zip_longest(old, new)
    return next(at for at, (a, b) in enumerate(pairs) if a != b)


def _shortened(text: str, start: int = 0, max_width: int = MAX_WIDTH) -> str:
    """Return at most `max_width` characters of `text` from `start`, with "..." for omitted text."""
    end = _ELLIPSIS if len(text) > start + max_width else ""
    return f"{_ELLIPSIS * (start > 0)}{text[start : start + max_width]}{end}"


def _nearest(pattern: str, engine: Engine) -> KnownPattern | None:
    """Return the most similar known pattern; None if none is similar enough."""
    parts = _parts(pattern)
    if len(parts[0]) > MAX_COMPARED_ALTERNATIVES:
        return None

    def likeness(known: KnownPattern) -> float:
        _, known_engine, text = known
        # Of equally similar patterns, prefer one that is written for `engine`.
        return sum(map(_similarity, parts, _parts(text))) + 0.01 * (known_engine == engine)

    nearest = max(known_patterns(), key=likeness)
    return nearest if likeness(nearest) > MIN_LIKENESS else None


@lru_cache(maxsize=256)
def _parts(pattern: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the alternatives of `pattern`, and its pairs of adjacent characters."""
    return frozenset(alternatives_of(pattern)), frozenset(map(add, pattern, pattern[1:]))


def _similarity(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the Dice coefficient of two sets, which is 1 for equal sets."""
    return 2 * len(first & second) / max(1, len(first) + len(second))
