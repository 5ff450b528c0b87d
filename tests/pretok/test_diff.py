"""Differences of two pre-tokenizers: `pretok.diff.Diff` and `pretok diff`."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from command_line import Call
from pretok import Preset, Run, Step
from pretok.charsets import LETTER
from pretok.diff import Diff, Region
from pretok.machine.backend import BackendName
from pretok.pre_tokenizers import Digits, WhitespaceSplit
from support import SOME_NAMES, max_examples

TEXT = "It's 12345 HTTPServer's\n  \n\n a"


def regions_of(first: list[Step], second: list[Step]) -> list[Region]:
    """Return the regions by their definition: between boundaries that both splits have."""
    shared = sorted({step.start for step in first} & {step.start for step in second})
    found = []
    for start, end in pairwise([*shared, first[-1].end if first else 0]):
        ours = [step for step in first if start <= step.start < end]
        theirs = [step for step in second if start <= step.start < end]
        if [step.text for step in ours] != [step.text for step in theirs]:
            found.append(Region(start, end, ours, theirs, len(ours), len(theirs)))
    return found


def cut(text: str, sizes: list[int]) -> list[str]:
    """Return `text` in chunks of `sizes` characters, and the rest."""
    chunks, start = [], 0
    for size in sizes:
        chunks.append(text[start : start + size])
        start += size
    return [*chunks, text[start:]]


@settings(max_examples=max_examples(300))
@given(
    text=st.text(st.sampled_from("aAb\u4e2d\u03011\u00bd '\u017fst\r\n\t./\u00a0\u1c89\U0001f680")),
    first=st.sampled_from(SOME_NAMES),
    second=st.sampled_from(SOME_NAMES),
    versions=st.tuples(*[st.sampled_from(["15.0", "16.0", None])] * 2),
    sizes=st.lists(st.integers(0, 4)),
)
def test_regions_equal_their_definition(
    backend: BackendName,
    text: str,
    first: str,
    second: str,
    versions: tuple[str | None, str | None],
    sizes: list[int],
) -> None:
    one = pretok.get(first, versions[0], backend)
    other = pretok.get(second, versions[1], backend)
    diff = Diff(one, other, cut(text, sizes))
    assert list(diff) == regions_of(one.explain(text), other.explain(text))
    assert (diff.first_count, diff.second_count) == (one.count(text), other.count(text))


def test_chunks_may_be_bytes() -> None:
    data = "na\u00efve 123".encode()
    diff = Diff(pretok.get("qwen2"), pretok.get("llama3"), [data[:3], data[3:]])
    assert [(region.start, region.end) for region in diff] == [(6, 9)]


def test_other_rules_for_the_same_pre_tokens_are_no_difference() -> None:
    other = pretok.PreTokenizer(Preset("other", rules=(Run(LETTER), Run(~LETTER))))
    diff = Diff(pretok.get("gpt2"), other, ["ab!?"])
    assert list(diff) == []
    assert (diff.first_count, diff.second_count, diff.region_count) == (2, 2, 0)


def test_a_long_region_is_kept_in_part() -> None:
    diff = Diff(pretok.get("gpt2"), pretok.get("qwen2"), ["1" * 50, "1" * 50, " a"], keep=7)
    (region,) = diff
    assert (region.start, region.end) == (0, 100)
    assert (region.first_count, region.second_count) == (1, 100)
    assert [step.text for step in region.first] == ["1" * 100]
    assert [(step.start, step.end) for step in region.second] == [(i, i + 1) for i in range(7)]
    assert (diff.first_count, diff.second_count, diff.region_count) == (2, 101, 1)


# --- the command `pretok diff`


def test_differences_are_shown_and_make_the_exit_status_1(call: Call, backend: BackendName) -> None:
    status, output, errors = call("diff", "cl100k", "qwen2", "-t", TEXT, "--backend", backend)
    assert (status, errors) == (1, "")
    assert output == (
        "--- cl100k (Unicode 16.0)\n"
        "+++ qwen2 (Unicode 16.0)\n"
        "@@ 5:8 @@\n"
        '- "123"                     \\p{N}{1,3}\n'
        '+ "1"                       \\p{N}\n'
        '+ "2"                       \\p{N}\n'
        '+ "3"                       \\p{N}\n'
        "@@ 8:10 @@\n"
        '- "45"                      \\p{N}{1,3}\n'
        '+ "4"                       \\p{N}\n'
        '+ "5"                       \\p{N}\n'
        "cl100k (Unicode 16.0): 9 pre-tokens\n"
        "qwen2 (Unicode 16.0): 12 pre-tokens\n"
        "2 differing regions\n"
    )


def test_no_difference_makes_the_exit_status_0(call: Call) -> None:
    assert call("diff", "llama3", "qwen2", "-t", "a") == (
        0,
        "llama3 (Unicode 16.0): 1 pre-token\n"
        "qwen2 (Unicode 16.0): 1 pre-token\n"
        "no differing regions\n",
        "",
    )


def test_the_limit_of_shown_regions(call: Call) -> None:
    text = "12 " * 25
    output = call("diff", "llama3", "qwen2", "-t", text)[1]
    assert output.count("@@\n") == 20
    assert output.endswith("25 differing regions, 5 of them not shown (--limit 20)\n")
    output = call("diff", "llama3", "qwen2", "-t", text, "--limit", "0")[1]
    assert output.splitlines()[0] == "llama3 (Unicode 16.0): 50 pre-tokens"
    assert output.endswith("25 differing regions, 25 of them not shown (--limit 0)\n")
    output = call("diff", "llama3", "qwen2", "-t", text, "--limit", "25")[1]
    assert output.count("@@\n") == 25
    assert output.endswith("25 differing regions\n")


def test_json_has_the_same_regions(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(TEXT, encoding="utf-8", newline="")
    status, output, errors = call("diff", "gpt2", "o200k", str(path), "-f", "json", "--limit", "2")
    assert (status, errors) == (1, "")
    one, other = pretok.get("gpt2"), pretok.get("o200k")
    expected = regions_of(one.explain(TEXT), other.explain(TEXT))

    def records(steps: list[Step]) -> list[dict[str, object]]:
        return [{**step._asdict(), "rule": str(step.rule)} for step in steps]

    assert len(expected) > 2
    assert json.loads(output) == {
        "regions": [
            {
                "start": region.start,
                "end": region.end,
                "a_count": region.first_count,
                "b_count": region.second_count,
                "a": records(region.first),
                "b": records(region.second),
            }
            for region in expected[:2]
        ],
        "a": {"preset": "gpt2", "unicode": "16.0", "pre_tokens": one.count(TEXT)},
        "b": {"preset": "o200k", "unicode": "16.0", "pre_tokens": other.count(TEXT)},
        "differing_regions": len(expected),
    }


def test_one_preset_in_two_unicode_versions(call: Call) -> None:
    given = ("diff", "qwen2", "qwen2", "-t", "a\u1c89")
    assert call(*given)[0] == 0
    assert call(*given, "--unicode", "15.0")[0] == 0
    status, output, _ = call(*given, "--unicode-a", "15.0")
    assert status == 1
    assert output.startswith("--- qwen2 (Unicode 15.0)\n+++ qwen2 (Unicode 16.0)\n@@ 0:2 @@\n")
    output = call(*given, "--unicode", "18.0", "--unicode-b", "15.1")[1]
    assert output.startswith("--- qwen2 (Unicode 18.0)\n+++ qwen2 (Unicode 15.1)\n@@ 0:2 @@\n")


def test_a_long_region_is_shown_in_part(call: Call) -> None:
    output = call("diff", "gpt2", "qwen2", "-t", "1" * 1234)[1].splitlines()
    assert sum(line.startswith('+ "') for line in output) == 1000
    assert "+ and 234 more" in output
    found = json.loads(call("diff", "gpt2", "qwen2", "-t", "1" * 1234, "-f", "json")[1])
    assert (found["regions"][0]["b_count"], len(found["regions"][0]["b"])) == (1234, 1000)


def test_colors_distinguish_the_two_presets(call: Call) -> None:
    given = ("diff", "llama3", "qwen2", "-t", "12")
    plain, coloured = call(*given)[1], call(*given, "--color")[1]
    assert "\x1b" not in plain
    sides = [line for line in coloured.splitlines() if '"' in line]
    assert [line[: line.index('"')] for line in sides] == ["\x1b[31m- ", *["\x1b[32m+ "] * 2]


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_is_printed_of_bad_input(call: Call, form: str) -> None:
    for stdin in (b"", b"12 \xff"):
        status, output, errors = call("diff", "llama3", "qwen2", "-f", form, stdin=stdin)
        assert (status, output) == (2, "")
        assert errors.startswith("pretok: error: standard input")


DROPPING = Preset("dropping", stages=(WhitespaceSplit(), Digits(True)))


def test_presets_that_drop_text_have_no_common_boundaries(call: Call, own_registry: None) -> None:
    with pytest.raises(ValueError, match="'dropping' drops parts of the text"):
        Diff(pretok.get("gpt2"), pretok.get(DROPPING), ["a b"])
    pretok.register(DROPPING)
    status, output, errors = call("diff", "dropping", "gpt2", "-t", "a b")
    assert (status, output) == (2, "")
    assert "'dropping' drops parts of the text" in errors


def test_rules_of_several_stages_are_named(call: Call, backend: BackendName) -> None:
    status, output, _ = call("diff", "starcoder", "gpt2", "-t", "a 12", "--backend", backend)
    assert status == 1
    lines = [line.split("  ") for line in output.splitlines() if line[:3] in ('- "', '+ "')]
    assert [(line[0], line[-1].strip()) for line in lines] == [
        ('- " "', "\\s+(?!\\S)"),
        ('- "1"', "?\\p{N}+"),  # a rule of the last stage, which sees only this piece
        ('- "2"', "?\\p{N}+"),
        ('+ " 12"', "?\\p{N}+"),
    ]


def test_explain_shows_the_spans_of_kept_text(
    call: Call, backend: BackendName, own_registry: None
) -> None:
    pretok.register(DROPPING)
    given = ("-p", "dropping", "--backend", backend, "-t", "ab  12 cd")
    status, output, _ = call("explain", *given)
    assert status == 0
    assert [line.split()[:3] for line in output.splitlines()] == [
        ["0", "2", '"ab"'], ["4", "5", '"1"'], ["5", "6", '"2"'], ["7", "9", '"cd"'],
    ]  # fmt: skip
    found = json.loads(call("explain", *given, "-f", "json")[1])
    assert [(step["start"], step["end"]) for step in found] == [(0, 2), (4, 5), (5, 6), (7, 9)]
    status, output, errors = call("split", *given, "-f", "offsets")
    assert (status, output) == (2, "")
    assert "so its offsets have gaps" in errors
