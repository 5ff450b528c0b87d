"""Tokens that are added at run time change the ids as in the real tokenizer, and cheaply."""

from __future__ import annotations

import importlib
import json
from functools import partial
from random import Random
from typing import Any

import pytest

import huggingface_pairs as pairs
from huggingface_pairs import both, small
from paths import shared
from support import max_examples, seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
state = importlib.import_module("bpe.compat.huggingface.state")
pytestmark = pytest.mark.usefixtures("one_thread", "no_logs")

CONTENTS = ("<new>", "<L>", "the", "x", " brown", "Ġthe", "", "<s>", "<W>", "ñ", "  ", "日本", "qu")
"""Texts to add: new ones, tokens of the model, and texts that are not valid tokens."""


def same(real: Any, ours: Any, texts: tuple[str, ...]) -> None:
    """Compare the results of both tokenizers."""
    for text in texts:
        call = partial(_encode, text)
        expected = pairs.outcome(call, real)
        assert pairs.outcome(call, ours) == expected, text
        if isinstance(expected, dict):
            for skips in (True, False):
                decoded = real.decode(expected["ids"], skip_special_tokens=skips)
                assert ours.decode(expected["ids"], skip_special_tokens=skips) == decoded


def _encode(text: str, tok: Any) -> Any:
    return tok.encode(text)


def add(random: Random) -> tuple[str, list[Any]]:
    """Return the name of a method, and its random argument."""
    made: list[Any] = []
    for content in random.sample(CONTENTS, random.randrange(1, 4)):
        flags = {name: random.random() < 0.3 for name in pairs.FLAGS}
        made.append(content if random.random() < 0.3 else tokenizers.AddedToken(content, **flags))
    return random.choice(["add_tokens", "add_special_tokens"]), made


def test_a_new_token_is_added_without_reading_the_tokenizer_again(reads: list[Any]) -> None:
    real, ours = both(small())
    texts = "the <new> fox", "<news><b> the", "<b>"
    same(real, ours, texts)
    assert len(reads) == 1
    for token in ("<new>", "<b>", "news"):
        for tok in (real, ours):
            assert tok.add_tokens([token]) == 1
        same(real, ours, texts)
    for tok in (real, ours):
        tok.add_special_tokens([tokenizers.AddedToken("fox", lstrip=True)])
    same(real, ours, texts)
    assert len(reads) == 1
    assert ours.to_str() == real.to_str()
    assert hf.engine(ours).name == "bpe"


def test_a_token_of_the_model_has_the_tokenizer_read_again(reads: list[Any]) -> None:
    real, ours = both(small())
    same(real, ours, ("the quick",))
    for tok in (real, ours):
        tok.add_tokens(["the"])
    same(real, ours, ("the quick", "nthe"))
    assert len(reads) == 2


@pytest.mark.parametrize("seed", range(max_examples(30)))
def test_random_additions(seed: int, reads: list[Any]) -> None:
    random = seeded(f"added {seed}")
    file = json.loads(pairs.random_tokenizer(random))
    if random.random() < 0.3:  # a gap of ids, in which new tokens get their ids
        file["model"]["vocab"]["zz"] = len(file["model"]["vocab"]) + 40
        file["added_tokens"] = []
    real, ours = both(json.dumps(file))
    texts = *(pairs.random_text(random) for _ in range(3)), "the<new>x  qu é brown<L><W> 日本"
    for _ in range(8):
        name, tokens = add(random)
        for call in (
            lambda tok, name=name, tokens=tokens: getattr(tok, name)(tokens),
            pairs.random_call(random)[1],
        ):
            assert pairs.outcome(call, ours) == pairs.outcome(call, real)
        same(real, ours, texts)
        assert ours.to_str() == real.to_str()
        engine = ours._state.engine(ours.real)
        reads_before = len(reads)
        whole, reason = state._engine_of(ours.real)
        del reads[reads_before:]
        if not ours._state._blocked:
            assert ours._state.reason == reason
            assert (engine is None) == (whole is None)
        if engine is not None:
            assert engine._tokenizer == whole._tokenizer
            assert engine.is_kept_by_copies == whole.is_kept_by_copies
            assert engine.decoding.fallback_reason == whole.decoding.fallback_reason


