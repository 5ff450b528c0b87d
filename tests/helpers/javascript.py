"""Call the JavaScript API of the WebAssembly module, in Node."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest

from paths import ROOT, TESTS
from pretok.fuzz.text import TextMaker
from support import seeded

CORE = ROOT / "pretok" / "page" / "core"
MODULE = CORE / "pretok.js"
MIN_NODE = 18
INVALID = b"\x80\xbf\xc0\xe2\xed\xf0\xff\xa0"
FIXED = (
    "",
    "Hello, wörld! I'm 25.",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd 123",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "a\x00\x01\x1b[0m\x7f\x85b",
    "\ud800 \udc00x\udfff",
    "\ufeffe\u0301 \u1e69\u0307 \uac00\u11a8",
    "x" * 300 + " " * 300 + "1" * 100,
)


def node() -> str:
    """Return the path of Node.

    If Node is missing or old, skip the test, or fail it if PRETOK_REQUIRE_BROWSER=1.
    """
    path = shutil.which("node")
    version = 0
    if path is not None:
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        version = int(shown.stdout.lstrip("v").split(".")[0])
    if path is None or version < MIN_NODE:
        _missing(f"Node {MIN_NODE} or later is not installed")
    return path


def tsc() -> str:
    """Return the path of the TypeScript compiler. If it is missing, do as `node` does."""
    return shutil.which("tsc") or _missing("tsc, the TypeScript compiler, is not installed")


def _missing(reason: str) -> NoReturn:
    if os.environ.get("PRETOK_REQUIRE_BROWSER") == "1":
        pytest.fail(f"PRETOK_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)


@dataclass
class Calls:
    """Calls of the JavaScript API, which one instance of the module answers."""

    texts: Sequence[str | bytes] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, on: dict[str, Any] | None, method: str, *arguments: Any) -> None:
        """Add the call of a method. `on` describes the object that has it, as in answers.mjs."""
        self.calls.append({"on": on, "method": method, "arguments": [*map(_json, arguments)]})

    def each(self, on: dict[str, Any] | None, method: str, *arguments: Any) -> None:
        """Add a call with each text as the first argument. Their answers become one list."""
        self.add(on, method, *arguments)
        self.calls[-1]["each"] = True

    def answers(self) -> list[Any]:
        """Return the value of each call, or the JsError that it threw."""
        texts = [*map(_json, self.texts)]
        request = json.dumps({"module": str(MODULE), "calls": self.calls, "texts": texts})
        process = _process()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{request}\n".encode())
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, "Node ended"
        answers = json.loads(line)
        assert isinstance(answers, list), answers["failure"]
        return [_value(answer) for answer in answers]


@cache
def _process() -> subprocess.Popen[bytes]:
    """Start answers.mjs, which answers all calls until this process ends."""
    process = subprocess.Popen(
        [node(), TESTS / "wasm" / "answers.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(process.communicate)  # closes its input, so it ends
    return process


@dataclass(frozen=True)
class JsError:
    """A PretokError, the exception of the JavaScript API."""

    code: str
    message: str
    position: int


def preset(name: str, unicode: str | None = None) -> dict[str, Any]:
    """Return the argument `on` of Calls.add for the pre-tokenizer of a preset."""
    return {"get": [name, {"unicode": unicode} if unicode else {}]}


def tokenizer(path: Path, **options: Any) -> dict[str, Any]:
    """Return the argument `on` of Calls.add for the tokenizer of a vocabulary file."""
    return {"load": [str(path), options]}


def split_of(path: Path, **options: Any) -> dict[str, Any]:
    """Return the argument `on` of Calls.add for the pre-tokenizer of a vocabulary file."""
    return {"splitOf": [str(path), options]}


def call(on: dict[str, Any] | None, method: str, *arguments: Any) -> Any:
    """Return the answer of one call."""
    calls = Calls()
    calls.add(on, method, *arguments)
    return calls.answers()[0]


def _json(value: Any) -> Any:
    return {"bytes": value.hex()} if isinstance(value, bytes) else value


def _value(answer: Any) -> Any:
    if isinstance(answer, list):
        return [*map(_value, answer)]
    if "error" in answer:
        return JsError(answer["error"], answer["message"], answer["position"])
    return _decoded(answer["value"])


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"bytes"} and isinstance(value["bytes"], str):
            return bytes.fromhex(value["bytes"])
        return {key: _decoded(part) for key, part in value.items()}
    return [_decoded(part) for part in value] if isinstance(value, list) else value


def texts(count: int) -> list[str]:
    """Return `count` random texts, and a few fixed difficult texts.

    A high surrogate before a low one becomes one character, as in JavaScript.
    """
    made = TextMaker("javascript", "16.0").batch(count)
    return [text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            for text in [*FIXED, *made]]  # fmt: skip


def invalid_texts(count: int) -> list[bytes]:
    """Return `count` texts with bytes that are not valid UTF-8."""
    rng = seeded("invalid")
    made = []
    for text in TextMaker("invalid", "16.0", surrogates=False).batch(count):
        data = bytearray(text.encode())
        for _ in range(1 + len(data) // 20):
            data.insert(rng.randrange(len(data) + 1), rng.choice(INVALID))
        made.append(bytes(data))
    return made
