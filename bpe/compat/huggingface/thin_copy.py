"""A short version of copy.deepcopy for tokenizers of transformers: copies share the engine."""

from __future__ import annotations

import copy
import copyreg
from collections.abc import Callable
from typing import Any

from bpe.compat.huggingface.state import state_of


def methods() -> dict[str, Callable[..., Any]]:
    """Return the method that `copy` calls, by name; nothing if this Python lacks `_reconstruct`.

    Without the method, `copy` does the same, and the copy has to be serialized to find its engine.
    """
    return {"__deepcopy__": _deepcopy} if hasattr(copy, "_reconstruct") else {}


def copied_real(real: Any, copied: Callable[[Any], Any]) -> Any:
    """Return the result of `copied(real)`, a copy of a real tokenizer.

    If the copy surely has the same ids, it also gets the engine of `real`.
    """
    state = state_of(real)
    engine = state.current_engine()
    result = copied(real)
    # Another thread may have changed the tokenizer meanwhile.
    is_current = state.current_engine() is engine
    if engine is not None and engine.is_kept_by_copies and is_current:
        state_of(result).use_that_of(state, engine)
    return result


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """Return what copy.deepcopy returns for a class without this method."""
    real = self.__dict__.get("_tokenizer")
    if real is not None and id(real) not in memo:
        # This stores the copy in `memo`, from where the copy of `self` gets it.
        copied_real(real, lambda real: copy.deepcopy(real, memo))
    reduce = copyreg.dispatch_table.get(type(self))
    reduced = self.__reduce_ex__(4) if reduce is None else reduce(self)
    return copy._reconstruct(self, memo, *reduced)  # type: ignore[attr-defined]
