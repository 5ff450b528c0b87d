"""No wrong argument of a function of pretok._core ends the process or raises an unexpected error.

Only bpe and pretok call `_core`, which is private; but memory must stay safe whatever they pass.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pretok
from bpe import Vocabulary
from bpe.decoders.steps import SentencePieceDecoding
from bpe.formats.pretok_steps import dump_steps
from bpe.formats.spec import TokenizerSpec
from paths import HELPERS
from support import need_native

U32 = np.uint32


@pytest.fixture(autouse=True)
def _native() -> None:
    need_native()


def test_every_callable_with_wrong_arguments() -> None:
    """Each argument of each function, class and method gets values of many types and sizes.

    The program that makes the calls finds the functions itself, so a new one cannot be forgotten.
    """
    program = HELPERS / "core_boundary.py"
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=Path(pretok.__file__).parents[1],
        env={**os.environ, "PYTHONPATH": str(Path(pretok.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    lines = done.stdout.splitlines()
    wrong = [" ".join(lines[at - 1 : at + 1]) for at, line in enumerate(lines) if "WRONG" in line]
    assert wrong == []
    assert lines[-1:] == ["done"], (
        f"the process ended with status {done.returncode} in the call {lines[-1:]}\n"
        f"{done.stderr[-2000:]}"
    )
    assert len(lines) > 10_000


def core() -> Any:
    from pretok import _core

    return _core


def characters(tokens: bytes = b"abab", ids: Any = None, **changes: Any) -> object:
    """Make a tokenizer of text, with these tokens and with `changes` of its fields."""
    fields = {
        "merges": np.array([[0, 1, 2]], U32),
        "text": (2, False, False, False, "", ""),
        **changes,
    }
    ids = np.array([0, 1, 2], U32) if ids is None else ids
    spec = core().Spec(tokens, np.array([1, 1, 2], U32), ids, fields)
    return core().Tokenizer(spec, None)


def of_sentencepiece(**changes: Any) -> object:
    """Like `characters`, with SentencePieceDecoding."""
    tokenizer = TokenizerSpec(Vocabulary({0: b"a"}), None, decoder=SentencePieceDecoding())
    return characters(steps=dump_steps(tokenizer), **changes)


def rows(**changes: Any) -> object:
    arguments = {
        "ids": np.arange(3, dtype=U32),
        "offsets": np.array([0, 3]),
        "before": [],
        "after": [],
        "length": 3,
        "max_count": 3,
        "keeps_last": False,
        "pad_id": 0,
        "pads_left": False,
    }
    return core().pad_rows(**{**arguments, **changes})


REFUSED: dict[str, Callable[[], object]] = {
    "invisible ids without SentencePiece": lambda: characters(invisible=[0]),
    "a huge invisible id": lambda: of_sentencepiece(invisible=[1 << 31]),
    "invisible ids of another type": lambda: of_sentencepiece(invisible="a"),
    "an unknown field": lambda: characters(fallback=[0] * 300),
    "more mergeable tokens than all": lambda: characters(mergeable=4),
    "a score for each of four tokens": lambda: characters(scores=np.zeros(4, np.float32)),
    "scores of bytes": lambda: characters(scores=np.zeros(3, np.float32), text=None),
    "scores, and no unknown token": lambda: characters(
        scores=np.zeros(3, np.float32), text=(None, False, True, False, "", "")
    ),
    "two tokens with one id": lambda: characters(ids=np.array([0, 1, 1], U32)),
    "a byte after all tokens": lambda: characters(b"ababc"),
    "an empty added token": lambda: characters(added=[("", 5, True, *[False] * 4)]),
    "an added token with the id of another": lambda: characters(added=[("c", 1, *[True] * 5)]),
    "an unknown way to split": lambda: characters(split_at_marks="?"),
    "damaged steps": lambda: characters(steps=b"\xff"),
    "a merge of a huge id": lambda: characters(merges=np.array([[0, 1, 1 << 31]], U32)),
    "merges of one dimension": lambda: characters(merges=np.array([0, 1, 2], U32)),
    "a huge id of a token": lambda: characters(ids=np.array([0, 1, 1 << 24], U32)),
    "an unknown token of a huge id": lambda: characters(text=(1 << 31, *[False] * 3, "", "")),
    "text that is not UTF-8": lambda: characters(b"a\xffab"),
    "ids of 64 bits": lambda: characters(ids=np.array([0, 1, 2], np.int64)),
    "floating-point ids": lambda: characters(ids=np.array([0.0, 1.0, 2.0])),
    "offsets beyond the ids": lambda: rows(offsets=np.array([0, 4])),
    "offsets that descend": lambda: rows(offsets=np.array([3, 0, 3])),
    "negative offsets": lambda: rows(offsets=np.array([-1, 3])),
    "rows that are too long": lambda: rows(length=1 << 62),
    "rows that are too short": lambda: rows(length=2),
    "an unknown state": lambda: core().check_utf8(b"", 7),
    "a state after the last": lambda: core().check_utf8(b"", 54),
    "no iterator": lambda: core().gather([], 1, 1, "", print),
    "an unknown treatment": lambda: core().AddedTokens([], []).treating("?"),
    "no __init__": lambda: core().Tokenizer.__new__(core().Tokenizer),
    "no self": lambda: core().Tokenizer.merges(None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_such_arguments_are_refused(name: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        REFUSED[name]()
