"""Read and write the section `facts` of a .pretok file: the TokenFacts.

    roles      for each of ROLES, its id plus one, or 0
    ends       the number of ids that end a generation; the ids, ascending
    template   text: the chat template, or ""
    types      the number of runs of equal types; for each its length and its type
    scores     the number of runs; for each its length and its first score, a float of 32 bits. Each
               other score of a run is the first one minus its distance, as SentencePiece counts.

The types and the scores are by id. cpp/formats/pretok_file_facts.cpp is the C++ reader.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bpe.errors import VocabularyError
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.token_facts import ROLES, Scores, TokenFacts, TokenType, Types
from bpe.vocabulary import ID_LIMIT

MAX_SCORES = 1 << 22
"""The maximal number of scores, which a file of a few bytes could otherwise announce."""


def dump_facts(facts: TokenFacts) -> bytes:
    """Return the section `facts`, or b"" if there is no fact."""
    if not facts:
        return b""
    numbers = [facts.roles.get(role, -1) + 1 for role in ROLES]
    parts = [*map(encode_number, (*numbers, len(facts.ends), *facts.ends))]
    parts.append(encode_text(facts.chat_template or ""))
    starts = _starts_of_types(facts.types)
    parts.append(encode_number(len(starts) - 1))
    for start, end in pairwise(starts):
        parts += [encode_number(end - start), encode_number(int(facts.types[start]))]
    scores = facts.scores[:MAX_SCORES]
    starts = _starts_of_scores(scores)
    parts.append(encode_number(len(starts) - 1))
    for start, end in pairwise(starts):
        parts += [encode_number(end - start), scores[start].astype("<f4").tobytes()]
    return b"".join(parts)


def _starts_of_types(types: Types) -> list[int]:
    """Return the start of each run, and the number of types."""
    return _bounds(np.flatnonzero(types[1:] != types[:-1]) + 1, len(types))


def _bounds(inner: NDArray[np.intp], size: int) -> list[int]:
    return [0, *inner.tolist(), size] if size else [0]


def _starts_of_scores(scores: Scores) -> list[int]:
    """Return the start of each run, and the number of scores."""
    starts, start = [0], 0
    while start < len(scores):
        start += _run_length(scores[start:])
        starts.append(start)
    return starts


def _run_length(scores: Scores) -> int:
    """Return the number of scores at the start that form a run."""
    size = 16
    while True:  # with twice the size, so that the time is linear
        found = scores[:size].view(np.uint32) == _run(scores[0], len(scores[:size])).view(np.uint32)
        if not found.all():
            return int(np.argmin(found))
        if size >= len(scores):
            return len(scores)
        size *= 2


def _run(first: np.float32, length: int) -> Scores:
    """Return the scores of a run."""
    return first - np.arange(length, dtype=np.float32)


def read_facts(reader: Reader) -> TokenFacts:
    """Return the facts in the section `facts`."""
    numbers = [reader.number() for _ in ROLES]
    if max(numbers) > ID_LIMIT:
        raise reader.error("has a role with an id that is too large")
    ends = reader.ids()
    if any(first >= second for first, second in pairwise(ends)):
        raise reader.error("has ids that do not ascend")
    template = reader.text()
    facts = TokenFacts(
        roles={role: number - 1 for role, number in zip(ROLES, numbers, strict=True) if number},
        ends=ends,
        chat_template=template or None,
        types=_read_types(reader),
        scores=_read_scores(reader),
    )
    if not facts:
        raise reader.error("has an empty section of facts")
    return facts


def _read_types(reader: Reader) -> Types:
    lengths: list[int] = []
    types: list[int] = []
    total = 0
    for _ in range(reader.count(2)):
        lengths.append(_read_length(reader, total, ID_LIMIT))
        total += lengths[-1]
        types.append(reader.number())
        if types[-1] > TokenType.BYTE or types[-1] == ([-1, *types])[-2]:
            raise _wrong_run(reader)
    return np.repeat(np.array(types, np.uint8), lengths)


def _read_scores(reader: Reader) -> Scores:
    runs = [np.zeros(0, np.float32)]
    total = 0
    following = None
    for _ in range(reader.count(5)):
        length = _read_length(reader, total, MAX_SCORES)
        total += length
        first = np.frombuffer(reader.take(4), "<f4").astype(np.float32)[0]
        if first.tobytes() == following:
            raise _wrong_run(reader)
        run = _run(first, length + 1)
        runs.append(run[:-1])
        following = run[-1].tobytes()
    return np.concatenate(runs)


def _read_length(reader: Reader, before: int, limit: int) -> int:
    length = reader.number()
    if not 0 < length <= limit - before:
        raise _wrong_run(reader)
    return length


def _wrong_run(reader: Reader) -> VocabularyError:
    return reader.error("has a wrong run of types or scores")
