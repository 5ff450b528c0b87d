"""Define TokenizerSpec, the parts of a tokenizer, independent of any file format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bpe.decoders.piece_decoder import Decoding
from bpe.encoding.added_tokens import AddedToken
from bpe.merge import recover_merges
from bpe.token_facts import TokenFacts
from bpe.types import NormalizesText, Padding, Template, Truncation
from bpe.vocabulary import Merge, Rows, Vocabulary
from pretok.preset import Preset


@dataclass(frozen=True)
class TokenizerSpec:
    """The parts of a tokenizer that a file can hold.

    `Format.read` returns a TokenizerSpec, and `Format.dump` takes one. `preset` splits text into
    pre-tokens. It is None if the file does not say how to split, or if pretok has no equivalent
    preset. Then `why_no_preset` is the reason.
    """

    vocabulary: Vocabulary
    preset: Preset | None = None
    why_no_preset: str = ""
    added_tokens: Sequence[AddedToken] = ()
    normalizer: NormalizesText | None = None
    add_prefix_space: bool = False
    template: Template = field(default_factory=Template)
    unicode: str | None = None
    """The Unicode version of the split; None stands for the version of the preset."""
    decoder: Decoding | None = None
    """Decodes ids to text. None stands for the decoder that only joins the bytes of tokens."""
    recovered_merges: Callable[[], Sequence[Merge]] | None = field(
        default=None, repr=False, compare=False
    )
    """A function that returns the merges, which a Tokenizer caches. If there is no function (None),
    `merges()` computes the merges from the vocabulary."""
    recovered_rows: Callable[[], Rows] | None = field(default=None, repr=False, compare=False)
    """A function that returns the same merges as an array, without a Python object for each merge;
    or None."""
    truncation: Truncation | None = None
    padding: Padding | None = None
    trim_offsets: tuple[bool, ...] = ()
    """See Tokenizer.trim_offsets."""
    facts: TokenFacts = field(default_factory=TokenFacts, repr=False, compare=False)
    """The facts about tokens that the file states."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about members of the file that the library it belongs to ignores, as bpe does."""

    def merge_rows(self) -> Rows:
        """Return the result of `merges()` as an array, with a row of three ids for each merge."""
        if self.recovered_rows is not None:
            return self.recovered_rows()
        return np.array(self.merges(), np.uint32).reshape(-1, 3)

    def merges(self) -> Sequence[Merge]:
        """Return the merges in order of rank.

        If ids are ranks (Vocabulary.from_ranks), find the merge that makes each token.
        """
        if self.recovered_merges is not None:
            return self.recovered_merges()
        return tuple(recover_merges(self.vocabulary))


def max_merged_bytes(token_count: int) -> int:
    """Return the maximal total size of the tokens that merges make.

    A merge takes a few bytes of a file, however long its token is. This limit keeps a small file
    from filling the memory. Real tokens have seven bytes on average, far below the 32 bytes per
    token allowed here. cpp/formats/pretok_file.hpp has the same limit.
    """
    return max(1 << 24, 32 * token_count)
