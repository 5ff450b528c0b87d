"""Add tokens and merges to a tokenizer; all that it has stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING

import numpy as np

from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.errors import UnsupportedError
from bpe.token_facts import TokenFacts, TokenType
from bpe.types import NewIds, SupportsOffsets
from bpe.vocabulary import ID_LIMIT, Merge, Vocabulary
from pretok.errors import shortened
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer


def free_ids(tokenizer: Tokenizer, new_ids: NewIds, number: int) -> list[int]:
    """Return the next `number` free ids, ascending. Raises ValueError for unknown `new_ids`."""
    if new_ids == "after":
        start = tokenizer.vocab_size
    elif new_ids == "gaps":
        start = 0
    elif type(new_ids) is int and 0 <= new_ids < ID_LIMIT:
        start = new_ids
    else:
        raise ValueError(
            f"new_ids={shortened(new_ids)}; expected 'after', 'gaps' or an id from 0 to "
            f"{ID_LIMIT - 1}"
        )
    vocabulary = tokenizer.vocabulary
    taken = {*vocabulary.token_ids, *(token.id for token in tokenizer.added_tokens)}
    ids = list(islice((id for id in count(start) if id not in taken), number))
    if ids and ids[-1] >= ID_LIMIT:
        raise ValueError(f"{number} new tokens do not fit in ids below {ID_LIMIT}")
    if ids and vocabulary.from_ranks and ids[0] < vocabulary.size:
        raise ValueError(
            f"new_ids={new_ids!r} gives the id {ids[0]}, but the ids of this vocabulary are ranks, "
            f"and new tokens must merge after all others; pass new_ids='after', or an id of at "
            f"least {vocabulary.size}"
        )
    return ids


def grown(vocabulary: Vocabulary, tokens: Mapping[int, str], merges: Sequence[Merge]) -> Vocabulary:
    """Return `vocabulary` with more tokens and, after its own merges, more merges.

    `tokens` has the text of each token by its id. In a vocabulary of bytes, the code point of a
    character is the value of its byte. If merges have ranks or scores of their tokens, `merges`
    only states what these give, and is not stored.
    """
    if isinstance(vocabulary, TextVocabulary):
        texts = {**vocabulary.texts, **tokens}
        rows = (*vocabulary.merges, *merges)
        return TextVocabulary(texts, rows, vocabulary.options, vocabulary.not_whole)
    if isinstance(vocabulary, CharacterVocabulary):
        new = {id: text.encode() for id, text in tokens.items()}
        scores = {**vocabulary.scores, **_scores_below(vocabulary, tokens)}
        return CharacterVocabulary(
            {**vocabulary.token_bytes, **new}, scores, vocabulary.unknown_id,
            vocabulary.fallback_ids,
        )  # fmt: skip
    new = {id: text.encode("latin-1") for id, text in tokens.items()}
    old = vocabulary.merges
    return Vocabulary(
        {**vocabulary.token_bytes, **new},
        None if old is None else (*old, *merges),
        vocabulary.ignore_merges,
    )


def _scores_below(vocabulary: CharacterVocabulary, ids: Mapping[int, str]) -> dict[int, float]:
    """Return a score for each of `ids`, each below the one before it and those of `vocabulary`.

    Files store scores as float32, so the scores are distinct in this type.
    """
    score = np.float32(min(vocabulary.scores.values(), default=0.0))
    scores = {}
    for id in ids:
        score = min(np.float32(score - 1), np.nextafter(score, np.float32(-np.inf)))
        scores[id] = float(score)
    if not np.isfinite(score):
        raise UnsupportedError(
            "the lowest score of the vocabulary is so low that no float32 is below it"
        )
    return scores


def with_vocabulary(
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    facts: TokenFacts | None = None,
    backend: BackendName | None = None,
    cache_mb: float | None = None,
    pre_tokenizer: PreTokenizer | SupportsOffsets | None = None,
) -> Tokenizer:
    """Return a copy of `tokenizer` with another vocabulary, and no name.

    None keeps the facts, the backend, the cache limit and the split of `tokenizer`.
    """
    changes = {"preset": pre_tokenizer, "facts": facts, "backend": backend, "cache_mb": cache_mb}
    given = {name: value for name, value in changes.items() if value is not None}
    return tokenizer._with(vocabulary=vocabulary, **given)


def with_tokens(
    tokenizer: Tokenizer,
    tokens: Mapping[int, str],
    merges: Sequence[Merge],
    backend: BackendName | None = None,
    cache_mb: float | None = None,
) -> Tokenizer:
    """Return a copy of `tokenizer` with more tokens and merges.

    `grown` explains `tokens` and `merges`, and `with_vocabulary` the rest.
    """
    vocabulary = grown(tokenizer.vocabulary, tokens, merges)
    facts = with_facts(tokenizer._spec.facts, vocabulary, tokens)
    return with_vocabulary(tokenizer, vocabulary, facts, backend, cache_mb)


def with_facts(facts: TokenFacts, vocabulary: Vocabulary, tokens: Mapping[int, str]) -> TokenFacts:
    """Return `facts` with the types and the scores of `tokens`, if it has those of others."""
    ids = list(tokens)
    if not ids:
        return facts
    types, scores = facts.types, facts.scores
    if len(types):
        types = np.concatenate([types, np.zeros(max(0, max(ids) + 1 - len(types)), np.uint8)])
        types[ids] = TokenType.NORMAL
    if len(scores) and isinstance(vocabulary, CharacterVocabulary):
        scores = np.concatenate([scores, np.zeros(max(0, max(ids) + 1 - len(scores)), np.float32)])
        scores[ids] = [vocabulary.scores[id] for id in ids]
    return replace(facts, types=types, scores=scores)
