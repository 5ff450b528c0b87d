"""Each call of the stand-in hf.Tokenizer has the outcome of the real tokenizers.Tokenizer.

bpe serves a call if it answers exactly as the real tokenizer. All other calls fall back to the
real tokenizer.
"""

from __future__ import annotations

import copy
import importlib
import json
from functools import partial
from typing import Any

import pytest

import huggingface_pairs as pairs
import text_models as models
from huggingface_pairs import both, small
from paths import shared
from support import max_examples, need_native, seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("seed", range(max_examples(20)))
def test_random_calls_have_the_same_outcome(seed: int) -> None:
    random = seeded(f"huggingface {seed}")
    serialized = pairs.random_tokenizer(random)
    real, ours = both(serialized)
    done = []
    for step in range(20):
        description, call = pairs.random_call(random)
        done.append(description)
        assert pairs.outcome(call, ours) == pairs.outcome(call, real), done
        if step % 5 == 4:
            assert ours.to_str() == real.to_str(), done


def test_most_random_calls_are_served_by_bpe() -> None:
    random = seeded("share")
    served = fallen = 0
    for _ in range(20):
        ours = hf.Tokenizer.from_str(pairs.random_tokenizer(random))
        for _ in range(10):
            pairs.outcome(lambda tok: tok.encode(pairs.random_text(random)), ours)
        counts = hf.engine(ours).counts
        served += counts["bpe"]
        fallen += counts["tokenizers"]
    assert served > 10 * fallen


def test_most_calls_with_a_result_are_served_by_bpe() -> None:
    # The real tokenizer raises all errors, so bpe serves no call with an error: leave them out.
    random = seeded("share of results")
    served = fallen = 0
    for _ in range(20):
        ours = hf.Tokenizer.from_str(pairs.random_tokenizer(random))
        for _ in range(20):
            before = ours._state.served, ours._state.fallbacks.total()
            if not isinstance(pairs.outcome(pairs.random_call(random)[1], ours), tuple):
                served += ours._state.served - before[0]
                fallen += ours._state.fallbacks.total() - before[1]
    # More calls fall back with other versions of tokenizers, which differ in details of truncation
    # and of added tokens after a change.
    assert served > (20 if tokenizers.__version__ == "0.23.3" else 2) * fallen


@pytest.mark.parametrize(
    "name", ["gpt2_tokenizer.json", "gpt_neox.json", "llama2.json", "mistral03.json"]
)
def test_published_tokenizers(name: str) -> None:
    serialized = shared("vocabs", "hf", name).read_text(encoding="utf-8")
    real, ours = both(serialized)
    random = seeded(name)
    texts = [pairs.random_text(random) for _ in range(30)]
    texts += shared("texts", "multilingual.txt").read_text(encoding="utf-8")[:3000].split("\n")
    for text in texts:
        call = lambda tok, text=text: tok.encode(text)  # noqa: E731
        assert pairs.outcome(call, ours) == pairs.outcome(call, real), text
    for _ in range(30):
        ids = [random.randrange(real.get_vocab_size()) for _ in range(random.randrange(9))]
        assert ours.decode(ids) == real.decode(ids), ids
    assert hf.engine(ours).name == "bpe"
    assert set(ours._state.fallbacks) <= {"a text with lone surrogates"}


def test_offsets_need_only_one_call_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    need_native()
    monkeypatch.setenv("PRETOK_BACKEND", "native")
    level = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
    real, ours = both(small(pre_tokenizer=level, post_processor=level))
    monkeypatch.setattr("bpe.compat.huggingface.align.Aligner.align", None)
    for tok in (real, ours):
        tok.add_tokens(["<new>", "  "])
    texts = "", " the", "the quick  brown\n é <new> the 🦙日本\n\t fox fox", "\u3000日本 "
    words = [text.split(" ") for text in texts]
    for text in texts:
        assert ours.encode(text).offsets == real.encode(text).offsets
        assert ours.encode(text).tokens == real.encode(text).tokens
    for call in (lambda tok: tok.encode_batch(words, True), lambda tok: tok.encode_batch([])):
        assert pairs.outcome(call, ours) == pairs.outcome(call, real)
    assert hf.engine(ours).counts["tokenizers"] == 0
    for tok in (real, ours):
        tok.enable_truncation(4, stride=1)
    for text in texts:
        windows = [
            [window.offsets for window in (encoding, *encoding.overflowing)]
            for encoding in (ours.encode(text), real.encode(text))
        ]
        assert windows[0] == windows[1]


