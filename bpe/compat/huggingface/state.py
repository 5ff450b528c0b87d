"""Define State, the engine of one tokenizers.Tokenizer and the record of its fallbacks.

The real tokenizer is the tokenizers.Tokenizer. Its stand-in has the same methods, and calls bpe.
"""

from __future__ import annotations

import json
import logging
import random
from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import blake2b
from threading import Lock, RLock
from typing import Any
from weakref import WeakSet, WeakValueDictionary, ref

from bpe import UnsupportedError, VocabularyError
from bpe.compat.huggingface import settings
from bpe.compat.huggingface.bpe_engine import BpeEngine
from bpe.compat.huggingface.building import build, build_again
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.real import TESTED_VERSIONS, VERSION, WHY_RECORD
from bpe.compat.huggingface.serving import FallbackError, ServingEngine
from bpe.compat.huggingface.snapshot import listen, replaced_methods, snapshot
from pretok.process_lock import ProcessLock

_SYNC = ("encode", "encode_batch", "encode_batch_fast", "decode", "decode_batch")
OURS = (*_SYNC, *(f"async_{name}" for name in _SYNC if name != "decode"))
"""The methods that bpe can serve."""

_engines: WeakValueDictionary[bytes, BpeEngine] = WeakValueDictionary()
_states: WeakSet[State] = WeakSet()
_states_lock = ProcessLock(Lock)
logger = logging.getLogger("bpe.compat.huggingface")


class State:
    """The engine of a real tokenizer, built on first use, and again after a change.

    A State does not keep the real tokenizer alive.
    """

    def __init__(self, real: Any) -> None:
        self.served = 0
        self.fallbacks: Counter[str] = Counter()
        self.reason = ""
        self.view: ref[Any] | None = None
        """A weak reference to the stand-in; None before it is made."""
        self.native_parts: tuple[Any, ...] | None = None
        """The current engine and its `native_parts` for C++; None if it is unknown or has none."""
        self.current: BpeEngine | None = None
        """The engine; None if it may be out of date."""
        self.short_decode: Callable[[Any, bool], str | None] | None = None
        """`Decoding.short` of `current`."""
        self._engine: BpeEngine | None = None
        self._is_current = False
        self._parts: Parts | None = None
        """The parts of the last engine; None if they may differ from those of the tokenizer."""
        self._snapshot: Any = None
        """The snapshot of the tokenizer before `_engine` was built."""
        self._may_differ = False
        """True if the tokenizer may have changed without notice since the engine was built."""
        self._blocked = ""
        self._lock = ProcessLock(RLock)
        self._name = f"{type(real).__name__} at {id(real):#x}"
        with _states_lock():
            _states.add(self)

    def engine(self, real: Any) -> BpeEngine | None:
        """Return the engine of `real` as it is now, or None if bpe does not serve it."""
        if not self._is_current:
            self._build(real)
        return self._engine

    def share_engine(self, other: State, engine: BpeEngine) -> None:
        """Use the engine of `other`; this tokenizer is a copy of the tokenizer of `other`."""
        with self._lock():
            self._engine, self._is_current = engine, True
            self._parts = engine.parts
            self._snapshot = other._snapshot
            self._set_native_parts()

    def forget(self, keeps_parts: bool = False) -> None:
        """Build the engine again before the next call; call this after the tokenizer changed.

        `keeps_parts` says that only added tokens changed. If another thread builds the engine, this
        method waits for it: the new engine may lack the change, so it is out of date too.
        """
        with self._lock():
            if not keeps_parts or self._may_differ:
                self._parts = None
            self._is_current = self._may_differ = False
            self._set_native_parts()

    def _set_native_parts(self) -> None:
        """Set the parts of the engine after each change of `_engine` or `_is_current`."""
        self.current = engine = self._engine if self._is_current else None
        self.short_decode = None if engine is None else engine.decoding.short
        parts = None if engine is None else engine.native_parts
        self.native_parts = None if parts is None else (engine, *parts)

    def block(self, reason: str) -> None:
        """Let the real tokenizer serve all later calls.

        Call this after a wrong result of bpe, or after a change that the real tokenizer keeps but
        does not serialize.
        """
        self._blocked = self._blocked or reason
        self.forget()

    def fall_back(self, reason: str) -> None:
        """Count a call that the real tokenizer serves; raise FallbackError if `strict` is set."""
        self.fallbacks[reason] += 1
        settings.total[reason] += 1
        if settings.strict:
            raise FallbackError(f"bpe does not serve this call: {reason}")

    def check(self, result: Any, expected: Callable[[], Any], call: str) -> Any:
        """Return `result`; for a random share of the calls, first compare it with `expected()`.

        The share is `settings.check`. If the results differ, return `expected()`; the real
        tokenizer then serves all later calls.
        """
        if random.random() >= settings.check:
            return result
        real = expected()
        if comparable(result) == comparable(real):
            return result
        self.report(call)
        return real

    def report(self, call: str) -> None:
        """Log a call whose results differ, and let the real tokenizer serve all later calls."""
        logger.error("%s: bpe and tokenizers differ; to reproduce: %s", self._name, call)
        self.block(f"a result differed in the call {call}")

    def serving_engine(self, real: Any) -> ServingEngine:
        """Return the library that serves `real` now, and why."""
        name = "tokenizers" if self.engine(real) is None else "bpe"
        counts = {"bpe": self.served, "tokenizers": self.fallbacks.total()}
        return ServingEngine(name, self.reason, counts)

    def _build(self, real: Any) -> None:
        with self._lock():
            if self._is_current or self._reuse_engine(real):
                return
            before = self._engine, self.reason
            # If another thread changes the tokenizer during the build, its snapshot differs at the
            # next call, which builds the engine again.
            self._snapshot = snapshot(real)
            self._engine, self.reason = self._new_engine(real)
            self._is_current = True
            self._set_native_parts()
            if (self._engine is None, self.reason) != (before[0] is None, before[1]):
                logger.info(
                    "%s: served by %s", self._name,
                    "bpe" if self._engine else f"tokenizers, because {self.reason}",
                )  # fmt: skip

    def recheck(self) -> None:
        """Compare the tokenizer with its snapshot before the next call."""
        with self._lock():
            if self._is_current:
                self._is_current, self._may_differ = False, True
            elif not self._may_differ:
                self._parts = None
            self._set_native_parts()

    def _reuse_engine(self, real: Any) -> bool:
        """Return whether the engine is current again.

        It is if `recheck` was called, and the tokenizer still equals the snapshot of the engine.
        """
        if not self._may_differ:
            return False
        is_equal: bool = snapshot(real) == self._snapshot
        if not is_equal:
            self._parts = None
        self._may_differ = False
        if is_equal:
            self._is_current = True
            self._set_native_parts()
        return is_equal

    def _new_engine(self, real: Any) -> tuple[BpeEngine | None, str]:
        """Return the engine of `real` as it is now, or None and the reason.

        If only its added tokens may have changed, reuse the other parts of the last engine.
        """
        if self._blocked:
            return None, self._blocked
        if self._parts is not None:
            try:
                engine = build_again(self._parts, real.get_added_tokens_decoder())
            except (UnsupportedError, VocabularyError) as error:
                return None, str(error)
            if engine is not None:
                return engine, ""
        engine, reason = _engine_of(real)
        self._parts = None if engine is None else engine.parts
        return engine, reason


