"""ENGINES: the engines with which presets are compared."""

from __future__ import annotations

from functools import cache

from pretok.fuzz.engines.base import Ask as Ask
from pretok.fuzz.engines.base import ComparedSplits as ComparedSplits
from pretok.fuzz.engines.base import EngineError as EngineError
from pretok.fuzz.engines.base import FuzzEngine as FuzzEngine
from pretok.fuzz.engines.huggingface import HuggingFaceEngine as HuggingFaceEngine
from pretok.fuzz.engines.python import PythonEngine as PythonEngine
from pretok.fuzz.engines.regex import RegexEngine as RegexEngine
from pretok.fuzz.engines.tiktoken import TiktokenEngine as TiktokenEngine

ENGINES: dict[str, type[FuzzEngine]] = {
    engine_type.name: engine_type
    for engine_type in (RegexEngine, TiktokenEngine, HuggingFaceEngine, PythonEngine)
}


@cache
def engine(name: str) -> FuzzEngine:
    """Return the engine `name` of ENGINES; raises EngineError if its library is not installed."""
    return ENGINES[name]()
