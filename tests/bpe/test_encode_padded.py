"""Tokenizer.encode_padded against Hugging Face's padding, and its errors."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer as Live
from tokenizers import models, pre_tokenizers, processors

import bpe
from bpe import Template, Tokenizer
from bpe.encoding.padded import Layout, lengths, pad
from bpe.types import Padding
from pretok.machine.backend import BackendName
from support import max_examples, need_native, seeded
from vocabularies import BYTES, as_chars

TOKENS = BYTES | {256: b"ab", 257: b"abab", 258: b" a"}
MERGES = [(97, 98, 256), (256, 256, 257), (32, 97, 258)]
PAD = 90
PADDING = Padding(None, "right", PAD, "Z", 0, None)


def ours(backend: BackendName, template: Template | None = None) -> Tokenizer:
    vocabulary = bpe.Vocabulary(TOKENS, merges=MERGES)
    return Tokenizer(vocabulary, "gpt2", template=template, backend=backend, padding=PADDING)


def theirs(template: Template) -> Live:
    """Return the same model as `ours` in tokenizers."""
    vocab = {as_chars(token): id for id, token in TOKENS.items()}
    merges = [(as_chars(TOKENS[left]), as_chars(TOKENS[right])) for left, right, _ in MERGES]
    live = Live(models.BPE(vocab=vocab, merges=merges))
    live.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    names = {id: as_chars(TOKENS[id]) for part in template for id in part}
    live.post_processor = processors.TemplateProcessing(
        single=[*(names[id] for id in template.before), "$A",
                *(names[id] for id in template.after)],
        special_tokens=[(name, id) for id, name in names.items()],
    )  # fmt: skip
    return live


def arguments(random: Random, template: Template) -> dict[str, Any]:
    least = len(template.before) + len(template.after) + 1
    return {
        "side": random.choice(["left", "right"]),
        "max_length": random.choice([None, least, least + 3, 40]),
        "multiple_of": random.choice([1, 1, 4, 8]),
    }


@pytest.mark.parametrize("template", [Template(), Template((88,), ()), Template((88, 89), (87,))])
def test_arrays_equal_those_of_tokenizers(template: Template, backend: BackendName) -> None:
    tok, live = ours(backend, template), theirs(template)
    for number in range(max_examples(30)):
        random = seeded(number)
        texts = ["".join(random.choices("ab c", k=random.randrange(30))) for _ in range(1, 9)]
        chosen = arguments(random, template)
        live.no_truncation()
        if chosen["max_length"] is not None:
            live.enable_truncation(chosen["max_length"])
        live.enable_padding(
            direction=chosen["side"], pad_id=PAD, pad_token="Z",
            pad_to_multiple_of=chosen["multiple_of"],
        )  # fmt: skip
        expected = live.encode_batch(texts)
        got = tok.encode_padded(texts, add_special_tokens=True, **chosen)
        assert got.ids.dtype == got.mask.dtype == np.int64
        assert got.ids.tolist() == [encoding.ids for encoding in expected], chosen
        assert got.mask.tolist() == [encoding.attention_mask for encoding in expected], chosen


def test_pad_id_comes_from_the_file_or_the_call(backend: BackendName) -> None:
    assert ours(backend).encode_padded(["a", ""]).ids.tolist() == [[97], [PAD]]
    assert ours(backend).encode_padded(["a", ""], pad_id=5).ids.tolist() == [[97], [5]]
    without = Tokenizer(bpe.Vocabulary(TOKENS, merges=MERGES), "gpt2", backend=backend)
    with pytest.raises(ValueError, match="pass the id of a token as pad_id="):
        without.encode_padded(["a"])


def test_no_texts_and_empty_texts(backend: BackendName) -> None:
    assert ours(backend).encode_padded([]).ids.shape == (0, 0)
    ids, mask = ours(backend).encode_padded(["", ""], multiple_of=8)
    assert ids.shape == mask.shape == (2, 0)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"side": "middle"}, ValueError, 'expected "right" or "left"'),
        ({"pad_id": -1}, ValueError, "expected an id from 0"),
        ({"pad_id": 1.5}, TypeError, "expected an int, got float"),
        ({"multiple_of": 0}, ValueError, "expected a positive number"),
        ({"max_length": True}, TypeError, "expected an int, got bool"),
        ({"max_length": 1, "add_special_tokens": True}, ValueError, "alone has 2 ids"),
    ],
)
def test_wrong_arguments_are_named(
    given: dict[str, Any], error: type[Exception], message: str, backend: BackendName
) -> None:
    tok = ours(backend, Template((88,), (87,)))
    with pytest.raises(error, match=message):
        tok.encode_padded(["ab"], **given)


def test_unknown_ids_are_skipped_on_request(backend: BackendName) -> None:
    tok = ours(backend)
    ids = [257, 999, 32, 1 << 40, 97, -1]
    assert tok.decode(ids, unknown="skip") == "abab a"
    assert tok.decode(np.array(ids), unknown="skip") == "abab a"
    assert tok.decode_bytes(iter(ids), unknown="skip") == b"abab a"
    assert tok.decode_batch([ids, [999]], unknown="skip") == ["abab a", ""]
    with pytest.raises(bpe.UnknownTokenError):
        tok.decode(ids)
    with pytest.raises(ValueError, match='expected "raise" or "skip"'):
        tok.decode(ids, unknown="ignore")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tok.decode(["a"], unknown="skip")  # type: ignore[list-item]


def test_both_backends_pad_alike() -> None:
    need_native()
    for number in range(max_examples(60)):
        random = seeded(f"pad {number}")
        counts = [random.randrange(9) for _ in range(random.randrange(6))]
        offsets = np.cumsum([0, *counts])
        ids = np.array([random.randrange(1 << 32) for _ in range(sum(counts))], np.uint32)
        template = random.choice([Template(), Template((1,), ()), Template((1 << 31, 3), (4,))])
        added = len(template.before) + len(template.after)
        layout = Layout(
            random.choice([0, -1, 5]),
            random.choice(["left", "right"]),
            random.choice([None, added, added + 3]),
            1,
            random.choice(["left", "right"]),
        )
        longest = int(lengths(offsets, template, layout).max(initial=0))
        length = longest + random.randrange(3)
        native, python = (
            pad(ids, offsets, template, layout, length, is_native) for is_native in (True, False)
        )
        for ours, theirs in zip(native, python, strict=True):
            assert ours.dtype == theirs.dtype == np.int64
            assert ours.shape == theirs.shape == (len(counts), length)
            assert (ours == theirs).all(), (counts, template, layout, length)


def test_rows_that_are_too_short_are_an_error() -> None:
    need_native()
    from pretok import _core

    ids, rest = np.arange(3, dtype=np.uint32), (4, False, 0, True)
    with pytest.raises(ValueError, match="room for the ids of each text"):
        _core.pad_rows(ids, np.array([0, 3]), (), (), 2, *rest)
    for offsets in ([0, 4], [2, 1], [-1, 2]):
        with pytest.raises(ValueError, match="ascending offsets"):
            _core.pad_rows(ids, np.array(offsets), (), (), 9, *rest)
    with pytest.raises(ValueError, match="at least one offset"):
        _core.pad_rows(ids, np.array([], np.int64), (), (), 9, *rest)
