"""Define Origin: where the characters of a rendered chat come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The place of a value among the arguments, such as ("messages", 0, "content").

() is the path of text without a single place: numbers, dates, and text made of several values.
"""


class Origin:
    """The source of characters: the template, whose `path` is None, or a value at `path`.

    Only characters of the template are trusted. `is_generated` says whether a `{% generation %}`
    block wrote them. Origins are compared by identity.
    """

    __slots__ = ("_generated", "is_generated", "path")

    def __init__(self, path: Path | None, is_generated: bool = False) -> None:
        self.path = path
        self.is_generated = is_generated
        self._generated: Origin | None = self if is_generated else None

    def generated(self) -> Origin:
        """Return the same origin within a `{% generation %}` block."""
        if self._generated is None:
            self._generated = Origin(self.path, is_generated=True)
        return self._generated


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


def common_path(paths: Iterable[Path | None]) -> Path | None:
    """Return the longest common prefix of `paths` without None; None if there is no path."""
    common: Path | None = None
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
