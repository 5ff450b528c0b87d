"""Define Preset, a named split and its provenance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from pretok.errors import DefinitionError, quoted
from pretok.rules import Rule
from pretok.stage import Stage, Stages, flatten_stages
from pretok.unicode import DEFAULT_VERSION, check_version

Engine = Literal["hf", "tiktoken"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
Exactness = Literal["tested", "approximate", "unknown"]
EXACTNESSES: tuple[Exactness, ...] = get_args(Exactness)


@dataclass(frozen=True, init=False)
class Preset:
    r"""A named split: a pattern, its regex dialect and Unicode version, and the equivalent stages.

    For a preset of one stage, pass `rules` and the equivalent `pattern`. Otherwise pass `stages`:
    each item is a Stage or a block of `pretok.pre_tokenizers`. Each stage splits every piece from
    the previous stage as if the piece were a whole text. `engine` is the regex dialect of the
    patterns: "hf" for Oniguruma in Hugging Face's tokenizers, "tiktoken" for fancy-regex. `unicode`
    is the Unicode version that this engine uses. `source` says where the pattern was published.

    `exactness` is "tested" if tests compare the split of the stages with the split of the engine.
    `exactness` is "approximate" if no stages can express the original split; then `source` says how
    the splits differ. `exactness` is "unknown" if the original split is not known. Raises
    DefinitionError for an invalid argument, and UnknownUnicodeVersionError if pretok has no table
    of `unicode`.

    >>> from pretok import Run
    >>> from pretok.charsets import LETTER
    >>> Preset("letters", rules=(Run(LETTER),), pattern=r"\p{L}+").name
    'letters'
    """

    name: str
    stages: tuple[Stage, ...]
    aliases: tuple[str, ...]
    engine: Engine
    source: str
    unicode: str
    exactness: Exactness

    def __init__(
        self,
        name: str,
        rules: Iterable[Rule] = (),
        aliases: Iterable[str] = (),
        engine: Engine = "hf",
        source: str = "",
        pattern: str = "",
        unicode: str = DEFAULT_VERSION,
        *,
        stages: Iterable[Stages] = (),
        exactness: Exactness = "tested",
    ) -> None:
        rules, aliases, stages = tuple(rules), tuple(aliases), tuple(stages)
        for text in (name, *aliases):
            if not isinstance(text, str) or text.split() != [text]:
                raise DefinitionError(f"preset name {text!r}; expected text without white space")
        if bool(rules) == bool(stages):
            problem = "both rules and stages" if rules else "no rules"
            raise DefinitionError(f"preset {name!r} has {problem}; expected either rules or stages")
        if stages and pattern:
            raise DefinitionError(
                f"preset {name!r}: pass pattern or stages, not both; each Stage has its own pattern"
            )
        try:
            flattened = flatten_stages(stages) if stages else (Stage(rules, pattern),)
        except DefinitionError as error:
            raise DefinitionError(f"preset {name!r}: {error}") from None
        _one_of(name, "engine", engine, ENGINES)
        _one_of(name, "exactness", exactness, EXACTNESSES)
        for field, value in (
            ("name", name),
            ("stages", flattened),
            ("aliases", aliases),
            ("engine", engine),
            ("source", source),
            ("unicode", check_version(unicode)),
            ("exactness", exactness),
        ):
            object.__setattr__(self, field, value)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of all stages, in order."""
        return tuple(rule for stage in self.stages for rule in stage.rules)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The pattern of each stage."""
        return tuple(stage.pattern for stage in self.stages)

    @property
    def pattern(self) -> str:
        """The pattern of the only stage; "" if the preset has several stages."""
        return self.stages[0].pattern if len(self.stages) == 1 else ""

    @property
    def drops_text(self) -> bool:
        """True if a stage drops parts of the text."""
        return any(stage.drops_text for stage in self.stages)


def _one_of(name: str, field: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        expected = f"expected one of {quoted(known)}"
        raise DefinitionError(f"preset {name!r}: {field} {value!r}; {expected}")
