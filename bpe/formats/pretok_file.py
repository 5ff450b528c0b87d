r"""Read and write .pretok files: a whole tokenizer in a compact file.

cpp/formats/pretok_file.hpp is the twin. The header has 16 bytes: b"\x89PRETOK\n", the version (1),
and the CRC-32 of all bytes after the header. The sections follow in this order:

    flags         1: from ranks (the rank of a merge is the id of its result, as in tiktoken);
                  2: ignore_merges (always set with 1); 4: NFC; 8: add_prefix_space;
                  16: the preset is not built in
    preset        text: the name; text: the Unicode version; with flag 16 also the number of words
                  of its program (pretok.machine.program.serialize_stages), and the words; text:
                  its description (bpe.formats.pretok_preset)
    template      the number of ids before a text, and the ids; the number of ids after a text, and
                  the ids
    added tokens  the number of added tokens; for each its text, id and flags: 1 special,
                  2 normalized, 4 lstrip, 8 rstrip, 16 single_word
    literals      the number of tokens with stored bytes, in order of ids; the length of each; the
                  bytes of all
    merges        the number of merges; the list of merges that make an existing token; the indexes
                  of the left and the right token of each merge. The list has its length, then for
                  each merge the number of merges since the previous listed one and the index of the
                  existing token. An index has 1, 2 or 3 bytes, the fewest that fit all tokens.
    ids           the number of runs of consecutive ids; for each its first id and its length

Numbers of fixed width are little-endian, all other numbers are LEB128. A text is its size in bytes,
then its UTF-8. The index of a token counts literals first, then the tokens that merges make, in
order of rank. A merge refers only to tokens with lower indexes.

Limits keep a small file from filling memory: a token that a merge makes has at most 255 bytes, all
of them together at most 16 MiB, or 32 bytes for each token of the file if this is more. Longer
tokens are literals. In a file from ranks, merges only shorten the file: each makes one token, and
encoding depends on the ids alone.

Equal tokenizers give equal files, and readers reject any other encoding of the same tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.files import named
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.pretok_preset import dump_preset, is_own, read_preset
from bpe.formats.pretok_values import Reader, encode_number, encode_text
from bpe.formats.spec import TokenizerSpec, max_merged_bytes
from bpe.types import Template
from bpe.vocabulary import ID_LIMIT, Merge, Packed, Vocabulary
from pretok.machine.backend import backend

MAGIC = b"\x89PRETOK\n"
VERSION = 1
_HEADER_BYTES = len(MAGIC) + 8
MAX_MERGED_TOKEN = 255
"""Tokens of more bytes are literals."""

_FROM_RANKS, _IGNORE_MERGES, _NFC, _ADD_PREFIX_SPACE, _OWN_PRESET = (1 << i for i in range(5))
_TOKEN_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


class PretokFormat(Format):
    """A .pretok file; holds every part of a tokenizer."""

    name = "pretok"
    suffix = ".pretok"

    def detects(self, source: Source) -> bool:
        return source.data.startswith(MAGIC)

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec:
        with named(source.path):
            return parse(source.data)

    def dump(self, spec: TokenizerSpec) -> bytes:
        return dump(spec)


def parse(data: bytes) -> TokenizerSpec:
    """Return the tokenizer in a .pretok file.

    Raises VocabularyError for a damaged or malformed file; UnsupportedError for another version of
    the format or of Unicode.
    """
    _check_header(data)
    reader = Reader(data, _HEADER_BYTES)
    flags = reader.number()
    if flags >> 5:
        raise reader.error("has unknown flags")
    if flags & _FROM_RANKS and not flags & _IGNORE_MERGES:
        raise reader.error("has flag 1 (ranks) without flag 2 (ignore_merges)")
    preset, why_no_preset, unicode = read_preset(reader, bool(flags & _OWN_PRESET))
    template = Template(reader.ids(), reader.ids())
    added = tuple(_added_token(reader) for _ in range(reader.count(3)))
    return TokenizerSpec(
        _vocabulary(reader, bool(flags & _FROM_RANKS), bool(flags & _IGNORE_MERGES)),
        preset,
        why_no_preset,
        added,
        normalizer="NFC" if flags & _NFC else None,
        add_prefix_space=bool(flags & _ADD_PREFIX_SPACE),
        template=template,
        unicode=unicode,
    )


def dump(spec: TokenizerSpec) -> bytes:
    """Return the .pretok file of a tokenizer; raises VocabularyError if it has no preset."""
    vocabulary, preset = spec.vocabulary, spec.preset
    if preset is None:
        raise VocabularyError(
            f"a .pretok file needs a preset, but {spec.why_no_preset}; use a preset, or pickle "
            "the tokenizer"
        )
    flags = (
        _FROM_RANKS * (vocabulary.merges is None)
        | _IGNORE_MERGES * vocabulary.ignore_merges
        | _NFC * (spec.normalizer == "NFC")
        | _ADD_PREFIX_SPACE * spec.add_prefix_space
        | _OWN_PRESET * is_own(preset)
    )
    parts = [encode_number(flags), dump_preset(preset, spec.unicode or preset.unicode)]
    for ids in spec.template:
        parts += [encode_number(len(ids)), *map(encode_number, ids)]
    parts.append(encode_number(len(spec.added_tokens)))
    for token in spec.added_tokens:
        token_flags = sum(getattr(token, name) << bit for bit, name in enumerate(_TOKEN_FLAGS))
        parts += [encode_text(token.content), encode_number(token.id), encode_number(token_flags)]
    parts.append(_tokens(vocabulary, spec.merges()))
    body = b"".join(parts)
    return MAGIC + VERSION.to_bytes(4, "little") + crc32(body).to_bytes(4, "little") + body


def _check_header(data: bytes) -> None:
    if len(data) < _HEADER_BYTES:
        raise VocabularyError(
            f"the file has {len(data)} bytes, but its header {_HEADER_BYTES}; the file is truncated"
        )
    version = int.from_bytes(data[8:12], "little")
    if version != VERSION:
        raise UnsupportedError(
            f"expected version {VERSION} of the .pretok format, got {version}; save the tokenizer "
            "again with this version of pretok"
        )
    if crc32(data[_HEADER_BYTES:]) != int.from_bytes(data[12:16], "little"):
        raise VocabularyError(
            "the CRC-32 of the file does not match its header; the file is damaged or truncated, "
            "so get it again"
        )


def _added_token(reader: Reader) -> AddedToken:
    content, id, flags = reader.text(), reader.id(), reader.number()
    if flags >> len(_TOKEN_FLAGS):
        raise reader.error("has an added token with unknown flags")
    named = {name: bool(flags >> bit & 1) for bit, name in enumerate(_TOKEN_FLAGS)}
    return AddedToken(content, id, **named)


def _vocabulary(reader: Reader, from_ranks: bool, ignore_merges: bool) -> Vocabulary:
    if backend() == "native":
        from pretok import _core

        try:
            parts = _core.read_pretok_file_tokens(reader.data, reader.at, from_ranks)
        except ValueError as error:
            raise VocabularyError(str(error)) from None
        return Vocabulary.of_packed(Packed(*parts[:3]), parts[3], from_ranks, ignore_merges)
    tokens, merges = _read_tokens(reader, from_ranks)
    if from_ranks:
        return Vocabulary(tokens)
    return Vocabulary.from_checked_merges(tokens, tuple(merges), ignore_merges)


def _read_tokens(reader: Reader, from_ranks: bool) -> tuple[dict[int, bytes], list[Merge]]:
    tokens = _literals(reader)
    merge_count = reader.number()
    repeated = _repeated(reader, merge_count)
    if repeated and from_ranks:
        raise reader.error("has ranks, but two merges that make the same token")
    count = len(tokens) + merge_count - len(repeated)
    if count > ID_LIMIT:
        raise reader.error(f"has more than {ID_LIMIT} tokens")
    pairs = _pairs(reader, merge_count, _width(count))
    ids = _runs(reader, count)
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
                raise reader.error(f"merges tokens of more than {max_merged_bytes(count)} bytes")
            tokens.append(token)
        elif tokens[result] != token:
            raise reader.error("has a merge with a wrong result")
        merges.append((ids[left], ids[right], ids[result]))
    return dict(zip(ids, tokens, strict=True)), merges


def _literals(reader: Reader) -> list[bytes]:
    lengths = [reader.number() for _ in range(reader.count(2))]
    if 0 in lengths or sum(lengths) > reader.left:
        raise reader.error("has an empty token, or a token that is longer than the file")
    return [reader.take(length) for length in lengths]


def _repeated(reader: Reader, merge_count: int) -> dict[int, int]:
    """Return the index of the result of each merge that makes an existing token, by rank."""
    results: dict[int, int] = {}
    next_rank = 0
    for _ in range(reader.count(2)):
        rank = next_rank + reader.number()
        if rank >= merge_count:
            raise reader.error(f"refers to a merge after the last, {merge_count - 1}")
        results[rank] = reader.number()
        next_rank = rank + 1
    return results


def _pairs(reader: Reader, count: int, width: int) -> list[tuple[int, int]]:
    if count > reader.left // (2 * width):
        raise reader.error(f"announces {count} merges, more than it can hold")
    columns = np.frombuffer(reader.take(count * 2 * width), np.uint8).reshape(-1, 2, width)
    wide = np.zeros((count, 2, 4), np.uint8)
    wide[:, :, :width] = columns
    return [(left, right) for left, right in wide.view("<u4")[:, :, 0].tolist()]


def _runs(reader: Reader, count: int) -> list[int]:
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
        raise reader.error("has two tokens with the same id")
    return ids


def _width(count: int) -> int:
    return 1 if count <= 1 << 8 else 2 if count <= 1 << 16 else 3


def _tokens(vocabulary: Vocabulary, merges: Sequence[Merge]) -> bytes:
    tokens = vocabulary.token_bytes
    # The rank of the first merge that makes each token. A token is a literal instead if it is
    # long, if an earlier merge uses it, or if the limit of merged bytes is reached.
    first_merges: dict[int, int] = {}
    bytes_left = max_merged_bytes(len(tokens))
    used: set[int] = set()
    for rank, (left, right, result) in enumerate(merges):
        used |= {left, right}
        size = len(tokens[result])
        is_new = result not in used and result not in first_merges
        if is_new and size <= min(MAX_MERGED_TOKEN, bytes_left):
            first_merges[result] = rank
            bytes_left -= size
    literals = sorted(tokens.keys() - first_merges.keys())
    order = [*literals, *first_merges]
    indexes = {id: index for index, id in enumerate(order)}
    if vocabulary.merges is None:
        merges = [merges[rank] for rank in first_merges.values()]
        repeated = []
    else:
        repeated = [rank for rank, merge in enumerate(merges) if first_merges.get(merge[2]) != rank]
    width = _width(len(order))
    parts = [encode_number(len(literals)), *(encode_number(len(tokens[id])) for id in literals)]
    parts += [
        *(tokens[id] for id in literals),
        encode_number(len(merges)),
        encode_number(len(repeated)),
    ]
    for previous, rank in pairwise([-1, *repeated]):
        parts += [encode_number(rank - previous - 1), encode_number(indexes[merges[rank][2]])]
    pairs = np.array([[indexes[left], indexes[right]] for left, right, _ in merges], "<u4")
    parts.append(pairs.reshape(-1, 1).view(np.uint8)[:, :width].tobytes())
    runs = _runs_of(order)
    parts.append(encode_number(len(runs)))
    for start, length in runs:
        parts += [encode_number(start), encode_number(length)]
    return b"".join(parts)


def _runs_of(ids: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for id in ids:
        start, length = runs[-1] if runs else (-1, 0)
        if length and id == start + length:
            runs[-1] = (start, length + 1)
        else:
            runs.append((id, 1))
    return runs
