"""Recognize pre-tokenizers by a published pattern or a GGUF name, and explain unknown patterns."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from heapq import nsmallest
from itertools import zip_longest

from pretok.errors import UnknownPatternError, shortened
from pretok.machine.backend import BackendName
from pretok.patterns.ast import LiteralSet
from pretok.patterns.canonical import Part, canonical, joined, parts_of
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError, compile_pattern, compile_stage, name_of
from pretok.patterns.likeness import Likeness, aligned
from pretok.patterns.lookup import PATTERN_BEHAVIORS, KnownPattern, find, known_patterns, same_split
from pretok.patterns.parser import (
    MAX_PATTERN_LENGTH,
    alternatives_of,
    printable,
    read,
)
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import ENGINES, Engine, Preset
from pretok.registry import find as find_preset

MIN_SIMILARITY = 0.7
"""The error shows the nearest pattern only if its likeness (2 at most) is above this number."""
MAX_COMPARED_ALTERNATIVES = 256
"""Maximum alternatives of a pattern that the error compares with known patterns."""
MAX_CONSTRUCT = 60
"""Maximum characters of a construct that an error shows."""
MAX_LINES, MAX_WIDTH = 40, 160
"""Maximum lines of a difference, and maximum characters of a line."""
Texts = frozenset[str] | tuple[str, ...]
_ELLIPSIS = "..."
ENGINE_NAMES: dict[Engine, str] = {"hf": "Hugging Face tokenizers", "tiktoken": "tiktoken"}


def from_pattern(
    pattern: str,
    engine: Engine = "hf",
    unicode: str | None = None,
    backend: BackendName | None = None,
) -> PreTokenizer:
    r"""Return the pre-tokenizer that splits as `engine` does with `pattern`.

    `engine` is "hf" (Hugging Face tokenizers, Oniguruma) or "tiktoken" (fancy-regex); the two
    engines match some patterns differently. If a preset is known to have the same split, the result
    has this preset. Otherwise the pattern is compiled to the rules of a new preset. `unicode` and
    `backend` are as in `pretok.get`.

    Raises UnknownPatternError if no preset and no rules have exactly the same split. The error has
    the construct that does not compile, its position, the reason, and the nearest known pattern. A
    pattern of more than 8,192 characters raises this error, unless it is the pattern of a preset.
    Raises ValueError for an unknown engine.

    >>> from_pattern(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1}"
    ...              r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+").preset.name
    'qwen2'
    >>> from_pattern(r"\p{L}+|\d+|.").split("ab12 c")
    ['ab', '12', ' ', 'c']
    """
    if engine not in ENGINES:
        raise ValueError(f"engine={shortened(engine)}; expected one of {ENGINES}")
    if not isinstance(pattern, str):
        raise TypeError(f"expected a pattern as str, got {type(pattern).__name__}")
    preset = find(pattern, engine) or _compiled(pattern, engine)
    if preset is None:
        raise unknown_pattern(pattern, engine)
    return PreTokenizer(preset, unicode, backend)


def _compiled(pattern: str, engine: Engine) -> Preset | None:
    """Return the preset with the rules of `pattern`; None if `pattern` does not compile."""
    try:
        stage = compile_stage(pattern, engine, *PATTERN_BEHAVIORS[engine])
    except (NotCompiledError, UnreadablePatternError):
        return None
    known = same_split((stage,))
    name = name_of(pattern, engine)
    return known or Preset(name, stages=[stage], engine=engine, source="compiled from its pattern")


def from_gguf_pre(
    name: str,
    variant: str | None = None,
    unicode: str | None = None,
    backend: BackendName | None = None,
) -> PreTokenizer:
    """Return the pre-tokenizer that a GGUF file names as `tokenizer.ggml.pre`.

    The pre-tokenizer splits as the original tokenizer of the model does. If llama.cpp splits
    differently, variant="llama.cpp" selects the split of llama.cpp. `unicode` and `backend` are as
    in `pretok.get`. Raises UnknownPresetError, which lists similar names, if no preset has the
    name, or if it has no such variant.

    >>> from_gguf_pre("llama-bpe").preset.name
    'llama3'
    """
    preset = find_preset(name)
    if variant is not None and not isinstance(variant, str):
        raise TypeError(f"expected a variant as str, got {type(variant).__name__}")
    if variant is not None:
        preset = find_preset(f"{preset.name}@{variant}")
    return PreTokenizer(preset, unicode, backend)


def unknown_pattern(pattern: str, engine: Engine) -> UnknownPatternError:
    """Return an error that shows how `pattern` differs from the nearest known pattern."""
    other: Engine = "tiktoken" if engine == "hf" else "hf"
    message = f"no preset is equivalent to this pattern in {ENGINE_NAMES[engine]}"
    if len(pattern) > MAX_PATTERN_LENGTH:
        message += f": expected at most {MAX_PATTERN_LENGTH:,} characters, got {len(pattern):,}"
        return UnknownPatternError(message, pattern, engine, "", "")
    refusal: tuple[str, int, str] = "", -1, ""
    if canonical(pattern, engine) is None:
        message = (
            f"pretok cannot read this pattern of {ENGINE_NAMES[engine]}: "
            f"{_parser_error(pattern, engine)}"
        )
    else:
        refusal = _why_not_compiled(pattern, engine)
        construct, position, reason = refusal
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


def _parser_error(pattern: str, engine: Engine) -> str:
    try:
        read(pattern, engine)
    except UnreadablePatternError as error:
        return str(error)
    raise AssertionError("a readable pattern has a canonical form")


def _why_not_compiled(pattern: str, engine: Engine) -> tuple[str, int, str]:
    """Return the construct of `pattern` that no rules match, its position, and the reason."""
    try:
        compile_pattern(pattern, engine)
    except NotCompiledError as error:
        return error.construct, error.position, error.reason
    # The pattern alone compiles. So it failed only together with the other stages of a
    # tokenizer.json.
    reason = "it compiles alone, but not together with the other stages"
    return pattern, 0, f"{reason}; use fewer stages or simpler patterns"


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
    pairs = aligned(_units(known, known_engine), _units(pattern, engine), key=_key)
    for old, new in pairs:
        if old is not None and new is not None and _key(old) == _key(new):
            lines.append(f"  {_shortened(new[0])}")
            continue
        differs = True
        if old is None or new is None:
            lines += [
                f"{sign} {_shortened(unit[0])}" for sign, unit in (("-", old), ("+", new)) if unit
            ]
        else:
            lines += _changed(old, known_engine, new, engine)
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [f"  ... and {len(lines) - MAX_LINES + 1:,} more lines"]
    return "\n".join(lines) if differs else ""


_Unit = tuple[str, Hashable]
"""(text, key) of one alternative, or of a run of adjacent literal alternatives.

