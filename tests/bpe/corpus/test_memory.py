"""The memory of a process that makes a corpus is bounded for documents of any size."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import bpe
from command_line import environment
from corpora import random_documents, tokenizer
from pretok.machine.backend import BackendName
from support import FULL, run_python

needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="needs /proc to read the peak memory"
)
LIMIT = 300 << 20
MEGABYTE = 1 << 20

PROGRAM = """
import json, sys
import bpe
vocabulary, path, folder, options = json.loads(sys.argv[1])
bpe.corpus.tokenize(path, folder, bpe.load(vocabulary), special="text", **options)
# Not ru_maxrss: a child inherits the peak of its parent.
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM")))
"""


def peak(folder: Path, path: Path, **options: object) -> int:
    """Return the peak memory, in bytes, of a process that makes a corpus of `path`."""
    vocabulary = folder / "v.pretok"
    tokenizer("python").save(vocabulary)
    arguments = json.dumps([str(vocabulary), str(path), str(folder / path.stem), options])
    done = run_python(PROGRAM, arguments, environment=environment())
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def text_file(path: Path, size: int) -> Path:
    part = "".join(random_documents(20_000, 41)).encode()
    with open(path, "wb") as file:
        for _ in range(size // len(part) + 1):
            file.write(part)
    return path


def empty_documents(path: Path, count: int) -> Path:
    path.write_bytes(b'{"text": ""}\n' * count)
    return path


@needs_proc
@pytest.mark.usefixtures("native")
def test_memory_is_bounded(tmp_path: Path) -> None:
    document = text_file(tmp_path / "document.txt", (2048 if FULL else 48) * MEGABYTE)
    assert peak(tmp_path, document, pack=2048, pad=0) < LIMIT
    empty = empty_documents(tmp_path / "empty.jsonl", 1_000_000 if FULL else 100_000)
    assert peak(tmp_path, empty, shuffle=1) < LIMIT
    corpus = bpe.corpus.Corpus(tmp_path / "empty")
    assert corpus.document_count() == (1_000_000 if FULL else 100_000)


@needs_proc
@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="minutes long: set PRETOK_FULL=1")
@pytest.mark.parametrize("layout", ["megatron", "npy"])
def test_memory_of_a_document_of_500_megabytes(
    native: BackendName, tmp_path: Path, layout: str
) -> None:
    document = text_file(tmp_path / "document.txt", 500 * MEGABYTE)
    assert peak(tmp_path, document, layout=layout, shuffle=3, skip_bad=True) < LIMIT
