"""CLIP's file of merges, bpe_simple_vocab_16e6.txt.gz."""

from __future__ import annotations

import gzip
import json
import pickle
import unicodedata
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

import bpe
import simple_tokenizer
from bpe import UnsupportedError, VocabularyError
from bpe.formats import clip
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.machine.backend import BackendName
from simple_tokenizer import SimpleTokenizer
from support import max_examples, seeded
from text_models import SENTENCES

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

WORDS = [
    *"aAéßIİ日ΣςΟ!'3ſ\u0345\u0387·’", "the", "Hello", "don't", "'S", "'ſ", "'LL", "  ", "\n\t",
    "e\u0301",     "\x1c", "\u3000", "\u200b", "\u00ad", "ΟΔΟΣ", "Σ.", "&amp;",
]  # fmt: skip
SPECIALS = [
    "<|startoftext|>", "<|endoftext|>", "<|STARTOFTEXT|>", "<|ſtartoftext|>", "<|EndOfText|>", "<|",
    "|>", "<", "|", "startoftext", "<start_of_text>", "<ſtart_of_text>", "<END_OF_TEXT>",
]  # fmt: skip


@cache
def merges() -> list[str]:
    """Return merges that Hugging Face's trainer finds with end_of_word_suffix."""
    live = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix=clip.END_OF_WORD))
    live.normalizer = tokenizers.normalizers.Lowercase()
    live.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(clip.PATTERN), "removed", invert=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, end_of_word_suffix=clip.END_OF_WORD, show_progress=False
    )
    live.train_from_iterator(SENTENCES, trainer)
    return [" ".join(merge) for merge in json.loads(live.to_str())["model"]["merges"]]


def text_of(lines: list[str]) -> bytes:
    return "\n".join([clip.FIRST_LINE + ": 0.2", *lines, ""]).encode()


def packed(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data))
    return path


def test_ids(tmp_path: Path) -> None:
    """The ids are, in order: the characters of bytes, each with </w>, merges, special tokens."""
    lines = merges()
    ours = bpe.load(packed(tmp_path / "vocab.txt.gz", text_of(lines)), backend="python")
    chars = sorted(BYTE_CHARACTERS)
    names = [*chars, *(char + "</w>" for char in chars), *(line.replace(" ", "") for line in lines)]
    assert ours.special_tokens == {
        "<|startoftext|>": len(names),
        "<|endoftext|>": len(names) + 1,
    }
    assert "the</w>" in names
    assert ours.encode("  THE the3\n") == [names.index(x) for x in ("the</w>", "the</w>", "3</w>")]
    assert ours.decode(ours.encode("The 日")) == "the 日 "
    assert ours.encode("a", add_special_tokens=True) == [
        len(names), names.index("a</w>"), len(names) + 1
    ]  # fmt: skip
    ids = {"<start_of_text>": len(names), "<end_of_text>": len(names) + 1}  # open_clip 3's names
    renamed = bpe.load(tmp_path / "vocab.txt.gz", special_tokens=ids, backend="python")
    assert renamed.special_tokens == ids
    plain = tmp_path / "vocab.txt"
    plain.write_bytes(text_of(lines))
    assert bpe.load(plain, backend="python") == ours


def compare(path: Path, theirs: SimpleTokenizer, backend: BackendName, seed: str) -> None:
    """Compare ids, texts and spans of random texts."""
    ids_of = {name: theirs.ids[name] for name in theirs.special}
    ours = bpe.load(path, special_tokens=ids_of, backend=backend)
    random = seeded(seed)
    chars = hostile_chars()
    for _ in range(max_examples(400)):
        kinds = random.choices((WORDS, SPECIALS, chars), weights=(4, 3, 3), k=random.randrange(9))
        text = "".join(map(random.choice, kinds))
        ids = theirs.encode(text)
        assert ours.encode(text, "allow") == ids, ascii(text)
        assert ours.decode(ids) == theirs.decode(ids), ascii(text)
        tokens = ours.tokens(text, "allow")
        assert [token.id for token in tokens] == ids
        assert all(0 <= token.start <= token.end <= len(text) for token in tokens)


@cache
def hostile_chars() -> list[str]:
    """Return cased characters, marks, and others whose class all versions of Unicode agree on."""
    old = unicodedata.ucd_3_2_0  # Unicode 3.2: no later version changed the class of a character
    alike = [char for char in map(chr, range(0x110000)) if old.category(char) not in ("Cn", "Cs")]
    cased = [char for char in alike if char.lower() != char.upper()]
    marks = [char for char in alike if unicodedata.category(char).startswith("M")]
    return cased * 6 + marks * 4 + alike


@pytest.mark.parametrize("names", [simple_tokenizer.SPECIAL, ("<start_of_text>", "<end_of_text>")])
def test_ids_and_texts_equal_simple_tokenizer(
    tmp_path: Path, backend: BackendName, names: tuple[str, str]
) -> None:
    data = text_of(merges())
    theirs = SimpleTokenizer(data, names)
    path = packed(tmp_path / "vocab.txt.gz", data)
    compare(path, theirs, backend, f"clip {names}")


