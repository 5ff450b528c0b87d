"""Work continues after kill -9, Ctrl-C or a full disk; two processes cannot share a folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe.corpus.encode import DocumentEncoder
from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.lock import locked
from command_line import Call, environment, error_of, running
from corpora import content, random_documents, tokenizer, write, write_json_lines
from support import FULL, run_python, seeded

PARQUET = find_spec("pyarrow") is not None
PIPE = subprocess.PIPE
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")

PROGRAM = """
import json, os, signal, sys
import bpe
if "parquet" in sys.argv[1]:
    import pyarrow.parquet
    pyarrow.array([0])  # imports pandas, if installed; else each child would import it
from bpe.corpus import documents, parts, work as work_module
from bpe.corpus.shards import ShardWriter
documents.BATCH, documents.LONG, documents.BLOCK = 400, 400, 150
parts.PART, work_module.CHECKPOINT = 100, 1500
vocabulary, inputs, options, jobs = json.loads(sys.argv[1])
tokenizer = bpe.load(vocabulary)
os.fsync = lambda file: None  # slow, and not needed: the system keeps a killed process's writes
changes = 0
def work(folder, moment):
    # The process kills itself at its change number `moment` of files in `folder`.
    def change(event, arguments):
        global changes
        opens = event == "open" and "r" not in (arguments[1] or "r")
        if (opens or event in ("os.rename", "os.remove", "os.truncate", "append")) and \\
                str(arguments[0]).startswith(folder):
            changes += 1
            if changes == moment:
                os.kill(os.getpid(), signal.SIGKILL)
    append = ShardWriter._append
    def counted(self, *arguments):
        change("append", [folder])
        append(self, *arguments)
    sys.addaudithook(change)
    ShardWriter._append = counted
    bpe.corpus.tokenize(inputs, folder, tokenizer, progress=False, **options)
    with open(folder + ".changes", "w") as file:
        file.write(str(changes))
for folder, part in jobs:
    total = int(open(jobs[0][0] + ".changes").read()) if part else 0
    child = os.fork()
    if not child:
        work(folder, int(total * part) if part else None)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Do each job in a child process, and print its exit status.

A job is a folder, and the fraction of the work after which the child dies. With the fraction 0, the
child does not die. The first job must have the fraction 0: it counts the changes of files of the
whole work, and the fractions of later jobs are parts of this number.
"""


def run(
    vocabulary: Path, inputs: list[str], options: dict[str, Any], jobs: list[tuple[str, float]]
) -> list[int]:
    """Run PROGRAM; return the exit status of each job's child process."""
    arguments = json.dumps([str(vocabulary), inputs, options, jobs])
    done = run_python(PROGRAM, arguments, environment=environment())
    assert done.returncode == 0, done.stderr
    return list(map(int, done.stdout.split()))


@pytest.fixture
def work(tmp_path: Path) -> tuple[Path, list[str]]:
    """A vocabulary, and inputs with a long document."""
    vocabulary = tmp_path / "v.pretok"
    tokenizer("python").save(vocabulary)
    inputs = [
        write_json_lines(tmp_path / "a.jsonl.gz", random_documents(120, 11)),
        write(tmp_path / "b.txt", "".join(random_documents(150, 12)).encode()),
        write_json_lines(tmp_path / "c.jsonl", random_documents(120, 13)),
    ]
    return vocabulary, list(map(str, inputs))


