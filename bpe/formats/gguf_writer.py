"""Write the tokenizer's part of a GGUF file. gguf.py reads it; gguf_into.py puts it in a file."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np

from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats import gguf_text
from bpe.formats.gguf_facts import CHAT_TEMPLATE, ROLE_KEYS, TEMPLATE_NAMES, named_template
from bpe.formats.gguf_pre import pre_for
from bpe.formats.gguf_values import GgufValue
from bpe.formats.huggingface_writer import token_texts
from bpe.formats.pieces_as_text import unknown_token, with_steps
from bpe.formats.spec import TokenizerSpec
from bpe.formats.text_as_pieces import as_pieces
from bpe.token_facts import TokenType
from pretok.errors import shortened

_PREFIX = "tokenizer.ggml."
_KEYS = {role: key for key, role in reversed(ROLE_KEYS.items())}
"""The key of each role; of the keys of one role, the first."""
PADDING = "[PAD{}]"
"""The text of an id without a token, as llama.cpp's converters write it."""


class _Model(NamedTuple):
    """The parts of the metadata that depend on the kind of the model."""

    values: dict[str, GgufValue]
    texts: dict[int, str]
    types: dict[int, TokenType]
    """The types of the tokens that are neither NORMAL nor added tokens."""
    scores: Mapping[int, float] | None = None


def metadata(spec: TokenizerSpec, size: int = 0) -> dict[str, GgufValue]:
    """Return the keys and values of a tokenizer, in the order of llama.cpp's converters.

    If `size` is larger than the number of ids, the file gets `size` tokens; those without a text
    are unused. Raises UnsupportedError or VocabularyError if llama.cpp would give other ids.
    """
    model = _model(spec)
    texts = dict(model.texts)
    for token in spec.added_tokens:
        if texts.setdefault(token.id, token.content) != token.content:
            raise VocabularyError(
                f"added token {shortened(token.content)} has the id {token.id} of the token "
                f"{shortened(texts[token.id])}; a GGUF file has one text for each id"
            )
    ids = {text: id for id, text in texts.items()}
    twice = next((id for id, text in texts.items() if ids[text] != id), None)
    if twice is not None:
        raise VocabularyError(
            f"tokens {twice} and {ids[texts[twice]]} have the same text {shortened(texts[twice])}, "
            "which llama.cpp refuses"
        )
    count = max(size, 1 + max(texts))
    types = dict.fromkeys(texts, TokenType.NORMAL) | model.types
    for token in spec.added_tokens:
        kind = TokenType.CONTROL if token.special else TokenType.USER_DEFINED
        if types[token.id] != TokenType.UNKNOWN:
            types[token.id] = kind
    values: dict[str, GgufValue] = {
        **{_PREFIX + name: value for name, value in model.values.items() if name != "merges"},
        f"{_PREFIX}tokens": [texts.get(id, PADDING.format(id)) for id in range(count)],
    }
    if model.scores is not None:
        scores = [model.scores.get(id, 0.0) for id in range(count)]
        values[f"{_PREFIX}scores"] = np.array(scores, np.float32)
    listed = [types.get(id, TokenType.UNUSED) for id in range(count)]
    values[f"{_PREFIX}token_type"] = np.array(listed, np.int32)
    if "merges" in model.values:
        values[f"{_PREFIX}merges"] = model.values["merges"]
    return values | _around(spec) | _roles(spec)


def _model(spec: TokenizerSpec) -> _Model:
    vocabulary = spec.vocabulary
    if isinstance(vocabulary, TextVocabulary):
        if vocabulary.options.byte_level:
            return _byte_level(spec, dict(sorted(vocabulary.texts.items())))
        try:
            spec = as_pieces(spec)
        except (UnsupportedError, VocabularyError):
            if not _is_gemma(spec, vocabulary):
                raise
            return _gemma(spec, vocabulary)
        vocabulary = spec.vocabulary
    if isinstance(vocabulary, CharacterVocabulary):
        return _pieces(with_steps(spec), vocabulary)
    return _byte_level(spec, token_texts(vocabulary))


