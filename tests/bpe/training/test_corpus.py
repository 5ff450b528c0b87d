"""Reading, cutting and counting what is trained on: the same words, however the text comes."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import pretok
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import TextFileError
from bpe.training import corpus, counting
from bpe.training.corpus import read_texts
from bpe.training.counting import text_counter
from pretok import Groups, Literal
from pretok.charsets import ANY, LETTER
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import native_machine
from strategies import any_rules
from support import SOME_NAMES, TOO_MUCH, growth, max_examples, seeded

HOSTILE = ("a", " ", "  ", "\n", "\r\n", "\t ", "'", "'ll", "'S", "1", "12", "é", "中", "😀",
           "\u0301", "A", "Ab", "aB", "_", "!", "/", "\u3000", "\u00a0", "ſ")  # fmt: skip
some_text = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=3), max_size=60).map("".join)
some_bytes = st.binary(max_size=12) | some_text.map(lambda text: text.encode("utf-8", "replace"))


def words_of(
    texts: list[bytes | str], name: str, backend: BackendName, threads: int | None = None
) -> list[tuple[bytes, int]]:
    counter = text_counter(pretok.get(name, backend=backend), backend, threads)
    for item in read_texts(texts, "text", counter.collect_batch):
        if isinstance(item, list):
            counter.add(item)
        else:
            counter.add_blocks(item)
    return counter.finish().take()


def expected_words(texts: list[bytes], name: str) -> list[tuple[bytes, int]]:
    tokenizer = pretok.get(name)
    return list(Counter(word for text in texts for word in tokenizer.split_bytes(text)).items())


def safe_cut(tokenizer: pretok.PreTokenizer, data: bytes) -> int:
    from pretok import _core

    return _core.safe_cut(cast(_core.Machine, native_machine(tokenizer)), data)


@pytest.mark.parametrize("name", SOME_NAMES)
@given(data=st.lists(some_bytes, max_size=5).map(b"".join), more=some_bytes)
@settings(max_examples=max_examples(60))
def test_a_cut_is_safe_whatever_follows(
    name: str, native: BackendName, data: bytes, more: bytes
) -> None:
    tokenizer = pretok.get(name, backend=native)
    cut = safe_cut(tokenizer, data)
    assert 0 <= cut <= len(data)
    whole = tokenizer.split_bytes(data + more)
    apart = tokenizer.split_bytes(data[:cut]) + tokenizer.split_bytes(data[cut:] + more)
    assert whole == apart


@given(rules=any_rules, data=st.lists(some_bytes, max_size=5).map(b"".join), more=some_bytes)
# At the end of a part there is one more pre-token than in the whole, where a gap goes on.
@example(rules=[(Groups(LETTER, 1, 1, ANY), ""), (Literal("a"), "")], data=b"\0Aa\0", more=b"")
@settings(max_examples=max_examples(1000))
def test_a_cut_is_safe_with_any_rules(
    native: BackendName, rules: list[tuple[pretok.Rule, str]], data: bytes, more: bytes
) -> None:
    preset = pretok.Preset("random", tuple(rule for rule, _ in rules))
    tokenizer = pretok.PreTokenizer(preset, backend=native)
    cut = safe_cut(tokenizer, data)
    apart = tokenizer.split_bytes(data[:cut]) + tokenizer.split_bytes(data[cut:] + more)
    assert tokenizer.split_bytes(data + more) == apart


def test_cuts_come_late(native: BackendName) -> None:
    text = "The quick brown fox, 12 times.\n" * 200
    for name in SOME_NAMES:
        tokenizer = pretok.get(name, backend=native)
        assert safe_cut(tokenizer, text.encode()) > len(text) - 40
        assert safe_cut(tokenizer, b"") == 0


@given(texts=st.lists(some_bytes, max_size=8), threads=st.sampled_from([None, 1, 2, 5]))
@settings(max_examples=max_examples(100))
def test_words_come_in_order_of_first_appearance(
    backend: BackendName, texts: list[bytes], threads: int | None
) -> None:
    for name in ("gpt2", "o200k"):
        assert words_of([*texts], name, backend, threads) == expected_words(texts, name)


@pytest.mark.parametrize("threads", [1, 2, 5, 1000])
def test_threads_change_nothing(
    threads: int, native: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "BATCH", 3 << 20)
    monkeypatch.setattr(counting, "WORTH_A_THREAD", 1)
    chance = seeded(5)
    vocabulary = [
        "".join(chance.choices("abcdeé中 \n", k=chance.randint(1, 9))) for _ in range(5000)
    ]
    text = " ".join(chance.choices(vocabulary, k=700_000))
    texts: list[bytes | str] = [text, *text[:40_000].split("\n"), text[:100_000]]
    as_bytes = [item.encode() if isinstance(item, str) else item for item in texts]
    assert words_of(texts, "cl100k", native, threads) == expected_words(as_bytes, "cl100k")


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
@given(text=st.lists(some_text, max_size=5).map("".join), is_str=st.booleans())
@settings(max_examples=max_examples(40))
def test_blocks_change_nothing(block: int, backend: BackendName, text: str, is_str: bool) -> None:
    data = text.encode("utf-8", "replace") + (b"" if is_str else b"\xe4\xb8 \xff")
    source = data.decode() if is_str else data
    before, corpus.BLOCK = corpus.BLOCK, block
    try:
        found = words_of([source], "llama3", backend)
    finally:
        corpus.BLOCK = before
    assert found == expected_words([data], "llama3")


def test_surrogates_are_joined_or_replaced(
    backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\ud83d\ude00 x\ud83d y\ude00 \ud83d\ude00"
    clean = "\U0001f600 x\ufffd y\ufffd \U0001f600".encode()
    assert words_of([text], "gpt2", backend) == expected_words([clean], "gpt2")
    monkeypatch.setattr(corpus, "BLOCK", 1)
    assert words_of([text], "gpt2", backend) == expected_words([clean], "gpt2")


class Spaces:
    """A user's pre-tokenizer: it knows str and code points only."""

    def offsets(self, text: str, /) -> NDArray[np.int64]:
        ends = [at for at, char in enumerate(text) if char == " " and at]
        return np.array([0, *ends, len(text)] if text else [0])


