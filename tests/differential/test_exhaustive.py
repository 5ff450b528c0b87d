"""All strings over a small alphabet: the first pre-token of each is that of `regex`.

Without PRETOK_FULL=1, tests try all short strings and a sample of the longer ones.

No pattern has a look-behind: a match does not depend on the text before it. Cut a text at the start
of a pre-token: this pre-token is then the first one of the text after the cut. The tests compare
only first pre-tokens. If these are equal for all strings up to a length, the splits are equal.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Callable, Iterator
from itertools import islice, product

import numpy as np
import pytest
import regex
from numpy.typing import NDArray

import pretok
from exhaustive import MAX_STRINGS, longest, one_of_each_class
from pretok import Preset, PreTokenizer
from pretok.fuzz.engines import FuzzEngine, engine
from pretok.machine.backend import BackendName
from pretok.machine.machine import Machine, widths_of
from pretok.text import ESCAPE, code_points_of
from support import CORE_NAMES, FULL, REPORT, sample, strings

LIMITS = {
    "native": {
        core: count * ((10 if core else 50) if FULL else 1) for core, count in MAX_STRINGS.items()
    },
    "python": {True: 170_000, False: 4_000},
}
"""The greatest number of strings of one length: True for core presets, False for other presets."""
SAMPLE = {"native": {True: 20_000, False: 1_000}, "python": {True: 4_000, False: 300}}
"""The number of strings of each length if not FULL, for core presets and other presets."""
ENOUGH = {"native": 6, "python": 5}
"""The length that the strings of core presets must reach.

