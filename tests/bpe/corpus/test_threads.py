"""Results come in the order of the items, from any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from bpe.corpus.threads import map_in_order


@pytest.mark.parametrize("ahead", [0, 1, 3, 20])
def test_results_are_in_order(ahead: int) -> None:
    with ThreadPoolExecutor(3) as pool:
        assert list(map_in_order(pool, str, iter(range(9)), ahead)) == list("012345678")


def test_items_are_computed_at_the_same_time() -> None:
    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        calls = map_in_order(pool, lambda item: barrier.wait(60), iter("ab"), 1)
        assert sorted(calls) == [0, 1]


def test_an_error_of_the_items_comes_after_earlier_results() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise OSError("items")

    with ThreadPoolExecutor(2) as pool:
        results = map_in_order(pool, str, items(), 5)
        assert [next(results), next(results)] == ["1", "2"]
        with pytest.raises(OSError, match="items"):
            next(results)
        results = map_in_order(pool, lambda item: str(1 // (item - 1)), items(), 5)
        with pytest.raises(ZeroDivisionError):
            next(results)
