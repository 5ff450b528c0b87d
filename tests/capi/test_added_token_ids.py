"""The C library gives added tokens the ids that Hugging Face's tokenizers gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe import BpeError
from c_library import CError, CLibrary, CTokenizer
from random_added_tokens import load_quietly, random_file, random_texts, refusal
from support import max_examples, seeded
from vocabulary_files import write


def test_the_c_library_gives_the_same_ids(tmp_path: Path, c_library: CLibrary) -> None:
    """It reads the .pretok file and the tokenizer.json."""
    random = seeded("added token ids in C")
    for _ in range(max_examples(40)):
        file = random_file(random)
        path = write(tmp_path / "tokenizer.json", file)
        if refusal(file):
            with pytest.raises(BpeError, match=refusal(file)):
                load_quietly(path)
            with pytest.raises(CError, match=r"twice, with|ids must be unique"):
                CTokenizer(c_library, path.read_bytes())
            continue
        ours = load_quietly(path)
        ours.save(tmp_path / "a.pretok")
        files = tmp_path / "a.pretok", path
        tokens = [CTokenizer(c_library, file.read_bytes()) for file in files]
        for text in random_texts(random):
            ids = ours.encode(text, "allow")
            for tokenizer in tokens:
                assert tokenizer.encode(text.encode(), "allow") == ids
                assert tokenizer.decode(ids) == ours.decode_bytes(ids)
