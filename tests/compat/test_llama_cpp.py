"""GGUF files have the ids of llama.cpp, except where llama.cpp differs from the model.

docs/how-to/llama-cpp.md lists the differences.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

import bpe
import pretok
from bpe import MissingPresetError, Tokenizer
from bpe.formats.file_spec import FileSpec
from bpe.formats.gguf import NOT_BYTE_LEVEL
from bpe.formats.gguf_pre import DIFFERENCES
from c_library import CLibrary, CTokenizer
from gguf_files import gguf, metadata, sentencepiece_metadata
from llama_texts import NAMES, REMOVED, random_text
from llama_vocab import PRE_TYPES, LlamaVocabulary, library, sources, vocabularies
from pretok.formats import gguf_metadata
from pretok.machine.backend import BackendName
from same_tokenizers import assert_same
from support import max_examples, seeded
from vocabulary_files import write

WITHOUT_PRE = {"aquila", "gpt-neox"}
"""The vocabularies without tokenizer.ggml.pre, which llama.cpp splits like preset "default"."""
WITHOUT_VECTORS = {*WITHOUT_PRE, "baichuan"}
SEPARATOR = "\n__ggml_vocab_test__\n"


def path_of(name: str) -> Path:
    """Return the GGUF file of a vocabulary; skip the test if it does not exist."""
    return vocabularies()[name]


def loaded(path: Path, backend: BackendName = "native") -> Tokenizer:
    """Load a file, with preset "default" if it names none."""
    try:
        return bpe.load(path, backend=backend)
    except MissingPresetError:
        return bpe.load(path, "default", backend=backend)


def texts_of(tok: Tokenizer) -> list[str]:
    """Return the tokens that are text, with spaces."""
    found = []
    for token in tok.vocabulary.token_bytes.values():
        try:
            found.append(token.decode().replace("▁", " "))
        except UnicodeDecodeError:
            continue
    return found


def test_the_list_of_names_is_that_of_the_sources() -> None:
    code = (sources() / "src" / "llama-vocab.cpp").read_text(encoding="utf-8")
    assert sorted({*re.findall(r'tokenizer_pre == "([^"]+)"', code)} - {""}) == PRE_TYPES


@pytest.mark.parametrize("name", PRE_TYPES)
def test_each_name_has_a_preset_or_an_error(name: str, tmp_path: Path, native: BackendName) -> None:
    path = write(tmp_path / "a.gguf", gguf(metadata(pre=name, bos_token_id=0)))
    if name not in NOT_BYTE_LEVEL:
        tok = bpe.load(path)
        assert tok.preset == pretok.get(name).preset
    elif name == "whitespace":
        with pytest.raises(bpe.UnsupportedError, match=r'pre is "whitespace", .*not supported'):
            bpe.load(path)
    else:
        assert bpe.load(path).preset is not None


@pytest.mark.parametrize("name", sorted({*NAMES} - WITHOUT_VECTORS))
def test_published_vectors(name: str, c_library: CLibrary, backend: BackendName) -> None:
    path = path_of(name)
    given = path.with_name(f"{path.name}.inp").read_bytes().decode()
    texts = given.removesuffix(SEPARATOR).split(SEPARATOR)
    lines = path.with_name(f"{path.name}.out").read_text().splitlines()
    assert len(texts) == len(lines) > 40
    tok = loaded(path, backend)
    ours = CTokenizer(c_library, path)
    for text, line in zip(texts, lines, strict=True):
        ids = [*map(int, line.split())]
        assert tok.encode(text, "text") == ids, text
        assert ours.encode(text.encode(), "text") == ids, text
        if name != "falcon" or "\x00" not in text:
            assert tok.decode(ids) == text
            assert ours.decode(ids) == text.encode()


@pytest.mark.parametrize("name", NAMES)
def test_random_texts(name: str, native: BackendName) -> None:
    """Compare Python with llama.cpp; test_llama_header.py compares C."""
    llama = LlamaVocabulary(path_of(name))
    tok = loaded(path_of(name))
    source = seeded(f"llama.cpp {name}")
    tokens = source.sample(texts_of(tok), 2000) + [token.content for token in tok.added_tokens] * 3
    for _ in range(max_examples(2000)):
        text = random_text(source, tokens)
        if name in REMOVED:
            text = re.sub(REMOVED[name], "", text)
        for special, parses in (("text", False), ("allow", True)):
            expected = llama.tokenize(text, parse_special=parses)
            assert tok.encode(text, special) == expected, ascii(text)


def with_pre(name: str, folder: Path) -> Path:
    """Return a file with GPT-2's vocabulary and this value of tokenizer.ggml.pre."""
    keys = [f"tokenizer.ggml.{key}" for key in ("model", "tokens", "token_type", "merges")]
    values = gguf_metadata.load(path_of("gpt-2"), keys) | {"general.architecture": "llama"}
    values |= {"tokenizer.ggml.pre": name, "tokenizer.ggml.add_bos_token": False}
    return write(folder / "gpt-2.gguf", gguf(values))


