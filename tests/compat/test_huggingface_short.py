"""Calls for one short text, and reads of the vocabulary, have the outcome of the real tokenizer.

These calls have code of their own in the stand-in once it has an engine.
"""

from __future__ import annotations

import gc
import importlib
import json
import weakref
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import huggingface_pairs as pairs
import text_models as models
import transformers_calls as calls
from huggingface_pairs import both, outcome, small
from support import max_examples, seeded

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")

IDS: tuple[Any, ...] = ([5], [0], [], (5,), [5, 6], [300, 9999], [9999], [True], [-1], [1 << 32],
                        [2.5], np.array([5]), 5, None, [None], [[5]], "5")  # fmt: skip
TEXTS: Any = (("the é", "fox <s>"), ("the", ""), ("", "é"), ("a", None), ("the", ["é"]),
         ("the", "x \ud800"), ("the quick brown fox", "日本 the quick"))  # fmt: skip
TOKENS: tuple[Any, ...] = ("the", "no such token", ["the", "Ġ", "no such token"], ("the", "é"), [],
                           ["the", "a"], None, [None], 5)  # fmt: skip


def _files(random: Random) -> list[str]:
    changes = random.choice(list(models.CASES.values()))
    return [pairs.random_tokenizer(random), json.dumps(models.file_of(**changes))]


def _assert_same(call: Callable[[Any], Any], toks: tuple[Any, Any], about: object) -> None:
    real, ours = (outcome(call, tok) for tok in toks)
    assert ours == real, about


@pytest.mark.parametrize("seed", range(max_examples(10)))
def test_one_short_text(seed: int) -> None:
    random = seeded(f"short {seed}")
    for serialized in _files(random):
        toks = both(serialized)
        _assert_same(lambda tok: tok.encode("the"), toks, serialized)  # builds the engine
        for _ in range(12):
            text, adds = pairs.random_text(random), random.random() < 0.5
            if random.random() < 0.4:
                for tok in toks:
                    tok.encode_special_tokens = adds
            if random.random() < 0.5:
                limit = random.randrange(16)
                for tok in toks:
                    tok.enable_truncation(limit)
            elif random.random() < 0.5:
                for tok in toks:
                    tok.no_truncation()
            about = serialized, text, adds
            _assert_same(lambda tok: tok.encode(text, add_special_tokens=adds), toks, about)  # noqa: B023
            pair = (text, pairs.random_text(random))
            call = lambda tok: tok.encode(*pair, add_special_tokens=adds)  # noqa: B023,E731
            _assert_same(call, toks, (about, pair))
            for name in ("encode_batch", "encode_batch_fast"):
                for batch in ([text], [pair], [[*pair]]):
                    call = lambda tok: getattr(tok, name)(batch, False, adds)  # noqa: B023,E731
                    _assert_same(call, toks, (about, batch))
            ids = [random.randrange(345) for _ in range(random.randrange(3))]
            _assert_same(lambda tok: tok.decode(ids, skip_special_tokens=adds), toks, ids)  # noqa: B023


@pytest.mark.parametrize("input", [("the", ""), ["the", "é"], ("the",), ("the", None), None, [[]]])
def test_inputs_that_may_be_pairs(input: Any) -> None:
    toks = both(small())
    for _ in range(2):
        _assert_same(lambda tok: tok.encode(input), toks, input)
        _assert_same(lambda tok: tok.encode("the", input), toks, input)
        _assert_same(lambda tok: tok.encode_batch([input]), toks, input)


@pytest.mark.parametrize("ids", IDS, ids=repr)
def test_ids_of_every_kind(ids: Any) -> None:
    toks = both(small())
    for _ in range(2):
        _assert_same(lambda tok: tok.decode(ids), toks, ids)
        _assert_same(lambda tok: tok.decode(ids, skip_special_tokens=1), toks, ids)


@pytest.mark.parametrize("seed", range(max_examples(20)))
@pytest.mark.parametrize("case", ["llama", "mistral", "metaspace", "clip"])
def test_streams_of_texts(case: str, seed: int) -> None:
    """The decoder joins the texts of tokens; the text of a token may depend on those before it."""
    random = seeded(f"texts {case} {seed}")
    added = [{"content": text, "special": special, **dict.fromkeys(pairs.FLAGS[:4], False)}
             for text, special in (("<0x41>", False), ("<x>", True), ("\u2581", False),
                                   ("x\ufffd", False), ("  ", False))]  # fmt: skip
    file = models.file_of(**models.CASES[case])
    for part in file["decoder"].get("decoders", ()):
        if part["type"] == "Strip":
            part["start"] = random.choice([1, 2])
    file["added_tokens"] += [{"id": 500 + at, **token} for at, token in enumerate(added)]
    real, ours = both(json.dumps(file))
    size = real.get_vocab_size()
    ids = [id for id in range(size) if real.id_to_token(id)]
    space = [real.token_to_id("\u2581")]
    marked = [id for id in ids if real.id_to_token(id).startswith(("\u2581", "<", " "))]
    for skip in (False, True):
        streams = pairs_of_streams(skip)
        done: list[int] = []
        for _ in range(150):
            done.append(random.choice(random.choice([ids, marked, space])))
            call = lambda stream_and_tok: stream_and_tok[0].step(stream_and_tok[1], done[-1])  # noqa: E731,B023
            theirs, mine = (outcome(call, each) for each in zip(streams, (real, ours), strict=True))
            assert mine == theirs, (skip, done)
            if isinstance(theirs, tuple):  # an error; programs start a new stream
                streams = pairs_of_streams(skip)
    assert hf.engine(ours).counts["tokenizers"] == 0


