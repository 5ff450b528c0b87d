"""Threads change no result, for any cuts of texts; memory stays bounded, and Ctrl-C works."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import pretok
from bpe import AddedToken, SpecialTokenError, Tokenizer
from bpe.encoding.backends import make_ranged
from concurrency import everything, tasks_of
from interrupts import stops_soon
from pretok.machine.backend import BackendName
from strategies import any_rules
from support import PRESET_NAMES, max_examples
from vocabularies import BYTES

TOKENS = [b"th", b"he", b" the", b"12", b"  ", b"ab", b"\r\n", "中".encode()]
VOCABULARY = bpe.Vocabulary(BYTES | dict(enumerate(TOKENS, 256)))

NASTY = (
    "a", " ", "   ", "\n", "\r\n", "\t ", "'", "'ll", "'S", " the", "12", "1234567", "é", "e\u0301",
    "中", "😀", "\u0301", "Ab", "aB", "_", "!", "/", "\u3000", "ſ", "\ud83d", "\ude00", "<x>",
    "<xx>", "<", "word", "x" * 90, " " * 90, "\n" * 40,
)  # fmt: skip
some_text = st.lists(st.sampled_from(NASTY), max_size=60).map("".join)
some_bytes = st.lists(
    st.sampled_from(
        [
            *(part.encode("utf-8", "replace") for part in NASTY),
            b"\xff",
            b"\xe4",
            b"\xe4\xb8",
            b"\x80",
        ]
    ),
    max_size=60,
).map(b"".join)
some_added = st.lists(
    st.builds(
        AddedToken,
        content=st.sampled_from(["<x>", "<xx>", "word", " the", "\n", "中", "é"]),
        id=st.just(0),
        special=st.booleans(),
        normalized=st.booleans(),
        lstrip=st.booleans(),
        rstrip=st.booleans(),
        single_word=st.booleans(),
    ),
    max_size=4,
    unique_by=lambda token: token.content,
).map(
    lambda tokens: [
        AddedToken(
            token.content, 1000 + at, token.special, token.normalized, token.lstrip, token.rstrip,
            token.single_word,
        )
        for at, token in enumerate(tokens)
    ]
)  # fmt: skip


def test_a_text_in_ranges_is_one_task(native: BackendName) -> None:
    tok = Tokenizer(VOCABULARY, "gpt2", added_tokens=[AddedToken("<x>", 999)], backend=native)
    backend: Any = tok._pipeline.backend
    text = b"a <x> 12 " * 20
    policies = [tok._pipeline.policy(name) for name in ("allow", "text")]
    ends = len(text) // 2, len(text)
    search = make_ranged([(*each, ()) for each in zip(ends, policies, strict=True)], backend)
    expected = backend.spans(text, search, 1, False)
    with tasks_of(20):
        found = backend.spans(text, search, 4, False)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]


@given(
    name=st.sampled_from(PRESET_NAMES),
    texts=st.lists(some_text | some_bytes, max_size=4),
    added=some_added,
    special=st.sampled_from(["raise", "text", "allow"]),
    normalizer=st.sampled_from([None, "NFC"]),
    prefix=st.booleans(),
    size=st.integers(1, 200),
    threads=st.integers(1, 8),
)
@settings(max_examples=max_examples(300))
def test_threads_and_cuts_change_nothing(
    native: BackendName,
    name: str,
    texts: list[str | bytes],
    added: list[AddedToken],
    special: str,
    normalizer: Any,
    prefix: bool,
    size: int,
    threads: int,
) -> None:
    tok = Tokenizer(
        VOCABULARY,
        name,
        added_tokens=added,
        normalizer=normalizer,
        add_prefix_space=prefix,
        backend=native,
    )
    expected = everything(tok, texts, special, 1)
    with tasks_of(size):
        assert everything(tok, texts, special, threads) == expected
        assert everything(tok, texts, special, None) == expected


@given(rules=any_rules, text=some_text, size=st.integers(1, 100))
@settings(max_examples=max_examples(200))
def test_cuts_are_safe_with_any_rules(
    native: BackendName, rules: list[tuple[pretok.Rule, str]], text: str, size: int
) -> None:
    preset = pretok.Preset("random", tuple(rule for rule, _ in rules))
    tok = Tokenizer(VOCABULARY, preset, backend=native)
    expected = tok.encode(text * 3)
    with tasks_of(size):
        assert tok.encode(text * 3, threads=3) == expected


@given(texts=st.lists(some_text | some_bytes, max_size=5), size=st.integers(1, 100))
@settings(max_examples=max_examples(60))
def test_training_does_not_depend_on_threads(
    native: BackendName, texts: list[str | bytes], size: int
) -> None:
    options: dict[str, Any] = {"vocab_size": 300, "preset": "llama3", "progress": False}
    expected = bpe.train(texts, backend="python", **options).vocabulary
    for threads in (1, 2, 5):
        with tasks_of(size):
            found = bpe.train(texts, backend=native, threads=threads, **options).vocabulary
        assert found == expected


def test_one_large_text_is_shared_among_threads(native: BackendName) -> None:
    tok = Tokenizer(VOCABULARY, "cl100k", backend=native)
    for unit in ("the 12 words\r\n", "é the 中文 😀 \n", " " * 50 + "x"):
        text = unit * ((3 << 20) // len(unit))
        expected = tok.encode_array(text, threads=1).tolist()
        assert tok.encode_array(text).tolist() == expected
        assert tok.encode(text.encode(), threads=5) == expected
        assert tok.count(text) == len(expected)
        ids, offsets = tok.encode_batch_array(["12", text, "12"])
        assert offsets.tolist() == [0, 1, 1 + len(expected), 2 + len(expected)]
        assert ids[1:-1].tolist() == expected


@pytest.mark.parametrize("unit", ["é the ", "中文 the 12 ", "😀 words\n"])
def test_a_str_with_cached_utf8_is_cut_too(native: BackendName, unit: str) -> None:
    tok = Tokenizer(VOCABULARY, "cl100k", backend=native)
    text = unit * 3000
    expected = everything(tok, [text], "raise", 1)
    ctypes.pythonapi.PyUnicode_AsUTF8AndSize(ctypes.py_object(text), None)
    with tasks_of(100):
        assert everything(tok, [text], "raise", 2) == expected


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_special_token_after_much_text_is_refused(native: BackendName, threads: int) -> None:
    tok = Tokenizer(VOCABULARY, "gpt2", added_tokens=[AddedToken("<x>", 1000)], backend=native)
    text = "é the 12 words" * 200_000
    for call in (tok.encode, tok.encode_array, tok.count):
        with pytest.raises(SpecialTokenError) as caught:
            call(text + "<x> and" + text + "<x>", threads=threads)
        assert (caught.value.position, caught.value.text_index) == (len(text), None)
    with pytest.raises(SpecialTokenError) as caught:
        tok.encode_batch([text, "<x>", text + "<x>"], threads=threads)
    assert (caught.value.position, caught.value.text_index) == (0, 1)


def test_the_first_token_in_the_text_is_refused(backend: BackendName) -> None:
    added = [AddedToken("<x>", 1000), AddedToken("word", 1001, normalized=True)]
    tok = Tokenizer(VOCABULARY, "gpt2", added_tokens=added, backend=backend)
    with pytest.raises(SpecialTokenError) as caught:
        tok.encode("a word <x>")
    assert (caught.value.token, caught.value.position) == ("word", 2)


@lru_cache(1)
def random_words(size: int) -> str:
    """Return words that are mostly distinct; they take longer to encode than repeated words."""
    return np.random.default_rng(1).integers(0x1C, 0x80, size, np.uint8).tobytes().decode()


@pytest.mark.parametrize("name", ["encode_array", "encode_batch", "count", "train"])
def test_long_work_is_interrupted(native: BackendName, name: str) -> None:
    tok = Tokenizer(VOCABULARY, "cl100k", backend=native)
    options: dict[str, Any] = {"vocab_size": 256, "progress": False, "backend": native}

    def prepare(size: int, threads: int) -> Callable[[], object]:
        text = random_words(size)
        if name == "train":
            return lambda: bpe.train([text], threads=threads, **options)
        if name == "encode_batch":
            parts = [text[at : at + 100_000] for at in range(0, size, 100_000)]
            return lambda: tok.encode_batch(parts, threads=threads)
        return lambda: getattr(tok, name)(text, threads=threads)

    assert stops_soon(partial(prepare, threads=1), partial(prepare, threads=2), size=8_000_000)


MEMORY = """
import sys
import bpe

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) >> 10

tok = bpe.train(["the words of a text " * 100], vocab_size=280, progress=False)
texts = ["the words of a text, é " * 400 + str(i) for i in range(6000)]
texts.append("a text of 12 " * 800_000)
if sys.argv[1] == "arrays of more ids than expected":
    texts = ["ж ш" * 5000] * 1000
before = status("VmRSS")
if sys.argv[1] != "lists":
    ids, offsets = tok.encode_batch_array(texts, threads=2)
    output = ids.nbytes + offsets.nbytes
else:
    output = sum(map(sys.getsizeof, tok.encode_batch(texts, threads=2)))
print(status("VmHWM") - before - (output >> 20))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("kind", ["arrays", "arrays of more ids than expected", "lists"])
def test_memory_beyond_input_and_output_is_bounded(native: BackendName, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, kind],
        cwd=Path(pretok.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 64
