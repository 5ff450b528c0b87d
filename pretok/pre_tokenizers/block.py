"""What every block has: pieces out of a piece, stages for presets, a JSON object."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import lru_cache
from typing import Any, NoReturn

from pretok.errors import DefinitionError, shortened
from pretok.machine.backend import BackendName, choose_backend
from pretok.pre_tokenizer import PreTokenizer
from pretok.pre_tokenizers.piece import Piece
from pretok.preset import Preset
from pretok.stage import Stage


class Block(ABC):
    """A pre-tokenizer as tokenizers has it, by the same name and with the same arguments.

    Immutable, picklable, safe to share between threads; blocks with equal arguments are equal.
    """

    @property
    def changes_text(self) -> bool:
        """Whether what comes behind sees another text than the one that the block was given."""
        return False

    @abstractmethod
    def pieces(self, piece: Piece) -> Iterable[Piece]:
        """Return what becomes of one piece of a text."""

    @abstractmethod
    def stages(self) -> tuple[Stage, ...]:
        """Return the stages that split a text where the block does, for a Preset.

        Raises DefinitionError if there are none, because the block splits another text.
        """

    def pre_tokenize_str(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Return each piece of `text` with its half-open span, in code points of `text`.

        The pieces and spans are those of tokenizers. Raises TypeError if `text` is not a str.
        Takes time linear in `text`, native where the backend is.

        >>> from pretok.pre_tokenizers import ByteLevel
        >>> ByteLevel().pre_tokenize_str("né 1")
        [('ĠnÃ©', (0, 2)), ('Ġ1', (2, 4))]
        """
        if not isinstance(text, str):
            raise TypeError(f"expected str, got {type(text).__name__}")
        return [(piece.text, piece.span) for piece in self.pieces(Piece.whole(text))]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that a tokenizer.json has for this block; see `from_dict`."""
        return {"type": type(self).__name__} | self._json()

    def to_json(self) -> str:
        """Return `to_dict()` in its shortest writing."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def _json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _arguments(type(self))}

    @classmethod
    def _from_json(cls, given: dict[str, Any]) -> Block:
        """Return the block whose JSON object is `given`, but for its type."""
        cls._expect(given, _arguments(cls))
        return cls(**given)

    @classmethod
    def _expect(cls, given: dict[str, Any], needed: Iterable[str], optional: str = "") -> None:
        needed = list(needed)
        missing = [name for name in needed if name not in given]
        unknown = [name for name in given if name not in needed and name not in optional.split()]
        if missing or unknown:
            what = f"has no {missing[0]!r}" if missing else f"has {shortened(unknown[0])}"
            known = ", ".join(map(repr, ["type", *needed, *optional.split()]))
            raise DefinitionError(f"{cls.__name__}: {shortened(given)} {what}; expected {known}")

    def _wrong(self, name: str, expected: str) -> NoReturn:
        raise DefinitionError(
            f"{type(self).__name__}: {name}={shortened(getattr(self, name))}; expected {expected}"
        )

    def _require_bools(self, *names: str) -> None:
        for name in names:
            if not isinstance(getattr(self, name), bool):
                self._wrong(name, "True or False")


class Cutter(Block):
    """A block that cuts text and does not change it: its stages say all about it."""

    def pieces(self, piece: Piece) -> Iterator[Piece]:
        """Return what becomes of one piece of a text."""
        return cut(piece, self.stages())


def cut(piece: Piece, stages: tuple[Stage, ...]) -> Iterator[Piece]:
    """Yield the parts that `stages` make of `piece`; without any, the piece itself."""
    if not stages:
        return iter((piece,))
    spans = _pre_tokenizer(stages, choose_backend()).spans(piece.text)
    return (piece.part(start, end) for start, end in spans)


@lru_cache(maxsize=256)
def _pre_tokenizer(stages: tuple[Stage, ...], backend: BackendName) -> PreTokenizer:
    return PreTokenizer(Preset("blocks", stages=stages), backend=backend)


def _arguments(kind: type[Block]) -> list[str]:
    return [field.name for field in fields(kind)]  # type: ignore[arg-type]
