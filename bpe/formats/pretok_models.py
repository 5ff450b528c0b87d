"""Find out which models with tokens of text the C library supports.

Only these models can be stored in the section `text` of a .pretok file (pretok_text.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from operator import add, eq

from bpe.characters.marks import SPACE_MARK
from bpe.characters.text_vocabulary import (
    BYTE_NAMES,
    AnyCharacterVocabulary,
    TextOptions,
    TextVocabulary,
)
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import ByteFallback, ByteLevel, Fuse, Replace, Strip
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.piece_decoder import Decoding, SentencePieceDecoding
from bpe.encoding.sentencepiece_normalizer import SentencePieceNormalizer
from bpe.encoding.text_spaces import spaces_of, splits_alike
from bpe.errors import UnsupportedError, shortened
from bpe.formats.pretok_steps import problem_of_steps
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.chain import NFC, MetaspaceStep, NormalizerChain
from bpe.normalizers.steps import Prepend
from bpe.normalizers.steps import Replace as ReplaceText
from bpe.types import NormalizesText
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok.patterns.lookup import WHOLE
from pretok.preset import Preset

_MARKS = ReplaceText(" ", SPACE_MARK)
# The constants below are values in the section `text`, or are indexed by them.
NORMALIZERS: tuple[SentencePieceNormalizer | NormalizerChain, ...] = (
    SentencePieceNormalizer(b"", add_dummy_prefix=False, remove_extra_whitespaces=False),
    SentencePieceNormalizer(b"", add_dummy_prefix=True, remove_extra_whitespaces=False),
    NormalizerChain((), MetaspaceStep(SPACE_MARK, "never")),
    NormalizerChain((), MetaspaceStep(SPACE_MARK, "first")),
    NormalizerChain((), MetaspaceStep(SPACE_MARK, "always")),
    NormalizerChain((_MARKS,)),
    NormalizerChain((Prepend(SPACE_MARK), _MARKS)),
)
OTHER_NORMALIZER = len(NORMALIZERS)
BYTE_LEVEL = OTHER_NORMALIZER + 1
OTHER_MODEL = BYTE_LEVEL + 1
OF_BYTES = DecoderChain((ByteLevel(),))
DECODERS = (Replace(ReplaceText(SPACE_MARK, " ")), ByteFallback(), Fuse())
MAX_STRIPPED = 255


def index_of(spec: TokenizerSpec) -> int:
    """Return the number `spaces` of the section; the normalizer may be unsupported."""
    plain = _plain(spec.normalizer)
    if (
        plain in NORMALIZERS
        and spaces_of(spec.normalizer, spec.added_tokens) is not None
        and isinstance(spec.vocabulary, TextVocabulary)
        and spec.vocabulary.has_mark
    ):
        return NORMALIZERS.index(plain)
    return OTHER_NORMALIZER


def problem_of(spec: TokenizerSpec) -> str:
    """Return something in the model that the older forms of the section cannot hold, or "".

    They also cannot hold a merge that does not join its two tokens: see `concatenates`.
    """
    vocabulary, added = spec.vocabulary, spec.added_tokens
    assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
    if problem := _problem_of_merging(vocabulary):
        return problem
    texts = (*vocabulary.pieces, *_contents(added))
    names = frozenset(BYTE_NAMES if vocabulary.options.has_fallback else ())
    like_names = [text for text in texts if text[:3] == "<0x"]
    lookalike = next((text for text in like_names if _looks_like_fallback(text, names)), None)
    spaces = index_of(spec)
    is_sentencepiece = isinstance(spec.normalizer, SentencePieceNormalizer)
    if not vocabulary.has_mark and not is_sentencepiece:
        return f"a model without the token {SPACE_MARK}"
    unknown = vocabulary.options.unknown
    if unknown in BYTE_NAMES:
        return f"the unknown token {shortened(unknown)}"
    characters = int((vocabulary.packed_pieces.lengths <= 4).sum())
    # C++ merges the bytes of each character by steps: symbols of some of its bytes, with ids above
    # all other ids. There are 256 steps of one byte, and at most 3 longer steps for a character.
    first_step = max(vocabulary.size, *(token.id + 1 for token in added), 0)
    if first_step + 256 + 3 * characters > ID_LIMIT:
        return "ids that are too large"
    if lookalike is not None:
        return f"the token {shortened(lookalike)}, which looks like a fallback token"
    if not (splits_alike if spaces != OTHER_NORMALIZER else WHOLE.__eq__)(preset_of(spec)):
        return f"the split {preset_of(spec).name!r} of a model that merges characters"
    if spec.add_prefix_space:
        return "add_prefix_space"
    if spec.normalizer is None:
        return "a model without a normalizer"
    normalizer = _name(spec.normalizer)
    if not is_sentencepiece and spec.normalizer not in NORMALIZERS:
        return f"the normalizer {normalizer}"
    if not _has_user_defined(spec.normalizer, added):
        return f"the normalizer {normalizer}, which has other user-defined symbols than the model"
    wrong = [token for token in added if _is_wrong(token, spec.normalizer, spaces)]
    if wrong:
        return f"the added token {shortened(wrong[0].content)} with the normalizer {normalizer}"
    if not _is_known(spec.decoder, vocabulary, added):
        return "this decoder"
    for id, next_id in pairwise(sorted(token.id for token in added)):
        if id == next_id:
            return f"two added tokens with id {id}"
    return ""


def takes_steps_decoder(spec: TokenizerSpec) -> bool:
    """Return whether an older form can hold the model, except for its decoder."""
    return isinstance(spec.decoder, DecoderChain) and not problem_of(
        replace(spec, decoder=DecoderChain(DECODERS))
    )


def problem_of_other(spec: TokenizerSpec) -> str:
    """Return something in the model that only Python supports, or ""; then OTHER_MODEL fits."""
    vocabulary, added = spec.vocabulary, spec.added_tokens
    assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
    if vocabulary.why_not_native:
        return f"this model: {vocabulary.why_not_native}"
    if spec.decoder is None:
        return "a model whose tokens are text, without a decoder"
    special = frozenset(token.id for token in added if token.special)
    if vocabulary.options.ignores_merges and vocabulary.not_whole != special:
        return "special tokens that are not added tokens"
    return problem_of_steps(spec)


def problem_of_bytes(spec: TokenizerSpec) -> str:
    """Return what the form BYTE_LEVEL cannot hold in a model whose characters stand for bytes.

    The form also cannot hold a merge that does not join its two tokens: see `concatenates`.
    """
    vocabulary, added = spec.vocabulary, spec.added_tokens
    assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
    options = vocabulary.options
    if options.has_fallback or options.prefix or options.suffix:
        return "a model whose characters stand for bytes, with fallback tokens, prefix or suffix"
    if spec.normalizer not in (None, NFC):
        return f"the normalizer {_name(spec.normalizer)}"
    if spec.decoder != OF_BYTES:
        return "this decoder"
    for token in added:
        # The decoder replaces the characters of added tokens too.
        if not token.content.isascii():
            return (
                f"the added token {shortened(token.content)}, whose characters may stand for bytes"
            )
    special = frozenset(token.id for token in added if token.special)
    if options.ignores_merges and vocabulary.not_whole != special:
        return "special tokens that are not added tokens"
    return ""


def _is_wrong(token: AddedToken, normalizer: NormalizesText, spaces: int) -> bool:
    """Return whether the C library does not find `token` as Python does.

    The C library does not tell the place of a refused token in text that it has normalized.
    """
    if spaces == OTHER_NORMALIZER and isinstance(normalizer, SentencePieceNormalizer):
        return token.special and token.normalized
    return spaces_of(normalizer, [token]) is None


def _problem_of_merging(vocabulary: AnyCharacterVocabulary) -> str:
    """Return why C++ cannot merge the tokens of `vocabulary`, or ""."""
    if not isinstance(vocabulary, TextVocabulary):
        why = vocabulary.why_not_ranked
    elif vocabulary.options.has_fallback:
        if vocabulary.fallback_ids is None:
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


def _contents(added: Iterable[AddedToken]) -> list[str]:
    return [token.content for token in added]


def _looks_like_fallback(text: str, names: Collection[str]) -> bool:
    """Return whether decoders may take `text` for a fallback token, although it is not one.

    An example is "<0x0a>". `names` has the fallback tokens.
    """
    return text[:3] == "<0x" and text[5:] == ">" and len(text.encode()) == 6 and text not in names


def _name(normalizer: NormalizesText) -> str:
    if not isinstance(normalizer, NormalizerChain):
        return type(normalizer).__name__
    steps = [step for step in (*normalizer.steps, normalizer.metaspace) if step is not None]
    return " + ".join(type(step).__name__ for step in steps)


def _plain(normalizer: NormalizesText | None) -> NormalizesText | None:
    """Return `normalizer` without the user-defined symbols, which are added tokens."""
    if isinstance(normalizer, SentencePieceNormalizer):
        return replace(normalizer, user_defined=())
    return normalizer


def user_defined(added: Iterable[AddedToken]) -> tuple[str, ...]:
    """Return the symbols that SentencePiece finds in normalized text."""
    return tuple(token.content for token in added if token.normalized)


def _has_user_defined(normalizer: NormalizesText | None, added: Iterable[AddedToken]) -> bool:
    if not isinstance(normalizer, SentencePieceNormalizer):
        return True
    return normalizer.user_defined == user_defined(added)


def invisible(vocabulary: AnyCharacterVocabulary, added: Iterable[AddedToken]) -> frozenset[int]:
    """Return the ids that SentencePiece decodes to no text: special tokens, not the unknown one."""
    ids = {token.id for token in added if token.special and token.id in vocabulary.token_bytes}
    return frozenset(ids - {vocabulary.unknown_id})


def _is_known(
    decoder: Decoding | None, vocabulary: TextVocabulary, added: Sequence[AddedToken]
) -> bool:
    """Return whether a file can hold `decoder`."""
    if not isinstance(decoder, SentencePieceDecoding):
        return stripped(decoder) is not None
    return decoder.invisible == invisible(vocabulary, added)


def stripped(decoder: Decoding | None) -> int | None:
    """Return how many spaces `decoder` strips, or None if a file cannot hold it."""
    if not isinstance(decoder, DecoderChain) or decoder.steps[:3] != DECODERS:
        return None
    match decoder.steps[3:]:
        case ():
            return 0
        case (Strip(" ", start, 0),) if 0 < start <= MAX_STRIPPED:
            return start
    return None


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
