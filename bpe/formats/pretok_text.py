"""Read and write the section `text` of .pretok files.

Only the file of a TextVocabulary has this section: its tokens are strings of characters, not of
bytes. cpp/formats/pretok_file_text.cpp is the C++ reader. Such a model merges characters. The
checks here accept exactly the models that the C library supports. The section has these numbers:

    spaces        the index of the normalizer in _NORMALIZERS, from 0; or, in version 2, 7: another
                  normalizer of SentencePiece; 8: the characters of tokens stand for bytes
    split         0: text is not split; 1: it is split before each "▁"
    unknown       0, or the id of the unknown token plus one
    flags         1: ids are decoded as SentencePiece does; 2 (only with 1): the decoder strips the
                  spaces before the text, up to the first token with another character; 4: fuse_unk;
                  8, which needs version 2: there are no fallback tokens
    strips        the maximal number of spaces to strip at the start of a text

then, with flag 1, the text of the unknown token, and, if `spaces` is 7, the normalizer: a number
with its options (1: add_dummy_prefix; 2: remove_extra_whitespaces; 4: escape_whitespaces;
8: treat_whitespace_as_suffix), the size of its charsmap, and the charsmap. C++ makes no normalized
copy of a text unless `spaces` is 7, so this value is only for the models that need the copy. The
literals of the file are the texts of tokens. The text of the fallback token for the byte 0x0A is
"<0x0A>".

If `spaces` is 8, the vocabulary is a byte-level one that lacks tokens of some bytes. Such a file
may have flags 2, 4, 8 and 16 (pretok_file.py), and its section has flag 8.

A SentencePiece model becomes a list of merges, which gives the same ids. The scores are lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import chain, pairwise

from bpe.characters.marks import SPACE_MARK
from bpe.characters.text_vocabulary import BYTE_NAMES, TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import ByteFallback, ByteLevel, Fuse, Replace, Strip
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
from pretok.patterns.lookup import WHOLE
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
_OTHER_NORMALIZER = len(_NORMALIZERS)
_BYTE_LEVEL = _OTHER_NORMALIZER + 1
_NORMALIZER_OPTIONS = (
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "escape_whitespaces",
    "treat_whitespace_as_suffix",
)
_OF_BYTES = DecoderChain((ByteLevel(),))
_DECODERS = (Replace(ReplaceText(SPACE_MARK, " ")), ByteFallback(), Fuse())
_SENTENCEPIECE, _STRIPS_AGAIN, _FUSES_UNKNOWN, _NO_FALLBACK = (1 << bit for bit in range(4))
_MAX_STRIPPED = 255


def dump_text(spec: TokenizerSpec) -> tuple[bytes, TextVocabulary, bool]:
    """Return the section `text`, the vocabulary whose tokens the file has, and whether it is new.

    A new section needs version 2 of the format.

    Raises UnsupportedError if a file cannot hold the model.
    """
    spec = replace(spec, vocabulary=_as_text(spec.vocabulary, spec.added_tokens))
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, TextVocabulary), "_as_text returns one"
    is_byte_level = vocabulary.options.byte_level
    problem = (_problem_of_bytes if is_byte_level else _problem)(spec)
    if problem:
        raise UnsupportedError(
            f"a .pretok file cannot hold {problem}; keep the file that the tokenizer was loaded "
            "from, or save it as .json or .model"
        )
    spaces = _BYTE_LEVEL if is_byte_level else _index_of(spec)
    options, decoder = vocabulary.options, spec.decoder
    flags = _FUSES_UNKNOWN * options.fuses_unknown | _NO_FALLBACK * (not options.has_fallback)
    if isinstance(decoder, SentencePieceDecoding):
        flags |= _SENTENCEPIECE | _STRIPS_AGAIN * decoder.strips_spaces
        strips, surface = int(decoder.strips_space), encode_text(decoder.unknown_surface)
    else:
        strips, surface = _stripped(decoder) or 0, b""
    numbers = (
        spaces,
        int(not is_byte_level and not keeps_whole(_preset(spec))),
        vocabulary.unknown_id + 1,
        flags,
        strips,
    )
    section = b"".join([*map(encode_number, numbers), surface, _encode_normalizer(spec, spaces)])
    return section, vocabulary, spaces >= _OTHER_NORMALIZER or not options.has_fallback


class TextSection:
    """The section `text` of a file.

    If `is_new`, the file has version 2 of the format. Then the section must need this version.
    """

    def __init__(self, reader: Reader, is_new: bool) -> None:
        spaces, split, unknown, flags, strips = (reader.number() for _ in range(5))
        self._is_sentencepiece = bool(flags & _SENTENCEPIECE)
        self.is_byte_level = spaces == _BYTE_LEVEL
        """Whether the characters of tokens stand for bytes."""
        if (
            spaces > _BYTE_LEVEL
            or (self.is_byte_level and (split or strips or flags & ~_FUSES_UNKNOWN != _NO_FALLBACK))
            or split > 1
            or unknown > ID_LIMIT
            or flags >> 4
            or (spaces >= _OTHER_NORMALIZER or flags & _NO_FALLBACK != 0) != is_new
            or strips > (1 if self._is_sentencepiece else _MAX_STRIPPED)
            or (flags & _STRIPS_AGAIN and not self._is_sentencepiece)
        ):
            raise reader.error("has unknown options of text")
        self._spaces = spaces
        self._has_fallback = not flags & _NO_FALLBACK
        self._splits = bool(split)
        self._unknown = unknown - 1
        self._strips_again = bool(flags & _STRIPS_AGAIN)
        self._fuses_unknown = bool(flags & _FUSES_UNKNOWN)
        self._strips = strips
        self._surface = reader.text() if self._is_sentencepiece else ""
        self._normalizer: Normalizer | None = None
        if spaces < _OTHER_NORMALIZER:
            self._normalizer = _NORMALIZERS[spaces]
        elif not self.is_byte_level:
            self._normalizer = _read_normalizer(reader)

    def vocabulary(
        self,
        reader: Reader,
        tokens: Mapping[int, bytes],
        merges: Iterable[Merge],
        added: Iterable[AddedToken],
        ignores_merges: bool,
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
        options = TextOptions(
            texts.get(self._unknown),
            self._fuses_unknown,
            self._has_fallback,
            ignores_merges=ignores_merges,
            byte_level=self.is_byte_level,
        )
        special = [token.id for token in added if token.special]
        return TextVocabulary(texts, merges, options, special)

    def complete(self, reader: Reader, spec: TokenizerSpec) -> TokenizerSpec:
        """Return `spec` with its normalizer and its decoder.

        Raises VocabularyError for a model that C++ does not support.
        """
        added, vocabulary = spec.added_tokens, spec.vocabulary
        assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
        if self.is_byte_level:
            spec = replace(spec, decoder=_OF_BYTES)
            if problem := _problem_of_bytes(spec):
                raise reader.error(f"has {problem}")
            return spec
        normalizer = self._normalizer
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
        if not problem and self._splits == keeps_whole(_preset(spec)):
            problem = "a split other than that of its preset"
        if not problem and self._spaces != _index_of(spec):
            problem = "a normalizer that has a shorter form"
        if problem:
            raise reader.error(f"has {problem}")
        return spec


def _index_of(spec: TokenizerSpec) -> int:
    """Return the number `spaces` of the section; the normalizer may be unsupported."""
    plain = _plain(spec.normalizer)
    if (
        plain in _NORMALIZERS
        and spaces_of(spec.normalizer, spec.added_tokens) is not None
        and isinstance(spec.vocabulary, TextVocabulary)
        and spec.vocabulary.has_mark
    ):
        return _NORMALIZERS.index(plain)
    return _OTHER_NORMALIZER


def _encode_normalizer(spec: TokenizerSpec, spaces: int) -> bytes:
    normalizer = spec.normalizer
    if spaces != _OTHER_NORMALIZER or not isinstance(normalizer, SentencePieceNormalizer):
        return b""
    options = sum(getattr(normalizer, name) << at for at, name in enumerate(_NORMALIZER_OPTIONS))
    size = encode_number(len(normalizer.charsmap))
    return encode_number(options) + size + normalizer.charsmap


def _read_normalizer(reader: Reader) -> SentencePieceNormalizer:
    options = reader.number()
    if options >> len(_NORMALIZER_OPTIONS):
        raise reader.error("has unknown options of the normalizer")
    charsmap = reader.take(reader.count(1))
    prefix, removes, escapes, suffix = (bool(options >> bit & 1) for bit in range(4))
    return SentencePieceNormalizer(charsmap, prefix, removes, escapes, suffix)


def _problem(spec: TokenizerSpec) -> str:
    """Return something in the model that C++ does not support, or ""."""
    vocabulary, added = spec.vocabulary, spec.added_tokens
    assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
    if problem := _problem_of_merging(vocabulary):
        return problem
    pieces = vocabulary.pieces
    texts = (*pieces, *_contents(added))
    names = frozenset(BYTE_NAMES if vocabulary.options.has_fallback else ())
    lookalike = next((text for text in texts if _looks_like_fallback(text, names)), None)
    spaces = _index_of(spec)
    is_sentencepiece = isinstance(spec.normalizer, SentencePieceNormalizer)
    if not vocabulary.has_mark and not is_sentencepiece:
        return f"a model without the token {SPACE_MARK}"
    unknown = vocabulary.options.unknown
    if unknown in BYTE_NAMES:
        return f"the unknown token {shortened(unknown)}"
    characters = sum(len(text.encode()) <= 4 for text in pieces)
    # C++ merges the bytes of each character by steps: symbols of some of its bytes, with ids above
    # all other ids. There are 256 steps of one byte, and at most 3 longer steps for a character.
    first_step = max(vocabulary.size, *(token.id + 1 for token in added), 0)
    if first_step + 256 + 3 * characters > ID_LIMIT:
        return "ids that are too large"
    if lookalike is not None:
        return f"the token {shortened(lookalike)}, which looks like a fallback token"
    if not (splits_alike if spaces != _OTHER_NORMALIZER else WHOLE.__eq__)(_preset(spec)):
        return f"the split {_preset(spec).name!r} of a model that merges characters"
    if spec.add_prefix_space:
        return "add_prefix_space"
    if spec.normalizer is None:
        return "a model without a normalizer"
    normalizer = _name(spec.normalizer)
    if not is_sentencepiece and spec.normalizer not in _NORMALIZERS:
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
    return "" if _concatenates(vocabulary) else "a merge that does not join its two tokens"


def _problem_of_bytes(spec: TokenizerSpec) -> str:
    """Return what the C library does not support in a model whose characters stand for bytes."""
    vocabulary, added = spec.vocabulary, spec.added_tokens
    assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
    options = vocabulary.options
    if options.has_fallback or options.prefix or options.suffix:
        return "a model whose characters stand for bytes, with fallback tokens, prefix or suffix"
    if spec.normalizer not in (None, "NFC"):
        return f"the normalizer {_name(spec.normalizer)}"
    if spec.decoder != _OF_BYTES:
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
    return "" if _concatenates(vocabulary) else "a merge that does not join its two tokens"


def _is_wrong(token: AddedToken, normalizer: Normalizer, spaces: int) -> bool:
    """Return whether the C library does not find `token` as Python does.

    The C library does not tell the place of a refused token in text that it has normalized.
    """
    if spaces == _OTHER_NORMALIZER and isinstance(normalizer, SentencePieceNormalizer):
        return token.special and token.normalized
    return spaces_of(normalizer, [token]) is None


def _problem_of_merging(vocabulary: CharacterVocabulary) -> str:
    """Return why C++ cannot merge the tokens of `vocabulary`, or ""."""
    if not isinstance(vocabulary, TextVocabulary):
        why = vocabulary.why_not_native
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


def _preset(spec: TokenizerSpec) -> Preset:
    assert spec.preset is not None, "the caller has checked it"
    return spec.preset


def _contents(added: Iterable[AddedToken]) -> list[str]:
    return [token.content for token in added]


def _looks_like_fallback(text: str, names: Collection[str]) -> bool:
    """Return whether decoders may take `text` for a fallback token, although it is not one.

    An example is "<0x0a>". `names` has the fallback tokens.
    """
    return text[:3] == "<0x" and text[5:] == ">" and len(text.encode()) == 6 and text not in names


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
    return decoder.invisible == _invisible(vocabulary, added)


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


def _as_text(vocabulary: Vocabulary, added: Iterable[AddedToken]) -> TextVocabulary:
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
    if not problem and not pieces | set(_user_defined(added)) >= single:
        problem = "a control, unused or unknown symbol of one character"
    if problem:
        raise UnsupportedError(
            f"a .pretok file cannot hold {problem}; save the tokenizer as .model"
        )
    has_fallback = bool(vocabulary.byte_ids)
    # The vocabulary of a GGUF file has no unknown token, and has the id of a fallback token for it.
    unknown = None if vocabulary.unknown_id in bytes_of else texts[vocabulary.unknown_id]
    options = TextOptions(unknown, fuses_unknown=True, has_fallback=has_fallback)
    return TextVocabulary(texts, vocabulary.ranked_merges, options)
