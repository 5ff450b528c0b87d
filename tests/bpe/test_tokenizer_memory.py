"""The memory that a Tokenizer keeps between calls is bounded, reported, and given back."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import Tokenizer
from bpe.byte_level import to_text
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.vocabulary import Vocabulary
from command_line import environment
from many_words import VOCABULARY, words
from paths import HELPERS
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from pretok.preset import Preset
from support import need_native

FLOOR = 256 << 10
"""The bytes of cache that each running call may use beyond the limit of the tokenizer."""
MB = 1 << 20


def make(cache_mb: float | None, backend: BackendName = "native") -> Tokenizer:
    return Tokenizer(VOCABULARY, "cl100k", backend=backend, cache_mb=cache_mb)


@pytest.mark.parametrize("limit", [0, 0.01, 1, 4, 64, None])
def test_a_bound_changes_no_ids(backend: BackendName, limit: float | None) -> None:
    text = words(3000)
    expected = make(None, backend).encode(text)
    tokenizer = make(limit, backend)
    for _ in range(2):
        assert tokenizer.encode(text) == expected
        assert tokenizer.encode_batch([text, text[:50]], threads=3)[0] == expected
        assert tokenizer.count(text) == len(expected)
        tokenizer.trim()


@pytest.mark.parametrize("limit", [0, 0.01, 0.5, 4])
def test_the_bound_holds_after_each_call(limit: float) -> None:
    need_native()
    tokenizer = make(limit)
    for round_ in range(4):
        tokenizer.count(words(40000, round_ * 40000))
        assert tokenizer.cache_bytes <= limit * MB
    assert (tokenizer.cache_bytes > 0) == (limit >= 0.5)


def test_the_bound_holds_for_all_threads_together() -> None:
    need_native()
    tokenizer = make(4)
    texts = [words(2000, at * 2000) for at in range(60)]
    expected = [make(None).count(text) for text in texts]
    most = 0
    wrong: list[int] = []

    def work(first: int) -> None:
        nonlocal most
        for at in range(len(texts)):
            at = (at + first) % len(texts)
            if tokenizer.count(texts[at]) != expected[at]:
                wrong.append(at)
            most = max(most, tokenizer.cache_bytes)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert most <= 4 * MB + len(threads) * FLOOR
    assert 0 < tokenizer.cache_bytes <= 4 * MB
    tokenizer.trim()
    assert tokenizer.cache_bytes == 0


def test_trim_frees_all_caches(backend: BackendName) -> None:
    tokenizer = make(None, backend)
    text = words(20000)
    ids = tokenizer.encode(text)
    merges, tokens = tokenizer.merges, tokenizer.tokens("the 12")
    assert (tokenizer.cache_bytes > MB) == (backend == "native")
    tokenizer.trim()
    assert tokenizer.cache_bytes == 0
    assert tokenizer.merges == merges
    assert tokenizer.tokens("the 12") == tokens
    assert tokenizer.encode(text) == ids
    assert tokenizer.token_id(b" the") == 258


CHARACTERS = {0: "?", 1: "▁", 2: "a", 3: "b", 4: "ab"}
PIECES = CharacterVocabulary(
    {id: text.encode() for id, text in CHARACTERS.items()}, {1: 0.0, 2: 0.0, 3: 0.0, 4: -1.0}, 0
)
TEXTS = TextVocabulary(CHARACTERS, [(2, 3, 4)], TextOptions("?"))
# Characters that stand for bytes; most bytes have no token.
FEW_BYTES = TextVocabulary(
    {id: to_text(text.encode()) for id, text in CHARACTERS.items()}, [(2, 3, 4)],
    TextOptions("?", byte_level=True),
)  # fmt: skip


@pytest.mark.parametrize(
    ("vocabulary", "split", "name"),
    [(PIECES, WHOLE, "python"), (TEXTS, WHOLE, "python"), (FEW_BYTES, "gpt2", "python")],
)
def test_trim_frees_the_parts_that_python_has_merged(
    vocabulary: Vocabulary, split: Preset | str, name: BackendName
) -> None:
    text = "".join(f" ▁{number:b}" for number in range(3000)).replace("0", "a").replace("1", "b")
    expected = Tokenizer(vocabulary, split, backend=name).encode(text)
    tokenizer = Tokenizer(vocabulary, split, backend=name)
    tracemalloc.start()
    try:
        assert tokenizer.encode(text) == expected
        used, _ = tracemalloc.get_traced_memory()
        tokenizer.trim()
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used > 500_000
    assert left < used / 10
    assert tokenizer.encode(text) == expected


def test_trim_while_others_encode() -> None:
    need_native()
    tokenizer = make(None)
    text = words(3000)
    expected = tokenizer.encode(text)
    ended = threading.Event()
    wrong: list[int] = []

    def work() -> None:
        while not ended.is_set():
            if tokenizer.encode(text) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        tokenizer.trim()
    ended.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_bound_is_kept_by_copies(backend: BackendName, tmp_path: Path) -> None:
    for limit, told in ((None, 128), (0, 0), (7, 7), (0.5, 0.5)):
        tokenizer = make(limit, backend)
        assert tokenizer.cache_mb == told
        assert copy.copy(tokenizer).cache_mb == told
        assert pickle.loads(pickle.dumps(tokenizer)).cache_mb == told
        assert tokenizer == make(3, backend)
    tokenizer = make(7, backend)
    tokenizer.save(tmp_path / "a.pretok")
    assert bpe.load(tmp_path / "a.pretok", backend=backend).cache_mb == 128
    assert bpe.load(tmp_path / "a.pretok", backend=backend, cache_mb=5).cache_mb == 5
    assert bpe.train(["ab"], vocab_size=257, backend=backend, cache_mb=2).cache_mb == 2


@pytest.mark.parametrize("wrong", [-1, -0.5, float("nan"), float("inf"), 10**30])
def test_impossible_bounds_are_refused(wrong: float, backend: BackendName) -> None:
    with pytest.raises(ValueError, match=r"cache_mb=.*expected a number of MB from 0"):
        make(wrong, backend)


@pytest.mark.parametrize("wrong", ["128", True, [1]])
def test_a_bound_of_another_type(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"cache_mb is of type \w+; expected a number of MB"):
        make(wrong, "python")


# Tests in a new process.


def output_of(code: str, **variables: str) -> str:
    """Return what `code` prints, run with the same bpe and the same helpers as this test."""
    given = environment(**variables)
    given["PYTHONPATH"] += os.pathsep + str(HELPERS)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=given, cwd=os.sep,
        check=True,
    )  # fmt: skip
    return run.stdout


RESIDENT = """
import os, sys, threading
import bpe
from many_words import VOCABULARY, words

