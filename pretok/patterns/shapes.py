"""Turn the items of one alternative into one rule, or say why no rule matches the same text."""

from __future__ import annotations

from typing import NoReturn

from pretok.charsets.sets import NOTHING
from pretok.errors import DefinitionError
from pretok.patterns.assertions import refuse_misplaced, rule_before
from pretok.patterns.items import Choice, Items, Look, Loop, Part, Refusal
from pretok.patterns.runs import rule_of_runs
from pretok.patterns.spelling import spelt
from pretok.patterns.words import phrase, word_with_suffix
from pretok.preset import Engine
from pretok.rules import Rule

MAX_PARTS = 64
"""Maximum parts of an alternative. An alternative with more parts is refused at once.

A rule has at most three parts, but several parts of the alternative may become one part of the
rule. The limit does not apply to literal texts.
"""


def rule_of(items: Items, engine: Engine) -> Rule:
    """Return the rule that matches what `items` match; raises Refusal if there is none."""
    try:
        return spelt(phrase(items) or word_with_suffix(items) or _rule(items, engine))
    except DefinitionError as error:
        raise Refusal(_whole(items), str(error)) from None


def _rule(items: Items, engine: Engine) -> Rule:
    look = items[-1] if isinstance(items[-1], Look) else None
    parts: list[Part] = []
    for item in items[: -1 if look else None]:
        if not isinstance(item, Part):
            _refuse_item(item)
        parts.append(item)
    if len(parts) > MAX_PARTS:
        raise Refusal(_whole(items), f"a rule has at most three parts, not {len(parts):,}")
    if look is not None:
        rule = rule_before(look, parts, engine)
        if rule is not None:
            return rule
    return rule_of_runs(parts)


def _refuse_item(item: Choice | Loop | Look) -> NoReturn:
    if isinstance(item, Choice):
        raise Refusal(item, "no rule has alternatives after a run, except a contraction")
    if isinstance(item, Loop):
        raise Refusal(
            item,
            "no rule can express this repeated group; a group may repeat only in a pattern such as "
            r"`\w+(?:-\w+)*`, words with one code point between them",
        )
    refuse_misplaced(item)


def _whole(items: Items) -> Part:
    return Part(items[0].start, items[-1].end, NOTHING)
