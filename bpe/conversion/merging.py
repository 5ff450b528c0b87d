"""Define `merge_vocabularies`, which adds the tokens of one vocabulary to another.

The merges of the first vocabulary come first, and each further merge makes a new token. So the
first part of merging a text is the merging of the first tokenizer; then no pair of its merges is
left, and a new token never makes another one possible, because its merges have only its own tokens.
Therefore the ids of a text are those of the first tokenizer, with some runs of adjacent ids each
replaced by one new token. This also holds for tokens that are text: new_tokens.py has the details.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.conversion.flags import flags_of, without_idle_flags
from bpe.conversion.new_tokens import Maker, listed_tokens, make_maker
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.formats.gguf_pre import split_alike
from bpe.tokenizer import Tokenizer

_ADVICE = "load or convert one of them so that they are equal"


class LeftOut(NamedTuple):
    """A token of the second vocabulary that the merged one lacks."""

    token: bytes
    id: int
    """The id of the token in the second vocabulary."""
    ids: tuple[int, ...]
    """The ids of its bytes in the merged vocabulary, merged as one pre-token: two or more."""


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
    """The tokens that no merge could make without a change of other ids; `ids` has -1 for them."""


def merge_vocabularies(first: Tokenizer, second: Tokenizer) -> MergedVocabularies:
    """Return `first` with the tokens of `second` that it lacks.

    All ids of `first` stay. New tokens get the next ids, from `first.vocab_size` on. These
    properties hold:

    - A text whose ids have no new token has the ids of `first`.
    - The ids of any text without a new added token, and without a character that `first` does not
      know, are those of `first`, with some runs of adjacent ids each replaced by one new token. A
      character that has fallback tokens, such as <0x0A>, is known.
    - The bytes of each new token, merged as one pre-token, are this token.

    The merges of `first` come first. Then, in the order in which `second` makes its tokens, each
    token that `first` lacks gets a merge of the two tokens that its bytes are merged to so far. If
    they are merged to three or more, the token is left out; `left_out` has these ids. A token of
    one byte or character needs no merge. The added tokens of `second` that `first` lacks get new
    ids, too. The template and all other parts are those of `first`.

    Tokens may be text, as in SentencePiece models; `first` and `second` may be of two file formats.
    The fallback tokens and the unknown token of `second` become those of `first`. If the merges of
    `first` follow from scores, a token is also left out if it is the beginning or the end of a
    token of `first` that no merge makes: the two might make this token.

    Raises UnsupportedError if the tokens of one tokenizer are bytes and those of the other text, if
    tokens have a prefix or suffix by their place in a word, or if a merge of `first` has a fallback
    token. Raises VocabularyError if the tokenizers split or normalize text differently, if only
    `second` has fallback tokens, or if they disagree on an added token: it has other flags, or it
    is an ordinary token of the other tokenizer.

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
    maker = make_maker(first)
    ids = np.full(second.vocab_size, -1, np.int64)
    own = maker.ids_of_symbols(second.vocabulary)
    for id, new in own.items():
        ids[id] = new
    tokens = {
        id: token for id, token in listed_tokens(second.vocabulary) if id not in names | own.keys()
    }
    left = _add_tokens(maker, second, tokens, ids)
    new_added = []
    for token in sorted(second.added_tokens, key=lambda token: token.id):
        known = added.get(token.content)
        if known is None:
            known = replace(token, id=maker.next_id())
            new_added.append(known)
        ids[token.id] = known.id
    vocabulary, facts = maker.result()
    merged = first._with(
        vocabulary=vocabulary,
        facts=facts,
        added_tokens=(*first.added_tokens, *new_added),
        backend=None,
        cache_mb=None,
    )
    left_out = tuple(
        LeftOut(token, id, tuple(merged.merge(token)))
        for id, token in ((id, second.vocabulary.token_bytes[id]) for id in left)
    )
    return MergedVocabularies(merged, ids, range(first.vocab_size, maker.size), left_out)


def _check(first: Tokenizer, second: Tokenizer) -> None:
    """Raise UnsupportedError or VocabularyError if the tokenizers cannot be merged."""
    for tokenizer in (first, second):
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"expected two Tokenizers, got {type(tokenizer).__name__}")
    vocabularies = first.vocabulary, second.vocabulary
    kinds = [isinstance(vocabulary, AnyCharacterVocabulary) for vocabulary in vocabularies]
    if kinds[0] != kinds[1]:
        texts = "first" if kinds[0] else "second"
        raise UnsupportedError(
            f"the tokens of the {texts} vocabulary are text, and those of the other bytes "
            "(byte-level BPE); expected two vocabularies of one kind"
        )
    byte_level = [
        isinstance(vocabulary, TextVocabulary) and vocabulary.options.byte_level
        for vocabulary in vocabularies
    ]
    if byte_level[0] != byte_level[1]:
        raise UnsupportedError(
            "only one of the vocabularies has the characters of GPT-2's alphabet"
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
            sides = [getattr(side, "name", None) or str(side) for side in (value, other_value)]
            if sides[0] == sides[1]:  # one class, with other fields
                sides = [str(value), str(other_value)]
            if sides[0] == sides[1]:
                sides[1] = "one with other user-defined symbols or another charsmap"
            raise VocabularyError(
                f"the {part} of the tokenizers differs: {sides[0]} and {sides[1]}; {_ADVICE}"
            )
    _check_added(first, second)


def _check_added(first: Tokenizer, second: Tokenizer) -> None:
    tokens, others = (without_idle_flags(tok.to_spec()).added_tokens for tok in (first, second))
    known = {token.content: token for token in tokens}
    for token in others:
        own = known.get(token.content)
        if own is not None and flags_of(own) != flags_of(token):
            raise VocabularyError(
                f"the added token {shortened(token.content)} has the flags {flags_of(own)} in the "
                f"first tokenizer, and {flags_of(token)} in the second; {_ADVICE}"
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


def _add_tokens(
    maker: Maker, second: Tokenizer, tokens: dict[int, Any], ids: NDArray[np.int64]
) -> list[int]:
    """Add `tokens`, those of `second`, and set their new ids in `ids`; return the ids left out."""
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
            return sorted(waiting)
        waiting = rest  # tokens added later may be parts of these
