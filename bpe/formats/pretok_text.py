"""Read and write the section `text` of .pretok files.

Only the file of a TextVocabulary has this section: its tokens are strings of characters, not of
bytes. cpp/formats/pretok_file_text.cpp is the C++ reader. Such a model merges characters. The
section has three numbers and two texts:

    unknown       0, or the id of the unknown token plus one
    flags         1: fuse_unk; 2: there are no fallback tokens; 4: the characters of tokens stand
                  for bytes; 8: a merge may make a token other than its two tokens, joined
    split         0: text without spaces is not split; 1: it is split before each "▁"; 2: otherwise
    prefix        continuing_subword_prefix: the text before each token that does not begin a word
    suffix        end_of_word_suffix: the text after each token that ends a word

The literals of the file are the texts of tokens. The text of the fallback token for the byte 0x0A
is "<0x0A>". A SentencePiece model becomes a list of merges, which gives the same ids. The scores
are lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.decoders.steps import SentencePieceDecoding
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.text_spaces import keeps_whole, splits_alike
from bpe.errors import UnsupportedError
from bpe.formats.pretok_models import as_text, concatenates, invisible, problem_of, user_defined
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import MAX_TEXT
from bpe.token_table import Packed
from bpe.vocabulary import ID_LIMIT, Rows
from pretok.preset import Preset

_FUSES_UNKNOWN, _NO_FALLBACK, _BYTE_LEVEL, ANY_RESULTS = 1, 2, 4, 8


def dump_text(spec: TokenizerSpec) -> tuple[bytes, TextVocabulary, bool]:
    """Return the section, the vocabulary whose tokens the file has, and `has_any_results`.

    Raises UnsupportedError if a file cannot hold the model. `has_any_results` is true if a merge
    may make a token other than its two tokens, joined.
    """
    vocabulary = as_text(spec.vocabulary, spec.added_tokens)
    if problem := problem_of(replace(spec, vocabulary=vocabulary)):
        raise UnsupportedError(
            f"a .pretok file cannot hold {problem}; keep the file that the tokenizer was loaded "
            "from, or save it as .json or .model"
        )
    options = vocabulary.options
    has_any_results = not concatenates(vocabulary)
    flags = (
        _FUSES_UNKNOWN * options.fuses_unknown
        | _NO_FALLBACK * (not options.has_fallback)
        | _BYTE_LEVEL * options.byte_level
        | ANY_RESULTS * has_any_results
    )
    numbers = vocabulary.unknown_id + 1, flags, _split_of(spec.preset)
    affixes = map(encode_text, (options.prefix, options.suffix))
    return b"".join([*map(encode_number, numbers), *affixes]), vocabulary, has_any_results


def _split_of(preset: Preset | None) -> int:
    if preset is not None and keeps_whole(preset):
        return 0
    return 1 if splits_alike(preset) else 2


class TextSection:
    """The section `text` of a file."""

    def __init__(self, reader: Reader) -> None:
        unknown, flags, self._split = (reader.number() for _ in range(3))
        self._prefix, self._suffix = reader.text(), reader.text()
        if unknown > ID_LIMIT or flags >> 4 or self._split > 2:
            raise reader.error("has unknown options of text")
        if max(map(len, (self._prefix, self._suffix))) > MAX_TEXT:
            raise reader.error("has a prefix or suffix of tokens that is too long")
        self._unknown = unknown - 1
        self._flags = flags
        self.has_any_results = bool(flags & ANY_RESULTS)
        """True if a merge may make a token other than its two tokens, joined."""

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
            bool(self._flags & _FUSES_UNKNOWN),
            not self._flags & _NO_FALLBACK,
            self._prefix,
            self._suffix,
            ignores_merges,
            bool(self._flags & _BYTE_LEVEL),
        )
        special = [token.id for token in added if token.special]
        return TextVocabulary.of_checked(pieces, packed, merges, options, special)

    def complete(self, reader: Reader, spec: TokenizerSpec) -> TokenizerSpec:
        """Return `spec` with the parts of SentencePiece that follow from its added tokens.

        Raises VocabularyError for a model that C++ does not support.
        """
        added, vocabulary = spec.added_tokens, spec.vocabulary
        assert isinstance(vocabulary, TextVocabulary), "the caller makes one"
        if isinstance(spec.normalizer, SentencePieceNormalizer):
            symbols = user_defined(added)
            spec = replace(spec, normalizer=replace(spec.normalizer, user_defined=symbols))
        if isinstance(spec.decoder, SentencePieceDecoding):
            ids = invisible(vocabulary, added)
            spec = replace(spec, decoder=replace(spec.decoder, invisible=ids))
        if spec.preset is None:
            return spec
        problem = problem_of(spec)
        if not problem and self._split != _split_of(spec.preset):
            problem = "a split other than that of its preset"
        if problem:
            raise reader.error(f"has {problem}")
        return spec