@posix
@pytest.mark.parametrize("options", [
    {"validation": 0.3, "shard_tokens": 400, "layout": "parquet" if PARQUET else "megatron"},
    {"pack": 16, "pad": 0, "shuffle": 5, "shard_tokens": 300, "layout": "npy"},
], ids=["plain", "shuffled"])  # fmt: skip
def test_kill_and_continue(
    tmp_path: Path, work: tuple[Path, list[str]], options: dict[str, Any]
) -> None:
    vocabulary, inputs = work
    options = {"special": "text", "eos": "<s>", **options}
    chance = seeded(json.dumps(options))
    jobs = [(str(tmp_path / "whole"), 0.0)]
    for number in range(100 if FULL else 10):
        # The work in a folder may be killed several times, also after it was continued.
        for _ in range(chance.randint(1, 3)):
            jobs.append((str(tmp_path / f"out{number}"), chance.uniform(0.01, 0.99)))
        jobs.append((str(tmp_path / f"out{number}"), 0.0))
    statuses = run(vocabulary, inputs, options, jobs)
    assert statuses.count(-signal.SIGKILL) > len(jobs) / 3
    for (folder, moment), status in zip(jobs, statuses, strict=True):
        if moment == 0:
            assert status == 0
            assert content(Path(folder)) == content(tmp_path / "whole")


def test_control_c_keeps_the_work(
    tmp_path: Path, work: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary, inputs = work
    tok = bpe.load(vocabulary)
    bpe.corpus.tokenize(inputs, tmp_path / "whole", tok, special="text")
    monkeypatch.setattr("bpe.corpus.documents.BATCH", 400)
    monkeypatch.setattr("bpe.corpus.documents.LONG", 400)
    monkeypatch.setattr("bpe.corpus.documents.BLOCK", 150)
    monkeypatch.setattr(DocumentEncoder, "encode", interrupted_at(5))
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        bpe.corpus.tokenize(inputs, out, tok, special="text")
    progress = json.loads((out / "manifest.json").read_text("utf-8"))["progress"]
    assert progress["position"][1] > 0
    assert not (out / ".lock").exists()
    with pytest.raises(bpe.CorpusError, match="the corpus is incomplete"):
        bpe.corpus.Corpus(out)
    bpe.corpus.tokenize(inputs, out, tok, special="text")
    assert content(out) == content(tmp_path / "whole")


def test_work_continues_with_the_option_that_an_error_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bpe.corpus.documents.BATCH", 40)
    monkeypatch.setattr("bpe.corpus.documents.BLOCK", 30)
    monkeypatch.setattr("bpe.corpus.documents.LONG", 100)
    monkeypatch.setattr("bpe.corpus.parts.PART", 50)
    tok = tokenizer("python")
    rows = [f'{{"text": "hello {index}"}}\n' for index in range(30)]
    rows[12] = '{"text": "a <s>"}\n'
    rows[18] = f'{{"text": "{"long" * 125}"}}\n'
    rows[24] = '{"text": 5}\n'
    path = write(tmp_path / "a.jsonl", "".join(rows).encode())
    options: dict[str, Any] = {"max_text": 300}
    steps: list[tuple[str, str, object]] = [
        ("line 13: the document holds the special token", "special", "text"),
        ("line 19: the document has more than 300 bytes", "max_text", 1000),
        ("line 25: 'text' is of type int", "skip_bad", True),
    ]
    done = 0
    for message, option, value in steps:
        with pytest.raises((bpe.CorpusError, bpe.TextFileError), match=message):
            bpe.corpus.tokenize(path, tmp_path / "out", tok, **options)
        saved = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
        assert saved["documents"] > done
        done = saved["documents"]
        options[option] = value
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tok, **options)
    assert corpus.manifest.skipped == 1
    bpe.corpus.tokenize(path, tmp_path / "whole", tok, **options)
    assert content(tmp_path / "out") == content(tmp_path / "whole")
    for option, value in (("special", "allow"), ("skip_bad", False), ("max_text", 2000)):
        with pytest.raises(bpe.CorpusError, match=f"{option}=.* pass the same value"):
            bpe.corpus.tokenize(path, tmp_path / "out", tok, **options | {option: value})


