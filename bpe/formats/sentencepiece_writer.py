"""Write the .model files of SentencePiece: the pieces and the options that change ids and texts."""

from __future__ import annotations

from collections.abc import Iterable

from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.steps import SentencePieceDecoding
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.formats.protobuf import message
from bpe.formats.spec import TokenizerSpec
from bpe.formats.text_as_pieces import as_pieces
from bpe.normalizers.sentencepiece import SentencePieceNormalizer

_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_BPE = 2


def dump(spec: TokenizerSpec) -> bytes:
    """Return the .model of a tokenizer; sentencepiece gives the same ids.

    If the tokenizer was read from a .model, the file has the same pieces, but not the statistics of
    its training. Raises VocabularyError or UnsupportedError if a .model cannot hold the tokenizer.
    """
    if isinstance(spec.vocabulary, TextVocabulary):
        spec = as_pieces(spec)
    vocabulary, normalizer, decoding = spec.vocabulary, spec.normalizer, spec.decoder
    if (
        not isinstance(vocabulary, CharacterVocabulary)
        or not isinstance(normalizer, SentencePieceNormalizer)
        or not isinstance(decoding, SentencePieceDecoding)
    ):
        raise UnsupportedError(
            "a .model of SentencePiece has its own normalizer and decoder, which this tokenizer "
            "does not have; keep the file that it was loaded from"
        )
    ids = sorted(vocabulary.token_bytes)
    added = {token.id for token in spec.added_tokens}
    if ids != list(range(len(ids))) or not added <= vocabulary.token_bytes.keys():
        raise VocabularyError(
            "the ids have gaps, or an added token is not a piece; expected each id from 0 on, and "
            "a piece for each added token"
        )
    _check_added(spec, vocabulary, normalizer, decoding)
    has_fallback = vocabulary.fallback_ids is not None
    trainer = message(
        [
            (3, _BPE),
            (4, len(ids)),
            (24, int(normalizer.treat_whitespace_as_suffix)),
            (35, int(has_fallback)),
            (44, decoding.unknown_surface.encode()),
        ]
    )
    changes = message(
        [
            (2, normalizer.charsmap),
            (3, int(normalizer.add_dummy_prefix)),
            (4, int(normalizer.remove_extra_whitespaces)),
            (5, int(normalizer.escape_whitespaces)),
        ]
    )
    pieces = _pieces(vocabulary, decoding, frozenset(normalizer.user_defined), ids)
    return message([*((1, piece) for piece in pieces), (2, trainer), (3, changes)])


def _check_added(
    spec: TokenizerSpec,
    vocabulary: CharacterVocabulary,
    normalizer: SentencePieceNormalizer,
    decoding: SentencePieceDecoding,
) -> None:
    """Raise VocabularyError if the reader of the file would make other added tokens."""
    user_defined = frozenset(normalizer.user_defined)
    specials = {vocabulary.unknown_id, *decoding.invisible}
    read = {
        AddedToken(text, id, id in specials, normalized=id not in specials)
        for id, text in ((id, token.decode()) for id, token in _texts(vocabulary))
        if id in specials or text in user_defined
    }
    if different := sorted(
        read.symmetric_difference(spec.added_tokens), key=lambda token: token.id
    ):
        raise VocabularyError(
            f"a .model of SentencePiece cannot hold the added token "
            f"{shortened(different[0].content)} with these flags; expected the special tokens and "
            "the user-defined symbols of the model"
        )


def _texts(vocabulary: CharacterVocabulary) -> Iterable[tuple[int, bytes]]:
    """Return the tokens that are not bytes."""
    byte_ids = frozenset(vocabulary.fallback_ids or ())
    return (item for item in vocabulary.token_bytes.items() if item[0] not in byte_ids)


def _pieces(
    vocabulary: CharacterVocabulary,
    decoding: SentencePieceDecoding,
    user_defined: frozenset[str],
    ids: Iterable[int],
) -> Iterable[bytes]:
    bytes_of = {id: byte for byte, id in vocabulary.byte_ids.items()}
    for id in ids:
        byte = bytes_of.get(id)
        text = vocabulary.token_bytes[id].decode() if byte is None else BYTE_NAMES[byte]
        if byte is not None:
            kind = _BYTE
        elif id == vocabulary.unknown_id:
            kind = _UNKNOWN
        elif id in decoding.invisible:
            kind = _CONTROL
        elif text in user_defined:
            kind = _USER_DEFINED
        else:
            kind = _NORMAL if id in vocabulary.scores else _UNUSED
        kinds = [(3, kind)] if kind != _NORMAL else []  # real files omit this kind
        yield message([(1, text.encode()), (2, vocabulary.scores.get(id, 0.0)), *kinds])
