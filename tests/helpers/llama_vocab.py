"""Build the vocabulary code of llama.cpp once for all tests, and call it through ctypes.

PRETOK_LLAMA_CPP is the folder of llama.cpp's sources, or of the unpacked source distribution of
llama-cpp-python. PRETOK_LLAMA_BUILD is the folder of the build, which takes about a minute.
"""

from __future__ import annotations

import ctypes as c
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from paths import HELPERS, SHARED

_LINES = (HELPERS / "llama_cpp" / "pre_types.txt").read_text(encoding="utf-8").splitlines()
PRE_TYPES = [line for line in _LINES if not line.startswith("#")]
"""The values of tokenizer.ggml.pre that llama.cpp knows."""
NOT_BPE = frozenset({"bert-bge", "nomic-bert-moe"})
"""The vocabularies of llama.cpp that are WordPiece or unigram."""


@cache
def sources() -> Path:
    """Return the folder of llama.cpp's sources; skip the test if it does not exist."""
    setting = os.environ.get("PRETOK_LLAMA_CPP")
    folders = [Path(setting)] if setting else []
    if SHARED is not None:
        folders.append(SHARED / "llama.cpp")
    for folder in folders:
        for path in (folder, folder / "vendor" / "llama.cpp"):
            if (path / "src" / "llama-vocab.cpp").is_file():
                return path
    pytest.skip("no sources of llama.cpp: set PRETOK_LLAMA_CPP to their folder")


def vocabularies() -> dict[str, Path]:
    """Return the GGUF file of each BPE vocabulary in the sources, by its name."""
    paths = sorted((sources() / "models").glob("ggml-vocab-*.gguf"))
    names = {path.stem.removeprefix("ggml-vocab-"): path for path in paths}
    return {name: path for name, path in names.items() if name not in NOT_BPE}


@cache
def library() -> c.CDLL:
    """Return the library of llama.cpp's vocabulary code; build it unless it exists."""
    setting = os.environ.get("PRETOK_LLAMA_BUILD")
    if not setting:
        pytest.skip("no build of llama.cpp: set PRETOK_LLAMA_BUILD to a folder to build it in")
    folder = Path(setting)
    path = folder / "libllama_vocabulary.so"
    if not path.exists():
        if shutil.which("cmake") is None:
            pytest.skip("no build of llama.cpp: cmake is not installed")
        options = [f"-DLLAMA_CPP={sources()}", "-DCMAKE_BUILD_TYPE=Release"]
        for command in (
            ["cmake", "-S", str(HELPERS / "llama_cpp"), "-B", str(folder), *options],
            ["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1)],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found = c.CDLL(str(path))
    text, flag, number = c.c_char_p, c.c_bool, c.c_int32
    found.pretok_test_load.argtypes, found.pretok_test_load.restype = [text], c.c_void_p
    found.pretok_test_free.argtypes, found.pretok_test_free.restype = [c.c_void_p], None
    found.pretok_test_error.restype = text
    found.llama_tokenize.argtypes = [c.c_void_p, text, number, c.c_void_p, number, flag, flag]
    found.llama_detokenize.argtypes = [c.c_void_p, c.c_void_p, number, text, number, flag, flag]
    found.llama_token_to_piece.argtypes = [c.c_void_p, number, text, number, number, flag]
    found.llama_log_set.argtypes, found.llama_log_set.restype = [c.c_void_p, c.c_void_p], None
    found.llama_log_set(_IGNORE, None)
    return found


def _ignore(level: int, text: bytes, data: Any) -> None:
    """Take a message of llama.cpp's log."""


_IGNORE = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)(_ignore)


class LlamaVocabulary:
    """The vocabulary of a GGUF file in llama.cpp."""

    def __init__(self, path: Path) -> None:
        self._library = library()
        self._handle = self._library.pretok_test_load(str(path).encode())
        if not self._handle:
            raise ValueError(self._library.pretok_test_error().decode())

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.pretok_test_free(self._handle)

    def tokenize(
        self, text: str | bytes, *, parse_special: bool = False, add_special: bool = False
    ) -> list[int]:
        """Return the result of llama_tokenize."""
        data = text.encode() if isinstance(text, str) else text
        ids = (c.c_int32 * (len(data) + 8))()
        count = self._library.llama_tokenize(
            self._handle, data, len(data), ids, len(ids), add_special, parse_special
        )
        assert count >= 0
        return ids[:count]

    def detokenize(self, ids: list[int], *, unparse_special: bool = True) -> bytes:
        """Return the result of llama_detokenize, which keeps the ids around a text."""
        listed = (c.c_int32 * len(ids))(*ids)
        return self._text(
            lambda text, size: self._library.llama_detokenize(
                self._handle, listed, len(ids), text, size, False, unparse_special
            )
        )

    def piece(self, id: int) -> bytes:
        """Return the result of llama_token_to_piece, with special tokens."""
        return self._text(
            lambda text, size: self._library.llama_token_to_piece(
                self._handle, id, text, size, 0, True
            )
        )

    @staticmethod
    def _text(call: Any) -> bytes:
        size = 64
        while True:
            text = c.create_string_buffer(size)
            count: int = call(text, size)
            if count >= 0:
                return text.raw[:count]
            size = -count
