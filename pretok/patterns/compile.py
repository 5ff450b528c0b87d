r"""Compile a pattern of no preset to rules that match exactly what it matches, or refuse it.

An engine searches a pattern from left to right. At each position it tries the alternatives in
order, and each alternative along its paths in order of preference; the first path that succeeds is
the match. The machine does the same with rules in place of alternatives. So the split is equal if,
at every position, the rules and the alternatives that they stand for have the same first match.
Reading a pattern (`parser`) leaves nothing that looks at the text before the match, so that the
first match depends on the text from the position on, and no alternative matches the empty text.

1. *One alternative, one rule.* If rule i finds the first match of alternative i, or none when that
   has none, then trying the rules in order finds the first match of the pattern: nothing follows an
   alternative, so the search never returns to one that matched.
2. *Distribution.* If X always takes the same number of code points, `X(?:Y|Z)W` is `XYW|XZW`: X
   has one path, so the paths of both have the same order. Likewise `XS?W` is `XSW|XW` and `XS*W` is
   `XS+W|XW`; with a lazy mark the second comes first.
3. *Lazy runs.* With nothing required after it, `S{n,m}?` takes n code points, because the rest
   matches at once. If its set is disjoint from all sets up to the first required one, the rest
   fails before a member of S, so that it takes what a greedy run takes.
4. *No giving back.* Call a path greedy if each part takes as many code points as it can. It is the
   first path; so it is the first match unless it fails. Suppose it fails, and an earlier part gives
   back a member c of its set S. Then one of the parts up to the next required one must match c. If
   S is disjoint from all of their sets, none does, so that no other path succeeds either. Parts
   after the last required one cannot fail. A possessive part gives nothing back by definition. The
   one exception is `A?S+`: if A takes a member of S and `S+` fails after it, S takes it instead,
   and the match is what S takes alone. Run is the greedy path of `lead?body{n,m}tail*`.
5. *Ends of runs.* Let a run of S have L members from the position on. `S{n,m}(?!S')`, where S' is
   the complement of S, takes min(m, L) if the text ends with the run, else min(m, L - 1), if that
   is n or more: before the end of the run a member of S follows, which is allowed; at the end
   none. That is Spaces(ALL_BUT_LAST). `S+\z` and `S++(?!S')` match whole runs that end the text:
   Spaces(END_OF_TEXT). After `S+` an assertion that allows all of S' and the end always holds.
6. *Last line break.* In `S*N` and `S*N+` for N within S, `S*` takes the run and gives back up to
   the last member of N in it. N takes that one, and `N+` no more, for it is the last:
   Spaces(LAST_NEWLINE).
7. *Groups.* In `B{n,k}(?=(?:B{k})*(?!B))` the assertion holds after i members of a run of L if k
   divides L - i. Exactly one i of 1 to k does. `\b` in place of `(?!B)`, for B within `\w`, holds
   at the end of the run unless a member of `\w` follows, and nowhere within it.
8. *Phrases.* In `A?(?:ST*(?:JST*)*)+`, for J disjoint from S and T, everything after the first S is
   optional, so that the greedy path is the match by lemma 4. It is the loop of Phrase.
9. *Cased words.* In `A?U*L+|A?U+L*` the first alternative takes a run of U and a run of L after it.
   Without the latter it gives back up to the last member of L in the run, and takes that; if there
   is none, the second takes the run. That is CasedWord. `A?S+` with a suffix is CasedWord with S as
   both sets. No set has an apostrophe, so a suffix is tried at the end of a run only.

Sets are exact: `CharSet` decides "disjoint" and "subset" for every version of Unicode, and errs on
the side of overlap. Whatever fits no lemma is refused. tests/pretok/patterns/test_compile.py
compares all strings over the classes of the compiled rules with the live engines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256

from pretok.behaviors import Behavior
from pretok.charsets.alphabet import partition
from pretok.charsets.sets import NEWLINE, WHITE_SPACE, CharSet, code_points, union
from pretok.errors import DefinitionError
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.items import Choice, ItemMaker, Items, Loop, Part, Refusal
from pretok.patterns.parser import MAX_PATTERN_LENGTH, read
from pretok.patterns.shapes import rule_of
from pretok.patterns.terms import Term, terms_of
from pretok.patterns.words import cased_word, literal_of, texts_of
from pretok.preset import Engine
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    LAST_NEWLINE,
    CasedWord,
    Literal,
    Phrase,
    Rule,
    Run,
    Spaces,
)
from pretok.stage import MAX_RULES, Stage

MAX_WORK = 20_000
"""Limit of the items of all alternatives, those included that distribution makes."""
MAX_CELLS = 50_000
"""Limit of the sets times the ranges of code points that rules have in total."""


class NotCompiledError(ValueError):
    """No rules match exactly what a pattern matches.

    `construct` is the part of the pattern that they cannot match, `position` its index, and
    `reason` why not.
    """

    def __init__(self, construct: str, position: int, reason: str) -> None:
        super().__init__(reason)
        self.construct = construct
        self.position = position
        self.reason = reason


def compile_pattern(pattern: str, engine: Engine) -> tuple[Rule, ...]:
    r"""Return rules that match what `engine` matches with `pattern`.

    Raises NotCompiledError, or UnreadablePatternError for a pattern that is not understood. Take
    time about linear in the pattern, which has MAX_PATTERN_LENGTH code points at most.

    >>> compile_pattern(r"\p{L}+|\d{2}|.", "hf")
    (Run(LETTER), Run(DIGIT, at_most=2, at_least=2), Run(~code_points('\n'), at_most=1))
    """
    found = _compiled(pattern, engine)
    if isinstance(found, tuple):
        return found
    raise found


@lru_cache(maxsize=64)
def _compiled(
    pattern: str, engine: Engine
) -> tuple[Rule, ...] | NotCompiledError | UnreadablePatternError:
    if len(pattern) > MAX_PATTERN_LENGTH:
        return UnreadablePatternError(f"the pattern has {len(pattern):,} characters")
    try:
        terms = terms_of(pattern, read(pattern, engine))
        maker = ItemMaker()
        rules = _of_alternatives([maker.of_sequence(sequence) for sequence in terms], engine)
        return _checked(_with_common_sets(rules), terms[0][0])
    except UnreadablePatternError as error:
        return error
    except Refusal as refusal:
        construct = pattern[refusal.start : refusal.end]
        return NotCompiledError(construct, refusal.start, refusal.reason)


def compile_stage(
    pattern: str, engine: Engine, behavior: Behavior = "isolated", invert: bool = False
) -> Stage:
    """Return a stage that splits as `engine` does with `pattern`; raises as `compile_pattern`."""
    rules = compile_pattern(pattern, engine)
    has_gaps = bool(~union(map(_always_matched, rules)))
    if behavior == "isolated" or ((behavior, invert) == ("removed", True) and not has_gaps):
        return Stage(rules, pattern)
    return Stage(rules, pattern, behavior, invert)


def _always_matched(rule: Rule) -> CharSet:
    """Return a set such that `rule` matches wherever a member of it stands."""
    if isinstance(rule, Run) and rule.at_least == 1 and not rule.lead_required:
        return rule.body
    if isinstance(rule, CasedWord):
        return rule.upper | rule.lower
    if isinstance(rule, Phrase):
        return rule.start
    if isinstance(rule, Spaces) and rule.through is ALL and rule.at_least == 1:
        return rule.space
    texts = rule.texts if isinstance(rule, Literal) else ()
    return code_points(*(text for text in texts if len(text) == 1))


def name_of(pattern: str, engine: Engine) -> str:
    """Return the name of the preset that a pattern compiles to."""
    digest = sha256(f"{engine} {pattern}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"pattern-{digest[:8]}"


def _of_alternatives(alternatives: list[Items], engine: Engine) -> list[Rule]:
    """Return the rules of `alternatives`, in order (lemmas 1, 2 and 9)."""
    pending = alternatives[::-1]
    rules: list[Rule] = []
    texts: list[str] = []  # of the literal alternatives since the last rule
    work = 0
    while pending:
        items = _reachable(pending.pop())
        if items is None:
            continue
        work += len(items) + 1
        if work > MAX_WORK:
            raise Refusal(items[0], f"its alternatives stand for more than {MAX_WORK:,} parts")
        if len(items) == 1 and isinstance(items[0], Choice):
            pending += reversed(items[0].alternatives)
            continue
        if _may_be_empty(items):
            raise Refusal(_span(items), "it can match the empty text")
        found = texts_of(items)
        if found is not None:
            texts += found
            continue
        if texts:
            rules.append(literal_of(texts))
            texts = []
        rule = cased_word(items, pending[-1]) if pending else None
        if rule is not None:
            pending.pop()
            rules.append(rule)
            continue
        try:
            rules.append(_after(rules, rule_of(items, engine)))
        except Refusal:
            distributed = _distributed(items)
            if distributed is None:
                raise
            pending += reversed(distributed)
        if len(rules) > MAX_RULES:
            raise Refusal(_span(items), f"the pattern needs more than {MAX_RULES} rules")
    return [*rules, literal_of(texts)] if texts else rules


def _reachable(items: Items) -> Items | None:
    """Return `items` without parts of an empty set; None if they never match."""
    if any(isinstance(item, Part) and item.low and not item.chars for item in items):
        return None
    return tuple(item for item in items if not isinstance(item, Part) or item.chars)


def _may_be_empty(items: Items) -> bool:
    return all(
        not item.low
        if isinstance(item, (Part, Loop))
        else not isinstance(item, Choice) or any(map(_may_be_empty, item.alternatives))
        for item in items
    )


def _distributed(items: Items) -> list[Items] | None:
    """Return the alternatives that `items` are by lemma 2; None if it does not apply."""
    for number, item in enumerate(items):
        before, after = items[:number], items[number + 1 :]
        if isinstance(item, Part) and item.is_fixed:
            continue
        if isinstance(item, Choice):
            return [(*before, *option, *after) for option in item.alternatives]
        if not isinstance(item, Part) or item.low or item.mode == "possessive":
            return None
        ordered = [(*before, replace(item, low=1), *after), (*before, *after)]
        return ordered if item.mode == "greedy" else ordered[::-1]
    return None


def _after(rules: list[Rule], rule: Rule) -> Rule:
    r"""Return `rule`, or Spaces(ALL) for `\s` after `\s+(?!\S)`.

    Where the latter fails, the run has one code point.
    """
    is_space = isinstance(rule, Spaces) and rule.through is ALL and rule.at_least == 1
    return Spaces(ALL) if is_space and Spaces(ALL_BUT_LAST) in rules else rule


def _with_common_sets(rules: list[Rule]) -> list[Rule]:
    """Return `rules` with the same sets in all Spaces rules, as a stage requires.

    Only LAST_NEWLINE depends on `newline`. Spaces(ALL) is a Run of white space.
    """
    own = [rule for rule in rules if isinstance(rule, Spaces) and rule.through is not ALL]
    spaces = {rule.space for rule in own} or {WHITE_SPACE}
    newlines = {rule.newline for rule in own if rule.through is LAST_NEWLINE}
    if len(spaces) > 1 or len(newlines) > 1:
        return rules  # Stage says why this is an error.
    (space,) = spaces
    newline = newlines.pop() if newlines else NEWLINE if not NEWLINE - space else space
    found: list[Rule] = []
    for rule in rules:
        if not isinstance(rule, Spaces):
            found.append(rule)
        elif rule.space == space:
            found.append(replace(rule, newline=newline))
        else:
            found.append(Run(rule.space, at_most=rule.at_most, at_least=rule.at_least))
    return found


def _checked(rules: list[Rule], first: Term) -> tuple[Rule, ...]:
    """Return `rules` if they make a stage."""
    sets = {chars for rule in rules for chars in rule.sets()}
    starts = {start for chars in sets for start, _ in chars.segments}
    if len(sets) * len(starts) > MAX_CELLS:
        raise Refusal(first, f"its {len(sets)} sets have {len(starts):,} ranges in total")
    try:
        Stage(tuple(rules))
        partition(sets)
    except DefinitionError as error:
        raise Refusal(first, str(error)) from None
    return tuple(rules)


def _span(items: Iterable[Part | Choice | Loop | object]) -> Part:
    """Return the place of `items` in the pattern; its start if there are none."""
    ordered = list(items)
    if not ordered:
        return Part(0, 0, NEWLINE)
    return Part(ordered[0].start, ordered[-1].end, NEWLINE)  # type: ignore[attr-defined]
