"""Trainer: the merges equal those of Hugging Face's BpeTrainer and minbpe, in both backends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.merge import merge
from bpe.training import trainer as trainer_module
from bpe.training.trainer import TieBreak
from pretok.machine.backend import BackendName
from support import TOO_MUCH, growth, max_examples, seeded
from training import (
    Rows,
    hugging_face,
    make_trainer,
    make_trainer_of_rows,
    merges_of,
    recount,
)

# Few letters give many ties, overlaps, and tokens that two pairs make.
LETTERS = ("a", "ab", "abc", "ab ", "aé", "a\n\t", "日本", "ab😀")
words = st.sampled_from(LETTERS).flatmap(
    lambda letters: st.dictionaries(
        st.text(st.sampled_from(letters), min_size=1, max_size=40), st.integers(1, 4), max_size=12
    )
)
lengths = st.none() | st.integers(2, 9)


def as_bytes(words: dict[str, int]) -> dict[bytes, int]:
    return {word.encode(): count for word, count in words.items()}


def texts_of(words: dict[str, int]) -> list[str]:
    return [word for word, count in words.items() for _ in range(count)]


@given(words=words, tokens=st.integers(0, 80), least=st.integers(0, 4), longest=lengths)
@settings(max_examples=max_examples(300))
def test_merges_are_those_of_hugging_face(
    backend: BackendName, words: dict[str, int], tokens: int, least: int, longest: int | None
) -> None:
    options = {} if longest is None else {"max_token_length": longest}
    expected = hugging_face(texts_of(words), tokens, "", min_frequency=least, **options)
    trainer = make_trainer(as_bytes(words), backend, "huggingface", least, longest)
    trainer.step(tokens)
    assert merges_of(trainer) == expected


@pytest.mark.parametrize("longest", [None, 6])
@pytest.mark.parametrize("letters", LETTERS)
def test_merges_of_long_words_are_those_of_hugging_face(
    letters: str, longest: int | None, backend: BackendName
) -> None:
    chance = seeded(letters)
    words = {
        "".join(chance.choices(letters, k=chance.randint(1, 600))): chance.randint(1, 3)
        for _ in range(5)
    }
    options = {} if longest is None else {"max_token_length": longest}
    expected = hugging_face(texts_of(words), 500, "", **options)
    trainer = make_trainer(as_bytes(words), backend, max_token_length=longest)
    trainer.step(500)
    assert merges_of(trainer) == expected


def test_ties_are_in_the_order_of_byte_level_characters(backend: BackendName) -> None:
    """ByteLevel writes a tab as U+0109 and a space as U+0120, so both come after "z"."""
    words = {"  ": 1, "zz": 1, "\t\t": 1, "!!": 1}
    trainer = make_trainer(as_bytes(words), backend)
    trainer.step(4)
    assert [left for left, _ in merges_of(trainer)] == [b"!", b"z", b"\t", b" "]
    assert merges_of(trainer) == hugging_face(texts_of(words), 4, "")


@given(words=words, tokens=st.integers(0, 60))
@settings(max_examples=max_examples(300))
def test_first_seen_merges_are_those_of_minbpe(
    backend: BackendName, words: dict[str, int], tokens: int
) -> None:
    trainer = make_trainer(as_bytes(words), backend, "first-seen")
    trainer.step(tokens)
    assert merges_of(trainer) == recount(list(as_bytes(words).items()), tokens)
    assert trainer.tokens == len(trainer.merges())  # each merge makes a token


def test_the_example_of_texts_that_teach_bpe(backend: BackendName) -> None:
    trainer = make_trainer({b"aaabdaaabac": 1}, backend, "first-seen")
    trainer.step(3)
    assert merges_of(trainer) == [(b"a", b"a"), (b"aa", b"a"), (b"aaa", b"b")]


def test_tokens_of_one_long_word_are_bounded(
    backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With "first-seen", each token may be the one before and one symbol: quadratic in all."""
    size = 34_000
    if backend == "python":
        monkeypatch.setattr(trainer_module, "MAX_LEARNED_SIZE", 1 << 20)
        size = 2_600
    word = bytes(seeded("long word").choices(range(97, 123), k=size))
    trainer = make_trainer({word: 1}, backend, "first-seen")
    with pytest.raises(ValueError, match=f"more than {trainer_module.MAX_LEARNED_SIZE} bytes or"):
        trainer.step(1 << 20)
    limited = make_trainer({word: 1}, backend, "first-seen", 0, 100)
    assert not limited.step(1 << 20)


@given(
    words=words,
    tie_break=st.sampled_from(["huggingface", "first-seen"]),
    least=st.integers(0, 4),
    longest=lengths,
    stops=st.lists(st.integers(0, 60), max_size=5).map(sorted),
)
@settings(max_examples=max_examples(300))
def test_python_and_native_agree_step_by_step(
    native: BackendName,
    words: dict[str, int],
    tie_break: TieBreak,
    least: int,
    longest: int | None,
    stops: list[int],
) -> None:
    trainers = [
        make_trainer(as_bytes(words), name, tie_break, least, longest)
        for name in ("python", native)
    ]
    for stop in stops:
        first, second = (trainer.step(stop) for trainer in trainers)
        assert first == second
        assert trainers[0].tokens == trainers[1].tokens <= stop
        assert first == (trainers[0].tokens == stop)
    assert trainers[0].merges().tolist() == trainers[1].merges().tolist()
    assert trainers[0].first_merges().tolist() == trainers[1].first_merges().tolist()


