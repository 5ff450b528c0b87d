"""Tokenizers of the WebAssembly module give the ids of Python, from files of each format."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import Tokenizer
from bpe.token_facts import TokenType
from gguf_files import gguf, metadata
from javascript import Calls, JsError, call, invalid_texts, texts, tokenizer
from paths import shared
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from vocabulary_files import write

END = "<|end|>"
SPACES = (*BYTES, ("▁▁", -99.0, TokenType.NORMAL), ("▁▁▁▁", -99.0, TokenType.NORMAL))
PREFIX = ((3, 1), (4, 0))
CORPUS = ["the cat and the hat, the theory of the 12 months; naïve Übermut"] * 3


def _trained() -> Tokenizer:
    return bpe.train(CORPUS, vocab_size=320, preset="cl100k", special_tokens=[END])


def _saved(name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        _trained().save(folder / name, lossy=name.endswith(".tiktoken"))
        return folder / name

    return write


def _gguf(folder: Path) -> Path:
    (folder / "small.gguf").write_bytes(gguf(metadata()))
    return folder / "small.gguf"


def _sentencepiece(folder: Path) -> Path:
    pieces = normal("▁th", "th", "e▁", "at", *"▁abcdefghimnorstuvÜï\n")
    return write(folder / "small.model", model([UNKNOWN, *SPACES, *pieces], BYTE_FALLBACK, PREFIX))


def _shared(*parts: str) -> Callable[[Path], Path]:
    return lambda folder: shared("vocabs", *parts)


SPECIAL: dict[str, Any] = {"preset": "cl100k", "special_tokens": {END: 319}}
FILES: dict[str, tuple[Callable[[Path], Path], dict[str, Any]]] = {
    "tiktoken": (_saved("small.tiktoken"), SPECIAL),
    "tokenizer.json": (_saved("tokenizer.json"), {}),
    "pretok": (_saved("small.pretok"), {}),
    "gguf": (_gguf, {}),
    "sentencepiece": (_sentencepiece, {}),
    "cl100k": (
        _shared("cl100k_base.tiktoken"),
        {"preset": "cl100k", "special_tokens": {"<|endoftext|>": 100257}},
    ),
    "gpt2": (_shared("hf", "gpt2_tokenizer.json"), {}),
    "gpt-neox": (_shared("hf", "gpt_neox.json"), {}),  # normalizes to NFC
    "starcoder": (_shared("gguf", "ggml-vocab-starcoder.gguf"), {}),
}


SMALL = [*FILES][:4]
Pair = tuple[Tokenizer, dict[str, Any]]


def _pair(name: str, folder: Path) -> Pair:
    """Return a tokenizer in Python, and the argument `on` of Calls for the same in JavaScript."""
    make, options = FILES[name]
    path = make(folder)
    names = {"special_tokens": "specialTokens"}
    on = tokenizer(path, **{names.get(key, key): value for key, value in options.items()})
    return bpe.load(path, **options), on


@pytest.fixture(scope="module", params=FILES)
def any_pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return _pair(request.param, tmp_path_factory.mktemp("vocabulary"))


@pytest.fixture(scope="module", params=SMALL)
def small_pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return _pair(request.param, tmp_path_factory.mktemp("vocabulary"))


def _as_text(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def _check_byte_without_token(work: Callable[[Any], object], text: Any, error: JsError) -> None:
    """Check that JavaScript refused `text` with `error`, and that `work` refuses it in Python."""
    assert error.code == "NO_TOKEN"
    with pytest.raises(bpe.UnknownTokenError):
        work(text)


@pytest.mark.parametrize("make_samples", [lambda: texts(500), lambda: invalid_texts(60)])
def test_ids_spans_and_text_equal_those_of_python(
    any_pair: Pair, make_samples: Callable[[], Sequence[str | bytes]]
) -> None:
    tok, on = any_pair
    samples = make_samples()
    calls = Calls(samples)
    unit = "codepoint" if isinstance(samples[0], str) else "byte"
    calls.each(on, "encode", {"special": "text"})
    calls.each(on, "count", {"special": "text"})
    calls.each(on, "encodeWithOffsets", {"special": "text", "unit": unit})
    all_ids, counts, all_spans = calls.answers()
    decoding, expected = Calls(), []
    for text, ids, count, spans in zip(samples, all_ids, counts, all_spans, strict=True):
        if isinstance(ids, JsError):
            _check_byte_without_token(tok.encode, text, ids)
            continue
        assert ids == tok.encode(text, special="text"), text
        assert count == len(ids)
        decoding.add(on, "decode", ids)
        expected.append(tok.decode(ids))
        if isinstance(spans, JsError):
            assert spans.code == "UNSUPPORTED"
            assert not unicodedata.is_normalized("NFC", _as_text(text))
            continue
        tokens = tok.tokens(text, special="text", trim_offsets=False)
        assert spans["ids"] == ids
        assert spans["starts"] == [token.start for token in tokens], text
        assert spans["ends"] == [token.end for token in tokens], text
    assert decoding.answers() == expected


def test_special_tokens_are_as_in_python(small_pair: Pair) -> None:
    tok, on = small_pair
    name, id = next(iter(tok.special_tokens.items()))
    text = f"é the {name} cat"
    calls = Calls()
    calls.add(on, "encode", text)
    calls.add(on, "encode", text, {"special": "allow", "addSpecialTokens": True})
    calls.add(on, "encode", text, {"special": [name]})
    calls.add(on, "encode", text, {"special": [f"{name}?"]})
    calls.add(on, "encode", text, {"special": "maybe"})
    calls.add(on, "decode", [id, *tok.encode("a")], {"skipSpecial": True})
    calls.add(on, "specialTokens")
    calls.add(on, "tokenId", name)
    calls.add(on, "isSpecial", id)
    calls.add(on, "size")
    calls.add(on, "presetName")
    calls.add(on, "unicode")
    refused, allowed, some, unknown, invalid, skipped, special, *rest = calls.answers()
    assert refused.code == "SPECIAL_TOKEN"
    assert refused.position == len("é the ".encode())
    assert 'pass special: "text"' in refused.message
    assert allowed == tok.encode(text, special="allow", add_special_tokens=True)
    assert some == tok.encode(text, special={name})
    assert (unknown.code, invalid.code) == ("UNKNOWN_NAME", "INVALID_ARGUMENT")
    assert skipped == "a"
    assert {token["text"]: token["id"] for token in special} == tok.special_tokens
    assert rest == [id, True, tok.vocab_size, tok.preset.name, tok.preset.unicode]  # type: ignore[union-attr]


def test_merge_steps_are_the_merges_of_python(small_pair: Pair) -> None:
    tok, on = small_pair
    pre_tokens = [b"", b"a", b" theory", b"thethethe", "Übermut".encode(), b"zzz", b"\xe2\x98\xff"]
    calls = Calls(pre_tokens)
    calls.each(on, "mergeSteps")
    for pre_token, trace in zip(pre_tokens, calls.answers()[0], strict=True):
        if isinstance(trace, JsError):
            _check_byte_without_token(tok.merge, pre_token, trace)
            continue
        assert trace["bytes"] == pre_token
        assert trace["ids"] == tok.merge(pre_token)
        pieces = trace["pieces"]
        assert pieces == [*range(len(pre_token) + 1)]
        if trace["isWholeToken"]:
            assert trace["steps"] == []
            continue
        for step in trace["steps"]:
            merge = (step["left"], step["right"], step["id"])
            assert tuple(tok.merge_ids[step["rank"]]) == merge
            assert step["pieces"] == [*pieces[: step["place"] + 1], *pieces[step["place"] + 2 :]]
            pieces = step["pieces"]
            start, end = pieces[step["place"] : step["place"] + 2]
            assert tok.token_bytes(step["id"]) == pre_token[start:end]
        assert len(pieces) - 1 == len(trace["ids"])


def test_tokens_are_those_of_python(small_pair: Pair) -> None:
    tok, on = small_pair
    ids = [0, 97, 255, 260, tok.vocab_size - 1]
    calls = Calls()
    for id in [*ids, tok.vocab_size, -1, 0.5]:
        calls.add(on, "tokenBytes", id)
    calls.add(on, "tokenId", "nosuchtoken")
    calls.add(on, "decodeBytes", [97, tok.vocab_size])
    calls.add(on, "decode", [-1])
    *found, no_token, unknown, negative = calls.answers()
    assert found == [*map(tok.token_bytes, ids), None, None, None]
    assert no_token is None
    assert (unknown.code, unknown.position) == ("UNKNOWN_ID", 1)
    assert negative.code == "UNKNOWN_ID"


def test_bad_files_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "small.tiktoken"
    _trained().save(path, lossy=True)
    no_file = tmp_path / "nothing"
    no_file.write_bytes(b"")
    calls = Calls()
    calls.add(tokenizer(path), "size")
    calls.add(tokenizer(path, preset="nosuch"), "size")
    calls.add(tokenizer(path, preset="gpt2", normalizer="NFKC"), "size")
    calls.add(tokenizer(path, preset="gpt2", specialTokens={"x": "y"}), "size")
    calls.add(tokenizer(no_file), "size")
    no_preset, *errors = calls.answers()
    assert no_preset.code == "INVALID_ARGUMENT"
    assert "set preset to the name of the split" in no_preset.message
    assert [error.code for error in errors] == [
        "UNKNOWN_NAME", "INVALID_ARGUMENT", "INVALID_ARGUMENT", "MALFORMED",
    ]  # fmt: skip


def test_a_freed_tokenizer_is_an_error(tmp_path: Path) -> None:
    path = _saved("small.pretok")(tmp_path)
    calls = Calls()
    calls.add(tokenizer(path), "mergeSteps", "the")
    calls.add(tokenizer(path), "free")
    calls.add(tokenizer(path), "encode", "a")
    assert "free() was called" in calls.answers()[2].message
    too_long = call(tokenizer(path), "mergeSteps", "a" * 5000)
    assert "4096" in too_long.message
