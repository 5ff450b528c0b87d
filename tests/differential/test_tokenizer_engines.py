"""Ids of real vocabularies equal those of the installed tiktoken and Hugging Face's tokenizers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pretok
from bpe import Tokenizer, Vocabulary
from paths import shared
from pretok.machine.backend import BackendName
from support import FULL, max_examples, seeded, stable
from vocabularies import (
    ENDOFTEXT,
    OURS,
    huggingface,
    in_chars,
    installed_ranks,
    live,
    live_bpe,
    live_huggingface,
    live_qwen2,
    qwen2_with_merges,
    specials,
    tokenizer,
)

SLICE = {"native": 300_000 if FULL else 60_000, "python": 12_000 if FULL else 4_000}
"""The number of bytes of each file that the tests of a part of every text encode."""
texts = st.text(max_size=30) | st.text("aA'st \n1\u4e2d\u00e9\u0301\U0001f600_/.", max_size=40)
any_texts = texts | st.text("a \ud83d\ude00\ud800\udfff\u4e2d", max_size=12)
each_ranks = pytest.mark.parametrize("name", OURS)


def text_names() -> list[str]:
    return sorted(path.name for path in shared("texts").glob("*.txt"))


def part_of(file: str, size: int) -> str:
    """Return the text of `size` bytes of a file, from the end of its first third."""
    path = shared("texts", file)
    with path.open("rb") as stream:
        stream.seek(path.stat().st_size // 3)
        # "ignore" drops UTF-8 sequences that are cut at the ends.
        return stream.read(size).decode("utf-8", "ignore")


def lines(text: str, size: int) -> Iterator[str]:
    """Yield `text` in parts of about `size` code points."""
    for at in range(0, len(text), size):
        yield text[at : at + size]


def assert_as_tiktoken(tok: Tokenizer, engine: Any, text: str, what: str) -> None:
    wanted = engine.encode_ordinary(text)
    found = tok.encode_array(text, "text").tolist()
    if found != wanted:
        parts = ((part, engine.encode_ordinary(part)) for part in lines(text, 200))
        wrong = [(part, ids) for part, ids in parts if tok.encode(part, "text") != ids]
        pytest.fail(f"{what}: the ids differ, for example for {wrong[:1]}")
    assert tok.count(text, "text") == len(wanted)


@each_ranks
def test_a_part_of_every_text_as_in_tiktoken(backend: BackendName, name: str) -> None:
    assert len(text_names()) == 15
    tok, engine = tokenizer(name, backend), live(name)
    for file in text_names():
        text = part_of(file, SLICE[backend])
        assert len(text) > 1_000
        assert_as_tiktoken(tok, engine, text, f"{name}, {file}")
        data = text.encode()
        assert tok.decode_bytes(tok.encode_array(data, "text")) == data


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="takes minutes; set PRETOK_FULL=1 to encode all 85 MB")
@each_ranks
def test_every_text_as_in_tiktoken(native: BackendName, name: str) -> None:
    tok, engine = tokenizer(name, native), live(name)
    total = 0
    for file in text_names():
        data = shared("texts", file).read_bytes()
        total += len(data)
        # Encode parts, because tiktoken overflows its stack on the longest run of spaces.
        for part in lines(data.decode(), 500_000):
            assert_as_tiktoken(tok, engine, part, f"{name}, {file}")
    assert total > 80_000_000


@each_ranks
@given(text=any_texts)
@example("\ud83d\ude00")
@example("\ud83d")
@example("a\ude00\ud83d b")
@settings(max_examples=max_examples(150))
def test_random_texts_as_in_tiktoken(backend: BackendName, name: str, text: str) -> None:
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not stable(joined):
        return
    tok, engine = tokenizer(name, backend), live(name)
    ids = tok.encode(text, "text")
    # Both methods of tiktoken join surrogate pairs.
    assert ids == engine.encode(text, disallowed_special=()) == engine.encode_ordinary(text)
    assert tok.encode(text, "allow") == engine.encode(text, allowed_special="all")
    assert tok.decode_bytes(ids) == engine.decode_bytes(ids)
    assert tok.decode(ids) == engine.decode(ids) == joined


@each_ranks
def test_offsets_as_in_tiktoken(backend: BackendName, name: str) -> None:
    tok, engine = tokenizer(name, backend), live(name)
    marked = "a" if name == "llama3" else f"a{ENDOFTEXT}\u4e2d"
    for text in ("hello world", "\u4e2d\u6587 \U0001f600\U0001f3fd!", "na\u00efve \u0928\u092e",
                 marked, "\u5929\u4e0d\u751f"):  # fmt: skip
        found = tok.tokens(text, "allow")
        ids = [token.id for token in found]
        assert ids == engine.encode(text, allowed_special="all")
        # tiktoken returns the start of the code point in which a token begins, and no ends.
        assert engine.decode_with_offsets(ids) == (text, [token.start for token in found])


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_installed_vocabularies_as_in_tiktoken(backend: BackendName, name: str) -> None:
    """An installed package has these vocabularies, so this test needs no shared folder."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    preset = name.removesuffix("_base")
    special = {ENDOFTEXT: len(installed_ranks(name)) + 10}
    made = Vocabulary({id: token for token, id in installed_ranks(name).items()})
    tok = Tokenizer(made, preset, added_tokens=specials(special), backend=backend)
    engine = tiktoken.Encoding(
        name,
        pat_str=pretok.get(preset).preset.pattern,
        mergeable_ranks=installed_ranks(name),
        special_tokens=special,
    )
    rng = seeded(name)
    words = sorted(installed_ranks(name))
    count = 4000 if backend == "native" else 1000
    some = [words[rng.randrange(len(words))].decode("utf-8", "ignore") for _ in range(count)]
    for text in ("".join(some), " ".join(some), f"{some[0]}{ENDOFTEXT}{some[1]}", "'s" * 500,
                 *("".join(rng.choices(some, k=3)) for _ in range(300))):  # fmt: skip
        if not stable(text):
            continue
        assert tok.encode(text, "text") == engine.encode(text, disallowed_special=())
        assert tok.encode(text, "allow") == engine.encode(text, allowed_special="all")
        assert tok.decode(tok.encode(text, "allow")) == text


