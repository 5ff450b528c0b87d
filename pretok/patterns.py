r"""Published patterns as text: which preset one is, and how another engine writes the same split.

Nothing is compiled. A pattern is parted into its alternatives, each is put into one spelling, and
presets are compared by these. An alternative counts only if every construct in it is known to be
read alike by fancy-regex ("tiktoken") and Oniguruma ("hf"): `\p{N}{1,3}+` takes three digits at
most in the first and any number in the second, so there it is no other preset's `\p{N}{1,3}`.
"""

from __future__ import annotations

from pretok.classes import ANY
from pretok.preset import Engine, Preset
from pretok.registry import presets
from pretok.rules import Run
from pretok.unicode import DEFAULT_VERSION

WHOLE = Preset(
    "whole",
    rules=(Run(ANY),),
    source="a vocabulary that is trained without a pattern, such as minbpe's BasicTokenizer",
    pattern=r"[\s\S]+",
)
"""The split that never cuts."""

_CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
_IGNORING_CASE = "(?i:" + "|".join(_CONTRACTIONS) + ")"
_RUN_TO_END = r"\s++$"
"""Each engine reads `$` otherwise, but what stands behind `\\s++` is never a line break."""

# Alternatives that match the same text at the same place as the one that presets are compared by.
_SAME: dict[str, tuple[str, ...]] = {
    "'(?:[sdmt]|ll|ve|re)": _CONTRACTIONS,
    "'(?i:[sdmt]|ll|ve|re)": (_IGNORING_CASE,),
    r" ?[\p{L}]+": (r" ?\p{L}+",),
    r" ?[\p{N}]+": (r" ?\p{N}+",),
    r"\p{N}{1}": (r"\p{N}",),
    r"[^\r\n\p{L}\p{N}]?+\p{L}+": (r"[^\r\n\p{L}\p{N}]?\p{L}+",),
    r" ?[^\s\p{L}\p{N}]++[\r\n]*": (r" ?[^\s\p{L}\p{N}]+[\r\n]*",),
    r"\s*[\r\n]": (r"\s*[\r\n]+",),
}


def find(pattern: str, engine: Engine) -> Preset | None:
    r"""Return the preset that splits as `engine` does with `pattern`; None if no such is known.

    >>> from pretok.presets import O200K
    >>> find(O200K.pattern, "hf") == O200K
    True
    >>> find(r"\p{N}{1,2}|\s+", "hf") is None
    True
    """
    known = [preset for preset in (*presets(), WHOLE) if preset.unicode == DEFAULT_VERSION]
    for preset in known:
        if pattern and preset.engine == engine and preset.pattern == pattern:
            return preset
    wanted = _canonical(pattern, engine)
    if wanted is None:
        return None
    return next(
        (preset for preset in known if _canonical(preset.pattern, preset.engine) == wanted), None
    )


def pattern_for(preset: Preset, engine: Engine) -> str | None:
    r"""Return a pattern that `engine` reads as the split of `preset`; None if none is known.

    >>> pattern_for(Preset("tens", (Run(ANY, at_most=2),), engine="tiktoken",
    ...                    pattern=r"[\s\S]{1,2}+"), "hf")
    '[\\s\\S]{1,2}'
    """
    if preset.engine == engine:
        return preset.pattern or None
    alternatives = _alternatives(preset.pattern)
    if alternatives is None:
        return None
    written = [_unlocked(alternative, preset.engine) for alternative in alternatives]
    return "|".join(written) if all(map(_is_portable, written)) else None


