"""Copies of a patched tokenizer of transformers share its engine while both are equal."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
replacements = importlib.import_module("bpe.compat.huggingface.replacements")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("one_thread", "no_logs"),
]


class Own:
    """An attribute that refers to the tokenizer that has it."""

    def __init__(self, tok: Any) -> None:
        self.tok = tok


def test_copies_share_the_engine_until_one_changes(tok: Any, reads: list[Any]) -> None:
    plain = copy.deepcopy(tok)
    with hf.patched():
        tok.add_tokens(["<new>"])
        tok("the")
        tok.own = Own(tok)
        seen: dict[int, Any] = {}
        copied = copy.deepcopy(tok, seen)
        assert seen[id(tok)] is copied
        assert copied.own.tok is copied
        del copied.own, tok.own
        both = copy.deepcopy([copied, copied])
        assert both[0] is both[1] is not copied
        assert type(copied._tokenizer) is hf.Tokenizer
        assert copied._tokenizer.real is not tok._tokenizer.real
        for each in (copied, both[0]):
            assert each("the<new> fox").data == tok("the<new> fox").data
            assert (
                each._tokenizer._state.engine(each._tokenizer.real) is tok._tokenizer._state._engine
            )
        assert len(reads) == 1
        copied.add_tokens(["fox"])
        assert copied("the<new> fox").data != tok("the<new> fox").data
        assert pickle.dumps(both[0]) == pickle.dumps(tok)
    plain.add_tokens(["<new>"])
    assert pickle.dumps(plain) == pickle.dumps(tok) == pickle.dumps(copy.deepcopy(tok))
    assert "__deepcopy__" not in vars(replacements.patched_class())


def test_unpickled_tokenizers_share_the_engine_while_they_are_equal(
    tok: Any, reads: list[Any]
) -> None:
    with hf.patched():
        ids = tok("the fox")["input_ids"]
        loaded = pickle.loads(pickle.dumps(tok))
        assert loaded("the fox")["input_ids"] == ids
        engines = [each._tokenizer._state.current for each in (tok, loaded)]
        assert engines[0] is engines[1] is not None
        assert len(reads) == 2
