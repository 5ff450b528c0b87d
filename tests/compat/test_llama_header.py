"""cpp/compat/llama_vocab.h gives the results of llama.cpp's own functions."""

from __future__ import annotations

import ctypes as c
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from built_once import Built, compiler, library_sources
from built_once import run as compile_
from c_library import CLibrary, CTokenizer
from gguf_files import gguf, metadata, sentencepiece_metadata
from llama_texts import NAMES, REMOVED, random_text
from llama_vocab import LlamaVocabulary, library, vocabularies
from paths import CPP, HELPERS
from support import max_examples, seeded

FACTS = ("n_tokens", "bos", "eos", "eot", "sep", "pad", "mask", "fim_pre", "fim_suf", "fim_mid",
         "fim_pad", "fim_rep", "fim_sep", "get_add_bos", "get_add_eos")  # fmt: skip
TEXTS_OF_EACH = 2000
"""The number of random texts for each vocabulary."""
TEXTS = ["", "Hello world", "a ? b ! c . d , e", "it 's I 'm they 're we 've ' x ' y 't 'll",
         "  two  spaces ", "日本語 é 🦙", "x\n\ny\t z", " '", "' ' '"]  # fmt: skip


@pytest.fixture(scope="session")
def client(c_library: CLibrary, built: Built) -> c.CDLL:
    """Compile a client of the header as C, and check that it also compiles as C++."""
    source = HELPERS / "llama_header" / "client.c"

    def build(folder: Path) -> None:
        cxx = compiler() or "c++"
        options = ("-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden",
                   "-I", CPP / "compat", "-I", CPP / "capi")  # fmt: skip
        compile_(cxx, "-x", "c++", "-std=c++17", "-fsyntax-only", *options, source)
        compile_(cxx, "-x", "c", "-std=c99", *options, source, "-shared", "-o",
                 folder / "client.so", "-x", "none", c_library.path)  # fmt: skip

    headers = [source, CPP / "compat" / "llama_vocab.h", *library_sources()]
    path = built("llama_header", headers, build) / "client.so"
    found = c.CDLL(str(path))
    found.vocab_new.restype = c.c_void_p
    found.get_score.restype = c.c_float
    for name in ("is_eog", "is_control"):
        found[name].restype = c.c_bool
    return found


class HeaderVocabulary:
    """A pretok_llama_vocab, called like LlamaVocabulary."""

    def __init__(self, client: c.CDLL, tokenizer: CTokenizer, clean_spaces: bool = False) -> None:
        self.client, self.tokenizer = client, tokenizer
        self.handle = c.c_void_p(client.vocab_new(tokenizer.handle, c.c_bool(clean_spaces)))
        assert self.handle

    def __del__(self) -> None:
        self.client.vocab_delete(self.handle)

    def tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        """Return the ids, after a call with a buffer of no ids."""
        data = text.encode()
        given = (self.handle, data, c.c_int32(len(data)))
        flags = c.c_bool(add_special), c.c_bool(parse_special)
        needed = -self.client.tokenize(*given, None, c.c_int32(0), *flags)
        ids = (c.c_int32 * needed)()
        if needed:
            assert self.client.tokenize(*given, ids, c.c_int32(needed - 1), *flags) == -needed
        assert self.client.tokenize(*given, ids, c.c_int32(needed), *flags) == needed
        return list(ids)

    def piece(self, id: int, lstrip: int = 0, special: bool = True) -> bytes:
        """Return the text of a token."""
        return _text(
            lambda text, size: self.client.token_to_piece(
                self.handle, c.c_int32(id), text, c.c_int32(size), c.c_int32(lstrip),
                c.c_bool(special),
            )
        )  # fmt: skip

    def detokenize(self, ids: list[int], remove: bool, unparse: bool) -> bytes:
        """Return the text of tokens."""
        listed = (c.c_int32 * len(ids))(*ids)
        return _text(
            lambda text, size: self.client.detokenize(
                self.handle, listed, c.c_int32(len(ids)), text, c.c_int32(size),
                c.c_bool(remove), c.c_bool(unparse),
            )
        )  # fmt: skip

    def facts(self) -> dict[str, int]:
        """Return the number of tokens, the ids of the roles, and the flags."""
        values = (c.c_int32 * len(FACTS))()
        self.client.facts(self.handle, values)
        return dict(zip(FACTS, values, strict=True))


