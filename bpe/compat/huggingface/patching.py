"""Let bpe serve one tokenizer, or every tokenizer of transformers until this is undone.

A tokenizer is served by its stand-in (tokenizers.Tokenizer of this package).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from bpe.compat.huggingface import newer, settings, short_methods
from bpe.compat.huggingface import processes as spawning
from bpe.compat.huggingface.real import WHY_RECORD, RealDecodeStream, RealTokenizer
from bpe.compat.huggingface.replacements import replacements
from bpe.compat.huggingface.serving import FallbackError, ServingEngine
from bpe.compat.huggingface.settings import Options
from bpe.compat.huggingface.state import recheck_all, state_of
from bpe.compat.huggingface.stream import DecodeStream
from bpe.compat.huggingface.tokenizers import Tokenizer
from pretok.process_lock import ProcessLock

_UNREACHED = (
    "no call reaches bpe; call patch(), or use the result of wrap(tok), or load it after "
    "patch(factories=True)"
)
_lock = ProcessLock(RLock)
_outer: list[Options] = []
"""For each call of `patch` that is not undone yet, the settings to restore."""
_MISSING = object()
_replaced: dict[tuple[Any, str], Any] = {}
"""The value of each replaced attribute before, by its owner and name."""


def patch(
    strict: bool = False,
    check: float = 0.0,
    *,
    factories: bool = False,
    processes: bool = False,
    prompt_cache_mb: float = 0.0,
) -> None:
    """Let bpe serve the tokenizers of transformers, in the whole process.

    This includes tokenizers that exist already. Calls nest: each needs a call of `unpatch` to undo
    it. With `strict` a call that bpe does not serve raises FallbackError. `check` is the share of
    calls, from 0 to 1, that the real tokenizer repeats. If its result differs, this is logged, and
    the real tokenizer serves all later calls of that tokenizer.

    With `factories`, `from_file`, `from_str`, `from_buffer` and `from_pretrained` of
    tokenizers.Tokenizer return a Tokenizer that bpe serves. With `processes`, processes that
    multiprocessing or multiprocess spawns call `patch` with the same arguments before they run the
    main module; forked processes need nothing.

    With `prompt_cache_mb`, calls with one text of 4,096 code points or more copy the ids of parts
    that earlier texts had (`bpe.PromptCache`): chats that grow, and prompts with the same
    instructions. It is the limit of the cache of each tokenizer, in MB of 2^20 bytes. Raises
    ValueError for a negative number. How long a call takes then says whether its text was seen
    before, so do not use it for texts of tenants that must not learn this of each other.

    The environment variable PRETOK_HF overrides the arguments: "off" (patch nothing), or one or
    more of "strict", "check=0.01", "factories", "processes" and "prompt_cache_mb=64" with commas.
    """
    if not 0 <= prompt_cache_mb < settings.MAX_MB:
        raise ValueError(f"prompt_cache_mb={prompt_cache_mb!r}; expected a number of MB, 0 or more")
    options = settings.from_environment(
        Options(strict, check, factories, processes, float(prompt_cache_mb))
    )
    with _lock():
        _outer.append(settings.current())
        if options is None:
            return
        _use(options)
        if WHY_RECORD:
            _patch_newer(options)
        elif not _replaced:
            found = list(replacements())
            _replace_stream(RealDecodeStream, DecodeStream)
            recheck_all()
            _replace(found)
        if options.processes:
            _replace(spawning.replacements())


def _use(options: Options) -> None:
    """Put options into effect."""
    before = settings.prompt_cache_mb
    settings.use(options)
    if options.prompt_cache_mb != before:
        recheck_all()  # C++ gets the function that encodes again


def _patch_newer(options: Options) -> None:
    """Replace the factories, if `options` says so and there are any."""
    settings.use(options._replace(check=0.0))  # no library computes results to compare with
    found = list(newer.replacements()) if options.factories else []
    _replace(found)
    if found:
        return
    try:
        newer.refuse(newer.why_no_transformers())
    except FallbackError:
        settings.use(_outer.pop())
        raise


def _replace(found: Iterable[tuple[Any, str, Any]]) -> None:
    for owner, name, value in found:
        if (owner, name) not in _replaced:
            _replaced[owner, name] = vars(owner).get(name, _MISSING)
            setattr(owner, name, value)


def unpatch() -> None:
    """Undo one call of `patch`; when none is left, restore all classes and tokenizers."""
    with _lock():
        if not _outer:
            return
        _use(_outer.pop())
        if _outer:
            return
        while _replaced:
            (owner, name), value = _replaced.popitem()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        if not WHY_RECORD:
            _replace_stream(DecodeStream, RealDecodeStream)


@contextmanager
def patched(
    strict: bool = False,
    check: float = 0.0,
    *,
    factories: bool = False,
    processes: bool = False,
    prompt_cache_mb: float = 0.0,
) -> Iterator[None]:
    """Patch for the duration of a `with` block, in the whole process."""
    patch(strict, check, factories=factories, processes=processes, prompt_cache_mb=prompt_cache_mb)
    try:
        yield
    finally:
        unpatch()


def _replace_stream(old: Any, new: Any) -> None:
    """Rebind DecodeStream in every module that has imported it."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict) or names.get("DecodeStream") is not old:
            continue
        if not str(names.get("__name__", "")).startswith("bpe.compat.huggingface"):
            names["DecodeStream"] = new


