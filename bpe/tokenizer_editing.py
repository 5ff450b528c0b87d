"""Define TokenizerEditing, a base class of Tokenizer: tokenizers with other vocabularies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from bpe.tokenizer_batches import TokenizerBatches
from bpe.types import NewIds, Text

if TYPE_CHECKING:
    from bpe.editing.remap import Remapped
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

    def shrink(
        self,
        keep: Iterable[int] | None = None,
        *,
        texts: Iterable[Text] | None = None,
        vocab_size: int | None = None,
        gaps: bool = False,
        keep_added: bool = True,
    ) -> Remapped:
        """Return a tokenizer with only some of the tokens, and the maps between old and new ids.

        A text whose tokens are all kept has the same tokens as before, so its ids only change by
        the map. With `keep_added=False`, this is true for `special="allow"`. These tokens are kept:

        - the tokens of single bytes, fallback tokens, the unknown token, and added tokens; with
          `keep_added=False`, of the added tokens only those that the template, the padding or the
          facts of the file name
        - the ids `keep`
        - the ids of `texts`, encoded with `special="allow"`; with `vocab_size`, the most frequent
        - with `vocab_size` and no `texts`, the tokens that merge first
        - the tokens of which merges make these tokens

        With `vocab_size`, tokens are added in this order, each with the tokens that it is made of,
        as long as they fit. The result has at most `vocab_size` tokens.

        New ids have the order of the old ids, without gaps. If `gaps`, tokens keep their ids, and
        the ids of other tokens are unused. Everything else of the tokenizer is kept, with new ids.

        Raises VocabularyError if no merges make a token of `keep`, or if the template has an id
        that no token has; UnknownTokenError if `keep` has such an id; ValueError if `vocab_size` is
        too small; and TypeError without `keep`, `texts` and `vocab_size`. Takes some seconds for
        100,000 tokens.

        >>> import bpe
        >>> tok = bpe.train(["abcd", "abc", "ab xy xy xy"], vocab_size=261)
        >>> small = tok.shrink(texts=["abc"])
        >>> tok.encode("abc"), small.tokenizer.encode("abc"), small.old_ids[256:].tolist()
        ([259], [257], [256, 259])
        """
        from bpe.editing.shrink import shrink

        return shrink(cast("Tokenizer", self), keep, texts, vocab_size, gaps, keep_added)

    def remap(self, new_ids: Mapping[int, int] | Iterable[tuple[int, int]]) -> Remapped:
        """Return a tokenizer whose tokens have other ids, and the maps between old and new ids.

        `new_ids` maps old ids to new ids, as a mapping or as pairs; other tokens keep their ids.
        Each text has the same tokens as before. Everything else of the tokenizer is kept, with new
        ids. If ids are ranks, as in tiktoken, and the new ids have another order, the result has a
        list of merges instead.

        Raises ValueError if two tokens would have one id; UnknownTokenError for the id of no token;
        and VocabularyError if the order of ids decides between tokens with equal bytes, or if the
        template has the id of no token.

        >>> import bpe
        >>> tok = bpe.train(["ab"], vocab_size=258, special_tokens=["<|end|>"])
        >>> moved = tok.remap({256: 1000, 257: 256})
        >>> tok.encode("ab<|end|>", "allow"), moved.tokenizer.encode("ab<|end|>", "allow")
        ([256, 257], [1000, 256])
        """
        from bpe.editing.remap import remap

        return remap(cast("Tokenizer", self), new_ids)
