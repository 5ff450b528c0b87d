"""Read the pieces and the options of a SentencePiece .model, a protobuf message."""

from __future__ import annotations

import struct
from typing import NamedTuple

from bpe.errors import VocabularyError, shortened
from bpe.formats.protobuf import fields
from bpe.token_facts import TokenType
from bpe.vocabulary import ID_LIMIT

MAX_PIECE = 1 << 12
"""The maximal length of a piece in characters.

Merging concatenates the texts of symbols, so a long piece would cost time at each merge.
"""


class ModelPiece(NamedTuple):
    """A piece of the model; its index is its id."""

    text: str
    score: float
    type: int


_TYPES = frozenset(map(int, TokenType)) - {TokenType.UNDEFINED}
_DAMAGED = "the file is damaged"


class Model(NamedTuple):
    """The parts of a model."""

    normal: dict[int, ModelPiece]
    """The pieces of type NORMAL by id."""
    others: dict[int, ModelPiece]
    """All other pieces by id."""
    messages: tuple[bytes, bytes, bytes]
    """The messages trainer_spec, normalizer_spec and denormalizer_spec."""


def read_model(data: bytes) -> Model:
    """Return the parts of a model; raise VocabularyError if the file is malformed."""
    pieces: list[ModelPiece] = []
    messages = {2: b"", 3: b"", 5: b""}
    for number, value in fields(data, "the model"):
        if number == 1:
            if len(pieces) == ID_LIMIT:
                raise VocabularyError(f"the model has more than {ID_LIMIT} pieces")
            pieces.append(_piece(_bytes(value, "a piece"), len(pieces)))
        elif number in messages:
            # Protobuf merges the parts of a message that is listed twice.
            messages[number] += _bytes(value, "the model")
    normal: dict[int, ModelPiece] = {}
    others: dict[int, ModelPiece] = {}
    for id, piece in enumerate(pieces):
        (normal if piece.type == TokenType.NORMAL else others)[id] = piece
    return Model(normal, others, (messages[2], messages[3], messages[5]))


class Options:
    """The scalar fields of a message; the last value of a field counts."""

    def __init__(self, message: bytes, name: str) -> None:
        self._name = name
        self._fields = dict(fields(message, name))

    def number(self, number: int, default: int) -> int:
        value = self._fields.get(number, default)
        if not isinstance(value, int):
            raise VocabularyError(
                f"field {number} of {self._name} is {shortened(value)}; expected a number"
            )
        return value

    def flag(self, number: int, default: bool) -> bool:
        return self.number(number, default) != 0

    def bytes(self, number: int, default: bytes) -> bytes:
        return _bytes(self._fields.get(number, default), f"field {number} of {self._name}")

    def text(self, number: int, default: str) -> str:
        return _text(self.bytes(number, default.encode()), f"field {number} of {self._name}")


def _piece(message: bytes, id: int) -> ModelPiece:
    text, score, type = "", 0.0, int(TokenType.NORMAL)
    # Nearly all pieces are a text and a score. Reading the fields one by one takes much longer.
    size = message[1] if message[:1] == b"\n" and len(message) > 1 else 0
    if 0 < size < 0x80 and len(message) == size + 7 and message[size + 2] == 0x15:
        (score,) = struct.unpack_from("<f", message, size + 3)
        return ModelPiece(_text(message[2 : size + 2], f"piece {id}"), score, type)
    for number, value in fields(message, f"piece {id}"):
        if number == 1:
            text = _text(_bytes(value, f"piece {id}"), f"piece {id}")
        elif number == 2:
            if not isinstance(value, bytes) or len(value) != 4:
                raise VocabularyError(f"piece {id} has a score that is not a float; {_DAMAGED}")
            (score,) = struct.unpack("<f", value)
        elif number == 3:
            if value not in _TYPES:
                raise VocabularyError(f"piece {id} has type {value!r:.40}; expected 1 to 6")
            type = int(value)
    if not text:
        raise VocabularyError(f"piece {id} is empty; {_DAMAGED}")
    if len(text) > MAX_PIECE:
        raise VocabularyError(
            f"piece {id} has {len(text)} characters; expected at most {MAX_PIECE}"
        )
    return ModelPiece(text, score, type)


def _bytes(value: object, name: str) -> bytes:
    if not isinstance(value, bytes):
        raise VocabularyError(f"{name} is the number {value}; expected bytes; {_DAMAGED}")
    return value


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise VocabularyError(f"{name} is not UTF-8; {_DAMAGED}") from None