def _canonical(pattern: str, engine: Engine) -> tuple[str, ...] | None:
    """Return the alternatives of `pattern` in the spelling that presets are compared by."""
    alternatives = _alternatives(pattern)
    if alternatives is None:
        return None
    found: list[str] = []
    for given in alternatives:
        alternative = _unlocked(given, engine)
        if not _is_portable(alternative):
            return None
        # Where an alternative ends there is nothing to give back for.
        if alternative != _RUN_TO_END and alternative[-2:] in ("++", "*+", "?+"):
            alternative = alternative[:-1]
        found += _SAME.get(alternative, (alternative,))
    if found[-2:] == [r"\s+(?!\S)", r"\s"]:  # only a single one is left where the first fails
        found[-1] = r"\s+"
    return tuple(found)


def _unlocked(alternative: str, engine: Engine) -> str:
    """Return `alternative` with a counted quantifier at its end not possessive, if it was."""
    locked = engine == "tiktoken" and alternative.endswith("}+")
    if locked and _count_size(alternative[:-1], alternative.rfind("{")):
        return alternative[:-1]
    return alternative


def _alternatives(pattern: str) -> list[str] | None:
    """Return the alternatives of `pattern`, line breaks as escapes; None if it is malformed."""
    parts = [""]
    depth = 0
    in_class = False
    index = 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char == "\\":
            if index == len(pattern) or pattern[index] in "\r\n":
                return None
            char += pattern[index]
            index += 1
        elif char in "\r\n":
            char = repr(char)[1:-1]
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            parts.append("")
            continue
        parts[-1] += char
    well_formed = depth == 0 and not in_class and all(parts)
    return parts if well_formed else None


_ESCAPES = frozenset("rntsS")
_GROUPS = ("(?:", "(?!", "(?=")


def _is_portable(alternative: str) -> bool:
    """Return whether both engines read `alternative` alike; False where that is not known."""
    if alternative == _RUN_TO_END or alternative.startswith("'(?i:[sdmt]|ll|ve|re)"):
        return True
    # Other letters may fold to more than one (ss to U+00DF), which the engines do not agree on.
    rest = alternative.replace(_IGNORING_CASE, "(?:x)")
    index = 0
    while index < len(rest):
        char = rest[index]
        if char == "\\":
            size = _escape_size(rest, index)
        elif char == "[":
            size = _class_size(rest, index)
        elif char == "(":
            size = 3 if rest.startswith(_GROUPS, index) else 0
        elif char == "{":
            size = _count_size(rest, index)
        elif char in "?*+":
            size = 2 if rest[index + 1 : index + 2] in ("?", "+") else 1
            if rest[index + size : index + size + 1] in ("?", "*", "+", "{"):
                size = 0
        else:
            size = 0 if char in "^$.}]#" else 1
        if not size:
            return False
        index += size
    return True


def _escape_size(text: str, at: int) -> int:
    """Return the length of the escape at `at`; 0 if it is not a known one."""
    kind = text[at + 1]
    if kind in "pP":
        end = text.find("}", at)
        name = text[at + 3 : end]
        return end + 1 - at if text[at + 2 : at + 3] == "{" and name.isalpha() else 0
    return 2 if kind in _ESCAPES or (kind.isascii() and not kind.isalnum()) else 0


def _class_size(text: str, at: int) -> int:
    """Return the length of the class at `at`; 0 if it has a class within it, or an operator."""
    index = at + (2 if text.startswith("[^", at) else 1)
    first = index
    while index < len(text):
        char = text[index]
        if char == "]":
            return index + 1 - at if index > first else 0
        if char == "[" or (char in "&-~" and text[index + 1 : index + 2] == char):
            return 0
        size = _escape_size(text, index) if char == "\\" else 1
        if not size:
            return 0
        index += size
    return 0


def _count_size(text: str, at: int) -> int:
    """Return the length of the counted quantifier at `at`; 0 if it has a mark behind it."""
    end = text.find("}", at)
    low, _, high = text[at + 1 : end].partition(",")
    counted = text[at:end].isascii() and low.isdecimal() and (high.isdecimal() or not high)
    marked = text[end + 1 : end + 2] in ("+", "?", "*", "{")
    return end + 1 - at if end > at and counted and not marked else 0
