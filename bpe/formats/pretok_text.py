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

In version 3, `spaces` may also be 9: a model that no other value describes. `split` and `strips`
are 0, and the flags are 4, 8, 16 (the characters of tokens stand for bytes) and 32 (a merge may
make a token other than its two tokens, joined). Then follow two texts, the prefix and the suffix of
tokens (continuing_subword_prefix and end_of_word_suffix). The section `steps` (pretok_steps.py) has
the normalizer and the decoder. With a smaller value of `spaces`, that section has only a decoder,
which replaces the decoder here.

If `spaces` is 8, the vocabulary is a byte-level one that lacks tokens of some bytes. Such a file
may have flags 2, 4, 8 and 16 (pretok_file.py), and its section has flag 8.

A SentencePiece model becomes a list of merges, which gives the same ids. The scores are lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import Strip
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.piece_decoder import Decoding, SentencePieceDecoding
from bpe.encoding.sentencepiece_normalizer import SentencePieceNormalizer
from bpe.encoding.text_spaces import keeps_whole
from bpe.errors import UnsupportedError
from bpe.formats.normalizer_json import MAX_TEXT
from bpe.formats.pretok_models import (
    BYTE_LEVEL,
    DECODERS,
    MAX_STRIPPED,
    NORMALIZERS,
    OF_BYTES,
    OTHER_MODEL,
    OTHER_NORMALIZER,
    as_text,
    concatenates,
    index_of,
    invisible,
    preset_of,
    problem_of,
    problem_of_bytes,
    problem_of_other,
    stripped,
    takes_steps_decoder,
    user_defined,
)
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.formats.pretok_steps import dump_steps
from bpe.formats.spec import TokenizerSpec
from bpe.types import NormalizesText
from bpe.vocabulary import ID_LIMIT, Packed, Rows

_NORMALIZER_OPTIONS = (
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "escape_whitespaces",
    "treat_whitespace_as_suffix",
)
_SENTENCEPIECE, _STRIPS_AGAIN, _FUSES_UNKNOWN, _NO_FALLBACK, _BYTE_LEVEL, _ANY_RESULTS = (
    1 << bit for bit in range(6)
)
STEPS_VERSION = 3
"""The version of files with the section `steps` (pretok_steps.py)."""


class TextForm(NamedTuple):
    """How a file holds a model whose tokens are text."""

    section: bytes
    vocabulary: TextVocabulary
    """The vocabulary whose tokens the file has."""
    steps: bytes
    """The section `steps`, or b"" if the file needs none."""
    version: int
    """The version of the format that can hold the model."""
    has_any_results: bool = False
    """True if a merge may make a token other than its two tokens, joined."""


def dump_text(spec: TokenizerSpec) -> TextForm:
    """Return the form of a model; raises UnsupportedError if a file cannot hold it."""
    spec = replace(spec, vocabulary=as_text(spec.vocabulary, spec.added_tokens))
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, TextVocabulary), "as_text returns one"
    is_byte_level = vocabulary.options.byte_level
    problem = (problem_of_bytes if is_byte_level else problem_of)(spec)
    has_any_results = not concatenates(vocabulary)
    if has_any_results:
        problem = problem or "a merge that does not join its two tokens"
    if not problem:
        return _dump_older(spec, vocabulary)
    own_problem = problem_of_other(spec)
    if own_problem:
        # Most problems of SentencePiece models are not those of OTHER_MODEL.
        is_sentencepiece = isinstance(spec.normalizer, SentencePieceNormalizer)
        raise UnsupportedError(
            f"a .pretok file cannot hold {problem if is_sentencepiece else own_problem}; keep the "
            "file that the tokenizer was loaded from, or save it as .json or .model"
        )
    if not is_byte_level and not has_any_results and takes_steps_decoder(spec):
        steps = dump_steps(replace(spec, normalizer=None))
        plain = replace(spec, decoder=DecoderChain(DECODERS))
        return _dump_older(plain, vocabulary)._replace(steps=steps, version=STEPS_VERSION)
    options = vocabulary.options
    flags = (
        _FUSES_UNKNOWN * options.fuses_unknown
        | _NO_FALLBACK * (not options.has_fallback)
        | _BYTE_LEVEL * options.byte_level
        | _ANY_RESULTS * has_any_results
    )
    numbers = OTHER_MODEL, 0, vocabulary.unknown_id + 1, flags, 0
    affixes = encode_text(options.prefix) + encode_text(options.suffix)
    section = b"".join(map(encode_number, numbers)) + affixes
    return TextForm(section, vocabulary, dump_steps(spec), STEPS_VERSION, has_any_results)


