"""Ids and spans of tokenizer.json files equal those of the installed tokenizers library."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bpe
from bpe import Tokenizer
from paths import shared
from pretok.machine.backend import BackendName
from pretok.presets import QWEN2
from support import max_examples, seeded

# Letters that compose, marks of several combining classes, characters that only NFKC changes, parts
# of Hangul syllables, characters that no form composes again, and characters newer than Unicode 9.
PARTS = [
    *"aeqAK \n1", "\u00e9", "\u00e5", "\u212b", "\u212a", "\u1e9b", "\u0323", "\u0301", "\u0302",
    "\u0308", "\u031b", "\u0338", "\u0345", "\u0344", "\u0340", "\u0958", "\u0915", "\u093c",
    "\u09c7", "\u09be", "\u0dd9", "\u0dca", "\u0dcf", "\u1100", "\u1161", "\u11a7", "\u11a8",
    "\uac00", "\uac01", "\u3099", "\u304b", "\uff76", "\uff9e", "\u0f71", "\u0f72", "\u0f73",
    "\uf900", "\ufb1d", "\ufb2a", "\u2126", "\u2adc", "\u1df6", "\u08d3", "\u0627", "\u0653",
    "\U00011099", "\U000110ba", "\U0001d15e", "\U0001d165", "\U00011935", "\U0001f600", "\ufb01",
    "\u2460", "\u01c4", "\ufdfa",
]  # fmt: skip
SPACES = [" ", "  ", "\n", "\t", "\u3000", "\u00a0", "a", "é", " b", "\u65e5", "<x>", "<l>", "<r>",
          "<n> ", "e\u0301"]  # fmt: skip
TOKENS: list[dict[str, Any]] = [
    {"content": "<x>", "normalized": False, "special": True},
    {"content": "<l>", "lstrip": True, "normalized": False},
    {"content": "<r>", "rstrip": True},
    {"content": "<n> "},
    {"content": "e\u0301q"},
]


def one(*kinds: str | dict[str, Any]) -> dict[str, Any]:
    """Return a Sequence of normalizers."""
    listed = [{"type": kind} if isinstance(kind, str) else kind for kind in kinds]
    return {"type": "Sequence", "normalizers": listed}


FORMS: dict[str, dict[str, Any]] = {
    **{form: {"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "NFC in a Sequence": one("NFC"),
    "NFC twice": one("NFC", "NFC"),
    "NFC and Lowercase": one("NFC", "Lowercase"),
    "NFKC after Prepend": one({"type": "Prepend", "prepend": "\u0301x"}, "NFKC"),
    "no accents": one("NFD", "StripAccents", "NFC"),
    "BertNormalizer": {"type": "BertNormalizer", "clean_text": True, "lowercase": True,
                       "handle_chinese_chars": True, "strip_accents": None},
}  # fmt: skip


def byte_level(adds_space: bool = False, trims: bool = False, **more: Any) -> dict[str, Any]:
    options = {"add_prefix_space": adds_space, "trim_offsets": trims, "use_regex": True}
    return {"type": "ByteLevel", **options, **more}


def roberta(adds_space: bool, trims: bool = True) -> dict[str, Any]:
    ends = {name: ["<x>", 0] for name in ("cls", "sep")}
    options = {"add_prefix_space": adds_space, "trim_offsets": trims}
    return {"type": "RobertaProcessing", **ends, **options}


def both(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "processors": list(parts)}


PROCESSORS: dict[str, dict[str, Any] | None] = {
    "none": None,
    "GPT-2": byte_level(adds_space=True),
    "GPT-NeoX": byte_level(trims=True),
    "trimmed, first space kept": byte_level(True, True),
    "RoBERTa": roberta(True),
    "RoBERTa, untrimmed": roberta(True, trims=False),
    "trimmed in a Sequence": both(byte_level(True, True), {**roberta(True, False)}),
    "trimmed twice": both(byte_level(True, True), byte_level(False, True)),
}


@cache
def engine() -> Any:
    return pytest.importorskip("tokenizers", reason="tokenizers is not installed")


TOKEN_FLAGS: dict[str, Any] = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False)


def written(model: dict[str, Any], **parts: Any) -> str:
    """Return a tokenizer.json."""
    first = len(model["vocab"])
    added = [
        {**TOKEN_FLAGS, "normalized": True, **token, "id": first + at}
        for at, token in enumerate(TOKENS)
    ]
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": None, "pre_tokenizer": byte_level(), "post_processor": None,
        "decoder": byte_level(), "model": model, **parts,
    })  # fmt: skip


MERGES = 5000
"""The number of merges of a model. All merges of the file would only make loading slower."""


@cache
def model_of(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a model of a tokenizer.json, and its pre_tokenizer."""
    vocab = json.loads(shared("vocabs", f"{name}_vocab.json").read_text("utf-8"))
    # The tokens of single bytes have the first ids, and then each merge has the next id.
    vocab = {token: id for token, id in vocab.items() if id < 256 + MERGES}
    lines = shared("vocabs", f"{name}_merges.txt").read_text("utf-8").split("\n")
    merges = [line for line in lines if line and not line.startswith("#version")]
    split = {"type": "Split", "pattern": {"Regex": QWEN2.pattern}, "behavior": "Isolated",
             "invert": False}  # fmt: skip
    qwen2 = {"type": "Sequence", "pretokenizers": [split, byte_level(use_regex=False)]}
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocab,
        "merges": merges[:MERGES],
    }  # fmt: skip
    return model, byte_level() if name == "gpt2" else qwen2


