"""Read tests/cases/*.toml and tests/regressions.toml."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from paths import CASES, REGRESSIONS


@dataclass(frozen=True)
class Case:
    """The pre-tokens of `text` for `presets`. `why` explains a regression, and is "" otherwise."""

    name: str
    text: str
    presets: tuple[str, ...]
    pre_tokens: tuple[str, ...]
    why: str = ""


def load(path: Path) -> list[Case]:
    """Return the cases of a file of [[case]] or [[regression]] tables.

    Raises ValueError with the malformed table and the problem.
    """
    with path.open("rb") as file:
        try:
            tables = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path.name}: {error}") from error
    kind = "regression" if path.name == REGRESSIONS.name else "case"
    if set(tables) - {kind} or not isinstance(tables.get(kind, []), list):
        raise ValueError(f"{path.name}: {sorted(tables)}; expected only [[{kind}]] tables")
    cases: list[Case] = []
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(tables.get(kind, []), 1):
        try:
            case = _case(entry, kind)
        except ValueError as error:
            raise ValueError(f"{path.name}, {kind} {number}: {error}") from None
        for key in ((case.name, preset) for preset in case.presets):
            if key in seen:
                raise ValueError(f"{path.name}, {kind} {number}: {key} occurs twice")
            seen.add(key)
        cases.append(case)
    return cases


def _case(entry: dict[str, Any], kind: str) -> Case:
    expected = {"name", "text", "presets", "pre_tokens"}
    if kind == "regression":
        expected.add("why")
    if set(entry) != expected:
        raise ValueError(f"has {sorted(entry)}; expected {sorted(expected)}")
    for key, value in entry.items():
        wanted = list if key in ("presets", "pre_tokens") else str
        items = value if isinstance(value, list) else [value]
        if not isinstance(value, wanted) or not all(isinstance(item, str) for item in items):
            raise ValueError(f"{key}={value!r}; expected text or a list of texts")
    if not entry["presets"] or not entry["name"]:
        raise ValueError("has no presets or no name")
    if "".join(entry["pre_tokens"]) != entry["text"] or "" in entry["pre_tokens"]:
        raise ValueError("the joined pre_tokens differ from the text, or a pre-token is empty")
    presets, pre_tokens = tuple(entry["presets"]), tuple(entry["pre_tokens"])
    return Case(entry["name"], entry["text"], presets, pre_tokens, entry.get("why", ""))


def cases_by_preset() -> dict[str, dict[str, Case]]:
    """Return, for each preset, its cases by "file: name"."""
    found: dict[str, dict[str, Case]] = {}
    for path in [*sorted(CASES.glob("*.toml")), REGRESSIONS]:
        for case in load(path):
            for preset in case.presets:
                found.setdefault(preset, {})[f"{path.stem}: {case.name}"] = case
    return found
