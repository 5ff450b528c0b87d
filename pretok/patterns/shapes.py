"""Turn the items of one alternative into one rule, or say why no rule matches the same.

`pretok.patterns.compile` states the lemmas that these functions rely on, by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise, product
from typing import NoReturn

from pretok.charsets.notation import set_regex
from pretok.charsets.sets import (
    ALL_ATOMS,
    ANY,
    NEWLINE,
    NOTHING,
    ONIGURUMA_WORD,
    WHITE_SPACE,
    WORD,
    CharSet,
    union,
)
from pretok.errors import DefinitionError
from pretok.patterns.ast import Chars, EngineSpecific, Group, Lookahead, Node, Repeat
from pretok.patterns.items import Choice, Item, Items, Look, Loop, Part, Refusal
from pretok.patterns.parser import members
from pretok.preset import Engine
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    END_OF_TEXT,
    FOLD,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    Enclosed,
    Groups,
    Literal,
    Phrase,
    Rule,
    Run,
    Spaces,
)
from pretok.rules.base import MAX_LITERAL
from pretok.unicode.atoms import Atom

MAX_PARTS = 64
"""Limit of the parts of one sequence that is not a text; a rule has three."""
MAX_TEXTS = 256
"""Limit of the texts that one alternative stands for, if they become a Literal."""
_WORDS: dict[Engine, CharSet] = {"hf": ONIGURUMA_WORD, "tiktoken": WORD}


def rule_of(items: Items, engine: Engine) -> Rule:
    """Return the rule that matches what `items` match; raises Refusal."""
    try:
        return spelt(_phrase(items) or _word_with_suffix(items) or _rule(items, engine))
    except DefinitionError as error:
        raise Refusal(_whole(items), str(error)) from None


def cased_word(first: Items, second: Items) -> Rule | None:
    """Return the CasedWord that two neighboring alternatives spell; None if they spell none."""
    lead, word, suffix = _around_word(first)
    other_lead, other_word, other_suffix = _around_word(second)
    if len(word) != 2 or len(other_word) != 2 or (lead, suffix) != (other_lead, other_suffix):
        return None
    shapes = [(part.low, part.high, part.mode) for part in (*word, *other_word)]
    some, any_number = (1, None, "greedy"), (0, None, "greedy")
    upper, lower = (part.chars for part in word)
    if shapes != [any_number, some, some, any_number] or not _may_lead(lead, upper | lower):
        return None
    if [part.chars for part in other_word] != [upper, lower]:
        return None
    contraction = contraction_of(suffix)
    if suffix and contraction is None:
        return None
    try:
        return spelt(CasedWord(upper, lower, lead.chars if lead else None, contraction))
    except DefinitionError:
        return None


def _word_with_suffix(items: Items) -> Rule | None:
    lead, word, suffix = _around_word(items)
    contraction = contraction_of(suffix)
    if contraction is None or len(word) != 1 or not _may_lead(lead, word[0].chars):
        return None
    if (word[0].low, word[0].high, word[0].mode) != (1, None, "greedy"):
        return None
    return CasedWord(word[0].chars, word[0].chars, lead.chars if lead else None, contraction)


def _around_word(items: Items) -> tuple[Part | None, tuple[Part, ...], tuple[str, ...]]:
    """Return the optional lead, the parts after it, and the texts of the optional suffix.

    Return no parts if `items` have another shape.
    """
    suffix: tuple[str, ...] = ()
    if items and isinstance(items[-1], Choice):
        *options, nothing = items[-1].alternatives
        texts = [texts_of(option) for option in options]
        if nothing or not options or not all(texts):
            return None, (), ()
        suffix = tuple(text for each in texts for text in each or ())
        items = items[:-1]
    parts = tuple(item for item in items if isinstance(item, Part))
    if not parts or len(parts) < len(items):
        return None, (), ()
    has_lead = (parts[0].low, parts[0].high) == (0, 1)
    return (parts[0] if has_lead else None), parts[has_lead:], suffix


def _may_lead(lead: Part | None, word: CharSet) -> bool:
    return lead is None or lead.mode == "greedy" or not lead.chars & word


def contraction_of(texts: Sequence[str]) -> Contraction | None:
    """Return the Contraction that matches the first of `texts` found; None if there is none."""
    suffixes = [text[1:] for text in texts]
    if not texts or not all(
        text[0] == "'" and suffix.isalpha() and len(suffix) <= MAX_LITERAL
        for text, suffix in zip(texts, suffixes, strict=True)
    ):
        return None
    folded = dict.fromkeys(suffix.translate(FOLD) for suffix in suffixes)
    if not all(suffix.isascii() for suffix in folded):
        return None
    # Without a suffix that begins another one, the order does not matter.
    ordered = sorted(folded)
    is_free = not any(b.startswith(a) for a, b in pairwise(ordered))
    if is_free and set(suffixes) == _of_any_case(folded, len(texts)):
        return Contraction(*folded, ignore_case=True)
    return Contraction(*suffixes) if all(map(str.isascii, suffixes)) else None


def _of_any_case(suffixes: dict[str, None], most: int) -> set[str]:
    """Return the forms of `suffixes` that fold to them; an incomplete set if more than `most`."""
    forms: dict[str, str] = {chr(code): chr(code) for code in range(ord("a"), ord("z") + 1)}
    for form, letter in FOLD.items():
        forms[chr(letter)] += chr(form)
    found: set[str] = set()
    for suffix in suffixes:
        if len(suffix) > 8 or len(found) > most:
            break
        found.update(map("".join, product(*(forms[char] for char in suffix))))
    return found


def texts_of(items: Items) -> list[str] | None:
    """Return the texts that `items` match, if they are few; None for a run of one set."""
    choices: list[str] = []
    count = 1
    for item in items:
        if not isinstance(item, Part) or not item.is_fixed or item.low > MAX_LITERAL:
            return None
        choices += [members(item.chars)] * item.low
        count *= len(choices[-1]) ** item.low
        if not 0 < count <= MAX_TEXTS or len(choices) > MAX_LITERAL:
            return None
    if not items or (len(set(choices)) == 1 and len(choices[0]) > 1):
        return None
    return ["".join(chars) for chars in product(*choices)]


def literal_of(texts: Sequence[str]) -> Rule:
    """Return the rule that matches the first of `texts` found."""
    return contraction_of(texts) or Literal(*texts)


def _phrase(items: Items) -> Rule | None:
    """Return the Phrase that `items` spell (lemma 8); None if they spell none."""
    if not items or not isinstance(items[-1], Loop):
        return None
    loop = items[-1]
    before = items[:-1]
    lead = before[0] if before and isinstance(before[0], Part) else None
    if lead is not None and (lead.low, lead.high) != (0, 1):
        lead = None
    word = before[lead is not None :]
    if loop.low == 1 and not word and isinstance(loop.items[-1], Loop):
        word, loop = loop.items[:-1], loop.items[-1]
        is_closed = True
    else:
        is_closed = False
    ours, theirs = _word(word), _word(loop.items[1:])
    joint = loop.items[0]
    if ours is None or ours != theirs or loop.low or not isinstance(joint, Part):
        return None
    start, rest = ours
    if (joint.low, joint.high) != (1, 1) or not (is_closed or not start - rest):
        return None
    if not _may_lead(lead, start):
        return None
    return Phrase(start, rest, joint.chars, lead.chars if lead else None)


def _word(items: Items) -> tuple[CharSet, CharSet] | None:
    """Return S and T of `S T*`, and S twice for `S+`."""
    parts = [item for item in items if isinstance(item, Part) and item.mode == "greedy"]
    shapes = [(part.low, part.high) for part in parts]
    if len(parts) < len(items):
        return None
    if shapes == [(1, None)]:
        return parts[0].chars, parts[0].chars
    return (parts[0].chars, parts[1].chars) if shapes == [(1, 1), (0, None)] else None


def _rule(items: Items, engine: Engine) -> Rule:
    look = items[-1] if isinstance(items[-1], Look) else None
    parts: list[Part] = []
    for item in items[: -1 if look else None]:
        if not isinstance(item, Part):
            _refuse_item(item)
        parts.append(item)
    if len(parts) > MAX_PARTS:
        raise Refusal(_whole(items), f"a rule has at most three parts, this has {len(parts):,}")
    if look is not None:
        rule = _with_look(parts, look, engine)
        if rule is not None:
            return rule
    parts = _simplified(parts)
    return _spaces(parts) or _enclosed(parts) or _run(parts)


def _refuse_item(item: Item) -> NoReturn:
    if isinstance(item, Choice):
        raise Refusal(item, "no rule has alternatives after a run, except a contraction")
    if isinstance(item, Loop):
        raise Refusal(item, "no rule repeats this group, except words with a joint between them")
    if isinstance(item, Look) and isinstance(item.node, EngineSpecific):
        raise Refusal(item, "it may depend on the text before the match, or stops backtracking")
    raise Refusal(item, "a rule looks ahead only at the end of its match")


def _with_look(parts: list[Part], look: Look, engine: Engine) -> Rule | None:
    """Return the rule for `parts` before `look` (lemmas 5 and 7); None if `look` always holds."""
    if not parts:
        _refuse_item(look)
    groups = _groups(parts, look.node, engine)
    if groups is not None:
        return groups
    if look.allowed is None:
        if isinstance(look.node, EngineSpecific):
            _refuse_item(look)
        raise Refusal(look, "a rule looks at one code point after its match, not at more")
    last = parts[-1]
    chars, after = last.chars, look.allowed
    if (after == ANY and look.at_end) or (
        last.high is None and last.mode != "lazy" and look.at_end and not ~(after | chars)
    ):
        return None
    if len(parts) == 1 and look.at_end and not after - chars:
        if last.mode == "lazy" and after == chars:
            last = replace(last, high=last.low)
        is_whole = last.high is None and last.low == 1
        if is_whole and (after == NOTHING or last.mode == "possessive"):
            return Spaces(END_OF_TEXT, space=chars, newline=_newline_of(chars))
        is_greedy = last.is_fixed or last.mode == "greedy"
        if after == chars and is_greedy and (is_whole or last.high is not None):
            most = None if is_whole else last.high
            newline = _newline_of(chars)
            return Spaces(ALL_BUT_LAST, most, last.low, space=chars, newline=newline)
    raise Refusal(
        look,
        "after a match a rule knows only whether its run, of one set, ends there or with the "
        r"text, as in \s+(?!\S) and \s+\z; otherwise it would have to give code points back",
    )


def _newline_of(chars: CharSet) -> CharSet:
    """Return a set within `chars` for a Spaces rule that does not depend on it."""
    return chars if NEWLINE - chars else NEWLINE


def _groups(parts: list[Part], node: Node, engine: Engine) -> Rule | None:
    """Return the Groups rule for `B{1,k}(?=(?:B{k})*(?!B))` (lemma 7)."""
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
    """Return k if `node` is `(?:S{k})*` for the set `chars`."""
    if not isinstance(node, Repeat) or (node.low, node.high) != (0, None):
        return None
    if node.mode != "greedy":
        return None
    what, size = node.node, 1
    while isinstance(what, (Group, Repeat)):
        if isinstance(what, Group):
            if len(what.alternatives) != 1 or len(what.alternatives[0]) != 1:
                return None
            what = what.alternatives[0][0]
        else:
            if what.low != what.high:
                return None
            size *= what.low
            what = what.node
    return size if _only((what,)) == chars else None


def _only(sequence: tuple[Node, ...]) -> CharSet | None:
    node = sequence[0] if len(sequence) == 1 else None
    return node.chars if isinstance(node, Chars) and not node.properties else None


def _simplified(parts: list[Part]) -> list[Part]:
    """Return `parts` without lazy marks (lemma 3), runs of one set joined; checks lemma 4."""
    found: list[Part] = []
    for part in reversed(parts):
        if part.mode == "lazy" and not part.is_fixed:
            needed = _needed(found)
            if needed is None:
                part = replace(part, high=part.low)
            elif part.chars & union(needed):
                raise Refusal(part, "a lazy run that stops where the next part matches")
            part = replace(part, mode="greedy")
            if part.high == 0:
                continue
        found.insert(0, part)
        if len(found) > 1 and _can_join(found[0], found[1]):
            found[:2] = [_joined(found[0], found[1])]
    return found


def _can_join(one: Part, other: Part) -> bool:
    alike = one.chars == other.chars and (one.is_fixed or one.mode == "greedy")
    return alike and (other.is_fixed or other.mode == "greedy")


def _joined(one: Part, other: Part) -> Part:
    high = None if one.high is None or other.high is None else one.high + other.high
    return Part(one.start, other.end, one.chars, one.low + other.low, high)


def _needed(parts: Sequence[Part]) -> list[CharSet] | None:
    """Return the sets up to that of the first required part; None if no part is required."""
    found: list[CharSet] = []
    for part in parts:
        found.append(part.chars)
        if part.low:
            return found
    return None


def _require_no_giving_back(parts: Sequence[Part]) -> None:
    """Raise Refusal unless lemma 4 holds for `parts`."""
    for number, part in enumerate(parts):
        needed = _needed(parts[number + 1 :])
        if part.is_fixed or part.mode == "possessive" or needed is None:
            continue
        shared = part.chars & union(needed)
        if shared:
            raise Refusal(
                part,
                f"it may have to give back code points of {_short(shared)} that the next part "
                "needs, so matching would need backtracking",
            )


def _spaces(parts: list[Part]) -> Rule | None:
    r"""Return the Spaces rule for `\s{n,m}` and `S*N+` (lemmas 5 and 6)."""
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
    """Return the Enclosed rule for a run between two texts; None if there are no such texts."""
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
    """Return the only text that `parts` match; "" if there are several."""
    found = ""
    for part in parts:
        char = members(part.chars, max_members=1)
        if not char or not part.is_fixed or len(found) + part.low > MAX_LITERAL:
            return ""
        found += char * part.low
    return found


def _run(parts: list[Part]) -> Rule:
    """Return the Run for `lead?body{n,m}tail*`, each part but the body optional (lemma 4)."""
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
                "no rule needs this part after a run: where it is missing, each code point of the "
                "run would scan the rest of it again",
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
                lead, f"no rule has a lead that shares {_short(overlap)} with what follows it"
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


def _short(chars: CharSet) -> str:
    text = set_regex(chars)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _whole(items: Items) -> Part:
    return Part(items[0].start, items[-1].end, NOTHING)


_NEWLINE, _SPACE = 1 << Atom.NEWLINE, 1 << Atom.SPACE


def spelt(rule: Rule) -> Rule:
    r"""Return `rule` with its sets spelt as the presets spell them.

    >>> from pretok.charsets.sets import code_points
    >>> spelt(Run(code_points("\r", "\n")))
    Run(NEWLINE)
    """
    sets = {each.name: getattr(rule, each.name) for each in fields(rule)}
    changes = {name: _spelt(value) for name, value in sets.items() if isinstance(value, CharSet)}
    return replace(rule, **changes) if changes else rule


def _spelt(chars: CharSet) -> CharSet:
    """Return `chars` with line breaks and U+0020 as atoms instead of ASCII code points."""
    fixed = _SPACE
    if chars.mask_at(0x0A) & _NEWLINE == chars.mask_at(0x0D) & _NEWLINE:
        fixed |= _NEWLINE
    known = (chars.mask_at(0x20) & _SPACE | chars.mask_at(0x0A) & _NEWLINE) & fixed
    kept: list[tuple[int, int]] = []
    for first, mask in chars.segments:
        if mask != ALL_ATOMS:
            mask = mask & ~fixed | known
        if not kept or kept[-1][1] != mask:
            kept.append((first, mask))
    return CharSet(tuple(kept))
