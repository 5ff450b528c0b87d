"""Split bytes that are not UTF-8, long runs, and texts in many threads and processes."""

from __future__ import annotations

import codecs
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise, product

import pytest

import pretok
from concurrency import assert_lets_threads_run, run_at_once
from pretok import PreTokenizer
from pretok.machine.backend import BackendName
from pretok.machine.machine import WINDOW, Unit
from support import (
    CORE_NAMES,
    FULL,
    SOME_NAMES,
    TIMES,
    TOO_MUCH,
    growth,
    run_python,
    sample,
    seeded,
)

PYTHON: BackendName = "python"
UNITS: tuple[Unit, ...] = ("char", "byte", "utf16")
# The first and last byte of each range that UTF-8 allows or forbids, ASCII of several classes, and
# continuation bytes on both sides of the limits that apply after E0, ED, F0 and F4.
CRITICAL = bytes.fromhex(
    "00 09 0a 0d 20 27 2f 30 41 53 5a 61 73 74 7a 7f"
    "80 81 85 8f 90 9f a0 a5 ad b0 b8 bd be bf"
    "c0 c1 c2 c3 c5 cc cd d9 df"
    "e0 e1 e2 e3 e4 e8 ec ed ee ef"
    "f0 f1 f2 f3 f4 f5 f8 fb fc fe ff"
)
FEW = bytes.fromhex("0a 20 27 31 41 73 80 85 a0 b8 bf c2 cc e0 e2 e4 ed ef f0 f4 ff")


def all_sequences(of: bytes, length: int) -> Iterator[bytes]:
    return map(bytes, product(of, repeat=length))


def as_private_use(error: UnicodeError) -> tuple[str, int]:
    """An error handler: a byte that is not UTF-8 becomes U+E000.

    pretok gives both the same class, because U+E000 is for private use, of general category C.
    """
    assert isinstance(error, UnicodeDecodeError)
    return "\ue000" * (error.end - error.start), error.end


codecs.register_error("pretok-test-private-use", as_private_use)


def check_bytes(
    names: Sequence[str], sequences: list[bytes], backend: BackendName, every_method: bool = True
) -> None:
    """Compare splits of bytes with splits of the same text as str by the default backend.

    `every_method` says whether to compare `count` and `offsets` too.
    """
    escaped = "surrogateescape"
    for name in names:
        tok = pretok.get(name, backend=backend)
        wanted = [
            list(accumulate(map(len, parts), initial=0))
            for parts in pretok.get(name).split_batch([kind(data) for data in sequences])
        ]
        for data, bounds in zip(sequences, wanted, strict=True):
            text = data.decode("utf-8", escaped)
            parts = tok.split_bytes(data)
            found = [text[a:b].encode("utf-8", escaped) for a, b in pairwise(bounds)]
            assert parts == found, (name, data)
            if every_method:
                assert tok.count(data) == len(parts)
                assert tok.offsets(data, "byte").tolist() == [0, *accumulate(map(len, parts))]


def kind(data: bytes) -> str:
    """Return `data` as a str in which all bytes that are not UTF-8 are the same character."""
    return data.decode("utf-8", "pretok-test-private-use")


def one_of_each_kind(sequences: Iterable[bytes]) -> list[bytes]:
    """Return the first sequence of each kind.

    Sequences of a kind differ only in the values of bytes that are not UTF-8. The Python backend
    gives all such bytes the same class. So one sequence of each kind, and each byte alone, are
    enough to test it.
    """
    kinds: dict[str, bytes] = {}
    for data in sequences:
        kinds.setdefault(kind(data), data)
    return list(kinds.values())


def test_every_sequence_of_1_and_2_bytes(backend: BackendName) -> None:
    every = bytes(range(256))
    single = list(all_sequences(every, 1))
    # Pure Python takes ten times as long, so it tries fewer. test_exhaustive.py compares offsets of
    # sequences of three bytes in both backends.
    is_native = backend == "native"
    two = sample(all_sequences(every, 2), 1 << 16 if is_native else 3_000)
    check_bytes(["o200k"], [*single, *two], backend, every_method=is_native)
    pairs = list(all_sequences(CRITICAL, 2))
    pairs = sample(pairs, 1_000) if is_native else sample(one_of_each_kind(pairs), 200)
    check_bytes(SOME_NAMES, [*single, *pairs], backend)


