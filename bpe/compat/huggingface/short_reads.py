"""Short versions of the methods of transformers that only read the real tokenizer.

The real tokenizer answers them, for all arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def token_methods(owner: Any) -> dict[str, Any]:
    """Return the short methods and properties that read only the real tokenizer, by name.

    The methods of transformers read the attribute `_tokenizer`, some of them for each id, which
    finds the stand-in of the real tokenizer each time.
    """
    to_id = _to_id(owner._convert_token_to_id_with_added_voc)
    return {
        "convert_ids_to_tokens": _to_tokens(owner.convert_ids_to_tokens),
        "convert_tokens_to_ids": _to_ids(owner.convert_tokens_to_ids, to_id),
        "_convert_token_to_id_with_added_voc": to_id,
        "convert_tokens_to_string": _to_string(owner.convert_tokens_to_string),
        "num_special_tokens_to_add": _added(owner.num_special_tokens_to_add),
        "vocab_size": property(
            _read(owner.vocab_size.fget, lambda real: real.get_vocab_size(False))
        ),
        "added_tokens_decoder": property(
            _read(owner.added_tokens_decoder.fget, lambda real: real.get_added_tokens_decoder())
        ),
        "__len__": _read(owner.__len__, lambda real: real.get_vocab_size(True)),
    }


def _to_tokens(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def convert_ids_to_tokens(self: Any, ids: Any, skip_special_tokens: bool = False) -> Any:
        real = self.__dict__.get("_tokenizer")
        if real is None:
            return original(self, ids, skip_special_tokens)
        if isinstance(ids, int):
            return real.id_to_token(ids)
        id_to_token = real.id_to_token
        if not skip_special_tokens:
            return [id_to_token(int(id)) for id in ids]
        skipped = frozenset(self.all_special_ids)
        return [id_to_token(id) for id in map(int, ids) if id not in skipped]

    return convert_ids_to_tokens


def _to_ids(original: Callable[..., Any], to_id: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that does without `to_id`, the method for one token.

    A subclass may have its own method for one token; then the original method calls it.
    """

    @wraps(original)
    def convert_tokens_to_ids(self: Any, tokens: Any) -> Any:
        real = self.__dict__.get("_tokenizer")
        if real is None or type(self)._convert_token_to_id_with_added_voc is not to_id:
            return original(self, tokens)
        if type(tokens) is str:
            id = real.token_to_id(tokens)
            return self.unk_token_id if id is None else id
        if type(tokens) is not list:
            return original(self, tokens)
        ids = [*map(real.token_to_id, tokens)]
        if None not in ids:
            return ids
        unknown = self.unk_token_id
        return [unknown if id is None else id for id in ids]

    return convert_tokens_to_ids


def _to_id(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def convert(self: Any, token: Any) -> Any:
        real = self.__dict__.get("_tokenizer")
        if real is None:
            return original(self, token)
        id = real.token_to_id(token)
        return self.unk_token_id if id is None else id

    return convert


def _to_string(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def convert_tokens_to_string(self: Any, tokens: Any) -> Any:
        real = self.__dict__.get("_tokenizer")
        decoder = None if real is None else real.decoder
        return original(self, tokens) if decoder is None else decoder.decode(tokens)

    return convert_tokens_to_string


def _added(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def num_special_tokens_to_add(self: Any, pair: bool = False) -> int:
        real = self.__dict__.get("_tokenizer")
        if real is None:
            return original(self, pair)  # type: ignore[no-any-return]
        return real.num_special_tokens_to_add(pair)  # type: ignore[no-any-return]

    return num_special_tokens_to_add


def _read(original: Callable[..., Any], read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a method that calls `read` with the real tokenizer in place of `self`."""

    @wraps(original)
    def method(self: Any) -> Any:
        real = self.__dict__.get("_tokenizer")
        return original(self) if real is None else read(real)

    return method
