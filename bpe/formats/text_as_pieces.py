"""Convert a tokenizer whose BPE merges characters to the parts of a SentencePiece model.

Hugging Face's tokenizers merges only listed pairs. SentencePiece merges any two symbols whose
joined text is a piece, the highest score first. If all scores differ, at most one pair ever merges
to a piece (`CharacterVocabulary.ranked_merges`): the other pairs are never adjacent when it is
their turn. Files often list them nevertheless, such as every pair of tokens whose joined text is a
token.

So both give the same ids under two conditions, which `as_pieces` checks: the merges of one token
are next to each other in the list, so that they define scores, and the pair that SentencePiece
merges to a piece is listed.
"""

from __future__ import annotations

from dataclasses import replace

from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.steps import SentencePieceDecoding
from bpe.encoding.text_spaces import keeps_whole
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.formats import gguf_text
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.sentencepiece import SentencePieceNormalizer

_ADVICE = "; save the tokenizer as .json"


def as_pieces(spec: TokenizerSpec) -> TokenizerSpec:
    """Return `spec` with the vocabulary, normalizer and decoder of a SentencePiece model.

    Raises UnsupportedError or VocabularyError if sentencepiece would give other ids.
    """
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, TextVocabulary), "the caller has checked it"
    _check_options(vocabulary)
    if spec.preset is None or not keeps_whole(spec.preset):
        raise UnsupportedError(
            "this tokenizer splits text before it merges, which a .model of SentencePiece cannot "
            f"do{_ADVICE}"
        )
    for token in spec.added_tokens:
        if not token.special or token.lstrip or token.rstrip or token.single_word:
            raise UnsupportedError(
                f"a .model of SentencePiece cannot hold the added token {shortened(token.content)}"
                f": expected special tokens without flags{_ADVICE}"
            )
    has_prefix = _has_prefix(spec)
    invisible = {token.id for token in spec.added_tokens} - {vocabulary.unknown_id}
    return replace(
        spec,
        vocabulary=_pieces(vocabulary, invisible),
        normalizer=SentencePieceNormalizer(b"", has_prefix, remove_extra_whitespaces=False),
        decoder=SentencePieceDecoding(has_prefix, False, frozenset(invisible)),
    )


def _check_options(vocabulary: TextVocabulary) -> None:
    options = vocabulary.options
    is_like = options == TextOptions(
        options.unknown, options.fuses_unknown, has_fallback=options.has_fallback
    )
    fuses = options.fuses_unknown or options.has_fallback
    if not is_like or not fuses or options.unknown is None:
        raise UnsupportedError(
            "a .model of SentencePiece needs an unknown token and fuse_unk or byte_fallback, and "
            f"no other option of BPE{_ADVICE}"
        )
    if options.has_fallback and vocabulary.fallback_ids is None:
        raise UnsupportedError(f"some bytes have no fallback token{_ADVICE}")


def _has_prefix(spec: TokenizerSpec) -> bool:
    """Return whether the normalizer puts "▁" before a text.

    Raises UnsupportedError for a normalizer or decoder that SentencePiece does not have.
    """
    has_prefix = spec.normalizer == gguf_text.normalizer(adds_space=True)
    if not has_prefix and spec.normalizer != gguf_text.normalizer(adds_space=False):
        raise UnsupportedError(
            "models of SentencePiece and llama.cpp change spaces only like the normalizers Prepend "
            f'"▁" and Replace " " by "▁", or Replace alone; this tokenizer has {spec.normalizer}'
            f"{_ADVICE}"
        )
    if spec.decoder != gguf_text.decoder(has_prefix):
        raise UnsupportedError(
            "models of SentencePiece and llama.cpp decode only like the decoders Replace, "
            f"ByteFallback, Fuse{' and Strip' if has_prefix else ''}, as in Llama 2{_ADVICE}"
        )
    return has_prefix


def _pieces(vocabulary: TextVocabulary, invisible: set[int]) -> CharacterVocabulary:
    """Return the vocabulary with scores; the earliest merge has the highest score.

    `invisible` are the ids of tokens that decode to no text; they get no score. Raises
    VocabularyError if sentencepiece may give other ids.
    """
    fallback = vocabulary.fallback_ids if vocabulary.options.has_fallback else None
    unscored = {vocabulary.unknown_id, *invisible, *(fallback or ())}
    texts = {id: text for id, text in vocabulary.texts.items() if id not in unscored}
    ranks = _ranks(vocabulary)
    characters = {text for text in texts.values() if len(text) == 1}
    for id in {*texts, *ranks}:
        if id not in texts or not characters >= set(texts[id]):
            raise _differs(vocabulary, id, "has a character that is no token")
    last = len(vocabulary.merges)
    scores = {id: -float(rank) for id, rank in ranks.items()}
    others = (id for id in texts if id not in ranks)
    scores |= {id: -float(last + index) for index, id in enumerate(others)}
    pieces = CharacterVocabulary(vocabulary.token_bytes, scores, vocabulary.unknown_id, fallback)
    listed = set(vocabulary.merges)
    for row in pieces.ranked_merges():
        if row not in listed:
            left, right, id = row
            raise _differs(
                vocabulary,
                id,
                f"is merged from {shortened(texts[left])} and {shortened(texts[right])} by "
                "sentencepiece, and no merge lists this pair",
            )
    return pieces


def _ranks(vocabulary: TextVocabulary) -> dict[int, int]:
    """Return the rank of the first merge of each token.

    Raises VocabularyError if merges of other tokens are between the merges of a token.
    """
    ranks: dict[int, int] = {}
    last = -1
    for rank, (_, _, result) in enumerate(vocabulary.merges):
        if ranks.setdefault(result, rank) != rank and result != last:
            raise _differs(vocabulary, result, "has several merges that are not next to each other")
        last = result
    return ranks


def _differs(vocabulary: TextVocabulary, id: int, problem: str) -> VocabularyError:
    return VocabularyError(
        f"token {id}, {shortened(vocabulary.texts[id])}, {problem}, so sentencepiece may give "
        f"other ids{_ADVICE}"
    )
