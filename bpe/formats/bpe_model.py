"""Build a Vocabulary from the texts, ids and merges of a tokenizer.json, vocab.json or GGUF."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain, count
from operator import add
from typing import NamedTuple

from bpe.byte_level import all_to_bytes
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.json_value import Value
from bpe.vocabulary import ID_LIMIT, NOT_IN_UTF8, UNASSIGNED, Merge, Vocabulary
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.errors import shortened

_ASCII = frozenset(bytes([byte]) for byte in range(0x80))
# The characters of the bytes that a byte-level vocabulary must have.
_NEEDED = [
    char for byte, char in enumerate(BYTE_CHARACTERS) if byte not in NOT_IN_UTF8 | UNASSIGNED
]


class InertEntryError(UnsupportedError):
    """Text may become an entry with a character that stands for no byte (see `_check_inert`).

    A Vocabulary cannot hold such an entry. A TextVocabulary can, so `build_if_bytes` catches the
    error.
    """


class ListedMerges(NamedTuple):
    """The merges of a file."""

    pairs: Callable[[], Sequence[tuple[str, str]]]
    """Returns the two texts of each merge, or raises the error for a malformed merge."""
    location: Callable[[int], str]
    """Returns the place of the merge with this index in the file, for errors."""


class ListedModel(NamedTuple):
    """The entries and merges of a file, and the settings that say how `build` reads them."""

    vocab: Value
    """The id of each entry by its text."""
    merges: ListedMerges
    ignore_merges: bool = False
    """Vocabulary explains it."""
    added: Sequence[AddedToken] = ()
    """Added tokens; `build` omits entries of several bytes that are such tokens and in no merge."""
    loose: Collection[int] = ()
    """The ids of entries that a GGUF file does not mark as ordinary tokens.

    `build` omits such entries unless a merge names them or they are ASCII bytes.
    """


def build(model: ListedModel) -> Vocabulary:
    """Return the vocabulary of `model`. cpp/formats/text_model.hpp does the same in C++.

    Raises VocabularyError, and InertEntryError if text may become an entry with a character that
    stands for no byte.
    """
    pairs = model.merges.pairs()
    ids = check_ids(model.vocab)
    merges = merge_ids(ids, pairs, model.merges.location)
    ignore_merges = model.ignore_merges
    tokens: dict[int, bytes] = {}
    # Entries with a character that stands for no byte. Such an entry gets the UTF-8 of its text as
    # its bytes, but no text is ever merged to it.
    inert: dict[int, str] = {}
    for (text, id), token in zip(ids.items(), all_to_bytes(ids), strict=True):
        if token is None:
            inert[id] = text
            token = _utf8(text)
        if token:  # Whisper's vocabulary has an entry for the empty text; no text encodes to it
            tokens[id] = token
    if inert:
        merges = [merge for merge in merges if inert.keys().isdisjoint(merge)]
    _drop_added(tokens, ids, merges, model.added, ignore_merges)
    for id in set(model.loose).difference(chain.from_iterable(merges)):
        if tokens.get(id) not in _ASCII:
            tokens.pop(id, None)
    _check_inert({id: text for id, text in inert.items() if id in tokens}, tokens, ignore_merges)
    if "" in ids:  # a merge may name it, so the merges need the full check
        return Vocabulary(tokens, merges, ignore_merges)
    return Vocabulary._of_checked_merges(tokens, tuple(merges), ignore_merges)


def build_if_bytes(model: ListedModel) -> Vocabulary | None:
    """Return the result of `build`, or None if only a TextVocabulary can hold the tokens.

    That is so if a byte of valid text has no token: Hugging Face's tokenizers and llama.cpp drop
    such a byte, or replace it by the unknown token. It is also so if `build` raises
    InertEntryError.
    """
    if None not in map(model.vocab.object().get, _NEEDED):
        with suppress(InertEntryError):
            return build(model)
    return None


def assigned_ids(contents: Sequence[str], ids: Mapping[str, int]) -> list[int]:
    """Return the ids that Hugging Face's tokenizers 0.23 gives to added tokens.

    The library ignores the ids of added tokens in the file. A token of the vocabulary keeps its id,
    `ids[content]`, and a token that is listed again keeps its first id. New tokens get the next
    ids, from `len(ids)` on.
    """
    new_ids = count(len(ids))
    assigned: dict[str, int] = {}
    for content in contents:
        if content not in assigned:
            assigned[content] = ids[content] if content in ids else next(new_ids)
    return [assigned[content] for content in contents]


def check_ids(vocab: Value) -> dict[str, int]:
    """Return the ids of `vocab`; raise VocabularyError if they are invalid or not unique."""
    texts: dict[int, str] = {}
    ids: dict[str, int] = dict(vocab.object())
    for text, id in ids.items():
        if type(id) is not int or not 0 <= id < ID_LIMIT:
            raise Value(id, _entry(vocab, text)).malformed(f"a number from 0 to {ID_LIMIT - 1}")
        if id in texts:
            raise Value(id, _entry(vocab, text)).malformed(
                f"a unique id, but {shortened(texts[id], show=ascii)} has it too"
            )
        texts[id] = text
    return ids


def _entry(vocab: Value, text: str) -> str:
    return (
        f"{vocab.path}[{shortened(text, show=ascii)}]"
        if vocab.path
        else f"the id of {shortened(text, show=ascii)}"
    )


def merge_ids(
    ids: Mapping[str, int],
    pairs: Sequence[tuple[str, str]],
    location: Callable[[int], str],
    prefix: str = "",
) -> list[Merge]:
    """Return the ids of the two tokens of each merge, and of its result.

    The text of the result omits the `prefix` of the right token (continuing_subword_prefix). Raises
    VocabularyError if a token is not in `ids`; `location` returns the place of a merge for the
    error.
    """
    try:
        lefts, rights = zip(*pairs, strict=True) if pairs and not prefix else ((), ())
        if prefix:
            raise KeyError(prefix)
        wholes = map(add, lefts, rights)
        return list(
            zip(*(map(ids.__getitem__, texts) for texts in (lefts, rights, wholes)), strict=True)
        )
    except KeyError:
        pass  # the loop below removes the prefix, or finds the merge for the error
    merges: list[Merge] = []
    for index, (left, right) in enumerate(pairs):
        if not right.startswith(prefix):
            raise VocabularyError(
                f"{location(index)} merges {shortened(left)} and {shortened(right)}, which does "
                f"not begin with {shortened(prefix)}, the continuing_subword_prefix"
            )
        try:
            merges.append((ids[left], ids[right], ids[left + right[len(prefix) :]]))
        except KeyError as error:
            raise VocabularyError(
                f"{location(index)} merges {shortened(left, show=ascii)} and "
                f"{shortened(right, show=ascii)}, but the vocabulary has no token "
                f"{shortened(error.args[0], show=ascii)}; the merges belong to another vocabulary, "
                "or the file is damaged"
            ) from None
    return merges


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise VocabularyError(
            f"vocabulary entry {shortened(text, show=ascii)} has a lone surrogate; expected valid "
            "text"
        ) from None


def _drop_added(
    tokens: dict[int, bytes],
    ids: dict[str, int],
    merges: Sequence[Merge],
    added: Sequence[AddedToken],
    ignore_merges: bool,
) -> None:
    """Remove the added tokens of several bytes that no merge names from `tokens`.

    Merging never makes these entries; text becomes them only as added tokens.
    """
    merged: set[int] | None = None
    for token in added:
        if ids.get(token.content) != token.id or len(tokens.get(token.id, b"")) < 2:
            continue
        if merged is None:
            merged = {id for merge in merges for id in merge}
        # If `ignore_merges`, keep added tokens that are not special: if `single_word` prevents a
        # match, a pre-token that equals the token still becomes the token. A special token is
        # removed, because ordinary text must never become a special token.
        if token.id not in merged and (token.special or not ignore_merges):
            del tokens[token.id]


def _check_inert(inert: dict[int, str], tokens: dict[int, bytes], ignore_merges: bool) -> None:
    """Make sure that text never becomes an inert entry.

    An inert entry has a character that stands for no byte. Removes an inert entry of one byte from
    `tokens` if no other token has this byte, because the byte would become the entry. Raises
    InertEntryError for any other inert entry that text may become.

    If `ignore_merges`, text may become any inert entry: a pre-token with the bytes of the entry.
    """
    if not inert:
        return
    proper = {token: id for id, token in tokens.items() if id not in inert}
    for id, text in inert.items():
        twin = proper.get(tokens[id])
        # No merge makes an inert entry. But a byte becomes the token of this byte with the lowest
        # id, which may be an inert entry.
        is_byte = len(tokens[id]) == 1
        if ignore_merges or (twin is not None and id < twin and is_byte):
            raise InertEntryError(
                f"text may become the vocabulary entry {shortened(text, show=ascii)}, although one "
                "of its characters stands for no byte"
            )
        if twin is None and is_byte:
            del tokens[id]
