"""The C interface and Python give equal spans, ids, decoded texts, streams and errors."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import bpe
import pretok
from bpe import AddedToken, SpecialTokenError, Template, Tokenizer, UnknownTokenError, Vocabulary
from bpe.formats import pretok_file
from built_once import Built, compiler, library_sources
from built_once import run as compile_
from c_library import STATUSES, CError, CLibrary, CPreTokenizer, CTokenizer
from command_line import Call, error_of, running
from gguf_files import gguf, metadata
from paths import CPP, ROOT, shared
from pretok import ALL, Preset, Run, Spaces
from pretok.charsets import DIGIT, LETTER
from pretok.machine.backend import BackendName
from pretok.machine.program import serialize_stages
from support import SOME_NAMES, max_examples, seeded
from vocabularies import BYTES

PIECES = ["hello", " the", " world", " ", "  ", "     ", "\n", "\r\n", "'s", "'LL", "12", "1234",
          "中", "文", "<x>", "<xx>", "<end", ">", "<", "==", "//", "\t", "e\u0301", "\u0301",
          "é", ".", "!?", "\u3000", "\U0001f600", "A", "Ab", "\u1100\u1161", "\u11a8", "가",
          "word", "_", "\u0345\u0301", "\u2126", "\u00a0"]  # fmt: skip
BAD = [b"\xff", b"\xc3", b"\xe2\x80", b"\xf0\x9f", b"\x80", b"\xed\xa0\x80"]
MERGED = [b"he", b"ll", b"hell", b"hello", b" w", b"or", b" wor", b"'s", b"  ", b"12", b"\n\n",
          "中".encode(), "é".encode(), b"\xe4\xb8", b"\xf0\x9f", b" t", b" th",
          b" the"]  # fmt: skip
RANKS = Vocabulary(BYTES | {256 + at: token for at, token in enumerate(MERGED)})
FIRST_ADDED = 300


def random_data(source: random.Random, most: int) -> bytes:
    """Return a text that is hard to cut: it repeats few pieces, and may be invalid UTF-8."""
    pieces = [piece.encode() for piece in source.sample(PIECES, 5)]
    pieces += source.sample(BAD, source.choice([0, 0, 1]))
    everything = [*map(str.encode, PIECES), *BAD]
    count = source.randrange(most)
    return b"".join(
        source.choice(everything if source.random() < 0.1 else pieces) for _ in range(count)
    )


def chunks_of(source: random.Random, data: bytes) -> Iterator[bytes]:
    """Yield `data` in chunks, some of them empty."""
    most = source.choice([1, 2, 5, 100, 1000, len(data) + 1])
    at = 0
    while at < len(data):
        size = source.randint(0 if most > 1 else 1, most)
        yield data[at : at + size]
        at += size


def merges_of(source: random.Random) -> Vocabulary:
    """Return a vocabulary of merges. Sometimes three rare bytes have no token."""
    missing = {0xC0, 0xF2, 0xFF} if source.random() < 0.5 else set()
    tokens = {byte: bytes([byte]) for byte in range(256) if byte not in missing}
    merges: list[tuple[int, int, int]] = []
    for _ in range(20):
        letters = [b"h", b"e", b"l", b"o", b" ", b"1", b"\xc3", b"\xa9", b"w"]
        left, right = source.choices([*letters, *list(tokens.values())[-6:]], k=2)
        ids = {token: id for id, token in tokens.items()}
        if left in ids and right in ids and left + right not in ids:
            id = 256 + len(merges)
            merges.append((ids[left], ids[right], id))
            tokens[id] = left + right
    return Vocabulary(tokens, merges, ignore_merges=source.random() < 0.3)


def random_tokenizer(source: random.Random) -> Tokenizer:
    """Return a tokenizer with random values of all options that a .pretok file stores."""
    contents = source.sample(["<x>", "<xx>", "<end", "word", " the", "\n", "中", "é", "e\u0301",
                              "<", "==", "\u2126", "가"], source.randrange(5))  # fmt: skip
    added = [
        AddedToken(
            content,
            FIRST_ADDED + at,
            special=source.random() < 0.5,
            normalized=source.random() < 0.3,
            lstrip=source.random() < 0.2,
            rstrip=source.random() < 0.2,
            single_word=source.random() < 0.2,
        )
        for at, content in enumerate(contents)
    ]
    return Tokenizer(
        RANKS if source.random() < 0.5 else merges_of(source),
        source.choice(SOME_NAMES),
        added_tokens=added,
        normalizer=source.choice([None, "NFC"]),
        add_prefix_space=source.random() < 0.3,
        template=Template((104,), (101, 108)) if source.random() < 0.5 else None,
    )


def wanted(tok: Tokenizer, data: bytes, special: str, template: bool) -> list[int] | CError:
    """Return the ids that Python gives, or the error that the C interface must give."""
    try:
        return tok.encode(data, special, add_special_tokens=template)
    except SpecialTokenError as error:
        return CError(STATUSES.index("special token"), error.position, "")
    except UnknownTokenError:
        return CError(STATUSES.index("no token"), 0, "")


def test_presets_by_name(c_library: CLibrary) -> None:
    names = [c_library.preset_name(index).decode() for index in range(c_library.preset_count)]
    assert names == [preset.name for preset in pretok.presets() if preset.name in names]
    assert {preset.name for preset in pretok.presets()} >= set(names)
    assert c_library.preset_name(len(names)) is None
    version = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{c_library.version.decode()}"\n' in version


def test_spans_of_every_preset(c_library: CLibrary) -> None:
    source = seeded(1)
    texts = [random_data(source, 60) for _ in range(12)] + [b""]
    for index in range(c_library.preset_count):
        name = c_library.preset_name(index).decode()
        ours = CPreTokenizer.named(c_library, name)
        python = pretok.get(name)
        for text in texts:
            kept = [text[start:end] for start, end in ours.spans(text)]
            assert kept == python.split_bytes(text)
            if not python.preset.drops_text:
                chars = text.decode("utf-8", "replace")
                bounds = python.offsets(chars, "byte").tolist()
                assert ours.spans(chars.encode()) == [*pairwise(bounds)]


def test_ids_of_random_tokenizers(c_library: CLibrary) -> None:
    source = seeded(2)
    refused = 0
    for _ in range(max_examples(60)):
        tok = random_tokenizer(source)
        ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
        assert c_library.vocab_size(ours.handle) == tok.vocab_size
        assert c_library.preset_of(ours.handle).decode() == getattr(tok.preset, "name", None)
        for _ in range(12):
            data = random_data(source, source.choice([12, 60]))
            special = source.choice(["raise", "text", "allow"])
            template = source.random() < 0.3
            expected = wanted(tok, data, special, template)
            if isinstance(expected, CError):
                refused += 1
                with pytest.raises(CError, match=expected.status) as raised:
                    ours.encode(data, special, template)
                if expected.status == "special token":
                    assert raised.value.position == expected.position
                continue
            assert ours.encode(data, special, template) == expected
            assert ours.decode(expected) == tok.decode_bytes(expected)
            assert ours.decode(expected, True).decode("utf-8", "replace") == tok.decode(
                expected, skip_special=True
            )
    assert refused > 10


def test_sets_of_special_tokens(c_library: CLibrary) -> None:
    source = seeded(3)
    contents = ["<x>", "<xx>", "<end", "word"]
    added = [AddedToken(content, FIRST_ADDED + at) for at, content in enumerate(contents)]
    tok = Tokenizer(RANKS, "cl100k", added_tokens=added)
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    for _ in range(40):
        data = random_data(source, 30)
        names = set(source.sample(contents, source.randrange(4)))
        assert ours.encode(data, names) == tok.encode(data, names)


def test_streams_of_random_tokenizers(c_library: CLibrary) -> None:
    source = seeded(4)
    for _ in range(max_examples(60)):
        tok = random_tokenizer(source)
        ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
        for _ in range(3):
            data = random_data(source, source.choice([60, 2500]))
            special = source.choice(["raise", "text", "allow"])
            template = source.random() < 0.3
            expected = wanted(tok, data, special, template)
            for _ in range(3):
                chunks = chunks_of(source, data)
                if not isinstance(expected, CError):
                    assert ours.stream(chunks, special, template) == expected
                    continue
                with pytest.raises(CError) as raised:
                    ours.stream(chunks, special, template)
                if expected.status == "special token":
                    assert raised.value.position == expected.position
                # One call may report a byte without a token; the stream may find a refused special
                # token in an earlier chunk.
                assert raised.value.status in {expected.status, "special token"}


def test_decode_streams(c_library: CLibrary) -> None:
    source = seeded(5)
    tok = Tokenizer(RANKS, "cl100k", added_tokens=[AddedToken("<x>", FIRST_ADDED)])
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    for _ in range(200):
        ids = [source.choice([*range(0xC0, 0x100), *range(0x78, 0xC8), 256, 269, FIRST_ADDED])
               for _ in range(source.randrange(12))]  # fmt: skip
        skip = source.random() < 0.5
        ends = sorted({0, *source.choices(range(len(ids) + 1), k=4), len(ids)})
        chunks = [ids[start:end] for start, end in pairwise(ends)]
        stream = tok.decode_stream(skip_special=skip)
        expected = [*map(stream.feed, chunks), stream.finish()]
        assert ours.decode_stream(chunks, skip) == expected


def test_tokens(c_library: CLibrary) -> None:
    tok = Tokenizer(RANKS, "gpt2", added_tokens=[AddedToken("<x>", 400),
                                                 AddedToken("é", 401, special=False)])  # fmt: skip
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    for id, token in RANKS.token_bytes.items():
        assert ours.token_bytes(id) == token
        if token != "é".encode():
            assert ours.token_id(token) == tok.token_id(token)
    assert ours.token_id("é".encode()) == tok.token_id("é") == 401
    assert ours.token_bytes(400) == b"<x>"
    assert [id for id in range(500) if c_library.is_special(ours.handle, id)] == [400]
    with pytest.raises(CError, match="unknown id"):
        ours.token_bytes(399)
    with pytest.raises(CError, match="unknown name"):
        ours.token_id(b"zz")


def test_a_byte_without_a_token_is_an_error(c_library: CLibrary) -> None:
    tok = Tokenizer(Vocabulary({b: bytes([b]) for b in range(0xF5)}, []), "gpt2")
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    assert ours.encode("é\U0001f600".encode()) == list("é\U0001f600".encode())
    for call in (ours.encode, lambda data: ours.stream([data[:2], data[2:]])):
        with pytest.raises(CError, match="no token: the text has byte 0xfe at offset 3") as raised:
            call(b"abc\xfe")
        assert raised.value.position == 3


def test_files_and_options(c_library: CLibrary, tmp_path: Path) -> None:
    tok = Tokenizer(RANKS, "llama3", added_tokens=[AddedToken("<x>", 400)], normalizer="NFC")
    path = tmp_path / "é.tiktoken"
    Tokenizer(RANKS, "llama3").save(path)
    ours = CTokenizer(c_library, path, "llama-bpe", {"<x>": 400}, "NFC")
    assert c_library.preset_of(ours.handle) == b"llama3"
    data = "e\u0301 <x> 가\u11a8".encode()
    assert ours.encode(data, "allow") == tok.encode(data, "allow")
    with pytest.raises(CError, match="invalid argument: a rank file does not say how to split"):
        CTokenizer(c_library, path)
    with pytest.raises(CError, match=r"cannot read: .*No such file"):
        CTokenizer(c_library, tmp_path / "none")
    with pytest.raises(CError, match='removes text: preset "clip"'):
        CTokenizer(c_library, path, "clip")


def test_a_preset_for_files_that_name_none(c_library: CLibrary, tmp_path: Path) -> None:
    path = tmp_path / "old.gguf"
    path.write_bytes(gguf(metadata(pre=...)))
    with pytest.raises(CError, match=r"there is no tokenizer\.ggml\.pre"):
        CTokenizer(c_library, path)
    ours = CTokenizer(c_library, path, default_preset="default")
    assert c_library.preset_of(ours.handle) == b"default"
    with pytest.raises(CError, match="unknown name"):
        CTokenizer(c_library, path, default_preset="no-such")
    path.write_bytes(gguf(metadata()))
    ours = CTokenizer(c_library, path, default_preset="no-such")
    assert c_library.preset_of(ours.handle) == b"gpt2"


def test_the_weights_of_a_gguf_file_are_not_read(c_library: CLibrary, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(metadata(add_bos_token=True, bos_token_id=264)))
    tok = bpe.load(path)
    os.truncate(path, 1 << 34)  # a sparse file of 16 GB, which takes no space on the disk
    ours = CTokenizer(c_library, path)
    for special in ("text", "allow"):
        text = b"hello <|end|>"
        expected = tok.encode(text, special, add_special_tokens=True)
        assert ours.encode(text, special, template=True) == expected
        assert expected[0] == 264
    path.write_bytes(b"")
    os.truncate(path, 1 << 31)
    with pytest.raises(CError, match=r"malformed: .* more than 536870912 bytes"):
        CTokenizer(c_library, path)


@pytest.fixture
def own_preset() -> Preset:
    """A preset of two stages that is not built in."""
    from pretok import Stage

    return Preset(
        "capi-own",
        stages=(Stage((Run(DIGIT, at_most=2),)), Stage((Run(LETTER), Spaces(ALL)))),
    )


def test_a_preset_that_is_not_built_in(
    c_library: CLibrary, call: Call, own_registry: None, own_preset: Preset
) -> None:
    pretok.register(own_preset)
    status, printed, errors = call("program", "capi-own")
    assert (status, errors) == (0, "")
    assert f"Unicode {own_preset.unicode}" in printed
    body = printed[printed.index("{") + 1 : printed.index("}")]
    words = [int(word, 16) for word in body.replace(",", " ").split()]
    assert words == serialize_stages(own_preset.stages)
    ours = CPreTokenizer.of_program(c_library, words, own_preset.unicode)
    python = pretok.PreTokenizer(own_preset)
    source = seeded(6)
    tok = Tokenizer(RANKS, own_preset)
    loaded = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    replaced = CTokenizer(
        c_library, pretok_file.dump(Tokenizer(RANKS, "gpt2").to_spec()), pre_tokenizer=ours
    )
    for _ in range(40):
        data = random_data(source, 60)
        assert [data[start:end] for start, end in ours.spans(data)] == python.split_bytes(data)
        assert loaded.encode(data) == replaced.encode(data) == tok.encode(data)


def test_the_command_program_writes_binary(call: Call) -> None:
    with running("program", "o200k", "--binary", stdout=subprocess.PIPE) as process:
        found = process.communicate()[0]
    assert process.returncode == 0
    assert np.frombuffer(found, "<u4").tolist() == serialize_stages(
        pretok.get("o200k").preset.stages
    )
    assert "unknown preset" in error_of(call, "program", "qwen4")


@pytest.fixture(scope="session")
def ids_program(c_library: CLibrary, built: Built) -> Path:
    """The compiled program cpp/tests/ids.cpp, which writes the ids of its input."""
    source = CPP / "tests" / "ids.cpp"
    library = c_library.path

    def build(folder: Path) -> None:
        compile_(compiler() or "c++", "-std=c++17", "-I", library.parent, source, library,
                 f"-Wl,-rpath,{library.parent}", "-o", folder / "ids")  # fmt: skip

    return built("ids", [source, *library_sources()], build) / "ids"


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_python_c_and_cpp_give_the_same_ids(
    c_library: CLibrary, ids_program: Path, native: BackendName, name: str
) -> None:
    path = shared("vocabs", f"{name}_base.tiktoken")
    tok = bpe.load(path, name, special_tokens={}, backend=native)
    ours = CTokenizer(c_library, path, name)
    texts = sorted(shared("texts").glob("*.txt"))
    assert texts
    parts = [text.read_bytes()[: 1 << 16] for text in texts]
    for text, data in zip(texts, parts, strict=True):
        assert np.array_equal(ours.encode_array(data), tok.encode_array(data)), text.name
    data = b"".join(parts)
    run = subprocess.run(
        [ids_program, path, name], input=data, capture_output=True, check=True, timeout=1200
    )
    assert np.array_equal(np.frombuffer(run.stdout, np.uint32), tok.encode_array(data))
