"""bpe.train: the Tokenizer does not depend on backends, threads or the type of the source."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import pretok
from bpe.training.train import train
from bpe.training.trainer import TieBreak
from pretok.machine.backend import BackendName
from support import max_examples
from training_texts import PROSE, generated, merges_of, texts

TEACHING = ["ab", "abc", "abcd"]
SPECIALS = {"<PAD>": 0, "<UNK>": 1, "<BOS>": 2, "<EOS>": 3}


# The examples of texts that teach BPE.


def test_special_ids_before_bytes_and_merges(backend: BackendName) -> None:
    tok = train(TEACHING, vocab_size=300, special_tokens=SPECIALS, backend=backend)
    assert tok.encode("ab") == [260]
    assert tok.encode("abcde") == [262, 105]
    assert tok.decode([262, 105]) == "abcde"
    assert tok.encode("a<EOS>", special="allow") == [101, 3]
    assert tok.special_tokens == SPECIALS
    assert [tok.token_bytes(id) for id in (4, 259, 261)] == [b"\0", b"\xff", b"abc"]


@pytest.mark.parametrize("tie_break", ["huggingface", "first-seen"])
def test_three_merges_turn_eleven_letters_into_five_tokens(
    tie_break: TieBreak, backend: BackendName
) -> None:
    tok = train(["aaabdaaabac"], vocab_size=259, tie_break=tie_break, backend=backend)
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert len(tok.merges) == 3


# Ids.


def test_listed_special_tokens_get_the_last_ids(backend: BackendName, caplog: Any) -> None:
    tok = train(TEACHING, vocab_size=261, special_tokens=["<a>", "<b>"], backend=backend)
    assert tok.special_tokens == {"<a>": 259, "<b>": 260}
    assert not caplog.records
    tok = train(TEACHING, vocab_size=1000, special_tokens=("<a>", "<b>"), backend=backend)
    assert tok.special_tokens == {"<a>": 259, "<b>": 260}
    tok = train(TEACHING, vocab_size=258, special_tokens=["<a>", "<b>"], backend=backend)
    assert (tok.merges, tok.special_tokens) == ((), {"<a>": 256, "<b>": 257})


def test_bytes_and_merges_get_the_ids_that_are_not_fixed(backend: BackendName) -> None:
    specials = {"<x>": 299, "<y>": 1, "<z>": 258}
    tok = train(TEACHING, vocab_size=300, special_tokens=specials, backend=backend)
    assert tok.special_tokens == specials
    assert tok.encode("\0\1\2") == [0, 2, 3]
    assert [tok.token_bytes(id) for id in (256, 257, 259, 260)] == [b"\xff", b"ab", b"abc", b"abcd"]
    assert tok.encode("<x>abc<z>", special="allow") == [299, 259, 258]
    assert tok.encode("<x>", special="text") == [61, 121, 63]


@given(
    texts=texts,
    size=st.integers(0, 40),
    fixed=st.sets(st.integers(0, 320), max_size=5),
)
@settings(max_examples=max_examples(50))
def test_ids_are_all_used_once(
    backend: BackendName, texts: list[str], size: int, fixed: set[int]
) -> None:
    specials = {f"<{id}>": id for id in fixed}
    vocab_size = max(256 + len(fixed) + size, *fixed, 0) + 1
    tok = train(texts, vocab_size=vocab_size, special_tokens=specials, backend=backend)
    free = [id for id in range(vocab_size) if id not in fixed]
    assert [tok.token_bytes(id) for id in free[:256]] == [bytes([byte]) for byte in range(256)]
    made = {result for _, _, result in tok.vocabulary.merges or ()}
    assert made == set(free[256 : 256 + len(made)])
    for text in texts:
        assert tok.decode(tok.encode(text, special="text")) == text


def test_special_tokens_are_ordinary_text_while_training(backend: BackendName) -> None:
    texts = ["<|endoftext|>" * 9]
    tok = train(texts, vocab_size=290, special_tokens=["<|endoftext|>"], backend=backend)
    assert merges_of(tok) == merges_of(train(texts, vocab_size=289, backend=backend))
    assert tok.encode(texts[0], special="allow") == [tok.special_tokens["<|endoftext|>"]] * 9


@pytest.mark.parametrize(
    ("vocab_size", "specials", "said"),
    [
        (255, (), "vocab_size=255; expected at least 256: 256 for the bytes and 0 for the special"),
        (
            258,
            ["a", "b", "c"],
            "vocab_size=258; expected at least 259: 256 for the bytes and 3 for",
        ),
        (256, {"a": 0}, "vocab_size=256; expected at least 257"),
        (-1, (), "expected at least 256"),
        (300.0, (), "vocab_size=300.0; expected an int"),
        (True, (), "vocab_size=True; expected an int"),
        (1 << 40, (), "expected an int of at most"),
        (300, ["a", "a"], "duplicate special token 'a'"),
        (300, ["a", ""], "special token ''; expected a non-empty str"),
        (300, ["a", 5], "special token 5; expected a non-empty str"),
        (
            300,
            ["a\ud800"],
            r"special token 'a\\ud800'; expected a non-empty str without surrogates",
        ),
        (300, {"a": 300}, "special token 'a' has id 300; expected an int from 0 to 299"),
        (300, {"a": -1}, "special token 'a' has id -1; expected"),
        (300, {"a": "b"}, "special token 'a' has id 'b'; expected"),
        (300, {"a": 5, "b": 5}, "special tokens 'a' and 'b' both have id 5"),
    ],
)
def test_impossible_sizes_and_specials_are_refused(
    vocab_size: int, specials: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said.replace("|", r"\|")):
        train(never(), vocab_size=vocab_size, special_tokens=specials)


@pytest.mark.parametrize("options", [{"byte_fallback": True}, {"character_coverage": 0.5},
                                     {"required_characters": "a"}])  # fmt: skip
def test_options_of_characters_need_that_alphabet(options: dict[str, Any]) -> None:
    ((option, value),) = options.items()
    with pytest.raises(ValueError, match=f'^{option}={value!r} needs alphabet="characters"'):
        train(never(), vocab_size=300, **options)


def test_a_preset_of_another_type(backend: BackendName) -> None:
    with pytest.raises(TypeError, match="is of type int; expected a Preset, its name, a "):
        train(never(), vocab_size=300, preset=3, backend=backend)  # type: ignore[arg-type]


def never() -> Iterator[str]:
    """Fail if training reads a text."""
    pytest.fail("the texts were read although the arguments are wrong")
    yield ""


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"min_frequency": -1}, "min_frequency=-1; expected an int of at least 0"),
        ({"max_token_length": 1}, "max_token_length=1; expected None or an int of at least 2"),
        ({"threads": 0}, "threads=0; expected None or an int of at least 1"),
        ({"tie_break": "last"}, "tie_break='last'; expected one of"),
        ({"preset": "nosuch"}, "unknown preset 'nosuch'"),
        ({"backend": "cuda"}, "backend='cuda'"),
    ],
)
def test_other_wrong_arguments(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, pretok.BackendError), match=said):
        train(never(), vocab_size=300, **wrong)


def test_special_tokens_as_one_str_are_refused() -> None:
    with pytest.raises(TypeError, match="special_tokens='<a>'; expected a list"):
        train(never(), vocab_size=300, special_tokens="<a>")


# Fewer merges than asked for.


def test_fewer_merges_are_logged(backend: BackendName, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "bpe"):
        tok = train(TEACHING, vocab_size=300, special_tokens=["<a>"], backend=backend)
    assert [record.name for record in caplog.records] == ["bpe"]
    assert caplog.messages == [
        "vocab_size=300 needs 43 merged tokens, but the texts give only 3; the vocabulary has "
        "260 tokens; train on more text, or choose a smaller vocabulary"
    ]
    assert len(tok.merges) == 3
    caplog.clear()
    with caplog.at_level(logging.WARNING, "bpe"):
        train(TEACHING, vocab_size=259, min_frequency=3, backend=backend)
    assert "give only 1 with min_frequency=3; the vocabulary has 257" in caplog.text


@pytest.mark.parametrize("nothing", [[], ["", b""], iter(())])
def test_nothing_to_train_on(nothing: Any, backend: BackendName, caplog: Any) -> None:
    tok = train(nothing, vocab_size=257, backend=backend)
    assert tok.merges == ()
    assert tok.encode("é") == [195, 169]
    assert "only 0" in caplog.text


# Results do not depend on backends, threads and sources.


@given(
    texts=texts,
    size=st.integers(0, 60),
    preset=st.sampled_from(["gpt2", "cl100k", "o200k", "llama3"]),
    tie_break=st.sampled_from(["huggingface", "first-seen"]),
    least=st.integers(0, 3),
    longest=st.none() | st.integers(2, 8),
    threads=st.sampled_from([None, 1, 2, 5]),
)
@settings(max_examples=max_examples(100))
def test_backends_and_threads_agree(
    native: BackendName,
    texts: list[str],
    size: int,
    preset: str,
    tie_break: TieBreak,
    least: int,
    longest: int | None,
    threads: int | None,
) -> None:
    options: dict[str, Any] = {
        "vocab_size": 256 + size,
        "preset": preset,
        "tie_break": tie_break,
        "min_frequency": least,
        "max_token_length": longest,
    }
    first = train(texts, backend="python", **options)
    second = train(iter(texts), backend=native, threads=threads, **options)
    assert first == second
    assert first.merges == second.merges
    third = train([text.encode() for text in texts], backend=native, threads=5, **options)
    assert first == third


def test_a_file_gives_the_merges_of_its_text(backend: BackendName, tmp_path: Path) -> None:
    text = generated(3_000_000 if backend == "native" else 100_000)
    (tmp_path / "a.txt").write_bytes(text.encode())
    rows = text.splitlines()
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"body": row}) + "\n" for row in rows))
    for source, same in [(tmp_path / "a.txt", [text]), ([tmp_path / "a.jsonl"], rows)]:
        options: dict[str, Any] = {"vocab_size": 700, "field": "body", "backend": backend}
        expected = merges_of(train(same, **options))
        assert len(expected) >= 444
        assert merges_of(train(source, **options)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(threads: int, native: BackendName) -> None:
    text = generated(4_000_000)
    expected = train([text], vocab_size=1000, tie_break="first-seen", backend=native)
    found = train([text], vocab_size=1000, tie_break="first-seen", backend=native, threads=threads)
    assert found == expected


# Pre-tokenizer objects.


class Halves:
    """Cuts each text in two."""

    def offsets(self, text: str, /) -> NDArray[np.int64]:
        return np.array([0, len(text) // 2, len(text)])


def test_a_pre_tokenizer_of_another_class(backend: BackendName) -> None:
    tok = train(["aéaé", "aéaé"], vocab_size=262, preset=Halves(), backend=backend)
    assert merges_of(tok) == [(b"a", b"\xc3"), (b"a\xc3", b"\xa9")]
    assert tok.encode("aéaé") == [257, 257]


def test_an_instance_of_pre_tokenizer(backend: BackendName) -> None:
    made = pretok.get("gpt2", unicode="18.0", backend="python")
    tok = train(PROSE, vocab_size=300, preset=made, backend=backend)
    assert merges_of(tok) == merges_of(train(PROSE, vocab_size=300, preset="gpt2"))
