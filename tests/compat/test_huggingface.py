"""The stand-in for Hugging Face tokenizers answers as the real engine does, call by call."""

from __future__ import annotations

import copy
import gc
import importlib
import json
import pickle
import weakref
from functools import partial
from typing import Any

import pytest

import huggingface_pairs as pairs
import text_models as models
from paths import shared
from support import max_examples, need_native, seeded

tokenizers = pytest.importorskip("tokenizers", reason="the engine is not installed")
hf = importlib.import_module("bpe.compat.huggingface")


@pytest.fixture(autouse=True)
def _serial(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of several errors in a batch, threads of the real engine report any one.
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")


def both(serialized: str) -> tuple[Any, Any]:
    """Return a real tokenizer, and ours."""
    return tokenizers.Tokenizer.from_str(serialized), hf.Tokenizer.from_str(serialized)


def small(**parts: Any) -> str:
    """Return a small tokenizer.json with some other parts."""
    return json.dumps({**json.loads(pairs.base()), **parts})


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
        counts = hf.backend(ours).counts
        served += counts["bpe"]
        fallen += counts["tokenizers"]
    assert served > 10 * fallen


def test_most_calls_with_a_result_are_served_by_bpe() -> None:
    # The real engine raises all errors.
    random = seeded("share of results")
    served = fallen = 0
    for _ in range(20):
        ours = hf.Tokenizer.from_str(pairs.random_tokenizer(random))
        for _ in range(20):
            before = ours._state.served, ours._state.fallbacks.total()
            if not isinstance(pairs.outcome(pairs.random_call(random)[1], ours), tuple):
                served += ours._state.served - before[0]
                fallen += ours._state.fallbacks.total() - before[1]
    # Earlier versions do more in their own way: truncation, or added tokens after a change.
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
    assert hf.backend(ours).name == "bpe"
    assert set(ours._state.fallbacks) <= {"a text with lone surrogates"}


def test_offsets_need_only_one_call_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    need_native()
    monkeypatch.setenv("PRETOK_BACKEND", "native")
    level = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
    real, ours = both(small(pre_tokenizer=level, post_processor=level))
    for method in ("text", "words"):
        monkeypatch.setattr(f"bpe.compat.huggingface.align.Aligner.{method}", lambda *_: None)
    for tok in (real, ours):
        tok.add_tokens(["<new>", "  "])
    texts = "", " the", "the quick  brown\n é <new> the 🦙日本\n\t fox fox", "\u3000日本 "
    words = [text.split(" ") for text in texts]
    for text in texts:
        assert ours.encode(text).offsets == real.encode(text).offsets
        assert ours.encode(text).tokens == real.encode(text).tokens
    for call in (lambda tok: tok.encode_batch(words, True), lambda tok: tok.encode_batch([])):
        assert pairs.outcome(call, ours) == pairs.outcome(call, real)
    assert hf.backend(ours).counts["tokenizers"] == 0
    for tok in (real, ours):
        tok.enable_truncation(4, stride=1)
    for text in texts:
        windows = [
            [window.offsets for window in (encoding, *encoding.overflowing)]
            for encoding in (ours.encode(text), real.encode(text))
        ]
        assert windows[0] == windows[1]


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
    assert hf.backend(ours).counts["tokenizers"] == 0


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


def test_most_calls_with_tokens_of_text_are_served_by_bpe() -> None:
    for case, changes in models.CASES.items():
        ours = hf.Tokenizer.from_str(json.dumps(models.file_of(**changes)))
        ours.decode(ours.encode("the <s> ▁é").ids)
        assert hf.backend(ours) == ("bpe", "", {"bpe": 2, "tokenizers": 0}), case


def test_a_token_that_is_no_longer_normalized() -> None:
    # tokenizers still decodes it from its normalized text.
    real, ours = both(small(normalizer=models.STRIP))
    for normalized in (True, False):
        for tok in (real, ours):
            tok.add_tokens([tokenizers.AddedToken(" A", normalized=normalized)])
    id = real.token_to_id(" A")
    assert ours.decode([id]) == real.decode([id])
    assert hf.backend(ours).reason == "added token ' A' is no longer normalized"


@pytest.mark.parametrize("kind", ["Unigram", "WordPiece"])
def test_unsupported_tokenizers_fall_back_with_a_reason(kind: str) -> None:
    real, ours = both(small(model=pairs.other_model(kind)))
    assert ours.encode("Hello there").ids == real.encode("Hello there").ids
    backend = hf.backend(ours)
    assert backend.name == "tokenizers"
    assert backend.reason
    assert backend.counts == {"bpe": 0, "tokenizers": 1}
    assert hf.fallbacks()[backend.reason] >= 1


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
        assert hf.backend(ours).counts == {"bpe": 3, "tokenizers": 0}
        # A change that no call of ours made.
        ours.real.add_tokens(["xyz"])
        real.add_tokens(["xyz"])
        assert ours.encode("xyz").ids == real.encode("xyz").ids
        assert "a result differed" in hf.backend(ours).reason
    assert "to reproduce: encode('xyz'" in caplog.text


def test_copies_share_their_engine() -> None:
    _, ours = both(small())
    copied = copy.deepcopy(ours)
    assert ours.encode("the").ids == copied.encode("the").ids
    assert ours._state.engine(ours.real) is copied._state.engine(copied.real)


def test_an_encoding_passes_for_the_real_one() -> None:
    real, ours = both(small())
    ours_encoding, real_encoding = ours.encode("the fox"), real.encode("the fox")
    assert isinstance(ours_encoding, tokenizers.Encoding)
    assert type(ours_encoding) is hf.Encoding
    assert pickle.dumps(ours_encoding) == pickle.dumps(real_encoding)
    assert type(pickle.loads(pickle.dumps(ours_encoding))) is tokenizers.Encoding
    assert len(tokenizers.Encoding.merge([ours_encoding.to_real(), real_encoding])) == 2 * len(
        real_encoding
    )
    merged = hf.Encoding.merge([ours_encoding, ours_encoding], False)
    assert merged.ids == real_encoding.ids * 2
    with pytest.warns(DeprecationWarning, match="word_ids"):
        assert ours_encoding.words == ours_encoding.word_ids


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("pad", {"length": 9, "direction": "left", "pad_id": 3, "pad_token": "x"}),
        ("pad", {"length": 2}),
        ("truncate", {"max_length": 2, "stride": 1}),
        ("truncate", {"max_length": 0}),
        ("truncate", {"max_length": 3, "direction": "left"}),
        ("set_sequence_id", {"sequence_id": 1}),
        ("pad", {"length": "x"}),
    ],
)
def test_an_encoding_changes_in_place_as_the_real_one(
    method: str, arguments: dict[str, Any]
) -> None:
    processor = seeded("template")
    serialized = small(post_processor=pairs.random_template(processor))
    encodings = [tok.encode("the quick fox", "the end") for tok in both(serialized)]
    outcomes = [
        pairs.outcome(lambda e: getattr(e, method)(**arguments), encoding) for encoding in encodings
    ]
    assert outcomes[0] == outcomes[1]
    assert pairs.plain(encodings[0]) == pairs.plain(encodings[1])


