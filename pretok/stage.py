"""Stage: one step of a split, which cuts every piece of the step before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from pretok.behaviors import Behavior, check_behavior
from pretok.errors import DefinitionError
from pretok.rules import Groups, Rule
from pretok.rules.base import MAX_LOOK_AHEAD

MAX_RULES, MAX_STAGES = 255, 16
"""What fits into the serialised form (cpp/core/split/program.cpp)."""


@dataclass(frozen=True)
class Stage:
    r"""Rules, and what becomes of what they match and of what lies between.

    `rules` are tried in order at each position, and the first that matches makes a part. Text
    where none matches is a part of its own, up to where one does. `invert` swaps the two kinds, and
    `behavior` says what becomes of matches, as in Split of Hugging Face's tokenizers (see
    `pretok.behaviors`). `pattern` is the published regex, and `huggingface` the JSON object of the
    pre_tokenizer that splits so, where that is no Split with this pattern. Raises
    DefinitionError.

    >>> from pretok import NUMBER, Run
    >>> Stage((Run(NUMBER, at_most=1),), pattern=r"\\p{N}").drops_text
    False
    """

    rules: tuple[Rule, ...]
    pattern: str = ""
    behavior: Behavior = "isolated"
    invert: bool = False
    huggingface: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        if not 1 <= len(self.rules) <= MAX_RULES:
            raise DefinitionError(
                f"a stage has {len(self.rules) or 'no'} rules; expected 1 to {MAX_RULES}"
            )
        for number, rule in enumerate(self.rules, 1):
            if not isinstance(rule, Rule):
                raise DefinitionError(
                    f"rule {number} of a stage: {rule!r}; expected one of the kinds of rules, such "
                    "as Run or Contraction"
                )
        if sum(isinstance(rule, Groups) for rule in self.rules) > 1:
            raise DefinitionError("a stage has two rules Groups; put one into a stage of its own")
        _require_linear(self.rules)
        check_behavior(self.behavior, "Stage")

    @property
    def drops_text(self) -> bool:
        """Whether parts of the text are dropped."""
        return self.behavior == "removed"

    def stages(self) -> tuple[Stage, ...]:
        """Return the stage itself, as what makes up several stages does."""
        return (self,)


class Stages(Protocol):
    """What can stand among the stages of a Preset: a Stage, or what is made of some.

    One that has `changes_text`, and that true, can only come last.
    """

    def stages(self) -> tuple[Stage, ...]:
        """Return the stages, in order."""
        ...


def flatten_stages(given: Iterable[Stages]) -> tuple[Stage, ...]:
    """Return the stages that `given` are made of.

    Raises DefinitionError for anything else, and where a stage would cut a changed text.
    """
    found: list[Stage] = []
    changing: Stages | None = None
    for item in given:
        if not callable(getattr(item, "stages", None)):
            raise DefinitionError(
                f"stage {len(found) + 1}: {item!r}; expected a Stage, or a block of "
                "pretok.pre_tokenizers"
            )
        if changing is not None:
            raise DefinitionError(
                f"{changing!r} changes the text that {item!r} then cuts, so no stages cut the "
                "text as it is in the same places"
            )
        found += item.stages()
        changing = item if getattr(item, "changes_text", False) else None
    if len(found) > MAX_STAGES:
        raise DefinitionError(f"there are {len(found)} stages; expected {MAX_STAGES} at most")
    _require_linear(rule for stage in found for rule in stage.rules)
    return tuple(found)


def _require_linear(rules: Iterable[Rule]) -> None:
    """Raise DefinitionError if `rules` may read too much at each position of a text."""
    ahead = [(rule.look_ahead, type(rule).__name__) for rule in rules]
    total = sum(each for each, _ in ahead)
    if total > MAX_LOOK_AHEAD:
        most, kind = max(ahead)
        raise DefinitionError(
            f"the rules look {total:,} code points ahead in total, one {kind} alone {most:,}; "
            f"expected {MAX_LOOK_AHEAD:,} at most. Give Literal and Contraction fewer or shorter "
            "texts, or lower at_least"
        )
