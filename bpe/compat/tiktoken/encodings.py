"""Get encodings by name; each is loaded once."""

from __future__ import annotations

from threading import RLock

from bpe.compat.tiktoken.encoding import Encoding
from bpe.hub.openai import ENCODING_NAMES, encoding_name_for_model
from pretok.process_lock import ProcessLock

_lock = ProcessLock(RLock)
ENCODINGS: dict[str, Encoding] = {}
"""The encodings that `get_encoding` has loaded, by name."""


def get_encoding(encoding_name: str) -> Encoding:
    """Return the encoding of this name; the same object each time.

    `bpe.load` finds its vocabulary on this machine, never on the network. Raises ValueError for an
    unknown name, UnknownVocabularyError if the vocabulary is not on this machine.
    """
    if encoding_name not in ENCODING_NAMES:
        raise ValueError(
            f"Unknown encoding {encoding_name}. Expected one of {', '.join(ENCODING_NAMES)}"
        )
    with _lock():
        if encoding_name not in ENCODINGS:
            from bpe import load

            ENCODINGS[encoding_name] = Encoding.from_tokenizer(load(encoding_name), encoding_name)
        return ENCODINGS[encoding_name]


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding of a model, with `get_encoding`.

    Raises KeyError for an unknown model, and the errors of `get_encoding`.
    """
    return get_encoding(encoding_name_for_model(model_name))


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` accepts."""
    return list(ENCODING_NAMES)


def loaded(name: str) -> Encoding | None:
    """Return the encoding of this name if `get_encoding` has loaded it, else None."""
    return ENCODINGS.get(name)
