"""Split text into pre-tokens exactly as LLM tokenizers do, without a regex engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pretok import charsets
from pretok.behaviors import Behavior
from pretok.errors import (
    BackendError,
    DefinitionError,
    DuplicatePresetError,
    PresetWarning,
    PretokError,
    PretokWarning,
    UnknownPatternError,
    UnknownPresetError,
    UnknownUnicodeVersionError,
    UnreadableFileError,
    UnsupportedFileError,
    UnsupportedPreTokenizerError,
)
from pretok.machine.backend import BackendName, backend
from pretok.machine.machine import Unit
from pretok.machine.stream import Step, Stream
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Engine, Exactness, Preset
from pretok.registry import get, presets, register
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    BEFORE_NEWLINE,
    END_OF_TEXT,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    Enclosed,
    Groups,
    Literal,
    Phrase,
    Rule,
    Run,
    Spaces,
    Through,
)
from pretok.stage import Stage, Stages
from pretok.text import Text
from pretok.unicode import DEFAULT_VERSION, VERSIONS

if TYPE_CHECKING:
    from pretok.formats.gguf import from_gguf
    from pretok.formats.huggingface import from_huggingface
    from pretok.patterns.recognize import from_gguf_pre, from_pattern

    __version__: str

# Maps a public name to its module, which __getattr__ imports at first use of the name. Importing
# pattern recognition together with pretok would double the import time.
_LAZY = {
    "from_gguf": "pretok.formats.gguf",
    "from_gguf_pre": "pretok.patterns.recognize",
    "from_huggingface": "pretok.formats.huggingface",
    "from_pattern": "pretok.patterns.recognize",
}

__all__ = [
    "ALL",
    "ALL_BUT_LAST",
    "BEFORE_NEWLINE",
    "DEFAULT_VERSION",
    "END_OF_TEXT",
    "LAST_NEWLINE",
    "VERSIONS",
    "BackendError",
    "BackendName",
    "Behavior",
    "CasedWord",
    "Contraction",
    "DefinitionError",
    "DuplicatePresetError",
    "Enclosed",
    "Engine",
    "Exactness",
    "Groups",
    "Literal",
    "Phrase",
    "PreTokenizer",
    "Preset",
    "PresetWarning",
    "PretokError",
    "PretokWarning",
    "Rule",
    "Run",
    "Spaces",
    "Stage",
    "Stages",
    "Step",
    "Stream",
    "Text",
    "Through",
    "Unit",
    "UnknownPatternError",
    "UnknownPresetError",
    "UnknownUnicodeVersionError",
    "UnreadableFileError",
    "UnsupportedFileError",
    "UnsupportedPreTokenizerError",
    "__version__",
    "backend",
    "charsets",
    "from_gguf",
    "from_gguf_pre",
    "from_huggingface",
    "from_pattern",
    "get",
    "presets",
    "register",
]


def __getattr__(name: str) -> object:
    if name in _LAZY:
        from importlib import import_module

        value: object = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    # Look the version up only at request: importlib.metadata takes longer to import than pretok.
    if name == "__version__":
        from importlib.metadata import version

        return version("pretok-bpe")
    raise AttributeError(f"module 'pretok' has no attribute {name!r}")
