"""Short versions of the methods of transformers that convert ids to tokens, and tokens to ids.

The real tokenizer answers these calls. The methods of transformers read the attribute `_tokenizer`
for each id, which makes the stand-in of the real tokenizer each time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def methods(owner: Any) -> dict[str, Callable[..., Any]]:
    """Return the short methods for a class of transformers, by name."""
    return {
        "convert_ids_to_tokens": _to_tokens(owner.convert_ids_to_tokens),
        "_convert_token_to_id_with_added_voc": _to_id(owner._convert_token_to_id_with_added_voc),
        "__len__": _len(owner.__len__),
    }


def _to_tokens(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def convert_ids_to_tokens(self: Any, ids: Any, skip_special_tokens: bool = False) -> Any:
        real = self.__dict__.get("_tokenizer")
        if real is None:
            return original(self, ids, skip_special_tokens)
        id_to_token = real.id_to_token
        if isinstance(ids, int):
            return id_to_token(ids)
        skipped = frozenset(self.all_special_ids) if skip_special_tokens else frozenset()
        return [id_to_token(id) for id in map(int, ids) if id not in skipped]

    return convert_ids_to_tokens


def _to_id(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def convert(self: Any, token: Any) -> Any:
        real = self.__dict__.get("_tokenizer")
        if real is None:
            return original(self, token)
        id = real.token_to_id(token)
        return self.unk_token_id if id is None else id

    return convert


def _len(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def __len__(self: Any) -> int:
        real = self.__dict__.get("_tokenizer")
        return original(self) if real is None else real.get_vocab_size(True)  # type: ignore[no-any-return]

    return __len__
