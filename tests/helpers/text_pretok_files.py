"""Models whose tokens are text, and which a .pretok file can store."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import bpe
from bpe import Tokenizer
from bpe.formats.sentencepiece import PieceType
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from text_models import CASES, FALLBACK, LLAMA_DECODER, MARKS, file_of, metaspace

_STEPS = LLAMA_DECODER["decoders"]
_STRIP_3 = {"type": "Strip", "content": " ", "start": 3, "stop": 0}
_FILES: dict[str, dict[str, Any]] = {
    **{name: CASES[name] for name in ("llama", "gemma", "mistral")},
    "metaspace": {"pre_tokenizer": metaspace(), "decoder": LLAMA_DECODER, **FALLBACK},
    "first": {"pre_tokenizer": metaspace("first"), "decoder": LLAMA_DECODER, **FALLBACK},
    "never": {"pre_tokenizer": metaspace("never", split=False), "decoder": LLAMA_DECODER,
              **FALLBACK},
    "no strip": {"normalizer": MARKS, **FALLBACK,
                 "decoder": {"type": "Sequence", "decoders": _STEPS[:3]}},
    "strip 3": {"normalizer": MARKS, **FALLBACK,
                "decoder": {"type": "Sequence", "decoders": [*_STEPS[:3], _STRIP_3]}},
}  # fmt: skip
NAMES = (*_FILES, "sentencepiece", "sentencepiece, prefix")
WORDS = ["▁t", "he", "▁the", "▁a", "aa", "llo", "▁he", "▁hello", "日本", "ab", "oo", "foo", "qui"]


@cache
def model_of(name: str) -> Tokenizer:
    """Return the model with this name, one of `NAMES`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        if name in _FILES:
            path.write_text(json.dumps(file_of(**_FILES[name])), encoding="utf-8")
        else:
            path.write_bytes(sentencepiece_model(name.endswith("prefix")))
        return bpe.load(path)


def sentencepiece_model(has_prefix: bool, **pieces: tuple[str, ...]) -> bytes:
    """Return a SentencePiece .model.

    `pieces` may have `words`, which become further normal pieces, and `symbols`, which become
    user-defined pieces.
    """
    words = [*WORDS, *pieces.get("words", ())]
    letters = sorted({"▁", *"".join(words)})
    rows = [
        UNKNOWN,
        ("<s>", 0.0, PieceType.CONTROL),
        ("</s>", 0.0, PieceType.CONTROL),
        *BYTES,
        *normal(*dict.fromkeys([*words, *letters])),
        *(("▁" * size, -1e9, PieceType.NORMAL) for size in (2, 3, 4, 6)),
        *((text, 0.0, PieceType.USER_DEFINED) for text in ("<sep>", *pieces.get("symbols", ()))),
    ]
    return model(rows, BYTE_FALLBACK, ((3, int(has_prefix)), (4, 0)))
