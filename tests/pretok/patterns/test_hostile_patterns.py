"""Hostile patterns, names and pre_tokenizers are refused fast, by a short error of pretok."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bpe
import pretok
import pretok.json_text
from bpe.formats.json_value import Value
from command_line import Call
from pre_tokenizer_json import BYTES, literal, sequence, split
from pretok import DefinitionError, UnknownPatternError
from pretok.charsets.sets import code_points, intersection, union
from pretok.errors import MAX_SHOWN, shortened
from pretok.fuzz.patterns import MAX_MESSAGE_LENGTH
from pretok.patterns import compile as compiler
from pretok.patterns import differences, lookup, parser
from pretok.patterns.differences import MAX_LINES, MAX_WIDTH, difference_of
from pretok.patterns.parser import MAX_DEPTH, MAX_PATTERN_LENGTH
from pretok.preset import ENGINES, Engine
from pretok.presets import GPT2, LLAMA3
from support import FULL, TIMES, TOO_MUCH, growth
from vocabulary_files import huggingface

SHORT = 500
"""The maximum number of characters of an error that shows no alternatives of a pattern."""


def _repeated(text: str) -> Callable[[int], str]:
    """Return a function that repeats `text` up to a size, each time with a new character for {}."""

    def make(size: int) -> str:
        parts: list[str] = []
        while size > 0:
            parts.append(text.replace("{}", chr(0x4E00 + len(parts))))
            size -= len(parts[-1])
        return "".join(parts)

    return make


def _alternatives(size: int) -> str:
    return "|".join(f"x{number}" for number in range(size // 6))


def _inside(opening: str, make: Callable[[int], str], closing: str) -> Callable[[int], str]:
    return lambda size: f"{opening}{make(size)}{closing}"


# Functions that return a pattern of about the given number of characters.
GROWING: dict[str, Callable[[int], str]] = {
    "alternatives": _alternatives,
    "the same alternative": _repeated(r"\s+|"),
    "prefixes": lambda size: "|".join("a" * length for length in range(int(size**0.5))) + "|b",
    "a group of alternatives": _inside(r"(?:", _alternatives, ")+a"),
    "nested groups of alternatives": _inside(
        "(" * MAX_DEPTH, _alternatives, "|b+" + ")" * MAX_DEPTH
    ),
    "groups in groups": _inside("(?:a|" * 30, _repeated("{}"), r"+|\w" + ")" * 30),
    "ranges": _inside("[", _repeated("{}-{}"), "]"),
    "parts of a class": _inside("[", _repeated("{}"), "]+"),
    "classes in a class": _inside("[", _repeated("[{}]"), "]"),
    "other classes in a class": _inside("[", _repeated("[^{}]"), "]"),
    "properties of a class": _inside("[", _repeated(r"\p{Lu}\P{Sm}"), "]"),
    "intersections": _inside(r"[\S", _repeated("&&[^{}]"), "]"),
    "classes": _repeated("[{}]+|"),
    "possessive options": _inside(r"\p{L}++", _repeated("[{}]?+"), "a"),
    "options": _inside(r"\p{L}++", _repeated("{}?"), "a"),
    "products of words": _repeated("[ab][cd][ef][gh][ij][kl][mn][op]{}|"),
    "characters": _repeated("{}"),
    "letters of any case": _inside("(?i:", lambda size: "ax" * (size // 2), ")"),
    "quantifiers": _repeated("{}{1000}"),
    "opened groups": lambda size: "(" * size,
    "opened classes": lambda size: "[" * size,
    "closed groups": lambda size: ")|" * (size // 2),
    "braces": lambda size: "a" + "{1" * (size // 2),
    "escapes": lambda size: "\\" * size,
    "zeros": lambda size: "\\x{" + "0" * size + "41}",
    "digits": lambda size: "a{" + "9" * size + "}",
    "changes of a known pattern": _inside(LLAMA3.pattern + "|", _repeated("'{}|"), "x"),
}  # fmt: skip


def _read(pattern: str, engine: Engine) -> None:
    """Check that `pattern` compiles, or is refused by a short error."""
    try:
        pretok.from_pattern(pattern, engine)
    except UnknownPatternError:
        _refused(pattern, engine)


def _refused(pattern: str, engine: Engine = "hf") -> UnknownPatternError:
    """Check that from_pattern refuses `pattern` with a short, printable error; return the error."""
    with pytest.raises(UnknownPatternError) as raised:
        pretok.from_pattern(pattern, engine)
    message = str(raised.value)
    assert len(message) <= MAX_MESSAGE_LENGTH
    assert message.replace("\n", "").isprintable()
    return raised.value


@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("engine", ENGINES)
def test_time_is_about_linear_in_the_pattern(name: str, engine: Engine) -> None:
    make = GROWING[name]

    def work(size: int) -> None:
        for cached in (
            compiler._compiled,
            compiler.matches_everywhere,
            differences._parts,
            lookup._is_read_alike,
        ):
            cached.cache_clear()
        _read(make(size), engine)

    work(100)  # parses the patterns of all presets once, so that the time below leaves it out
    size = MAX_PATTERN_LENGTH // TIMES // (1 if FULL else 2) - 40
    assert len(make(TIMES * size)) <= MAX_PATTERN_LENGTH
    assert growth(work, size) < TOO_MUCH


@pytest.mark.parametrize("size", [MAX_PATTERN_LENGTH + 1, 10_000_000])
@pytest.mark.parametrize("name", ["alternatives", "ranges", "opened groups", "characters"])
def test_longer_patterns_are_not_read(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = GROWING[name](min(size, 700_000))
    pattern += "a" * (size - len(pattern))
    monkeypatch.setattr(parser._Reader, "_alternatives", None)
    monkeypatch.setattr(differences, "difference_of", None)
    error = _refused(pattern)
    assert str(error).endswith(
        f": expected at most {MAX_PATTERN_LENGTH:,} characters, got {len(pattern):,}"
    )
    assert (error.pattern, error.nearest, error.difference) == (pattern, "", "")


def test_a_long_pattern_of_a_preset_is_known_by_its_text(own_registry: None) -> None:
    pattern = "|".join(f"x{number}" for number in range(MAX_PATTERN_LENGTH))
    mine = pretok.register(pretok.Preset("mine", GPT2.rules, pattern=pattern))
    assert pretok.from_pattern(pattern).preset is mine
    _refused(pattern + "y")
    _refused(pattern, "tiktoken")


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("a{" + "9" * 5000 + "}", ": repetition count of more than 9 digits at index 1"),
        ("a{1," + "9" * 5000 + "}", ": repetition count of more than 9 digits at index 1"),
        ("a{1000000000}", "count of more than 9 digits"),
        ("((a{1000}){1000}){1000}", "; no preset has a similar pattern"),
        ("\\x{" + "F" * 5000 + "}", "invalid code point at index 2"),
        ("\\x{110000}", "invalid code point at index 2"),
        ("\\x80", r"'\x80' at index 2, which may be a byte; write '\x{80}'"),
        ("(?i:[\\x{0}-\\x{10FFFF}])", "has a set of more than 32 characters"),
        ("\x00|\ud800|\\\ud800", r"unsupported escape '\\x{D800}' at"),
        ("\u202e\x1b[31m|(", "the class at index 2 is not closed"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("engine", ENGINES)
def test_hostile_patterns_are_refused(pattern: str, wanted: str, engine: Engine) -> None:
    assert wanted in str(_refused(pattern, engine))


def test_counts_of_nine_digits_are_read() -> None:
    assert parser.read("a{999999999}", "hf") is not None


def test_the_difference_shows_the_surroundings_of_a_long_alternative() -> None:
    hanzi = "".join(chr(0x4E00 + 2 * number) for number in range(1000))
    given = LLAMA3.pattern.replace("[^\\r\\n", f"[^{hanzi}\\r\\n") + "|(?<=a)b"
    lines = _refused(given).difference.splitlines()
    assert max(map(len, lines)) < MAX_WIDTH + 10
    at = lines.index("- [^\\r\\n\\p{L}\\p{N}]?\\p{L}+")
    assert lines[at + 1] == f"+ [^{hanzi[: MAX_WIDTH - 2]}..."
    assert lines[at + 2] == "    ^"
    one, other = (f"{'a?' * 200}{end}{'b' * 200}" for end in "xy")
    old, new, caret = difference_of(one, "hf", other, "hf").splitlines()
    assert old.startswith("- ...")
    assert old[len(caret) - 1] == "x"
    assert new[len(caret) - 1] == "y"


def test_the_difference_has_few_lines() -> None:
    known = "|".join(rf"\d{{{number}}}" for number in range(2, 300))
    lines = difference_of(known, "hf", known + "|b+" * 100, "hf").splitlines()
    assert lines[-1] == f"  ... and {398 - MAX_LINES + 1} more lines"
    assert len(lines) == MAX_LINES
    assert difference_of(known, "hf", known, "hf") == ""


def test_unprintable_characters_are_escaped() -> None:
    given = LLAMA3.pattern.replace("{1,3}", "\x00\ud800\u202e\u3000(?<=a)")
    assert (
        "+ \\p{N}\\x{0}\\x{D800}\\x{202E}\\x{3000}(?<=a)" in _refused(given).difference.splitlines()
    )


NAMES: list[Any] = [
    "x" * 10_000_000,
    10**5000,
    b"gpt2" * 1000,
    "\ud800",
    "\x00",
    [[]],
    ("a",) * 10**5,
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: type(name).__name__)
def test_unknown_names_give_short_errors(name: Any) -> None:
    known = ", ".join(map(repr, sorted([*pretok.registry._by_name])))
    for call in (pretok.get, pretok.from_gguf_pre):
        with pytest.raises(pretok.UnknownPresetError) as raised:
            call(name)
        assert len(str(raised.value)) <= len(known) + 2 * SHORT
    with pytest.raises(pretok.UnknownUnicodeVersionError) as other:
        pretok.get("gpt2", unicode=name)
    assert len(str(other.value)) <= SHORT
    with pytest.raises(ValueError, match="expected one of") as engine:
        pretok.from_pattern("a", engine=name)
    assert len(str(engine.value)) <= SHORT


def test_a_variant_must_be_a_str() -> None:
    with pytest.raises(TypeError, match="expected a variant as str, got int"):
        pretok.from_gguf_pre("gpt-2", variant=10**5000)  # type: ignore[arg-type]


def _deep(levels: int, value: dict[str, Any]) -> dict[str, Any]:
    for _ in range(levels):
        value = sequence(value)
    return value


def _deep_list(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def _endless() -> dict[str, Any]:
    value = sequence()
    value["pretokenizers"].append(value)
    return value


DIGITS = {"type": "Digits", "individual_digits": True}
STACKS: dict[str, Callable[[], dict[Any, Any]]] = {
    "100,000 blocks": lambda: sequence(*[DIGITS] * 100_000),
    "100,000 Sequences": lambda: sequence(*[sequence()] * 100_000),
    "a Sequence in 10,000": lambda: _deep(10_000, DIGITS),
    "blocks in Sequences": lambda: _deep(90, sequence(*[DIGITS] * 1000)),
    "a Sequence in itself": _endless,
    "a text of 10 MB": lambda: literal("x" * 10_000_000),
    "a type of 10 MB": lambda: {"type": "x" * 10_000_000},
    "a member of 10 MB": lambda: {"type": "Digits", "x" * 10_000_000: 1, "individual_digits": True},
    "a huge int": lambda: {"type": "FixedLength", "length": 10**5000},
    "a deep list": lambda: {"type": "FixedLength", "length": _deep_list(100_000)},
    "a long list": lambda: {"type": "Digits", "individual_digits": [1] * 1_000_000},
    "a behavior of 10 MB": lambda: {"type": "Punctuation", "behavior": "x" * 10_000_000},
    "a delimiter of 10 MB": lambda: {"type": "CharDelimiterSplit", "delimiter": "x" * 10_000_000},
    "a scheme of 10 MB": lambda: {"type": "Metaspace", "replacement": "_",
                                  "prepend_scheme": "x" * 10_000_000},
    "pretokenizers of 10 MB": lambda: {"type": "Sequence", "pretokenizers": "x" * 10_000_000},
    "other members": lambda: {"type": "Sequence", "pretokenizers": [], 5: _deep_list(100_000)},
    "Replace": lambda: {"type": "Replace", "pattern": {"String": "x" * 10_000_000}, "content": ""},
}  # fmt: skip


@pytest.mark.parametrize("name", STACKS)
def test_invalid_pre_tokenizers_give_short_errors(name: str) -> None:
    value = STACKS[name]()
    with pytest.raises(pretok.UnsupportedPreTokenizerError) as raised:
        pretok.from_huggingface(value)
    assert len(str(raised.value)) <= 10 * SHORT
    with pytest.raises(DefinitionError) as block:
        pretok.pre_tokenizers.from_dict(value)
    assert len(str(block.value)) <= 2 * SHORT


@pytest.mark.parametrize("pattern", ["x" * 10_000_000, "a{" + "9" * 5000 + "}", "(" * 1_000_000])
def test_a_split_at_a_hostile_pattern(pattern: str) -> None:
    with pytest.raises(pretok.UnsupportedPreTokenizerError, match="this pattern") as raised:
        pretok.from_huggingface(sequence(split(pattern), BYTES))
    assert raised.value.path == "pre_tokenizer.pretokenizers[0].pattern.Regex"
    assert len(str(raised.value)) <= SHORT


def test_the_maximum_number_of_blocks() -> None:
    stack = sequence(*[BYTES] * 200)
    assert pretok.pre_tokenizers.from_dict(stack).pre_tokenize_str("ab") == [("ab", (0, 2))]
    with pytest.raises(DefinitionError, match="expected at most 256 blocks"):
        pretok.pre_tokenizers.Sequence([pretok.pre_tokenizers.ByteLevel(False)] * 257)


def test_files_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretok.json_text, "MAX_BYTES", 100)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(split(GPT2.pattern)), encoding="utf-8")
    with pytest.raises(pretok.UnsupportedPreTokenizerError, match="expected 100 at most"):
        pretok.from_huggingface(path)
    with pytest.raises(TypeError, match="expected a path or a mapping, got int"):
        pretok.from_huggingface(5)  # type: ignore[arg-type]


def test_parts_of_a_tokenizer_json_are_few() -> None:
    for value in (sequence(*[DIGITS] * 300), sequence(*[sequence(*[DIGITS] * 20)] * 20)):
        with pytest.raises(bpe.VocabularyError, match="expected at most 256 parts"):
            list(Value(value, "pre_tokenizer").parts("pretokenizers"))
    found = list(Value(sequence(*[DIGITS] * 255), "").parts("pretokenizers"))
    assert len(found) == 255


@pytest.mark.parametrize(
    ("pre_tokenizer", "space"),
    [
        (sequence(split("a|" * 3000 + "(")), None),
        (sequence(split("a{" + "9" * 5000 + "}"), BYTES), False),
        (sequence(split(LLAMA3.pattern), {**BYTES, "add_prefix_space": True}), False),
        (sequence(split(LLAMA3.pattern), BYTES), False),
        ({**BYTES, "add_prefix_space": True}, True),
        (sequence({**BYTES, "add_prefix_space": True}), True),
        ({**BYTES, "add_prefix_space": 5}, False),
    ],
)  # fmt: skip
def test_no_pattern_is_looked_up_if_a_preset_is_passed(
    pre_tokenizer: dict[str, Any],
    space: bool | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**huggingface(), "pre_tokenizer": pre_tokenizer}), "utf-8")
    for name in ("find", "find_stage", "same_split", "_known"):
        monkeypatch.setattr(lookup, name, None)
    monkeypatch.setattr(parser._Reader, "whole", None)
    monkeypatch.setattr(pretok.formats.huggingface, "find_stage", None)
    tok = bpe.load(path, preset=pretok.get("gpt2"))
    assert tok.add_prefix_space == bool(space)


def test_identify(call: Call) -> None:
    for pattern in (
        "a{" + "9" * 5000 + "}",
        "\udcff|\x1b[31m(",
        "(?<=a)" + "|".join(map(str, range(1200))),
    ):
        status, out, err = call("identify", pattern)
        assert (status, err) == (1, "")
        assert " this pattern " in out.split(":")[0]
        assert out.replace("\n", "").isprintable()
        assert call("identify", pattern, "--format", "json")[0] == 1
    status, out, err = call("identify", "x" * 100_000)
    assert (status, out) == (2, "")
    assert len(err) <= SHORT


def test_sets_are_made_in_linear_time() -> None:
    def ranges(size: int) -> list[tuple[int, int]]:
        return [(0x100 + 4 * number, 0x101 + 4 * number) for number in range(size)]

    for work in (
        lambda size: code_points(*ranges(size)),
        lambda size: union(code_points(each) for each in ranges(size)),
        lambda size: intersection(~code_points(each) for each in ranges(size)),
        lambda size: repr(code_points(*ranges(size))),
    ):
        assert growth(work, 500) < TOO_MUCH


@pytest.mark.parametrize("value", [*NAMES, {"a": {"b": "c" * 10**6}}, _deep_list(10**5)], ids=type)
def test_long_values_are_shortened(value: object) -> None:
    assert len(shortened(value)) <= 5 * MAX_SHOWN


def test_short_values_are_not_shortened() -> None:
    for value in ("gpt2", b"a", 5, None, {"type": "No"}, [1, 2], "x" * MAX_SHOWN):
        assert shortened(value) == repr(value)