def test_offsets_of_long_texts() -> None:
    level = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
    real, ours = both(small(pre_tokenizer=level, post_processor=level))
    random = seeded("long")
    for tok in (real, ours):
        tok.add_tokens(["x" * 20, "<new>"])
    texts = ["".join(random.choices([*pairs.WORDS, "x" * 20, "<new>"], k=3000)) for _ in range(3)]
    for text in [*texts, *texts]:  # again with the spans that bpe has cached
        assert ours.encode(text).offsets == real.encode(text).offsets
    ours._state.engine(ours.real)._tokenizer.trim()
    assert ours.encode(texts[0]).offsets == real.encode(texts[0]).offsets


@pytest.mark.parametrize("trims", [False, True])
@pytest.mark.parametrize("splits", [False, True])
def test_offsets_of_wide_tokens(splits: bool, trims: bool) -> None:
    model = json.loads(small())["model"]
    vocab, merges = model["vocab"], model["merges"]
    for first in ("=", "ĠĠ", "=Ġ", "Ġ=="):
        for part in (first, *(first * 2**power for power in range(1, 9))):
            if part in vocab:
                continue
            half = len(part) // 2 if len(part) > len(first) else 1
            merges.append(f"{part[:half]} {part[half:]}")
            vocab[part] = len(vocab)
    level = pairs.byte_level(add_prefix_space=True, trim_offsets=trims) | {"use_regex": splits}
    real, ours = both(small(model=model, pre_tokenizer=level, post_processor=level))
    random = seeded(f"wide {splits} {trims}")
    parts = "=", " ", "= ", "é", "日", "🦙", "the", " fox", "\n"
    counts = 1, 1, 2, 9, 40, 600
    for _ in range(60):
        text = "".join(random.choice(parts) * random.choice(counts) for _ in range(9))
        for _ in range(2):  # again with the spans that bpe has cached
            assert ours.encode(text).offsets == real.encode(text).offsets, text
    assert hf.engine(ours).counts["tokenizers"] == 0


@pytest.mark.parametrize("pretokenized", [False, True])
def test_inputs_of_every_shape_have_the_same_outcome(pretokenized: bool) -> None:
    processor = pairs.random_template(seeded("shapes"))
    real, ours = both(small(post_processor=processor))
    words: Any = (
        ["the", "fox"],
        ("é",),
        [],
        (),
        [["the", "a"], ["fox"]],
        [[], []],
        [[]],
        ["a", ["b"]],
    )
    for input in (*words, "the", ("the", "fox"), (["a"], "b"), [1], None, {"a": "b"}):
        for call in (
            lambda tok, input=input: tok.encode(input, is_pretokenized=pretokenized),
            lambda tok, input=input: tok.encode(input, input, pretokenized),
            lambda tok, input=input: tok.encode("the", input, pretokenized),
            lambda tok, input=input: tok.encode_batch([input], is_pretokenized=pretokenized),
            lambda tok, input=input: tok.encode_batch(input, is_pretokenized=pretokenized),
        ):
            assert pairs.outcome(call, ours) == pairs.outcome(call, real), input


@pytest.mark.parametrize("kind", ["NFC", "Lowercase", "NFD"])
def test_added_tokens_decode_from_their_normalized_text(kind: str) -> None:
    real, ours = both(small(normalizer={"type": kind}))
    tokens = [
        tokenizers.AddedToken(text, normalized=normalized, special=special)
        for text, normalized, special in [
            ("cafe\u0301X", True, False), ("\u212bA", True, True), ("\u00c5A", False, True),
            ("THE", True, True), ("the", False, True), ("éé", False, False), ("日本", True, False),
        ]
    ]  # fmt: skip
    first = real.get_vocab_size()
    for tok in (real, ours):
        tok.add_tokens(tokens)
    ids = [real.token_to_id("the"), *range(first - 3, real.get_vocab_size()), 10**6]
    for skip in (True, False):
        assert ours.decode(ids, skip) == real.decode(ids, skip)
        for id in ids:
            assert ours.decode([65, id, 66], skip) == real.decode([65, id, 66], skip)
    assert hf.engine(ours).counts["tokenizers"] == 0


