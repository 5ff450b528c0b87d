"""Read and write rank files of tiktoken: each line has a token in base64, a space, and its rank.

The rank of a token is its id, and also the rank of the merges that make it. The file has no special
tokens, and does not say how to split text. cpp/formats/tiktoken.hpp is the C++ version.
"""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Mapping

from bpe.errors import VocabularyError
from bpe.formats.file_spec import vocabulary_of
from bpe.formats.files import named
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.native_readers import read_native
from bpe.formats.rank_equivalence import why_not_ranks
from bpe.formats.spec import TokenizerSpec
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok.errors import shortened

_WHITE_SPACE = b" \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0"
_NO_SPACE = bytes(byte for byte in range(256) if byte not in _WHITE_SPACE)
_DIGITS = b"0123456789"


class TiktokenFormat(Format):
    """A rank file; has only tokens, and does not say how to split text."""

    name = "tiktoken"
    suffix = ".tiktoken"
    says_split = False

    def detects(self, source: Source) -> bool:
        return any(map(is_line, source.first_lines))

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec:
        with named(source.path):
            return parse(source.data)

    def dump(self, spec: TokenizerSpec) -> bytes:
        return dump(spec)


def is_line(line: bytes) -> bool:
    """Return whether `line` has a token in base64 and its rank."""
    try:
        _parse_line(line)
    except VocabularyError:
        return False
    return True


def parse(data: bytes) -> TokenizerSpec:
    """Return the vocabulary of a rank file; raises VocabularyError with the line."""
    return TokenizerSpec(
        _vocabulary(data), why_no_preset="a rank file does not say how to split text"
    )


def dump(spec: TokenizerSpec) -> bytes:
    """Return the rank file of a tokenizer, which holds only the tokens and their ranks.

    Raises VocabularyError if merging by rank would give other ids than the merges of `spec`.
    """
    why_not = why_not_ranks(spec.vocabulary)
    if why_not:
        raise VocabularyError(
            f"a .tiktoken file cannot hold this vocabulary: {why_not}; save it as .json"
        )
    return rank_lines({token: id for id, token in spec.vocabulary.token_bytes.items()})


def rank_lines(ranks: Mapping[bytes, int]) -> bytes:
    """Return the lines of a rank file: each token in base64 and its rank, by ascending rank."""
    return b"".join(
        b"%s %d\n" % (b2a_base64(token, newline=False), rank)
        for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    )


def _vocabulary(data: bytes) -> Vocabulary:
    native = read_native(data)
    if native is not None:
        return vocabulary_of(native, ())
    ranks = _parse_plain(data.replace(b"\r\n", b"\n"))
    return Vocabulary(_parse_lines(data) if ranks is None else ranks)


def _parse_plain(data: bytes) -> dict[int, bytes] | None:
    """Return the tokens by rank; None if a line is not exactly as tiktoken writes it."""
    if not data.endswith(b"\n"):
        data += b"\n"
    fields = data.split()
    texts, numbers = fields[::2], fields[1::2]
    if data.translate(None, _NO_SPACE) != b" \n" * len(numbers):
        return None
    if b"".join(numbers).translate(None, _DIGITS) or max(map(len, numbers), default=0) > 9:
        return None
    try:
        tokens = list(map(a2b_base64, texts))
    except Error:
        return None
    # a2b_base64 ignores characters that are not base64, so check that the tokens encode to `texts`.
    if b"".join(map(b2a_base64, tokens)) != b"\n".join(texts) + b"\n":
        return None
    ranks = dict(zip(map(int, numbers), tokens, strict=True))
    unique = len(ranks) == len(tokens) == len(set(tokens)) and b"" not in ranks.values()
    return ranks if unique and max(ranks, default=0) < ID_LIMIT else None


def _parse_lines(data: bytes) -> dict[int, bytes]:
    """Return the tokens by rank, also of files by other programs; errors name the line."""
    ranks: dict[int, bytes] = {}
    lines: dict[int, int] = {}
    seen: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        line = line.removesuffix(b"\r")
        if not line:
            continue
        try:
            token, rank = _parse_line(line)
            if rank in lines:
                raise VocabularyError(f"rank {rank} is already on line {lines[rank]}")
            if token in seen:
                raise VocabularyError(f"token {shortened(token)} is already on line {seen[token]}")
        except VocabularyError as error:
            raise VocabularyError(f"line {number}: {error}; the file is damaged") from None
        lines[rank] = seen[token] = number
        if token:  # Whisper's file has a line for the empty token; no text encodes to it
            ranks[rank] = token
    if not ranks:
        raise VocabularyError("no line has a token and its rank; expected a rank file of tiktoken")
    return ranks


def _parse_line(line: bytes) -> tuple[bytes, int]:
    text, space, number = line.partition(b" ")
    if not space or not number:
        raise VocabularyError(f"{_shown(line)} has no rank; expected base64, a space and a number")
    if number.translate(None, _DIGITS) or len(number) > 9 or int(number) >= ID_LIMIT:
        raise VocabularyError(
            f"the rank is {_shown(number)}; expected a number from 0 to {ID_LIMIT - 1}"
        )
    try:
        token = a2b_base64(text)
    except Error as error:
        raise VocabularyError(f"{_shown(text)} is not base64 ({error})") from None
    if b2a_base64(token, newline=False) != text and not (text == b"=" and not token):
        raise VocabularyError(f"{_shown(text)} is not base64")
    return token, int(number)


def _shown(data: bytes) -> str:
    return ascii(data[:40].decode("latin-1")) + (" ..." if len(data) > 40 else "")
