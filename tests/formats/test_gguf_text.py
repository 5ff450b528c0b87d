"""GGUF files with SentencePiece's BPE, which have tokenizer.ggml.model = "llama"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bpe import SpecialTokenError, UnsupportedError, VocabularyError
from bpe.characters.text_vocabulary import BYTE_NAMES
from gguf_files import Typed, loaded
from pretok.machine.backend import BackendName

TEXTS = ["<unk>", "<s>", *BYTE_NAMES, *"▁abc", "▁a", "ab", "bc", "<user>", "abc"]
TYPES = [2, 3, *[6] * 256, *[1] * 7, 4, 5]
SCORES = [0.0] * 262 + [-1.0, -3.0, -2.0, 0.0, -4.0]


def small(
    folder: Path,
    texts: list[str] = TEXTS,
    types: list[int] = TYPES,
    scores: list[Any] = SCORES,
    kind: str = "float32",
    **changes: Any,
) -> Any:
    """Load a file with these tokens; `changes` are other keys of tokenizer.ggml."""
    tokens: dict[str, Any] = {
        "model": "llama", "pre": "default", "tokens": texts, "token_type": types, "merges": ...,
        "scores": Typed("array", scores, kind), "bos_token_id": 1, "add_bos_token": ...,
        "eos_token_id": 1,
    }  # fmt: skip
    return loaded(folder, **{**tokens, **changes})


def test_encodes_as_llama_cpp(tmp_path: Path, backend: BackendName) -> None:
    tok = small(tmp_path, backend=backend)
    mark, a, b, c, mark_a, ab, bc, user, abc = range(258, 267)
    assert tok.encode("abc bc", "text") == [mark_a, bc, mark, bc]
    assert tok.encode(" c") == [mark, mark, c]
    assert tok.encode("\n") == [mark, 2 + ord("\n")]
    assert tok.encode("a<user>b") == [mark_a, user, mark, b]
    assert tok.encode("a<s>", "allow", add_special_tokens=True) == [1, mark_a, 1]
    with pytest.raises(SpecialTokenError):
        tok.encode("<s>")
    assert tok.decode([mark_a, 2 + 0xE9, abc]) == "a\ufffdabc"
    assert tok.decode_bytes([2 + 0xE9, ab]) == b"\xe9ab"
    bare = small(tmp_path, backend=backend, add_space_prefix=False)
    assert bare.encode("a ab") == [a, mark_a, b]
    assert bare.decode([mark_a]) == " a"


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"texts": [*TEXTS[:2], "x", *TEXTS[3:]]}, VocabularyError, "tokens lack '<0x00>'"),
        ({"types": [2, 3, *[6] * 258, *TYPES[260:]]}, VocabularyError, "include other tokens"),
        ({"scores": SCORES[:-1]}, VocabularyError, "scores is .*; expected 267 numbers"),
        ({"scores": [0] * 267, "kind": "int32"}, VocabularyError, "scores is .*; expected 267"),
        ({"scores": [float("nan")] * 267}, VocabularyError, "has the score NaN"),
        ({"texts": [*TEXTS[:-1], "<s"]}, UnsupportedError, "'<s>', which is a special token"),
        ({"texts": [*TEXTS[:-1], "x" * 4097]}, VocabularyError, "has 4097 characters"),
        ({"texts": [*TEXTS[:-1], "a"]}, VocabularyError, "has 'a' twice"),
        ({"types": [9, *TYPES[1:]]}, VocabularyError, "a number from 0 to 6"),
    ],
)
def test_wrong_files_are_refused(
    tmp_path: Path, changes: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        small(tmp_path, **changes)
