"""All strings over one code point of each class: how many are tried of a preset, and how long."""

from __future__ import annotations

import numpy as np

from pretok.charsets.classified_text import Classifier
from pretok.fuzz.text import changed_runs
from pretok.machine.program import compile_rules
from pretok.preset import Preset
from pretok.unicode import CODE_POINTS

CORE_NAMES = ("gpt2", "r50k", "cl100k", "llama3", "qwen2", "o200k")
"""The presets that stand for their families; of them more is tried."""
STRINGS = {True: 2_000_000, False: 40_000}
"""The greatest number of strings of one length, for the core and for others."""


def one_of_each_class(preset: Preset, version: str) -> str:
    """Return one code point of each class that the preset's rules, of all stages, tell apart.

    It is ASCII where there is one, a letter of a contraction where there is one, and else the first
    that is the same in every Unicode version.
    """
    classes = np.zeros(CODE_POINTS, np.int64)
    for stage in preset.stages:
        alphabet = compile_rules(stage.rules).alphabet
        classes = classes * 32 + Classifier(alphabet, version).classes
    changed = {c for (first, last), _ in changed_runs() for c in range(first, last + 1)}
    wanted = set(np.unique(np.delete(classes, sorted(changed))).tolist())
    found: dict[int, str] = {}
    for point in (*map(ord, "'sL\n \t1!/"), *range(CODE_POINTS)):
        if point not in changed:
            found.setdefault(int(classes[point]), chr(point))
        if len(found) == len(wanted):
            break
    return "".join(found.values())


def longest(letters: str, is_core: bool) -> int:
    """Return the length up to which all strings of `letters` are tried.

    >>> longest("abcdefg", True), longest("abcdefg", False)
    (7, 5)
    """
    length = 0
    while len(letters) ** (length + 1) <= STRINGS[is_core]:
        length += 1
    return length
