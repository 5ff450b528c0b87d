"""`pretok shrink`: the file, the maps, and messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bpe
from command_line import Call, error_of

TEXT = "the theme of the thesis, and the cat "


@pytest.fixture
def old(tmp_path: Path) -> bpe.Tokenizer:
    """A tokenizer, which is also in the file old.json."""
    tok = bpe.train([TEXT * 9], vocab_size=273, preset="gpt2", special_tokens=["<e>"])
    tok.save(tmp_path / "old.json")
    return tok


@pytest.fixture
def files(old: bpe.Tokenizer, tmp_path: Path) -> tuple[str, str]:
    """The arguments IN and OUT."""
    return str(tmp_path / "old.json"), str(tmp_path / "new.json")


def test_texts_and_maps(
    call: Call, old: bpe.Tokenizer, files: tuple[str, str], tmp_path: Path
) -> None:
    path, new_ids, old_ids = (tmp_path / name for name in ("a.txt", "new.npy", "old.npy"))
    path.write_text("the thesis", encoding="utf-8")
    options = ["--texts", str(path), "--new-ids", str(new_ids), "--old-ids", str(old_ids)]
    status, out, err = call("shrink", *files, *options)
    expected = old.shrink(texts=["the thesis"])
    assert (status, err) == (0, "")
    assert out == f"{files[1]}: {len(expected.old_ids)} tokens of 273\n"
    assert bpe.load(files[1]) == expected.tokenizer
    assert np.load(new_ids).tolist() == expected.new_ids.tolist()
    assert np.load(old_ids).tolist() == expected.old_ids.tolist()


def test_ids_and_sizes(
    call: Call, old: bpe.Tokenizer, files: tuple[str, str], tmp_path: Path
) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("260, 265\n", encoding="utf-8")
    assert call("shrink", *files, "--keep", str(ids), "--gaps", "-q") == (0, "", "")
    assert bpe.load(files[1]) == old.shrink([260, 265], gaps=True).tokenizer
    assert call("shrink", *files, "--keep", "-", "-q", stdin=b"260 265") == (0, "", "")
    assert bpe.load(files[1]) == old.shrink([260, 265]).tokenizer
    status, out, _ = call("shrink", *files, "-n", "260", "--drop-added")
    assert (status, out) == (0, f"{files[1]}: 260 tokens of 273\n")
    assert bpe.load(files[1]) == old.shrink(vocab_size=260, keep_added=False).tokenizer


@pytest.mark.usefixtures("old")
def test_errors(call: Call, files: tuple[str, str], tmp_path: Path) -> None:
    assert "pass --keep, --texts or --vocab-size" in error_of(call, "shrink", *files)
    assert "expected a file that ends in .npy" in error_of(
        call, "shrink", *files, "-n", "260", "--new-ids", "a.txt"
    )
    assert "--vocab-size 9; " in error_of(call, "shrink", *files, "-n", "9")
    ids = tmp_path / "ids.txt"
    ids.write_text("999", encoding="utf-8")
    assert "999" in error_of(call, "shrink", *files, "--keep", str(ids))
    assert not Path(files[1]).exists()
