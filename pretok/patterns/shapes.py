"""Turn the items of one alternative into one rule, or say why no rule matches the same text.

The docstring of `pretok.patterns.compile` has the numbered lemmas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from pretok.charsets.sets import ANY, NEWLINE, NOTHING, ONIGURUMA_WORD, WHITE_SPACE, WORD, CharSet
from pretok.errors import DefinitionError
from pretok.patterns.ast import Chars, EngineSpecific, Group, Lookahead, Node, Repeat
from pretok.patterns.items import Choice, Items, Look, Loop, Part, Refusal
from pretok.patterns.runs import rule_of_runs
from pretok.patterns.spelling import spelt
from pretok.patterns.words import phrase, word_with_suffix
from pretok.preset import Engine
from pretok.rules import ALL_BUT_LAST, BEFORE_NEWLINE, END_OF_TEXT, Groups, Rule, Spaces

MAX_PARTS = 64
"""Maximum parts of an alternative. An alternative with more parts is refused at once.

A rule has at most three parts, but several parts of the alternative may become one part of the
rule. The limit does not apply to literal texts.
"""
_WORDS: dict[Engine, CharSet] = {"hf": ONIGURUMA_WORD, "tiktoken": WORD}


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
        rule = _rule_before(look, parts, engine)
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
    _refuse_misplaced(item)


def _whole(items: Items) -> Part:
    return Part(items[0].start, items[-1].end, NOTHING)


def _rule_before(look: Look, parts: list[Part], engine: Engine) -> Rule | None:
    """Return the rule for `parts` before `look` (lemmas 5 and 7); None if `look` always holds."""
    if not parts:
        _refuse_misplaced(look)
    groups = _groups(parts, look.node, engine)
    if groups is not None:
        return groups
    if look.allowed is None:
        if isinstance(look.node, EngineSpecific):
            _refuse_misplaced(look)
        raise Refusal(look, "a rule looks at one code point after its match, not at more")
    last = parts[-1]
    chars, after = last.chars, look.allowed
    # `look` always holds if it allows everything. After a whole run of `chars`, it is enough that
    # `look` allows the end of the text and every code point outside `chars`.
    if (after == ANY and look.at_end) or (
        last.high is None and last.mode != "lazy" and look.at_end and not ~(after | chars)
    ):
        return None
    if _is_part_of_white_space(parts, look):
        return Spaces(BEFORE_NEWLINE, space=after, newline=after - chars)
    # Other Spaces rules need one run of `chars`, and a `look` that allows the end of the text and
    # otherwise only members of `chars`.
    if len(parts) == 1 and look.at_end and not after - chars:
        # A lazy run first takes `low` members. If `look` fails there, the next code point is not a
        # member, so the run cannot take more. So the run takes exactly `low` members.
        if last.mode == "lazy" and after == chars:
            last = replace(last, high=last.low)
        is_whole = last.high is None and last.low == 1  # the part is `S+`
        if is_whole and (after == NOTHING or last.mode == "possessive"):
            return Spaces(END_OF_TEXT, space=chars, newline=_newline_of(chars))
        is_greedy = last.is_fixed or last.mode == "greedy"
        if after == chars and is_greedy and (is_whole or last.high is not None):
            most = None if is_whole else last.high
            newline = _newline_of(chars)
            return Spaces(ALL_BUT_LAST, most, last.low, space=chars, newline=newline)
    raise Refusal(
        look,
        "after a run of one set, a rule can only require that the text ends or that the next code "
        r"point is in the set or white space too, as in \s+\z, \s+(?!\S) and \t+(?!\S); any other "
        "assertion may need "
        "backtracking",
    )


def _is_part_of_white_space(parts: Sequence[Part], look: Look) -> bool:
    """Return whether `parts` and `look` are `S+(?!A')`, where A is white space and S a part of A.

    A' is the complement of A.
    """
    part, after = parts[-1], look.allowed
    if len(parts) != 1 or after is None or not look.at_end:
        return False
    is_run = (part.low, part.high, part.mode) == (1, None, "greedy")
    is_part = not part.chars - after and bool(after - part.chars)
    return is_run and is_part and not after - WHITE_SPACE


def _refuse_misplaced(look: Look) -> NoReturn:
    """Raise Refusal for an assertion of a kind or at a place that no rule has."""
    if isinstance(look.node, EngineSpecific):
        raise Refusal(
            look,
            "no rule has this assertion: it may look at the text before the match or prevent "
            "backtracking",
        )
    raise Refusal(look, "a rule looks ahead only at the end of its match")


def _newline_of(chars: CharSet) -> CharSet:
    """Return a valid `newline` for Spaces(ALL_BUT_LAST) or Spaces(END_OF_TEXT) with `space=chars`.

    These rules do not use `newline`, but it must be a subset of `space`.
    """
    return chars if NEWLINE - chars else NEWLINE


def _groups(parts: list[Part], node: Node, engine: Engine) -> Rule | None:
    """Return the Groups rule for `B{n,k}(?=(?:B{k})*(?!S))`, or None for another assertion.

    n is at least 1, S contains B, and `\\b` may take the place of `(?!S)`. Lemma 7 has the proof.
    """
    if len(parts) != 1 or not isinstance(node, Lookahead) or node.negative:
        return None
    part = parts[0]
    if len(node.alternatives) != 1 or len(node.alternatives[0]) != 2 or part.mode != "greedy":
        return None
    size, closing = _repeated_size(node.alternatives[0][0], part.chars), node.alternatives[0][1]
    if size is None or size != part.high or not part.low:
        return None
    if isinstance(closing, EngineSpecific) and closing.text == "\\b":
        stop: CharSet | None = _WORDS[engine]
    elif isinstance(closing, Lookahead) and closing.negative and len(closing.alternatives) == 1:
        stop = _only(closing.alternatives[0])
    else:
        return None
    if stop is None or part.chars - stop:
        return None
    return Groups(part.chars, size, part.low, stop if stop - part.chars else None)


def _repeated_size(node: Node, chars: CharSet) -> int | None:
    """Return k if `node` is `(?:B{k})*` and B is `chars`; else None."""
    if not isinstance(node, Repeat) or (node.low, node.high) != (0, None):
        return None
    if node.mode != "greedy":
        return None
    repeated, size = node.node, 1
    while isinstance(repeated, (Group, Repeat)):
        if isinstance(repeated, Group):
            if len(repeated.alternatives) != 1 or len(repeated.alternatives[0]) != 1:
                return None
            repeated = repeated.alternatives[0][0]
        else:
            if repeated.low != repeated.high:
                return None
            size *= repeated.low
            repeated = repeated.node
    return size if _only((repeated,)) == chars else None


def _only(sequence: tuple[Node, ...]) -> CharSet | None:
    """Return S if `sequence` is one node that matches a code point of the set S; else None."""
    node = sequence[0] if len(sequence) == 1 else None
    return node.chars if isinstance(node, Chars) and not node.properties else None