@pytest.mark.parametrize(
    ("tokens", "rows", "joins_known"),
    [
        (["a", "aaa"], [([0] * 7, 3), ([0] * 4, 2), ([0, 0, 1, 0], 3)], True),
        (["a", "aa", "aaa"], [([0, 0], 3), ([0, 0, 1, 0, 0, 0, 2, 0, 1, 1, 0, 0, 0, 1], 1)], False),
        (["a", "b", "aba"], [([1, 0, 0, 1, 0, 1, 0, 1, 2, 1, 0, 0], 1)], True),
        (["a", "b", "ab"], [([0, 2, 1, 0, 1], 3), ([1, 0, 1, 0, 1, 0, 1, 2, 0, 1], 1)], False),
    ],
)
def test_a_merge_makes_more_places_of_a_pair_that_waits(
    native: BackendName, tokens: list[str], rows: Rows, joins_known: bool
) -> None:
    """The merge also removes places of the pair, which must not be subtracted twice."""
    results = []
    for backend in ("python", native):
        if joins_known:
            rows = [(joined(tokens, row), count) for row, count in rows]
        trainer = make_trainer_of_rows(tokens, rows, backend, joins_known=joins_known)
        trainer.step(100)
        results.append(trainer.merges().tolist())
    assert results[0] == results[1]


def joined(tokens: Sequence[str], row: Sequence[int]) -> list[int]:
    """Return a row after its neighbors have merged whose text is a token, the first token first."""
    known = {text: symbol for symbol, text in reversed([*enumerate(tokens)])}

    def find(left: int, right: int) -> tuple[int, int] | None:
        symbol = known.get(tokens[left] + tokens[right])
        return None if symbol is None else (symbol, symbol)

    return merge([*row], find)


def test_rows_of_tokens_give_equal_merges_in_python_and_native(native: BackendName) -> None:
    chance = seeded("rows of tokens")
    for _ in range(20 * max_examples(30)):
        letters = chance.choice(["a", "ab", "abc", "ab "])
        longer = ("".join(chance.choices(letters, k=chance.randint(2, 3))) for _ in range(3))
        tokens = list(dict.fromkeys([*letters, *longer]))
        rows = [
            (chance.choices(range(len(tokens)), k=chance.randint(1, 40)), chance.randint(1, 3))
            for _ in range(chance.randint(1, 4))
        ]
        tie_break: TieBreak = chance.choice(["huggingface", "first-seen"])
        options: dict[str, Any] = {
            "joins_known": tie_break == "huggingface" and chance.random() < 0.5,
            "longest": chance.choice([None, None, 3, 6]),
            "least": chance.randint(0, 2),
            "max_words": chance.choice([None, 1]),
        }
        if options["joins_known"]:
            rows = [(joined(tokens, row), count) for row, count in rows]
        trainers = [
            make_trainer_of_rows(tokens, rows, name, tie_break, **options)
            for name in ("python", native)
        ]
        steps = chance.randint(1, 60)
        assert trainers[0].step(steps) == trainers[1].step(steps)
        case = tokens, rows, tie_break, options
        assert trainers[0].merges().tolist() == trainers[1].merges().tolist(), case


def test_counts_may_be_beyond_32_bits(backend: BackendName) -> None:
    words = {b"ab": 2**31, b"cd": 2**32 + 1, b"ce": 2**40, b"fe": 2**40 + 5}
    trainer = make_trainer(words, backend, min_frequency=2**32)
    assert not trainer.step(10)
    assert merges_of(trainer) == [(b"f", b"e"), (b"c", b"e"), (b"c", b"d")]


@pytest.mark.parametrize("tie_break", ["huggingface", "first-seen"])
@pytest.mark.parametrize("letters", ["a", "ab", "abcdefgh"])
def test_one_long_word_takes_linear_time(
    letters: str, tie_break: TieBreak, backend: BackendName
) -> None:
    chance = seeded(1)

    def work(size: int) -> None:
        word = "".join(chance.choices(letters, k=size)).encode()
        assert make_trainer({word: 1}, backend, tie_break).step(12) or letters == "a"

    assert growth(work, 2_000 if backend == "python" else 60_000) < TOO_MUCH


def test_tokens_of_millions_of_bytes(native: BackendName) -> None:
    """A slot has 22 bits for the length of a token; longer tokens have it in two slots."""
    doublings = 23
    long = b"a" * 2**doublings
    trainer = make_trainer({long: 5, b"b" + long + b"c": 1}, native)
    assert trainer.step(doublings + 2)
    assert not trainer.step(doublings + 3)
    last = 255 + doublings  # the token of all "a"
    assert trainer.merges().tolist()[-3:] == [
        [last - 1, last - 1, last], [ord("b"), last, last + 1], [last + 1, ord("c"), last + 2]
    ]  # fmt: skip


def test_an_unknown_tie_break_is_an_error(native: BackendName) -> None:
    with pytest.raises(ValueError, match="unknown tie-break last"):
        make_trainer({}, native, "last")  # type: ignore[arg-type]
