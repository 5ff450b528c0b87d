"""Define Origin: where the characters of a rendered chat come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

TextSource: TypeAlias = tuple[str | int, ...]
"""The place of a value among the arguments, such as ("messages", 0, "content").

() is the path of text without a single place: numbers, dates, and text made of several values.
"""


class Origin:
    """The source of characters: the template, whose `path` is None, or a value at `path`.

    Only characters of the template are trusted. Origins are compared by identity.
    """

    __slots__ = ("_generated", "path")
    is_generated = False
    """True if a `{% generation %}` block wrote the characters."""

    def __init__(self, path: TextSource | None) -> None:
        self.path = path

    def generated(self) -> Origin:
        """Return the same origin within a `{% generation %}` block."""
        try:
            return self._generated
        except AttributeError:
            self._generated: Origin = _Generated(self.path)
            return self._generated


class _Generated(Origin):
    __slots__ = ()
    is_generated = True

    def generated(self) -> Origin:
        return self


TEMPLATE = Origin(None)
"""The origin of the literals of a template, and of the special tokens of its tokenizer."""
UNKNOWN = Origin(())
"""The origin of text that no operation has tracked. It is not trusted."""

Pieces: TypeAlias = tuple[tuple[int, Origin], ...]
"""The lengths of runs of code points, and their origins; no length is 0."""


def merged(pieces: Iterable[tuple[int, Origin]]) -> Pieces:
    """Return `pieces` with adjacent pieces of one origin joined, and without empty pieces."""
    kept: list[tuple[int, Origin]] = []
    for length, origin in pieces:
        if kept and kept[-1][1] is origin:
            kept[-1] = (kept[-1][0] + length, origin)
        elif length:
            kept.append((length, origin))
    return tuple(kept)


def common_source(paths: Iterable[TextSource | None]) -> TextSource | None:
    """Return the longest common prefix of `paths` without None; None if there is no path."""
    common: TextSource | None = None
    for path in paths:
        if path is None:
            continue
        if common is None:
            common = path
        elif path[: len(common)] != common:
            size = 0
            for first, second in zip(common, path, strict=False):
                if first != second:
                    break
                size += 1
            common = common[:size]
    return common
