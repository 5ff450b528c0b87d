"""from_huggingface: sequences of pre_tokenizers split like Hugging Face's tokenizers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pre_tokenizer_json import BYTES, literal, sequence, split
from pretok import DefinitionError, Preset, UnsupportedPreTokenizerError, from_huggingface
from pretok.formats.huggingface import preset_of, read, to_byte_level_json, to_json
from pretok.fuzz.oracle import of_huggingface
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE, pattern_for
from pretok.presets import BUILT_IN, CL100K, GPT2, LLAMA3, O200K, QWEN2
from support import max_examples, stable

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


PATTERNS = [preset.pattern for preset in (GPT2, LLAMA3, QWEN2, O200K)]
BLOCKS = st.one_of(
    st.builds(split, st.sampled_from(PATTERNS), st.sampled_from(BEHAVIORS), st.booleans()),
    st.builds(literal, st.sampled_from(["a", "ab"]), st.sampled_from(BEHAVIORS), st.booleans()),
    st.builds(lambda each: {"type": "Digits", "individual_digits": each}, st.booleans()),
    st.builds(lambda name: {"type": "Punctuation", "behavior": name}, st.sampled_from(BEHAVIORS)),
    st.sampled_from([{"type": "Whitespace"}, {"type": "WhitespaceSplit"}]),
    st.just({"type": "BertPreTokenizer"}),
    st.just({"type": "CharDelimiterSplit", "delimiter": "s"}),
    st.builds(lambda length: {"type": "FixedLength", "length": length}, st.integers(1, 5)),
)  # fmt: skip
LAST = st.sampled_from(
    [None, BYTES, {**BYTES, "use_regex": True},
     {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": True}]
)  # fmt: skip
CHARS = st.sampled_from(" \n\t\ra1'sS!b25,.-\u017f\u0301\u4e2d") | st.characters(
    exclude_categories=["Cs"]
)


@given(st.lists(BLOCKS, max_size=3), LAST, st.lists(st.text(CHARS, max_size=15).filter(stable)))
@settings(max_examples=max_examples(300))
def test_any_sequence_splits_like_hugging_face(
    blocks: list[dict[str, Any]], last: dict[str, Any] | None, texts: list[str]
) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    stack = sequence(*blocks, *([last] if last else []))
    if not stack["pretokenizers"]:
        return
    tokenizer = from_huggingface(stack)
    _, ask = of_huggingface(stack)
    for text in texts:
        assert list(tokenizer.spans(text)) == ask(text), text


@pytest.mark.parametrize("preset", [*BUILT_IN, WHOLE], ids=lambda preset: preset.name)
def test_every_preset_is_found_in_its_json(preset: Preset) -> None:
    for value in (to_byte_level_json(preset), to_json(preset)):
        found = from_huggingface(value).preset
        assert found.stages == preset.stages
        assert found in (*BUILT_IN, WHOLE)


@pytest.mark.parametrize(
    ("value", "preset"),
    [
        ({**BYTES, "use_regex": True}, GPT2),
        ({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}, GPT2),
        (BYTES, WHOLE),
        (split(QWEN2.pattern, invert=True), QWEN2),
        (split(QWEN2.pattern, "Removed", invert=True), QWEN2),
        (sequence(sequence(split(LLAMA3.pattern)), BYTES), LLAMA3),
        (split(LLAMA3.pattern.replace(r"\r\n", "\r\n")), LLAMA3),
        (split(pattern_for(CL100K, "hf") or ""), CL100K),
        (sequence(), WHOLE),
    ],
)
def test_a_known_preset_is_found(
    value: dict[str, Any], preset: Preset, backend: BackendName
) -> None:
    tokenizer = from_huggingface(value, unicode="17.0", backend=backend)
    assert tokenizer == pretok.get(preset, "17.0")
    assert tokenizer.backend == backend


def test_a_registered_stack_is_found(own_registry: None) -> None:
    stack = sequence({"type": "FixedLength", "length": 3}, {**BYTES, "use_regex": True})
    made = from_huggingface(stack).preset
    assert made.name == "FixedLength+ByteLevel"
    assert made.stages[1:] == GPT2.stages
    mine = pretok.register(Preset("mine", stages=made.stages))
    assert from_huggingface(stack).preset is mine
    assert preset_of(read(stack, "here")) is mine


def test_every_kind_of_source(tmp_path: Path) -> None:
    file = {"version": "1.0", "model": {}, "pre_tokenizer": split(QWEN2.pattern)}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file), encoding="utf-8")
    sources: list[Any] = [file, split(QWEN2.pattern), path, str(path), tmp_path]
    for source in sources:
        assert from_huggingface(source).preset == QWEN2
    assert from_huggingface({"pre_tokenizer": None}).preset == WHOLE


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "pre_tokenizer: missing; expected the object of a tokenizer.json"),
        ({"pre_tokenizer": 5}, r'pre_tokenizer: expected an object that has a "type"'),
        ({"type": 5}, r'pre_tokenizer: expected an object that has a "type"'),
        ({"type": "Sequence"}, r'pre_tokenizer: expected a Sequence with a list "pretokenizers"'),
        (sequence(sequence({"type": "WhitespaceSplit"}, {"type": "No"})),
         r"pre_tokenizer.pretokenizers\[0\].pretokenizers\[1\]: unknown pre_tokenizer {'type': 'N"),
        (sequence({"type": "Digits"}), r"pretokenizers\[0\]: Digits: missing field 'individual"),
        (sequence(split("(?:ab)+")), r"pretokenizers\[0\].pattern.Regex: no preset is equivalent"),
        (split("a|(?<=b)c"), r"pattern.Regex: .* \(\?<=b\) at index 2: no rule has this"),
        (split(LLAMA3.pattern, "Gone"), "pre_tokenizer: Split: expected a behavior .* got 'Gone'"),
        ({**split(LLAMA3.pattern), "more": 1}, "pre_tokenizer: Split: unknown field 'more' in "),
        ({**split(""), "pattern": {"Regex": 5}}, r'pre_tokenizer.pattern: expected {"Regex"'),
        ({**split(""), "pattern": {"Regex": "a", "String": "b"}}, "pre_tokenizer.pattern: expect"),
        ({**BYTES, "add_prefix_space": True},
         "pre_tokenizer.add_prefix_space: it puts a space before a text"),
        (sequence(split(LLAMA3.pattern), {**BYTES, "add_prefix_space": True}),
         r"pretokenizers\[1\].add_prefix_space: after another part it puts a space before every"),
        (sequence(BYTES, {"type": "Digits", "individual_digits": True}),
         r"pretokenizers\[0\]: this part changes the text, and "
         r"pre_tokenizer.pretokenizers\[1\] would split"),
        (sequence(*[{"type": "FixedLength", "length": 2}] * 17),
         "expected at most 16 stages, got 17"),
    ],
)  # fmt: skip
def test_errors_name_the_place(value: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedPreTokenizerError, match=message) as raised:
        from_huggingface(value)
    assert str(raised.value).startswith(raised.value.path)


def test_files_that_are_not_json_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for content in (b"", b"{", b"\xff", b"[" * 100_000, b"[]"):
        path.write_bytes(content)
        with pytest.raises(UnsupportedPreTokenizerError):
            from_huggingface(path)
    with pytest.raises(FileNotFoundError):
        from_huggingface(tmp_path / "none.json")


def test_deep_sequences() -> None:
    value: dict[str, Any] = split(QWEN2.pattern)
    for _ in range(90):
        value = sequence(value)
    assert from_huggingface(value).preset == QWEN2
    for _ in range(500):
        value = sequence(value)
    with pytest.raises(UnsupportedPreTokenizerError, match="expected at most 100 nested Sequences"):
        from_huggingface(value)


def test_presets_that_json_cannot_hold() -> None:
    own = Preset("own", (pretok.Run(pretok.charsets.LETTER),))
    with pytest.raises(DefinitionError, match="cannot hold preset 'own': no known pattern"):
        to_byte_level_json(own)
    with pytest.raises(
        DefinitionError, match="only the splits of 'gpt2' and 'whole' allow add_prefix_space"
    ):
        to_byte_level_json(QWEN2, add_prefix_space=True)
