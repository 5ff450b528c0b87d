"""Input files and options for tests of bpe.corpus."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import hello_tokenizer
from bpe import Tokenizer
from pretok.machine.backend import BackendName
from support import seeded

END = hello_tokenizer.SPECIAL
WORDS = (
    "hello",
    " world",
    "'s",
    "12",
    "  ",
    "\n",
    "\r\n",
    "é",
    "中",
    "😀",
    "<s>",
    " ",
    "x",
    '"',
    "\\",
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["text", "te\\xt", "é", ""]) | st.text(max_size=3)
JSON_OBJECTS = st.dictionaries(NAMES, VALUES)
STRINGS = st.lists(st.sampled_from(["plain ASCII ", "\n", '"', "中", "é", "😀", "\0"]), max_size=30)


def tokenizer(backend: BackendName, **options: Any) -> Tokenizer:
    return hello_tokenizer.make(backend, **options)


def random_documents(count: int, seed: int, max_words: int = 12) -> list[str]:
    """Return random documents of up to `max_words` WORDS each, some of them empty."""
    chance = seeded(seed)
    return ["".join(chance.choices(WORDS, k=chance.randint(0, max_words))) for _ in range(count)]


def write_json_lines(path: Path, documents: Sequence[str], field: str = "text") -> Path:
    """Write documents to a .jsonl file, or to a .jsonl.gz or .jsonl.zst file."""
    lines = [
        json.dumps({"id": index, field: text}, ensure_ascii=index % 2 == 0)
        for index, text in enumerate(documents)
    ]
    return write(path, "".join(f"{line}\n" for line in lines).encode())


def write(path: Path, data: bytes) -> Path:
    """Write a file, compressed if its suffix is .gz or .zst."""
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = zstandard_frame(data)
    path.write_bytes(data)
    return path


def zstandard_frame(data: bytes) -> bytes:
    """Return `data` as a frame of Zstandard."""
    try:
        from compression import zstd
    except ImportError:
        import zstandard

        frame: bytes = zstandard.compress(data)
        return frame
    return bytes(zstd.compress(data))


def parquet_file(texts: list[Any], text_type: Any = None, **options: Any) -> bytes:
    """Return a Parquet file with the columns id and text."""
    import pyarrow
    from pyarrow import parquet

    text_type = text_type or pyarrow.string()
    ids = pyarrow.array(range(len(texts)), pyarrow.int64())
    table = pyarrow.table({"id": ids, "text": pyarrow.array(texts, text_type)})
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink, **options)
    return bytes(sink.getvalue())


def content(folder: Path) -> dict[str, bytes]:
    """Return the content of each file in `folder`."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def expected_ids(tokenizer: Tokenizer, documents: Sequence[str], **options: Any) -> list[list[int]]:
    """Return the ids of each document by `encode`, with END after them."""
    return [[*tokenizer.encode(text, "text", **options), END] for text in documents]
