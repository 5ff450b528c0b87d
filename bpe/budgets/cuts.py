"""Define Cuts, which proves for neighbors of a text that a cut between them keeps all ids.

A cut between two characters is proven if, for any texts u and v that end and begin with these
characters, the ids of u followed by the ids of v are the ids of u + v. The ids of v are those of a
continuation: a model that puts a space before a text puts none before v.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe.budgets.proofs import UNKNOWN, CharacterProofs, Proofs, SplitProofs
from bpe.characters.marks import SPACE_MARK
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.text_spaces import keeps_whole, only_writes_marks, prefix_of
from bpe.encoding.utf8 import decode_utf8
from bpe.merge import FindMerge, merge, merge_finder
from bpe.normalizers.chain import NFC
from bpe.once import once
from bpe.token_table import Packed
from bpe.types import NormalizesText, SupportsOffsets
from bpe.vocabulary import Vocabulary
from pretok.machine.pair_cuts import PairCuts
from pretok.pre_tokenizer import PreTokenizer

if TYPE_CHECKING:
    from pretok import _core

ASCII = 128


class Cuts:
    """The proven cuts of a tokenizer, and the numbers of bytes of its tokens.

    `puts_prefix` says whether a text may get a prefix that a continuation does not get.
    `normalizes` says whether the tokenizer applies NFC. `ascii` maps a << 7 | b to what is proven
    for two ASCII characters. `whole` has the tokens that a pre-token becomes without merging.
    """

    def __init__(
        self,
        make_proofs: Callable[[bool], Proofs],
        vocabulary: Vocabulary,
        added: Iterable[AddedToken],
        puts_prefix: bool,
        normalizes: bool,
    ) -> None:
        """Store the parts; make_proofs(strips) makes the proofs."""
        self.ascii = bytearray([UNKNOWN]) * (ASCII * ASCII)
        self.puts_prefix = puts_prefix
        self.normalizes = normalizes
        added = list(added)
        self._strips = any(token.lstrip or token.rstrip for token in added)
        self.proofs = make_proofs(self._strips)
        self.has_normalized_tokens = any(token.normalized for token in added)
        self.has_ordinary_tokens = any(not token.special for token in added)
        self.longest_added = max((len(token.content.encode()) for token in added), default=0)
        self.is_text = isinstance(vocabulary, AnyCharacterVocabulary)
        self._vocabulary, self._added = vocabulary, added

    @property
    def has_exact_sizes(self) -> bool:
        """True if `sizes` are those of all ids, even in a text with added tokens."""
        return not (self.puts_prefix or self._strips)

    @once
    def sizes(self) -> NDArray[np.int32]:
        """The number of bytes of a text that each id stands for."""
        return _sizes(self._vocabulary, self._added, self.is_text)

    @once
    def longest(self) -> int | None:
        """The maximal number of bytes that an id stands for; None if there is no maximum."""
        if self._strips:
            return None
        # `sizes` counts one byte for "▁", which stands for a space, but may be in a text itself.
        return self.longest_token * (len(SPACE_MARK.encode()) if self.is_text else 1)

    @once
    def longest_token(self) -> int:
        """The maximal number of bytes of a token."""
        return int(self.sizes.max())

    @once
    def whole(self) -> Container[bytes]:
        """The tokens that a pre-token becomes, and that merging their bytes does not make."""
        vocabulary = self._vocabulary
        return () if self.is_text or not vocabulary.ignore_merges else _NotMerged(vocabulary)

    @once
    def native_proofs(self) -> _core.PairProofs:
        """The proofs for C++."""
        return self.proofs.native()

    def between(self, before: str, after: str) -> int:
        """Return what is proven for two characters."""
        return self.proofs.between(before, after)

    def between_bytes(self, pair: bytes, place: int) -> int:
        """Return what is proven for two characters in UTF-8; the second one starts at `place`."""
        return self.between(decode_utf8(pair[:place]), decode_utf8(pair[place:]))

    def between_ascii(self, pair: int) -> int:
        """Do the same for two ASCII characters, given as a << 7 | b."""
        known = self.ascii[pair]
        if known == UNKNOWN:
            before, after = chr(pair >> 7), chr(pair & ASCII - 1)
            known = self.ascii[pair] = self.between(before, after)
        return known


class _NotMerged:
    """Contains the tokens of a vocabulary that merging their bytes does not make."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known: dict[bytes, bool] = {}

    def __contains__(self, token: object) -> bool:
        assert isinstance(token, bytes), "Container[bytes]"
        id = self._vocabulary.ids.get(token)
        if id is None:
            return False
        known = self._known.get(token)
        if known is None:
            byte_ids = self._vocabulary.byte_ids
            symbols = [byte_ids.get(byte, -1) for byte in token]
            known = -1 in symbols or merge(symbols, self._find) != [id]
            self._known[token] = known
        return known

    @once
    def _find(self) -> FindMerge:
        return merge_finder(self._vocabulary)


