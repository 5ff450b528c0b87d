"""Convert the parts of a SentencePiece model to those of a tokenizer.json, and to those of GGUF.

`text_as_pieces` converts in the other direction.

SentencePiece merges any two symbols whose joined text is a piece, the highest score first. If
scores differ, at most one pair of symbols ever merges to a piece, and
`CharacterVocabulary.ranked_merges` lists these pairs in order of rank. So Hugging Face's
tokenizers, which merges listed pairs, makes the same ids.
"""

from __future__ import annotations

from dataclasses import replace

from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.steps import SentencePieceDecoding
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.formats import gguf_text
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.token_facts import TokenType


def as_text(spec: TokenizerSpec) -> TokenizerSpec:
    """Return `spec` with the vocabulary, normalizer and decoder of a tokenizer.json.

    Raises UnsupportedError or VocabularyError if the library tokenizers would give other ids.
    """
    spec = with_steps(spec)
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, CharacterVocabulary), "the caller has checked it"
    why_not = vocabulary.why_not_ranked or _missing_character(vocabulary)
    if why_not:
        raise VocabularyError(
            f"a tokenizer.json lists merges, but {why_not}; if `extend` or `initial=` added these "
            "pieces, convert the old model to tokenizer.json first, and add them to the result"
        )
    texts = {id: token.decode() for id, token in _tokens(vocabulary).items()}
    unknown = unknown_token(spec)
    options = TextOptions(
        texts.get(unknown) if unknown is not None else None,
        fuses_unknown=True,
        has_fallback=vocabulary.fallback_ids is not None,
    )
    return replace(
        spec,
        vocabulary=TextVocabulary(texts, vocabulary.ranked_merges(), options),
        recovered_merges=None,
        recovered_rows=None,
    )


def unknown_token(spec: TokenizerSpec) -> int | None:
    """Return the id of the unknown token, or None.

    In a GGUF file the unknown token is only a special token, because all bytes have tokens.
    """
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, CharacterVocabulary), "the caller has checked it"
    if vocabulary.unknown_id not in vocabulary.byte_ids.values():
        return vocabulary.unknown_id
    types = spec.facts.types.tolist()
    listed = types.index(TokenType.UNKNOWN) if TokenType.UNKNOWN in types else None
    return spec.facts.roles.get("unk", listed)


def with_steps(spec: TokenizerSpec) -> TokenizerSpec:
    """Return `spec` with the steps that write "▁" in place of SentencePiece's normalizer.

    GGUF files and most files tokenizer.json of such models have these steps. Raises
    UnsupportedError if the normalizer of the model does more than they do.
    """
    normalizer, decoder = spec.normalizer, spec.decoder
    if not isinstance(normalizer, SentencePieceNormalizer):
        return spec
    for problem, has_problem in (
        ("a charsmap", bool(normalizer.charsmap)),
        ("remove_extra_whitespaces", normalizer.remove_extra_whitespaces),
        ("treat_whitespace_as_suffix", normalizer.treat_whitespace_as_suffix),
        ("no escape_whitespaces", not normalizer.escape_whitespaces),
        ("user-defined symbols", bool(normalizer.user_defined)),
    ):
        if has_problem:
            raise UnsupportedError(
                f"the normalizer of this SentencePiece model has {problem}; only the replacement "
                'of spaces by "▁" has the same ids in other formats'
            )
    adds_space = normalizer.add_dummy_prefix
    is_known = isinstance(decoder, SentencePieceDecoding) and not decoder.strips_spaces
    if not is_known:
        raise UnsupportedError(f"the decoder {decoder} has no counterpart in other formats")
    return replace(
        spec, normalizer=gguf_text.normalizer(adds_space), decoder=gguf_text.decoder(adds_space)
    )


def with_normalizer(spec: TokenizerSpec) -> TokenizerSpec:
    """Return `spec` with SentencePiece's normalizer in place of the steps that write "▁".

    Raises UnsupportedError for other steps, or if the tokens have no unknown token.
    """
    if isinstance(spec.normalizer, SentencePieceNormalizer):
        return spec
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, CharacterVocabulary), "the caller has checked it"
    has_prefix = spec.normalizer == gguf_text.normalizer(adds_space=True)
    is_known = has_prefix or spec.normalizer == gguf_text.normalizer(adds_space=False)
    if not is_known or spec.decoder != gguf_text.decoder(has_prefix):
        raise UnsupportedError(
            "a .model of SentencePiece is written only for tokenizers that replace spaces by "
            '"▁", as Llama 2 does'
        )
    unknown = unknown_token(spec)
    if unknown is None:
        raise UnsupportedError(
            "a .model of SentencePiece needs an unknown token, and this vocabulary names none"
        )
    invisible = {token.id for token in spec.added_tokens if token.special} - {unknown}
    return replace(
        spec,
        vocabulary=CharacterVocabulary(
            vocabulary.token_bytes, vocabulary.scores, unknown, vocabulary.fallback_ids
        ),
        normalizer=SentencePieceNormalizer(b"", has_prefix, remove_extra_whitespaces=False),
        decoder=SentencePieceDecoding(has_prefix, False, frozenset(invisible)),
    )


def _tokens(vocabulary: CharacterVocabulary) -> dict[int, bytes]:
    """Return the tokens by id, fallback tokens by their names."""
    names = {id: BYTE_NAMES[byte].encode() for byte, id in vocabulary.byte_ids.items()}
    return vocabulary.token_bytes | names


def _missing_character(vocabulary: CharacterVocabulary) -> str:
    """Return the first piece with a character that is not a piece, as a reason; or ""."""
    pieces = vocabulary.pieces
    for text, id in pieces.items():
        missing = next((char for char in text if char not in pieces), "")
        if missing:
            return (
                f"piece {id}, {shortened(text)}, has the character {missing!a}, which is not a "
                "piece, so no list of merges makes it"
            )
    return ""
