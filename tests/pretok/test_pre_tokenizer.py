"""PreTokenizer: every method agrees with every other, in each unit, for str and for bytes."""

from __future__ import annotations

import copy
import pickle
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok import Preset, PreTokenizer, Run, Step
from pretok.charsets import NUMBER
from pretok.machine.backend import BackendName
from pretok.machine.machine import Unit
from pretok.registry import find
from support import CORE_NAMES, SOME_NAMES, max_examples

HOSTILE = "aAsve'' \n\r\t!/1\u00bd\u0301\u4e2d\u017f\u3000\u200b\u00e9\x00\U0001f600\ud800\udc00"
texts = st.text(HOSTILE, max_size=40) | st.text(max_size=20)
UNITS: tuple[Unit, ...] = ("char", "byte", "utf16")
each_preset = pytest.mark.parametrize("name", SOME_NAMES)


def width(part: str, unit: Unit) -> int:
    """Return the length of `part` in `unit`, as Python's own encoders count it."""
    if unit == "char":
        return len(part)
    if unit == "byte":
        return len(part.encode("utf-8", "surrogatepass"))
    return len(part.encode("utf-16-le", "surrogatepass")) // 2


@each_preset
@given(text=texts)
@settings(max_examples=max_examples(150))
def test_all_methods_agree(backend: BackendName, name: str, text: str) -> None:
    tok = pretok.get(name, backend=backend)
    parts = tok.split(text)
    assert "".join(parts) == text
    assert "" not in parts
    assert tok.count(text) == len(parts)
    for unit in UNITS:
        found = tok.offsets(text, unit)
        assert found.dtype == np.int64
        assert found.shape == (len(parts) + 1,)
        assert found.tolist() == [0, *accumulate(width(part, unit) for part in parts)]
    assert tok.offsets(text).tolist() == tok.offsets(text, "char").tolist()
    assert [text[start:end] for start, end in tok.spans(text)] == parts
    steps = tok.explain(text)
    assert [(step.start, step.end, step.text) for step in steps] == [
        (start, end, text[start:end]) for start, end in tok.spans(text)
    ]
    assert all(step.rule in (*tok.preset.rules, None) for step in steps)
    assert name not in CORE_NAMES or None not in [step.rule for step in steps]
    assert tok.split_batch([text, "", text], threads=2) == [parts, [], parts]


@each_preset
@given(data=texts.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=40))
@settings(max_examples=max_examples(150))
def test_bytes_split_like_their_str_with_surrogateescape(
    backend: BackendName, name: str, data: bytes
) -> None:
    tok = pretok.get(name, backend=backend)
    parts = tok.split_bytes(data)
    assert b"".join(parts) == data
    assert [part.decode("utf-8", "surrogateescape") for part in parts] == tok.split(
        data.decode("utf-8", "surrogateescape")
    )
    assert tok.count(data) == len(parts)
    assert tok.offsets(data).tolist() == [0, *accumulate(map(len, parts))]
    assert tok.offsets(data, "byte").tolist() == tok.offsets(data).tolist()
    as_text = [part.decode("utf-8", "surrogateescape") for part in parts]
    assert tok.offsets(data, "char").tolist() == [0, *accumulate(map(len, as_text))]
    assert tok.offsets(data, "utf16").tolist() == [
        0, *accumulate(width(part, "utf16") for part in as_text)
    ]  # fmt: skip


def test_a_lone_surrogate_is_3_bytes_and_1_code_unit(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    assert tok.split("a\ud800b") == ["a", "\ud800", "b"]
    assert tok.offsets("a\ud800b", "char").tolist() == [0, 1, 2, 3]
    assert tok.offsets("a\ud800b", "byte").tolist() == [0, 1, 4, 5]
    assert tok.offsets("a\ud800b", "utf16").tolist() == [0, 1, 2, 3]
    # Two surrogates in a str stay two code points, also if they are a pair.
    assert tok.offsets("\ud83d\ude00", "byte").tolist() == [0, 6]
    assert tok.offsets("\U0001f600", "utf16").tolist() == [0, 2]
    assert tok.offsets(b"a\xff\xfe", "utf16").tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    "code_point",
    [0, 0x7F, 0x80, 0xFF, 0x100, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10000,
     0x10FFFF],
)  # fmt: skip
def test_code_points_where_the_encoded_length_changes(
    backend: BackendName, code_point: int
) -> None:
    tok = pretok.get("gpt2", backend=backend)
    text = f"a{chr(code_point)} "
    for unit in UNITS:
        assert tok.offsets(text, unit)[-1] == width(text, unit)
    if not 0xD800 <= code_point < 0xE000:
        for unit in UNITS:
            assert tok.offsets(text.encode(), unit).tolist() == tok.offsets(text, unit).tolist()


