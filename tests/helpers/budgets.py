"""Random tokenizers and texts for budgets of ids, and the places at which a text may be cut."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import bpe
import pretok
import random_added_tokens
from bpe import AddedToken, SpecialTokenError, Tokenizer, UnknownTokenError, Vocabulary
from bpe.budgets.borders import line_ends
from support import PRESET_NAMES, max_examples, native_missing, seeded
from text_models import ADDED, CASES, FALLBACK, LLAMA, MARKS, file_of, metaspace
from vocabularies import BYTES, Whole
from vocabulary_files import write

Text = str | bytes
LETTERS = "aaabbc'sStT1 12/.' \n\r\t\u4e00\u4e01\u0301é\U0001f600,<x>"
PARTS = ["<s>", "<sep>", "foo", "the ", " quick", "hello", " ab", "  ", "aa", "<x>", "A b", "▁",
         "日本", "naïve", "e\u0301", "1234", "\n", "\r\n", "'s", "don't"]  # fmt: skip
CONTENTS = ["<x>", "<x", "ab", "a\n", " b", "1", "\u4e00\u4e01", "é"]
SPACES: list[dict[str, Any]] = [
    {"normalizer": LLAMA}, {"normalizer": MARKS},
    {"pre_tokenizer": metaspace("first", split=False)},
    {"pre_tokenizer": metaspace("always", split=False)},
]  # fmt: skip
REFUSED = 1 << 60
"""Stands for the number of ids of a text that a call refuses."""


class Case(NamedTuple):
    """A tokenizer in both backends, and a text that it encodes."""

    tokenizers: list[Tokenizer]
    text: Text
    special: bpe.Special

    def ids(self, text: Text) -> int:
        """Return the number of ids of a text."""
        try:
            return self.tokenizers[0].count(text, self.special)
        except SpecialTokenError:
            return REFUSED

    def borders(self) -> list[int]:
        """Return all places between two characters that are in no added token."""
        text = self.text
        data = text if isinstance(text, bytes) else text.encode()
        chars = data.decode("utf-8", "surrogateescape")
        sizes = [len(char.encode("utf-8", "surrogateescape")) for char in chars]
        places = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
        tokens = self.tokenizers[0]._pipeline.segments(data, self.special)
        kept = {
            place
            for place in places
            if not any(start < place < end for start, end, id in tokens if id is not None)
        }
        return [
            at if isinstance(text, str) else place
            for at, place in enumerate(places)
            if place in kept
        ]

    def token_borders(self) -> list[int]:
        """Return the borders at which a token of the text ends."""
        text = self.text
        data = text if isinstance(text, bytes) else text.encode()
        _, starts, ends = self.tokenizers[0].token_spans(data, self.special)
        ends = np.maximum.accumulate(ends)
        # Text may come after the last token: a normalizer or the vocabulary may drop it.
        is_border = np.append(ends[:-1] <= starts[1:], True)[: len(ends)]
        return self._in_text({*ends[is_border].tolist(), len(data)})

    def line_borders(self) -> list[int]:
        """Return the borders at which a line of the text ends."""
        data = self.text if isinstance(self.text, bytes) else self.text.encode()
        return self._in_text({*line_ends(data).tolist(), len(data)})

    def _in_text(self, places: set[int]) -> list[int]:
        if isinstance(self.text, str):
            data = self.text.encode()
            whole = {at for at in places if at == len(data) or data[at] & 0xC0 != 0x80}
            places = {len(data[:at].decode()) for at in whole}
        return sorted(places & set(self.borders()))


def cases(key: str, folder: Path, default: int) -> Iterator[Case]:
    """Yield random cases."""
    random = seeded(key)
    for _ in range(max_examples(default)):
        made = _tokenizers(random, folder)
        for _ in range(3):
            case = Case(made, _text(random), random.choice(["allow", "text", "plain", "raise"]))
            try:
                for tokenizer in made:
                    tokenizer.count(case.text, case.special)
            except (SpecialTokenError, UnknownTokenError):
                continue
            yield case


def _text(random: Random) -> Text:
    size = random.randrange(40)
    text = "".join(random.choice(random.choice([PARTS, LETTERS])) for _ in range(size))
    if random.random() < 0.7:
        return text
    data = text.encode()
    return data + bytes(random.choices([0xC3, 0xA9, 0xFF, 0x80, 0x61, 0xE4], k=4)) + data[:5]


def _tokenizers(random: Random, folder: Path) -> list[Tokenizer]:
    """Return a random tokenizer, in each backend that there is."""
    backends: list[Any] = ["python"] if native_missing() else [None, "python"]
    if random.random() < 0.55:
        vocabulary, added = _vocabulary(random), _added(random)
        preset: Any = random.choice(PRESET_NAMES) if random.random() < 0.9 else Whole()
        options: dict[str, Any] = {
            "add_prefix_space": random.random() < 0.15,
            "normalizer": "NFC" if random.random() < 0.25 else None,
        }
        return [
            Tokenizer(vocabulary, preset, added_tokens=added, backend=backend, **options)
            for backend in backends
        ]
    kind = random.randrange(3)
    if kind == 0:
        file = random_added_tokens.random_file(random)
    elif kind == 1:
        file = file_of(**CASES[random.choice(sorted(CASES))])
    else:
        file = file_of(**FALLBACK, **random.choice(SPACES), added_tokens=random.choice([
            ADDED, ADDED[:1]]))  # fmt: skip
    path = write(folder / "tokenizer.json", file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [bpe.load(path, backend=backend) for backend in backends]
    except bpe.BpeError:  # two tokens exclude each other
        return _tokenizers(random, folder)


def _vocabulary(random: Random) -> Vocabulary:
    tokens = [b"a", b"b", b"c", b" ", b"1", b"'", b"s", b"\n"]
    for _ in range(random.randrange(20)):
        token = random.choice(tokens) + random.choice(tokens)
        if token not in tokens and len(token) < 20:
            tokens.append(token)
    longer = tokens[8:]
    random.shuffle(longer)
    return Vocabulary(BYTES | {256 + at: token for at, token in enumerate(longer)})


def _added(random: Random) -> list[AddedToken]:
    contents = random.sample(CONTENTS, k=random.choice([0, 0, 1, 2, 3]))
    return [
        AddedToken(
            content,
            1000 + at,
            special=random.random() < 0.5,
            lstrip=random.random() < 0.2,
            rstrip=random.random() < 0.2,
            single_word=random.random() < 0.1,
        )
        for at, content in enumerate(contents)
    ]


def presets() -> list[str]:
    """Return the names of all presets that keep the whole text."""
    return [preset.name for preset in pretok.presets() if not preset.drops_text]
