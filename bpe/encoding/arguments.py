"""What a Tokenizer is given: checked, and made what it works with."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.backends import SupportsOffsets
from bpe.encoding.python_backend import Data, check_keeps_all, utf8
from bpe.errors import VocabularyError
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok.errors import shortened
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get

DEFAULT_CACHE_MB = 128
MAX_CACHE_MB = sys.maxsize >> 20


def made_pre_tokenizer(
    given: PreTokenizer | SupportsOffsets | Preset | str, backend: BackendName
) -> PreTokenizer | SupportsOffsets:
    """Return the pre-tokenizer that was given, or that a preset says, with this backend."""
    if isinstance(given, (str, Preset)):
        given = get(given, backend=backend)
    check_keeps_all(given)
    if isinstance(given, PreTokenizer):
        if given.backend == backend:
            return given
        return PreTokenizer(given.preset, given.unicode, backend)
    if callable(getattr(given, "offsets", None)):
        return given
    raise TypeError(
        f"pre_tokenizer is of type {type(given).__name__}; expected a preset, its name, a "
        "PreTokenizer, or an object with offsets(text)"
    )


def added_bytes(added: Sequence[AddedToken], vocabulary: Vocabulary) -> dict[int, bytes]:
    """Return the bytes of added tokens whose ids `vocabulary` does not have.

    Raises VocabularyError for tokens that cannot be added to it.
    """
    found: dict[int, bytes] = {}
    contents: set[str] = set()
    for token in added:
        if not token.content or utf8(token.content).decode() != token.content:
            raise VocabularyError(
                f"added token {token.id} is {shortened(token.content)}; expected some text without "
                "lone "
                "surrogates"
            )
        data = token.content.encode()
        if type(token.id) is not int or not 0 <= token.id < ID_LIMIT:
            raise VocabularyError(
                f"added token {shortened(token.content)} has id {token.id!r}; expected an int from "
                "0 to "
                f"{ID_LIMIT - 1}"
            )
        known = vocabulary.bytes_of(token.id)
        if known not in (None, data):
            raise VocabularyError(
                f"added token {shortened(token.content)} has id {token.id}, which is that of "
                f"{shortened(known)}; give each its own"
            )
        if token.content in contents:
            raise VocabularyError(f"added token {shortened(token.content)} is listed twice")
        contents.add(token.content)
        if known is None:
            # Two added tokens may have one id, as in o200k_harmony; it decodes to the first.
            found.setdefault(token.id, data)
    return found


def cache_limit(cache_mb: float | None) -> int:
    """Return how many bytes `cache_mb` is; raises TypeError and ValueError."""
    if cache_mb is None:
        return DEFAULT_CACHE_MB << 20
    if isinstance(cache_mb, bool) or not isinstance(cache_mb, (int, float)):
        raise TypeError(
            f"cache_mb is of type {type(cache_mb).__name__}; expected a number of MB, or None for "
            f"{DEFAULT_CACHE_MB}"
        )
    if not 0 <= cache_mb <= MAX_CACHE_MB:
        raise ValueError(
            f"cache_mb={cache_mb!r:.40}; expected a number of MB from 0, which keeps no cache "
            f"between calls, to {MAX_CACHE_MB}"
        )
    return int(cache_mb * (1 << 20))


def some_texts(texts: Iterable[Data]) -> list[Data]:
    """Return the texts of a batch as a list; raises TypeError for a single text."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"expected some texts, got one {type(texts).__name__}")
    # A copy: what others do to a list meanwhile does not matter.
    return list(texts)
