"""Training within a bound on memory, and after a kill: the vocabulary is the same."""

from __future__ import annotations

import errno
import gzip
import json
import mmap
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.errors import CorpusError, UnsupportedError
from bpe.training import bounded, corpus, work_folder
from bpe.training.bounded import Bound, MappedFile
from bpe.training.counting import empty_words
from bpe.training.runs import RunSize, merge_runs, words_of, write_words
from pretok.machine.backend import BackendName
from support import max_examples, seeded
from training import make_trainer, merges_of
from vocabularies import Whole

BOTH: tuple[BackendName, ...] = ("native", "python")
SIZE = 330
"""The size of vocabularies; the texts give more merges."""
words = st.dictionaries(
    st.binary(max_size=4) | st.text("ab", max_size=90).map(str.encode),
    st.integers(1, 3) | st.integers(1, 1 << 40),
    max_size=30,
)


def some_texts(seed: int = 0, count: int = 60) -> list[str]:
    random = seeded(f"bounded {seed}")
    letters = "abcdefgh é中"
    return ["".join(random.choices(letters, k=random.randrange(200))) for _ in range(count)]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return files of all formats."""
    folder = tmp_path / "texts"
    folder.mkdir()
    texts = some_texts()
    (folder / "a.txt").write_text("\n".join(texts[:20]), encoding="utf-8")
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts[20:40])
    (folder / "b.jsonl").write_text(lines, encoding="utf-8")
    with gzip.open(folder / "c.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(texts[40:]))
    return sorted(folder.iterdir())


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a run after each part of about 500 bytes."""
    monkeypatch.setattr(corpus, "BLOCK", 500)
    monkeypatch.setattr(bounded, "COMMIT", 1)
    monkeypatch.setattr(work_folder, "FAN_IN", 3)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and needs a power failure


def merges(tokenizer: bpe.Tokenizer) -> list[Any]:
    vocabulary = tokenizer.vocabulary
    return [vocabulary.token_bytes, list(vocabulary.merges or ())]


def train(source: Any, backend: BackendName, **options: Any) -> list[Any]:
    return merges(bpe.train(source, SIZE, backend=backend, progress=False, **options))


@given(lists=st.lists(words, max_size=4))
@settings(max_examples=max_examples(60))
def test_runs_give_the_sum_of_the_counts(
    native: BackendName, lists: list[dict[bytes, int]]
) -> None:
    from pretok import _core

    expected: Counter[bytes] = Counter()
    for some in lists:
        expected.update(some)
    for backend in BOTH:
        runs: list[tuple[list[bytes], int]] = []
        for number, some in enumerate(lists):
            counts, blocks = empty_words(backend), list[bytes]()
            counts.add_words(some)
            size = counts.spill(blocks.append)
            total = sum(len(word) * count for word, count in some.items())
            assert tuple(size) == (len(some), sum(map(len, some)), total)
            assert not counts.take()
            runs.append((blocks, number << 40))
        merged: list[list[bytes]] = [[], []]
        sizes = merge_runs(runs, merged[0].append), _core.merge_runs(runs, merged[1].append)
        assert merged[0] == merged[1]
        assert tuple(sizes[0]) == sizes[1]
        entries = list(words_of(merged[0]))
        assert [(word, count) for word, count, _ in entries] == sorted(expected.items())
        in_order = sorted(entries, key=lambda entry: entry[2])
        assert [word for word, _, _ in in_order] == list(expected)


def test_blocks_of_a_run_are_independent(native: BackendName) -> None:
    from pretok import _core

    entries = [(b"%07d" % number, number % 5 + 1, number) for number in range(40_000)]
    blocks: list[bytes] = []
    size = write_words(entries, blocks.append)
    assert len(blocks) > 1
    assert size == RunSize(40_000, 280_000, 840_000)
    again: list[bytes] = []
    assert _core.merge_runs([(blocks, 0)], again.append) == tuple(size)
    assert again == blocks
    rest = list(words_of(blocks[1:]))
    assert rest == entries[-len(rest) :]
    for damaged in (b"\x01", b"\x00\x09a", b"\x00\x01a\x80", b"\xff" * 12):
        with pytest.raises(ValueError, match="malformed"):
            _core.merge_runs([([damaged], 0)], again.append)