def interrupted_at(call: int) -> Any:
    """Return a replacement of DocumentEncoder.encode whose call number `call` is interrupted."""
    encode = DocumentEncoder.encode
    calls = 0

    def encode_or_fail(self: Any, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return encode(self, batch)

    return encode_or_fail


def test_changed_inputs_continue_only_if_they_were_not_read(
    tmp_path: Path, work: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary, inputs = work
    tok = bpe.load(vocabulary)
    monkeypatch.setattr("bpe.corpus.documents.BATCH", 400)
    monkeypatch.setattr("bpe.corpus.documents.BLOCK", 150)
    out = tmp_path / "out"
    inputs = inputs[::-1]

    def begin() -> None:
        shutil.rmtree(out, ignore_errors=True)
        with monkeypatch.context() as patch:
            patch.setattr(DocumentEncoder, "encode", interrupted_at(5))
            with pytest.raises(KeyboardInterrupt):
                bpe.corpus.tokenize(inputs, out, tok, special="text", threads=1)
        progress = json.loads((out / "manifest.json").read_text("utf-8"))["progress"]
        assert progress["position"][0] == 0 < progress["position"][1]

    begin()
    Path(inputs[1]).write_bytes(b"changed")
    bpe.corpus.tokenize(inputs, out, tok, special="text")
    bpe.corpus.tokenize(inputs, tmp_path / "whole", tok, special="text")
    assert content(out) == content(tmp_path / "whole")
    begin()
    with open(inputs[0], "ab") as file:
        file.write(b'{"text": "more"}\n')
    with pytest.raises(
        bpe.CorpusError, match=r"bytes, modified .* bytes, modified .*; pass the same files"
    ):
        bpe.corpus.tokenize(inputs, out, tok, special="text")
    more = write_json_lines(tmp_path / "d.jsonl", ["x"])
    for others in (inputs[:2], [*inputs[:2], str(more)]):
        with pytest.raises(bpe.CorpusError, match="pass the same files, unchanged, to continue"):
            bpe.corpus.tokenize(others, out, tok, special="text")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"field": "body"}, {}),
        ({"field": "body", "shuffle": 3, "validation": 0.2}, {"layout": "npy"}),
        ({"field": "body", "skip_bad": True}, {}),
        ({"max_text": 1}, {"lines": True}),
        ({}, {"special": "text", "pack": 4, "pad": 0}),
    ],
)
def test_a_corpus_without_documents_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: dict[str, Any], second: dict[str, Any]
) -> None:
    monkeypatch.setattr("bpe.corpus.documents.LONG", 40)
    monkeypatch.setattr("bpe.corpus.documents.BLOCK", 30)
    monkeypatch.setattr("bpe.corpus.parts.PART", 20)
    path = write(tmp_path / "a.jsonl", b'{"text": "<s>' + b"hello " * 50 + b'"}\n{"text": "x"}\n')
    out, tok = tmp_path / "out", tokenizer("python")
    if first.get("skip_bad"):
        assert bpe.corpus.tokenize(path, out, tok, **first).manifest.skipped == 2
    else:
        with pytest.raises((bpe.TextFileError, bpe.CorpusError)):
            bpe.corpus.tokenize(path, out, tok, **first)
    assert (out / "manifest.json").exists()
    options = {"special": "text", **second}
    bpe.corpus.tokenize(path, out, tok, **options)
    bpe.corpus.tokenize(path, tmp_path / "whole", tok, **options)
    assert content(out) == content(tmp_path / "whole")


@pytest.mark.parametrize(
    ("layout", "limit", "asked"),
    [("megatron", "max_row", {"pack": 8, "pad": 0}), ("llmc", "max_shard", {"shard_tokens": 50})],
)
def test_a_limit_of_a_layout_asks_for_an_option_that_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, limit: str, asked: dict[str, Any]
) -> None:
    monkeypatch.setattr(LAYOUTS[layout], limit, 60)
    monkeypatch.setattr("bpe.corpus.documents.BATCH", 100)
    monkeypatch.setattr("bpe.corpus.work.CHECKPOINT", 100)
    texts = ["x"] * 40 + ["12 12 ' " * 10 + "\n x" * 10 if limit == "max_row" else "x"] * 40
    path = write_json_lines(tmp_path / "a.jsonl", texts)
    out, tok = tmp_path / "out", tokenizer("python")
    with pytest.raises(bpe.CorpusError, match=r"pass (pack|a smaller shard_tokens)="):
        bpe.corpus.tokenize(path, out, tok, layout=layout)
    bpe.corpus.tokenize(path, out, tok, layout=layout, **asked)
    bpe.corpus.tokenize(path, tmp_path / "whole", tok, layout=layout, **asked)
    assert content(out) == content(tmp_path / "whole")


