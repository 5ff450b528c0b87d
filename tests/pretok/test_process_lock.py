"""Locks in a child of a process in which another thread holds them."""

from __future__ import annotations

import ast
import importlib.util
import sys

import pytest

from paths import ROOT
from pretok.machine.backend import BackendName
from support import run_python

pytestmark = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="needs a reliable os.fork"
)

FORK = """
import os, signal, sys, threading
from contextlib import contextmanager
ready, stop = threading.Event(), threading.Event()
def hold(lock):
    with lock:
        ready.set()
        stop.wait()
def fork_while_held(lock, use):
    thread = threading.Thread(target=hold, args=(lock,), daemon=True)
    thread.start()
    ready.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits forever
        use()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    stop.set()
    thread.join()
    assert status == 0, status
"""
SMALL = """
from bpe import PromptCache, Tokenizer, Vocabulary
tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab"}
tok = Tokenizer(Vocabulary(tokens), "cl100k", backend=sys.argv[1])
"""
CASES = {
    "a preset is registered": """
from pretok import Preset, Run, get, register, registry
from pretok.charsets import NUMBER
def use():
    register(Preset("mine", rules=(Run(NUMBER, at_most=2),)))
    assert get("mine").split("123") == ["12", "3"]
fork_while_held(registry._lock(), use)
""",
    "installed presets are loaded": """
from pretok import Preset, Run, errors, get, registry
from pretok.charsets import NUMBER
from pretok.plugins import Installed
def load(taken):
    ready.set()
    stop.wait()
    return Installed({}, {})
@contextmanager
def loading():
    get_unknown()
    yield
def get_unknown():
    try:
        return get("mine")
    except errors.UnknownPresetError:
        return None
def use():
    mine = Preset("mine", rules=(Run(NUMBER, at_most=2),))
    registry.load_installed = lambda taken: Installed({"mine": mine}, {})
    assert get_unknown() is not None
registry.load_installed = load
fork_while_held(loading(), use)
assert get_unknown() is None
""",
    "a session changes": SMALL
    + """
session = tok.session("a")
def use():
    session.append("b")
    assert session.ids.tolist() == [256]
fork_while_held(session._kept._lock(), use)
""",
    "a prompt cache changes": SMALL
    + """
caches = [PromptCache(tok, 1 << 24) for _ in range(2)]
for cache in caches: cache.encode("ab")
def use():
    assert [cache.encode("ab").reused for cache in caches] == [0, 1]
    assert caches[0].stats.calls == 2
    assert caches[0].encode("ab").reused == 1
fork_while_held(caches[0]._store._locked(), use)
""",
    "an encoding of tiktoken is loaded": SMALL
    + """
import bpe
from bpe.compat.tiktoken import encodings
bpe.load = lambda name: tok
def use():
    assert encodings.get_encoding("cl100k_base").encode("ab") == [256]
fork_while_held(encodings._lock(), use)
""",
}
HUGGINGFACE = """
import bpe.compat.huggingface as hf
from bpe.compat.huggingface import patching, state
from tokenizers import Tokenizer, models
tok = hf.wrap(Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])))
of_tok = state.state_of(tok.real)
def use():
    with hf.patched():
        tok.add_tokens(["<e>"])
        assert tok.encode("ab<e>").ids == [2, 3]
        assert hf.engine(tok).name == "bpe", hf.engine(tok)
"""
HUGGINGFACE_CASES = {
    "patching": "fork_while_held(patching._lock(), use)",
    "a tokenizer is listed": "fork_while_held(state._states_lock(), use)",
    "a tokenizer is built": "fork_while_held(of_tok._lock(), use)",
}


def check(code: str, *arguments: str) -> None:
    """Run `code` after the definitions of FORK."""
    done = run_python(FORK + code, *arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", CASES)
def test_a_child_does_not_wait_for_a_lock_of_its_parent(case: str) -> None:
    check(CASES[case], "python")


@pytest.mark.parametrize("case", HUGGINGFACE_CASES)
def test_a_child_does_not_wait_for_a_stand_in(case: str) -> None:
    if importlib.util.find_spec("tokenizers") is None:
        pytest.skip("needs tokenizers")
    check(HUGGINGFACE + HUGGINGFACE_CASES[case])


BUSY = (
    SMALL
    + """
session = tok.session()
text = "ab " * 100_000
def work():
    while not stop.is_set():
        ready.set()
        session.append(text)
        session.update("")
thread = threading.Thread(target=work, daemon=True)
thread.start()
ready.wait()
for _ in range(2):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            session.update("ab")
        except RuntimeError as error:
            assert "while the process was forked" in str(error), error
        else:
            assert session.ids.tolist() == [256], session.ids
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
"""
)


def test_a_child_does_not_wait_for_a_session_in_cpp(native: BackendName) -> None:
    """The session may be half changed, so the child gets an error."""
    check(BUSY, native)


def test_all_locks_are_those_of_a_process() -> None:
    """cached_property has a lock in Python 3.10 and 3.11."""
    kinds = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "cached_property"}
    found = set()
    for path in sorted([*ROOT.glob("pretok/**/*.py"), *ROOT.glob("bpe/**/*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            made = node.func if isinstance(node, ast.Call) else None
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else ()
            for each in (made, *decorators):
                name = getattr(each, "id", getattr(each, "attr", ""))
                if name in kinds:
                    found.add(path.relative_to(ROOT).as_posix())
    assert found == {"pretok/fuzz/engines/base.py"}  # a command line tool without threads