def test_a_tokenizer_passes_for_the_real_one() -> None:
    real, ours = both(small())
    assert isinstance(ours, tokenizers.Tokenizer)
    assert hf.wrap(real) is hf.wrap(real)
    assert pickle.dumps(ours) == pickle.dumps(real)
    assert type(pickle.loads(pickle.dumps(ours))) is tokenizers.Tokenizer
    assert isinstance(real, hf.Tokenizer)
    assert not isinstance("the", hf.Tokenizer)
    assert type(copy.deepcopy(ours)) is type(copy.copy(ours)) is hf.Tokenizer
    assert copy.deepcopy(ours).to_str() == real.to_str()
    assert str(ours) == str(real)
    assert repr(ours) == repr(real)
    assert dir(ours) == dir(real)
    ours.anything = 1
    assert ours.real.anything == 1
    assert ours.encode("the").ids == real.encode("the").ids


def test_a_change_of_a_component_is_noticed() -> None:
    real, ours = both(small())
    for tok in (real, ours):
        tok.encode(" a")
        tok.pre_tokenizer.add_prefix_space = True
    assert ours.encode("the").tokens == real.encode("the").tokens == ["Ġthe"]
    for tok in (real, ours):
        tok.model.dropout = 1.0
    assert hf.backend(ours).reason.startswith("model.dropout")
    ours.model.dropout = None
    assert hf.backend(ours).name == "bpe"


def test_handles_are_watched_while_they_live() -> None:
    real, ours = both(small())
    level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    ours.pre_tokenizer = level
    assert ours.encode("the").tokens == real.encode("the").tokens
    level.add_prefix_space = True
    assert ours.encode("the").tokens == ["Ġthe"]
    level.add_prefix_space = False
    del level
    assert ours.encode("the").tokens == real.encode("the").tokens
    assert ours._state._handles == []


def test_items_of_sequences_are_watched() -> None:
    digits = {"type": "Digits", "individual_digits": True}
    level = pairs.byte_level(add_prefix_space=False, trim_offsets=True)
    parts = [digits, level]
    _, ours = both(small(pre_tokenizer={"type": "Sequence", "pretokenizers": parts}))
    item = ours.pre_tokenizer[1]
    assert ours.pre_tokenizer is not None
    assert len(ours._state._handles) == 1  # one of a Sequence is enough
    assert ours.encode("the").tokens
    item.add_prefix_space = True
    assert ours.encode("the").tokens == ours.real.encode("the").tokens == ["Ġthe"]


