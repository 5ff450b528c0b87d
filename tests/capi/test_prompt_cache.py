"""pretok_prompt_cache: the ids of pretok_encode, its numbers, its bound and its salts."""

from __future__ import annotations

import ctypes as c
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, Template, Tokenizer
from bpe.formats import pretok_file
from c_library import CError, CLibrary, CTokenizer
from c_segments import Part, encode_segments, in_c
from prompts import prompts
from support import max_examples, seeded
from text_pretok_files import NAMES, model_of

PIECES = ["the ", "<e>", "ab\n", "\n", "é", "e\u0301", " ", "line of words\n" * 60, "x" * 90]
FIELDS = ("calls", "bytes", "bytes_reused", "ids", "ids_reused", "chunks", "bytes_held", "evicted")


class _Reuse(c.Structure):
    _fields_ = [("prefix", c.c_size_t), ("total", c.c_size_t)]


class _Statistics(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), *((name, c.c_uint64) for name in FIELDS)]


class CPromptCache:
    def __init__(self, tokenizer: CTokenizer, max_bytes: int) -> None:
        self.tokenizer, self.library = tokenizer, tokenizer.library
        size = c.c_size_t(max_bytes)
        self.handle = self.library.made("prompt_cache_new", tokenizer.handle, size)

    def __del__(self) -> None:
        self.library.free("prompt_cache", self.handle)

    def encode(
        self, text: bytes, special: Any = "raise", template: bool = False, salt: bytes = b""
    ) -> tuple[list[int], int, int]:
        """Return the ids, and the numbers of reused ids; with a large and with an exact buffer."""
        options = self.tokenizer._options(special, template)
        given = (self.handle, text, c.c_size_t(len(text)), options, salt, c.c_size_t(len(salt)))
        bound = self.library.bound(self.tokenizer.handle, c.c_size_t(len(text)))
        count, reuse = c.c_size_t(), _Reuse()
        room = (c.c_uint32 * bound)()
        rest = (c.byref(count), c.byref(reuse))
        self.library.call("prompt_cache_encode", *given, room, c.c_size_t(bound), *rest)
        found = room[: count.value], reuse.prefix, reuse.total
        exact = (c.c_uint32 * count.value)()
        self.library.call("prompt_cache_encode", *given, exact, count, c.byref(count), None)
        assert list(exact) == found[0]
        return found

    def encode_segments(self, parts: list[Part], joined: bool) -> tuple[list[int], list[int]]:
        """Return the ids and the ends of segments; a CError has the index of its segment."""
        segments, count = in_c(self.tokenizer, parts), c.c_size_t(len(parts))
        ends, failed, found = (c.c_size_t * len(parts))(), c.c_size_t(77), c.c_size_t()
        room = (c.c_uint32 * (1 << 17))()

        def call(ends: object) -> list[int]:
            self.library.call(
                "prompt_cache_encode_segments", self.handle, segments, count, c.c_bool(joined),
                None, c.c_size_t(0), room, c.c_size_t(1 << 17), c.byref(found), ends, None,
                c.byref(failed),
            )  # fmt: skip
            return room[: found.value]

        try:
            ids = call(ends)
        except CError as error:
            error.text = failed.value
            raise
        assert call(None) == ids
        return ids, list(ends)

    def statistics(self) -> dict[str, int]:
        result = _Statistics(c.sizeof(_Statistics))
        self.library.call("prompt_cache_statistics", self.handle, c.byref(result))
        return {name: getattr(result, name) for name in FIELDS}


def byte_level(**options: Any) -> Tokenizer:
    made = bpe.train(["the line of words ab\n\n é"] * 3, 280).vocabulary
    return Tokenizer(made, "gpt2", added_tokens=[AddedToken("<e>", 900)], **options)


def in_c_library(library: CLibrary, tok: Tokenizer) -> CTokenizer:
    return CTokenizer(library, pretok_file.dump(tok.to_spec()))


MODELS: dict[str, dict[str, Any]] = {
    "byte-level": {},
    "NFC": {"normalizer": "NFC"},
    "prefix": {"add_prefix_space": True},
}


