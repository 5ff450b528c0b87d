"""Build the C library, and call it through ctypes."""

from __future__ import annotations

import ctypes as c
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from bpe.token_facts import ROLES
from built_once import compiler, run
from paths import CPP

STATUSES = ("ok", "out of memory", "invalid argument", "too small", "unknown name", "cannot read",
            "malformed", "unsupported", "special token", "unknown id", "removes text", "finished",
            "no token", "internal")  # fmt: skip
WAYS = {"raise": 0, "text": 1, "allow": 2, "plain": 3, "content": 4}
GGUF_STRING = 8
GGUF_NUMBERS: dict[int, Any] = {
    0: c.c_uint8, 1: c.c_int8, 2: c.c_uint16, 3: c.c_int16, 4: c.c_uint32, 5: c.c_int32,
    6: c.c_float, 7: c.c_bool, 10: c.c_uint64, 11: c.c_int64, 12: c.c_double,
}  # fmt: skip
GgufValue: TypeAlias = "tuple[str, int, str | float | list[str] | list[float]]"
"""A key, the type of the value or of the elements, and the value."""


class CError(Exception):
    """The error of a failed call."""

    def __init__(self, status: int, position: int, message: str) -> None:
        super().__init__(f"{STATUSES[status]}: {message}")
        self.status = STATUSES[status]
        self.position = position
        self.text = 0


class _Error(c.Structure):
    _fields_ = [("status", c.c_int), ("position", c.c_size_t), ("message", c.c_char * 240)]


class _Span(c.Structure):
    _fields_ = [("start", c.c_size_t), ("end", c.c_size_t)]


class _Special(c.Structure):
    _fields_ = [("text", c.c_char_p), ("size", c.c_size_t), ("id", c.c_uint32)]


class _LoadOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("preset", c.c_char_p),
        ("unicode", c.c_char_p),
        ("normalizer", c.c_char_p),
        ("special_tokens", c.POINTER(_Special)),
        ("special_token_count", c.c_size_t),
        ("pre_tokenizer", c.c_void_p),
        ("cache_bytes", c.c_size_t),
        ("default_preset", c.c_char_p),
        ("dropout", c.c_bool),
    ]


class _EncodeOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("special", c.c_int),
        ("allowed", c.c_void_p),
        ("add_special_tokens", c.c_bool),
        ("continuation", c.c_bool),
        ("dropout", c.c_double),
        ("seed", c.c_uint64),
    ]


class _GgufValue(c.Structure):
    _fields_ = [
        ("key", c.c_char_p),
        ("type", c.c_int),
        ("is_array", c.c_bool),
        ("count", c.c_size_t),
        ("data", c.c_void_p),
        ("sizes", c.POINTER(c.c_size_t)),
    ]


class _Facts(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("roles", c.c_uint32 * 14),
        ("add_bos", c.c_bool),
        ("add_eos", c.c_bool),
        ("end_ids", c.POINTER(c.c_uint32)),
        ("end_id_count", c.c_size_t),
        ("chat_template", c.c_char_p),
        ("chat_template_size", c.c_size_t),
        ("max_token_bytes", c.c_size_t),
    ]


class _Vocabulary(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("count", c.c_size_t),
        ("bytes", c.c_void_p),
        ("offsets", c.POINTER(c.c_uint32)),
        ("types", c.POINTER(c.c_uint8)),
        ("sorted", c.POINTER(c.c_uint32)),
        ("sorted_count", c.c_size_t),
    ]


