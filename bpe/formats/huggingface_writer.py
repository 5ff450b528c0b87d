"""Write the tokenizer.json of Hugging Face's tokenizers.

The library tokenizers gives the same ids as bpe with the file.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bpe.byte_level import to_bytes, to_text
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import VocabularyError
from bpe.formats import (
    decoder_json,
    lengths_json,
    normalizer_json,
    post_processor,
    pre_tokenizers,
    text_model,
)
from bpe.formats.spec import TokenizerSpec
from bpe.vocabulary import Merge, Vocabulary
from pretok.errors import shortened
from pretok.unicode import DEFAULT_VERSION


def dump(spec: TokenizerSpec) -> bytes:
    """Return the tokenizer.json of a tokenizer; equal tokenizers give equal files.

    Ranks become merges. The template of a pair of texts repeats the template of one text. Raises
    VocabularyError if the library tokenizers cannot give the same ids.
    """
    unicode = spec.preset and (spec.unicode or spec.preset.unicode)
    if unicode not in (None, DEFAULT_VERSION):
        raise VocabularyError(
            f"the tokenizer splits by Unicode {unicode}, but a tokenizer.json always uses "
            f"Unicode {DEFAULT_VERSION}; create the tokenizer with unicode={DEFAULT_VERSION!r}"
        )
    vocabulary = spec.vocabulary
    if isinstance(vocabulary, TextVocabulary):
        pre_tokenizer = text_model.write_pre_tokenizer(spec)
        texts = dict(sorted(vocabulary.texts.items()))
        options = vocabulary.options
    else:
        pre_tokenizer = pre_tokenizers.write(spec.preset, spec.add_prefix_space)
        texts = token_texts(vocabulary)
        options = TextOptions(ignores_merges=vocabulary.ignore_merges)
    added = sorted(spec.added_tokens, key=lambda token: token.id)
    names = texts | {token.id: token.content for token in added}
    for id in {*spec.template.before, *spec.template.after} - names.keys():
        names[id] = _unused_name(id, names.values())
    model = {
        "type": "BPE",
        "dropout": spec.facts.dropout or None,
        "unk_token": options.unknown,
        "continuing_subword_prefix": options.prefix or None,
        "end_of_word_suffix": options.suffix or None,
        "fuse_unk": options.fuses_unknown,
        "byte_fallback": options.has_fallback,
        "ignore_merges": options.ignores_merges,
        "vocab": _with_added({text: id for id, text in texts.items()}, added),
        "merges": _merges(texts, spec.merges()),
    }
    file: dict[str, Any] = {
        "version": "1.0",
        "truncation": lengths_json.write_truncation(spec.truncation),
        "padding": lengths_json.write_padding(spec.padding),
        "added_tokens": [_added(token) for token in added],
        "normalizer": normalizer_json.write(spec.normalizer),
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor.write(spec.template, spec.trim_offsets, names),
        "decoder": decoder_json.write(spec.decoder),
        "model": model,
    }
    return json.dumps(file, ensure_ascii=False, separators=(",", ":")).encode()


def _unused_name(id: int, taken: Collection[str]) -> str:
    """Return a name for an id of the template that no token has."""
    name = f"[{id}]"
    while name in taken:
        name = f"[{name}]"
    return name


def _merges(texts: Mapping[int, str], merges: Sequence[Merge]) -> list[str] | list[list[str]]:
    """Return merges as "a b", or as ["a", "b"] if a token has a space."""
    pairs = [[texts[left], texts[right]] for left, right, _ in merges]
    if any(" " in text for pair in pairs for text in pair):
        return pairs
    return list(map(" ".join, pairs))


def token_texts(vocabulary: Vocabulary) -> dict[int, str]:
    """Return each token by its id, in the characters that stand for bytes, in order of ids."""
    tokens = vocabulary.token_bytes
    texts = {id: to_text(token) for id, token in sorted(tokens.items())}
    if len(vocabulary.ids) != len(tokens):
        for id, token in tokens.items():
            if vocabulary.ids[token] != id:
                texts[id] = _inert_text(vocabulary, id, token)
    return texts


def _inert_text(vocabulary: Vocabulary, id: int, token: bytes) -> str:
    """Return a text that decodes to `token`, but has a character that stands for no byte.

    So the library tokenizers never encodes text to `id`. bpe does not either, because
    `vocabulary.ids` has another id for these bytes. Raises VocabularyError if there is no such
    text.
    """
    text = token.decode(errors="replace")
    if text.encode() != token or to_bytes(text) is not None:
        raise VocabularyError(
            f"tokens {vocabulary.ids[token]} and {id} are both {shortened(token)}; a "
            "tokenizer.json allows one id for each token"
        )
    return text


def _with_added(ids: dict[str, int], added: list[AddedToken]) -> dict[str, int]:
    """Return `ids`, with the added tokens if the library would otherwise give them other ids."""
    for token in added:
        if ids.get(token.content, token.id) != token.id:
            raise VocabularyError(
                f"added token {shortened(token.content)} has id {token.id}, but the token of the "
                f"same text has id {ids[token.content]}; a tokenizer.json allows one id for each "
                "text"
            )
    taken = {id: text for text, id in ids.items()}
    for token in added:
        if taken.setdefault(token.id, token.content) != token.content:
            raise VocabularyError(
                f"added token {shortened(token.content)} has the id {token.id} of the token "
                f"{shortened(taken[token.id])}; a tokenizer.json needs unique ids"
            )
    # The library gives the next free ids to added tokens. If ids have gaps, its versions disagree
    # on these ids. So the vocabulary must list the added tokens that fill gaps, or all of them if
    # gaps remain. It lists no other added tokens: with `ignore_merges`, they would also be whole
    # pre-tokens.
    new = [token for token in added if token.content not in ids]
    listed, last = len(new), max(taken)
    while listed and new[listed - 1].id == last:
        listed, last = listed - 1, last - 1
    if last != len(ids) + listed - 1:
        listed = len(new)
    both = ids | {token.content: token.id for token in new[:listed]}
    return dict(sorted(both.items(), key=lambda entry: entry[1])) if listed else ids


def _added(token: AddedToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }
