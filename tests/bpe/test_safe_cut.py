"""Check that Tokenizer.safe_cut does not change the ids, for tokenizers whose tokens are text."""

from __future__ import annotations

from pathlib import Path

import pytest

import bpe
from pretok.machine.backend import BackendName
from text_models import CASES, SENTENCES, file_of
from vocabulary_files import write

PLAIN = " ".join(SENTENCES).replace("▁", " ")
TEXTS = [
    PLAIN * 4,
    PLAIN * 4 + " ",
    "the fox " * 90,
    f"{PLAIN}▁the fox",
    f"{PLAIN}<sep> the{PLAIN * 3}",
    "a " * 200 + "<s>" + " the" * 9,
]


@pytest.mark.parametrize("name", CASES)
def test_both_parts_have_the_ids_of_the_text(
    name: str, tmp_path: Path, backend: BackendName
) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[name]))
    # C++ cannot merge the tokens of all files.
    tokenizer = bpe.load(path, backend="python" if backend == "python" else None)
    for text in TEXTS:
        data = text.encode()
        for end in (len(data), len(data) - 7, len(data) // 2):
            # Whatever text follows: `cut` is a cut of the text up to `end`, and of all of it.
            cut = tokenizer.safe_cut(data[:end], "allow")
            ids = tokenizer.encode(data[:cut], "allow") + tokenizer.encode(data[cut:], "allow")
            assert ids == tokenizer.encode(data, "allow"), (text, end, cut)
