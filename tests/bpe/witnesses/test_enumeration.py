"""Witnesses and proofs, compared with all texts up to a length over a small alphabet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
import random_text_models
from bpe import AddedToken, Reachability, Tokenizer, Vocabulary
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import SCHEMES, TextStep
from bpe.normalizers.steps import BertNormalizer, Replace
from bpe.normalizers.unicode_forms import UnicodeForm
from bpe.vocabulary import Merge
from bpe.witnesses.absent import is_absent
from bpe.witnesses.records import REACHED
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from support import FULL, max_examples, sample, scalar_values, seeded
from vocabularies import BYTES

LETTERS = "aB '\n1é٩"  # é is C3 A9, and ٩ is D9 A9, a digit
PRESETS = ("gpt2", "cl100k", "o200k", "qwen2", "deepseek-v3", "llama3", "starcoder", WHOLE)


def texts(letters: str, length: int) -> list[str]:
    """Return all texts of at most `length` letters."""
    return ["".join(row) for size in range(length + 1) for row in product(letters, repeat=size)]


def random_vocabulary(random: Random) -> Vocabulary:
    """Return a vocabulary of tokens that occur in texts of LETTERS, and some that do not."""
    alphabet = LETTERS.encode()
    tokens = dict(BYTES)
    ids = {token: id for id, token in tokens.items()}
    merges: list[Merge] = []
    for _ in range(random.randint(5, 40)):
        left, right = (random.choice([*range(256, 256 + len(merges)), *alphabet]) for _ in range(2))
        joined = tokens[left] + tokens[right]
        if joined not in ids and len(joined) <= 5:
            ids[joined] = len(tokens)
            tokens[len(tokens)] = joined
            merges.append((left, right, ids[joined]))
    kind = random.choice(("merges", "shuffled", "whole", "ranks"))
    for _ in range(3):  # tokens that no merge makes
        token = bytes(random.choices(alphabet, k=random.randint(2, 3)))
        if token not in ids:
            ids[token] = len(tokens)
            tokens[len(tokens)] = token
    if kind == "ranks":
        return Vocabulary(tokens)
    if kind == "shuffled":  # then some merges have no effect
        random.shuffle(merges)
    return Vocabulary(tokens, merges, ignore_merges=kind == "whole")


def bytes_of(letters: bytes, length: int) -> list[bytes]:
    """Return all bytes strings of at most `length` of these bytes."""
    return [bytes(row) for size in range(length + 1) for row in product(letters, repeat=size)]


def seen_in(tok: Tokenizer, tried: Sequence[str | bytes]) -> set[int]:
    """Return the ids that the texts have."""
    return set(np.unique(tok.encode_batch_array(list(tried), "allow")[0]).tolist())


def check(
    tok: Tokenizer,
    found: Reachability,
    tried: list[str],
    broken: list[bytes] | None = None,
    finds_all: bool = True,
) -> None:
    """Compare records with the ids of texts and bytes, and encode the witnesses.

    If `finds_all`, each token of the texts must have a witness.
    """
    seen, seen_in_bytes = seen_in(tok, tried), seen_in(tok, broken or [])
    for record in found:
        witness = record.witness
        if witness is not None:
            encoded = tok.encode(witness, "allow")
            assert record.id in encoded, record
            assert (record.kind == "alone") <= (encoded == [record.id]), record
        if record.kind in REACHED or record.kind == "unproven":
            assert witness is not None or record.kind == "unproven", record
        else:
            assert witness is None, record
        if record.id in seen:
            assert isinstance(witness, str) or (record.kind == "unproven" and not finds_all), record
        if record.id in seen_in_bytes:
            assert witness is not None or record.kind == "unproven", record
        assert (record.kind == "bytes") <= isinstance(witness, bytes), record


@pytest.mark.parametrize("number", range(max_examples(10)))
def test_byte_level(number: int) -> None:
    random = seeded(f"witnesses {number}")
    made = random_vocabulary(random)
    options: dict[str, Any] = {
        "normalizer": random.choice((None, None, "NFC")),
        "add_prefix_space": random.random() < 0.2,
    }
    if random.random() < 0.3:
        content = random.choice(("  ", "é", "B'", "\n"))
        options["added_tokens"] = [
            AddedToken(content, made.size, special=random.random() < 0.5, normalized=True)
        ]
    preset = PRESETS[number % len(PRESETS)]
    tok = Tokenizer(made, preset, **options)
    found = bpe.reachability(tok)
    length = 5 if FULL else 4
    check(tok, found, texts(LETTERS, length), bytes_of(bytes(sorted({*LETTERS.encode()})), 4))
    if number % 4 == 0:
        other = Tokenizer(made, preset, backend="python", **options)
        assert list(bpe.reachability(other)) == list(found)


def test_few_random_tokens_stay_unproven() -> None:
    """The search finds a witness or a proof for nearly all tokens of random vocabularies."""
    unproven = size = 0
    for number in range(max_examples(8)):
        made = random_vocabulary(seeded(f"unproven {number}"))
        found = bpe.reachability(Tokenizer(made, PRESETS[number % len(PRESETS)]))
        unproven += len(found.unproven)
        size += len(found) - 256
    assert unproven <= size / 50, (unproven, size)


@pytest.mark.parametrize("number", range(max_examples(5)))
def test_text(number: int, backend: BackendName) -> None:
    random = seeded(f"text witnesses {number}")
    letters = "▁ab\né"
    pieces = {"<unk>": 0} | {char: 1 + at for at, char in enumerate("▁ab\n")}
    merges = []
    for _ in range(random.randint(3, 25)):
        left, right = random.choices(list(pieces)[1:], k=2)
        if left + right not in pieces and len(left + right) <= 4:
            pieces[left + right] = len(pieces)
            merges.append((pieces[left], pieces[right], pieces[left + right]))
    random.shuffle(merges)
    pieces["ba<"] = len(pieces)
    if has_fallback := random.random() < 0.5:
        pieces |= {f"<0x{byte:02X}>": len(pieces) + byte for byte in range(256)}
    options = TextOptions(
        "<unk>", fuses_unknown=random.random() < 0.5, has_fallback=has_fallback,
        ignores_merges=random.random() < 0.3,
    )  # fmt: skip
    made = TextVocabulary({id: text for text, id in pieces.items()}, merges, options)
    scheme = random.choice(SCHEMES)
    tok = Tokenizer(
        made, WHOLE, normalizer=NormalizerChain(metaspace=MetaspaceStep("▁", scheme)),
        backend=backend,
    )  # fmt: skip
    check(
        tok,
        bpe.reachability(tok),
        texts(letters.replace("▁", " "), 5 if backend == "native" else 4),
    )


@pytest.mark.parametrize("number", range(max_examples(4)))
def test_random_files(number: int, tmp_path: Path) -> None:
    """Proofs are right for tokenizers with any normalizers, splits and added tokens."""
    random = seeded(f"files {number}")
    path = tmp_path / "made.json"
    path.write_text(json.dumps(random_text_models.random_file(random)))
    try:
        tok = bpe.load(path)
    except (bpe.VocabularyError, bpe.UnsupportedError):
        return
    letters = sorted(
        {char for token in tok.added_tokens for char in token.content} | {*"the a\u0141"}
    )
    tried = texts("".join(random.sample(letters, 6)) + " ", 3 if len(letters) > 6 else 4)
    check(tok, bpe.reachability(tok), tried, finds_all=False)


def made_text(
    texts: dict[int, str],
    merges: list[Merge],
    options: TextOptions,
    preset: Any = WHOLE,
    *steps: TextStep,
) -> Tokenizer:
    vocabulary = TextVocabulary(texts, merges, options)
    return Tokenizer(
        vocabulary, preset, normalizer=NormalizerChain(tuple(steps)) if steps else None
    )


def test_symbols_that_stand_for_other_characters() -> None:
    """An unknown character may become the token "A", and "a" the fallback token <0x61>."""
    unknown = made_text({0: "A", 1: "bb", 2: "AA"}, [(0, 0, 2)], TextOptions("A"), WHOLE,
                        Replace("A", "b"))  # fmt: skip
    assert unknown.encode("xx") == [2]
    found = bpe.reachability(unknown)
    assert [found.of(id).kind for id in (0, 2)] == ["alone", "alone"]
    fallback = {byte: f"<0x{byte:02X}>" for byte in range(256)}
    named = made_text(fallback | {300: "b", 301: "<0x61>b"}, [(0x61, 300, 301)],
                      TextOptions(has_fallback=True))  # fmt: skip
    assert bpe.reachability(named).of(301)[2:4] == ("alone", "ab")


def test_characters_that_stand_for_bytes() -> None:
    """The tokens of GPT-2's alphabet, of which some characters have no token."""
    alphabet = [char for char in BYTE_CHARACTERS if char not in "\u0100\u0101"]
    texts = dict(enumerate(alphabet)) | {
        300: "Ã©", 301: "©", 302: "a\u4e2d", 303: "aÃ", 304: "Ãa", 305: "¥æ", 306: "no",
    }  # fmt: skip
    ids = {text: id for id, text in texts.items()}
    texts = {ids[text]: text for text in ids}
    merges = [(ids["Ã"], ids["©"], 300), (ids["a"], ids["Ã"], 303), (ids["¥"], ids["æ"], 305)]
    fallback = {400 + byte: f"<0x{byte:02X}>" for byte in range(256)}
    tok = made_text(texts | fallback, merges, TextOptions(has_fallback=True, byte_level=True),
                    "gpt2")  # fmt: skip
    found = bpe.reachability(tok)
    assert found.witness(300) == "é"
    for id in (303, 305):
        record = found.of(id)
        assert isinstance(record.witness, str), record
        assert id in tok.encode(record.witness)
    assert found.of(302).kind == found.of(304).kind == found.of(306).kind == "merges"
    # U+0100 and U+0101 have the bytes C4, 80 and 81.
    reached = {byte for byte in range(256) if found.of(400 + byte).is_reachable}
    assert reached == {0xC4, 0x80, 0x81}
    assert found.of(400).kind == "fallback"
    assert not found.unproven


@pytest.mark.parametrize(
    ("steps", "dead", "alive"),
    [
        ([Replace("a+", "é", is_regex=True)], ["a", "xa"], ["é"]),
        ([Replace("[ab]{2,}", "é", is_regex=True)], [], ["a", "b"]),
        ([Replace("\\s+", " ", is_regex=True)], ["\n", "x\t"], [" ", "x"]),
        ([Replace("foo", "f-oo")], ["foo", "afoo"], ["oo", "fo"]),
        ([Replace("aa", "a")], [], ["a", "aa"]),
        ([Replace("ab", "")], [], ["ab", "ba"]),
        ([BertNormalizer()], ["À", "A", "\t", "xÀ"], ["a", "中", " "]),
        ([UnicodeForm("NFKC"), Replace("foo", "f▁oo")], ["▁e\u0301", "▁ﬁ"], ["é", "▁"]),
    ],
)  # fmt: skip
def test_characters_that_steps_never_leave(
    steps: list[TextStep], dead: list[str], alive: list[str]
) -> None:
    normalizer = NormalizerChain(tuple(steps))
    for text in dead:
        assert is_absent(normalizer, text), text
    for text in alive:
        assert not is_absent(normalizer, text), text
    letters = sorted({*"".join(dead + alive), "A", "a"})[:8]
    results = [normalizer.normalize(text) for text in texts("".join(letters), 4)]
    assert not any(text in result for text in dead for result in results)


@pytest.mark.parametrize("is_byte_level", [False, True])
def test_characters_that_are_dropped(is_byte_level: bool) -> None:
    """Without an unknown token, "a?b" has the symbols of "ab", which no normalized text has."""
    tok = made_text({0: "a", 1: "b", 2: "ab", 3: "c", 4: "bc"}, [(0, 1, 2), (1, 3, 4)],
                    TextOptions(byte_level=is_byte_level), WHOLE,
                    Replace("ab", "x"), Replace("c", "d"))  # fmt: skip
    assert tok.encode("a?b") == [2]
    found = bpe.reachability(tok)
    assert found.of(2).kind in ("context", "unproven")
    assert [found.of(id).kind for id in (3, 4)] == ["normalizer", "normalizer"]


@pytest.mark.parametrize("symbols", [(), ("a b",), ("▁▁",)])
def test_parts_that_sentencepiece_never_leaves(symbols: tuple[str, ...]) -> None:
    """The characters "▁" of a text stay, also where spaces would be removed."""
    letters = "ab ▁"
    for prefix, removes, escapes, is_suffix in product((False, True), repeat=4):
        step = SentencePieceNormalizer(b"", prefix, removes, escapes, is_suffix, symbols)
        results = {step.normalize(text) for text in texts(letters, 5)}
        absent = [text for text in texts(letters, 3) if is_absent(step, text)]
        assert not any(text in result for text in absent for result in results), step
        assert (" " in absent) == escapes


def test_each_character_that_bert_changes_is_never_left() -> None:
    """No character of a result changes again, but for the spaces around it."""
    step = BertNormalizer()
    left = {
        char for point in sample(scalar_values(), 40_000) for char in step.normalize(chr(point))
    }
    assert all(char in step.normalize(char) for char in left)