def test_a_pre_tokenizer_of_the_user_counts_the_same(backend: BackendName) -> None:
    counter = text_counter(Spaces(), backend, None)
    counter.add(["né né x".encode(), b"", b"x \xff\xff"])
    counter.add_blocks(iter([b" ", b"x n\xc3", b"\xa9 \xff\xff"]))
    assert counter.finish().take() == [
        ("né".encode(), 1),
        (" né".encode(), 2),
        (b" x", 2),
        (b"x", 1),
        (b" \xff\xff", 2),
    ]


def test_one_long_pre_token_is_read_in_linear_time(backend: BackendName) -> None:
    def work(size: int) -> None:
        counter = text_counter(pretok.get("cl100k", backend=backend), backend, 1)
        counter.add_blocks(b"a" * 100 for _ in range(size // 100))
        assert counter.finish().take() == [(b"a" * size, 1)]

    assert growth(work, 20_000 if backend == "python" else 200_000) < TOO_MUCH


# Files.

ROWS: list[dict[str, Any]] = [
    {"text": "it's\nné 中"},
    {"text": ""},
    {"id": 1, "text": "a.txt"},
    {"text": "\ud83d\ude00"},
]


def packed(name: str, data: bytes) -> bytes:
    if name.endswith(".gz"):
        half = len(data) // 2
        return gzip.compress(data[:half]) + gzip.compress(data[half:])
    if name.endswith(".zst"):
        zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
        compress = zstandard.ZstdCompressor(write_checksum=True).compress
        half = len(data) // 2
        return bytes(compress(data[:half]) + compress(data[half:]))
    return data


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(packed(name, data))
    return path


def read(source: Any, field: str = "text") -> list[bytes]:
    found: list[bytes] = []
    for item in read_texts(source, field):
        found += map(encode_utf8, item) if isinstance(item, list) else [b"".join(item)]
    return found


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_files_hold_the_texts_that_are_in_them(suffix: str, tmp_path: Path) -> None:
    text = ("Ein Text,\r\n\tné \U0001f600" * 90_000).encode() + b"\xff"
    plain = write(tmp_path, "a.txt" + suffix, text)
    lines = "\n".join(map(json.dumps, ROWS)).replace("\n", "\r\n\n", 1).encode()
    rows = write(tmp_path, "b.JSONL" + suffix, b"\xef\xbb\xbf" + lines)
    texts = [utf8_of(row["text"]) for row in ROWS]
    assert read(plain) == [text]
    assert read([rows, plain]) == [*texts, text]
    assert read(path for path in (plain, rows)) == [text, *texts]
    assert read(["first", plain, b"last"]) == [b"first", text, b"last"]
    assert read(write(tmp_path, "empty.txt" + suffix, b"")) == [b""]


def utf8_of(text: str) -> bytes:
    return text.encode("utf-16", "surrogatepass").decode("utf-16").encode()


def test_another_field(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"text": 1, "content": "x"}\n{"content": "y"}')
    assert read(path, "content") == [b"x", b"y"]


def test_long_lines_and_long_texts(tmp_path: Path) -> None:
    long = "né " * 1_500_000
    path = write(tmp_path, "a.jsonl", json.dumps({"text": long}).encode() + b"\n" + b'{"text":"x"}')
    assert read([path, long, long.encode()]) == [long.encode(), b"x", long.encode(), long.encode()]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"text": ', r"line 2: not JSON in UTF-8 \(Expecting value"),
        (b'{"text": "\xff"}', r"line 2: not JSON in UTF-8 \('utf-8' codec"),
        (b'["text"]', r"line 2: a JSON list; expected an object with a text under 'text'"),
        (b'{"body": "x"}', r"line 2: no 'text' among the keys \['body'\]; pass field="),
        (b'{"text": null}', r"line 2: 'text' is of type NoneType; expected a string"),
        (b"[" * 100_000, r"line 2: not JSON in UTF-8 \(.*recursion"),
    ],
)
def test_a_bad_line_is_named(line: bytes, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, "bad.jsonl", b'{"text": "fine"}\n' + line + b"\n")
    with pytest.raises(TextFileError, match=rf"bad\.jsonl, {said}"):
        read(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-9],
        lambda data: data[: len(data) // 3],
        lambda data: b"no such thing" + data,
        lambda data: data + b"rest that is no frame",
        lambda data: data[:200] + bytes(byte ^ 0x55 for byte in data[200:400]) + data[400:],
    ],
    ids=["end", "third", "start", "rest", "middle"],
)
def test_damaged_files_are_named(
    suffix: str, damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    chance = seeded(3)
    path = write(tmp_path, f"a.txt{suffix}", bytes(chance.choices(b"abcdefgh", k=20_000)))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(TextFileError, match=rf"a\.txt{suffix}: truncated or damaged \(.+\)"):
        read(path)


@pytest.mark.parametrize("name", ["a.csv", "a", "a.gz", "a.zst", "a.txt.xz", "a.gz.txt.bz2", "txt"])
def test_other_kinds_of_files_are_refused_at_once(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, "fine.txt", b"x")
    (tmp_path / name).write_bytes(b"x")
    said = r"unknown file type; expected a name that ends in one of \.txt, \.txt\.gz, \.txt\.zst"
    with pytest.raises(TextFileError, match=said):
        read_texts([path, tmp_path / name], "text")


def test_a_missing_file_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        read_texts([tmp_path / "missing.txt"], "text")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(IsADirectoryError):
        read_texts([tmp_path / "folder.txt"], "text")


def test_zst_without_a_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "a.txt.zst").write_bytes(b"x")
    with pytest.raises(ModuleNotFoundError, match="pip install zstandard"):
        read(tmp_path / "a.txt.zst")


