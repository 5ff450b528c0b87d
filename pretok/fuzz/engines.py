"""The engines that presets are tested against: what each can express, and how it splits."""

from __future__ import annotations

import json
import random
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import version as distribution_version
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pretok.behaviors import applied
from pretok.classes import CASELESS, CONTROL, DIGIT, LOWER, MARK, NUMBER, PUNCTUATION, SYMBOL, UPPER
from pretok.classes import WHITE_SPACE as SPACES
from pretok.errors import PretokError
from pretok.fuzz.dialect import CLASS_ALGEBRA, ENGINE_SPECIFIC, constructs, with_text_anchors
from pretok.fuzz.text import changed_runs
from pretok.machine import ESCAPE
from pretok.preset import Preset
from pretok.presets import GPT2
from pretok.pretokenizer import PreTokenizer, choose_backend
from pretok.program import compile_rules
from pretok.rules import Run
from pretok.stage import Stage
from pretok.text import Classifier
from pretok.unicode import VERSIONS

Ask = Callable[[Sequence[str]], list[list[Any]]]
"""Answers about texts: for each text one item per pre-token, in order."""


class EngineError(PretokError, RuntimeError):
    """An engine is missing, cannot do what is asked, or is not understood."""


class Comparison(NamedTuple):
    """Two answers that must be equal for every text, and what they are about."""

    what: str
    ours: Ask
    theirs: Ask


class Engine(ABC):
    """Something to compare splits with. `longest` and `surrogates` limit the texts it can take."""

    name: ClassVar[str]
    longest: ClassVar[int] = 400
    surrogates: ClassVar[bool] = True
    batch: ClassVar[int] = 512
    """How many texts to ask about at once."""

    _module_name: ClassVar[str]
    _reads_like: ClassVar[tuple[str, ...]]
    """The engines of presets whose dialect this one shares, ENGINE_SPECIFIC included."""

    def __init__(self) -> None:
        self._module = self._load()

    def _load(self) -> Any:
        try:
            return import_module(self._module_name)
        except ModuleNotFoundError as error:
            if error.name != self._module_name:
                raise
            raise EngineError(
                f"comparing with {self.name} needs the 'fuzz' extra: pip install 'pretok[fuzz]' "
                f"(no module named {self._module_name!r})"
            ) from None

    @property
    def module(self) -> Any:
        """The library itself."""
        return self._module

    @property
    def version(self) -> str:
        """Name and release of the library."""
        return f"{self._module_name} {distribution_version(self._module_name)}"

    def refuses(self, preset: Preset) -> str:
        """Return why the engine cannot express the patterns of `preset`, or "" if it can."""
        for number, stage in enumerate(preset.stages, 1):
            if not stage.pattern and not stage.huggingface:
                raise EngineError(
                    f"preset {preset.name!r} has no pattern, so there is nothing to compare it "
                    "with; give Preset(pattern=...) the regex that its rules stand for"
                )
            refusal = self._refuses_stage(preset, stage)
            if refusal:
                return f"stage {number}: {refusal}" if len(preset.stages) > 1 else refusal
        return ""

    def _refuses_stage(self, preset: Preset, stage: Stage) -> str:
        if not stage.pattern:
            return "it is no regex, but a pre_tokenizer of its own kind"
        found = constructs(stage.pattern)
        if preset.engine not in self._reads_like and found & ENGINE_SPECIFIC:
            what = ", ".join(sorted(found & ENGINE_SPECIFIC))
            return f"its pattern has {what}, which {self.name} reads otherwise than {preset.engine}"
        return ""

    def unicode(self, preset: Preset) -> str:
        """Return the Unicode version in which `preset` must split as the engine does."""
        return self._probed

    @cached_property
    def _probed(self) -> str:
        """The version in which code points that changed join their neighbours as in the engine."""
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
            f"{self.version} implements none of the Unicode versions {', '.join(VERSIONS)}; "
            f"{nearest} is nearest, where {len(wrong[nearest])} of {len(probes)} code points "
            f"tried differ: {named}"
        )

    @abstractmethod
    def comparisons(self, tokenizer: PreTokenizer) -> list[Comparison]:
        """Return what to compare between `tokenizer` and the engine, its own split first."""

    def _compile(self, preset: Preset, compile_pattern: Callable[[str], Any], pattern: str) -> Any:
        try:
            return compile_pattern(pattern)
        except Exception as error:  # each engine has its own
            raise EngineError(
                f"{self.name} cannot compile the pattern of preset {preset.name!r}: {error}"
            ) from error


