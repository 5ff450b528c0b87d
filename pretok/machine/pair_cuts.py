"""Define PairCuts, which finds places where two code points prove that a text may be cut.

A text u + v may be cut after u if the pre-tokens of u, followed by those of v, are the pre-tokens
of u + v. PairCuts knows only the last code point a of u and the first code point b of v, so its
cuts are right for all texts around them.

Proof for one stage. Three conditions must hold:

1. No match of a rule holds the pair (a, b).
2. Some rule matches any text that begins with a, or any that begins with b. So no gap, text without
   a match, holds the pair. Then a pre-token ends between a and b. Rules read no text before their
   match, so the pre-tokens from b on are those of v.
3. No rule that begins in u tells b from the end of the text. A rule reads b only after it has
   matched or read a. By condition 1, b cannot continue the match. Only Spaces and Groups look at
   the code point after their run. Spaces does not, if a is a line break and LAST_NEWLINE is the
   first rule for white space: then the rest of the run is one pre-token in both texts.

A joint is weaker: the text may be cut there, but a pre-token of u + v may hold both sides. It is
then cut in two, and all other pre-tokens stay. There are three kinds of joints:

- Conditions 1 and 3 are true. Then the pair is at a boundary or in a gap.
- One rule holds the pair, conditions 2 and 3 are true for the other rules, and no rule before it
  begins with b. The rule is a Run without a limit whose body has a and b, and whose tail does not
  have a, or a CasedWord in whose lowercase run they are. So its match in u ends after a, and its
  match in v begins with b and ends where that of u + v does.
- Only Spaces rules hold the pair: ALL_BUT_LAST, ALL after it, and maybe END_OF_TEXT. In u + v, a
  run of white space without its last code point is one pre-token, or the whole run at the end of
  the text. The parts of the run in u and in v are split alike, if no rule before ALL_BUT_LAST
  begins with b and takes white space after it. Without ALL_BUT_LAST, another rule could take the
  last code point of the run as its lead in v only.

Several stages. If the pair is a joint of a stage, the next stage gets the pieces of u and of v, but
maybe one piece in place of the last of u and the first of v. So the pair is a cut if it is one of a
stage and a joint of all earlier stages; later stages get two pieces. It is a joint if it is a cut,
or a joint of each stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pretok.charsets.classified_text import Classifier
from pretok.machine.program import compile_rules
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    END_OF_TEXT,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    Groups,
    Literal,
    Rule,
    Run,
    Spaces,
)
from pretok.rules.contraction import FOLD
from pretok.stage import Stage
from pretok.unicode import CODE_POINTS


class PairCuts:
    """Says which pairs of neighbors prove a cut, for the stages of a preset.

    >>> import pretok
    >>> preset = pretok.get("gpt2").preset
    >>> cuts = PairCuts(preset.stages, preset.unicode)
    >>> cuts.is_cut("d", " "), cuts.is_cut(" ", "d"), cuts.is_cut("n", "'")
    (True, False, True)
    """

    def __init__(self, stages: Sequence[Stage], version: str) -> None:
        """Prepare the stages; `version` is the Unicode version of the split."""
        self._stages = [_StagePairs(stage, version) for stage in stages]

    def is_cut(self, before: str, after: str) -> bool:
        """Return whether a text may be cut between two code points, whatever is around them."""
        return self._proves(before, after, False)

    def is_joint(self, before: str, after: str) -> bool:
        """Return whether a cut changes at most the pre-token that holds both code points.

        >>> import pretok
        >>> preset = pretok.get("gpt2").preset
        >>> PairCuts(preset.stages, preset.unicode).is_joint("d", "o")
        True
        """
        return self._proves(before, after, True)

    def _proves(self, before: str, after: str, joint: bool) -> bool:
        """Return whether the pair is a cut, or `joint` if it is a joint of each stage."""
        for stage in self._stages:
            if not stage.is_known:
                return False
            if stage.is_cut(before, after):
                return True
            if not stage.is_joint(before, after):
                return False
        return joint

    def kinds(self, told_apart: Iterable[int] = ()) -> NDArray[np.uint16]:
        """Return the kind of each code point; is_cut and is_joint tell no kind apart.

        Each of the code points `told_apart` gets a kind of its own.

        >>> import pretok
        >>> preset = pretok.get("gpt2").preset
        >>> kinds = PairCuts(preset.stages, preset.unicode).kinds().tolist()
        >>> kinds[ord("b")] == kinds[ord("c")], kinds[ord("b")] == kinds[ord("s")]
        (True, False)
        """
        kinds = np.zeros(CODE_POINTS, np.int64)
        for stage in self._stages:
            # Number the pairs of a kind so far and a class of this stage.
            pairs = kinds << 8 | stage.classes
            is_used = np.bincount(pairs) > 0
            kinds = (np.cumsum(is_used) - 1)[pairs]
        letters = {ord(char) for stage in self._stages for char in stage.letters()}
        for at, point in enumerate(sorted(letters | set(told_apart)), int(kinds.max()) + 1):
            kinds[point] = at
        return kinds.astype(np.uint16)


class _StagePairs:
    """The pairs of one stage. `is_known` is false if nothing is proven for the stage."""

    def __init__(self, stage: Stage, version: str) -> None:
        kinds = (CasedWord, Contraction, Groups, Literal, Run, Spaces)
        self.is_known = stage.behavior == "isolated" and all(
            isinstance(rule, kinds) for rule in stage.rules
        )
        program = compile_rules(stage.rules)
        self._alphabet = program.alphabet
        self.classes = Classifier(program.alphabet, version).classes
        self._rules = stage.rules
        spaces = [rule for rule in stage.rules if isinstance(rule, Spaces)]
        through = [rule.through for rule in spaces]
        unconditional = [each for each in through if each is not END_OF_TEXT]
        self._joins_spaces = unconditional == [ALL_BUT_LAST, ALL] and not any(
            rule.at_most for rule in spaces
        )
        self._white = 0
        for rule in spaces:
            self._white |= program.alphabet.masks[rule.space]
        first = next((at for at, rule in enumerate(stage.rules) if rule in spaces), 0)
        order = through[: through.index(LAST_NEWLINE)] if LAST_NEWLINE in through else [ALL]
        # END_OF_TEXT and LAST_NEWLINE take the same part of a run that ends with a line break.
        self._ends_lines = order in ([], [END_OF_TEXT]) and isinstance(
            stage.rules[first + len(order)], Spaces
        )

    def is_cut(self, before: str, after: str) -> bool:
        """Return whether the three conditions hold."""
        return any(
            self._begins(rule, char) for rule in self._rules for char in (before, after)
        ) and not any(
            self._holds(rule, before, after) or self._sees_end(rule, before, after)
            for rule in self._rules
        )

    def is_joint(self, before: str, after: str) -> bool:
        """Return whether a cut changes at most the match or the gap that holds the pair."""
        holding = [rule for rule in self._rules if self._holds(rule, before, after)]
        if holding and all(isinstance(rule, Spaces) for rule in holding):
            return self._joins_spaces and not self._may_begin_inside(after)
        if any(self._sees_end(rule, before, after) for rule in self._rules):
            return False
        if len(holding) != 1:
            return not holding
        rule, has = holding[0], self._has
        earlier = self._rules[: self._rules.index(rule)]
        if any(has(chars, after) for other in earlier for chars in other.first()):
            return False
        if isinstance(rule, Run):
            is_plain = rule.at_most is None and rule.at_least == 1 and not rule.lead_required
            in_body = has(rule.body, before) and has(rule.body, after)
            return is_plain and in_body and not has(rule.tail, before)
        if not isinstance(rule, CasedWord):
            return False
        in_suffix = rule.suffix is not None and _contracts(rule.suffix, before, after)
        return not in_suffix and all(
            has(rule.lower, char) and not has(rule.upper, char) for char in (before, after)
        )

    def _may_begin_inside(self, char: str) -> bool:
        """Return whether a rule before ALL_BUT_LAST may match `char` and white space after it."""
        for rule in self._rules:
            if isinstance(rule, Spaces):
                if rule.through is ALL_BUT_LAST:
                    return False
            elif any(self._has(chars, char) for chars in rule.first()):
                if not isinstance(rule, (Run, CasedWord)):
                    return True
                # A lead before a word without white space is the last code point of its run.
                word = [rule.body] if isinstance(rule, Run) else [rule.upper, rule.lower]
                if any(self._alphabet.masks[chars] & self._white for chars in word):
                    return True
        return False

    def letters(self) -> set[str]:
        """Return the code points of the texts of all rules, in every case that a rule matches."""
        return {char for rule in self._rules for char in letters_of(rule)}

    def _has(self, chars: object, char: str) -> bool:
        """Return whether a set of the rules, or None, contains `char`."""
        mask = self._alphabet.masks[chars] if chars else 0  # type: ignore[index]
        return bool(mask >> int(self.classes[ord(char)]) & 1)

    def _holds(self, rule: Rule, a: str, b: str) -> bool:
        """Return whether a match may hold the pair."""
        has = self._has
        if isinstance(rule, Run):
            starts_body = has(rule._pure_lead, a) or (rule.at_most != 1 and has(rule.body, a))
            ends_body = has(rule.body, a) or has(rule.tail, a)
            return (starts_body and has(rule.body, b)) or (ends_body and has(rule.tail, b))
        if isinstance(rule, CasedWord):
            in_word = has(rule.upper, a) or has(rule.lower, a)
            if (in_word or has(rule._pure_lead, a)) and (has(rule.upper, b) or has(rule.lower, b)):
                return True
            return rule.suffix is not None and (
                (in_word and b == "'") or _contracts(rule.suffix, a, b)
            )
        if isinstance(rule, Contraction):
            return _contracts(rule, a, b)
        if isinstance(rule, Groups):
            return has(rule.body, a) and has(rule.body, b)
        if isinstance(rule, Spaces):
            return has(rule._part, a) and has(rule._part, b)
        assert isinstance(rule, Literal), "is_known"
        return any(a + b in text for text in rule.texts)

    def _begins(self, rule: Rule, b: str) -> bool:
        """Return whether the rule matches every text that begins with `b`."""
        has = self._has
        if isinstance(rule, Run):
            return rule.at_least == 1 and not rule.lead_required and has(rule.body, b)
        if isinstance(rule, CasedWord):
            return has(rule.upper, b) or has(rule.lower, b)
        if isinstance(rule, Groups):
            return rule.at_least == 1 and rule._stop is None and has(rule.body, b)
        if isinstance(rule, Spaces):
            return rule.through is ALL and rule.at_least == 1 and has(rule.space, b)
        return isinstance(rule, Literal) and b in rule.texts

    def _sees_end(self, rule: Rule, a: str, b: str) -> bool:
        """Return whether the rule may tell `b` from the end of the text."""
        if isinstance(rule, Groups):
            return self._has(rule.body, a) and self._has(rule._stop, b)
        if not isinstance(rule, Spaces) or not self._has(rule.space, a):
            return False
        return not (self._ends_lines and self._has(rule.newline, a))


def letters_of(rule: Rule) -> str:
    """Return the code points of a rule's texts, in every case that the rule matches."""
    if isinstance(rule, CasedWord):
        return "" if rule.suffix is None else letters_of(rule.suffix)
    if isinstance(rule, Contraction):
        letters = "".join(rule.suffixes)
        return "'" + letters + (letters.upper() + "\u017f\u212a" if rule.ignore_case else "")
    return "".join(rule.texts) if isinstance(rule, Literal) else ""


def _contracts(rule: Contraction, a: str, b: str) -> bool:
    """Return whether a match of the rule may hold the pair."""
    pair = (a + b).translate(FOLD) if rule.ignore_case else a + b
    return any(pair in f"'{suffix}" for suffix in rule.suffixes)