def _byte_level(spec: TokenizerSpec, texts: dict[int, str]) -> _Model:
    merges = [f"{texts[left]} {texts[right]}" for left, right, _ in spec.merges()]
    pre = pre_for(spec.preset, spec.vocabulary.ignore_merges)
    values: dict[str, GgufValue] = {
        "model": "gpt2",
        "pre": pre,
        "add_space_prefix": spec.add_prefix_space,
        "merges": merges,
    }
    return _Model(values, texts, {})


def _pieces(spec: TokenizerSpec, vocabulary: CharacterVocabulary) -> _Model:
    if vocabulary.fallback_ids is None:
        raise UnsupportedError(
            "llama.cpp needs a fallback token for each byte, and this model has none"
        )
    adds_space = spec.normalizer == gguf_text.normalizer(adds_space=True)
    names = {id: BYTE_NAMES[byte] for byte, id in vocabulary.byte_ids.items()}
    texts = {id: names.get(id) or token.decode() for id, token in vocabulary.token_bytes.items()}
    listed = enumerate(spec.facts.types.tolist())
    # llama.cpp merges unused pieces like normal ones; the type only describes them.
    types = {id: TokenType.UNUSED for id, kind in listed if kind == TokenType.UNUSED}
    types |= dict.fromkeys(names, TokenType.BYTE)
    unknown = unknown_token(spec)
    if unknown is not None:
        types[unknown] = TokenType.UNKNOWN
    values: dict[str, GgufValue] = {
        "model": "llama",
        "pre": "default",
        "add_space_prefix": adds_space,
    }
    return _Model(values, texts, types, vocabulary.scores)


def _is_gemma(spec: TokenizerSpec, vocabulary: TextVocabulary) -> bool:
    """Return whether llama.cpp's model "gemma4" merges like `vocabulary`."""
    options = vocabulary.options
    texts = vocabulary.texts
    return (
        options.has_fallback
        and vocabulary.fallback_ids is not None
        and not (options.prefix or options.suffix or options.ignores_merges)
        and spec.normalizer == gguf_text.normalizer(adds_space=False)
        and spec.decoder == gguf_text.decoder(adds_space=False)
        and len(spec.template.before) == 1
        and not any(" " in texts[id] for id in set(chain.from_iterable(vocabulary.merges)))
    )


def _gemma(spec: TokenizerSpec, vocabulary: TextVocabulary) -> _Model:
    texts = dict(sorted(vocabulary.texts.items()))
    merges = [f"{texts[left]} {texts[right]}" for left, right, _ in vocabulary.merges]
    types = dict.fromkeys(vocabulary.fallback_ids or (), TokenType.BYTE)
    return _Model({"model": "gemma4", "merges": merges}, texts, types)


def has_template(spec: TokenizerSpec) -> bool:
    """Return whether a GGUF file can hold the template: at most one id at each end of a text."""
    return all(len(ids) <= 1 for ids in spec.template)


def _around(spec: TokenizerSpec) -> dict[str, GgufValue]:
    before, after = spec.template
    return {f"{_PREFIX}add_bos_token": bool(before), f"{_PREFIX}add_eos_token": bool(after)}


def _roles(spec: TokenizerSpec) -> dict[str, GgufValue]:
    """Return the ids of roles, and the chat template."""
    roles = dict(spec.facts.roles)
    for role, ids in zip(("bos", "eos"), spec.template, strict=True):
        if ids:
            roles[role] = ids[0]
    if isinstance(spec.vocabulary, CharacterVocabulary):
        unknown = unknown_token(spec)
        roles |= {} if unknown is None else {"unk": unknown}
    values: dict[str, GgufValue] = {
        key: roles[role] for role, key in _KEYS.items() if role in roles
    }
    if spec.facts.chat_template is not None:
        values[CHAT_TEMPLATE] = spec.facts.chat_template
    if spec.facts.named_templates:
        values[TEMPLATE_NAMES] = [*spec.facts.named_templates]
    for name, template in spec.facts.named_templates.items():
        values[named_template(name)] = template
    return values
