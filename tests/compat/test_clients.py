"""Programs that use a tokenizer of tokenizers, transformers or tiktoken work with the stand-ins.

A program that is not installed is repeated here by its calls.
"""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bpe
import huggingface_pairs as pairs
from bpe.compat import tiktoken
from huggingface_features import plain
from support import need

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = pytest.mark.filterwarnings("ignore")

TEXT = "the é quick 🦙 fox 日本. " * 9


@pytest.fixture(autouse=True)
def nothing_falls_back() -> Iterator[None]:
    """Fail if a call falls back."""
    before = hf.fallbacks()
    yield
    assert hf.fallbacks() == before


def encoding() -> Any:
    """Return a small Encoding of bpe.compat.tiktoken."""
    return tiktoken.Encoding.from_tokenizer(bpe.train([TEXT], vocab_size=280), "small")


def test_the_types_name_the_libraries_that_they_stand_in_for() -> None:
    # chonkie and other programs choose the calls by these names.
    assert "tokenizers" in str(type(pairs.both(pairs.base())[1]))
    assert "tiktoken" in str(type(encoding()))
    assert "tokenizers" not in str(type(encoding()))
    assert not any("transformers" in str(type(tok)) for tok in (hf.Tokenizer, encoding()))


@pytest.mark.parametrize("name", ["tokenizers", "transformers", "tiktoken"])
def test_chonkie(name: str, tok: Any) -> None:
    chonkie = need("chonkie")
    real, ours = pairs.both(pairs.base())

    def run(tokenizer: Any) -> Any:
        auto = chonkie.tokenizer.AutoTokenizer(tokenizer)
        assert auto._backend == name
        chunks = chonkie.TokenChunker(tokenizer, chunk_size=16, chunk_overlap=3)(TEXT)
        batch = auto.encode_batch([TEXT, "the"])
        return [(c.text, c.token_count, c.start_index) for c in chunks], batch

    if name == "tokenizers":
        assert run(ours) == run(real)
    elif name == "transformers":
        expected = run(tok)
        with hf.patched():
            assert run(tok) == expected
    else:
        assert len(run(encoding())[0]) > 1


def test_semchunk(tok: Any) -> None:
    semchunk = need("semchunk")
    real, ours = pairs.both(pairs.base())
    assert semchunk.chunkerify(ours, 16)(TEXT) == semchunk.chunkerify(real, 16)(TEXT)
    expected = semchunk.chunkerify(tok, 16)(TEXT)
    with hf.patched():
        assert semchunk.chunkerify(tok, 16)(TEXT) == expected
    assert len(semchunk.chunkerify(encoding(), 16)(TEXT)) > 1


def test_lm_eval_encodes_tuples(tok: Any) -> None:
    # generate_until gets the contexts of a chunk by zip(*chunk).
    contexts, _ = zip(*[(TEXT, 1), ("the", 2), ("é", 3)], strict=True)

    def run(tok: Any) -> Any:
        tok.padding_side = "left"
        batch = tok(contexts, truncation=True, padding="longest", max_length=20)
        arrays = tok(contexts, padding="longest", return_tensors="np", add_special_tokens=False)
        overflowing = tok(contexts, truncation=True, max_length=9, return_overflowing_tokens=True)
        texts = tok.batch_decode((*batch["input_ids"],), skip_special_tokens=True)
        return *map(plain, (batch, arrays, tok(contexts), overflowing)), texts

    expected = run(tok)
    with hf.patched():
        assert run(tok) == expected


@pytest.mark.parametrize("name", ["CharacterTextSplitter", "RecursiveCharacterTextSplitter"])
def test_langchain(name: str, tok: Any) -> None:
    splitter = getattr(need("langchain_text_splitters"), name)
    options = {"separator": "."} if name == "CharacterTextSplitter" else {}

    def run(tok: Any) -> Any:
        sizes = {"chunk_size": 20, "chunk_overlap": 5}
        split = splitter.from_huggingface_tokenizer(tok, **sizes, **options)
        return split.split_text(TEXT), split.create_documents([TEXT, "the fox"])

    expected = run(tok)
    assert len(expected[0]) > 2
    with hf.patched():
        assert run(tok) == expected