def assert_as_tokenizers(tok: Tokenizer, engine: Any, text: str, offsets: bool = False) -> None:
    wanted = engine.encode(text, add_special_tokens=False)
    assert tok.encode(text, "allow") == wanted.ids
    if offsets:
        found = [(token.start, token.end) for token in tok.tokens(text, "allow")]
        assert found == wanted.offsets


HUGGINGFACE = ["gpt2_tokenizer.json", "gpt_neox.json", "qwen2"]


def both(name: str, backend: BackendName) -> tuple[Tokenizer, Any]:
    if name == "qwen2":
        return qwen2_with_merges(backend), live_qwen2()
    return huggingface(name, backend), live_huggingface(name)


@pytest.mark.parametrize("name", HUGGINGFACE)
def test_a_part_of_every_text_as_in_tokenizers(backend: BackendName, name: str) -> None:
    tok, engine = both(name, backend)
    for file in text_names():
        text = part_of(file, SLICE[backend] // 3)
        wanted = engine.encode(text, add_special_tokens=False).ids
        found = tok.encode(text, "allow")
        if found != wanted:
            wrong = [part for part in lines(text, 100) if tok.encode(part, "allow")
                     != engine.encode(part, add_special_tokens=False).ids]  # fmt: skip
            pytest.fail(f"{name}, {file}: the ids differ, for example for {wrong[:1]}")


@pytest.mark.parametrize("name", HUGGINGFACE)
@given(text=texts)
@example("  \n   a    b" + " " * 30 + "c")
@example(f"e\u0301{ENDOFTEXT}  {ENDOFTEXT}e\u0301")
@settings(max_examples=max_examples(200))
def test_random_texts_as_in_tokenizers(backend: BackendName, name: str, text: str) -> None:
    if stable(text):
        assert_as_tokenizers(*both(name, backend), text)


WITH_OFFSETS = (
    "Hello world, it's 12345!",
    "\u4eca\u5929\u4e0d\u751f\u75c5\uff0c\u660e\u5929\u751f",
    "def f(x):\n\treturn x  # \u00e9\n\n",
    "\U0001f600\U0001f3fd \U0001f468\u200d\U0001f469",
    f"a{ENDOFTEXT} b",
    "na\u00efve \u0928\u092e\u0938\u094d\u0924\u0947 \ud55c\uad6d\uc5b4",
)


@pytest.mark.parametrize("name", ["gpt2_tokenizer.json", "qwen2"])
@pytest.mark.parametrize("text", WITH_OFFSETS)
def test_offsets_as_in_tokenizers(backend: BackendName, name: str, text: str) -> None:
    tok, engine = both(name, backend)
    found = [(token.start, token.end) for token in tok.tokens(text, "allow")]
    # bpe's spans include spaces. So do these engines': GPT-2's file turns trim_offsets off, and
    # Qwen2's has no post-processor, which could trim.
    assert found == engine.encode(text).offsets


def test_offsets_of_normalized_text_begin_as_in_tokenizers(backend: BackendName) -> None:
    # tokenizers ends the span of a composed character after the base character, without marks.
    tok, engine = qwen2_with_merges(backend), live_qwen2()
    for text in ("e\u0301 caf e\u0301!", "\u1100\u1161\u11a8x", "ab e\u0323\u0302c", "\u212bx"):
        found = tok.tokens(text)
        wanted = engine.encode(text)
        assert [token.id for token in found] == wanted.ids
        assert [token.start for token in found] == [start for start, _ in wanted.offsets]


@given(text=texts | st.text(" ab\n\u3000<s>", max_size=12), trailing=st.booleans())
@settings(max_examples=max_examples(200))
def test_a_space_before_the_text_as_in_tokenizers(
    backend: BackendName, text: str, trailing: bool
) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b" a", 257: b"ab", 258: b"  "}
    made = Vocabulary(tokens, [(32, 97, 256), (97, 98, 257), (32, 32, 258)])
    engine = live_bpe(*in_chars(made))
    engine.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    engine.add_special_tokens([tokenizers.AddedToken("<s>", normalized=False)])
    tok = Tokenizer(
        made,
        "gpt2",
        added_tokens=specials({"<s>": engine.token_to_id("<s>")}),
        add_prefix_space=True,
        backend=backend,
    )
    if stable(text):
        assert (
            tok.encode(text + "<s>" * trailing, "allow")
            == engine.encode(text + "<s>" * trailing).ids
        )
