"""Damaged files: C++ and Python both raise an error or read the same, for any truncation or bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest

from bpe import AddedToken, Tokenizer, Vocabulary
from bpe.formats import pretok_file
from bpe.token_facts import TokenType
from bpe.types import Template
from charsmaps import charsmap
from gguf_files import SENTENCEPIECE_TEXTS, gguf, metadata, sentencepiece_metadata
from native_models import Said, said_to_cpp, said_to_python
from pretok import from_pattern
from pretok.machine.backend import BackendName
from sentencepiece_models import BPE, BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from support import FULL, sample, seeded
from text_pretok_files import model_of
from vocabulary_files import TEXTS, huggingface, made, made_vocabulary, tiktoken_lines

_OWN = from_pattern(r"\s+(?!\S)|(?:'s)|x?\p{L}+|[^a]", "tiktoken").preset
_END = AddedToken("<|end|>", 264, lstrip=True)


def _compact(**options: Any) -> bytes:
    return pretok_file.dump(
        made(added_tokens=[_END], template=Template((264,), ()), **options).to_spec()
    )


def _ranks() -> Tokenizer:
    return made(vocabulary=Vocabulary(made_vocabulary().token_bytes), added_tokens=[_END])


def _text() -> bytes:
    return pretok_file.dump(model_of("llama").to_spec())


def _sentencepiece() -> bytes:
    return pretok_file.dump(model_of("sentencepiece, prefix").to_spec())


def _normalized() -> bytes:
    return pretok_file.dump(model_of("sentencepiece, charsmap, unknown").to_spec())


def _sentencepiece_gguf() -> bytes:
    return gguf(sentencepiece_metadata(texts=[*SENTENCEPIECE_TEXTS[:-2], "ca", "abc"]))


def _as_it_is(data: bytes) -> bytes:
    return data


def _summed(data: bytes) -> bytes:
    """Return a damaged .pretok file with a right CRC-32, so that readers read past its header."""
    return data[:12] + crc32(data[16:]).to_bytes(4, "little") + data[16:]


def _model() -> bytes:
    symbols = [("<s>", 0.0, TokenType.CONTROL), ("<sep>", 0.0, TokenType.USER_DEFINED)]
    rows = [UNKNOWN, *BYTES, *symbols, *normal("▁a", "ab", "▁", "a", "b", "é")]
    runs = [("▁" * size, -99.0, TokenType.NORMAL) for size in (2, 3, 4)]
    return model([*rows, *runs], BYTE_FALLBACK, [(3, 1), (4, 0)])


def _normalized_model() -> bytes:
    rows = [UNKNOWN, *normal("▁a", "ab", "▁", "a", "b", "é")]
    return model(rows, BPE, [(2, charsmap({b"x": "a b", "é".encode(): ""})), (3, 1)])


FILES: dict[str, tuple[Callable[[], bytes], Callable[[bytes], bytes]]] = {
    "tiktoken": (lambda: b"\n".join([*tiktoken_lines(), b""]), _as_it_is),
    "tiktoken, CRLF": (lambda: b"= 500\r\n\r\n" + b"\r\n".join(tiktoken_lines()), _as_it_is),
    "json": (lambda: json.dumps(huggingface(), indent=0).encode(), _as_it_is),
    "gguf": (lambda: gguf(metadata()), _as_it_is),
    "gguf, SentencePiece": (_sentencepiece_gguf, _as_it_is),
    "gguf, big-endian": (lambda: gguf(metadata(pre="jina-v2-de"), order=">"), _as_it_is),
    "pretok": (_compact, _as_it_is),
    "pretok, with its CRC-32": (_compact, _summed),
    "pretok, own preset": (lambda: _compact(preset=_OWN), _summed),
    "pretok, text": (_text, _summed),
    "pretok, SentencePiece": (_sentencepiece, _summed),
    "pretok, charsmap": (_normalized, _summed),
    "pretok, unknown": (lambda: pretok_file.dump(model_of("unknown").to_spec()), _summed),
    "SentencePiece": (_model, _as_it_is),
    "SentencePiece, charsmap": (_normalized_model, _as_it_is),
    "pretok, of ranks": (lambda: pretok_file.dump(_ranks().to_spec()), _summed),
}  # fmt: skip


def _file(name: str) -> tuple[Callable[[], bytes], Callable[[bytes], bytes]]:
    return FILES[name]


def _are_same(cpp: Said, python: Said) -> bool:
    """Return whether C++ and Python read the same."""
    return cpp == python


def _are_same_gguf(cpp: Said, python: Said) -> bool:
    """Return whether C++ and Python read the same, or the tokens are text.

    A model that lacks some bytes has tokens that are text. `said_to_python` does not compare it:
    tests/compat/test_llama_cpp.py compares ids.
    """
    return cpp == python or (cpp.text is not None and python.unsupported is True)


def _are_same_json(cpp: Said, python: Said) -> bool:
    """Return whether C++ and Python read the same, or C++ is stricter.

    C++ refuses duplicate members and lone surrogates, may report another fault first, and finds no
    preset for some pre_tokenizers. `said_to_python` does not compare models whose tokens are text.
    """
    if cpp.unsupported is not None or (cpp.text is not None and python.unsupported is True):
        return True
    return cpp == python or (not cpp.preset and cpp == python._replace(preset="", unicode=""))


def _are_same_program(cpp: Said, python: Said) -> bool:
    """Return whether C++ and Python read the same, or only Python refuses the program.

    A program is the rules of a preset as 32-bit words. Python refuses programs that its own
    compiler would not write.
    """
    return cpp == python or (bool(cpp.program) and python == Said(unsupported=False))


def _are_same_model(cpp: Said, python: Said) -> bool:
    """Return whether C++ and Python read the same model, or one of them does not support it.

    `python` is the model after saving it as .pretok, which some models do not support. The merges
    that make runs of "▁" may have another order.
    """
    if cpp.unsupported is not None or python.unsupported is not None:
        return cpp.unsupported is not None or bool(python.unsupported)
    assert cpp.merges is not None
    assert python.merges is not None
    same_merges = sorted(cpp.merges) == sorted(python.merges)
    return same_merges and cpp._replace(merges=()) == python._replace(merges=())


ARE_SAME = {
    "SentencePiece": _are_same_model,
    "SentencePiece, charsmap": _are_same_model,
    "pretok, charsmap": _are_same_program,
    "pretok, unknown": _are_same_program,
    "json": _are_same_json,
    "gguf": _are_same_gguf,
    "gguf, SentencePiece": _are_same_model,
    "gguf, big-endian": _are_same_gguf,
    "pretok, own preset": _are_same_program,
    "pretok, text": _are_same_program,
    "pretok, SentencePiece": _are_same_program,
}
PLACES = {
    "pretok, own preset": 100,
    "pretok, text": 200,
    "pretok, SentencePiece": 200,
    "pretok, charsmap": 600,
    "pretok, unknown": 200,
    "SentencePiece, charsmap": 200,
}
"""The number of places where each of these files is damaged. Other files are damaged in 400 places,
and with FULL each file in all places."""


def _is_useful(said: Said) -> bool:
    """Return whether the vocabulary that was read encodes a text.

    Huge ids are not tried, because their tables take long to build.
    """
    assert said.tokens is not None
    if max(said.tokens) > 1 << 12 or said.text is not None:
        return True
    vocabulary = Vocabulary(said.tokens, said.merges, said.ignore_merges)
    added = [AddedToken(*token) for token in said.added]
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=added)
    text = TEXTS[1]
    return tokenizer.decode(tokenizer.encode(text, "text")) == text


@pytest.mark.parametrize("name", FILES)
def test_cut_off_anywhere(name: str, native: BackendName) -> None:
    make, mended = _file(name)
    data = make()
    whole = said_to_python(data)
    assert whole.tokens is not None
    are_same = ARE_SAME.get(name, _are_same)
    assert are_same(said_to_cpp(data), whole)
    errors = 0
    ends = sample(range(len(data)), PLACES.get(name, 400))
    for end in ends:
        cut = mended(data[:end])
        said = said_to_python(cut)
        assert are_same(said_to_cpp(cut), said), end
        errors += said.unsupported is not None
    assert errors > 0.9 * len(ends)


@pytest.mark.parametrize("name", FILES)
def test_any_byte_changed(name: str, native: BackendName) -> None:
    make, mended = _file(name)
    data = make()
    some = seeded(6)
    are_same = ARE_SAME.get(name, _are_same)
    useful = errors = 0
    # survives_damage in cpp/tests/vocabulary_files.hpp changes every bit.
    for at in sample(range(len(data)), PLACES.get(name, 400)):
        for bit in range(8) if FULL else [some.randrange(8)]:
            changed = mended(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            said = said_to_python(changed)
            assert are_same(said_to_cpp(changed), said), (at, bit)
            errors += said.unsupported is not None
            if said.unsupported is None and (some.random() < 0.1 or not useful):
                assert _is_useful(said), (at, bit)
                useful += 1
    # Most bytes of these charsmaps are 0, and mean nothing.
    assert errors > (3 if "charsmap" in name else 50)
    assert useful or mended is _as_it_is
