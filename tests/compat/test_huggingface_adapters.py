"""bpe serves each call that the tokenizer adapters of SGLang and vLLM make, and none falls back.

The calls are those that SGLang's pull request 34533 tests for its adapter of gigatoken, and those
of vLLM's renderers, pooling models and detokenizers. That adapter leaves pairs, padding,
truncation, tensors and decoding with byte fallback to transformers.
"""

from __future__ import annotations

import asyncio
import copy
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import huggingface_pairs as pairs
import text_models as models
import transformers_calls as calls
from huggingface_features import plain
from support import seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_logs")]

TEXTS = [
    "Hello, world!", "", " ", "\n\n\t ", "The quick brown fox. " * 40,
    "<s>system\nYou are helpful.</s>\n<s>user\nhi</s>\n<s>assistant\n",
    "def f(x: int) -> int:\n    return x**2  # comment\n",
    "日本語のテキスト、中文文本，한국어 텍스트", "emoji 🚀🔥👨‍👩‍👧‍👦 and 🇺🇸 flags", "https://example.com/p?q=1&r=2#frag",
]  # fmt: skip
PAIR = ["short", "a much longer second sequence here"]
MESSAGES = [{"role": "user", "content": "hi é"}, {"role": "assistant", "content": "the"}]
TEMPLATE = "{% for m in messages %}<s>{{ m.role }} {{ m.content }}</s>{% endfor %}"


def serialized(kind: str) -> str:
    """Return a tokenizer.json, with byte-level tokens or with byte fallback."""
    if kind == "byte fallback":
        return json.dumps(models.file_of(**models.CASES["llama"]))
    file = json.loads(pairs.base())
    size = len(file["model"]["vocab"])
    flags = dict.fromkeys(pairs.FLAGS, False)
    file["added_tokens"] = [
        {"id": size + at, **flags, "content": content, "special": True}
        for at, content in enumerate(("<s>", "</s>", "<sep>"))
    ]
    if kind == "template":
        file["post_processor"] = pairs.random_template(seeded("adapters"))
    return json.dumps(file)


def encode(tok: Any) -> Any:
    """Encode one text, with and without special tokens."""
    rows = []
    for text in TEXTS:
        for adds in (True, False):
            rows.append(tok.encode(text, add_special_tokens=adds))
            rows.append(plain(tok(text, add_special_tokens=adds)))
    return rows


def encode_batches(tok: Any) -> Any:
    """Encode batches: plain, padded, truncated, as arrays, with type ids."""
    return [
        plain(tok(texts, **options))
        for texts in (TEXTS, tuple(TEXTS), PAIR)
        for options in (
            {}, {"padding": True}, {"padding": "max_length", "max_length": 32},
            {"truncation": True, "max_length": 8}, {"return_token_type_ids": True},
            {"padding": True, "return_tensors": "np"}, {"return_offsets_mapping": True},
            {"padding": True, "truncation": True, "max_length": 8, "return_tensors": "np"},
            {"padding": True, "pad_to_multiple_of": 8}, {"add_special_tokens": False},
            {"return_attention_mask": False}, {"return_special_tokens_mask": True},
            {"truncation": True, "max_length": 24, "stride": 2, "return_overflowing_tokens": True},
        )
    ]  # fmt: skip


def encode_pairs(tok: Any) -> Any:
    """Encode the pairs of a reranker, and a second positional argument."""
    pair = list(zip(PAIR, reversed(TEXTS), strict=False))
    return [
        tok("query", text_pair="document")["input_ids"],
        tok.encode("query", "document"),
        plain(tok(text=PAIR[0], text_pair=PAIR[1], return_token_type_ids=True)),
        plain(tok(pair, padding=True, return_tensors="np")),
        plain(tok(PAIR, text_pair=[TEXTS[4]] * 2, truncation="only_second", max_length=90)),
        plain(tok(*PAIR, truncation=True, max_length=9)),
    ]


def decode_windows(tok: Any) -> Any:
    """Decode each window of ids; many windows begin or end within a character."""
    ids = tok.encode("Streaming 日本語 🚀 out", add_special_tokens=False)[:40]
    windows = [ids[start:stop] for stop in range(1, len(ids) + 1) for start in range(stop)]
    return [
        [tok.decode(window, skip_special_tokens=False) for window in windows],
        tok.batch_decode(windows, skip_special_tokens=True, spaces_between_special_tokens=True),
    ]