SPLITS = {pretok.get(name).preset: name for name in PRE_TYPES if name not in NOT_BYTE_LEVEL}
"""A value of tokenizer.ggml.pre for each preset that has one."""
DIFFERENT = {pre: text for pre, (text, _) in DIFFERENCES.items()}
"""The shortest texts that llama.cpp splits in another way than the original tokenizer."""


@pytest.mark.parametrize("name", sorted(SPLITS.values()))
def test_splits(name: str, tmp_path: Path, native: BackendName) -> None:
    """llama.cpp splits random texts as the presets do, except in documented cases."""
    if name == "falcon":
        pytest.skip("with GPT-2's merges, Falcon's original split changes ids, so pretok refuses")
    path = with_pre(name, tmp_path)
    tok, llama = bpe.load(path), LlamaVocabulary(path)
    different = [text for pre, text in DIFFERENT.items() if pretok.get(pre) == tok.pre_tokenizer]
    for text in different:
        assert tok.encode(text) != llama.tokenize(text)
    source = seeded(f"llama.cpp split {name}")
    tokens = source.sample(texts_of(tok), 2000)
    for _ in range(0 if different else max_examples(200)):
        text = random_text(source, tokens)
        assert tok.encode(text, "text") == llama.tokenize(text), ascii(text)


@pytest.mark.parametrize(
    ("name", "text", "parses", "ids", "ours"),
    [
        ("deepseek-llm", "  \u3000", False, [243, 88946], [207, 207, 88946]),
        ("falcon", " \u061d", False, [204, 158, 235], [25349, 235]),
        (
            "llama-bpe",
            "\U00013892/s",
            False,
            [172, 241, 95, 240, 14, 82],
            [172, 241, 95, 240, 2754],
        ),
        ("qwen2", "</s>", True, [128247], [522, 82, 29]),
        ("qwen35", "</s>", True, [128247], [522, 82, 29]),
        ("aquila", "<|endoftext|>", True, [0], [28, 92, 665, 2363, 2390, 92, 30]),
        ("phi-3", "</s>", False, [1533, 29879, 29958], [2]),
        ("phi-3", "<|end|>\xa0", True, [32007, 20246], [32007]),
        (
            "gemma-4",
            "<|tool_response>",
            False,
            [236820, 236909, 13205, 236779, 6275, 236813],
            [50],
        ),
        (
            "deepseek-coder",
            "<｜fim▁hole｜>",
            False,
            [27, 169, 121, 237, 69, 308, 11028, 210, 19496, 169, 121, 237, 29],
            [32015],
        ),
        ("gpt-2", b"a\xffb", False, [64, 4210, 65], [64, 187, 65]),
    ],
)
def test_documented_differences(
    name: str, text: str | bytes, parses: bool, ids: list[int], ours: list[int], native: BackendName
) -> None:
    assert LlamaVocabulary(path_of(name)).tokenize(text, parse_special=parses) == ids
    assert loaded(path_of(name)).encode(text, "allow" if parses else "text") == ours


