"""Check whether ranks can replace the merges of a vocabulary.

The rank of a merge is then the id of the token that it makes, as in a rank file of tiktoken.
"""

from __future__ import annotations

from collections.abc import Mapping

from bpe.errors import VocabularyError
from bpe.merge import recover_merges
from bpe.vocabulary import Merge, Vocabulary
from pretok.errors import shortened


def why_not_ranks(vocabulary: Vocabulary) -> str:
    """Return why merging by rank would give other ids than `vocabulary`; "" for equal ids."""
    if vocabulary.merges is None:
        return ""
    tokens = vocabulary.token_bytes
    if len(vocabulary.ids) != len(tokens):
        return "two of its tokens have the same bytes"
    last = -1
    for rank, merge in enumerate(vocabulary.merges):
        if merge[2] == last:
            return f"merges {rank - 1} and {rank} both make token {last}"
        if merge[2] < last:
            return (
                f"merge {rank} makes token {merge[2]} after token {last}, but ranks would merge in "
                "order of ids"
            )
        last = merge[2]
    # By the id of a token: the listed merge that makes the token, and the merge that ranks imply.
    listed = {merge[2]: merge for merge in vocabulary.merges}
    try:
        by_rank = {merge[2]: merge for merge in recover_merges(Vocabulary(tokens))}
    except VocabularyError as error:
        return str(error)
    for id, token in tokens.items():
        actual, ranked = listed.get(id), by_rank.get(id)
        if actual != ranked:
            return (
                f"token {id}, {shortened(token)}, is merged from {_parts(actual, tokens)}, but "
                f"ranks would merge it from {_parts(ranked, tokens)}"
            )
        if actual is None and len(token) > 1 and not vocabulary.ignore_merges:
            return (
                f"no merge makes token {id}, {shortened(token)}, but ranks would use it for a "
                "pre-token of these bytes"
            )
    return ""


def _parts(merge: Merge | None, tokens: Mapping[int, bytes]) -> str:
    return (
        f"{shortened(tokens[merge[0]])} and {shortened(tokens[merge[1]])}" if merge else "nothing"
    )
