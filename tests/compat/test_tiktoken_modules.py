"""Programs that import tiktoken and its modules find their names in bpe.compat.tiktoken."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from hashlib import sha1, sha256
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bpe.compat import tiktoken
from pretok.machine.backend import BackendName
from support import need
from tiktoken_pairs import assert_same, live, ours

LINES = b"YQ== 0\nYg== 1\n\nYWI= 2\n"
RANKS = {b"a": 0, b"b": 1, b"ab": 2}
URL = "https://example.org/a.tiktoken"
EOT = "<|endoftext|>"


@pytest.fixture
def alias(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let `import tiktoken` find bpe.compat.tiktoken."""
    for name in [*sys.modules]:
        if name == "tiktoken" or name.startswith(("tiktoken.", "litellm")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tiktoken", tiktoken)
    yield
    for name in [*sys.modules]:
        if name.startswith(("tiktoken.", "litellm")):
            del sys.modules[name]


@pytest.mark.usefixtures("alias")
def test_the_modules_of_tiktoken_share_their_objects() -> None:
    module = importlib.import_module
    assert module("tiktoken.core").Encoding is tiktoken.Encoding
    assert module("tiktoken.registry").get_encoding is tiktoken.get_encoding
    assert module("tiktoken.registry").ENCODINGS is tiktoken.registry.ENCODINGS
    assert module("tiktoken.model").encoding_for_model is tiktoken.encoding_for_model
    assert module("tiktoken.model").MODEL_TO_ENCODING["gpt-4o"] == "o200k_base"
    assert module("tiktoken.load").load_tiktoken_bpe.__module__ == "tiktoken.load"
    for name in ("core", "load", "model", "registry"):
        assert hasattr(tiktoken, name)


@pytest.mark.parametrize("name", ["core", "load", "model", "registry"])
def test_names_of_the_modules_are_those_of_tiktoken(name: str) -> None:
    theirs = vars(pytest.importorskip(f"tiktoken.{name}", reason="tiktoken is not installed"))
    mine = vars(importlib.import_module(f"bpe.compat.tiktoken.{name}"))
    public = {
        key for key, value in mine.items()
        if key in mine.get("__all__", ()) or getattr(value, "__module__", "") == mine["__name__"]
    }  # fmt: skip
    assert public
    assert public <= set(theirs)


@pytest.mark.usefixtures("alias")
def test_transformers_converts_a_rank_file(tmp_path: Path) -> None:
    converters = need("transformers.convert_slow_tokenizer")
    tokenizers = need("tokenizers")
    path = tmp_path / "tokenizer.model"
    encoding = ours("cl100k", "python")
    tiktoken.load.dump_tiktoken_bpe(encoding._mergeable_ranks, path)
    converter = converters.TikTokenConverter(
        str(path), encoding._pat_str, False, encoding._special_tokens
    )
    made = converter.converted()
    assert isinstance(made, tokenizers.Tokenizer)
    text = "hello é 日本"
    assert made.encode(text).ids == encoding.encode(text)


@pytest.mark.usefixtures("alias")
def test_torchtune_reads_a_rank_file(tmp_path: Path) -> None:
    """The imports and the calls of torchtune's TikTokenBaseTokenizer."""
    Encoding = importlib.import_module("tiktoken").Encoding
    load_tiktoken_bpe = importlib.import_module("tiktoken.load").load_tiktoken_bpe
    source = ours("cl100k", "python")
    path = tmp_path / "tokenizer.model"
    tiktoken.load.dump_tiktoken_bpe(source._mergeable_ranks, path)
    ranks = load_tiktoken_bpe(str(path))
    made = Encoding(
        name="llama3", pat_str=source._pat_str, mergeable_ranks=ranks,
        special_tokens={"<|begin_of_text|>": len(ranks)},
    )  # fmt: skip
    text = "hello <|begin_of_text|>"
    ids = made.encode(text, allowed_special=set(), disallowed_special=())
    assert ids == source.encode_ordinary(text)
    assert (made.decode(ids), made.n_vocab) == (text, len(ranks) + 1)


@pytest.mark.usefixtures("alias")
def test_litellm_imports_the_modules() -> None:
    """The imports of litellm.litellm_core_utils.token_counter, and how it names an encoding."""
    names = importlib.import_module("tiktoken.model").MODEL_TO_ENCODING
    name_for = importlib.import_module("tiktoken").encoding_name_for_model
    assert name_for("gpt-3.5-turbo") == names["gpt-3.5-turbo"] == "cl100k_base"
    assert tiktoken.Encoding | None is not None
    with pytest.raises(KeyError, match="Could not automatically map no-model to a tokeniser"):
        name_for("no-model")


def test_rank_files_are_read_as_by_tiktoken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = pytest.importorskip("tiktoken.load", reason="tiktoken is not installed")
    # tiktoken copies each file into its cache, and takes a copy for the file.
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    cases = (
        (LINES, None), (LINES, sha256(LINES).hexdigest()), (LINES, "0" * 64), (b"", None),
        (b"YQ== 0\r\nYg== 1", None), (b"YQ==\t5", None), (b"YQ== 0 1\n", None), (b"YQ==", None),
        (b"Y 1\n", None), (b"YQ== x\n", None), (b"YQ== 1\nYQ== 2\n", None), (b"Y!Q== 3\n", None),
    )  # fmt: skip
    for number, (content, digest) in enumerate(cases):
        path = tmp_path / f"ranks {number}"
        path.write_bytes(content)
        outcomes = []
        for module in (theirs, tiktoken.load):
            try:
                outcomes.append(module.load_tiktoken_bpe(str(path), digest))
            except ValueError:
                outcomes.append(ValueError)
        assert outcomes[0] == outcomes[1], content
    for module in (theirs, tiktoken.load):
        with pytest.raises(FileNotFoundError):
            module.load_tiktoken_bpe(str(tmp_path / "none"))


def test_a_url_is_read_from_the_cache_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="bpe downloads nothing"):
        tiktoken.load.load_tiktoken_bpe(URL)
    (tmp_path / sha1(URL.encode()).hexdigest()).write_bytes(LINES)
    assert tiktoken.load.load_tiktoken_bpe(URL, sha256(LINES).hexdigest()) == RANKS
    assert tiktoken.load.read_file_cached(URL) == tiktoken.load.read_file(URL) == LINES
    with pytest.raises(ValueError, match=r"^Hash mismatch"):
        tiktoken.load.read_file_cached(URL, "0" * 64)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(FileNotFoundError, match="disabled"):
        tiktoken.load.read_file(URL)