def pairs_of_streams(skips: bool) -> tuple[Any, Any]:
    """Return a real stream and ours."""
    decoders = importlib.import_module("tokenizers.decoders")
    return decoders.DecodeStream(skip_special_tokens=skips), hf.DecodeStream([], skips)


@pytest.mark.parametrize("settings", [{}, {"unk_token": "e"}, {"split_special_tokens": True}])
def test_reads_of_transformers(settings: dict[str, Any], tmp_path: Path) -> None:
    tok = calls.make(small(), {"pad_token": "a", **settings}, tmp_path)
    tok.add_tokens(["<new>"])
    tok.add_special_tokens({"additional_special_tokens": ["<s>"]})
    tok.model_max_length = 30

    def run(name: str, *args: Any, **options: Any) -> Any:
        value = getattr(tok, name)
        return outcome(lambda _: value(*args, **options) if callable(value) else value, tok)

    def everything() -> list[Any]:
        found = [run(name) for name in ("vocab_size", "all_special_ids", "eos_token_id",
                                        "pad_token_id", "num_special_tokens_to_add", "__len__",
                                        "added_tokens_encoder", "get_vocab")]  # fmt: skip
        found.append(repr(tok.added_tokens_decoder))
        found += [run("num_special_tokens_to_add", pair) for pair in (True, "x")]
        for tokens in TOKENS:
            found += [run("convert_tokens_to_ids", tokens), run("convert_tokens_to_string", tokens)]
        for ids in (5, [5, 6], (5,), np.array([5, 340]), [9999], None, True, "x", np.int64(5)):
            found += [run("convert_ids_to_tokens", ids, skip) for skip in (False, True)]
        for text in ("the", "the é <s>", "", "\ud800", "the quick " * 20, None, ["the"]):
            found += [run("tokenize", text), run("tokenize", text, add_special_tokens=True)]
            tok(text if isinstance(text, str) and text != "\ud800" else "", truncation=True)
            found += [run("tokenize", text), tok._tokenizer.truncation, tok._tokenizer.padding]
        return found

    expected = everything()
    with hf.patched():
        assert everything() == expected


def test_a_subclass_that_converts_tokens_itself(tmp_path: Path) -> None:
    plain = calls.make(small(), {}, tmp_path)

    class Own(type(plain)):  # type: ignore[misc]
        def _convert_token_to_id_with_added_voc(self, token: str) -> int:
            return 7

    plain.__class__ = Own
    with hf.patched():
        assert plain.convert_tokens_to_ids("the") == 7
        assert plain.convert_tokens_to_ids(["the", "a"]) == [7, 7]


def test_transformers_keeps_a_stand_in_as_long_as_its_tokenizer(tmp_path: Path) -> None:
    tok = calls.make(small(), {}, tmp_path)
    with hf.patched():
        view = weakref.ref(tok._tokenizer)
        gc.collect()
        assert view() is tok._tokenizer
        tok._tokenizer = hf.Tokenizer.from_str(small())
        assert tok._tokenizer is not view()
        gc.collect()
        assert view() is None
        view = weakref.ref(tok._tokenizer)
        del tok
        gc.collect()
        assert view() is None


def test_replaced_reads_are_used() -> None:
    _, ours = both(small())
    assert ours.token_to_id("the") != 7
    ours.token_to_id = lambda token: 7
    assert ours.token_to_id("the") == ours.real.token_to_id("the") == 7
    del ours.token_to_id
    assert ours.token_to_id("the") == ours.real.token_to_id("the") != 7


@pytest.mark.parametrize("seed", range(max_examples(10)))
def test_a_pair_of_transformers(seed: int, tmp_path: Path) -> None:
    random = seeded(f"pair {seed}")
    tok = calls.make(pairs.random_tokenizer(random), calls.random_settings(random), tmp_path)
    options: list[dict[str, Any]] = [
        {}, {"add_special_tokens": False}, {"truncation": True, "max_length": 9}, {"max_length": 3},
        {"truncation": "only_second", "max_length": 6}, {"truncation": True}, {"padding": True},
        {"return_tensors": "np"}, {"stride": 1, "truncation": True, "max_length": 5},
    ]  # fmt: skip

    def everything() -> list[Any]:
        found: list[Any] = []
        for text, pair in TEXTS:
            for each in options:
                for call in (
                    ("__call__", (text, pair), each),
                    ("__call__", (text,), {**each, "text_pair": pair}),
                    ("encode", (text, pair), each),
                    ("encode", (text,), {**each, "text_pair": pair}),
                ):
                    found.append((call, calls.outcome(tok, call)))
                    if each.keys() <= {"add_special_tokens", "truncation", "max_length"}:
                        backend = tok._tokenizer
                        found.append((backend.truncation, backend.padding))
        return found

    expected = everything()
    with hf.patched():
        assert everything() == expected