def test_the_published_file(backend: BackendName) -> None:
    path = published()
    theirs = SimpleTokenizer(gzip.decompress(path.read_bytes()))
    compare(path, theirs, backend, "published clip")
    # open_clip's and OpenAI's own test text
    text = "a photo of a cat; Hello, World! It's 10°C"
    assert bpe.load(path, backend=backend).encode(text) == theirs.encode(text)


def published() -> Path:
    """Return the file of an installed package, or skip the test."""
    for package in ("open_clip_torch", "clip-anytorch", "openai-clip"):
        try:
            listed = files(package) or []
        except PackageNotFoundError:
            continue
        for file in listed:
            if file.name == "bpe_simple_vocab_16e6.txt.gz":
                return Path(str(file.locate()))
    pytest.skip("no package with the vocabulary of CLIP is installed")


# Texts whose ids differ between SimpleTokenizer and CLIP's tokenizer.json.
@pytest.mark.parametrize(
    "text",
    [
        "ΟΔΟΣ", "ΟΔΟΣ ΣΑΣ.", "ΑΣ\u0301", "Σ", "'ſ", "don'ſ", "a\u0345b", "!\u0345!", "\u0345",
        "!<|endoftext|>", "a<|endoftext|>", "1<|endoftext|>b", ".<|endoftext|><|endoftext|>",
        "<|endoftext|>!<|endoftext|>", "<|ſtartoftext|><|endoftext|>",
        "!<|ſtartoftext|><|endoftext|>",
        "<|ENDOFTEXT|>", "<<|endoftext|>", "\u0345<|endoftext|>", "\x1ca\x1cb\x1c",
        "e\u0301", "İ", "\u212a", "\x1c<|endoftext|>",
    ],
)  # fmt: skip
def test_special_cases(tmp_path: Path, backend: BackendName, text: str) -> None:
    data = text_of(merges())
    ours = bpe.load(packed(tmp_path / "vocab.txt.gz", data), backend=backend)
    assert ours.encode(text, "allow") == SimpleTokenizer(data).encode(text)


def test_special_tokens_are_those_of_simple_tokenizer(tmp_path: Path, backend: BackendName) -> None:
    """A text holds a special token only where SimpleTokenizer finds one."""
    ours = bpe.load(packed(tmp_path / "vocab.txt.gz", text_of(merges())), backend=backend)
    assert ours.encode("!<|endoftext|>") == ours.encode("!<|endoftext|>", "text")
    with pytest.raises(bpe.SpecialTokenError) as caught:
        ours.encode("a <|ENDOFTEXT|>")
    assert caught.value.position == 2
    assert ours.encode("<|endoftext|>", "text") == ours.encode("<| endoftext |>")


def test_equality_and_pickle(tmp_path: Path) -> None:
    ours = bpe.load(packed(tmp_path / "vocab.txt.gz", text_of(merges())))
    assert pickle.loads(pickle.dumps(ours)) == ours
    for suffix in (".json", ".pretok", ".model", ".tiktoken"):
        with pytest.raises((UnsupportedError, VocabularyError), match=r"cannot|needs|splits"):
            ours.save(tmp_path / f"a{suffix}")


def test_lines_after_the_last_merge_of_clip_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip, "MERGES", 3)
    path = packed(tmp_path / "vocab.txt.gz", text_of(["a b", "ab c", "c d", "d"]))
    ours = bpe.load(path, backend="python")
    assert ours.special_tokens["<|startoftext|>"] == 515


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (gzip.compress(b"\x80\x03a b", mtime=0), UnsupportedError, "this is a pickle"),
        (gzip.compress(b"GGUF", mtime=0), UnsupportedError, "GGUF file packed with gzip; unpack"),
        (
            gzip.compress(text_of(["a b"]), mtime=0)[:-9],
            VocabularyError,
            "gzip file is damaged or trunc",
        ),
        (b"\x1f\x8bxxxx", VocabularyError, "gzip file is damaged or truncated"),
        (text_of(["a b", "a"]), VocabularyError, "line 3 is 'a'; expected two tokens with a sp"),
        (text_of(["a bc"]), VocabularyError, r"merges 'a' and 'bc', but .* no token 'bc'"),
        (text_of(["a b"])[:-1] + b"\xff", VocabularyError, "line 2 is not UTF-8"),
    ],
    ids=["pickle", "GGUF", "truncated", "damaged", "one token", "unknown token", "not UTF-8"],
)
def test_damaged(tmp_path: Path, data: bytes, error: type[Exception], match: str) -> None:
    path = tmp_path / "vocab.gz"
    path.write_bytes(data)
    with pytest.raises(error, match=match):
        bpe.load(path)


def test_size_is_bounded(tmp_path: Path) -> None:
    bomb = text_of(["a b"]) + bytes(1 << 22)
    with pytest.raises(VocabularyError, match=r"holds more than 1,\d{3},\d{3} bytes"):
        bpe.load(packed(tmp_path / "vocab.gz", bomb))