def find_cuts(
    vocabulary: Vocabulary,
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    normalizer: NormalizesText | None,
    add_prefix_space: bool,
    added: tuple[AddedToken, ...],
) -> Cuts | None:
    """Return the cuts of a tokenizer, or None if no cut can be proven.

    The search for a `single_word` token looks at the characters beside it, so with such a token no
    cut is proven. The same is true for normalizers other than NFC and those that only write spaces
    as "▁", for a pre-tokenizer without a preset, and for tokens with a prefix or suffix.
    """
    if any(token.single_word for token in added) or not isinstance(pre_tokenizer, PreTokenizer):
        return None
    preset = pre_tokenizer.preset
    if isinstance(vocabulary, AnyCharacterVocabulary):
        # Without tokens for bytes, unknown characters join their neighbors.
        if not vocabulary.covers_characters or not keeps_whole(preset):
            return None
        if not only_writes_marks(normalizer, added) or _changes_characters(vocabulary):
            return None
        character_proofs = partial(CharacterProofs, vocabulary.pieces)
        puts_prefix = prefix_of(normalizer) != ""
        return Cuts(character_proofs, vocabulary, added, puts_prefix, normalizes=False)
    if preset.drops_text or not (normalizer is None or normalizer == NFC):
        return None
    split_proofs = partial(SplitProofs, PairCuts(preset.stages, pre_tokenizer.unicode))
    return Cuts(split_proofs, vocabulary, added, add_prefix_space, normalizer is not None)


def _changes_characters(vocabulary: AnyCharacterVocabulary) -> bool:
    """Return whether a token depends on its place in the pre-token."""
    if not isinstance(vocabulary, TextVocabulary):
        return False
    options = vocabulary.options
    return bool(options.prefix or options.suffix or options.byte_level or options.ignores_merges)


def _sizes(vocabulary: Vocabulary, added: Iterable[AddedToken], is_text: bool) -> NDArray[np.int32]:
    """Return the number of bytes in a text for each id."""
    packed, added = vocabulary.packed, list(added)
    largest = max([token.id for token in added], default=0)
    sizes = np.zeros(1 + max(largest, int(packed.ids.max())), np.int32)
    for token in added:
        sizes[token.id] = len(token.content.encode())
    sizes[packed.ids] = packed.lengths
    if is_text:
        sizes[packed.ids] -= (len(SPACE_MARK.encode()) - 1) * _marks(packed)
        sizes[list(vocabulary.byte_ids.values())] = 1
    return sizes


def _marks(packed: Packed) -> NDArray[np.int32]:
    """Return the number of "▁" in each token."""
    data = np.frombuffer(packed.data, np.uint8)
    ends = np.cumsum(packed.lengths, dtype=np.int64)
    first, second, third = SPACE_MARK.encode()
    starts = np.flatnonzero((data[:-2] == first) & (data[1:-1] == second) & (data[2:] == third))
    owners = np.searchsorted(ends, starts, "right")
    # Tokens of single bytes may stand side by side.
    owners = owners[starts + 2 < ends[owners]]
    return np.bincount(owners, minlength=len(ends)).astype(np.int32)
