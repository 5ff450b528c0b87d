"""Read the .model files of SentencePiece: a protobuf message with pieces and options.

bpe encodes and decodes as sentencepiece 0.2 does. Control symbols, such as `<s>`, and the unknown
token are special tokens: `special="text"` encodes their text like any other, as sentencepiece does.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.characters.pieces import PackedPieces
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.piece_decoder import SentencePieceDecoding
from bpe.encoding.sentencepiece_normalizer import SentencePieceNormalizer
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.formats.files import named
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.protobuf import fields
from bpe.formats.sentencepiece_writer import dump
from bpe.formats.spec import TokenizerSpec
from bpe.vocabulary import ID_LIMIT, Packed
from pretok.machine.backend import backend
from pretok.patterns.lookup import WHOLE

if TYPE_CHECKING:
    from pretok import _core

MAX_PIECE = 1 << 12
"""The maximal length of a piece in characters.

Merging concatenates the texts of symbols, so a long piece would cost time at each merge.
"""


class PieceType(IntEnum):
    """The values of SentencePiece.type."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Piece(NamedTuple):
    """A piece of the model; its index is its id."""

    text: str
    score: float
    type: int


_TYPES = frozenset(map(int, PieceType))
_BYTE_NAMES = dict.fromkeys(f"<0x{byte:02X}>" for byte in range(256))  # in order of the bytes
_MODEL_TYPES = {1: "Unigram", 2: "BPE", 3: "word", 4: "character"}
_BPE = 2


class SentencePieceFormat(Format):
    """A SentencePiece .model of type BPE."""

    name = "SentencePiece"
    suffix = ".model"
    kinds = (CharacterVocabulary, TextVocabulary)

    def detects(self, source: Source) -> bool:
        return begins_with_piece(source.head)

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec:
        with named(source.path):
            if not options.needs_preset:
                raise UnsupportedError(
                    "a SentencePiece model does not split text before it merges; load it without "
                    "preset="
                )
            return parse(source.data)

    def dump(self, spec: TokenizerSpec) -> bytes:
        return dump(spec)


def begins_with_piece(head: bytes) -> bool:
    """Return whether a protobuf message begins with a piece: its text, then its score.

    The piece is field 1 of the model, and its text is field 1 of the piece. The tag of field 1 is
    0x0A, and a size follows it. The tag of the score is 0x15.
    """
    if head[:1] != b"\n" or len(head) < 5 or head[2] != 0x0A:
        return False
    end = 4 + head[3]
    return head[1] >= head[3] + 2 and head[end : end + 1] == b"\x15"


def parse(data: bytes) -> TokenizerSpec:
    """Return the tokenizer of a SentencePiece model.

    Raises UnsupportedError for a model that is not BPE, VocabularyError for a malformed file.
    """
    pieces, others, messages = _native_pieces(data) or _pieces(data)
    # The numbers below are those of fields in sentencepiece_model.proto, each with its default.
    trainer = _Options(messages[0], "trainer_spec")
    kind = trainer.number(3, 1)
    if kind != _BPE:
        raise UnsupportedError(
            f"the SentencePiece model is of type {_MODEL_TYPES.get(kind, kind)}; bpe reads only "
            "type BPE"
        )
    _check_options(messages[2])
    normalizer = _Options(messages[1], "normalizer_spec")
    types = {id: type for id, (_, _, type) in others.items()}
    removes = normalizer.flag(4, True)
    dummy_prefix = normalizer.flag(3, True)
    unknown_surface = trainer.text(44, " \u2047 ")
    return TokenizerSpec(
        _vocabulary(pieces, others, trainer.flag(35, False)),
        WHOLE,
        added_tokens=_added(others),
        normalizer=SentencePieceNormalizer(
            normalizer.bytes(2, b""),
            dummy_prefix,
            removes,
            normalizer.flag(5, True),
            trainer.flag(24, False),
            tuple(others[id].text for id in _ids_of(types, PieceType.USER_DEFINED)),
        ),
        decoder=SentencePieceDecoding(
            dummy_prefix or removes,
            removes,
            frozenset(_ids_of(types, PieceType.CONTROL)),
            unknown_surface,
        ),
    )


_Message: TypeAlias = "bytes | dict[int, int | bytes]"
"""A message, or the last value of each of its fields by the number of the field."""


def _ids_of(types: dict[int, int], chosen: PieceType) -> list[int]:
    """Return the ids of the pieces of one type."""
    return [id for id, type in types.items() if type == chosen]


