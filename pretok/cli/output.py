"""What the command line prints: escapes, columns and JSON; UTF-8 whatever the terminal's locale."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _string

import click
import numpy as np

from pretok.charsets.sets import CONTROL, SPACE, WHITE_SPACE
from pretok.preset import Exactness
from pretok.rules import Rule
from pretok.stage import Stage
from pretok.unicode import table
from pretok.unicode.atoms import Atom

BREAK = "\ud800"
"""Stands for the end of a line until all is escaped: UTF-8 has no way to put it into a text."""
NO_RULE = "no rule"
EXACTNESS: dict[Exactness, str] = {
    "tested": "yes, as tests against the engine say",
    "approximate": "no: it differs from the original as its source says",
    "unknown": "not known: the original could not be established",
}
QUOTE = '"'
PRE_TOKEN_WIDTH = 24
NAMED = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
ESCAPED = np.array(
    [((CONTROL | WHITE_SPACE) - SPACE).mask_at(0) >> atom & 1 for atom in Atom], dtype=bool
)
MAX_REPLACEMENTS = 32
"""Up to so many different characters are escaped one after the other, which is faster for few."""


class Escaper:
    r"""Makes text safe to show, one line each and reversibly.

    Escaped are a backslash, every white space but U+0020, and the general category C: controls,
    format characters, private use, surrogates, and what the Unicode version does not assign. They
    become \\ \n \r \t, else \xNN for an ASCII control, \uNNNN, or \UNNNNNNNN. A byte that is not
    UTF-8 (as "surrogateescape" reads it) becomes \xNN, which is 80 or more only for such a byte.
    """

    def __init__(self, version: str) -> None:
        self._version = version

    def lines(self, texts: Iterable[str]) -> str:
        """Return `texts` escaped, with a line break after each; none may hold U+D800."""
        return self._escaped(BREAK.join([*texts, ""]))

    def each(self, texts: Iterable[str]) -> list[str]:
        """Return each of `texts` escaped; none may hold U+D800."""
        return self.lines(texts).split("\n")[:-1]

    def _escaped(self, text: str) -> str:
        firsts, atoms = table(self._version)
        codes = np.fromiter(map(ord, set(text) - {BREAK}), np.int64)
        of_codes = atoms[np.searchsorted(firsts, codes, side="right") - 1]
        # Backslashes first, breaks last: what the others become has the former, never the latter.
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
    """Return `text` with as many spaces behind it as fill `width` columns of a terminal."""
    taken = len(text)
    if not text.isascii():
        taken += sum(unicodedata.east_asian_width(char) in "WF" for char in text)
        taken -= sum(unicodedata.category(char) in ("Mn", "Me") for char in text)
    return text + " " * (width - taken)


@lru_cache(maxsize=256)
def rule_text(rule: Rule | None) -> str:
    """Return the regex alternative that `rule` stands for."""
    return NO_RULE if rule is None else str(rule)


def stage_text(stage: Stage) -> str:
    """Return what `stage` is in the field: its pattern, or its pre_tokenizer, and what it keeps."""
    keeps = f"({stage.behavior}{', inverted' * stage.invert})" * (stage.behavior != "isolated")
    return "  ".join(filter(None, [stage.pattern or stage.huggingface, keeps]))


def columns(shown: str, rule: str) -> str:
    """Return the columns of one pre-token: `shown`, in quotes, and the rule that made it."""
    return f"{pad(QUOTE + shown + QUOTE, PRE_TOKEN_WIDTH)}  {rule}"


def step_json(start: int, end: int, text: str, rule: str) -> str:
    """Return one pre-token as a JSON object; `rule` is JSON itself."""
    return f'{{"start": {start}, "end": {end}, "text": {_string(text)}, "rule": {rule}}}'


def rule_json(rule: Rule | None) -> str:
    """Return the regex alternative that `rule` stands for as JSON."""
    return "null" if rule is None else _string(rule_text(rule))


def json_array(parts: Iterable[str], separator: str) -> Iterator[str]:
    """Yield the text of one JSON array; each of `parts` is some items of it as JSON, or empty."""
    before = "["
    for part in parts:
        if part:
            yield before + part
            before = separator
    yield "]\n" if before == separator else "[]\n"


def write(texts: Iterable[str | bytes]) -> None:
    """Write `texts` to standard output, each at once; bytes as they are."""
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
                f"cannot write to standard output: {error.strerror}; send it elsewhere"
            ) from None


def abandon_output() -> None:
    """Drop what was not written, or the interpreter's flush at its end could fail or block."""
    if sys.stdout is None:
        return
    try:
        output = sys.stdout.fileno()
    except OSError:  # not a file, so nothing that can block
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, output)
    os.close(null)


def is_colored(asked: bool | None) -> bool:
    """Return whether to color: as asked, else on a terminal unless $NO_COLOR is set."""
    if asked is not None:
        return asked
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def one_line(message: str) -> str:
    """Return `message` with whatever could break the line or move the cursor escaped."""
    return "".join(char if char.isprintable() else escape(ord(char)) for char in message)
