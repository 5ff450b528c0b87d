"""Writing a tokenizer.json that Hugging Face's tokenizers loads, and that gives the same ids."""

from __future__ import annotations

import json
from typing import Any

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import VocabularyError
from bpe.formats import post_processor, pre_tokenizers
from bpe.formats.bpe_model import assigned_ids
from bpe.formats.byte_level import to_text
from bpe.tokenizer import Tokenizer
from bpe.vocabulary import Vocabulary
from pretok.errors import shortened
from pretok.pre_tokenizer import PreTokenizer
from pretok.unicode import DEFAULT_VERSION


def dump(tokenizer: Tokenizer) -> bytes:
    """Return `tokenizer` as a tokenizer.json, always the same for the same tokenizer.

    Ranks are written as the merges they stand for. A pair of texts is written as one behind the
    other, each in the template. Raises VocabularyError if tokenizers could not give the same ids.
    """
    split = tokenizer.pre_tokenizer
    if isinstance(split, PreTokenizer) and split.unicode != DEFAULT_VERSION:
        raise VocabularyError(
            f"the tokenizer splits by Unicode {split.unicode}, and tokenizers by "
            f"{DEFAULT_VERSION}, which a tokenizer.json cannot change; save one that splits by that"
        )
    pre_tokenizer = pre_tokenizers.write(tokenizer.preset, tokenizer.add_prefix_space)
    vocabulary = tokenizer.vocabulary
    added = sorted(tokenizer.added_tokens, key=lambda token: token.id)
    texts = _texts(vocabulary)
    merges = [f"{texts[left]} {texts[right]}" for left, right, _ in tokenizer.merge_ids]
    names = texts | {token.id: token.content for token in added}
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": vocabulary.ignore_merges,
        "vocab": _with_added({text: id for id, text in texts.items()}, added),
        "merges": merges,
    }
    file: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(token) for token in added],
        "normalizer": {"type": tokenizer.normalizer} if tokenizer.normalizer else None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor.write(tokenizer.template, names),
        "decoder": {
            "type": "ByteLevel",
            "add_prefix_space": True,
            "trim_offsets": True,
            "use_regex": True,
        },
        "model": model,
    }
    return json.dumps(file, ensure_ascii=False, separators=(",", ":")).encode()


def _texts(vocabulary: Vocabulary) -> dict[int, str]:
    """Return the tokens by id, in order of these, in the characters that stand for bytes."""
    tokens = vocabulary.token_bytes
    if len(vocabulary.ids) != len(tokens):
        id = next(id for id, token in tokens.items() if vocabulary.ids[token] != id)
        raise VocabularyError(
            f"tokens {vocabulary.ids[tokens[id]]} and {id} are both {shortened(tokens[id])}; in a "
            "tokenizer.json a token has one id"
        )
    return {id: to_text(token) for id, token in sorted(tokens.items())}


def _with_added(ids: dict[str, int], added: list[AddedToken]) -> dict[str, int]:
    """Return `ids`, with the added tokens where tokenizers would give these others."""
    for token in added:
        if ids.get(token.content, token.id) != token.id:
            raise VocabularyError(
                f"added token {shortened(token.content)} has id {token.id}, but in a "
                "tokenizer.json it has "
                f"{ids[token.content]}, that of the token which is written alike"
            )
    contents = [token.content for token in added]
    # Where ids are left out, versions of tokenizers do not agree on which is the next one.
    has_all = max(ids.values()) == len(ids) - 1
    if has_all and assigned_ids(contents, ids) == [token.id for token in added]:
        return ids
    taken = {id: text for text, id in ids.items()}
    for token in added:
        if taken.get(token.id, token.content) != token.content:
            raise VocabularyError(
                f"added token {shortened(token.content)} has the id {token.id} of the token "
                f"{shortened(taken[token.id])}; in a tokenizer.json each has its own"
            )
        taken[token.id] = token.content
    both = ids | {token.content: token.id for token in added}
    return dict(sorted(both.items(), key=lambda entry: entry[1]))


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
