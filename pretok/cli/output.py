"""Print escaped text, columns and JSON, always in UTF-8."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _string
from typing import TypeAlias

import click
import numpy as np

from pretok.charsets.sets import CONTROL, SPACE, WHITE_SPACE
from pretok.machine.stream import Step
from pretok.preset import Exactness, Preset
from pretok.rules import Rule
from pretok.stage import Stage
from pretok.unicode import table
from pretok.unicode.atoms import Atom

BREAK = "\ud800"
"""Marks the end of a line until the text is escaped. Decoded UTF-8 cannot contain U+D800."""
NO_RULE = "no rule"
EXACTNESS: dict[Exactness, str] = {
    "tested": "yes, tested against the engine",
    "approximate": "no: it differs from the original; the source says how",
    "unknown": "unknown: the original could not be established",
}
QUOTE = '"'
PRE_TOKEN_WIDTH = 24
NAMED = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
"""The code points that have an escape with a letter."""
ESCAPED = np.array(
    [((CONTROL | WHITE_SPACE) - SPACE).mask_at(0) >> atom & 1 for atom in Atom], dtype=bool
)
"""True at the index of each atom whose code points are escaped."""
MAX_REPLACEMENTS = 32
"""Maximum number of different characters to escape with str.replace.

For more characters, str.translate is faster.
"""


class Escaper:
    r"""Makes text safe to print on one line, reversibly.

    Escapes the backslash, white space other than U+0020, and general category C: controls, format
    characters, private use, surrogates and unassigned code points. The escapes are \\, \n, \r, \t,
    else \xNN for an ASCII control, \uNNNN or \UNNNNNNNN. A byte that is not UTF-8
    ("surrogateescape") becomes \xNN; only then is NN 80 or more.
    """

    def __init__(self, version: str) -> None:
        self._version = version

    def lines(self, texts: Iterable[str]) -> str:
        """Return `texts` escaped, with a line break after each text; no text may have U+D800."""
        return self._escaped(BREAK.join([*texts, ""]))

    def each(self, texts: Iterable[str]) -> list[str]:
        """Return each of `texts` escaped; no text may have U+D800."""
        return self.lines(texts).split("\n")[:-1]

    def _escaped(self, text: str) -> str:
        firsts, atoms = table(self._version)
        codes = np.fromiter(map(ord, set(text) - {BREAK}), np.int64)
        of_codes = atoms[np.searchsorted(firsts, codes, side="right") - 1]
        # Replace backslashes first, because the other escapes contain backslashes. Replace BREAK
        # last, because a line break in `text` must be escaped before.
        escapes = {ord("\\"): "\\\\"}
        escapes |= {code: escape(code) for code in codes[ESCAPED[of_codes]].tolist()}
        escapes[ord(BREAK)] = "\n"
        if len(escapes) > MAX_REPLACEMENTS:
            return text.translate(escapes)
        for code, escaped in escapes.items():
            text = text.replace(chr(code), escaped)
        return text


def escape(code: int) -> str:
    """Return the escape of one code point."""
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    elif code >= 0x80:
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return NAMED.get(code) or f"\\x{code:02x}"


def pad(text: str, width: int) -> str:
    """Return `text` padded with spaces to `width` columns of a terminal."""
    used = len(text)
    if not text.isascii():
        used += sum(unicodedata.east_asian_width(char) in "WF" for char in text)
        used -= sum(unicodedata.category(char) in ("Mn", "Me") for char in text)
    return text + " " * (width - used)


def origin_of(preset: Preset) -> dict[str, object]:
    """Return the members of a JSON object that say where a preset is from."""
    names = ("aliases", "engine", "unicode", "exactness", "source")
    return {name: getattr(preset, name) for name in names}


@lru_cache(maxsize=256)
def rule_text(rule: Rule | None) -> str:
    """Return the regex alternative of `rule`."""
    return NO_RULE if rule is None else str(rule)


def stage_text(stage: Stage) -> str:
    """Return the pattern or the pre_tokenizer of `stage`, and any behavior but isolated."""
    behavior = f"({stage.behavior}{', inverted' * stage.invert})" * (stage.behavior != "isolated")
    return "  ".join(filter(None, [stage.pattern or stage.huggingface, behavior]))


def columns(shown: str, rule: str) -> str:
    """Return the columns of one pre-token: `shown` in quotes, and its rule."""
    return f"{pad(QUOTE + shown + QUOTE, PRE_TOKEN_WIDTH)}  {rule}"


def styled(line: str, colored: bool, color: str | None = None, bold: bool | None = None) -> str:
    """Return `line` with a line break, in the color and weight if `colored`."""
    return f"{click.style(line, color, bold=bold) if colored and (color or bold) else line}\n"


Side: TypeAlias = tuple[str, str | None, Iterable[tuple[str, str]], int]
"""Pre-tokens with one sign: the sign, the color, (text, rule) of each to show, their number."""


def difference_lines(
    escaper: Escaper, start: int, end: int, sides: Iterable[Side], colored: bool
) -> Iterator[str]:
    """Yield the lines of a region start:end in which two splits differ."""
    yield styled(f"@@ {start}:{end} @@", colored, "cyan")
    for sign, color, parts, count in sides:
        texts, rules = zip(*parts, strict=True) if (parts := list(parts)) else ((), ())
        for shown, rule in zip(escaper.each(texts), rules, strict=True):
            yield styled(f"{sign} {columns(shown, rule)}".rstrip(), colored, color)
        if count > len(texts):
            yield styled(f"{sign} and {count - len(texts)} more", colored, color)


def step_record(step: Step) -> dict[str, object]:
    """Return one pre-token as a JSON object."""
    return {**step._asdict(), "rule": None if step.rule is None else rule_text(step.rule)}


def step_json(start: int, end: int, text: str, rule: str) -> str:
    """Return one pre-token as a JSON object; `rule` is already JSON."""
    return f'{{"start": {start}, "end": {end}, "text": {_string(text)}, "rule": {rule}}}'


def rule_json(rule: Rule | None) -> str:
    """Return the regex alternative of `rule` as JSON."""
    return "null" if rule is None else _string(rule_text(rule))


def json_array(parts: Iterable[str], separator: str) -> Iterator[str]:
    """Yield a JSON array in pieces.

    Each of `parts` is the JSON of items joined by `separator`, or empty.
    """
    prefix = "["
    for part in parts:
        if part:
            yield prefix + part
            prefix = separator
    yield "]\n" if prefix == separator else "[]\n"


def write(texts: Iterable[str | bytes]) -> None:
    """Write `texts` to standard output, and flush after each text; bytes are written unchanged."""
    if sys.stdout is None:
        raise click.ClickException("standard output is closed; redirect it to a file or a pipe")
    for text in texts:
        try:
            sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            abandon_output()
            raise click.ClickException(
                f"cannot write to standard output: {error.strerror}; redirect it elsewhere"
            ) from None


def abandon_output() -> None:
    """Drop unwritten output; otherwise the interpreter's final flush could fail or block."""
    if sys.stdout is None:
        return
    try:
        output = sys.stdout.fileno()
    except OSError:  # not a file, so it cannot block
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, output)
    os.close(null)


def is_colored(color: bool | None) -> bool:
    """Return `color` if set, else whether the output is a terminal and $NO_COLOR is not set."""
    if color is not None:
        return color
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def one_line(message: str) -> str:
    """Return `message` with unprintable characters escaped."""
    return "".join(char if char.isprintable() else escape(ord(char)) for char in message)