def _dump_older(spec: TokenizerSpec, vocabulary: TextVocabulary) -> TextForm:
    """Return a form of version 1 or 2."""
    is_byte_level = vocabulary.options.byte_level
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
    is_new = spaces >= OTHER_NORMALIZER or not options.has_fallback
    return TextForm(section, vocabulary, b"", 2 if is_new else 1)


class TextSection:
    """The section `text` of a file of this version.

    If the version is 1 or 2, the section must need it.
    """

    def __init__(self, reader: Reader, version: int) -> None:
        spaces, split, unknown, flags, strips = (reader.number() for _ in range(5))
        self.is_other = spaces == OTHER_MODEL
        """True if only version 3 can hold the model."""
        self.has_any_results = self.is_other and bool(flags & _ANY_RESULTS)
        """True if a merge may make a token other than its two tokens, joined."""
        allowed = _FUSES_UNKNOWN | _NO_FALLBACK | _BYTE_LEVEL | _ANY_RESULTS
        if self.is_other and (
            version != STEPS_VERSION or split or strips or unknown > ID_LIMIT or flags & ~allowed
        ):
            raise reader.error("has unknown options of text")
        self._prefix, self._suffix = (reader.text(), reader.text()) if self.is_other else ("", "")
        if max(map(len, (self._prefix, self._suffix))) > MAX_TEXT:
            raise reader.error("has a prefix or suffix of tokens that is too long")
        self._is_sentencepiece = bool(flags & _SENTENCEPIECE)
        self.is_byte_level = spaces == BYTE_LEVEL
        """True if each character of a token stands for a byte, and version 2 holds the model."""
        self._byte_level = self.is_byte_level or (self.is_other and bool(flags & _BYTE_LEVEL))
        if not self.is_other and (
            spaces > BYTE_LEVEL
            or (self.is_byte_level and (split or strips or flags & ~_FUSES_UNKNOWN != _NO_FALLBACK))
            or split > 1
            or unknown > ID_LIMIT
            or flags >> 4
            or (
                version < STEPS_VERSION
                and (spaces >= OTHER_NORMALIZER or flags & _NO_FALLBACK != 0) != (version == 2)
            )
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
        self._normalizer: NormalizesText | None = None
        if spaces < OTHER_NORMALIZER:
            self._normalizer = NORMALIZERS[spaces]
        elif spaces == OTHER_NORMALIZER:
            self._normalizer = _read_normalizer(reader)

    def vocabulary(
        self,
        reader: Reader,
        packed: Packed,
        merges: Rows,
        added: Iterable[AddedToken],
        ignores_merges: bool,
    ) -> TextVocabulary:
        """Return the vocabulary of these tokens and merges, which are those of a file.

        Raises VocabularyError if the tokens are not different texts, or if the unknown token is
        not among them.
        """
        try:
            texts = packed.texts()
        except UnicodeDecodeError:
            raise reader.error("has a token that is not UTF-8") from None
        pieces = dict(zip(texts, packed.ids.tolist(), strict=True))
        if len(pieces) < len(texts):
            raise reader.error("has two tokens with the same text")
        places = np.flatnonzero(packed.ids == self._unknown).tolist()
        if self._unknown >= 0 and not places:
            raise reader.error(f"has the unknown token {self._unknown}, but no token with this id")
        options = TextOptions(
            texts[places[0]] if places else None,
            self._fuses_unknown,
            self._has_fallback,
            self._prefix,
            self._suffix,
            ignores_merges,
            self._byte_level,
        )
        special = [token.id for token in added if token.special]
        return TextVocabulary.of_checked(pieces, packed, merges, options, special)

    def complete(self, reader: Reader, spec: TokenizerSpec) -> TokenizerSpec:
        """Return `spec` with its normalizer and its decoder.

        `spec` has those of the section `steps`. Raises VocabularyError for a model that C++ does
        not support.
        """
        added, vocabulary = spec.added_tokens, spec.vocabulary
        assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
        if self.is_other:
            if spec.preset is not None and (problem := problem_of_other(spec)):
                raise reader.error(f"has {problem}")
            return spec
        if self.is_byte_level and spec.decoder is not None:
            raise reader.error("has a normalizer or a decoder that this model does not take")
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
        chosen = spec.decoder
        spec = replace(spec, normalizer=normalizer, decoder=decoder)
        problem = problem_of(spec)
        if not problem and self._splits == keeps_whole(preset_of(spec)):
            problem = "a split other than that of its preset"
        if not problem and self._spaces != index_of(spec):
            problem = "a normalizer that has a shorter form"
        if problem:
            raise reader.error(f"has {problem}")
        return spec if chosen is None else replace(spec, decoder=chosen)


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
