r"""Find the preset of a published pattern, and write a preset's pattern for another engine.

No regex is compiled. parser.py parses a pattern by the grammar of its engine, canonical.py reduces
the syntax tree to a canonical form, and this module compares canonical forms. For example,
`\p{N}{1,3}+` matches at most three digits in fancy-regex ("tiktoken"), but any number of digits in
Oniguruma ("hf"). So only in fancy-regex `\p{N}{1,3}+` has the same canonical form as `\p{N}{1,3}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeVar

from pretok.behaviors import Behavior
from pretok.charsets.sets import ANY
from pretok.patterns.ast import Alternatives, EngineSpecific
from pretok.patterns.canonical import canonical
from pretok.patterns.first_sets import matches_everywhere
from pretok.patterns.parser import texts_of
from pretok.preset import Engine, Preset
from pretok.registry import presets, registered
from pretok.rules import Run
from pretok.stage import Stage
from pretok.unicode import DEFAULT_VERSION

WHOLE = Preset(
    "whole",
    rules=(Run(ANY),),
    source="a vocabulary that is trained without a pattern, such as minbpe's BasicTokenizer",
    pattern=r"[\s\S]+",
)
"""The preset that never cuts a text."""

_Match = TypeVar("_Match")


def find(pattern: str, engine: Engine) -> Preset | None:
    r"""Return the preset that splits as `engine` does with `pattern`; None if none is known.

    >>> from pretok.presets import O200K
    >>> find(O200K.pattern, "hf") == O200K
    True
    >>> find(r"\p{N}{1,2}|\s+", "hf") is None
    True
    """
    wanted = _alternatives(pattern, engine)
    return _first(
        preset
        for preset in _known()
        if len(preset.stages) == 1
        and _form_of_stage(preset.stages[0], preset.engine) == wanted
        and _stage_behavior(preset.stages[0], wanted)
        == _simplest(wanted, *PATTERN_BEHAVIORS[engine])
    )


def find_stage(
    pattern: str, engine: Engine, behavior: Behavior = "isolated", invert: bool = False
) -> Stage | None:
    """Return a stage that splits as `engine` does with `pattern`.

    The stage has the rules of a stage of a preset. Returns None if no preset has an equivalent
    pattern.
    """
    wanted = _alternatives(pattern, engine)
    return _first(
        Stage(stage.rules, stage.pattern, *_simplest(wanted, behavior, invert))
        for preset in _known()
        for stage in preset.stages
        if stage.pattern and _form_of_stage(stage, preset.engine) == wanted
    )


def same_split(stages: tuple[Stage, ...]) -> Preset | None:
    """Return the preset whose stages split like `stages`; None if none is known."""
    return _first(
        preset
        for preset in _known()
        if len(preset.stages) == len(stages)
        and all(
            ours.rules == theirs.rules
            and _stage_behavior(ours, _form_of_stage(ours, preset.engine))
            == (theirs.behavior, theirs.invert)
            for ours, theirs in zip(preset.stages, stages, strict=True)
        )
    )


def stages_of_json() -> Iterator[Stage]:
    """Yield the stages of presets that are defined by a pre_tokenizer instead of a pattern."""
    for preset in _known():
        yield from (stage for stage in preset.stages if stage.huggingface and not stage.pattern)


KnownPattern = tuple[str, Engine, str]
"""The name of a preset, its engine, and the pattern of one of its stages."""
_patterns: tuple[tuple[Preset, ...], tuple[KnownPattern, ...]] = (), ()
"""Cache of `known_patterns`: (all presets at the last call, the result for these presets)."""


def known_patterns() -> tuple[KnownPattern, ...]:
    """Return the patterns of all presets that have the default Unicode version."""
    global _patterns
    known = presets()
    if _patterns[0] != known:
        _patterns = (
            known,
            tuple(
                (preset.name, preset.engine, stage.pattern)
                for preset in _of_default_unicode(known)
                for stage in preset.stages
                if stage.pattern
            ),
        )
    return _patterns[1]


def pattern_for(preset: Preset, engine: Engine) -> str | None:
    r"""Return a pattern that gives the split of `preset` in `engine`; None if none is known.

    >>> pattern_for(Preset("tens", (Run(ANY, at_most=2),), engine="tiktoken",
    ...                    pattern=r"[\s\S]{1,2}+"), "hf")
    '[\\s\\S]{1,2}'
    """
    if preset.engine == engine:
        return preset.pattern or None
    written = stage_pattern_for(preset.stages[0], preset.engine, engine)
    if written is None or len(preset.stages) > 1:
        return None
    wanted = _alternatives(written, engine)
    same = _form_of_stage(preset.stages[0], preset.engine) == wanted and _stage_behavior(
        preset.stages[0], wanted
    ) == _simplest(wanted, *PATTERN_BEHAVIORS[engine])
    return written if same else None


def stage_pattern_for(stage: Stage, source_engine: Engine, engine: Engine) -> str | None:
    """Return a pattern that matches in `engine` what `stage.pattern` matches in `source_engine`.

    Returns None if no such pattern is known.
    """
    if source_engine == engine or not stage.pattern:
        return stage.pattern or None
    written = "|".join(map(_drop_possessive, texts_of(stage.pattern)))
    same = _form_of_stage(stage, source_engine) == _alternatives(written, engine)
    return written if same else None


PATTERN_BEHAVIORS: dict[Engine, tuple[Behavior, bool]] = {
    "hf": ("isolated", False),
    "tiktoken": ("removed", True),
}
"""Maps an engine to the (behavior, invert) of a pattern that comes without a behavior.