def test_the_name_of_a_file_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a.txt", b"x")
    write(tmp_path, "B.JSONL.GZ", b"x")
    for name in ("a.txt", "B.JSONL.GZ", str(tmp_path / "a.txt")):
        with pytest.raises(ValueError, match=r"is the name of a file; pass pathlib\.Path\("):
            read(["text", name])
    assert read(["b.txt", "a.txt\n", "a", b"a.txt", "\0.txt"]) == [
        b"b.txt", b"a.txt\n", b"a", b"a.txt", b"\0.txt",
    ]  # fmt: skip


@pytest.mark.parametrize("source", ["text", b"text", bytearray(b"text")])
def test_a_single_text_is_no_source(source: object) -> None:
    with pytest.raises(TypeError, match=r"expected an iterable of texts or a path.*pass \[text\]"):
        read(source)


@pytest.mark.parametrize("source", [5, None])
def test_a_source_can_be_iterated(source: object) -> None:
    kind = type(source).__name__
    with pytest.raises(TypeError, match=rf"^expected an iterable of texts or a path, got {kind}$"):
        read(source)


def test_an_indexed_source_needs_iter() -> None:
    class Rows:
        def __getitem__(self, index: int) -> str:
            return ["a", "b"][index]

    with pytest.raises(TypeError, match=r"got Rows; it has no __iter__, so pass iter\(source\)"):
        read(Rows())
    assert read(iter(Rows())) == [b"a", b"b"]


