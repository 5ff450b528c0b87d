"""Each call of a patched tokenizer of transformers has the outcome of the plain tokenizer."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import os
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import huggingface_pairs as pairs
import transformers_calls as calls
from support import max_examples, need_native, seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("one_thread", "no_logs"),
]


@pytest.mark.parametrize("seed", range(max_examples(20)))
def test_random_calls_have_the_same_outcome(seed: int, tmp_path: Path) -> None:
    random = seeded(f"transformers {seed}")
    serialized, settings = pairs.random_tokenizer(random), calls.random_settings(random)
    plain = calls.make(serialized, settings, tmp_path)
    with hf.patched():
        ours = calls.make(serialized, settings, tmp_path)
    for _ in range(15):
        call = calls.random_call(random)
        expected = calls.outcome(plain, call)
        with hf.patched():
            assert calls.outcome(ours, call) == expected, call
        assert pickle.dumps(ours) == pickle.dumps(plain), call
        assert ours._tokenizer.to_str() == plain._tokenizer.to_str(), call


def test_existing_tokenizers_are_patched_and_restored(plain: Any) -> None:
    before, ids = pickle.dumps(plain), plain("the fox")["input_ids"]
    real = plain._tokenizer
    with hf.patched():
        assert isinstance(plain._tokenizer, tokenizers.Tokenizer)
        assert type(plain._tokenizer) is hf.Tokenizer
        assert plain._tokenizer is plain._tokenizer
        assert plain("the fox")["input_ids"] == ids
        assert hf.engine(plain).counts["bpe"] == 1
        assert pickle.dumps(plain) == before
        inside = pickle.loads(before)
        assert type(copy.deepcopy(plain)._tokenizer) is hf.Tokenizer
        hf.patch()
        hf.unpatch()
        assert type(plain._tokenizer) is hf.Tokenizer
    assert plain._tokenizer is real
    assert type(inside._tokenizer) is tokenizers.Tokenizer
    assert inside("the fox")["input_ids"] == ids


def test_saved_files_are_the_same(plain: Any, tmp_path: Path) -> None:
    plain.save_pretrained(tmp_path / "plain")
    with hf.patched():
        plain.save_pretrained(tmp_path / "ours")
    for path in (tmp_path / "plain").iterdir():
        assert (tmp_path / "ours" / path.name).read_bytes() == path.read_bytes()


def test_wrap_serves_one_tokenizer(plain: Any) -> None:
    ids = plain("the fox")["input_ids"]
    assert hf.wrap(plain) is plain
    assert plain("the fox")["input_ids"] == ids
    assert hf.engine(plain).counts["bpe"] >= 1
    for function in (hf.wrap, hf.engine):
        for other in ("the fox", 5, None, plain("the"), type(plain)):
            with pytest.raises(TypeError, match=r"expected a tokenizers\.Tokenizer"):
                function(other)


def test_python_alone_gives_the_same_results(plain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = "the fox", "", "é 🦙<s>", "lone \ud800", "the " * 600
    expected = [calls.outcome(plain, ("__call__", (text,), {})) for text in texts]
    for backend in ("native", "python"):
        if backend == "native":
            need_native()
        monkeypatch.setenv("PRETOK_BACKEND", backend)
        with hf.patched():
            tok = copy.deepcopy(plain)
            for _ in range(2):  # the first call prepares the other ones
                results = [calls.outcome(tok, ("__call__", (text,), {})) for text in texts]
                assert results == expected
            assert hf.engine(tok).counts == {"bpe": 8, "tokenizers": 2}


def test_a_text_needs_no_python_code(plain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    need_native()
    monkeypatch.setenv("PRETOK_BACKEND", "native")
    options: list[dict[str, Any]] = [
        {"return_offsets_mapping": spans, "add_special_tokens": adds}
        for spans in (False, True)
        for adds in (False, True)
    ]
    expected = [plain("the fox", **each).data for each in options]
    with hf.patched():
        for each in options:
            plain("the", **each)
        for name in ("ids", "ids_and_spans", "arrays", "row"):
            monkeypatch.setattr(f"bpe.compat.huggingface.bpe_engine.BpeEngine.{name}", None)
        assert [plain("the fox", **each).data for each in options] == expected
        assert plain.encode("the fox", add_special_tokens=False) == expected[0]["input_ids"]
        assert plain.encode("the fox") == expected[1]["input_ids"]
        assert hf.engine(plain).counts["bpe"] == 10


def test_settings_that_are_properties_are_read(plain: Any) -> None:
    class Own(type(plain)):  # type: ignore[misc]
        @property
        def model_input_names(self) -> list[str]:
            return ["input_ids"]

        @model_input_names.setter
        def model_input_names(self, names: list[str]) -> None:
            pass

    plain.__class__ = Own
    with hf.patched():
        for _ in range(2):
            assert list(plain("the")) == ["input_ids"]


def test_methods_keep_their_signatures(plain: Any) -> None:
    names = "__call__", "encode", "decode", "batch_decode"
    expected = [(inspect.signature(getattr(plain, name)), getattr(plain, name).__doc__)
                for name in names]  # fmt: skip
    with hf.patched():
        for name, (signature, doc) in zip(names, expected, strict=True):
            method = getattr(plain, name)
            assert (inspect.signature(method), method.__doc__) == (signature, doc)


def test_methods_of_a_subclass_are_used(plain: Any) -> None:
    class Own(type(plain)):  # type: ignore[misc]
        def _decode(self, *args: Any, **kwargs: Any) -> str:
            return "own"

        def _encode_plus(self, *args: Any, **kwargs: Any) -> Any:
            result = super()._encode_plus(*args, **kwargs)
            result["own"] = 1
            return result

    plain.__class__ = Own
    with hf.patched():
        assert plain.decode([5]) == "own"
        assert plain("the")["own"] == 1


def test_other_versions_of_transformers_have_no_short_methods(
    plain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, before = plain("the fox")["input_ids"], hf.fallbacks()
    with hf.patched():
        assert hf.engine(plain).reason == ""
    monkeypatch.setattr("bpe.compat.huggingface.short_methods.TESTED_VERSIONS", ())
    with hf.patched(strict=True):
        assert plain("the fox")["input_ids"] == plain.encode("the fox") == ids
        assert plain.decode(ids) == "the fox"
        engine = hf.engine(plain)
        assert (engine.name, engine.counts) == ("bpe", {"bpe": 3, "tokenizers": 0})
        assert engine.reason.endswith("so its own methods call bpe")
        assert hf.fallbacks()[engine.reason] - before.get(engine.reason, 0) == 3


@pytest.mark.parametrize("ids", [[], (), [5], 5, [[]], [[5], []], ([5],), np.zeros((0, 3), int)])
def test_batches_of_any_shape_decode_the_same(plain: Any, ids: Any) -> None:
    for name in ("decode", "batch_decode"):
        expected = calls.outcome(plain, (name, (ids,), {}))
        with hf.patched():
            assert calls.outcome(plain, (name, (ids,), {})) == expected, name


def test_checked_calls_find_a_difference(plain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = plain.encode("the fox")
    with hf.patched(check=1.0):
        assert plain("the fox")["input_ids"] == plain.encode("the fox") == ids
        assert plain(["the", "fox"], padding=True, return_tensors="np")["input_ids"].shape[0] == 2
        assert plain.decode(ids) == plain.batch_decode([ids])[0] == "the fox"
        assert hf.engine(plain).counts == {"bpe": 5, "tokenizers": 0}
        decoding = "bpe.compat.huggingface.decoding.Decoding"
        monkeypatch.setattr(f"{decoding}.short", lambda *arguments: "wrong")
        assert plain.decode(ids) == "the fox"
        assert hf.engine(plain).name == "tokenizers"
        assert "a result differed in the call decode(" in hf.engine(plain).reason


def test_flags_that_are_not_bool_have_the_same_outcome(plain: Any) -> None:
    texts: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("__call__", ("the",), {"add_special_tokens": 1}),
        ("encode", ("the",), {"add_special_tokens": None}),
        ("decode", ([5],), {"skip_special_tokens": 1}),
        ("batch_decode", ([[5]],), {"skip_special_tokens": None}),
        ("__call__", ("the",), {"split_special_tokens": 1}),
    ]
    for call in texts:
        expected = calls.outcome(plain, call)
        with hf.patched():
            assert calls.outcome(plain, call) == expected, call


@pytest.mark.parametrize("number", [np.int64(5), np.uint8(5), True, 2.5, -1])
@pytest.mark.parametrize("texts", ["the quick brown fox the", ["the quick brown fox", "the"]])
def test_lengths_that_are_not_int_have_the_same_outcome(
    plain: Any, number: Any, texts: Any
) -> None:
    for options in (
        {"truncation": True, "max_length": number},
        {"padding": "max_length", "max_length": number},
        {"padding": True, "pad_to_multiple_of": number},
        {"padding": True, "max_length": number},
        {"truncation": True, "padding": True, "max_length": number, "return_tensors": "np"},
    ):
        call = "__call__", (texts,), options
        expected = calls.outcome(plain, call)
        with hf.patched():
            assert calls.outcome(plain, call) == expected, options


@pytest.mark.skipif(
    tokenizers.__version__ == "0.23.1", reason="bpe does not serve truncation in 0.23.1"
)
def test_threads_do_not_share_their_truncation(plain: Any) -> None:
    text = "the quick brown " * 20

    def lengths(max_length: int) -> set[int]:
        return {
            len(plain(text, truncation=True, max_length=max_length)["input_ids"])
            for _ in range(max_examples(100))
        }

    with hf.patched(), ThreadPoolExecutor(8) as pool:
        for max_length, seen in zip(range(3, 11), pool.map(lengths, range(3, 11)), strict=True):
            assert seen == {max_length}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("parallelism", ["true", "false", None])
def test_a_fork_after_use_does_not_hang(
    plain: Any, parallelism: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    if parallelism is not None:
        monkeypatch.setenv("TOKENIZERS_PARALLELISM", parallelism)
    texts = ["the quick brown é " * 200] * 64
    with hf.patched():
        expected = plain(texts, return_offsets_mapping=True)["input_ids"]
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # kills a child that hangs
            same = plain(texts, return_offsets_mapping=True)["input_ids"] == expected
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_the_environment_variable_overrides_the_arguments(
    plain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = importlib.import_module("bpe.compat.huggingface.settings")
    for value, expected in {
        "": (False, 0.5), "on": (False, 0.5), "strict": (True, 0.5), "check=0.25": (False, 0.25),
        "strict, check=1": (True, 1.0), "off": (False, 0.0),
    }.items():  # fmt: skip
        monkeypatch.setenv("PRETOK_HF", value)
        with hf.patched(check=0.5):
            assert (settings.strict, settings.check) == expected
            assert (type(plain._tokenizer) is hf.Tokenizer) == (value != "off")
            with hf.patched(strict=True):
                pass
            assert (settings.strict, settings.check) == expected
            assert settings.current() == (*expected, False, False, 0.0)
    monkeypatch.setenv("PRETOK_HF", "factories,processes")
    with hf.patched():
        assert settings.current() == (False, 0.0, True, True, 0.0)
    assert settings.current() == settings.Options()
    for wrong in ("yes", "check=2", "check=x", "strict check"):
        monkeypatch.setenv("PRETOK_HF", wrong)
        with pytest.raises(ValueError, match=r"in PRETOK_HF, got '"):
            hf.patch()
    assert type(plain._tokenizer) is tokenizers.Tokenizer


def test_nothing_is_printed(plain: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with hf.patched():
        plain(["the fox", "é"], padding=True)
        hf.engine(plain)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("pad_type", [0, 1])
@pytest.mark.parametrize("first_type", [0, 1])
def test_arrays_of_type_ids(pad_type: int, first_type: int, tmp_path: Path) -> None:
    template = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "e", "type_id": first_type}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"e": {"id": "e", "ids": [68], "tokens": ["e"]}},
    }
    serialized = pairs.small(post_processor=template)
    tok = calls.make(serialized, {"pad_token": "e", "pad_token_type_id": pad_type}, tmp_path)
    texts = ["the fox", "the", "", "the quick brown fox"]
    for side in ("left", "right"):
        for adds in (True, False):
            options = {"return_tensors": "np", "return_token_type_ids": True, "padding": True,
                       "padding_side": side, "add_special_tokens": adds}  # fmt: skip
            for more in ({}, {"truncation": True, "max_length": 3}):
                call = "__call__", (texts,), options | more
                expected = calls.outcome(tok, call)
                assert "token_type_ids" in dict(expected["data"])
                with hf.patched():
                    assert calls.outcome(tok, call) == expected, call
    if tokenizers.__version__ != "0.23.1":  # with which all truncation falls back
        assert hf.engine(tok).counts["tokenizers"] == 0


def test_special_tokens_that_are_ordinary_text_and_whole_words(tmp_path: Path) -> None:
    file = json.loads(pairs.base())
    id = file["model"]["vocab"]["<s>"] = len(file["model"]["vocab"])
    file["model"]["ignore_merges"] = True
    file["added_tokens"] = [
        {"id": id, "content": "<s>", **dict.fromkeys(pairs.FLAGS, False), "special": True}
    ]
    file["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated", "invert": False},
            {**pairs.byte_level(add_prefix_space=False, trim_offsets=True), "use_regex": False},
        ],
    }
    tok = calls.make(json.dumps(file), {"split_special_tokens": True}, tmp_path)
    expected = [calls.outcome(tok, ("__call__", ("a <s>",), options)) for options in TEXT_OPTIONS]
    assert expected[0]["data"][0][1][-1] == id
    with hf.patched():
        for _ in range(3):
            outcomes = [calls.outcome(tok, ("__call__", ("a <s>",), each)) for each in TEXT_OPTIONS]
            assert outcomes == expected


@pytest.mark.parametrize("processor", [None, "BertProcessing", "RobertaProcessing"])
def test_calls_with_a_text_and_offsets(processor: str | None, tmp_path: Path) -> None:
    added: dict[str, Any] = {"type": processor, "sep": ["</s>", 2], "cls": ["<s>", 1]}
    if processor == "RobertaProcessing":
        added |= {"trim_offsets": True, "add_prefix_space": True}
    serialized = pairs.small(post_processor=added if processor else None)
    tok = calls.make(serialized, {"model_max_length": 9}, tmp_path)
    texts = "the quick  brown", " é 日本 🦙", "", " ", "lone \ud800", "the quick brown fox " * 9
    for _ in range(3):
        for text in texts:
            for options in TEXT_OPTIONS:
                call = "__call__", (text,), options
                expected = calls.outcome(tok, call)
                with hf.patched():
                    assert calls.outcome(tok, call) == expected, call
    assert hf.engine(tok).counts["bpe"] > 40


TEXT_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"return_offsets_mapping": True},
    {"return_offsets_mapping": False},
    {"return_offsets_mapping": 1},
    {"return_offsets_mapping": None},
    {"add_special_tokens": False},
    {"return_offsets_mapping": True, "add_special_tokens": False},
    {"add_special_tokens": 0},
)
"""The options of calls that C++ may answer, and some that it leaves to Python."""
