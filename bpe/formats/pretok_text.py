"""Read and write the section `text` of .pretok files.

Only the file of a TextVocabulary has this section: its tokens are strings of characters, not of
bytes. cpp/formats/pretok_file_text.cpp is the C++ reader. Such a model merges characters, and has
fallback tokens for the 256 bytes. C++ makes no normalized copy of a text. Some models need such a
copy, and C++ does not support them. The checks here accept exactly the models that C++ supports.
The section has these numbers:

    spaces        the index of the normalizer in _NORMALIZERS, from 0
    split         0: text is not split; 1: it is split before each "▁"
    unknown       0, or the id of the unknown token plus one
    flags         1: ids are decoded as SentencePiece does; 2 (only with 1): the decoder strips the
                  spaces before the text, up to the first token with another character; 4: fuse_unk
    strips        the maximal number of spaces to strip at the start of a text

and, with flag 1, the text of the unknown token. The literals of the file are the texts of tokens.
The text of the fallback token for the byte 0x0A is "<0x0A>".

A SentencePiece model becomes a list of merges, which gives the same ids. The scores are lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, pairwise

from bpe.characters.marks import SPACE_MARK
from bpe.characters.text_vocabulary import BYTE_NAMES, TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import ByteFallback, Fuse, Replace, Strip
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.piece_decoder import Decoding, SentencePieceDecoding
from bpe.encoding.sentencepiece_normalizer import SentencePieceNormalizer
from bpe.encoding.text_spaces import keeps_whole, spaces_of, splits_alike
from bpe.errors import UnsupportedError, shortened
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.normalizers.steps import Prepend
from bpe.normalizers.steps import Replace as ReplaceText
from bpe.types import Normalizer
from bpe.vocabulary import ID_LIMIT, Merge, Vocabulary
from pretok.preset import Preset

_MARKS = ReplaceText(" ", SPACE_MARK)
_NORMALIZERS: tuple[SentencePieceNormalizer | NormalizerChain, ...] = (
    SentencePieceNormalizer(b"", add_dummy_prefix=False, remove_extra_whitespaces=False),
    SentencePieceNormalizer(b"", add_dummy_prefix=True, remove_extra_whitespaces=False),
    NormalizerChain((), MetaspaceStep(SPACE_MARK, "never")),
    NormalizerChain((), MetaspaceStep(SPACE_MARK, "first")),
    NormalizerChain((), MetaspaceStep(SPACE_MARK, "always")),
    NormalizerChain((_MARKS,)),
    NormalizerChain((Prepend(SPACE_MARK), _MARKS)),
)
_DECODERS = (Replace(ReplaceText(SPACE_MARK, " ")), ByteFallback(), Fuse())
_SENTENCEPIECE, _STRIPS_AGAIN, _FUSES_UNKNOWN = (1 << bit for bit in range(3))
_MAX_STRIPPED = 255


def dump_text(spec: TokenizerSpec) -> tuple[bytes, TextVocabulary]:
    """Return the section `text`, and the vocabulary whose tokens the file has.

    Raises UnsupportedError if a file cannot hold the model.
    """
    spec = replace(spec, vocabulary=_as_text(spec.vocabulary))
    problem = _problem(spec)
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, TextVocabulary), "_as_text returns one"
    if problem:
        raise UnsupportedError(
            f"a .pretok file cannot hold {problem}; keep the file that the tokenizer was loaded "
            "from, or save it as .json or .model"
        )
    spaces = _NORMALIZERS.index(_plain(spec.normalizer))
    options, decoder = vocabulary.options, spec.decoder
    flags = _FUSES_UNKNOWN * options.fuses_unknown
    if isinstance(decoder, SentencePieceDecoding):
        flags |= _SENTENCEPIECE | _STRIPS_AGAIN * decoder.strips_spaces
        strips, surface = int(decoder.strips_space), encode_text(decoder.unknown_surface)
    else:
        strips, surface = _stripped(decoder) or 0, b""
    numbers = (
        spaces,
        int(not keeps_whole(_preset(spec))),
        vocabulary.unknown_id + 1,
        flags,
        strips,
    )
    return b"".join([*map(encode_number, numbers), surface]), vocabulary


class TextSection:
    """The section `text` of a file."""

    def __init__(self, reader: Reader) -> None:
        spaces, split, unknown, flags, strips = (reader.number() for _ in range(5))
        self._is_sentencepiece = bool(flags & _SENTENCEPIECE)
        if (
            spaces >= len(_NORMALIZERS)
            or split > 1
            or unknown > ID_LIMIT
            or flags >> 3
            or strips > (1 if self._is_sentencepiece else _MAX_STRIPPED)
            or (flags & _STRIPS_AGAIN and not self._is_sentencepiece)
        ):
            raise reader.error("has unknown options of text")
        self._normalizer = _NORMALIZERS[spaces]
        self._splits = bool(split)
        self._unknown = unknown - 1
        self._strips_again = bool(flags & _STRIPS_AGAIN)
        self._fuses_unknown = bool(flags & _FUSES_UNKNOWN)
        self._strips = strips
        self._surface = reader.text() if self._is_sentencepiece else ""

    def vocabulary(
        self, reader: Reader, tokens: Mapping[int, bytes], merges: Iterable[Merge]
    ) -> TextVocabulary:
        """Return the vocabulary of these tokens and merges.

        Raises VocabularyError if the tokens are not different texts, or if the unknown token is
        not among them.
        """
        try:
            texts = {id: token.decode() for id, token in tokens.items()}
        except UnicodeDecodeError:
            raise reader.error("has a token that is not UTF-8") from None
        if len(set(texts.values())) < len(texts):
            raise reader.error("has two tokens with the same text")
        if self._unknown >= 0 and self._unknown not in texts:
            raise reader.error(f"has the unknown token {self._unknown}, but no token with this id")
        options = TextOptions(texts.get(self._unknown), self._fuses_unknown, has_fallback=True)
        return TextVocabulary(texts, merges, options)

    def complete(self, reader: Reader, spec: TokenizerSpec) -> TokenizerSpec:
        """Return `spec` with its normalizer and its decoder.

        Raises VocabularyError for a model that C++ does not support.
        """
        added, vocabulary = spec.added_tokens, spec.vocabulary
        assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
        normalizer: Normalizer = self._normalizer
        if isinstance(normalizer, SentencePieceNormalizer):
            normalizer = replace(normalizer, user_defined=_user_defined(added))
        decoder: Decoding
        if self._is_sentencepiece:
            decoder = SentencePieceDecoding(
                bool(self._strips), self._strips_again, _invisible(vocabulary, added), self._surface
            )
        else:
            strip = (Strip(" ", self._strips, 0),) if self._strips else ()
            decoder = DecoderChain((*_DECODERS, *strip))
        spec = replace(spec, normalizer=normalizer, decoder=decoder)
        problem = _problem(spec)
        if problem or self._splits == keeps_whole(_preset(spec)):
            raise reader.error(f"has {problem or 'a split other than that of its preset'}")
        return spec


def _problem(spec: TokenizerSpec) -> str:
    """Return something in the model that C++ does not support, or ""."""
    vocabulary, added = spec.vocabulary, spec.added_tokens
    assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
    if problem := _problem_of_merging(vocabulary):
        return problem
    pieces = vocabulary.pieces
    texts = (*pieces, *_contents(added))
    lookalike = next((text for text in texts if _looks_like_fallback(text)), None)
    if SPACE_MARK not in pieces:
        return f"a model without the token {SPACE_MARK}"
    unknown = vocabulary.options.unknown or ""
    if unknown in BYTE_NAMES or unknown.startswith(SPACE_MARK):
        return f"the unknown token {shortened(unknown)}"
    characters = sum(len(text.encode()) <= 4 for text in pieces)
    # C++ merges the bytes of each character by steps: symbols of some of its bytes, with ids above
    # all other ids. There are 256 steps of one byte, and at most 3 longer steps for a character.
    first_step = max(vocabulary.size, *(token.id + 1 for token in added), 0)
    if first_step + 256 + 3 * characters > ID_LIMIT:
        return "ids that are too large"
    if lookalike is not None:
        return f"the token {shortened(lookalike)}, which looks like a fallback token"
    if not splits_alike(_preset(spec)):
        return f"the split {_preset(spec).name!r} of a model that merges characters"
    if spec.add_prefix_space:
        return "add_prefix_space"
    if spec.normalizer is None:
        return "a model without a normalizer"
    normalizer = _name(spec.normalizer)
    if _plain(spec.normalizer) not in _NORMALIZERS:
        return f"the normalizer {normalizer}"
    if not _has_user_defined(spec.normalizer, added):
        return f"the normalizer {normalizer}, which has other user-defined symbols than the model"
    if spaces_of(spec.normalizer, added) is None:
        token = next(token for token in added if spaces_of(spec.normalizer, [token]) is None)
        return f"the added token {shortened(token.content)} with the normalizer {normalizer}"
    if not _is_known(spec.decoder, vocabulary, added):
        return "this decoder"
    for id, next_id in pairwise(sorted(token.id for token in added)):
        if id == next_id:
            return f"two added tokens with id {id}"
    return "" if _concatenates(vocabulary) else "a merge that does not join its two tokens"


def _problem_of_merging(vocabulary: CharacterVocabulary) -> str:
    """Return why C++ cannot merge the tokens of `vocabulary`, or ""."""
    if isinstance(vocabulary, TextVocabulary) and vocabulary.options.byte_level:
        return "a model whose characters stand for bytes"
    if vocabulary.fallback_ids is None:
        return "a model without fallback tokens for all bytes"
    if isinstance(vocabulary, TextVocabulary):
        why = vocabulary.why_not_as_bytes
    else:
        why = vocabulary.why_not_native
    return f"this model: {why}" if why else ""


def _preset(spec: TokenizerSpec) -> Preset:
    assert spec.preset is not None, "the caller has checked it"
    return spec.preset


def _contents(added: Iterable[AddedToken]) -> list[str]:
    return [token.content for token in added]


def _looks_like_fallback(text: str) -> bool:
    """Return whether decoders may take `text` for a fallback token, although it is not one.

    An example is "<0x0a>".
    """
    return (
        text[:3] == "<0x" and text[5:] == ">" and len(text.encode()) == 6 and text not in BYTE_NAMES
    )


def _name(normalizer: Normalizer) -> str:
    if isinstance(normalizer, str):
        return normalizer
    if not isinstance(normalizer, NormalizerChain):
        return type(normalizer).__name__
    steps = [step for step in (*normalizer.steps, normalizer.metaspace) if step is not None]
    return " + ".join(type(step).__name__ for step in steps)


def _plain(normalizer: Normalizer | None) -> Normalizer | None:
    """Return `normalizer` without the user-defined symbols, which are added tokens."""
    if isinstance(normalizer, SentencePieceNormalizer):
        return replace(normalizer, user_defined=())
    return normalizer


def _user_defined(added: Iterable[AddedToken]) -> tuple[str, ...]:
    return tuple(token.content for token in added if token.normalized)


def _has_user_defined(normalizer: Normalizer | None, added: Iterable[AddedToken]) -> bool:
    if not isinstance(normalizer, SentencePieceNormalizer):
        return True
    return normalizer.user_defined == _user_defined(added)


def _invisible(vocabulary: CharacterVocabulary, added: Iterable[AddedToken]) -> frozenset[int]:
    """Return the ids that SentencePiece decodes to no text: special tokens, not the unknown one."""
    ids = {token.id for token in added if token.special and token.id in vocabulary.token_bytes}
    return frozenset(ids - {vocabulary.unknown_id})


def _is_known(
    decoder: Decoding | None, vocabulary: TextVocabulary, added: tuple[AddedToken, ...]
) -> bool:
    """Return whether a file can hold `decoder`."""
    if not isinstance(decoder, SentencePieceDecoding):
        return _stripped(decoder) is not None
    return decoder.invisible == _invisible(vocabulary, added) and not any(
        token.special and token.content.startswith(SPACE_MARK) for token in added
    )


def _stripped(decoder: Decoding | None) -> int | None:
    """Return how many spaces `decoder` strips, or None if a file cannot hold it."""
    if not isinstance(decoder, DecoderChain) or decoder.steps[:3] != _DECODERS:
        return None
    match decoder.steps[3:]:
        case ():
            return 0
        case (Strip(" ", start, 0),) if 0 < start <= _MAX_STRIPPED:
            return start
    return None


def _concatenates(vocabulary: TextVocabulary) -> bool:
    """Return whether the result of each merge is the joined text of its two tokens."""
    texts = vocabulary.texts
    return all(
        texts[left] + texts[right] == texts[result]
        for left, right, result in vocabulary.merge_rows.tolist()
    )


def _as_text(vocabulary: Vocabulary) -> TextVocabulary:
    """Return a TextVocabulary that gives the same ids as `vocabulary`; merges replace scores.

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
    if not problem and not pieces >= {text for text in texts.values() if len(text) == 1}:
        problem = "a control, unused or user-defined symbol of one character"
    if problem:
        raise UnsupportedError(
            f"a .pretok file cannot hold {problem}; save the tokenizer as .model"
        )
    options = TextOptions(texts[vocabulary.unknown_id], fuses_unknown=True, has_fallback=True)
    return TextVocabulary(texts, vocabulary.ranked_merges, options)
