"""Tell whether a real tokenizer has changed, without serializing it.

A tokenizer shares its components (a normalizer, a pre-tokenizer, a model or so) with the objects
that a caller got from it, or gave to it. So a component may change without notice of the tokenizer;
`listen` reports that some component has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from bpe.compat.huggingface.real import COMPONENTS as CLASSES
from bpe.compat.huggingface.real import SEQUENCES, WHY_RECORD
from bpe.formats.tokenizer_config import FLAGS

COMPONENTS = ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder")
"""The attributes of a tokenizer that are components."""
_MODEL_OPTIONS = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                  "fuse_unk", "byte_fallback", "ignore_merges")  # fmt: skip
_SAMPLED = 64
"""The number of the model's tokens that `snapshot` reads."""


def _state_of(name: str, component: Any) -> Any:
    """Return a value that changes whenever Python code changes the component.

    For a model it has only the options, because Python code can change nothing else in a model.
    """
    if component is None:
        return None
    if name == "model":
        return type(component), *(getattr(component, option, None) for option in _MODEL_OPTIONS)
    try:
        return component.__getstate__()
    except Exception:  # a component written in Python has no state
        return object()  # equal to no other value


def replaced_methods(real: Any) -> list[str]:
    """Return the methods that a program has replaced on this tokenizer; bpe must not serve it."""
    return [name for name in ("encode", "encode_batch") if name in vars(real)]


def snapshot(real: Any) -> Any:
    """Return a value that changes with the components and added tokens of a tokenizer.

    Of a model that replaces another one, it has the options, the number of tokens, some of the
    tokens, and the result of merging these. A model that is equal in all of them is not noticed.
    """
    if WHY_RECORD:
        return real.changes, replaced_methods(real)
    model = real.model
    size = real.get_vocab_size(False)
    sample = [model.id_to_token(id) for id in range(0, size, max(1, size // _SAMPLED))]
    try:
        merged = model.tokenize("".join(token for token in sample if token is not None))
    except Exception:  # tokenizers raises plain Exception
        return object()  # equal to no other value
    added = sorted(real.get_added_tokens_decoder().items())
    return (
        [_state_of(name, getattr(real, name)) for name in COMPONENTS],
        [(id, token.content, *(getattr(token, name) for name in FLAGS)) for id, token in added],
        size,
        sample,
        [token.id for token in merged],
        replaced_methods(real),
    )


def listen(listener: Callable[[], None]) -> None:
    """Call `listener` after each change of any component, in the whole process from now on."""
    for owner in CLASSES:
        owner.__setattr__ = _reporting(owner.__setattr__, listener)
    for owner in SEQUENCES:
        owner.__setitem__ = _reporting(owner.__setitem__, listener)


def _reporting(method: Callable[..., Any], listener: Callable[[], None]) -> Callable[..., Any]:
    """Return a method that calls `method`, and then `listener`."""

    @wraps(method)
    def change(self: Any, *args: Any) -> Any:
        try:
            return method(self, *args)
        finally:
            listener()

    return change
