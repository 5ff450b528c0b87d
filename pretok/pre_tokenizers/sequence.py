"""Define Sequence, which applies blocks in order, and from_dict, the inverse of Block.to_dict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from inspect import isabstract
from typing import Any

from pretok.errors import DefinitionError, shortened
from pretok.pre_tokenizers import cutters, scripts, spellings
from pretok.pre_tokenizers.block import Block, Cutter, cut
from pretok.pre_tokenizers.piece import Piece
from pretok.stage import MAX_STAGES, Stage, flatten_stages

MAX_BLOCKS = 256
"""Maximum blocks of a Sequence, including the blocks of nested Sequences."""


@dataclass(frozen=True)
class Sequence(Block):
    """Applies blocks in order: each block splits the pieces of the previous block.

    Nested Sequences are flattened. Raises DefinitionError for more than MAX_BLOCKS blocks.

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
                    f"Sequence: expected a block as item {number}, got {shortened(block)}"
                )
            flat += block.pretokenizers if isinstance(block, Sequence) else [block]
            # Each block adds a nested generator, so MAX_BLOCKS bounds the depth of the stack.
            if len(flat) > MAX_BLOCKS:
                raise DefinitionError(f"Sequence: expected at most {MAX_BLOCKS} blocks")
        object.__setattr__(self, "pretokenizers", tuple(flat))

    def pieces(self, piece: Piece) -> Iterable[Piece]:
        pieces: Iterable[Piece] = (piece,)
        # The stages of adjacent Cutters, the blocks that only split. One PreTokenizer applies all
        # these stages together.
        pending: tuple[Stage, ...] = ()
        for block in self.pretokenizers:
            if not isinstance(block, Cutter) or len(pending) == MAX_STAGES:
                pieces, pending = _cut_all(pieces, pending), ()
            if isinstance(block, Cutter):
                pending += block.stages()
            else:
                pieces = _split_all(block, pieces)
        return _cut_all(pieces, pending)

    @property
    def changes_text(self) -> bool:
        return any(block.changes_text for block in self.pretokenizers)

    def stages(self) -> tuple[Stage, ...]:
        return flatten_stages(self.pretokenizers)

    def _json(self) -> dict[str, Any]:
        return {"pretokenizers": [block.to_dict() for block in self.pretokenizers]}

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> Block:
        return cls(map(from_dict, cls._inner(fields)))

    @classmethod
    def _inner(cls, fields: dict[str, Any]) -> list[Any]:
        cls._check_fields(fields, ["pretokenizers"])
        inner = fields["pretokenizers"]
        if not isinstance(inner, list):
            raise DefinitionError(
                f"Sequence: expected a list as pretokenizers, got {shortened(inner)}"
            )
        return inner


def _cut_all(pieces: Iterable[Piece], stages: tuple[Stage, ...]) -> Iterable[Piece]:
    return (part for piece in pieces for part in cut(piece, stages)) if stages else pieces


def _split_all(block: Block, pieces: Iterable[Piece]) -> Iterable[Piece]:
    return (part for piece in pieces for part in block.pieces(piece))


_MEMBERS = vars(cutters) | vars(scripts) | vars(spellings) | {"Sequence": Sequence}
BLOCK_TYPES: dict[str, type[Block]] = {
    name: value
    for name, value in sorted(_MEMBERS.items())
    if isinstance(value, type) and issubclass(value, Block) and not isabstract(value)
}
"""Maps the name of a block in a tokenizer.json to the type of the block."""


def from_dict(definition: dict[str, Any]) -> Block:
    """Return the block of the JSON object `definition` of a tokenizer.json.

    The same fields are optional as in Hugging Face's tokenizers. Raises DefinitionError for an
    unknown type, for missing or unknown fields, and for a Split by a regular expression.

    >>> from_dict({"type": "Digits", "individual_digits": True})
    Digits(individual_digits=True)
    """
    if _type_of(definition) is not Sequence:
        return _block(definition)
    # Flatten nested Sequences in a loop, because deep recursion would exhaust the stack.
    blocks: list[Block] = []
    pending: list[dict[str, Any]] = [definition]
    count = 0
    while pending:
        part = pending.pop()
        count += 1
        if count > MAX_BLOCKS:
            raise DefinitionError(
                f"Sequence: expected at most {MAX_BLOCKS} blocks, including Sequences"
            )
        if _type_of(part) is Sequence:
            pending += reversed(Sequence._inner(_fields(part)))
        else:
            blocks.append(_block(part))
    return Sequence(blocks)


def _block(definition: dict[str, Any]) -> Block:
    return _type_of(definition)._from_json(_fields(definition))


def _type_of(definition: object) -> type[Block]:
    name = definition.get("type") if isinstance(definition, dict) else None
    if not isinstance(name, str) or name not in BLOCK_TYPES:
        raise DefinitionError(
            f"unknown pre_tokenizer {shortened(definition)}; expected an object whose 'type' is "
            f"one of {', '.join(map(repr, BLOCK_TYPES))}"
        )
    return BLOCK_TYPES[name]


def _fields(definition: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in definition.items() if name != "type"}
