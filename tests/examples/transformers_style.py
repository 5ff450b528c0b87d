"""Use bpe instead of a tokenizer of transformers: encode texts to padded arrays, and decode them.

    python transformers_style.py tokenizer.json lines.txt batches.npz --pad "<pad>" --max-length 512

Each line of lines.txt is a text. The .npz file has the arrays `input_ids` and `attention_mask`,
with a row for each text.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import bpe

Ids = NDArray[np.int64]


def encode_batch(
    tok: bpe.Tokenizer, texts: Sequence[str], pad: int, max_length: int | None = None
) -> dict[str, Ids]:
    """Return `input_ids` and `attention_mask` of shape (texts, longest), padded on the right.

    Works like `tokenizer(texts, padding=True, truncation=True, max_length=max_length)` of
    transformers. The tokens that tokenizer.json puts around a text are added, and truncation keeps
    them. Special tokens in a text become their ids. For texts of users, replace "allow" below by
    "text".
    """
    before, after = (np.array(ids, np.int64) for ids in tok.template)
    room = None if max_length is None else max_length - len(before) - len(after)
    if room is not None and room < 0:
        raise ValueError(f"max_length={max_length} is too small for the tokens around a text")
    ids, offsets = tok.encode_batch_array(texts, special="allow")
    rows = [
        np.concatenate([before, ids[start:end][:room], after]) for start, end in pairwise(offsets)
    ]
    lengths = np.array([len(row) for row in rows], np.int64)
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    input_ids = np.full(mask.shape, pad, np.int64)
    # np.concatenate needs at least one array, also if `texts` is empty.
    input_ids[mask] = np.concatenate([*rows, np.array([], np.int64)])
    return {"input_ids": input_ids, "attention_mask": mask.astype(np.int64)}


def decode_batch(tok: bpe.Tokenizer, input_ids: Ids, attention_mask: Ids) -> list[str]:
    """Return the texts, without padding and special tokens."""
    return [
        tok.decode(row[mask == 1], skip_special=True)
        for row, mask in zip(input_ids, attention_mask, strict=True)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Encode the lines of a file to arrays, and save them."""
    parser = argparse.ArgumentParser(description="Encode lines of text into padded arrays.")
    parser.add_argument("vocabulary", help="a tokenizer.json, or the folder of a model")
    parser.add_argument("lines", type=Path)
    parser.add_argument("arrays", type=Path, help="the .npz file to write")
    parser.add_argument("--pad", required=True, help="the token to pad with")
    parser.add_argument("--max-length", type=int)
    given = parser.parse_args(arguments)
    tok = bpe.load(given.vocabulary)
    texts = given.lines.read_text(encoding="utf-8").splitlines()
    batch = encode_batch(tok, texts, tok.token_id(given.pad), given.max_length)
    input_ids, mask = batch["input_ids"], batch["attention_mask"]
    np.savez(given.arrays, input_ids=input_ids, attention_mask=mask)
    print(f"{len(input_ids)} texts, {mask.sum()} ids, at most {input_ids.shape[1]} each")


if __name__ == "__main__":
    main()
