"""bpe.plots: the words in each picture, its file format, and errors."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import bpe
from bpe.plots import (
    check_picture,
    draw_comparison,
    draw_curves,
    draw_document_lengths,
    draw_ranks,
)
from bpe.plots.picture import SUFFIXES, short_names
from bpe.statistics import compare, curve, ranks

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    return tmp_path / "picture.svg"


def words_of(path: Path) -> set[str]:
    """Return the texts in a picture."""
    root = ElementTree.parse(path).getroot()
    return {"".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")}


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        check_picture(tmp_path / "no" / "a.svg")


def test_a_comparison(path: Path) -> None:
    tok = bpe.train(["ab ab"], vocab_size=257)
    vocabularies = {"x/a.json": tok, "y/a.json": tok, "c$1": tok, "_d": tok, "中文": tok}
    draw_comparison(compare(vocabularies, {"t.txt": "ab abc", "empty": ""}), path)
    labels = {"bytes per token", "tokens per word", "one-token words (%)"}
    assert words_of(path) >= {*vocabularies, "t.txt", "empty", *labels}


def test_curves(path: Path) -> None:
    tok = bpe.train(["the cat sat on the mat"], vocab_size=262)
    curves = {"training text": curve(tok, ["the cat sat"]), "held-out text": curve(tok, ["a cat"])}
    draw_curves(curves, path)
    labels = {"tokens in the vocabulary (256 bytes and merged tokens)", "bytes per token"}
    assert words_of(path) >= labels | curves.keys()
    first = path.read_bytes()
    draw_curves(curves, path)
    assert path.read_bytes() == first


def test_ranks(path: Path) -> None:
    draw_ranks(ranks(bpe.train(["the cat да да"], vocab_size=262)), path)
    assert words_of(path) >= {"length of the token (bytes)", "tokens", "length (bytes)", "median",
                              "rank (early merges first)", "tokens (%)", "Latin", "Cyrillic",
                              "no script", "incomplete character"}  # fmt: skip


def test_lengths_of_documents(path: Path) -> None:
    draw_document_lengths(2, np.array([3, 0, 1]), path)
    assert words_of(path) >= {"2", "4", "8", "documents"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_formats(path: Path, suffix: str) -> None:
    path = path.with_suffix(suffix.upper())
    draw_document_lengths(0, np.array([1]), path)
    start = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(start)


def test_names_stay_different_and_short() -> None:
    names = ["a/x.json", "b/x.json", "/c/b/x.json", "y", "long" * 20, "\x1b[2J"]
    assert list(short_names(names).values()) == [
        "a/x.json",
        "b/x.json",
        "b/x.json (3)",
        "y",
        "longlonglonglo…nglonglonglong",
        "\ufffd[2J",
    ]


def test_another_suffix_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected a name that ends in .svg, .png or .pdf"):
        check_picture("a.jpg")


def test_matplotlib_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        draw_document_lengths(0, np.array([1]), tmp_path / "a.png")
