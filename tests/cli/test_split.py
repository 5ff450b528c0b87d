"""The command line: what `pretok split`, `explain` and `presets` print, and their errors."""

from __future__ import annotations

import codecs
import json
import random
import sys
import types
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest

import pretok
from command_line import Call, unescape, unescaped
from pretok import Preset, Run, registry
from pretok.charsets import LETTER
from pretok.cli import input as cli_input
from pretok.cli.output import stage_text
from pretok.machine.backend import BackendName
from pretok.machine.machine import Unit
from support import PRESET_NAMES

HARD = (
    "\ufeffIt's  12345 \\n C:\\new\r\n\r\nna\u00efve\t\u4e2d\u6587 \U0001f469\u200d\U0001f680"
    "\u00a0\u2028\x1b[0m \u0378 \ue000\x7f\x85 \U000e0001 x\u0301\n "
)


@pytest.fixture(params=[1, 3, 64])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a few bytes at a time, so that blocks end within pre-tokens and UTF-8 sequences."""
    monkeypatch.setattr(cli_input, "BLOCK", request.param)


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a preset with gaps, which are texts that no rule matches; for one test."""
    preset = Preset("test-letters", rules=(Run(LETTER),))
    monkeypatch.setattr(registry, "_by_name", {**registry._by_name, preset.name: preset})
    monkeypatch.setattr(registry, "_pre_tokenizers", {})
    return preset.name


# --- split


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_split_prints_the_pre_tokens(call: Call, preset: str, backend: BackendName) -> None:
    status, output, errors = call(
        "split", "-p", preset, "--backend", backend, "-", stdin=HARD.encode()
    )
    assert (status, errors) == (0, "")
    assert all(char.isprintable() for char in output if char != "\n")
    expected = pretok.get(preset).split(HARD)
    assert [unescaped(line) for line in output.split("\n")] == [*expected, ""]


@pytest.mark.usefixtures("small_blocks")
def test_blocks_may_end_anywhere(call: Call, backend: BackendName) -> None:
    def output(*arguments: str) -> str:
        given = ("split", "-p", "o200k", "--backend", backend, *arguments)
        status, printed, errors = call(*given, stdin=HARD.encode())
        assert (status, errors) == (0, "")
        return printed

    tokenizer = pretok.get("o200k")
    expected = tokenizer.split(HARD)
    assert [unescaped(line) for line in output().split("\n")] == [*expected, ""]
    assert output("-f", "json") == json.dumps(expected) + "\n"
    for unit in ("char", "byte", "utf16"):
        bounds = pairwise(tokenizer.offsets(HARD, unit).tolist())
        wanted = "".join(f"{start}\t{end}\n" for start, end in bounds)
        assert output("-f", "offsets", "--unit", unit) == wanted
    assert output("-f", "offsets") == output("-f", "offsets", "--unit", "char")


def test_file_text_and_standard_input_are_the_same(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "a\u00e9.txt"
    path.write_bytes(HARD.encode())
    expected = call("split", "-p", "qwen2", stdin=HARD.encode())
    assert expected[0] == 0
    assert call("split", "-p", "qwen2", "-", stdin=HARD.encode()) == expected
    assert call("split", "-p", "qwen2", str(path)) == expected
    assert call("split", "-p", "qwen2", "--text", HARD) == expected


def test_line_breaks_and_the_byte_order_mark_are_text(call: Call) -> None:
    output = call("split", "-p", "gpt2", stdin=codecs.BOM_UTF8 + b"a\r\nb\rc\n")[1]
    assert output == "\\ufeff\na\n\\r\n\\n\nb\n\\r\nc\n\\n\n"


def test_split_in_another_unicode_version(call: Call) -> None:
    text = "a\u1c89"  # a letter since 16.0
    assert call("split", "-p", "qwen2", "-t", text)[1] == "a\u1c89\n"
    assert call("split", "-p", "qwen2", "-t", text, "--unicode", "15.1")[1] == "a\n\\u1c89\n"


def test_json_is_ascii_and_the_same_in_any_locale(call: Call) -> None:
    output = call("split", "-p", "qwen2", "-t", "na\u00efve \U0001f680", "-f", "json")[1]
    assert output == '["na\\u00efve", " \\ud83d\\ude80"]\n'


# --- bytes that are not text


def test_any_byte_can_be_split_and_read_back(call: Call, backend: BackendName) -> None:
    data = bytes(range(256)) + "\u0085\u00ff\udcff".encode("utf-8", "surrogatepass")
    given = ("split", "-p", "qwen2", "--binary", "--backend", backend)
    status, output, errors = call(*given, stdin=data)
    assert (status, errors) == (0, "")
    found: list[bytes] = []
    for line in output.split("\n")[:-1]:
        parts = unescape(line)
        found.append(b"".join(bytes([c]) if isinstance(c, int) else c.encode() for c in parts))
    assert found == pretok.get("qwen2").split_bytes(data)
    texts = json.loads(call(*given, "-f", "json", stdin=data)[1])
    assert [text.encode("utf-8", "surrogateescape") for text in texts] == found
    assert call("split", "-p", "qwen2", "--binary", stdin=b"\xff")[1] == "\\xff\n"
    assert call("split", "-p", "qwen2", stdin="\x9f".encode())[1] == "\\u009f\n"


@pytest.mark.parametrize("unit", ["char", "byte", "utf16"])
def test_offsets_of_bytes(call: Call, unit: Unit, backend: BackendName) -> None:
    data = b"a\xff\xfe b\x80\xc3" + "\u00e9\U0001f680 \u4e2d".encode() + b"\xf0\x9f"
    given = ("split", "-p", "qwen2", "--binary", "--backend", backend, "-f", "offsets")
    output = call(*given, "--unit", unit, stdin=data)[1]
    found = [tuple(map(int, line.split("\t"))) for line in output.splitlines()]
    assert found == list(pairwise(pretok.get("qwen2").offsets(data, unit).tolist()))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("data", "position", "what"),
    [
        (b"abcdefg\xffh", 7, "0xff is not UTF-8"),
        (b"abcd\0efg\xff", 4, "NUL is not text"),
        (b"abc\xffd\0", 3, "0xff is not UTF-8"),
        ("\u4e2d\u4e2d".encode()[:-1], 3, "0xe4 is not UTF-8"),
        (b"ab\xe4\xb8\0", 2, "0xe4 is not UTF-8"),
        (b"abcdefg\xed\xa0\x80", 7, "0xed is not UTF-8"),
        (codecs.BOM_UTF16_LE + "hello".encode("utf-16-le"), 0, "0xff is not UTF-8"),
    ],
)
def test_the_first_byte_that_is_not_text_is_named(
    call: Call, data: bytes, position: int, what: str
) -> None:
    status, _, errors = call("split", "-p", "qwen2", stdin=data)
    assert status == 2
    assert errors == (
        f"pretok: error: standard input, byte {position}: {what}; expected UTF-8 text: convert it "
        "to UTF-8, or pass --binary to allow any bytes\n"
    )


