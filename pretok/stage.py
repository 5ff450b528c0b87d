"""Define Stage, one step of a split; a stage splits each piece that the previous stage yields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from pretok.behaviors import Behavior, check_behavior
from pretok.errors import DefinitionError
from pretok.rules import Groups, Rule, Spaces
from pretok.rules.base import MAX_LOOK_AHEAD

MAX_RULES, MAX_STAGES = 255, 16
"""Maximum rules of a stage and maximum stages of a preset, as in cpp/core/split/program.cpp."""


@dataclass(frozen=True)
class Stage:
    r"""An ordered list of rules, and the behavior applied to their matches.

    The text is searched from left to right. At each position, the first rule of `rules` that
    matches produces a part, and the search goes on at the end of the part. Text that no rule
    matches is a gap, which is also a part. `invert` swaps matches and gaps. `behavior` joins, keeps
    or drops matches as in Split of Hugging Face's tokenizers (see `pretok.behaviors`). `pattern` is
    the published regex. `huggingface` is the equivalent pre_tokenizer of a tokenizer.json, as JSON
    text. It is "" if a Split by `pattern` is equivalent to the stage.

    Raises DefinitionError for an unknown behavior, for items that are not rules, and for rules that
    cannot share a stage: no rules or too many, two Groups rules, Spaces rules with different sets,
    or too much look-ahead in total.

    >>> from pretok import Run
    >>> from pretok.charsets import NUMBER
    >>> Stage((Run(NUMBER, at_most=1),), pattern=r"\p{N}").drops_text
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
                    f"rule {number} of a stage: {rule!r}; expected a rule, such as Run or "
                    "Contraction"
                )
        if sum(isinstance(rule, Groups) for rule in self.rules) > 1:
            raise DefinitionError(
                "a stage may have at most one Groups rule; put each further Groups rule into a "
                "separate stage"
            )
        spaces = {(rule.space, rule.newline) for rule in self.rules if isinstance(rule, Spaces)}
        if len(spaces) > 1:
            raise DefinitionError(
                "the Spaces rules of a stage must have the same space and newline; use Run for "
                "other sets, or move the rules to stages of their own"
            )
        _check_look_ahead(self.rules)
        check_behavior(self.behavior, "Stage")

    @property
    def drops_text(self) -> bool:
        """True if the stage drops parts of the text."""
        return self.behavior == "removed"

    def stages(self) -> tuple[Stage, ...]:
        """Return a tuple of only this stage, as the protocol `Stages` requires."""
        return (self,)


class Stages(Protocol):
    """An item of the `stages` of a Preset: a Stage, or a block that consists of stages.

    An item whose attribute `changes_text` is true must come last. Stages only split, so a later
    stage would get the text without the changes.
    """

    def stages(self) -> tuple[Stage, ...]:
        """Return the stages, in order."""
        ...


def flatten_stages(items: Iterable[Stages]) -> tuple[Stage, ...]:
    """Return the stages of all `items`, in order.

    Raises DefinitionError for an item that has no stages, for more than MAX_STAGES stages, for an
    item after one that changes the text, and for too much look-ahead in total.
    """
    stages: list[Stage] = []
    changing: Stages | None = None
    for item in items:
        if not callable(getattr(item, "stages", None)):
            raise DefinitionError(
                f"stage {len(stages) + 1}: {item!r}; expected a Stage, or a block of "
                "pretok.pre_tokenizers"
            )
        if changing is not None:
            raise DefinitionError(
                f"{item!r} comes after {changing!r}, which changes the text; an item that changes "
                "the text must be the last one"
            )
        stages += item.stages()
        changing = item if getattr(item, "changes_text", False) else None
    if len(stages) > MAX_STAGES:
        raise DefinitionError(f"there are {len(stages)} stages; expected {MAX_STAGES} at most")
    _check_look_ahead(rule for stage in stages for rule in stage.rules)
    return tuple(stages)


def _check_look_ahead(rules: Iterable[Rule]) -> None:
    """Raise DefinitionError if the total look-ahead of `rules` exceeds MAX_LOOK_AHEAD.

    The look-ahead is the number of code points that the rules read at a position before all of them
    fail. The rules read these code points again at the next position, so the limit bounds the time
    per code point.
    """
    look_aheads = [(rule.look_ahead, type(rule).__name__) for rule in rules]
    total = sum(size for size, _ in look_aheads)
    if total > MAX_LOOK_AHEAD:
        largest, kind = max(look_aheads)
        raise DefinitionError(
            f"the rules look {total:,} code points ahead in total; expected {MAX_LOOK_AHEAD:,} at "
            f"most. The largest look-ahead is that of a {kind}, {largest:,}: give Literal and "
            "Contraction fewer or shorter texts, or lower at_least of Run and Spaces"
        )
