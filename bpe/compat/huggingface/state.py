"""Define State, the engine of one tokenizers.Tokenizer and the record of its fallbacks."""

from __future__ import annotations

import json
import logging
import random
from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import blake2b
from threading import Lock, RLock
from typing import Any, NamedTuple
from weakref import WeakSet, WeakValueDictionary, ref

from bpe import UnsupportedError, VocabularyError
from bpe.compat.huggingface import items, settings
from bpe.compat.huggingface.building import build, build_again
from bpe.compat.huggingface.engine import Engine
from bpe.compat.huggingface.errors import FallbackError
from bpe.compat.huggingface.fingerprints import fingerprint, replaced_methods, stamp
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.real import SEQUENCES, TESTED_VERSIONS, VERSION
from bpe.compat.huggingface.served import Backend

OURS = ("encode", "encode_batch", "decode", "decode_batch")
"""The methods that bpe can serve."""

_engines: WeakValueDictionary[bytes, Engine] = WeakValueDictionary()
_states: WeakSet[State] = WeakSet()
_states_lock = Lock()
logger = logging.getLogger("bpe.compat.huggingface")


class _Handle(NamedTuple):
    """A Python object through which a caller can change a component of the tokenizer.

    `period` is the result of `items.period()` when the object was handed out: the number of the
    period from a call of `patch` to its `unpatch`, or None outside of such a period.
    """

    name: str
    component: Any
    period: int | None

    def stays(self) -> bool:
        """Return whether to keep this _Handle although no caller holds `component`.

        A caller may still hold an item of a Sequence, and can change the Sequence through it.
        `items.are_held` tells whether a caller holds an item, but knows only the items that were
        taken in the current period. So a _Handle of the current period stays while items are held,
        and any other _Handle always stays.
        """
        if not isinstance(self.component, SEQUENCES):
            return False
        return self.period is None or self.period != items.period() or items.are_held()


_alone = _Handle("", object(), None)
[_UNSHARED] = items.counts([_alone.component])
"""The reference count, from `items.counts`, of a component that no caller holds.

Its _Handle and the list passed to `items.counts` refer to it.
"""


