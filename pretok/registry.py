"""Look up presets by name: built-in, registered and from installed packages."""

from __future__ import annotations

from threading import Lock, RLock
from typing import Any

from pretok.errors import DuplicatePresetError, UnknownPresetError
from pretok.machine.backend import BackendName
from pretok.plugins import Installed, are_named, load_installed
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.presets import BUILT_IN
from pretok.process_lock import ProcessLock
from pretok.unicode import check_version

_lock = ProcessLock(Lock)
_presets: dict[str, Preset] = {}
_by_name: dict[str, Preset] = {}  # by name and by alias
_installed: Installed | None = None
_loading = ProcessLock(RLock)
_loaded_with: Any = None
"""The lock of the process that loads `_installed`; None if no thread loads it."""
_pre_tokenizers: dict[tuple[str, str, str | None], PreTokenizer] = {}
"""Cache of `get`; the keys are (name of the preset, Unicode version, requested backend)."""


def presets() -> tuple[Preset, ...]:
    """Return all presets: built-in, then registered, then installed.

    Packages provide installed presets by entry points of the group "pretok.presets".

    >>> [preset.name for preset in presets()][:3]
    ['gpt2', 'r50k', 'cl100k']
    """
    return (*registered(), *(p for p in _installed_presets().presets() if p.name not in _presets))


def registered() -> tuple[Preset, ...]:
    """Return the built-in and registered presets; does not search installed packages."""
    return tuple(_presets.values())


def find(name: str) -> Preset:
    """Return the preset whose name or alias is `name`.

    Raises UnknownPresetError, which lists similar names, if no preset has the name, and
    DuplicatePresetError if installed packages give the name to different presets.
    """
    try:
        known = _by_name.get(name)
    except TypeError:
        raise UnknownPresetError(name, list(_by_name)) from None
    if known is not None:
        return known
    installed = _installed_presets()
    if name in installed.conflicts:
        raise installed.conflicts[name]
    try:
        return installed.by_name[name]
    except KeyError:
        raise UnknownPresetError(name, [*_by_name, *installed.by_name]) from None


def find_and_warn(name: str) -> Preset:
    """Return `find(name)`, with a PresetWarning if it hides a preset of an installed package.

    `find` does not look at packages for a name that is built in or registered.
    """
    preset = find(name)
    if are_named(name):
        _installed_presets()
    return preset


def _installed_presets() -> Installed:
    global _installed, _loaded_with
    lock = _loading()
    with lock:
        if _installed is None:
            # The module of an entry point may look up presets during its import. Such a look-up
            # sees no presets of installed packages.
            if _loaded_with is lock:
                return Installed({}, {})
            _loaded_with = lock
            try:
                _installed = load_installed(_by_name)
            finally:
                _loaded_with = None
        return _installed


def register(preset: Preset) -> Preset:
    """Make `preset` known to `get` by its name and aliases. Return `preset`.

    Raises DuplicatePresetError if a different built-in or registered preset has one of the names.
    `get` prefers `preset` to presets of installed packages with these names. Registering an equal
    preset again changes nothing.

    >>> from pretok import Run
    >>> from pretok.charsets import NUMBER
    >>> mine = register(Preset("doctest-digits", rules=(Run(NUMBER, at_most=2),)))
    >>> get("doctest-digits").split("12345")
    ['12', '34', '5']
    """
    if not isinstance(preset, Preset):
        raise TypeError(f"expected a Preset, got {type(preset).__name__}")
    with _lock():
        names = (preset.name, *preset.aliases)
        for name in names:
            if _by_name.get(name, preset) != preset:
                raise DuplicatePresetError(
                    name, f"taken by preset {_by_name[name].name!r}; choose another name or alias"
                )
        _presets[preset.name] = preset
        _by_name.update(dict.fromkeys(names, preset))
    return preset


def get(
    name: str | Preset, unicode: str | None = None, backend: BackendName | None = None
) -> PreTokenizer:
    """Return the PreTokenizer of a preset. `name` is a name or an alias of the preset, or a Preset.

    `unicode` is a Unicode version such as "18.0"; the default is the version of the preset.
    `backend` is "native" or "python"; the default is the best available backend (see
    `pretok.backend`). The result for a name or an alias is cached, so repeated calls are fast.
    Raises UnknownPresetError, which lists similar names, if no preset has the name,
    DuplicatePresetError if installed packages give the name to different presets,
    UnknownUnicodeVersionError if pretok has no table of `unicode`, and BackendError if `backend` is
    unknown or was not built.

    >>> get("qwen2").split("Hello world 42")
    ['Hello', ' world', ' ', '4', '2']
    """
    if isinstance(name, Preset):
        return PreTokenizer(name, unicode, backend)
    preset = find(name)
    key = (preset.name, check_version(preset.unicode if unicode is None else unicode), backend)
    pre_tokenizer = _pre_tokenizers.get(key)
    if pre_tokenizer is None:
        pre_tokenizer = _pre_tokenizers.setdefault(key, PreTokenizer(preset, unicode, backend))
    return pre_tokenizer


for _preset in BUILT_IN:
    register(_preset)
