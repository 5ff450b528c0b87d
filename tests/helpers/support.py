"""Backends, engines to compare with, random seeds, and measurements, for all tests."""

from __future__ import annotations

import gc
import importlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import regex
from numpy.typing import NDArray

import exhaustive
import pretok
from pretok.charsets.sets import CharSet
from pretok.fuzz.engines import Ask, engine
from pretok.preset import Preset
from pretok.rules import Rule
from pretok.unicode import CODE_POINTS, VERSIONS, table

T = TypeVar("T")

BACKENDS = ("python", "native")
PRESET_NAMES: list[str] = [preset.name for preset in pretok.presets() if not preset.drops_text]
"""The presets that keep the whole text."""
CORE_NAMES = list(exhaustive.CORE_NAMES)
"""The main preset of each family. Each has one stage, a pass of rules over the whole text. Its
rules leave no gap, a text that no rule matches."""
SOME_NAMES = [*CORE_NAMES, "starcoder", "falcon", "deepseek-v3", "superbpe"]
"""CORE_NAMES, and some presets with several stages or with gaps."""


REPORT: list[str] = []
"""Lines that the run prints at its end, such as the number of strings of an exhaustive test."""


def _seed() -> int | None:
    value = os.environ.get("PRETOK_SEED") or None
    if value == "random":
        value = os.environ["PRETOK_SEED"] = str(random.SystemRandom().randrange(1 << 32))
    return None if value is None else int(value)


SEED: int | None = _seed()
"""The seed in PRETOK_SEED: a number, or "random" for a new seed, which the run prints at its end.
None if not set; random tests then try the same examples in each run. Workers of pytest-xdist
inherit the seed."""


FULL = os.environ.get("PRETOK_FULL") == "1"
"""If true, `sample` returns all cases, and tests that take minutes run. Nightly runs set
PRETOK_FULL."""

MAX_FIXED = 30
"""The greatest number of examples of a random test, unless PRETOK_MAX_EXAMPLES sets the number."""


def seeded(key: str | int) -> random.Random:
    """Return a generator that depends only on `key` and SEED."""
    return random.Random(key if SEED is None else f"{SEED} {key}")


def max_examples(default: int) -> int:
    """Return the number of examples of a random test: PRETOK_MAX_EXAMPLES, or `default`.

    The default is at most MAX_FIXED, because repeating the same examples in each run finds little.
    Nightly runs set PRETOK_MAX_EXAMPLES, and try many more examples with a new seed.
    """
    return int(os.environ.get("PRETOK_MAX_EXAMPLES") or min(default, MAX_FIXED))


def strings(letters: Sequence[str], length: int, size: int) -> Iterator[str]:
    """Yield all strings of `length` letters if FULL or if there are at most `size`.

    Otherwise yield `size` random ones, some perhaps twice.
    """
    if FULL or len(letters) ** length <= size:
        return map("".join, product(letters, repeat=length))
    source = seeded(f"{''.join(letters)} {length}")
    return ("".join(source.choices(letters, k=length)) for _ in range(size))


def sample(cases: Iterable[T], size: int) -> list[T]:
    """Return all `cases` if FULL, otherwise at most `size` of them, in their order.

    `seeded` chooses the cases. Exhaustive tests use this function: a change of the code that breaks
    a few cases usually breaks many, so a part of them finds it at once. A nightly run tries all.
    """
    found = list(cases)
    if FULL or len(found) <= size:
        return found
    return [found[at] for at in sorted(seeded(len(found)).sample(range(len(found)), size))]


def native_missing() -> str:
    """Return why the native backend cannot be tested, or "" if it can."""
    try:
        import pretok._core  # noqa: F401
    except ImportError as error:
        return f"the native backend is not built: {error}"
    return ""


def need_native() -> None:
    """Skip the test if the extension is missing; fail it if PRETOK_REQUIRE_NATIVE=1."""
    missing = native_missing()
    if not missing:
        return
    if os.environ.get("PRETOK_REQUIRE_NATIVE") == "1":
        pytest.fail(f"PRETOK_REQUIRE_NATIVE=1, but {missing}")
    pytest.skip(missing)


