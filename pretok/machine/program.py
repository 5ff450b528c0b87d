"""Compile the rules of stages to rules over the classes of an alphabet, and serialize them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pretok.behaviors import BEHAVIORS
from pretok.charsets.alphabet import Alphabet, partition
from pretok.rules import Rule
from pretok.stage import Stage

MAGIC = 0x70740002
"""First word of serialized stages: 'pt' and the format's version."""


@dataclass(frozen=True)
class Program:
    """The rules of a stage over one alphabet; both backends run it."""

    rules: tuple[Rule, ...]
    alphabet: Alphabet

    def serialize(self) -> list[int]:
        """Return the program as 32-bit words, in the format of cpp/core/split/program.hpp."""
        alphabet = self.alphabet
        words = [alphabet.size, len(alphabet.range_starts)]
        for first, classes in zip(alphabet.range_starts, alphabet.class_maps, strict=True):
            padded = classes.ljust(-len(classes) // 4 * -4, b"\0")
            words.append(first)
            words += (int.from_bytes(padded[i : i + 4], "little") for i in range(0, len(padded), 4))
        words.append(len(self.rules))
        for rule in self.rules:
            record = rule.serialize(alphabet)
            words += [len(record), *record]
        return words


def compile_rules(rules: Sequence[Rule]) -> Program:
    """Return the program of `rules`; raises DefinitionError as `partition` does."""
    return Program(tuple(rules), partition(chars for rule in rules for chars in rule.sets()))


def serialize_stages(stages: Sequence[Stage]) -> list[int]:
    """Return `stages` as 32-bit words, in the format of cpp/core/split/program.hpp.

    Raises DefinitionError as `partition` does.
    """
    words = [MAGIC, len(stages)]
    for stage in stages:
        program = compile_rules(stage.rules).serialize()
        words += [BEHAVIORS.index(stage.behavior), int(stage.invert), len(program), *program]
    return words
