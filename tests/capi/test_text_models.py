"""The C interface gives what Python gives for models whose tokens are text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

import bpe
from bpe import AddedToken, SpecialTokenError, Tokenizer
from bpe.formats import pretok_file
from c_library import CError, CLibrary, CTokenizer
from paths import shared
from support import max_examples, seeded
from text_models import SENTENCES
from text_pretok_files import NAMES, model_of

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


def expected_ids(tok: Tokenizer, data: bytes, special: str) -> list[int] | CError:
    """Return the ids, or the error as C has it."""
    try:
        return tok.encode(data, special)
    except SpecialTokenError as error:
        return CError(8, error.position, "")


def check(c_library: CLibrary, tok: Tokenizer, source: random.Random, count: int) -> None:
    """Check every call with a model."""
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    assert c_library.vocab_size(ours.handle) == tok.vocab_size
    ids = list(tok.vocabulary.token_bytes) + [token.id for token in tok.added_tokens]
    for id in source.choices(ids, k=30):
        token = tok.token_bytes(id)
        assert ours.token_bytes(id) == token
        assert c_library.is_special(ours.handle, id) == (id in tok.special_tokens.values())
    for data in texts(source, count):
        special = source.choice(["raise", "text", "allow"])
        expected = expected_ids(tok, data, special)
        if isinstance(expected, CError):
            with pytest.raises(CError, match=expected.status) as raised:
                ours.encode(data, special)
            assert raised.value.position == expected.position
            continue
        assert ours.encode(data, special) == expected
        assert ours.decode(expected) == tok.decode_bytes(expected)
        size = source.choice([1, 2, 7, 100])
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        assert ours.stream(chunks, special) == expected
        some = source.choices([*expected, *source.choices(ids, k=5)], k=source.randrange(9))
        for mixed in (some, source.choices(range(3, 259), k=4) + some):
            check_decoding(tok, ours, [id for id in mixed if id in ids], source)


def check_decoding(tok: Tokenizer, ours: CTokenizer, ids: list[int], source: random.Random) -> None:
    """Check decoding at once and as ids come."""
    skip = source.random() < 0.5
    assert ours.decode(ids, skip) == tok._decode_bytes(ids, skip)
    ends = sorted({0, *source.choices(range(len(ids) + 1), k=3), len(ids)})
    chunks = [ids[start:end] for start, end in pairwise(ends)]
    stream = tok.decode_stream(skip_special=skip)
    expected = [*map(stream.feed, chunks), stream.finish()]
    decoded = ours.decode_stream(chunks, skip)
    # Python may hold text back longer than C, or the other way around.
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


def test_options_that_text_models_refuse(c_library: CLibrary) -> None:
    data = pretok_file.dump(model_of("llama").to_spec())
    with pytest.raises(CError, match="invalid argument: the model merges characters"):
        CTokenizer(c_library, data, "gpt2")
    with pytest.raises(CError, match="invalid argument: the model merges characters"):
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


def test_streams_hold_little(c_library: CLibrary) -> None:
    """The parts of a long text begin without the space that comes before a text."""
    ours = CTokenizer(c_library, pretok_file.dump(model_of("llama").to_spec()))
    data = b"the quick brown fox " * 500
    assert ours.stream([data[at : at + 64] for at in range(0, len(data), 64)], "text") == (
        ours.encode(data, "text")
    )