class Lists:
    """Memory in a file for a trainer, which is never in memory for long."""

    def __init__(self, moves_at: int = 1 << 60) -> None:
        """Move the words when `trim` is called for the time `moves_at`."""
        self.moves_at = moves_at
        self.moved = False
        self.file = MappedFile(Path(tempfile.gettempdir()), Bound(1, None))
        self.blocks = self.trims = 0

    def block(self, size: int) -> Any:
        self.blocks += 1
        return self.file.block(size)

    def trim(self, have_moved: bool) -> bool:
        self.trims += 1
        self.moved |= have_moved
        self.file.trim(False)
        return self.trims >= self.moves_at


@pytest.mark.parametrize("seed", range(max_examples(30)))
def test_trainer_with_lists_in_a_file(native: BackendName, seed: int) -> None:
    from pretok import _core

    random = seeded(f"lists {seed}")
    # Few letters make merges of other parts give known tokens.
    letters = [b"a", b"b", b"c", b"d", b" "][: random.randrange(1, 6)]
    counts = {
        b"".join(random.choices(letters, k=random.randrange(random.choice((4, 12, 120))))): count
        for count in random.choices((1, 1, 1, 2, 3, 50, 1 << 33), k=random.randrange(1, 120))
    }
    limits = random.choice((0, 0, 3)), random.choice((None, None, 5))
    trainer = make_trainer(counts, "native", "huggingface", *limits)
    trainer.step(1 << 20)
    blocks: list[bytes] = []
    write_words(((word, counts[word], 0) for word in sorted(counts)), blocks.append)
    lists = Lists()
    other = _core.Trainer.of_run(blocks, *limits, lists)
    other.step(3)
    while other.step(other.tokens + 7):
        pass
    assert merges_of(other) == merges_of(trainer)
    assert lists.blocks
    lists.file.close()


def test_lists_leave_memory(native: BackendName) -> None:
    from pretok import _core

    random = seeded("leave")
    counts = {bytes(random.choices(b"abcdefgh", k=2000)): 1 for _ in range(100)}
    blocks: list[bytes] = []
    write_words(((word, counts[word], 0) for word in sorted(counts)), blocks.append)
    lists = Lists()
    trainer = _core.Trainer.of_run(blocks, 0, None, lists)
    trainer.step(300)
    expected = make_trainer(counts, "native")
    expected.step(300)
    assert merges_of(trainer) == merges_of(expected)
    assert lists.trims > 10
    lists.file.close()


@pytest.mark.parametrize("moves_at", [1, 2, 7, 20, 60])
def test_words_move_to_the_file(native: BackendName, moves_at: int) -> None:
    """The words move while they are loaded, or after some merges; the merges stay the same."""
    from pretok import _core

    random = seeded("move")
    counts = {bytes(random.choices(b"abcdefgh", k=300)): 1 + n % 3 for n in range(1200)}
    expected = make_trainer(counts, "native")
    expected.step(600)
    blocks: list[bytes] = []
    write_words(((word, counts[word], 0) for word in sorted(counts)), blocks.append)
    lists = Lists(moves_at)
    trainer = _core.Trainer.of_run(blocks, 0, None, lists)
    trainer.step(600)
    assert merges_of(trainer) == merges_of(expected)
    # Checks are more frequent after the move.
    assert lists.trims > 400
    assert lists.moved
    lists.file.close()


