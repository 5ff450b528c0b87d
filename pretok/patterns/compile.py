r"""Compile a pattern to rules that match exactly what the pattern matches, or refuse the pattern.

An engine searches a text from left to right. At each position it tries the alternatives in order.
A path is one way in which an alternative may match: each quantifier takes some number of code
points, and each group takes one of its alternatives. The engine tries the paths of an alternative
in order of preference, and the first path that succeeds is the match. The machine tries rules in
place of alternatives. So the split is equal if, at every position, the first match of the rules is
the first match of the alternatives. Patterns that look at the text before a match are refused, so
the first match depends only on the text from the position on. Alternatives that can match the empty
text are refused too.

In the lemmas, X, Y, Z and W are parts of a pattern. The other capital letters are sets.

1. *One alternative, one rule.* Let rule i find the first match of alternative i, or none if
   alternative i has none. Then trying the rules in order finds the first match of the pattern:
   nothing follows an alternative, so an engine never backtracks into an alternative that matched.
2. *Distribution.* If X always takes the same number of code points, `X(?:Y|Z)W` is `XYW|XZW`. The
   reason: X has one path, so an engine tries the paths of both patterns in the same order. Likewise
   `XS?W` is `XSW|XW`, and `XS*W` is `XS+W|XW`. For a lazy quantifier, the two alternatives are in
   the opposite order.
3. *Lazy runs.* If no required part follows `S{n,m}?`, the lazy run takes n code points, because the
   optional parts after it cannot fail. Otherwise, let S be disjoint from the sets of the following
   parts, up to and including the first required part. Then none of these parts matches at a member
   of S, and the required part fails there. So the lazy run goes on to the end of the run, as a
   greedy run does.
4. *No giving back.* Call a path greedy if each part takes as many code points as it can. An engine
   tries the greedy path first, so the greedy path is the match unless it fails. Suppose it fails,
   and a part with the set S gives back a code point c. Then one of the following parts, up to and
   including the next required part, must match c. If S is disjoint from the sets of all these
   parts, none of them matches c, so every other path fails too. Parts after the last required part
   cannot fail. A possessive part gives nothing back by definition. Only in `A?S+` may the sets
   overlap: if A takes a member of S and `S+` then fails, A gives this member back, and the match is
   what `S+` takes alone. Run follows the greedy path of `lead?body{n,m}tail*`.
5. *Ends of runs.* Let a run of S have r members from the position on, and let S' be the complement
   of S. `S{n,m}(?!S')` takes min(m, r) code points if the text ends with the run, and otherwise
   min(m, r - 1); it fails if this number is less than n. The reason: the assertion holds within the
   run, where a member of S follows, and at the end of the text, but not where a member of S'
   follows the run. Spaces(ALL_BUT_LAST) matches the same. `S+\z` and `S++(?!S')` match a whole run
   at the end of the text, as Spaces(END_OF_TEXT) does. After `S+`, an assertion that allows the end
   of the text and all members of S' always holds. If S is a subset of A, `S+(?!A')` takes r code
   points if the text ends with the run or a member of A follows, and otherwise r - 1; it fails if
   this number is 0. Spaces(BEFORE_NEWLINE) matches the same, with A - S as its line breaks.
6. *Last line break.* Let N be a subset of S. In `S*N` and `S*N+`, `S*` takes the run of S, and then
   gives code points back up to and including the last member of N in the run. N takes this member.
   `N+` takes no more, because no member of N follows. Spaces(LAST_NEWLINE) matches the same.
7. *Groups.* In `B{n,k}(?=(?:B{k})*(?!B))`, the assertion holds after i members of a run of r
   members if k divides r - i. This is true for exactly one i from 1 to k. If B is a subset of `\w`,
   a `\b` in place of `(?!B)` holds nowhere within the run; it holds at the end of the run unless a
   member of `\w` follows. The rule Groups matches what such a pattern matches, with `(?!B)` or
   with `\b`.
8. *Phrases.* Let J be disjoint from S and T. In `A?(?:ST*(?:JST*)*)+`, everything after the first S
   is optional, so by lemma 4 the greedy path is the match. The loop of Phrase follows this path.
9. *Cased words.* In `A?U*L+|A?U+L*`, the first alternative takes a run of U, and then a run of L.
   If no member of L follows the run of U, `U*` gives code points back up to and including the last
   member of L in the run, which `L+` takes. If the run of U has no member of L, the second
   alternative takes the whole run. CasedWord matches the same. All parts but the first `U*` may be
   possessive: they never give code points back. `A?S+` with a suffix is CasedWord with S as both
   sets. A suffix begins with an apostrophe, which S does not contain. So a suffix
   begins only at the end of a run.

The compiler tests for all Unicode versions at once whether sets are disjoint, and whether one set
is a subset of another. If the answer may depend on the version, the sets count as overlapping, and
not as subsets. Patterns that fit no lemma are refused. tests/pretok/patterns/test_compile.py takes
one code point from each class of the rules, and compares the compiled rules with the installed
engines on short strings of these code points.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from hashlib import sha256

from pretok.behaviors import Behavior
from pretok.charsets.alphabet import partition
from pretok.charsets.sets import NEWLINE, NOTHING, WHITE_SPACE, CharSet, union
from pretok.errors import DefinitionError
from pretok.patterns.ast import Node
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.items import Choice, Item, ItemMaker, Items, Look, Loop, Part, Refusal
from pretok.patterns.parser import MAX_PATTERN_LENGTH, read
from pretok.patterns.shapes import rule_of
from pretok.patterns.words import cased_word, literal_of, texts_of
from pretok.preset import Engine
from pretok.rules import ALL, ALL_BUT_LAST, BEFORE_NEWLINE, LAST_NEWLINE, Rule, Run, Spaces
from pretok.stage import MAX_RULES, Stage

MAX_WORK = 20_000
"""Maximum items of all alternatives, including the alternatives that lemma 2 makes."""
MAX_CELLS = 50_000
"""Maximum product of the number of sets in all rules and the number of ranges in these sets."""


class NotCompiledError(ValueError):
    """No rules match exactly what a pattern matches.

    `construct` is the part of the pattern that no rules match, and `position` is the index of this
    part in the pattern. `reason` says why no rules match this part.
    """

    def __init__(self, construct: str, position: int, reason: str) -> None:
        super().__init__(reason)
        self.construct = construct
        self.position = position
        self.reason = reason


def compile_pattern(pattern: str, engine: Engine) -> tuple[Rule, ...]:
    r"""Return rules that match what `engine` matches with `pattern`.

    The time is about linear in the length of `pattern`. Raises NotCompiledError if no rules match
    exactly the same, and UnreadablePatternError for a pattern that the parser rejects or that is
    longer than MAX_PATTERN_LENGTH.

    >>> compile_pattern(r"\p{L}+|\d{2}|.", "hf")
    (Run(LETTER), Run(DIGIT, at_most=2, at_least=2), Run(~code_points('\n'), at_most=1))
    """
    result = _compiled(pattern, engine)
    if isinstance(result, tuple):
        return result
    raise result


@lru_cache(maxsize=64)
def _compiled(
    pattern: str, engine: Engine
) -> tuple[Rule, ...] | NotCompiledError | UnreadablePatternError:
    """Return the rules of `pattern`, or the error to raise; lru_cache caches no raised errors."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return UnreadablePatternError(
            f"the pattern has {len(pattern):,} characters; expected at most {MAX_PATTERN_LENGTH:,}"
        )
    try:
        alternatives = read(pattern, engine)
        maker = ItemMaker()
        rules = _of_alternatives(list(map(maker.of_sequence, alternatives)), engine)
        return _checked(_with_common_sets(rules), alternatives[0][0])
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
    return Stage(rules, pattern, *simplest(pattern, engine, behavior, invert))


