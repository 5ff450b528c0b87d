"""Bounds on the growth of a text by normalizers, and of a token by decoders."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import pytest
import unicodedata2

import bpe
from bpe import UnsupportedError, VocabularyError
from bpe.decoders import steps as decoders
from bpe.decoders.chain import ChainDecoder, DecoderChain
from bpe.normalizers import growth
from bpe.normalizers import steps as normalizers
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.characters import lowercase
from bpe.normalizers.charsmap import MAX_RULE_GROWTH, Charsmap
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.step import TextStep
from bpe.normalizers.unicode_forms import UnicodeForm, _composition, _decomposition
from charsmaps import charsmap
from growing_steps import DECODERS, NORMALIZERS, RULES_MAP
from pretok.machine.backend import BackendName
from support import max_examples, seeded

LETTERS = "aàéAİbi ▁中㍿ﷺلx☃ﬁ\u0301Ġ\U0001d160ΐ"


@cache
def changed() -> list[str]:
    """Return all characters that a Unicode form or lower case changes."""
    return [
        char for char in map(chr, range(0x80, 0x110000))
        if unicodedata2.decomposition(char) or lowercase(char) != char or "가" <= char <= "힣"
    ]  # fmt: skip


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def weights(compatible: bool) -> dict[str, int]:
    """Return the largest size that forms and lower case make of each character that they grow."""
    found: dict[str, int] = {}

    def weight(char: str) -> int:
        if char not in found:
            found[char] = size(char)  # for a cycle
            spellings = (_decomposition(char, compatible), _decomposition(char, False),
                         lowercase(char))  # fmt: skip
            found[char] = max(size(char), *(sum(map(weight, each)) for each in spellings
                                            if each != char), 0)  # fmt: skip
        return found[char]

    for char in changed():
        weight(char)
    return found


@pytest.mark.parametrize(("compatible", "factor"), [(False, 3), (True, 11)])
def test_forms_and_lower_case_grow_a_text_only_once(compatible: bool, factor: int) -> None:
    """The bound of Growth.spell, for all characters, and for all characters that compose."""
    found = weights(compatible)
    assert max(weight / size(char) for char, weight in found.items()) == factor
    for char in found:
        parts = unicodedata2.normalize("NFD", char)
        if len(parts) == 2 and _composition(*parts) == char:
            assert found[char] <= found[parts[0]] + found[parts[1]]
        if normalizers.is_stable(char):
            assert found[char] == size(char), char


def test_lower_case_at_most_doubles_a_character() -> None:
    assert all(size(lowercase(char)) <= 2 * size(char) for char in changed())


def test_no_text_grows_more_than_the_bound() -> None:
    random = seeded("growth of short texts")
    for _ in range(20 * max_examples(100)):
        steps = random.choices(NORMALIZERS, k=random.randrange(1, 6))
        if growth.problem_of_growth(steps):
            continue
        bound = growth.growth_of(steps)
        for char in LETTERS:
            text = char
            for step in steps:
                text = step.normalize(text)
                assert size(text) <= bound * size(char), (steps, char)


def test_later_steps_grow_what_prepend_writes() -> None:
    """Forgetting this made the bound of the C interface too small, so it wrote past buffers."""
    steps = normalizers.Prepend("ﷺ"), UnicodeForm("NFKC")
    assert growth.growth_of(steps) == 11 * (3 + 1)
    with pytest.raises(UnsupportedError, match="make up to 3311 bytes of one byte"):
        NormalizerChain((normalizers.Prepend("ﷺ" * 100), UnicodeForm("NFKC")))


def test_no_token_grows_more_than_the_bound() -> None:
    random = seeded("growth of decoders")
    backend = bpe.train(["ab"], vocab_size=256)._pipeline.backend
    for _ in range(20 * max_examples(100)):
        steps = random.choices(DECODERS, k=random.randrange(1, 6))
        bound, problem = growth.find_excess(steps, "token")
        if problem:
            continue
        chain = DecoderChain(tuple(steps))
        texts = dict(enumerate([*LETTERS, "ÃÃ", "a Ġ", "ab", "<0xE3>"]))
        decoder = ChainDecoder(chain, partial(dict, texts), backend, ())
        for ids in [*([id] for id in texts), random.choices(list(texts), k=5)]:
            whole = sum(size(texts[id]) for id in ids)
            assert size(decoder.decode(ids, "replace", False)) <= bound * whole, (steps, ids)


@pytest.mark.parametrize("step", [
    *NORMALIZERS[:7], normalizers.Strip(), normalizers.BertNormalizer(), normalizers.Prepend("▁"),
    normalizers.Replace("a", "a"), normalizers.Replace("a+", "a", True), normalizers.Prepend("abc"),
    Precompiled(charsmap({b"x": "y"})),
], ids=str)  # fmt: skip
def test_256_steps_that_do_not_multiply_are_accepted(step: TextStep) -> None:
    NormalizerChain((step,) * 256)


@pytest.mark.parametrize("step", [
    *(each for each in DECODERS if not isinstance(each, decoders.Replace | decoders.CTC)),
    decoders.Replace("▁", " "), decoders.CTC("a", "|", True),
    decoders.Replace("a+", "a", True),
], ids=str)  # fmt: skip
def test_256_decoders_that_do_not_multiply_are_accepted(step: decoders.TokenStep) -> None:
    DecoderChain((step,) * 256)


def test_the_normalizers_of_published_models_are_accepted() -> None:
    """The chain of ALBERT, with a charsmap that grows as much as nmt_nfkc, and Metaspace."""
    charsmap_13 = Precompiled(charsmap({"ﷺ".encode(): "a" * 39}))
    assert growth.growth_of((charsmap_13,)) == 13
    steps = (
        normalizers.Replace("``", '"'), UnicodeForm("NFKD"), normalizers.StripAccents(),
        normalizers.Lowercase(), charsmap_13, normalizers.Replace(" {2,}", " ", True),
    )  # fmt: skip
    assert growth.growth_of(steps) == 11 * 13


DOUBLE = normalizers.Replace("a", "aa")
REFUSED: list[tuple[Any, str]] = [
    ([DOUBLE] * 11, "make up to 2048 bytes of one byte of a text, at step 11 (Replace); expected "
                    "at most 1024"),
    ([UnicodeForm("NFKD"), *[normalizers.ByteLevel()] * 9], "at step 8 (ByteLevel)"),
    ([normalizers.Prepend("▁" * 200)] * 2, "make up to 1201 bytes"),
    ([RULES_MAP] * 10, "(Precompiled)"),
    ([normalizers.Replace("a", "ل"), UnicodeForm("NFC"), normalizers.Replace("ل", "ﷺ"),
      UnicodeForm("NFKD")] * 9, "make up to"),
    ([UnicodeForm("NFKD"), *[normalizers.Replace("a+", "a", True)] * 95],
     "read up to 1034 bytes with regexes for one byte of a text, at step 95 (Replace); expected "
     "at most 1024"),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "message"), REFUSED)
def test_growing_normalizers_are_refused(steps: list[TextStep], message: str) -> None:
    with pytest.raises(UnsupportedError, match=r"^the normalizers ") as error:
        NormalizerChain(tuple(steps))
    assert message in str(error.value)


def test_growing_decoders_are_refused() -> None:
    double = decoders.Replace("a", "aa")
    DecoderChain((double,) * 10)
    with pytest.raises(UnsupportedError, match=r"^the decoders make .* of a token, at step 11 "):
        DecoderChain((double,) * 11)
    with pytest.raises(UnsupportedError, match=r"at step 10 \(CTC\)"):
        DecoderChain((decoders.CTC("", "", True),) * 256)


def test_a_charsmap_that_grows_is_refused(backend: BackendName) -> None:
    rule = "é".encode()
    most = Charsmap(charsmap({rule: "a" * 2 * MAX_RULE_GROWTH}))
    assert most.growth == MAX_RULE_GROWTH == 1024
    assert Charsmap(charsmap({rule: "a  "})).growth == 4  # 7 bytes of 2, as each space becomes 3
    for new in ("a" * (2 * MAX_RULE_GROWTH + 1), " " * MAX_RULE_GROWTH):
        with pytest.raises(VocabularyError, match="a rule that makes more than 1024 bytes of one"):
            Charsmap(charsmap({rule: new}))


def test_added_tokens_that_take_long_to_normalize_are_refused() -> None:
    chain = NormalizerChain((normalizers.Replace("a", "a" * 64), UnicodeForm("NFC")))
    chain.check_contents(["a" * 80_000])
    with pytest.raises(UnsupportedError, match="may make 19200000 bytes of an added token"):
        chain.check_contents(["b", "a" * 100_000])
    slow = NormalizerChain((normalizers.Lowercase(),) * 100)
    slow.check_contents(["A" * 1000] * 100)
    with pytest.raises(UnsupportedError, match="normalizing the added tokens takes too long"):
        slow.check_contents(["A" * 100_000] * 3)