@pytest.mark.parametrize("name", [*MODELS, *NAMES])
def test_ids_are_those_of_encode(name: str, c_library: CLibrary) -> None:
    tok = byte_level(**MODELS[name]) if name in MODELS else model_of(name)
    ours = in_c_library(c_library, tok)
    cache = CPromptCache(ours, 1 << 20)
    random = seeded(f"prompts in C {name}")
    policies = ["text", "allow", {"<e>"} if "<e>" in tok.special_tokens else "content"]
    for text in prompts(random, PIECES, max_examples(20)):
        special: Any = random.choice(policies)
        data = (text + random.choice(PIECES) * random.randrange(4)).encode()
        assert cache.encode(data, special)[0] == ours.encode(data, special)
        assert cache.statistics()["bytes_held"] <= 1 << 20


def outcome(call: Callable[[], tuple[Any, Any]]) -> tuple[Any, ...]:
    """Return the result of a call, or its error."""
    try:
        return call()
    except CError as error:
        return str(error), error.text, error.position


@pytest.mark.parametrize("name", [*MODELS, *NAMES])
def test_segments_are_those_of_encode_segments(name: str, c_library: CLibrary) -> None:
    tok = byte_level(**MODELS[name]) if name in MODELS else model_of(name)
    ours = in_c_library(c_library, tok)
    cache = CPromptCache(ours, 1 << 24)
    random = seeded(f"prompt segments in C {name}")
    parts: list[Part] = []
    for _ in range(max_examples(20)):
        at = random.randrange(len(parts) + 1)
        text = "".join(random.choices(PIECES, k=random.randrange(9))).encode()
        ids = random.choices(range(200), k=random.choice([0, 0, 0, 2]))
        new: Part = (text, random.choice(["text", "allow", "content", "raise"]), ids)
        parts = [*parts[:at], new, *parts[at:]][-25:]
        joined = random.random() < 0.8
        expected = outcome(lambda: encode_segments(ours, parts, joined)[:2])  # noqa: B023
        for _ in range(2):
            found = outcome(lambda: cache.encode_segments(parts, joined))  # noqa: B023
            assert found == expected, parts
        if isinstance(expected[0], str):
            parts.remove(new)
    assert cache.statistics()["ids_reused"] > 0


def test_ids_are_not_taken_for_segments(c_library: CLibrary) -> None:
    """The ids have the bytes that the key of a chunk has for four segments."""
    ours = in_c_library(c_library, byte_level())
    text = b"the line of words\n" * 500
    segment = struct.pack("=QcQ", 1, b"1", 4)  # the policy "text", and the end
    ids = np.frombuffer(segment * 4, np.uint32).tolist()
    prompts: list[list[Part]] = [
        [(b"the ", "text", []), *[(b"", "text", [])] * 4, (text, "text", [])],
        [(b"the ", "text", ids), (text, "text", [])],
    ]
    for order in (prompts, prompts[::-1]):
        cache = CPromptCache(ours, 1 << 24)
        for parts in order:
            assert cache.encode_segments(parts, True) == encode_segments(ours, parts, True)[:2]


def test_numbers_salts_and_errors(c_library: CLibrary) -> None:
    tok = byte_level(template=Template((7, 8), (9,)))
    ours = in_c_library(c_library, tok)
    cache = CPromptCache(ours, 1 << 22)
    text = "\n".join(map(str, range(4000))).encode()
    ids = tok.encode(text)
    found, prefix, total = cache.encode(text, template=True)
    assert (found, prefix, total) == ([7, 8, *ids, 9], 0, 0)
    found, prefix, total = cache.encode(text, template=True)
    assert (found, prefix) == ([7, 8, *ids, 9], total + 2)
    assert 0.7 * len(ids) < total < len(ids)
    others: list[dict[str, Any]] = [{"salt": b"x"}, {"special": "allow"}, {"special": {"<e>"}}]
    for other in others:
        assert cache.encode(text, **other)[2] == 0
    numbers = cache.statistics()
    assert (numbers["calls"], numbers["ids"]) == (10, 10 * len(ids))
    with pytest.raises(CError) as error:
        cache.encode(text + b"<e>")
    assert (error.value.status, error.value.position) == ("special token", len(text))
    assert cache.statistics()["calls"] == 10
    c_library._dll["pretok_prompt_cache_clear"](cache.handle)
    assert cache.statistics()["chunks"] == 0
    assert cache.encode(text)[2] == 0
    assert CPromptCache(ours, 0).encode(text)[0] == ids
