"""Every set of kernels that the processor can run splits as the plain machine does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pretok
from pretok.pretokenizer import BackendName
from support import PRESET_NAMES, shared

SIZE = 150_000
TEXTS = ("code.txt", "emoji.txt", "multilingual.txt", "naughty_strings.txt", "whitespace.txt")


@pytest.fixture
def all_kernels(native: BackendName) -> Iterator[list[str]]:
    """The names of all kernels; the best are in use again after the test."""
    from pretok import _core

    names = _core.kernels()
    yield names
    assert _core.use_kernels(names[0])


def _texts() -> list[str]:
    """Texts whose str has units of 1, 2 and 4 bytes, with what is rare between what is not."""
    found = ["", "a", "don't", " \n\n  x", "12345678 " * 300, "\n" + " " * 5000 + "x"]
    for name in TEXTS:
        text = shared("texts", name).read_bytes()[:SIZE].decode(errors="replace")
        narrow = "".join(filter("\uffff".__ge__, text))
        found += [text, narrow, narrow.encode("latin-1", "ignore").decode("latin-1")]
        found.append("".join(filter(str.isascii, text)))
    return found


def test_plain_kernels_are_always_there(all_kernels: list[str]) -> None:
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
        pytest.skip("a preset of stages has no program of its own")
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
def test_kernels_agree_on_bytes_that_are_no_text(preset: str, all_kernels: list[str]) -> None:
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
