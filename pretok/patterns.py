r"""Published patterns as text: which preset one is, and how another engine writes the same split.

Nothing is compiled. A pattern is read as its engine does (pretok.syntax), put into one form
(pretok.canonical), and presets are compared by these: `\p{N}{1,3}+` takes three digits at most in
fancy-regex ("tiktoken") and any number in Oniguruma ("hf"), so there it is no other preset's
`\p{N}{1,3}`.
"""

from __future__ import annotations

from pretok.canonical import canonical, covers
from pretok.classes import ANY
from pretok.preset import Engine, Preset
from pretok.registry import presets, registered
from pretok.rules import Run
from pretok.syntax import Alternatives, texts_of
from pretok.unicode import DEFAULT_VERSION

WHOLE = Preset(
    "whole",
    rules=(Run(ANY),),
    source="a vocabulary that is trained without a pattern, such as minbpe's BasicTokenizer",
    pattern=r"[\s\S]+",
)
"""The split that never cuts."""


def find(pattern: str, engine: Engine) -> Preset | None:
    r"""Return the preset that splits as `engine` does with `pattern`; None if no such is known.

    >>> from pretok.presets import O200K
    >>> find(O200K.pattern, "hf") == O200K
    True
    >>> find(r"\p{N}{1,2}|\s+", "hf") is None
    True
    """
    # Installed packages are looked for only where no other preset is it.
    for known in (registered, presets):
        found = _find(pattern, engine, _of_engines(known()))
        if found is not None:
            return found
    return None


def _find(pattern: str, engine: Engine, known: list[Preset]) -> Preset | None:
    for preset in known:
        if pattern and preset.engine == engine and preset.pattern == pattern:
            return preset
    wanted = _split(pattern, engine)
    if wanted is None:
        return None
    return next(
        (preset for preset in known if _split(preset.pattern, preset.engine) == wanted), None
    )


def known_patterns() -> list[Preset]:
    """Return the presets that a pattern can be."""
    return _of_engines(presets())


def _of_engines(known: tuple[Preset, ...]) -> list[Preset]:
    # No engine splits by another Unicode version.
    return [preset for preset in (*known, WHOLE) if preset.unicode == DEFAULT_VERSION]


def pattern_for(preset: Preset, engine: Engine) -> str | None:
    r"""Return a pattern that `engine` reads as the split of `preset`; None if none is known.

    >>> pattern_for(Preset("tens", (Run(ANY, at_most=2),), engine="tiktoken",
    ...                    pattern=r"[\s\S]{1,2}+"), "hf")
    '[\\s\\S]{1,2}'
    """
    if preset.engine == engine:
        return preset.pattern or None
    meant = _split(preset.pattern, preset.engine)
    written = "|".join(map(_unlocked, texts_of(preset.pattern)))
    return written if meant is not None and meant == _split(written, engine) else None


def _unlocked(alternative: str) -> str:
    """Return `alternative` with a counted quantifier at its end not possessive, if it was."""
    counts = alternative[alternative.rfind("{") + 1 : -2]
    locked = alternative.endswith("}+") and set(counts) <= set("0123456789,")
    return alternative[:-1] if locked else alternative


def _split(pattern: str, engine: Engine) -> tuple[Alternatives, bool] | None:
    """Return the one form of `pattern`, and whether text that it does not match may be dropped."""
    alternatives = canonical(pattern, engine)
    if alternatives is None:
        return None
    return alternatives, engine == "tiktoken" and not covers(alternatives)
