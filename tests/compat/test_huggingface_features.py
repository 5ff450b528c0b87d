"""Each feature of transformers' tokenizers has the same outcome with and without the patch."""

from __future__ import annotations

import importlib
import json
import os
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import huggingface_features as features
import huggingface_pairs as pairs
import pretok
import transformers_calls as calls
from paths import shared

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("one_thread", "no_logs"),
]

SPACED: list[dict[str, Any]] = [
    {"content": "  "},
    {"content": "[MASK]", "special": True, "lstrip": True},
]
SETTINGS: dict[str, dict[str, Any]] = {
    "gpt2": {"clean_up_tokenization_spaces": True},
    "llama3": {"bos_token": "<s>", "clean_up_tokenization_spaces": True, "pad_token": "<pad>"},
    "qwen2": {"pad_token": "<pad>", "model_input_names": ["input_ids", "attention_mask"]},
    "modernbert": {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>"},
    "roberta": {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>"},
    "mistral": {"bos_token": "<s>", "pad_token": "<pad>"},
    "unigram": {"bos_token": "<s>", "pad_token": "<pad>"},
}
"""The arguments of each kind of tokenizer. bpe serves all but the last."""
REASONS = (
    "a batch that is not a sequence",
    "a pre-tokenized input that is not a list of str",
    "a sequence that is too short to truncate",
    "a stride that is not less than the maximal length",
    "a text with lone surrogates",
    "added token",
    "decoder",
    "an input that is",
    "byte_fallback is set together with",
    "ids that are",
    "model.dropout",
    "model.end_of_word_suffix",
    "normalizer",
    "the decoder has other parts than ByteLevel",
    "truncation by tokenizers 0.23.1",
)
"""The beginnings of the expected reasons of fallbacks."""


@cache
def serialized(kind: str) -> str:
    """Return a small tokenizer.json with the parts of a kind of model."""
    file = json.loads(pairs.base())
    listed: list[dict[str, Any]] = [*pairs.ADDED[:2], pairs.ADDED[3]]
    level = pairs.byte_level(add_prefix_space=False, trim_offsets=False)
    template = _template(["<s>"], ["</s>"] if kind == "modernbert" else [])
    file["post_processor"] = level
    if kind in ("llama3", "qwen2"):
        pattern = {"Regex": pretok.get(kind).preset.pattern}
        split = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
        level = {**level, "use_regex": False}
        file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, level]}
    if kind == "llama3":
        file["model"]["ignore_merges"] = True
        trimming = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
        file["post_processor"] = {"type": "Sequence", "processors": [trimming, template]}
    if kind in ("qwen2", "modernbert"):
        file["normalizer"] = {"type": "NFC"}
        listed += [{"content": "<L>", "lstrip": True}, {"content": "<W>", "single_word": True}]
    if kind == "modernbert":
        listed += SPACED
        file["post_processor"] = template
    if kind == "roberta":
        file["pre_tokenizer"] = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
        file["post_processor"] = {
            "type": "RobertaProcessing", "sep": ["</s>", 296], "cls": ["<s>", 295],
            "trim_offsets": True, "add_prefix_space": True,
        }  # fmt: skip
    if kind == "mistral":
        space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
        file["normalizer"] = {
            "type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, space]
        }  # fmt: skip
        file["post_processor"] = template
        file["model"]["byte_fallback"] = True
        file["decoder"] = {"type": "ByteFallback"}
    if kind == "unigram":
        file["model"] = pairs.other_model("Unigram")
    size = len(file["model"]["vocab"])
    file["added_tokens"] = [
        {"id": id, **dict.fromkeys(pairs.FLAGS, False), **token}
        for id, token in enumerate(listed, size)
    ]
    return json.dumps(file)


def _template(before: list[str], after: list[str]) -> dict[str, Any]:
    def specials(names: list[str]) -> list[dict[str, Any]]:
        return [{"SpecialToken": {"id": name, "type_id": 0}} for name in names]

    def sequence(name: str) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": 0}}

    return {
        "type": "TemplateProcessing",
        "single": [*specials(before), sequence("A"), *specials(after)],
        "pair": [
            *specials(before), sequence("A"), *specials(after), sequence("B"), *specials(after)
        ],
        "special_tokens": {
            name: {"id": name, "ids": [id], "tokens": [name]}
            for name, id in (("<s>", 295), ("</s>", 296))
        },
    }  # fmt: skip


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_feature_has_the_same_outcome(kind: str, tmp_path: Path) -> None:
    before = Counter(hf.fallbacks())
    for name, feature in features.FEATURES.items():
        expected = feature(calls.make(serialized(kind), SETTINGS[kind], tmp_path))
        with hf.patched():
            tok = calls.make(serialized(kind), SETTINGS[kind], tmp_path)
            assert feature(tok) == expected, name
    reasons = Counter(hf.fallbacks()) - before
    if kind != "unigram":
        assert [reason for reason in reasons if not reason.startswith(REASONS)] == []


@pytest.mark.parametrize("kind", SETTINGS)
def test_bpe_serves_all_calls_of_supported_models(kind: str, tmp_path: Path) -> None:
    with hf.patched():
        tok = calls.make(serialized(kind), SETTINGS[kind], tmp_path)
        tok(["the <s>fox", "é"], padding=kind != "gpt2", return_offsets_mapping=True)
        tok("the", "fox", return_token_type_ids=True)
        tok(["the", "fox"], is_split_into_words=True)
        tok.decode(tok.encode("the é"))
        engine = hf.engine(tok)
    if kind == "unigram":
        assert engine.name == "tokenizers"
        assert engine.reason.startswith("model.type")
        assert engine.counts == {"bpe": 0, "tokenizers": 5}
    else:
        assert engine == ("bpe", "", {"bpe": 5, "tokenizers": 0})


@pytest.mark.skipif(
    os.environ.get("PRETOK_FULL") != "1", reason="takes a minute; set PRETOK_FULL=1"
)
@pytest.mark.parametrize("name", ["gpt2_tokenizer.json", "gpt_neox.json", "llama2.json"])
def test_every_feature_of_published_tokenizers(name: str, tmp_path: Path) -> None:
    text = shared("vocabs", "hf", name).read_text(encoding="utf-8")
    for feature_name, feature in features.FEATURES.items():
        expected = feature(calls.make(text, {"pad_token": "!"}, tmp_path))
        with hf.patched():
            tok = calls.make(text, {"pad_token": "!"}, tmp_path)
            assert feature(tok) == expected, feature_name