def resident():
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

tokenizer = bpe.Tokenizer(VOCABULARY, "cl100k", cache_mb=16)
texts = [words(4000, at * 4000) for at in range(66)]
tokenizer.count(texts[0])
before = resident()
go_on = threading.Barrier(64)

def work(at):
    go_on.wait()
    for text in texts[at:at + 3]:
        tokenizer.count(text)

threads = [threading.Thread(target=work, args=(at,)) for at in range(64)]
for thread in threads: thread.start()
for thread in threads: thread.join()
used = resident() - before
tokenizer.trim()
print(used, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_many_threads_is_bounded_and_given_back() -> None:
    need_native()
    used, left = map(float, output_of(RESIDENT).split())
    # Besides the caches, each thread has a text as UTF-8, and memory that malloc keeps.
    assert used < 16 + 64
    assert left < 64


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has transparent huge pages")
def test_huge_pages_can_be_switched_off() -> None:
    need_native()
    path = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not path.exists() or "[madvise]" not in path.read_text():
        pytest.skip("needs the setting transparent_hugepage=madvise")
    code = (
        "import bpe; from many_words import VOCABULARY, words;"
        "t = bpe.Tokenizer(VOCABULARY, 'cl100k'); t.count(words(100_000));"
        "print(sum(line.startswith('VmFlags') and ' hg' in line for line in "
        "open('/proc/self/smaps')))"
    )
    advised = {value: int(output_of(code, PRETOK_HUGE_PAGES=value)) for value in "01"}
    assert advised["0"] == 0
    assert advised["1"] > 0
