"""Presets that other packages bring, by entry points of the group "pretok.presets".

An entry point names a Preset, an iterable of Presets, or a function that returns either. They are
looked for only when a name is not known otherwise, or all presets are asked for. What is wrong with
one package is a PresetWarning that names it, and takes nothing from the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pretok.errors import DuplicatePresetError, PresetWarning
from pretok.preset import Preset

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "pretok.presets"


class Installed(NamedTuple):
    """The presets of installed packages by name and alias, and the names that two packages give."""

    by_name: dict[str, Preset]
    conflicts: dict[str, DuplicatePresetError]

    def presets(self) -> tuple[Preset, ...]:
        """Return each preset once; not one whose own name another package gives too."""
        return tuple(preset for name, preset in self.by_name.items() if name == preset.name)


def load_installed(taken: Mapping[str, Preset]) -> Installed:
    """Return what the installed packages bring; `taken` are the presets that go before theirs."""
    from importlib.metadata import entry_points

    found = Installed({}, {})
    givers: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (_package(point), point.name)):
        giver = f"{_package(point)} (entry point {point.name} = {point.value})"
        try:
            given = list(_presets(point))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            _warn(f"the presets of package {giver} cannot be used: {what}")
            continue
        for preset in given:
            for name in (preset.name, *preset.aliases):
                if name in taken:
                    if taken[name] != preset:
                        owner = taken[name].name
                        _warn(f"{name!r} of package {giver} is a name of preset {owner!r} already")
                elif name in found.conflicts:
                    pass
                elif found.by_name.setdefault(name, preset) == preset:
                    givers.setdefault(name, giver)
                else:
                    del found.by_name[name]
                    found.conflicts[name] = DuplicatePresetError(name, givers[name], giver)
    return found


def _presets(point: EntryPoint) -> Iterable[Preset]:
    given = point.load()
    if not isinstance(given, Preset) and callable(given):
        given = given()
    if isinstance(given, Preset):
        return (given,)
    presets = tuple(given)
    for preset in presets:
        if not isinstance(preset, Preset):
            raise TypeError(f"expected Presets, got one {type(preset).__name__}")
    return presets


def _package(point: EntryPoint) -> str:
    if point.dist is None:
        return "of no name"
    return f"{point.dist.metadata['Name']} {point.dist.version}"


def _warn(message: str) -> None:
    warnings.warn(message, PresetWarning, stacklevel=2)
