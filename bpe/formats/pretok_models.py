"""Find out which models with tokens of text C++ supports: only these fit in a .pretok file."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise
from operator import add, eq

from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.steps import SentencePieceDecoding
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.text_spaces import only_writes_marks, splits_alike
from bpe.errors import UnsupportedError, shortened
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok.patterns.lookup import WHOLE
from pretok.preset import Preset


def problem_of(spec: TokenizerSpec) -> str:
    """Return something in the model that only Python supports, or ""."""
    if isinstance(spec.normalizer, SentencePieceNormalizer) or isinstance(
        spec.decoder, SentencePieceDecoding
    ):
        return _problem_of_sentencepiece(spec)
    vocabulary = _texts(spec)
    if vocabulary.why_not_native:
        return f"this model: {vocabulary.why_not_native}"
    if spec.decoder is None:
        return "a model whose tokens are text, without a decoder"
    special = frozenset(token.id for token in spec.added_tokens if token.special)
    if vocabulary.options.ignores_merges and vocabulary.not_whole != special:
        return "special tokens that are not added tokens"
    return ""


def _problem_of_sentencepiece(spec: TokenizerSpec) -> str:
    """Return something in a model that normalizes or decodes like SentencePiece, or ""."""
    vocabulary, added, normalizer = _texts(spec), spec.added_tokens, spec.normalizer
    if problem := _problem_of_merging(vocabulary):
        return problem
    if not isinstance(normalizer, SentencePieceNormalizer):
        return "SentencePiece's decoder without its normalizer"
    if not isinstance(spec.decoder, SentencePieceDecoding):
        return "SentencePiece's normalizer without its decoder"
    takes_spaces = vocabulary.has_mark and only_writes_marks(normalizer, added)
    unknown = vocabulary.options.unknown
    if unknown in BYTE_NAMES:
        return f"the unknown token {shortened(unknown)}"
    characters = int((vocabulary.packed_pieces.lengths <= 4).sum())
    # C++ merges the bytes of each character by steps: symbols of some of its bytes, with ids above
    # all other ids. There are 256 steps of one byte, and at most 3 longer steps for a character.
    first_step = max(vocabulary.size, *(token.id + 1 for token in added), 0)
    if first_step + 256 + 3 * characters > ID_LIMIT:
        return "ids that are too large"
    names = frozenset(BYTE_NAMES if vocabulary.options.has_fallback else ())
    for text in (*vocabulary.pieces, *(token.content for token in added)):
        # Decoders may take such a text for a fallback token. An example is "<0x0a>".
        if text[:3] == "<0x" and text[5:] == ">" and len(text.encode()) == 6 and text not in names:
            return f"the token {shortened(text)}, which looks like a fallback token"
    if not (splits_alike if takes_spaces else WHOLE.__eq__)(preset_of(spec)):
        return f"the split {preset_of(spec).name!r} of a model that merges characters"
    if spec.add_prefix_space:
        return "add_prefix_space"
    if normalizer.user_defined != user_defined(added):
        return "a normalizer which has other user-defined symbols than the model"
    for token in added:
        # C++ does not tell the place of a refused token in text that it has normalized.
        if not takes_spaces and token.special and token.normalized:
            return f"the added token {shortened(token.content)} with SentencePiece's normalizer"
    if spec.decoder.invisible != invisible(vocabulary, added):
        return "this decoder"
    for id, next_id in pairwise(sorted(token.id for token in added)):
        if id == next_id:
            return f"two added tokens with id {id}"
    return ""


def _texts(spec: TokenizerSpec) -> TextVocabulary:
    assert isinstance(spec.vocabulary, TextVocabulary), "the caller makes one"
    return spec.vocabulary


def _problem_of_merging(vocabulary: AnyCharacterVocabulary) -> str:
    """Return why C++ cannot merge the tokens of `vocabulary`, or ""."""
    if not isinstance(vocabulary, TextVocabulary):
        why = vocabulary.why_not_ranked
    elif vocabulary.options.has_fallback:
        if not vocabulary.covers_characters:
            return "a model without fallback tokens for all bytes"
        why = vocabulary.why_not_as_bytes
    elif vocabulary.options.unknown is None:
        return "a model that drops unknown characters"
    else:
        why = _problem_of_characters(vocabulary)
    return f"this model: {why}" if why else ""


def _problem_of_characters(vocabulary: TextVocabulary) -> str:
    """Return why the C library cannot merge the characters of `vocabulary`, or ""."""
    options = vocabulary.options
    if options.prefix or options.suffix:
        return "the characters have a prefix or suffix"
    if options.ignores_merges:
        return "ignore_merges is true"
    if (vocabulary.merge_rows == vocabulary.unknown_id).any():
        return "a merge has the unknown token"
    return ""


def preset_of(spec: TokenizerSpec) -> Preset:
    """Return the preset of `spec`, which has one."""
    assert spec.preset is not None, "the caller has checked it"
    return spec.preset


def user_defined(added: Iterable[AddedToken]) -> tuple[str, ...]:
    """Return the symbols that SentencePiece finds in normalized text."""
    return tuple(token.content for token in added if token.normalized)


def invisible(vocabulary: AnyCharacterVocabulary, added: Iterable[AddedToken]) -> frozenset[int]:
    """Return the ids that SentencePiece decodes to no text: special tokens, not the unknown one."""
    ids = {token.id for token in added if token.special and token.id in vocabulary.token_bytes}
    return frozenset(ids - {vocabulary.unknown_id})


def concatenates(vocabulary: TextVocabulary) -> bool:
    """Return whether the result of each merge is the joined text of its two tokens."""
    texts = vocabulary.texts
    lefts, rights, results = vocabulary.merge_rows.T.tolist()
    joined = map(add, map(texts.__getitem__, lefts), map(texts.__getitem__, rights))
    return all(map(eq, joined, map(texts.__getitem__, results)))


def as_text(vocabulary: Vocabulary, added: Iterable[AddedToken]) -> TextVocabulary:
    """Return a TextVocabulary that gives the same ids as `vocabulary`; merges replace scores.

    A user-defined symbol in a text is always an added token, so it may be a single character.
    Raises UnsupportedError if there is none.
    """
    if isinstance(vocabulary, TextVocabulary):
        return vocabulary
    assert isinstance(vocabulary, CharacterVocabulary), "the caller has checked it"
    bytes_of = {id: byte for byte, id in vocabulary.byte_ids.items()}
    texts = {
        id: BYTE_NAMES[bytes_of[id]] if id in bytes_of else token.decode()
        for id, token in vocabulary.token_bytes.items()
    }
    pieces = vocabulary.pieces.keys()
    problem = _problem_of_merging(vocabulary)
    if not problem and not pieces >= set(chain.from_iterable(pieces)):
        problem = "a piece with a character that is not a piece"
    single = {text for text in texts.values() if len(text) == 1}
    if not problem and not pieces | set(user_defined(added)) >= single:
        problem = "a control, unused or unknown symbol of one character"
    if problem:
        raise UnsupportedError(
            f"a .pretok file cannot hold {problem}; save the tokenizer as .model"
        )
    has_fallback = bool(vocabulary.byte_ids)
    # The vocabulary of a GGUF file has no unknown token, and has the id of a fallback token for it.
    unknown = None if vocabulary.unknown_id in bytes_of else texts[vocabulary.unknown_id]
    options = TextOptions(unknown, fuses_unknown=True, has_fallback=has_fallback)
    return TextVocabulary(texts, vocabulary.ranked_merges(), options)
