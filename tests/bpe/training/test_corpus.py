"""Reading texts to train on: every type of file and source, and errors that name file and line."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pretok
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import TextFileError
from bpe.training import corpus
from bpe.training.corpus import read_texts
from bpe.training.counting import text_counter
from corpora import parquet_file
from pretok.machine.backend import BackendName
from support import seeded

ROWS: list[dict[str, Any]] = [
    {"text": "it's\nné 中"},
    {"text": ""},
    {"id": 1, "text": "a.txt"},
    {"text": "\ud83d\ude00"},
]


def packed(name: str, data: bytes) -> bytes:
    """Return `data` as the suffix of `name` says; compressed data has two members or frames."""
    if name.endswith(".gz"):
        half = len(data) // 2
        return gzip.compress(data[:half]) + gzip.compress(data[half:])
    if name.endswith(".zst"):
        zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
        compress = zstandard.ZstdCompressor(write_checksum=True).compress
        half = len(data) // 2
        return bytes(compress(data[:half]) + compress(data[half:]))
    return data


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(packed(name, data))
    return path


def read(source: Any, field: str = "text") -> list[bytes]:
    """Return the texts of a source as UTF-8."""
    found: list[bytes] = []
    for _, item in read_texts(source, field):
        found += map(encode_utf8, item) if isinstance(item, list) else [b"".join(item)]
    return found


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_texts_of_every_type_of_file(suffix: str, tmp_path: Path) -> None:
    text = ("Ein Text,\r\n\tné \U0001f600" * 90_000).encode() + b"\xff"
    plain = write(tmp_path, "a.txt" + suffix, text)
    lines = "\n".join(map(json.dumps, ROWS)).replace("\n", "\r\n\n", 1).encode()
    rows = write(tmp_path, "b.JSONL" + suffix, b"\xef\xbb\xbf" + lines)
    texts = [utf8_of(row["text"]) for row in ROWS]
    assert read(plain) == [text]
    assert read([rows, plain]) == [*texts, text]
    assert read(path for path in (plain, rows)) == [text, *texts]
    assert read(["first", plain, b"last"]) == [b"first", text, b"last"]
    assert read(write(tmp_path, "empty.txt" + suffix, b"")) == [b""]


def utf8_of(text: str) -> bytes:
    return text.encode("utf-16", "surrogatepass").decode("utf-16").encode()


def test_another_field(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"text": 1, "content": "x"}\n{"content": "y"}')
    assert read(path, "content") == [b"x", b"y"]


def test_long_lines_and_long_texts(tmp_path: Path) -> None:
    long = "né " * 1_500_000
    path = write(tmp_path, "a.jsonl", json.dumps({"text": long}).encode() + b"\n" + b'{"text":"x"}')
    assert read([path, long, long.encode()]) == [long.encode(), b"x", long.encode(), long.encode()]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"text": ', r"line 2: not JSON in UTF-8 \(Expecting value"),
        (b'{"text": "\xff"}', r"line 2: not JSON in UTF-8 \('utf-8' codec"),
        (b'["text"]', r"line 2: a JSON list; expected an object with a text under 'text'"),
        (b'{"body": "x"}', r"line 2: no 'text' among the keys \['body'\]; pass field="),
        (b'{"text": null}', r"line 2: 'text' is of type NoneType; expected a string"),
        (b"[" * 100_000, r"line 2: not JSON in UTF-8 \(.*recursion"),
    ],
)
def test_a_bad_line_is_named(line: bytes, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, "bad.jsonl", b'{"text": "fine"}\n' + line + b"\n")
    with pytest.raises(TextFileError, match=rf"bad\.jsonl, {said}"):
        read(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-9],
        lambda data: data[: len(data) // 3],
        lambda data: b"no such thing" + data,
        lambda data: data + b"rest that is no frame",
        lambda data: data[:200] + bytes(byte ^ 0x55 for byte in data[200:400]) + data[400:],
    ],
    ids=["end cut off", "cut to a third", "bytes before", "bytes after", "changed bytes"],
)
def test_damaged_files_are_named(
    suffix: str, damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    chance = seeded(3)
    path = write(tmp_path, f"a.txt{suffix}", bytes(chance.choices(b"abcdefgh", k=20_000)))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(TextFileError, match=rf"a\.txt{suffix}: truncated or damaged \(.+\)"):
        read(path)


@pytest.mark.parametrize("name", ["a.csv", "a.md", "a", "txt", "a.py.gz", "a.TXT.zst"])
def test_a_named_file_of_another_type_is_a_text(name: str, tmp_path: Path) -> None:
    assert read(write(tmp_path, name, b"x\ny")) == [b"x\ny"]


@pytest.mark.parametrize("name", ["a.png", "a", "a.bin.gz"])
def test_a_binary_file_is_refused_at_once(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, "fine.txt", b"x")
    binary = write(tmp_path, name, b"x" * 5 + b"\0")
    with pytest.raises(TextFileError, match=r": byte 5 is NUL, so the file is not a text; expect"):
        read_texts([path, binary], "text")
    assert read(write(tmp_path, "a.txt", b"\0")) == [b"\0"]


def test_a_missing_file_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        read_texts([tmp_path / "missing.txt"], "text")
    with pytest.raises(TextFileError, match=r"\*\.md: no file matches this pattern"):
        read_texts(tmp_path / "*.md", "text")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(TextFileError, match=r"folder\.txt: no file to read; expected files that"):
        read_texts([tmp_path / "folder.txt"], "text")


def test_folders_and_patterns(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "in").mkdir()
    for name in ("b.txt", "a.md", "c.jsonl"):
        write(tmp_path / "in", name, b'{"text": "x"}')
    text = b'{"text": "x"}'
    assert read(tmp_path / "in") == [text, b"x"]
    assert caplog.messages == [
        "left out 1 file in folders: 1 .md; only .txt, .jsonl and .parquet files are read; pass "
        "include='*' to read every text file"
    ]
    assert (
        read([tmp_path / "in" / "*"]) == read(iter([tmp_path / "in" / "*"])) == [text, text, b"x"]
    )
    assert read(["y", tmp_path / "in" / "[bc]*"]) == [b"y", text, b"x"]
    assert [list(texts) for _, texts in read_texts(tmp_path / "in", include="*.md")] == [[text]]
    with pytest.raises(TextFileError, match="the inputs have this file twice"):
        read([tmp_path / "in", tmp_path / "in" / "b.txt"])


@pytest.mark.parametrize("size", [1, 5000])
def test_rows_of_a_parquet_file(tmp_path: Path, size: int) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    texts = [f"né {index}" for index in range(size)]
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet_file(texts))
    assert read(path) == [text.encode() for text in texts]
    path.write_bytes(parquet_file([*texts, None]))
    with pytest.raises(TextFileError, match=rf"a\.parquet, row {size + 1}: 'text' is null; expect"):
        read(path)
    with pytest.raises(TextFileError, match=r"no column 'body' among"):
        read(path, "body")


def test_zst_without_a_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "a.txt.zst").write_bytes(b"x")
    with pytest.raises(ModuleNotFoundError, match="pip install zstandard"):
        read(tmp_path / "a.txt.zst")


def test_the_name_of_a_file_is_refused_as_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a.txt", b"x")
    write(tmp_path, "B.JSONL.GZ", b"x")
    write(tmp_path, "n.md", b"x")
    (tmp_path / "in").mkdir()
    for name, what in (
        ("a.txt", "the name of a file"),
        ("n.md", "the name of a file"),
        ("B.JSONL.GZ", "the name of a file"),
        (str(tmp_path / "a.txt"), "the name of a file"),
        ("in/", "the name of a folder"),
        ("./in", "the name of a folder"),
        (str(tmp_path), "the name of a folder"),
        ("*.txt", "a glob pattern of files"),
        ("./[an].*", "a glob pattern of files"),
    ):
        for source in (["text", name], iter(["text", name])):
            with pytest.raises(ValueError, match=rf"is {what}; pass pathlib\.Path\("):
                read(source)
        with pytest.raises(TypeError, match=rf"got one str, .*, which is {what}; pass \[text\]"):
            read(name)
    with pytest.raises(ValueError, match="is the name of a file"):
        read(["text"] * 1000 + ["a.txt"])
    texts: list[str | bytes] = [
        "b.txt",
        "a.txt\n",
        "a",
        b"a.txt",
        "\0.txt",
        "in",
        "*",
        ".",
        "/",
        "..",
        "no/*.md",
    ]
    assert read(texts) == [*map(encode_utf8, texts)]


@pytest.mark.parametrize("source", ["text", b"text", bytearray(b"text")])
def test_a_single_text_is_refused_as_a_source(source: object) -> None:
    with pytest.raises(
        TypeError, match=r"expected an iterable of texts or a pathlib.Path.*pass \[text\]"
    ):
        read(source)


@pytest.mark.parametrize("source", [5, None])
def test_a_source_that_cannot_be_iterated_is_refused(source: object) -> None:
    kind = type(source).__name__
    with pytest.raises(
        TypeError, match=rf"^expected an iterable of texts or a pathlib.Path, got {kind}$"
    ):
        read(source)


def test_an_indexed_source_needs_iter() -> None:
    class Rows:
        def __getitem__(self, index: int) -> str:
            return ["a", "b"][index]

    with pytest.raises(TypeError, match=r"got Rows; it has no __iter__, so pass iter\(source\)"):
        read(Rows())
    assert read(iter(Rows())) == [b"a", b"b"]


@pytest.mark.parametrize("item", [1, None, ["nested"], {"text": "x"}])
def test_the_type_of_an_item_that_is_not_a_text_is_named(item: object) -> None:
    message = f"^item 3: expected str, bytes .*; got {type(item).__name__}$"
    for before in (
        ["fine"] * 3,
        ["fine", bytearray(b"fine"), b"fine"],
        ["fine" * corpus.BLOCK] * 3,
    ):
        with pytest.raises(TypeError, match=message):
            read([*before, item])


def test_bytes_come_in_every_form() -> None:
    assert read([bytearray(b"ab"), memoryview(b"c"), memoryview(b"abcd")[::2]]) == [
        b"ab",
        b"c",
        b"ac",
    ]


def test_texts_are_read_little_by_little(backend: BackendName) -> None:
    """Counting 100 texts takes less memory than the texts, which are read one after the other."""
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for taken in range(100):
            yield f"{taken % 7} words in it " * (90_000 if backend == "native" else 100)

    read_texts(endless(), "text")
    assert taken == 0
    tracemalloc.start()
    try:
        counter = text_counter(pretok.get("gpt2", backend=backend), backend, 1)
        for _, item in read_texts(endless(), "text", backend=backend):
            if isinstance(item, list):
                counter.add(item)
            else:
                counter.add_blocks(item)
        words = dict(counter.finish().take())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken == 99
    assert sum(words.values()) == 100 * (360_001 if backend == "native" else 401)
    assert peak < 30 << 20


def test_files_are_read_little_by_little(
    backend: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, limit = 40 << 20, 24 << 20
    if backend == "python":  # Python takes about 34 times the size of a block
        monkeypatch.setattr(corpus, "BLOCK", 1 << 15)
        size, limit = 1 << 18, 4 << 20
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(size >> 16):
            stream.write(b"sixteen letters " * (1 << 12))
    tracemalloc.start()
    try:
        counter = text_counter(pretok.get("gpt2", backend=backend), backend, 1)
        for _, item in read_texts(path, "text"):
            assert not isinstance(item, list)
            counter.add_blocks(item)
        words = dict(counter.finish().take())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert words == {b"sixteen": 1, b" sixteen": (size >> 4) - 1, b" letters": size >> 4, b" ": 1}
    assert peak < limit
