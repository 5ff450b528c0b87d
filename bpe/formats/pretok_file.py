r"""The .pretok file: all of a tokenizer in little space. cpp/formats/pretok_file.hpp is the twin.

A head of 16 bytes: b"\x89PRETOK\n", the version (1) and the CRC-32 of all that is behind the head,
32 bits each. Every number of fixed width is little-endian. Behind the head, in this order:

    flags         1: merges are ranked by the id of what they make, as tiktoken does; 2: a token as
                  a whole is not merged (always with 1); 4: NFC; 8: a space is put before a text;
                  16: the preset is none that is built in
    preset        text: its name; text: the Unicode version; with flag 16 the number of words of its
                  program (pretok.machine.program.serialize_stages), and the words
    template      the number of ids before a text, and the ids; the same for those behind
    added tokens  their number, and of each text, id and flags: 1 special, 2 normalized, 4 lstrip,
                  8 rstrip, 16 single_word
    literals      the number of tokens that are written out, in order of their ids; the length of
                  each; the bytes of all
    merges        their number; how many of them make a token that is there already, and of each how
                  many merges it comes after the last such, and the place of that token; then the
                  places of both parts of each merge, in 1, 2 or 3 bytes: the fewest for all tokens
    ids           the number of runs of consecutive ids, and of each the first id and how many

Numbers without a width are LEB128, a text is its size in bytes and its UTF-8. The place of a token
is its index: literals come first, then what merges make, in order of rank. A merge names only
tokens that come before. The tokens of a file take no more room than its size allows: what a merge
makes has at most 255 bytes; all that merges make has at most 16 MiB, or 32 bytes for each token if
that is more. Other tokens are literals. With ranks, merges only say what tokens are made of, each
once: ids are what counts, and nothing depends on whether the merges are those that follow from
them.

A tokenizer is always written alike, and no byte is without meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from zlib import crc32

import numpy as np

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.files import named
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.spec import TokenizerSpec, max_merged_bytes
from bpe.types import Template
from bpe.vocabulary import ID_LIMIT, Merge, Packed, Vocabulary
from pretok.errors import UnknownPresetError
from pretok.machine.backend import backend
from pretok.machine.program import serialize_stages
from pretok.patterns.lookup import WHOLE
from pretok.preset import Preset
from pretok.presets import BUILT_IN
from pretok.registry import find, presets
from pretok.unicode import VERSIONS

MAGIC = b"\x89PRETOK\n"
VERSION = 1
_HEAD_BYTES = len(MAGIC) + 8
MAX_MERGED_TOKEN = 255
"""Tokens of more bytes are written out."""

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

    Raises VocabularyError for one that is damaged or malformed; UnsupportedError for another
    version of the format or of Unicode.
    """
    _check_head(data)
    reader = _Reader(data, _HEAD_BYTES)
    flags = reader.number()
    if flags >> 5:
        raise reader.wrong("has unknown flags")
    if flags & _FROM_RANKS and not flags & _IGNORE_MERGES:
        raise reader.wrong("has ranks, but says that they do not count for whole tokens")
    preset, why_no_preset, unicode = _preset(reader, bool(flags & _OWN_PRESET))
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
            f"a .pretok file holds only presets, but {spec.why_no_preset}; use a preset, or pickle "
            "the tokenizer"
        )
    is_own = preset not in BUILT_IN
    flags = (
        _FROM_RANKS * (vocabulary.merges is None)
        | _IGNORE_MERGES * vocabulary.ignore_merges
        | _NFC * (spec.normalizer == "NFC")
        | _ADD_PREFIX_SPACE * spec.add_prefix_space
        | _OWN_PRESET * is_own
    )
    parts = [_number(flags), _text(preset.name), _text(spec.unicode or preset.unicode)]
    if is_own:
        words = serialize_stages(preset.stages)
        parts += [_number(len(words)), *map(_number, words)]
    for ids in spec.template:
        parts += [_number(len(ids)), *map(_number, ids)]
    parts.append(_number(len(spec.added_tokens)))
    for token in spec.added_tokens:
        token_flags = sum(getattr(token, name) << bit for bit, name in enumerate(_TOKEN_FLAGS))
        parts += [_text(token.content), _number(token.id), _number(token_flags)]
    parts.append(_tokens(vocabulary, spec.merges()))
    body = b"".join(parts)
    return MAGIC + VERSION.to_bytes(4, "little") + crc32(body).to_bytes(4, "little") + body