def test_a_patch_watches_items_of_sequences_only_while_they_live() -> None:
    level = pairs.byte_level(add_prefix_space=False, trim_offsets=True)
    parts = [{"type": "Digits", "individual_digits": True}, level]
    hf.patch()
    try:
        _, ours = both(small(pre_tokenizer={"type": "Sequence", "pretokenizers": parts}))
        assert [str(part)[:6] for part in ours.pre_tokenizer] == ["Digits", "ByteLe"]
        for _ in range(2):
            assert ours.encode("the").tokens == ["the"]
        assert ours._state._handles == []
        item = ours.pre_tokenizer[1]
        assert ours.encode("the").tokens == ["the"]
        assert len(ours._state._handles) == 1
        item.add_prefix_space = True
        assert ours.encode("the").tokens == ours.real.encode("the").tokens == ["Ġthe"]
        other = ours.pre_tokenizer
    finally:
        hf.unpatch()
    del item
    item = other[1]  # nobody notes it
    del other
    assert ours.encode("the").tokens == ["Ġthe"]
    item.add_prefix_space = False
    assert ours.encode("the").tokens == ours.real.encode("the").tokens == ["the"]


def test_many_items_are_not_kept() -> None:
    items = importlib.import_module("bpe.compat.huggingface.items")
    sequence = tokenizers.pre_tokenizers.Sequence([tokenizers.pre_tokenizers.Whitespace()])
    with hf.patched():
        held = sequence[0]
        for _ in range(1000):
            assert sequence[0] is not None
        assert len(items._taken) < 200
        assert items.are_held()
        del held
        assert not items.are_held()


@pytest.mark.parametrize("flag", [1, 0, None, "x"])
def test_flags_that_are_not_bool_have_the_same_outcome(flag: Any) -> None:
    for call in (
        lambda tok: tok.encode("the", None, False, flag),
        lambda tok: tok.encode(["the"], is_pretokenized=flag),
        lambda tok: tok.encode_batch(["the"], False, flag),
        lambda tok: tok.decode([5], flag),
        lambda tok: tok.decode_batch([[5]], skip_special_tokens=flag),
    ):
        real, ours = both(small())
        assert pairs.outcome(call, ours) == pairs.outcome(call, real)


def test_a_replaced_method_is_used() -> None:
    _, ours = both(small())
    ours.decode = lambda ids, skip_special_tokens=True: "replaced"
    assert ours.decode([1]) == "replaced"
    assert hf.backend(ours).reason == "decode is replaced on this tokenizer"


def test_other_versions_of_tokenizers_are_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpe.compat.huggingface.state.TESTED_VERSIONS", ())
    _, ours = both(small())
    assert ours.encode("the").ids
    assert "has not been compared" in hf.backend(ours).reason


@pytest.mark.skipif(
    not hasattr(tokenizers.trainers, "ParityBpeTrainer"), reason="tokenizers has no such trainer"
)
def test_the_trainer_that_takes_a_tokenizer_takes_ours() -> None:
    original = tokenizers.trainers.ParityBpeTrainer.train_from_iterator
    real, ours = both(pairs.base())
    with hf.patched():
        assert ours.encode("the quick").ids == real.encode("the quick").ids
        for tok in (real, ours):
            trainer = tokenizers.trainers.ParityBpeTrainer(num_merges=20, show_progress=False)
            trainer.train_from_iterator(
                tok, [["the quick the quick"], ["fox fox fox"]], ratio=[1.0, 1.0]
            )
        assert ours.encode("the quick").ids == real.encode("the quick").ids
        with pytest.raises(TypeError):
            trainer.train_from_iterator("the fox", [["a"]])
    assert ours.to_str() == real.to_str()
    assert tokenizers.trainers.ParityBpeTrainer.train_from_iterator is original


def test_states_do_not_keep_tokenizers_alive() -> None:
    ours = hf.Tokenizer.from_str(small())
    encoding = ours.encode("the")
    view = weakref.ref(ours)
    del ours
    gc.collect()
    assert view() is None
    assert encoding.tokens


def test_streams_take_both_tokenizers() -> None:
    real, ours = both(small())
    ids = real.encode("the 🦙 é 日本").ids
    with hf.patched():
        from tokenizers.decoders import DecodeStream

        assert DecodeStream is hf.DecodeStream
        streams = DecodeStream(ids[:3]), hf.DecodeStream(ids[:3], skip_special_tokens=False)
        for id in ids[3:]:
            assert streams[0].step(ours, id) == streams[1].step(real, id)
        if tokenizers.__version__ != "0.22.2":  # which does not copy streams
            assert copy.copy(streams[0]).step(ours, ids[0]) == streams[0].step(real, ids[0])
        for bad in (-1, 1 << 32, "x"):
            with pytest.raises(TypeError, match="StreamInput must be"):
                streams[0].step(ours, bad)
    from tokenizers.decoders import DecodeStream

    assert DecodeStream is not hf.DecodeStream
    assert isinstance(hf.DecodeStream(), DecodeStream)


def test_origins_follow_tokenizers() -> None:
    real, ours = both(small(normalizer={"type": "NFC"}))
    random = seeded("origins")
    marks = (
        "aeosq\u0301\u0323\u0307\u0302\u0327\u0345\u1112\u1161\u11ab\u0958\u0f73\u0344\u1e69\u00e1"
    )
    for _ in range(100):
        text = "".join(random.choices(marks, k=random.randrange(1, 7)))
        assert ours.encode(text).offsets == real.encode(text).offsets, ascii(text)
