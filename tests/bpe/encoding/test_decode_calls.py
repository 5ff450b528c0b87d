"""Ids to text: every kind of container, bytes that are not UTF-8, ids that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe import AddedToken, UnknownTokenError, Vocabulary
from pretok.pretokenizer import BackendName
from support import max_examples
from vocabularies import BYTES
from vocabulary_files import made, made_vocabulary

PARTS = st.sampled_from(
    [
        *(b"a", b"some ascii text", b"x" * 130),
        *(text.encode() for text in ("é", "а" * 5, "中" * 4, "中" * 50, "\U0001f600", "\x80", "Ā")),
        *(b"\xef\xbf\xbf", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xed\xa0\x80"),
        *(b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xc1\xbf"),
        *(b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\x80", b"\xff"),
    ]
)


def outcome(decode: Callable[[], str]) -> object:
    """Return the text, or what is said of the bytes."""
    try:
        return decode()
    except UnicodeDecodeError as error:
        return error.args


@given(parts=st.lists(PARTS, max_size=12))
@example([b"\xe4", b"a" * 200])
@settings(max_examples=max_examples(400))
def test_bytes_that_may_be_no_utf8(native: BackendName, parts: list[bytes]) -> None:
    data = b"".join(parts)
    ours = made(native, Vocabulary(BYTES, []), special=())
    for errors in ("replace", "ignore", "backslashreplace", "surrogateescape"):
        assert ours.decode(list(data), errors) == data.decode("utf-8", errors)
    assert ours.decode_bytes(list(data)) == data
    assert outcome(lambda: ours.decode(list(data), "strict")) == outcome(data.decode)


@pytest.mark.parametrize(
    "kind",
    [
        list, tuple, iter, np.array,
        *(lambda ids, dtype=dtype: np.array(ids, dtype)
          for dtype in ("u2", "i4", "u4", "i8", "u8", ">i4", ">u8")),
        lambda ids: np.repeat(np.array(ids), 2)[::2],
        lambda ids: np.frombuffer(b"x" + np.array(ids, "u4").tobytes(), "u4", offset=1),
        lambda ids: [np.int64(id) for id in ids],
        lambda ids: [*ids[:-1], np.uint32(ids[-1])],
    ],
)  # fmt: skip
def test_containers(backend: BackendName, kind: Any) -> None:
    ours = made(backend, special=(("<|end|>", 300), ("<pad>", 70000)))
    ids = [256, 300, 99, 300, 262, 257] * 900
    text = "ab<|end|>c<|end|>é t" * 900
    assert ours.decode(kind(ids)) == text
    assert ours.decode(kind(ids), skip_special=True) == text.replace("<|end|>", "")
    assert ours.decode_bytes(kind(ids)) == text.encode()


@pytest.mark.parametrize("wrong", [-1, 299, 70000, 2**31, 2**63, -(2**70)])
def test_what_is_no_id(backend: BackendName, wrong: int) -> None:
    ours = made(backend)
    for ids in ([97, wrong], (97, wrong), iter([97, wrong]), [97] * 5000 + [wrong]):
        with pytest.raises(UnknownTokenError, match=f"is {wrong}, which is no token's id"):
            ours.decode(ids)
    if -(2**63) <= wrong < 2**63:
        with pytest.raises(UnknownTokenError, match=r"ids\[1\] is"):
            ours.decode(np.array([97, wrong], np.int64), skip_special=True)


@pytest.mark.parametrize("wrong", ["a", None, 1.0, [97]])
def test_what_is_no_int(backend: BackendName, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"ids\[1\] is .*; expected an int"):
        made(backend).decode([97, wrong])


def test_long_tokens(backend: BackendName) -> None:
    tokens = {**BYTES, **{256 + size: bytes([97 + size % 26]) * size for size in range(2, 80)}}
    added = [AddedToken("long " * 1000, 1000)]
    ours = made(backend, Vocabulary(tokens, []), special=(), added_tokens=added)
    ids = [*range(258, 336), 1000, 120] * 3
    want = b"".join(tokens.get(id, b"long " * 1000) for id in ids)
    assert ours.decode_bytes(ids) == want
    assert ours.decode(np.array(ids, np.uint32)) == want.decode()


def test_names_of_handlers(backend: BackendName) -> None:
    ours = made(backend, made_vocabulary())
    for wrong in ("no such handler", "nul\0nul", "\ud800"):
        with pytest.raises((LookupError, ValueError)):
            ours.decode([255], wrong)
    with pytest.raises(TypeError):
        ours.decode([255], None)  # type: ignore[arg-type]
