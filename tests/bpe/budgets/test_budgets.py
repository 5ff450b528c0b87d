"""Budgets of ids: arguments, added tokens, graphemes, long texts and published vocabularies."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bpe
import pretok
from bpe import AddedToken, Tokenizer, Vocabulary
from bpe.budgets.borders import line_ends, sentence_ends
from paths import shared
from pretok.machine.backend import BackendName
from support import TOO_MUCH, growth, max_examples, seeded
from vocabularies import BYTES, tokenizer

TOKENS = BYTES | {256: b"ab", 257: b" ab", 258: b"  ", 259: b"aa"}


def small(backend: BackendName, **options: Any) -> Any:
    return Tokenizer(Vocabulary(TOKENS), "gpt2", backend=backend, **options)


def test_sides(backend: BackendName) -> None:
    tok = small(backend)
    assert tok.truncate("ab ab ab é", 2) == "ab ab"
    assert tok.truncate("ab ab ab é", 2, "left") == "é"
    assert tok.truncate("ab ab ab é", 1, "left") == ""
    assert tok.truncate("ab ab ab é ab", 6, "middle", ellipsis="!") == "ab ab ab! ab"
    assert tok.truncate(b"ab ab", 1) == b"ab"
    assert tok.truncate(memoryview(b"ab ab"), 1, "left") == b" ab"
    assert tok.truncate("ab", 1, "middle", ellipsis="!!") == "ab"


def test_the_template_counts(backend: BackendName) -> None:
    tok = small(backend, template=bpe.Template((1,), (2, 3)))
    assert tok.truncate("ab ab ab", 5, add_special_tokens=True) == "ab ab"
    assert [chunk.size for chunk in tok.chunks("ab ab ab", 5, add_special_tokens=True)] == [5, 4]
    assert tok.count_up_to("ab ab", 4, add_special_tokens=True) == 5
    assert tok.count_up_to("ab ab", 2, add_special_tokens=True) == 3
    with pytest.raises(ValueError, match="3 ids of the template"):
        tok.truncate("ab", 2, add_special_tokens=True)


def test_no_added_token_is_cut(backend: BackendName) -> None:
    tok = small(backend, added_tokens=[AddedToken("<|end of text|>", 999)])
    text = "ab<|end of text|>ab"
    assert tok.truncate(text, 1, special="allow") == "ab"
    assert tok.truncate(text, 2, special="allow") == "ab<|end of text|>"
    assert tok.truncate(text, 2, special="text") == "ab<"
    chunks = list(tok.chunks(text, 2, special="allow", on="pre-token"))
    assert [chunk.text for chunk in chunks] == ["ab<|end of text|>", "ab"]
    with pytest.raises(bpe.SpecialTokenError) as error:
        tok.chunks("é" + text, 5)
    assert error.value.position == 3
    far = "ab " * 4000 + text
    for call in (tok.truncate, tok.count_up_to):
        call(far, 10)
    with pytest.raises(bpe.SpecialTokenError) as error:
        tok.truncate(far, 40, "left")
    assert error.value.position == 12002


def test_a_text_without_exact_sizes_is_encoded_once(
    backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = AddedToken("<|e|>", 999)
    tok = small(backend, normalizer="NFC", added_tokens=[end])
    text = "ab e\u0301 ab"
    with pytest.raises(bpe.SpecialTokenError) as error:
        tok.chunks(text + end.content, 5)
    assert error.value.position == len(text)

    def encode_array(*_: object) -> Any:
        raise AssertionError("the text was encoded twice")

    monkeypatch.setattr(type(tok._pipeline), "encode_array", encode_array)
    assert "".join(chunk.text for chunk in tok.chunks(text, 5)) == text


def test_a_mark_joins_the_character_after_a_cut(backend: BackendName) -> None:
    """NFC makes ".é" of ".e" and a mark, and ".é" is one pre-token and one id."""
    dot_e = {256: "é".encode(), 257: ".é".encode()}
    split = pretok.from_pattern(r"\.é|[a-z]+|[^a-z]+", backend=backend)
    tok = Tokenizer(Vocabulary(BYTES | dot_e), split, normalizer="NFC", backend=backend)
    tried, choose = 0, seeded("marks")
    for _ in range(400):
        pieces = [".", "e", "\u0301", "é", "a", ".e\u0301"]
        text = "".join(choose.choices(pieces, k=choose.randint(1, 9)))
        chunks = list(tok.chunks(text, 2))
        assert [tok.count(chunk.text) for chunk in chunks] == [chunk.size for chunk in chunks]
        assert max(chunk.size for chunk in chunks) <= 2, (text, chunks)
        fitting = [end for end in range(len(text) + 1) if tok.count(text[:end]) <= 3]
        assert tok.truncate(text, 3) == text[: max(fitting)], text
        tried += ".e\u0301" in text
    assert tried > 9


def test_arguments(backend: BackendName) -> None:
    tok = small(backend)
    for n in (-1, "3", 1.5, None):
        for call in (tok.truncate, tok.chunks, tok.count_up_to):
            with pytest.raises(ValueError, match="expected an int of at least 0"):
                call("ab", n)
    with pytest.raises(ValueError, match="expected 'right', 'left' or 'middle'"):
        tok.truncate("ab", 1, "both")
    with pytest.raises(ValueError, match='ellipsis= needs side="middle"'):
        tok.truncate("ab", 1, ellipsis="…")
    with pytest.raises(TypeError, match="the type of the text"):
        tok.truncate("ab ab", 1, "middle", ellipsis=b".")
    with pytest.raises(ValueError, match="fewer than those of the ellipsis"):
        tok.truncate("ab ab", 1, "middle", ellipsis="…")
    with pytest.raises(ValueError, match="overlap=3; expected an int from 0"):
        tok.chunks("ab", 3, 3)
    with pytest.raises(ValueError, match="expected 'token', 'pre-token'"):
        tok.chunks("ab", 3, on="word")
    with pytest.raises(ValueError, match=r"'é' at offset 1 has 2 ids, more than n=1"):
        list(tok.chunks("aé", 1))
    with pytest.raises(ValueError, match=r"the border 9; expected 0 to 4"):
        list(tok.chunks("abab", 1, on=lambda text: [9]))
    for returned in (None, [1.5], "ab"):
        with pytest.raises(TypeError, match=r"on\(\) returned .*; expected ints"):
            list(tok.chunks("abab", 1, on=lambda text, returned=returned: returned))
    whole = [bpe.Chunk("ab a", 0, 4, 3)]
    for most in (1 << 31, 1 << 63, 10**30):
        assert list(tok.chunks("ab a", most)) == list(tok.chunks("ab a", most, most - 1)) == whole
        assert (tok.truncate("ab a", most), tok.count_up_to("ab a", most)) == ("ab a", 3)
    for text in (3, None, ["ab"]):
        for call in (tok.truncate, tok.chunks, tok.count_up_to):
            with pytest.raises(TypeError, match="expected str or bytes"):
                call(text, 3)
    assert list(tok.chunks("", 3)) == []
    assert tok.truncate("", 0) == ""
    three = np.int64(3)
    assert list(tok.chunks("ab a", three, np.int8(0))) == list(tok.chunks("ab a", 3))
    assert tok.truncate("abcdef", three) == "abcd"
    assert tok.count_up_to("abcdef", three) == 4


def test_graphemes_stay_whole(backend: BackendName) -> None:
    tok = small(backend)
    family = "👨\u200d👩\u200d👧"
    text = f"ab{family}e\u0301\r\n"
    for side in ("right", "left", "middle"):
        for n in range(30):
            part = tok.truncate(text, n, side, grapheme=True)
            rest = part
            for grapheme in ("a", "b", family, "e\u0301", "\r\n"):
                rest = rest.removeprefix(grapheme)
            assert rest == "", (side, n)
    assert tok.truncate(text, 10) == "ab👨\u200d"
    assert tok.truncate(text, 10, grapheme=True) == "ab"
    chunks = tok.chunks(text, 20, grapheme=True)
    assert [chunk.text for chunk in chunks] == [f"ab{family}", "e\u0301\r\n"]


def test_surrogates(backend: BackendName) -> None:
    tok = small(backend)
    text = "ab\ud83d\ude00\ud800 ab"  # a pair and a lone surrogate
    chunks = list(tok.chunks(text, 4))
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(0, 2), (2, 4), (4, 8)]
    assert tok.truncate(text, 3) == "ab"
    assert tok.truncate("a\udcff\udcc3\udca9", 2, errors="surrogateescape") == "a\udcff"


def test_borders() -> None:
    assert line_ends(b"").tolist() == line_ends(b"ab").tolist() == []
    assert sentence_ends(b"").tolist() == sentence_ends(b"a.b").tolist() == []
    assert sentence_ends(b'He said "No!" (Yes.) Wait... what?').tolist() == [13, 20, 28, 34]
    assert sentence_ends("好。」不！吗".encode()).tolist() == [9, 15]


HOSTILE: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "base64": lambda size: "".join(random.Random(1).choices("abcdefgh0123ABC+/", k=size)),
    "Chinese": lambda size: "".join(random.Random(2).choices("中文字是不我", k=size)),
    "line breaks": lambda size: "\n" * size,
    "marks": lambda size: "e" + "\u0301" * size,
}


LONG = {
    **{name: make(900) for name, make in HOSTILE.items()},
    "many Chinese": "".join(map(chr, random.Random(3).choices(range(0x4E00, 0x9FA5), k=1_500))),
    "words": "ab, ab. aa\n" * 200 + "<|end|>ab" * 40,
}


@pytest.mark.parametrize("name", LONG)
def test_backends_divide_long_texts_alike(name: str, native: BackendName) -> None:
    # In these texts, cuts are rare or far apart, so that joints and bisection decide.
    added = [AddedToken("<|end|>", 999)]
    backends: list[BackendName] = [native, "python"]
    for vocabulary in (Vocabulary(TOKENS), Vocabulary({**TOKENS, 260: b"aaaaa"})):
        toks = [
            Tokenizer(vocabulary, "gpt2", added_tokens=added, backend=each) for each in backends
        ]
        for on in ("token", "pre-token", "sentence"):
            for n, overlap in ((50, 0), (50, 7), (1000, 0)):
                results = [
                    list(tok.chunks(LONG[name], n, overlap, on=on, special="allow")) for tok in toks
                ]
                assert results[0] == results[1], (name, on, n, overlap)


SENTENCES = [*".!?…。！？．\"')]”」 \n\r\u3000\u0085ab中é😀", "\r\n", ")" * 8, "”" * 9]


def test_backends_find_the_same_sentences_and_lines(native: BackendName) -> None:
    letters = random.Random(4)
    backends: list[BackendName] = [native, "python"]
    toks = [small(backend) for backend in backends]
    for _ in range(300):
        text = "".join(letters.choices(SENTENCES, k=letters.randrange(60)))
        n = letters.choice([4, 9, 40])
        for given in (text, text.encode()):
            for on in ("sentence", "line"):
                overlap = letters.choice([0, 0, 3])
                results = [list(tok.chunks(given, n, overlap, on=on)) for tok in toks]
                assert results[0] == results[1], (given, n, overlap, on)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_little_more_than_linear_time(name: str, native: BackendName) -> None:
    tok = small(native)

    def work(size: int) -> None:
        text = HOSTILE[name](size)
        chunks = list(tok.chunks(text, 64, on="sentence"))
        assert "".join(str(chunk.text) for chunk in chunks) == text
        assert max(chunk.size for chunk in chunks) <= 64
        assert len(tok.truncate(text, 64)) >= 20

    assert growth(work, 1000) < TOO_MUCH


def test_one_letter_and_many_kinds_of_letters_are_fast(native: BackendName) -> None:
    tok = small(native)
    counts: list[int] = []
    count = tok._count

    def counted(*arguments: Any) -> int:
        counts.append(1)
        size: int = count(*arguments)
        return size

    tok._count = counted
    for text in ("a" * 200_000, LONG["many Chinese"] * 40):
        assert "".join(str(chunk.text) for chunk in tok.chunks(text, 256)) == text
        assert not counts


def test_a_long_text_is_not_read(native: BackendName) -> None:
    tok = small(native)
    text, read = "ab, ab. " * 100_000, []
    tok.count_up_to("ab", 1)
    count = tok._count

    def counted(data: Any, *arguments: Any) -> int:
        read.append(len(data))
        size: int = count(data, *arguments)
        return size

    tok._count = counted
    assert tok.count_up_to(text, 100) == 101
    for side in ("right", "left"):
        part = tok.truncate(text, 100, side)
        assert 195 < len(part) < 205
        assert text.startswith(part) if side == "right" else text.endswith(part)
    assert sum(read) < 20_000


@pytest.mark.parametrize("name", ["r50k", "cl100k", "o200k", "llama3", "qwen2"])
def test_published_vocabularies(name: str, native: BackendName) -> None:
    tok: Any = tokenizer(name, native)
    source = seeded(f"budgets of {name}")
    for file in ("english", "code", "cjk"):
        whole = shared("texts", f"{file}.txt").read_text("utf-8", "replace")
        start = source.randrange(len(whole) - 6_000)
        text = whole[start : start + 6_000]
        for on in ("token", "pre-token", "line"):
            chunks = list(tok.chunks(text, 100, on=on, special="text"))
            assert "".join(str(chunk.text) for chunk in chunks) == text
            sizes = [chunk.size for chunk in chunks]
            parts = [chunk.text for chunk in chunks]
            assert [len(ids) for ids in tok.encode_batch(parts, "text")] == sizes
            assert max(sizes) <= 100
            if on != "token":
                continue
            # No chunk could end at one of the next tokens that end with a character.
            _, _, ends = tok.token_spans(text, "text", unit="byte")
            borders = np.cumsum([0, *(len(character.encode()) for character in text)])
            ends = np.searchsorted(borders, ends[np.isin(ends, borders)])
            for chunk in source.sample(chunks[:-1], min(max_examples(10), len(chunks) - 1)):
                at = int(np.searchsorted(ends, chunk.end, "right"))
                for end in ends[at : at + 30].tolist():
                    longer = text[chunk.start : end]
                    assert end == chunk.end or tok.count(longer, "text") > 100
        for n in (0, 1, 50):
            part = tok.truncate(text, n, special="text")
            assert tok.count(part, "text") <= n
            for more in range(1, 40):
                longer = text[: len(part) + more]
                assert tok.count(longer, "text") > n, (n, longer[-50:])
