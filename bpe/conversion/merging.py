"""Define `merge_vocabularies`, which adds the tokens of one vocabulary to another.

The merges of the first vocabulary come first, and each further merge makes a new token. So the
first part of merging a text is the merging of the first tokenizer; then no pair of its merges is
left, and a new token never makes another one possible, because its merges have only its own tokens.
Therefore the ids of a text are those of the first tokenizer, with some runs of adjacent ids each
replaced by one new token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.characters.text_vocabulary import AnyCharacterVocabulary
from bpe.conversion.flags import without_idle_flags
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.formats.gguf_pre import split_alike
from bpe.merge import RankedMerge, merge
from bpe.tokenizer import Tokenizer
from bpe.vocabulary import ID_LIMIT, Merge, Vocabulary

_ADVICE = "load or convert one of them so that they are equal"


class LeftOut(NamedTuple):
    """A token of the second vocabulary that the merged one lacks."""

    token: bytes
    id: int
    """The id of the token in the second vocabulary."""
    ids: tuple[int, ...]
    """The ids of its bytes in the merged vocabulary, merged as one pre-token: three or more."""


@dataclass(frozen=True, eq=False)
class MergedVocabularies:
    """The result of `merge_vocabularies`."""

    tokenizer: Tokenizer
    """The merged tokenizer."""
    ids: NDArray[np.int64]
    """The id in the merged tokenizer of each id of the second one: shape (n,).

    It is -1 for a token of `left_out`, and for an id without a token."""
    new_ids: range
    """The ids that the first tokenizer does not have."""
    left_out: tuple[LeftOut, ...]
    """The tokens that no merge of two tokens could make; `ids` has -1 for them."""


def merge_vocabularies(first: Tokenizer, second: Tokenizer) -> MergedVocabularies:
    """Return `first` with the tokens of `second` that it lacks.

    All ids of `first` stay. New tokens get the next ids, from `first.vocab_size` on. These
    properties hold:

    - A text whose ids have no new token has the ids of `first`.
    - The ids of any text without a new added token are those of `first`, with some runs of adjacent
      ids each replaced by one new token.
    - The bytes of each new token, merged as one pre-token, are this token.

    The merges of `first` come first. Then, in the order in which `second` makes its tokens, each
    token that `first` lacks gets a merge of the two tokens that its bytes are merged to so far. If
    they are merged to three or more, the token is left out; `left_out` has these ids. A token of
    one byte needs no merge. The added tokens of `second` that `first` lacks get new ids, too. The
    template and all other parts are those of `first`.

    Raises UnsupportedError if tokens are text and not bytes. Raises VocabularyError if the
    tokenizers split or normalize text differently, or if they disagree on an added token: it has
    other flags, or it is an ordinary token of the other tokenizer.

    >>> import bpe
    >>> first = bpe.train(["low lower"], vocab_size=259, preset="gpt2")
    >>> second = bpe.train(["new newer"], vocab_size=259, preset="gpt2")
    >>> merged = bpe.merge_vocabularies(first, second)
    >>> merged.tokenizer.vocab_size, merged.ids[256:].tolist()
    (261, [259, 260, 258])
    """
    _check(first, second)
    added = {token.content: token for token in first.added_tokens}
    names = {token.id for token in second.added_tokens}
    maker = _Maker(first)
    ids = np.full(second.vocab_size, -1, np.int64)
    tokens = {id: token for id, token in second.vocabulary.token_bytes.items() if id not in names}
    left = _add_tokens(maker, second, tokens, ids)
    new_added = []
    for token in sorted(second.added_tokens, key=lambda token: token.id):
        known = added.get(token.content)
        if known is None:
            known = AddedToken(
                token.content, maker.next_id(), token.special, token.normalized, token.lstrip,
                token.rstrip, token.single_word,
            )  # fmt: skip
            new_added.append(known)
        ids[token.id] = known.id
    merged = first._with(
        vocabulary=maker.vocabulary(),
        added_tokens=(*first.added_tokens, *new_added),
        backend=None,
        cache_mb=None,
    )
    return MergedVocabularies(merged, ids, range(first.vocab_size, maker.size), left)


def _check(first: Tokenizer, second: Tokenizer) -> None:
    """Raise UnsupportedError or VocabularyError if the tokenizers cannot be merged."""
    for tokenizer in (first, second):
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"expected two Tokenizers, got {type(tokenizer).__name__}")
        if isinstance(tokenizer.vocabulary, AnyCharacterVocabulary):
            raise UnsupportedError(
                "the tokens of a vocabulary are text; expected two vocabularies whose tokens are "
                "bytes (byte-level BPE)"
            )
    spec, other = first.to_spec(), second.to_spec()
    preset, other_preset = first.preset, second.preset
    is_same_split = (
        preset is not None and other_preset is not None and split_alike(preset, other_preset)
    )
    for part, value, other_value in (
        ("split", preset or first.pre_tokenizer, other_preset or second.pre_tokenizer),
        ("Unicode version of the split", spec.unicode, other.unicode),
        ("normalizer", spec.normalizer, other.normalizer),
        ("add_prefix_space", spec.add_prefix_space, other.add_prefix_space),
        ("decoder", spec.decoder, other.decoder),
    ):
        if value != other_value and not (part == "split" and is_same_split):
            shown, other_shown = (
                getattr(side, "name", None) or side for side in (value, other_value)
            )
            raise VocabularyError(
                f"the {part} of the tokenizers differs: {shown} and {other_shown}; {_ADVICE}"
            )
    _check_added(first, second)


def _check_added(first: Tokenizer, second: Tokenizer) -> None:
    tokens, others = (without_idle_flags(tok.to_spec()).added_tokens for tok in (first, second))
    known = {token.content: token for token in tokens}
    for token in others:
        own = known.get(token.content)
        if own is not None and _flags(own) != _flags(token):
            raise VocabularyError(
                f"the added token {shortened(token.content)} has the flags {_flags(own)} in the "
                f"first tokenizer, and {_flags(token)} in the second; {_ADVICE}"
            )
    for side, other, which in ((first, second, "second"), (second, first, "first")):
        contents = {token.content: token.id for token in other.added_tokens}
        for token in side.added_tokens:
            id = other.vocabulary.ids.get(token.content.encode())
            if id is not None and id != contents.get(token.content):
                raise VocabularyError(
                    f"the added token {shortened(token.content)} is an ordinary token of the "
                    f"{which} tokenizer, with id {id}; {_ADVICE}"
                )


def _flags(token: AddedToken) -> dict[str, bool]:
    names = ("special", "normalized", "lstrip", "rstrip", "single_word")
    return {name: getattr(token, name) for name in names}


def _add_tokens(
    maker: _Maker, second: Tokenizer, tokens: dict[int, bytes], ids: NDArray[np.int64]
) -> tuple[LeftOut, ...]:
    """Add `tokens`, those of `second`, and set their new ids in `ids`."""
    order = {id: rank for rank, (_, _, id) in reversed([*enumerate(second.merge_ids)])}
    last = len(order)
    waiting = sorted(
        tokens, key=lambda id: (order.get(id, last if len(tokens[id]) > 1 else -1), id)
    )
    while True:
        rest = []
        for id in waiting:
            new = maker.add(tokens[id])
            if new is None:
                rest.append(id)
            else:
                ids[id] = new
        if len(rest) == len(waiting):
            break
        waiting = rest  # tokens added later may be parts of these
    return tuple(
        LeftOut(tokens[id], id, tuple(maker.symbols(tokens[id]))) for id in sorted(waiting)
    )


class _Maker:
    """Adds tokens and merges to those of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        vocabulary = tokenizer.vocabulary
        self._tokens = dict(vocabulary.token_bytes)
        self._ids = dict(vocabulary.ids)
        self._merges: list[Merge] = list(tokenizer.merge_ids)
        # If a pair is listed twice, the later rank counts.
        self._ranks = {
            (left, right): (rank, id) for rank, (left, right, id) in enumerate(self._merges)
        }
        self._ignore_merges = vocabulary.ignore_merges
        self.size = tokenizer.vocab_size

    def next_id(self) -> int:
        """Return a new id."""
        if self.size >= ID_LIMIT:
            raise VocabularyError(f"the merged vocabulary has more than {ID_LIMIT:,} ids")
        self.size += 1
        return self.size - 1

    def symbols(self, token: bytes) -> list[int]:
        """Return the ids of `token`, merged as one pre-token; bytes must have tokens."""
        return merge([self._ids[token[at : at + 1]] for at in range(len(token))], self._find)

    def _find(self, left: int, right: int) -> RankedMerge | None:
        return self._ranks.get((left, right))

    def add(self, token: bytes) -> int | None:
        """Return the id of `token`, old or new; None if no merge of two tokens makes it."""
        known = self._ids.get(token)
        if known is not None:
            return known
        pair: list[int] = []
        if len(token) > 1:
            if any(token[at : at + 1] not in self._ids for at in range(len(token))):
                return None
            pair = self.symbols(token)
            if len(pair) != 2:
                return None
        id = self._ids[token] = self.next_id()
        self._tokens[id] = token
        if pair:
            left, right = pair
            self._ranks[left, right] = len(self._merges), id
            self._merges.append((left, right, id))
        return id

    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary of all tokens and merges."""
        return Vocabulary(self._tokens, self._merges, self._ignore_merges)
