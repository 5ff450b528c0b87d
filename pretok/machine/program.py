"""Compile the rules of a stage to a Program, and serialize stages for C++."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pretok.behaviors import BEHAVIORS
from pretok.charsets.alphabet import Alphabet, partition
from pretok.rules import Rule
from pretok.stage import Stage

MAGIC = 0x70740002
"""First word of serialized stages: 0x7074 is 'pt' in ASCII, and 2 is the version of the format."""


@dataclass(frozen=True)
class Program:
    """The rules of a stage, and the alphabet of all sets in these rules.

    The alphabet divides the code points into classes: each set is a union of classes. Both
    backends run programs.
    """

    rules: tuple[Rule, ...]
    alphabet: Alphabet

    def serialize(self) -> list[int]:
        """Return the program as 32-bit words, which cpp/core/split/program.cpp reads."""
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
    """Return the program of `rules`; raises DefinitionError if they need more than 31 classes."""
    return Program(tuple(rules), partition(chars for rule in rules for chars in rule.sets()))


def serialize_stages(stages: Sequence[Stage]) -> list[int]:
    """Return `stages` as 32-bit words, which cpp/core/split/program.cpp reads.

    Raises DefinitionError if the rules of a stage need more than 31 classes.
    """
    words = [MAGIC, len(stages)]
    for stage in stages:
        program = _serialized(stage.rules)
        words += [BEHAVIORS.index(stage.behavior), int(stage.invert), len(program), *program]
    return words


@lru_cache(maxsize=256)
def _serialized(rules: tuple[Rule, ...]) -> tuple[int, ...]:
    """Return the serialized program of `rules`.

    To load a preset that is not built in, bpe compares its program with those of all presets.
    """
    return tuple(compile_rules(rules).serialize())
