"""Every set of kernels that the processor can run splits, decodes and encodes like plain C++.

Kernels are the implementations of the core's loops for one instruction set.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import bpe
import pretok
from paths import shared
from pretok.machine.backend import BackendName
from support import FULL, PRESET_NAMES, max_examples

SIZE = 150_000 if FULL else 40_000
TEXTS = ("code.txt", "emoji.txt", "multilingual.txt", "naughty_strings.txt", "whitespace.txt")


@pytest.fixture
def all_kernels(native: BackendName) -> Iterator[list[str]]:
    """The names of all kernels, the fastest first. After the test, the fastest are in use again."""
    from pretok import _core

    names = _core.kernels()
    yield names
    assert _core.use_kernels(names[0])


@cache
def _texts() -> list[str]:
    """Return texts whose str has units of 1, 2 or 4 bytes."""
    found = ["", "a", "don't", " \n\n  x", "12345678 " * 300, "\n" + " " * 5000 + "x"]
    for name in TEXTS:
        text = shared("texts", name).read_bytes()[:SIZE].decode(errors="replace")
        narrow = "".join(filter("\uffff".__ge__, text))
        found += [text, narrow, narrow.encode("latin-1", "ignore").decode("latin-1")]
        found.append("".join(filter(str.isascii, text)))
    return found


def test_plain_kernels_always_exist(all_kernels: list[str]) -> None:
    assert all_kernels[-1] == "plain"
    assert len(set(all_kernels)) == len(all_kernels)


def test_unknown_kernels_are_refused(all_kernels: list[str]) -> None:
    from pretok import _core

    assert not _core.use_kernels("abacus")


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_kernels_split_as_the_machine_does(preset: str, all_kernels: list[str]) -> None:
    from pretok import _core

    made = _core.built_in_program(preset)
    if made is None:
        pytest.skip("C++ has no built-in program of this preset")
    machine = _core.Machine(made[1], made[0])
    for text in _texts():
        wanted = [0, *machine.steps(text)[1].tolist()]
        data = text.encode()
        for name in all_kernels:
            assert _core.use_kernels(name)
            hint = f"{name} kernels, text {text[:80]!a}"
            assert machine.offsets(text, "char").tolist() == wanted, hint
            assert machine.count(text) == len(wanted) - 1, hint
            assert machine.offsets(data, "char").tolist() == wanted, hint
            assert machine.count(data) == len(wanted) - 1, hint


@pytest.mark.parametrize("preset", ["gpt2", "cl100k", "o200k"])
def test_kernels_agree_on_invalid_utf8(preset: str, all_kernels: list[str]) -> None:
    from pretok import _core

    data = shared("texts", "multilingual.txt").read_bytes()[:SIZE]
    broken = bytearray(data)
    for at in range(0, len(broken), 97):
        broken[at] = (broken[at] * 7 + at) % 256
    tokenizer = pretok.get(preset, backend="native")
    plain = pretok.get(preset, backend="python")
    wanted = plain.split_bytes(bytes(broken[:20_000]))
    _core.use_kernels("plain")
    all_wanted = tokenizer.split_bytes(bytes(broken))
    for name in all_kernels:
        assert _core.use_kernels(name)
        assert tokenizer.split_bytes(bytes(broken[:20_000])) == wanted, name
        assert tokenizer.split_bytes(bytes(broken)) == all_wanted, name


@pytest.fixture
def bytewise(native: BackendName) -> bpe.Tokenizer:
    """A tokenizer whose tokens are the 256 bytes."""
    return bpe.train([], vocab_size=256, preset="gpt2", backend=native)


WIDTHS = ("a", "\x7f", "\x80", "é", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000")


@given(
    parts=st.lists(
        st.tuples(
            st.one_of(st.sampled_from(WIDTHS), st.text(max_size=4)).map(
                lambda text: text.encode("utf-8", "surrogatepass")
            )
            | st.binary(max_size=3),
            st.integers(1, 70),
        ),
        max_size=12,
    )
)
@example(parts=[(b"\xed\xa0\x80", 30)])  # surrogates
@example(parts=[(b"a", 61), (b"\xe4\xb8\xad", 1), (b"\xe0\x80\x80", 1), (b"b", 64)])  # overlong
@example(parts=[("é".encode(), 32), (b"\xc3", 1)])  # a block of 64 bytes, then a cut sequence
@example(parts=[(b"a", 63), ("中".encode(), 100), ("😀".encode(), 1), ("я".encode(), 200)])
@settings(
    max_examples=max_examples(300),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_kernels_decode_as_python_does(
    parts: list[tuple[bytes, int]], all_kernels: list[str], bytewise: bpe.Tokenizer
) -> None:
    from pretok import _core

    data = b"".join(part * times for part, times in parts)
    ids = [bytewise.token_id(bytes([byte])) for byte in range(256)]
    for name in all_kernels:
        assert _core.use_kernels(name)
        assert bytewise.decode([ids[byte] for byte in data]) == data.decode(errors="replace"), name


@given(
    parts=st.lists(
        st.tuples(st.sampled_from((*WIDTHS, "\ud800", "\udc00", "\udfff")), st.integers(1, 20)),
        max_size=12,
    )
)
# Changes near the end of a block, the units that a kernel reads at once, in a str with units of 1,
# 2 and 4 bytes.
@example(parts=[("é", 14), ("a", 1)])
@example(parts=[("中", 10), ("a", 1)])
@example(parts=[("😀", 8), ("中", 1), ("\ud800", 1)])
@example(parts=[("я", 7), ("\ud83d", 1), ("\ude00", 1), ("中", 20)])  # surrogates across blocks
@settings(
    max_examples=max_examples(300),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_kernels_encode_a_str_as_python_does(
    parts: list[tuple[str, int]], all_kernels: list[str], bytewise: bpe.Tokenizer
) -> None:
    from pretok import _core

    text = "".join(part * times for part, times in parts)
    data = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    wanted = [bytewise.token_id(bytes([byte])) for byte in data]
    for name in all_kernels:
        assert _core.use_kernels(name)
        assert bytewise.encode(text) == wanted, name
