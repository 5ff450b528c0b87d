"""Batches of texts, and tokenizers made of GGUF values, are equal in C and in Python."""

from __future__ import annotations

from typing import Any

import pytest

import bpe
from bpe import SpecialTokenError, Tokenizer
from bpe.formats import pretok_file
from c_library import GGUF_STRING, CError, CLibrary, CTokenizer, GgufValue
from gguf_files import gguf, metadata, sentencepiece_metadata
from paths import shared
from pretok.formats import gguf_metadata
from support import max_examples, seeded
from text_pretok_files import model_of

MODELS = ("sentencepiece, prefix", "sentencepiece, charsmap", "sentencepiece, marks")
TEXTS = ["", "the hello", " the", "日本 hello", "a <sep> b", "<s>foo", "é" * 50, "the " * 3000]
KEYS = ("model", "pre", "tokens", "token_type", "merges", "scores", "bos_token_id",
        "eos_token_id", "add_bos_token", "add_eos_token", "add_space_prefix")  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_batches_equal_those_of_python(c_library: CLibrary, name: str) -> None:
    tok = model_of(name)
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    random = seeded(name)
    for _ in range(max_examples(20)):
        texts = random.choices(TEXTS, k=random.randrange(6))
        special = random.choice(["text", "allow", "plain", "raise"])
        continues = random.random() < 0.3
        template = random.random() < 0.5
        encoded = [text.encode() for text in texts]
        threads = random.randrange(4)
        given = (encoded, special, template, continues, threads)
        refusal = first_refusal(tok, texts, special)
        if refusal is not None:
            with pytest.raises(CError, match="special token") as raised:
                ours.batch(*given)
            assert (raised.value.text, raised.value.position) == refusal
            continue
        expected = [
            tok.encode(text, special, add_special_tokens=template, continuation=continues)
            for text in texts
        ]
        assert ours.batch(*given) == expected


def first_refusal(tok: Tokenizer, texts: list[str], special: str) -> tuple[int, int] | None:
    """Return the index of the first text that is refused, and the offset in it; None if none is."""
    for at, text in enumerate(texts):
        try:
            tok.encode(text.encode(), special)
        except SpecialTokenError as error:
            return at, error.position
    return None


def test_a_long_text_of_a_batch_is_cut_for_threads(c_library: CLibrary) -> None:
    tok = bpe.train(["the hello world"] * 2, vocab_size=270)
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    texts = ["the hello world\n" * 200_000, "hello", "world the " * 150_000]
    expected = tok.encode_batch(texts)
    for threads in (1, 3):
        assert ours.batch([text.encode() for text in texts], threads=threads) == expected


def values_of(data: dict[str, Any]) -> list[GgufValue]:
    """Return metadata as values for C; whole numbers of lists are int32, or int64 by turns."""
    found: list[GgufValue] = [("general.name", GGUF_STRING, "a name")]
    for at, (key, value) in enumerate(data.items()):
        if value is ...:
            continue
        first = value[0] if isinstance(value, list) and value else value
        kind = (
            7 if isinstance(first, bool) else 6 if isinstance(first, float)
            else GGUF_STRING if isinstance(first, (str, list)) else (5, 11)[at % 2]
        )  # fmt: skip
        found.append((key, kind, value))
    return found


def plain_values(data: dict[str, Any]) -> dict[str, Any]:
    """Return metadata without Typed values."""
    return {key: getattr(value, "value", value) for key, value in data.items()}


@pytest.mark.parametrize(
    "data", [metadata(), sentencepiece_metadata()], ids=["byte-level", "sentencepiece"]
)
def test_gguf_values_equal_the_file(c_library: CLibrary, data: dict[str, Any]) -> None:
    plain = plain_values(data)
    from_file = CTokenizer(c_library, gguf(data))
    from_values = CTokenizer(c_library, values_of(plain))
    assert c_library.vocab_size(from_file.handle) == c_library.vocab_size(from_values.handle)
    for text in TEXTS:
        ids = from_values.encode(text.encode(), "allow")
        assert ids == from_file.encode(text.encode(), "allow")
        assert from_values.decode(ids) == from_file.decode(ids)


@pytest.mark.parametrize("name", ["gpt-2", "llama-spm", "deepseek-llm"])
def test_published_gguf_values_equal_the_file(c_library: CLibrary, name: str) -> None:
    path = shared("vocabs", "gguf", f"ggml-vocab-{name}.gguf")
    data = gguf_metadata.load(path, [f"tokenizer.ggml.{key}" for key in KEYS])
    from_values = CTokenizer(c_library, values_of(data))
    text = shared("texts", "udhr.txt").read_bytes()[:100_000]
    ids = from_values.encode(text, "text")
    assert ids == bpe.load(path).encode(text, "text")
    assert ids == CTokenizer(c_library, path).encode(text, "text")


def test_gguf_values_that_are_wrong(c_library: CLibrary) -> None:
    values = values_of(plain_values(metadata()))
    twice = [*values, ("tokenizer.ggml.model", GGUF_STRING, "gpt2")]
    with pytest.raises(CError, match="malformed"):
        CTokenizer(c_library, twice)
    lists = [(key, kind, content * 2 if isinstance(content, list) else content)
             for key, kind, content in values]  # fmt: skip
    with pytest.raises(CError, match=r"malformed: tokenizer\.ggml\.tokens has"):
        CTokenizer(c_library, lists)