def need(module: str) -> Any:
    """Return a module; without it skip the test, or fail it if PRETOK_REQUIRE_FRIENDS=1."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        reason = f"{module} is not installed: {error}"
    if os.environ.get("PRETOK_REQUIRE_FRIENDS") == "1":
        pytest.fail(f"PRETOK_REQUIRE_FRIENDS=1, but {reason}")
    pytest.skip(reason)


@cache
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def regex_split(pattern: str, text: str) -> list[str]:
    """Return the parts of `text` by `regex`: each match, and the text around the matches.

    Leaves out empty parts.
    """
    found: list[str] = []
    end = 0
    for match in _compiled(pattern).finditer(text):
        found += [text[end : match.start()], match.group()]
        end = match.end()
    return [part for part in [*found, text[end:]] if part]


def changed(
    preset: Preset, rules: Iterable[Rule] | None = None, pattern: str | None = None
) -> Preset:
    """Return `preset`, which must have one stage, with other rules or another pattern."""
    return Preset(
        preset.name,
        preset.rules if rules is None else rules,
        preset.aliases,
        preset.engine,
        preset.source,
        preset.pattern if pattern is None else pattern,
        preset.unicode,
    )


@lru_cache(100)
def _ask_engine_of(preset: Preset) -> Ask:
    module = "tokenizers" if preset.engine == "hf" else "tiktoken"
    pytest.importorskip(module, reason=f"{module} is not installed")
    return engine(preset.engine).comparisons(pretok.get(preset))[0].theirs


def engine_splits(preset: Preset, texts: Sequence[str]) -> list[list[str]]:
    """Return the split of each text by the engine of `preset`.

    Skips the test if the engine, tiktoken or Hugging Face's tokenizers, is not installed.

    tiktoken gets a new vocabulary in each call, so one call with many texts is faster.
    """
    return _ask_engine_of(preset)(texts)


def engine_split(preset: Preset, text: str) -> list[str]:
    """Return the split of `text` by the engine of `preset`; see engine_splits."""
    return engine_splits(preset, [text])[0]


def atoms_by_code_point(version: str) -> NDArray[np.uint8]:
    """Return the atom of each code point, in order of code points.

    An atom is a smallest part in a partition of all code points, by their properties.
    """
    firsts, atoms = table(version)
    return np.repeat(atoms, np.diff(firsts, append=CODE_POINTS))


def members(chars: CharSet, version: str = "16.0") -> NDArray[np.bool_]:
    """Return, for each code point, whether it belongs to `chars`: the definition of a CharSet.

    A segment ends where the next one starts. Its mask has bit i if the set has the code points of
    atom i in this segment.
    """
    masks = np.zeros(CODE_POINTS, np.int64)
    for first, mask in chars.segments:
        masks[first:] = mask
    return ((masks >> atoms_by_code_point(version)) & 1).astype(bool)


@cache
def scalar_values() -> list[int]:
    """Return all code points but surrogates if FULL, otherwise a selection.

    The selection has U+0000 to U+1FFFF, compatibility ideographs, tags, the first and last code
    point of each run of one atom in any Unicode version, and every 257th code point.
    """
    asked = np.zeros(CODE_POINTS, bool)
    asked[:0x20000] = asked[0x2F800:0x2FA20] = asked[0xE0000:0xE0200] = asked[::257] = True
    for version in VERSIONS:
        firsts = table(version)[0]
        asked[firsts] = asked[firsts[1:] - 1] = True
    asked[-3:] = True
    if FULL:
        asked[:] = True
    asked[0xD800:0xE000] = False
    found: list[int] = np.flatnonzero(asked).tolist()
    return found


@cache
def _unstable() -> frozenset[int]:
    rows = np.stack([atoms_by_code_point(version) for version in VERSIONS])
    return frozenset(np.flatnonzero(np.any(rows != rows[0], axis=0)).tolist())


def stable(text: str) -> bool:
    """Return whether every code point of `text` has the same atom in all of pretok's versions.

    Only such texts can be compared with an engine of any Unicode version.
    """
    return _unstable().isdisjoint(map(ord, text))


def run_python(
    code: str, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a new process with the same pretok as in this process."""
    # With -c Python searches the current folder first, which may hold another pretok.
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=Path(pretok.__file__).parents[1],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


TIMES = 16
TOO_MUCH = 60.0
"""A bound for `growth`. Linear work has a growth of 16 (a few times more if caches overflow),
quadratic work of 256."""
MEASURABLE = 0.2 if sys.platform == "win32" else 0.002
"""The minimum processor time of a measurement, in seconds, far above the clock's resolution
(15.6 ms on Windows)."""


def growth(work: Callable[[int], object], size: int) -> float:
    """Return the ratio of the processor times of work(TIMES * size) and work(size).

    Takes the least times of up to four rounds, and stops after a round with a ratio below TOO_MUCH:
    other processes can only make a measurement slower.
    """
    small = large = ratio = float("inf")
    for _ in range(4):
        small = min(small, processor_time(work, size), processor_time(work, size))
        large = min(large, processor_time(work, TIMES * size))
        ratio = large / small
        if ratio < TOO_MUCH:
            break
    return ratio


def processor_time(work: Callable[[int], object], size: int) -> float:
    """Return the mean seconds of processor time of work(size), which are never 0.

    Repeats the call until all calls together take MEASURABLE seconds. Turns garbage collection off,
    because it would visit all objects of the process.
    """
    calls, elapsed = 0, 0.0
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        begin = time.process_time()
        while elapsed < MEASURABLE:
            work(size)
            calls += 1
            elapsed = time.process_time() - begin
    finally:
        if was_enabled:
            gc.enable()
    return elapsed / calls
