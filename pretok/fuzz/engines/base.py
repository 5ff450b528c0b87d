"""Define FuzzEngine, the base class of engines with which presets are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import version as distribution_version
from typing import Any, ClassVar, NamedTuple

from pretok.charsets import sets
from pretok.errors import PretokError
from pretok.fuzz.dialect import ENGINE_SPECIFIC, constructs
from pretok.fuzz.text import changed_runs
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.rules import Run
from pretok.stage import Stage
from pretok.unicode import VERSIONS

Ask = Callable[[Sequence[str]], list[list[Any]]]
"""Returns for each text one result per pre-token, in order."""


class EngineError(PretokError, RuntimeError):
    """An engine is missing, cannot express a preset, or has an unknown Unicode version."""


class ComparedSplits(NamedTuple):
    """Two functions whose results must be equal for every text."""

    name: str
    ours: Ask
    theirs: Ask


class FuzzEngine(ABC):
    """An engine to compare splits with.

    `longest` is the maximum number of code points of a text for this engine. `surrogates` tells
    whether these texts may have lone surrogates.
    """

    name: ClassVar[str]
    longest: ClassVar[int] = 400
    surrogates: ClassVar[bool] = True
    batch: ClassVar[int] = 512
    """Number of texts of one call."""

    _module_name: ClassVar[str]
    _reads_like: ClassVar[tuple[str, ...]]
    """The values of `Preset.engine` for which this engine reads every pattern correctly.

    It reads the pattern of any other preset correctly only if the pattern has no ENGINE_SPECIFIC
    construct.
    """

    def __init__(self) -> None:
        self.module = self._load()

    def _load(self) -> Any:
        try:
            return import_module(self._module_name)
        except ModuleNotFoundError as error:
            if error.name != self._module_name:
                raise
            raise EngineError(
                f"comparing with {self.name} needs the package {self._module_name}; install it "
                f"with `pip install {self._module_name}`"
            ) from None

    @property
    def version(self) -> str:
        """The name and release of the library."""
        return f"{self._module_name} {distribution_version(self._module_name)}"

    def unsupported_reason(self, preset: Preset) -> str:
        """Return why the engine cannot express the patterns of `preset`, or "" if it can.

        Raises EngineError if a stage has neither a pattern nor a pre_tokenizer.
        """
        for number, stage in enumerate(preset.stages, 1):
            if not stage.pattern and not stage.huggingface:
                raise EngineError(
                    f"preset {preset.name!r} has no pattern, so there is nothing to compare it "
                    "with; pass the equivalent regex as Preset(pattern=...)"
                )
            reason = self._unsupported_stage_reason(preset, stage)
            if reason:
                return f"stage {number}: {reason}" if len(preset.stages) > 1 else reason
        return ""

    def _unsupported_stage_reason(self, preset: Preset, stage: Stage) -> str:
        if not stage.pattern:
            return "it is a Hugging Face pre_tokenizer without a regex to compare with"
        names = ", ".join(sorted(constructs(stage.pattern) & ENGINE_SPECIFIC))
        if names and preset.engine not in self._reads_like:
            return f"{self.name} and {preset.engine} read its pattern differently: {names}"
        return ""

    def unicode(self, preset: Preset) -> str:
        """Return the Unicode version with which `preset` must split like the engine."""
        return self._probed

    @cached_property
    def _probed(self) -> str:
        """The Unicode version in which pretok and the engine give the same classes to code points.

        An atom is a part of a fixed partition of the code points, such as all of Nd. The comparison
        covers the ranges of code points whose atom differs between Unicode versions: the first and
        the last code point of each range.
        """
        probes = [chr(c) for run, _ in changed_runs() for c in sorted(set(run))]
        texts = [char.join(_ONE_OF_EACH) for char in probes]
        theirs = self.comparisons(PreTokenizer(_PROBE))[0].theirs(texts)
        wrong: dict[str, list[str]] = {}
        for version in VERSIONS:
            split = PreTokenizer(_PROBE, version).split
            wrong[version] = [
                char
                for char, text, answer in zip(probes, texts, theirs, strict=True)
                if split(text) != answer
            ]
            if not wrong[version]:
                return version
        nearest = min(VERSIONS, key=lambda version: len(wrong[version]))
        named = " ".join(f"U+{ord(char):04X}" for char in wrong[nearest][:20])
        raise EngineError(
            f"expected {self.version} to implement one of the Unicode versions "
            f"{', '.join(VERSIONS)}; the nearest is {nearest}, but {len(wrong[nearest])} of "
            f"{len(probes)} code points differ: {named}"
        )

    @abstractmethod
    def comparisons(self, tokenizer: PreTokenizer) -> list[ComparedSplits]:
        """Return comparisons of `tokenizer` with the engine; the first one compares `split`."""

    def _compile(self, preset: Preset, compile_pattern: Callable[[str], Any], pattern: str) -> Any:
        try:
            return compile_pattern(pattern)
        except Exception as error:  # each engine has its own exceptions
            raise EngineError(
                f"{self.name} cannot compile the pattern of preset {preset.name!r}: {error}"
            ) from error


def compared(tokenizer: PreTokenizer, theirs: Ask, name: str = "split") -> ComparedSplits:
    """Return a comparison of `tokenizer.split` with `theirs`."""
    split = tokenizer.split
    return ComparedSplits(name, lambda texts: [split(text) for text in texts], theirs)


# _PROBE joins only code points of the same class. `_probed` puts a code point next to each of
# _ONE_OF_EACH, an example of each class. The code point joins only the example of its own class, so
# the split shows its class.
_CLASSES = (
    *(sets.UPPER, sets.LOWER, sets.CASELESS, sets.MARK, sets.DIGIT, sets.NUMBER - sets.DIGIT),
    *(sets.WHITE_SPACE, sets.PUNCTUATION, sets.SYMBOL, sets.CONTROL),
)
_PROBE = Preset(
    "probe",
    rules=tuple(map(Run, _CLASSES)),
    pattern=r"[\p{Lu}\p{Lt}]+|\p{Ll}+|[\p{Lm}\p{Lo}]+|\p{M}+|\p{Nd}+|[\p{Nl}\p{No}]+|\s+|\p{P}+"
    r"|\p{S}+|\p{C}+",
)
_ONE_OF_EACH = ("A", "a", "\u05d0", "\u0301", "1", "\u00bd", " ", "!", "+", "\x01")
