"""Preset: a named split, with where it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from pretok.errors import DefinitionError
from pretok.rules import Rule
from pretok.stage import Stage, Stages, flatten_stages
from pretok.unicode import DEFAULT_VERSION, check_version

Engine = Literal["hf", "tiktoken"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
Exactness = Literal["tested", "approximate", "unknown"]
EXACTNESSES: tuple[Exactness, ...] = get_args(Exactness)


@dataclass(frozen=True, init=False)
class Preset:
    r"""A split by name: (pattern, engine dialect, Unicode version) and the stages that equal them.

    Either `rules`, with their `pattern`, are the one stage there is; or `stages` are given, each a
    Stage or a block of `pretok.pre_tokenizers`, and each cuts every piece of the one before,
    seeing it as a whole text. `engine` is the engine whose reading of the patterns the rules follow
    ("hf" for tokenizers' Oniguruma, "tiktoken" for fancy-regex), `unicode` the version that it
    implements, `source` says where the pattern was published. `exactness` is "unknown" where the
    original could not be established, and "approximate" where no stages can express it, which
    `source` then says. Raises DefinitionError, or UnknownUnicodeVersionError.

    >>> from pretok import LETTER, Run
    >>> Preset("letters", rules=(Run(LETTER),), pattern=r"\\p{L}+").name
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
        for each in (name, *aliases):
            if not isinstance(each, str) or each.split() != [each]:
                raise DefinitionError(f"preset name {each!r}; expected text without white space")
        if bool(rules) == bool(stages):
            given = "both rules and stages" if rules else "no rules"
            raise DefinitionError(f"preset {name!r} has {given}; expected rules, or else stages")
        if stages and pattern:
            raise DefinitionError(
                f"preset {name!r}: a pattern beside stages; each Stage has its own pattern"
            )
        try:
            made = flatten_stages(stages) if stages else (Stage(rules, pattern),)
        except DefinitionError as error:
            raise DefinitionError(f"preset {name!r}: {error}") from None
        _one_of(name, "engine", engine, ENGINES)
        _one_of(name, "exactness", exactness, EXACTNESSES)
        for field, value in (
            ("name", name),
            ("stages", made),
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
        """The pattern of the only stage; empty if there are several."""
        return self.stages[0].pattern if len(self.stages) == 1 else ""

    @property
    def drops_text(self) -> bool:
        """Whether parts of the text are dropped."""
        return any(stage.drops_text for stage in self.stages)


def _one_of(name: str, field: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise DefinitionError(f"preset {name!r}: {field} {value!r}; expected one of {known}")
