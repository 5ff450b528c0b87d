"""Read the .model files of SentencePiece: a protobuf message with pieces and options.

bpe encodes and decodes as sentencepiece 0.2 does. Control symbols, such as `<s>`, and the unknown
token are special tokens: `special="text"` encodes their text like any other, as sentencepiece does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.steps import SentencePieceDecoding
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.formats.file_spec import FileSpec
from bpe.formats.files import named
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.losses import PARTS
from bpe.formats.native_readers import read_native
from bpe.formats.sentencepiece_pieces import ModelPiece, Options, read_model
from bpe.formats.sentencepiece_writer import dump
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.once import once
from bpe.token_facts import TokenFacts, TokenType
from pretok.patterns.lookup import WHOLE

if TYPE_CHECKING:
    from pretok import _core

_MODEL_TYPES = {1: "Unigram", 2: "BPE", 3: "word", 4: "character"}
_BPE = 2


class SentencePieceFormat(Format):
    """A SentencePiece .model of type BPE."""

    name = "SentencePiece"
    suffix = ".model"
    kinds = (CharacterVocabulary, TextVocabulary)
    holds = PARTS - {
        "add_prefix_space", "template", "trim_offsets", "truncation", "padding", "dropout"
    }  # fmt: skip

    def detects(self, source: Source) -> bool:
        return begins_with_piece(source.head)

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec | FileSpec:
        with named(source.path):
            if not options.needs_preset:
                raise UnsupportedError(
                    "a SentencePiece model does not split text before it merges; load it without "
                    "preset="
                )
            native = read_native(source.data)
            return parse(source.data) if native is None else ModelSpec(native)

    def dump(self, spec: TokenizerSpec) -> bytes:
        return dump(spec)


class ModelSpec(FileSpec):
    """The parts of a model that C++ has read."""

    preset = WHOLE

    def __init__(self, native: _core.Spec) -> None:
        super().__init__(native, lambda spec: TokenizerSpec(spec.vocabulary))

    @once
    def normalizer(self) -> SentencePieceNormalizer:
        """The normalizer."""
        prefix, *_, options = self.fields["characters"]
        if options is None:
            options = b"", prefix == "always", False, True, False
        charsmap, has_prefix, removes, escapes, is_suffix = options
        symbols = tuple(token.content for token in self.added_tokens.normalized)
        return SentencePieceNormalizer(charsmap, has_prefix, removes, escapes, is_suffix, symbols)

    @once
    def decoder(self) -> SentencePieceDecoding:
        """The rules by which ids become text."""
        strips_space, strips_spaces, invisible, surface = self.fields["decoding"]
        return SentencePieceDecoding(strips_space, strips_spaces, frozenset(invisible), surface)


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
    pieces, others, messages = read_model(data)
    # The numbers below are those of fields in sentencepiece_model.proto, each with its default.
    trainer = Options(messages[0], "trainer_spec")
    kind = trainer.number(3, 1)
    if kind != _BPE:
        raise UnsupportedError(
            f"the SentencePiece model is of type {_MODEL_TYPES.get(kind, kind)}; bpe reads only "
            "type BPE"
        )
    _check_options(messages[2])
    normalizer = Options(messages[1], "normalizer_spec")
    invisible = frozenset(_ids_of(others, TokenType.CONTROL))
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
            tuple(others[id].text for id in _ids_of(others, TokenType.USER_DEFINED)),
        ),
        decoder=SentencePieceDecoding(dummy_prefix or removes, removes, invisible, unknown_surface),
        facts=_facts(pieces, others, trainer),
    )


def _facts(
    normal: dict[int, ModelPiece], others: dict[int, ModelPiece], trainer: Options
) -> TokenFacts:
    """Return the types, the scores and the roles of the pieces.

    Like sentencepiece, take the role of a piece from its text. It must be a control symbol.
    """
    pieces = [piece for _, piece in sorted((normal | others).items())]
    names = {
        trainer.text(46, "<s>"): "bos",
        trainer.text(47, "</s>"): "eos",
        trainer.text(48, "<pad>"): "pad",
    }
    roles = {
        names[piece.text]: id
        for id, piece in others.items()
        if piece.type == TokenType.CONTROL and piece.text in names
    }
    return TokenFacts(
        np.array([piece.type for piece in pieces], np.uint8),
        np.array([piece.score for piece in pieces], np.float32),
        {"unk": _unknown(others)} | roles,
    )


def _ids_of(pieces: dict[int, ModelPiece], chosen: TokenType) -> list[int]:
    """Return the ids of the pieces of one type."""
    return [id for id, (_, _, type) in pieces.items() if type == chosen]


def _check_options(denormalizer: bytes) -> None:
    if Options(denormalizer, "denormalizer_spec").bytes(2, b""):
        raise UnsupportedError(
            "the SentencePiece model has a denormalizer, which bpe does not apply"
        )


def _vocabulary(
    normal: dict[int, ModelPiece], others: dict[int, ModelPiece], byte_fallback: bool
) -> CharacterVocabulary:
    by_id = dict(sorted((normal | others).items()))
    _check_pieces(by_id, byte_fallback)
    byte_ids = _byte_ids(others) if byte_fallback else None
    tokens = _tokens(by_id, byte_ids)
    # Text never becomes an UNUSED piece: such a character is encoded like one without a piece.
    scores = {id: piece.score for id, piece in by_id.items() if piece.type == TokenType.NORMAL}
    # A user-defined symbol of one character that is encoded as text becomes its id. No merge makes
    # it, so its score does not count.
    symbols = _ids_of(others, TokenType.USER_DEFINED)
    scores |= {id: 0.0 for id in symbols if len(others[id].text) == 1}
    return CharacterVocabulary(tokens, scores, _unknown(others), byte_ids)


def _unknown(others: dict[int, ModelPiece]) -> int:
    """Return the id of the only piece of type UNKNOWN."""
    return next(id for id, piece in others.items() if piece.type == TokenType.UNKNOWN)


def _byte_ids(others: dict[int, ModelPiece]) -> list[int]:
    """Return the ids of the fallback tokens of all bytes."""
    by_text = {piece.text: id for id, piece in others.items() if piece.type == TokenType.BYTE}
    missing = [name for name in BYTE_NAMES if name not in by_text]
    if missing:
        raise VocabularyError(
            f"the model has byte_fallback, but no piece {missing[0]!r}; expected pieces for "
            "all 256 bytes"
        )
    return [by_text[name] for name in BYTE_NAMES]


def _tokens(pieces: dict[int, ModelPiece], byte_ids: list[int] | None) -> dict[int, bytes]:
    """Return the bytes of each token by its id."""
    tokens = {id: piece.text.encode() for id, piece in pieces.items()}
    return tokens | {id: bytes([byte]) for byte, id in enumerate(byte_ids or ())}


def _check_pieces(pieces: dict[int, ModelPiece], byte_fallback: bool) -> None:
    ids: dict[str, int] = {}
    for id, piece in pieces.items():
        if ids.setdefault(piece.text, id) != id:
            raise VocabularyError(
                f"pieces {ids[piece.text]} and {id} are both {shortened(piece.text)}; expected "
                "different pieces"
            )
    _check_types(pieces, byte_fallback)
    _check_unused(pieces)


def _check_types(pieces: dict[int, ModelPiece], byte_fallback: bool) -> None:
    # Attributes of TokenType take time, and some models have a thousand control symbols.
    byte, control = int(TokenType.BYTE), int(TokenType.CONTROL)
    for id, (text, _, type) in pieces.items():
        if type == byte and not (byte_fallback and text in BYTE_NAMES):
            raise VocabularyError(
                f"piece {id}, {shortened(text)}, has type BYTE; expected a piece from "
                '"<0x00>" to "<0xFF>" in a model with byte_fallback'
            )
        if type == control and len(text) == 1:
            raise UnsupportedError(
                f"piece {id}, {shortened(text)}, is a control symbol of one character, which "
                "sentencepiece cannot encode in a text; expected several characters"
            )
    unknown = [type for _, _, type in pieces.values()].count(TokenType.UNKNOWN)
    if unknown != 1:
        raise VocabularyError(f"the model has {unknown} pieces of type UNKNOWN; expected one")


def _check_unused(pieces: dict[int, ModelPiece]) -> None:
    """Raise UnsupportedError if merging may make a piece of type UNUSED.

    sentencepiece undoes the last merge of such a piece after all merges.
    """
    unused = {id: piece.text for id, piece in pieces.items() if piece.type == TokenType.UNUSED}
    if not unused:
        return
    made = {piece.text for piece in pieces.values() if piece.type == TokenType.NORMAL}
    made.update(unused.values())

    def is_symbol(text: str) -> bool:
        return len(text) == 1 or text in made

    for id, text in unused.items():
        if any(is_symbol(text[:at]) and is_symbol(text[at:]) for at in range(1, len(text))):
            raise UnsupportedError(
                f"piece {id}, {shortened(text)}, has type UNUSED; bpe reads a piece of this type "
                "only if it is no pair of a character or piece and another one"
            )


def _added(others: dict[int, ModelPiece]) -> tuple[AddedToken, ...]:
    """Return the control symbols and the unknown token, and the user-defined symbols.

    sentencepiece finds user-defined symbols in the normalized text, before it merges; so they are
    added tokens with `normalized`.
    """
    is_special: dict[int, bool] = {
        TokenType.CONTROL: True,
        TokenType.UNKNOWN: True,
        TokenType.USER_DEFINED: False,
    }
    return tuple(
        AddedToken(text, id, is_special[type], normalized=not is_special[type])
        for id, (text, _, type) in others.items()
        if type in is_special
    )
