"""Models whose tokens are text, and which a .pretok file can store."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import bpe
from bpe import Tokenizer
from bpe.formats import pretok_file
from bpe.token_facts import TokenType
from charsmaps import charsmap
from sentencepiece_models import BPE, BYTE_FALLBACK, BYTES, UNKNOWN, Field, model, normal
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
    "unknown": CASES["unknown"],
    "each unknown": {"normalizer": MARKS, "decoder": LLAMA_DECODER},
    "unknown, metaspace": {"pre_tokenizer": metaspace("first"), "decoder": LLAMA_DECODER},
}  # fmt: skip
_RULES = charsmap({b"\xc2\xa0": " ", "ﬁ".encode(): "fi", "①".encode(): " 1 ", b"\n": " ",
                   "☃".encode(): "", "Ａ".encode(): "a", b"b\xcc\x81": "B",
                   b"q": "quite a"})  # fmt: skip
_PREFIX, _NOTHING, _ALL = ((3, 1), (4, 0)), ((3, 0), (4, 0)), ((3, 1), (4, 1))
_MODELS: dict[str, dict[str, Any]] = {
    "sentencepiece": {"options": _NOTHING},
    "sentencepiece, prefix": {"options": _PREFIX},
    "sentencepiece, charsmap": {"options": (*_ALL, (2, _RULES))},
    "sentencepiece, charsmap, unknown": {"options": (*_ALL, (2, _RULES)), "trainer": BPE},
    "sentencepiece, charsmap only": {"options": (*_NOTHING, (2, _RULES)), "trainer": BPE},
    "sentencepiece, unknown": {"options": _PREFIX, "trainer": BPE},
    "sentencepiece, spaces": {"options": _ALL},
    "sentencepiece, suffix": {"options": _ALL, "trainer": (*BYTE_FALLBACK, (24, 1))},
    "sentencepiece, suffix, unknown": {"options": _PREFIX, "trainer": (*BPE, (24, 1))},
    "sentencepiece, marks": {"options": _PREFIX, "controls": ("▁z",)},
    "sentencepiece, not escaped": {"options": (*_ALL, (5, 0)), "trainer": BPE},
    "sentencepiece, symbols": {"options": _PREFIX, "symbols": ("▁foo", "A b", "x", "▁")},
    "sentencepiece, symbols, charsmap": {"options": (*_ALL, (2, _RULES)), "trainer": BPE,
                                         "symbols": ("▁foo", "A b", "x", "①", "\n")},
}  # fmt: skip
NAMES = (*_FILES, *_MODELS)
WORDS = ["▁t", "he", "▁the", "▁a", "aa", "llo", "▁he", "▁hello", "日本", "ab", "oo", "foo", "qui"]


@cache
def model_of(name: str) -> Tokenizer:
    """Return the model with this name, one of `NAMES`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        if name in _FILES:
            path.write_text(json.dumps(file_of(**_FILES[name])), encoding="utf-8")
        else:
            path.write_bytes(sentencepiece_model(**_MODELS[name]))
        return bpe.load(path)


def sentencepiece_model(
    options: Iterable[Field],
    trainer: Sequence[Field] = BYTE_FALLBACK,
    words: Sequence[str] = (),
    symbols: Sequence[str] = (),
    controls: Sequence[str] = (),
) -> bytes:
    """Return a SentencePiece .model.

    `options` are the fields of its normalizer. Without byte_fallback in `trainer`, it has no
    fallback tokens. `words` are further normal pieces, and `symbols` are user-defined pieces.
    """
    words = [*WORDS, *words]
    symbols = ("<sep>", *symbols)
    letters = sorted({"▁", *"".join(words)} - {*symbols})
    words = [word for word in words if not set(word) & {*symbols}]
    rows = [
        UNKNOWN,
        ("<s>", 0.0, TokenType.CONTROL),
        ("</s>", 0.0, TokenType.CONTROL),
        *(BYTES if (35, 1) in trainer else ()),
        *normal(*dict.fromkeys([*words, *letters])),
        *(("▁" * size, -1e9, TokenType.NORMAL) for size in (2, 3, 4, 6) if "▁" in letters),
        *((text, 0.0, TokenType.USER_DEFINED) for text in symbols),
        *((text, 0.0, TokenType.CONTROL) for text in controls),
    ]
    return model(rows, trainer, tuple(options))


def summed(body: bytes, version: int = pretok_file.VERSION) -> bytes:
    """Return a .pretok file with this body, and a header with the CRC-32 of the body."""
    header = pretok_file.MAGIC + version.to_bytes(4, "little")
    return header + crc32(body).to_bytes(4, "little") + body