def _encode(text: str, tok: Any) -> Any:
    return tok.encode(text)


@pytest.mark.parametrize("case", models.CASES)
def test_tokens_of_text_have_the_same_outcome(case: str) -> None:
    random = seeded(f"text {case}")
    file = models.file_of(**models.CASES[case])
    real, ours = both(json.dumps({**file, "post_processor": pairs.random_processor(random)}))
    for _ in range(25):
        description, call = pairs.random_call(random)
        if random.random() < 0.5:
            description = "".join(random.choices(models.PARTS, k=random.randrange(14)))
            call = partial(_encode, description)
        assert pairs.outcome(call, ours) == pairs.outcome(call, real), description


def test_offsets_of_words_that_begin_with_a_character_without_a_token() -> None:
    level = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
    model = {"type": "BPE", "vocab": {"a": 0, "\n": 1}, "merges": []}
    split = {"type": "UnicodeScripts"}
    real, ours = both(small(model=model, pre_tokenizer=split, post_processor=level))
    for words in (["a", "  \n"], [" \n", "\n", "b\n"]):
        encodings = [tok.encode(words, is_pretokenized=True) for tok in (real, ours)]
        assert encodings[0].offsets == encodings[1].offsets
    assert hf.engine(ours).name == "bpe"


def test_special_tokens_that_are_words_of_the_model() -> None:
    # With ignore_merges, a pre-token that is a token of the model becomes this token.
    file = json.loads(pairs.base())
    id = file["model"]["vocab"]["the"]
    file["model"]["ignore_merges"] = True
    file["added_tokens"] = [{"id": id, **dict.fromkeys(pairs.FLAGS, False), "content": "the"}]
    file["added_tokens"][0]["special"] = True
    file["model"]["merges"] = [pair for pair in file["model"]["merges"] if "".join(pair) != "the"]
    real, ours = both(json.dumps(file))
    for tok in (real, ours):
        tok.encode_special_tokens = True
    for call in (
        lambda tok: tok.encode("the"),
        lambda tok: tok.encode_batch(["fox the", "the é", "fox"]),
        lambda tok: tok.encode(["the", "fox"], is_pretokenized=True),
    ):
        assert pairs.outcome(call, ours) == pairs.outcome(call, real)
    assert ours.encode("fox").ids == real.encode("fox").ids
    assert hf.engine(ours).counts["bpe"] == 1


def test_a_prefix_space_after_metaspace_falls_back() -> None:
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated", "invert": False}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True}
    level = pairs.byte_level(add_prefix_space=True, trim_offsets=False)
    parts = {"type": "Sequence", "pretokenizers": [split, metaspace, level]}
    model = {**json.loads(pairs.base())["model"], "unk_token": "e", "fuse_unk": True}
    model["vocab"] = {token: id for token, id in model["vocab"].items() if token != "Q"}
    real, ours = both(small(pre_tokenizer=parts, model=model))
    for text in (" ", "the fox", "  a"):
        assert ours.encode(text).tokens == real.encode(text).tokens
    assert "add_prefix_space" in hf.engine(ours).reason


@pytest.mark.parametrize("ids", [[], [0], [70, 5, 71]])
def test_a_decoder_that_panics_has_the_same_outcome(ids: list[int]) -> None:
    # Strip of tokenizers fails for a token that is shorter than the number of its characters.
    strip = {"type": "Strip", "content": "e", "start": 0, "stop": 2}
    level = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
    real, ours = both(small(decoder={"type": "Sequence", "decoders": [level, strip]}))
    call = lambda tok: tok.decode(ids)  # noqa: E731
    assert pairs.outcome(call, ours) == pairs.outcome(call, real)
    assert pairs.outcome(call, both(small(decoder=strip))[1]) == pairs.outcome(
        call, both(small(decoder=strip))[0]
    )