@pytest.mark.parametrize("moves_at", [1, 40])
def test_rows_move_to_the_file(native: BackendName, moves_at: int) -> None:
    from pretok import _core

    random = seeded("rows")
    rows = [random.choices(range(6), k=random.randrange(1, 200)) for _ in range(500)]
    units, lengths = np.arange(97, 103, dtype=np.uint32), np.ones(6, np.uint32)
    found = []
    for lists in (None, Lists(moves_at)):
        words = _core.TokenRows(True, lists)
        for row in rows:
            words.add(np.array(row, np.uint32), np.array([len(row)], np.uint32), np.array([2]))
        trainer = _core.Trainer.of_tokens(
            units, lengths, words, "huggingface", 0, None, False, None, lists
        )
        trainer.step(300)
        found.append(trainer.merges().tolist())
        if lists is not None:
            assert lists.trims > moves_at
            lists.file.close()
    assert found[0] == found[1]


@pytest.mark.skipif(not bounded.IS_MEASURED, reason="needs the memory of the process")
def test_the_bound_decides_when_words_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = (100_000 - 64) * bounded.MB // mmap.PAGESIZE
    pages = (0, 500)
    monkeypatch.setattr(bounded, "resident_pages", lambda _: pages)
    file = MappedFile(tmp_path, Bound(100_000, None))
    for taken, of_blocks, moves in ((1.0, 0.0, False), (1.1, 0.25, False), (1.1, 0.15, True)):
        pages = int(taken * limit), int(of_blocks * limit) + 500
        assert file.trim(False) is moves
    file.block(1)
    pages = limit + 1, 500
    assert file.trim(False)
    with pytest.raises(ValueError, match=r"merging takes more; .* than 100033 MB"):
        file.trim(True)
    file.close()
    monkeypatch.setattr(bounded, "IS_MEASURED", False)
    file = MappedFile(tmp_path, Bound(100_000, None))
    assert file.trim(True)
    file.close()