def wrap(tok: Any) -> Any:
    """Return a tokenizer that bpe serves.

    A tokenizers.Tokenizer becomes a Tokenizer. A tokenizer of transformers is changed in place:
    its backend becomes a Tokenizer. Anything else raises TypeError.

    A tokenizer of tokenizers 1.0 does not keep the parts of the file that offsets need. It is
    returned unchanged, with a warning.
    """
    if newer.is_newer(tok):
        newer.refuse("wrap changes no tokenizer")
        return tok
    real = real_of(tok)
    if isinstance(tok, RealTokenizer):
        return Tokenizer.of(real)
    tok._tokenizer = Tokenizer.of(real)
    return tok


def engine(tok: Any) -> ServingEngine:
    """Return the library that serves a tokenizer of transformers or tokenizers, and why.

    It is "tokenizers" if no call of `tok` reaches bpe, because `tok` is neither patched nor
    wrapped.
    """
    if newer.is_newer(tok):
        return ServingEngine("tokenizers", WHY_RECORD, {"bpe": 0, "tokenizers": 0})
    real = real_of(tok)
    is_of_transformers = not isinstance(tok, RealTokenizer)
    serving = state_of(real).serving_engine(real)
    if type(tok._tokenizer if is_of_transformers else tok) is not Tokenizer:
        return serving._replace(name="tokenizers", reason=_UNREACHED)
    if is_of_transformers and not serving.reason:
        return serving._replace(reason=short_methods.why_not())
    return serving


def fallbacks() -> dict[str, int]:
    """Return the number of calls that fell back to the real tokenizer, by reason.

    With a version of transformers that has not been compared with bpe, its own methods call bpe. A
    reason says so, with the number of their calls.
    """
    return dict(settings.total)


def real_of(tok: Any) -> Any:
    """Return the real tokenizer of a tokenizer of transformers or tokenizers, or of a stand-in.

    Anything else raises TypeError.
    """
    # A tokenizer of transformers stores the real tokenizer, although it shows the stand-in.
    stored = getattr(tok, "__dict__", {}).get("_tokenizer")
    if type(stored) is RealTokenizer:
        return stored
    real = tok if isinstance(tok, RealTokenizer) else getattr(tok, "_tokenizer", None)
    if not isinstance(real, RealTokenizer):
        raise TypeError(
            f"expected a tokenizers.Tokenizer or a fast tokenizer of transformers, got "
            f"{type(tok).__name__}"
        )
    return real.real if type(real) is Tokenizer else real