class _NativePieces(NamedTuple):
    """Pieces that C++ has read and checked."""

    packed: Packed
    scores: NDArray[np.float32]
    byte_ids: list[int]
    """The ids of the fallback tokens of the 256 bytes, or [] if `others` has all pieces of type
    BYTE."""
    table: _core.PieceTable | None


class _Model(NamedTuple):
    """The parts of a model."""

    normal: dict[int, Piece] | _NativePieces
    """The pieces of type NORMAL by id, or as arrays with their scores."""
    others: dict[int, Piece]
    """All other pieces by id, except those of `byte_ids`."""
    messages: tuple[_Message, _Message, _Message]
    """The messages trainer_spec, normalizer_spec and denormalizer_spec."""


def _native_pieces(data: bytes) -> _Model | None:
    """Return the result of `_pieces` from C++, or None if `_pieces` must look for an error."""
    if backend() != "native":
        return None
    from pretok import _core

    parts = _core.read_pieces(data)
    if parts is None:
        return None
    normal, scores, byte_ids, others, messages, table = parts
    listed = {id: Piece(text, score, type) for id, text, score, type in others}
    return _Model(_NativePieces(Packed(*normal), scores, byte_ids, table), listed, messages)


def _pieces(data: bytes) -> _Model:
    pieces: list[Piece] = []
    messages = {2: b"", 3: b"", 5: b""}
    for number, value in fields(data, "the model"):
        if number == 1:
            if len(pieces) == ID_LIMIT:
                raise VocabularyError(f"the model has more than {ID_LIMIT} pieces")
            pieces.append(_piece(_bytes(value, "a piece"), len(pieces)))
        elif number in messages:
            # Protobuf merges the parts of a message that is listed twice.
            messages[number] += _bytes(value, "the model")
    normal: dict[int, Piece] = {}
    others: dict[int, Piece] = {}
    for id, piece in enumerate(pieces):
        (normal if piece.type == PieceType.NORMAL else others)[id] = piece
    return _Model(normal, others, (messages[2], messages[3], messages[5]))


class _Options:
    """The scalar fields of a message; the last value of a field counts."""

    def __init__(self, message: _Message, name: str) -> None:
        self._name = name
        self._fields = dict(fields(message, name)) if isinstance(message, bytes) else message

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


def _check_options(denormalizer: _Message) -> None:
    if _Options(denormalizer, "denormalizer_spec").bytes(2, b""):
        raise UnsupportedError(
            "the SentencePiece model has a denormalizer, which bpe does not apply"
        )


def _piece(message: bytes, id: int) -> Piece:
    text, score, type = "", 0.0, int(PieceType.NORMAL)
    # Nearly all pieces are a text and a score. Reading the fields one by one takes much longer.
    size = message[1] if message[:1] == b"\n" and len(message) > 1 else 0
    if 0 < size < 0x80 and len(message) == size + 7 and message[size + 2] == 0x15:
        (score,) = struct.unpack_from("<f", message, size + 3)
        return Piece(_text(message[2 : size + 2], f"piece {id}"), score, type)
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
    return Piece(text, score, type)


def _vocabulary(
    normal: dict[int, Piece] | _NativePieces, others: dict[int, Piece], byte_fallback: bool
) -> CharacterVocabulary:
    if isinstance(normal, _NativePieces):
        return _vocabulary_of_native(normal, others, byte_fallback)
    by_id = dict(sorted((normal | others).items()))
    _check_pieces(by_id, byte_fallback)
    byte_ids = _byte_ids(others) if byte_fallback else None
    tokens = _tokens(by_id, byte_ids)
    # Text never becomes an UNUSED piece: such a character is encoded like one without a piece.
    scores = {id: piece.score for id, piece in by_id.items() if piece.type == PieceType.NORMAL}
    return CharacterVocabulary(tokens, scores, _unknown(others), byte_ids)


def _vocabulary_of_native(
    normal: _NativePieces, others: dict[int, Piece], byte_fallback: bool
) -> CharacterVocabulary:
    byte_ids: list[int] | None = normal.byte_ids
    if byte_ids and not byte_fallback:  # `_check_types` refuses these pieces
        others = others | {
            id: Piece(name, 0.0, PieceType.BYTE)
            for id, name in zip(byte_ids, _BYTE_NAMES, strict=True)
        }
    _check_types(dict(sorted(others.items())), byte_fallback)
    if not byte_ids:
        byte_ids = _byte_ids(others) if byte_fallback else None
    pieces = PackedPieces(normal.packed, normal.scores, _tokens(others, byte_ids), normal.table)
    return CharacterVocabulary.of_pieces(pieces, _unknown(others), byte_ids)