def test_ranks_are_written_in_order(tmp_path: Path) -> None:
    path = tmp_path / "ranks"
    tiktoken.load.dump_tiktoken_bpe({b"ab": 2, b"b": 1, b"a": 0}, path)
    assert path.read_bytes() == LINES.replace(b"\n\n", b"\n")
    assert tiktoken.load.load_tiktoken_bpe(path) == RANKS


CALLS: list[Callable[[Any], Any]] = [
    methodcaller("encode", f"hi é {EOT}", set()),
    methodcaller("encode", f"hi é {EOT}", {EOT}),
    methodcaller("encode", f"hi é {EOT}", frozenset((EOT, "<none>"))),
    methodcaller("encode", "lone \ud800", set()),
    methodcaller("encode", "hi", "all"),
    methodcaller("encode", "hi", None),
    methodcaller("encode_ordinary", f"hi é {EOT}"),
    methodcaller("encode_ordinary", "\ud83d\ude00"),
    methodcaller("encode_single_piece", b" hello\xff"),
    methodcaller("encode_single_token", b" hello"),
    methodcaller("encode_single_token", EOT.encode()),
    methodcaller("encode_single_token", b"no token at all"),
    methodcaller("decode_bytes", [15339, 1917, 100257]),
    methodcaller("decode_bytes", [10**6]),
    methodcaller("decode_single_token_bytes", 1917),
    methodcaller("decode_single_token_bytes", 10**6),
    methodcaller("token_byte_values"),
    methodcaller("_encode_bytes", b"hello \xff"),
    lambda core: np.frombuffer(core.encode_to_tiktoken_buffer(f"hi {EOT}", {EOT}), np.uint32),
    lambda core: core.encode_with_unstable(f"hello{EOT} fan", {EOT})[0],
    lambda core: sorted(core.encode_with_unstable("hello fan", set())[1]),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls_of_the_core(number: int, backend: BackendName) -> None:
    cores = ours("cl100k", backend)._core_bpe, live("cl100k")._core_bpe
    assert_same(cores, CALLS[number])


def test_errors_begin_with_the_words_that_programs_look_for(backend: BackendName) -> None:
    texts = []
    for encoding in (ours("cl100k", backend), live("cl100k")):
        with pytest.raises(ValueError, match="disallowed special token") as caught:
            encoding.encode(f"hi {EOT}")
        texts.append(str(caught.value).split("\n")[0])
    assert texts[0].removesuffix(" at offset 3.") == texts[1].removesuffix(".")
    with pytest.raises(ValueError, match=r"^Unknown encoding no-name\."):
        tiktoken.get_encoding("no-name")
