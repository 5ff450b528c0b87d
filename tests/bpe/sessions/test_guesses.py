"""Texts for which the published guesses of kept ids are wrong, and a Session is right.

INCREMENTAL encoding in servers: TensorRT-LLM #15040 joins the ids of both texts, #17462 goes back
one token, and #18389 encodes the last 64 tokens again and trusts 32 equal ids.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import bpe
from bpe import Tokenizer, Vocabulary
from vocabularies import installed_ranks

Guess = Callable[[Tokenizer, str, str], list[int]]


def joined(tokenizer: Tokenizer, old: str, new: str) -> list[int]:
    """Return the ids of the old text, and those of the text after it."""
    assert new.startswith(old)
    return tokenizer.encode(old) + tokenizer.encode(new[len(old) :])


def rolled_back(tokenizer: Tokenizer, old: str, new: str) -> list[int]:
    """Keep the tokens of the common start but the last one."""
    common = next(
        (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    tokens = [token for token in tokenizer.tokens(old) if token.end <= common][:-1]
    start = tokens[-1].end if tokens else 0
    return [token.id for token in tokens] + tokenizer.encode(new[start:])


def resynchronized(
    tokenizer: Tokenizer, old: str, new: str, overlap: int = 64, run: int = 32
) -> list[int]:
    """Encode from `overlap` tokens before the end; trust `run` ids that equal the old ones."""
    tokens = tokenizer.tokens(old)
    first = max(0, len(tokens) - overlap)
    start = tokens[first].start if tokens else 0
    again = tokenizer.encode(new[start:])
    ids = [token.id for token in tokens]
    for at in range(first, len(ids) - run + 1):
        if ids[at : at + run] == again[at - first : at - first + run]:
            return ids[:at] + again[at - first :]
    return tokenizer.encode(new)


LINES = "done!" + "\n\n\r\n" * 33
CASES: list[tuple[Guess, str, str]] = [
    (joined, "Hello, wor", "Hello, world"),
    (joined, "unbeliev", "unbelievable"),
    (rolled_back, "backgr<think>", "background"),
    (rolled_back, "🦙", "🦙🦙"),
    (resynchronized, LINES, LINES + "\t\r\nx"),
    (resynchronized, "!" + "\n" * 2113, "!" + "\n" * 2113 + " \nx"),
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    ranks = installed_ranks("cl100k_base")
    return Tokenizer(Vocabulary({id: token for token, id in ranks.items()}), "cl100k")


@pytest.mark.parametrize(("guess", "old", "new"), CASES)
def test_a_guess_is_wrong_and_a_session_is_right(
    guess: Guess, old: str, new: str, tokenizer: Tokenizer
) -> None:
    expected = tokenizer.encode(new)
    session = tokenizer.session(old)
    ids = session.ids.tolist()
    session.update(new).apply(ids)
    assert ids == session.ids.tolist() == expected
    assert guess(tokenizer, old, new) != expected


def test_equal_ids_prove_nothing(tokenizer: Tokenizer) -> None:
    """One changed character makes ids differ after any number of equal ids at equal places."""
    tail = "\n" * 2001 + " \nx"
    session = tokenizer.session("done!" + tail)
    session.replace(4, 5, " ")
    assert session.ids.tolist() == tokenizer.encode("done " + tail)
    assert bpe.Patch(*session.replace(4, 5, "!")).keep == 1
    digits = tokenizer.session("x" + "0" * 3000)
    digits.replace(1, 1, "1")
    assert digits.ids.tolist() == tokenizer.encode("x1" + "0" * 3000)
