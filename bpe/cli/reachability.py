"""Show the reachability of tokens for `pretok inspect`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpe
from bpe.encoding.utf8 import ESCAPE
from pretok.cli.output import QUOTE, Escaper

EXAMPLES = 3
"""The number of tokens to show of each kind, except "alone"."""


def reachability_record(tokenizer: bpe.Tokenizer) -> dict[str, Any]:
    """Return the numbers of tokens by kind, and some tokens of each kind, as a JSON object."""
    found = bpe.reachability(tokenizer)
    examples: dict[str, list[dict[str, Any]]] = {}
    for record in found:
        shown = examples.setdefault(record.kind, [])
        if len(shown) < EXAMPLES and record.kind != "alone":
            shown.append(
                {
                    "id": record.id,
                    "token": record.token.decode("utf-8", ESCAPE),
                    "witness": _as_str(record.witness),
                    "reason": record.reason,
                }
            )
    return {"counts": found.counts, "examples": {k: v for k, v in examples.items() if v}}


def reachability_lines(record: dict[str, Any], escaper: Escaper) -> Iterator[str]:
    """Yield the lines that show the result of `reachability_record`."""
    yield "\n TOKENS  REACHABLE\n"
    for kind, size in record["counts"].items():
        if size:
            yield f"{size:>7}  {kind}\n"
        for row in record["examples"].get(kind, ()):
            token, witness = (
                f"{QUOTE}{escaper.each([row[key] or ''])[0]}{QUOTE}" for key in ("token", "witness")
            )
            in_text = "" if row["witness"] is None else f" in {witness}"
            reason = "" if kind in ("context", "added") else f": {row['reason']}"
            yield f"{'':9}{row['id']:>7} {token}{in_text}{reason}\n"


def _as_str(witness: str | bytes | None) -> str | None:
    return witness.decode("utf-8", ESCAPE) if isinstance(witness, bytes) else witness
