"""Define the errors and warnings of pretok, and helpers that shorten values in messages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from reprlib import Repr

__all__ = [
    "BackendError",
    "DefinitionError",
    "DuplicatePresetError",
    "PresetWarning",
    "PretokError",
    "PretokWarning",
    "UnknownPatternError",
    "UnknownPresetError",
    "UnknownUnicodeVersionError",
    "UnreadableFileError",
    "UnsupportedFileError",
    "UnsupportedPreTokenizerError",
    "short_path",
    "shortened",
]

MAX_SHOWN = 80
"""Maximum length, in characters or bytes, of a value that a message shows in full."""
_MAX_PATH = 400
_SHORT = Repr()
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = 8
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = MAX_SHOWN


def shortened(value: object, most: int = MAX_SHOWN, show: Callable[[object], str] = repr) -> str:
    """Return show(value) for a message, shortened if it is long. Never raises.

    If `value` is a str or bytes longer than `most`, `show` gets only the first and the last
    `most` // 2 characters or bytes. Of an int of more than 256 bits, only the number of bits is
    shown. If `show` is repr, only the first items of a container are shown. If the result of `show`
    is longer than 4 * `most` characters, only the first and the last 2 * `most` characters of the
    result are kept.

    >>> shortened("a" * 1000, 8)
    "'aaaa'...'aaaa' (1,000 characters)"
    """
    if isinstance(value, (str, bytes, bytearray)) and len(value) > most:
        half = most // 2
        unit = "characters" if isinstance(value, str) else "bytes"
        return f"{show(value[:half])}...{show(value[-half:])} ({len(value):,} {unit})"
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length():,} bits"
    is_text = isinstance(value, (str, bytes, bytearray))
    try:
        text = _SHORT.repr(value) if show is repr and not is_text else show(value)
    except Exception:  # from a user-defined __repr__
        return f"<{type(value).__name__}>"
    return text if len(text) <= 4 * most else f"{text[: 2 * most]}...{text[-2 * most :]}"


def quoted(names: Iterable[str]) -> str:
    """Return the names for a message, each as its repr.

    >>> quoted(("native", "python"))
    "'native', 'python'"
    """
    return ", ".join(map(repr, names))


def short_path(path: str | os.PathLike[str]) -> str:
    """Return `path` for a message; show only both ends of a very long path."""
    text = os.fspath(path)
    if len(text) <= _MAX_PATH:
        return text
    return f"{text[: _MAX_PATH // 2]}...{text[-_MAX_PATH // 2 :]}"


class PretokError(Exception):
    """Base class of the errors that pretok defines."""

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class UnknownPresetError(PretokError, ValueError):
    """No preset has this name."""

    def __init__(self, name: object, names: Iterable[str]) -> None:
        near = _near(name, sorted(names))
        hint = f"did you mean {quoted(near)}? " if near else ""
        if not isinstance(name, str):
            hint = f"expected a name as str, got {type(name).__name__}; "
        super().__init__(
            f"unknown preset {shortened(name)}; {hint}pretok.presets() lists them all; "
            "pass a pretok.Preset or pretok.from_pattern(pattern) to use your own"
        )
        self.name = name
        self.near = tuple(near)


class DuplicatePresetError(PretokError, ValueError):
    """Two different presets have one name: `name`."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"preset name {name!r} is {problem}")
        self.name = name


class PretokWarning(UserWarning):
    """Base of pretok's own warnings."""


class PresetWarning(PretokWarning):
    """A preset of an installed package cannot be used."""


class UnknownUnicodeVersionError(PretokError, ValueError):
    """pretok has no table of this Unicode version."""

    def __init__(self, version: object, versions: Iterable[str]) -> None:
        super().__init__(
            f"unknown Unicode version {shortened(version)}; expected one of {quoted(versions)}"
        )


class UnknownPatternError(PretokError, ValueError):
    """No preset is equivalent to `pattern` in `engine`, and `pattern` does not compile to rules.

    `nearest` names the preset with the most similar pattern; "" if no pattern is similar enough.
    `difference` compares the pattern of `nearest` with `pattern`, one alternative per line.
    `construct` is the part of `pattern` that rules cannot match exactly, and `reason` says why.
    `position` is the index of `construct` in `pattern`. If the parser rejects `pattern`,
    `construct` and `reason` are "", and `position` is -1.
    """

    def __init__(
        self,
        message: str,
        pattern: str,
        engine: str,
        nearest: str,
        difference: str,
        construct: str = "",
        position: int = -1,
        reason: str = "",
    ) -> None:
        super().__init__(message)
        self.pattern = pattern
        self.engine = engine
        self.nearest = nearest
        self.difference = difference
        self.construct = construct
        self.position = position
        self.reason = reason


class UnsupportedPreTokenizerError(PretokError, ValueError):
    """A pre_tokenizer of a tokenizer.json is malformed or not supported.

    `path` is the JSON path of the rejected part, or the path of a file that is not valid JSON.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path


class UnreadableFileError(PretokError, ValueError):
    """A file is malformed, is not a regular file, or exceeds a size limit."""


class UnsupportedFileError(PretokError, ValueError):
    """A file has a version or feature that pretok does not read."""


class DefinitionError(PretokError, ValueError):
    """A rule, set, stage or preset is malformed, matches nothing or needs backtracking."""


class BackendError(PretokError, RuntimeError):
    """The requested backend is unknown or was not built."""


def _near(name: object, known: list[str]) -> list[str]:
    if not isinstance(name, str) or len(name) > MAX_SHOWN:
        return []
    # Import difflib only here, for an error: its import takes half as long as importing pretok.
    from difflib import get_close_matches

    return get_close_matches(name.lower(), known, n=5, cutoff=0.5)


def _rebuild(
    error_type: type[PretokError], arguments: tuple[object, ...], state: dict[str, object]
) -> PretokError:
    """Unpickle an error without a call of its constructor.

    By default, unpickling passes the message to the constructor, which expects other arguments.
    """
    error = error_type.__new__(error_type)
    error.args = arguments
    error.__dict__.update(state)
    return error
