"""Convert a tokenizer whose BPE merges characters to the parts of a SentencePiece model.

Hugging Face's tokenizers merges only listed pairs. SentencePiece merges any two symbols whose
joined text is a piece. Both give the same ids if each token has one merge, and if the earlier
merges turn the text of the token into the pair of this merge. `as_pieces` checks this condition for
each token.
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
from bpe.merge import RankedMerge, merge
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
            'a .model of SentencePiece is written only for the normalizers Prepend "▁" and Replace '
            f'" " by "▁", or Replace alone{_ADVICE}'
        )
    if spec.decoder != gguf_text.decoder(has_prefix):
        raise UnsupportedError(
            "a .model of SentencePiece is written only for the decoders Replace, ByteFallback, "
            f"Fuse{' and Strip' if has_prefix else ''}, as in Llama 2{_ADVICE}"
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
    ranks: dict[int, int] = {}
    for rank, (_, _, result) in enumerate(vocabulary.merges):
        if ranks.setdefault(result, rank) != rank:
            raise _differs(vocabulary, result, "has several merges")
    characters = [id for id, text in texts.items() if len(text) == 1]
    for id in set(texts).difference(ranks, characters):
        raise _differs(vocabulary, id, "has no merge")
    _check_merges(vocabulary, texts, ranks)
    last = len(vocabulary.merges)
    scores = {id: -float(rank) for id, rank in ranks.items()}
    scores |= {id: -float(last + index) for index, id in enumerate(characters)}
    return CharacterVocabulary(vocabulary.token_bytes, scores, vocabulary.unknown_id, fallback)


def _check_merges(vocabulary: TextVocabulary, texts: dict[int, str], ranks: dict[int, int]) -> None:
    """Raise VocabularyError unless earlier merges make the two tokens of each merge.

    For each merge, the merges before it are applied to the characters of its result; exactly the
    two tokens of the merge must remain.
    """
    pieces = {text: id for id, text in texts.items()}
    for limit, pair in enumerate(vocabulary.merges):
        if not pieces.keys() >= set(texts.get(pair[2], "")) or pair[2] not in texts:
            raise _differs(vocabulary, pair[2], "has a character that is no token")

        def find(left: int, right: int, limit: int = limit) -> RankedMerge | None:
            id = pieces.get(texts[left] + texts[right])
            rank = limit if id is None else ranks[id]
            return None if id is None or rank >= limit else (rank, id)

        symbols = merge([pieces[char] for char in texts[pair[2]]], find)
        if tuple(symbols) != pair[:2]:
            raise _differs(vocabulary, pair[2], "is merged from other tokens by sentencepiece")


def _differs(vocabulary: TextVocabulary, id: int, problem: str) -> VocabularyError:
    return VocabularyError(
        f"token {id}, {shortened(vocabulary.texts[id])}, {problem}, so sentencepiece may give "
        f"other ids{_ADVICE}"
    )
