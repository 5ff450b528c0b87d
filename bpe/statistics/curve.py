"""Compute the tokens of a text for every size of a trained vocabulary at once.

Compare the whole tokenizer with a smaller one, which has only its first n merges. In a pre-token,
both make the same merges, until the lowest rank of a pair is n or more; then the smaller one stops.
So the whole tokenizer also makes each merge that the smaller one makes. The smaller one makes a
merge if the rank of the merge, and the ranks of all merges that made its two parts, are below n.
The largest of these ranks is the `needed` rank of the token that the merge makes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe.errors import UnsupportedError
from bpe.merge import merge, merge_finder
from bpe.tokenizer import Tokenizer
from bpe.training.corpus import TrainingSource, read_texts
from bpe.training.counting import text_counter
from bpe.training.limits import Limits
from bpe.types import Offsets
from bpe.vocabulary import Merge, Vocabulary


@dataclass(frozen=True)
class Curve:
    """The tokens of a text, for vocabularies that keep the first n merges: item n of each array.

    `sizes` counts the tokens of the vocabulary: bytes and merged tokens, no special tokens.
    `tokens` counts the tokens of the text. Both arrays start at 0 merges.
    """

    text_bytes: int
    sizes: Offsets
    tokens: Offsets

    @property
    def bytes_per_token(self) -> NDArray[np.float64]:
        """The bytes of the text divided by `tokens`; NaN for an empty text."""
        return self.text_bytes / np.where(self.tokens > 0, self.tokens, np.nan)


def curve(
    tokenizer: Tokenizer,
    source: TrainingSource,
    *,
    field: str = "text",
    include: str | Iterable[str] = (),
    max_pre_token: int | None = None,
    max_text: int | None = None,
    threads: int | None = None,
) -> Curve:
    """Return the tokens of `source` for each number of merges of `tokenizer`.

    The arguments are those of bpe.train. `source` has the training texts, or texts that the
    training has not seen. `source` is read once. Memory grows with the number of distinct
    pre-tokens.

    Item n equals the count of a tokenizer with the first n merges. bpe.train with the smaller
    `vocab_size` makes this tokenizer, unless training merges a pair twice. Then only the later
    merge of the pair counts, as in the ranks of the whole vocabulary.

    Raises UnsupportedError for a tokenizer with more steps than bpe.train makes: a normalizer,
    ordinary added tokens, a prefix space, or pre-tokens that become tokens without merges. Raises
    the errors of bpe.train for `source`.

    >>> import bpe
    >>> tok = bpe.train(["ab", "abc", "abcd"], vocab_size=259)
    >>> curve(tok, ["abcd", "bcd"]).tokens.tolist()
    [7, 6, 5, 4]
    """
    vocabulary = _checked(tokenizer)
    limits = Limits.of(max_pre_token, max_text)
    counter = text_counter(tokenizer.pre_tokenizer, tokenizer.backend, threads, limits)
    texts = read_texts(source, field, limits.text, include, tokenizer.backend)
    uses = [0] * vocabulary.size
    text_bytes = 0
    for pre_token, count in counter.count(texts).take():
        text_bytes += len(pre_token) * count
        for id in tokenizer.merge(pre_token):
            uses[id] += count
    saved = np.cumsum(_merges_by_rank(vocabulary, uses))
    results = [result for _, _, result in vocabulary.merges or ()]
    is_new = np.zeros(len(results), bool)
    is_new[np.unique(results, return_index=True)[1]] = True
    return Curve(
        text_bytes,
        len(vocabulary.byte_ids) + np.concatenate([[0], np.cumsum(is_new)]),
        text_bytes - np.concatenate([[0], saved]),
    )


def _checked(tokenizer: Tokenizer) -> Vocabulary:
    """Return the vocabulary; raise UnsupportedError if bpe.train cannot make such a tokenizer."""
    vocabulary = tokenizer.vocabulary
    if type(vocabulary) is not Vocabulary:
        problem = "its tokens are made of characters"
    elif vocabulary.merges is None:
        problem = "its vocabulary has ranks, and lists no merges"
    elif vocabulary.ignore_merges:
        problem = "pre-tokens become tokens without merges"
    elif tokenizer.normalizer is not None or tokenizer.add_prefix_space:
        problem = "it changes the text before the split"
    elif any(not token.special for token in tokenizer.added_tokens):
        problem = "it has ordinary added tokens"
    else:
        return vocabulary
    raise UnsupportedError(
        f"no curve for this tokenizer: {problem}; expected a tokenizer from bpe.train"
    )


def _merges_by_rank(vocabulary: Vocabulary, uses: list[int]) -> Offsets:
    """Return the number of merges in a text, by needed rank.

    `uses` has, by id, the number of tokens in the text. The function changes `uses` to the number
    of merges that made each token, whether the token is in the text or only a part of such a token.
    """
    merges_of: dict[int, list[Merge]] = {}
    ranks = {}
    for rank, item in enumerate(vocabulary.merges or ()):
        ranks[item[:2]] = rank  # if a pair is listed twice, the later rank counts
        merges_of.setdefault(item[2], []).append(item)
    by_length = sorted(merges_of, key=lambda id: len(vocabulary.token_bytes[id]))
    parts = {}
    for id in reversed(by_length):
        if uses[id]:
            left, right = parts[id] = _parts(vocabulary, id, merges_of[id])
            uses[left] += uses[id]
            uses[right] += uses[id]
    needed: dict[int, int] = {}
    merged = np.zeros(len(vocabulary.merges or ()), np.int64)
    for id in by_length:
        if uses[id]:
            left, right = parts[id]
            needed[id] = max(ranks[left, right], needed.get(left, 0), needed.get(right, 0))
            merged[needed[id]] += uses[id]
    return merged


def _parts(vocabulary: Vocabulary, id: int, merges: list[Merge]) -> tuple[int, int]:
    """Return the two ids that the token `id` is merged from; `merges` are all merges to `id`."""
    if len({item[:2] for item in merges}) > 1:
        # Nothing outside of a token influences its merges. So merge its bytes, but not to `id`: the
        # two ids that are left are the parts.
        find = merge_finder(vocabulary)

        def find_parts(left: int, right: int) -> tuple[int, int] | None:
            candidate = find(left, right)
            return candidate if candidate is not None and candidate[1] != id else None

        token = vocabulary.token_bytes[id]
        left, right = merge([vocabulary.byte_ids[byte] for byte in token], find_parts)
        return left, right
    left, right, _ = merges[0]
    return left, right
