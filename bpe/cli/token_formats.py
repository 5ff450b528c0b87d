"""Write tokens with their spans: as a table, as lines of JSON, or as a stream of Arrow."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import TypeAlias

import click

from bpe.encoding.utf8 import ESCAPE
from bpe.types import Token
from pretok.cli.output import QUOTE, Escaper, is_colored
from pretok.cli.split import BACKGROUNDS

BLOCK = 1 << 16
"""The number of tokens that are written at a time."""


def blocks(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens, BLOCK at a time."""
    for first in range(0, len(tokens), BLOCK):
        yield tokens[first : first + BLOCK]


def table(tokens: Sequence[Token], color: bool | None) -> Iterator[str]:
    """Yield a line for each token: its span, its id, and its bytes, escaped and in quotes.

    If `color`, or on a terminal if it is None, the bytes have alternating backgrounds.
    """
    escaper = Escaper("16.0")
    backgrounds = cycle(BACKGROUNDS)
    colored = is_colored(color)
    for block in blocks(tokens):
        escaped = escaper.each(token.bytes.decode("utf-8", ESCAPE) for token in block)
        lines = []
        for token, shown in zip(block, escaped, strict=True):
            if colored:
                shown = click.style(shown, fg="black", bg=next(backgrounds))
            lines.append(f"{token.start:>7} {token.end:>7} {token.id:>7}  {QUOTE}{shown}{QUOTE}\n")
        yield "".join(lines)


def json_lines(tokens: Sequence[Token], _: bool | None) -> Iterator[str]:
    """Yield a line with a JSON object for each token."""
    for block in blocks(tokens):
        yield "".join(
            json.dumps({
                "id": token.id, "start": token.start, "end": token.end,
                "text": token.bytes.decode("utf-8", "replace"), "bytes": token.bytes.hex(),
            }) + "\n"
            for token in block
        )  # fmt: skip


def arrow(tokens: Sequence[Token], _: bool | None) -> Iterator[bytes]:
    """Yield a stream of Arrow (IPC) with a row for each token. Needs pyarrow."""
    try:
        import pyarrow
    except ImportError:
        raise click.ClickException(
            "--format arrow needs the package pyarrow; run 'pip install pyarrow'"
        ) from None
    types = {
        "id": pyarrow.uint32(), "start": pyarrow.int64(), "end": pyarrow.int64(),
        "bytes": pyarrow.binary(),
    }  # fmt: skip
    schema = pyarrow.schema(list(types.items()))
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, schema) as stream:
        for block in blocks(tokens):
            columns = [
                pyarrow.array([getattr(token, name) for token in block], kind)
                for name, kind in types.items()
            ]
            stream.write_batch(pyarrow.record_batch(columns, schema=schema))
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()


Write: TypeAlias = Callable[[Sequence[Token], "bool | None"], Iterator["str | bytes"]]
TOKEN_FORMATS: dict[str, Write] = {"tokens": table, "jsonl": json_lines, "arrow": arrow}
"""The formats with the tokens of one text."""