class RegexEngine(Engine):
    """The Python package `regex`; text that it does not match is kept, as pretok keeps it."""

    name = _module_name = "regex"
    _reads_like = ("tiktoken",)

    def _refuses_stage(self, preset: Preset, stage: Stage) -> str:
        return super()._refuses_stage(preset, stage) or "".join(
            f"its pattern has {what}, which regex reads otherwise"
            for what in sorted(constructs(stage.pattern) & CLASS_ALGEBRA)[:1]
        )

    def comparisons(self, tokenizer: PreTokenizer) -> list[Comparison]:
        """Return what to compare between `tokenizer` and the engine, its own split first."""
        splits = [
            self._splitter(tokenizer.preset, stage, with_text_anchors(stage.pattern))
            for stage in tokenizer.preset.stages
        ]

        def split(text: str) -> list[str]:
            pieces = [text] if text else []
            for cut in splits:
                pieces = [part for piece in pieces for part in cut(piece)]
            return pieces

        return [_splits(tokenizer, lambda texts: [split(text) for text in texts])]

    def _splitter(self, preset: Preset, stage: Stage, pattern: str) -> Callable[[str], list[str]]:
        compiled = self._compile(preset, self._module.compile, pattern)

        def split(text: str) -> list[str]:
            if not compiled.groups and stage.behavior == "isolated":
                found: list[str] = compiled.findall(text)
                if sum(map(len, found)) == len(text) and "" not in found:
                    return found
            spans, end = [], 0
            for match in compiled.finditer(text):
                spans += [(end, match.start(), False), (*match.span(), True)]
                end = match.end()
            spans.append((end, len(text), False))
            # Where nothing is between two matches there is no part that could be joined.
            parts = (span for span in spans if span[2] or span[0] < span[1])
            kept = applied(parts, stage.behavior, stage.invert)
            return [text[start:end] for start, end, _ in kept]

        return split


class TiktokenEngine(Engine):
    """tiktoken, made to show its pre-tokens: every substring of the texts is a token."""

    name = _module_name = "tiktoken"
    _reads_like = ("tiktoken",)
    longest = 24
    surrogates = False

    def refuses(self, preset: Preset) -> str:
        """Return why the engine cannot express the pattern of `preset`, or "" if it can."""
        found = super().refuses(preset)
        if not found and (len(preset.stages) > 1 or preset.stages[0].behavior != "isolated"):
            return f"tiktoken knows one pattern, and it has {len(preset.stages)} stages"
        if not found and preset.engine != "tiktoken" and _leaves_gaps(preset):
            return "tiktoken drops what no alternative matches"
        return found

    def comparisons(self, tokenizer: PreTokenizer) -> list[Comparison]:
        """Return what to compare between `tokenizer` and the engine, its own split first."""

        pattern = tokenizer.preset.pattern

        def encoding(pattern: str, vocabulary: dict[bytes, int]) -> Any:
            return self._module.Encoding(
                "pretok-fuzz", pat_str=pattern, mergeable_ranks=vocabulary, special_tokens={}
            )

        def split_all(texts: Sequence[str]) -> list[list[str]]:
            tokens = {bytes([byte]) for byte in range(256)}
            for text in texts:
                data = text.encode()
                cuts = [0]
                for char in text:
                    cuts.append(cuts[-1] + len(char.encode()))
                tokens.update(data[a:b] for i, a in enumerate(cuts) for b in cuts[i + 1 :])
            ordered = sorted(tokens)
            shown = [token.decode("utf-8", "backslashreplace") for token in ordered]
            encode = encoding(pattern, {token: i for i, token in enumerate(ordered)})
            return [[shown[i] for i in encode.encode_ordinary(text)] for text in texts]

        preset = tokenizer.preset
        bare = {bytes([byte]): byte for byte in range(256)}
        self._compile(preset, lambda pattern: encoding(pattern, bare), pattern)
        return [_splits(tokenizer, split_all)]


