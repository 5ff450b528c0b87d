"""Merges become scores and scores become merges only if every string keeps its ids."""

from __future__ import annotations

from random import Random

import pytest

from bpe import TokenizerSpec, VocabularyError
from bpe.characters.marks import SPACE_MARK
from bpe.characters.merger import make_merger
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.formats import gguf_text
from bpe.formats.pieces_as_text import as_text
from bpe.formats.text_as_pieces import as_pieces
from pretok.patterns.lookup import WHOLE
from support import max_examples, seeded, strings

LETTERS = "abc"
STRINGS = [text for size in range(1, 8) for text in strings(LETTERS, size, 150)]
OPTIONS = TextOptions("<unk>", fuses_unknown=True)


def spec(vocabulary: TextVocabulary | CharacterVocabulary) -> TokenizerSpec:
    """Return the parts of a tokenizer like that of Llama 2."""
    return TokenizerSpec(
        vocabulary,
        WHOLE,
        added_tokens=(AddedToken("<unk>", 0),),
        normalizer=gguf_text.normalizer(adds_space=True),
        decoder=gguf_text.decoder(adds_space=True),
    )


def random_texts(random: Random) -> list[str]:
    """Return the tokens of a small vocabulary; each joins two earlier ones, or is any string."""
    texts = ["<unk>", *LETTERS, SPACE_MARK]
    for _ in range(random.randint(1, 9)):
        text = random.choice(texts[1:4] + texts[5:]) + random.choice(texts[1:4] + texts[5:])
        if random.random() < 0.2:
            text = "".join(random.choices(LETTERS, k=random.randint(2, 4)))
        if text not in texts and len(text) < 9:
            texts.append(text)
    return texts


def pairs(ids: dict[str, int], text: str) -> list[tuple[int, int, int]]:
    """Return every pair of tokens whose joined text is `text`."""
    cuts = [(text[:at], text[at:]) for at in range(1, len(text))]
    return [
        (ids[left], ids[right], ids[text]) for left, right in cuts if left in ids and right in ids
    ]


def random_merges(random: Random, texts: list[str]) -> list[tuple[int, int, int]]:
    """Return merges: of some tokens every pair, of others some pairs; mostly next to each other."""
    ids = {text: id for id, text in enumerate(texts)}
    tokens = [text for text in texts if len(text) > 1 and text != "<unk>"]
    random.shuffle(tokens)
    merges = []
    for text in tokens:
        found = pairs(ids, text)
        if random.random() < 0.2:
            found = random.sample(found, random.randint(0, len(found)))
        random.shuffle(found)
        merges += found
    if merges and random.random() < 0.2:
        merges.insert(0, merges.pop())
    return merges


def test_merges_as_scores() -> None:
    """A vocabulary is converted only if all strings have equal ids; most vocabularies are."""
    accepted, refused = 0, 0
    for seed in range(max_examples(400) * 2):
        random = seeded(f"as pieces {seed}")
        texts = random_texts(random)
        merges = random_merges(random, texts)
        vocabulary = TextVocabulary(dict(enumerate(texts)), merges, OPTIONS)
        try:
            pieces = as_pieces(spec(vocabulary)).vocabulary
        except VocabularyError:
            refused += 1
            continue
        accepted += 1
        assert isinstance(pieces, CharacterVocabulary)
        ours, theirs = make_merger(vocabulary), make_merger(pieces)
        for text in STRINGS:
            data = text.encode()
            assert ours.merge(data) == theirs.merge(data), (seed, texts, merges, text)
    assert accepted > refused / 4 > 0


def test_scores_as_merges() -> None:
    """And back: the scores of the merges give the ids of the first scores."""
    for seed in range(max_examples(400) * 2):
        random = seeded(f"as text {seed}")
        texts = random_texts(random)
        ranks = random.sample(range(100), len(texts))
        scores = {id: -float(ranks[id]) for id in range(1, len(texts))}
        tokens = {id: text.encode() for id, text in enumerate(texts)}
        vocabulary = CharacterVocabulary(tokens, scores, 0)
        text_spec = as_text(spec(vocabulary))
        again = as_pieces(text_spec).vocabulary
        mergers = [make_merger(part) for part in (vocabulary, text_spec.vocabulary, again)]  # type: ignore[arg-type]
        for text in STRINGS:
            ids, *others = (merger.merge(text.encode()) for merger in mergers)
            assert others == [ids, ids], (seed, texts, scores, text)


@pytest.mark.parametrize(
    ("merges", "match"),
    [
        ([(1, 2, 4), (2, 3, 5), (1, 5, 6), (3, 1, 7), (4, 3, 6)], "not next to each other"),
        ([(1, 2, 4), (2, 3, 5), (1, 5, 6), (3, 1, 7)], "is merged from 'ab' and 'c' by sentence"),
    ],
)
def test_refused_merges(merges: list[tuple[int, int, int]], match: str) -> None:
    texts = dict(enumerate(["<unk>", "a", "b", "c", "ab", "bc", "abc", "ca"]))
    with pytest.raises(VocabularyError, match=match):
        as_pieces(spec(TextVocabulary(texts, merges, OPTIONS)))
