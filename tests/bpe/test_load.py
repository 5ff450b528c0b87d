"""bpe.load: names, known files, implied values, and required arguments."""

from __future__ import annotations

import socket
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import UnknownVocabularyError, VocabularyError, VocabularyWarning
from bpe.hub import published
from bpe.hub.locate import cache_folder
from bpe.hub.published import PUBLISHED, PublishedFile, PublishedVocabulary
from bpe.normalizers.chain import NFC
from paths import shared
from pretok.machine.backend import BackendName
from pretok.presets import GPT2, LLAMA3
from vocabulary_files import gpt2_files, huggingface, made, made_vocabulary, tiktoken_lines, write

_URL = "https://example.invalid/small.tiktoken"
_DATA = b"".join(line + b"\n" for line in tiktoken_lines())
_OTHER = b"".join(line + b"\n" for line in tiktoken_lines()[:-1])  # not published
_SMALL = PublishedVocabulary(
    "small",
    (PublishedFile("small.tiktoken", _URL, sha256(_DATA).hexdigest(), len(_DATA)),),
    "llama3",
    {"<|end|>": 300},
)


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide this machine's vocabularies and the network; publish the vocabulary "small"."""
    for variable in ("PRETOK_VOCAB_DIR", "DATA_GYM_CACHE_DIR", "HF_HOME", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setitem(published.PUBLISHED, "small", _SMALL)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("load uses the network")

    monkeypatch.setattr(socket, "socket", refuse)


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _is_small(tokenizer: bpe.Tokenizer) -> bool:
    return (tokenizer.preset, tokenizer.special_tokens, tokenizer.name) == (
        LLAMA3, {"<|end|>": 300}, "small"
    )  # fmt: skip


@pytest.mark.parametrize("name", ["small.tiktoken", "small", sha1(_URL.encode()).hexdigest()])
def test_the_name_of_a_published_file_implies_preset_and_special_tokens(
    tmp_path: Path, name: str, backend: BackendName
) -> None:
    path = write(tmp_path / name, _DATA)
    tokenizer = bpe.load(path, backend=backend)
    assert _is_small(tokenizer)
    assert tokenizer.backend == backend
    assert _is_small(bpe.load(write(path, _DATA.replace(b"\n", b"\r\n"))))


def test_arguments_override_implied_values(tmp_path: Path) -> None:
    path = write(tmp_path / "small.tiktoken", _DATA)
    with pytest.warns(
        VocabularyWarning, match=r"preset 'gpt2' splits .* with 'llama3'; without"
    ) as caught:
        tokenizer = bpe.load(path, "gpt2")
    assert caught[0].filename == __file__
    assert tokenizer.preset == GPT2
    assert tokenizer.special_tokens == {"<|end|>": 300}
    assert bpe.load(path, special_tokens={"x": 400}).special_tokens == {"x": 400}
    assert bpe.load(path, special_tokens={}).special_tokens == {}


def test_known_name_with_other_content(tmp_path: Path) -> None:
    path = write(tmp_path / "small.tiktoken", _DATA[:-9])
    with pytest.raises(VocabularyError) as caught:
        bpe.load(path)
    for part in (
        str(path),
        "published vocabulary small",
        "damaged",
        "pretok fetch small",
        "preset=",
    ):
        assert part in str(caught.value)
    tokenizer = bpe.load(path, "gpt2")
    assert tokenizer.special_tokens == {}
    assert tokenizer.name is None


def test_a_preset_is_never_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "other.tiktoken", _OTHER)
    with pytest.raises(VocabularyError, match=r"does not say how to split text; pass preset="):
        bpe.load(path)


@pytest.mark.parametrize(
    ("special", "error", "message"),
    [
        (["<|end|>"], TypeError, "of type list; expected a mapping"),
        ({"a": "b"}, TypeError, "special token 'a' with id 'b'; expected a str and an int"),
        ({1: 2}, TypeError, "special token 1 with id 2"),
        (
            {"x": 300, "y": 300},
            ValueError,
            "'x' and 'y' both have id 300; give each token its own id",
        ),
        ({"x": 97}, VocabularyError, "has id 97, which is the id of b'a'"),
        ({"": 300}, VocabularyError, "added token 300 is ''; expected text that is not empty"),
        ({"x": -1}, VocabularyError, "has id -1"),
        ({"x": 1 << 30}, VocabularyError, "has id 1073741824"),
    ],
)
def test_special_tokens_are_checked(
    tmp_path: Path, special: Any, error: type[Exception], message: str
) -> None:
    path = write(tmp_path / "a", _OTHER)
    with pytest.raises(error, match=message):
        bpe.load(path, "gpt2", special)