def test_empty_text(backend: BackendName) -> None:
    tok = pretok.get("cl100k", backend=backend)
    assert tok.split("") == []
    assert tok.split_bytes(b"") == []
    for empty in ("", b""):
        assert tok.count(empty) == 0
        for unit in (None, *UNITS):
            assert tok.offsets(empty, unit).tolist() == [0]
            assert tok.offsets(empty, unit).dtype == np.int64
    assert list(tok.spans("")) == []
    assert tok.explain("") == []
    assert tok.split_batch([]) == tok.split_batch((), threads=8) == []
    assert tok.split_batch([""]) == [[]]


@pytest.mark.parametrize("threads", [1, 2, 8, None])
def test_threads_do_not_change_a_batch(backend: BackendName, threads: int | None) -> None:
    tok = pretok.get("o200k", backend=backend)
    batch = [f"Text {i}: it's \u4e2d\u6587 {i * 7919}!\n" * (i % 7) for i in range(300)]
    batch += ["x" * 200_000, "\U0001f600 " * 1000, "\x00", "\ud800"]
    assert tok.split_batch(batch, threads=threads) == [tok.split(text) for text in batch]
    assert tok.split_batch(tuple(batch), threads=threads) == tok.split_batch(batch)
    assert tok.split_batch([], threads=threads) == []


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_wrong_numbers_of_threads(backend: BackendName, threads: object) -> None:
    tok = pretok.get("gpt2", backend=backend)
    with pytest.raises(ValueError, match=r"threads=.*; expected None or an int of at least 1"):
        tok.split_batch(["a"], threads=threads)  # type: ignore[arg-type]


