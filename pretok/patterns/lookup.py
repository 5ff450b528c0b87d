r"""Find the preset of a published pattern, and write a preset's pattern for another engine.

A preset splits as an engine does with a pattern if the preset has this pattern, or if the pattern
compiles to the rules of the preset. No regex is compiled. For example, `\p{N}{1,3}+` matches at
most three digits in fancy-regex ("tiktoken"), but any number of digits in Oniguruma ("hf"). So only
in fancy-regex `\p{N}{1,3}+` compiles to the same rules as `\p{N}{1,3}`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache

from pretok.behaviors import Behavior
from pretok.charsets.sets import ANY
from pretok.patterns.alternatives import alternatives_of
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError, compile_pattern, simplest
from pretok.patterns.parser import read
from pretok.patterns.words import in_one_order
from pretok.preset import ENGINES, Engine, Preset
from pretok.registry import presets, registered
from pretok.rules import Rule, Run
from pretok.stage import Stage
from pretok.unicode import DEFAULT_VERSION

WHOLE = Preset(
    "whole",
    rules=(Run(ANY),),
    source="a vocabulary that is trained without a pattern, such as minbpe's BasicTokenizer",
    pattern=r"[\s\S]+",
)
"""The preset that never cuts a text."""

PATTERN_BEHAVIORS: dict[Engine, tuple[Behavior, bool]] = {
    "hf": ("isolated", False),
    "tiktoken": ("removed", True),
}
"""Maps an engine to the (behavior, invert) of a pattern that comes without a behavior.