class CLibrary:
    """The functions of pretok.h. A call with a status other than PRETOK_OK raises CError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._dll = c.CDLL(os.fspath(path))
        self.version: bytes = self._returning("pretok_version", c.c_char_p)()
        self.preset_count: int = self._returning("pretok_preset_count", c.c_size_t)()
        self.preset_name = self._returning("pretok_preset_name", c.c_char_p)
        self.vocab_size = self._returning("pretok_vocab_size", c.c_size_t)
        self.dropout_of = self._returning("pretok_tokenizer_dropout", c.c_double)
        self.preset_of = self._returning("pretok_tokenizer_preset", c.c_char_p)
        self.is_special = self._returning("pretok_is_special", c.c_bool)
        self.bound = self._returning("pretok_encode_bound", c.c_size_t)
        self.stopped = self._returning("pretok_decode_stream_stopped", c.c_size_t)
        self.stream_size = self._returning("pretok_decode_stream_size", c.c_size_t)

    def _returning(self, name: str, kind: Any) -> Any:
        function = self._dll[name]
        function.restype = kind
        return function

    def call(self, name: str, *arguments: object) -> None:
        """Call the function pretok_NAME, which returns a status and takes an error last."""
        error = _Error()
        status = self._dll[f"pretok_{name}"](*arguments, c.byref(error))
        if status != 0:
            assert error.status == status
            raise CError(status, error.position, error.message.decode())

    def free(self, name: str, handle: c.c_void_p) -> None:
        """Free a handle."""
        self._dll[f"pretok_{name}_free"](handle)

    def made(self, name: str, *arguments: object) -> c.c_void_p:
        """Return the handle that the function pretok_NAME creates."""
        handle = c.c_void_p()
        self.call(name, *arguments, c.byref(handle))
        return handle


class CPreTokenizer:
    """A pretok_pre_tokenizer."""

    def __init__(self, library: CLibrary, handle: c.c_void_p) -> None:
        self.library = library
        self.handle = handle

    @classmethod
    def named(cls, library: CLibrary, name: str, unicode: str | None = None) -> CPreTokenizer:
        """Return the pre-tokenizer of a preset."""
        version = None if unicode is None else unicode.encode()
        return cls(library, library.made("pre_tokenizer_named", name.encode(), version))

    @classmethod
    def of_program(cls, library: CLibrary, words: Sequence[int], unicode: str) -> CPreTokenizer:
        """Return the pre-tokenizer of a program: compiled rules as 32-bit words."""
        array = (c.c_uint32 * len(words))(*words)
        size = c.c_size_t(len(words))
        made = library.made("pre_tokenizer_from_program", array, size, unicode.encode())
        return cls(library, made)

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """Return the spans of the pre-tokens.

        First calls the function without a buffer, to get their number. Then checks that a buffer
        for one span less is an error.
        """
        count = c.c_size_t()
        given = (self.handle, data, c.c_size_t(len(data)))
        self.library.call("spans", *given, None, c.c_size_t(0), c.byref(count))
        room = (_Span * count.value)()
        if count.value:
            few = c.c_size_t(count.value - 1)
            with pytest.raises(CError, match="too small"):
                self.library.call("spans", *given, room, few, c.byref(count))
        self.library.call("spans", *given, room, c.c_size_t(len(room)), c.byref(count))
        return [(span.start, span.end) for span in room]

    def __del__(self) -> None:
        self.library.free("pre_tokenizer", self.handle)


class CTokenizer:
    """A pretok_tokenizer."""

    def __init__(
        self,
        library: CLibrary,
        source: bytes | Path | list[GgufValue],
        preset: str | None = None,
        special_tokens: dict[str, int] | None = None,
        normalizer: str | None = None,
        pre_tokenizer: CPreTokenizer | None = None,
        default_preset: str | None = None,
        dropout: bool = False,
    ) -> None:
        self.library = library
        self.handle = c.c_void_p()
        given = (special_tokens or {}).items()
        tokens = [_Special(text.encode(), len(text.encode()), id) for text, id in given]
        options = _LoadOptions(
            c.sizeof(_LoadOptions),
            preset and preset.encode(),
            None,
            normalizer and normalizer.encode(),
            (_Special * len(tokens))(*tokens),
            len(tokens),
            pre_tokenizer and pre_tokenizer.handle,
            0,
            default_preset and default_preset.encode(),
            dropout,
        )
        if isinstance(source, list):
            values = (_GgufValue * len(source))(*map(_gguf_value, source))
            count = c.c_size_t(len(source))
            self.handle = library.made(
                "tokenizer_from_gguf_values", values, count, c.byref(options)
            )
        elif isinstance(source, bytes):
            size = c.c_size_t(len(source))
            self.handle = library.made("tokenizer_from_memory", source, size, c.byref(options))
        else:
            path = os.fsencode(source)
            self.handle = library.made("tokenizer_from_file", path, c.byref(options))
        self._sets: list[c.c_void_p] = []
        self.dropout: float = library.dropout_of(self.handle)
        self.draws = (0.0, 0)
        """The encode options dropout and seed of later calls."""

    def __del__(self) -> None:
        for made in getattr(self, "_sets", ()):
            self.library.free("special_set", made)
        self.library.free("tokenizer", self.handle)

    def _options(
        self, special: str | Collection[str], add_special_tokens: bool, continuation: bool = False
    ) -> Any:
        size = c.sizeof(_EncodeOptions)
        options = _EncodeOptions(size, 0, None, add_special_tokens, continuation, *self.draws)
        if isinstance(special, str):
            options.special = WAYS[special]
        else:
            texts = [text.encode() for text in special]
            array = (c.c_char_p * len(texts))(*texts)
            sizes = (c.c_size_t * len(texts))(*map(len, texts))
            count = c.c_size_t(len(texts))
            made = self.library.made("special_set_new", self.handle, array, sizes, count)
            self._sets.append(made)
            options.allowed = made.value
        return c.byref(options)

    def encode(
        self,
        data: bytes,
        special: str | Collection[str] = "raise",
        template: bool = False,
        continuation: bool = False,
    ) -> list[int]:
        """Return the ids of a text.

        Checks that a large buffer and a buffer of the exact size give the same ids, and that
        pretok_count gives their number.
        """
        count = c.c_size_t()
        options = self._options(special, template, continuation)
        given = (self.handle, data, c.c_size_t(len(data)), options)
        bound = self.library.bound(self.handle, c.c_size_t(len(data)))
        room = (c.c_uint32 * bound)()
        self.library.call("encode", *given, room, c.c_size_t(bound), c.byref(count))
        found: list[int] = room[: count.value]
        self.library.call("count", *given, c.byref(count))
        assert count.value == len(found)
        exact = (c.c_uint32 * len(found))()
        self.library.call("encode", *given, exact, count, c.byref(count))
        assert list(exact) == found
        return found

    def spans(
        self,
        data: bytes,
        special: str | Collection[str] = "raise",
        template: bool = False,
        continuation: bool = False,
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the ids of a text, and the span of each token.

        Checks that a call without buffers gives their number, and that a buffer for one id less is
        an error.
        """
        count = c.c_size_t()
        options = self._options(special, template, continuation)
        given = (self.handle, data, c.c_size_t(len(data)), options)
        self.library.call("encode_spans", *given, None, None, c.c_size_t(0), c.byref(count))
        ids, spans = (c.c_uint32 * count.value)(), (_Span * count.value)()
        if count.value:
            few = c.c_size_t(count.value - 1)
            with pytest.raises(CError, match="too small"):
                self.library.call("encode_spans", *given, ids, spans, few, c.byref(count))
        self.library.call("encode_spans", *given, ids, spans, count, c.byref(count))
        return list(ids), [(span.start, span.end) for span in spans]

    def batch(
        self,
        texts: Sequence[bytes],
        special: str | Collection[str] = "raise",
        template: bool = False,
        continuation: bool = False,
        threads: int = 0,
    ) -> list[list[int]]:
        """Return the ids of each text.

        Checks that a large buffer, a buffer of the exact size and a new array have the same ids. A
        CError has the index of its text as `text`.
        """
        ends, failed = (c.c_size_t * len(texts))(), c.c_size_t(len(texts))
        given = (
            self.handle, (c.c_char_p * len(texts))(*texts),
            (c.c_size_t * len(texts))(*map(len, texts)), c.c_size_t(len(texts)),
            self._options(special, template, continuation), c.c_uint32(threads),
        )  # fmt: skip
        sizes = [self.library.bound(self.handle, c.c_size_t(len(text))) for text in texts]
        found = []
        for capacity in (sum(sizes), None):
            size = c.c_size_t(capacity if capacity is not None else ends[-1] if texts else 0)
            room = (c.c_uint32 * size.value)()
            try:
                self.library.call("encode_batch", *given, room, size, ends, c.byref(failed))
            except CError as error:
                error.text = failed.value
                raise
            found.append(room[: ends[-1] if texts else 0])
        made = c.POINTER(c.c_uint32)()
        self.library.call("encode_batch_new", *given, c.byref(made), ends, c.byref(failed))
        found.append(made[: len(found[0])])
        self.library._dll.pretok_ids_free(made)
        assert found[0] == found[1] == found[2]
        return [found[0][start:end] for start, end in pairwise([0, *ends])]

    def encode_array(self, data: bytes) -> NDArray[np.uint32]:
        """Return the ids of a long text from one call of `pretok_encode`."""
        count = c.c_size_t()
        room = np.empty(self.library.bound(self.handle, c.c_size_t(len(data))), np.uint32)
        given = (self.handle, data, c.c_size_t(len(data)), None)
        ids = c.c_void_p(room.ctypes.data)
        self.library.call("encode", *given, ids, c.c_size_t(len(room)), c.byref(count))
        return room[: count.value]

    def stream(
        self,
        chunks: Iterable[bytes],
        special: str | Collection[str] = "raise",
        template: bool = False,
        continuation: bool = False,
    ) -> list[int]:
        """Return the ids of a text in chunks, from an encode stream."""
        options = self._options(special, template, continuation)
        stream = self.library.made("encode_stream_new", self.handle, options)
        ids, count = c.POINTER(c.c_uint32)(), c.c_size_t()
        found: list[int] = []
        try:
            for chunk in chunks:
                given = (stream, chunk, c.c_size_t(len(chunk)))
                self.library.call("encode_stream_feed", *given, c.byref(ids), c.byref(count))
                found += ids[: count.value]
            self.library.call("encode_stream_finish", stream, c.byref(ids), c.byref(count))
            return found + ids[: count.value]
        finally:
            self.library.free("encode_stream", stream)

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> bytes:
        """Return the bytes of ids."""
        size = c.c_size_t()
        array = (c.c_uint32 * len(ids))(*ids)
        given = (self.handle, array, c.c_size_t(len(ids)), c.c_bool(skip_special))
        self.library.call("decode", *given, None, c.c_size_t(0), c.byref(size))
        room = c.create_string_buffer(size.value)
        self.library.call("decode", *given, room, size, c.byref(size))
        return room.raw

    def decode_stream(self, chunks: Iterable[Sequence[int]], skip_special: bool) -> list[str]:
        """Return the text that each chunk of ids completes, and then the text of finish."""
        made = self.library.made("decode_stream_new", self.handle, c.c_bool(skip_special))
        text, size = c.c_void_p(), c.c_size_t()
        found: list[str] = []
        try:
            for ids in chunks:
                given = (made, (c.c_uint32 * len(ids))(*ids), c.c_size_t(len(ids)))
                self.library.call("decode_stream_feed", *given, c.byref(text), c.byref(size))
                found.append(bytes_at(text, size).decode())
            self.library.call("decode_stream_finish", made, c.byref(text), c.byref(size))
            return [*found, bytes_at(text, size).decode()]
        finally:
            self.library.free("decode_stream", made)

    def decode_batch(
        self, lists: Sequence[Sequence[int]], skip_special: bool, threads: int
    ) -> list[bytes]:
        """Return the bytes of each list of ids."""
        ids = [id for each in lists for id in each]
        starts = np.cumsum([0, *map(len, lists)]).tolist()
        offsets = (c.c_size_t * len(starts))(*starts)
        ends = (c.c_size_t * len(starts))()
        data = c.c_void_p()
        self.library.call(
            "decode_batch", self.handle, (c.c_uint32 * len(ids))(*ids), offsets,
            c.c_size_t(len(lists)), c.c_bool(skip_special), c.c_uint(threads), c.byref(data), ends,
        )  # fmt: skip
        try:
            text = bytes_at(data, c.c_size_t(ends[len(lists)]))
            return [text[start:end] for start, end in pairwise(ends)]
        finally:
            self.library.free("bytes", data)

    def facts(self) -> dict[str, Any]:
        """Return pretok_token_facts; only roles that a token has."""
        facts = _Facts(c.sizeof(_Facts))
        self.library.call("token_facts_of", self.handle, c.byref(facts))
        ids = zip(ROLES, facts.roles, strict=True)
        template = facts.chat_template
        assert len(template or b"") == facts.chat_template_size
        return {
            "roles": {role: id for role, id in ids if id != 0xFFFFFFFF},
            "ends": tuple(facts.end_ids[: facts.end_id_count]),
            "add_bos": facts.add_bos,
            "add_eos": facts.add_eos,
            "chat_template": None if template is None else template.decode(),
            "max_token_bytes": facts.max_token_bytes,
        }

    def kind(self) -> str:
        """Return the kind of the model, as Python names it."""
        kind: int = self.library._dll.pretok_tokenizer_kind(self.handle)
        return ("bytes", "sentencepiece", "text")[kind]

    def vocabulary(self) -> tuple[NDArray[Any], ...]:
        """Return copies of the arrays of pretok_vocabulary."""
        all_ = _Vocabulary(c.sizeof(_Vocabulary))
        self.library.call("vocabulary_of", self.handle, c.byref(all_))
        offsets = np.array(all_.offsets[: all_.count + 1], np.uint32)
        data = c.string_at(all_.bytes, int(offsets[-1]))
        types = np.array(all_.types[: all_.count], np.uint8)
        sorted_ids = np.array(all_.sorted[: all_.sorted_count], np.uint32)
        return np.frombuffer(data, np.uint8), offsets, types, sorted_ids

    def token_type(self, id: int) -> int:
        """Return the type of a token."""
        kind = c.c_int()
        self.library.call("token_type_of", self.handle, c.c_uint32(id), c.byref(kind))
        return kind.value

    def score(self, id: int) -> float:
        """Return the score of a token."""
        score = c.c_float()
        self.library.call("token_score", self.handle, c.c_uint32(id), c.byref(score))
        return score.value

    def rendered_bytes(self, id: int) -> bytes:
        """Return the bytes that a token adds in the middle of a text."""
        data, size = c.c_void_p(), c.c_size_t()
        given = (self.handle, c.c_uint32(id))
        self.library.call("rendered_bytes", *given, c.byref(data), c.byref(size))
        return bytes_at(data, size)

    def token_id(self, data: bytes) -> int:
        """Return the id of a token."""
        id = c.c_uint32()
        self.library.call("token_id", self.handle, data, c.c_size_t(len(data)), c.byref(id))
        return id.value

    def token_bytes(self, id: int) -> bytes:
        """Return the bytes of a token."""
        data, size = c.c_void_p(), c.c_size_t()
        given = (self.handle, c.c_uint32(id))
        self.library.call("token_bytes", *given, c.byref(data), c.byref(size))
        return bytes_at(data, size)


