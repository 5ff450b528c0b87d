"""Fixtures of the tests of the page: Chromium, a server, and tabs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from browser import Open, Tab, chromium, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(browser: Any) -> Iterator[str]:
    with serving() as found:
        yield found


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Open]:
    """A function that opens a tab. After the test, no tab may have recorded a problem."""
    tabs: list[Tab] = []

    def open_tab(fragment: str = "", **options: Any) -> Tab:
        tabs.append(Tab(browser, address, fragment, **options))
        return tabs[-1]

    yield open_tab
    for tab in tabs:
        tab.context.close()
        assert tab.problems == []


@pytest.fixture
def tab(opened: Open) -> Tab:
    return opened()