def test_a_repaired_file_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpe.corpus.documents.BATCH", 100)
    out, tok = tmp_path / "out", tokenizer("python")
    inputs = [
        write_json_lines(tmp_path / "a.jsonl", ["hello"] * 30),
        write(tmp_path / "b.txt", b"caf\xe9"),
    ]
    with pytest.raises(bpe.TextFileError, match="convert the file to UTF-8"):
        bpe.corpus.tokenize(inputs, out, tok)
    assert json.loads((out / "manifest.json").read_text("utf-8"))["documents"] > 0
    inputs[1].write_bytes("café".encode())
    bpe.corpus.tokenize(inputs, out, tok)
    bpe.corpus.tokenize(inputs, tmp_path / "whole", tok)
    assert content(out) == content(tmp_path / "whole")


@posix
def test_a_full_disk_leaves_no_whole_shard(tmp_path: Path, work: tuple[Path, list[str]]) -> None:
    """A limit on the size of files imitates a full disk: writing fails in the middle."""
    import resource

    vocabulary, inputs = work
    out = tmp_path / "out"
    arguments = ["tokenize", *inputs, "-v", str(vocabulary), "--special", "text", "-o", str(out)]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    with running(*arguments, preexec_fn=limit, stderr=PIPE) as process:
        assert process.communicate()[1].decode() == f"pretok: error: {str(out)!r}: File too large\n"
    assert process.returncode == 2
    names = set(content(out))
    assert names - {"document.part"} == {
        "manifest.json", "tokenizer.pretok", "train-00000.bin.part", "train-00000.offsets.npy.part"
    }  # fmt: skip
    tok = bpe.load(vocabulary)
    bpe.corpus.tokenize(inputs, tmp_path / "whole", tok, special="text")
    bpe.corpus.tokenize(inputs, out, tok, special="text")
    assert content(out) == content(tmp_path / "whole")


def test_two_processes_in_one_folder(
    call: Call, tmp_path: Path, work: tuple[Path, list[str]]
) -> None:
    vocabulary, inputs = work
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["tokenize", *inputs, "-v", str(vocabulary), "--special", "text", "-o", str(out)]
    with locked(out):
        assert error_of(call, *arguments) == (
            f"{out}: another process writes to this folder; wait until it ends, or choose another "
            "folder"
        )
    assert list(out.iterdir()) == []
    with running(*arguments, stderr=PIPE) as first, running(*arguments, stderr=PIPE) as second:
        errors = [process.communicate()[1] for process in (first, second)]
    statuses = [first.returncode, second.returncode]
    assert 0 in statuses
    for status, message in zip(statuses, errors, strict=True):
        assert status == 0 or b"another process writes to this folder" in message
    bpe.corpus.tokenize(inputs, tmp_path / "whole", bpe.load(vocabulary), special="text")
    assert content(out) == content(tmp_path / "whole")


def test_folders_with_other_files_are_refused(tmp_path: Path, work: tuple[Path, list[str]]) -> None:
    vocabulary, inputs = work
    tok = bpe.load(vocabulary)
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.md").write_text("mine", encoding="utf-8")
    with pytest.raises(bpe.CorpusError, match="expected an empty folder"):
        bpe.corpus.tokenize(inputs, out, tok)
    assert list(content(out)) == ["notes.md"]
    with pytest.raises(bpe.CorpusError, match="is inside the output folder"):
        bpe.corpus.tokenize(inputs, tmp_path, tok)
