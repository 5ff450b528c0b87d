"""The C interface and Python give equal results for models whose tokens are text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, SpecialTokenError, Tokenizer
from bpe.formats import pretok_file
from bpe.token_facts import TokenType
from c_library import STATUSES, CError, CLibrary, CTokenizer
from gguf_files import gguf, sentencepiece_metadata
from paths import shared
from sentencepiece_models import BPE, BYTE_FALLBACK, BYTES, UNKNOWN, message, model, normal, trained
from support import max_examples, seeded
from text_models import SENTENCES
from text_pretok_files import NAMES, model_of
from vocabulary_files import write

PIECES = [*SENTENCES[:3], " ", "  ", "     ", "▁", " ▁", "\n", "the", " hello", "aaaa", "日本", "é",
          "\u2047", "\U0001f600", "<s>", "</s>", "<unk>", "<sep>", "foo", "<0x41>", "A b", "x",
          "\ufffd"]  # fmt: skip
BAD = [b"\xff", b"\xc3", b"\xe2\x96", b"\xe2\x96\x81\x81", b"\xf0\x9f", b"\xed\xa0\x80"]


def real(name: str) -> Tokenizer:
    """Return a published model."""
    return bpe.load(shared("vocabs", *name.split("/")))


def texts(source: random.Random, count: int) -> Iterator[bytes]:
    """Yield random texts, some of them not UTF-8."""
    everything = [*map(str.encode, PIECES), *BAD]
    for _ in range(count):
        pieces = source.sample(everything, 4)
        size = source.choice([0, 1, 3, 12, 60])
        yield b"".join(source.choice(pieces) for _ in range(size))


def expected_ids(
    tok: Tokenizer, data: bytes, special: str, continuation: bool
) -> list[int] | CError:
    """Return the ids that Python gives, or the error that the C interface must give."""
    try:
        return tok.encode(data, special, continuation=continuation)
    except SpecialTokenError as error:
        return CError(STATUSES.index("special token"), error.position, "")


def check(c_library: CLibrary, tok: Tokenizer, source: random.Random, count: int) -> None:
    """Compare every call of the C interface with Python, on `count` random texts."""
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    assert c_library.vocab_size(ours.handle) == tok.vocab_size
    all_ids = list(tok.vocabulary.token_bytes) + [token.id for token in tok.added_tokens]
    for id in source.choices(all_ids, k=30):
        token = tok.token_bytes(id)
        assert ours.token_bytes(id) == token
        assert c_library.is_special(ours.handle, id) == (id in tok.special_tokens.values())
    for data in texts(source, count):
        special = source.choice(["raise", "text", "allow", "plain"])
        continues = source.random() < 0.3
        expected = expected_ids(tok, data, special, continues)
        if isinstance(expected, CError):
            for call in (ours.encode, ours.spans):
                with pytest.raises(CError, match=expected.status) as raised:
                    call(data, special, continuation=continues)
                assert raised.value.position == expected.position
            continue
        assert ours.encode(data, special, continuation=continues) == expected
        ids, *offsets = tok.token_spans(data, special, continuation=continues, trim_offsets=False)
        spans = list(zip(*map(np.ndarray.tolist, offsets), strict=True))
        assert ours.spans(data, special, continuation=continues) == (ids.tolist(), spans)
        assert ours.decode(expected) == tok.decode_bytes(expected)
        size = source.choice([1, 2, 7, 100])
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        assert ours.stream(chunks, special, continuation=continues) == expected
        some = source.choices([*expected, *source.choices(all_ids, k=5)], k=source.randrange(9))
        for mixed in (some, source.choices(range(3, 259), k=4) + some):
            check_decoding(tok, ours, [id for id in mixed if id in all_ids], source)


def check_decoding(tok: Tokenizer, ours: CTokenizer, ids: list[int], source: random.Random) -> None:
    """Compare decoding by one call, and by a stream that gets the ids in chunks."""
    skip = source.random() < 0.5
    assert ours.decode(ids, skip) == tok._decode_bytes(ids, skip)
    ends = sorted({0, *source.choices(range(len(ids) + 1), k=3), len(ids)})
    chunks = [ids[start:end] for start, end in pairwise(ends)]
    stream = tok.decode_stream(skip_special=skip)
    expected = [*map(stream.feed, chunks), stream.finish()]
    decoded = ours.decode_stream(chunks, skip)
    # The streams of Python and C may return the same text after different chunks.
    assert "".join(decoded) == "".join(expected) == tok.decode(ids, skip_special=skip)


@pytest.mark.parametrize("name", NAMES)
def test_small_models(c_library: CLibrary, name: str) -> None:
    check(c_library, model_of(name), seeded(name), max_examples(40))


@pytest.mark.parametrize("name", ["spm/llama2.model", "hf/mistral03.json"])
def test_published_models(c_library: CLibrary, name: str) -> None:
    tok = real(name)
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    data = shared("texts", "udhr.txt").read_bytes()[:200_000]
    ids = tok.encode(data, "text")
    assert ours.encode(data, "text") == ids
    assert ours.decode(ids) == tok.decode_bytes(ids)
    chunks = [data[at : at + 1000] for at in range(0, len(data), 1000)]
    assert ours.stream(chunks, "text") == ids
    assert ours.token_id("▁the".encode()) == tok.token_id("▁the")
    assert ours.token_id(b"A") == tok.token_id("A")


@pytest.mark.parametrize(
    "name", ["llama2.model", "tokenizer.model.v1", "mistral_instruct_tokenizer_240323.model.v3"]
)
def test_published_models_of_sentencepiece(c_library: CLibrary, name: str) -> None:
    """The C interface reads .model files without Python, and gives the ids of sentencepiece."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    path = published(name)
    ours, tok = CTokenizer(c_library, path), bpe.load(path)
    live = sentencepiece.SentencePieceProcessor(model_file=str(path))
    text = shared("texts", "udhr.txt").read_bytes()[:100_000].decode(errors="ignore")
    for part in (text, *(text[at : at + 50] for at in range(0, 20_000, 500)), "  a   b ▁ \n",
                 "[INST] x [REFERENCE_DOC_1][REF]  y[/REF] [IMG]<s>"):  # fmt: skip
        ids = ours.encode(part.encode(), "text")
        assert ids == live.encode(part) == tok.encode(part, "text")
        assert ours.decode(ids).decode() == live.decode(ids)


