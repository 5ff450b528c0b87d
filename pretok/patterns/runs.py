"""Turn a sequence of runs into one rule: Spaces, Enclosed or Run.

The docstring of `pretok.patterns.compile` has the numbered lemmas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pretok.charsets.sets import NOTHING, WHITE_SPACE, CharSet, union
from pretok.patterns.char_sets import members
from pretok.patterns.items import Part, Refusal
from pretok.patterns.spelling import short_regex
from pretok.rules import ALL, LAST_NEWLINE, Enclosed, Rule, Run, Spaces
from pretok.rules.base import MAX_LITERAL


def rule_of_runs(parts: list[Part]) -> Rule:
    """Return the rule that matches what `parts` match; raises Refusal if there is none."""
    parts = _simplified(parts)
    return _spaces(parts) or _enclosed(parts) or _run(parts)


def _simplified(parts: list[Part]) -> list[Part]:
    """Return `parts` with lazy parts made greedy, and adjacent parts of equal sets joined.

    Raises Refusal for a lazy part that shares code points with one of the following parts, up to
    and including the first required part (lemma 3).
    """
    simplified: list[Part] = []
    for part in reversed(parts):
        if part.mode == "lazy" and not part.is_fixed:
            needed = _needed(simplified)
            if needed is None:
                part = replace(part, high=part.low)
            elif part.chars & union(needed):
                raise Refusal(
                    part, "no rule can express a lazy run that ends where the next part matches"
                )
            part = replace(part, mode="greedy")
            if part.high == 0:
                continue
        simplified.insert(0, part)
        if len(simplified) > 1 and _can_join(simplified[0], simplified[1]):
            simplified[:2] = [_joined(simplified[0], simplified[1])]
    return simplified


def _can_join(one: Part, other: Part) -> bool:
    """Return whether `one` and `other`, which is the next part, match what one part matches."""
    alike = one.chars == other.chars and (one.is_fixed or one.mode == "greedy")
    return alike and (other.is_fixed or other.mode == "greedy")


def _joined(one: Part, other: Part) -> Part:
    high = None if one.high is None or other.high is None else one.high + other.high
    return Part(one.start, other.end, one.chars, one.low + other.low, high)


def _needed(parts: Sequence[Part]) -> list[CharSet] | None:
    """Return the sets of `parts` up to and including the first required part.

    Returns None if no part is required.
    """
    sets: list[CharSet] = []
    for part in parts:
        sets.append(part.chars)
        if part.low:
            return sets
    return None


def _require_no_giving_back(parts: Sequence[Part]) -> None:
    """Raise Refusal if a part of `parts` may give back code points (lemma 4)."""
    for number, part in enumerate(parts):
        needed = _needed(parts[number + 1 :])
        if part.is_fixed or part.mode == "possessive" or needed is None:
            continue
        shared = part.chars & union(needed)
        if shared:
            raise Refusal(
                part,
                f"it may have to give back code points of {short_regex(shared)} that the next part "
                "needs, so matching would need backtracking",
            )


def _spaces(parts: list[Part]) -> Rule | None:
    r"""Return the rule for `\s{n,m}` or `S*N+` (lemma 6); None for other `parts`."""
    first = parts[0]
    if len(parts) == 1 and first.chars == WHITE_SPACE:
        if first.high is None:
            return Spaces(ALL) if first.low == 1 else Run(WHITE_SPACE, at_least=first.low)
        return Spaces(ALL, first.high, first.low)
    if len(parts) != 2 or (first.low, first.high, first.mode) != (0, None, "greedy"):
        return None
    last = parts[1]
    if last.low != 1 or last.chars - first.chars:
        return None
    return Spaces(LAST_NEWLINE, space=first.chars, newline=last.chars)


def _enclosed(parts: list[Part]) -> Rule | None:
    """Return the Enclosed rule for a run between two literal texts; None for other `parts`."""
    open_parts = [number for number, part in enumerate(parts) if not _text((part,))]
    if len(open_parts) != 1 or not 0 < open_parts[0] < len(parts) - 1:
        return None
    at = open_parts[0]
    before, after = _text(parts[:at]), _text(parts[at + 1 :])
    body = parts[at]
    if not before or not after or not body.low:
        return None
    return Enclosed(before, body.chars, after, body.high, body.low)


def _text(parts: Sequence[Part]) -> str:
    """Return the only text that `parts` match.

    Returns "" if `parts` match several texts, or a text of more than MAX_LITERAL code points.
    """
    text = ""
    for part in parts:
        char = members(part.chars, max_members=1)
        if not char or not part.is_fixed or len(text) + part.low > MAX_LITERAL:
            return ""
        text += char * part.low
    return text


def _run(parts: list[Part]) -> Rule:
    """Return the Run for `lead?body{n,m}tail*` (lemma 4); lead and tail may be missing."""
    lead: Part | None = None
    first = parts[0]
    if len(parts) > 1 and first.high == 1 and (first.low == 0 or parts[1].low):
        lead = first
    rest = parts[lead is not None :]
    body, tails = rest[0], rest[1:]
    for required in tails:
        if required.low:
            _require_no_giving_back(parts)
            if body.is_fixed:
                raise Refusal(required, "a rule has at most one lead before its run")
            raise Refusal(
                required,
                "the pattern requires a part after a run, and no kind of rule can: if the part is "
                "missing, the rule would scan the rest of the run again at each code point",
            )
    if not body.low:
        raise Refusal(body, "no rule begins with two optional parts")
    if len(tails) > 1:
        raise Refusal(tails[1], "no rule has two optional parts at its end")
    tail = tails[0] if tails else None
    overlap = lead.chars & body.chars if lead else NOTHING
    if lead is not None and overlap:
        is_plain = (lead.low, lead.mode, body.low, body.high) == (0, "greedy", 1, None)
        if lead.low or lead.mode != "greedy":
            raise Refusal(
                lead, f"no rule has a lead that shares {short_regex(overlap)} with the next part"
            )
        if not is_plain:
            _require_no_giving_back(parts)
    return Run(
        body.chars,
        lead.chars if lead else None,
        body.high,
        tail.chars if tail else None,
        body.low,
        lead is not None and lead.low == 1,
        tail.high if tail else None,
    )
