"""Read and write the .model files of minbpe: a pattern, special tokens, and pairs of ids to merge.

The id of a byte is its value, and merges make the ids from 256 on in order. If bytes have other
ids below 256, as in cl100k_base, the first line lists these ids. minbpe rejects a file with such a
first line, so it cannot misread the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.files import named, utf8_text
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.spec import TokenizerSpec, max_merged_bytes
from bpe.merge import Merger
from bpe.vocabulary import ID_LIMIT, Merge, Vocabulary
from pretok.errors import shortened
from pretok.patterns.lookup import WHOLE, find, pattern_for
from pretok.unicode import DEFAULT_VERSION

FIRST_LINE = "minbpe v1"
_BYTES = " bytes="
_MAX_TOKEN_BYTES = 1 << 16
"""The maximal size of a token. A line can double the longest token, so a small file without this
limit could fill memory.
"""


class MinbpeFormat(Format):
    """A minbpe .model; has a pattern and special tokens, but no normalizer and no template."""

    name = "minbpe"
    suffix = ".model"
    holds = frozenset({"added_tokens"})

    def detects(self, source: Source) -> bool:
        return source.text.startswith(b"minbpe v")

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec:
        with named(source.path):
            return parse(source.data)

    def dump(self, spec: TokenizerSpec) -> bytes:
        return dump(spec)


def parse(data: bytes) -> TokenizerSpec:
    """Return the tokenizer in a minbpe .model; raises VocabularyError with the line."""
    lines = [line.removesuffix("\r") for line in utf8_text(data).split("\n")]
    if lines.pop():
        raise VocabularyError(f"line {len(lines) + 1} has no line break; the file is truncated")
    if len(lines) < 3:
        raise VocabularyError(
            f"the file ends with line {len(lines)}; expected the pattern in line 2 and the number "
            "of special tokens in line 3"
        )
    byte_ids = _byte_ids(lines[0])
    pattern = lines[1]
    preset = find(pattern, "tiktoken") if pattern else WHOLE
    (specials,) = _numbers(lines, 2, 1)
    if len(lines) < 3 + specials:
        raise VocabularyError(
            f"line 3 announces {specials} special tokens, but the file ends with line "
            f"{len(lines)}; the file is truncated"
        )
    added = [_special(lines, index) for index in range(3, 3 + specials)]
    tokens = {id: bytes([byte]) for byte, id in enumerate(byte_ids)}
    merges: list[Merge] = []
    size = 0
    for index in range(3 + specials, len(lines)):
        left, right = _numbers(lines, index, 2)
        for id in (left, right):
            if id not in tokens:
                raise VocabularyError(
                    f"line {index + 1} merges token {id}, which no earlier line makes; expected "
                    "the id of a byte or of an earlier merge"
                )
        id = 256 + len(merges)
        # Check the size before concatenating: a megabyte of lines could make a terabyte of tokens.
        size += len(tokens[left]) + len(tokens[right])
        if size > max_merged_bytes(len(lines)):
            raise VocabularyError(
                f"the tokens up to line {index + 1} have {size:,} bytes; expected at most "
                f"{max_merged_bytes(len(lines)):,} for a vocabulary of {len(lines):,} lines"
            )
        tokens[id] = tokens[left] + tokens[right]
        if len(tokens[id]) > _MAX_TOKEN_BYTES or id >= ID_LIMIT:
            raise VocabularyError(
                f"line {index + 1} makes a token of {len(tokens[id])} bytes with id {id}; expected "
                f"at most {_MAX_TOKEN_BYTES} bytes and an id below {ID_LIMIT}"
            )
        merges.append((left, right, id))
    why = "" if preset else f"no preset has the pattern of line 2, {shortened(pattern)}"
    return TokenizerSpec(Vocabulary(tokens, merges), preset, why, tuple(added))


def dump(spec: TokenizerSpec) -> bytes:
    """Return the minbpe .model of a tokenizer.

    Raises VocabularyError if the format cannot hold the tokenizer.
    """
    try:
        lines = _lines(spec)
    except VocabularyError as error:
        raise VocabularyError(
            f"a minbpe .model cannot hold this tokenizer: {error}; save it as .json"
        ) from None
    return "".join(f"{line}\n" for line in lines).encode()


def _lines(spec: TokenizerSpec) -> list[str]:
    vocabulary = spec.vocabulary
    byte_ids = list(vocabulary.byte_ids.values())
    if sorted(byte_ids) != list(range(256)):
        raise VocabularyError(
            f"expected the ids 0 to 255 for bytes, got ids from {min(byte_ids)} to {max(byte_ids)}"
        )
    first = FIRST_LINE
    if byte_ids != list(range(256)):
        first += _BYTES + bytes(byte_ids).hex()
    merges = _merges(spec)
    return [
        first,
        _pattern(spec),
        str(len(spec.added_tokens)),
        *map(_special_line, spec.added_tokens),
        *(f"{left} {right}" for left, right, _ in merges),
    ]


def _merges(spec: TokenizerSpec) -> Sequence[Merge]:
    """Return the merges if they make all ids from 256 on, in order; else raise VocabularyError."""
    vocabulary = spec.vocabulary
    tokens = vocabulary.token_bytes
    merges = spec.merges()
    if vocabulary.merges is None:
        merged_ids = {id for _, _, id in merges}
        for id, token in sorted(tokens.items()):
            if len(token) > 1 and id not in merged_ids:
                raise VocabularyError(f"no two tokens merge to token {id}, {shortened(token)}")
    elif vocabulary.ignore_merges:
        # minbpe always merges, so merging the bytes of each token must give the token.
        merger = Merger(Vocabulary(tokens, merges))
        for id, token in tokens.items():
            if merger.merge(token) != [id]:
                raise VocabularyError(
                    f"the bytes of token {id}, {shortened(token)}, do not merge to it"
                )
    for rank, (_, _, id) in enumerate(merges):
        if id != 256 + rank:
            raise VocabularyError(f"expected merge {rank} to make id {256 + rank}, got {id}")
    if len(tokens) != 256 + len(merges):
        id = next(id for id in sorted(tokens) if id >= 256 + len(merges))
        raise VocabularyError(f"no merge makes token {id}, {shortened(tokens[id])}")
    return merges


def _pattern(spec: TokenizerSpec) -> str:
    """Return the pattern of the split; "" if each text is one pre-token (WHOLE)."""
    if spec.preset is None:
        raise VocabularyError("expected a preset with a pattern, got a custom pre-tokenizer")
    unicode = spec.unicode or spec.preset.unicode
    if unicode != DEFAULT_VERSION:
        raise VocabularyError(f"expected Unicode {DEFAULT_VERSION}, got Unicode {unicode}")
    if spec.preset == WHOLE:
        return ""
    pattern = pattern_for(spec.preset, "tiktoken")
    if not pattern:
        raise VocabularyError(f"minbpe has no pattern that splits like preset {spec.preset.name!r}")
    if pattern != pattern.strip() or len(pattern.splitlines()) > 1:
        raise VocabularyError(
            f"the pattern {shortened(pattern)} has line breaks or white space at its ends"
        )
    return pattern


def _special_line(token: AddedToken) -> str:
    if token.content.split() != [token.content]:
        raise VocabularyError(f"special token {shortened(token.content)} contains white space")
    return f"{token.content} {token.id}"


def _byte_ids(line: str) -> list[int]:
    """Return the id of each byte, in order of the bytes, from the first line."""
    if line == FIRST_LINE:
        return list(range(256))
    text = line.removeprefix(FIRST_LINE + _BYTES)
    if text == line:
        raise UnsupportedError(f"line 1 is {line[:80]!r}; expected {FIRST_LINE!r}")
    try:
        ids = list(bytes.fromhex(text))
    except ValueError:
        ids = []
    if sorted(ids) != list(range(256)):
        raise VocabularyError(
            f"line 1: expected 256 different ids after {_BYTES.strip()!r}, each as two "
            "hexadecimal digits"
        )
    return ids


def _special(lines: Sequence[str], index: int) -> AddedToken:
    content, space, id = lines[index].rpartition(" ")
    is_valid = bool(space) and content.split() == [content]
    if not is_valid or not (id.isascii() and id.isdecimal()) or len(id) > 9:
        raise VocabularyError(
            f"line {index + 1} is {lines[index][:80]!r}; expected a special token without white "
            "space, a space and its id"
        )
    return AddedToken(content, int(id))


def _numbers(lines: Sequence[str], index: int, count: int) -> list[int]:
    """Return the `count` numbers in `lines[index]`.

    Raises VocabularyError if the line is not `count` decimal numbers with single spaces between.
    """
    fields = lines[index].split(" ")
    if len(fields) != count or not all(
        field.isascii() and field.isdecimal() and len(field) <= 9 for field in fields
    ):
        expected = "a number" if count == 1 else "two ids with a space between"
        raise VocabularyError(f"line {index + 1} is {lines[index][:80]!r}; expected {expected}")
    return list(map(int, fields))
