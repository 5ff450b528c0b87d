"""Random calls with tokenizers 1.0, and with none, have the outcomes of tokenizers 0.23.3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import huggingface_replay as replay
import newer_tokenizers
from paths import HELPERS
from support import max_examples

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytestmark = pytest.mark.skipif(
    tokenizers.__version__ != "0.23.3", reason="needs tokenizers 0.23.3 to compare with"
)
STEPS = 20


def _check(folder: Path | None, seeds: range) -> None:
    plans = [replay.Plan(seed, STEPS, share=0.1) for seed in seeds]
    script = str(HELPERS / "huggingface_replay.py")
    found = newer_tokenizers.run(folder, script, text=json.dumps(plans))
    served = 0
    for plan, ours in zip(plans, found, strict=True):
        real = replay.outcomes(replay.real(), plan)
        for at, (outcome, expected) in enumerate(zip(ours[:-1], real[:-1], strict=False)):
            if outcome == replay.UNSUPPORTED:
                continue
            assert outcome == expected, replay.outcomes(replay.real(), plan._replace(shown=at))[at]
            served += 1
        if ours[-1] != replay.UNSUPPORTED:
            assert len(ours) == len(real), plan
            assert _reread(ours[-1]) == _reread(real[-1]), plan
    assert served > 0.9 * STEPS * len(plans)


def _reread(serialized: str) -> str:
    return tokenizers.Tokenizer.from_str(serialized).to_str()  # type: ignore[no-any-return]


def test_without_tokenizers() -> None:
    _check(None, range(max_examples(20)))


def test_beside_tokenizers_1(tokenizers_1: Path) -> None:
    _check(tokenizers_1, range(1000, 1000 + max_examples(8)))
