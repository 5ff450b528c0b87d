"""Every error that pretok raises on purpose; wording says what was given, expected, and to do."""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import Repr

LONGEST_SHOWN = 120
"""The number of characters of a value that an error repeats."""


def shown(value: object) -> str:
    """Return the repr of `value`, shortened to about LONGEST_SHOWN characters; never raises.

    >>> shown("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' (1,000 characters)"
    """
    if isinstance(value, (str, bytes)):
        if len(value) <= LONGEST_SHOWN:
            return repr(value)
        start = repr(value[: LONGEST_SHOWN // 2])
        unit = "characters" if isinstance(value, str) else "bytes"
        return f"{start[:-1]}...{start[-1]} ({len(value):,} {unit})"
    try:
        text = _SHORT.repr(value)
    except Exception:  # an int of thousands of digits, a repr that fails
        return f"<{type(value).__name__}>"
    return text if len(text) <= 3 * LONGEST_SHOWN else f"{text[: 3 * LONGEST_SHOWN]}..."


_SHORT = Repr()
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = 8
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = LONGEST_SHOWN


class PretokError(Exception):
    """Base of pretok's own errors."""


class UnknownPresetError(PretokError, ValueError):
    """No preset has this name."""

    def __init__(self, name: object, names: Iterable[str]) -> None:
        known = sorted(names)
        near = _near(name, known)
        hint = f"did you mean {_quoted(near)}?" if near else f"expected one of {_quoted(known)}."
        super().__init__(
            f"unknown preset {shown(name)}; {hint} pretok.presets() lists them all; "
            "pass a pretok.Preset to use your own"
        )
        self.name = name
        self.near = tuple(near)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class DuplicatePresetError(PretokError, ValueError):
    """Two installed packages each bring a preset of this name."""

    def __init__(self, name: str, one: str, other: str) -> None:
        super().__init__(
            f"preset name {name!r} is given by package {one} and by package {other}; uninstall one "
            "of them, or import the Preset that you mean and pass it itself"
        )
        self.name = name

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class PresetWarning(UserWarning):
    """A preset that an installed package brings cannot be used."""


class UnknownUnicodeVersionError(PretokError, ValueError):
    """There is no table of this Unicode version."""

    def __init__(self, version: object, versions: Iterable[str]) -> None:
        super().__init__(
            f"unknown Unicode version {shown(version)}; expected one of {_quoted(versions)}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class UnknownPatternError(PretokError, ValueError):
    """No preset splits as the engine does with this pattern.

    `nearest` is the name of the preset whose pattern is the most similar, `difference` shows in
    lines, alternative by alternative, how the two differ.
    """

    def __init__(
        self, message: str, pattern: str, engine: str, nearest: str, difference: str
    ) -> None:
        super().__init__(message)
        self.pattern = pattern
        self.engine = engine
        self.nearest = nearest
        self.difference = difference

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class UnsupportedPreTokenizerError(PretokError, ValueError):
    """A pre_tokenizer of a tokenizer.json is malformed, or splits as nothing here does.

    `path` is the place in the JSON that is meant.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class InvalidRuleError(PretokError, ValueError):
    """A rule or preset that would need backtracking, match nothing, or is malformed."""


class BackendError(PretokError, RuntimeError):
    """The backend asked for is unknown or was not built."""


def _near(name: object, known: list[str]) -> list[str]:
    if not isinstance(name, str) or len(name) > LONGEST_SHOWN:
        return []
    # Importing difflib takes half as long as importing pretok.
    from difflib import get_close_matches

    return get_close_matches(name.lower(), known, n=5, cutoff=0.5)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _rebuild(
    kind: type[PretokError], arguments: tuple[object, ...], state: dict[str, object]
) -> PretokError:
    """Unpickle an error whose constructor takes other arguments than its message."""
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(state)
    return error
