"""CharacterVocabulary, and TiedRuns (pieces of one repeated character), merge by definition."""

from __future__ import annotations

from random import Random

import pytest

from bpe import VocabularyError
from bpe.characters.merger import CharacterMerger, TextMerger
from bpe.characters.runs import TiedRuns
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from support import max_examples, seeded

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


def test_pieces_that_merge_after_runs() -> None:
    """`extend` and `initial=` add such pieces to Llama 2 and Mistral."""
    random = seeded("later")
    count = max_examples(60)
    found = sum(_merges_alike(random) for _ in range(count))
    assert found > count // 3


def _merges_alike(random: Random) -> bool:
    """Compare ranked merges with scores; return False if there are no ranked merges."""
    some = sorted({"".join(random.choices("aaabc", k=random.randrange(2, 8))) for _ in range(12)})
    lengths = random.sample(range(2, 9), random.randrange(2, 6))
    early = [text for text in some if "aa" not in text and random.random() < 0.6]
    longer = {"a" * random.randrange(max(lengths) + 1, 30) for _ in range(random.randrange(4))}
    late = sorted({text for text in some if text not in early and {*text} != {"a"}} | longer)
    random.shuffle(late)
    words = [*early, *("a" * size for size in lengths), *late]
    tokens = dict(enumerate([b"?", b"a", b"b", b"c", *map(str.encode, words)]))
    first_late = len(tokens) - len(late)
    scores = {id: -float(id if id < 4 + len(early) else 50) for id in tokens if id}
    scores |= {id: -100.0 - id for id in range(first_late, len(tokens))}
    vocabulary = CharacterVocabulary(tokens, scores, 0)
    if vocabulary.why_not_ranked:
        return False
    texts = {id: token.decode() for id, token in tokens.items()}
    ranked = TextMerger(TextVocabulary(texts, vocabulary.ranked_merges(), TextOptions("?")))
    by_score = CharacterMerger(vocabulary)
    for _ in range(60):
        letters = random.choice(["aaaabc", "a" * 40 + "b"])
        text = "".join(random.choices(letters, k=random.randrange(90))).encode()
        assert list(ranked.merge(text)) == list(by_score.merge(text)), (words, text)
    return True


def test_runs_that_do_not_repeat() -> None:
    assert not TiedRuns("a", {1: 1, 3: 3}).repeats()


@pytest.mark.parametrize(
    ("pieces", "scores"),
    [
        (("a", "aa", "bb"), (0, -1, -1)),  # another character
        (("aa", "aaa"), (-1, -1)),  # "a" is not a piece
        (("a", "aa", "aab"), (0, -2, -1)),  # another piece has a run
        (("a", "aa", "bc", "cd"), (0, -2, -1, -1)),  # other pieces have equal scores
        (("a", "aa", "aaaa", "aaa"), (0, -1, -1, -2)),  # a shorter run merges later
    ],
)
def test_pieces_of_equal_scores_that_are_no_runs(
    pieces: tuple[str, ...], scores: tuple[float, ...]
) -> None:
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