class HuggingFaceEngine(Engine):
    """Hugging Face tokenizers: `Split`, its other pre_tokenizers, and `ByteLevel` for GPT-2."""

    name = "hf"
    _module_name = "tokenizers"
    _reads_like = ("hf",)
    surrogates = False

    def comparisons(self, tokenizer: PreTokenizer) -> list[Comparison]:
        """Return what to compare between `tokenizer` and the engine, its own split first."""
        preset, kinds = tokenizer.preset, self._module.pre_tokenizers
        sequence = kinds.Sequence([self._stage(preset, stage) for stage in preset.stages])
        found = [_splits(tokenizer, _by_offsets(sequence))]
        if preset.pattern == GPT2.pattern:
            byte_level = kinds.ByteLevel(add_prefix_space=False, use_regex=True)
            found.append(_splits(tokenizer, _by_offsets(byte_level), "split (ByteLevel)"))
        return found

    def _refuses_stage(self, preset: Preset, stage: Stage) -> str:
        return "" if stage.huggingface else super()._refuses_stage(preset, stage)

    def _stage(self, preset: Preset, stage: Stage) -> Any:
        if stage.huggingface:
            model = {"type": "BPE", "vocab": {}, "merges": []}
            file = {
                "version": "1.0",
                "model": model,
                "pre_tokenizer": json.loads(stage.huggingface),
            }
            return self._module.Tokenizer.from_str(json.dumps(file)).pre_tokenizer

        def splitter(pattern: str) -> Any:
            regex = self._module.Regex(pattern)
            return self._module.pre_tokenizers.Split(regex, stage.behavior, stage.invert)

        return self._compile(preset, splitter, stage.pattern)


class PythonEngine(Engine):
    """pretok's own Python backend, asked in every way that there is."""

    name = "python"
    version = "the Python backend"

    def _load(self) -> None: ...

    def refuses(self, preset: Preset) -> str:
        """Return "": the Python backend can express every preset."""
        return ""

    def unicode(self, preset: Preset) -> str:
        """Return the preset's own version, which both backends take from one table."""
        return preset.unicode

    def comparisons(self, tokenizer: PreTokenizer) -> list[Comparison]:
        """Return what to compare between `tokenizer` and the engine, its own split first."""
        if tokenizer.backend == "python":
            choose_backend("native")  # says so if it was not built
            raise EngineError(
                "both sides would be the Python backend; compare the native one with it, or "
                "choose another engine"
            )
        python = PreTokenizer(tokenizer.preset, tokenizer.unicode, "python")

        def same(what: str, ask: Callable[[PreTokenizer, str], list[Any]]) -> Comparison:
            return Comparison(
                what,
                lambda texts: [ask(tokenizer, text) for text in texts],
                lambda texts: [ask(python, text) for text in texts],
            )

        def streamed(one: PreTokenizer, other: PreTokenizer, name: str) -> Comparison:
            return Comparison(
                f"{name} stream",
                lambda texts: [_streamed(one, text) for text in texts],
                lambda texts: [other.split(text) for text in texts],
            )

        offsets = (
            []
            if tokenizer.preset.removes
            else [
                same(
                    "offsets (char)", lambda tok, text: _spans(tok.offsets(text, "char").tolist())
                ),
                same(
                    "offsets (byte)", lambda tok, text: _spans(tok.offsets(text, "byte").tolist())
                ),
                same(
                    "offsets (utf16)", lambda tok, text: _spans(tok.offsets(text, "utf16").tolist())
                ),
                same(
                    "byte offsets", lambda tok, text: _spans(tok.offsets(_damaged(text)).tolist())
                ),
            ]
        )
        return [
            same("split", lambda tok, text: tok.split(text)),
            *offsets,
            same("rules", lambda tok, text: [tuple(step) for step in tok.explain(text)]),
            same("split_bytes", lambda tok, text: tok.split_bytes(_damaged(text))),
            same("count", lambda tok, text: [None] * tok.count(text)),
            streamed(tokenizer, python, "native"),
            streamed(python, tokenizer, "python"),
            Comparison(
                "native stream of bytes",
                lambda texts: [_streamed(tokenizer, _damaged(text)) for text in texts],
                lambda texts: [
                    [part.decode("utf-8", ESCAPE) for part in python.split_bytes(_damaged(text))]
                    for text in texts
                ],
            ),
        ]


