"""Graphemes are those of the rules of Unicode Standard Annex 29 and those of \\X in regex."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

import paths
from pretok.unicode.graphemes import EXTENDING, LINKERS, Kind, grapheme_starts, kind_table
from support import TOO_MUCH, growth, sample, seeded

CONTROLS = (Kind.CONTROL, Kind.CR, Kind.LF)


@cache
def generator() -> ModuleType:
    """Return the generator of the table; skip the test if regex has another Unicode version."""
    module = paths.generator("grapheme_table")
    try:
        module.check_version()
    except RuntimeError as error:
        pytest.skip(str(error))
    return module


@cache
def by_kind() -> dict[Kind, list[str]]:
    """Return the characters of each kind, without surrogates."""
    table = kind_table().tolist()
    members: dict[Kind, list[str]] = {kind: [] for kind in Kind}
    for code, kind in enumerate(table):
        if not 0xD800 <= code < 0xE000:
            members[Kind(kind)].append(chr(code))
    return members


def breaks(kinds: tuple[Kind, ...]) -> list[int]:
    """Return where graphemes start, by the rules of the annex for each pair of characters."""
    return [at for at in range(len(kinds)) if at == 0 or not joins(kinds[:at], kinds[at])]


def joins(before: tuple[Kind, ...], right: Kind) -> bool:
    left = before[-1]
    if (left, right) == (Kind.CR, Kind.LF):  # GB3
        return True
    if left in CONTROLS or right in CONTROLS:  # GB4, GB5
        return False
    if left == Kind.L and right in (Kind.L, Kind.V, Kind.LV, Kind.LVT):  # GB6
        return True
    if left in (Kind.LV, Kind.V) and right in (Kind.V, Kind.T):  # GB7
        return True
    if left in (Kind.LVT, Kind.T) and right == Kind.T:  # GB8
        return True
    if right in (*EXTENDING, Kind.ZWJ, Kind.SPACING_MARK) or left == Kind.PREPEND:  # GB9, 9a, 9b
        return True
    if right == Kind.CONSONANT:  # GB9c
        rest = without_last(before, (Kind.EXTEND, Kind.ZWJ))
        return bool(rest) and rest[-1] in LINKERS
    if right == Kind.PICTOGRAPHIC and left == Kind.ZWJ:  # GB11
        rest = without_last(before[:-1], EXTENDING)
        return bool(rest) and rest[-1] == Kind.PICTOGRAPHIC
    if right == Kind.REGIONAL_INDICATOR:  # GB12, GB13
        run = len(before) - len(without_last(before, (Kind.REGIONAL_INDICATOR,)))
        return run % 2 == 1
    return False


def without_last(kinds: tuple[Kind, ...], dropped: tuple[Kind, ...]) -> tuple[Kind, ...]:
    while kinds and kinds[-1] in dropped:
        kinds = kinds[:-1]
    return kinds


def text_of(kinds: tuple[Kind, ...], seed: int) -> str:
    random = seeded(seed)
    return "".join(random.choice(by_kind()[kind]) for kind in kinds)


def test_the_committed_table_is_what_the_generator_writes() -> None:
    files: dict[Path, str] = generator().files()
    ((path, text),) = files.items()
    assert path.read_text(encoding="ascii") == text, f"{path.name}: run {generator().COMMAND}"


def test_every_sequence_of_three_kinds_follows_the_rules() -> None:
    for seed, kinds in enumerate(sample(product(Kind, repeat=3), 2000)):
        text = text_of(kinds, seed)
        assert grapheme_starts(text).tolist() == breaks(kinds), ascii(text)


@given(st.lists(st.sampled_from(Kind), max_size=12).map(tuple), st.integers(0, 1 << 16))
@example((Kind.REGIONAL_INDICATOR,) * 7, 0)
@example((Kind.PICTOGRAPHIC, Kind.ZWJ) * 3 + (Kind.PICTOGRAPHIC, Kind.PICTOGRAPHIC), 0)
@example((Kind.LINKER, Kind.EXTEND, Kind.ZWJ, Kind.CONSONANT, Kind.BARE_LINKER) * 2, 0)
def test_random_sequences_follow_the_rules_and_regex(kinds: tuple[Kind, ...], seed: int) -> None:
    text = text_of(kinds, seed)
    assert grapheme_starts(text).tolist() == breaks(kinds)
    generator()
    assert [found.start() for found in regex.finditer(r"\X", text)] == breaks(kinds)


def test_long_texts_equal_regex() -> None:
    generator()
    everything = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    random = seeded("graphemes")
    mixed = "".join(random.choice(by_kind()[kind]) for kind in random.choices(list(Kind), k=20_000))
    for text in (everything, mixed, "a\r\nb", "plain", "\r\n\r", ""):
        starts = np.array([found.start() for found in regex.finditer(r"\X", text)], np.int64)
        assert np.array_equal(grapheme_starts(text), starts)


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    for text in ("\ud800\u0301a", "\u0600\udcff", "\udcff\udcff", "क\u094d\ud900"):
        replaced = text.encode("utf-8", "replace").decode()
        assert len(replaced) == len(text)
        assert grapheme_starts(text).tolist() == grapheme_starts(replaced).tolist()


@pytest.mark.parametrize("part", ["\u0301", "\u200d", "🇩", "क\u094d", "👩\u200d", "\r\n", "a"])
def test_time_is_linear(part: str) -> None:
    assert growth(lambda size: grapheme_starts("a" + part * size), 10_000) < TOO_MUCH
