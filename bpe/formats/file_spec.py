"""Define FileSpec, the parts of a tokenizer that C++ has read from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.piece_decoder import Decoding
from bpe.encoding.token_list import AddedTokenList
from bpe.formats.spec import TokenizerSpec
from bpe.once import lazy, once
from bpe.token_facts import ROLES, TokenFacts
from bpe.token_table import Packed
from bpe.types import NormalizesText, Padding, Template, Truncation
from bpe.vocabulary import Vocabulary
from pretok.preset import Preset

if TYPE_CHECKING:
    from pretok import _core


class TextFields(NamedTuple):
    """The item "text" of _core.Spec.fields(), of a model whose tokens are text."""

    unknown: int | None
    fuses_unknown: bool
    has_fallback: bool
    byte_level: bool
    prefix: str
    suffix: str


def vocabulary_of(native: _core.Spec, special_ids: Iterable[int]) -> Vocabulary:
    """Return the tokens and merges of `native`; `special_ids` are those of added tokens."""
    packed, fields = Packed(*native.tokens()), native.fields()
    ignores_merges = native.ignore_merges
    if not native.is_text:
        from_ranks = fields["from_ranks"]
        return Vocabulary._of_packed(packed, native.merges(), from_ranks, ignores_merges)
    text = TextFields(*fields["text"])
    scores = native.scores()
    if len(scores):
        return _scored_vocabulary(packed, scores, text)
    options = TextOptions(
        None if text.unknown is None else packed.at(text.unknown).decode(),
        text.fuses_unknown,
        text.has_fallback,
        text.prefix,
        text.suffix,
        ignores_merges,
        text.byte_level,
    )
    return TextVocabulary.of_checked(None, packed, native.merges(), options, special_ids)


def _scored_vocabulary(
    packed: Packed, scores: NDArray[np.float32], text: TextFields
) -> CharacterVocabulary:
    tokens = dict(sorted(packed.unpacked().items()))
    unknown, byte_ids = text.unknown, None
    if text.has_fallback:
        ids = {token: id for id, token in tokens.items()}
        byte_ids = [ids[name.encode()] for name in BYTE_NAMES]
        tokens |= {id: bytes([byte]) for byte, id in enumerate(byte_ids)}
        unknown = byte_ids[0] if unknown is None else unknown  # no text becomes unknown
    assert unknown is not None, "C++ has checked it"
    of_ids = zip(packed.ids.tolist(), scores.tolist(), strict=True)
    is_number = {id: score for id, score in of_ids if score == score}
    return CharacterVocabulary.of_checked(tokens, is_number, unknown, byte_ids)


class FileSpec:
    """The parts of a TokenizerSpec, each made when it is first read.

    C++ makes the tokenizer of `native`, and needs none of these parts. `read` is the reader in
    Python. It takes the FileSpec, and returns the parts that C++ does not give: the normalizer, the
    decoder and the split.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, native: _core.Spec, read: Callable[[FileSpec], TokenizerSpec]) -> None:
        self.native = native
        self.fields = native.fields()
        self._read = read

    @once
    def _others(self) -> TokenizerSpec:
        return self._read(self)

    def read_all(self) -> TokenizerSpec:
        """Return all parts, with the errors of the reader in Python."""
        return self._others

    @once
    def vocabulary(self) -> Vocabulary:
        """The tokens and merges."""
        return vocabulary_of(self.native, self.added_tokens.special_ids)

    @once
    def added_tokens(self) -> AddedTokenList:
        """The added tokens, in the order of the file."""
        return AddedTokenList.of_records(self.fields["added"])

    @property
    def add_prefix_space(self) -> bool:
        """See Tokenizer.add_prefix_space, as the other properties."""
        value: bool = self.fields["add_prefix_space"]
        return value

    @property
    def template(self) -> Template:
        """The ids around a text."""
        return Template(tuple(self.fields["before"]), tuple(self.fields["after"]))

    @property
    def trim_offsets(self) -> tuple[bool, ...]:
        """Says whether spans exclude white space."""
        return tuple(self.fields["trims"])

    @lazy
    def facts(self) -> TokenFacts:
        """The facts about tokens that the file states."""
        types, scores, ids, ends, template, named = self.fields["facts"]
        roles = {role: id for role, id in zip(ROLES, ids, strict=True) if id is not None}
        return TokenFacts(types, scores, roles, tuple(ends), template or None, dict(named))

    @property
    def preset(self) -> Preset | None:
        """The preset of the split, or None."""
        return self._others.preset

    @property
    def why_no_preset(self) -> str:
        """The reason if there is no preset."""
        return self._others.why_no_preset

    @property
    def unicode(self) -> str | None:
        """The Unicode version of the split; None stands for that of the preset."""
        return self._others.unicode

    @property
    def normalizer(self) -> NormalizesText | None:
        """The normalizer, or None."""
        return self._others.normalizer

    @property
    def decoder(self) -> Decoding | None:
        """The decoder; None joins the bytes of tokens."""
        return self._others.decoder

    @property
    def truncation(self) -> Truncation | None:
        """The truncation of a tokenizer.json."""
        return self._others.truncation

    @property
    def padding(self) -> Padding | None:
        """The padding of a tokenizer.json."""
        return self._others.padding
