"""Read the facts about tokens of a GGUF file. cpp/formats/gguf_facts.cpp is the C++ version."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from bpe.formats.json_value import Value
from bpe.token_facts import TokenFacts

_NAMES = {
    "bos_token_id": "bos",
    "eos_token_id": "eos",
    "unknown_token_id": "unk",
    "padding_token_id": "pad",
    "seperator_token_id": "sep",  # spelled so in the format
    "mask_token_id": "mask",
    "eot_token_id": "eot",
    "eom_token_id": "eom",
    "fim_pre_token_id": "fim_prefix",
    "fim_suf_token_id": "fim_suffix",
    "fim_mid_token_id": "fim_middle",
    "fim_pad_token_id": "fim_pad",
    "fim_rep_token_id": "fim_repo",
    "fim_sep_token_id": "fim_sep",
    # These are deprecated.
    "prefix_token_id": "fim_prefix",
    "suffix_token_id": "fim_suffix",
    "middle_token_id": "fim_middle",
}
ROLE_KEYS = {f"tokenizer.ggml.{name}": role for name, role in _NAMES.items()}
"""The keys with the ids of roles. A later key replaces an earlier one of the same role."""
CHAT_TEMPLATE = "tokenizer.chat_template"
TEMPLATE_NAMES = "tokenizer.chat_templates"
"""The key with the names of further templates, whose keys are named_template(name)."""
_SCORES = "tokenizer.ggml.scores"
KEYS = (*ROLE_KEYS, TEMPLATE_NAMES, CHAT_TEMPLATE)


def named_template(name: str) -> str:
    """Return the key of the template `name`."""
    return f"{CHAT_TEMPLATE}.{name}"


def read_values(read: Callable[[Collection[str]], dict[str, Any]], keys: Sequence[str]) -> Value:
    """Return the values of `keys`, of KEYS and of named templates.

    `read` returns values of a file.
    """
    values = read((*keys, *KEYS))
    names = values.get(TEMPLATE_NAMES)
    if isinstance(names, list) and {*map(type, names)} == {str}:
        values |= read([named_template(name) for name in names])
    return Value(values, "")


def read_facts(file: Value, texts: Sequence[str], types: Sequence[int] | None) -> TokenFacts:
    """Return the facts about tokens with these texts, and types if the file has them.

    Ignores an id that no token has, and a value of another type than expected. An empty text is no
    token.
    """
    roles = {}
    for key, role in ROLE_KEYS.items():
        id = file[key].value
        if type(id) is int and 0 <= id < len(texts) and texts[id]:
            roles[role] = id
    template = file[CHAT_TEMPLATE].value
    scores = file[_SCORES].value
    is_listed = (
        isinstance(scores, list) and len(scores) == len(texts) and {*map(type, scores)} == {float}
    )
    return TokenFacts(
        types=np.array([] if types is None else types, np.uint8),
        scores=np.array(scores if is_listed else [], np.float32),
        roles=roles,
        chat_template=template if isinstance(template, str) and template else None,
        named_templates=_named_templates(file),
    )


def _named_templates(file: Value) -> dict[str, str]:
    names = file[TEMPLATE_NAMES].value
    listed = names if isinstance(names, list) and {*map(type, names)} == {str} else []
    templates = {name: file[named_template(name)].value for name in listed}
    return {name: text for name, text in templates.items() if isinstance(text, str)}