@pytest.mark.parametrize("item", [1, None, ["nested"], {"text": "x"}])
def test_an_item_that_is_no_text_is_named(item: object) -> None:
    with pytest.raises(TypeError, match=f"expected str, bytes .*; got {type(item).__name__}"):
        read(["fine", item])


def test_bytes_come_in_every_form() -> None:
    assert read([bytearray(b"ab"), memoryview(b"c"), memoryview(b"abcd")[::2]]) == [
        b"ab",
        b"c",
        b"ac",
    ]


def test_texts_are_read_little_by_little(backend: BackendName) -> None:
    """One hundred megabytes of text pass through in a few, and the last is asked for late."""
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for taken in range(100):
            yield f"{taken % 7} words in it " * (90_000 if backend == "native" else 100)

    read_texts(endless(), "text")
    assert taken == 0
    tracemalloc.start()
    try:
        counter = text_counter(pretok.get("gpt2", backend=backend), backend, 1)
        for item in read_texts(endless(), "text", counter.collect_batch):
            if isinstance(item, list):
                counter.add(item)
            else:
                counter.add_blocks(item)
        words = dict(counter.finish().take())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken == 99
    assert sum(words.values()) == 100 * (360_001 if backend == "native" else 401)
    assert peak < 30 << 20


def test_files_are_read_little_by_little(
    backend: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, limit = 40 << 20, 24 << 20
    if backend == "python":  # takes about 34 times the size of a block
        monkeypatch.setattr(corpus, "BLOCK", 1 << 15)
        size, limit = 1 << 18, 4 << 20
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(size >> 16):
            stream.write(b"sixteen letters " * (1 << 12))
    tracemalloc.start()
    try:
        counter = text_counter(pretok.get("gpt2", backend=backend), backend, 1)
        for item in read_texts(path, "text"):
            assert not isinstance(item, list)
            counter.add_blocks(item)
        words = dict(counter.finish().take())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert words == {b"sixteen": 1, b" sixteen": (size >> 4) - 1, b" letters": size >> 4, b" ": 1}
    assert peak < limit