Hugging Face's tokenizers keeps the text between matches, and tiktoken drops it.
"""


def _known() -> Iterator[Preset]:
    # Search installed packages last, because the search for entry points is slow.
    here = registered()
    yield from _of_default_unicode(here)
    yield from _of_default_unicode(presets()[len(here) :])


def _of_default_unicode(known: tuple[Preset, ...]) -> list[Preset]:
    # Both engines have the default Unicode version, so presets of other versions may split
    # differently.
    return [preset for preset in (*known, WHOLE) if preset.unicode == DEFAULT_VERSION]


def _first(matches: Iterator[_Match]) -> _Match | None:
    return next(matches, None)


def _alternatives(pattern: str, engine: Engine) -> Alternatives:
    """Return the canonical form of `pattern`.

    If the parser rejects `pattern`, return a form that equals no form of another pattern.
    """
    alternatives = canonical(pattern, engine)
    return ((EngineSpecific(engine, pattern),),) if alternatives is None else alternatives


@lru_cache(maxsize=1024)
def _cached_form(pattern: str, engine: Engine) -> Alternatives:
    return _alternatives(pattern, engine)


def _form_of_stage(stage: Stage, engine: Engine) -> Alternatives:
    """Return the cached canonical form of the pattern of a preset's stage."""
    return _cached_form(stage.pattern, engine)


def _simplest(
    alternatives: Alternatives, behavior: Behavior, invert: bool
) -> tuple[Behavior, bool]:
    """Return the simplest (behavior, invert) that gives the same split for `alternatives`."""
    if behavior == "isolated":
        return behavior, False
    # If the matches cover every text, there are no gaps to drop. If the parser rejected the
    # pattern, assume so: its form equals only the form of an identical pattern, for which the
    # assumption is the same.
    has_no_gaps = isinstance(alternatives[0][0], EngineSpecific) or matches_everywhere(alternatives)
    if (behavior, invert) == ("removed", True) and has_no_gaps:
        return "isolated", False
    return behavior, invert


def _stage_behavior(stage: Stage, alternatives: Alternatives) -> tuple[Behavior, bool]:
    return _simplest(alternatives, stage.behavior, stage.invert)


def _drop_possessive(alternative: str) -> str:
    """Return `alternative` without the possessive mark of a counted quantifier at its end.

    Nothing follows the quantifier, so possessive and greedy match alike.
    """
    counts = alternative[alternative.rfind("{") + 1 : -2]
    is_possessive = alternative.endswith("}+") and set(counts) <= set("0123456789,")
    return alternative[:-1] if is_possessive else alternative