def decode_ids(tok: Any) -> Any:
    """Decode single ids, and batches of ids, with and without special tokens."""
    rows = tok(TEXTS)["input_ids"]
    return [
        (
            tok.decode(tok.eos_token_id, skip_special_tokens=skips),
            [tok.decode([id], skip_special_tokens=skips) for id in range(len(tok))],
            tok.batch_decode(rows, skip_special_tokens=skips),
            tok.batch_decode(tuple(rows), skip_special_tokens=skips),
        )
        for skips in (True, False)
    ]


def detokenize(tok: Any) -> Any:
    """Detokenize as vLLM does, with a DecodeStream and with the tokens."""
    prompt, answer = tok.encode(TEXTS[5]), tok.encode(TEXTS[8])
    stream = tokenizers.decoders.DecodeStream(ids=prompt, skip_special_tokens=True)
    beyond = [len(tok), len(tok) + 100]
    steps = [stream.step(tok._tokenizer, id) for id in [*answer, *beyond, *answer]]
    tokens = tok.convert_ids_to_tokens(answer, skip_special_tokens=True)
    return steps, tokens, tok.convert_tokens_to_string(tokens), tok.tokenize(TEXTS[0])


def use_a_chat_template(tok: Any) -> Any:
    """Apply a chat template to text, to ids, and with a mask."""
    tok.chat_template = TEMPLATE
    text = tok.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=True)
    return [
        text,
        plain(tok.apply_chat_template(MESSAGES, tokenize=True, return_dict=True)),
        plain(tok.apply_chat_template([MESSAGES, MESSAGES[:1]], padding=True, return_dict=True)),
        tok.encode(text, add_special_tokens=False, truncation=True, max_length=12),
    ]


def use_the_backend(tok: Any) -> Any:
    """Call the backend itself, as data planes and asynchronous servers do."""
    backend = tok.backend_tokenizer

    async def later() -> Any:
        return [
            await backend.async_encode(TEXTS[7], add_special_tokens=False),
            *await backend.async_encode_batch(TEXTS),
            *await backend.async_encode_batch_fast([*TEXTS, ("the", "é")]),
        ]

    return [
        plain(backend.encode(TEXTS[8]).offsets),
        [encoding.ids for encoding in backend.encode_batch(TEXTS, add_special_tokens=True)],
        [encoding.ids for encoding in backend.encode_batch_fast(TEXTS)],
        [(e.ids, e.tokens, e.offsets) for e in asyncio.run(later())],
        backend.decode_batch([[5, 6], [7]]),
    ]


def copy_and_read(tok: Any) -> Any:
    """Copy the tokenizer for a worker, and read its vocabulary."""
    clone = copy.deepcopy(tok)
    return [
        clone.decode(clone.encode(TEXTS[0])), sorted(clone.get_vocab().items()),
        sorted(clone.added_tokens_decoder), clone.convert_tokens_to_ids(["a", "no such token"]),
        clone.num_special_tokens_to_add(pair=True), clone.eos_token_id, len(clone),
    ]  # fmt: skip


CALLS: list[Callable[[Any], Any]] = [
    encode, encode_batches, encode_pairs, decode_windows, decode_ids, detokenize,
    use_a_chat_template, use_the_backend, copy_and_read,
]  # fmt: skip


@pytest.mark.parametrize("kind", ["byte-level", "template", "byte fallback"])
@pytest.mark.parametrize("run", CALLS, ids=lambda run: run.__name__)
def test_no_call_falls_back(run: Callable[[Any], Any], kind: str, tmp_path: Path) -> None:
    settings = {"pad_token": "<sep>", "eos_token": "<sep>", "bos_token": "<s>"}
    expected = run(calls.make(serialized(kind), settings, tmp_path))
    with hf.patched(strict=True, factories=True):
        tok = calls.make(serialized(kind), settings, tmp_path)
        before = hf.fallbacks()
        assert run(tok) == expected
        assert hf.fallbacks() == before
        assert hf.engine(tok).name == "bpe"
        assert hf.engine(tok).counts["bpe"] > 0 or run is copy_and_read