def _text(call: Callable[[Any, int], int]) -> bytes:
    """Return the text that `call` writes, after a call with a buffer that is too small."""
    size = -call(None, 0)
    text = c.create_string_buffer(size + 1)
    if size > 1:
        assert call(text, size - 1) == -size
    written = call(text, size)
    return text.raw[:written]


def of_llama(vocabulary: LlamaVocabulary, name: str, *arguments: Any, kind: Any = c.c_int32) -> Any:
    """Return the result of a function llama_vocab_NAME of llama.cpp."""
    function = library()[f"llama_vocab_{name}"]
    function.restype = kind
    return function(c.c_void_p(vocabulary._handle), *arguments)


def detokenized(vocabulary: LlamaVocabulary, ids: list[int], remove: bool, unparse: bool) -> bytes:
    """Return the result of llama_detokenize."""
    listed = (c.c_int32 * len(ids))(*ids)
    return vocabulary._text(
        lambda text, size: library().llama_detokenize(
            vocabulary._handle, listed, len(ids), text, size, remove, unparse
        )
    )


def random_ids(random: Random, count: int, limit: int, frequent: list[int]) -> list[int]:
    """Return random ids, about half of them from `frequent`."""
    return [
        random.choice(frequent) if random.random() < 0.5 else random.randrange(limit)
        for _ in range(count)
    ]


def tokenized(
    client: c.CDLL, function: Any, vocabulary: Any, texts: Sequence[bytes], *flags: bool
) -> list[list[int]]:
    """Return the ids of all texts, by a function like llama_tokenize."""
    ends = np.cumsum([0, *map(len, texts)]).astype(np.uint64)
    ids = np.empty(int(ends[-1]) + 8 * len(texts), np.int32)
    id_ends = np.zeros(len(ends), np.uint64)
    assert client.tokenize_all(
        c.cast(function, c.c_void_p), vocabulary, b"".join(texts), c.c_void_p(ends.ctypes.data),
        c.c_size_t(len(texts)), c.c_void_p(ids.ctypes.data), c.c_size_t(len(ids)),
        c.c_void_p(id_ends.ctypes.data), *map(c.c_bool, flags),
    )  # fmt: skip
    return [part.tolist() for part in np.split(ids, id_ends[1:].astype(int))[:-1]]


def pieces_of(vocabulary: HeaderVocabulary, random: Random) -> list[str]:
    """Return the texts of some tokens, and more often of the first and the last tokens."""
    limit = vocabulary.facts()["n_tokens"]
    ids = random.sample(range(limit), 2000) + [*range(20), *range(limit - 20, limit)] * 10
    pieces = [vocabulary.piece(id).decode(errors="ignore") for id in ids]
    return [piece for piece in pieces if piece]


