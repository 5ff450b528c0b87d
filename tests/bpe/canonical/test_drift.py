"""is_canonical, first_drift, heal and healing_mask, against their definitions."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, Tokenizer, Vocabulary
from paths import shared
from pretok.machine.backend import BackendName
from small_vocabularies import PARTS, random_tokenizer
from support import max_examples, seeded
from vocabularies import BYTES, tokenizer

PRESETS = ("gpt2", "cl100k", "llama3", "qwen2", "o200k", "deepseek-v3")
POLICIES: tuple[Any, ...] = ("allow", "text", "plain", "content")


def drift(tok: Tokenizer, ids: list[int], special: Any = "allow") -> int | None:
    """Return the definition of `first_drift`."""
    if special == "allow":
        encoded = tok.encode(tok.decode_bytes(ids), "allow")
    else:
        added = {token.id for token in tok.added_tokens}
        parts: list[Any] = []
        for id in ids:
            if id in added:
                parts.append([id])
            elif parts and isinstance(parts[-1], bytes):
                parts[-1] += tok.decode_bytes([id])
            else:
                parts.append(tok.decode_bytes([id]))
        encoded = tok.encode_segments(parts, special).ids.tolist()
    if encoded == ids:
        return None
    places = [at for at, (a, b) in enumerate(zip(ids, encoded, strict=False)) if a != b]
    return places[0] if places else min(len(ids), len(encoded))


def random_ids(rng: random.Random, tok: Tokenizer) -> list[int]:
    """Return the ids of random texts, with some that are not canonical."""
    ids: list[int] = []
    for _ in range(rng.randrange(1, 5)):
        text = "".join(rng.choices(PARTS, k=rng.randrange(5)))
        ids += tok.encode(text, rng.choice(["allow", "text"]))
        if rng.random() < 0.3:
            # A small vocabulary has a gap before the ids of its added tokens.
            added = tok.special_tokens.values()
            known = [id for id in (256, 258) if id in tok.vocabulary.token_bytes]
            ids.append(rng.choice([*known, *added]))
    return ids


@pytest.mark.parametrize("preset", PRESETS)
def test_drift_is_that_of_the_definition(preset: str, backend: BackendName) -> None:
    rng = seeded(f"drift {preset}")
    for _ in range(max_examples(12)):
        tok = random_tokenizer(rng, preset, backend)
        for _ in range(8):
            ids = random_ids(rng, tok)
            for special in POLICIES:
                expected = drift(tok, ids, special)
                assert tok.first_drift(ids, special) == expected, (ids, special)
                assert tok.is_canonical(np.array(ids, np.uint32), special) == (expected is None)
                good = [n for n in range(len(ids) + 1) if drift(tok, ids[:n], special) is None]
                for start in good:
                    assert tok.first_drift(ids, special, start=start) == expected, (ids, start)


@pytest.mark.parametrize("preset", PRESETS)
def test_healed_ids_begin_the_ids_of_every_continuation(preset: str, backend: BackendName) -> None:
    rng = seeded(f"heal {preset}")
    kept = 0
    for _ in range(max_examples(12)):
        tok = random_tokenizer(rng, preset, backend)
        text = "".join(rng.choices(PARTS, k=rng.randrange(8)))
        ids = tok.encode(text, "allow")
        healed = tok.heal(ids)
        assert healed.ids.tolist() == ids[: len(healed.ids)]
        assert tok.decode_bytes(healed.ids) + healed.bytes == tok.decode_bytes(ids)
        kept += len(healed.ids)
        for y in [*PARTS, *map("".join, product(PARTS, PARTS))]:
            longer = tok.encode(text + y, "allow")
            assert longer[: len(healed.ids)] == healed.ids.tolist(), (text, y)
        for start in range(len(ids) + 1):
            if drift(tok, ids[:start]) is None:
                again = tok.heal(ids, start=start)
                assert again.ids.tolist() == healed.ids.tolist()
                assert again.bytes == healed.bytes
    assert kept


def test_heal_keeps_words_before_the_last(backend: BackendName) -> None:
    tok = Tokenizer(Vocabulary(BYTES | {256: b"ab", 257: b" ab"}), "llama3", backend=backend)
    for text, kept in {
        "ab ab": b"ab", "ab ab ": b"ab ab", "ab.": b"ab", "ab  ": b"ab", "12345": b"123",
        "ab\n": b"ab", "": b"", "é": b"",
    }.items():  # fmt: skip
        healed = tok.heal(tok.encode(text))
        assert tok.decode_bytes(healed.ids) == kept, text
        assert kept + healed.bytes == text.encode()


def test_heal_before_an_added_token(backend: BackendName) -> None:
    added = [AddedToken("<end>", 300), AddedToken("<end>s", 301), AddedToken("b<", 302)]
    tok = Tokenizer(Vocabulary(BYTES), "gpt2", added_tokens=added, backend=backend)
    assert tok.heal(tok.encode("a <en")).bytes == b" <en"
    assert tok.heal(tok.encode("a<end>", "allow")).bytes == b"<end>"
    assert tok.heal(tok.encode("a<end>.", "allow")).bytes == b"."
    assert tok.heal(tok.encode("a b<", "allow")).bytes == b" b<"
    assert tok.heal([*b"a b<"]).bytes == b" b<"


def test_healing_mask(backend: BackendName) -> None:
    rng = seeded("healing mask")
    tok = random_tokenizer(rng, "gpt2", backend)
    for wanted in (b"", b"a", b"ab", b" a", "é".encode(), b"\xc3", b"<e", b"abcabcabc"):
        mask = tok.healing_mask(wanted)
        assert mask.dtype == np.uint32
        assert mask.shape == (-(-tok.vocab_size // 32),)
        for id in range(tok.vocab_size):
            token = tok.rendered_bytes(id) if id in tok._token_bytes_by_id else None
            fits = token is not None and (token.startswith(wanted) or wanted.startswith(token))
            assert bool(mask[id // 32] >> id % 32 & 1) == fits, (wanted, id)


def test_template(backend: BackendName) -> None:
    tok = Tokenizer(
        Vocabulary(BYTES | {256: b"ab"}),
        "gpt2",
        added_tokens=[AddedToken("<s>", 300)],
        template=bpe.Template((300,), (300,)),
        backend=backend,
    )
    ids = tok.encode("ab", add_special_tokens=True)
    assert tok.is_canonical(ids, add_special_tokens=True)
    for wrong, at in {(300,): 1, (): 0, (256, 300): 0, (300, 97, 98, 300): 1, (300, 97): 1}.items():
        assert tok.first_drift(wrong, add_special_tokens=True) == at, wrong


def test_arguments(backend: BackendName) -> None:
    tok = Tokenizer(Vocabulary(BYTES), "gpt2", backend=backend)
    for start in (-1, 3, 1.5, "1"):
        with pytest.raises(ValueError, match="expected an int from 0 to 2, the number of ids"):
            tok.first_drift([97, 98], start=start)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="expected an int from 0 to 2"):
            tok.heal([97, 98], start=start)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='"allow", "text", "plain", "content" or a set'):
        tok.is_canonical([97], "raise")
    with pytest.raises(bpe.UnknownTokenError, match="ids\\[1\\] is 999"):
        tok.first_drift([97, 999])
    assert tok.first_drift(iter([97])) is None
    assert tok.first_drift([]) is None
    assert tok.heal([]).bytes == b""


@pytest.mark.parametrize("name", ["r50k", "cl100k", "llama3", "qwen2", "o200k"])
def test_published_vocabularies(name: str) -> None:
    tok = tokenizer(name, "native")
    text = shared("texts", "multilingual.txt").read_text(encoding="utf-8")[:20000]
    ids = tok.encode(text, "text")
    assert tok.first_drift(ids, "text") is None
    assert tok.first_drift(ids, start=len(ids) - 1) is None
    spaced = tok.encode("hello world")
    first = [*tok.encode("hel"), *tok.encode("lo world")]
    assert tok.is_canonical(spaced)
    assert not tok.is_canonical(first)
    # Two newlines are one token, so sampling one newline twice drifts (prime-rl 1863).
    newline = tok.encode("\n")
    assert tok.first_drift([*spaced, *newline, *newline]) == len(spaced)


@pytest.mark.parametrize("name", ["llama2", "mistral03"])
def test_text_models(name: str, backend: BackendName) -> None:
    tok = bpe.load(shared("vocabs", "hf", f"{name}.json"), backend=backend)
    ids = tok.encode("Hello world, this is a prompt")
    assert tok.is_canonical(ids)
    assert drift(tok, ids[:-1] + tok.encode("prompt")) == tok.first_drift(
        ids[:-1] + tok.encode("prompt")
    )
    healed = tok.heal(ids)
    assert healed.bytes == b" prompt"
    for y in ("", "s", "ed text", " and", ".", "é"):
        longer = tok.encode("Hello world, this is a prompt" + y)
        assert longer[: len(healed.ids)] == healed.ids.tolist(), y
