"""Streams give the same pre-tokens for any chunks, as soon as they are certain, in linear time."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok import Preset, PreTokenizer, Run
from pretok.charsets import LETTER, NUMBER
from pretok.machine.backend import BackendName
from pretok.machine.machine import GAP
from pretok.presets import BUILT_IN, O200K
from rule_specs import SPECS, Spec
from support import CORE_NAMES, SOME_NAMES, TOO_MUCH, growth, max_examples, sample, seeded

HOSTILE = "aAsStrevl'' '  \n\r\t!/.1\u00bd2\u0301\u4e2d\u017f\u3000\u200b\u00e9\x00\U0001f600\ud800"
texts = st.text(HOSTILE, max_size=40)
cuts = st.lists(st.integers(0, 60), max_size=12)
each_preset = pytest.mark.parametrize("name", SOME_NAMES)


def chunks(data: str | bytes, at: Sequence[int]) -> Iterator[str | bytes]:
    """Yield `data` cut at the positions `at`, in code points or bytes, in any order.

    Equal positions make empty chunks. Positions after the end count as the end.
    """
    bounds = [0, *sorted(min(cut, len(data)) for cut in at), len(data)]
    for start, end in pairwise(bounds):
        yield data[start:end]


def streamed(tok: PreTokenizer, data: str | bytes, at: Sequence[int]) -> list[str]:
    stream = tok.stream()
    found = [part for chunk in chunks(data, at) for part in stream.feed(chunk)]
    return found + stream.finish()


@each_preset
@given(text=texts, at=cuts)
@settings(max_examples=max_examples(150))
def test_any_chunks_of_str(backend: BackendName, name: str, text: str, at: list[int]) -> None:
    tok = pretok.get(name, backend=backend)
    assert streamed(tok, text, at) == tok.split(text)


@each_preset
@given(text=texts, at=cuts)
@settings(max_examples=max_examples(150))
def test_any_chunks_of_bytes(backend: BackendName, name: str, text: str, at: list[int]) -> None:
    tok = pretok.get(name, backend=backend)
    text = text.replace("\ud800", "\u2028")
    assert streamed(tok, text.encode(), at) == tok.split(text)


@given(data=st.binary(max_size=30) | st.lists(
    st.sampled_from([b"a", b" ", b"'s", b"\xe4", b"\xe4\xb8", b"\xe4\xb8\xad", b"\x80", b"\xff",
                     b"\xf0\x9f", b"\xed\xa0\x80", b"\xc0\xaf", b"\n"]), max_size=12
).map(b"".join), at=cuts)  # fmt: skip
@settings(max_examples=max_examples(300))
def test_any_chunks_of_bytes_that_are_not_utf8(
    backend: BackendName, data: bytes, at: list[int]
) -> None:
    for name in ("gpt2", "cl100k", "o200k"):
        tok = pretok.get(name, backend=backend)
        found = streamed(tok, data, at)
        assert found == tok.split(data.decode("utf-8", "surrogateescape"))
        assert [part.encode("utf-8", "surrogateescape") for part in found] == tok.split_bytes(data)


@each_preset
def test_one_code_point_or_byte_at_a_time(backend: BackendName, name: str) -> None:
    tok = pretok.get(name, backend=backend)
    rng = seeded(name)
    letters = HOSTILE.replace("\ud800", "")
    for _ in range(max_examples(60) // 2):
        text = "".join(rng.choices(letters, k=60))
        wanted = tok.split(text)
        assert streamed(tok, text, range(len(text))) == wanted
        assert streamed(tok, text.encode(), range(3 * len(text))) == wanted


def common_prefix(answers: Sequence[list[tuple[str, bool]]]) -> list[tuple[str, bool]]:
    """Return the first pre-tokens that all answers have in common."""
    shortest = min(answers, key=len)
    for i, step in enumerate(shortest):
        if any(answer[i] != step for answer in answers):
            return shortest[:i]
    return shortest


def continuations(alphabet: str, longest: int) -> list[str]:
    """Return all strings of up to `longest` characters of `alphabet`."""
    return ["".join(s) for n in range(longest + 1) for s in product(alphabet, repeat=n)]


def named_parts(tok: PreTokenizer, text: str) -> list[tuple[str, bool]]:
    """Return each pre-token of `text`, and whether it is a gap."""
    starts, ends, rules = tok._steps(text)
    return [(text[a:b], rule == GAP) for a, b, rule in zip(starts, ends, rules, strict=True)]


def hold_back_errors(
    tok: PreTokenizer, alphabet: str, longest: int, further: int
) -> list[tuple[str, list[str], list[str]]]:
    """Return (text, emitted, certain) for each text with too many or too few emitted pre-tokens.

    The texts have up to `longest` characters of `alphabet`. A pre-token is certain if no
    continuation of up to `further` characters changes it. `alphabet` must have a character of each
    kind that the rules distinguish. A stream may hold back a certain gap until the match after the
    gap is certain.
    """
    after = continuations(alphabet, further)
    steps: dict[str, list[tuple[str, bool]]] = {}
    errors = []
    for text in sample(continuations(alphabet, longest), 60):
        emitted = tok.stream().feed(text)
        for longer in (text + rest for rest in after):
            if longer not in steps:
                steps[longer] = named_parts(tok, longer)
        shared = common_prefix([steps[text + rest] for rest in after])
        certain = [part for part, _ in shared]
        ends_with_gap = bool(shared) and shared[-1][1]
        if emitted != certain and not (ends_with_gap and emitted == certain[:-1]):
            errors.append((text, emitted, certain))
    return errors


SMALL = {
    "gpt2": "a1 !'s\n", "r50k": "a1 !'s\n", "cl100k": "a1 !'s\n", "llama3": "a1 !'s\n",
    "qwen2": "a1 !'s\n", "o200k": "sA1 /'\n",
}  # fmt: skip
CORE = [preset for preset in BUILT_IN if preset.name in CORE_NAMES]
LETTERS_OF_SUFFIXES = "'rel v"
CASES_OF_LETTERS = "sA\u4e2d\u0301' "
CASES = [
    *[pytest.param(preset, SMALL[preset.name], id=preset.name) for preset in CORE],
    *[pytest.param(preset, LETTERS_OF_SUFFIXES, id=f"{preset.name}, suffixes")
      for preset in CORE],
    pytest.param(O200K, CASES_OF_LETTERS, id="o200k, cases"),
]  # fmt: skip


@pytest.mark.parametrize(("preset", "alphabet"), CASES)
def test_a_stream_emits_exactly_the_certain_pre_tokens(preset: Preset, alphabet: str) -> None:
    # The default backend is enough: test_machine.py tests that both backends decide the same
    # pre-tokens of a prefix.
    assert hold_back_errors(pretok.get(preset), alphabet, 3, 3) == []


@pytest.mark.parametrize("spec", SPECS, ids=[spec.name for spec in SPECS])
def test_user_rules_hold_back_no_more_than_needed(spec: Spec) -> None:
    assert hold_back_errors(pretok.get(spec.preset), spec.alphabet[:6], 3, 2) == []


@pytest.mark.parametrize("spec", SPECS, ids=[spec.name for spec in SPECS])
def test_user_rules_in_any_chunks(backend: BackendName, spec: Spec) -> None:
    tok = pretok.get(spec.preset, backend=backend)
    rng = seeded(spec.name)
    for _ in range(max_examples(60)):
        text = "".join(rng.choices(spec.alphabet, k=20))
        at = [rng.randrange(70) for _ in range(rng.randrange(9))]
        assert streamed(tok, text, at) == tok.split(text)
        assert streamed(tok, text.encode(), at) == tok.split(text)


@each_preset
def test_steps_name_the_rules(backend: BackendName, name: str) -> None:
    tok = pretok.get(name, backend=backend)
    text = "I'm  25!\n\n x\u0301 "
    stream = tok.stream()
    steps = [step for char in text for step in stream.feed_steps(char)] + stream.finish_steps()
    assert steps == tok.explain(text)


# One code point of each class, and alternating ones, which a rule might scan again and again.
RUNS = ("a", "A", "\u4e2d", "\u0301", "1", "\u00bd", "\n", " ", "\u3000", "!", "+", "\x00",
        "'", "'s", " \n", "aA", "A\u0301")  # fmt: skip


@pytest.mark.parametrize("unit", RUNS, ids=ascii)
def test_code_points_one_by_one_take_linear_time(backend: BackendName, unit: str) -> None:
    tok = pretok.get("o200k" if unit != " " else "cl100k", backend=backend)
    size = 2_000 if backend == "native" else 500

    def work(count: int) -> None:
        stream = tok.stream()
        for char in unit * (count // len(unit)):
            stream.feed(char)
        stream.finish()

    assert growth(work, size) < TOO_MUCH


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k"])
def test_blocks_take_linear_time(backend: BackendName, name: str) -> None:
    tok = pretok.get(name, backend=backend)
    for unit in ("a", " ", "!", "\u4e2d", "A\u0301"):
        block = (unit * 65536)[: 65536 if backend == "native" else 16384]
        # A block of one run takes little time, so use many. The stream must not join them again
        # and again.
        one = backend == "native" and len(tok.split(block)) == 1
        size = 500_000 if one else len(block)

        def work(count: int, block: str = block) -> None:
            stream = tok.stream()
            for _ in range(count // len(block)):
                stream.feed(block)
            stream.finish()

        assert growth(work, size) < TOO_MUCH, unit


def test_half_a_million_letters_one_by_one(native: BackendName) -> None:
    stream = pretok.get("gpt2", backend=native).stream()
    found: list[str] = []
    for _ in range(500_000):
        found += stream.feed("x")
    assert found == []
    assert stream.finish() == ["x" * 500_000]


def test_chunks_of_one_type_only(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    stream = tok.stream()
    stream.feed("a")
    with pytest.raises(
        TypeError, match="expected a chunk of type str like the first chunk, got bytes"
    ):
        stream.feed(b"b")
    assert stream.feed("b c") == ["ab"], "a refused chunk leaves no trace"
    assert stream.finish() == [" c"]
    stream = tok.stream()
    stream.feed(b"")
    with pytest.raises(
        TypeError, match="expected a chunk of type bytes like the first chunk, got str"
    ):
        stream.feed("")


@pytest.mark.parametrize("wrong", [None, 1, ["a"], ("a",), object()])
def test_chunks_are_str_or_bytes(backend: BackendName, wrong: object) -> None:
    stream = pretok.get("gpt2", backend=backend).stream()
    with pytest.raises(TypeError, match="expected str or bytes, got"):
        stream.feed(wrong)  # type: ignore[arg-type]
    assert stream.feed("a ") == ["a"]


def test_bytearray_and_memoryview_are_bytes(backend: BackendName) -> None:
    stream = pretok.get("gpt2", backend=backend).stream()
    data: Any = bytearray(b"caf\xc3")
    view: Any = memoryview(b"\xa9 1")
    found = stream.feed(data)
    data[:] = b"????"
    found += stream.feed(view) + stream.feed(b"2")
    assert found + stream.finish() == ["caf\u00e9", " 12"]


def test_nothing_follows_finish(backend: BackendName) -> None:
    stream = pretok.get("gpt2", backend=backend).stream()
    stream.feed("a b")
    assert stream.finish() == [" b"]
    for call in (lambda: stream.feed("c"), stream.finish, stream.finish_steps):
        with pytest.raises(ValueError, match=r"the stream is finished; get another with stream"):
            call()


def test_an_empty_stream(backend: BackendName) -> None:
    tok = pretok.get("gpt2", backend=backend)
    assert tok.stream().finish() == []
    stream = tok.stream()
    assert stream.feed("") == stream.feed("") == stream.finish() == []


def test_streams_are_independent(backend: BackendName) -> None:
    tok = pretok.get("llama3", backend=backend)
    one, other = "Hello world, it's 2026\n\n x", "1234 l'\u00e9t\u00e9  !!\n"
    first, second = tok.stream(), tok.stream()
    found: tuple[list[str], list[str]] = ([], [])
    for a, b in zip(one, other, strict=False):
        found[0].extend(first.feed(a))
        found[1].extend(second.feed(b.encode()))
    found[0].extend(first.feed(one[len(other) :]) + first.finish())
    found[1].extend(second.feed(other[len(one) :].encode()) + second.finish())
    assert found == (tok.split(one), tok.split(other))


def test_a_gap_is_held_back_until_the_match_after_it(backend: BackendName) -> None:
    tok = pretok.get(Preset("numbers", rules=(Run(NUMBER),)), backend=backend)
    stream = tok.stream()
    assert [stream.feed(char) for char in "ab c1"] == [[]] * 5
    assert stream.feed("x") == ["ab c", "1"]
    assert stream.feed("y") == []
    assert stream.finish() == ["xy"]


def test_incomplete_utf8_at_the_end_is_kept(backend: BackendName) -> None:
    tok = pretok.get(Preset("letters", rules=(Run(LETTER),)), backend=backend)
    stream = tok.stream()
    assert stream.feed(b"a\xe4\xb8") == []
    assert stream.finish() == ["a", "\udce4\udcb8"]


def test_a_long_counted_run_takes_linear_time(native: BackendName) -> None:
    tok = pretok.get(Preset("counted", (Run(NUMBER, at_most=1 << 20),)), backend=native)

    def feed(size: int) -> None:
        stream = tok.stream()
        assert not [found for _ in range(size) for found in stream.feed("1")]
        assert stream.finish() == ["1" * size]

    assert growth(feed, 4000) < TOO_MUCH


def test_a_stream_has_no_copy() -> None:
    stream = pretok.get("gpt2").stream()
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot copy or pickle a Stream"):
            call(stream)
