"""Byte-level vocabularies that lack some bytes, or entries not in ByteLevel's byte characters."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken
from bpe.byte_level import to_text
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.vocabulary import ID_LIMIT
from c_library import CError, CLibrary, CTokenizer
from gguf_files import GEMMA, GEMMA_MERGES, GEMMA_TOKENS, loaded, metadata
from missing_bytes import TRAINED_ON, trained_without_bytes
from pretok.machine.backend import BackendName
from vocabulary_files import added, huggingface, write

TEXTS = ["", "hello there", "hello Zorro", "Z", "ZZ hello Z", "h\u00e9\u4e2d\U0001f600llo",
         "heZllo", "hZ\u00e9l\u00e9", "wor\tld", "  \n\t hello\x00world"]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [{}, {"unk_token": "<unk>"}, {"unk_token": "<unk>", "fuse_unk": True}, {"ignore_merges": True}],
    ids=["dropped", "unknown", "fused", "whole"],
)
def test_bytes_that_training_never_saw(
    tmp_path: Path, backend: BackendName, options: dict[str, Any]
) -> None:
    path = tmp_path / "tokenizer.json"
    theirs = trained_without_bytes(path, **options)
    ours = bpe.load(path, backend=None if "ignore_merges" in options else backend)
    for text in TEXTS:
        expected = theirs.encode(text)
        assert ours.encode(text) == expected.ids, text
        spans = [(token.start, token.end) for token in ours.tokens(text)]
        assert spans == expected.offsets, text
        decoded = theirs.decode(expected.ids, skip_special_tokens=False)
        assert ours.decode(expected.ids) == decoded
    rows = [theirs.encode(text).ids for text in TEXTS]
    assert ours.encode_batch(TEXTS) == rows
    ids, offsets = ours.encode_batch_array(TEXTS)
    assert ids.tolist() == [id for row in rows for id in row]
    assert np.diff(offsets).tolist() == list(map(len, rows))
    ours.save(tmp_path / "again.json")
    assert bpe.load(tmp_path / "again.json") == ours == pickle.loads(pickle.dumps(ours))


def test_a_merge_that_does_not_concatenate_its_tokens(backend: BackendName) -> None:
    texts = {0: "a", 1: "b", 2: "c"}
    vocabulary = TextVocabulary(texts, [(0, 1, 2)], TextOptions(byte_level=True))
    assert bpe.Tokenizer(vocabulary, "gpt2", backend=backend).encode("ab!a") == [2, 0]


ONLY_AB = TextVocabulary({0: "a", 1: "b", 2: "ab"}, [(0, 1, 2)], TextOptions(byte_level=True))


@pytest.mark.parametrize("id", [3, 4, 258, 1 << 20])
def test_an_added_token_beside_missing_bytes(backend: BackendName, id: int) -> None:
    tok = bpe.Tokenizer(ONLY_AB, "gpt2", added_tokens=[AddedToken("<s>", id)], backend=backend)
    for text in ("ab<s>a", "ab!<s>a"):
        assert tok.encode(text, "allow") == [2, id, 0]
        assert tok.encode_batch([text], "allow") == [[2, id, 0]]
    tok.trim()
    assert tok.encode("ab!<s>a", "allow") == [2, id, 0]


def test_an_added_token_with_the_largest_id(backend: BackendName) -> None:
    for id in (ID_LIMIT - 1, ID_LIMIT - 256, ID_LIMIT - 257):
        added_tokens = [AddedToken("<s>", id)]
        tok = bpe.Tokenizer(ONLY_AB, "gpt2", added_tokens=added_tokens, backend=backend)
        assert tok.encode_batch(["ab!<s>a", "", "a"], "allow") == [[2, id, 0], [], [0]]
        assert tok.decode([2, id]) == "ab<s>"


def test_fallback_tokens_among_the_special_tokens(tmp_path: Path) -> None:
    """Hugging Face's trainer takes fallback tokens only as special tokens."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=True, unk_token="<unk>"))
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    theirs.decoder = tokenizers.decoders.Sequence(
        [tokenizers.decoders.ByteFallback(), tokenizers.decoders.Fuse()]
    )
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<unk>", *names], show_progress=False
    )
    theirs.train_from_iterator(TRAINED_ON, trainer)
    theirs.save(str(tmp_path / "tokenizer.json"))
    ours = bpe.load(tmp_path / "tokenizer.json")
    for text in (*TEXTS, "<0x41>hello<unk>", "\x00"):
        expected = theirs.encode(text)
        assert ours.encode(text, "allow") == expected.ids, text
        assert [
            (token.start, token.end) for token in ours.tokens(text, "allow")
        ] == expected.offsets
        assert ours.decode(expected.ids) == theirs.decode(expected.ids, skip_special_tokens=False)
    ours.save(tmp_path / "again.json")
    assert bpe.load(tmp_path / "again.json") == ours


def test_byte_fallback_without_fallback_tokens_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    theirs = trained_without_bytes(path, byte_fallback=True, unk_token="<unk>")
    ours = bpe.load(path)
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text).ids, text
    ours.save(tmp_path / "again.json")
    assert bpe.load(tmp_path / "again.json") == ours


