"""Read and write the literals, merges and ids of .pretok files.

pretok_file.py describes these sections. A literal is a token whose bytes the file stores; merges
make the bytes of all other tokens. The index of a token counts literals first, in order of ids,
then the tokens that merges make, in order of rank.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bpe.formats.pretok_numbers import Reader, encode_number
from bpe.formats.spec import max_merged_bytes
from bpe.token_table import Packed
from bpe.vocabulary import ID_LIMIT, Merge, Rows, Vocabulary

MAX_MERGED_TOKEN = 255
"""The maximal size in bytes of a token that a merge makes; longer tokens are literals."""
MAX_SPREAD = 8
"""Ids are looked up in an array if the largest id is below MAX_SPREAD times the number of ids."""


def read_vocabulary(reader: Reader, from_ranks: bool, ignore_merges: bool) -> Vocabulary:
    """Return the vocabulary in the rest of a file, the sections from literals to ids."""
    tokens, merges = _read_tokens(reader, from_ranks)
    if from_ranks:
        return Vocabulary(tokens)
    return Vocabulary._of_checked_merges(tokens, tuple(merges), ignore_merges)


def read_tokens(reader: Reader, has_any_results: bool = False) -> tuple[Packed, Rows]:
    """Return the tokens and merges in the rest of a file whose tokens are text.

    If `has_any_results`, a merge may make a token other than its two tokens, joined.
    """
    tokens, merges = _read_tokens(reader, False, has_any_results)
    return Packed.of(tokens), np.array(merges, np.uint32).reshape(-1, 3)


def _read_tokens(
    reader: Reader, from_ranks: bool, has_any_results: bool = False
) -> tuple[dict[int, bytes], list[Merge]]:
    """Return the tokens by id, and the merges in order of rank."""
    tokens = _read_literals(reader)
    merge_count = reader.number()
    repeated = _read_repeated(reader, merge_count)
    if repeated and from_ranks:
        raise reader.error(
            "lists two merges for one token, but flag 1 (ranks) allows one merge per token"
        )
    count = len(tokens) + merge_count - len(repeated)
    if count > ID_LIMIT:
        raise reader.error(f"has more than {ID_LIMIT} tokens")
    pairs = _read_pairs(reader, merge_count, _index_bytes(count))
    ids = _read_ids(reader, count)
    merges: list[Merge] = []
    merged_bytes = 0
    for rank, (left, right) in enumerate(pairs):
        result = repeated.get(rank, len(tokens))
        if max(left, right) >= len(tokens) or (rank in repeated and result >= len(tokens)):
            raise reader.error("has a merge that refers to a later token")
        token = tokens[left] + tokens[right]
        if rank not in repeated:
            if len(token) > MAX_MERGED_TOKEN:
                raise reader.error(f"merges a token of more than {MAX_MERGED_TOKEN} bytes")
            merged_bytes += len(token)
            if merged_bytes > max_merged_bytes(count):
                raise reader.error(
                    f"has merges that make tokens of more than {max_merged_bytes(count)} bytes in "
                    "total"
                )
            tokens.append(token)
        elif tokens[result] != token and not has_any_results:
            raise reader.error("has a merge whose two tokens, joined, are not its result")
        merges.append((ids[left], ids[right], ids[result]))
    return dict(zip(ids, tokens, strict=True)), merges


def _read_literals(reader: Reader) -> list[bytes]:
    lengths = [reader.number() for _ in range(reader.count(2))]
    if 0 in lengths or sum(lengths) > reader.left:
        raise reader.error("has an empty token, or a token that is longer than the file")
    return [reader.take(length) for length in lengths]


def _read_repeated(reader: Reader, merge_count: int) -> dict[int, int]:
    """Return the index of the existing token that a merge makes, by the rank of the merge."""
    results: dict[int, int] = {}
    next_rank = 0
    for _ in range(reader.count(2)):
        rank = next_rank + reader.number()
        if rank >= merge_count:
            raise reader.error(
                f"refers to merge {rank}, but has only {merge_count} merges, numbered from 0"
            )
        results[rank] = reader.number()
        next_rank = rank + 1
    return results


def _read_pairs(reader: Reader, count: int, width: int) -> list[tuple[int, int]]:
    """Return the indexes of the left and right token of each merge, of `width` bytes each."""
    if count > reader.left // (2 * width):
        raise reader.error(f"announces {count} merges, more than it can hold")
    columns = np.frombuffer(reader.take(count * 2 * width), np.uint8).reshape(-1, 2, width)
    wide = np.zeros((count, 2, 4), np.uint8)
    wide[:, :, :width] = columns
    return [(left, right) for left, right in wide.view("<u4")[:, :, 0].tolist()]


def _read_ids(reader: Reader, count: int) -> list[int]:
    """Return the ids of `count` tokens, in the order of their indexes."""
    ids: list[int] = []
    end = -1
    for _ in range(reader.count(2)):
        start, length = reader.number(), reader.number()
        if not 0 < length <= count - len(ids) or start + length > ID_LIMIT or start == end:
            raise reader.error("stores ids non-canonically")
        end = start + length
        ids += range(start, end)
    if len(ids) != count or not count:
        raise reader.error("has different numbers of ids and tokens")
    if reader.left:
        raise reader.error("has data after its end")
    if len(set(ids)) != count:
        seen: set[int] = set()
        for id in ids:
            if id in seen:
                raise reader.error(f"has two tokens with id {id}")
            seen.add(id)
    return ids


def encode_tokens(
    packed: Packed, merges: Rows, from_ranks: bool = False, has_any_results: bool = False
) -> bytes:
    """Return the sections from literals to ids.

    If `from_ranks`, `merges` are the merges recovered from ranks. If `has_any_results`, all tokens
    are literals, because a merge may make a token other than its two tokens, joined.
    """
    by_id = np.argsort(packed.ids)
    ids = packed.ids[by_id].astype(np.int64)
    sizes = packed.lengths[by_id].astype(np.int64)
    starts = (np.cumsum(packed.lengths, dtype=np.int64) - packed.lengths)[by_id]
    # For each merge, the indexes of its three tokens in `ids`.
    rows = _indexes(ids, merges.reshape(-1, 3))
    ranks = np.zeros(0, np.int64) if has_any_results else _first_merges(rows, sizes)
    is_literal = np.ones(len(ids), bool)
    is_literal[rows[ranks, 2]] = False
    spans = zip(starts[is_literal].tolist(), sizes[is_literal].tolist(), strict=True)
    literals = [packed.data[start : start + size] for start, size in spans]
    order = np.concatenate([np.flatnonzero(is_literal), rows[ranks, 2]])
    indexes = np.empty(len(ids), np.int64)
    indexes[order] = np.arange(len(ids))
    repeated: list[int] = []
    if from_ranks:
        rows = rows[ranks]
    else:
        is_repeated = np.ones(len(rows), bool)
        is_repeated[ranks] = False
        repeated = np.flatnonzero(is_repeated).tolist()
    width = _index_bytes(len(ids))
    parts = [encode_number(len(literals)), *map(encode_number, map(len, literals)), *literals]
    parts += [encode_number(len(rows)), encode_number(len(repeated))]
    for previous, rank in pairwise([-1, *repeated]):
        parts += [encode_number(rank - previous - 1), encode_number(int(indexes[rows[rank, 2]]))]
    pairs = indexes[rows[:, :2]].astype("<u4")
    parts.append(pairs.reshape(-1, 1).view(np.uint8)[:, :width].tobytes())
    runs = _runs(ids[order])
    parts.append(encode_number(len(runs)))
    for start, length in runs:
        parts += [encode_number(start), encode_number(length)]
    return b"".join(parts)


def _indexes(ids: NDArray[np.int64], merges: Rows) -> NDArray[np.int64]:
    """Return the index in `ids`, which ascend, of each id in `merges`."""
    if not len(ids) or ids[-1] >= MAX_SPREAD * len(ids):
        return np.searchsorted(ids, merges)
    indexes = np.zeros(int(ids[-1]) + 1, np.int64)
    indexes[ids] = np.arange(len(ids))
    found: NDArray[np.int64] = indexes[merges]
    return found


def _first_merges(rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ranks of the merges that make tokens in the file, in ascending order.

    Each is the first merge that makes its token. A token is a literal instead if it has more than
    MAX_MERGED_TOKEN bytes, if the limit of merged bytes is reached, or if this or an earlier merge
    uses it as a part: a merge in the file refers only to literals and tokens of earlier merges.
    """
    count = len(rows)
    descending = np.arange(count)[::-1]
    made, used = np.full((2, len(sizes)), count)
    made[rows[::-1, 2]] = descending  # NumPy keeps the last value: the lowest rank
    for column in (0, 1):
        first = np.full(len(sizes), count)
        first[rows[::-1, column]] = descending
        used = np.minimum(used, first)
    ranks = np.sort(made[(made < used) & (sizes <= MAX_MERGED_TOKEN)])
    merged = sizes[rows[ranks, 2]]
    bytes_left = max_merged_bytes(len(sizes))
    if merged.sum() <= bytes_left:
        return ranks
    kept = []
    for rank, size in zip(ranks.tolist(), merged.tolist(), strict=True):
        if size <= bytes_left:
            kept.append(rank)
            bytes_left -= size
    return np.array(kept, np.int64)


def _runs(ids: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return (first id, length) of each run of consecutive ids."""
    starts = np.flatnonzero(np.diff(ids, prepend=-2) != 1)
    lengths = np.diff(starts, append=len(ids))
    return list(zip(ids[starts].tolist(), lengths.tolist(), strict=True))


def _index_bytes(token_count: int) -> int:
    """Return the size in bytes of the index of a token."""
    return 1 if token_count <= 1 << 8 else 2 if token_count <= 1 << 16 else 3
