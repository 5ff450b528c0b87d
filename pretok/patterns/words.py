"""Turn items into the rules for words and texts: CasedWord, Phrase, Contraction, Literal.

The docstring of `pretok.patterns.compile` has the numbered lemmas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product

from pretok.charsets.sets import CharSet, code_points
from pretok.errors import DefinitionError
from pretok.patterns.char_sets import members
from pretok.patterns.items import Choice, Item, Items, Loop, Part
from pretok.patterns.spelling import spelt
from pretok.rules import FOLD, CasedWord, Contraction, Literal, Phrase, Rule, Run
from pretok.rules.base import MAX_LITERAL

MAX_TEXTS = 256
"""Maximum number of texts that one alternative may add to a Literal or Contraction."""


def cased_word(first: Items, second: Items) -> Rule | None:
    """Return the CasedWord that matches what `first|second` matches (lemma 9).

    Returns None if there is none.
    """
    lead, word, suffix = _around_word(first)
    other_lead, other_word, other_suffix = _around_word(second)
    if len(word) != 2 or len(other_word) != 2 or suffix != other_suffix:
        return None
    (upper, lower), parts = (part.chars for part in word), (*word, *other_word)
    if [(part.low, part.high) for part in parts] != [(0, None), (1, None), (1, None), (0, None)]:
        return None
    if word[0].mode != "greedy" or any(part.mode == "lazy" for part in parts):
        return None
    if [part.chars for part in other_word] != [upper, lower]:
        return None
    if (lead and lead.chars) != (other_lead and other_lead.chars) or not all(
        _may_lead(each, upper | lower) for each in (lead, other_lead)
    ):
        return None
    contraction = contraction_of(suffix)
    if suffix and contraction is None:
        return None
    try:
        return spelt(CasedWord(upper, lower, lead.chars if lead else None, contraction))
    except DefinitionError:
        return None


def word_with_suffix(items: Items) -> Rule | None:
    """Return the CasedWord for a run of one set and a contraction; None for other `items`."""
    lead, word, suffix = _around_word(items)
    contraction = contraction_of(suffix)
    if contraction is None or len(word) != 1 or not _may_lead(lead, word[0].chars):
        return None
    if (word[0].low, word[0].high) != (1, None) or word[0].mode == "lazy":
        return None
    return CasedWord(word[0].chars, word[0].chars, lead.chars if lead else None, contraction)


def _around_word(items: Items) -> tuple[Part | None, tuple[Part, ...], tuple[str, ...]]:
    r"""Split `items`, such as ` ?\w+(?:'s|'t)?`, into a lead, the parts of a word, and a suffix.

    The lead is the first part if it has the quantifier `?`, else None. The suffix is the texts of
    an optional alternation at the end, such as ("'s", "'t"), or (). If `items` have another shape,
    the tuple of parts is empty.
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
    """Return whether a rule may have `lead` before a run of `word`; True without a lead (None).

    A rule takes the lead if it can, and gives the lead back if no word follows. A greedy lead of a
    pattern does so too. A lazy or possessive lead matches the same only if it shares no member with
    `word`.
    """
    return lead is None or lead.mode == "greedy" or not lead.chars & word


def contraction_of(texts: Sequence[str]) -> Contraction | None:
    """Return the Contraction that matches what an alternation of `texts` matches.

    Returns None if there is no such Contraction.
    """
    suffixes = [text[1:] for text in texts]
    if not texts or not all(
        text[0] == "'" and suffix.isalpha() and len(suffix) <= MAX_LITERAL
        for text, suffix in zip(texts, suffixes, strict=True)
    ):
        return None
    folded = dict.fromkeys(suffix.translate(FOLD) for suffix in suffixes)
    if not all(suffix.isascii() for suffix in folded):
        return None
    if is_prefix_free(folded) and set(suffixes) == _of_any_case(folded, len(texts)):
        return Contraction(*folded, ignore_case=True)
    return Contraction(*suffixes) if all(map(str.isascii, suffixes)) else None


def _of_any_case(suffixes: Iterable[str], most: int) -> set[str]:
    """Return all texts that fold to a member of `suffixes`.

    Stops early at a suffix of more than 8 letters, or once there are more than `most` texts. The
    caller compares the result with a set of at most `most` texts, which has a text for every
    suffix. An incomplete result never equals this set: it has too many texts, or no text for some
    suffix.
    """
    forms: dict[str, str] = {chr(code): chr(code) for code in range(ord("a"), ord("z") + 1)}
    for form, letter in FOLD.items():
        forms[chr(letter)] += chr(form)
    texts: set[str] = set()
    for suffix in suffixes:
        if len(suffix) > 8 or len(texts) > most:
            break
        texts.update(map("".join, product(*(forms[char] for char in suffix))))
    return texts


def texts_of(items: Items) -> list[str] | None:
    """Return all texts that `items` match, in order of preference.

    Returns None if there are more than MAX_TEXTS texts, if a text is longer than MAX_LITERAL code
    points, or if a part is not a fixed number of code points of a small set. Also returns None if
    two or more code points have one set of several members, as in `[ab]{2}`, because a Run matches
    this.
    """
    texts = _product(items)
    sets = {item.chars if isinstance(item, Part) else None for item in items}
    if texts is None or not items or (len(sets) == 1 and 1 < len(texts[0]) < len(texts)):
        return None
    return texts


