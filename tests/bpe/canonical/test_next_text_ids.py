"""next_allowed for models whose tokens are text, against its definition."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, Tokenizer, UnsupportedError
from bpe.canonical.next_text_ids import NextTextIds
from bpe.canonical.open_ids import is_valid
from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.steps import Prepend, Replace
from bpe.types import NormalizesText
from paths import shared
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from support import max_examples, seeded

LETTERS = ["a", "b", " ", "▁", "\n", "<", "e", ">", "é", "中", "\u3000"]
MARK = "▁".encode()
FIRST = 1 + len(BYTE_NAMES)
"""The id of the first piece."""
MARKS = Replace(" ", "▁", False)
NORMALIZERS: list[NormalizesText] = [
    NormalizerChain((Prepend("▁"), MARKS)),
    NormalizerChain((MARKS,)),
    NormalizerChain((), MetaspaceStep(prepend_scheme="always")),
    NormalizerChain((), MetaspaceStep(prepend_scheme="first")),
    SentencePieceNormalizer(remove_extra_whitespaces=False),
]
CONTENTS = ["<e>", "<e>b", "a<", "é", "<é"]
FEATURES: dict[str, list[str]] = {
    "plain": [],
    "marks": ["▁▁", "▁▁▁", "▁a", "▁", "\n", "<▁"],
    "spaces": ["  ", " <", "a b", "\n\n"],
    "strips": [],
}
"""Contents of added tokens, some of which merging makes as well."""
REST = [bytes([byte]) + more for byte in (0x80, 0x90, 0xA1) for more in (b"", b"\x80", b"\x80\x80")]
ENDINGS = [b"", b"a", b" ", *REST]


def random_tokenizer(rng: Random, backend: BackendName, feature: str) -> Tokenizer:
    """Return a tokenizer with random merges or scores, byte tokens and added tokens."""
    optional = ["é", "中", "\n", "\u3000"]
    pieces = ["▁", "a", "b", "<", "e", ">", *rng.sample(optional, rng.randrange(5))]
    merges = []
    for _ in range(rng.randrange(3, 14)):
        left, right = rng.choice(["▁", *pieces]), rng.choice(["▁", *pieces])
        if len(left + right) > 4:
            continue
        if left + right not in pieces:
            pieces.append(left + right)
        merges.append((left, right))
    ids = {piece: FIRST + at for at, piece in enumerate(pieces)}
    size = FIRST + len(pieces)
    vocabulary: Any
    if rng.random() < 0.5:
        rng.shuffle(merges)
        rows = [(ids[left], ids[right], ids[left + right]) for left, right in merges]
        texts = {0: "<unk>", **dict(enumerate(BYTE_NAMES, 1)), **{ids[p]: p for p in pieces}}
        vocabulary = TextVocabulary(texts, rows, TextOptions("<unk>", True, True))
    else:
        tokens = {0: b"<unk>", **{1 + byte: bytes([byte]) for byte in range(256)}}
        tokens |= {id: piece.encode() for piece, id in ids.items()}
        scores = {id: -float(rng.randrange(12)) for id in ids.values()}
        vocabulary = CharacterVocabulary(
            tokens, scores, unknown_id=0, byte_ids=tuple(range(1, 257))
        )
    contents = [*rng.sample(CONTENTS, rng.randrange(3)), *FEATURES[feature]]
    normalizer = rng.choice(NORMALIZERS)
    in_normalized = isinstance(normalizer, SentencePieceNormalizer) and feature == "plain"
    added = []
    for content in rng.sample(contents, min(rng.randrange(6), len(contents))):
        flags = {}
        if feature == "strips":
            flags = {name: rng.random() < 0.5 for name in ("lstrip", "rstrip")}
        elif in_normalized:
            flags = {"normalized": rng.random() < 0.5}
        added.append(AddedToken(content, ids.get(content, size), **flags))
        size += 1
    return Tokenizer(vocabulary, WHOLE, normalizer=normalizer, added_tokens=added, backend=backend)


def ids_of_mask(mask: Any) -> list[int]:
    """Return the ids whose bits are set."""
    found: list[int] = np.flatnonzero(
        np.unpackbits(mask.view(np.uint8), bitorder="little")
    ).tolist()
    return found


def texts_of(tok: Tokenizer, ids: list[int]) -> list[bytes]:
    """Return texts whose ids may begin with `ids`."""
    tokens, added = tok.vocabulary.token_bytes, {t.id: t.content.encode() for t in tok.added_tokens}
    ways = {(b"", True)}  # texts, and whether a text begins after them
    for id in ids:
        longer = set()
        for text, begins in ways:
            if id in added:
                longer.add((text + added[id], True))
            token = tokens.get(id, b"")
            for space in (b" ", MARK):
                data = token.replace(MARK, space)
                longer.add((text + data, False))
                if begins and token.startswith(MARK):
                    longer.add((text + data[len(space) :], False))
        ways = longer
    return [text + end for text, _ in ways for end in ENDINGS]


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("backend", ["native", "python"])
def test_masks_are_those_of_all_strings(backend: BackendName, feature: str) -> None:
    rng = seeded(f"next text {backend} {feature}")
    for _ in range(max_examples(3)):
        tok = random_tokenizer(rng, backend, feature)
        contents = [token.content for token in tok.added_tokens]
        several = [*rng.choice([" ", "▁", "\n"]), *rng.choice([*contents, ""])]
        letters = list(dict.fromkeys([*several, *rng.sample(LETTERS, 4)]))[:4]
        found: dict[tuple[int, ...], set[int]] = {}
        for size in range(6 if backend == "native" else 5):
            texts = ["".join(text) for text in product(letters, repeat=size)]
            for ids in tok.encode_batch(texts, "allow"):
                for place, id in enumerate(ids):
                    found.setdefault(tuple(ids[:place]), set()).add(id)
        for start in rng.sample(sorted(found), min(30, len(found))):
            mask = tok.next_allowed(start)
            assert (tok.next_allowed(start, start=max(len(start) - 1, 0)) == mask).all()
            allowed = ids_of_mask(mask)
            refused = found[start].difference(allowed)
            assert not refused, (start, refused, tok.added_tokens, tok.normalizer)
            for id in allowed:
                if id < FIRST and rng.random() < 0.9:
                    continue
                wanted = [*start, id]
                assert any(
                    tok.encode(text, "allow")[: len(wanted)] == wanted
                    for text in texts_of(tok, wanted)
                    if is_valid(text)
                ), (start, id, tok.added_tokens, tok.normalizer)
            for id in rng.sample(range(FIRST, tok.vocab_size), 5):
                refusal = tok.why_refused(start, id)
                assert (refusal is None) == (id in allowed)


def test_an_id_with_two_readings() -> None:
    """Merging gives the id of an added token too, as for the runs of "▁" of Gemma 3."""
    vocabulary = TextVocabulary(
        {0: "<unk>", **dict(enumerate(BYTE_NAMES, 1)), 257: "▁", 258: "a", 259: "▁▁", 260: "▁▁a"},
        [(257, 257, 259), (259, 258, 260)], TextOptions("<unk>", True, True),
    )  # fmt: skip
    tok = Tokenizer(
        vocabulary, WHOLE, normalizer=NORMALIZERS[1], added_tokens=[AddedToken("▁▁", 259)]
    )
    assert tok.encode("  ▁▁a", "allow") == [259, 259, 258]
    # Merging joins two spaces and "a", but the added token does not join "a".
    assert 258 in ids_of_mask(tok.next_allowed([259]))
    # "  ▁▁" and "▁▁  " both have the ids, and "▁▁▁▁" gives them as well.
    assert {257, 258, 259} <= set(ids_of_mask(tok.next_allowed([259, 259])))
    for size in range(2, 9):
        ids = [259] * size
        for start in range(size + 1):
            assert (tok.next_allowed(ids, start=start) == tok.next_allowed(ids)).all()
    assert tok.why_refused([258, 257], 257) is not None


def test_added_tokens_that_no_text_has() -> None:
    """A token takes the white space before it, and one in another's text hides the other."""
    vocabulary = TextVocabulary(
        {0: "<unk>", **dict(enumerate(BYTE_NAMES, 1)), 257: "▁", 258: "a", 259: "\n"}, [],
        TextOptions("<unk>", True, True),
    )  # fmt: skip
    added = [AddedToken("<e>", 300, lstrip=True), AddedToken("<f>", 301)]
    tok = Tokenizer(vocabulary, WHOLE, normalizer=NORMALIZERS[1], added_tokens=added)
    assert 300 in ids_of_mask(tok.next_allowed([258]))
    for ids in ([259], [*(1 + byte for byte in "\u3000".encode())]):
        assert tok.is_canonical(ids)
        assert ids_of_mask(tok.next_allowed(ids))[-1] == 301
        assert 300 not in ids_of_mask(tok.next_allowed(ids))
    added = [AddedToken("<é", 300, normalized=True), AddedToken("é", 301)]
    tok = Tokenizer(vocabulary, WHOLE, normalizer=NORMALIZERS[-1], added_tokens=added)
    assert tok.encode("a<é", "allow")[-1] == 301
    assert 300 not in ids_of_mask(tok.next_allowed([257, 258]))


