"""tekken.json: ids, special tokens and texts equal those of the installed mistral-common."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import pretok
from bpe import BpeError, Tokenizer, VocabularyError
from bpe.formats.tekken import MAX_SPECIAL_TOKENS
from command_line import Call
from paths import shared
from pretok.machine.backend import BackendName
from pretok.presets.o200k import TEKKEN
from support import max_examples
from tekken_files import SPECIALS, listed, tekken
from vocabulary_files import TEXTS, huggingface, write


def theirs(path: Path) -> Any:
    module = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    return module.Tekkenizer.from_file(path)


def check(ours: Tokenizer, live: Any, text: str) -> None:
    """Compare ids and decoded text with mistral-common, which encodes special tokens as text."""
    ids = ours.encode(text, "text")
    assert ids == live.encode(text, bos=False, eos=False)
    assert ours.decode(ids) == text
    assert ours.encode(text, "text", add_special_tokens=True) == live.encode(text, True, False)


CHANGES: dict[str, dict[str, Any]] = {
    "no special tokens": {},
    "special tokens": {"special_tokens": listed("<unk>", "<s>", "</s>", "[A]"), "version": "v13"},
    "fewer tokens than listed": {"default_vocab_size": 256 + 3 + SPECIALS},
    "all special tokens": {"default_num_special_tokens": 20, "default_vocab_size": 256 + 20},
    "a pattern without a preset": {"pattern": r"\p{L}+|\p{N}{1,5}|[^\p{L}\p{N}]"},
    "an image": {"image": {"image_patch_size": 16, "max_image_size": 1024}},
}


@pytest.mark.parametrize("name", CHANGES)
def test_small_files(name: str, backend: BackendName, tmp_path: Path) -> None:
    path = write(tmp_path / "tekken.json", tekken(**CHANGES[name]))
    ours = bpe.load(path, backend=backend)
    live = theirs(path)
    assert ours.vocab_size == live.n_words
    special = {token.content: token.id for token in ours.added_tokens}
    assert special == {live.id_to_piece(id): id for id in range(live.num_special_tokens)}
    for text in [*TEXTS, "<s> [INST] <SPECIAL_21>", "abcabc 12345 Ab's ÉÜ 日本\r\n\n  x"]:
        check(ours, live, text)
    assert ours.encode("<s>ab<SPECIAL_24>", "allow")[0] == 1
    assert ours.decode([2, 1]) == "</s><s>"
    assert bpe.load(tmp_path, backend=backend) == ours


@pytest.mark.parametrize("suffix", [".pretok", ".json", ".tiktoken"])
def test_saved_as_another_format(suffix: str, backend: BackendName, tmp_path: Path) -> None:
    ours = bpe.load(write(tmp_path / "tekken.json", tekken()), backend=backend)
    path = tmp_path / f"saved{suffix}"
    ours.save(path, lossy=suffix == ".tiktoken")
    preset = ours.preset if suffix == ".tiktoken" else None
    loaded = bpe.load(path, preset, backend=backend)
    for text in TEXTS:
        assert loaded.encode(text, "text") == ours.encode(text, "text")
    if suffix != ".tiktoken":
        assert loaded.special_tokens == ours.special_tokens
        assert loaded.encode("<s>x", "allow", add_special_tokens=True)[:2] == [1, 1]
    if suffix == ".pretok":
        assert loaded == ours


@cache
def published(name: str) -> Path:
    mistral_common = pytest.importorskip("mistral_common", reason="mistral_common is not installed")
    path = Path(mistral_common.__file__).parent / "data" / name
    return path if path.is_file() else pytest.skip(f"no {name} in mistral-common")


@cache
def published_pair(name: str) -> tuple[Tokenizer, Any]:
    return bpe.load(published(name)), theirs(published(name))


@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_published_files(name: str) -> None:
    ours, live = published_pair(name)
    assert ours.preset is TEKKEN
    assert (ours.vocab_size, len(ours.special_tokens)) == (131_072, 1000)
    assert [token.content for token in ours.added_tokens] == live.vocab()[:1000]
    python = Tokenizer(ours.vocabulary, TEKKEN, backend="python")
    paths = sorted(shared("texts").glob("*.txt"))
    for path in paths if name == "tekken_240911.json" else paths[:2]:
        text = path.read_text(encoding="utf-8", errors="replace")
        check(ours, live, text[:30_000])
        assert python.encode(text[:2000]) == ours.encode(text[:2000], "text")


@given(st.text(max_size=40) | st.text("aZ'é \n\t/1<s>日\u0301\u00a0", max_size=40))
@settings(max_examples=max_examples(100))
def test_any_text(text: str) -> None:
    check(*published_pair("tekken_240911.json"), text)


def without(file: dict[str, Any], *path: str) -> dict[str, Any]:
    parent: Any = file
    for name in path[:-1]:
        parent = parent[name]
    del parent[path[-1]]
    return file


def with_token(rank: int, /, **changes: Any) -> dict[str, Any]:
    file = tekken()
    file["vocab"][rank] |= changes
    return file


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (without(tekken(), "config", "version"), "config.version is missing"),
        (without(tekken(), "config", "pattern"), "config.pattern is missing"),
        (without(tekken(), "config", "default_vocab_size"), "config.default_vocab_size is missing"),
        (tekken(default_vocab_size=True), "is true; expected a whole number"),
        (tekken(default_vocab_size=1 << 30), "1073741824; expected from 281 to "),
        (tekken(default_vocab_size=280), "expected from 281 to "),
        (tekken(default_num_special_tokens=19), "expected from 20 to 10,000"),
        (tekken(default_num_special_tokens=MAX_SPECIAL_TOKENS + 1), "expected from 20 to"),
        (tekken(version="v13"), r"special_tokens is missing .* version 'v13' requires"),
        (tekken(special_tokens=listed("a", "a")), "special tokens 0 and 1 are both 'a'"),
        (tekken(special_tokens=listed("<SPECIAL_1>")), "special tokens 0 and 1 are both"),
        (tekken(special_tokens=listed("a", "")), r"special_tokens\[1\].token_str is"),
        (tekken(special_tokens=listed("a", "b")[::-1]), r"special_tokens\[0\].rank is 1"),
        (with_token(97, token_bytes="Yg=="), r"vocab\[97\] is .* the bytes, here 0x61"),
        (with_token(257, token_bytes="YQ"), r"vocab\[257\] is .* token_bytes in base64"),
        (with_token(257, token_bytes=""), r"vocab\[257\] is"),
        (with_token(257, token_bytes="YQ=="), r"vocab\[257\] and \[97\] are both b'a'"),
        (with_token(258, rank=257), r"vocab\[258\] is .* rank 258"),
        (with_token(258, other=1), r"vocab\[258\] is"),
        (tekken(pattern=r"\p{L}+a"), "does not compile"),
        (tekken(pattern=r"\p{L}+"), "drops parts of the text"),
    ],
)
def test_invalid_files_are_refused(file: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "tekken.json", file)
    with pytest.raises(BpeError, match=message) as caught:
        bpe.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_truncated_and_changed_files(tmp_path: Path) -> None:
    data = json.dumps(tekken()).encode()
    path = tmp_path / "tekken.json"
    for end in range(0, len(data), len(data) // 60):
        with pytest.raises(VocabularyError):
            bpe.load(write(path, data[:end]), "tekken", backend="python")
    whole = bpe.load(write(path, data), "tekken", backend="python")
    for at in range(0, len(data), len(data) // 250):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        try:
            loaded = bpe.load(write(path, changed), "tekken", backend="python")
        except BpeError:
            continue
        assert loaded.vocab_size == whole.vocab_size


def test_a_passed_preset_replaces_the_pattern(tmp_path: Path) -> None:
    path = write(tmp_path / "tekken.json", tekken(pattern="("))
    assert bpe.load(path, "gpt2", backend="python").preset == pretok.get("gpt2").preset


def test_command_line(call: Call, tmp_path: Path) -> None:
    path = str(write(tmp_path / "tekken.json", tekken()))
    for place in (path, str(tmp_path)):
        status, out, err = call("identify", place)
        assert (status, err) == (0, "")
        assert out.startswith(f"the pattern of '{place}' is\n  preset     tekken\n")
    write(Path(path), tekken(pattern=CHANGES["a pattern without a preset"]["pattern"]))
    status, out, _ = call("identify", path)
    assert status == 0
    assert "  source     compiled from its pattern\n" in out
    status, out, err = call("inspect", path)
    assert (status, err) == (0, "")
    assert "compiled from its pattern\n" in out
    write(Path(path), tekken(pattern=r"\p{L}+a"))
    status, out, _ = call("identify", path)
    assert status == 1
    assert "does not compile" in out
    write(tmp_path / "tokenizer.json", huggingface())
    assert "gpt2" in call("identify", str(tmp_path))[1]
