"""Encode chats with the tokenizers of transformers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from bpe.chat.encoding import Chat, encode
from bpe.chat.templates import choose_template
from bpe.compat.huggingface.patching import real_of
from bpe.compat.huggingface.state import state_of
from bpe.errors import UnsupportedError


def encode_chat(
    tok: Any,
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Any] | None = None,
    chat_template: str | None = None,
    special_tokens: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Chat:
    """Return the ids of a chat, like `tok.apply_chat_template`, but safe from its messages.

    `tok` is a tokenizer of transformers, patched or not. Its template and its special tokens are
    used. The other arguments are those of `bpe.chat.encode`; a tool may also be a function, as in
    transformers. Only text of the template becomes added tokens. With `patch(prompt_cache_mb=…)`,
    ids of parts that earlier chats had are copied.

    Raises UnsupportedError if bpe does not serve the tokenizer (see `engine`), TypeError if it is
    not one of transformers, and the errors of `bpe.chat.encode`.
    """
    real = real_of(tok)
    state = state_of(real)
    engine = state.engine(real)
    if engine is None:
        raise UnsupportedError(
            f"expected a tokenizer that bpe serves, got one that it does not: {state.reason}"
        )
    template = choose_template(
        getattr(tok, "chat_template", None), chat_template, tools is not None
    )
    if special_tokens is None:
        special_tokens = getattr(tok, "special_tokens_map", {})
    tokenizer = engine.tokenizer

    def end_ids() -> list[int]:
        end = getattr(tok, "eos_token_id", None)
        return [*tokenizer.end_ids, *([] if end is None else [end])]

    return encode(
        tokenizer,
        messages,
        tools=None if tools is None else [_schema(tool) for tool in tools],
        chat_template=template,
        special_tokens=special_tokens,
        cache=engine.prompt_cache,
        end_ids=end_ids,
        **kwargs,
    )


def _schema(tool: Any) -> Any:
    """Return a tool; a function becomes its JSON schema."""
    if not (inspect.isfunction(tool) or inspect.ismethod(tool)):
        return tool
    from transformers.utils import get_json_schema

    return get_json_schema(tool)
