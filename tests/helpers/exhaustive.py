"""Choose the strings of exhaustive tests.

The alphabet of these strings has one code point of each class. A class is a set of code points that
all rules of a stage treat alike, so one code point stands for its class. The tests try all strings
over this alphabet, up to a maximum length.
"""

from __future__ import annotations

import numpy as np

from pretok.charsets.classified_text import Classifier
from pretok.fuzz.text import changed_runs
from pretok.machine.program import compile_rules
from pretok.preset import Preset
from pretok.presets import CORE
from pretok.unicode import CODE_POINTS

CORE_NAMES = tuple(preset.name for preset in CORE)
"""The main preset of each family. Tests try longer strings for these presets."""
MAX_STRINGS = {True: 2_000_000, False: 40_000}
"""The maximum number of strings that have the same length.

The key True is for presets in CORE_NAMES, the key False for other presets.
"""


def one_of_each_class(preset: Preset, version: str) -> str:
    """Return one code point for each combination of the classes of all stages.

    Skips code points whose properties differ between Unicode versions. Prefers common ASCII
    characters, then the lowest code point.
    """
    classes = np.zeros(CODE_POINTS, np.int64)
    for stage in preset.stages:
        alphabet = compile_rules(stage.rules).alphabet
        # A stage has fewer than 32 classes, so each combination of classes is a different number.
        classes = classes * 32 + Classifier(alphabet, version).classes
    is_stable = np.ones(CODE_POINTS, bool)
    for (first, last), _ in changed_runs():
        is_stable[first : last + 1] = False
    code_points = np.flatnonzero(is_stable)
    run_starts = code_points[np.diff(classes[code_points], prepend=-1) != 0].tolist()
    examples: dict[int, str] = {}
    for code_point in (*map(ord, "'sL\n \t1!/"), *run_starts):
        examples.setdefault(int(classes[code_point]), chr(code_point))
    return "".join(examples.values())


def longest(letters: str, is_core: bool) -> int:
    """Return the greatest n such that tests try all strings over `letters` up to length n.

    >>> longest("abcdefg", True), longest("abcdefg", False)
    (7, 5)
    """
    length = 0
    while len(letters) ** (length + 1) <= MAX_STRINGS[is_core]:
        length += 1
    return length
