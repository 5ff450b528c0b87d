"""Define `tokenize`, which makes a corpus on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable

from bpe.corpus.job import Inputs, make_corpus
from bpe.corpus.options import make_options
from bpe.corpus.reader import Corpus
from bpe.distributed.cluster import connected
from bpe.distributed.engine import RayEngine
from bpe.tokenizer import Tokenizer
from bpe.types import Special


def tokenize(
    inputs: Inputs,
    output: str | os.PathLike[str],
    tokenizer: Tokenizer,
    *,
    layout: str = "bin",
    dtype: str | None = None,
    bos: str | int | None = None,
    eos: str | int | None = None,
    add_special_tokens: bool = False,
    special: Special = "raise",
    field: str = "text",
    lines: bool = False,
    shard_tokens: int | None = None,
    pack: int | None = None,
    pad: str | int | None = None,
    shuffle: int | None = None,
    validation: float = 0.0,
    skip_bad: bool = False,
    max_text: int | None = None,
    include: str | Iterable[str] = (),
    progress: bool | None = None,
) -> Corpus:
    """Encode the documents of files on a Ray cluster, and write their ids to `output`.

    The arguments, the errors and the files are those of `bpe.corpus.tokenize`. Call `ray.init` for
    a running cluster first; otherwise Ray starts one on this machine. All nodes must have this
    package, and must find the inputs under the same names, as on a file system that they share.
    Only the calling process writes the output.

    Each node gets the tokenizer once. Ray repeats the tasks of lost workers and nodes, which gives
    the same files. If the calling process ends, the next call continues, on Ray or without it.
    """
    options = make_options(
        tokenizer, layout=layout, dtype=dtype, bos=bos, eos=eos,
        add_special_tokens=add_special_tokens, special=special, field=field, lines=lines,
        shard_tokens=shard_tokens, pack=pack, pad=pad, shuffle=shuffle, validation=validation,
        skip_bad=skip_bad, max_text=max_text,
    )  # fmt: skip
    engine = RayEngine(connected(), tokenizer)
    return make_corpus(inputs, output, tokenizer, options, engine, progress, include)
