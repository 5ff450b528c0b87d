"""Added tokens get the ids that Hugging Face's tokenizers gives them, whatever the file says."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import bpe
from bpe import BpeError, UnsupportedError, VocabularyError, VocabularyWarning
from pretok.machine.backend import BackendName
from random_added_tokens import load_quietly, random_file, random_texts, refusal
from support import max_examples, seeded
from vocabulary_files import added, huggingface, write

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")


@pytest.mark.parametrize("seed", range(4))
def test_random_lists(seed: int, tmp_path: Path, backend: BackendName) -> None:
    random = seeded(f"added token ids {seed}")
    loaded = 0
    for _ in range(max_examples(60)):
        file = random_file(random)
        path = write(tmp_path / "tokenizer.json", file)
        live = tokenizers.Tokenizer.from_file(str(path))
        if refusal(file):
            with pytest.raises(BpeError, match=refusal(file)):
                load_quietly(path, backend)
            continue
        ours = load_quietly(path, backend)
        loaded += 1
        decoder = live.get_added_tokens_decoder()
        assert {token.id: token.content for token in ours.added_tokens} == {
            id: token.content for id, token in decoder.items()
        }
        if "<gap>" not in file["model"]["vocab"]:
            assert ours.vocab_size == live.get_vocab_size()
        for token in ours.added_tokens:
            assert ours.token_id(token.content) == live.token_to_id(token.content)
            assert ours.decode([token.id]) == live.decode([token.id], skip_special_tokens=False)
        ours.save(tmp_path / "again.pretok")
        again = bpe.load(tmp_path / "again.pretok", backend=backend)
        assert again == ours
        for text in random_texts(random):
            ids = live.encode(text, add_special_tokens=False).ids
            assert ours.encode(text, "allow") == again.encode(text, "allow") == ids, (file, text)
            assert ours.decode(ids) == live.decode(ids, skip_special_tokens=False)
            assert ours.decode(ids, skip_special=True) == live.decode(ids)
    assert loaded > 20


def test_a_warning_names_token_and_ids(tmp_path: Path) -> None:
    """A published model lists "<pad>" with an id that a token of the model has."""
    tokens = [added(264, "<|end|>"), added(1, "<pad>"), added(300, "<a>")]
    path = write(tmp_path / "tokenizer.json", huggingface(added_tokens=tokens))
    with pytest.warns(
        VocabularyWarning, match="'<pad>' has the id 265, not 1, '<a>' .* 266, not 300"
    ):
        ours = bpe.load(path)
    live = tokenizers.Tokenizer.from_file(str(path))
    assert ours.special_tokens == {"<|end|>": 264, "<pad>": 265, "<a>": 266}
    assert live.token_to_id("<pad>") == 265
    ours.save(tmp_path / "again.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bpe.load(tmp_path / "again.json") == ours


def test_flags_that_differ_are_refused(tmp_path: Path) -> None:
    tokens = [added(264, "<x>"), added(265, "<x>", special=False)]
    path = write(tmp_path / "tokenizer.json", huggingface(added_tokens=tokens))
    with pytest.raises(UnsupportedError, match=r"added_tokens has '<x>' twice, with different"):
        bpe.load(path)


def test_a_token_for_another_byte(backend: BackendName) -> None:
    """An added token may have the id of its text in a byte-level file, but of no other token."""
    bytes_only = bpe.Vocabulary({id: bytes([id]) for id in range(256)}, [])
    ours = bpe.Tokenizer(
        bytes_only, "gpt2", added_tokens=[bpe.AddedToken("é", 0xE9)], backend=backend
    )
    assert ours.encode("aé", "allow") == [97, 0xE9]
    assert ours.encode("aé", "text") == [97, 0xC3, 0xA9]
    assert ours.decode_bytes([97, 0xE9]) == b"a\xe9"
    with pytest.raises(VocabularyError, match=r"has id 200, which is the id of b'\\xc8'"):
        bpe.Tokenizer(bytes_only, "gpt2", added_tokens=[bpe.AddedToken("é", 200)])
