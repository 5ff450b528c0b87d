"""ShardWriter writes the same files for any division into calls and after any interruption."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.corpus.members import Shard
from bpe.corpus.options import Options, make_options
from bpe.corpus.shards import ShardWriter
from corpora import content, tokenizer
from support import max_examples


@pytest.fixture(scope="module", autouse=True)
def fast_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


some_sizes = st.lists(st.integers(0, 3) | st.integers(0, 30), max_size=20)


def options_of(pack: int | None, shard_tokens: int) -> Options:
    pad = None if pack is None else 1
    return make_options(tokenizer("python"), pack=pack, pad=pad, shard_tokens=shard_tokens)


def written(
    folder: Path, options: Options, sizes: list[int], cuts: list[int]
) -> tuple[list[Shard], dict[str, bytes]]:
    """Write documents of `sizes` tokens in calls that end at `cuts`; interrupt after each call.

    Returns the shards, and the contents of their files by name.
    """
    folder.mkdir(parents=True)
    tokens = np.arange(sum(sizes), dtype=np.uint32)
    ends = np.cumsum(np.array(sizes, np.int64))
    shards: list[Shard] = []
    state = None
    position = documents = 0
    for cut in [*sorted(min(cut, len(tokens)) for cut in cuts), len(tokens)]:
        writer = ShardWriter(folder, "train", options, shards, state)
        writer.resume()
        # A document that ends at `cut` may end in this call or in the next one. An odd `cut` tests
        # the first case, an even `cut` the second.
        count = int(np.searchsorted(ends, cut, side="right" if cut % 2 else "left"))
        count = len(ends) if cut == len(tokens) else max(count, documents)
        writer.add(tokens[position:cut], ends[documents:count] - position)
        position, documents = cut, count
        writer.sync()
        state = writer.state()
        kept = list(shards)
        # An interruption loses work after the last saved state: these tokens must not stay.
        writer.add(np.full(40, 7, np.uint32), np.array([3, 3, 20], np.int64))
        writer.close()
        shards = kept
    writer = ShardWriter(folder, "train", options, shards, state)
    writer.resume()
    writer.finish()
    for path in folder.glob("*.part"):
        path.unlink()
    names = {name for shard in shards for name in shard.files}
    return shards, {name: data for name, data in content(folder).items() if name in names}


@given(
    sizes=some_sizes,
    cuts=st.lists(st.integers(0, 100), max_size=4),
    pack=st.sampled_from([None, 1, 4, 7]),
    shard_tokens=st.integers(1, 40),
)
@settings(max_examples=max_examples(15))
def test_calls_and_interruptions_change_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    cuts: list[int],
    pack: int | None,
    shard_tokens: int,
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    options = options_of(pack, shard_tokens)
    expected, files = written(folder / "a", options, sizes, [])
    assert written(folder / "b", options, sizes, cuts) == (expected, files)
    tokens = np.concatenate([np.frombuffer(b"", "<u2"), *(
        np.frombuffer(files[f"{shard.name}.bin"], "<u2")[: shard.tokens - shard.padding]
        for shard in expected
    )])  # fmt: skip
    assert tokens.tolist() == list(range(sum(sizes)))
    if pack is None:
        for shard in expected[:-1]:
            assert shard.tokens >= shard_tokens
    else:
        assert all(shard.tokens % pack == 0 for shard in expected)
        assert all(shard.tokens == options.shard_tokens for shard in expected[:-1])


def test_limits_of_layouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = replace(options_of(None, 100), layout="llmc")
    monkeypatch.setattr("bpe.corpus.layouts.layout.LlmcLayout.max_shard", 10)
    writer = ShardWriter(tmp_path, "train", options, [], None)
    writer.add(np.zeros(11, np.uint32), np.array([11], np.int64))
    with pytest.raises(bpe.CorpusError, match="a shard has 11 tokens, but layout 'llmc' holds"):
        writer.finish()
    writer.close()
    assert {path.suffix for path in tmp_path.iterdir()} == {".part"}
    monkeypatch.setattr("bpe.corpus.layouts.layout.LlmcLayout.max_row", 5)
    writer = ShardWriter(tmp_path, "val", options, [], None)
    with pytest.raises(bpe.CorpusError, match="a document has more than 5 tokens"):
        writer.add(np.zeros(11, np.uint32), np.array([6, 11], np.int64))
    writer.close()


def test_packing_cuts_documents_that_are_longer_than_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bpe.corpus.layouts.layout.LlmcLayout.max_row", 5)
    options = make_options(tokenizer("python"), layout="llmc", pack=5, pad=1)
    writer = ShardWriter(tmp_path, "train", options, [], None)
    writer.add(np.zeros(11, np.uint32), np.array([11], np.int64))
    writer.finish()
    assert [shard.tokens for shard in writer.shards] == [15]
    with pytest.raises(ValueError, match="pack=6; expected at most 5 with layout='llmc'"):
        make_options(tokenizer("python"), layout="llmc", pack=6, pad=1)


def test_lost_files_of_interrupted_work(tmp_path: Path) -> None:
    options = options_of(None, 100)
    writer = ShardWriter(tmp_path, "train", options, [], None)
    writer.add(np.zeros(11, np.uint32), np.array([11], np.int64))
    writer.sync()
    state = writer.state()
    writer.close()
    (tmp_path / "train-00000.bin.part").write_bytes(b"x")
    with pytest.raises(bpe.CorpusError, match="it is missing or shorter"):
        ShardWriter(tmp_path, "train", options, [], state).resume()
