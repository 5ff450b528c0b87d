"""Tokenize long runs, bytes that are not UTF-8, and texts in many threads and processes."""

from __future__ import annotations

import random
import sys
import time
from functools import cache
from typing import Any

import pytest

import bpe
import pretok
from bpe import AddedToken, Tokenizer, UnsupportedError, Vocabulary
from concurrency import assert_lets_threads_run, run_at_once
from pretok.machine.backend import BackendName
from support import FULL, TIMES, TOO_MUCH, growth, run_python, seeded
from vocabularies import BYTES, ENDOFTEXT, installed_ranks

UNITS = ("a", "^", "0", "'s", " ", "\n", "\u7684", "\U0001f600", "\u00e9", "\x00", "aA", " \n",
         "ab", "\u0301", "\ud800", "a" * 40 + "b", "\r\n", "<|", "1a")  # fmt: skip


@cache
def make(name: str, backend: BackendName) -> Tokenizer:
    made = Vocabulary({id: token for token, id in installed_ranks(f"{name}_base").items()})
    added = [AddedToken(ENDOFTEXT, made.size + 1), AddedToken("<|endofprompt|>", made.size + 20)]
    return Tokenizer(made, name, added_tokens=added, backend=backend)


@pytest.mark.parametrize(
    "unit", UNITS, ids=lambda unit: ascii(unit[:8] if len(unit) < 9 else "a40")
)
def test_a_long_run_takes_linear_time(backend: BackendName, unit: str) -> None:
    names = ("o200k", "cl100k") if unit.isspace() or FULL else ("o200k",)
    size = 500_000 if backend == "native" else 16_000
    for name in names:
        tok = make(name, backend)

        def work(count: int, tok: Tokenizer = tok) -> None:
            tok.count(unit * (count // len(unit)))

        work(1000)
        assert growth(work, size // TIMES) < TOO_MUCH, name


@pytest.mark.parametrize("unit", ["a", "^", "0", "'s", " ", "\n", "\u7684", "\U0001f600"])
def test_a_million_of_one_character(native: BackendName, unit: str) -> None:
    """Other tokenizers overflow the stack on such texts, or take hours."""
    for name in ("cl100k", "o200k"):
        tok = make(name, native)
        text = unit * 1_000_000
        begin = time.process_time()
        ids = tok.encode_array(text)
        assert time.process_time() - begin < 20
        assert tok.decode_bytes(ids) == text.encode()
        # In the middle of a long run, one token or a cycle of a few tokens repeats.
        middle = ids[len(ids) // 3 : len(ids) // 3 + 1000].tolist()
        assert any(middle[period:] == middle[:-period] for period in range(1, 17))


@pytest.mark.parametrize("unit", ["a", "^", "0", "'s", " ", "\n", "\u7684"])
def test_long_runs_have_the_ids_of_tiktoken(native: BackendName, unit: str) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    tok = make("o200k", native)
    engine = tiktoken.Encoding(
        "o200k",
        pat_str=pretok.get("o200k").preset.pattern,
        mergeable_ranks=installed_ranks("o200k_base"),
        special_tokens={},
    )
    for count in (99, 100, 101, 1000, 20_000):
        for text in (unit * count, unit * count + "x", "x" + unit * count):
            assert tok.encode(text) == engine.encode_ordinary(text)


def test_merging_in_many_rounds_takes_linear_time(backend: BackendName) -> None:
    # Each merge makes one more merge possible, so there are as many rounds as bytes.
    letters = "".join(map(chr, range(97, 123)))
    tokens = dict(BYTES)
    for size in range(2, 27):
        tokens[1000 - size] = letters[-size:].encode()
    tok = Tokenizer(Vocabulary(tokens), "gpt2", backend=backend)
    most = 2_000_000 if backend == "native" else 60_000

    def work(count: int) -> None:
        tok.count(letters * (count // 26), threads=1)  # more threads take time to start

    assert growth(work, most // TIMES) < TOO_MUCH
    assert tok.count(letters * 1000) < 26_000


def mixed(rng: random.Random, size: int) -> str:
    units = ("word ", "\u4e2d\u6587", " \n", "it's ", "12345", "!?", "A\u0301b", "\U0001f600", "\t",
             "\x00", "\ud800", "<|endoftext|", "<|<|")  # fmt: skip
    return "".join(rng.choice(units) * rng.choice((1, 1, 2, 30)) for _ in range(size))


@pytest.mark.parametrize("seed", range(4))
def test_both_backends_encode_odd_texts_alike(native: BackendName, seed: int) -> None:
    rng = seeded(seed)
    ours, theirs = make("o200k", native), make("o200k", "python")
    for size in (1, 10, 300):
        text = mixed(rng, size)
        assert ours.encode(text) == theirs.encode(text)
        assert ours.tokens(text) == theirs.tokens(text)
    for _ in range(200):
        data = rng.randbytes(rng.choice((1, 5, 100)))
        ids = ours.encode(data, "text")
        assert ids == theirs.encode(data, "text")
        assert ours.tokens(data, "text") == theirs.tokens(data, "text")
        assert ours.decode_bytes(ids) == data


def test_more_pre_tokens_than_a_cache_holds(native: BackendName) -> None:
    """Ids do not depend on the cache, however often it evicts pre-tokens."""
    tok = make("cl100k", native)
    merge = tok.merge  # without any cache
    rng = seeded(1)
    letters = "etaoinshrdlu" * 100_000
    sizes = (3, 8, 15, 16, 17, 20, 31, 33, 60)
    starts = rng.sample(range(10**6), 250_000)
    words = [f" {letters[at : at + rng.choice(sizes)]}{at}" for at in starts]
    words += ["".join(rng.choices("qxzjkvw", k=rng.choice((14, 15, 16, 17, 24, 64, 300))))
              for _ in range(60_000)]  # fmt: skip
    text = "\n".join(words)
    found = tok.encode_array(text)
    assert tok.decode(found) == text
    assert (tok.encode_array(text) == found).all()
    again = tok.encode_batch_array([text[at : at + 50_000] for at in range(0, 5_000_000, 50_000)])
    assert (tok.encode_batch_array(
        [text[at : at + 50_000] for at in range(0, 5_000_000, 50_000)], threads=3
    )[0] == again[0]).all()  # fmt: skip
    sample = text[: text.index("\n", 3_000_000)]
    parts = pretok.get("cl100k").split_bytes(sample.encode())
    assert tok.encode(sample) == [id for part in parts for id in merge(part)]


def test_every_length_at_which_a_cache_or_a_table_changes(native: BackendName) -> None:
    tok, reference = make("cl100k", native), make("cl100k", "python")
    rng = seeded(2)
    for length in (*range(1, 70), 127, 128, 129, 511, 512, 513, 600):
        for alphabet in ("ab", "etaoinshrdlu", "\u4e2d\u6587", "\x00", "_-"):
            text = "".join(rng.choices(alphabet, k=length))
            wanted = reference.encode(text)
            for _ in range(3):
                assert tok.encode(text) == wanted
                assert tok.encode(text + " " + text) == reference.encode(text + " " + text)


def test_many_threads_share_a_tokenizer(backend: BackendName) -> None:
    tok = make("cl100k", backend)
    rng = seeded(3)
    count = 20  # threads
    texts = [mixed(rng, 100 if backend == "native" else 30) for _ in range(count)]
    wanted = [tok.encode(text) for text in texts]
    turns = 8 if backend == "native" else 2

    def work(number: int) -> None:
        for turn in range(turns):
            at = (number + turn) % count
            text, ids = texts[at], wanted[at]
            assert tok.encode(text) == ids
            assert tok.count(text, "allow") == len(ids)
            assert tok.encode(text, {ENDOFTEXT}) == ids
            assert tok.encode_batch([text, text], threads=2) == [ids, ids]
            assert [token.id for token in tok.tokens(text)] == ids
            assert tok.decode_bytes(ids).decode() == tok.decode(ids)

    assert run_at_once([lambda number=number: work(number) for number in range(count)]) == []  # type: ignore[misc]


def test_threads_share_lazy_attributes(backend: BackendName) -> None:
    for _ in range(5):
        tok = Tokenizer(
            Vocabulary(BYTES | {256: b"ab"}),
            "gpt2",
            added_tokens=[AddedToken("<s>", 300, single_word=True)],
            backend=backend,
        )

        def work(tok: Tokenizer = tok) -> None:
            assert tok.encode("<s> ab", "allow") == [300, 32, 256]
            assert tok.merges == ((b"a", b"b"),)
            assert tok.special_tokens == {"<s>": 300}
            assert hash(tok) == hash(tok)

        assert run_at_once([work] * 8) == []


def test_native_work_lets_other_threads_run(native: BackendName) -> None:
    tok = make("cl100k", native)
    text = "It's 2026, HTTPServer! " * 600_000
    ids = tok.encode_array(text)
    assert_lets_threads_run(lambda: tok.count(text))
    assert_lets_threads_run(lambda: tok.encode_array(text))
    assert_lets_threads_run(lambda: tok.encode_batch_array([text] * 2, threads=1))
    assert_lets_threads_run(lambda: tok.count("ab" * 2_000_000))
    assert len(ids) == tok.count(text)


# A pickled method holds its tokenizer, so the processes of the pool need nothing from this script.
POOL = """
import multiprocessing, sys
from bpe import AddedToken, Tokenizer, UnsupportedError, Vocabulary
if __name__ == "__main__":
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"he", 257: b"ll", 258: b"hell"}
    tok = Tokenizer(Vocabulary(tokens), "o200k", added_tokens=[AddedToken("<s>", 300)],
                    normalizer="NFC", backend=sys.argv[2])
    texts = ["hello\\u4e2d<s> e\\u0301\\n\\n " * i for i in range(40)]
    wanted = tok.encode_batch(texts, "allow", threads=4)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.starmap(tok.encode, [(text, "allow") for text in texts]) == wanted
        assert pool.map(tok.decode, wanted) == [tok.decode(ids) for ids in wanted]
        kwargs = {"threads": 4, "special": "allow"}
        assert pool.apply(tok.encode_batch, (texts,), kwargs) == wanted
        assert pool.apply(repr, (tok,)) == repr(tok)
        try:
            pool.apply(tok.encode, ("x<s>",))
        except Exception as error:
            assert (type(error).__name__, error.token, error.position) == (
                "SpecialTokenError", "<s>", 1)
        else:
            raise AssertionError("no error")
    print(len(wanted))
"""


@pytest.mark.parametrize(
    "method", ["spawn"] if sys.platform in ("win32", "darwin") else ["fork", "spawn", "forkserver"]
)
def test_other_processes(backend: BackendName, method: str) -> None:
    done = run_python(POOL, method, backend)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["40"]


FORK_WHILE_BUSY = """
import os, sys, threading
from bpe import Tokenizer, Vocabulary
tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab", 257: b"abab"}
tok = Tokenizer(Vocabulary(tokens), "cl100k", backend=sys.argv[1])
text = "abab ab xyz 123 " * (100_000 if sys.argv[1] == "native" else 500)
wanted = tok.encode(text)
stop = threading.Event()
def work():
    while not stop.is_set():
        tok.encode_batch([text] * 4, threads=4)
threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in threads: thread.start()
for turn in range(8):
    child = os.fork()
    if child == 0:
        same = tok.encode(text) == wanted == tok.encode_batch([text], threads=3)[0]
        os._exit(0 if same else 9)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads: thread.join()
print("done")
"""


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="needs a reliable os.fork")
def test_a_fork_while_threads_encode(backend: BackendName) -> None:
    done = run_python(FORK_WHILE_BUSY, backend)
    assert (done.returncode, done.stdout.split()) == (0, ["done"]), done.stderr


def test_many_tokenizers_come_and_go(backend: BackendName) -> None:
    made = Vocabulary(BYTES | {256: b"ab"})
    for number in range(60):
        tok = Tokenizer(made, "gpt2", backend=backend)
        assert tok.encode(f"ab{number}")[0] == 256
        assert tok.encode_batch(["ab"] * 3, threads=3) == [[256]] * 3


def test_repeated_large_batches(native: BackendName) -> None:
    tok = make("cl100k", native)
    batch = ["hello world's 123 \u4e2d\u6587 " * 20] * 3000
    wanted: Any = None
    for threads in (1, 2, 3, 8, 64):
        ids, offsets = tok.encode_batch_array(batch, threads=threads)
        wanted = wanted if wanted is not None else (ids, offsets)
        assert (ids == wanted[0]).all()
        assert (offsets == wanted[1]).all()
    assert tok.encode_batch(batch[:2])[0] == ids[: offsets[1]].tolist()


def test_nul_and_controls(backend: BackendName) -> None:
    tok = make("cl100k", backend)
    for text in ("\x00", "a\x00b", "\x00" * 300, "".join(map(chr, range(0x20))), "\x7f\x80\x9f",
                 "\ufeffa", "\ufffe\uffff", "\u2028\u2029", "\U0010ffff" * 3):  # fmt: skip
        assert tok.decode(tok.encode(text)) == text
        found = tok.tokens(text)
        assert b"".join(token.bytes for token in found) == text.encode()
        assert found[-1].end == len(text)


def test_a_preset_that_drops_text_is_refused(backend: BackendName) -> None:
    message = "preset 'clip' drops parts of the text, and decoding could not give them back"
    vocabulary = Vocabulary(BYTES)
    with pytest.raises(UnsupportedError, match=message):
        Tokenizer(vocabulary, "clip", backend=backend)
    with pytest.raises(UnsupportedError, match=message):
        bpe.train(["a b"], vocab_size=300, preset="clip", backend=backend, progress=False)