class State:
    """The engine of a real tokenizer, built on first use, and again after a change.

    It does not keep the real tokenizer alive.
    """

    def __init__(self, real: Any) -> None:
        self.served = 0
        self.fallbacks: Counter[str] = Counter()
        self.reason = ""
        self.view: ref[Any] | None = None
        """A weak reference to the stand-in; None before it is made."""
        self.quick: tuple[Any, ...] | None = None
        """The engine and its `quick_parts` for C++; None if `engine` may have work to do."""
        self._engine: Engine | None = None
        self._is_current = False
        self._parts: Parts | None = None
        """The parts of the last engine; None if they may differ from those of the tokenizer."""
        self._stamp: Any = None
        """The stamp of the tokenizer that `_engine` was built for; None if it is unknown."""
        self._is_unsure = False
        """True if the tokenizer may have changed without notice since the engine was built."""
        self._blocked = ""
        self._handles: list[_Handle] = []
        self._fingerprints: dict[str, Any] = {}
        self._lock = RLock()
        self._name = f"{type(real).__name__} at {id(real):#x}"
        with _states_lock:
            _states.add(self)

    def engine(self, real: Any) -> Engine | None:
        """Return the engine of `real` as it is now, or None if bpe does not serve it."""
        if self._handles and self._is_current:
            self._compare(real)
        if not self._is_current:
            self._build(real)
        return self._engine

    def current_engine(self) -> Engine | None:
        """Return the engine if it is known, without any work, to be that of the tokenizer now."""
        return self._engine if self._is_current and not self._handles else None

    def use(self, engine: Engine) -> None:
        """Use `engine` for a new tokenizer, a copy of one that `engine` serves."""
        with self._lock:
            self._engine, self._is_current = engine, True
            self._parts = engine.parts
            self._stamp = None
            self._set_quick()

    def forget(self, keeps_parts: bool = False) -> None:
        """Build the engine again before the next call; call this after the tokenizer changed.

        `keeps_parts` says that only added tokens changed. Waits while another thread builds the
        engine, which may be that of the tokenizer before the change.
        """
        with self._lock:
            if not keeps_parts or self._is_unsure:
                self._parts = None
            self._is_current = self._is_unsure = False
            self._set_quick()

    def _set_quick(self) -> None:
        """Set `quick`; call this after each change of `_engine`, `_is_current` or `_handles`."""
        engine = self.current_engine()
        parts = None if engine is None else engine.quick_parts
        self.quick = None if parts is None else (engine, *parts)

    def block(self, reason: str) -> None:
        """Let the real tokenizer serve all later calls.

        Call this after a wrong result of bpe, or after a change that the real tokenizer keeps but
        does not serialize.
        """
        self._blocked = self._blocked or reason
        self.forget()

    def hand_out(self, name: str, real: Any) -> Any:
        """Return a component of `real`, and watch it."""
        component = getattr(real, name)
        self.watch(name, component, real)
        return component

    def watch(self, name: str, handle: Any, real: Any) -> None:
        """Remember `handle`, an object through which a caller can change the component `name`.

        As long as a caller can use `handle`, `engine` compares the component with its fingerprint.
        """
        if handle is not None:
            with self._lock:
                if name not in self._fingerprints:
                    self._fingerprints[name] = fingerprint(name, getattr(real, name))
                self._handles = [*self._shared_handles(), _Handle(name, handle, items.period())]
                self._set_quick()

    def fall_back(self, reason: str) -> None:
        """Count a call that the real tokenizer serves; raise FallbackError if `strict` is set."""
        self.fallbacks[reason] += 1
        settings.total[reason] += 1
        if settings.strict:
            raise FallbackError(f"bpe does not serve this call: {reason}")

    def check(self, result: Any, expected: Callable[[], Any], call: str) -> Any:
        """Return `result`; for a random share of the calls, first compare it with `expected()`.

        The share is `settings.check`. If the results differ, return that of `expected()`; the real
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

    def backend(self, real: Any) -> Backend:
        """Return the library that serves `real` now, and why."""
        name = "tokenizers" if self.engine(real) is None else "bpe"
        counts = {"bpe": self.served, "tokenizers": self.fallbacks.total()}
        return Backend(name, self.reason, counts)

    def _compare(self, real: Any) -> None:
        """Forget the engine if a component differs from its fingerprint; drop unused handles."""
        with self._lock:
            # A caller may change a component and then release its handle. The handles are counted
            # before the comparison, which still knows their names, so it finds this change.
            handles = self._shared_handles()
            if self._is_changed(real):
                self._is_current, self._parts = False, None
            else:
                names = {handle.name for handle in handles}
                self._fingerprints = {name: self._fingerprints[name] for name in names}
            self._handles = handles
            self._set_quick()

    def _is_changed(self, real: Any) -> bool:
        """Return whether a component differs from its fingerprint."""
        return any(
            fingerprint(name, getattr(real, name)) != known
            for name, known in self._fingerprints.items()
        )

    def _shared_handles(self) -> list[_Handle]:
        """Return the handles through which somebody can still change a component.

        Handles of one name and period that no caller holds stay for the same time, so one of them
        is kept.
        """
        counts = items.counts([handle.component for handle in self._handles])
        kept, unshared = [], set()
        for handle, count in zip(self._handles, counts, strict=True):
            key = handle.name, handle.period
            if count > _UNSHARED:
                kept.append(handle)
            elif key not in unshared and handle.stays():
                unshared.add(key)
                kept.append(handle)
        return kept

    def _build(self, real: Any) -> None:
        with self._lock:
            if self._is_current or self._is_unchanged(real):
                return
            # If another thread changes a component during the build, the next call finds another
            # fingerprint and builds again.
            names = {handle.name for handle in self._handles}
            fingerprints = {name: fingerprint(name, getattr(real, name)) for name in names}
            before = self._engine, self.reason
            self._engine, self.reason = self._new_engine(real)
            self._stamp = None if self._engine is None else stamp(real)
            self._fingerprints = fingerprints
            self._is_current = True
            self._set_quick()
            if (self._engine is None, self.reason) != (before[0] is None, before[1]):
                logger.info(
                    "%s: served by %s", self._name,
                    "bpe" if self._engine else f"tokenizers, because {self.reason}",
                )  # fmt: skip

    def doubt(self) -> None:
        """Compare the tokenizer with its stamp before the next call."""
        with self._lock:
            if self._is_current:
                self._is_current, self._is_unsure = False, True
            elif not self._is_unsure:
                self._parts = None
            self._set_quick()

    def _is_unchanged(self, real: Any) -> bool:
        """Use the engine again if the tokenizer was only in doubt, and has its stamp."""
        is_unsure, self._is_unsure = self._is_unsure, False
        if not is_unsure:
            return False
        if self._handles or self._stamp is None or stamp(real) != self._stamp:
            self._parts = None
            return False
        self._is_current = True
        self._set_quick()
        return True

    def _new_engine(self, real: Any) -> tuple[Engine | None, str]:
        """Return the engine of `real` as it is now, or None and the reason.

        If only its added tokens may have changed, reuse the other parts of the last engine.
        """
        if self._blocked:
            return None, self._blocked
        if self._parts is not None and not self._is_changed(real):
            try:
                engine = build_again(self._parts, real.get_added_tokens_decoder())
            except (UnsupportedError, VocabularyError) as error:
                return None, str(error)
            if engine is not None:
                return engine, ""
        engine, reason = _engine_of(real)
        self._parts = None if engine is None else engine.parts
        return engine, reason


def doubt_all() -> None:
    """Compare each tokenizer with its stamp before its next call.

    Call this when stand-ins replace real tokenizers, which a program may have changed before.
    """
    with _states_lock:
        states = list(_states)
    for state in states:
        state.doubt()


def is_tested() -> bool:
    """Return whether the stand-in was compared with the installed version of tokenizers."""
    return VERSION in TESTED_VERSIONS


def _engine_of(real: Any) -> tuple[Engine | None, str]:
    """Return the engine of `real`, or None and the reason."""
    if not is_tested():
        return None, f"tokenizers {VERSION} has not been compared with bpe"
    if replaced := replaced_methods(real):
        return None, f"{replaced[0]} is replaced on this tokenizer"
    try:
        serialized = real.to_str().encode()
    except Exception as error:  # tokenizers raises plain Exception
        return None, f"it cannot be serialized: {error}"
    # Copies of a tokenizer share their engine.
    digest = blake2b(serialized).digest()
    try:
        engine = _engines.get(digest) or build(serialized)
        _engines[digest] = engine
        return engine, ""
    except (UnsupportedError, VocabularyError) as error:
        return None, str(error)


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
