"""Load presets of other packages from entry points of the group "pretok.presets".

An entry point names a Preset, an iterable of Presets, or a function that returns either. Entry
points are loaded only to list all presets, or to look up a name that no other preset has. A failing
package causes a PresetWarning with the name of the package; the other packages still work.
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
    """The presets of installed packages.

    `by_name` maps names and aliases to presets. `conflicts` has the names that two packages give
    to different presets, each with the error to raise; `by_name` does not have these names.
    """

    by_name: dict[str, Preset]
    conflicts: dict[str, DuplicatePresetError]

    def presets(self) -> tuple[Preset, ...]:
        """Return each preset once; omit a preset whose name is in `conflicts`."""
        return tuple(preset for name, preset in self.by_name.items() if name == preset.name)


def load_installed(taken: Mapping[str, Preset]) -> Installed:
    """Load the presets of installed packages, by each name or alias that is not in `taken`.

    `taken` maps names and aliases to the presets that already have them.
    """
    from importlib.metadata import entry_points

    installed = Installed({}, {})
    owners: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (_package(point), point.name)):
        owner = f"{_package(point)} (entry point {point.name} = {point.value})"
        try:
            presets = list(_presets(point))
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            _warn(f"the presets of package {owner} cannot be used: {problem}")
            continue
        for preset in presets:
            for name in (preset.name, *preset.aliases):
                if name in taken:
                    if taken[name] != preset:
                        _warn(
                            f"{name!r} of package {owner} is already a name of preset "
                            f"{taken[name].name!r}, which is used; to use that of the package, "
                            "import the Preset and pass it directly"
                        )
                elif name in installed.conflicts:
                    pass
                elif installed.by_name.setdefault(name, preset) == preset:
                    owners.setdefault(name, owner)
                else:
                    del installed.by_name[name]
                    installed.conflicts[name] = DuplicatePresetError(
                        name,
                        f"provided by package {owners[name]} and by package {owner}; uninstall one "
                        "of them, or import the intended Preset and pass it directly",
                    )
    return installed


def are_named(name: str) -> bool:
    """Return whether an installed package has an entry point `name`, without loading it."""
    from importlib.metadata import entry_points

    return bool(entry_points(group=GROUP, name=name))


def _presets(point: EntryPoint) -> Iterable[Preset]:
    value = point.load()
    if not isinstance(value, Preset) and callable(value):
        value = value()
    if isinstance(value, Preset):
        return (value,)
    presets = tuple(value)
    for preset in presets:
        if not isinstance(preset, Preset):
            raise TypeError(
                "expected only Presets from the entry point, got an item of type "
                f"{type(preset).__name__}"
            )
    return presets


def _package(point: EntryPoint) -> str:
    if point.dist is None:
        return "without a name"
    return f"{point.dist.metadata['Name']} {point.dist.version}"


def _warn(message: str) -> None:
    warnings.warn(message, PresetWarning, stacklevel=2)
