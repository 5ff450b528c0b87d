"""NFC in C++ equals UnicodeForm and Hugging Face's tokenizers, for str and any bytes."""

from __future__ import annotations

from functools import cache
from operator import eq
from typing import Any

import pytest
import unicodedata2
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe.encoding.python_backend import PythonBackend
from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.normalizers.unicode_forms import UnicodeForm, left_alone
from pretok.machine.backend import BackendName
from support import max_examples, scalar_values, seeded

normalize = UnicodeForm("NFC").normalize


def is_hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3"


@cache
def code_points() -> list[str]:
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


@cache
def marks() -> list[str]:
    return [char for char in code_points() if unicodedata2.combining(char)]


@cache
def parts() -> dict[str, str]:
    """Return the canonical decomposition of each character that has one."""
    return {
        char: unicodedata2.normalize("NFD", char)
        for char in code_points()
        if unicodedata2.decomposition(char)[:1] not in ("", "<") or is_hangul(char)
    }


@cache
def letters() -> list[str]:
    """Return the characters with a decomposition, without Hangul syllables."""
    return [char for char in parts() if not is_hangul(char)]


@cache
def pools() -> list[str | list[str]]:
    """Return groups of characters; each random text takes its characters from two groups."""
    return [
        "aeoqAK \u00e9\u1ead\u03b1\u0915\u0995\u304b\u4e00\U0001f600",
        letters(),
        marks(),
        sorted({mark for char in letters() for mark in parts()[char]}),
        [chr(code) for code in (*range(0x1100, 0x1200), *range(0xAC00, 0xAC40))],
        [chr(code) for code in range(0x0300, 0x0346)],
        [chr(code) for code in range(0x0900, 0x1000)],
        sorted(left_alone()),
    ]


@pytest.fixture(scope="module")
def core(native: BackendName) -> Any:
    from pretok import _core

    return _core.Tokenizer


@cache
def nfc() -> Any:
    from pretok import _core

    return _core.Normalizer(b"\1\0\0\0", [])


def check(core: Any, lines: list[str]) -> None:
    """Compare the C++ with pure Python: the normal form of `lines`, and is_normal of each line."""
    text = "\n".join(lines)
    wanted = normalize(text)
    found = nfc().normalized(text.encode()).decode()
    if found != wanted:
        given = zip(lines, found.split("\n"), wanted.split("\n"), strict=True)
        wrong = [(a, b, c) for a, b, c in given if b != c]
        assert not wrong[:10], f"{len(wrong)} lines: (line, C++, Python)"
    stays = list(map(eq, lines, wanted.split("\n")))
    is_normal = list(map(core.is_normal, lines))
    assert is_normal == stays, ascii(lines[list(map(eq, is_normal, stays)).index(False)])


@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("e", "\u0323"), ("\u0301", ""), ("", "\u0301")], ids=ascii
)
def test_every_code_point(core: Any, before: str, after: str) -> None:
    check(core, [before + char + after for char in map(chr, scalar_values()) if char != "\n"])


def test_every_pair_that_composes_or_is_excluded_from_composition(core: Any) -> None:
    lines = [*parts().values()]
    lines += [f"{nfd[0]}{more}{nfd[1:]}" for nfd in lines for more in "\u0327\u0301q"]
    lines += [f"{char}{mark}" for char in letters() for mark in "\u0301\u0323\u0345\u3099\u09be"]
    check(core, lines)


def test_every_mark_with_every_other_class(core: Any) -> None:
    one_of_each = {unicodedata2.combining(mark): mark for mark in marks()}.values()
    check(core, [f"a{mark}{other}\u0301" for mark in marks() for other in one_of_each])


@pytest.mark.parametrize("seed", range(2))
def test_random_texts(core: Any, seed: int) -> None:
    rng = seeded(seed)
    lines = []
    for _ in range(50_000):
        two = rng.choices(pools(), k=2)
        lines.append("".join(rng.choice(rng.choice(two)) for _ in range(rng.randrange(9))))
    check(core, lines)
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    text = "\n".join(lines)
    theirs = tokenizers.normalizers.NFC().normalize_str(text)
    assert nfc().normalized(text.encode()) == theirs.encode()


pieces = st.sampled_from([
    "e", "\u0301", "\u0323", "\u00e9", "\u212b", "\u1100", "\u1161", "\U0001d160", "\u1df6",
    " ", "\u0f73",
]).map(str.encode)  # fmt: skip


@given(st.lists(pieces | st.binary(max_size=3)).map(b"".join))
@example(b"")
@example(b"\xffe\xcc\x81\xcc")
@example(b"\xcc\x81\xe2\x84e\xcc\x81")
@settings(max_examples=max_examples(2000))
def test_invalid_utf8_stays(core: Any, data: bytes) -> None:
    wanted = normalize(decode_utf8(data)).encode("utf-8", ESCAPE)
    assert nfc().normalized(data) == wanted
    assert core.is_normal(data) == (data == wanted)
    assert PythonBackend.is_normal(data) <= (data == wanted)


@pytest.mark.parametrize("joined", ["\U00011099\U000110ba", "\U0001109a", "\U0001f600"], ids=ascii)
def test_surrogate_pairs_count_as_their_code_point(core: Any, joined: str) -> None:
    units = joined.encode("utf-16-be")
    pairs = "".join(chr(units[at] << 8 | units[at + 1]) for at in range(0, len(units), 2))
    assert core.is_normal(pairs) == core.is_normal(joined) == (normalize(joined) == joined)
    assert core.is_normal("\ud800\u00e9")


def test_other_objects_are_refused(core: Any) -> None:
    with pytest.raises(TypeError):
        core.is_normal(1)
    with pytest.raises(TypeError):
        nfc().normalized("text")
    with pytest.raises(TypeError):
        nfc().align("text")
    with pytest.raises(ValueError, match="unknown normalizer"):
        type(nfc())(b"\1\x7f\0\0", [])
    with pytest.raises(ValueError, match="ends too early"):
        type(nfc())(b"\1", [])