Equivalent units have equal keys.
"""


def _units(pattern: str, engine: Engine) -> list[_Unit]:
    """Return the units of `pattern` in order; adjacent literal alternatives are one unit."""
    units: list[_Unit] = []
    run: list[Part] = []

    def end_run() -> None:
        if run:
            units.append(("|".join(printable(part.text) for part in run), joined(run)))
            run.clear()

    for part in parts_of(pattern, engine):
        if _words(part.form) is not None:
            run.append(part)
            continue
        end_run()
        key = (part.text, engine) if part.sequences is None else part.form
        units.append((printable(part.text), key))
    end_run()
    return units


def _changed(old: _Unit, known_engine: Engine, new: _Unit, engine: Engine) -> list[str]:
    """Return the lines that show two different units and the position of the first difference."""
    if old[0] == new[0]:
        text = _shortened(old[0])
        return [
            f"- {text}  as {ENGINE_NAMES[known_engine]} reads it",
            f"+ {text}  as {ENGINE_NAMES[engine]} reads it",
        ]
    at = _first_difference(old[0], new[0])
    # Shorten both texts at the same column, so the caret is below the first difference.
    start = max(0, at - MAX_WIDTH // 2) if max(len(old[0]), len(new[0])) > MAX_WIDTH else 0
    caret = " " * (at - start + len(_ELLIPSIS) * (start > 0))
    return [
        f"- {_shortened(old[0], start)}",
        f"+ {_shortened(new[0], start)}",
        f"  {caret}^",
        *_word_differences(old[1], new[1]),
    ]


def _key(unit: _Unit) -> Hashable:
    return unit[1]


def _word_differences(old: object, new: object) -> list[str]:
    old_words, new_words = _words(old), _words(new)
    if old_words is None or new_words is None:
        return []
    return [
        f"  only the {sign} line matches {', '.join(_examples(words))}"
        for sign, words in (
            ("-", {*old_words} - {*new_words}),
            ("+", {*new_words} - {*old_words}),
        )
        if words
    ]


def _examples(words: set[str]) -> list[str]:
    return [_shortened(ascii(word), max_width=40) for word in nsmallest(5, words)]


def _words(key: object) -> Texts | None:
    """Return the texts that an alternative matches; None if the alternative is not a LiteralSet."""
    match key:
        case ((LiteralSet(texts=texts),),):
            return texts
    return None


def _first_difference(old: str, new: str) -> int:
    pairs = zip_longest(old, new)
    return next(at for at, (a, b) in enumerate(pairs) if a != b)


def _shortened(text: str, start: int = 0, max_width: int = MAX_WIDTH) -> str:
    """Return at most `max_width` characters of `text` from `start`, with "..." for omitted text."""
    end = _ELLIPSIS if len(text) > start + max_width else ""
    return f"{_ELLIPSIS * (start > 0)}{text[start : start + max_width]}{end}"


def _nearest(pattern: str, engine: Engine) -> KnownPattern | None:
    """Return the most similar known pattern; None if none is similar enough."""
    if len(alternatives_of(pattern)) > MAX_COMPARED_ALTERNATIVES:
        return None
    units = _units(pattern, engine)
    known = known_patterns()
    likeness = _likeness(known).of(map(_key, units), _text_of(units))
    # Of equally similar patterns, prefer one that is written for `engine`.
    likeness += [0.01 if known_engine == engine else 0 for _, known_engine, _ in known]
    most_similar = int(likeness.argmax())
    return known[most_similar] if likeness[most_similar] > MIN_SIMILARITY else None


@lru_cache(maxsize=1)
def _likeness(known: tuple[KnownPattern, ...]) -> Likeness:
    units = [_units(pattern, engine) for _, engine, pattern in known]
    return Likeness((list(map(_key, each)), _text_of(each)) for each in units)


def _text_of(units: list[_Unit]) -> str:
    return "|".join(text for text, _ in units)
