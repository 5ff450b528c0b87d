"""bpe.train with stage2= goes on with another split, so that tokens cross words."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import pretok
from bpe import Stage2, Tokenizer, UnsupportedError
from bpe.training import corpus as read
from bpe.training import counting
from bpe.training.initial import InitialWords
from bpe.training.trainer import words_of
from bpe.training.training import Training
from pretok.machine.backend import BackendName
from support import max_examples, seeded
from vocabularies import Whole

SENTENCES = ["by the way", "of the people", "one of the most", "in 1999 and 2024", "at the end."]


def corpus(size: int = 40) -> list[str]:
    chance = seeded("stage 2")
    return [" ".join(chance.choices(SENTENCES, k=6)) for _ in range(size)]


def trained(texts: list[str], size: int, stage2: Stage2 | None = None, **options: Any) -> Tokenizer:
    return bpe.train(texts, size, preset="gpt2", stage2=stage2, progress=False, **options)


def definition(texts: list[str], first: Tokenizer, stage: Stage2) -> list[tuple[bytes, bytes]]:
    """Return the merges of the second stage, in plain Python.

    It encodes each pre-token of the second split with the merges so far, and merges the most
    frequent pair with few enough words; among several, that of the tokens that were made first.
    """
    split = pretok.get(stage.preset).split  # type: ignore[arg-type]
    pre_tokens = Counter(part for text in texts for part in split(text))
    order = [*map(chr, range(33, 127)), " "]
    tokens = [char.encode() for char in order]
    merges: list[tuple[bytes, bytes]] = []
    rows = [([bytes([byte]) for byte in part.encode()], n) for part, n in pre_tokens.items()]

    def apply(left: bytes, right: bytes) -> None:
        for row, _ in rows:
            at = 0
            while at + 1 < len(row):
                if row[at] == left and row[at + 1] == right:
                    row[at : at + 2] = [left + right]
                at += 1

    for left, right in first.merges:
        apply(left, right)
        tokens.append(left + right)
    while first.vocab_size + len(merges) < stage.vocab_size:
        counts: Counter[tuple[bytes, bytes]] = Counter()
        for row, n in rows:
            for pair in pairwise(row):
                if stage.max_words is None or len((pair[0] + pair[1]).split()) <= stage.max_words:
                    counts[pair] += n
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], *map(tokens.index, pair)))
        apply(*best)
        tokens.append(best[0] + best[1])
        merges.append(best)
    return merges


@pytest.mark.parametrize("preset", ["superbpe", "superbpe-extend", "gemma4"])
@pytest.mark.parametrize("max_words", [None, 1, 2, 4])
def test_merges_are_those_of_the_definition(
    backend: BackendName, preset: str, max_words: int | None
) -> None:
    texts = corpus()
    stage = Stage2(330, preset, max_words)
    first = trained(texts, 290, backend=backend)
    both = trained(texts, 290, stage, backend=backend)
    merges = definition(texts, first, stage)
    assert both.merges == (*first.merges, *merges)
    assert both.preset is not None
    assert both.preset.name == preset
    tokens = both.vocabulary.token_bytes.values()
    longest = max(words_of(token.decode("latin-1")) for token in tokens)
    assert longest <= (max_words or 99)
    if max_words != 1:
        assert any(b"of the" in token for token in tokens)
        assert sum(map(len, both.encode_batch(texts))) < sum(map(len, first.encode_batch(texts)))
    assert [both.decode(both.encode(text)) for text in texts] == texts


def test_special_tokens_keep_their_ids(backend: BackendName) -> None:
    both = trained(corpus(), 290, Stage2(315), special_tokens=["<e>"], backend=backend)
    assert both.special_tokens == {"<e>": 289}
    assert both.vocab_size == 315


def test_a_loaded_vocabulary_gets_a_second_stage(backend: BackendName) -> None:
    first = trained(corpus(), 290, backend=backend)
    later = bpe.train(
        corpus(), 290, initial=first, stage2=Stage2(320), backend=backend, progress=False
    )
    assert later == trained(corpus(), 290, Stage2(320), backend=backend)


def test_saved_files_give_the_ids_in_tokenizers(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    both = trained(corpus(), 290, Stage2(330))
    both.save(tmp_path / "tokenizer.json")
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in corpus():
        assert live.encode(text).ids == both.encode(text)


@pytest.mark.parametrize("kind", ["texts", "file"])
def test_words_may_become_rows_before_all_are_counted(
    backend: BackendName, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = [f"{text}\n" for text in corpus()]
    expected = trained(["".join(lines)], 290, Stage2(330, "gemma4"), backend=backend)
    path = tmp_path / "a.txt"
    path.write_text("".join(lines), encoding="utf-8")
    sizes: list[int] = []
    add = InitialWords.add

    def recording(rows: InitialWords, words: list[tuple[bytes, int]]) -> None:
        sizes.append(len(words))
        add(rows, words)

    monkeypatch.setattr(InitialWords, "add", recording)
    monkeypatch.setattr(counting, "FULL", 900)
    monkeypatch.setattr(counting, "BATCH", 200)
    monkeypatch.setattr(read, "BLOCK", 100)
    source: Any = path if kind == "file" else lines
    assert trained(source, 290, Stage2(330, "gemma4"), backend=backend) == expected
    assert len(sizes) > 2
    assert max(sizes) < len(lines)


@given(
    texts=st.lists(st.text(st.sampled_from("ab \n"), max_size=30), max_size=6),
    words=st.none() | st.integers(1, 3),
)
@settings(max_examples=max_examples(60))
def test_python_and_native_agree(native: BackendName, texts: list[str], words: int | None) -> None:
    results = [
        trained(texts, 262, Stage2(280, "superbpe", words), backend=name)
        for name in ("python", native)
    ]
    assert results[0] == results[1]


def test_without_a_split_merges_are_those_of_tokenizers(backend: BackendName) -> None:
    """A first stage without merges leaves all of them to the second one."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    texts = [text.replace("1999", "").replace("2024", "") for text in corpus()]
    live = tokenizers.Tokenizer(tokenizers.models.BPE())
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    live.pre_tokenizer = byte_level(add_prefix_space=False, use_regex=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=330, initial_alphabet=byte_level.alphabet(), show_progress=False
    )
    live.train_from_iterator(texts, trainer)
    merges = json.loads(live.to_str())["model"]["merges"]
    both = trained(texts, 256, Stage2(330, "gemma4", None), backend=backend)
    assert [(left.decode(), right.decode()) for left, right in both.merges] == [
        (left.replace("Ġ", " "), right.replace("Ġ", " ")) for left, right in merges
    ]