@pytest.mark.parametrize(
    "preset", ["gpt2", GPT2, "object"], ids=["name", "Preset", "object with offsets"]
)
def test_presets_of_every_kind(tmp_path: Path, preset: Any) -> None:
    class Own:
        def offsets(self, text: str) -> Any:
            return list(range(len(text) + 1))

    path = write(tmp_path / "a.json", huggingface())
    tokenizer = bpe.load(path, Own() if preset == "object" else preset)
    assert tokenizer.encode("ab") == ([97, 98] if preset == "object" else [256])
    with pytest.raises(ValueError, match="unknown preset 'gtp2'; did you mean 'gpt2'"):
        bpe.load(path, "gtp2")


@pytest.mark.parametrize("name", ["small.tiktoken", "small", "small.json", "small/tokenizer.json"])
def test_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    own = _folder(tmp_path / "own")
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(own))
    path = own / name
    _folder(path.parent)
    if name.endswith("json"):
        write(path, huggingface())
        assert bpe.load("small") == made(preset="gpt2", special=(("<|end|>", 264),))
    else:
        write(path, _DATA)
        assert _is_small(bpe.load("small"))
        write(path, _DATA[:-9])
        with pytest.raises(VocabularyError, match="got another or damaged file"):
            bpe.load("small")
        assert bpe.load("small", "gpt2").special_tokens == {}


def test_two_files_in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = _folder(tmp_path / "own")
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(own))
    gpt2_files(own, "mine_")
    gpt2_files(_folder(own / "org" / "model"))
    assert bpe.load("mine", "gpt2").vocabulary == made_vocabulary()
    assert bpe.load("org/model", "gpt2").vocabulary == made_vocabulary()


def test_published_pairs_of_files_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocab, merges = gpt2_files(tmp_path, "pair_")
    files = tuple(
        PublishedFile(path.name, f"{_URL}/{path.name}", sha256(data).hexdigest(), len(data))
        for path, data in ((path, path.read_bytes()) for path in (vocab, merges))
    )
    pair = PublishedVocabulary(
        "pair", _SMALL.files, "llama3", {"<|end|>": 300}, alternatives=(files,)
    )
    monkeypatch.setitem(published.PUBLISHED, "pair", pair)
    for given in (vocab, merges, (vocab, merges)):
        assert bpe.load(given) == made(preset="llama3")
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(tmp_path))
    assert bpe.load("pair") == made(preset="llama3")
    cache = _folder(tmp_path / "tiktoken")
    monkeypatch.delenv("PRETOK_VOCAB_DIR")
    for file, path in zip(files, (vocab, merges), strict=True):
        path.rename(cache / sha1(file.source.encode()).hexdigest())
    assert bpe.load("pair") == made(preset="llama3")


@pytest.mark.parametrize("place", ["fetched", "tiktoken", "data gym"])
def test_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    path = {
        "fetched": cache_folder() / "small.tiktoken",
        "tiktoken": tmp_path / "tiktoken" / sha1(_URL.encode()).hexdigest(),
        "data gym": tmp_path / "gym" / sha1(_URL.encode()).hexdigest(),
    }[place]
    if place == "data gym":
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
        monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "gym"))
    _folder(path.parent)
    write(path, _DATA)
    assert _is_small(bpe.load("small"))
    write(path, _DATA[:-9])
    with pytest.raises(UnknownVocabularyError, match="is damaged: its sha256 differs"):
        bpe.load("small")


def test_tiktoken_cache_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    write(_folder(tmp_path / "data-gym-cache") / sha1(_URL.encode()).hexdigest(), _DATA)
    assert _is_small(bpe.load("small"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # turns the cache off
    with pytest.raises(UnknownVocabularyError, match="disabled"):
        bpe.load("small")


@pytest.mark.parametrize("variables", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("refs", [True, False])
def test_hub_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: str, refs: bool
) -> None:
    hub = tmp_path / "hub"
    if variables != "HF_HUB_CACHE":
        monkeypatch.delenv("HF_HUB_CACHE")
        hub = tmp_path / "cache" / "huggingface" / "hub"
        if variables == "HF_HOME":
            monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
            hub = tmp_path / "home" / "hub"
    model = hub / "models--org--model"
    write(_folder(model / "snapshots" / "abc123") / "tokenizer.json", huggingface())
    if refs:
        write(_folder(model / "refs") / "main", "abc123\n")
        _folder(model / "snapshots" / "other")
    assert bpe.load("org/model") == made(preset="gpt2", special=(("<|end|>", 264),))
    with pytest.raises(UnknownVocabularyError, match="did you mean 'org/model'"):
        bpe.load("org/modle")


def test_hub_cache_with_two_files(tmp_path: Path) -> None:
    snapshot = _folder(tmp_path / "hub" / "models--org--model" / "snapshots" / "abc123")
    gpt2_files(snapshot)
    assert bpe.load("org/model", "gpt2").vocabulary == made_vocabulary()


def test_a_path_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(_folder(tmp_path / "cache" / "pretok") / "small.tiktoken", _DATA)
    write(tmp_path / "small", huggingface())
    assert bpe.load("small").preset == GPT2


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=r"no tokenizer.json, no vocab.json with"):
        bpe.load(tmp_path, "gpt2")
    gpt2_files(tmp_path)
    assert bpe.load(tmp_path, "llama3").preset == LLAMA3
    write(tmp_path / "tokenizer.json", huggingface())
    assert bpe.load(tmp_path).preset == GPT2


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("smal", ["'smal'", "did you mean 'small'", "$PRETOK_VOCAB_DIR (not set)", "tiktoken's"]),
        ("small", ["pretok fetch small"]),
        ("cl100k", ["; did you mean 'cl100k_base'?"]),
        ("gpt-4", ["; did you mean 'cl100k_base'?"]),
        ("Qwen/Qwen2-7B", ["hf download Qwen/Qwen2-7B tokenizer.json", "huggingface_hub's cache"]),
        ("", ["called ''", "; pass the path of a file, or a name that `pretok fetch` lists"]),
        ("../secret", ["called '../secret'"]),
        ("/nowhere/tokenizer.json", ["called '/nowhere/tokenizer.json'"]),
        ("a" * 5000, ["no file or vocabulary"]),
        ("nul\0byte", ["no file or vocabulary"]),
    ],
)
def test_unknown_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, parts: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownVocabularyError) as caught:
        bpe.load(name)
    assert isinstance(caught.value, LookupError)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("name", [None, 5, b"gpt2", ["gpt2"]])
