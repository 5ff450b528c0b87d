"""Validate the arguments of Tokenizer."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from operator import index
from typing import get_args

from bpe.byte_level import to_text
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.token_list import AddedTokenList
from bpe.encoding.utf8 import StrOrBytes
from bpe.errors import UnsupportedError, VocabularyError
from bpe.normalizers.chain import NFC
from bpe.types import (
    MAX_TEMPLATE_IDS,
    Errors,
    Normalizer,
    NormalizesText,
    PresetLike,
    SupportsOffsets,
    Template,
    Text,
)
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok.errors import shortened
from pretok.machine.backend import BackendName, choose_backend
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import find, get

DEFAULT_CACHE_MB = 128
MAX_CACHE_MB = sys.maxsize >> 20
MAX_THREADS = 1 << 16

_ERRORS = get_args(Errors)


def check_types(vocabulary: object, added: AddedTokenList) -> None:
    """Raise TypeError unless `vocabulary` is a Vocabulary, and `added` are AddedTokens."""
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"vocabulary is of type {type(vocabulary).__name__}; expected a Vocabulary")
    for position, token in enumerate(added):
        if not isinstance(token, AddedToken):
            raise TypeError(
                f"added_tokens[{position}] is of type {type(token).__name__}; expected an "
                "AddedToken"
            )


def resolve_template(template: Template | None) -> Template:
    """Return `template` with tuples, or an empty one for None.

    Raises TypeError or ValueError unless `template` is a Template of ids.
    """
    if template is None:
        return Template()
    if not isinstance(template, Template):
        raise TypeError(f"template is of type {type(template).__name__}; expected a Template")
    result = Template(*(_template_ids(*field) for field in template._asdict().items()))
    count = len(result.before) + len(result.after)
    if count > MAX_TEMPLATE_IDS:
        raise ValueError(
            f"template has {count} ids; expected at most {MAX_TEMPLATE_IDS}; add other ids to the "
            "result of encode"
        )
    return result


def _template_ids(field: str, ids: object) -> tuple[int, ...]:
    if not isinstance(ids, (list, tuple)):
        raise TypeError(f"template.{field} is {shortened(ids)}; expected a tuple of ids")
    numbers = []
    for id in ids:
        try:
            number = index(id)
        except TypeError:
            raise TypeError(f"template.{field} has {shortened(id)}; expected an id") from None
        if not 0 <= number < ID_LIMIT:
            raise ValueError(f"template.{field} has {id}; expected an id from 0 to {ID_LIMIT - 1}")
        numbers.append(number)
    return tuple(numbers)


def resolve_normalizer(normalizer: Normalizer | None) -> NormalizesText | None:
    """Return `normalizer`, or the normalizer that "NFC" stands for.

    Raises ValueError unless `normalizer` is None, "NFC" or a NormalizesText.
    """
    if isinstance(normalizer, str) and normalizer == "NFC":
        return NFC
    if normalizer is not None and not callable(getattr(normalizer, "align", None)):
        raise ValueError(
            f"normalizer={shortened(normalizer)}; expected None, 'NFC' or an object with the "
            "methods normalize(text) and align(text)"
        )
    return normalizer


def backend_for(
    vocabulary: Vocabulary, preset: object, requested: BackendName | None
) -> BackendName:
    """Return the backend to use: "python" if C++ cannot merge the pre-tokens with `vocabulary`.

    Otherwise `choose_backend` decides, and raises BackendError if the backend is not available.
    Raises UnsupportedError if `requested` is "native" and C++ cannot merge.
    """
    if isinstance(preset, str):
        preset = find(preset)
    if isinstance(vocabulary, AnyCharacterVocabulary):
        why = vocabulary.why_not_native
        if not isinstance(preset, (str, Preset, PreTokenizer)):
            why = why or "the pre-tokenizer is written in Python"
        if why and requested == "native":
            raise UnsupportedError(
                f"backend='native' cannot encode with this vocabulary: {why}; use "
                "backend=None or 'python'"
            )
        if why:
            return "python"
    return choose_backend(requested)


def resolve_pre_tokenizer(
    preset: PresetLike, backend: BackendName, may_drop_text: bool = False
) -> PreTokenizer | SupportsOffsets:
    """Return the pre-tokenizer that `preset` is or names, for `backend`.

    Raises UnsupportedError if it drops text and `may_drop_text` is false.
    """
    pre_tokenizer = get(preset, backend=backend) if isinstance(preset, (str, Preset)) else preset
    if not may_drop_text:
        check_keeps_text(pre_tokenizer)
    if isinstance(pre_tokenizer, PreTokenizer):
        if pre_tokenizer.backend == backend:
            return pre_tokenizer
        return PreTokenizer(pre_tokenizer.preset, pre_tokenizer.unicode, backend)
    if callable(getattr(pre_tokenizer, "offsets", None)):
        return pre_tokenizer
    raise TypeError(
        f"preset is of type {type(pre_tokenizer).__name__}; expected a Preset, its name, a "
        "PreTokenizer, or an object with offsets(text)"
    )


def check_keeps_text(pre_tokenizer: object) -> None:
    """Raise UnsupportedError if `pre_tokenizer` drops text, which decoding could not restore."""
    if isinstance(pre_tokenizer, PreTokenizer) and pre_tokenizer.preset.drops_text:
        raise UnsupportedError(
            f"preset {pre_tokenizer.preset.name!r} drops parts of the text, and decoding could not "
            "give them back; expected a preset that keeps all text"
        )


def new_token_bytes(added: AddedTokenList, vocabulary: Vocabulary) -> dict[int, bytes]:
    """Return the bytes of the added tokens whose ids are not in `vocabulary`, by id.

    Raises VocabularyError if a content is empty, has surrogates or is listed twice, or if an id is
    invalid or belongs to another token of `vocabulary`.
    """
    new_tokens: dict[int, bytes] = {}
    contents: set[str] = set()
    bytes_of = vocabulary.bytes_of
    for token in added:
        try:
            data = token.content.encode()
        except UnicodeEncodeError:
            data = b""
        if not data:
            raise VocabularyError(
                f"added token {token.id} is {shortened(token.content)}; expected text that is not "
                "empty and has no surrogates"
            )
        if type(token.id) is not int or not 0 <= token.id < ID_LIMIT:
            raise VocabularyError(
                f"added token {shortened(token.content)} has id {token.id!r}; expected an int from "
                f"0 to {ID_LIMIT - 1}"
            )
        known = bytes_of(token.id)
        if known not in (None, data) and not _is_text_of(vocabulary, token, known):
            raise VocabularyError(
                f"added token {shortened(token.content)} has id {token.id}, which is the id of "
                f"{shortened(known)}; give each token its own id"
            )
        if token.content in contents:
            raise VocabularyError(
                f"added token {shortened(token.content)} is listed twice; list it once"
            )
        contents.add(token.content)
        if known is None:
            # Two added tokens may share an id, as in o200k_harmony; the id decodes to the first.
            new_tokens.setdefault(token.id, data)
    return new_tokens


def _is_text_of(vocabulary: Vocabulary, token: AddedToken, known: bytes | None) -> bool:
    """Return whether a file may have a token with the text and the id of `token`.

    `known` are the bytes of the token, which may differ from its text: the token "<0x0A>" stands
    for the byte 0x0A, and "é" in a byte-level vocabulary for the byte 0xE9.
    """
    if isinstance(vocabulary, TextVocabulary):
        return vocabulary.pieces.get(token.content) == token.id
    is_bytes = not isinstance(vocabulary, AnyCharacterVocabulary)
    return is_bytes and known is not None and to_text(known) == token.content


def cache_limit(cache_mb: float | None) -> int:
    """Convert `cache_mb` to bytes; None is DEFAULT_CACHE_MB.

    Raises TypeError if it is not a number, and ValueError if it is negative or too large.
    """
    if cache_mb is None:
        return DEFAULT_CACHE_MB << 20
    if isinstance(cache_mb, bool) or not isinstance(cache_mb, (int, float)):
        raise TypeError(
            f"cache_mb is of type {type(cache_mb).__name__}; expected a number of MB, or None for "
            f"{DEFAULT_CACHE_MB}"
        )
    if not 0 <= cache_mb <= MAX_CACHE_MB:
        raise ValueError(
            f"cache_mb={cache_mb!r:.40}; expected a number of MB from 0 (no cache between calls) "
            f"to {MAX_CACHE_MB}"
        )
    return int(cache_mb * (1 << 20))


def resolve_threads(threads: int | None) -> int:
    """Return the number of threads for a backend. None gives 0: the backend chooses.

    Raises ValueError unless `threads` is None or an int of at least 1.
    """
    if threads is None:
        return 0
    if not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads={threads!r}; expected None or an int of at least 1")
    return min(threads, MAX_THREADS)


def check_errors(errors: Errors) -> None:
    """Raise ValueError unless `errors` is an error handler for a text to encode."""
    if errors not in _ERRORS:
        raise ValueError(
            f"errors={shortened(errors)}; expected 'replace', 'strict' or 'surrogateescape'"
        )


def check_engine(threads: int | None, engine: object) -> None:
    """Raise ValueError for wrong `threads`, and for `threads` together with an `engine`."""
    resolve_threads(threads)
    if threads is not None and engine is not None:
        raise ValueError("pass threads= or engine=, not both; each task has one thread")


def validate_text(text: Text, errors: Errors) -> StrOrBytes:
    """Return `text` as the str or bytes that a backend takes.

    Raises TypeError for another type, ValueError for unknown `errors`, and UnicodeEncodeError for a
    surrogate that the handler `errors` does not encode.
    """
    check_errors(errors)
    if isinstance(text, str):
        return text if errors == "replace" or text.isascii() else text.encode("utf-8", errors)
    if isinstance(text, (bytes, bytearray, memoryview)):
        return as_bytes(text)
    advice = "; encode_batch takes a list of texts" if isinstance(text, Iterable) else ""
    raise TypeError(f"expected str or bytes, got {type(text).__name__}{advice}")


def as_bytes(data: bytes | bytearray | memoryview) -> bytes:
    """Return `data` as bytes; raise TypeError for another type, such as an array of str."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, bytearray):
        return bytes(data)
    if not isinstance(data, memoryview):
        advice = "; pass text.encode()" if isinstance(data, str) else ""
        raise TypeError(f"expected bytes, got {type(data).__name__}{advice}")
    if data.itemsize != 1:
        raise TypeError(f"expected a memoryview of bytes, got items of {data.itemsize} bytes")
    return bytes(data)


def check_batch(texts: Iterable[Text]) -> list[Text]:
    """Return the texts of a batch as a list; raise TypeError for one text, or if not iterable."""
    # Copy: another thread may change the caller's list during the call.
    return list(check_iterable(texts))


def check_iterable(texts: Iterable[Text]) -> Iterable[Text]:
    """Return `texts`; raise TypeError for one text, or if it is not iterable."""
    if isinstance(texts, (str, bytes, bytearray, memoryview)):
        raise TypeError(
            f"expected an iterable of texts, got one {type(texts).__name__}; pass [text]"
        )
    if type(texts) is not list and not isinstance(texts, Iterable):
        raise TypeError(f"expected an iterable of texts, got {type(texts).__name__}")
    return texts
