"""A vocabulary of bytes with added tokens."""

from __future__ import annotations

from bpe import AddedToken, Tokenizer, Vocabulary
from pretok.machine.backend import BackendName
from vocabularies import BYTES

PLAIN = Vocabulary(BYTES, [])
"""Each byte is a token, so all ids above 255 are added tokens."""


def make(backend: BackendName, *added: AddedToken | str, nfc: bool = False) -> Tokenizer:
    """Return a tokenizer with added tokens.

    A str at index i of `added` becomes a token with the id 256 + i.
    """
    tokens = [
        AddedToken(token, 256 + at) if isinstance(token, str) else token
        for at, token in enumerate(added)
    ]
    return Tokenizer(
        PLAIN, "gpt2", added_tokens=tokens, normalizer="NFC" if nfc else None, backend=backend
    )


def plain(text: str) -> list[int]:
    return list(text.encode())
