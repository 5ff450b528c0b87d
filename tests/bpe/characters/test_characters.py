"""CharacterVocabulary, and TiedRuns (pieces of one repeated character), merge by definition."""

from __future__ import annotations

import pytest

from bpe import VocabularyError
from bpe.characters.merger import CharacterMerger, TextMerger
from bpe.characters.runs import TiedRuns
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from support import seeded

TOKENS = {0: b"<unk>", 1: b"a", 2: b"aa"}


def test_runs_merge_by_their_definition() -> None:
    random = seeded("runs")
    found = 0
    for _ in range(150):
        lengths = sorted(random.sample(range(2, 9), random.randrange(1, 6)))
        tokens = {0: b"?"} | {length: b"a" * length for length in (1, *lengths)}
        scores = dict.fromkeys(lengths, -1.0) | {1: 0.0}
        vocabulary = CharacterVocabulary(tokens, scores, 0)
        runs = vocabulary.tied_runs
        if runs is None:
            continue
        found += 1
        ranked = TextVocabulary(
            {id: token.decode() for id, token in tokens.items()},
            vocabulary.ranked_merges(),
            TextOptions("?"),
        )
        for size in range(1, 40):
            expected = tuple(CharacterMerger(vocabulary).merge(b"a" * size))
            assert runs.lengths(size) == expected
            assert tuple(TextMerger(ranked).merge(b"a" * size)) == expected
    assert found > 20


def test_runs_that_do_not_repeat() -> None:
    assert not TiedRuns("a", {1: 1, 3: 3}).repeats()


@pytest.mark.parametrize(
    ("pieces", "scores"),
    [
        (("a", "aa", "bb"), (0, -1, -1)),  # another character
        (("aa", "aaa"), (-1, -1)),  # "a" is not a piece
        (("a", "aa", "aab"), (0, -2, -1)),  # another piece has a run
        (("a", "aa", "bc", "cd"), (0, -2, -1, -1)),  # other pieces have equal scores
        (("a", "aa", "ab"), (0, -1, -2)),  # another piece merges later
    ],
)
def test_runs_that_do_not_merge_last(pieces: tuple[str, ...], scores: tuple[float, ...]) -> None:
    tokens = {0: b"?"} | {id: text.encode() for id, text in enumerate(pieces, 1)}
    vocabulary = CharacterVocabulary(tokens, dict(enumerate(scores, 1)), 0)
    assert vocabulary.tied_runs is None


@pytest.mark.parametrize(
    ("tokens", "scores", "unknown", "match"),
    [
        ({-1: b"a"}, {}, 0, "has id -1"),
        ({0: b""}, {}, 0, "expected non-empty bytes"),
        (TOKENS, {5: 0.0}, 0, "id 5 has no token"),
        (TOKENS, {}, 7, "id 7 has no token"),
        ({**TOKENS, 3: b"a"}, {1: 0.0, 3: 0.0}, 0, "tokens 1 and 3 are both"),
        (TOKENS, {1: float("nan")}, 0, "the score NaN"),
        ({**TOKENS, 3: b"\xff"}, {3: 0.0}, 0, "expected valid UTF-8"),
    ],
)
def test_refused(
    tokens: dict[int, bytes], scores: dict[int, float], unknown: int, match: str
) -> None:
    with pytest.raises(VocabularyError, match=match):
        CharacterVocabulary(tokens, scores, unknown)


def test_byte_ids_must_be_256() -> None:
    with pytest.raises(VocabularyError, match="has 2 ids; expected 256"):
        CharacterVocabulary(TOKENS, {}, 0, (1, 2))
