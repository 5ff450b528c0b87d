"""Random changes of a text, made on two sessions that must stay equal."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from bpe import SpecialTokenError, Tokenizer
from bpe.normalizers.chain import NFC
from bpe.sessions.kept_text import KeptText, PythonText

POLICIES: tuple[Any, ...] = ("raise", "text", "allow", "plain", "content")


def new_texts(tokenizer: Tokenizer, continuation: bool = False) -> tuple[KeptText, PythonText]:
    """Return an empty text of the tokenizer, and one that encodes all text at each change."""
    contents = {token.id: token.content for token in tokenizer.added_tokens}
    whole = PythonText(tokenizer._pipeline, contents, continuation)
    return tokenizer._kept_text(continuation), whole


def outcome(call: Any, *arguments: Any) -> Any:
    """Return the result of a call, or its error."""
    try:
        keep, ids, tail = call(*arguments)
    except SpecialTokenError as error:
        return error.token, error.position
    return keep, ids.tolist(), tail


class Walk:
    """A row of random changes of `text` and `whole`."""

    def __init__(
        self, tokenizer: Tokenizer, pieces: Sequence[bytes], random: Random, longest: int = 12
    ) -> None:
        self.tokenizer, self.pieces, self.random = tokenizer, pieces, random
        self.longest = longest
        self.text, self.whole = new_texts(tokenizer, random.random() < 0.2)
        self.policies = random.choices(POLICIES, k=random.choice([1, 1, 2]))
        self.is_python = isinstance(self.text, PythonText)
        self.old: list[int] = []
        self.stable: list[int] = []

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def some_text(self) -> bytes:
        count = self.random.choice([0, 1, 1, 2, self.random.randrange(self.longest + 1)])
        text = b"".join(self.random.choices(self.pieces, k=count))
        return text * (self.random.randrange(2, 60) if self.random.random() < 0.1 else 1)

    def place(self) -> int:
        size = self.whole.size
        near_end = size - self.random.randrange(min(size, 9) + 1)
        return near_end if self.random.random() < 0.3 else self.random.randrange(size + 1)

    def step(self) -> None:
        random = self.random
        kind = random.choice(["append", "append", "replace", "replace", "update", "peek",
                              "truncate", "extend", "clone"])  # fmt: skip
        name = random.choice(self.policies)
        policy = self.tokenizer._pipeline.policy(name)
        start, end = sorted([self.place(), self.place()])
        if random.random() < 0.6:
            end = min(end, start + random.randrange(6))
        data = self.some_text()
        ours: tuple[Any, ...] = (data, name if self.is_python else policy)
        expected: tuple[Any, ...] = (data, name)
        if kind == "clone":
            self.text = self.text.clone()
            return
        if kind == "update":
            old = self.whole.text(0, self.whole.size)
            data = old[:start] + data + old[end:]
            ours, expected = (data, ours[1]), (data, name)
        elif kind == "replace":
            ours, expected = (start, end, *ours), (start, end, *expected)
        elif kind == "truncate":
            kind, size = "replace", self.whole.size
            ours, expected = (start, size, b"", ours[1]), (start, size, b"", name)
        elif kind == "extend":
            ids = np.array([self.some_id() for _ in range(random.randrange(4))], np.uint32)
            texts = [self.tokenizer._text_of_given(int(id)) for id in ids]
            sizes = np.array([len(text) for text in texts], np.uint32)
            given = ids, sizes, b"".join(texts)
            ours, expected = (*given, ours[1]), (*given, name)
        is_append = kind in ("append", "extend")
        before = self.text.ids.tolist()
        stable = before[: self.text.stable]
        found = outcome(getattr(self.text, kind), *ours)
        assert found == outcome(getattr(self.whole, kind), *expected), (kind, expected)
        after = self.text.ids.tolist()
        if len(found) == 3 and kind != "peek":
            keep, ids, tail = found
            assert after == before[:keep] + ids + before[len(before) - tail :]
            assert not is_append or after[: len(stable)] == stable
        else:
            assert after == before
        self.check()

    def some_id(self) -> int:
        added = [token.id for token in self.tokenizer.added_tokens]
        choices = [*added, self.random.randrange(self.tokenizer.vocab_size + 2)]
        return self.random.choice(choices)

    def check(self) -> None:
        text, whole = self.text, self.whole
        assert text.ids.tolist() == whole.ids.tolist()
        assert text.text(0, text.size) == whole.text(0, whole.size)
        assert (len(text), text.size, text.characters) == (len(whole), whole.size, whole.characters)
        assert 0 <= whole.stable <= text.stable <= len(text)
        first, last = sorted(self.random.randrange(len(text) + 1) for _ in range(2))
        # The span of a token in a sequence that NFC may change depends on whether NFC changes any
        # of the text that is encoded at once.
        if self.tokenizer.normalizer != NFC:
            for ours, expected in zip(
                text.spans(first, last), whole.spans(first, last), strict=True
            ):
                assert ours.tolist() == expected.tolist()
        character = self.random.randrange(text.characters + 1)
        byte = text.byte_of(character)
        assert byte == whole.byte_of(character)
        assert text.character_of(byte) == whole.character_of(byte)
        assert [part[::2] for part in text.parts()] == [part[::2] for part in whole.parts()]
