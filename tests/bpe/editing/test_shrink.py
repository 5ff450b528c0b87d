"""Shrunk and remapped vocabularies, compared with the ids before by the definition."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import vocabularies
from bpe import AddedToken, Padding, Template, TokenFacts, Tokenizer, Vocabulary
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.editing.remap import Remapped
from pretok.patterns.lookup import WHOLE
from support import max_examples, seeded

TEXTS = st.lists(st.text("abc \u00e9", max_size=12), min_size=1, max_size=8)
VOCABULARIES = st.one_of(vocabularies.from_ranks(), vocabularies.from_merges())


def check_maps(before: Tokenizer, result: Remapped) -> None:
    """Check that the two maps are the inverse of each other, and that tokens keep their bytes."""
    made, new_ids, old_ids = result
    assert new_ids.dtype == old_ids.dtype == np.int64
    assert (len(new_ids), len(old_ids)) == (before.vocab_size, made.vocab_size)
    kept = np.flatnonzero(new_ids >= 0)
    assert (old_ids[new_ids[kept]] == kept).all()
    assert (old_ids >= 0).sum() == len(kept)
    for id in kept.tolist():
        assert made.token_bytes(int(new_ids[id])) == before.token_bytes(id)


def check_texts(before: Tokenizer, result: Remapped, texts: list[str]) -> int:
    """Check the ids of texts of kept tokens; return how many texts these are."""
    checked = 0
    for text in texts:
        ids = before.encode_array(text, "allow").astype(np.int64)
        new = result.new_ids[ids]
        if (new >= 0).all():
            assert result.tokenizer.encode(text, "allow") == new.tolist(), text
            checked += 1
    return checked


@settings(max_examples=max_examples(30))
@given(VOCABULARIES, st.integers(0, 1 << 30), TEXTS, st.booleans())
def test_shrink(made: Vocabulary, seed: int, texts: list[str], gaps: bool) -> None:
    tok = Tokenizer(made, WHOLE, added_tokens=[AddedToken("<s>", made.size + 3)])
    random = Random(seed)
    texts += ["".join(random.choices("abc", k=random.randint(1, 9))) for _ in range(30)]
    texts += [f"{text}<s>b" for text in texts[:3]]
    found = bpe.reachability(tok)
    alive = [record.id for record in found if record.kind not in ("merges", "unproven")]
    keep = random.sample(alive, random.randint(0, len(alive)))
    result = tok.shrink(keep, gaps=gaps)
    check_maps(tok, result)
    assert (result.new_ids[keep] >= 0).all()
    check_texts(tok, result, texts)
    if gaps:
        assert {new - old for old, new in enumerate(result.new_ids.tolist()) if new >= 0} == {0}
    else:
        assert result.old_ids.min() == 0
        assert (np.diff(result.old_ids) > 0).all()
    # No kept token is dead: merges make it, or the lookup finds it.
    small = result.tokenizer
    after = bpe.reachability(small)
    for id in np.flatnonzero(result.new_ids >= 0).tolist():
        if found.of(id).kind == "alone":
            assert after.of(int(result.new_ids[id])).kind == "alone"


@settings(max_examples=max_examples(20))
@given(VOCABULARIES, TEXTS)
def test_shrink_to_texts(made: Vocabulary, texts: list[str]) -> None:
    tok = Tokenizer(made, WHOLE)
    result = tok.shrink(texts=texts)
    check_maps(tok, result)
    assert check_texts(tok, result, texts) == len(texts)
    sizes = range(256, tok.vocab_size + 1, 3)
    for size in sizes:
        small = tok.shrink(vocab_size=size, texts=texts)
        assert 256 <= (small.old_ids >= 0).sum() <= size
        check_texts(tok, small, texts)


@settings(max_examples=max_examples(20))
@given(VOCABULARIES, st.integers(0, 1 << 30), TEXTS)
def test_remap(made: Vocabulary, seed: int, texts: list[str]) -> None:
    first = min(made.token_bytes)
    tok = Tokenizer(
        made, WHOLE, added_tokens=[AddedToken("<s>", made.size + 3)], template=Template((first,))
    )
    ids = sorted({*made.token_bytes, made.size + 3})
    others = ids.copy()
    Random(seed).shuffle(others)
    twins: dict[bytes, list[int]] = {}
    for id, token in made.token_bytes.items():
        twins.setdefault(token, []).append(id)
    for same in twins.values():  # text becomes the lowest of these ids
        places = sorted(ids.index(id) for id in same)
        for place, new in zip(places, sorted(others[place] for place in places), strict=True):
            others[place] = new
    result = tok.remap(dict(zip(ids, others, strict=True)))
    check_maps(tok, result)
    assert check_texts(tok, result, [*texts, "ab<s>ca"]) == len(texts) + 1
    assert result.tokenizer.template.before == (int(result.new_ids[first]),)


def test_remove_the_first_merges_of_a_vocabulary() -> None:
    """A removed token may let other tokens merge, but not in texts of kept tokens."""
    tokens = {**vocabularies.BYTES, 256: b"bc", 257: b"ab"}
    tok = Tokenizer(Vocabulary(tokens), WHOLE)
    result = tok.shrink([257])
    assert tok.encode("abc") == [97, 256]
    assert result.tokenizer.encode("abc") == [256, 99]
    assert check_texts(tok, result, ["ab", "abd", "aab"]) == 3


def test_vocab_size_keeps_the_first_merges() -> None:
    tok = bpe.train(["abcd abcd abc ab xyz xyz"] * 3, vocab_size=262)
    result = tok.shrink(vocab_size=259)
    assert result.tokenizer.merges == tok.merges[:3]
    assert result.tokenizer.vocab_size == 259


def test_dead_tokens_and_wrong_arguments() -> None:
    tokens = {**vocabularies.BYTES, 256: b"bc", 257: b"ab", 258: b"abc"}
    made = Vocabulary(tokens, [(98, 99, 256), (97, 98, 257), (257, 99, 258)])
    tok: Any = Tokenizer(made, WHOLE)
    with pytest.raises(bpe.VocabularyError, match=r"no merges make token 258, b'abc'; omit"):
        tok.shrink([257, 258])
    with pytest.raises(bpe.UnknownTokenError, match="keep has the id 259, which no token has"):
        tok.shrink([259])
    with pytest.raises(TypeError, match="keep has 'a'; expected ids"):
        tok.shrink("abc")
    with pytest.raises(TypeError, match="expected several texts"):
        tok.shrink(texts="abc")
    with pytest.raises(TypeError, match="needs keep=, texts= or vocab_size="):
        tok.shrink()
    with pytest.raises(ValueError, match="vocab_size=255; expected an int of at least 256"):
        tok.shrink(vocab_size=255)
    with pytest.raises(ValueError, match="tokens 97 and 98 would both have the id 98"):
        tok.remap({97: 98})
    with pytest.raises(ValueError, match="the map gives token 97 two ids, 300 and 301"):
        tok.remap([(97, 300), (97, 301)])
    with pytest.raises(bpe.UnknownTokenError, match="the map has the id 999"):
        tok.remap({999: 1})
    with pytest.raises(TypeError, match="the map has 97; expected pairs"):
        tok.remap([97])
    with pytest.raises(ValueError, match="new id -1 of token 97"):
        tok.remap({97: -1})
    absent = Tokenizer(made, WHOLE, template=Template((300,)))
    with pytest.raises(
        bpe.VocabularyError, match="the template has the id 300, which no token has"
    ):
        absent.shrink([257])


def test_all_ids_of_a_tokenizer_change() -> None:
    made = Vocabulary(
        {**vocabularies.BYTES, 256: b"ab", 257: b"cd"}, [(97, 98, 256), (99, 100, 257)]
    )
    facts = TokenFacts(
        types=np.arange(262, dtype=np.uint8), scores=np.arange(258, dtype=np.float32),
        roles={"bos": 260, "fim_pad": 258}, ends=(261,),
    )  # fmt: skip
    tok = Tokenizer(
        made, "gpt2", added_tokens=[AddedToken(f"<{id}>", id) for id in (259, 260, 261)],
        template=Template((260,), (261,)), padding=Padding(None, "right", 259, "<259>", 0, None),
        facts=facts,
    )  # fmt: skip
    result = tok.shrink([257])
    small = result.tokenizer
    assert result.old_ids[256:].tolist() == [257, 259, 260, 261]
    assert small.template == Template((258,), (259,))
    assert small.padding == tok.padding._replace(pad_id=257)  # type: ignore[union-attr]
    assert small.special_tokens == {"<259>": 257, "<260>": 258, "<261>": 259}
    spec = small.to_spec()
    assert (spec.facts.roles, spec.facts.ends) == ({"bos": 258}, (259,))
    assert spec.facts.types[256:].tolist() == [257 % 256, 259 % 256, 260 % 256, 261 % 256]
    assert spec.facts.scores.tolist() == [*range(256), 257.0, 0.0, 0.0, 0.0]
    without = tok.shrink([257], keep_added=False).tokenizer
    assert without.special_tokens == {"<259>": 257, "<260>": 258, "<261>": 259}
    bare = Tokenizer(made, "gpt2", added_tokens=[AddedToken("<259>", 259)])
    assert not bare.shrink([257], keep_added=False).tokenizer.added_tokens


@pytest.mark.parametrize("number", range(max_examples(12)))
def test_texts_of_characters(number: int) -> None:
    random = seeded(f"shrink {number}")
    pieces = ["<unk>", "▁", "a", "b", "c"]
    merges = []
    for _ in range(random.randint(3, 25)):
        left, right = random.choices(pieces[1:], k=2)
        if left + right not in pieces and len(left + right) <= 6:
            pieces.append(left + right)
            merges.append((pieces.index(left), pieces.index(right), len(pieces) - 1))
    random.shuffle(merges)
    made: TextVocabulary | CharacterVocabulary
    if number % 2:
        made = TextVocabulary(dict(enumerate(pieces)), merges, TextOptions("<unk>"))
    else:
        scores = {id: -float(random.randint(0, 20)) for id in range(1, len(pieces))}
        tokens = {id: text.encode() for id, text in enumerate(pieces)}
        made = CharacterVocabulary(tokens, scores, 0)
    tok = Tokenizer(made, WHOLE)
    texts = ["".join(random.choices("▁abcd", k=random.randint(1, 10))) for _ in range(200)]
    result = tok.shrink(texts=texts[:3])
    check_maps(tok, result)
    assert check_texts(tok, result, texts) >= 3
    order = list(range(len(pieces)))
    random.shuffle(order)
    moved = tok.remap(enumerate(order))
    check_maps(tok, moved)
    assert check_texts(tok, moved, texts) == len(texts)


@pytest.mark.parametrize("number", range(max_examples(12)))
def test_symbols_of_unknown_characters(number: int) -> None:
    """Merges may join the tokens of characters that have no token, and drop characters."""
    random = seeded(f"shrink unknown {number}")
    suffix = "</w>" if number % 3 == 2 else ""
    options = TextOptions(
        None if number % 4 == 3 else "<unk>", has_fallback=number % 3 == 1, suffix=suffix
    )
    pieces = ["<unk>", "a", "b", "<0x63>", f"a{suffix}", f"b{suffix}"][: 6 if suffix else 4]
    merges = []
    for _ in range(random.randint(3, 25)):
        left, right = random.choices([each for each in pieces if each != "ab?"], k=2)
        if left + right not in pieces and not (suffix and left.endswith(suffix)):
            pieces.append(left + right)
            merges.append((pieces.index(left), pieces.index(right), len(pieces) - 1))
    pieces.append("ab?")
    tok = Tokenizer(TextVocabulary(dict(enumerate(pieces)), merges, options), WHOLE)
    texts = ["".join(random.choices("abcd", k=random.randint(1, 10))) for _ in range(200)]
    for text in texts[:5]:
        if not tok.encode(text) and not options.has_fallback:  # no token is kept
            with pytest.raises(bpe.VocabularyError, match="the vocabulary is empty; expected"):
                tok.shrink(texts=[text])
            continue
        result = tok.shrink(texts=[text])
        assert check_texts(tok, result, texts) >= 1
    with pytest.raises(bpe.VocabularyError, match="no merges make token"):
        tok.shrink([len(pieces) - 1])
