"""Write a vocab.json and its merges.txt, with a tokenizer_config.json for added tokens."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, NamedTuple

from bpe.characters.text_vocabulary import TextVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.huggingface_writer import token_texts
from bpe.formats.spec import TokenizerSpec
from pretok.errors import shortened

_VERSION = "#version"


class Gpt2Files(NamedTuple):
    """The contents of the files."""

    vocab: bytes
    merges: bytes
    config: bytes | None
    """The tokenizer_config.json; None if the other two files hold the tokenizer."""


def dump(spec: TokenizerSpec) -> Gpt2Files:
    """Return the files of a byte-level tokenizer. They do not say how to split text.

    As in the files of GPT-2, the vocab.json also lists the added tokens. Raises UnsupportedError if
    tokens are text and not bytes, and VocabularyError if two tokens would have the same text.
    """
    vocabulary = spec.vocabulary
    if not isinstance(vocabulary, TextVocabulary):
        texts = token_texts(vocabulary)
    elif vocabulary.options.byte_level:
        texts = dict(sorted(vocabulary.texts.items()))
    else:
        raise UnsupportedError(
            "the tokens are text, not bytes; a vocab.json with merges.txt holds only byte-level BPE"
        )
    lines = [f"{texts[left]} {texts[right]}" for left, right, _ in spec.merges()]
    for line in lines:
        if line.startswith(_VERSION) or line.count(" ") != 1:
            raise VocabularyError(f"a merges.txt cannot hold the merge {shortened(line)}")
    ids = {text: id for id, text in texts.items()}
    for token in spec.added_tokens:
        if ids.setdefault(token.content, token.id) != token.id or (
            texts.setdefault(token.id, token.content) != token.content
        ):
            raise VocabularyError(
                f"added token {shortened(token.content)} with id {token.id} and another token have "
                "the same text or id"
            )
    ordered = dict(sorted(ids.items(), key=lambda entry: entry[1]))
    return Gpt2Files(
        json.dumps(ordered, ensure_ascii=False).encode(),
        "".join(f"{line}\n" for line in ("#version: 0.2", *lines)).encode(),
        _config(spec),
    )


def _config(spec: TokenizerSpec) -> bytes | None:
    if not spec.added_tokens and not spec.add_prefix_space:
        return None
    config: dict[str, Any] = {
        "add_prefix_space": spec.add_prefix_space,
        "added_tokens_decoder": {
            str(token.id): _flags(token)
            for token in sorted(spec.added_tokens, key=lambda token: token.id)
        },
    }
    return json.dumps(config, ensure_ascii=False, indent=2).encode()


def _flags(token: AddedToken) -> dict[str, Any]:
    flags = asdict(token)
    del flags["id"]
    return flags
