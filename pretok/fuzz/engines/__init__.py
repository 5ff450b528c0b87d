"""ENGINES: the engines with which presets are compared."""

from __future__ import annotations

from functools import cache

from pretok.fuzz.engines.base import Ask, ComparedSplits, EngineError, FuzzEngine
from pretok.fuzz.engines.huggingface import HuggingFaceEngine
from pretok.fuzz.engines.python import PythonEngine
from pretok.fuzz.engines.regex import RegexEngine
from pretok.fuzz.engines.tiktoken import TiktokenEngine

__all__ = [
    "ENGINES",
    "Ask",
    "ComparedSplits",
    "EngineError",
    "FuzzEngine",
    "HuggingFaceEngine",
    "PythonEngine",
    "RegexEngine",
    "TiktokenEngine",
    "engine",
]

ENGINES: dict[str, type[FuzzEngine]] = {
    engine_type.name: engine_type
    for engine_type in (RegexEngine, TiktokenEngine, HuggingFaceEngine, PythonEngine)
}


@cache
def engine(name: str) -> FuzzEngine:
    """Return the engine `name` of ENGINES; raises EngineError if its library is not installed."""
    return ENGINES[name]()