@pytest.mark.skipif(not bounded.IS_MEASURED, reason="needs the memory of the process")
def test_only_as_many_parts_leave_memory_as_needed(tmp_path: Path) -> None:
    size = 64 * bounded.MB
    file = MappedFile(tmp_path, Bound(bounded.resident() // bounded.MB + 64 + 40, None))
    block = file.block(size)
    kept = []
    for fill in (b"a", b"b"):
        for start in range(0, size, mmap.PAGESIZE):
            block[start : start + 1] = fill
        before = bounded.resident()
        file.trim(False)
        kept.append(size - (before - bounded.resident()))
    assert all(size // 4 < number < size * 3 // 4 for number in kept)
    assert block[:: mmap.PAGESIZE] == b"b" * -(-len(block) // mmap.PAGESIZE)
    file.close()


def test_a_full_disk_is_an_error(native: BackendName, monkeypatch: pytest.MonkeyPatch) -> None:
    from pretok import _core

    blocks: list[bytes] = []
    write_words([(b"abab", 3, 0)], blocks.append)

    def full(*_: int) -> None:
        raise error

    error = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    lists = Lists()
    with pytest.raises(OSError, match="No space left"):
        _core.Trainer.of_run(blocks, 0, None, lists)
    lists.file.close()


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("backend", BOTH)
def test_same_vocabulary(backend: BackendName, files: list[Path], tmp_path: Path) -> None:
    texts = [file for file in files if file.suffix != ".none"]
    expected = train(texts, backend)
    assert train(texts, backend, memory_mb=100_000) == expected
    assert train(texts, backend, work_dir=tmp_path / "work") == expected
    assert train(some_texts(), backend, memory_mb=100_000) == train(some_texts(), backend)
    assert train(iter(some_texts()), backend, work_dir=tmp_path / "1") == train(
        some_texts(), backend
    )
    first = train(texts, backend, tie_break="first-seen")
    assert train(texts, backend, tie_break="first-seen", memory_mb=100_000) == first


@pytest.mark.usefixtures("tiny")
def test_same_vocabulary_of_other_kinds(native: BackendName, files: list[Path]) -> None:
    initial = bpe.train(files[0], 280, progress=False)
    text = bpe.train(files[0], 280, alphabet="characters", byte_fallback=True, progress=False)
    for options in (
        {"alphabet": "characters", "byte_fallback": True},
        {"min_frequency": 20},
        {"max_token_length": 3},
        {"special_tokens": {"<s>": 0}},
    ):
        assert train(files, native, memory_mb=100_000, **options) == train(files, native, **options)
    grown = bpe.train(files, SIZE, initial=initial, progress=False)
    more = bpe.train(files, SIZE, initial=text, progress=False)
    stage = bpe.Stage2(SIZE + 20)
    two = bpe.train(files, SIZE, stage2=stage, progress=False)
    for limit in ({"memory_mb": 100_000}, {"memory_mb": 100_000, "threads": 2}):
        same = bpe.train(files, SIZE, initial=initial, progress=False, **limit)  # type: ignore[arg-type]
        assert merges(same) == merges(grown)
        other = bpe.train(files, SIZE, stage2=stage, progress=False, **limit)  # type: ignore[arg-type]
        assert merges(other) == merges(two)
        other = bpe.train(files, SIZE, initial=text, progress=False, **limit)  # type: ignore[arg-type]
        assert merges(other) == merges(more)


@pytest.mark.usefixtures("tiny")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_goes_on_after_a_kill(
    native: BackendName, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = train(files, native)
    work = tmp_path / "work"
    calls = counted = kill_at = 0
    fsync, replace, counter = os.fsync, os.replace, bounded._Spiller.counted

    def calling(function: Any) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **keywords)

        return call

    def note(self: Any, size: int, part: int | None) -> None:
        nonlocal counted
        counted += 1
        counter(self, size, part)

    monkeypatch.setattr(os, "fsync", calling(fsync))
    monkeypatch.setattr(os, "replace", calling(replace))
    monkeypatch.setattr(bounded._Spiller, "counted", note)
    assert train(files, native, work_dir=work) == expected
    total, all_parts = calls, counted
    random = seeded("kills")
    for when in random.sample(range(20, total), max_examples(5)):
        shutil.rmtree(work)
        for each in (when, random.randrange(1, 9)):  # the second child goes on
            calls, kill_at = 0, each
            if (child := os.fork()) == 0:
                train(files, native, work_dir=work, threads=1)
                os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (-signal.SIGKILL, 1)
        calls = counted = kill_at = 0
        assert train(files, native, work_dir=work) == expected
        assert counted < all_parts
        assert sorted(path.name for path in work.rglob("*")) == ["stage-1", "state.json", "words"]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("backend", BOTH)
def test_goes_on_after_errors(
    backend: BackendName, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = train(files, backend)
    work = tmp_path / "work"
    fsync, calls = os.fsync, 0

    def failing(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls % 5 == 0:
            raise error
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    for error in (OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            train(files, backend, work_dir=work)
        assert not list(work.rglob("*.part"))
    monkeypatch.setattr(os, "fsync", fsync)
    assert train(files, backend, work_dir=work) == expected


def test_counts_serve_other_sizes(native: BackendName, files: list[Path], tmp_path: Path) -> None:
    work = tmp_path / "work"
    for size in (SIZE, 280, 300):
        tokenizer = bpe.train(files, size, work_dir=work, progress=False)
        assert merges(tokenizer) == merges(bpe.train(files, size, progress=False))
        state = (work / "stage-1" / "state.json").read_bytes()
    assert (work / "stage-1" / "state.json").read_bytes() == state


def refused(files: Any, work: Path, message: str, **options: Any) -> None:
    with pytest.raises(CorpusError, match=message):
        train(files, "native", work_dir=work, **options)


@pytest.mark.usefixtures("tiny")
def test_refuses_another_training(
    native: BackendName, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    train(files, native, work_dir=work)
    refused(files, work, "a training with preset=", preset="gpt2")
    refused(files, work, "a training with field=", field="body")
    refused(files[:2], work, "has counted 3 inputs, but there are 2")
    more = tmp_path / "more.txt"
    more.write_text("a b c")
    refused([*files, more], work, "has counted 3 inputs, but there are 4")
    refused([files[1], files[0], files[2]], work, "the input has changed")
    monkeypatch.setattr(bpe.training.training, "version", lambda name: "0.0.0")
    refused(files, work, "a training with pretok=")
    monkeypatch.undo()
    os.utime(files[0], ns=(0, 0))
    refused(files, work, r"the input has changed: .*a\.txt")
    texts = some_texts()
    train(texts, native, work_dir=tmp_path / "texts-work")
    refused([*texts[:-1], "x"], tmp_path / "texts-work", "the input has changed: the batch")


@pytest.mark.parametrize("part", ["state.json", "words"])
def test_refuses_damaged_files(
    native: BackendName, files: list[Path], tmp_path: Path, part: str
) -> None:
    work = tmp_path / "work"
    train(files, native, work_dir=work)
    path = work / "stage-1" / part
    data = path.read_bytes()
    for damaged in (data[:-1], data[: len(data) // 2], b"", b"[]" + data):
        path.write_bytes(damaged)
        refused(files, work, "damaged")
    if part == "words":
        for at in (3, 20, len(data) // 2):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            refused(files, work, "damaged")
    else:
        path.write_bytes(data.replace(b'"version": 1', b'"version": 2'))
        refused(files, work, "its version is 2, not 1")


def test_refuses_a_foreign_folder(native: BackendName, files: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "work" / "stage-1"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    refused(files, tmp_path / "work", "expected an empty folder")
    assert (folder / "notes.txt").read_text() == "mine"


def test_refuses_two_processes(native: BackendName, files: list[Path], tmp_path: Path) -> None:
    def texts() -> Iterator[str]:
        yield "a b"
        refused(files, tmp_path, "another process")

    bpe.train(texts(), 257, work_dir=tmp_path, progress=False)


def test_refuses_a_custom_pre_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="work_dir= needs a preset"):
        bpe.train(["a b"], 257, preset=Whole(), work_dir=tmp_path)
    tokenizer = bpe.train(["a b"], 257, preset=Whole(), memory_mb=100_000)
    assert tokenizer.vocab_size == 257


def test_memory_that_is_too_small(
    native: BackendName, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TypeError, match="work_dir is of type int; expected None, a str or a path"):
        bpe.train(files, 300, work_dir=5)  # type: ignore[arg-type]
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(ValueError, match=r"memory_mb=.*expected None or an int"):
            train(files, native, memory_mb=wrong)
    with pytest.raises(ValueError, match=r"memory_mb=1; training needs at least \d+ MB here"):
        train(files, native, memory_mb=1)
    monkeypatch.setattr(bounded, "resident", lambda: 100 * bounded.MB)
    monkeypatch.setitem(bpe.training.training.IN_MEMORY, native, (10**4, 0, "this"))
    with pytest.raises(ValueError, match=r"which this holds in memory; it needs about"):
        train(files, native, memory_mb=165, tie_break="first-seen")


@pytest.mark.parametrize("tie_break", ["huggingface", "first-seen"])
def test_memory_that_merging_exceeds(
    backend: BackendName, files: list[Path], tie_break: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The bound is checked at the beginning, before counting and before merging.
    sizes = iter([100] * 3)
    monkeypatch.setattr(bounded, "resident", lambda: next(sizes, 10_000) * bounded.MB)
    with pytest.raises(
        ValueError, match=r"memory_mb=1000; the first \d+ merges took more; .* 10000 MB"
    ):
        train(files, backend, memory_mb=1000, tie_break=tie_break)
