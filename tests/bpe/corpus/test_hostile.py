"""Damaged and hostile corpora: CorpusError names the file and the field, or documents are right.

Every field of the manifest gets every wrong value, and every file every type of damage, in a
complete corpus and in one of an interrupted job.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from importlib.util import find_spec
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe.corpus import Corpus
from bpe.corpus.encode import DocumentEncoder
from bpe.corpus.fields import FieldError
from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.layouts.layout import npy_header
from bpe.corpus.manifest import load_manifest
from command_line import Call
from corpora import expected_ids, random_documents, tokenizer, write_json_lines
from support import TIMES, growth, sample

MISSING = object()
WRONG: list[Any] = [
    MISSING, None, True, False, -1, 1 << 63, 10**30, 0.5, float("nan"), float("inf"), "", "x",
    "../x", "/etc/passwd", [], [1], [None], [[]], {}, {"": {}},
    {"../x": {"bytes": 1, "sha256": "x"}},
]  # fmt: skip
TEXTS = random_documents(60, 21)
LAYOUT_OPTIONS: list[dict[str, Any]] = [
    {"layout": layout, **packing}
    for layout in LAYOUTS
    for packing in ({}, {"pack": 8, "pad": 0})
    if layout != "parquet" or find_spec("pyarrow")
]
OPTIONS: dict[str, Any] = {
    "special": "text", "eos": "<s>", "shard_tokens": 160, "validation": 0.3, "progress": False,
}  # fmt: skip


@pytest.fixture(params=LAYOUT_OPTIONS, ids=lambda options: "-".join(map(str, options.values())))
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A complete corpus with several shards."""
    path = write_json_lines(tmp_path / "a.jsonl", TEXTS)
    out = tmp_path / "out"
    bpe.corpus.tokenize(path, out, tokenizer("python"), **OPTIONS, **request.param)
    return out


