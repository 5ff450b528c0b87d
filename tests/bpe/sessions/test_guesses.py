"""Texts for which the published guesses of kept ids are wrong, and a Session is right."""

from __future__ import annotations

import pytest

import bpe
from bpe import Tokenizer, Vocabulary
from bpe.cli.session_guesses import Guess, joined, resynchronized, rolled_back
from vocabularies import installed_ranks

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
