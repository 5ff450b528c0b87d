"""Fuzz `from_pattern`: it must recognize each hostile pattern, or reject the pattern quickly."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pretok.errors import UnknownPatternError
from pretok.fuzz import limits, minimize
from pretok.fuzz.engines import ComparedSplits, EngineError, RegexEngine
from pretok.fuzz.engines import engine as engine_of
from pretok.fuzz.text import SEEDS
from pretok.patterns.alternatives import alternatives_of
from pretok.patterns.lookup import known_patterns
from pretok.patterns.parser import MAX_PATTERN_LENGTH
from pretok.patterns.recognize import from_pattern
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import ENGINES, Engine, Preset

MAX_MESSAGE_LENGTH = 10_000
"""Maximum characters of an error message."""
MAX_SECONDS, MAX_SECONDS_PER_CHARACTER = 0.1, 0.0002
"""Maximum processor time for one pattern: the sum of a constant and a time for each character.

The maximum is many times the usual time.
"""
BATCH = 256
"""Number of patterns between two checks of the time limit."""

SETS = (
    r"\p{L}", r"\p{N}", r"\p{Lu}", r"\P{L}", r"\p{Han}", r"\p{Nothing}", r"\s", r"\S", r"\d", r"\w",
    ".", "[ab]", r"[^\s\p{L}\p{N}]", r"[\r\n]", r"[\p{L}&&[^\p{Han}]]", "[a-z]", r"[^\P{Lu}a]",
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"\x41", r"\x{4E00}", r"[\u4e00-\u9fff]", "[[a][^b]]",
)  # fmt: skip
TEXTS = ("'s", "'ll", "a", "s", " ", "'", "-", "\n", "\x00", "\u017f", "\ud800", "\U0001f600", "fi")
QUANTIFIERS = ("", "", "", "?", "*", "+", "?+", "*+", "++", "??", "+?", "{1}", "{1,3}", "{2,}",
               "{1,3}+", "{0}", "{3,2}", "{1000}", "{99999999999}", "{,3}", "{")  # fmt: skip
OPENINGS = ("(?:", "(", "(?i:", "(?=", "(?!", "(?>", "(?<=", "(?x)", "(?<n>", "(?#")
OTHERS = ("|", ")", "(", "[", "]", "^", "$", "\\", r"\b", r"\1", "&&", "[:", "--", "{", "}", "-",
          *OPENINGS)  # fmt: skip
ENDLESS = (
    "{t}|", "{t}{q}", "({t}", "(?:{t}|", "(?i:{t}", "[{t}", "[{t}-{t}", "[{t}]?+", "[{t}{t}]",
    "[{t}&&", "{t}{{9", "\\x{{0", "\\p{{L", "(?={t}", "({t}{{1000}}){{1000}}", "\\", "{t}",
    "[{t}]|", "[ab][cd]", "(?:a|b)|", "(?:{t}|{t}{t})", "'{t}|{t}|", "\\s+|", "\\P{{Lu}}", "[^{t}]",
)  # fmt: skip
"""Templates to repeat many times. Each time, `{t}` is a new text, and `{q}` a quantifier."""


class PatternMaker:
    """Makes pairs of a pattern and an engine; equal seeds give equal pairs.

    Most patterns are changed published patterns, or random combinations of regex constructs. Some
    patterns are long.
    """

    def __init__(self, seed: object) -> None:
        self._rng = random.Random(f"patterns/{seed}")
        self._known = sorted({pattern for _, _, pattern in known_patterns()})
        self._parts = sorted({part for text in self._known for part in alternatives_of(text)})

    def batch(self, count: int) -> list[tuple[str, Engine]]:
        """Return the next `count` patterns."""
        return [(self._pattern(), self._rng.choice(ENGINES)) for _ in range(count)]

    def _pattern(self) -> str:
        choice = self._rng.random()
        if choice < 0.5:
            return self._changed(self._rng.choice(self._known))
        if choice < 0.8:
            return self._alternatives(2)
        if choice < 0.98:
            return "".join(self._piece() for _ in range(self._rng.randrange(12)))
        return self._long()

    def _changed(self, pattern: str) -> str:
        """Return `pattern` after one to six random changes of its alternatives."""
        rng = self._rng
        for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
            parts = list(alternatives_of(pattern))
            at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
            choice = rng.randrange(7)
            if choice == 0:
                parts[at] = rng.choice(self._parts)
            elif choice == 1:
                parts[at], parts[other] = parts[other], parts[at]
            elif choice == 2:
                parts.insert(at, rng.choice((parts[other], self._alternatives(1))))
            elif choice == 3 and len(parts) > 1:
                del parts[at]
            else:
                parts[at] = self._edited(parts[at])
            pattern = "|".join(parts)
        return pattern

    def _edited(self, part: str) -> str:
        """Return `part` with a few characters removed, repeated or replaced."""
        rng = self._rng
        start = rng.randrange(len(part) + 1)
        end = min(len(part), start + rng.choice((0, 0, 1, 1, 2, 5)))
        return part[:start] + rng.choice(("", self._piece(), part[start:end] * 2)) + part[end:]

    def _alternatives(self, depth: int) -> str:
        return "|".join(self._sequence(depth) for _ in range(self._rng.choice((1, 1, 2, 3, 5))))

    def _sequence(self, depth: int) -> str:
        rng = self._rng
        nodes = []
        for _ in range(rng.choice((1, 1, 2, 3, 4))):
            if depth and rng.random() < 0.2:
                node = f"{rng.choice(OPENINGS[:6])}{self._alternatives(depth - 1)})"
            else:
                node = rng.choice(SETS if rng.random() < 0.6 else TEXTS)
            nodes.append(node + rng.choice(QUANTIFIERS if rng.random() < 0.3 else ("", "+", "?")))
        return "".join(nodes)

    def _piece(self) -> str:
        return self._rng.choice(self._rng.choice((SETS, TEXTS, QUANTIFIERS, OTHERS)))

    def _long(self) -> str:
        """Return a repeated construct, often longer than the parser accepts."""
        rng = self._rng
        endless = rng.choice(ENDLESS)
        longest = rng.choice(
            (50, 50, 50, 200, 200, 200, 1000, 1000, MAX_PATTERN_LENGTH // 2, MAX_PATTERN_LENGTH)
        )
        first = rng.choice((0x41, 0x3B1, 0x4E00, 0x10000))
        parts, size = [self._piece() * rng.randrange(2)], 0
        while size < longest:
            text = chr(first + len(parts)) if first > 0x41 else f"{len(parts)}"
            parts.append(endless.format(t=text, q=rng.choice(QUANTIFIERS)))
            size += len(parts[-1])
        closing = rng.choice(("", "a", ")" * len(parts), "]" * len(parts), "|a+"))
        return "".join(parts) + closing[: 2 * longest]


@dataclass(frozen=True)
class Failure:
    """A minimized pattern that breaks a promise of `from_pattern`."""

    problem: str
    pattern: str
    engine: Engine


@dataclass(frozen=True)
class PatternResult:
    """The numbers of tried, recognized and compared patterns, and the first failure, if any."""

    cases: int
    recognized: int
    compared: int
    failure: Failure | None


def fuzz_patterns(
    *,
    seed: int = 0,
    seconds: float | None = None,
    cases: int | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> PatternResult:
    """Try patterns until one breaks a promise of `from_pattern` or a limit is reached.

    `from_pattern` promises a PreTokenizer that splits as the engine does, or an UnknownPatternError
    with a short, printable message, in about linear time. Splits are compared with the package
    `regex` if it reads the pattern as the engine does. The limits and `on_batch` are as in
    `pretok.fuzz.fuzz`, but not more than `cases` patterns are tried. Raises EngineError if `regex`
    is not installed, and ValueError if `seconds` and `cases` are both None.
    """
    within = limits(seconds, cases)
    maker, check = PatternMaker(seed), _Check()
    done = 0
    while within(done):
        batch = maker.batch(BATCH if cases is None else min(BATCH, max(cases - done, 1)))
        for pattern, engine in batch:
            done += 1
            problem = check.problem(pattern, engine)
            if problem:
                failure = _minimized(check, problem, pattern, engine)
                return PatternResult(done, check.recognized, check.compared, failure)
        if on_batch:
            on_batch(len(batch))
    return PatternResult(done, check.recognized, check.compared, None)


class _Check:
    """Checks patterns, and counts the recognized and the compared patterns."""

    def __init__(self) -> None:
        self._regex = RegexEngine()
        self._seen: set[tuple[str, Engine]] = set()
        self.recognized = self.compared = 0

    def problem(self, pattern: str, engine: Engine) -> str:
        """Return the promise that `from_pattern` breaks for `pattern`, or "" if it breaks none."""
        start = time.process_time()
        problem = self._outcome(pattern, engine)
        if problem or time.process_time() - start <= _max_seconds(pattern):
            return problem
        # Other processes can slow down one measurement, but hardly four measurements.
        for _ in range(3):
            start = time.process_time()
            self._outcome(pattern, engine)
            if time.process_time() - start <= _max_seconds(pattern):
                return ""
        return "takes too long"

    def _outcome(self, pattern: str, engine: Engine) -> str:
        try:
            tokenizer = from_pattern(pattern, engine)
        except UnknownPatternError as error:
            return _message_problem(error)
        except Exception as error:
            return f"raises {type(error).__name__}"
        self.recognized += 1
        return self._split_problem(tokenizer, pattern, engine)

    def _split_problem(self, recognized: PreTokenizer, pattern: str, engine: Engine) -> str:
        if (pattern, engine) in self._seen or len(self._seen) > 1 << 16:
            return ""
        self._seen.add((pattern, engine))
        read = Preset("read", recognized.preset.rules, engine=engine, pattern=pattern)
        if self._regex.unsupported_reason(read):
            return ""
        self.compared += 1
        comparison: ComparedSplits
        tokenizer = PreTokenizer(read, self._regex.unicode(read))
        try:
            (comparison,) = self._regex.comparisons(tokenizer)
        except EngineError:  # `regex` lacks a spelling of the other engines, such as \x{4E00}
            return ""
        same = comparison.ours(SEEDS) == comparison.theirs(SEEDS)
        if same or _agrees(recognized, pattern, engine):
            return ""
        return f"does not split as {recognized.preset.name!r} does"


def _agrees(recognized: PreTokenizer, pattern: str, engine: Engine) -> bool:
    """Return whether the engine itself is installed, and splits as `recognized` does.

    `regex` has errors of its own: it takes `[^\\s\\S]` for a class with members.
    """
    if len(recognized.preset.stages) > 1:
        return False
    stage = replace(recognized.preset.stages[0], pattern=pattern)
    read = Preset("read", stages=[stage], engine=engine)
    try:
        own = engine_of(engine)
        (comparison, *_) = own.comparisons(PreTokenizer(read, own.unicode(read)))
    except EngineError:
        return False
    texts = [text for text in SEEDS if len(text) <= own.longest]
    return comparison.ours(texts) == comparison.theirs(texts)


def _message_problem(error: UnknownPatternError) -> str:
    message = str(error)
    if len(message) > MAX_MESSAGE_LENGTH:
        return f"raises an error of {len(message)} characters"
    if not message.replace("\n", "").isprintable():
        return "raises an error with unprintable characters"
    return ""


def _max_seconds(pattern: str) -> float:
    return MAX_SECONDS + MAX_SECONDS_PER_CHARACTER * min(len(pattern), MAX_PATTERN_LENGTH)


def _minimized(check: _Check, problem: str, pattern: str, engine: Engine) -> Failure:
    # Compare only the first word: the rest of a problem may change while the pattern shrinks.
    first_word = problem.split()[0]

    def fails(pattern: str) -> bool:
        return check._outcome(pattern, engine).split()[:1] == [first_word]

    small = (
        minimize(pattern, fails)
        if len(pattern) <= MAX_PATTERN_LENGTH and fails(pattern)
        else pattern
    )
    return Failure(check._outcome(small, engine) or problem, small, engine)
