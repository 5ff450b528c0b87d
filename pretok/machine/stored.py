"""Restore stages from their serialized form, which pretok.machine.program writes.

The form divides the code points into classes, and stores a set as a mask with one bit per class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pretok import rules
from pretok.behaviors import BEHAVIORS
from pretok.charsets.sets import CharSet
from pretok.errors import DefinitionError
from pretok.machine.program import MAGIC, serialize_stages
from pretok.rules import Rule, Spaces, Through
from pretok.rules.base import RuleKind
from pretok.stage import MAX_RULES, MAX_STAGES, Stage
from pretok.unicode.atoms import ATOMS

MAX_CELLS = 300_000
"""Maximum product of the number of masks of a stage and the number of ranges of its alphabet.

The maximum bounds the time and the memory for a malformed program.
"""
_WORDS_PER_RANGE = 1 + -(-len(ATOMS) // 4)


def restore_stages(words: Sequence[int]) -> tuple[Stage, ...]:
    """Return stages for which `serialize_stages` returns `words`.

    The serialized form omits members of sets that cannot affect a match, such as members of a lead
    that are also in the body. The restored stages lack these members, but split like the original
    stages. Raises DefinitionError if `words` are not the serialized form of any stages.

    >>> from pretok.charsets.sets import LETTER
    >>> restore_stages(serialize_stages([Stage((rules.Run(LETTER),))]))[0].rules
    (Run(LETTER),)
    """
    with _located("the program"):
        stages = _stages(_Words(words))
    if serialize_stages(stages) != list(words):
        raise DefinitionError("the program is not in the form that pretok writes")
    return stages


@contextmanager
def _located(place: str) -> Iterator[None]:
    """Turn the errors that malformed words cause in the context into DefinitionErrors.

    The messages of these errors begin with `place`.
    """
    try:
        yield
    except DefinitionError as error:
        raise DefinitionError(f"{place}: {error}") from None
    except (IndexError, ValueError, OverflowError):
        raise DefinitionError(f"{place} is malformed") from None


class _Words:
    """Reads 32-bit words in order; raises IndexError past the end.

    `sets` maps the mask of a set to the set.
    """

    def __init__(self, words: Sequence[int], sets: Callable[[int], CharSet] | None = None) -> None:
        self._words = words
        self._at = 0
        self._sets = sets

    @property
    def left(self) -> int:
        return len(self._words) - self._at

    def next(self, limit: int = 1 << 32) -> int:
        """Return the next word; raise IndexError unless it is less than `limit`."""
        word = self._words[self._at]
        if word >= limit:
            raise IndexError
        self._at += 1
        return word

    def part(self, sets: Callable[[int], CharSet] | None = None) -> _Words:
        """Read a number n, skip the next n words, and return a reader of these n words."""
        size = self.next(self.left)
        self._at += size
        return _Words(self._words[self._at - size : self._at], sets)

    def chars(self) -> CharSet:
        """Read a mask, and return the set of the mask."""
        if self._sets is None:
            raise IndexError
        return self._sets(self.next())

    def lead(self) -> CharSet | None:
        """Read a mask, and return the set of the mask; None if the set is empty."""
        return self.chars() or None

    def limit(self) -> int | None:
        """Read a maximum; return None for 0, which means no limit."""
        return self.next() or None

    def text(self) -> str:
        """Read a number n, and return the text of the next n words, which are code points."""
        return "".join(map(chr, self._take(self.next())))

    def texts(self) -> list[str]:
        """Read a number n, and return the next n texts."""
        return [self.text() for _ in range(self.next(self.left))]

    def _take(self, size: int) -> Sequence[int]:
        if size > self.left:
            raise IndexError
        self._at += size
        return self._words[self._at - size : self._at]


def _stages(words: _Words) -> tuple[Stage, ...]:
    magic = words.next()
    if magic != MAGIC:
        raise DefinitionError(f"expected version {MAGIC:#x}, got {magic:#x}")
    count = words.next(MAX_STAGES + 1)
    stages = []
    for number in range(1, count + 1):
        with _located(f"stage {number}"):
            stages.append(_stage(words))
    return tuple(stages)


def _stage(words: _Words) -> Stage:
    behavior = BEHAVIORS[words.next()]
    is_inverted = bool(words.next(2))
    program = words.part()
    program.next()  # the number of classes
    range_count = program.next(program.left // _WORDS_PER_RANGE + 1)
    ranges = [_range(program) for _ in range(range_count)]
    rule_count = program.next(MAX_RULES + 1)
    known: dict[int, CharSet] = {}

    def set_of(mask: int) -> CharSet:
        if mask not in known:
            if (len(known) + 1) * range_count > MAX_CELLS:
                raise DefinitionError("the program has more sets than pretok writes; it is damaged")
            known[mask] = _set_of(mask, ranges)
        return known[mask]

    restored = []
    for number in range(1, rule_count + 1):
        with _located(f"rule {number}"):
            part = program.part(set_of)
            restored.append(_READERS[RuleKind(part.next())](part))
    return Stage(tuple(restored), "", behavior, is_inverted)


def _range(words: _Words) -> tuple[int, bytes]:
    """Return the start of a range and the class of each atom."""
    start = words.next()
    packed = b"".join(words.next().to_bytes(4, "little") for _ in range(_WORDS_PER_RANGE - 1))
    return start, packed[: len(ATOMS)]


def _set_of(mask: int, ranges: Sequence[tuple[int, bytes]]) -> CharSet:
    """Return the set of the code points whose class is a bit of `mask`."""
    segments: list[tuple[int, int]] = []
    for start, classes in ranges:
        atoms = sum((mask >> class_ & 1) << atom for atom, class_ in enumerate(classes))
        if not segments or segments[-1][1] != atoms:
            segments.append((start, atoms))
    return CharSet(tuple(segments))


def _contraction(words: _Words) -> rules.Contraction:
    words.next()  # skip the mask of the apostrophe, which is always the same set
    ignore_case = bool(words.next(2))
    return rules.Contraction(*words.texts(), ignore_case=ignore_case)


def _run(words: _Words) -> rules.Run:
    body, lead, tail = words.chars(), words.lead(), words.lead()
    at_most, at_least, tail_at_most = words.limit(), words.next(), words.limit()
    return rules.Run(body, lead, at_most, tail, at_least, bool(words.next(2)), tail_at_most)


def _cased_word(words: _Words) -> rules.CasedWord:
    upper, lower, lead = words.chars(), words.chars(), words.lead()
    return rules.CasedWord(upper, lower, lead, _contraction(words) if words.left else None)


def _spaces(words: _Words) -> Spaces:
    space, newline, through = words.chars(), words.chars(), Through(words.next())
    return Spaces(through, words.limit(), words.next(), space, newline)


def _literal(words: _Words) -> rules.Literal:
    # Skip the masks of the first and of the other characters, because the texts determine them.
    words.next(), words.next()
    return rules.Literal(*words.texts())


def _enclosed(words: _Words) -> rules.Enclosed:
    # Skip the masks of the first and of the other characters, because the texts determine them.
    words.next(), words.next()
    body, at_most, at_least = words.chars(), words.limit(), words.next()
    before, after = words.text(), words.text()
    return rules.Enclosed(before, body, after, at_most, at_least)


def _groups(words: _Words) -> rules.Groups:
    body, stop = words.chars(), words.lead()
    size, at_least = words.next(), words.next()
    return rules.Groups(body, size, at_least, stop | body if stop else None)


def _phrase(words: _Words) -> rules.Phrase:
    start, word, joint, lead = words.chars(), words.chars(), words.chars(), words.lead()
    # `word` is the union of `start` and `rest`. `rest` must not be empty, so it may be `word`.
    return rules.Phrase(start, word - start or word, joint, lead)


_READERS: dict[RuleKind, Callable[[_Words], Rule]] = {
    RuleKind.CONTRACTION: _contraction,
    RuleKind.RUN: _run,
    RuleKind.CASED_WORD: _cased_word,
    RuleKind.SPACES: _spaces,
    RuleKind.LITERAL: _literal,
    RuleKind.ENCLOSED: _enclosed,
    RuleKind.GROUPS: _groups,
    RuleKind.PHRASE: _phrase,
}