def simplest(
    pattern: str, engine: Engine, behavior: Behavior, invert: bool
) -> tuple[Behavior, bool]:
    """Return the simplest (behavior, invert) that gives the same split by `pattern`."""
    # If the matches cover every text, there are no gaps, so removing the gaps changes nothing.
    if (behavior, invert) == ("removed", True) and matches_everywhere(pattern, engine):
        return "isolated", False
    return behavior, invert and behavior != "isolated"


@lru_cache(maxsize=64)
def matches_everywhere(pattern: str, engine: Engine) -> bool:
    """Return True only if some alternative matches at every position of every text.

    The result may be False although the alternatives match everywhere.
    """
    try:
        alternatives = list(map(ItemMaker().of_sequence, read(pattern, engine)))
    except (UnreadablePatternError, Refusal):
        return False
    # No alternative may match the empty text: engines advance differently after an empty match.
    if any(map(_may_be_empty, alternatives)):
        return False
    return not ~union(map(_always_matched, alternatives))


def _always_matched(items: Items) -> CharSet:
    """Return a set of code points at each of which `items` match, whatever text follows."""
    taken: list[CharSet] = []  # by possessive items, which give nothing back
    needed: list[Item] = []
    for item in items:
        if isinstance(item, Look):
            return NOTHING
        if not _may_be_empty((item,)):
            needed.append(item)
        elif isinstance(item, Part) and item.mode == "possessive" and not needed:
            taken.append(item.chars)
    # Optional items can give back all that they took. So the only required item can match at the
    # start.
    if len(needed) != 1:
        return NOTHING
    (item,) = needed
    if isinstance(item, Choice):
        chars = union(map(_always_matched, item.alternatives))
    elif isinstance(item, Loop):
        chars = _always_matched(item.items)
    else:
        chars = item.chars if isinstance(item, Part) and item.low == 1 else NOTHING
    return chars - union(taken)


