"""Objects of the stand-in pass for real ones, and follow changes of their parts and methods."""

from __future__ import annotations

import copy
import gc
import importlib
import operator
import pickle
import weakref
from contextlib import nullcontext
from threading import Thread
from typing import Any

import pytest

import huggingface_pairs as pairs
from huggingface_pairs import both, small
from support import seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = pytest.mark.usefixtures("one_thread")


def test_an_encoding_passes_for_the_real_one() -> None:
    real, ours = both(small())
    ours_encoding, real_encoding = ours.encode("the fox"), real.encode("the fox")
    missing = operator.attrgetter("missing")
    assert pairs.outcome(missing, ours_encoding) == pairs.outcome(missing, real_encoding)
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


def test_functions_in_rust_take_encodings() -> None:
    real, ours = both(small(post_processor=pairs.random_template(seeded("rust"))))
    processor = real.post_processor
    texts = "the é fox", "", " quick"
    mine, theirs = ([tok.encode(text) for text in texts] for tok in (ours, real))
    first, second = (tok.encode("the fox", add_special_tokens=False) for tok in (ours, real))
    merge = tokenizers.Encoding.merge
    with hf.patched():
        for growing in (True, False):
            expected = pairs.plain(merge(theirs, growing))
            for mixed in (mine, (*mine,), [mine[0], *theirs[1:]], theirs):
                merged = tokenizers.Encoding.merge(mixed, growing_offsets=growing)
                assert pairs.plain(merged) == expected
                assert pairs.plain(hf.Encoding.merge(mixed, growing)) == expected
        for call in (
            lambda encoding: real.post_process(encoding),
            lambda encoding: ours.post_process(encoding, encoding),
            lambda encoding: processor.process(encoding),
            lambda encoding: processor.process(encoding, pair=encoding, add_special_tokens=False),
            lambda encoding: tokenizers.Encoding.merge(encoding),
            lambda encoding: tokenizers.Encoding.merge([encoding, 3]),
        ):
            assert pairs.outcome(call, first) == pairs.outcome(call, second)
    assert merge is tokenizers.Encoding.merge
    with pytest.raises(TypeError):
        tokenizers.Encoding.merge(mine)


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
    assert hf.engine(ours).reason.startswith("model.dropout")
    ours.model.dropout = None
    assert hf.engine(ours).name == "bpe"


def test_a_change_through_an_assigned_component_is_noticed() -> None:
    real, ours = both(small())
    level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    ours.pre_tokenizer = level
    assert ours.encode("the").tokens == real.encode("the").tokens
    level.add_prefix_space = True
    assert ours.encode("the").tokens == ["Ġthe"]
    level.add_prefix_space = False
    del level
    assert ours.encode("the").tokens == real.encode("the").tokens


def test_a_change_during_a_build_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    real, ours = both(small())
    state = importlib.import_module("bpe.compat.huggingface.state")
    build = state._engine_of
    threads = []

    def build_before_a_change(tok: Any) -> Any:
        engine = build(tok)
        threads.append(Thread(target=ours.add_tokens, args=(["quick"],)))
        threads[0].start()
        threads[0].join(0.2)  # it may have to wait for the end of the build
        return engine

    monkeypatch.setattr(state, "_engine_of", build_before_a_change)
    ours.encode("the quick")
    monkeypatch.undo()
    threads[0].join()
    real.add_tokens(["quick"])
    assert ours.encode("the quick").ids == real.encode("the quick").ids


def _sequence() -> str:
    """Return a tokenizer whose pre-tokenizer is a Sequence."""
    level = pairs.byte_level(add_prefix_space=False, trim_offsets=True)
    return small(pre_tokenizer={"type": "Sequence", "pretokenizers": [level]})


@pytest.mark.parametrize("is_patched", [False, True])
def test_a_change_of_an_item_of_a_sequence_is_noticed(is_patched: bool) -> None:
    with hf.patched() if is_patched else nullcontext():
        _, ours = both(_sequence())
        item = ours.pre_tokenizer[0]
        assert [str(part)[:6] for part in ours.pre_tokenizer] == ["ByteLe"]
        for adds_space in (True, False):
            assert ours.encode("the").tokens == ours.real.encode("the").tokens
            engine = ours._state.current
            assert engine is not None
            assert ours.encode("the").tokens
            assert ours._state.current is engine
            item.add_prefix_space = adds_space
            expected = ["Ġthe"] if adds_space else ["the"]
            assert ours.encode("the").tokens == ours.real.encode("the").tokens == expected
        other = ours.pre_tokenizer
    item = other[0]
    del other
    item.add_prefix_space = True
    assert ours.encode("the").tokens == ours.real.encode("the").tokens == ["Ġthe"]


