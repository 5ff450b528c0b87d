"""Define `compare`, which lists what differs between two tokenizers."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from itertools import zip_longest

from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.conversion.difference import find_difference
from bpe.conversion.differences import Differences, MergeDifferences, MovedToken, PartDifference
from bpe.conversion.texts import check_count, texts_for
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import shortened
from bpe.formats.gguf_pre import split_alike
from bpe.loading import PathLike, load
from bpe.tokenizer import Tokenizer
from bpe.types import PresetLike
from pretok.errors import short_path

TEXTS = 2000
"""The number of random texts that are compared."""


def compare(
    first: PathLike | tuple[PathLike, PathLike] | Tokenizer,
    second: PathLike | tuple[PathLike, PathLike] | Tokenizer,
    *,
    preset: PresetLike | None = None,
    texts: int = TEXTS,
) -> Differences:
    """Return what differs between two tokenizers: tokens, merges, and all other parts.

    `first` and `second` are Tokenizers, or what `bpe.load` accepts; `preset` is the split of a file
    that names none. The result also has a short text with different ids, if one of the compared
    texts has: all tokens of both vocabularies, added tokens in context, hard cases, and `texts`
    random texts. So a wrong id after an upgrade is found at once. Takes about a second. Raises the
    errors of `bpe.load`.

    >>> import bpe
    >>> old = bpe.train(["ab"], vocab_size=257)
    >>> new = bpe.train(["bc"], vocab_size=257)
    >>> print(bpe.compare(old, new))
    first: the first tokenizer
    second: the second tokenizer
    tokens only in the first: 1 (b'ab' 256)
    tokens only in the second: 1 (b'bc' 256)
    merges: 1 only in the first, 1 only in the second; the first difference is rank 0: b'a' b'b' and b'b' b'c'
    example: the ids of 'ab' are [256] and [97, 98]
    """  # noqa: E501  # a line of the result
    check_count(texts)
    names = _name(first, "the first tokenizer"), _name(second, "the second tokenizer")
    ours, theirs = (
        source if isinstance(source, Tokenizer) else load(source, preset)
        for source in (first, second)
    )
    tried = texts_for([ours, theirs], texts, added_last=True)
    tokens, other_tokens = _tokens(ours), _tokens(theirs)
    added = {token.content: token for token in ours.added_tokens}
    other_added = {token.content: token for token in theirs.added_tokens}
    return Differences(
        names,
        _only(tokens, other_tokens),
        _only(other_tokens, tokens),
        tuple(_moved(tokens, other_tokens)),
        _merges(ours, theirs),
        _only_added(added, other_added),
        _only_added(other_added, added),
        tuple(
            (token, other_added[content])
            for content, token in added.items()
            if other_added.get(content, token) != token
        ),
        tuple(_parts(ours, theirs)),
        find_difference(ours, theirs, tried),
        len(tried),
    )


def _name(source: object, default: str) -> str:
    if isinstance(source, tuple):
        return " and ".join(_name(path, default) for path in source)
    return short_path(source) if isinstance(source, (str, os.PathLike)) else default


def _tokens(tokenizer: Tokenizer) -> dict[bytes, list[int]]:
    """Return the ids of each token that is not an added token, by its rendered bytes."""
    data, offsets, _, sorted_ids = tokenizer.vocabulary_buffer()
    whole, ends = data.tobytes(), offsets.tolist()
    added = {token.id for token in tokenizer.added_tokens}
    tokens: dict[bytes, list[int]] = {}
    for id in sorted(sorted_ids.tolist()):
        if id not in added:
            tokens.setdefault(whole[ends[id] : ends[id + 1]], []).append(id)
    return tokens


def _only(
    tokens: dict[bytes, list[int]], others: dict[bytes, list[int]]
) -> tuple[tuple[bytes, int], ...]:
    return tuple((token, ids[0]) for token, ids in tokens.items() if token not in others)


def _moved(tokens: dict[bytes, list[int]], others: dict[bytes, list[int]]) -> Iterator[MovedToken]:
    for token, ids in tokens.items():
        other_ids = others.get(token, ids)
        if ids != other_ids:
            pairs = zip_longest(ids, other_ids, fillvalue=-1)
            yield MovedToken(token, *next((id, other) for id, other in pairs if id != other))


def _only_added(
    tokens: dict[str, AddedToken], others: dict[str, AddedToken]
) -> tuple[AddedToken, ...]:
    return tuple(token for content, token in tokens.items() if content not in others)


def _merges(ours: Tokenizer, theirs: Tokenizer) -> MergeDifferences | None:
    """Return how the merges differ; None if one of the tokenizers merges by scores only."""
    kinds = {_kind(ours), _kind(theirs)}
    if len(kinds) > 1:
        return None
    merges, other_merges = ours.merges, theirs.merges
    if merges == other_merges:
        return None
    pairs = enumerate(zip_longest(merges, other_merges))
    rank, (merge, other) = next((rank, pair) for rank, pair in pairs if pair[0] != pair[1])
    all_merges, all_others = set(merges), set(other_merges)
    return MergeDifferences(
        len(all_merges - all_others), len(all_others - all_merges), rank, merge, other
    )


def _kind(tokenizer: Tokenizer) -> str:
    """Return how the tokenizer merges."""
    vocabulary = tokenizer.vocabulary
    if isinstance(vocabulary, CharacterVocabulary):
        return "pieces with scores (SentencePiece)"
    return "merges of text" if isinstance(vocabulary, TextVocabulary) else "merges of bytes"


def _parts(ours: Tokenizer, theirs: Tokenizer) -> Iterator[PartDifference]:
    """Yield the parts that differ, besides tokens and merges."""
    for part, value, other in (
        ("model", _model(ours), _model(theirs)),
        ("normalizer", ours.normalizer, theirs.normalizer),
        ("add_prefix_space", ours.add_prefix_space, theirs.add_prefix_space),
        ("decoder", ours.decoder, theirs.decoder),
        ("template", ours.template, theirs.template),
        ("truncation", ours.truncation, theirs.truncation),
        ("padding", ours.padding, theirs.padding),
        ("trim_offsets", ours.trim_offsets, theirs.trim_offsets),
        ("roles", ours.role_ids, theirs.role_ids),
        ("end ids", ours.end_ids, theirs.end_ids),
    ):
        if value != other:
            yield PartDifference(part, *_different(value, other))
    yield from _scores(ours, theirs)
    yield from _split(ours, theirs)
    yield from _templates(ours.chat_templates, theirs.chat_templates)


def _model(tokenizer: Tokenizer) -> dict[str, object]:
    vocabulary = tokenizer.vocabulary
    model: dict[str, object] = {"kind": _kind(tokenizer), "ignore_merges": vocabulary.ignore_merges}
    if isinstance(vocabulary, TextVocabulary):
        model |= dataclasses.asdict(vocabulary.options)
    if isinstance(vocabulary, CharacterVocabulary):
        model["unknown id"] = vocabulary.unknown_id
        model["has fallback tokens"] = vocabulary.fallback_ids is not None
    return model


def _scores(ours: Tokenizer, theirs: Tokenizer) -> Iterator[PartDifference]:
    """Yield the first token that differs in the order of scores."""
    vocabulary, other = ours.vocabulary, theirs.vocabulary
    if not isinstance(vocabulary, CharacterVocabulary) or not isinstance(
        other, CharacterVocabulary
    ):
        return
    orders = [
        sorted(part.scores, key=lambda id, ranks=part.ranks: (ranks[id], id))  # type: ignore[misc]
        for part in (vocabulary, other)
    ]
    pairs = enumerate(zip_longest(*orders, fillvalue=-1))
    place = next(((rank, pair) for rank, pair in pairs if pair[0] != pair[1]), None)
    if place is not None:
        rank, (id, other_id) = place
        yield PartDifference(f"order of scores, place {rank}", f"id {id}", f"id {other_id}")


def _different(value: object, other: object) -> tuple[str, str]:
    """Return both values as text; of two dicts, only the items that differ."""
    if isinstance(value, dict) and isinstance(other, dict):
        if value.get("kind") != other.get("kind"):  # the other items of a model depend on its kind
            return str(value["kind"]), str(other["kind"])
        keys = [key for key in {**value, **other} if value.get(key) != other.get(key)]
        value, other = ({key: part[key] for key in keys if key in part} for part in (value, other))
    shown = shortened(value, 200, str), shortened(other, 200, str)
    return shown if shown[0] != shown[1] else (shortened(value), shortened(other))


def _split(ours: Tokenizer, theirs: Tokenizer) -> Iterator[PartDifference]:
    preset, other = ours.preset, theirs.preset
    if preset is None or other is None:
        if ours.pre_tokenizer != theirs.pre_tokenizer:
            name, other_name = (type(tok.pre_tokenizer).__name__ for tok in (ours, theirs))
            yield PartDifference("pre-tokenizer", name, other_name)
        return
    unicode, other_unicode = ours.to_spec().unicode, theirs.to_spec().unicode
    if unicode != other_unicode:
        yield PartDifference("Unicode of the split", str(unicode), str(other_unicode))
    if not split_alike(preset, other):
        yield PartDifference(
            "pre-tokenizer",
            f"{preset.name} ({' '.join(map(shortened, preset.patterns))})",
            f"{other.name} ({' '.join(map(shortened, other.patterns))})",
        )


def _templates(ours: dict[str, str], theirs: dict[str, str]) -> Iterator[PartDifference]:
    """Yield the first line that differs of each chat template."""
    for name in sorted({*ours, *theirs}):
        lines, others = (part.get(name, "").split("\n") for part in (ours, theirs))
        for number, (line, other) in enumerate(zip_longest(lines, others), 1):
            if line != other:
                yield PartDifference(
                    f"chat template {name!r}, line {number}", shortened(line), shortened(other)
                )
                break