def recheck_all() -> None:
    """Compare each tokenizer with its snapshot before its next call.

    Call this when any component has changed. Also call it when stand-ins replace real tokenizers,
    because the program may have changed these tokenizers before.
    """
    with _states_lock():
        states = list(_states)
    for state in states:
        state.recheck()


listen(recheck_all)


def is_tested() -> bool:
    """Return whether the stand-in was compared with the installed version of tokenizers."""
    return VERSION in TESTED_VERSIONS


def _engine_of(real: Any) -> tuple[BpeEngine | None, str]:
    """Return the engine of `real`, or None and the reason."""
    if not is_tested():
        return None, f"tokenizers {VERSION} has not been compared with bpe"
    if replaced := replaced_methods(real):
        return None, f"{replaced[0]} is replaced on this tokenizer"
    if WHY_RECORD:
        return _engine_of_record(real)
    try:
        serialized = real.to_str().encode()
    except Exception as error:  # tokenizers raises plain Exception
        return None, f"it cannot be serialized: {error}"
    return _shared(blake2b(serialized).digest(), lambda: build(serialized))


def _engine_of_record(real: Any) -> tuple[BpeEngine | None, str]:
    """Return the engine of a Tokenizer of `record`, or None and the reason."""
    file, added = real.file, real.listed_tokens()
    digest = blake2b(file.digest + repr(added).encode()).digest()
    return _shared(digest, lambda: build(file.data, added, file.native))


def _shared(digest: bytes, make: Callable[[], BpeEngine]) -> tuple[BpeEngine | None, str]:
    """Return the engine that copies of a tokenizer share, or None and the reason."""
    try:
        engine = _engines.get(digest) or make()
    except (UnsupportedError, VocabularyError) as error:
        return None, str(error)
    _engines[digest] = engine
    return engine, ""


def comparable(result: Any) -> Any:
    """Return a result as plain values that == can compare; an Encoding as its pickled state."""
    if isinstance(result, (list, tuple)):
        return [comparable(item) for item in result]
    if isinstance(result, Mapping):  # a BatchEncoding
        values = [(key, comparable(value)) for key, value in result.items()]
        return values, comparable(getattr(result, "encodings", None))
    if hasattr(result, "tolist"):
        return str(result.dtype), tuple(result.shape), result.tolist()
    return json.loads(result.__getstate__()) if hasattr(result, "overflowing") else result


def special_tokens(real: Any) -> set[str]:
    """Return the contents of the special added tokens."""
    return {token.content for token in real.get_added_tokens_decoder().values() if token.special}


def normalized_tokens(real: Any) -> set[str]:
    """Return the contents of the added tokens that are found in normalized text."""
    return {token.content for token in real.get_added_tokens_decoder().values() if token.normalized}


KEY = "__bpe_state__"
"""The attribute of a real tokenizer that holds its state."""


def state_of(real: Any) -> State:
    """Return the state of a real tokenizer, always the same object.

    The real tokenizer keeps its state in its `__dict__`, which is not copied or pickled.
    """
    state: State | None = real.__dict__.get(KEY)
    return real.__dict__.setdefault(KEY, State(real)) if state is None else state


def copy_with_engine(real: Any, copied: Callable[[Any], Any]) -> Any:
    """Return `copied(real)`, a copy of a real tokenizer.

    If the copy surely has the same ids, it also gets the engine of `real`.
    """
    state = state_of(real)
    engine = state.current
    result = copied(real)
    # Another thread may have changed the tokenizer meanwhile.
    is_current = state.current is engine
    if engine is not None and engine.is_kept_by_copies and is_current:
        state_of(result).share_engine(state, engine)
    return result
