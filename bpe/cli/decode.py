"""The command `pretok decode`."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import click
import numpy as np

import bpe
from bpe.cli.ids import IdsPart, binary_ids, decimal_ids
from bpe.cli.vocabulary import load, vocabulary_options
from pretok.cli.input import open_bytes
from pretok.cli.options import backend_option, file_argument, format_option, options_of
from pretok.cli.output import write
from pretok.machine.backend import BackendName
from pretok.preset import Preset

# The binary formats of ids.
NUMBERS: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}
HELPS = {
    "--skip-special": "Omit special tokens.",
    "--errors": "Bytes that are not UTF-8: keep them, replace them by U+FFFD, or fail.",
    "--lines": "Decode each line of ids to a line of text.",
    "--ids IDS": "Decode these ids instead of FILE.",
}


@click.command("decode")
@vocabulary_options
@options_of(HELPS)
@file_argument
@format_option("ids", *NUMBERS)
@backend_option
def decode_command(
    *,
    vocab: str,
    preset: Preset | None,
    skip_special: bool,
    errors: Literal["keep", "replace", "strict"] = "keep",
    lines: bool,
    file: str | None,
    ids: str | None,
    output_format: str,
    backend: BackendName | None,
) -> None:
    """Decode the ids in FILE, or in standard input, as they arrive.

    In the format ids, the ids are decimal numbers with white space, commas or brackets between
    them, like the output of `pretok encode` with --format ids or json. In the formats uint16 and
    uint32, each id has 16 or 32 bits, little-endian.

    The output is exactly the bytes of the tokens. On a terminal, a line break follows unless the
    output ends with one. With --lines, LF follows the text of each line of ids.
    """
    if lines and output_format != "ids":
        raise click.UsageError("--lines needs --format ids")
    tokenizer = load(vocab, preset, backend)
    special = frozenset(tokenizer.special_tokens.values()) if skip_special else frozenset()
    with open_bytes(file, ids, "--ids") as source:
        is_binary = output_format in NUMBERS
        blocks = (
            binary_ids(source, NUMBERS[output_format]) if is_binary else decimal_ids(source, lines)
        )
        decoder = _Decoder(tokenizer, special, errors, source.name)
        write(_end_line(decoder.texts(blocks)))


class _Decoder:
    """Decodes ids, except the ids in `skipped`.

    `errors` is the value of --errors. Error messages call the input `name`.
    """

    def __init__(
        self, tokenizer: bpe.Tokenizer, skipped: frozenset[int], errors: str, name: str
    ) -> None:
        self._tokenizer = tokenizer
        self._size = tokenizer.vocab_size
        self._skipped = skipped
        self._utf8 = None if errors == "keep" else codecs.getincrementaldecoder("utf-8")(errors)
        self._done = 0
        self._name = name

    def texts(self, blocks: Iterable[list[IdsPart]]) -> Iterator[bytes]:
        """Yield the bytes of each block of ids, with LF after each part that ends a line."""
        for parts in blocks:
            yield b"".join(
                self._apply_errors(self._bytes(part), part.ends_line) + b"\n" * part.ends_line
                for part in parts
            )
        yield self._apply_errors(b"", final=True)

    def _bytes(self, part: IdsPart) -> bytes:
        """Return the bytes of the tokens of `part`.

        Raises click.ClickException for an unknown id; the message says where it is in the input.
        """
        ids = part.ids
        try:
            if max(ids, default=0) >= self._size:
                raise bpe.UnknownTokenError
            data = self._tokenizer.decode_bytes(ids)
        except bpe.UnknownTokenError:
            index = next(index for index, id in enumerate(ids) if not self._is_known(id))
            raise click.ClickException(
                f"{self._name}, byte {part.place(index)}: no token has id {ids[index]}; the "
                f"largest id of this vocabulary is {self._size - 1}"
            ) from None
        if self._skipped.isdisjoint(ids):
            return data
        return self._tokenizer.decode_bytes([id for id in ids if id not in self._skipped])

    def _is_known(self, id: int) -> bool:
        try:
            return id < self._size and bool(self._tokenizer.token_bytes(id))
        except bpe.UnknownTokenError:
            return False

    def _apply_errors(self, data: bytes, final: bool) -> bytes:
        """Return `data` with --errors applied to bytes that are not UTF-8.

        Unless `final`, keep an incomplete character at the end of `data` for the next call.
        """
        if self._utf8 is None:
            return data
        pending = len(self._utf8.getstate()[0])
        try:
            text = self._utf8.decode(data, final)
        except UnicodeDecodeError as error:
            byte, at = error.object[error.start], self._done - pending + error.start
            raise click.ClickException(
                f"byte 0x{byte:02x} at byte {at} of the decoded text is not UTF-8; pass --errors "
                "replace to get U+FFFD instead, or --errors keep to keep the byte"
            ) from None
        self._done += len(data)
        return text.encode()


def _end_line(texts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield `texts`; on a terminal, add a line break unless the last text ends with one."""
    last = b"\n"
    for text in texts:
        yield text
        last = text[-1:] or last
    if last != b"\n" and sys.stdout.isatty():
        yield b"\n"
