"""Tests of the helpers: strategies draw valid rules, and measurements do not fail by chance."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import support
from pretok.charsets.sets import code_points
from pretok.machine.program import compile_rules
from pretok.rules import Literal, Rule, Run
from strategies import any_rules, longest_start_that_compiles
from support import TIMES, TOO_MUCH, growth, max_examples, sample, scalar_values, strings


def test_rules_are_dropped_until_the_others_compile() -> None:
    # 30 sets and everything else are 31 classes; each further rule adds one.
    rules: list[tuple[Rule, str]] = [(Run(code_points(chr(0x4E00 + 2 * i))), "") for i in range(33)]
    assert longest_start_that_compiles(rules) == rules[:30]
    assert longest_start_that_compiles(rules[:30]) == rules[:30]
    assert longest_start_that_compiles(rules[:1]) == rules[:1]


@given(any_rules)
@settings(max_examples=max_examples(200))
def test_any_rules_compile(made: list[tuple[Rule, str]]) -> None:
    compile_rules([rule for rule, _ in made])


@pytest.mark.parametrize("full", [False, True])
def test_exhaustive_tests_try_a_fixed_part_or_all(
    full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(support, "FULL", full)
    cases = list(range(1000))
    part = sample(cases, 100)
    assert part == sample(iter(cases), 100) == sorted(set(part))
    assert len(part) == (1000 if full else 100)
    assert sample("abc", 3) == ["a", "b", "c"]
    texts = list(strings("abc", 6, 100))
    assert texts == list(strings("abc", 6, 100))
    assert len(texts) == (3**6 if full else 100)
    assert {len(text) for text in texts} == {6}
    assert list(strings("ab", 2, 4)) == ["aa", "ab", "ba", "bb"]
    assert list(strings("ab", 0, 4)) == [""]
    count = len(scalar_values.__wrapped__())
    assert count == 0x110000 - 0x800 if full else 0x1F800 < count < 150_000


def test_any_rules_draws_all_kinds_and_one_to_five_rules() -> None:
    kinds: set[type[Rule]] = set()
    sizes: set[int] = set()

    @given(any_rules)
    @settings(max_examples=300, database=None)
    def collect(made: list[tuple[Rule, str]]) -> None:
        kinds.update(type(rule) for rule, _ in made)
        sizes.add(len(made))

    collect()
    assert len(kinds) == 8
    assert Literal in kinds
    assert sizes >= {1, 2, 3, 4, 5}


class Clock:
    """A clock that the measured work advances. Its times are multiples of `resolution`."""

    def __init__(self, resolution: float) -> None:
        self.now, self.resolution = 0.0, resolution

    def process_time(self) -> float:
        self.now += 1e-7
        return self.now // self.resolution * self.resolution


@pytest.mark.parametrize("resolution", [1e-9, 1e-4])
@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1e-4])
def test_growth_tells_linear_from_quadratic(
    resolution: float, unit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(resolution)
    monkeypatch.setattr(support, "time", clock)

    def linear(size: int) -> None:
        clock.now += unit * size

    def quadratic(size: int) -> None:
        clock.now += unit * size * size

    assert growth(linear, 10) <= 2 * TIMES < TOO_MUCH
    assert growth(quadratic, 10) > TOO_MUCH


def test_growth_of_work_that_takes_no_time_is_small() -> None:
    assert growth(lambda size: None, 10) < TOO_MUCH