@pytest.mark.parametrize("case", models.CASES)
def test_each_token_of_text_decodes_the_same(case: str) -> None:
    real, ours = both(json.dumps(models.file_of(**models.CASES[case])))
    for id in range(real.get_vocab_size()):
        assert ours.decode([5, id, 6], False) == real.decode([5, id, 6], False)


def test_most_calls_with_tokens_of_text_are_served_by_bpe() -> None:
    for case, changes in models.CASES.items():
        ours = hf.Tokenizer.from_str(json.dumps(models.file_of(**changes)))
        ours.decode(ours.encode("the <s> ▁é").ids)
        assert hf.engine(ours) == ("bpe", "", {"bpe": 2, "tokenizers": 0}), case


def test_a_token_that_is_no_longer_normalized() -> None:
    # Hugging Face's tokenizers still decodes the token from its normalized text.
    real, ours = both(small(normalizer=models.STRIP))
    for normalized in (True, False):
        for tok in (real, ours):
            tok.add_tokens([tokenizers.AddedToken(" A", normalized=normalized)])
    id = real.token_to_id(" A")
    assert ours.decode([id]) == real.decode([id])
    assert hf.engine(ours).reason == "added token ' A' is no longer normalized"


@pytest.mark.parametrize("kind", ["Unigram", "WordPiece"])
def test_unsupported_tokenizers_fall_back_with_a_reason(kind: str) -> None:
    real, ours = both(small(model=pairs.other_model(kind)))
    assert ours.encode("Hello there").ids == real.encode("Hello there").ids
    engine = hf.engine(ours)
    assert engine.name == "tokenizers"
    assert engine.reason
    assert engine.counts == {"bpe": 0, "tokenizers": 1}
    assert hf.fallbacks()[engine.reason] >= 1


def test_strict_raises_instead_of_falling_back() -> None:
    ours = hf.Tokenizer.from_str(small(model=pairs.other_model("WordPiece")))
    with hf.patched(strict=True), pytest.raises(hf.FallbackError, match=r"model\.type"):
        ours.encode("a")
    assert ours.encode("a").ids


def test_checked_calls_find_a_difference(caplog: pytest.LogCaptureFixture) -> None:
    real, ours = both(small())
    with hf.patched(check=1.0):
        assert ours.encode("the").ids == ours.encode_batch(["the"])[0].ids
        assert ours.decode([5]) == real.decode([5])
        assert hf.engine(ours).counts == {"bpe": 3, "tokenizers": 0}
        # Change the real tokenizer directly, so that the stand-in does not know of the change.
        ours.real.add_tokens(["xyz"])
        real.add_tokens(["xyz"])
        assert ours.encode("xyz").ids == real.encode("xyz").ids
        assert "a result differed" in hf.engine(ours).reason
    assert "to reproduce: encode('xyz'" in caplog.text


def test_copies_share_their_engine() -> None:
    _, ours = both(small())
    copied = copy.deepcopy(ours)
    assert ours.encode("the").ids == copied.encode("the").ids
    assert ours._state.engine(ours.real) is copied._state.engine(copied.real)


def test_a_lone_surrogate_is_found_at_any_place() -> None:
    real, ours = both(small())
    for letter in "é", "🦙":  # 16-bit and 32-bit code units
        for place in range(70):
            text = letter * place + "\ud8ff" + letter * (130 - place)
            call = lambda tok, text=text: tok.encode(text)  # noqa: E731
            assert pairs.outcome(call, ours) == pairs.outcome(call, real), place
        assert ours.encode(letter * 130).ids == real.encode(letter * 130).ids
    assert hf.engine(ours).counts == {"bpe": 2, "tokenizers": 140}


def test_an_added_token_within_the_white_space_of_another_one() -> None:
    real, ours = both(small())
    for tok in (real, ours):
        tok.add_tokens([tokenizers.AddedToken("日本", rstrip=True), "  "])
    for text in ("日本  \u00a0é", "'sÅ🦙日本  \u00a0éx", "日本   é 日本    日本  x"):
        for words in (text, ["a", text]):
            call = lambda tok, words=words: tok.encode(words, is_pretokenized=words != text)  # noqa: E731,B023
            assert pairs.outcome(call, ours) == pairs.outcome(call, real), words
    assert hf.engine(ours).counts["tokenizers"] == 0