@pytest.mark.parametrize(
    ("vocab", "ignore_merges"),
    [
        ({"\u4e2d": 300}, True),  # a whole pre-token, but not in the characters of its bytes
        ({" ": 32, to_text(b" "): 300}, False),
        ({"\x01": 1, to_text(b"\x01"): 300}, False),
        ({"\u200d": 256, to_text(b"ab"): 300}, False),
    ],
)
def test_entries_that_are_not_written_as_bytes(
    tmp_path: Path, vocab: dict[str, int], ignore_merges: bool
) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    entries = huggingface()["model"]["vocab"] | vocab
    changes = {"model_vocab": entries, "model_ignore_merges": ignore_merges}
    path = write(tmp_path / "tokenizer.json", huggingface(added_tokens=[], **changes))
    theirs = tokenizers.Tokenizer.from_file(str(path))
    ours = bpe.load(path)
    for text in (*TEXTS, "\u4e2d", "a\u200db", "ab ab", " ", "\x01"):
        assert ours.encode(text) == theirs.encode(text).ids, text
    everything = list(range(256))
    assert ours.decode(everything) == theirs.decode(everything, skip_special_tokens=False)


def test_an_entry_with_the_bytes_of_a_merge(tmp_path: Path, backend: BackendName) -> None:
    """Command-R has the entry U+200D with a lower id than the token of the bytes E2 80 8D.

    Encoding gives only the token of the bytes. Both ids decode to U+200D.
    """
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    two, three = to_text(b"\xe2\x80"), to_text(b"\xe2\x80\x8d")
    file = huggingface(added_tokens=[added(400, "<|end|>")])
    entries, merges = file["model"]["vocab"], file["model"]["merges"]
    entries |= {"\u200d": 300, two: 301, three: 302, "<|end|>": 400}
    merges += [[to_text(b"\xe2"), to_text(b"\x80")], [two, to_text(b"\x8d")]]
    path = write(tmp_path / "tokenizer.json", file)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    ours = bpe.load(path, backend=backend)
    assert not isinstance(ours.vocabulary, TextVocabulary)
    for text in (*TEXTS, "\u200d", "a\u200db\u200d"):
        assert ours.encode(text) == theirs.encode(text).ids, text
    assert ours.decode([300, 302]) == theirs.decode([300, 302]) == "\u200d\u200d"
    assert ours.token_id("\u200d") == 302
    ours.save(tmp_path / "again.json")
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "again.json"))
    assert again.get_vocab()["\u200d"] == 300
    assert bpe.load(tmp_path / "again.json", backend=backend) == ours
    ours.save(tmp_path / "again.pretok")
    assert bpe.load(tmp_path / "again.pretok", backend=backend).encode("\u200d") == [302]


def test_gguf_without_some_bytes(tmp_path: Path, c_library: CLibrary) -> None:
    """Falcon's file lacks control characters. bpe drops them, as llama.cpp and Hugging Face do."""
    listed = metadata()
    tokens = listed["tokenizer.ggml.tokens"]
    tokens[tokens.index(to_text(b"\x01"))] = "<unused>"
    ours = loaded(tmp_path, tokens=tokens)
    assert ours.encode("the\x01 ab") == loaded(tmp_path).encode("the ab")
    assert ours.decode(ours.encode("the\x01 ab")) == "the ab"
    loaded(tmp_path, tokens=tokens)
    in_c = CTokenizer(c_library, tmp_path / "small.gguf")
    assert in_c.encode(b"the\x01 ab") == ours.encode("the ab")
    assert in_c.decode(ours.encode("the ab")) == b"the ab"


def _gemma4(tmp_path: Path, **changes: Any) -> bpe.Tokenizer:
    return loaded(tmp_path, **{**GEMMA, **changes})


@pytest.mark.parametrize(
    "changes", [{}, {"model": "gpt2", "pre": "gemma4"}, {"model": "gpt2", "pre": "sarvam-moe"}]
)
def test_gguf_with_merges_of_characters(
    tmp_path: Path, changes: dict[str, Any], c_library: CLibrary
) -> None:
    ours = _gemma4(tmp_path, **changes)
    ids = {text: id for id, text in enumerate(GEMMA_TOKENS)}
    expected = [ids[text] for text in ("ab", "\u2581a", "\n\n", "\n", "a", "<0xC3>", "<0xA9>")]
    text = "ab a\n\n\na\u00e9"
    assert ours.encode(text) == expected
    assert ours.encode(text, add_special_tokens=True) == [0, *expected]
    assert ours.decode(expected) == text
    in_c = CTokenizer(c_library, tmp_path / "small.gguf")
    assert in_c.encode(text.encode()) == expected
    assert in_c.decode(expected) == text.encode()
    # llama.cpp takes a false add_bos_token of Gemma 4 for a mistake of the converter.
    ids_around = _gemma4(tmp_path, add_bos_token=False, **changes).template.before
    assert ids_around == (() if "sarvam-moe" in changes.values() else (0,))
    in_c = CTokenizer(c_library, tmp_path / "small.gguf")
    assert in_c.encode(b"a", template=True) == [*ids_around, ids["a"]]


def test_gguf_with_line_breaks_that_llama_cpp_does_not_merge(
    tmp_path: Path, c_library: CLibrary
) -> None:
    for tokens, merges, message in (
        ([*GEMMA_TOKENS, "a\n"], [*GEMMA_MERGES, "a \n"], "has a line break and other characters"),
        ([*GEMMA_TOKENS, "\n\n\n"], GEMMA_MERGES, "but the merges make other tokens of it"),
    ):
        with pytest.raises(bpe.UnsupportedError, match=message):
            _gemma4(tmp_path, tokens=tokens, merges=merges,
                    token_type=[3, 3, *[6] * 256, *[1] * 9])  # fmt: skip
        with pytest.raises(CError, match=rf"unsupported: .*{message[:22]}"):
            CTokenizer(c_library, tmp_path / "small.gguf")