ENGINES: dict[str, type[Engine]] = {
    kind.name: kind for kind in (RegexEngine, TiktokenEngine, HuggingFaceEngine, PythonEngine)
}

# For the probes: a code point joins exactly its own kind, so that its class shows.
_KINDS = (UPPER, LOWER, CASELESS, MARK, DIGIT, NUMBER - DIGIT, SPACES, PUNCTUATION, SYMBOL,
          CONTROL)  # fmt: skip
_PROBE = Preset(
    "probe",
    rules=tuple(map(Run, _KINDS)),
    pattern=r"[\p{Lu}\p{Lt}]+|\p{Ll}+|[\p{Lm}\p{Lo}]+|\p{M}+|\p{Nd}+|[\p{Nl}\p{No}]+|\s+|\p{P}+"
    r"|\p{S}+|\p{C}+",
)
_ONE_OF_EACH = ("A", "a", "\u05d0", "\u0301", "1", "\u00bd", " ", "!", "+", "\x01")


@cache
def _leaves_gaps(preset: Preset) -> bool:
    """Return whether there is a code point that no rule matches where it stands alone."""
    tokenizer = PreTokenizer(preset)
    classes = Classifier(compile_rules(preset.rules).alphabet, tokenizer.unicode).classes
    found = np.unique(classes, return_index=True)[1].tolist()
    return any(step.rule is None for point in found for step in tokenizer.explain(chr(point)))


def _splits(tokenizer: PreTokenizer, theirs: Ask, what: str = "split") -> Comparison:
    split = tokenizer.split
    return Comparison(what, lambda texts: [split(text) for text in texts], theirs)


def _by_offsets(pre_tokenizer: Any) -> Ask:
    def split(text: str) -> list[str]:
        spans = (span for _, span in pre_tokenizer.pre_tokenize_str(text))
        return [text[start:end] for start, end in spans]

    return lambda texts: [split(text) for text in texts]


def _spans(bounds: list[int]) -> list[tuple[int, int]]:
    return list(pairwise(bounds))


def _rng(data: str | bytes) -> random.Random:
    """Return a random source that depends on `data` only, or minimising would be a lottery."""
    encoded = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return random.Random(zlib.crc32(encoded))


def _damaged(text: str) -> bytes:
    """Return the UTF-8 of `text`; in half of the texts one byte is lost or changed."""
    data = text.encode("utf-8", "surrogatepass")
    rng = _rng(data)
    if not data or rng.random() < 0.5:
        return data
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.randrange(2)) + data[at + 1 :]


def _streamed(tokenizer: PreTokenizer, data: str | bytes) -> list[str]:
    """Return the pre-tokens of `data` fed in chunks of random size, empty ones included."""
    stream = tokenizer.stream()
    rng = _rng(data)
    found: list[str] = []
    start = 0
    while start < len(data):
        end = start + rng.choice((0, 1, 1, 1, 2, 3, 5, 9))
        found += stream.feed(data[start:end])
        start = end
    return found + stream.finish()


@cache
def engine(name: str) -> Engine:
    """Return the engine of this name, one of ENGINES; raises EngineError if it is not installed."""
    return ENGINES[name]()