Hugging Face's tokenizers keeps the text between matches, and tiktoken drops it.
"""


def find(pattern: str, engine: Engine) -> Preset | None:
    r"""Return the preset that splits as `engine` does with `pattern`; None if none is known.

    >>> from pretok.presets import O200K
    >>> find(O200K.pattern, "hf") == O200K
    True
    >>> find(r"\p{N}{1,2}|\s+", "hf") is None
    True
    """

    def splits_alike(preset: Preset, stage: Stage) -> bool:
        return len(preset.stages) == 1 and _behaves(stage, preset.engine, pattern, engine)

    found = _find(pattern, engine, splits_alike)
    return found[0] if found else None


def find_stage(
    pattern: str, engine: Engine, behavior: Behavior = "isolated", invert: bool = False
) -> Stage | None:
    """Return a stage that splits as `engine` does with `pattern`.

    The stage has the rules of a stage of a preset. Returns None if no preset has an equivalent
    pattern.
    """
    found = _find(pattern, engine, lambda preset, stage: bool(stage.pattern))
    if found is None:
        return None
    return Stage(found[1].rules, pattern, *simplest(pattern, engine, behavior, invert))


def same_split(stages: tuple[Stage, ...]) -> Preset | None:
    """Return the preset whose stages split like `stages`; None if none is known."""
    for known in _known():
        for preset in known:
            if len(preset.stages) == len(stages) and all(
                _same_rules(ours.rules, theirs.rules)
                and simplest(ours.pattern, preset.engine, ours.behavior, ours.invert)
                == (theirs.behavior, theirs.invert)
                for ours, theirs in zip(preset.stages, stages, strict=True)
            ):
                return preset
    return None


def stages_of_json() -> Iterator[Stage]:
    """Yield the stages of presets that are defined by a pre_tokenizer instead of a pattern."""
    for known in _known():
        for preset in known:
            yield from (stage for stage in preset.stages if stage.huggingface and not stage.pattern)


def meaning(pattern: str, engine: Engine) -> Hashable:
    """Return a value that is equal for two patterns only if they match alike.

    The value is the rules of `pattern`, with texts in one order. If `pattern` does not compile, the
    value is the syntax tree; if `engine` cannot read `pattern`, it is (`pattern`, `engine`).
    """
    try:
        return tuple(map(in_one_order, compile_pattern(pattern, engine)))
    except NotCompiledError:
        return read(pattern, engine)
    except UnreadablePatternError:
        return pattern, engine


KnownPattern = tuple[str, Engine, str]
"""The name of a preset, its engine, and the pattern of one of its stages."""


def known_patterns() -> tuple[KnownPattern, ...]:
    """Return the patterns of all presets that have the default Unicode version."""
    return tuple(
        (preset.name, preset.engine, stage.pattern)
        for preset in (*_of_default_unicode(presets()), WHOLE)
        for stage in preset.stages
        if stage.pattern
    )


def pattern_for(preset: Preset, engine: Engine) -> str | None:
    r"""Return a pattern that gives the split of `preset` in `engine`; None if none is known.

    >>> pattern_for(Preset("tens", (Run(ANY, at_most=2),), engine="tiktoken",
    ...                    pattern=r"[\s\S]{1,2}+"), "hf")
    '[\\s\\S]{1,2}'
    """
    if preset.engine == engine or not preset.pattern:
        return preset.pattern or None
    stage = preset.stages[0]
    written = stage_pattern_for(stage, preset.engine, engine)
    if written is None or not _behaves(stage, preset.engine, written, engine):
        return None
    return written


def stage_pattern_for(stage: Stage, source_engine: Engine, engine: Engine) -> str | None:
    """Return a pattern that matches in `engine` what `stage.pattern` matches in `source_engine`.

    Returns None if no such pattern is known.
    """
    if source_engine == engine or not stage.pattern:
        return stage.pattern or None
    text = stage.pattern.replace("\r", "\\r").replace("\n", "\\n")
    written = "|".join(map(_drop_possessive, alternatives_of(text)))
    if _is_text_of(stage, source_engine, written, engine):
        return written
    return written if _same_rules(stage.rules, _rules_of(written, engine)) else None


def _find(
    pattern: str, engine: Engine, accepts: Callable[[Preset, Stage], bool]
) -> tuple[Preset, Stage] | None:
    """Return the first stage that matches what `engine` matches with `pattern`, and its preset.

    `accepts` says whether the stage of a preset may be the result.
    """
    for known in _known():
        stages = [(preset, stage) for preset in known for stage in preset.stages]
        for preset, stage in stages:  # Comparing texts is fast, so compile only unknown texts.
            if _is_text_of(stage, preset.engine, pattern, engine) and accepts(preset, stage):
                return preset, stage
        rules = _rules_of(pattern, engine)
        for preset, stage in stages:
            if _same_rules(stage.rules, rules) and accepts(preset, stage):
                return preset, stage
    return None


def _known() -> Iterator[list[Preset]]:
    # Search installed packages last, because the search for entry points is slow.
    here = registered()
    yield [*_of_default_unicode(here), WHOLE]
    yield _of_default_unicode(presets()[len(here) :])


def _of_default_unicode(known: tuple[Preset, ...]) -> list[Preset]:
    # Both engines have the default Unicode version, so presets of other versions may split
    # differently.
    return [preset for preset in known if preset.unicode == DEFAULT_VERSION]


def _is_text_of(stage: Stage, source_engine: Engine, pattern: str, engine: Engine) -> bool:
    """Return whether `stage` has this pattern, and `engine` reads it as `source_engine` does."""
    return stage.pattern == pattern and (source_engine == engine or _is_read_alike(pattern))


@lru_cache(maxsize=64)
def _is_read_alike(pattern: str) -> bool:
    """Return whether `pattern` has the same meaning in each engine."""
    try:
        first, *others = (read(pattern, engine) for engine in ENGINES)
    except UnreadablePatternError:
        return False
    return all(other == first for other in others)


def _rules_of(pattern: str, engine: Engine) -> tuple[Rule, ...]:
    """Return the rules of `pattern`; () if `pattern` does not compile."""
    try:
        return compile_pattern(pattern, engine)
    except (NotCompiledError, UnreadablePatternError):
        return ()


def _same_rules(ours: tuple[Rule, ...], theirs: tuple[Rule, ...]) -> bool:
    """Return whether the rules match alike; texts of one rule may be in a different order."""
    return len(ours) == len(theirs) and all(
        one == other or in_one_order(one) == in_one_order(other)
        for one, other in zip(ours, theirs, strict=True)
    )


def _behaves(stage: Stage, source_engine: Engine, pattern: str, engine: Engine) -> bool:
    """Return whether `stage`, which has the matches of `pattern`, treats gaps as `engine` does."""
    ours, wanted = (stage.behavior, stage.invert), PATTERN_BEHAVIORS[engine]
    if ours == wanted or simplest(pattern, engine, *ours) == simplest(pattern, engine, *wanted):
        return True
    # Nothing says whether a pattern that does not compile has gaps, so trust its preset.
    is_own = source_engine == engine and stage.pattern == pattern
    return is_own and not _rules_of(pattern, engine)


def _drop_possessive(alternative: str) -> str:
    """Return `alternative` without the possessive mark of a counted quantifier at its end.

    Nothing follows the quantifier, so possessive and greedy match alike.
    """
    counts = alternative[alternative.rfind("{") + 1 : -2]
    is_possessive = alternative.endswith("}+") and set(counts) <= set("0123456789,")
    return alternative[:-1] if is_possessive else alternative