def test_every_sequence_of_3_critical_bytes_on_both_backends(native: BackendName) -> None:
    ours, theirs = (pretok.get("o200k", backend=name) for name in (native, PYTHON))
    expected: dict[str, list[int]] = {}
    sequences = sample(all_sequences(CRITICAL, 3), 30_000)
    for data in one_of_each_kind(sequences):
        expected[kind(data)] = list(map(len, theirs.split_bytes(data)))
    for data in sequences:
        parts = ours.split_bytes(data)
        assert list(map(len, parts)) == expected[kind(data)], data
        assert b"".join(parts) == data


def test_sequences_of_3_bytes_among_letters(backend: BackendName) -> None:
    sequences = [b"a" + data + b"'s" for data in all_sequences(FEW, 3)]
    if backend == "python":
        sequences = sample(one_of_each_kind(sequences), 1_000)
    check_bytes(["gpt2", "cl100k", "o200k"], sequences, backend)


# One code point of each class and of each length in UTF-8, and alternations of classes.
CODE_POINTS = ("a", "A", "\u00e9", "\u4e2d", "\U00020000", "\u02b0", "\u0301", "1", "\u00bd",
               "\u216b", "\n", "\r", " ", "\t", "\u3000", "!", "'", "+", "\U0001f600", "\x00",
               "\u200b", "\ue000", "\U0010ffff", "\ud800")  # fmt: skip
ALTERNATIONS = ("'s", " \n", "\n ", "a\u4e2d", "\u25cc\u0301", "aA", "A\u0301", "1a", " a", "!\n",
                "/\n", "\r\n", "''", " \u3000", "\u00bd\u4e2d")  # fmt: skip


