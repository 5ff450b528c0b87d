"""Each step of hf.DecodeStream has the outcome of the real tokenizers.decoders.DecodeStream."""

from __future__ import annotations

import copy
import importlib
import json
import pickle
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest

import huggingface_pairs as pairs
import text_models as models
from huggingface_pairs import both, outcome, small
from support import max_examples, seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
RealStream = tokenizers.decoders.DecodeStream
COPIES = tokenizers.__version__ != "0.22.2"  # 0.22.2 cannot copy streams
TEXTS = ("the 🦙 é 日本 fox", "<s> the</s>  👩‍🦰", " a  b \u3000", "e\u0301\ufffd!")


def _files(random: Random) -> list[str]:
    """Return tokenizers whose decoders join bytes, or texts."""
    changes = random.choice(list(models.CASES.values()))
    return [pairs.random_tokenizer(random), json.dumps(models.file_of(**changes))]


def _random_id(random: Random, ids: list[int], size: int) -> Any:
    """Return the argument `id` of a step: usually an id, of a text or of any token."""
    kind = random.random()
    if kind < 0.6 and ids:
        return ids.pop(0)
    if kind < 0.9:
        return random.randrange(size + 2)
    return random.choice([[], [random.randrange(size)] * 2, (1,), True, -1, "x", 1 << 32, None])


def _step(stream: Any, tok: Any, id: Any) -> Any:
    return outcome(partial(stream.step, id=id), tok)


@pytest.mark.parametrize("seed", range(max_examples(30)))
def test_random_steps_have_the_same_outcome(seed: int) -> None:
    random = seeded(f"stream {seed}")
    for serialized in _files(random):
        real, ours = both(serialized)
        ids = real.encode("".join(random.choices(TEXTS, k=3))).ids
        cut, skip = random.randrange(len(ids) + 1), random.random() < 0.5
        streams = RealStream(ids[:cut], skip), hf.DecodeStream(ids[:cut], skip)
        del ids[:cut]
        done: list[Any] = []
        for _ in range(25):
            id = _random_id(random, ids, real.get_vocab_size())
            done.append(id)
            assert _step(streams[1], ours, id) == _step(streams[0], real, id), done
            if random.random() < 0.1 and COPIES:
                streams = copy.copy(streams[0]), copy.deepcopy(streams[1])
            if random.random() < 0.03:  # the texts of earlier ids may change
                for tok in (real, ours):
                    tok.decoder = tokenizers.decoders.Fuse()
                    tok.add_tokens(["<new>"])


def test_most_steps_need_no_real_tokenizer() -> None:
    real, ours = both(small())
    ids = real.encode("".join(TEXTS)).ids
    stream = hf.DecodeStream(ids[:3])
    text = [stream.step(ours, id) for id in ids[3:]]
    assert "".join(filter(None, text)) == real.decode(ids).removeprefix(real.decode(ids[:3]))
    assert hf.engine(ours).counts == {"bpe": len(ids) - 3, "tokenizers": 0}


def test_a_step_takes_any_tokenizer() -> None:
    real, ours = both(small())
    other = hf.Tokenizer.from_str(small(model=pairs.other_model("Unigram")))
    ids = real.encode("the 🦙 é 日本").ids
    expected, stream = RealStream(), hf.DecodeStream()
    for index, id in enumerate(ids):
        tok = (real, ours, other)[index % 3]
        assert _step(stream, tok, id) == _step(expected, getattr(tok, "real", tok), id)
    assert hf.engine(other).counts["tokenizers"] == len(ids) // 3
    with hf.patched(strict=True), pytest.raises(hf.FallbackError, match=r"model\.type"):
        stream.step(other, ids[0])


def test_an_invalid_prefix_raises_the_same_error() -> None:
    # vLLM starts a new stream after this error, which it knows by the start of its text.
    real, ours = both(small())
    ids = real.encode("the quick brown fox").ids
    found = []
    for tok, stream in ((real, RealStream(ids[:1])), (ours, hf.DecodeStream(ids[:1]))):
        _step(stream, tok, ids[1])
        tok.decoder = tokenizers.decoders.Metaspace()
        found.append([_step(stream, tok, id) for id in ids[2:]])
    assert found[0] == found[1]
    assert found[0][0][1].startswith("Invalid prefix encountered while decoding stream. Token ID:")


def test_a_replaced_decode_does_not_change_a_stream() -> None:
    _, ours = both(small())
    ours.decode = lambda ids, skip_special_tokens=True: "replaced"
    assert hf.DecodeStream().step(ours, 65) == RealStream().step(ours.real, 65)


@pytest.mark.parametrize(
    "arguments",
    [(5,), ("ab",), ([1.5],), ([-1],), ({1},), ([1], 1), ([True],), (b"a",), (None, None)],
)
def test_a_new_stream_raises_the_same_errors(arguments: tuple[Any, ...]) -> None:
    real, ours = both(small())

    def step(make: Any, tok: Any) -> Any:
        return make(*arguments).step(tok, 70)

    assert outcome(lambda tok: step(hf.DecodeStream, tok), ours) == outcome(
        lambda tok: step(RealStream, tok), real
    )


def test_a_stream_passes_for_the_real_one() -> None:
    real, ours = both(small())
    uses: tuple[Callable[[Any, Any], Any], ...] = (
        lambda stream, tok: stream.step(tok, np.array([70, 71])),
        lambda stream, tok: stream.step(tok, np.int64(70)),
        lambda stream, tok: stream.step(tok, b"ab"),
        lambda stream, tok: stream.step("the", 70),
        lambda stream, tok: stream.step(None, "x"),
        lambda stream, tok: pickle.dumps(stream),
        lambda stream, tok: copy.copy(stream).step(tok, 70),
        lambda stream, tok: copy.deepcopy(stream).step(tok, 70),
        lambda stream, tok: isinstance(stream, RealStream),
    )
    for use in uses:
        assert outcome(partial(use, hf.DecodeStream([72])), ours) == outcome(
            partial(use, RealStream([72])), real
        ), use


def test_a_stream_checks_its_steps(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, ours = both(small())
    ids = real.encode("the quick fox").ids
    stream, expected = hf.DecodeStream(), RealStream()
    with hf.patched(check=1.0):
        assert stream.step(ours, ids[0]) == expected.step(real, ids[0])
        decoding = "bpe.compat.huggingface.decoding.Decoding"
        monkeypatch.setattr(f"{decoding}.decode_ids", lambda *arguments: "the wrong text")
        for id in ids[1:]:
            assert stream.step(ours, id) == expected.step(real, id)
    assert f"to reproduce: DecodeStream([{ids[0]}], False).step(tokenizer, " in caplog.text
    assert hf.engine(ours).name == "tokenizers"


def test_other_versions_of_tokenizers_decode_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpe.compat.huggingface.state.TESTED_VERSIONS", ())
    real, ours = both(small())
    ids = real.encode("the 🦙 é 日本").ids
    stream, expected = hf.DecodeStream(ids[:2]), RealStream(ids[:2])
    for id in ids[2:]:
        assert stream.step(ours, id) == expected.step(real, id)
    if COPIES:
        assert copy.copy(stream).step(ours, ids[0]) == expected.step(real, ids[0])