def _product(items: Items) -> list[str] | None:
    """Return all texts that `items` match, with the same limits as `texts_of`."""
    texts = [""]
    for item in items:
        options = _options(item)
        if not options or len(texts) * len(options) > MAX_TEXTS:
            return None
        texts = [text + option for text in texts for option in options]
        if max(map(len, texts)) > MAX_LITERAL:
            return None
    return texts


def _options(item: Item) -> list[str] | None:
    """Return the texts that `item` can match, in order, with the same limits as `texts_of`."""
    if isinstance(item, Part) and item.is_fixed and item.low <= MAX_LITERAL:
        letters = members(item.chars)
        is_small = len(letters) == 1 or len(letters) ** min(item.low, MAX_TEXTS) <= MAX_TEXTS
        return ["".join(text) for text in product(letters, repeat=item.low)] if is_small else None
    if not isinstance(item, Choice):
        return None
    options: list[str] = []
    for alternative in item.alternatives:
        texts = _product(alternative)
        if texts is None or len(options) > MAX_TEXTS:
            return None
        options += texts
    return options


def literal_of(texts: Sequence[str]) -> Rule:
    """Return the rule that matches what an alternation of `texts` matches."""
    texts = list(dict.fromkeys(texts))
    if len(texts) > 1 and all(len(text) == 1 for text in texts):
        return spelt(Run(code_points(*texts), at_most=1))
    return contraction_of(texts) or Literal(*texts)


def in_one_order(rule: Rule) -> Rule:
    """Return `rule` with its texts sorted, if their order does not matter."""
    if isinstance(rule, Literal) and is_prefix_free(rule.texts):
        return Literal(*sorted(rule.texts))
    if isinstance(rule, Contraction):
        return _suffixes_in_one_order(rule)
    if isinstance(rule, CasedWord) and rule.suffix is not None:
        return replace(rule, suffix=_suffixes_in_one_order(rule.suffix))
    return rule


def _suffixes_in_one_order(rule: Contraction) -> Contraction:
    if not is_prefix_free(rule.suffixes):
        return rule
    return Contraction(*sorted(rule.suffixes), ignore_case=rule.ignore_case)


def all_texts(rule: object) -> set[str] | None:
    """Return all texts that a Literal or Contraction matches; None for another object."""
    if isinstance(rule, Literal):
        return {*rule.texts}
    if not isinstance(rule, Contraction):
        return None
    most = MAX_TEXTS * len(rule.suffixes)
    forms = _of_any_case(rule.suffixes, most) if rule.ignore_case else rule.suffixes
    return {f"'{form}" for form in forms}


def is_prefix_free(texts: Iterable[str]) -> bool:
    """Return whether no text is a prefix of another text, so that at most one of them matches."""
    # A text that is a prefix of any other text is also a prefix of the next one in sorted order.
    return not any(after.startswith(text) for text, after in pairwise(sorted(texts)))


def phrase(items: Items) -> Rule | None:
    """Return the Phrase that matches what `items` match (lemma 8); None if there is none."""
    if not items or not isinstance(items[-1], Loop):
        return None
    loop = items[-1]
    before = items[:-1]
    lead = before[0] if before and isinstance(before[0], Part) else None
    if lead is not None and (lead.low, lead.high) != (0, 1):
        lead = None
    word = before[lead is not None :]
    # Here A is the set of the lead, `ST*` is a word, and J is the set of the joint. A Phrase
    # matches like `A?(?:ST*(?:JST*)*)+`: a word may follow another word without a joint. The
    # pattern `A?ST*(?:JST*)*` does not allow this. It matches the same only if S is a subset of
    # T, because then T* already takes the second word.
    if loop.low == 1 and not word and isinstance(loop.items[-1], Loop):
        word, loop = loop.items[:-1], loop.items[-1]
        is_repeated = True
    else:
        is_repeated = False
    first_word, later_word = _word(word), _word(loop.items[1:])
    joint = loop.items[0]
    if first_word is None or first_word != later_word or loop.low or not isinstance(joint, Part):
        return None
    start, rest = first_word
    if (joint.low, joint.high) != (1, 1) or not (is_repeated or not start - rest):
        return None
    if not _may_lead(lead, start):
        return None
    return Phrase(start, rest, joint.chars, lead.chars if lead else None)


def _word(items: Items) -> tuple[CharSet, CharSet] | None:
    """Return the sets (S, T) of `S T*`, or (S, S) of `S+`; None for other `items`."""
    parts = [item for item in items if isinstance(item, Part) and item.mode == "greedy"]
    shapes = [(part.low, part.high) for part in parts]
    if len(parts) < len(items):
        return None
    if shapes == [(1, None)]:
        return parts[0].chars, parts[0].chars
    return (parts[0].chars, parts[1].chars) if shapes == [(1, 1), (0, None)] else None
