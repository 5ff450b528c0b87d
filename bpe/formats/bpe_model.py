"""The texts with their ids and merges of texts that tokenizer.json and vocab.json have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, count
from operator import add
from typing import Any, NamedTuple

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.byte_level import all_to_bytes
from bpe.formats.json_value import Value
from bpe.vocabulary import ID_LIMIT, Merge, Packed, Vocabulary
from pretok.errors import shortened
from pretok.machine.backend import backend

_ASCII = frozenset(bytes([byte]) for byte in range(0x80))


class ListedMerges(NamedTuple):
    """Merges as a file lists them."""

    listed: list[Any]
    """Of each the two texts, or both in one with a space between; anything else is an error."""
    pairs: Callable[[], Sequence[tuple[str, str]]]
    """Returns the two texts of each, or raises the error that says which is none."""
    where: Callable[[int], str]
    """Says of the index of a merge where it stands, for errors."""


def build(
    vocab: Value,
    merges: ListedMerges,
    ignore_merges: bool = False,
    added: Sequence[AddedToken] = (),
    loose: Collection[int] = (),
) -> Vocabulary:
    """Return the vocabulary that `vocab`, texts to ids, and `merges` make.

    An entry that is one of the `added` tokens only, which nothing merges to, is not part of the
    vocabulary; nor is one whose id is in `loose`, but for those that a merge names and bytes of
    ASCII. Raises VocabularyError, and UnsupportedError if an entry would have to be left alone by a
    look-up.
    """
    if backend() == "native":
        from pretok import _core

        known = [
            (token.content, token.id, token.special) for token in added if 0 <= token.id < ID_LIMIT
        ]
        made = _core.build_vocabulary(
            vocab.object(), merges.listed, known, ignore_merges, frozenset(loose)
        )
        if made is not None:
            return Vocabulary.of_packed(Packed(*made[:3]), made[3], False, ignore_merges)
    return _build(vocab, merges, ignore_merges, added, loose)  # also to say what is wrong


def _build(
    vocab: Value,
    listed: ListedMerges,
    ignore_merges: bool,
    added: Sequence[AddedToken],
    loose: Collection[int],
) -> Vocabulary:
    pairs = listed.pairs()
    ids = _checked(vocab)
    merges = _merges(ids, pairs, listed.where)
    tokens: dict[int, bytes] = {}
    # Not in GPT-2's characters: stands for its UTF-8, and no text is ever merged to it.
    inert: dict[int, str] = {}
    for (text, id), token in zip(ids.items(), all_to_bytes(ids), strict=True):
        if token is None:
            inert[id] = text
            token = _utf8(text)
        if token:  # Whisper's vocabulary has an entry for no text at all; nothing becomes that
            tokens[id] = token
    if inert:
        merges = [merge for merge in merges if inert.keys().isdisjoint(merge)]
    _drop_added(tokens, ids, merges, added, ignore_merges)
    for id in set(loose).difference(chain.from_iterable(merges)):
        if tokens.get(id) not in _ASCII:
            tokens.pop(id, None)
    _check_inert({id: text for id, text in inert.items() if id in tokens}, tokens, ignore_merges)
    if "" in ids:  # which a merge might name
        return Vocabulary(tokens, merges, ignore_merges)
    return Vocabulary.from_checked_merges(tokens, tuple(merges), ignore_merges)


def assigned_ids(contents: Sequence[str], ids: Mapping[str, int]) -> list[int]:
    """Return the ids that tokenizers 0.23 gives to added tokens, in this order, come what may.

    One that is in the vocabulary, of texts and their `ids`, has the id it has there; the others
    count on from the number of entries.
    """
    ahead = count(len(ids))
    return [ids[content] if content in ids else next(ahead) for content in contents]


def _checked(vocab: Value) -> dict[str, int]:
    texts: dict[int, str] = {}
    ids: dict[str, int] = vocab.object()
    for text, id in ids.items():
        if type(id) is not int or not 0 <= id < ID_LIMIT:
            raise Value(id, _entry(vocab, text)).malformed(f"a number from 0 to {ID_LIMIT - 1}")
        if id in texts:
            raise Value(id, _entry(vocab, text)).malformed(
                f"an id that {shortened(texts[id], show=ascii)} has not"
            )
        texts[id] = text
    return ids


def _entry(vocab: Value, text: str) -> str:
    return (
        f"{vocab.path}[{shortened(text, show=ascii)}]"
        if vocab.path
        else f"the id of {shortened(text, show=ascii)}"
    )


def _merges(
    ids: dict[str, int], pairs: Sequence[tuple[str, str]], where: Callable[[int], str]
) -> list[Merge]:
    try:
        lefts, rights = zip(*pairs, strict=True) if pairs else ((), ())
        wholes = map(add, lefts, rights)
        return list(
            zip(*(map(ids.__getitem__, texts) for texts in (lefts, rights, wholes)), strict=True)
        )
    except KeyError:
        pass  # once more, to say where
    found: list[Merge] = []
    for index, (left, right) in enumerate(pairs):
        try:
            found.append((ids[left], ids[right], ids[left + right]))
        except KeyError as error:
            raise VocabularyError(
                f"{where(index)} merges {shortened(left, show=ascii)} and "
                f"{shortened(right, show=ascii)}, but the vocabulary has no token "
                f"{shortened(error.args[0], show=ascii)}; the two do not belong together, or are "
                "damaged"
            ) from None
    return found


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise VocabularyError(
            f"the vocabulary has an entry {shortened(text, show=ascii)}, which has a lone "
            "surrogate; expected text"
        ) from None


def _drop_added(
    tokens: dict[int, bytes],
    ids: dict[str, int],
    merges: Sequence[Merge],
    added: Sequence[AddedToken],
    ignore_merges: bool,
) -> None:
    """Remove from `tokens` what only an added token becomes."""
    merged: set[int] | None = None
    for token in added:
        if ids.get(token.content) != token.id or len(tokens.get(token.id, b"")) < 2:
            continue
        if merged is None:
            merged = {id for merge in merges for id in merge}
        # A pre-token that is looked up whole may be one that is not found as an added token, for
        # it is no single word; a special one must not come of ordinary text.
        if token.id not in merged and (token.special or not ignore_merges):
            del tokens[token.id]


def _check_inert(inert: dict[int, str], tokens: dict[int, bytes], ignore_merges: bool) -> None:
    """Remove or refuse entries of `tokens` that would be mistaken for those of the same bytes."""
    if not inert:
        return
    proper = {token: id for id, token in tokens.items() if id not in inert}
    for id, text in inert.items():
        twin = proper.get(tokens[id])
        if ignore_merges or (twin is not None and id < twin):
            raise UnsupportedError(
                f"the vocabulary has an entry {shortened(text, show=ascii)} (id {id}), which is "
                "not in the characters "
                "that stand for bytes, so that no text becomes it; bpe cannot tell it from "
                f"{'the text of its bytes' if twin is None else f'token {twin} of the same bytes'}"
                "; remove it, or list it among the added tokens"
            )
        if twin is None and len(tokens[id]) == 1:
            del tokens[id]