def test_langchain_counts_tokens(tok: Any) -> None:
    """The calls of from_huggingface_tokenizer and of SentenceTransformersTokenTextSplitter."""

    def run(tok: Any) -> Any:
        rows = tok.encode(TEXT, max_length=2**32, truncation="do_not_truncate")
        return len(tok.tokenize(TEXT)), [tok.decode(rows[at : at + 9]) for at in range(len(rows))]

    expected = run(tok)
    with hf.patched():
        assert run(tok) == expected


@pytest.mark.parametrize("name", ["from_file", "from_str", "from_buffer", "from_pretrained"])
def test_a_program_that_reads_its_own_tokenizer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """litgpt and torchtune call from_file, litellm from_str and from_pretrained."""
    path = tmp_path / "tokenizer.json"
    path.write_text(pairs.base(), encoding="utf-8")
    hub = importlib.import_module("huggingface_hub")
    monkeypatch.setattr(hub, "hf_hub_download", lambda *args, **options: str(path))
    data = path.read_bytes()
    argument = {"from_file": str(path), "from_str": data.decode(), "from_buffer": data}
    read = getattr(tokenizers.Tokenizer, name)

    def run() -> Any:
        # The program imported the class before the patch.
        tok = getattr(tokenizers.Tokenizer, name)(argument.get(name, "a-model"))
        encoding = tok.encode(TEXT, add_special_tokens=False)
        texts = [tok.decode(encoding.ids, skip_special_tokens=False), tok.id_to_token(5)]
        return tok, [encoding.ids, encoding.offsets, texts, tok.get_vocab_size(), pickle.dumps(tok)]

    real, expected = run()
    with hf.patched(strict=True, factories=True):
        tok, result = run()
        assert result == expected
        assert type(tok) is hf.Tokenizer
        assert hf.engine(tok) == ("bpe", "", {"bpe": 2, "tokenizers": 0})
        with hf.patched():
            assert type(run()[0]) is tokenizers.Tokenizer
    assert type(run()[0]) is type(real) is tokenizers.Tokenizer
    assert getattr(tokenizers.Tokenizer, name) is read


def test_datatrove(tmp_path: Path) -> None:
    utils = need("datatrove.utils.tokenization")
    path = tmp_path / "tokenizer.json"
    path.write_text(pairs.base(), encoding="utf-8")

    class Step(utils.PipelineStepWithTokenizer):  # type: ignore[misc, name-defined]
        def run(self, *args: Any, **options: Any) -> Any: ...

    def run() -> Any:
        step = Step(str(path), eos_token="e")
        return step.tokenizer, [e.ids for e in step.tokenizer.encode_batch([TEXT, "the"])]

    _, expected = run()
    with hf.patched(strict=True, factories=True):
        tok, ids = run()
        assert (ids, hf.engine(tok).counts) == (expected, {"bpe": 1, "tokenizers": 0})


def test_the_engine_of_a_tokenizer_that_does_not_reach_bpe(tok: Any) -> None:
    real = tok._tokenizer
    for each in (tok, real):
        name, reason, _ = hf.engine(each)
        assert name == "tokenizers"
        assert "patch(factories=True)" in reason
    with hf.patched():
        assert hf.engine(tok).name == hf.engine(tok._tokenizer).name == "bpe"
        assert hf.engine(real).name == "tokenizers"
    assert hf.engine(tok).name == "tokenizers"
    assert hf.engine(hf.wrap(real)).name == hf.engine(hf.wrap(tok)).name == "bpe"
    assert hf.engine(tok).name == "bpe"


def test_transformers_reads_its_tokenizers_by_the_same_functions(tok: Any, tmp_path: Path) -> None:
    tok.save_pretrained(tmp_path)
    transformers = importlib.import_module("transformers")
    expected = pickle.dumps(transformers.AutoTokenizer.from_pretrained(tmp_path))
    with hf.patched(strict=True, factories=True):
        again = transformers.AutoTokenizer.from_pretrained(tmp_path)
        made = transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizers.Tokenizer.from_str(pairs.base())
        )
        assert pickle.dumps(again) == expected
        made.add_special_tokens({"pad_token": "e"})
        assert again(TEXT)["input_ids"] == made(TEXT)["input_ids"]
        for each in (again, made):
            assert type(vars(each)["_tokenizer"]) is tokenizers.Tokenizer
            assert hf.engine(each).name == "bpe"
    assert again(TEXT)["input_ids"] == tok(TEXT)["input_ids"]