def test_added_tokens_for_which_tokenizers_may_panic_fall_back() -> None:
    real, ours = both(small())
    for tok in (real, ours):
        tok.add_tokens([tokenizers.AddedToken("x", rstrip=True, normalized=True)])
        tok.add_tokens([tokenizers.AddedToken(" ", lstrip=True, normalized=True)])
    for text in ("ax  \u00a01", "x y"):
        call = lambda tok, text=text: tok.encode(text)  # noqa: E731
        assert pairs.outcome(call, ours) == pairs.outcome(call, real), text
    assert "tokenizers panics" in hf.engine(ours).reason


@pytest.mark.parametrize(
    ("token", "distance", "served"),
    [("fo", 12, True), ("Ġfox", 9, True), ("Ġfox", 1, False)],  # <one> may get the id of Ġfox
)
def test_added_tokens_of_vocabularies_with_gaps(token: str, distance: int, served: bool) -> None:
    file = json.loads(small())
    vocab = file["model"]["vocab"]
    vocab[token] += distance
    real, ours = both(json.dumps(file))
    added = ["fo", tokenizers.AddedToken("<one>"), "<two>", "<three>"]
    text = "the<one> fo <two>quick<three> <four>"
    for _ in range(2):  # the library may give other ids when it loads the tokenizer again
        for tok in (real, ours):
            tok.add_tokens(added)
            tok.add_special_tokens(["<four>"])
        for call in (
            lambda tok: tok.encode(text),
            lambda tok: [tok.decode([id]) for id in range(len(vocab) + 20)],
            lambda tok: tok.decode(tok.encode(text).ids),
            lambda tok: copy.deepcopy(tok).encode(text),  # may have other ids as well
        ):
            assert pairs.outcome(call, ours) == pairs.outcome(call, real)
        assert hf.engine(ours).name == ("bpe" if served else "tokenizers")
        real, ours = both(real.to_str())


def test_a_copy_has_the_engine_but_later_changes_do_not_reach_it() -> None:
    real, ours = both(small())
    ours.encode("the")
    for copied in (copy.deepcopy(ours), copy.copy(ours)):
        assert copied is not ours
        assert copied._state.current is ours._state.current is not None
        copied.add_tokens(["quick"])
        assert copied.encode("the quick").ids != real.encode("the quick").ids
        assert ours.encode("the quick").ids == real.encode("the quick").ids
    ours.pre_tokenizer.add_prefix_space = True
    assert ours._state.current is None
    assert copy.deepcopy(ours).encode("the").ids == ours.encode("the").ids
    assert copy.deepcopy(ours).encode("the").ids != real.encode("the").ids


@pytest.mark.parametrize("flags", [{}, {"normalized": True}, {"single_word": True}])
@pytest.mark.parametrize("normalizer", [None, "Lowercase", "Prepend"])
def test_special_tokens_that_the_model_makes_of_whole_words(
    flags: dict[str, bool], normalizer: str | None
) -> None:
    level = {**pairs.byte_level(add_prefix_space=False, trim_offsets=True), "use_regex": False}
    split = {"type": "Split", "pattern": {"String": "日"}, "behavior": "Isolated", "invert": False}
    parts = {"type": "Sequence", "pretokenizers": [split, level]}
    file = json.loads(small(pre_tokenizer=parts))
    id = file["model"]["vocab"]["xy"] = len(file["model"]["vocab"])
    file["model"]["ignore_merges"] = True
    file["added_tokens"] = [
        {"id": id, "content": "xy", **dict.fromkeys(pairs.FLAGS, False), **flags, "special": True}
    ]
    prepend = {"prepend": "\u2581"} if normalizer == "Prepend" else {}
    file["normalizer"] = normalizer and {"type": normalizer, **prepend}
    real, ours = both(json.dumps(file))
    for splits in (False, True):
        real.encode_special_tokens = ours.encode_special_tokens = splits
        for text in ("日xy日", "日XY日", "xy", "XY", "axy", "日 xy 日"):
            call = lambda tok, text=text: tok.encode(text)  # noqa: E731
            assert pairs.outcome(call, ours) == pairs.outcome(call, real), (text, splits)