Strings of six characters reach all states of the rules, for example `\\s\\n\\s\\n\\s x`, and a word
of o200k with a lead, an uppercase letter, another letter, and `'ll`. Four digits in a row exceed
the limit of three. Pure Python tries only five characters, to save time.
"""

NAMES = [preset.name for preset in pretok.presets()]
Letters = Callable[[PreTokenizer], str]


def letters_of_classes(tokenizer: PreTokenizer) -> str:
    """Return one code point of each class that the rules of all stages tell apart."""
    return one_of_each_class(tokenizer.preset, tokenizer.unicode)


def letters_of_contractions(tokenizer: PreTokenizer) -> str:
    """Return letters of contractions, an apostrophe, and characters to put around contractions.

    Rules treat t, m and d like s, ve like re, and most capitals like small letters;
    test_every_two_letters_after_an_apostrophe checks this.
    """
    return "'srelS\u017fx "


def check(tokenizer: PreTokenizer, texts: Iterator[str]) -> int:
    """Compare texts with an engine; return their number.

    For core presets, compares the first pre-token of each text with `regex`. For other presets,
    compares the whole split with `regex`, or with the preset's engine if `regex` cannot express
    the preset.
    """
    if tokenizer.preset.name not in CORE_NAMES:
        return check_whole(tokenizer, texts)
    compiled = regex.compile(tokenizer.preset.pattern)
    count = 0
    for batch in iter(lambda: list(islice(texts, 1 << 16)), []):
        ours = first_ends(tokenizer, batch)
        theirs = [match and match.end() for match in map(compiled.match, batch)]
        if ours != theirs:
            wrong = next(t for t, a, b in zip(batch, ours, theirs, strict=True) if a != b)
            split, found = tokenizer.split(wrong), compiled.match(wrong)
            raise AssertionError(f"{tokenizer!r}: {wrong!r} is {split}, regex: {found!r}")
        count += len(batch)
    return count


def first_ends(tokenizer: PreTokenizer, texts: list[str]) -> list[int]:
    """Return the end of the first pre-token of each text, in code points. No text is empty."""
    machine = tokenizer._backend
    if isinstance(machine, Machine):  # the work of `split` without building arrays
        return [machine.advance(text, partial=False).ends[0] for text in texts]
    return [len(pre_tokens[0]) for pre_tokens in map(machine.split, texts)]


def check_whole(tokenizer: PreTokenizer, texts: Iterator[str]) -> int:
    """Compare the whole splits of texts with an engine; return the number of texts."""
    ask = oracle_of(tokenizer.preset).comparisons(tokenizer)[0].theirs
    count = 0
    for batch in iter(lambda: list(islice(texts, 1 << 9)), []):
        for text, theirs in zip(batch, ask(batch), strict=True):
            assert tokenizer.split(text) == theirs, f"{tokenizer!r}: {text!r}"
        count += len(batch)
    return count


def oracle_of(preset: Preset) -> FuzzEngine:
    return engine(preset.engine if engine("regex").unsupported_reason(preset) else "regex")


def in_version_of_oracle(name: str, backend: BackendName) -> PreTokenizer:
    preset = pretok.get(name).preset
    return pretok.get(name, unicode=oracle_of(preset).unicode(preset), backend=backend)


@pytest.mark.parametrize("letters_for", [letters_of_classes, letters_of_contractions])
@pytest.mark.parametrize("name", NAMES)
def test_the_first_pre_token_of_every_string(
    name: str, letters_for: Letters, backend: BackendName, record_property: Callable[..., None]
) -> None:
    tokenizer = in_version_of_oracle(name, backend)
    letters = letters_for(tokenizer)
    length = total = 0
    is_core = name in CORE_NAMES
    most, enough = LIMITS[backend][is_core], ENOUGH[backend] if is_core else 2
    if is_core and backend == "python" and not FULL:
        most = len(letters) ** enough  # only the native backend tries longer strings
    while len(letters) ** (length + 1) <= most:
        length += 1
        total += check(tokenizer, strings(letters, length, SAMPLE[backend][is_core]))
    assert length >= enough
    assert backend != "native" or length >= longest(letters, is_core)
    every = sum(len(letters) ** n for n in range(1, length + 1))
    assert total == every or (not FULL and total >= SAMPLE[backend][is_core])
    record_property("length", length)
    REPORT.append(
        f"{name} ({backend}): {total:,} of {every:,} strings of up to {length} of {letters!a}"
    )


@pytest.mark.parametrize("name", CORE_NAMES)
def test_every_two_letters_after_an_apostrophe(name: str, backend: BackendName) -> None:
    letters = [*string.ascii_letters, *"\u017f\u212a\u0130\u0131\u00df\ufb06", ""]
    texts = (
        before + "'" + "".join(pair) + after
        for pair in product(letters, repeat=2)
        for before in ("", "a", "A")
        for after in ("", "l", " ")
    )
    check(in_version_of_oracle(name, backend), iter(sample(texts, 8_000)))


FIRST_BYTES = bytes.fromhex("0a 20 27 41 61 80 bf c1 c2 df e0 e1 e4 ed ef f0 f1 f4 f5")
"""The first bytes that are tried if not FULL: each kind of byte in UTF-8, and several classes."""


def _sequences(first: int) -> bytes:
    """Return "a" + sequence + " " for each sequence of three bytes that begins with `first`."""
    block = np.empty((256, 256, 5), np.uint8)
    block[..., 0] = ord("a")
    block[..., 1] = first
    block[..., 2] = np.arange(256)[:, None]
    block[..., 3] = np.arange(256)
    block[..., 4] = ord(" ")
    return block.tobytes()


def test_every_sequence_of_three_bytes_splits_alike_in_both_backends(native: BackendName) -> None:
    # o200k has many classes. The ASCII characters around a sequence separate it from the next one.
    fast = pretok.get("o200k", backend=native)
    plain = pretok.get("o200k", backend="python")
    machine = plain._backend
    assert isinstance(machine, Machine)
    expected: dict[bytes, NDArray[np.int64]] = {}
    for first in range(256) if FULL else FIRST_BYTES:
        data = _sequences(first)
        points = code_points_of(data.decode("utf-8", ESCAPE))
        widths = widths_of(points, "byte", from_str=False).astype(np.uint8)
        # The offsets in Python depend only on classes, apostrophes, widths, and the letters after
        # an apostrophe. These letters are the second and third byte, which are the same for each
        # `first`. So texts with an equal key have equal offsets.
        seen = np.stack([machine._classifier.classes[points], points == ord("'"), widths])
        key = hashlib.sha256(seen.tobytes()).digest()
        if key not in expected:
            expected[key] = plain.offsets(data)
        offsets = fast.offsets(data)
        assert np.array_equal(offsets, expected[key]), f"first byte {first:#04x}"
        assert offsets[-1] == len(data)
