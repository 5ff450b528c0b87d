"""Define TokenizerEditing, a base class of Tokenizer: tokenizers with other vocabularies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from bpe.tokenizer_batches import TokenizerBatches
from bpe.types import NewIds

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer


class TokenizerEditing(TokenizerBatches):
    """Makes tokenizers with other vocabularies; Tokenizer explains the arguments."""

    __slots__ = ()

    def extend(self, words: Iterable[str], *, new_ids: NewIds = "after") -> Tokenizer:
        """Return a tokenizer in which each of `words` is one token.

        All ids, tokens and merges stay. New merges have ranks after all old ones, so a text keeps
        its ids unless it has the text of a new token in a pre-token. A word counts with the space
        before it: " word" and "word" are two words. `new_ids` is that of `bpe.train`.

        A word of n tokens gets n - 1 merges, each of which makes a token; words share these tokens:
        the pair that occurs most often in the words merges first. If the vocabulary takes whole
        pre-tokens without merging, as that of Llama 3 or a rank file does, each word gets one token
        and no merge, so only a pre-token of exactly this text becomes it, or in a rank file two
        tokens that make it. In a vocabulary of text, unknown characters of words become tokens.

        Raises VocabularyError for a word that cannot be one token, with the reason: the split
        divides it, the normalizer changes it, or it has an added token in it. Raises ValueError or
        TypeError for a word that is no text. Takes O(n log n) time for words of n bytes, besides
        the time to make a tokenizer.

        >>> import bpe
        >>> tok = bpe.train(["kubectl kubelet"], vocab_size=259, preset="gpt2")
        >>> larger = tok.extend([" kubernetes"])
        >>> larger.encode(" kubernetes"), larger.vocab_size
        ([265], 266)
        """
        from bpe.editing.extend import extend

        return extend(cast("Tokenizer", self), words, new_ids)
