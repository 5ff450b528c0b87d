"""next_allowed against its definition: the ids of all short strings, and witnesses of all bits."""

from __future__ import annotations

import gc
import weakref
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, Tokenizer, UnsupportedError, Vocabulary
from bpe.canonical.contents import may_overlap
from bpe.canonical.next_ids import NextIds
from bpe.canonical.open_ids import is_valid
from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Lowercase, Replace
from paths import shared
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from small_vocabularies import random_tokenizer
from support import max_examples, seeded
from vocabularies import BYTES, tokenizer

PRESETS = ("gpt2", "cl100k", "llama3", "qwen2", "o200k", "deepseek-v3")
LETTERS = ["a", "b", "A", " ", "\n", "\t", "1", ".", "é", "中", "'", "s", "<", "e", ">", "\u0301"]
MAX_LETTERS = 6
ASKED = 12
"""The number of starts of ids whose masks are compared, for each tokenizer."""


def ids_of_mask(mask: Any, size: int) -> list[int]:
    """Return the ids whose bits are set."""
    assert mask.dtype == np.uint32
    assert mask.shape == (-(-size // 32),)
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
    return [int(id) for id in np.flatnonzero(bits)]


def followers(tok: Tokenizer, letters: list[str], longest: int) -> dict[tuple[int, ...], set[int]]:
    """Return the ids that follow each start of the ids of all strings of `letters`."""
    found: dict[tuple[int, ...], set[int]] = {}
    for size in range(longest + 1):
        texts = ["".join(text) for text in product(letters, repeat=size)]
        for ids in tok.encode_batch(texts, "allow"):
            for place, id in enumerate(ids):
                found.setdefault(tuple(ids[:place]), set()).add(id)
    return found


def check(tok: Tokenizer, rng: Random, letters: list[str], longest: int, asked: int) -> None:
    """Compare masks with the ids of all strings, and find a text for each bit."""
    found = followers(tok, letters, longest)
    starts = sorted(found)
    for start in rng.sample(starts, min(asked, len(starts))):
        allowed = ids_of_mask(tok.next_allowed(start), tok.vocab_size)
        refused = found[start].difference(allowed)
        assert not refused, (start, refused, tok.added_tokens, letters)
        chosen = {*allowed[:5], *(token.id for token in tok.added_tokens)}
        for each in chosen.union(each for each in allowed if each > 255):
            assert (tok.why_refused(start, each) is None) == (each in allowed), (start, each)
        last = tok._cut_before(start, len(start) - 1)
        for id in allowed:
            if id < 256 and rng.random() < 0.9:
                continue
            assert isinstance(tok._next_ids, NextIds)
            text = tok._next_ids.witness(start[last:], id)
            assert text is not None, (start, id, tok.added_tokens, letters)
            whole = tok.decode_bytes(start[:last]) + text
            assert tok.encode(whole.decode(), "allow")[: len(start) + 1] == [*start, id]
        if tok.added_tokens and start:
            # Added tokens may overlap the text before them, so few of these ids are canonical.
            assert isinstance(tok._next_ids, NextIds)
            ids = [*start, rng.choice(tok.added_tokens).id]
            last = tok._cut_before(ids, len(ids) - 1)
            is_start = tok.encode(tok.decode_bytes(ids), "allow") == ids
            after = ids_of_mask(tok.next_allowed(ids), tok.vocab_size)
            assert is_start or not after
            for id in after[::40]:
                text = tok._next_ids.witness(tuple(ids[last:]), id)
                assert text is not None, (ids, id, tok.added_tokens)
        for id in set(range(tok.vocab_size)).difference(allowed):
            if id in tok._token_bytes_by_id and rng.random() < 0.05:
                assert tok.why_refused(start, id) is not None


@pytest.mark.parametrize("preset", PRESETS)
def test_masks_are_those_of_all_strings(preset: str, backend: BackendName) -> None:
    rng = seeded(f"next {preset} {backend}")
    for _ in range(max_examples(2)):
        tok = random_tokenizer(rng, preset, backend)
        letters = rng.sample(LETTERS, 4)
        check(tok, rng, letters, MAX_LETTERS if backend == "native" else 4, ASKED)


@pytest.mark.parametrize("preset", ["gpt2", "llama3", "deepseek-v3", "deepseek-llm"])
@pytest.mark.parametrize("ignores", [False, True])
def test_masks_after_joints(preset: str, ignores: bool, backend: BackendName) -> None:
    """The ids before a joint matter if merges join its sides, or if a pre-token is looked up."""
    made = {256: b"\n\n", 257: b"  ", 258: b"ab", 259: b"bb", 260: b"aab", 261: b"bab", 262: b"bba"}
    merges = [(10, 10, 256), (32, 32, 257), (97, 98, 258), (98, 98, 259)]
    vocabulary = Vocabulary(BYTES | made, merges=merges, ignore_merges=ignores)
    tok = Tokenizer(vocabulary, preset, backend=backend)
    found = followers(tok, ["a", "b", " ", "\n"], 6 if backend == "native" else 5)
    sizes = {10: 1, 32: 1, 97: 1, 98: 1, **{id: len(token) for id, token in made.items()}}
    tried = 0
    for start in found:
        # A text that shows an id may need one more letter.
        most = (5 if backend == "native" else 4) - sum(sizes[id] for id in start)
        allowed = ids_of_mask(tok.next_allowed(start), tok.vocab_size)
        short = {id for id in allowed if sizes.get(id, 9) <= most}
        assert short == {id for id in found[start] if sizes[id] <= most}, start
        tried += len(short)
    assert tried > 100


def test_tokens_that_are_searched_in_nfc(backend: BackendName) -> None:
    """A mark after ">" changes it, so the token before the mark is not found."""
    rng = seeded(f"next normalized {backend}")
    letters = ["<", "e", ">", "\u0338", "\u0301", " ", "a", "é"]
    for _ in range(max_examples(4)):
        preset = rng.choice(PRESETS)
        tok = random_tokenizer(
            rng, preset, backend, ["<", ">", "e>", "  ", "a>", "e"], normalizer="NFC"
        )
        chosen = [">", "\u0338", *rng.sample(letters, 3)]
        check(tok, rng, list(dict.fromkeys(chosen)), 5 if backend == "native" else 4, ASKED)


@pytest.mark.parametrize("special", ["text", "plain", "content", "set"])
def test_masks_of_other_policies(special: Any, backend: BackendName) -> None:
    """The ids of added tokens stand for themselves, and the texts between them are encoded."""
    rng = seeded(f"next {special} {backend}")
    tried = 0
    while tried < max_examples(2):
        tok = random_tokenizer(rng, rng.choice(PRESETS), backend, ["<", "\n", "e>"])
        policy = special
        if special == "set":
            names = [token.content for token in tok.added_tokens if token.special]
            policy = frozenset(rng.sample(names, rng.randrange(len(names) + 1)))
        if special == "text" and any(
            may_overlap(a.content, b.content)
            for a in tok.added_tokens for b in tok.added_tokens
            if a.special and not b.special
        ):  # fmt: skip
            with pytest.raises(UnsupportedError, match="which may overlap special token"):
                tok.next_allowed([], policy)
            continue
        tried += 1
        added = {token.id for token in tok.added_tokens}
        letters = rng.sample(["<", "e", ">", "a", "b", " ", "\n", "1", "é", "'"], 4)
        found: dict[tuple[int, ...], set[int]] = {}
        for size in range(5 if backend == "native" else 4):
            texts = ["".join(text) for text in product(letters, repeat=size)]
            for ids in tok.encode_batch(texts, policy):
                for place, id in enumerate(ids):
                    found.setdefault(tuple(ids[:place]), set()).add(id)
        for start in rng.sample(sorted(found), min(ASKED, len(found))):
            before = rng.sample(sorted(added), 1) if added and rng.random() < 0.5 else []
            ids = [*before, *start]
            mask = tok.next_allowed(ids, policy)
            assert (tok.next_allowed(ids, policy, start=rng.randrange(len(ids) + 1)) == mask).all()
            allowed = ids_of_mask(mask, tok.vocab_size)
            assert found[start] <= {*allowed}, (ids, policy, tok.added_tokens)
            run = start[max((at + 1 for at, id in enumerate(start) if id in added), default=0) :]
            is_text = is_valid(tok.decode_bytes(run))
            for id in added:
                fits = is_text and tok.is_canonical([*ids, id], policy)
                assert (id in allowed) == fits, (ids, id, policy, tok.added_tokens)
            last = tok._cut_before(run, len(run) - 1, policy)
            next_ids = tok._next_ids_of(policy)
            assert isinstance(next_ids, NextIds)
            for id in set(allowed) - added:
                if id < 256 and rng.random() < 0.9:
                    continue
                text = next_ids.witness(run[last:], id)
                assert text is not None, (ids, id, policy, tok.added_tokens)
                longer = tok.encode(tok.decode_bytes(run[:last]) + text, policy)
                assert longer[: len(run) + 1] == [*run, id]
                whole = [*ids[: len(ids) - len(run)], *longer]
                assert tok.is_canonical(whole, policy), (whole, policy, tok.added_tokens)
            for id in rng.sample(range(tok.vocab_size), 20):
                refusal = tok.why_refused(ids, id, policy)
                assert (refusal is None) == (id in allowed)


def test_a_user_may_spell_a_special_token() -> None:
    tok = small(added_tokens=[AddedToken("<e>", 300), AddedToken("<f>", 301, special=False)])
    ids = [300, *b"<e"]
    assert ord(">") not in ids_of_mask(tok.next_allowed(ids), tok.vocab_size)
    for special in ("text", "plain"):
        allowed = ids_of_mask(tok.next_allowed(ids, special), tok.vocab_size)
        assert {ord(">"), 300, 301} <= set(allowed)
    assert ord(">") not in ids_of_mask(tok.next_allowed([*b"<f"], "text"), tok.vocab_size)
    assert ord(">") in ids_of_mask(tok.next_allowed([*b"<f"], "plain"), tok.vocab_size)
    healed = tok.heal([*b"a ", 300, *b"ab <e> a"], "text")
    assert (healed.ids.tolist(), healed.bytes) == ([*b"a ", 300, 256, 32, *b"<e>"], b" a")
    assert tok.heal([*b"a ", 300, *b"ab <e> a"]).ids.tolist() == [*b"a ", 300, 256, 32, 300]
    longer = [AddedToken("<f>", 300, special=False), AddedToken("<f>1 2", 301, special=False)]
    assert 300 not in small(added_tokens=longer).heal([*b"a <f>1"], "text").ids
    for wrong in ("raise", "other"):
        with pytest.raises(ValueError, match="special="):
            tok.next_allowed([97], wrong)
        with pytest.raises(ValueError, match="special="):
            tok.heal([97], wrong)


def test_added_tokens_that_share_an_id() -> None:
    """As in o200k_harmony. The id stands for the text that decoding gives, the first one."""
    tok = small(added_tokens=[AddedToken("<e>", 300), AddedToken("e<", 300)])
    assert tok.decode([300]) == "<e>"
    assert 300 in ids_of_mask(tok.next_allowed([*b"a"]), tok.vocab_size)
    # "e<" is in "<e<e>" before "<e>" is.
    assert 300 not in ids_of_mask(tok.next_allowed([*b"<e"]), tok.vocab_size)
    ids = [*b"<e", 300]
    assert not tok.is_canonical(ids)
    assert not tok.next_allowed(ids).any()


def text_model() -> Tokenizer:
    vocabulary = TextVocabulary(
        {0: "<unk>", **dict(enumerate(BYTE_NAMES, 1)), 257: "▁", 258: "a"}, [],
        TextOptions("<unk>", True, True),
    )  # fmt: skip
    normalizer = NormalizerChain((Replace(" ", "▁", False),))
    added = [AddedToken("<e>", 300)]
    return Tokenizer(vocabulary, WHOLE, normalizer=normalizer, added_tokens=added)


@pytest.mark.parametrize("make", [lambda: small(), text_model])
def test_masks_are_freed_with_their_tokenizer(make: Any, native: BackendName) -> None:
    """No reference cycle keeps the tables of a tokenizer until the next garbage collection."""
    gc.collect()
    gc.disable()
    try:
        tok = make()
        tok.next_allowed(tok.encode("a a"))
        tok.heal(tok.encode("a a"))
        tok.is_canonical(tok.encode("a a"))
        parts = [weakref.ref(tok._next_ids), weakref.ref(tok._next_ids._pairs)]
        del tok
        assert [part() for part in parts] == [None, None]
    finally:
        gc.enable()


def test_backends_agree(native: BackendName) -> None:
    rng = seeded("next backends")
    for _ in range(max_examples(4)):
        seed, preset = rng.random(), rng.choice(PRESETS)
        ours = random_tokenizer(Random(seed), preset, native)
        python = random_tokenizer(Random(seed), preset, "python")
        ids = ours.encode("".join(rng.choices(LETTERS, k=6)), "allow")
        for size in range(len(ids) + 1):
            masks = [tok.next_allowed(ids[:size]).tolist() for tok in (ours, python)]
            assert masks[0] == masks[1], (ids[:size], preset)


def test_pairs_are_those_of_merging() -> None:
    rng = seeded("pairs")
    kinds: set[tuple[bool, bool]] = set()
    tried, least = 0, max_examples(10)
    while tried < least or (len(kinds) < 3 and tried < 1000):
        tried += 1
        tok = random_tokenizer(rng, "gpt2", "python")
        pairs = tok._next_ids._pairs
        results = [merge[2] for merge in tok.vocabulary.merges or ()]
        kinds.add((pairs._has_unordered, len(set(results)) < len(results)))
        for id, token in tok.vocabulary.token_bytes.items():
            assert pairs.is_made[id] == (pairs.merged(token) == [id])
        made = np.flatnonzero(pairs.is_made).tolist()
        for left in rng.sample(made, 20) + [id for id in made if id > 255]:
            apart = pairs.apart(left)
            for right in made:
                assert apart[right] == pairs.stay_apart(left, right), (left, right)
        for _ in range(40):
            ids = [rng.choice(made)]
            while len(ids) < 5 and (right := np.flatnonzero(pairs.apart(ids[-1]))).size:
                ids.append(int(rng.choice(right.tolist()[-40:])))
            data = b"".join(tok.vocabulary.token_bytes[id] for id in ids)
            assert pairs.merged(data) == ids
    assert len(kinds) > 2


def test_merges_alone_refuse_canonical_ids(native: BackendName) -> None:
    """Two tokens that merge may stand side by side, because a pre-token ends between them."""
    tok = tokenizer("cl100k", native)
    pairs = tok._next_ids._pairs
    ids = tok.encode("def f(x):\n\t\treturn x\n\n\n    y = 12345  # !!!\n")
    wrong = [at for at in range(1, len(ids)) if not pairs.stay_apart(ids[at - 1], ids[at])]
    assert wrong
    for at in wrong:
        assert ids[at] in ids_of_mask(tok.next_allowed(ids[:at]), tok.vocab_size)


@pytest.mark.parametrize("name", ["r50k", "cl100k", "llama3", "qwen2", "deepseek", "llama2"])
def test_no_id_of_real_text_is_refused(name: str, native: BackendName) -> None:
    files = {"deepseek": "gguf/ggml-vocab-deepseek-llm.gguf", "llama2": "hf/llama2.json"}
    tok = bpe.load(shared("vocabs", files[name])) if name in files else tokenizer(name, native)
    size = 20 * max_examples(1)
    for file in ("code", "multilingual", "whitespace", "emoji"):
        text = shared("texts", f"{file}.txt").read_text(encoding="utf-8")
        ids = tok.encode(text[4000 : 4000 + size], "allow")
        for at, id in enumerate(ids):
            mask = tok.next_allowed(ids[:at], start=max(at - 1, 0))
            assert mask[id // 32] >> id % 32 & 1, (file, at, tok.why_refused(ids[:at], id))


def small(**options: Any) -> Tokenizer:
    tokens = BYTES | {256: b"ab", 257: b" ab", 258: "é".encode(), 259: b"\n\n"}
    return Tokenizer(Vocabulary(tokens), **{"preset": "llama3", **options})


def test_ids_that_begin_no_text() -> None:
    tok = small()
    assert not tok.next_allowed([97, 98, 97]).any()
    assert not tok.next_allowed([0x80, 97]).any()
    assert not tok.next_allowed([0xFF]).any()
    assert not tok.next_allowed([97, 98, 32, 256, 32, 256]).any()
    assert tok.why_refused([97, 98, 97], 98) == bpe.RefusedId(
        "no text has ids that begin with these ids", [256, 97]
    )
    with pytest.raises(bpe.UnknownTokenError):
        tok.next_allowed([97, 999])
    with pytest.raises(ValueError, match="start=3; expected an int from 0 to 2"):
        tok.next_allowed([97, 98], start=3)


def test_refusals() -> None:
    tok = small(added_tokens=[AddedToken("<e>", 300)])
    reasons = {
        (): (0x80, "is not valid UTF-8"),
        (97,): (98, "merges join b'a' and b'b'"),
        (0xC3,): (0xA9, "merges join"),
        (*b"<e",): (ord(">"), "an added token matches"),
        (0xE4,): (300, "encoding does not give b'<e>' here"),
        (ord("1"), ord("2"), ord("3")): (500, "no token with this id"),
    }
    for ids, (id, reason) in reasons.items():
        refusal = tok.why_refused(ids, id)
        assert refusal is not None
        assert reason in refusal.reason
        if id < 256 and "UTF-8" not in reason:
            assert refusal.ids != [*ids, id]


def test_white_space_after_an_rstrip_token() -> None:
    """The token takes white space after it, also a character of several bytes, but not "▁"."""
    tokens = BYTES | {256: b"\xe2\x96", 257: "▁".encode()}
    added = [AddedToken("<e>", 300, rstrip=True)]
    tok = Tokenizer(Vocabulary(tokens), "llama3", added_tokens=added)
    assert tok.encode("<e>▁", "allow") == [300, 257]
    assert 257 in ids_of_mask(tok.next_allowed([300]), tok.vocab_size)
    assert tok.encode("<e>\u3000", "allow") == [300]
    wide = [300, 0xE3, 0x80]
    assert 0x80 not in ids_of_mask(tok.next_allowed(wide), tok.vocab_size)
    assert 0x81 in ids_of_mask(tok.next_allowed(wide), tok.vocab_size)


def test_added_tokens_that_are_not_found() -> None:
    added = [
        AddedToken("<e>", 300, rstrip=True), AddedToken("<f>", 301),
        AddedToken("a<f>", 302, normalized=True), AddedToken("\n", 303, normalized=True),
        AddedToken(">1", 304),
        AddedToken("<g>", 305, lstrip=True),
    ]  # fmt: skip
    tok = small(added_tokens=added)
    for text, wanted in {
        "b": {300, 301, 303, 304, 305},  # "<f>" is searched before "a<f>"
        "<e>": {300, 301, 304, 305},  # takes the line break before "\n" is searched
        "<f": {300, 301, 303, 305},  # "<f>1" has "<f>"
        "b ": {300, 301, 303, 304},  # "<g>" takes the space
        "<f>": {300, 301, 303, 304, 305},
    }.items():
        ids = tok.encode(text, "allow")
        allowed = set(ids_of_mask(tok.next_allowed(ids), tok.vocab_size))
        assert allowed.intersection(range(300, 306)) == wanted, text
        assert {id for id in range(300, 306) if tok.why_refused(ids, id) is None} == wanted


def test_a_mark_that_nfc_keeps() -> None:
    """An id that begins a mark may follow "e" if NFC keeps one of the marks, not only the first."""
    tok = small(normalizer="NFC")
    for text in ("e\u0338", "e\u0338\u0338", "e\u0337\u0338", "a\u0327", "\u1100\u1161\u11a7"):
        ids = tok.encode(text)
        for size, id in enumerate(ids):
            assert id in ids_of_mask(tok.next_allowed(ids[:size]), tok.vocab_size), (ids, size)
    # NFC composes "e" with each mark that begins with these bytes.
    assert 0x80 not in ids_of_mask(tok.next_allowed([*b"e\xcc"]), tok.vocab_size)


def test_start_does_not_change_the_mask() -> None:
    rng = seeded("start")
    tok = small(added_tokens=[AddedToken("<e>", 300)])
    for _ in range(20):
        ids = tok.encode("".join(rng.choices([*LETTERS, "ab", "<e>"], k=8)), "allow")
        expected = tok.next_allowed(ids)
        for start in range(len(ids) + 1):
            assert (tok.next_allowed(ids, start=start) == expected).all()


def test_unsupported_features() -> None:
    class Whole:
        def offsets(self, text: str) -> Any:
            return np.array([0, len(text)])

    for feature, tok in {
        "a pre-tokenizer that is not a preset": small(preset=Whole()),
        "the normalizer": small(normalizer=NormalizerChain((Lowercase(),))),
        "add_prefix_space": small(add_prefix_space=True),
        "single_word": small(added_tokens=[AddedToken("<e>", 300, single_word=True)]),
        "the behavior 'merged_with_next'": small(preset="superbpe"),
        "whose edges NFC may change": small(
            normalizer="NFC", added_tokens=[AddedToken("<é\u0323", 300, normalized=True)]
        ),
        "a byte-level vocabulary that merges text": Tokenizer(
            TextVocabulary({0: "a"}, [], TextOptions(byte_level=True)), "gpt2"
        ),
    }.items():
        with pytest.raises(UnsupportedError, match=feature):
            tok.next_allowed([97])


def test_healing_with_a_mask() -> None:
    """The first ids after a healed prompt begin with its bytes, and are canonical."""
    tok = small()
    healed = tok.heal(tok.encode("ab a"))
    mask = tok.healing_mask(healed.bytes) & tok.next_allowed(healed.ids)
    assert healed.bytes == b" a"
    assert ids_of_mask(mask, tok.vocab_size) == [32, 257]
