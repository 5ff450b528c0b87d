""".pretok files: saved tokenizers load again, files are small, and damage is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import bpe
import pretok
from bpe import AddedToken, Tokenizer, UnsupportedError, Vocabulary, VocabularyError
from bpe.formats import native_readers, pretok_file
from bpe.normalizers.chain import NFC
from bpe.types import Template
from native_models import said_to_cpp
from paths import shared
from pre_tokenizer_json import byte_level, sequence, split
from pretok import Preset, Run
from pretok.charsets import LETTER
from pretok.machine.backend import BackendName
from pretok.preset import ENGINES, Engine
from text_pretok_files import summed
from vocabulary_files import TEXTS, huggingface, made, made_vocabulary, write

FLAGS = {"normalized": True, "lstrip": True, "rstrip": True, "single_word": True}
TOKENIZERS: dict[str, dict[str, Any]] = {
    "merges": {},
    "ranks": {"vocabulary": Vocabulary(made_vocabulary().token_bytes)},
    "looked up whole": {
        "vocabulary": Vocabulary(made_vocabulary().token_bytes, made_vocabulary().merges, True)
    },
    "bytes in another order": {"vocabulary": made_vocabulary(byte_ids=reversed(range(256)))},
    "no merges": {"vocabulary": made_vocabulary(())},
    "normalizer": {"normalizer": "NFC", "add_prefix_space": True, "preset": "gpt2"},
    "template": {"template": Template((300, 97), (300,))},
    "another Unicode version": {"preset": pretok.get("llama3", "17.0")},
    "spans without white space": {"trim_offsets": (True,)},
    "spans without any white space": {"trim_offsets": (False,), "normalizer": "NFC"},
    "no added tokens": {"added_tokens": []},
    "added tokens": {
        "added_tokens": [
            AddedToken("<|a|>", 300),
            AddedToken("é b", 301, special=False, **FLAGS),
            AddedToken("ab", 256, special=False),
            AddedToken("<|again|>", 300),
        ]
    },
}


def _load(data: bytes, backend: BackendName) -> Tokenizer:
    """Return the tokenizer of a file. `backend` reads the tokens of the file, and encodes."""
    with patch.object(native_readers, "backend", lambda: backend):
        contents = pretok_file.parse(data)
    assert contents.preset is not None
    return Tokenizer(
        contents.vocabulary,
        pretok.get(contents.preset, contents.unicode, backend),
        added_tokens=contents.added_tokens,
        normalizer=contents.normalizer,
        add_prefix_space=contents.add_prefix_space,
        template=contents.template,
        trim_offsets=contents.trim_offsets,
        backend=backend,
    )


@pytest.mark.parametrize("name", TOKENIZERS)
def test_saved_tokenizers_are_loaded(name: str, backend: BackendName, tmp_path: Path) -> None:
    tokenizer = made(backend, **TOKENIZERS[name])
    path = tmp_path / "small.pretok"
    tokenizer.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["small.pretok"]
    loaded = bpe.load(path, backend=backend)
    assert loaded == tokenizer
    assert _load(path.read_bytes(), backend) == tokenizer
    assert loaded.added_tokens == tokenizer.added_tokens
    for text in TEXTS if name != "added tokens" else ():  # finding words is slow in Python
        assert loaded.encode(text, "allow") == tokenizer.encode(text, "allow")
    loaded.save(path.with_name("again.pretok"))
    assert path.with_name("again.pretok").read_bytes() == path.read_bytes()


def test_arguments_override_the_file(tmp_path: Path) -> None:
    path = tmp_path / "small.pretok"
    made().save(path)
    loaded = bpe.load(path, "gpt2", {"<|more|>": 301}, normalizer="NFC")
    assert loaded.preset == pretok.get("gpt2").preset
    assert loaded.special_tokens == {"<|end|>": 300, "<|more|>": 301}
    assert loaded.normalizer == NFC


def _vocabularies() -> dict[str, Vocabulary]:
    tokens = made_vocabulary().token_bytes
    a, b, c, ab, abc = 97, 98, 99, 256, 258
    long = {256: b"a" * 128, 257: b"a" * 127, 258: b"a" * 255, 259: b"a" * 383}
    single = {byte: bytes([byte]) for byte in range(256)}
    bc = {**single, 256: b"ab", 257: b"bc", 258: b"abc"}
    return {
        "each way to cut": Vocabulary(bc, [(a, b, ab), (b, c, 257), (ab, c, abc), (a, 257, abc)]),
        "the same merge twice": Vocabulary(bc, [(a, b, ab), (a, b, ab)]),
        "used before it is made": Vocabulary(bc, [(a, 257, abc), (b, c, 257)]),
        "two equal tokens": Vocabulary({**tokens, 300: b"abc"}, made_vocabulary().merges),
        "long tokens": Vocabulary({**single, **long}, [(256, 257, 258), (258, 256, 259)]),
        "long tokens of ranks": Vocabulary({**single, **long}),
        "ranks that no pair makes": Vocabulary({**single, 256: b"abc", 5000: b"zq", 4999: b"zqx"}),
        "made of higher ranks": Vocabulary({**single, 300: b"abcd", 301: b"ab", 302: b"cd"}),
        "without a byte that UTF-8 never has": Vocabulary(
            {id: token for id, token in tokens.items() if id != 0xFF}, made_vocabulary().merges
        ),
        "large ids": Vocabulary({**tokens, (1 << 24) - 1: b"abcabc"}),
        "300 tokens of two bytes": Vocabulary(
            {**single, **{256 + i: bytes([i // 250, i % 250]) for i in range(300)}}
        ),
    }


@pytest.mark.parametrize("name", _vocabularies())
def test_odd_vocabularies(name: str, backend: BackendName) -> None:
    vocabulary = _vocabularies()[name]
    # The native tables for an id of 2**24 - 1 are slow to build.
    asked: BackendName = "python" if name == "large ids" else backend
    tokenizer = made(asked, vocabulary, added_tokens=[])
    data = pretok_file.dump(tokenizer.to_spec())
    loaded = _load(data, asked)
    assert loaded == tokenizer
    for text in ("abcabcd", "a" * 1000, "abcd zqx"):
        assert loaded.encode(text) == tokenizer.encode(text)
    assert pretok_file.dump(loaded.to_spec()) == data


def test_wrong_merges_of_ranks_in_the_file_are_dropped(native: BackendName) -> None:
    """The loader checks the merges that a file lists for ranks, and drops wrong ones."""
    single = {byte: bytes([byte]) for byte in range(256)}
    honest = Vocabulary({**single, 256: b"bc", 257: b"ab", 258: b"abc"})
    lies = [(98, 99, 256), (97, 98, 257), (257, 99, 258)]  # by rank, "abc" merges as a and bc
    rows = np.array(lies, np.uint32)
    lying = Vocabulary._of_packed(honest.packed, rows, True, True)
    assert lying.merges is None
    for text in ("abc", "abcabc", "aabcc"):
        assert made(native, lying).encode(text) == made("python", honest).encode(text)
        assert made(native, lying).merge_ids == made("python", honest).merge_ids


def test_files_are_smaller_than_rank_files(tmp_path: Path) -> None:
    given = shared("vocabs", "cl100k_base.tiktoken")
    path = tmp_path / "cl100k.pretok"
    tokenizer = bpe.load(given, "cl100k")
    tokenizer.save(path)
    assert path.stat().st_size < 0.4 * given.stat().st_size
    loaded = bpe.load(path)
    assert loaded == tokenizer
    assert loaded.merge_ids == tokenizer.merge_ids
    text = shared("texts", "udhr.txt").read_text(encoding="utf-8")[:100_000]
    assert loaded.encode(text) == tokenizer.encode(text)
    python = _load(path.read_bytes(), "python")
    assert python.vocabulary == tokenizer.vocabulary


def test_own_presets(tmp_path: Path) -> None:
    path = tmp_path / "own.pretok"
    mine = Preset("test-compact-mine", rules=(Run(LETTER), Run(~LETTER)), source="a test")
    made(preset=mine).save(path)
    assert bpe.load(path).preset == mine
    # The code registers a preset, loads the file, and prints the name of the file's preset. If the
    # registered preset has the rules of the file, it is used, also under another name.
    code = (
        "import bpe, pretok, sys\n"
        "from pretok import Preset, Run\n"
        "from pretok.charsets import LETTER\n"
        "pretok.register(Preset({!r}, rules=(Run(LETTER{}), Run(~LETTER))))\n"
        "print(bpe.load(sys.argv[1]).preset.name)\n"
    )

    def run(name: str, more: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code.format(name, more), str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("test-compact-mine").stdout == "test-compact-mine\n"
    assert run("test-compact-same").stdout == "test-compact-same\n"
    # If a registered preset of the same name has other rules, the preset in the file is used.
    assert run("test-compact-mine", ", at_most=2").stdout == "test-compact-mine\n"


@pytest.mark.parametrize("engine", ENGINES)
def test_compiled_presets(engine: Engine, backend: BackendName, tmp_path: Path) -> None:
    for pattern in (r"\p{L}+|\d{1,2}|[\s_]*\n|[^a]", r"(?:a\p{M}*(?: a\p{M}*)*)+|<[ab]+>|[^a]"):
        preset = pretok.from_pattern(pattern, engine).preset
        path = tmp_path / "compiled.pretok"
        tokenizer = made(backend, preset=preset)
        tokenizer.save(path)
        loaded = bpe.load(path, backend=backend)
        assert loaded == tokenizer
        assert loaded.preset == preset
        assert loaded.encode("ab12 c\n\n x") == tokenizer.encode("ab12 c\n\n x")


def test_stages_of_huggingface(backend: BackendName, tmp_path: Path) -> None:
    stages = sequence(
        {"type": "Digits", "individual_digits": True},
        split(r"\p{L}+|\s"),
        byte_level(use_regex=False),
    )
    path = write(tmp_path / "tokenizer.json", huggingface(pre_tokenizer=stages))
    tokenizer = bpe.load(path, backend=backend)
    tokenizer.save(tmp_path / "a.pretok")
    loaded = bpe.load(tmp_path / "a.pretok", backend=backend)
    assert loaded == tokenizer
    loaded.save(tmp_path / "b.json")
    again = bpe.load(tmp_path / "b.json", backend=backend)
    assert again.preset is not None
    assert tokenizer.preset is not None
    assert again.preset.stages == tokenizer.preset.stages


def test_the_preset_whole_is_loaded() -> None:
    from pretok.patterns.lookup import WHOLE

    tokenizer = made(preset=WHOLE)
    assert _load(pretok_file.dump(tokenizer.to_spec()), tokenizer.backend) == tokenizer


def test_tokenizers_that_cannot_be_saved(tmp_path: Path) -> None:
    class Mine:
        def offsets(self, text: str) -> Any:
            return np.array([0, len(text)])

    path = tmp_path / "mine.pretok"
    with pytest.raises(VocabularyError, match=r"mine\.pretok: .*splits with Mine; use a preset"):
        made(preset=Mine()).save(path)
    assert not path.exists()


_DATA = pretok_file.dump(made().to_spec())
_BODY = _DATA[16:]
_END = b"<|end|>\xac\2\1"
_OF_RANKS = pretok_file.dump(made(**TOKENIZERS["ranks"]).to_spec())[16:]


def _replaced(old: bytes, new: bytes, body: bytes = _BODY) -> bytes:
    assert body.count(old) == 1
    return body.replace(old, new)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pretok_file.MAGIC, "has 8 bytes, but its header takes 16; the file is truncated"),
        (_DATA[:-1], "does not match its header"),
        (_DATA + b"\0", "does not match its header"),
        (summed(b""), "ends too early, at offset 16"),
        (summed(_BODY[:-1]), "ends too early"),
        (summed(_BODY + b"\0"), "has data after its end"),
        (summed(b"\x80\4" + _BODY[1:]), "has unknown flags"),
        (summed(b"\x80\1" + _BODY[1:]), "has flag 128 without flag 64"),
        (summed(_replaced(_END, _END + b"\0\0\0", b"\4" + _BODY[1:])), "has an empty section"),
        (summed(_replaced(_END, _END + b"\1\r\0\0\0\0\0\0\0", b"\4" + _BODY[1:])), "need flag 32"),
        (summed(b"\x80\0" + _BODY[1:]), "in more bytes than it needs"),
        (summed(b"\1" + _OF_RANKS[1:]), "has flag 1 \\(ranks\\) without flag 2"),
        (summed(_replaced(b"\6cl100k", b"\6cl100\xff")), "has text that is not UTF-8"),
        (summed(_replaced(_END, b"<|end|>\xac\2\x20")), "with unknown flags"),
        (summed(_replaced(_END, b"<|end|>\xff\xff\xff\xff\1\1")), "has id 536870911, expected"),
        (summed(_replaced(_END, b"<|end|>" + b"\xff" * 5 + b"\1\1")), "number of more than 32"),
        (summed(_BODY[:15] + b"\xff\x7f"), "announces 16383 elements, more than it"),
        (summed(_BODY[:-4] + b"\1\0\x87\2"), "has different numbers of ids and tokens"),
        (summed(_BODY[:-4] + b"\2\0\x84\2\x84\2\4"), "stores ids non-canonically"),
        (summed(_BODY[:-4] + b"\2\0\x84\2\0\4"), "has two tokens with id 0"),
    ],
)  # fmt: skip
def test_malformed(data: bytes, message: str, tmp_path: Path, backend: BackendName) -> None:
    path = write(tmp_path / "damaged.pretok", data)
    with (
        patch.object(native_readers, "backend", lambda: backend),
        pytest.raises(VocabularyError, match=rf"damaged\.pretok: the .*({message})"),
    ):
        bpe.load(path, backend=backend)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (summed(_BODY, 5), "expected version 4 of the .pretok format, got 5; save"),
        (summed(_BODY, 1), "a .pretok file of an unreleased version; save it again with this"),
        (summed(_BODY, 3), "a .pretok file of an unreleased version; save it again with this"),
        (summed(_replaced(b"\00416.0", b"\00419.0")), "expected Unicode 15.0 or .*, got '19.0'"),
    ],
)
def test_unsupported(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=message):
        bpe.load(write(tmp_path / "new.pretok", data))


def test_an_unknown_preset(tmp_path: Path) -> None:
    path = write(tmp_path / "new.pretok", summed(_replaced(b"\6cl100k", b"\6cl1000")))
    with pytest.raises(VocabularyError, match="preset 'cl1000', which this version of pretok does"):
        bpe.load(path)
    assert bpe.load(path, "cl100k") == made()


def test_an_alias_is_not_the_name_of_a_preset(tmp_path: Path, native: BackendName) -> None:
    data = summed(_replaced(b"\6cl100k", b"\4qwen"))
    assert said_to_cpp(data).preset == ""
    with pytest.raises(VocabularyError, match="preset 'qwen', which this version of pretok does"):
        bpe.load(write(tmp_path / "new.pretok", data))


def test_the_first_byte_of_a_pickle_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="not like a vocabulary"):
        bpe.load(write(tmp_path / "a", b"\x80"))
