"""GGUF files with SentencePiece's BPE, which have tokenizer.ggml.model = "llama"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import SpecialTokenError, UnsupportedError, VocabularyError
from bpe.formats.file_spec import FileSpec
from gguf_files import GEMMA, SCORES, TYPES, gguf, metadata, sentencepiece_metadata
from gguf_files import SENTENCEPIECE_TEXTS as TEXTS
from native_models import said_to_cpp
from pretok.machine.backend import BackendName
from same_tokenizers import assert_same
from vocabulary_files import write


def small(folder: Path, *, backend: BackendName = "python", **changes: Any) -> bpe.Tokenizer:
    """Load a file with `changes`, the arguments of sentencepiece_metadata."""
    path = write(folder / "small.gguf", gguf(sentencepiece_metadata(**changes)))
    return bpe.load(path, backend=backend)


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
    "values",
    [
        sentencepiece_metadata(),
        sentencepiece_metadata(add_space_prefix=False, add_eos_token=True),
        metadata(**GEMMA),
        metadata(**{**GEMMA, "model": "gpt2", "pre": "sarvam-moe"}),
        metadata(tokens=["<unused>", *metadata()["tokenizer.ggml.tokens"][1:]]),
    ],
    ids=["pieces", "no prefix", "gemma4", "sarvam-moe", "missing byte"],
)
def test_both_backends_load_the_same(
    values: dict[str, Any], tmp_path: Path, native: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "small.gguf", gguf(values))
    tok = bpe.load(path)
    assert isinstance(tok._spec, FileSpec)  # C++ has read the file
    monkeypatch.setattr("bpe.formats.gguf.read_native", lambda _: None)
    assert_same(tok, bpe.load(path, backend="python"))


def test_merges_never_make_special_tokens(tmp_path: Path, backend: BackendName) -> None:
    """llama.cpp merges "<s" and ">" to the control token, also without parse_special."""
    texts = [*TEXTS, "<", "s", ">", "<s"]
    types, scores = [*TYPES, *[1] * 4], [*SCORES, *[-5.0] * 4]
    tok = small(tmp_path, backend=backend, texts=texts, types=types, scores=scores)
    mark, less_s, greater = 258, len(TEXTS) + 3, len(TEXTS) + 2
    assert tok.encode("<s>", "text") == [mark, less_s, greater]
    assert tok.encode("<s>", "allow") == [1]


def test_user_defined_tokens_have_no_scores(tmp_path: Path, backend: BackendName) -> None:
    """Padded files give every added token the score -1000, which also a piece may have."""
    texts = [*TEXTS, "<pad>", "[PAD1]", "aa", "cc", "bb", "<x>", "▁▁", "\n"]
    types = [*TYPES, 4, 5, 1, 1, 4, 1, 4, 4]
    tok = small(
        tmp_path, backend=backend, texts=texts, types=types, scores=[*SCORES, *[-1000.0] * 8]
    )
    mark, a, b, c, mark_a, ab, bc, user = range(258, 266)
    pad, pad1, aa, cc, bb, x, marks, line = range(len(TEXTS), len(TEXTS) + 8)
    assert tok.encode("a<pad>aacc", "text") == [mark_a, pad, mark_a, a, cc]
    assert tok.encode("caaacc") == [mark, c, aa, a, cc]
    assert tok.encode("bbb") == [bb, mark, b]
    assert tok.encode("b  c\n") == [mark, b, marks, c, line]
    assert tok.encode("  ▁▁") == [marks, mark, marks]
    assert {pad1, x, user, ab, bc}.isdisjoint(tok.encode("[PAD1]<x>"))


def test_most_added_tokens_of_phi_3_strip_spaces(tmp_path: Path, backend: BackendName) -> None:
    values = sentencepiece_metadata() | {"general.name": "Phi-3 mini"}
    tok = bpe.load(write(tmp_path / "phi.gguf", gguf(values)), backend=backend)
    assert {token.content for token in tok.added_tokens if token.rstrip} == {"<user>"}
    mark_a, user = 262, 265
    assert tok.encode("a<user> \n a") == [mark_a, user, mark_a]


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"texts": [*TEXTS[:2], "x", *TEXTS[3:]]}, VocabularyError, "tokens lack '<0x00>'"),
        ({"types": [2, 3, *[6] * 258, *TYPES[260:]]}, VocabularyError, "include other tokens"),
        ({"scores": SCORES[:-1]}, VocabularyError, "scores is .*; expected 267 numbers"),
        ({"scores": [0] * 267, "kind": "int32"}, VocabularyError, "scores is .*; expected 267"),
        ({"scores": [float("nan")] * 267}, VocabularyError, "has the score NaN"),
        ({"texts": ["<unk>", "\x02", *TEXTS[2:]]}, UnsupportedError, "of one character"),
        ({"texts": [*TEXTS[:-1], "x" * 4097]}, VocabularyError, "has 4097 characters"),
        ({"texts": [*TEXTS[:-1], "a"]}, VocabularyError, "has 'a' twice"),
        ({"types": [9, *TYPES[1:]]}, VocabularyError, "a number from 0 to 6"),
    ],
)
def test_wrong_files_are_refused(
    tmp_path: Path,
    changes: dict[str, Any],
    error: type[Exception],
    match: str,
    native: BackendName,
) -> None:
    with pytest.raises(error, match=match):
        small(tmp_path, **changes)
    said = said_to_cpp(gguf(sentencepiece_metadata(**changes)))
    assert said.unsupported == (error is UnsupportedError)
