"""Read and write the section `text` of .pretok files.

Only the file of a TextVocabulary has this section: its tokens are strings of characters, not of
bytes. cpp/formats/pretok_file_text.cpp is the C++ reader. Such a model merges characters. The
checks of pretok_models.py accept exactly the models that the C library supports. The section has
these numbers:

    spaces        the index of the normalizer in NORMALIZERS, from 0; or, in version 2, 7: another
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

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import Strip
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.piece_decoder import Decoding, SentencePieceDecoding
from bpe.encoding.sentencepiece_normalizer import SentencePieceNormalizer
from bpe.encoding.text_spaces import keeps_whole
from bpe.errors import UnsupportedError
from bpe.formats.pretok_models import (
    BYTE_LEVEL,
    DECODERS,
    MAX_STRIPPED,
    NORMALIZERS,
    OF_BYTES,
    OTHER_NORMALIZER,
    as_text,
    index_of,
    invisible,
    preset_of,
    problem_of,
    problem_of_bytes,
    stripped,
    user_defined,
)
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.formats.spec import TokenizerSpec
from bpe.types import Normalizer
from bpe.vocabulary import ID_LIMIT, Merge

_NORMALIZER_OPTIONS = (
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "escape_whitespaces",
    "treat_whitespace_as_suffix",
)
_SENTENCEPIECE, _STRIPS_AGAIN, _FUSES_UNKNOWN, _NO_FALLBACK = (1 << bit for bit in range(4))


def dump_text(spec: TokenizerSpec) -> tuple[bytes, TextVocabulary, bool]:
    """Return the section `text`, the vocabulary whose tokens the file has, and whether it is new.

    A new section needs version 2 of the format. Raises UnsupportedError if a file cannot hold the
    model.
    """
    spec = replace(spec, vocabulary=as_text(spec.vocabulary, spec.added_tokens))
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, TextVocabulary), "as_text returns one"
    is_byte_level = vocabulary.options.byte_level
    problem = (problem_of_bytes if is_byte_level else problem_of)(spec)
    if problem:
        raise UnsupportedError(
            f"a .pretok file cannot hold {problem}; keep the file that the tokenizer was loaded "
            "from, or save it as .json or .model"
        )
    spaces = BYTE_LEVEL if is_byte_level else index_of(spec)
    options, decoder = vocabulary.options, spec.decoder
    flags = _FUSES_UNKNOWN * options.fuses_unknown | _NO_FALLBACK * (not options.has_fallback)
    if isinstance(decoder, SentencePieceDecoding):
        flags |= _SENTENCEPIECE | _STRIPS_AGAIN * decoder.strips_spaces
        strips, surface = int(decoder.strips_space), encode_text(decoder.unknown_surface)
    else:
        strips, surface = stripped(decoder) or 0, b""
    numbers = (
        spaces,
        int(not is_byte_level and not keeps_whole(preset_of(spec))),
        vocabulary.unknown_id + 1,
        flags,
        strips,
    )
    section = b"".join([*map(encode_number, numbers), surface, _encode_normalizer(spec, spaces)])
    return section, vocabulary, spaces >= OTHER_NORMALIZER or not options.has_fallback


class TextSection:
    """The section `text` of a file.

    If `is_new`, the file has version 2 of the format. Then the section must need this version.
    """

    def __init__(self, reader: Reader, is_new: bool) -> None:
        spaces, split, unknown, flags, strips = (reader.number() for _ in range(5))
        self._is_sentencepiece = bool(flags & _SENTENCEPIECE)
        self.is_byte_level = spaces == BYTE_LEVEL
        """True if each character of a token stands for a byte."""
        if (
            spaces > BYTE_LEVEL
            or (self.is_byte_level and (split or strips or flags & ~_FUSES_UNKNOWN != _NO_FALLBACK))
            or split > 1
            or unknown > ID_LIMIT
            or flags >> 4
            or (spaces >= OTHER_NORMALIZER or flags & _NO_FALLBACK != 0) != is_new
            or strips > (1 if self._is_sentencepiece else MAX_STRIPPED)
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
        if spaces < OTHER_NORMALIZER:
            self._normalizer = NORMALIZERS[spaces]
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
            spec = replace(spec, decoder=OF_BYTES)
            if problem := problem_of_bytes(spec):
                raise reader.error(f"has {problem}")
            return spec
        normalizer = self._normalizer
        if isinstance(normalizer, SentencePieceNormalizer):
            normalizer = replace(normalizer, user_defined=user_defined(added))
        decoder: Decoding
        if self._is_sentencepiece:
            decoder = SentencePieceDecoding(
                bool(self._strips), self._strips_again, invisible(vocabulary, added), self._surface
            )
        else:
            strip = (Strip(" ", self._strips, 0),) if self._strips else ()
            decoder = DecoderChain((*DECODERS, *strip))
        spec = replace(spec, normalizer=normalizer, decoder=decoder)
        problem = problem_of(spec)
        if not problem and self._splits == keeps_whole(preset_of(spec)):
            problem = "a split other than that of its preset"
        if not problem and self._spaces != index_of(spec):
            problem = "a normalizer that has a shorter form"
        if problem:
            raise reader.error(f"has {problem}")
        return spec


def _encode_normalizer(spec: TokenizerSpec, spaces: int) -> bytes:
    normalizer = spec.normalizer
    if spaces != OTHER_NORMALIZER or not isinstance(normalizer, SentencePieceNormalizer):
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
