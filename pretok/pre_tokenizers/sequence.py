"""Sequence, blocks one behind the other, and from_dict, any block from its JSON object."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pretok.errors import DefinitionError, shortened
from pretok.pre_tokenizers.block import Block, Cutter, cut
from pretok.pre_tokenizers.cutters import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Punctuation,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from pretok.pre_tokenizers.piece import Piece
from pretok.pre_tokenizers.scripts import UnicodeScripts
from pretok.pre_tokenizers.spellings import ByteLevel, Metaspace
from pretok.stage import MAX_STAGES, Stage, flatten_stages

MAX_BLOCKS = 256


@dataclass(frozen=True)
class Sequence(Block):
    """Each block splits every piece that the one before it made.

    A Sequence in a Sequence counts as the blocks that it has. Raises DefinitionError for more
    than MAX_BLOCKS blocks.

    >>> from pretok.pre_tokenizers import Digits, WhitespaceSplit
    >>> Sequence([WhitespaceSplit(), Digits()]).pre_tokenize_str("a 12b")
    [('a', (0, 1)), ('12', (2, 4)), ('b', (4, 5))]
    """

    pretokenizers: tuple[Block, ...]

    def __init__(self, pretokenizers: Iterable[Block]) -> None:
        flat: list[Block] = []
        for number, block in enumerate(pretokenizers, 1):
            if not isinstance(block, Block):
                raise DefinitionError(
                    f"Sequence: number {number} is {shortened(block)}; expected a block"
                )
            flat += block.pretokenizers if isinstance(block, Sequence) else [block]
            # The pieces of each block are made of those of the one before, in nested generators.
            if len(flat) > MAX_BLOCKS:
                raise DefinitionError(f"Sequence: expected {MAX_BLOCKS} blocks at most")
        object.__setattr__(self, "pretokenizers", tuple(flat))

    def pieces(self, piece: Piece) -> Iterable[Piece]:
        pieces: Iterable[Piece] = (piece,)
        cutting: tuple[Stage, ...] = ()
        for block in self.pretokenizers:
            if not isinstance(block, Cutter) or len(cutting) == MAX_STAGES:
                pieces, cutting = _cut_all(pieces, cutting), ()
            if isinstance(block, Cutter):
                cutting += block.stages()
            else:
                pieces = _each(block, pieces)
        return _cut_all(pieces, cutting)

    @property
    def changes_text(self) -> bool:
        return any(block.changes_text for block in self.pretokenizers)

    def stages(self) -> tuple[Stage, ...]:
        return flatten_stages(self.pretokenizers)

    def _json(self) -> dict[str, Any]:
        return {"pretokenizers": [block.to_dict() for block in self.pretokenizers]}

    @classmethod
    def _from_json(cls, given: dict[str, Any]) -> Block:
        return cls(map(from_dict, cls._inner(given)))

    @classmethod
    def _inner(cls, given: dict[str, Any]) -> list[Any]:
        cls._expect(given, ["pretokenizers"])
        inner = given["pretokenizers"]
        if not isinstance(inner, list):
            raise DefinitionError(f"Sequence: pretokenizers {shortened(inner)}; expected a list")
        return inner


def _cut_all(pieces: Iterable[Piece], stages: tuple[Stage, ...]) -> Iterable[Piece]:
    return (part for piece in pieces for part in cut(piece, stages)) if stages else pieces


def _each(block: Block, pieces: Iterable[Piece]) -> Iterable[Piece]:
    return (part for piece in pieces for part in block.pieces(piece))


_KINDS: dict[str, type[Block]] = {
    kind.__name__: kind
    for kind in (
        *(BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace),
        *(Punctuation, Sequence, Split, UnicodeScripts, Whitespace, WhitespaceSplit),
    )
}


def from_dict(given: dict[str, Any]) -> Block:
    """Return the block that a tokenizer.json has as the object `given`.

    What tokenizers may leave out may be left out. Raises DefinitionError for an object that is no
    block, has other fields than it, or is a Split at a regular expression.

    >>> from_dict({"type": "Digits", "individual_digits": True})
    Digits(individual_digits=True)
    """
    if _kind_of(given) is not Sequence:
        return _block(given)
    # A loop, so that no depth of nesting exhausts the stack.
    blocks: list[Block] = []
    pending: list[dict[str, Any]] = [given]
    seen = 0
    while pending:
        part = pending.pop()
        seen += 1
        if seen > MAX_BLOCKS:
            raise DefinitionError(
                f"Sequence: expected {MAX_BLOCKS} blocks at most, Sequences among them"
            )
        if _kind_of(part) is Sequence:
            pending += reversed(Sequence._inner(_fields(part)))
        else:
            blocks.append(_block(part))
    return Sequence(blocks)


def _block(given: dict[str, Any]) -> Block:
    return _kind_of(given)._from_json(_fields(given))


def _kind_of(given: object) -> type[Block]:
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise DefinitionError(
            f"unknown pre_tokenizer {shortened(given)}; expected an object whose 'type' is one of "
            f"{', '.join(map(repr, _KINDS))}"
        )
    return _KINDS[kind]


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in given if name != "type"}