@pytest.mark.parametrize("holds", [True, False])
def test_a_component_that_changed_too_is_noticed(holds: bool, reads: list[Any]) -> None:
    real, ours = both(small())
    same(real, ours, ("the fox",))
    for tok in (real, ours):
        level = tok.pre_tokenizer
        tok.add_tokens(["<new>"])
        level.add_prefix_space = True
        if not holds:
            del level
    same(real, ours, ("the fox<new>", "<new>a"))
    assert ours.encode("the").tokens == ["Ġthe"]
    assert len(reads) == 2


def test_training_after_an_addition_is_noticed(reads: list[Any]) -> None:
    real, ours = both(small())
    ours.encode("the")  # `real` would keep the ids in a cache, which training does not empty
    for tok in (real, ours):
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=300, show_progress=False)
        tok.train_from_iterator(["the fox the fox", "quick fox"] * 3, trainer)
        tok.add_tokens(["<new>"])
    assert ours.to_str() == real.to_str()
    same(real, ours, ("the fox<new>", "quick<new>"))
    assert len(reads) == 2


@pytest.mark.skipif(tokenizers.__version__ == "0.23.1", reason="0.23.1 refuses such tokens")
@pytest.mark.parametrize("method", ["add_tokens", "add_special_tokens"])
def test_two_added_tokens_with_the_same_normalized_text_fall_back(method: str) -> None:
    _, ours = both(small(normalizer={"type": "NFC"}))
    ours.add_tokens([tokenizers.AddedToken("s\u0323\u0307", normalized=True)])
    assert hf.engine(ours).name == "bpe"
    # tokenizers finds either of the two tokens, at random.
    getattr(ours, method)([tokenizers.AddedToken("\u1e69", normalized=True)])
    assert ours.encode("a\u1e69").ids == ours.real.encode("a\u1e69").ids
    assert hf.engine(ours).reason.endswith("the same text, and tokenizers may find either")


def test_a_tokenizer_that_bpe_cannot_serve_can_be_served_again() -> None:
    real, ours = both(small())
    for tok in (real, ours):
        tok.encode("the")
        tok.add_tokens([tokenizers.AddedToken("  ", lstrip=True)])
    same(real, ours, ("the  fox",))
    assert hf.engine(ours).name == "bpe"
    for tok in (real, ours):
        tok.add_tokens([tokenizers.AddedToken("<R>", rstrip=True)])
    assert hf.engine(ours).reason.endswith("tokenizers panics if they overlap")
    for tok in (real, ours):
        tok.add_tokens([tokenizers.AddedToken("  ", lstrip=False)])
    same(real, ours, ("the  fox<R> a",))


@pytest.mark.parametrize("name", ["llama2.json", "mistral03.json"])
def test_tokens_added_to_a_published_vocabulary_decode(name: str) -> None:
    # tokenizers 0.22.2 decodes them from their text, later versions from their normalized text.
    real, ours = both(shared("vocabs", "hf", name).read_text(encoding="utf-8"))
    random = seeded(name)
    tokens = [
        tokenizers.AddedToken(content, normalized=normalized, special=special)
        for content, normalized, special in [
            ("<new>", True, False), (" a b", True, False), ("x y", False, False),
            (" z", True, True), ("▁q", True, True), ("日本", True, False), ("<0x41>", True, False),
        ]
    ]  # fmt: skip
    for tok in (real, ours):
        assert tok.add_tokens(tokens) == len(tokens)
    size = real.get_vocab_size()
    choice = [5, 300, size - 8, *range(size - 7, size)]
    ids = [random.choices(choice, k=4) for _ in range(99)]
    for skips in (True, False):
        assert ours.decode_batch(ids, skips) == real.decode_batch(ids, skips)
    stream = hf.DecodeStream(skip_special_tokens=True)
    real_stream = tokenizers.decoders.DecodeStream(skip_special_tokens=True)
    for id in range(size - 30, size):
        assert stream.step(ours, id) == real_stream.step(real, id)
    assert hf.engine(ours).counts["tokenizers"] == 0
