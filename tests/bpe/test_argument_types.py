"""Arguments of any type: both backends give equal results or equal errors for every call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pretok
from bpe import AddedToken, BpeError, Tokenizer
from pretok.machine.backend import BackendName
from vocabulary_files import made_vocabulary

VALUES: dict[str, Callable[[], Any]] = {
    "array of str": lambda: np.array(["ab cd", "ef"]),
    "array of one str": lambda: np.array("ab cd"),
    "array of bytes": lambda: np.array([b"ab cd"]),
    "array of objects": lambda: np.array(["ab cd"], object),
    "array of numbers": lambda: np.array([97, 98]),
    "array of uint8": lambda: np.frombuffer(b"ab cd", np.uint8),
    "array with gaps": lambda: np.frombuffer(b"ab cd", np.uint8)[::2],
    "array of two dimensions": lambda: np.zeros((2, 2), np.uint8),
    "array of large numbers": lambda: np.array([1 << 40]),
    "array of negative numbers": lambda: np.array([-1], np.int8),
    "numpy str": lambda: np.str_("ab cd"),
    "numpy bytes": lambda: np.bytes_(b"ab cd"),
    "list of str": lambda: ["ab cd"],
    "list of str and bytes": lambda: ["ab", b"cd"],
    "list of None": lambda: [None],
    "list of ints": lambda: [97],
    "list of floats": lambda: [97.0],
    "list of paths": lambda: [Path("ab")],
    "list of lists": lambda: [["ab"]],
    "empty list": list,
    "tuple": lambda: ("ab cd",),
    "set": lambda: {"ab cd"},
    "dict": lambda: {"ab": 1},
    "iterator": lambda: iter(["ab cd"]),
    "None": lambda: None,
    "int": lambda: 3,
    "float": lambda: 1.5,
    "bool": lambda: True,
    "path": lambda: Path("ab"),
    "object": object,
    "str": lambda: "ab cd",
    "bytes": lambda: b"ab cd",
    "bytearray": lambda: bytearray(b"ab cd"),
    "memoryview": lambda: memoryview(b"ab cd"),
    "memoryview of ints": lambda: np.array([1, 2], np.int32).data,
    "memoryview of str": lambda: np.array(["ab cd"]).data,
    "memoryview with gaps": lambda: memoryview(b"ab cd")[::2],
}
CALLS: dict[str, Callable[[Tokenizer, Any], Any]] = {
    **{
        name: lambda tok, value, name=name: getattr(tok, name)(value)  # type: ignore[misc]
        for name in (
            "encode", "encode_array", "count", "tokens", "token_spans", "merge", "_safe_cut",
            "encode_batch", "encode_batch_array", "decode", "decode_bytes", "decode_batch",
            "token_bytes", "token_id",
        )
    },
    "encode_padded": lambda tok, value: tok.encode_padded(value, pad_id=0),
    "encode_packed": lambda tok, value: tok.encode_packed(value, np.array([0, 2])),
    "encode_packed, offsets": lambda tok, value: tok.encode_packed(b"ab cd", value),
    "encode_part": lambda tok, value: tok._encode_part(value, is_first=True),
    "encode_part, later": lambda tok, value: tok._encode_part(value, is_first=False),
    "feed": lambda tok, value: tok.decode_stream().feed(value),
    "special": lambda tok, value: tok.encode("ab cd", value),
    "special of a batch": lambda tok, value: tok.encode_batch(["ab"], value),
    "errors": lambda tok, value: tok.encode("ab cd", errors=value),
    "errors of a batch": lambda tok, value: tok.encode_batch(["ab"], errors=value),
    "threads": lambda tok, value: tok.encode("ab cd", threads=value),
    "threads of a batch": lambda tok, value: tok.encode_batch(["ab"], threads=value),
    "errors of decoding": lambda tok, value: tok.decode([97], errors=value),
    "unknown": lambda tok, value: tok.decode([97], unknown=value),
}  # fmt: skip
OF_PRE_TOKENIZERS = ["split", "split_bytes", "offsets", "spans", "count", "split_batch", "explain"]
EXPECTED = TypeError, ValueError, LookupError, BpeError, NotImplementedError


def plain(result: Any) -> object:
    """Return a result as an object that can be compared."""
    if isinstance(result, np.ndarray):
        return str(result.dtype), result.tolist()
    if isinstance(result, (list, tuple)):
        return type(result).__name__, [plain(item) for item in result]
    if isinstance(result, Iterator):
        return plain(list(result))
    return type(result).__name__, repr(result)


def outcome(call: Callable[[Any], Any], value: Any) -> object:
    try:
        return plain(call(value))
    except EXPECTED as error:
        return type(error).__name__, re.sub("0x[0-9a-f]+", "an address", str(error))


@pytest.fixture(scope="module")
def tokenizers(native: BackendName) -> list[Tokenizer]:
    added = [AddedToken("<s>", 300)]
    return [
        Tokenizer(made_vocabulary(), "gpt2", added_tokens=added, backend=backend)
        for backend in (native, "python")
    ]


@pytest.mark.parametrize("name", CALLS)
def test_tokenizers(name: str, tokenizers: list[Tokenizer]) -> None:
    ours, python = tokenizers
    for kind, make in VALUES.items():
        found = outcome(lambda value: CALLS[name](ours, value), make())
        wanted = outcome(lambda value: CALLS[name](python, value), make())
        if name == "_safe_cut" and isinstance(make(), (bytes, bytearray, memoryview)):
            # Only C++ finds cuts. A memoryview must have bytes.
            assert wanted == ("int", "0") or wanted == found, kind
        else:
            assert found == wanted, kind


@pytest.mark.parametrize("name", ["_safe_cut", "merge", "encode", "encode_part, later"])
def test_memory_of_other_objects_is_no_text(name: str, tokenizers: list[Tokenizer]) -> None:
    for tok in tokenizers:
        for kind, make in VALUES.items():
            if kind.startswith("array") or kind in ("memoryview of str", "memoryview of ints"):
                with pytest.raises(TypeError, match=r"^expected (str or |a memoryview of )?bytes"):
                    CALLS[name](tok, make())


@pytest.mark.parametrize("name", OF_PRE_TOKENIZERS)
def test_pre_tokenizers(name: str, native: BackendName) -> None:
    ours, python = (pretok.get("gpt2", backend=backend) for backend in (native, "python"))
    for kind, make in VALUES.items():
        found, wanted = (outcome(getattr(each, name), make()) for each in (ours, python))
        assert found == wanted, kind


def test_streams_of_pre_tokens(native: BackendName) -> None:
    for kind, make in VALUES.items():
        ours, python = (pretok.get("gpt2", backend=backend) for backend in (native, "python"))
        assert outcome(ours.stream().feed, make()) == outcome(python.stream().feed, make()), kind
