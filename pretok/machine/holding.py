"""Define Holding, which proves that no pre-token holds a text.

A pre-token of a stage is a match of one of its rules, or a gap: text that no rule matches. A later
stage only splits pre-tokens further. So no pre-token holds a text if there is a stage in which no
match and no gap can hold it. Each check allows more than its rule does, never less: "may hold" can
be wrong for long texts, "cannot hold" cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from pretok.charsets.classified_text import Classifier
from pretok.charsets.sets import CharSet
from pretok.machine.program import compile_rules
from pretok.rules import ALL, CasedWord, Contraction, Groups, Literal, Phrase, Rule, Run, Spaces
from pretok.rules.contraction import FOLD
from pretok.stage import Stage

ANY = "any"
"""Stands for any code point."""
Place: TypeAlias = str | frozenset[str]
"""A place of a text: its code point, a set of code points that may stand there, or ANY."""


class Holding:
    """Says which texts a pre-token may hold, for the stages of a preset.

    >>> import pretok
    >>> preset = pretok.get("gpt2").preset
    >>> holding = Holding(preset.stages, preset.unicode)
    >>> holding.may_hold("don"), holding.may_hold("n't"), holding.may_hold([ANY, "n", "'"])
    (True, False, False)
    """

    def __init__(self, stages: Sequence[Stage], version: str) -> None:
        """Prepare the stages; `version` is the Unicode version of the split."""
        self._stages = [
            _StageHolding(stage, version) for stage in stages if stage.behavior == "isolated"
        ]

    def may_hold(self, text: Sequence[Place]) -> bool:
        """Return False if no pre-token of any text holds `text` as a part. Takes linear time."""
        return all(stage.may_hold(text) for stage in self._stages)


class _StageHolding:
    def __init__(self, stage: Stage, version: str) -> None:
        program = compile_rules(stage.rules)
        self._masks = program.alphabet.masks
        self._classes = Classifier(program.alphabet, version).classes
        self._rules = stage.rules
        self._known: dict[frozenset[str], int] = {}
        # The classes whose code points always begin a match, so they are in no gap.
        self._begun = 0
        for rule in stage.rules:
            self._begun |= self._begins(rule)

    def may_hold(self, text: Sequence[Place]) -> bool:
        """Return False if no match and no gap of the stage can hold `text`."""
        classes = [self._mask_at(place) for place in text]
        if all(mask & ~self._begun for mask in classes):
            return True
        return any(self._rule_may_hold(rule, text, classes) for rule in self._rules)

    def _mask_at(self, place: Place) -> int:
        """Return the classes of the code points that may stand at a place."""
        if isinstance(place, str):
            return -1 if place == ANY else 1 << int(self._classes[ord(place)])
        mask = self._known.get(place)
        if mask is None:
            mask = 0
            for class_ in np.unique(self._classes[[ord(char) for char in place]]).tolist():
                mask |= 1 << class_
            self._known[place] = mask
        return mask

    def _mask(self, chars: CharSet | None) -> int:
        return self._masks[chars] if chars else 0

    def _begins(self, rule: Rule) -> int:
        """Return classes with which each text begins that the rule matches for certain."""
        mask = self._mask
        if isinstance(rule, Run):
            return mask(rule.body) if rule.at_least == 1 and not rule.lead_required else 0
        if isinstance(rule, CasedWord):
            return mask(rule.upper) | mask(rule.lower)
        if isinstance(rule, Groups):
            return mask(rule.body) if rule.at_least == 1 and rule._stop is None else 0
        if isinstance(rule, Phrase):
            return mask(rule.start)
        if isinstance(rule, Spaces):
            return mask(rule.space) if rule.through is ALL and rule.at_least == 1 else 0
        return 0

    def _rule_may_hold(self, rule: Rule, text: Sequence[Place], classes: list[int]) -> bool:
        mask = self._mask
        if isinstance(rule, Run):
            runs = (
                (mask(rule._pure_lead), 1),
                (mask(rule.body), rule.at_most),
                (mask(rule.tail), rule.tail_at_most),
            )
            return _in_runs(classes, runs)
        if isinstance(rule, CasedWord):
            lead = mask(rule._pure_lead)
            word = ((lead, 1), (mask(rule.upper), None), (mask(rule.lower), None))
            if _in_runs(classes, word):
                return True
            suffix = rule.suffix
            return suffix is not None and any(
                _in_contraction(suffix, text[at:], starts=at > 0) and _in_runs(classes[:at], word)
                for at in range(len(text))
            )
        if isinstance(rule, Groups):
            return _in_runs(classes, ((mask(rule.body), rule.size),))
        if isinstance(rule, Spaces):
            return _in_runs(classes, ((mask(rule._part), rule.at_most),))
        if isinstance(rule, Phrase):
            every = mask(rule.start | rule.rest) | mask(rule.joint) | mask(rule.lead)
            return _in_runs(classes, ((every, None),))
        if isinstance(rule, Contraction):
            return _in_contraction(rule, text, starts=False)
        if isinstance(rule, Literal):
            return any(_occurs(text, literal, str) for literal in rule.texts)
        return True


def _in_runs(classes: Sequence[int], runs: Sequence[tuple[int, int | None]]) -> bool:
    """Return whether a part of these runs, one after the other, may have the classes.

    A run is (mask, maximal length or None); it may be empty.
    """
    # reached[i] has the places that the runs so far may end at, as a set of bits.
    places, size = 1, len(classes)
    for mask, at_most in runs:
        start, after = 0, places
        while start < size:
            if not places >> start & 1:
                start += 1
                continue
            end = start
            while end < size and classes[end] & mask and (at_most is None or end - start < at_most):
                end += 1
                after |= 1 << end
            # Without a limit, later starts within this run reach no other places.
            start = end if at_most is None and end > start else start + 1
        places = after
    return bool(places >> size & 1)


def _in_contraction(rule: Contraction, text: Sequence[Place], starts: bool) -> bool:
    """Return whether a match of the rule may hold `text`; if `starts`, as its start."""

    def fold(char: str) -> str:
        return char.translate(FOLD) if rule.ignore_case else char

    return any(_occurs(text, f"'{suffix}", fold, starts) for suffix in rule.suffixes)


def _occurs(
    text: Sequence[Place], literal: str, fold: Callable[[str], str], starts: bool = False
) -> bool:
    """Return whether `text` may be a part of `literal`, or its start if `starts`."""
    last = 0 if starts else len(literal) - len(text)
    if len(text) > len(literal):
        return False
    return any(
        all(place == ANY or literal[at + i] in map(fold, place) for i, place in enumerate(text))
        for at in range(last + 1)
    )