@pytest.mark.parametrize("name", NAMES)
def test_results_equal_those_of_llama_cpp(c_library: CLibrary, client: c.CDLL, name: str) -> None:
    path = vocabularies()[name]
    theirs = LlamaVocabulary(path)
    tokenizer = CTokenizer(c_library, path, preset=_PRESETS.get(name))
    punctuated = theirs.tokenize("a ?")
    cleans = not detokenized(theirs, punctuated, False, True).endswith(b" ?")
    ours = HeaderVocabulary(client, tokenizer, cleans)
    facts = ours.facts()
    for fact in FACTS:
        kind = c.c_bool if fact.startswith("get") else c.c_int32
        assert facts[fact] == of_llama(theirs, fact, kind=kind), (name, fact)
    random = seeded(name)
    limit = facts["n_tokens"]
    frequent = [*theirs.tokenize(" ".join(TEXTS)), facts["bos"], facts["eos"]]
    frequent = [id for id in frequent if id >= 0]
    for id in random.sample(range(limit), max_examples(300)) + frequent:
        assert ours.piece(id) == theirs.piece(id), (name, id)
        token = c.c_int32(id)
        for question in ("is_eog", "is_control"):
            expected = of_llama(theirs, question, token, kind=c.c_bool)
            assert client[question](ours.handle, token) == expected, (name, question, id)
    for _ in range(max_examples(100)):
        ids = random_ids(random, random.randrange(12), limit, frequent)
        flags = random.random() < 0.5, random.random() < 0.5
        expected = detokenized(theirs, ids, *flags)
        assert ours.detokenize(ids, *flags) == expected, (name, ids, flags)
    for text in TEXTS:
        for add_special in (False, True):
            for parse_special in (False, True):
                expected_ids = theirs.tokenize(
                    text, add_special=add_special, parse_special=parse_special
                )
                assert ours.tokenize(text, add_special, parse_special) == expected_ids, (
                    name, text
                )  # fmt: skip

    pieces = pieces_of(ours, random)
    texts = [random_text(random, pieces) for _ in range(TEXTS_OF_EACH)]
    data = [re.sub(REMOVED.get(name, "^$"), "", text).encode() for text in texts]
    for flags in ((True, False), (False, True)):
        our_ids = tokenized(client, client.tokenize, ours.handle, data, *flags)
        their_ids = tokenized(
            client, library().llama_tokenize, c.c_void_p(theirs._handle), data, *flags
        )
        for given, got, expected_ids in zip(data, our_ids, their_ids, strict=True):
            assert got == expected_ids, (ascii(given.decode()), flags)


_PRESETS = {"aquila": "default", "gpt-neox": "default"}
"""The presets of files without tokenizer.ggml.pre."""


def test_policies_of_a_small_file(c_library: CLibrary, client: c.CDLL) -> None:
    """The last token of the file is the control token <|end|>, with id 264."""
    ours = HeaderVocabulary(client, CTokenizer(c_library, gguf(metadata())))
    assert ours.tokenize("<|end|>", False, True) == [264]
    assert 264 not in ours.tokenize("<|end|>", False, False)
    assert ours.piece(264) == b"<|end|>"
    assert ours.piece(264, special=False) == b""
    assert ours.piece(9999) == ours.piece(-1) == b""
    assert ours.facts()["eos"] == 264
    assert ours.facts()["bos"] == ours.facts()["pad"] == -1
    assert client.is_eog(ours.handle, c.c_int32(264))
    assert not client.is_eog(ours.handle, c.c_int32(263))
    assert not client.is_eog(ours.handle, c.c_int32(-1))


def test_user_defined_tokens_and_the_first_space(c_library: CLibrary, client: c.CDLL) -> None:
    data = gguf(sentencepiece_metadata())
    ours = HeaderVocabulary(client, CTokenizer(c_library, data))
    ids = ours.tokenize("ab<user>c", False, False)
    assert b"<user>" in [ours.piece(id) for id in ids]
    assert ours.detokenize(ids, False, False).startswith(b"ab<user>")
    assert ours.piece(ids[0]).startswith(b" ")
    assert not ours.piece(ids[0], lstrip=1).startswith(b" ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ? b ! c . d , e", "a? b! c. d, e"),
        ("it 's I 'm they 're we 've x 't 'll 'd", "it's I'm they're we've x 't 'll 'd"),
        ("a ' b ' c", "a'b'c"),
        (" ?", "?"),
        ("'", "'"),
        ("", ""),
    ],
)
def test_clean_spaces(c_library: CLibrary, client: c.CDLL, text: str, expected: str) -> None:
    ours = HeaderVocabulary(client, CTokenizer(c_library, gguf(metadata())), clean_spaces=True)
    ids = ours.tokenize(text, False, False)
    assert ours.detokenize(ids, False, True).decode() == expected