def _gguf_value(value: GgufValue) -> _GgufValue:
    """Return a pretok_gguf_value. Its sizes are set if a text has a NUL."""
    key, kind, content = value
    is_array = isinstance(content, list)
    elements = content if isinstance(content, list) else [content]
    made = _GgufValue(key.encode(), kind, is_array, len(elements))
    if kind == GGUF_STRING:
        texts = [str(text).encode() for text in elements]
        array: Any = (c.c_char_p * len(texts))(*texts)
        if any(b"\0" in text for text in texts):
            made.sizes = (c.c_size_t * len(texts))(*map(len, texts))
    else:
        array = (GGUF_NUMBERS[kind] * len(elements))(*elements)
    made.data = c.cast(array, c.c_void_p)
    made.kept = array  # data is only its address
    return made


def bytes_at(at: c.c_void_p, size: c.c_size_t) -> bytes:
    """Return `size` bytes of memory."""
    return c.string_at(at, size.value) if size.value else b""


def build(folder: Path) -> None:
    """Build the shared library libpretok.so in `folder`, from the files of cpp/amalgamate.py.

    `folder` also keeps these files, the object file pretok.o and the compiler's warnings.
    """
    cxx = compiler() or "c++"
    run(sys.executable, CPP / "amalgamate.py", folder)
    # -O0 compiles in a third of the time of -O2, and the code is fast enough for the tests.
    flags = ("-std=c++17", "-O0", "-Wall", "-Wextra", "-pthread", "-fPIC", "-fvisibility=hidden")
    macros = ("-DPRETOK_SHARED", "-DPRETOK_BUILDING")
    compiled = ("-c", folder / "pretok.cpp", "-o", folder / "pretok.o")
    (folder / "warnings").write_text(run(cxx, *flags, *macros, *compiled), encoding="utf-8")
    run(cxx, "-shared", "-pthread", folder / "pretok.o", "-o", folder / "libpretok.so")
