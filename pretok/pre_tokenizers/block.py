"""Define Block, the base class of all blocks.

A block splits a text into pieces. It can be converted to stages of a Preset, and to the JSON object
of a pre_tokenizer.
"""

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
    """A pre_tokenizer of Hugging Face's tokenizers, with its name and arguments.

    Immutable, picklable, safe to share between threads; blocks with equal arguments are equal.
    """

    @property
    def changes_text(self) -> bool:
        """True if the block changes the text; later blocks then split the changed text."""
        return False

    @abstractmethod
    def pieces(self, piece: Piece) -> Iterable[Piece]:
        """Split one piece of a text."""

    @abstractmethod
    def stages(self) -> tuple[Stage, ...]:
        """Return stages for a Preset that split a text at the same positions as the block.

        Raises DefinitionError for a ByteLevel that prepends a space, for a Sequence in which a
        block changes the text before another block splits it, and for too many stages.
        """

    def pre_tokenize_str(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Return each piece of `text` with its half-open span, in code points of `text`.

        The library tokenizers returns equal pieces and spans. The time is linear in the length of
        `text`. Runs in C++ if the native backend is available. Raises TypeError if `text` is not a
        str.

        >>> from pretok.pre_tokenizers import ByteLevel
        >>> ByteLevel().pre_tokenize_str("né 1")
        [('ĠnÃ©', (0, 2)), ('Ġ1', (2, 4))]
        """
        if not isinstance(text, str):
            raise TypeError(f"expected str, got {type(text).__name__}")
        return [(piece.text, piece.span) for piece in self.pieces(Piece.whole(text))]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this block in a tokenizer.json; `from_dict` reads it back."""
        return {"type": type(self).__name__} | self._json()

    def to_json(self) -> str:
        """Return `to_dict()` as JSON without spaces."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def _json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _arguments(type(self))}

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> Block:
        """Return the block whose JSON object has `fields` and the field `type`."""
        cls._check_fields(fields, _arguments(cls))
        return cls(**fields)

    @classmethod
    def _check_fields(
        cls, fields: dict[str, Any], required: Iterable[str], optional: str = ""
    ) -> None:
        """Raise DefinitionError if `fields` lacks a required name, or has an unknown name.

        `optional` holds the optional names, separated by spaces.
        """
        required = list(required)
        names = [*required, *optional.split()]
        missing = [name for name in required if name not in fields]
        unknown = [name for name in fields if name not in names]
        if missing or unknown:
            problem = (
                f"missing field {missing[0]!r}"
                if missing
                else f"unknown field {shortened(unknown[0])}"
            )
            expected = ", ".join(map(repr, ["type", *names]))
            raise DefinitionError(
                f"{cls.__name__}: {problem} in {shortened(fields)}; expected {expected}"
            )

    def _raise_invalid(self, name: str, expected: str) -> NoReturn:
        raise DefinitionError(
            f"{type(self).__name__}: {name}={shortened(getattr(self, name))}; expected {expected}"
        )

    def _require_bools(self, *names: str) -> None:
        for name in names:
            if not isinstance(getattr(self, name), bool):
                self._raise_invalid(name, "True or False")


class Cutter(Block):
    """A block that splits a text exactly as its stages do, and does not change the text."""

    def pieces(self, piece: Piece) -> Iterator[Piece]:
        """Split one piece of a text."""
        return cut(piece, _stages(self))


def cut(piece: Piece, stages: tuple[Stage, ...]) -> Iterator[Piece]:
    """Split `piece` by `stages` and yield the parts; if `stages` is empty, yield `piece`."""
    if not stages:
        return iter((piece,))
    spans = _pre_tokenizer(stages, choose_backend()).spans(piece.text)
    return (piece.part(start, end) for start, end in spans)


@lru_cache(maxsize=256)
def _stages(block: Block) -> tuple[Stage, ...]:
    return block.stages()


@lru_cache(maxsize=256)
def _pre_tokenizer(stages: tuple[Stage, ...], backend: BackendName) -> PreTokenizer:
    return PreTokenizer(Preset("blocks", stages=stages), backend=backend)


def _arguments(block_type: type[Block]) -> list[str]:
    return [field.name for field in fields(block_type)]  # type: ignore[arg-type]