@pytest.mark.parametrize("form", ["text", "json", "offsets"])
def test_nothing_of_a_block_is_printed_before_it_is_checked(call: Call, form: str) -> None:
    status, output, _ = call("split", "-p", "qwen2", "-f", form, stdin=b"plain words " * 99 + b"\0")
    assert (status, output) == (2, "")


# --- explain


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("preset", ["gpt2", "o200k"])
def test_explain_shows_span_and_rule(call: Call, preset: str, backend: BackendName) -> None:
    given = ("explain", "-p", preset, "--backend", backend)
    status, output, errors = call(*given, "-f", "json", stdin=HARD.encode())
    assert (status, errors) == (0, "")
    steps = pretok.get(preset).explain(HARD)
    assert json.loads(output) == [
        {"start": step.start, "end": step.end, "text": step.text, "rule": str(step.rule)}
        for step in steps
    ]
    assert output.count("\n") == len(steps)
    lines = call(*given, stdin=HARD.encode())[1].split("\n")
    for line, step in zip(lines, [*steps, None], strict=True):
        if step is None:
            assert line == ""
            continue
        start, end, rest = line.split(maxsplit=2)
        assert (int(start), int(end)) == (step.start, step.end)
        shown, rule = rest[: -len(str(step.rule))].rstrip(" "), rest[-len(str(step.rule)) :]
        assert unescaped(shown[1:-1]) == step.text
        assert (shown[0] + shown[-1], rule) == ('""', str(step.rule))


def test_explain_says_where_no_rule_matched(call: Call, letters: str) -> None:
    output = call("explain", "-p", letters, "-t", "ab 12")[1]
    assert output == (
        '      0       2  "ab"                      \\p{L}+\n'
        '      2       5  " 12"                     no rule\n'
    )
    found = json.loads(call("explain", "-p", letters, "-t", "ab 12", "-f", "json")[1])
    assert [step["rule"] for step in found] == ["\\p{L}+", None]


def test_explain_colors_each_rule(call: Call, letters: str) -> None:
    coloured = call("explain", "-p", "qwen2", "--color", "-t", "ab 1 cd")[1].splitlines()
    codes = [line[line.index("\x1b") : line.index('"')] for line in coloured]
    assert codes[0] == codes[3]
    assert len(set(codes)) == 3
    gap = call("explain", "-p", letters, "--color", "-t", "a-")[1].splitlines()[1]
    assert "\x1b[31m" in gap
    assert "\x1b" not in call("explain", "-p", "qwen2", "-t", "ab 1")[1]


def test_split_colors_neighboring_pre_tokens(call: Call) -> None:
    plain = call("split", "-p", "qwen2", "-t", "ab 1\n cd")[1].splitlines()
    colored = call("split", "-p", "qwen2", "--color", "-t", "ab 1\n cd")[1].splitlines()
    assert [click.unstyle(line) for line in colored] == plain
    codes = [line[: len("\x1b[30m\x1b[46m")] for line in colored]
    assert all(a != b for a, b in pairwise(codes))
    assert not any("\x1b" in line for line in plain)


