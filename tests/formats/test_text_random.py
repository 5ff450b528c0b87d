"""Random tokenizer.json files: ids, spans and texts equal those of Hugging Face's tokenizers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bpe
from bpe import BpeError
from random_text_models import random_file
from support import max_examples, seeded
from text_models import ADDED, PARTS, check, check_decoding, file_of
from vocabulary_files import added, huggingface, write

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")


def test_random_files(tmp_path: Path) -> None:
    random = seeded("random tokenizer.json")
    compared = 0
    for _ in range(max_examples(60)):
        file = random_file(random)
        path = write(tmp_path / "tokenizer.json", file)
        try:
            each = [bpe.load(path, backend="python"), bpe.load(path)]
        except BpeError:
            continue
        each[0].save(tmp_path / "saved.json")
        assert bpe.load(tmp_path / "saved.json", backend="python") == each[0]
        live = [tokenizers.Tokenizer.from_file(str(tmp_path / name))
                for name in ("tokenizer.json", "saved.json")]  # fmt: skip
        # `tokens` has no span for a space that ByteLevel puts before the text.
        has_spans = '"add_prefix_space": true' not in json.dumps(file["pre_tokenizer"])
        known = list(each[0].vocabulary.token_bytes)
        for _ in range(8):
            text = "".join(random.choices(PARTS, k=random.choice([2, 6, 20])))
            ids = live[0].encode(text, add_special_tokens=False).ids
            assert live[1].encode(text, add_special_tokens=False).ids == ids
            for ours in each:
                assert ours.encode_batch([text, text], "allow") == [ids, ids], file
                if has_spans:
                    check(ours, live[0], text)
                check_decoding(ours, live[0], random.choices(known, k=random.randrange(1, 12)))
        compared += 1
    assert compared > max_examples(60) * 2 // 3


def test_fallback_of_a_byte_level_model(tmp_path: Path) -> None:
    """A missing byte becomes the fallback tokens of the UTF-8 of its character, C4 A0 of "Ġ"."""
    names = {f"<0x{byte:02X}>": 10 + byte for byte in range(0xC0)} | {"<0xC4>": 300}
    vocab = {"a": 0, "b": 1, "ab": 2, "<unk>": 3, **names}
    changes = {"model_vocab": vocab, "model_merges": [["a", "b"]], "model_unk_token": "<unk>"}
    path = write(
        tmp_path / "tokenizer.json",
        huggingface(added_tokens=[], model_byte_fallback=True, **changes),
    )
    live = tokenizers.Tokenizer.from_file(str(path))
    ours = bpe.load(path)
    assert ours.backend == "python"
    for text in ("ab", "ab ab", " b\u00e9", "\x00a", "\u00ff"):
        check(ours, live, text)
    assert ours.encode(" ") == [300, 10 + 0xA0]


def test_saved_files_list_no_added_token_without_need(tmp_path: Path) -> None:
    """With ignore_merges, an entry "<W>" would be a whole pre-token even if no token matches."""
    word = added(len(file_of()["model"]["vocab"]), "<W>", single_word=True, special=False)
    changes = {"model_ignore_merges": True, "added_tokens": [*ADDED, word]}
    ours = bpe.load(write(tmp_path / "tokenizer.json", file_of(**changes)))
    ours.save(tmp_path / "saved.json")
    assert bpe.load(tmp_path / "saved.json") == ours
    saved = json.loads((tmp_path / "saved.json").read_text(encoding="utf-8"))
    assert "<W>" not in saved["model"]["vocab"]
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json"))
    for text in ("<W>", "a<W>", "<W>a <W>"):
        check(ours, live, text)