def test_ids_that_begin_no_text() -> None:
    vocabulary = TextVocabulary(
        {0: "<unk>", **dict(enumerate(BYTE_NAMES, 1)), 257: "▁", 258: "a", 259: "▁a"},
        [(257, 258, 259)], TextOptions("<unk>", True, True),
    )  # fmt: skip
    tok = Tokenizer(vocabulary, WHOLE, normalizer=NORMALIZERS[0])
    assert ids_of_mask(tok.next_allowed([])) == [257, 259]
    assert not tok.next_allowed([258]).any()
    assert not tok.next_allowed([257, 258]).any()
    assert 258 not in ids_of_mask(tok.next_allowed([257]))
    assert ids_of_mask(tok.next_allowed([257, 1 + 0xE4])) == [
        1 + byte for byte in range(0x80, 0xC0)
    ]
    assert 1 + ord("a") not in ids_of_mask(tok.next_allowed([259]))  # "a" has a token
    with pytest.raises(bpe.UnknownTokenError):
        tok.next_allowed([257, 999])


def test_unsupported_features() -> None:
    vocabulary = TextVocabulary(
        {0: "<unk>", **dict(enumerate(BYTE_NAMES, 1)), 257: "▁", 258: "a"}, [],
        TextOptions("<unk>", True, True),
    )  # fmt: skip
    for token, feature in {
        AddedToken("<e> ", 300, rstrip=True): "which begins or ends with white space",
        AddedToken("▁<", 300, rstrip=True): "beside tokens that have or strip spaces",
        AddedToken("▁ <", 300): "beside tokens that have or strip spaces",
        AddedToken("<e>", 300, single_word=True): "the flag single_word",
        AddedToken("b", 299): "added tokens that share an id",
    }.items():
        added = [AddedToken("<f>", 299), token]
        tok = Tokenizer(vocabulary, WHOLE, normalizer=NORMALIZERS[0], added_tokens=added)
        with pytest.raises(UnsupportedError, match=feature):
            tok.next_allowed([257])


@pytest.mark.parametrize("name", ["hf/llama2.json", "hf/mistral03.json", "spm/mistral01.model"])
def test_no_id_of_real_text_is_refused(name: str, native: BackendName) -> None:
    tok = bpe.load(shared("vocabs", *name.split("/")), backend=native)
    assert isinstance(tok._next_ids, NextTextIds)
    size = 20 * max_examples(10)
    for file in ("code", "multilingual", "emoji"):
        text = shared("texts", f"{file}.txt").read_text(encoding="utf-8")
        ids = tok.encode(text[4000 : 4000 + size], "allow")
        for at, id in enumerate(ids):
            mask = tok.next_allowed(ids[:at], start=max(at - 1, 0))
            assert mask[id // 32] >> id % 32 & 1, (file, at, tok.why_refused(ids[:at], id))