def some_text(random: Random, parts: list[str]) -> str:
    return "".join(random.choices(parts, k=random.randrange(12)))


def check(theirs: Any, ours: Tokenizer, text: str) -> None:
    """Compare the ids and spans of a text, as str and as bytes."""
    wanted = theirs.encode(text, add_special_tokens=False)
    ids, starts, ends = ours.token_spans(text, "allow")
    assert ids.tolist() == wanted.ids, ascii(text)
    spans = [*zip(starts.tolist(), ends.tolist(), strict=True)]
    assert spans == wanted.offsets, (ascii(text), wanted.tokens)
    assert [(token.start, token.end) for token in ours.tokens(text, "allow")] == spans
    # A span in bytes has the same characters, or some bytes of one of them.
    data = text.encode()
    ids_of_bytes, *of_bytes = (side.tolist() for side in ours.token_spans(data, "allow"))
    assert ids_of_bytes == wanted.ids
    at = [len(text[:end].encode()) for end in range(len(text) + 1)]
    for (start, end), first, last in zip(spans, *of_bytes, strict=True):
        assert at[start] <= first <= last <= at[end], ascii(text)
        assert (first == last) == (start == end), ascii(text)
        assert first == at[start] or last == at[end] or end - start == 1, ascii(text)


CASES = [("gpt2", form) for form in FORMS] + [("qwen2", form) for form in [*FORMS][:2]]


def loaded(path: Path, file: str, backend: BackendName) -> tuple[Any, Tokenizer]:
    path.write_text(file, "utf-8")
    return engine().Tokenizer.from_file(str(path)), bpe.load(path, backend=backend)


@pytest.mark.parametrize(("name", "form"), CASES)
def test_normalizers(name: str, form: str, backend: BackendName, tmp_path: Path) -> None:
    model, split = model_of(name)
    file = written(model, normalizer=FORMS[form], pre_tokenizer=split)
    theirs, ours = loaded(tmp_path / "tokenizer.json", file, backend)
    random = seeded(form)
    check(theirs, ours, "e\u0301q \u1100\u1161\u11a8 e\u0301<x>e\u0301")
    for _ in range(max_examples(400)):
        check(theirs, ours, some_text(random, [*PARTS, "<x>", "e\u0301q"]))


@pytest.mark.parametrize("adds_space", [False, True])
@pytest.mark.parametrize("name", PROCESSORS)
def test_trimmed_offsets(name: str, adds_space: bool, backend: BackendName, tmp_path: Path) -> None:
    model, _ = model_of("gpt2")
    random = seeded(name)
    file = written(
        model,
        normalizer=random.choice([None, {"type": "NFC"}, one("Lowercase")]),
        pre_tokenizer=byte_level(adds_space),
        post_processor=PROCESSORS[name],
    )
    theirs, ours = loaded(tmp_path / "tokenizer.json", file, backend)
    for text in ("", " ", " a", "a", "\n", " <x>", "\u3000 "):
        check(theirs, ours, text)
    texts = [some_text(random, SPACES) for _ in range(max_examples(300))]
    for text in texts:
        check(theirs, ours, text)
    # Tokens are trimmed as the file says, unless the caller says otherwise.
    plain = Tokenizer(
        ours.vocabulary, ours.pre_tokenizer, added_tokens=ours.added_tokens,
        normalizer=ours.normalizer, add_prefix_space=adds_space, backend=backend,
    )  # fmt: skip
    for text in texts[:50]:
        assert ours.tokens(text, "allow", trim_offsets=False) == plain.tokens(text, "allow")
        trimmed = ours.tokens(text, "allow", trim_offsets=True)
        assert not ours.trim_offsets or trimmed == ours.tokens(text, "allow")
        assert ours.trim_offsets or trimmed == plain.tokens(text, "allow", trim_offsets=True)
    # Files keep what they say.
    for suffix in ("json", "pretok"):
        if suffix == "json" or len(ours.trim_offsets) < 2:
            ours.save(tmp_path / f"saved.{suffix}")
            again = bpe.load(tmp_path / f"saved.{suffix}", backend=backend)
            assert again.trim_offsets == ours.trim_offsets
            assert [again.tokens(text, "allow") for text in texts[:9]] == [
                ours.tokens(text, "allow") for text in texts[:9]
            ]
        else:
            with pytest.raises(bpe.UnsupportedError, match="2 post-processors that trim offsets"):
                ours.save(tmp_path / f"saved.{suffix}")