def published(name: str) -> Path:
    if name.endswith(".model"):
        return shared("vocabs", "spm", name)
    package = pytest.importorskip("mistral_common")
    return Path(package.__file__).parent / "data" / name


def test_a_published_gguf_file(c_library: CLibrary) -> None:
    """The C interface reads SentencePiece's BPE from a GGUF file, with the ids of llama.cpp."""
    path = shared("vocabs", "gguf", "ggml-vocab-llama-spm.gguf")
    ours, tok = CTokenizer(c_library, path), bpe.load(path)
    saved = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    texts = Path(f"{path}.inp").read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")
    rows = Path(f"{path}.out").read_text(encoding="utf-8").splitlines()
    assert len(rows) > 20
    for text, row in zip(texts, rows, strict=False):
        ids = [int(id) for id in row.split()]
        assert ours.encode(text.encode(), "text") == ids == saved.encode(text.encode(), "text")
        assert ours.decode(ids) == tok.decode_bytes(ids)
    for special in ("text", "allow"):
        data = b"a <s> b</s>c"
        expected = tok.encode(data, special, add_special_tokens=True)
        assert ours.encode(data, special, template=True) == expected


@pytest.mark.parametrize("changes", [{}, {"add_space_prefix": False}])
def test_small_gguf_files(c_library: CLibrary, tmp_path: Path, changes: dict[str, Any]) -> None:
    data = gguf(sentencepiece_metadata(**changes))
    tok = bpe.load(write(tmp_path / "small.gguf", data))
    ours = CTokenizer(c_library, data)
    source = seeded(str(changes))
    parts = ["a", "b", "c", "ab", " ", "▁", "<user>", "<s>", "é", "abc", "<0x41>"]
    for _ in range(max_examples(60)):
        text = "".join(source.choices(parts, k=source.randrange(12))).encode()
        ids = tok.encode(text, "allow")
        assert ours.encode(text, "allow") == ids
        assert ours.stream([text[:5], text[5:]], "allow") == ids
        assert ours.decode(ids) == tok.decode_bytes(ids)


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no prefix": {"add_dummy_prefix": False},
    "over spaces": {"split_by_whitespace": False},
    "spaces": {"allow_whitespace_only_pieces": True},
    "symbols": {"user_defined_symbols": ["<sep>", "foo"], "control_symbols": ["<ctl>"]},
    "symbols, no prefix": {"user_defined_symbols": ["foo", "x"], "add_dummy_prefix": False},
}


@pytest.mark.parametrize("options", OPTIONS)
def test_trained_models_of_sentencepiece(c_library: CLibrary, tmp_path: Path, options: str) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    data = trained(SENTENCES, byte_fallback=True, vocab_size=400, remove_extra_whitespaces=False,
                   normalization_rule_name="identity", **OPTIONS[options])  # fmt: skip
    path = write(tmp_path / "small.model", data)
    ours, tok = CTokenizer(c_library, data), bpe.load(path, backend="python")
    live = sentencepiece.SentencePieceProcessor(model_proto=data)
    source = seeded(options)
    for text in texts(source, max_examples(60)):
        ids = ours.encode(text, "text")
        assert ids == tok.encode(text, "text")
        if text == text.decode(errors="replace").encode():
            assert ids == live.encode(text.decode())
        assert ours.decode(ids) == tok.decode_bytes(ids)
        assert ours.stream([text[:7], text[7:]], "text") == ids
        assert tok.encode(text, "allow") == ours.encode(text, "allow")


UNUSED = [(text, 0.0, TokenType.UNUSED) for text in ("b", "<x▁b>", "é", "▁▁q")]