@pytest.mark.parametrize("output_format", ["json", "offsets"])
def test_only_the_text_format_of_split_is_colored(call: Call, output_format: str) -> None:
    arguments = ("split", "-p", "qwen2", "--color", "-t", "a b", "-f", output_format)
    assert "\x1b" not in call(*arguments)[1]


# --- presets


def test_presets_are_listed(call: Call) -> None:
    lines = call("presets")[1].splitlines()
    assert lines[0].split() == ["NAME", "ENGINE", "UNICODE"]
    for preset, line in zip(pretok.presets(), lines[1:], strict=True):
        assert line.split() == [preset.name, preset.engine, preset.unicode]


def test_verbose_lists_aliases_and_sources(call: Call) -> None:
    status, output, errors = call("presets", "--verbose")
    assert (status, errors) == (0, "")
    lines = output.splitlines()
    assert lines[0].split() == ["NAME", "ENGINE", "UNICODE", "ALIASES", "SOURCE"]
    for preset, line in zip(pretok.presets(), lines[1:], strict=True):
        assert line.split()[:3] == [preset.name, preset.engine, preset.unicode]
        assert ", ".join(preset.aliases) in line
        assert line.endswith(preset.source)


def test_presets_as_json(call: Call) -> None:
    records = json.loads(call("presets", "-f", "json")[1])
    assert [record["name"] for record in records] == [preset.name for preset in pretok.presets()]
    for preset, record in zip(pretok.presets(), records, strict=True):
        assert record == {
            "name": preset.name,
            "aliases": list(preset.aliases),
            "engine": preset.engine,
            "unicode": preset.unicode,
            "exactness": preset.exactness,
            "source": preset.source,
            "pattern": preset.pattern,
            "stages": [
                {
                    "pattern": stage.pattern,
                    "huggingface": json.loads(stage.huggingface or "null"),
                    "behavior": stage.behavior,
                    "invert": stage.invert,
                    "rules": [{"rule": repr(rule), "pattern": str(rule)} for rule in stage.rules],
                }
                for stage in preset.stages
            ],
        }
        name = (*preset.aliases, preset.name)[0]
        assert json.loads(call("presets", name, "-f", "json")[1]) == record


@pytest.mark.parametrize("preset", pretok.presets(), ids=lambda preset: preset.name)
def test_one_preset_is_shown_in_full(call: Call, preset: Preset) -> None:
    lines = call("presets", (*preset.aliases, preset.name)[0])[1].splitlines()
    assert f"name     {preset.name}" in lines
    assert ("stage    1" in lines) == (len(preset.stages) > 1)
    for stage in preset.stages:
        assert f"pattern  {stage_text(stage)}".rstrip() in lines
        assert (stage.behavior in stage_text(stage)) == (stage.behavior != "isolated")
    for number, rule in enumerate(preset.rules, 1):
        at = lines.index(f"{number:>2}  {rule}")
        assert lines[at + 1] == f"    {rule!r}"


# --- progress


class Bar:
    """A replacement for tqdm that records its calls."""

    made: list[Bar]

    def __init__(self, **options: object) -> None:
        self.options, self.done, self.open = options, 0, True
        self.made.append(self)

    def update(self, count: int) -> None:
        self.done += count

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.open = False


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Bar]]:
    """Every progress bar that is made."""
    Bar.made = []
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    yield Bar.made
    assert not any(bar.open for bar in Bar.made)


@pytest.mark.parametrize(
    ("error_terminal", "output_terminal", "shown"),
    [(True, False, True), (True, True, False), (False, False, False), (False, True, False)],
)
def test_progress_is_shown_if_only_stderr_is_a_terminal(
    call: Call,
    bars: list[Bar],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    error_terminal: bool,
    output_terminal: bool,
    shown: bool,
) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"some words " * 50_000)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: error_terminal)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: output_terminal)
    assert call("split", "-p", "qwen2", str(path))[0] == 0
    assert len(bars) == shown
    for bar in bars:
        assert bar.done == bar.options["total"] == 550_000
        assert bar.options["delay"] == 1
    # A bar must not be left on the screen before an error.
    assert call("split", "-p", "qwen2", stdin=b"\xff")[0] == 2


def test_a_long_text_is_split_as_a_whole(call: Call, tmp_path: Path, backend: BackendName) -> None:
    words = ["the", " ", "\n", "  ", "n\u00e9", "12", "\u4e2d\u6587", "'ll", "-", "A" * 3_000]
    text = "".join(random.Random(5).choices(words, [99] * 9 + [1], k=100_000))
    path = tmp_path / "long.txt"
    path.write_bytes(text.encode())
    assert path.stat().st_size > 2 * cli_input.BLOCK
    output = call("split", "-p", "llama3", "--backend", backend, "-f", "json", str(path))[1]
    assert json.loads(output) == pretok.get("llama3").split(text)
