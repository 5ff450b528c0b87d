"""Published vocabularies, shrunk and remapped, in bpe and in the engines of their files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bpe
import vocabularies
from bpe import Tokenizer
from bpe.editing.remap import Remapped
from paths import shared
from support import FULL, need, seeded

SOURCE = ("english", "code", "multilingual", "emoji", "whitespace", "crlf")
"""The texts whose tokens are kept."""
SIZE = 10_000_000 if FULL else 200_000
"""The number of bytes of text of kept tokens."""


def load(name: str) -> Tokenizer:
    """Return a published tokenizer."""
    files = {
        "llama2": ("hf", "llama2.json"),
        "llama2.model": ("spm", "llama2.model"),
        "gpt-neox": ("hf", "gpt_neox.json"),
        "mistral": ("hf", "mistral03.json"),
        "deepseek": ("gguf", "ggml-vocab-deepseek-llm.gguf"),
    }
    if name in files:
        return bpe.load(shared("vocabs", *files[name]))
    if name == "qwen2":
        return vocabularies.qwen2_with_merges("native")
    return vocabularies.tokenizer(name, "native")


NAMES: tuple[str, ...] = ("cl100k", "qwen2", "llama2", "llama2.model")
if FULL:
    NAMES += ("o200k", "llama3", "gpt-neox", "deepseek", "mistral")


def sources() -> list[str]:
    """Return the texts of SOURCE in parts of some lines."""
    parts = []
    for name in SOURCE:
        lines = shared("texts", f"{name}.txt").read_text("utf-8").splitlines(keepends=True)[:1500]
        parts += ["".join(lines[at : at + 20]) for at in range(0, len(lines), 20)]
    return parts


def texts_of_kept_tokens(tok: Tokenizer, result: Remapped, size: int) -> list[str]:
    """Return texts of `size` bytes in total whose tokens are all kept.

    They are random rows of kept tokens, and parts of the sources.
    """
    random = seeded("kept tokens")
    kept = np.flatnonzero(result.new_ids >= 0).tolist()
    texts: list[str] = []
    done = 0
    while done < size:
        rows = [random.sample(kept, random.randint(1, 12)) for _ in range(2000)]
        made = [text for row in rows if "\ufffd" not in (text := tok.decode(row))]
        ids, offsets = tok.encode_batch_array(made, "allow")
        gone = np.concatenate([[0], np.cumsum(result.new_ids[ids] < 0)])
        good = [text for text, lost in zip(made, np.diff(gone[offsets]), strict=True) if not lost]
        texts += good
        done += sum(len(text.encode()) for text in good)
    return texts


def check(tok: Tokenizer, result: Remapped, texts: list[str]) -> None:
    """Compare the ids of texts of kept tokens with those before."""
    ids, offsets = tok.encode_batch_array(texts, "allow")
    new, new_offsets = result.tokenizer.encode_batch_array(texts, "allow")
    assert (new_offsets == offsets).all()
    assert (new == result.new_ids[ids]).all()


@pytest.mark.parametrize("name", NAMES)
def test_shrink(name: str, tmp_path: Path) -> None:
    tok = load(name)
    texts = sources()
    result = tok.shrink(texts=texts)
    assert result.tokenizer.vocab_size < tok.vocab_size
    check(tok, result, texts)
    check(tok, result, texts_of_kept_tokens(tok, result, SIZE))
    size = result.tokenizer.vocab_size - 500
    smaller = tok.shrink(texts=texts, vocab_size=size)
    assert size - 3 <= smaller.tokenizer.vocab_size <= size
    check(tok, smaller, texts_of_kept_tokens(tok, smaller, SIZE // 10))
    counts = bpe.reachability(result.tokenizer).counts
    assert not counts["merges"]
    assert not counts["unproven"]
    check_files(
        name, result.tokenizer, [*texts[::4], *texts_of_kept_tokens(tok, result, 20_000)], tmp_path
    )


def check_files(name: str, made: Tokenizer, texts: list[str], folder: Path) -> None:
    """Save a tokenizer in each format of its engine, and compare the ids of the engine."""
    if name in ("cl100k", "o200k"):
        path = folder / "made.tiktoken"
        made.save(path, lossy=True)
        assert made.preset is not None
        tiktoken, load_bpe = need("tiktoken"), need("tiktoken.load")
        live = tiktoken.Encoding(
            name, pat_str=made.preset.pattern, special_tokens=made.special_tokens,
            mergeable_ranks=load_bpe.load_tiktoken_bpe(str(path)),
        )  # fmt: skip
        for text in texts:
            assert live.encode(text, allowed_special="all") == made.encode(text, "allow")
    if name == "llama2.model":
        path = folder / "made.model"
        made.save(path)
        processor = need("sentencepiece").SentencePieceProcessor(model_file=str(path))
        for text in texts:
            assert processor.encode(text) == made.encode(text)
        return
    path = folder / "made.json"
    made.save(path)
    other = need("tokenizers").Tokenizer.from_file(str(path))
    for text in texts:
        assert other.encode(text, add_special_tokens=False).ids == made.encode(text, "allow")
    assert bpe.load(path).encode_batch(texts, "allow") == made.encode_batch(texts, "allow")


@pytest.mark.parametrize("name", ["cl100k", "llama2", "llama2.model"])
def test_remap(name: str, tmp_path: Path) -> None:
    """All tokens get other ids, in any order."""
    tok = load(name)
    ids = [id for id in range(tok.vocab_size) if tok.vocabulary.bytes_of(id) is not None]
    others = ids.copy()
    seeded(name).shuffle(others)
    result = tok.remap(zip(ids, others, strict=True))
    texts = sources()[::2]
    check(tok, result, texts)
    if name != "cl100k":  # ids are no longer ranks
        check_files(name, result.tokenizer, texts[::4], tmp_path)


def test_vocab_size_keeps_the_first_ranks() -> None:
    """The first merges of a trained vocabulary are those of a smaller one."""
    tok = load("cl100k")
    result = tok.shrink(vocab_size=20_005)
    assert result.old_ids[:20_000].tolist() == list(range(20_000))
    assert result.tokenizer.special_tokens[vocabularies.ENDOFTEXT] == 20_000
