"""Define Remapped, and give the tokens of a tokenizer other ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import index as as_int
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.steps import SentencePieceDecoding
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnknownTokenError, VocabularyError, shortened
from bpe.token_facts import TokenFacts
from bpe.types import Template
from bpe.vocabulary import ID_LIMIT, Merge, Vocabulary

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer

IdMap: TypeAlias = Mapping[int, int]


class Remapped(NamedTuple):
    """A tokenizer whose tokens have other ids, and the maps between the ids.

    Both maps are int64 arrays. `new_ids[old]` is the new id of a token, and -1 if the token was
    removed or there was none. `old_ids[new]` is the old id of a token, and -1 if no token has the
    new id. The rows of an embedding matrix for the new tokenizer are `matrix[old_ids]`, if no id of
    `old_ids` is -1.
    """

    tokenizer: Tokenizer
    new_ids: NDArray[np.int64]
    old_ids: NDArray[np.int64]


def remap(tokenizer: Tokenizer, pairs: Mapping[int, int] | Iterable[tuple[int, int]]) -> Remapped:
    """Implement Tokenizer.remap."""
    changes = _checked(pairs)
    own = ids_of(tokenizer)
    unknown = changes.keys() - own
    if unknown:
        raise UnknownTokenError(f"the map has the id {min(unknown)}, which no token has")
    new_ids = {id: changes.get(id, id) for id in sorted(own)}
    taken: dict[int, int] = {}
    for old, new in new_ids.items():
        if taken.setdefault(new, old) != old:
            raise ValueError(
                f"tokens {taken[new]} and {old} would both have the id {new}; give each token its "
                "own id"
            )
    vocabulary = tokenizer.vocabulary
    merges: Sequence[Merge] | None = vocabulary.merges
    order = [new for old, new in new_ids.items() if vocabulary.bytes_of(old) is not None]
    if vocabulary.from_ranks and sorted(order) != order:
        # The ids no longer have the order of the ranks. Each token has one merge that makes it, so
        # a list of these merges gives the same tokens.
        merges = tokenizer.merge_ids
    made = vocabulary_with(vocabulary, new_ids, merges)
    _check_twins(vocabulary, made, new_ids)
    return remapped(tokenizer, made, new_ids, tokenizer.added_tokens)


def _checked(pairs: Mapping[int, int] | Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the map as a dict; raise TypeError or ValueError unless it is one of ids."""
    rows = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
    changes: dict[int, int] = {}
    for row in rows:
        try:
            old, new = map(as_int, row)
        except (TypeError, ValueError):
            raise TypeError(
                f"the map has {shortened(row)}; expected pairs of an old and a new id"
            ) from None
        if not 0 <= new < ID_LIMIT:
            raise ValueError(f"new id {new} of token {old}; expected an id below {ID_LIMIT}")
        if changes.setdefault(old, new) != new:
            raise ValueError(f"the map gives token {old} two ids, {changes[old]} and {new}")
    return changes


def _check_twins(old: Vocabulary, new: Vocabulary, new_ids: IdMap) -> None:
    """Raise VocabularyError if text would become another one of two tokens with equal bytes."""
    if isinstance(old, (TextVocabulary, CharacterVocabulary)) or old.from_ranks:
        return  # Their tokens are distinct.
    for token, id in old.ids.items():
        if new.ids[token] != new_ids[id]:
            raise VocabularyError(
                f"several tokens are {shortened(token)}, and text becomes the one with the lowest "
                f"id; keep token {id} the one with the lowest new id"
            )


def ids_of(tokenizer: Tokenizer) -> set[int]:
    """Return the ids of all tokens, added tokens included."""
    return {*tokenizer.vocabulary.token_ids, *(token.id for token in tokenizer.added_tokens)}


def vocabulary_with(
    vocabulary: Vocabulary, new_ids: IdMap, merges: Sequence[Merge] | None
) -> Vocabulary:
    """Return the tokens of `new_ids`, which maps old ids to new ids, and those of `merges`.

    `merges` have old ids. Merges with other tokens are omitted. None stands for ranks or scores.
    """
    rows = [
        (new_ids[left], new_ids[right], new_ids[id])
        for left, right, id in merges or ()
        if left in new_ids and right in new_ids and id in new_ids
    ]
    if isinstance(vocabulary, TextVocabulary):
        texts = {new_ids[id]: text for id, text in vocabulary.texts.items() if id in new_ids}
        not_whole = [new_ids[id] for id in vocabulary.not_whole if id in new_ids]
        return TextVocabulary(texts, rows, vocabulary.options, not_whole)
    tokens = {new_ids[id]: token for id, token in vocabulary.token_bytes.items() if id in new_ids}
    tokens = dict(sorted(tokens.items()))
    if isinstance(vocabulary, CharacterVocabulary):
        scores = {new_ids[id]: score for id, score in vocabulary.scores.items() if id in new_ids}
        fallback = vocabulary.fallback_ids
        byte_ids = None if fallback is None else [new_ids[id] for id in fallback]
        return CharacterVocabulary(tokens, scores, new_ids[vocabulary.unknown_id], byte_ids)
    return Vocabulary(tokens, None if merges is None else rows, vocabulary.ignore_merges)


def remapped(
    tokenizer: Tokenizer, vocabulary: Vocabulary, new_ids: IdMap, added: Iterable[AddedToken]
) -> Remapped:
    """Return `tokenizer` with another vocabulary, and all other ids changed by `new_ids`.

    `added` are the added tokens to keep, with their old ids.
    """

    template = [id for ids in tokenizer.template for id in ids]
    unknown = next((id for id in template if id not in new_ids), None)
    if unknown is not None:
        raise VocabularyError(
            f"the template has the id {unknown}, which no token has, so it has no new id; give the "
            "tokenizer another template"
        )
    decoder, padding = tokenizer.decoder, tokenizer.padding
    if isinstance(decoder, SentencePieceDecoding):
        invisible = frozenset(new_ids[id] for id in decoder.invisible if id in new_ids)
        decoder = replace(decoder, invisible=invisible)
    if padding is not None and padding.pad_id in new_ids:
        padding = padding._replace(pad_id=new_ids[padding.pad_id])
    made = tokenizer._with(
        vocabulary=vocabulary,
        added_tokens=[replace(token, id=new_ids[token.id]) for token in added],
        template=Template(*(tuple(new_ids[id] for id in ids) for ids in tokenizer.template)),
        decoder=decoder,
        padding=padding,
        facts=_facts_with(tokenizer._spec.facts, new_ids),
    )
    forward = np.full(tokenizer.vocab_size, -1, np.int64)
    backward = np.full(made.vocab_size, -1, np.int64)
    for old, new in new_ids.items():
        forward[old], backward[new] = new, old
    return Remapped(made, forward, backward)


def _facts_with(facts: TokenFacts, new_ids: IdMap) -> TokenFacts:
    """Return `facts` about the tokens of `new_ids`, by their new ids."""
    size = 1 + max(new_ids.values(), default=-1)
    types, scores = facts.types, facts.scores
    if len(types):
        types = np.zeros(size, np.uint8)
    if len(scores):
        scores = np.zeros(size, np.float32)
    for old, new in new_ids.items():
        if old < len(facts.types):
            types[new] = facts.types[old]
        if old < len(facts.scores):
            scores[new] = facts.scores[old]
    return replace(
        facts,
        types=types,
        scores=scores,
        roles={role: new_ids[id] for role, id in facts.roles.items() if id in new_ids},
        ends=tuple(sorted(new_ids[id] for id in facts.ends if id in new_ids)),
    )
