"""The command `pretok inspect`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import click
import numpy as np

import bpe
from bpe.cli.pictures import picture_errors, picture_option
from bpe.cli.reachability import reachability_lines, reachability_record
from bpe.cli.vocabulary import ON_BINARY, SPLIT, complete_vocabulary, load
from bpe.corpus.shards import sha256_of
from bpe.encoding.utf8 import ESCAPE
from bpe.hub.locate import locate_vocabulary
from bpe.plots import draw_ranks
from bpe.statistics import ranks
from pretok.cli.input import read_text
from pretok.cli.options import TOKEN_ESCAPES, backend_option, format_option, options_of
from pretok.cli.output import QUOTE, Escaper, one_line, write
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.unicode import DEFAULT_VERSION

Record = dict[str, Any]
HEADINGS = ("BYTES", "PRE-TOKENS", "TOKENS", "BYTES/TOKEN", "DISTINCT")
MAX_LISTED = 10
"""The maximum number of special or added tokens to list."""

HELPS = {
    **SPLIT,
    "--on files FILE": "Encode this text, and show its statistics; '-' is standard input. Repeat "
    "for more.",
    **ON_BINARY,
    "--longest N": "The number of longest tokens to show.",
    "--reachability": "For each token, find a text that becomes it, or prove that none does.",
}


@click.command("inspect", epilog=TOKEN_ESCAPES)
@click.argument("vocab", shell_complete=complete_vocabulary)
@options_of(HELPS)
@format_option("text", "json")
@picture_option("--plot", "the lengths and scripts of the tokens by rank")
@backend_option
def inspect_command(
    *,
    vocab: str,
    preset: Preset | None,
    files: tuple[str, ...],
    binary: bool,
    longest: Annotated[int, click.IntRange(min=0)] = 10,
    reachability: bool,
    output_format: str,
    plot: Path | None,
    backend: BackendName | None,
) -> None:
    """Show the contents of VOCAB, a vocabulary file or the name of a vocabulary on this machine.

    With --on, show for each text and for all together the numbers of bytes, pre-tokens and tokens,
    the bytes per token, and how many different tokens are used (added tokens do not count). Special
    tokens in the text are ordinary text.
    """
    tokenizer = load(vocab, preset, backend)
    record = _record(tokenizer, vocab, preset is not None, longest)
    if files:
        record["on"] = _measured(tokenizer, files, binary)
    if reachability:
        record["reachability"] = reachability_record(tokenizer)
    record["caches"] = {"limit_mb": tokenizer.cache_mb, "bytes": tokenizer.cache_bytes}
    write([f"{json.dumps(record, indent=2)}\n"] if output_format == "json" else _as_text(record))
    if plot is not None:
        with picture_errors("--plot"):
            draw_ranks(ranks(tokenizer), plot)


def _record(tokenizer: bpe.Tokenizer, vocab: str, is_preset_given: bool, longest: int) -> Record:
    """Return the contents of the vocabulary `vocab` as a JSON object."""
    vocabulary = tokenizer.vocabulary
    split = tokenizer.pre_tokenizer
    ordinary = [token for token in tokenizer.added_tokens if not token.special]
    used = vocabulary.token_bytes.keys() | {token.id for token in tokenizer.added_tokens}
    tokens = nsmallest(longest, vocabulary.token_bytes.items(), key=lambda row: (-len(row[1]), row))
    return {
        "vocabulary": vocab,
        "files": _files(vocab),
        "ids": tokenizer.vocab_size,
        "unused_ids": tokenizer.vocab_size - len(used),
        "tokens": len(vocabulary.token_bytes),
        "merges": None if vocabulary.merges is None else len(vocabulary.merges),
        "ignore_merges": vocabulary.ignore_merges,
        "byte_ids": [vocabulary.byte_ids.get(byte) for byte in range(256)],
        "special_tokens": tokenizer.special_tokens,
        "added_tokens": {token.content: token.id for token in ordinary},
        "preset": tokenizer.preset.name if tokenizer.preset else None,
        "preset_source": tokenizer.preset.source if tokenizer.preset else None,
        "preset_from": "--preset" if is_preset_given else "the vocabulary",
        "unicode": split.unicode if isinstance(split, PreTokenizer) else None,
        "normalizer": None if tokenizer.normalizer is None else str(tokenizer.normalizer),
        "add_prefix_space": tokenizer.add_prefix_space,
        "template": tokenizer.template._asdict(),
        "longest": [
            {"id": id, "bytes": len(token), "token": token.decode("utf-8", ESCAPE)}
            for id, token in tokens
        ],
    }


def _files(vocab: str) -> list[Record]:
    """Return the path of each file of the vocabulary `vocab`, and the sha256 of a file."""
    paths = (Path(vocab),) if os.path.exists(vocab) else locate_vocabulary(vocab)
    return [
        {"path": str(path), "sha256": None if path.is_dir() else sha256_of(path)} for path in paths
    ]


def _measured(tokenizer: bpe.Tokenizer, files: Sequence[str], binary: bool) -> list[Record]:
    """Return a record for each of `files`, and, if there are several, one for all together."""
    records = []
    mergeable = np.fromiter(tokenizer.vocabulary.token_bytes, np.uint32)
    used_by_any = np.array([], np.uint32)
    for file in files:
        text = read_text(file, binary=binary)
        ids = tokenizer.encode_array(text, "text", errors=ESCAPE)
        used = np.intersect1d(ids, mergeable)
        used_by_any = np.union1d(used_by_any, used)
        size = len(text.encode("utf-8", ESCAPE))
        pre_tokens = len(tokenizer.pre_tokenizer.offsets(text)) - 1
        records.append(_measurement(file, size, pre_tokens, len(ids), len(used)))
    if len(records) > 1:
        size, pre_tokens, tokens = (
            sum(record[key] for record in records) for key in ("bytes", "pre_tokens", "tokens")
        )
        records.append(_measurement("total", size, pre_tokens, tokens, len(used_by_any)))
    return records


def _measurement(name: str, size: int, pre_tokens: int, tokens: int, distinct: int) -> Record:
    return {
        "text": name,
        "bytes": size,
        "pre_tokens": pre_tokens,
        "tokens": tokens,
        "bytes_per_token": size / tokens if tokens else None,
        "distinct_tokens": distinct,
    }


def _as_text(record: Record) -> Iterator[str]:
    """Yield the lines that show `record`."""
    for file in record["files"]:
        yield f"file        {one_line(file['path'])}\n"
        yield f"sha256      {file['sha256'] or 'none, it is a folder'}\n"
    # The source of a preset with compiled rules has the word "compiled", and says which patterns
    # they are. For a known preset, the name is enough.
    is_compiled = "compiled" in (record["preset_source"] or "")
    rows = {
        "ids": f"{record['ids']}, {record['unused_ids']} of them unused",
        "tokens": f"{record['tokens']}, {_how_merged(record)}",
        "byte ids": _describe_byte_ids(record["byte_ids"]),
        "special": _listed(record["special_tokens"]),
        "added": _listed(record["added_tokens"]),
        "preset": _describe_preset(record),
        "source": record["preset_source"] if is_compiled else "",
        "normalizer": record["normalizer"] or "none",
        "prefix": "a space, unless the text begins with one"
        if record["add_prefix_space"]
        else "none",
        "template": " ".join([*map(str, record["template"]["before"]), "text",
                              *map(str, record["template"]["after"])]),
        "caches": f"{record['caches']['bytes'] / (1 << 20):.1f} MB, at most "
        f"{record['caches']['limit_mb']:g} MB",
    }  # fmt: skip
    yield "".join(f"{label:10}  {value}\n" for label, value in rows.items() if value)
    escaper = Escaper(record["unicode"] or DEFAULT_VERSION)
    if record["longest"]:
        yield "\n     ID  LENGTH  LONGEST TOKENS\n"
    for token in record["longest"]:
        shown = escaper.each([token["token"]])[0]
        yield f"{token['id']:>7}  {token['bytes']:>6}  {QUOTE}{shown}{QUOTE}\n"
    if "reachability" in record:
        yield from reachability_lines(record["reachability"], escaper)
    if "on" in record:
        yield "\n" + "  ".join(f"{heading:>11}" for heading in HEADINGS) + "  TEXT\n"
    for row in record.get("on", ()):
        rate = row["bytes_per_token"]
        used = f"{row['distinct_tokens'] / record['tokens']:.1%}"
        cells = (
            *(row[key] for key in ("bytes", "pre_tokens", "tokens")),
            "" if rate is None else f"{rate:.3f}",
            f"{row['distinct_tokens']} {used:>5}",
        )
        yield "  ".join(f"{cell:>11}" for cell in cells) + f"  {one_line(row['text'])}\n"


def _how_merged(record: Record) -> str:
    """Return how merging makes the tokens of the vocabulary: by rank, or by listed merges."""
    if record["merges"] is None:
        return "merged by rank, which is the id"
    whole = (
        "; a pre-token that equals a token becomes this token without merges"
        if record["ignore_merges"]
        else ""
    )
    return f"made by {record['merges']} merges{whole}"


def _describe_preset(record: Record) -> str:
    unicode = f", Unicode {record['unicode']}" if record["unicode"] else ""
    return f"{record['preset'] or 'none'}{unicode} (from {record['preset_from']})"


def _describe_byte_ids(byte_ids: list[int | None]) -> str:
    ids = [id for id in byte_ids if id is not None]
    if not ids:
        return "none; characters that are no tokens become the unknown token"
    smallest, largest = min(ids), max(ids)
    if ids == list(range(smallest, smallest + 256)):
        return f"{smallest} to {largest}, in byte order"
    if largest - smallest == 255:
        return f"{smallest} to {largest}, not in byte order"
    return f"{len(ids)} ids from {smallest} to {largest}"


def _listed(tokens: dict[str, int]) -> str:
    """Return the number of tokens, and each token with its id, in order of ids.

    If there are more than MAX_LISTED tokens, "…" replaces those in the middle.
    """
    shown = [f"{one_line(token)} {id}" for token, id in sorted(tokens.items(), key=itemgetter(1))]
    if len(shown) > MAX_LISTED:
        shown[MAX_LISTED // 2 : -MAX_LISTED // 2] = ["…"]
    return f"{len(tokens)}: {', '.join(shown)}" if tokens else "none"
