r"""From what a model calls its split to the pre-tokenizer: by pattern, as one engine reads it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from pretok.canonical import canonical
from pretok.errors import UnknownPatternError
from pretok.nodes import Words
from pretok.patterns import find, known_patterns
from pretok.preset import ENGINES, Engine
from pretok.pretokenizer import BackendName, PreTokenizer
from pretok.registry import find as find_preset
from pretok.syntax import UnreadablePatternError, read, texts_of

if TYPE_CHECKING:
    from difflib import SequenceMatcher

NEAR = 0.7
"""What patterns have in common, of 2, from which on showing the difference helps."""
ENGINE_NAMES: dict[Engine, str] = {"hf": "Hugging Face tokenizers", "tiktoken": "tiktoken"}


def from_pattern(
    pattern: str,
    engine: Engine = "hf",
    unicode: str | None = None,
    backend: BackendName | None = None,
) -> PreTokenizer:
    r"""Return the pre-tokenizer that splits as `engine` does with `pattern`.

    `engine` is "hf" (Hugging Face tokenizers, Oniguruma) or "tiktoken" (fancy-regex), which read
    some patterns differently. Recognised are the patterns of all presets and other spellings that
    match the same; `unicode` and `backend` are as in `pretok.get`. Raises UnknownPatternError,
    which shows the nearest known pattern and how this one differs; ValueError for another engine.

    >>> from_pattern(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1}"
    ...              r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+").preset.name
    'qwen2'
    """
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r}; expected one of {ENGINES}")
    if not isinstance(pattern, str):
        raise TypeError(f"expected a pattern as str, got {type(pattern).__name__}")
    preset = find(pattern, engine)
    if preset is None:
        raise unknown_pattern(pattern, engine)
    return PreTokenizer(preset, unicode, backend)


def from_gguf_pre(
    name: str,
    variant: str | None = None,
    unicode: str | None = None,
    backend: BackendName | None = None,
) -> PreTokenizer:
    """Return the pre-tokenizer that a GGUF file names as `tokenizer.ggml.pre`.

    It splits as the model's own tokenizer does; with variant="llama.cpp" as llama.cpp, where that
    differs. `unicode` and `backend` are as in `pretok.get`. Raises UnknownPresetError, with near
    matches.

    >>> from_gguf_pre("llama-bpe").preset.name
    'llama3'
    """
    preset = find_preset(name)
    if variant is not None:
        preset = find_preset(f"{preset.name}@{variant}")
    return PreTokenizer(preset, unicode, backend)


def unknown_pattern(pattern: str, engine: Engine) -> UnknownPatternError:
    """Return the error that says how `pattern` differs from the nearest that is known."""
    other: Engine = "tiktoken" if engine == "hf" else "hf"
    message = f"no preset splits as {ENGINE_NAMES[engine]} does with this pattern"
    try:
        read(pattern, engine)
    except UnreadablePatternError as error:
        message += f", in which {error} is not understood"
    elsewhere = find(pattern, other)
    known = (elsewhere.name, other, pattern) if elsewhere else _nearest(pattern, engine)
    if known is None:
        return UnknownPatternError(f"{message}; none is near", pattern, engine, "", "")
    nearest, known_engine, known_pattern = known
    difference = difference_of(known_pattern, known_engine, pattern, engine)
    if elsewhere is None:
        message += f"; the nearest is {nearest!r} (-), where this one (+) differs:\n"
    elif difference:
        message += f"; as {ENGINE_NAMES[other]} reads it, it is {nearest!r}:\n"
    else:
        message += f"; {nearest!r} keeps text that no alternative matches, which {engine} drops"
    return UnknownPatternError(message + difference, pattern, engine, nearest, difference)


def difference_of(known: str, known_engine: Engine, given: str, engine: Engine) -> str:
    r"""Return the alternatives of two patterns, one a line, and where they differ; "" if nowhere.

    Lines with "-" are only in `known`, with "+" only in `given`; below the latter a caret shows
    the first difference. Alternatives that match the same are one, however they are spelt.

    >>> print(difference_of(r"\p{L}+|\p{N}{1,3}|\s+", "hf", r"\p{L}++|\p{N}{1,2}|\s+", "hf"))
      \p{L}++
    - \p{N}{1,3}
    + \p{N}{1,2}
              ^
      \s+
    """
    ours, theirs = _units(known, known_engine), _units(given, engine)
    matcher = _matcher([key for _, key in ours], [key for _, key in theirs])
    lines = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            lines += [f"  {text}" for text, _ in theirs[c:d]]
            continue
        for old, new in zip_longest(ours[a:b], theirs[c:d]):
            alike = old is not None and new is not None and old[0] == new[0]
            if old is not None:
                lines.append(f"- {old[0]}{f'  as {ENGINE_NAMES[known_engine]} reads it' * alike}")
            if new is not None:
                lines.append(f"+ {new[0]}{f'  as {ENGINE_NAMES[engine]} reads it' * alike}")
            if old is not None and new is not None and not alike:
                lines.append(f"  {' ' * _first_difference(old[0], new[0])}^")
                lines += _words_apart(old[1], new[1])
    return "\n".join(lines) if any(line[0] in "-+" for line in lines) else ""


_Unit = tuple[str, Hashable]
"""The text of an alternative, or of texts to find that follow each other; and what it matches."""


def _units(pattern: str, engine: Engine) -> list[_Unit]:
    found: list[_Unit] = []
    for text in texts_of(pattern):
        key = _key(text, engine)
        if found and _words(key) is not None and _words(found[-1][1]) is not None:
            text = f"{found.pop()[0]}|{text}"
            key = _key(text, engine)
        found.append((text, key))
    return found


def _key(text: str, engine: Engine) -> Hashable:
    found = canonical(text, engine)
    return (text, engine) if found is None else found


def _words(key: object) -> set[str] | None:
    match key:
        case ((Words(texts=texts),),):
            return set(texts)
    return None


def _words_apart(one: object, other: object) -> list[str]:
    ours, theirs = _words(one), _words(other)
    if ours is None or theirs is None:
        return []
    return [
        f"  only {sign} matches {', '.join(map(ascii, sorted(words)[:5]))}"
        for sign, words in (("-", ours - theirs), ("+", theirs - ours))
        if words
    ]


def _first_difference(one: str, other: str) -> int:
    pairs = zip_longest(one, other)
    return next(at for at, (a, b) in enumerate(pairs) if a != b)


def _nearest(pattern: str, engine: Engine) -> tuple[str, Engine, str] | None:
    """Return the most similar of the known patterns; None if none has much in common with it."""
    units = _units(pattern, engine)

    def likeness(known: tuple[str, Engine, str]) -> float:
        _, known_engine, known_pattern = known
        theirs = _units(known_pattern, known_engine)
        same = _matcher([key for _, key in theirs], [key for _, key in units]).ratio()
        text = _matcher(_joined(theirs), _joined(units)).ratio()
        return same + text + (known_engine == engine) / 100

    likest = max(known_patterns(), key=likeness)
    return likest if likeness(likest) > NEAR else None


def _joined(units: list[_Unit]) -> str:
    return "|".join(text for text, _ in units)


def _matcher(one: Sequence[Hashable], other: Sequence[Hashable]) -> SequenceMatcher[Hashable]:
    # It takes as long to import as half of pretok, and only errors need it.
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one, other, autojunk=False)