def test_a_batch_is_not_one_text(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    for text in ("abc", b"abc", bytearray(b"abc"), memoryview(b"abc")):
        with pytest.raises(TypeError, match=f"an iterable of texts, got one {type(text).__name__}"):
            tok.split_batch(text)  # type: ignore[arg-type]
    for wrong, kind in ((None, "NoneType"), (1, "int")):
        with pytest.raises(TypeError, match=f"^expected an iterable of texts, got {kind}$"):
            tok.split_batch(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=rf"^texts\[1\]: expected str or bytes, got {kind}"):
            tok.split_batch(["a", wrong])  # type: ignore[list-item]


def test_a_batch_is_any_iterable(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    assert tok.split_batch(text for text in ("a b", b"c")) == [["a", " b"], ["c"]]


class Text(str):
    """A subclass of str, like numpy.str_."""


def test_subclasses_of_str_are_str(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    text = Text("I'm 25")
    assert tok.split(text) == ["I", "'m", " 25"]
    assert tok.split_batch([text]) == [tok.split(text)]
    assert tok.offsets(np.str_("I'm 25")).tolist() == [0, 1, 3, 6]
    assert [type(part) for part in tok.split(Text("one"))] == [str]
    assert type(tok.explain(Text("one"))[0].text) is str


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_buffers_are_bytes(backend: BackendName, kind: type) -> None:
    tok = pretok.get("gpt2", backend=backend)
    data = kind("n\u00e9 1".encode())
    assert tok.split_bytes(data) == ["n\u00e9".encode(), b" 1"]
    assert tok.offsets(data).tolist() == [0, 3, 5]
    assert tok.offsets(data, "char").tolist() == [0, 2, 4]
    assert tok.count(data) == 2


@pytest.mark.parametrize("wrong", [None, 1, 1.5, ["a"], object(), np.array([1])])
def test_other_types_are_refused(backend: BackendName, wrong: Any) -> None:
    tok = pretok.get("gpt2", backend=backend)
    methods = (tok.split, tok.split_bytes, tok.offsets, tok.spans, tok.count, tok.explain)
    for method in methods:
        with pytest.raises(TypeError, match="expected str or bytes, got "):
            method(wrong)


@pytest.mark.parametrize("name", ["gpt2", "clip"])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_in_every_call(backend: BackendName, name: str, kind: type) -> None:
    tok = pretok.get(name, backend=backend)
    data = "a n\u00e9  \U0001f600b 1".encode() + b"\xff x"
    text = data.decode("utf-8", "surrogateescape")
    given = kind(data)
    assert tok.split(given) == tok.split(text)
    assert tok.split_batch([given, text]) == [tok.split(text)] * 2
    assert tok.split_bytes(given) == [
        part.encode("utf-8", "surrogateescape") for part in tok.split(text)
    ]
    assert [data[start:end] for start, end in tok.spans(given)] == tok.split_bytes(data)
    steps = tok.explain(given)
    assert [(step.start, step.end) for step in steps] == list(tok.spans(given))
    assert [(step.text, step.rule) for step in steps] == [
        (step.text, step.rule) for step in tok.explain(text)
    ]


def test_split_bytes_of_a_str(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    assert tok.split_bytes("n\u00e9 \ud800") == ["n\u00e9".encode(), b" \xed\xa0\x80"]


@pytest.mark.parametrize("unit", ["", "chars", "CHAR", "utf-8", 1, b"byte"])
def test_an_unknown_unit(backend: BackendName, unit: object) -> None:
    tok = pretok.get("gpt2", backend=backend)
    message = r"unknown unit .*; expected one of 'char', 'byte', 'utf16'"
    for data in ("a", b"a"):
        with pytest.raises(ValueError, match=message):
            tok.offsets(data, unit)  # type: ignore[arg-type]


def test_spans_are_lazy_pairs_that_check_their_argument_at_once(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    spans = tok.spans("I'm 25")
    assert iter(spans) is spans
    assert next(spans) == (0, 1)
    assert list(spans) == [(1, 3), (3, 6)]
    assert all(a[1] == b[0] for a, b in pairwise(tok.spans("one two  three")))


def test_offsets_belong_to_the_caller(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    first = tok.offsets("a b")
    first[:] = 9
    assert tok.offsets("a b").tolist() == [0, 1, 3]
    assert first.flags.writeable


def test_a_step_is_a_named_tuple(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    first, second = tok.explain("a 1")
    assert first == Step(0, 1, "a", find("gpt2").rules[1]) == (0, 1, "a", first.rule)
    assert second.rule is find("gpt2").rules[2]


def test_properties_and_repr(backend: BackendName) -> None:
    tok = pretok.get("qwen2", unicode="18.0", backend=backend)
    assert tok.preset is find("qwen2")
    assert tok.unicode == "18.0"
    assert tok.backend == backend
    assert repr(tok) == f"<PreTokenizer 'qwen2', Unicode 18.0, {backend}>"
    assert pretok.get("qwen2", backend=backend).unicode == "16.0" == tok.preset.unicode


def test_equality_and_hash(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    assert tok == PreTokenizer(find("gpt2"), backend=backend)
    assert hash(tok) == hash(PreTokenizer(find("gpt2"), backend=backend))
    assert tok == pretok.get("gpt2", backend="python"), "the backend does not change the split"
    others = [pretok.get("r50k"), pretok.get("gpt2", unicode="15.0"), "gpt2", None]
    assert all(tok != other for other in others)
    mine = Preset("gpt2", rules=(Run(NUMBER),))
    assert tok != pretok.get(mine, backend=backend)
    assert len({tok, pretok.get("gpt2", backend=backend), pretok.get("gpt2", unicode="18.0")}) == 2


def test_a_pre_tokenizer_cannot_be_changed(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    for name in ("preset", "unicode", "backend", "anything"):
        with pytest.raises(AttributeError):
            setattr(tok, name, None)


@each_preset
def test_pickling_and_copying(backend: BackendName, name: str) -> None:
    tok = pretok.get(name, unicode="17.0", backend=backend)
    text = "It's 12345 \u4e2d\u6587\n\n HTTPServer"
    copies = [pickle.loads(pickle.dumps(tok, protocol)) for protocol in (2, 4, 5)]
    for other in (*copies, copy.copy(tok), copy.deepcopy(tok)):
        assert other == tok
        assert other.unicode == "17.0"
        assert other.backend == backend
        assert other.preset == tok.preset
        assert other.split(text) == tok.split(text)


def test_a_pickle_keeps_the_requested_backend() -> None:
    tok = pretok.get("gpt2")
    kept = tok.__reduce__()[1]
    assert isinstance(kept, tuple)
    assert kept[-1] is None


def test_an_object_that_is_not_a_preset_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a Preset, got str; see pretok\.get"):
        PreTokenizer("gpt2")  # type: ignore[arg-type]


def test_the_version_decides_what_a_letter_is(backend: BackendName) -> None:
    # U+0295 is Ll up to 16.0, Lo from 17.0 on; U+1C89 is unassigned before 16.0, then Lu.
    old, new = (pretok.get("o200k", version, backend) for version in ("16.0", "17.0"))
    assert old.split("\u0295Ab") == ["\u0295", "Ab"]
    assert new.split("\u0295Ab") == ["\u0295Ab"]
    assert pretok.get("gpt2", "15.1", backend).split("a\u1c89") == ["a", "\u1c89"]
    assert pretok.get("gpt2", "16.0", backend).split("a\u1c89") == ["a\u1c89"]


def test_texts_of_every_internal_width_split_alike(backend: BackendName) -> None:
    # Python keeps a str in 1, 2 or 4 bytes per code point, by its widest one.
    tok = pretok.get("o200k", backend=backend)
    text = "It's HTTPServer\u00e9 12345 \u00a0\n\n x"
    wanted = tok.split(text)
    for widest in ("\u4e00", "\U00020000"):
        for at in range(0, 4096, 97):
            found = tok.split("-\n" * at + text + "\n" + widest)
            assert found[-len(wanted) - 2 : -2] == wanted
