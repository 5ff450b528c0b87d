"""Strings that an attacker chose to collide in hash tables take no longer than other strings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import Vocabulary
from bpe.byte_level import to_text
from colliding import cut_tokens, long_tokens, short_tokens, training_words
from gguf_files import gguf, metadata
from support import need_native, run_python
from vocabulary_files import huggingface, tiktoken_lines, write

LIMIT = 3.0
"""The maximum ratio of the time for colliding input to the time for other input of the same size.
Before hash tables had random keys, the ratio was 20 or more."""

Strings = Callable[[int, bool], list[bytes]]

pytestmark = pytest.mark.usefixtures("_native")


@pytest.fixture
def _native() -> None:
    need_native()


def excess(work: Callable[[bool], object]) -> float:
    """Return the processor time of work(True) divided by that of work(False).

    Takes the fastest of up to four runs of each, because other processes can only slow a run down.
    Stops at a ratio below LIMIT.
    """
    chosen = ordinary = float("inf")
    for _ in range(4):
        ordinary = min(ordinary, _seconds(work, False))
        chosen = min(chosen, _seconds(work, True))
        if chosen < LIMIT * ordinary:
            break
    return chosen / ordinary


def _seconds(work: Callable[[bool], object], collide: bool) -> float:
    before = time.process_time()
    work(collide)
    return time.process_time() - before


def ranked(tokens: list[bytes]) -> list[bytes]:
    """Return the lines of a rank file with the 256 bytes and `tokens`."""
    every = dict(enumerate([bytes([byte]) for byte in range(256)] + tokens))
    return tiktoken_lines(Vocabulary(every))


def texts(tokens: list[bytes]) -> dict[str, int]:
    """Return the vocabulary of a tokenizer.json: the 256 bytes and `tokens`, with their ids."""
    every = [bytes([byte]) for byte in range(256)] + tokens
    return {to_text(token): id for id, token in enumerate(every)}


def of_rank_file(path: Path, tokens: list[bytes]) -> Path:
    return write(path.with_suffix(".tiktoken"), ranked(tokens))


def of_json(path: Path, tokens: list[bytes]) -> Path:
    file = huggingface(
        model_vocab=texts(tokens), model_merges=[], model_ignore_merges=True, added_tokens=[]
    )
    return write(path.with_suffix(".json"), file)


def of_gguf(path: Path, tokens: list[bytes]) -> Path:
    every = list(texts(tokens))
    changes: dict[str, Any] = {
        "tokens": every, "scores": ..., "token_type": [1] * len(every), "merges": [],
        "eos_token_id": ..., "pre": "llama-bpe",
    }  # fmt: skip
    return write(path.with_suffix(".gguf"), gguf(metadata(**changes)))


def of_gpt2(path: Path, tokens: list[bytes]) -> Path:
    path.mkdir()
    write(path / "merges.txt", "#version: 0.2\n1 2\n")
    return write(path / "vocab.json", texts([*tokens, b"12"]))


def of_pretok(path: Path, tokens: list[bytes]) -> Path:
    made = bpe.load(of_rank_file(path, tokens), preset="cl100k")
    made.save(path.with_suffix(".pretok"))
    return path.with_suffix(".pretok")


# The file formats from which the test loads each kind of strings.
FORMS: dict[Strings, list[Callable[[Path, list[bytes]], Path]]] = {
    short_tokens: [of_rank_file, of_pretok, of_json, of_gguf],
    long_tokens: [of_rank_file, of_pretok, of_json, of_gguf, of_gpt2],
    cut_tokens: [of_rank_file, of_pretok],
}
COUNTS: dict[Strings, int] = {short_tokens: 30_000, long_tokens: 15_000, cut_tokens: 60_000}


@pytest.mark.parametrize(
    ("strings", "form"), [(strings, form) for strings, forms in FORMS.items() for form in forms]
)
def test_loading_colliding_tokens_takes_the_usual_time(
    strings: Strings, form: Callable[[Path, list[bytes]], Path], tmp_path: Path
) -> None:
    files = {
        collide: form(tmp_path / f"{collide}", strings(COUNTS[strings], collide))
        for collide in (False, True)
    }
    assert excess(lambda collide: bpe.load(files[collide], preset="gpt2")) < LIMIT


def test_training_on_colliding_words_takes_the_usual_time() -> None:
    given = {collide: " ".join(training_words(60_000, collide)) for collide in (False, True)}
    assert (
        excess(lambda collide: bpe.train([given[collide]], vocab_size=260, preset="gpt2")) < LIMIT
    )


DIGEST = """
import hashlib, sys
import bpe
text = "".join(chr(0x20 + 7 * i * i % 0x60) + "the of and "[i % 9 :][: i % 4] for i in range(40000))
text += " 中文字符 \\u00e9t\\u00e9 \\U0001f600\\U0001f600" * 50
made = bpe.train([text], vocab_size=700, preset="cl100k", special_tokens=["<|end|>"])
made.save(sys.argv[1])
found = [made.merges, made.encode(text), bpe.load(sys.argv[1]).encode(text)]
for name in sys.argv[2:]:
    tok = bpe.load(name, preset="gpt2")
    found += [tok.vocab_size, tok.merges, tok.encode(text, special="text")]
print(hashlib.sha256(repr(found).encode()).hexdigest())
"""


def test_results_do_not_depend_on_the_hash_key(tmp_path: Path) -> None:
    """Each process draws its own random hash key."""
    names = [
        str(form(tmp_path / f"{form.__name__}", cut_tokens(2000, True)))
        for form in (of_rank_file, of_json)
    ]
    digests = set()
    for _ in range(4):
        run = run_python(DIGEST, str(tmp_path / "made.pretok"), *names, environment={**os.environ})
        assert run.returncode == 0, run.stderr
        digests.add(run.stdout)
    assert len(digests) == 1