def test_other_changes_of_components_are_noticed() -> None:
    _, ours = both(_sequence())
    handle = ours.real.pre_tokenizer  # not taken from the stand-in
    spaced = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    bare = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    for change, expected in (
        (lambda: handle.__setitem__(0, spaced), ["Ġthe"]),
        (lambda: handle.__setitem__(0, bare), ["the"]),
        (lambda: setattr(handle[0], "add_prefix_space", True), ["Ġthe"]),
    ):
        change()
        assert ours.encode("the").tokens == ours.real.encode("the").tokens == expected
        assert hf.engine(ours).name == "bpe"


def test_an_equal_component_keeps_the_engine(reads: list[Any]) -> None:
    _, ours = both(small())
    ours.encode("the")
    other = tokenizers.pre_tokenizers.ByteLevel()
    ours.pre_tokenizer.add_prefix_space = ours.pre_tokenizer.add_prefix_space
    other.add_prefix_space = True
    assert ours.encode("the").tokens == ["the"]
    assert len(reads) == 1


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
    assert hf.engine(ours).name == "bpe"
    assert hf.Tokenizer.of(ours.real).decode([1]) == "replaced"
    ours.encode = lambda text: "replaced"
    assert ours.encode("the") == "replaced"
    assert hf.engine(ours).reason == "encode is replaced on this tokenizer"
    del ours.encode, ours.decode
    assert isinstance(ours.encode("the"), tokenizers.Encoding)
    assert ours.decode([1]) != "replaced"


@pytest.mark.parametrize("method", ["encode", "encode_batch", "decode", "decode_batch"])
@pytest.mark.parametrize("text", [[65, 66], "the quick", -1])
def test_a_method_may_be_replaced_by_one_that_calls_it(method: str, text: Any) -> None:
    real, ours = both(small())
    for tok in (real, ours):
        original = getattr(tok, method)
        setattr(tok, method, lambda value, original=original: [original(value)])
    for name in ("encode", "encode_batch", "decode", "decode_batch"):
        call = operator.methodcaller(name, text)
        assert pairs.outcome(call, ours) == pairs.outcome(call, real), name


def test_a_new_stand_in_has_the_replaced_methods_of_its_tokenizer() -> None:
    real, _ = both(small())
    real.decode = lambda ids: "replaced"
    assert hf.Tokenizer.of(real).decode([1]) == "replaced"


def test_transformers_decodes_with_a_replaced_method() -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    real, _ = both(small())
    with hf.patched():
        tok = transformers.PreTrainedTokenizerFast(tokenizer_object=real)
        # CLIPTokenizer does so.
        decode = tok.backend_tokenizer.decode
        tok.backend_tokenizer.decode = lambda *args, **kwargs: decode(*args, **kwargs).upper()
        assert tok.decode(tok.encode("the quick")) == "THE QUICK"
        assert tok.batch_decode([tok.encode("the")]) == ["THE"]
        assert hf.engine(tok).name == "bpe"


def test_other_versions_of_tokenizers_are_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpe.compat.huggingface.state.TESTED_VERSIONS", ())
    _, ours = both(small())
    assert ours.encode("the").ids
    assert "has not been compared" in hf.engine(ours).reason


@pytest.mark.skipif(
    not hasattr(tokenizers.trainers, "ParityBpeTrainer"), reason="needs ParityBpeTrainer"
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


def test_the_stand_in_does_not_keep_tokenizers_alive() -> None:
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
        if tokenizers.__version__ != "0.22.2":  # 0.22.2 cannot copy streams
            assert copy.copy(streams[0]).step(ours, ids[0]) == streams[0].step(real, ids[0])
        for bad in (-1, 1 << 32, "x"):
            with pytest.raises(TypeError, match="StreamInput must be"):
                streams[0].step(ours, bad)
    from tokenizers.decoders import DecodeStream

    assert DecodeStream is not hf.DecodeStream
    assert isinstance(hf.DecodeStream(), DecodeStream)


def test_offsets_of_composed_characters_equal_hugging_face() -> None:
    real, ours = both(small(normalizer={"type": "NFC"}))
    random = seeded("origins")
    marks = (
        "aeosq\u0301\u0323\u0307\u0302\u0327\u0345\u1112\u1161\u11ab\u0958\u0f73\u0344\u1e69\u00e1"
    )
    for _ in range(100):
        text = "".join(random.choices(marks, k=random.randrange(1, 7)))
        assert ours.encode(text).offsets == real.encode(text).offsets, ascii(text)
