"""The tables of docs/how-to/convert.md say what `convert` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe.conversion.targets import TARGETS
from conversions import SOME, SOURCES, cell, loaded
from pretok.machine.backend import BackendName
from support import FULL

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "convert.md"


@pytest.fixture(scope="module")
def page() -> list[str]:
    return PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", SOURCES if FULL else SOME[1:])
def test_the_rows_of_a_vocabulary(
    name: str, page: list[str], tmp_path: Path, native: BackendName
) -> None:
    cells = {}
    for target in TARGETS:
        folder = tmp_path / target
        folder.mkdir()
        cells[target] = cell(loaded(name), target, folder, 50)
    assert f"| {name} | {' | '.join(kind for kind, _ in cells.values())} |" in page
    for target, (_, reason) in cells.items():
        if reason:
            assert f"| {name} | {target} | {reason} |" in page


def test_the_table_has_all_vocabularies_and_formats(page: list[str]) -> None:
    assert f"| vocabulary | {' | '.join(TARGETS)} |" in page
    for name in SOURCES:
        assert sum(line.startswith(f"| {name} | ") for line in page) >= 1, name