def fields(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in `value`: names of members, and indices of items."""
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from fields(item, (*path, key))


def changed(manifest: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return the manifest with another value at `path`, or without the field for MISSING."""
    result = deepcopy(manifest)
    place = result
    for key in path[:-1]:
        place = place[key]
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return result


def cases(manifest: dict[str, Any], size: int) -> Iterator[tuple[tuple[Any, ...], Any]]:
    every = [(path, value) for path in fields(manifest) for value in WRONG]
    yield from sample(every, size)


def documents(folder: Path) -> list[list[int]]:
    """Return the documents of all splits, read in each way, in order of their ids."""
    found = Corpus(folder)
    rows = []
    for split in found.splits:
        count = found.document_count(split)
        one_by_one = [found.document(at, split).tolist() for at in range(count)]
        assert one_by_one == [ids.tolist() for ids in found.iter_documents(split)]
        lengths = np.concatenate([np.zeros(0, np.int64), *found.lengths(split)])
        assert lengths.tolist() == list(map(len, one_by_one))
        rows += one_by_one
    return sorted(rows)


EXPECTED = sorted(expected_ids(tokenizer("python"), TEXTS))


def refusal(read: Callable[[], Any], expected: Any = EXPECTED) -> str:
    """Return the message of the CorpusError of `read`.

    If it raises none, check that its result is `expected`, unless that is None, and return "".
    """
    try:
        found = read()
    except bpe.CorpusError as error:
        return str(error)
    assert expected in (None, found)
    return ""


def test_every_field_of_a_manifest(corpus: Path, call: Call) -> None:
    path = corpus / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    assert documents(corpus) == EXPECTED
    refused = 0
    for number, (field, value) in enumerate(cases(manifest, 300)):
        path.write_text(json.dumps(changed(manifest, field, value)), encoding="utf-8")
        message = refusal(lambda: documents(corpus))
        refused += bool(message)
        named = (str(path), f"{corpus}: the corpus is incomplete")
        assert not message or message.startswith(named)
        if number % 20 == 0:
            status, _, errors = call("corpus-info", str(corpus))
            assert (status == 0) == (errors == "")
    assert refused > 200


def test_every_file(corpus: Path, tmp_path: Path) -> None:
    """The damage is reported, or by `verify` if only tokens are other valid tokens."""
    for path in sorted(corpus.iterdir()):
        if path.name == "manifest.json":
            continue
        data = path.read_bytes()
        outside = tmp_path / "outside"
        outside.write_bytes(data)
        damages: list[bytes | str | None] = [None, "folder", b"", data[:-1], data + b"x"]
        if os.name == "posix":
            damages += ["link", "pipe"]
        at = {*range(min(len(data), 160)), len(data) - 8, len(data) - 1}
        is_numbers = path.name.endswith(".offsets.npy")
        for index in sample(sorted(at), 12) if is_numbers or path.suffix == ".parquet" else ():
            flipped = bytes([data[index] ^ 0x41])
            damages.append(data[:index] + flipped + data[index + 1 :])
        for damage in damages:
            path.unlink()
            if damage == "folder":
                path.mkdir()
            elif damage == "link":
                path.symlink_to(outside)
            elif damage == "pipe":
                os.mkfifo(path)
            elif isinstance(damage, bytes):
                path.write_bytes(damage)
            assert path.name in [name for name, problem in Corpus(corpus).verify() if problem]
            # A Parquet file has no sums of all its bytes, so its tokens may be others.
            expected = None if path.suffix == ".parquet" else EXPECTED
            message = refusal(lambda: documents(corpus), expected)
            message = message or refusal(lambda: [Corpus(corpus).tokenizer()], None)
            assert message.startswith(str(path)) or path.suffix in (".parquet", ".idx")
            if path.is_dir():
                path.rmdir()
            path.unlink(missing_ok=True)
            path.write_bytes(data)
    assert documents(corpus) == EXPECTED


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 5, 3], "offset 2 is 3, below the previous one, 5; expected ascending offsets"),
        ([0, 1, 2], "expected offsets from 0 to 3, got 0 to 2"),
        ([1, 1, 3], "expected offsets from 0 to 3, got 1 to 3"),
        ([0, -1, 3], "offset 1 is -1, below the previous one, 0"),
        ([0, 1 << 62, 3], "offset 2 is 3, below the previous one, 4611686018427387904"),
        ([[0, 1, 3]], "expected the header"),
        ([0.0, float("nan"), 3.0], "expected the header"),
        ([0, 1, 3, 3], "expected 152 bytes, got 160"),
    ],
)
def test_wrong_offsets(tmp_path: Path, offsets: list[Any], message: str) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", ["x", "yz"])
    out = tmp_path / "out"
    bpe.corpus.tokenize(path, out, tokenizer("python"))
    place = out / "train-00000.offsets.npy"
    values = np.array(offsets)
    header = npy_header(values.dtype, values.shape)
    place.write_bytes(header + values.tobytes())
    with pytest.raises(bpe.CorpusError) as raised:
        bpe.corpus.Corpus(out).document(0)
    assert str(raised.value).startswith(f"{place}: {message}")


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name not in ("parquet", "bin")])
def test_an_id_that_the_vocabulary_lacks(tmp_path: Path, layout: str) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", ["xyz"])
    out = tmp_path / "out"
    bpe.corpus.tokenize(path, out, tokenizer("python"), layout=layout)
    place = out / f"train-00000{LAYOUTS[layout].suffix}"
    data = place.read_bytes()
    place.write_bytes(data[:-2] + b"\xff\xff")
    with pytest.raises(bpe.CorpusError, match=r"expected ids below 401, got id 65535"):
        bpe.corpus.Corpus(out).document(0)


# --- an interrupted job


def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> Path:
    """Begin a corpus, and interrupt the work after some shards."""
    monkeypatch.setattr("bpe.corpus.documents.BATCH", 400)
    monkeypatch.setattr("bpe.corpus.documents.BLOCK", 150)
    monkeypatch.setattr("bpe.corpus.work.CHECKPOINT", 300)
    encode = DocumentEncoder.encode
    calls = 0

    def failing(self: Any, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 7:
            raise KeyboardInterrupt
        return encode(self, batch)

    inputs = [
        write_json_lines(tmp_path / "a.jsonl", TEXTS[:30]),
        write_json_lines(tmp_path / "b.jsonl", TEXTS[30:]),
    ]
    folder = tmp_path / "begun"
    with monkeypatch.context() as patch:
        patch.setattr(DocumentEncoder, "encode", failing)
        with pytest.raises(KeyboardInterrupt):
            bpe.corpus.tokenize(inputs, folder, tokenizer("python"), threads=1, **options)
    return folder


def continued(inputs: list[Path], out: Path, options: dict[str, Any]) -> list[list[int]]:
    """Continue an interrupted job, and return its documents."""
    bpe.corpus.tokenize(inputs, out, tokenizer("python"), threads=1, **options)
    return documents(out)


@pytest.mark.parametrize("added", [
    {"layout": "npy"}, {"pack": 8, "pad": 0, "shuffle": 3},
], ids=["plain", "shuffled"])  # fmt: skip
def test_every_field_of_an_interrupted_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, added: dict[str, Any]
) -> None:
    options = OPTIONS | added
    begun = interrupted(tmp_path, monkeypatch, options)
    monkeypatch.setattr("os.fsync", lambda file: None)
    manifest = json.loads((begun / "manifest.json").read_text("utf-8"))
    assert manifest["progress"]["position"][1] > 0
    assert manifest["splits"]["train"] or "shuffle" in added
    inputs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    out = tmp_path / "out"
    damages: list[tuple[str, Any, Any]] = [
        ("manifest.json", field, value) for field, value in cases(manifest, 150)
    ]
    for path in sorted(begun.rglob("*.part")):
        name = str(path.relative_to(begun))
        damages += [(name, None, damage) for damage in ("missing", "folder", "short")]
        if path.name.endswith(".offsets.npy.part"):
            damages += [(name, None, "falling")]
    refused = 0
    for name, field, value in damages:
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(begun, out)
        path = out / name
        if field is not None:
            path.write_text(json.dumps(changed(manifest, field, value)), encoding="utf-8")
        else:
            damage(path, value)
        message = refusal(lambda: continued(inputs, out, options))
        refused += bool(message)
        assert not message or message.startswith((str(out), str(inputs[0])))
    assert refused > 0.8 * len(damages)


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how == "short":
        path.write_bytes(data[:-1])
    elif how == "falling":
        middle = len(data) - 16
        path.write_bytes(data[:middle] + b"\xff" * 8 + data[middle + 8 :])


