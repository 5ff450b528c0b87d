"""tokenizer.json files whose tokens are text: ids, spans and texts equal Hugging Face's."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import SpecialTokenError, Tokenizer, UnsupportedError, VocabularyError
from bpe.characters.merger import make_merger
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from paths import shared
from pretok.machine.backend import backend as best_backend
from support import TOO_MUCH, growth, seeded
from text_models import ADDED, CASES, PARTS, STRIP, chained, check, check_decoding, file_of
from vocabulary_files import added, huggingface, write

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")


def texts(random: Random, count: int) -> Iterator[str]:
    yield from ("", " ", "▁", "  foo", "<s> a", "foo")
    for _ in range(count):
        yield "".join(random.choice(PARTS) for _ in range(random.randrange(20)))


def both(path: Path) -> list[Tokenizer]:
    """Return the tokenizer in pure Python, and in C++ if C++ can merge it."""
    loaded = [bpe.load(path, backend="python"), bpe.load(path)]
    return loaded[: 1 + (loaded[1].backend == "native")]


@pytest.mark.parametrize("case", CASES)
def test_small_files_equal_hugging_face(tmp_path: Path, case: str) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[case]))
    live = tokenizers.Tokenizer.from_file(str(path))
    random = seeded(case)
    for ours in both(path):
        for text in texts(random, 60):
            check(ours, live, text)
        known = list(ours.vocabulary.token_bytes)
        for _ in range(40):
            check_decoding(ours, live, random.choices(known, k=random.randrange(1, 12)))


@pytest.mark.parametrize("case", CASES)
def test_saved_files_equal_hugging_face(tmp_path: Path, case: str) -> None:
    ours = bpe.load(write(tmp_path / "tokenizer.json", file_of(**CASES[case])), backend="python")
    ours.save(tmp_path / "again.json")
    again = bpe.load(tmp_path / "again.json", backend="python")
    assert again == ours == pickle.loads(pickle.dumps(ours))
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "again.json"))
    for text in texts(seeded(case), 15):
        check(again, live, text)


@pytest.mark.parametrize("case", CASES)
def test_native_equals_python(tmp_path: Path, case: str) -> None:
    if best_backend() != "native":
        pytest.skip("the native backend is not built")
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[case]))
    python, native = both(path)
    random = seeded(case)
    for text in texts(random, 60):
        data = bytes(random.choice([*text.encode(), 0x80, 0xE3, 0xFF]) for _ in range(len(text)))
        for given in (text.encode() + data, data):
            assert python.tokens(given, "allow") == native.tokens(given, "allow"), given
            assert python.encode_array(given, "allow").tolist() == native.encode(given, "allow")
    batch = list(texts(random, 10))
    assert python.encode_batch(batch, "allow") == native.encode_batch(batch, "allow")
    ids, offsets = native.encode_batch_array(batch, "allow")
    assert [row.tolist() for row in np.split(ids, offsets[1:-1])] == python.encode_batch(
        batch, "allow"
    )


@pytest.mark.parametrize("name", ["llama2", "mistral03"])
def test_published_files_equal_hugging_face(name: str) -> None:
    path = shared(f"vocabs/hf/{name}.json")
    live = tokenizers.Tokenizer.from_file(str(path))
    for ours in both(path):
        for file in ("multilingual.txt", "emoji.txt", "code.txt", "whitespace.txt"):
            text = shared(f"texts/{file}").read_bytes()[:6000].decode(errors="ignore")
            check(ours, live, text)
        assert ours.encode("a", add_special_tokens=True) == live.encode("a").ids


def test_special_tokens(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES["metaspace, tokens"]))
    for ours in both(path):
        with pytest.raises(SpecialTokenError) as caught:
            ours.encode("é   a  A B")  # "A B" and the token "A b" are both normalized to "a b"
        assert (caught.value.token, caught.value.position) == ("A b", 7)
        assert 4 not in ours.encode("é A B", "text")
        assert ours.encode("x<s>y", {"<s>"}) == ours.encode("x<s>y", "allow")
        assert ours.encode("foo", "text") == [3]


def test_text_is_never_a_special_token(tmp_path: Path) -> None:
    """With ignore_merges, Hugging Face encodes a pre-token "<s>" as the special token; bpe never.

    So the expected ids are from a file in which the special tokens have names that no text has.
    """
    path = write(tmp_path / "tokenizer.json", file_of(**CASES["whole"], model_unk_token="a"))
    live = tokenizers.Tokenizer.from_file(str(path))
    file = json.loads(path.read_text(encoding="utf-8"))
    for name in ("<unk>", "<s>"):
        file["model"]["vocab"][f"{name} not in any text"] = file["model"]["vocab"].pop(name)
    without = tokenizers.Tokenizer.from_str(json.dumps({**file, "added_tokens": [ADDED[2]]}))
    live.encode_special_tokens = True
    for ours in both(path):
        for text in texts(seeded("text"), 60):
            expected = without.encode(text, add_special_tokens=False).ids
            assert ours.encode(text, "text") == expected, text
            if not any(name in text for name in ("<s>", "<unk>")):
                assert expected == live.encode(text, add_special_tokens=False).ids


def test_bytes_and_errors(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES["llama"]))
    for ours in both(path):
        ids = ours.encode(b"a\xff\xe3\x81")
        assert ours.decode_bytes(ids) == b"a\xff\xe3\x81"
        assert ours.decode(ids) == "a\ufffd\ufffd\ufffd"
        with pytest.raises(UnicodeDecodeError):
            ours.decode(ids, errors="strict")
        assert ours.token_bytes(ours.token_id("a")) == b"a"
        with pytest.raises(bpe.UnknownTokenError):
            ours.decode([999_999])


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"model_unk_token": "<other>"}, VocabularyError, "the unknown token is '<other>', which"),
        ({"model_vocab": {}, "model_merges": [], "added_tokens": []}, VocabularyError,
         "model.vocab is {}; expected at least one token"),
        ({"model_type": "Unigram"}, UnsupportedError, "model.type .* bpe reads only BPE models"),
        ({"model_type": "WordPiece"}, UnsupportedError, "bpe reads only BPE models"),
        ({"model_type": "WordLevel"}, UnsupportedError, "bpe reads only BPE models"),
        ({"normalizer": chained(STRIP), "added_tokens": [*ADDED, added(300, " ", normalized=True)],
          "model_vocab": {"<unk>": 0, "<s>": 1, "<sep>": 2, " ": 300}, "model_merges": []},
         VocabularyError, "the normalizer changes added token ' ' to an empty text"),
        ({"model_continuing_subword_prefix": "##"}, VocabularyError, "does not begin with '##'"),
        ({"model_end_of_word_suffix": "x", "model_byte_fallback": True}, UnsupportedError,
         "byte_fallback is set together with continuing_subword_prefix or end_of_word_suffix"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused(
    tmp_path: Path, changes: dict[str, Any], error: type[Exception], match: str
) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**changes))
    with pytest.raises(error, match=match):
        bpe.load(path)


def test_not_saved_in_other_formats(tmp_path: Path) -> None:
    ours = bpe.load(write(tmp_path / "tokenizer.json", file_of()), backend="python")
    with pytest.raises(UnsupportedError, match="tokens are text, not"):
        ours.save(tmp_path / "a.tiktoken")
    with pytest.raises(UnsupportedError, match="needs an unknown token and fuse_unk"):
        ours.save(tmp_path / "a.model")
    path = write(tmp_path / "bytes.json", huggingface(normalizer={"type": "NFKC"}))
    with pytest.raises(VocabularyError, match=r"cannot hold .*the normalizer NFKC; save"):
        bpe.load(path).save(tmp_path / "a.tiktoken")


def test_merging_takes_n_log_n_time() -> None:
    letters = {id: "a" * (1 << id) for id in range(16)}
    merges = [(id, id, id + 1) for id in range(15)]
    vocabulary = TextVocabulary(letters, merges, TextOptions())
    merger = make_merger(vocabulary)
    assert merger.merge(b"a" * 32769) == [15, 0]
    assert growth(lambda size: merger.merge(b"a" * size), 1_000) < TOO_MUCH
