"""Facts about the tokens of GGUF files are those of llama.cpp, which the test asks."""

from __future__ import annotations

import ctypes as c
from typing import Any

import numpy as np

import bpe
from bpe import TokenType
from bpe.errors import BpeError
from bpe.token_facts import END_NAMES, ROLE_NAMES
from llama_vocab import LlamaVocabulary, library, vocabularies

FUNCTIONS = {"bos": "bos", "eos": "eos", "pad": "pad", "sep": "sep", "mask": "mask", "eot": "eot",
             "fim_prefix": "fim_pre", "fim_suffix": "fim_suf", "fim_middle": "fim_mid",
             "fim_pad": "fim_pad", "fim_repo": "fim_rep", "fim_sep": "fim_sep"}  # fmt: skip
ATTRIBUTES = {1: TokenType.UNKNOWN, 2: TokenType.UNUSED, 4: TokenType.NORMAL, 8: TokenType.CONTROL,
              16: TokenType.USER_DEFINED, 32: TokenType.BYTE}  # fmt: skip
"""The bits of llama_vocab_get_attr."""
NAMES = {*END_NAMES, *(name for names in ROLE_NAMES.values() for name in names)}
"""Texts of tokens whose type llama.cpp replaces by CONTROL."""


def ask(name: str, handle: int, *arguments: int, kind: Any = c.c_int32) -> Any:
    """Return the result of llama_vocab_NAME."""
    function = library()[f"llama_vocab_{name}"]
    function.argtypes, function.restype = [c.c_void_p, *[c.c_int32] * len(arguments)], kind
    return function(handle, *arguments)


def test_the_facts_are_those_of_llama_cpp() -> None:
    compared = 0
    for name, path in vocabularies().items():
        try:
            tok = bpe.load(path)
        except BpeError:  # a file without tokenizer.ggml.pre
            continue
        theirs = LlamaVocabulary(path)
        handle = theirs._handle
        ids = range(ask("n_tokens", handle))
        roles = {role: ask(function, handle) for role, function in FUNCTIONS.items()}
        assert roles == {role: tok.role_ids.get(role, -1) for role in FUNCTIONS}, name
        ends = tuple(id for id in ids if ask("is_eog", handle, id, kind=c.c_bool))
        assert tok.end_ids == ends, name
        flags = [ask(f"get_add_{end}", handle, kind=c.c_bool) for end in ("bos", "eos")]
        assert [tok.add_bos, tok.add_eos] == flags, name
        buffer = tok.vocabulary_buffer()
        has_scores = len(tok.to_spec().facts.scores) > 0
        is_checked = buffer.types != TokenType.NORMAL
        is_checked[::11] = True  # all tokens would take minutes
        for id in np.flatnonzero(is_checked & tok._has_token).tolist():
            text = tok.token_bytes(id).decode("utf-8", "replace")
            if not theirs.piece(id).startswith(b"[UNK_BYTE_"):  # wrong in llama.cpp
                assert tok.rendered_bytes(id) == theirs.piece(id), (name, id)
            if text not in NAMES:
                kind = ATTRIBUTES[ask("get_attr", handle, id) & 63]
                assert tok.token_type(id) == kind, (name, id)
            if has_scores:
                assert tok.token_score(id) == ask("get_score", handle, id, kind=c.c_float)
        compared += 1
    assert compared >= 12
