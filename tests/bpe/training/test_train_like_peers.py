"""bpe.train finds the merges of Hugging Face, gigatoken and minbpe."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from bpe.training.train import train
from paths import shared
from pretok.machine.backend import BackendName
from support import FULL, max_examples
from training import gigatoken, hugging_face, recount
from training_texts import PROSE, generated, merges_of, texts

SIZE, VOCABULARY = (None, 32_000) if FULL else (1_500_000, 8_000)
"""The maximum number of code points to train on (None: no maximum), and the number of ids."""


@pytest.mark.parametrize("preset", ["gpt2", "llama3", "qwen2", "o200k"])
def test_prose_has_the_merges_of_hugging_face(preset: str, backend: BackendName) -> None:
    tok = train(PROSE, vocab_size=400, preset=preset, backend=backend)
    assert merges_of(tok) == hugging_face(PROSE, 144, pretok.get(preset).preset.pattern)


@pytest.mark.parametrize("preset", ["gpt2", "llama3"])
def test_generated_text_has_the_merges_of_hugging_face(preset: str, backend: BackendName) -> None:
    text = generated(1_000_000 if backend == "native" else 60_000)
    tokens = 3000 if backend == "native" else 600
    tok = train([text], vocab_size=256 + tokens, preset=preset, backend=backend)
    assert merges_of(tok) == hugging_face([text], tokens, pretok.get(preset).preset.pattern)


def test_generated_text_has_the_merges_of_gigatoken(native: BackendName) -> None:
    text = generated(1_000_000)
    tok = train([text], vocab_size=3256, preset="gpt2", backend=native)
    assert merges_of(tok) == gigatoken(text, 3000)


@given(texts=texts, size=st.integers(0, 40))
@settings(max_examples=max_examples(50))
def test_first_seen_is_minbpe(backend: BackendName, texts: list[str], size: int) -> None:
    tok = train(texts, vocab_size=256 + size, tie_break="first-seen", backend=backend)
    words = [word for text in texts for word in pretok.get("cl100k").split_bytes(text.encode())]
    assert merges_of(tok) == recount([(word, 1) for word in words], size)


def real_text(name: str) -> str:
    return shared("texts", name).read_bytes().decode()[:SIZE]


@pytest.mark.parametrize("preset", ["gpt2", "llama3"])
def test_english_has_the_merges_of_hugging_face(preset: str, native: BackendName) -> None:
    assert_as_hugging_face(real_text("english.txt"), preset, native)


@pytest.mark.parametrize("name", ["english.txt", "multilingual.txt"])
def test_real_text_has_the_merges_of_gigatoken(name: str, native: BackendName) -> None:
    text = real_text(name)
    tok = train([text], vocab_size=VOCABULARY, preset="gpt2", backend=native)
    assert merges_of(tok) == gigatoken(text, VOCABULARY - 256)


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="takes minutes; set PRETOK_FULL=1 to train on them")
@pytest.mark.parametrize("preset", ["gpt2", "llama3"])
@pytest.mark.parametrize("name", ["multilingual.txt", "code.txt", "cjk.txt", "udhr.txt"])
def test_every_text_has_the_merges_of_hugging_face(
    name: str, preset: str, native: BackendName
) -> None:
    assert_as_hugging_face(real_text(name), preset, native)


def assert_as_hugging_face(text: str, preset: str, backend: BackendName) -> None:
    tok = train([text], vocab_size=VOCABULARY, preset=preset, backend=backend)
    assert len(tok.merges) >= VOCABULARY - 256
    pattern = None if preset == "gpt2" else pretok.get(preset).preset.pattern
    assert merges_of(tok) == hugging_face([text], VOCABULARY - 256, pattern)