@pytest.mark.parametrize(
    ("stage", "error", "message"),
    [
        (Stage2(200), ValueError, r"stage2= has the vocab_size 200; expected an int from 290"),
        (Stage2(300, max_words=0), ValueError, r"stage2= has max_words 0; expected None or an int"),
    ],
)
def test_wrong_stages(stage: Stage2, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        trained(["ab"], 290, stage)


def test_wrong_sources_and_alphabets() -> None:
    with pytest.raises(TypeError, match="can be read only once, but stage2= reads the texts twice"):
        bpe.train(iter(["ab"]), 290, stage2=Stage2(300))
    with pytest.raises(ValueError, match="stage2= needs an alphabet of bytes"):
        bpe.train(["ab"], 290, alphabet="characters", stage2=Stage2(300))


@pytest.mark.parametrize("stage", [300, False, "300", {"vocab_size": 300}, Stage2])
def test_a_stage_of_another_type(stage: Any) -> None:
    with pytest.raises(TypeError, match=r"stage2 is of type \w+; expected a bpe\.Stage2"):
        trained(["ab"], 290, stage)


def test_a_wrong_split_is_an_error_before_the_first_stage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first stage may take hours."""
    monkeypatch.setattr(Training, "run", None)
    with pytest.raises(ValueError, match="unknown preset 'nope'"):
        trained(["ab"], 290, Stage2(300, "nope"))
    with pytest.raises(TypeError, match="preset is of type NoneType"):
        trained(["ab"], 290, Stage2(300, None))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="work_dir= needs a preset"):
        trained(["ab"], 290, Stage2(300, Whole()), work_dir=tmp_path)


@pytest.mark.parametrize("words", [(1 << 32) - 1, 1 << 32, (1 << 32) + 4, 1 << 80])
def test_a_limit_above_all_numbers_of_words(backend: BackendName, words: int) -> None:
    expected = trained(corpus(), 290, Stage2(310, "superbpe", None), backend=backend)
    stage = Stage2(310, "superbpe", words)
    assert trained(corpus(), 290, stage, backend=backend) == expected
