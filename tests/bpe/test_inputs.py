"""Finding input files: which files a folder gives, and which are left out and why."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe.inputs import find_inputs, format_of, names_files
from corpora import tokenizer

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
FILES = {
    "a.txt": b"text",
    "b.MD": b"# text",
    "c.py": b"text",
    "d/e.py": b"text",
    "d/f.py.gz": gzip.compress(b"text"),
    "d/g.png": b"\x89PNG\0",
    "d/h.bin.gz": gzip.compress(b"\0"),
    "latin.py": b"caf\xe9",
    "LICENSE": b"text",
    "empty.py": b"",
    ".hidden.txt": b"text",
    ".git/x.txt": b"text",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "in"


@pytest.mark.parametrize(
    ("include", "names", "left_out"),
    [
        (
            (),
            "a.txt",
            {".py": 4, ".bin.gz": 1, ".md": 1, ".png": 1, ".py.gz": 1, "without suffix": 1},
        ),
        (
            "*.py",
            "c.py d/e.py empty.py latin.py",
            {".bin.gz": 1, ".md": 1, ".png": 1, ".py.gz": 1, ".txt": 1, "without suffix": 1},
        ),
        (
            ["*.py*", "LIC*"],
            "LICENSE c.py d/e.py d/f.py.gz empty.py latin.py",
            {".bin.gz": 1, ".md": 1, ".png": 1, ".txt": 1},
        ),
        (
            "*",
            "LICENSE a.txt b.MD c.py d/e.py d/f.py.gz empty.py latin.py",
            {".bin.gz (binary)": 1, ".png (binary)": 1},
        ),
    ],
)
def test_files_of_a_folder(
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    include: str | list[str],
    names: str,
    left_out: dict[str, int],
) -> None:
    found = find_inputs([folder], include)
    assert found.files == [str(folder / name) for name in names.split()]
    assert found.left_out == left_out
    assert [*found.left_out] == [*left_out]
    count = sum(left_out.values())
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"left out {count} files in folders: ")
    assert len(FILES) - 2 == count + len(found.files)
    # A message about --include '*' must not ask for --include '*'.
    last = "links to folders are not read" if include == "*" else "to read every text file"
    assert caplog.messages[0].endswith(last)


def test_nothing_is_said_if_nothing_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").touch()
    assert find_inputs([tmp_path]).left_out == {}
    assert not caplog.messages


def test_a_folder_without_files_says_what_it_has(folder: Path) -> None:
    with pytest.raises(
        bpe.TextFileError, match=r"d: no file to read; left out 4 files in folders: 1 .bin"
    ):
        find_inputs([folder / "d"])
    with pytest.raises(bpe.TextFileError, match=r"only names that match '\*\.rs' are read; pass "):
        find_inputs([folder], "*.rs")


@pytest.mark.parametrize("include", [None, 5, b"*.md", [None], ["*.md", b"*.py"]])
def test_patterns_are_texts(folder: Path, include: Any) -> None:
    with pytest.raises(TypeError, match=r"include has .*; expected a glob pattern such as"):
        find_inputs([folder], include)
    with pytest.raises(TypeError, match=r"include has .*; expected a glob pattern such as"):
        bpe.train([folder], 300, include=include)


def test_a_pattern_may_match_a_folder_and_its_files(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(bpe.TextFileError, match=r"no file to read; left out 4 files in folders"):
        find_inputs([folder / "[d]*"])
    found = find_inputs([folder / "[abcd]*"])
    assert found.files == [str(folder / name) for name in ("a.txt", "b.MD", "c.py")]
    assert found.left_out == {".bin.gz": 1, ".png": 1, ".py": 1, ".py.gz": 1}
    (folder / "d" / "g.png").unlink()
    (folder / "d" / "h.bin.gz").unlink()
    assert find_inputs([folder / "[d]" / "**"]).left_out == {}
    assert len(caplog.messages) == 1


def test_many_suffixes_are_shortened(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for index in range(12):
        (tmp_path / f"a.x{index}").touch()
    (tmp_path / "a.txt").touch()
    find_inputs([tmp_path])
    assert " and 4 more suffixes; only .txt" in caplog.messages[0]


@posix
def test_links_and_pipes(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").touch()
    (tmp_path / "in" / "b.txt").symlink_to(tmp_path / "other" / "a.txt")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "other")
    found = find_inputs([tmp_path / "in"])
    assert (len(found.files), found.left_out) == (1, {"link to a folder": 1})
    os.mkfifo(tmp_path / "pipe")
    assert find_inputs([tmp_path / "pipe"]).files == [str(tmp_path / "pipe")]


@posix
def test_a_folder_that_cannot_be_read_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def refused(path: str) -> object:
        if str(path).endswith("d"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr("os.scandir", refused)
    with pytest.raises(PermissionError, match="Permission denied"):
        find_inputs([folder])


def test_formats() -> None:
    for name, format in {
        "a.txt": ".txt", "a.md": ".txt", "a": ".txt", "a.json": ".txt", "a.JSONL.gz": ".jsonl",
        "a.parquet.zst": ".parquet", "jsonl": ".txt", "a.txt.xz": ".txt",
    }.items():  # fmt: skip
        assert format_of(name) == format


@pytest.mark.parametrize(
    "text", ["", ".", "..", "/", "*", "**", "?", "a", "No. 5", "\n.txt", "x" * 9000]
)
def test_a_text_names_no_file(text: str) -> None:
    assert names_files(text) == ""


def test_a_corpus_says_what_was_left_out(folder: Path, tmp_path: Path) -> None:
    corpus = bpe.corpus.tokenize(
        folder / "d", tmp_path / "out", tokenizer("python"), include="*.py"
    )
    assert corpus.manifest.left_out == {".py.gz": 1, ".png": 1, ".bin.gz": 1}
    assert bpe.corpus.Corpus(tmp_path / "out").manifest.left_out == corpus.manifest.left_out
    with pytest.raises(
        bpe.TextFileError, match=r"latin\.py, line 1: byte 0xe9 at offset 3 is not UTF"
    ):
        bpe.corpus.tokenize(folder, tmp_path / "all", tokenizer("python"), include="*")
    corpus = bpe.corpus.tokenize(
        folder, tmp_path / "all", tokenizer("python"), include="*", skip_bad=True
    )
    assert (len(corpus), corpus.manifest.skipped) == (7, 1)
