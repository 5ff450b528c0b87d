"""A small tokenizer for tests of decoding. Some of its tokens are incomplete characters."""

from __future__ import annotations

from hypothesis import strategies as st

from bpe import AddedToken, Tokenizer, Vocabulary
from pretok.machine.backend import BackendName
from vocabularies import BYTES

VOCABULARY = Vocabulary(
    BYTES | {256: b"ab", 257: "\u4e2d".encode()[:2], 258: b"\x9f\x98", 260: " \u00e9".encode()}
)
SPECIAL = 300
IDS = [*range(259), 260, SPECIAL, 301]
all_ids = st.sampled_from(IDS) | st.sampled_from([0xF0, 0x9F, 0x98, 0x80, 257, 0xAD, 258, SPECIAL])


def make(backend: BackendName) -> Tokenizer:
    added = [AddedToken("<s>", SPECIAL), AddedToken("<plain>", 301, special=False)]
    return Tokenizer(VOCABULARY, "gpt2", added_tokens=added, backend=backend)


class Index:
    """An object with `__index__`."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value