def name_of(pattern: str, engine: Engine) -> str:
    """Return the name of the preset that a pattern compiles to."""
    digest = sha256(f"{engine} {pattern}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"pattern-{digest[:8]}"


def _of_alternatives(alternatives: list[Items], engine: Engine) -> list[Rule]:
    """Return the rules of `alternatives`, in order (lemmas 1, 2 and 9)."""
    pending = alternatives[::-1]
    rules: list[Rule] = []
    texts: list[str] = []  # the texts of the literal alternatives since the last rule
    work = 0
    while pending:
        items = _reachable(pending.pop())
        if items is None:
            continue
        work += len(items) + 1
        if work > MAX_WORK:
            raise Refusal(items[0], f"its alternatives expand to more than {MAX_WORK:,} parts")
        if len(items) == 1 and isinstance(items[0], Choice):
            pending += reversed(items[0].alternatives)
            continue
        if _may_be_empty(items):
            raise Refusal(_span(items), "it can match the empty text")
        literal_texts = texts_of(items)
        if literal_texts is not None:
            texts += literal_texts
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
    """Return `items` without the parts whose set is empty; None if `items` never match."""
    if any(isinstance(item, Part) and item.low and not item.chars for item in items):
        return None
    return tuple(item for item in items if not isinstance(item, Part) or item.chars)


def _may_be_empty(items: Items) -> bool:
    """Return whether `items` may match the empty text."""
    return all(
        not item.low
        if isinstance(item, (Part, Loop))
        else not isinstance(item, Choice) or any(map(_may_be_empty, item.alternatives))
        for item in items
    )


def _distributed(items: Items) -> list[Items] | None:
    """Return the alternatives into which lemma 2 splits `items`; None if lemma 2 does not apply."""
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

    If `\s+(?!\S)` has failed, one white-space code point is left, so `\s` and `\s+` match alike.
    """
    is_space = isinstance(rule, Spaces) and rule.through is ALL and rule.at_least == 1
    return Spaces(ALL) if is_space and Spaces(ALL_BUT_LAST) in rules else rule


def _with_common_sets(rules: list[Rule]) -> list[Rule]:
    """Return `rules` with the same sets in all Spaces rules, as a stage requires.

    Only LAST_NEWLINE and BEFORE_NEWLINE use their `newline`, so the other Spaces rules may have any
    subset of `space` as their `newline`. A Spaces(ALL) with another `space` becomes a Run, which
    matches the same.
    """
    own = [rule for rule in rules if isinstance(rule, Spaces) and rule.through is not ALL]
    spaces = {rule.space for rule in own} or {WHITE_SPACE}
    newlines = {rule.newline for rule in own if rule.through in (LAST_NEWLINE, BEFORE_NEWLINE)}
    if len(spaces) > 1 or len(newlines) > 1:
        return rules  # Stage raises an error that says which sets differ.
    (space,) = spaces
    newline = newlines.pop() if newlines else NEWLINE if not NEWLINE - space else space
    changed: list[Rule] = []
    for rule in rules:
        if not isinstance(rule, Spaces):
            changed.append(rule)
        elif rule.space == space:
            changed.append(replace(rule, newline=newline))
        else:
            changed.append(Run(rule.space, at_most=rule.at_most, at_least=rule.at_least))
    return changed


def _checked(rules: list[Rule], first: Node) -> tuple[Rule, ...]:
    """Return `rules` if they make a valid stage; else raise Refusal at `first`."""
    sets = {chars for rule in rules for chars in rule.sets()}
    starts = {start for chars in sets for start, _ in chars.segments}
    if len(sets) * len(starts) > MAX_CELLS:
        raise Refusal(
            first,
            f"the pattern has {len(sets)} sets with {len(starts):,} ranges; expected a "
            f"product of both of at most {MAX_CELLS:,}",
        )
    try:
        Stage(tuple(rules))
        partition(sets)
    except DefinitionError as error:
        raise Refusal(first, str(error)) from None
    return tuple(rules)


def _span(items: Items) -> Part:
    """Return a Part with the span of `items` in the pattern; the span is 0, 0 for no `items`."""
    return Part(items[0].start, items[-1].end, NEWLINE) if items else Part(0, 0, NEWLINE)
