"""A patched tokenizer of transformers notices changes, also those made without the patch."""

from __future__ import annotations

import copy
import importlib
from contextlib import nullcontext
from typing import Any

import pytest

from huggingface_features import plain as plain_values

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("one_thread", "no_logs"),
]


def test_changes_between_two_calls_are_noticed(plain: Any) -> None:
    text = "the <s> fox"

    def results(tok: Any) -> list[Any]:
        found = [tok(text)]
        tok.split_special_tokens = True
        found.append(tok(text))
        tok.model_input_names = ["input_ids"]
        found.append(tok(text))
        tok.model_max_length = 2
        found.append(tok(text))
        tok.split_special_tokens = False
        tok._tokenizer.enable_truncation(3)
        found.append(tok(text))
        tok.add_tokens(["fox"])
        found.append(tok(text))
        tok._tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single="a:1 $A b:2", special_tokens=[("a", 1), ("b", 2)]
        )
        tok.model_input_names = ["token_type_ids", "input_ids"]
        return [plain_values(result) for result in [*found, tok(text)]]

    expected = results(copy.deepcopy(plain))
    with hf.patched():
        assert results(copy.deepcopy(plain)) == expected


def test_changes_without_the_patch_are_noticed(plain: Any) -> None:
    def results(tok: Any, patched: Any) -> list[Any]:
        text, found = "the <a> fox", []
        for change in (
            lambda: None,
            lambda: tok.add_tokens(["<a>"]),
            lambda: setattr(tok._tokenizer, "pre_tokenizer", tokenizers.pre_tokenizers.Digits()),
            lambda: setattr(tok._tokenizer, "model", tokenizers.models.BPE({"f": 0, "o": 1}, [])),
        ):
            change()
            with patched():
                found += [plain_values(tok(text)), tok._tokenizer.encode(text).ids]
        return found

    expected = results(copy.deepcopy(plain), nullcontext)
    assert results(plain, hf.patched) == expected


def test_patching_again_keeps_the_engine(plain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with hf.patched():
        expected = plain("the fox")["input_ids"]
    monkeypatch.setattr("bpe.compat.huggingface.state.build", None)
    monkeypatch.setattr("bpe.compat.huggingface.state.build_again", None)
    monkeypatch.setattr("bpe.compat.huggingface.state._engines", {})
    for _ in range(3):
        with hf.patched():
            assert plain("the fox")["input_ids"] == expected
            assert hf.engine(plain).name == "bpe"


def test_additions_after_changes_without_the_patch_are_noticed(plain: Any) -> None:
    def ids(tok: Any, patched: Any) -> list[list[int]]:
        with patched():
            found = [tok("the <a> fox 12")["input_ids"]]
            tok.add_tokens(["<b>"])
        tok._tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Digits()
        with patched():
            tok.add_tokens(["<a>"])
            found.append(tok("the <a> fox 12")["input_ids"])
        tok._tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        with patched():
            tok.add_tokens(["fox"])
            found.append(tok("the <a> fox 12")["input_ids"])
        return found

    expected = ids(copy.deepcopy(plain), nullcontext)
    assert ids(plain, hf.patched) == expected