def test_names_of_another_type(name: Any) -> None:
    message = f"expected a path or the name of a vocabulary, got {type(name).__name__}"
    with pytest.raises(TypeError, match=message):
        bpe.load(name)


def test_normalizer_for_files_that_have_none(tmp_path: Path) -> None:
    path = write(tmp_path / "a", _OTHER)
    assert bpe.load(path, "gpt2").normalizer is None
    assert bpe.load(path, "gpt2", normalizer="NFC").normalizer == NFC
    wrong: Any = "NFKC"
    with pytest.raises(ValueError, match="normalizer='NFKC'"):
        bpe.load(path, "gpt2", normalizer=wrong)


_TIKTOKEN_NAMES = ("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base",
         "o200k_harmony")  # fmt: skip


@pytest.mark.parametrize("name", _TIKTOKEN_NAMES)
def test_published_values_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="tiktoken is not installed")
    read: list[tuple[str, str]] = []

    def one(url: str, expected_hash: str) -> dict[bytes, int]:
        read.append((url, expected_hash))
        return {}

    def two(**given: str) -> dict[bytes, int]:
        read.append((given["encoder_json_file"], given["encoder_json_hash"]))
        read.append((given["vocab_bpe_file"], given["vocab_bpe_hash"]))
        return {}

    monkeypatch.setattr(public, "load_tiktoken_bpe", one)
    monkeypatch.setattr(public, "data_gym_to_mergeable_bpe_ranks", two)
    facts = public.ENCODING_CONSTRUCTORS[name]()
    known = PUBLISHED[name]
    assert dict(known.special_tokens) == facts["special_tokens"]
    files = [[(file.url, file.sha256) for file in files] for files in known.editions]
    assert read in files
    assert bpe.Tokenizer(made_vocabulary(), known.preset).preset is not None


def test_every_encoding_of_tiktoken_is_known() -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="tiktoken is not installed")
    assert set(public.ENCODING_CONSTRUCTORS) == set(_TIKTOKEN_NAMES)
    assert set(PUBLISHED) >= {*_TIKTOKEN_NAMES, "small"}


@pytest.mark.parametrize("name", [name for name in _TIKTOKEN_NAMES if name != "gpt2"])
def test_real_vocabularies_by_name(
    monkeypatch: pytest.MonkeyPatch, backend: BackendName, name: str
) -> None:
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(shared("vocabs")))
    tokenizer = bpe.load(name, backend=backend)
    assert tokenizer.name == name
    assert tokenizer.special_tokens == PUBLISHED[name].special_tokens
    assert tokenizer.decode(tokenizer.encode("It's 2025 \u2014 \u00e9\u4e2d", "text")) == (
        "It's 2025 \u2014 \u00e9\u4e2d"
    )


def test_gpt2_has_the_ranks_of_r50k(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(shared("vocabs")))
    by_name, vocab = bpe.load("gpt2"), bpe.load(shared("vocabs", "gpt2_vocab.json"))
    assert by_name.vocabulary.token_bytes == vocab.vocabulary.token_bytes
    assert by_name.special_tokens == vocab.special_tokens == {"<|endoftext|>": 50256}
    ranks = bpe.load("r50k_base")
    assert ranks.vocabulary.token_bytes == vocab.vocabulary.token_bytes
    assert ranks.merge_ids == vocab.vocabulary.merges