def _unknown(others: dict[int, Piece]) -> int:
    """Return the id of the only piece of type UNKNOWN."""
    return next(id for id, piece in others.items() if piece.type == PieceType.UNKNOWN)


def _byte_ids(others: dict[int, Piece]) -> list[int]:
    """Return the ids of the fallback tokens of all bytes."""
    by_text = {piece.text: id for id, piece in others.items() if piece.type == PieceType.BYTE}
    missing = [name for name in _BYTE_NAMES if name not in by_text]
    if missing:
        raise VocabularyError(
            f"the model has byte_fallback, but no piece {missing[0]!r}; expected pieces for "
            "all 256 bytes"
        )
    return [by_text[name] for name in _BYTE_NAMES]


def _tokens(pieces: dict[int, Piece], byte_ids: list[int] | None) -> dict[int, bytes]:
    """Return the bytes of each token by its id."""
    tokens = {id: piece.text.encode() for id, piece in pieces.items()}
    return tokens | {id: bytes([byte]) for byte, id in enumerate(byte_ids or ())}


def _check_pieces(pieces: dict[int, Piece], byte_fallback: bool) -> None:
    ids: dict[str, int] = {}
    for id, piece in pieces.items():
        if ids.setdefault(piece.text, id) != id:
            raise VocabularyError(
                f"pieces {ids[piece.text]} and {id} are both {shortened(piece.text)}; expected "
                "different pieces"
            )
    _check_types(pieces, byte_fallback)
    _check_unused(pieces)


def _check_types(pieces: dict[int, Piece], byte_fallback: bool) -> None:
    # Attributes of PieceType take time, and some models have a thousand control symbols.
    byte, control = int(PieceType.BYTE), int(PieceType.CONTROL)
    for id, (text, _, type) in pieces.items():
        if type == byte and not (byte_fallback and text in _BYTE_NAMES):
            raise VocabularyError(
                f"piece {id}, {shortened(text)}, has type BYTE; expected a piece from "
                '"<0x00>" to "<0xFF>" in a model with byte_fallback'
            )
        if type == control and len(text) == 1:
            raise UnsupportedError(
                f"piece {id}, {shortened(text)}, is a control symbol of one character, which "
                "sentencepiece cannot encode in a text; expected several characters"
            )
    unknown = [type for _, _, type in pieces.values()].count(PieceType.UNKNOWN)
    if unknown != 1:
        raise VocabularyError(f"the model has {unknown} pieces of type UNKNOWN; expected one")


def _check_unused(pieces: dict[int, Piece]) -> None:
    """Raise UnsupportedError if merging may make a piece of type UNUSED.

    sentencepiece undoes the last merge of such a piece after all merges.
    """
    unused = {id: piece.text for id, piece in pieces.items() if piece.type == PieceType.UNUSED}
    if not unused:
        return
    made = {piece.text for piece in pieces.values() if piece.type == PieceType.NORMAL}
    made.update(unused.values())

    def is_symbol(text: str) -> bool:
        return len(text) == 1 or text in made

    for id, text in unused.items():
        if any(is_symbol(text[:at]) and is_symbol(text[at:]) for at in range(1, len(text))):
            raise UnsupportedError(
                f"piece {id}, {shortened(text)}, has type UNUSED; bpe reads a piece of this type "
                "only if it is no pair of a character or piece and another one"
            )


def _added(others: dict[int, Piece]) -> tuple[AddedToken, ...]:
    """Return the control symbols and the unknown token, and the user-defined symbols.

    sentencepiece finds user-defined symbols in the normalized text, before it merges; so they are
    added tokens with `normalized`.
    """
    is_special: dict[int, bool] = {
        PieceType.CONTROL: True,
        PieceType.UNKNOWN: True,
        PieceType.USER_DEFINED: False,
    }
    return tuple(
        AddedToken.of_piece(text, id, is_special[type])
        for id, (text, _, type) in others.items()
        if type in is_special
    )


_DAMAGED = "the file is damaged"


def _bytes(value: object, name: str) -> bytes:
    if not isinstance(value, bytes):
        raise VocabularyError(f"{name} is the number {value}; expected bytes; {_DAMAGED}")
    return value


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise VocabularyError(f"{name} is not UTF-8; {_DAMAGED}") from None
