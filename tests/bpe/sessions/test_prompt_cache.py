"""PromptCache: the ids of encode_array, for any tokenizer and any texts before; its bound."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pytest

import bpe
import pretok
from bpe import AddedToken, PromptCache, Template, Tokenizer
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.unicode_forms import UnicodeForm
from pretok.behaviors import Behavior
from pretok.charsets.sets import LETTER
from pretok.machine.backend import BackendName
from pretok.rules import Run
from pretok.stage import Stage
from prompts import ALL_BITS, outcome, prompts, small_cache
from random_normalizers import random_normalizer
from support import PRESET_NAMES, max_examples, run_python, seeded
from text_models import CASES, file_of
from vocabulary_files import write

PIECES = [
    "a", "ab", "abc", " ", "  ", "\n", "\r\n", "\n\n", "\t", "x1", "123", "é", "e\u0301", "中",
    "!", "...", "'s", "A", "Ab", "🦙", "\u0301", "▁", "\u3000", "<e>", "<e", ">", "<l>",
    "<r>", "<w>", "<n>", "the", " the", "s\n", " \n", "a" * 30, "\n" * 9,
]  # fmt: skip
TOKENS = [
    AddedToken("<e>", 900),
    AddedToken("<e><e>", 901),
    AddedToken("<l>", 902, lstrip=True),
    AddedToken("<r>", 903, special=False, rstrip=True),
    AddedToken("<w>", 904, single_word=True),
    AddedToken("<n>", 905, special=False, normalized=True),
    AddedToken("ab" * 20, 906, special=False),
]
POLICIES: tuple[Any, ...] = ("raise", "text", "allow", "plain", "content", {"<e>"}, set())


@pytest.fixture(scope="module")
def vocabulary() -> bpe.Vocabulary:
    return bpe.train(["abc abc the the ab\n\n 123 é é 中中 !! ...\n <e> s\n"] * 3, 280).vocabulary


def random_tokenizer(
    random: Random, vocabulary: bpe.Vocabulary, backend: BackendName
) -> Tokenizer | None:
    tokens = random.sample(TOKENS, random.randrange(len(TOKENS)))
    if random.random() < 0.8:
        tokens.append(TOKENS[0])
    normalizer: Any = random.choice([None, None, "NFC", "NFC", random_normalizer(random)])
    try:
        return Tokenizer(
            vocabulary, random.choice(PRESET_NAMES), added_tokens=list(dict.fromkeys(tokens)),
            normalizer=normalizer, add_prefix_space=random.random() < 0.3,
            template=Template((1,), (2, 3)), backend=backend,
        )  # fmt: skip
    except bpe.VocabularyError:  # the normalizer removes an added token
        return None


def check(random: Random, tok: Tokenizer, cache: PromptCache, text: str, pieces: Any) -> None:
    """Compare a random call with encode_array."""
    given: Any = text
    if random.random() < 0.3:
        given = text.encode("utf-8", "surrogatepass")
    options: dict[str, Any] = {
        "errors": random.choice(["replace"] * 5 + ["strict", "surrogateescape"]),
        "add_special_tokens": random.random() < 0.2,
        "continuation": random.random() < 0.2,
    }
    special = random.choice(pieces)
    options["special"] = special if special != {"<e>"} or "<e>" in tok.special_tokens else "text"
    salt: Any = random.choice([b"", b"", "tenant"])
    found = outcome(lambda: cache.encode(given, salt=salt, **options))
    assert found == outcome(lambda: tok.encode_array(given, threads=1, **options)), (tok, text)


@pytest.mark.parametrize("hash_mask", [ALL_BITS, 63], ids=["", "collisions"])
def test_ids_are_those_of_encode_array(
    vocabulary: bpe.Vocabulary, backend: BackendName, hash_mask: int
) -> None:
    random = seeded(f"prompts {backend} {hash_mask}")
    reused = 0
    for _ in range(max_examples(30 if backend == "native" else 10)):
        tok = random_tokenizer(random, vocabulary, backend)
        if tok is None:
            continue
        windows = random.choice([(1, 1), (2, 9), (6, 24), (40, 80)])
        max_bytes = random.choice([0, 20_000, 60_000, 1 << 20])
        cache = small_cache(tok, max_bytes, windows, hash_mask)
        pieces = random.sample(PIECES, 6)
        policies = random.sample(POLICIES, random.randrange(1, 4))
        for text in prompts(random, pieces, 120 if backend == "native" else 40):
            check(random, tok, cache, text, policies)
            assert cache.stats.bytes_held <= max_bytes
        reused += cache.stats.ids_reused
    assert reused > (3000 if backend == "native" else 100)


@pytest.mark.parametrize("name", CASES)
def test_text_models(name: str, tmp_path: Path, backend: BackendName) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[name]))
    # The native backend cannot merge the tokens of all files; None then selects Python.
    tok = bpe.load(path, backend="python" if backend == "python" else None)
    random = seeded(f"prompts {name}")
    cache = small_cache(tok)
    pieces = ["the", " the", " fox", "▁", " ", "<s>", "<sep>", "foo", "ab", "é", "\n", "  ", "x"]
    for text in prompts(random, pieces, 20 if backend == "native" else 5):
        check(random, tok, cache, text, ["allow", "text", "raise"])


LINES = "\n".join(f"line {number} says {number * number}" for number in range(3000))


def test_parts_are_found_at_any_place(backend: BackendName) -> None:
    tok = bpe.train([LINES[:2000]], 280, backend=backend) if backend == "native" else None
    if tok is None:
        pytest.skip("the Python backend keeps whole texts")
    cache = PromptCache(tok)
    first = cache.encode(LINES)
    assert (first.reused, first.reused_prefix) == (0, 0)
    again = cache.encode(LINES)
    assert again.reused == again.reused_prefix > 0.9 * len(again)
    # Without a prefix, a later part has the ids of a text.
    assert cache.encode(LINES, continuation=True).reused_prefix == again.reused
    # A longer text, a text with another front, and one with another middle.
    assert cache.encode(LINES + " and more").reused >= again.reused
    front = cache.encode("Today is Monday.\n" + LINES)
    assert front.reused_prefix == 0
    assert front.reused > 0.85 * len(front)
    middle = cache.encode(f"{LINES[:40_000]} inserted {LINES[40_000:]}")
    assert middle.reused > 0.85 * len(middle)
    assert 0.3 * len(middle) < middle.reused_prefix < middle.reused
    # Documents in another order.
    swapped = cache.encode(LINES[30_000:] + LINES[:30_000])
    assert swapped.reused > 0.8 * len(swapped)


@pytest.mark.parametrize("behavior", ["isolated", "merged_with_next"])
def test_whole_texts_are_found(behavior: Behavior, backend: BackendName) -> None:
    """With such a normalizer, or a first stage that is not isolated, there are no cuts."""
    normalizer = NormalizerChain((UnicodeForm("NFKC"),)) if behavior == "isolated" else None
    preset = pretok.Preset("p", stages=[Stage((Run(LETTER),), behavior=behavior)])
    vocabulary = bpe.train(["ab"], 257).vocabulary
    tok = Tokenizer(vocabulary, preset, normalizer=normalizer, backend=backend)
    cache = PromptCache(tok)
    text = "ab ﬁ " * 200
    assert cache.encode(text).reused == 0
    found = cache.encode(text.encode())
    assert found.reused == found.reused_prefix == len(found)
    assert found.ids.tolist() == tok.encode(text)
    found.ids[:] = 0  # the array is the caller's own
    assert cache.encode(text).ids.tolist() == tok.encode(text)
    assert cache.encode(text + "x").reused == 0


def test_salts_and_policies_share_nothing(backend: BackendName) -> None:
    made = bpe.train([LINES[:2000]], 280).vocabulary
    tok = Tokenizer(made, "gpt2", added_tokens=[AddedToken("says", 900)], backend=backend)
    text = LINES[:20_000]
    for mask in (ALL_BITS, 0):  # with 0, all chunks have the same hash
        cache = small_cache(tok, windows=(1024, 4096), hash_mask=mask)
        assert cache.encode(text, "text", salt="a").reused == 0
        assert cache.encode(text, "text", salt="b").reused == 0
        assert cache.encode(text, "text").reused == 0
        allowed = cache.encode(text, "allow")
        assert allowed.reused == 0
        assert allowed.ids.tolist() == tok.encode(text, "allow")
        with pytest.raises(bpe.SpecialTokenError) as error:
            cache.encode(text, salt="a")
        assert cache.stats.calls == 4  # without the one that failed
        with pytest.raises(bpe.SpecialTokenError) as expected:
            tok.encode(text)
        assert error.value.position == expected.value.position
    assert cache.encode(text, {"says"}).ids.tolist() == tok.encode(text, "allow")
    if backend == "native":
        return
    assert cache.encode(text, "text", salt=b"b").reused > 0


def test_the_prefix_comes_once(tmp_path: Path, native: BackendName) -> None:
    tok = Tokenizer(bpe.train(["ab"], 257).vocabulary, "gpt2", add_prefix_space=True)
    text = "ab!\n" * 60
    cache = small_cache(tok, windows=(4, 4))
    expected = tok.encode(text)
    for _ in range(3):
        assert cache.encode(text).ids.tolist() == expected
        assert cache.encode(text, continuation=True).ids.tolist() == tok.encode(
            text, continuation=True
        )


def test_a_collision_is_a_miss(vocabulary: bpe.Vocabulary, native: BackendName) -> None:
    tokens = [AddedToken("<e>", 900)]
    tok = Tokenizer(vocabulary, "gpt2", added_tokens=tokens, add_prefix_space=True)
    text = "the <e> abc\n" * 6  # one chunk and a rest
    calls: list[dict[str, Any]] = [
        {}, {"salt": "a"}, {"salt": "b"}, {"special": "allow"}, {"special": set()},
        {"continuation": True},
    ]  # fmt: skip
    for before in calls:
        for after in calls:
            cache = small_cache(tok, windows=(64, 64), hash_mask=0)  # all hashes are equal
            cache.encode(text, **{"special": "text"} | before)
            assert cache.stats.chunks == 1
            options = {"special": "text"} | after
            found = cache.encode(text, **options)
            assert (found.reused > 0) == (before == after)
            options.pop("salt", None)
            assert found.ids.tolist() == tok.encode(text, **options)


def test_templates_and_counts(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    tok = Tokenizer(vocabulary, "gpt2", template=Template((7, 8), (9,)), backend=backend)
    cache = PromptCache(tok)
    ids = tok.encode(LINES)
    first = cache.encode(LINES, add_special_tokens=True)
    assert first.ids.tolist() == [7, 8, *ids, 9]
    assert (first.reused, first.reused_prefix) == (0, 0)
    again = cache.encode(LINES, add_special_tokens=True)
    assert again.ids.tolist() == [7, 8, *ids, 9]
    assert again.reused_prefix == (again.reused + 2 if again.reused else 0)
    stats = cache.stats
    assert (stats.calls, stats.bytes, stats.ids) == (2, 2 * len(LINES), 2 * len(ids))
    assert stats.ids_reused == again.reused
    cache.clear()
    assert (cache.stats.chunks, cache.stats.calls) == (0, 2)
    assert cache.encode(LINES).reused == 0
    assert cache.encode("").ids.tolist() == []


def test_the_bound_holds(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    tok = Tokenizer(vocabulary, "gpt2", backend=backend)
    is_native = backend == "native"
    for max_bytes in (0, 1000, 300_000, 2_000_000):
        cache = PromptCache(tok, max_bytes)
        for number in range(80 if is_native else 8):
            text = "".join(f"{number} {at}\n" for at in range(2000 if is_native else 300))
            assert cache.encode(text).ids.tolist() == tok.encode(text)
            assert cache.stats.bytes_held <= max_bytes
        # A chunk of these texts takes about 10,000 bytes, and may take 1/8 of 1/16 of the bound.
        assert (cache.stats.chunks > 0) == (max_bytes > (300_000 if is_native else 1000))
    assert (cache.stats.evicted > 0) == is_native


def test_recently_used_chunks_stay(vocabulary: bpe.Vocabulary, native: BackendName) -> None:
    tok = Tokenizer(vocabulary, "gpt2")
    cache = PromptCache(tok, 2 << 20)
    kept = LINES[:30_000]
    cache.encode(kept)
    reused = cache.encode(kept).reused
    for number in range(60):
        assert cache.encode(kept).reused == reused
        cache.encode("".join(f"{number} {at}\n" for at in range(3000)))
    assert cache.stats.evicted > 100


def test_arguments(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    tok = Tokenizer(vocabulary, "gpt2", backend=backend)
    cache = PromptCache(tok, 1 << 20)
    for arguments in ((1,), ("a", 5), (["a"],)):
        with pytest.raises(TypeError):
            cache.encode(*arguments)
    with pytest.raises(TypeError, match="salt="):
        cache.encode("a", salt=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="special="):
        cache.encode("a", "other")
    with pytest.raises(ValueError, match="errors="):
        cache.encode("a", errors="other")  # type: ignore[arg-type]
    for wrong in (1.5, True):
        with pytest.raises(TypeError, match="max_bytes"):
            PromptCache(tok, wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_bytes"):
        PromptCache(tok, -1)
    with pytest.raises(TypeError, match=r"bpe\.Tokenizer"):
        PromptCache("gpt2")  # type: ignore[arg-type]
    cache.encode(LINES)
    copy = pickle.loads(pickle.dumps(cache))
    assert (copy.max_bytes, copy.stats.calls) == (1 << 20, 0)
    assert copy.encode("abc\n" * 999).ids.tolist() == tok.encode("abc\n" * 999)
    assert "PromptCache(" in repr(copy)
    assert cache.tokenizer is tok


def test_many_threads(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    tok = Tokenizer(vocabulary, "gpt2", backend=backend)
    size = 60_000 if backend == "native" else 4_000
    texts = [LINES[at : at + size] for at in range(0, size, size // 6)]
    expected = [tok.encode_array(text) for text in texts]
    cache = PromptCache(tok, 1_400_000)
    failures: list[int] = []

    def work(seed: int) -> None:
        random = Random(seed)
        for _ in range(30):
            at = random.randrange(len(texts))
            if not np.array_equal(cache.encode(texts[at]).ids, expected[at]):
                failures.append(at)
            if random.random() < 0.05:
                cache.clear()

    threads = [Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert cache.stats.calls == 240
    assert 0 < cache.stats.bytes_held <= 1_400_000


FORK_WHILE_BUSY = """
import os, sys, threading
from bpe import PromptCache, Tokenizer, Vocabulary
tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab", 257: b"abab"}
tok = Tokenizer(Vocabulary(tokens), "cl100k", backend=sys.argv[1])
text = "abab ab xyz 123\\n" * (20_000 if sys.argv[1] == "native" else 30)
wanted = tok.encode(text)
cache = PromptCache(tok, 1 << 24)
stop = threading.Event()
def work():
    while not stop.is_set():
        cache.encode(text)
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
for turn in range(8):
    child = os.fork()
    if child == 0:
        os._exit(0 if all(cache.encode(text).ids.tolist() == wanted for _ in range(3)) else 9)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads: thread.join()
print("done")
"""


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="needs a reliable os.fork")
def test_a_fork_while_threads_encode(backend: BackendName) -> None:
    done = run_python(FORK_WHILE_BUSY, backend)
    assert (done.returncode, done.stdout.split()) == (0, ["done"]), done.stderr
