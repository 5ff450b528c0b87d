"""Define Cuts, which proves for neighbors of a text that a cut between them keeps all ids.

A cut between two characters is proven if, for any texts u and v that end and begin with these
characters, the ids of u followed by the ids of v are the ids of u + v. The ids of v are those of a
continuation: a model that puts a space before a text puts none before v.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bpe.characters.marks import SPACE_MARK
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.text_spaces import keeps_whole, only_writes_marks
from bpe.encoding.utf8 import decode_utf8
from bpe.normalizers.chain import NFC
from bpe.once import once
from bpe.types import NormalizesText, SupportsOffsets
from bpe.vocabulary import Vocabulary
from pretok.machine.pair_cuts import PairCuts
from pretok.pre_tokenizer import PreTokenizer

ASCII = 128


NONE, CUT, UNKNOWN, JOINT = range(4)
"""The proofs for a cut between two neighbors.

At a JOINT a text may be cut if a token of the text ends there. Merging then never joins the two
sides, so it gives the same tokens on both.
"""


class _Pairs(Protocol):
    def is_cut(self, before: str, after: str) -> bool: ...

    def is_joint(self, before: str, after: str) -> bool: ...


class Cuts:
    """The proven cuts of a tokenizer, and the numbers of bytes of its tokens.

    `puts_prefix` says whether a text may get a prefix that a continuation does not get.
    `normalizes` says whether the tokenizer applies NFC. `ascii` maps a << 7 | b to what is proven
    for two ASCII characters. `whole` has the tokens that a pre-token becomes without merging.
    """

    def __init__(
        self,
        pairs: _Pairs,
        vocabulary: Vocabulary,
        added: Iterable[AddedToken],
        puts_prefix: bool,
        normalizes: bool,
        merges: Callable[[], NDArray[np.uint32]] | None = None,
    ) -> None:
        """Store the parts; `merges` finds the merges that ranks imply, if it is fast."""
        self._pairs = pairs
        self._known: dict[str, int] = {}
        self._known_bytes: dict[bytes, int] = {}
        self.ascii = bytearray([UNKNOWN]) * (ASCII * ASCII)
        self.puts_prefix = puts_prefix
        self.normalizes = normalizes
        added = list(added)
        self._strips = any(token.lstrip or token.rstrip for token in added)
        self.has_normalized_tokens = any(token.normalized for token in added)
        self.has_ordinary_tokens = any(not token.special for token in added)
        self.longest_added = max((len(token.content.encode()) for token in added), default=0)
        self.is_text = isinstance(vocabulary, AnyCharacterVocabulary)
        self._vocabulary, self._added, self._merges = vocabulary, added, merges

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
        return None if self._strips else self.longest_token

    @once
    def longest_token(self) -> int:
        """The maximal number of bytes of a token."""
        return int(self.sizes.max())

    @once
    def whole(self) -> Collection[bytes]:
        """The tokens that a pre-token becomes without merging."""
        vocabulary = self._vocabulary
        if self.is_text or not vocabulary.ignore_merges:
            return ()
        if self._merges is None or not vocabulary.from_ranks:
            return vocabulary.ids
        merged = {*self._merges()[:, 2].tolist(), *vocabulary.byte_ids.values()}
        return {token for token, id in vocabulary.ids.items() if id not in merged}

    def between(self, before: str, after: str) -> int:
        """Return what is proven for two characters."""
        pair = before + after
        known = self._known.get(pair)
        if known is None:
            known = self._known[pair] = self._proven(before, after)
        return known

    def between_bytes(self, pair: bytes, place: int) -> int:
        """Do the same for two characters in UTF-8; the second one starts at `place`."""
        known = self._known_bytes.get(pair)
        if known is None:
            known = self.between(decode_utf8(pair[:place]), decode_utf8(pair[place:]))
            self._known_bytes[pair] = known
        return known

    def between_ascii(self, pair: int) -> int:
        """Do the same for two ASCII characters, given as a << 7 | b."""
        known = self.ascii[pair]
        if known == UNKNOWN:
            known = self.ascii[pair] = self.between(chr(pair >> 7), chr(pair & ASCII - 1))
        return known

    def _proven(self, before: str, after: str) -> int:
        # An added token may take the white space beside it.
        if self._strips and (before.isspace() or after.isspace()):
            return NONE
        if self._pairs.is_cut(before, after):
            return CUT
        return JOINT if self._pairs.is_joint(before, after) else NONE


class _JoinedCharacters:
    """Pairs of characters that a token of a text vocabulary holds; no merge crosses other pairs."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._joined = {a + b for text in texts for a, b in pairwise(text)}

    def is_cut(self, before: str, after: str) -> bool:
        """Return whether no token holds the pair. A space is written as "▁"."""
        return (before + after).replace(" ", SPACE_MARK) not in self._joined

    def is_joint(self, before: str, after: str) -> bool:
        """Return True: the whole text is merged as one pre-token."""
        return True


def find_cuts(
    vocabulary: Vocabulary,
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    normalizer: NormalizesText | None,
    add_prefix_space: bool,
    added: tuple[AddedToken, ...],
    merges: Callable[[], NDArray[np.uint32]] | None,
) -> Cuts | None:
    """Return the cuts of a tokenizer, or None if no cut can be proven.

    `merges` finds the merges that ranks imply, or is None if that takes long.

    The search for a `single_word` token looks at the characters beside it, so with such a token no
    cut is proven. The same is true for normalizers other than NFC and those that only write spaces
    as "▁", for a pre-tokenizer without a preset, and for tokens with a prefix or suffix.
    """
    if any(token.single_word for token in added) or not isinstance(pre_tokenizer, PreTokenizer):
        return None
    preset = pre_tokenizer.preset
    if isinstance(vocabulary, AnyCharacterVocabulary):
        # Without tokens for bytes, unknown characters join their neighbors.
        if vocabulary.fallback_ids is None or not keeps_whole(preset):
            return None
        if not only_writes_marks(normalizer, added) or _changes_characters(vocabulary):
            return None
        pairs = _JoinedCharacters(vocabulary.pieces)
        return Cuts(pairs, vocabulary, added, True, normalizes=False)
    if preset.drops_text or not (normalizer is None or normalizer == NFC):
        return None
    split_pairs = PairCuts(preset.stages, pre_tokenizer.unicode)
    normalizes = normalizer is not None
    return Cuts(split_pairs, vocabulary, added, add_prefix_space, normalizes, merges)


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
        mark = SPACE_MARK.encode()
        for id, data in vocabulary.token_bytes.items():
            sizes[id] = len(data.replace(mark, b" "))
    return sizes
