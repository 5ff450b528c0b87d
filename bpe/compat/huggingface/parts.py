"""Define Parts, all parts of a BpeEngine except the added tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpe.compat.huggingface.post_processor import PostProcessor
from bpe.encoding.added_tokens import AddedToken
from bpe.formats.bpe_model import assigned_ids
from bpe.formats.spec import TokenizerSpec
from bpe.once import once


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a tokenizer that usually stay unchanged when a token is added.

    Engines of tokenizers with equal parts share one Parts. The added tokens in its `spec` are those
    of the tokenizer from which the Parts was made.
    """

    spec: TokenizerSpec
    processor: PostProcessor
    vocab: Mapping[str, int]
    """The id of each token of the model by its text."""
    decoder: Any
    """The decoder in the tokenizer.json."""
    ignore_merges: bool

    @once
    def names(self) -> dict[int, str]:
        """The text of each token of the model by its id; do not change it."""
        return {id: text for text, id in self.vocab.items()}

    def fit(self, added: Sequence[AddedToken]) -> bool:
        """Return whether the parts stay unchanged if `added` replaces the added tokens of `spec`.

        They depend on an added token only if it is a token of the model as well.
        """
        return self._in_model(added) == self._in_model(self.spec.added_tokens)

    def _in_model(self, added: Sequence[AddedToken]) -> set[AddedToken]:
        return {token for token in added if token.content in self.vocab}

    def keep_ids(self, added: Sequence[AddedToken]) -> bool:
        """Return whether a copy of the real tokenizer, with `added`, surely has the same ids.

        The library copies a tokenizer through its file. If ids of the model have gaps, the copy may
        give other ids to added tokens, and versions of the library disagree on these ids.
        """
        contents = [token.content for token in added]
        has_gaps = max(self.names, default=-1) >= len(self.vocab)
        if has_gaps and not all(content in self.vocab for content in contents):
            return False
        return assigned_ids(contents, self.vocab) == [token.id for token in added]