@pytest.mark.parametrize("fallback", [False, True])
def test_pieces_of_type_unused(c_library: CLibrary, tmp_path: Path, fallback: bool) -> None:
    """No text becomes an UNUSED piece, but its id decodes to its text."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    rows = [UNKNOWN, *BYTES] if fallback else [UNKNOWN]
    rows += [*UNUSED[:2], *normal("▁", "a", "x", "<", "xa", "<x", "▁a"), *UNUSED[2:]]
    data = model(rows, BYTE_FALLBACK if fallback else BPE)
    ours = CTokenizer(c_library, data)
    tok = bpe.load(write(tmp_path / "unused.model", data))
    live = sentencepiece.SentencePieceProcessor(model_proto=data)
    source = seeded(f"unused {fallback}")
    for _ in range(max_examples(40)):
        text = "".join(source.choices("ab<x▁ >éq", k=source.randrange(9)))
        ids = live.encode(text)
        assert ours.encode(text.encode()) == ids == tok.encode(text)
        some = source.choices(range(len(rows)), k=6)
        assert ours.decode(some) == tok.decode_bytes(some)
        assert "".join(ours.decode_stream([some], False)) == live.decode(some) == tok.decode(some)
    pair = model([*rows, ("aa", 0.0, TokenType.UNUSED)], BYTE_FALLBACK if fallback else BPE)
    with pytest.raises(CError, match=r"unsupported: .* has type UNUSED"):
        CTokenizer(c_library, pair)


A = normal("▁", "a", "▁a")
TIES = [(text, 0.0, TokenType.NORMAL) for text in ("▁", "a", "b", "ab", "▁a")]


@pytest.mark.parametrize("pieces", [TIES, normal("▁", "a", "ab")], ids=["ties", "no character"])
@pytest.mark.parametrize("fallback", [False, True])
def test_models_without_a_list_of_merges(
    c_library: CLibrary, tmp_path: Path, pieces: list[Any], fallback: bool
) -> None:
    """Several pieces have equal scores, or a character of a piece is not a piece."""
    rows = [UNKNOWN, *BYTES] if fallback else [UNKNOWN]
    data = model([*rows, *pieces], BYTE_FALLBACK if fallback else BPE)
    ours = CTokenizer(c_library, data)
    tok = bpe.load(write(tmp_path / "scores.model", data))
    source = seeded(f"scores {len(pieces)} {fallback}")
    for _ in range(max_examples(40)):
        text = "".join(source.choices("ab▁ é", k=source.randrange(30)))
        ids = tok.encode(text)
        utf8 = text.encode()
        assert ours.encode(utf8) == ids == ours.stream([utf8[:9], utf8[9:]])
        assert ours.decode(ids) == tok.decode_bytes(ids)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (model([UNKNOWN, *BYTES, *A], [(3, 1)]), "unsupported: .* is of type Unigram"),
        (model([UNKNOWN, *A], BPE, [(2, b"x")]), "malformed: the charsmap .* is truncated"),
        (model([UNKNOWN, *BYTES, *A], BYTE_FALLBACK, more=[(5, message([(2, b"x")]))]),
         "a denormalizer"),
        (model([UNKNOWN, *A, *normal("<0x41>")]), "which looks like a fallback token"),
        (model([("⁇", 0.0, TokenType.UNKNOWN), *BYTES, *A], BYTE_FALLBACK), "of one character"),
        (model([UNKNOWN, *BYTES, *A, *A], BYTE_FALLBACK), "malformed: two pieces .* are equal"),
        (model([UNKNOWN, *BYTES, *A], BYTE_FALLBACK)[:-1], "malformed: the model has a field"),
    ],
)  # fmt: skip
def test_models_that_are_refused(c_library: CLibrary, data: bytes, problem: str) -> None:
    with pytest.raises(CError, match=problem):
        CTokenizer(c_library, data)


def test_options_that_text_models_refuse(c_library: CLibrary) -> None:
    data = pretok_file.dump(model_of("llama").to_spec())
    with pytest.raises(CError, match="invalid argument: the file says how to split and normalize"):
        CTokenizer(c_library, data, "gpt2")
    with pytest.raises(CError, match="invalid argument: the file says how to split and normalize"):
        CTokenizer(c_library, data, normalizer="NFC")
    tok = model_of("llama")
    more = CTokenizer(c_library, data, special_tokens={"<more>": 5000})
    spec = tok.to_spec()
    added = (*spec.added_tokens, AddedToken("<more>", 5000))
    assert spec.preset is not None
    python = Tokenizer(spec.vocabulary, spec.preset, added_tokens=added,
                       normalizer=spec.normalizer, decoder=spec.decoder)  # fmt: skip
    ids = python.encode("a <more> b", "allow")
    assert 5000 in ids
    assert more.encode(b"a <more> b", "allow") == ids
    assert more.decode(ids) == python.decode_bytes(ids)


def test_streams_add_the_space_before_a_text_once(c_library: CLibrary) -> None:
    """A stream encodes a long text in parts. Only the first part gets the space before the text."""
    ours = CTokenizer(c_library, pretok_file.dump(model_of("llama").to_spec()))
    data = b"the quick brown fox " * 500
    assert ours.stream([data[at : at + 64] for at in range(0, len(data), 64)], "text") == (
        ours.encode(data, "text")
    )