def _check_head(data: bytes) -> None:
    if len(data) < _HEAD_BYTES:
        raise VocabularyError(f"the file has {len(data)} bytes, fewer than its head; it is cut off")
    version = int.from_bytes(data[8:12], "little")
    if version != VERSION:
        raise UnsupportedError(
            f"this is version {version} of the .pretok file; {VERSION} is read, so save the "
            "tokenizer again with this version of pretok"
        )
    if crc32(data[_HEAD_BYTES:]) != int.from_bytes(data[12:16], "little"):
        raise VocabularyError(
            "the file does not have the CRC-32 that it says; it is damaged or cut off, so get it "
            "again"
        )


def _preset(reader: _Reader, is_own: bool) -> tuple[Preset | None, str, str]:
    """Return the preset that the file says, or else why there is none, and its Unicode version."""
    name, unicode = reader.text(), reader.text()
    if unicode not in VERSIONS:
        raise UnsupportedError(
            f"the file says Unicode {unicode[:80]!a}; expected one of {', '.join(VERSIONS)}"
        )
    said = f"the file says preset {name[:80]!a}, which"
    if not is_own:
        known = next((preset for preset in BUILT_IN if preset.name == name), None)
        return known, "" if known else f"{said} this version of pretok does not have", unicode
    words = [reader.number() for _ in range(reader.count(1))]
    for preset in _of_others(name):
        if serialize_stages(preset.stages) == words:
            return preset, "", unicode
    return (
        None,
        f"{said} is none that is built in, and none that is known here splits as that does: "
        "register it (pretok.register) before you load the file",
        unicode,
    )


def _of_others(name: str) -> Iterator[Preset]:
    with suppress(UnknownPresetError):
        yield find(name)
    yield from (*presets(), WHOLE)


def _added_token(reader: _Reader) -> AddedToken:
    content, id, flags = reader.text(), reader.id(), reader.number()
    if flags >> len(_TOKEN_FLAGS):
        raise reader.wrong("has an added token with unknown flags")
    named = {name: bool(flags >> bit & 1) for bit, name in enumerate(_TOKEN_FLAGS)}
    return AddedToken(content, id, **named)


def _vocabulary(reader: _Reader, from_ranks: bool, ignore_merges: bool) -> Vocabulary:
    if backend() == "native":
        from pretok import _core

        try:
            found = _core.read_pretok_file_tokens(reader.data, reader.at, from_ranks)
        except ValueError as error:
            raise VocabularyError(str(error)) from None
        return Vocabulary.of_packed(Packed(*found[:3]), found[3], from_ranks, ignore_merges)
    tokens, merges = _read_tokens(reader, from_ranks)
    if from_ranks:
        return Vocabulary(tokens)
    return Vocabulary.from_checked_merges(tokens, tuple(merges), ignore_merges)


def _read_tokens(reader: _Reader, from_ranks: bool) -> tuple[dict[int, bytes], list[Merge]]:
    tokens = _literals(reader)
    merge_count = reader.number()
    again = _repeated(reader, merge_count)
    if again and from_ranks:
        raise reader.wrong("has merges that ranks make twice")
    count = len(tokens) + merge_count - len(again)
    if count > ID_LIMIT:
        raise reader.wrong("has more tokens than there can be")
    pairs = _pairs(reader, merge_count, _width(count))
    ids = _runs(reader, count)
    merges: list[Merge] = []
    made_bytes = 0
    for rank, (left, right) in enumerate(pairs):
        made = again.get(rank, len(tokens))
        if max(left, right) >= len(tokens) or (rank in again and made >= len(tokens)):
            raise reader.wrong("merges a token before it is there")
        token = tokens[left] + tokens[right]
        if rank not in again:
            if len(token) > MAX_MERGED_TOKEN:
                raise reader.wrong("makes a token that is too long of two others")
            made_bytes += len(token)
            if made_bytes > max_merged_bytes(count):
                raise reader.wrong("makes tokens of too many bytes")
            tokens.append(token)
        elif tokens[made] != token:
            raise reader.wrong("has a merge that does not make the token it names")
        merges.append((ids[left], ids[right], ids[made]))
    return dict(zip(ids, tokens, strict=True)), merges


def _literals(reader: _Reader) -> list[bytes]:
    lengths = [reader.number() for _ in range(reader.count(2))]
    if 0 in lengths or sum(lengths) > reader.left:
        raise reader.wrong("has a token of no bytes, or of more than there are")
    return [reader.taken(length) for length in lengths]


def _repeated(reader: _Reader, merge_count: int) -> dict[int, int]:
    """Return the ranks of merges that make a token again, and the place of that token."""
    found: dict[int, int] = {}
    after = 0
    for _ in range(reader.count(2)):
        rank = after + reader.number()
        if rank >= merge_count:
            raise reader.wrong("names a merge that is not there")
        found[rank] = reader.number()
        after = rank + 1
    return found