def test_documented_differences_of_decoding(native: BackendName) -> None:
    path = path_of("command-r")
    llama, tok = LlamaVocabulary(path), bpe.load(path)
    assert llama.piece(264) == b"[UNK_BYTE_0xe2808d\xe2\x80\x8d]"
    assert tok.token_bytes(264) == b"\xe2\x80\x8d"
    path = path_of("gpt-2")
    ids = bpe.load(path).encode("a . 'm b")
    assert LlamaVocabulary(path).detokenize(ids) == b"a.'m b"
    assert bpe.load(path).decode(ids) == "a . 'm b"


@pytest.mark.parametrize("name", NAMES)
def test_both_backends_load_the_same(
    name: str, native: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    tok = loaded(path_of(name))
    states_split = name not in ("aquila", "gpt-neox")
    assert isinstance(tok._spec, FileSpec) == states_split
    monkeypatch.setattr("bpe.formats.gguf.read_native", lambda _: None)
    assert_same(tok, loaded(path_of(name), "python"))


def test_the_list_of_vocabularies_is_whole() -> None:
    assert list(vocabularies()) == [*NAMES]


def scored_file(source: Random) -> bytes:
    """Return a file of SentencePiece's BPE with few letters, equal scores, and all types."""
    words = {"".join(source.choices("▁abc", k=source.randrange(2, 6))) for _ in range(14)}
    words -= {"▁▁", "bb"}
    rows = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    rows += [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    rows += [(letter, source.choice([0.0, -1.0, -1000.0]), 1) for letter in "▁abc"]
    scores = [0.0, -0.0, -1.0, -2.0, -2.0, -3.0, -4.0, -1000.0]
    rows += [
        (word, source.choice(scores), source.choice([0, 1, 1, 1, 5])) for word in sorted(words)
    ]
    rows += [("▁▁", -1000.0, 4), ("bb", -1000.0, 4), ("<u>", -1000.0, 4), ("<c>", -1000.0, 3)]
    rows += [("<n>", -1000.0, 1), ("[PAD1]", -1000.0, 5), ("[PAD2]", -10000.0, 2)]
    texts, values, types = zip(*rows, strict=True)
    return gguf(sentencepiece_metadata([*texts], [*types], [*values], eos_token_id=2))


def scored_text(source: Random) -> str:
    """Return a text for a scored_file."""
    parts = [*"   aabbcc▁d\n", "▁▁", "bb", "<u>", "<c>", "<n>", "[PAD1]", "[PAD2]", "é"]
    return "".join(source.choices(parts, k=source.randrange(14)))


def test_scores_with_ties(tmp_path: Path, c_library: CLibrary, backend: BackendName) -> None:
    """Python, C and (where it is built) llama.cpp agree on added tokens and equal scores."""
    source = seeded("scores")
    for number in range(max_examples(30)):
        path = write(tmp_path / f"{number}.gguf", scored_file(source))
        tok = bpe.load(path, backend=backend)
        ours = CTokenizer(c_library, path)
        for _ in range(20):
            text = scored_text(source)
            for special in ("text", "allow"):
                ids = tok.encode(text, special)
                assert ours.encode(text.encode(), special) == ids, text
                assert tok.decode(ids) == ours.decode(ids).decode()


def test_scores_with_ties_in_llama_cpp(tmp_path: Path, native: BackendName) -> None:
    library()
    source = seeded("scores of llama.cpp")
    for number in range(max_examples(30)):
        path = write(tmp_path / f"{number}.gguf", scored_file(source))
        tok, llama = bpe.load(path), LlamaVocabulary(path)
        for _ in range(20):
            text = scored_text(source)
            assert tok.encode(text, "text") == llama.tokenize(text), text
            assert tok.encode(text, "allow") == llama.tokenize(text, parse_special=True), text
