"""Define Classes, the characters that the rules of a pre-tokenizer tell apart."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from bpe.normalizers.unicode_forms import UnicodeForm, begins_anew
from pretok.charsets.classified_text import Classifier
from pretok.machine.pair_cuts import letters_of
from pretok.machine.program import compile_rules
from pretok.pre_tokenizer import PreTokenizer
from pretok.rules import Contraction, Groups, Run

CODE_POINTS = 0x110000
SURROGATES = slice(0xD800, 0xE000)
APOSTROPHE = "'"


class Classes:
    """A partition of the characters; texts with equal classes are split alike.

    `of` has the class of each code point. `examples` has characters of each class whose UTF-8
    begins with different bytes; with NFC, only characters that no text before them changes, if the
    class has any. `counted` says for each class whether a rule counts its characters.
    """

    def __init__(
        self, split: PreTokenizer, normalizes: bool, missing: Collection[int] = ()
    ) -> None:
        """Find the classes of all stages of `split` together.

        `examples` have no bytes of `missing`. `normalizes` says whether NFC is applied.
        """
        rules = [rule for stage in split.preset.stages for rule in stage.rules]
        key = np.zeros(CODE_POINTS, np.int64)
        counted = np.zeros(CODE_POINTS, bool)
        for stage in split.preset.stages:
            alphabet = compile_rules(stage.rules).alphabet
            classes = Classifier(alphabet, split.unicode).classes
            key = key * 32 + classes
            for rule in stage.rules:
                if isinstance(rule, (Run, Groups)) and _counts(rule):
                    for chars in rule.sets():
                        counted |= (alphabet.mask(chars) >> classes.astype(np.int64) & 1) > 0
        base = np.unique(key, return_inverse=True)[1]
        letters = sorted(set("".join(map(letters_of, rules))))
        for place, letter in enumerate(letters):
            key[ord(letter)] = -1 - place
        key[SURROGATES] = -1000
        _, firsts, of = np.unique(key, return_index=True, return_inverse=True)
        self.of: NDArray[np.int32] = of.astype(np.int32)
        self.count = len(firsts)
        self.suffix_size = max(
            (len(suffix) for rule in rules for suffix in _suffixes(rule)), default=0
        )
        """The number of characters after an apostrophe that a rule may tell apart."""
        self.has_texts = any(letters_of(rule) and not _suffixes(rule) for rule in rules)
        """True if rules tell letters apart in other places."""
        # The class of the other characters that the sets treat like a distinguished letter.
        representative: dict[int, int] = {}
        for class_, first in enumerate(firsts.tolist()):
            if chr(first) not in letters:
                representative.setdefault(int(base[first]), class_)
        self.plain = np.arange(self.count, dtype=np.int32)
        for letter in letters:
            if letter != APOSTROPHE:
                class_ = int(self.of[ord(letter)])
                self.plain[class_] = representative.get(int(base[ord(letter)]), class_)
        self.surrogate = int(self.of[SURROGATES.start])
        self.examples = self._find_examples(normalizes, frozenset(missing))
        self.counted = np.zeros(self.count, bool)
        self.counted[self.of[counted]] = True

    def text(self, text: str) -> NDArray[np.int32]:
        """Return the class of each character."""
        return self.of[np.frombuffer(text.encode("utf-32-le"), np.uint32)]

    def _find_examples(self, normalizes: bool, missing: frozenset[int]) -> list[list[str]]:
        codes = np.arange(CODE_POINTS)
        # Characters with the same first two bytes of UTF-8 merge alike most of the time.
        bits = np.select([codes < 0x80, codes < 0x800], [0, 6], 12)
        lead = codes >> bits << bits
        pairs = self.of.astype(np.int64) << 32 | lead
        examples: list[list[str]] = [[] for _ in range(self.count)]
        changed: list[list[str]] = [[] for _ in range(self.count)]
        for code in np.unique(pairs, return_index=True)[1].tolist():
            class_, char = int(self.of[code]), chr(code)
            if class_ == self.surrogate or not missing.isdisjoint(char.encode()):
                continue
            keeps = not normalizes or (
                begins_anew(char) and UnicodeForm("NFC").normalize(char) == char
            )
            (examples if keeps else changed)[class_].append(char)
        for class_, found in enumerate(examples):
            found.sort()
            if not found:
                found += changed[class_]
        return examples


def _suffixes(rule: object) -> tuple[str, ...]:
    contraction = rule if isinstance(rule, Contraction) else getattr(rule, "suffix", None)
    return contraction.suffixes if isinstance(contraction, Contraction) else ()


def _counts(rule: Run | Groups) -> bool:
    if isinstance(rule, Groups):
        return True
    return rule.at_most is not None or rule.at_least > 1 or rule.tail_at_most is not None