def _pairs(reader: _Reader, count: int, width: int) -> list[tuple[int, int]]:
    if count > reader.left // (2 * width):
        raise reader.wrong("says that there are merges for which it has no room")
    columns = np.frombuffer(reader.taken(count * 2 * width), np.uint8).reshape(-1, 2, width)
    wide = np.zeros((count, 2, 4), np.uint8)
    wide[:, :, :width] = columns
    return [(left, right) for left, right in wide.view("<u4")[:, :, 0].tolist()]


def _runs(reader: _Reader, count: int) -> list[int]:
    ids: list[int] = []
    end = -1
    for _ in range(reader.count(2)):
        start, length = reader.number(), reader.number()
        if not 0 < length <= count - len(ids) or start + length > ID_LIMIT or start == end:
            raise reader.wrong("has ids that are not written as they are to be")
        end = start + length
        ids += range(start, end)
    if len(ids) != count or not count:
        raise reader.wrong("has not as many ids as tokens")
    if reader.left:
        raise reader.wrong("goes on behind its end")
    if len(set(ids)) != count:
        raise reader.wrong("has two tokens with one id")
    return ids


class _Reader:
    """Reads from `at` on; raises VocabularyError for what is not there, or not as it is to be."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def taken(self, size: int) -> bytes:
        if size > self.left:
            raise self.wrong("ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self) -> int:
        found = 0
        for shift in range(0, 35, 7):
            if not self.left:
                raise self.wrong("ends too early")
            byte = self.data[self.at]
            self.at += 1
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                if (shift and not byte) or found >> 32:
                    raise self.wrong("has a number that is not written as it is to be")
                return found
        raise self.wrong("has a number of more than 32 bits")

    def count(self, least: int) -> int:
        """Return a number of things, each of at least `least` bytes."""
        found = self.number()
        if found > self.left // least:
            raise self.wrong(f"says that there are {found} of what it has no room for")
        return found

    def id(self) -> int:
        found = self.number()
        if found >= ID_LIMIT:
            raise self.wrong("has an id that is too large")
        return found

    def ids(self) -> tuple[int, ...]:
        return tuple(self.id() for _ in range(self.count(1)))

    def text(self) -> str:
        try:
            return self.taken(self.count(1)).decode()
        except UnicodeDecodeError:
            raise self.wrong("has text that is not UTF-8") from None

    def wrong(self, what: str) -> VocabularyError:
        return VocabularyError(
            f"the file {what}, at offset {self.at}; it was not written by pretok"
        )


def _number(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _text(text: str) -> bytes:
    data = text.encode()
    return _number(len(data)) + data


def _width(count: int) -> int:
    return 1 if count <= 1 << 8 else 2 if count <= 1 << 16 else 3


def _tokens(vocabulary: Vocabulary, merges: Sequence[Merge]) -> bytes:
    tokens = vocabulary.token_bytes
    # The rank of the merge that makes a token first, if it is not written out: because it is
    # long, or needed before, or there is no room for it in what merges may make.
    makers: dict[int, int] = {}
    room = max_merged_bytes(len(tokens))
    needed: set[int] = set()
    for rank, (left, right, made) in enumerate(merges):
        needed |= {left, right}
        size = len(tokens[made])
        if made not in needed and made not in makers and size <= min(MAX_MERGED_TOKEN, room):
            makers[made] = rank
            room -= size
    literals = sorted(tokens.keys() - makers.keys())
    order = [*literals, *makers]
    places = {id: place for place, id in enumerate(order)}
    if vocabulary.merges is None:
        merges = [merges[rank] for rank in makers.values()]
        again = []
    else:
        again = [rank for rank, merge in enumerate(merges) if makers.get(merge[2]) != rank]
    width = _width(len(order))
    parts = [_number(len(literals)), *(_number(len(tokens[id])) for id in literals)]
    parts += [*(tokens[id] for id in literals), _number(len(merges)), _number(len(again))]
    for before, rank in pairwise([-1, *again]):
        parts += [_number(rank - before - 1), _number(places[merges[rank][2]])]
    pairs = np.array([[places[left], places[right]] for left, right, _ in merges], "<u4")
    parts.append(pairs.reshape(-1, 1).view(np.uint8)[:, :width].tobytes())
    runs = _runs_of(order)
    parts.append(_number(len(runs)))
    for start, length in runs:
        parts += [_number(start), _number(length)]
    return b"".join(parts)


def _runs_of(ids: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for id in ids:
        start, length = found[-1] if found else (-1, 0)
        if length and id == start + length:
            found[-1] = (start, length + 1)
        else:
            found.append((id, 1))
    return found
