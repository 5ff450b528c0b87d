"""Programs: the rules of stages over the classes of their alphabets, what both backends run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pretok.behaviors import BEHAVIORS
from pretok.charsets.alphabet import Alphabet, partition
from pretok.rules import Rule
from pretok.stage import Stage

MAGIC = 0x70740002
"""First word of serialised stages: 'pt' and the format's version."""


@dataclass(frozen=True)
class Program:
    """The rules of a stage over one alphabet: what both backends run."""

    rules: tuple[Rule, ...]
    alphabet: Alphabet

    def words(self) -> list[int]:
        """Return the program as 32-bit words, as cpp/core/split/program.hpp has them."""
        alphabet = self.alphabet
        words = [alphabet.size, len(alphabet.firsts)]
        for first, classes in zip(alphabet.firsts, alphabet.maps, strict=True):
            padded = classes.ljust(-len(classes) // 4 * -4, b"\0")
            words.append(first)
            words += (int.from_bytes(padded[i : i + 4], "little") for i in range(0, len(padded), 4))
        words.append(len(self.rules))
        for rule in self.rules:
            record = rule.record(alphabet)
            words += [len(record), *record]
        return words


def compile_rules(rules: Sequence[Rule]) -> Program:
    """Return the program of `rules`; raises InvalidRuleError as `partition` does."""
    return Program(tuple(rules), partition(chars for rule in rules for chars in rule.sets()))


def stage_words(stages: Sequence[Stage]) -> list[int]:
    """Return `stages` as 32-bit words, the form that C++ reads (cpp/core/split/program.hpp).

    Raises InvalidRuleError as `partition` does.
    """
    words = [MAGIC, len(stages)]
    for stage in stages:
        program = compile_rules(stage.rules).words()
        words += [BEHAVIORS.index(stage.behavior), int(stage.invert), len(program), *program]
    return words