@pytest.mark.parametrize("unit", [*CODE_POINTS, *ALTERNATIONS], ids=ascii)
def test_a_long_run_takes_linear_time(backend: BackendName, unit: str) -> None:
    names = ("o200k", "cl100k") if unit.isspace() else ("o200k",)
    data = unit.encode("utf-8", "surrogatepass")
    # The largest size in bytes. A smaller size comes first, because quadratic code would hardly end
    # at the largest. Python's texts fit in one window, the part of a text that it reads at once.
    # test_machine.py tests several windows.
    most = (20_000_000 if FULL else 4_000_000) if backend == "native" else 200_000
    for name in names:
        tok = pretok.get(name, backend=backend)
        for text in (unit, data):

            def work(n: int, tok: PreTokenizer = tok, text: str | bytes = text) -> None:
                tok.count(text * (n // len(data)))

            for size in sorted({200_000, most}):
                assert growth(work, size // TIMES) < TOO_MUCH, (name, text, size)


@pytest.mark.parametrize("name", CORE_NAMES)
def test_long_runs_split_as_short_ones(backend: BackendName, name: str) -> None:
    # On these runs, backtracking engines overflow the stack.
    tok = pretok.get(name, backend=backend)
    n = 1_300_000
    assert tok.split(" " * n + "x") == [" " * (n - 1), " x"]
    assert tok.split("A" * n) == ["A" * n]
    assert tok.split("^" * n) == ["^" * n]
    assert tok.split("\n" * n) == ["\n" * n]
    n = 100_000
    pair = tok.split("'s" * 10)
    assert tok.split("'s" * n) == pair * (n * len("'s") // len("".join(pair)))
    assert "".join(tok.split("\u0301" * n + " '")) == "\u0301" * n + " '"


def mixed_text(size: int) -> str:
    rng = seeded(size)
    parts: list[str] = []
    length = 0
    while length < size:
        unit = rng.choice(("word ", "\u4e2d\u6587", " \n", "it's ", "12345", "!?", "A\u0301b",
                           "\U0001f600", "\t", "\x00", "\ud800"))  # fmt: skip
        parts.append(unit * rng.choice((1, 1, 2, 5, 30)))
        length += len(parts[-1])
    return "".join(parts)[:size]


def test_texts_longer_than_the_python_window(
    native: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = WINDOW if FULL else WINDOW // 8
    monkeypatch.setattr("pretok.machine.machine.WINDOW", window)
    text = mixed_text(window - 100) + "x" * 200 + mixed_text(window - 150) + " " * 300 + "y!" * 99
    for name in ("o200k", "r50k"):
        ours, theirs = (pretok.get(name, backend=each) for each in (native, PYTHON))
        for unit in UNITS:
            assert (ours.offsets(text, unit) == theirs.offsets(text, unit)).all()
        assert ours.count(text) == theirs.count(text)
    data = text.encode("utf-8", "surrogatepass")
    assert (ours.offsets(data) == theirs.offsets(data)).all()


def test_eight_threads_share_a_pre_tokenizer(backend: BackendName) -> None:
    tok = pretok.get("o200k", unicode="17.0", backend=backend)
    texts = [mixed_text(2000 + i) for i in range(8)]
    wanted = [tok.split(text) for text in texts]
    total = sum(map(len, wanted))

    def work(number: int) -> None:
        for turn in range(40 if backend == "native" else 8):
            i = (number + turn) % 8
            assert tok.split(texts[i]) == wanted[i]
            assert tok.count(texts[i]) == len(wanted[i])
            assert sum(map(len, tok.split_batch(texts, threads=2))) == total

    assert run_at_once([partial(work, number) for number in range(8)]) == []


def test_native_work_lets_other_threads_run(native: BackendName) -> None:
    tok = pretok.get("o200k", backend=native)
    text = "It's 2026, HTTPServer! " * 1_000_000
    assert_lets_threads_run(lambda: tok.count(text))


# A pickled method holds its pre-tokenizer, so the processes of the pool need nothing else.
POOL = """
import multiprocessing, sys
import pretok
if __name__ == "__main__":
    tok = pretok.get("o200k", backend=sys.argv[2])
    texts = ["It's 12345 \\u4e2d\\u6587\\n\\n " * i for i in range(50)]
    wanted = tok.split_batch(texts, threads=4)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(tok.split, texts) == wanted
        assert pool.map(tok.count, texts) == list(map(len, wanted))
        assert pool.apply(tok.split_batch, (texts,), {"threads": 4}) == wanted
        assert pool.apply(repr, (tok,)) == repr(tok)
    print(len(wanted))
"""


@pytest.mark.parametrize(
    "method", ["spawn"] if sys.platform in ("win32", "darwin") else ["fork", "spawn", "forkserver"]
)
def test_other_processes(backend: BackendName, method: str) -> None:
    done = run_python(POOL, method, backend)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["50"]


ENVIRONMENT = "import pretok; print(pretok.backend(), pretok.get('gpt2').backend)"
EXPLICIT = "import pretok; print(pretok.get('gpt2', backend='python').backend)"


def with_environment(code: str, value: str | None) -> subprocess.CompletedProcess[str]:
    environment = {key: text for key, text in os.environ.items() if key != "PRETOK_BACKEND"}
    if value is not None:
        environment["PRETOK_BACKEND"] = value
    return run_python(code, environment=environment)


def test_the_environment_forces_a_backend(backend: BackendName) -> None:
    assert with_environment(ENVIRONMENT, backend).stdout.split() == [backend, backend]
    assert with_environment(EXPLICIT, backend).stdout.split() == ["python"]


def test_native_is_the_default_where_it_is_built(native: BackendName) -> None:
    for value in (None, ""):
        assert with_environment(ENVIRONMENT, value).stdout.split() == [native, native]


@pytest.mark.parametrize("value", ["rust", "NATIVE", " python"])
def test_an_unknown_backend_in_the_environment(value: str) -> None:
    done = with_environment(ENVIRONMENT, value)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith(
        f"BackendError: PRETOK_BACKEND={value!r}; expected one of 'native', 'python'"
    )
    assert with_environment(EXPLICIT, value).stdout.split() == ["python"]


# As if the extension was not built: its import fails, even if its file exists.
WITHOUT = """
import sys
sys.modules["pretok._core"] = None
import pretok
assert pretok.backend() == "python" == pretok.get("gpt2").backend
assert pretok.get("gpt2").split("a b") == ["a", " b"]
pretok.get("gpt2", backend="native")
"""


def test_without_the_extension() -> None:
    done = with_environment(WITHOUT, None)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert (
        "BackendError: backend='native', but the C++ extension pretok._core was not built" in last
    )
    assert "reinstall pretok-bpe with a C++17 compiler available, or use 'python'" in last