def test_a_position_after_the_end_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = interrupted(tmp_path, monkeypatch, OPTIONS)
    path = begun / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["progress"]["position"][1] = 1000
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(
        bpe.CorpusError, match="lines, but by the manifest an earlier call has read"
    ):
        bpe.corpus.tokenize(
            [tmp_path / "a.jsonl", tmp_path / "b.jsonl"], begun, tokenizer("python"), **OPTIONS
        )


# --- messages and time


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (("splits",), [1], "splits: expected an object, got [1]"),
        (("splits", "train", 0, "name"), "../x", "splits.train[0].name: expected 'train-00000', "),
        (("splits", "train", 0, "files"), None, "splits.train[0].files: expected an object, got "),
        (("splits", "train", 0, "tokens"), 1, "splits.train[0].files['train-00000.bin'].bytes: "),
        (("splits", "val"), [], "splits: expected the splits ['train'], got ['train', 'val']"),
        (("options", "layout"), "tar", "options.layout: expected 'bin' or 'llmc' or"),
        (("options", "pack"), 0, "options.pack: expected an integer from 1 to"),
        (("inputs", 0, "bytes"), "1", "inputs[0].bytes: expected an integer from 0 to"),
        (("documents",), 5, "documents: expected 2, the sum of all shards, got 5"),
        (("progress",), None, "progress: expected an object, got None"),
        (("more",), 1, "more: unknown field"),
        (("complete",), MISSING, "complete: the field is missing"),
    ],
)
def test_messages(tmp_path: Path, field: tuple[Any, ...], value: Any, message: str) -> None:
    source = write_json_lines(tmp_path / "a.jsonl", ["x", "y"])
    out = tmp_path / "out"
    bpe.corpus.tokenize(source, out, tokenizer("python"))
    path = out / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(changed(manifest, field, value)), encoding="utf-8")
    with pytest.raises(bpe.CorpusError) as raised:
        Corpus(out)
    assert str(raised.value).startswith(f"{path}: {message}")
    assert str(raised.value).endswith("restore it, or make the corpus again")


def test_a_path_in_an_error_has_each_level() -> None:
    error = FieldError("bad").within("c").within("[2]").within("a").within("b")
    assert (error.path, str(error)) == ("b.a[2].c", "b.a[2].c: bad")


@pytest.mark.parametrize("grown", ["inputs", "splits"])
def test_reading_a_manifest_takes_linear_time(tmp_path: Path, grown: str) -> None:
    source = write_json_lines(tmp_path / "a.jsonl", ["x"] * 3)
    out = tmp_path / "out"
    bpe.corpus.tokenize(source, out, tokenizer("python"), shard_tokens=1)
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    first = manifest["splits"]["train"][0]

    for size in (2000, 2000 * TIMES):
        if grown == "inputs":
            manifest["inputs"] = manifest["inputs"][:1] * size
        else:
            manifest["splits"]["train"] = [numbered(first, index) for index in range(size)]
            manifest["tokens"] = manifest["documents"] = size
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    def read(size: int) -> None:
        assert load_manifest(tmp_path / str(size)) is not None

    assert growth(read, 2000) < 2.6 ** log2(TIMES)


def numbered(shard: dict[str, Any], index: int) -> dict[str, Any]:
    """Return the description of a shard with another number."""
    name = f"train-{index:05}"
    files = {file.replace("train-00000", name): about for file, about in shard["files"].items()}
    return {**shard, "name": name, "first_document": index, "files": files}
