"""Blocks: pieces, offsets and JSON objects equal those of Hugging Face's pre-tokenizers."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok import pre_tokenizers
from pretok.behaviors import BEHAVIORS
from pretok.errors import DefinitionError
from pretok.fuzz.text import CONFUSABLE, CONTRACTIONS, PLAIN, SEEDS, WHITE_SPACE, TextMaker
from pretok.machine.backend import BackendName
from pretok.pre_tokenizers import (
    BertPreTokenizer,
    Block,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Metaspace,
    Punctuation,
    Sequence,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
    from_dict,
)
from pretok.pre_tokenizers.spellings import PrependScheme
from support import TOO_MUCH, growth, max_examples, strings

tokenizers = pytest.importorskip("tokenizers")

FLAGS = (False, True)
SCHEMES: tuple[PrependScheme, ...] = get_args(PrependScheme)
ALL_BLOCKS: list[Block] = [
    *(ByteLevel(add_prefix_space=a, use_regex=b) for a, b in product(FLAGS, FLAGS)),
    *(Split(p, b, i) for p in ("a", "--", "1é") for b in BEHAVIORS for i in FLAGS),
    *(Digits(individual) for individual in FLAGS),
    *map(Punctuation, BEHAVIORS),
    Whitespace(),
    WhitespaceSplit(),
    BertPreTokenizer(),
    *(Metaspace("▁", scheme, split) for scheme, split in product(SCHEMES, FLAGS)),
    CharDelimiterSplit("-"),
    UnicodeScripts(),
    *map(FixedLength, (1, 2, 5)),
]


@cache
def engine(block: Block) -> Any:
    """Return the pre-tokenizer that Hugging Face reads from the block's JSON object."""
    return read_by_engine(block.to_dict())


def read_by_engine(given: dict[str, Any]) -> Any:
    model = {"type": "BPE", "vocab": {}, "merges": []}
    file = {"version": "1.0", "added_tokens": [], "model": model, "pre_tokenizer": given}
    return tokenizers.Tokenizer.from_str(json.dumps(file)).pre_tokenizer


def check(block: Block, text: str) -> None:
    assert block.pre_tokenize_str(text) == engine(block).pre_tokenize_str(text), (block, text)


@pytest.fixture(autouse=True)
def forced(backend: BackendName, monkeypatch: pytest.MonkeyPatch) -> None:
    """Split with each backend in turn."""
    monkeypatch.setenv("PRETOK_BACKEND", backend)


# A letter, a delimiter, white space, a number, a character of two bytes, the replacement of
# Metaspace, a kana.
ALPHABET = "a- 1é▁あ"


@pytest.mark.parametrize("block", ALL_BLOCKS, ids=repr)
def test_every_short_string(block: Block, backend: BackendName) -> None:
    for length in range(5 if backend == "native" else 4):
        for text in strings(ALPHABET, length, 400):
            check(block, text)


SYMBOLS = st.sampled_from(
    [*PLAIN, *WHITE_SPACE, *CONFUSABLE, *CONTRACTIONS, *SEEDS, "▁", "▁▁", "--", "ー", "アー", "Ġ"]
    + [char for text in TextMaker(0, "16.0", surrogates=False).batch(300) for char in text]
)
SCALARS = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(SYMBOLS | SYMBOLS | SCALARS, max_size=12).map("".join)

_behaviors = st.sampled_from(BEHAVIORS)
_chars = st.sampled_from("a- 1▁'.é\n") | SCALARS
BLOCKS = st.one_of(
    st.builds(ByteLevel, st.booleans(), st.booleans(), st.booleans()),
    st.builds(Split, st.text(_chars, min_size=1, max_size=2), _behaviors, st.booleans()),
    st.builds(Digits, st.booleans()),
    st.builds(Punctuation, _behaviors),
    st.sampled_from([Whitespace(), WhitespaceSplit(), BertPreTokenizer(), UnicodeScripts()]),
    st.builds(Metaspace, _chars, st.sampled_from(SCHEMES), st.booleans()),
    st.builds(CharDelimiterSplit, _chars),
    st.builds(FixedLength, st.integers(1, 6)),
)


@given(BLOCKS, TEXTS)
@settings(max_examples=max_examples(500))
def test_any_block_on_any_text(block: Block, text: str) -> None:
    check(block, text)


@given(st.lists(BLOCKS, max_size=4).map(Sequence), TEXTS)
@settings(max_examples=max_examples(500))
def test_any_sequence_on_any_text(block: Block, text: str) -> None:
    check(block, text)


@pytest.mark.parametrize("block", ALL_BLOCKS, ids=repr)
def test_hostile_texts(block: Block) -> None:
    for text in TextMaker(repr(block), "16.0", surrogates=False).batch(max_examples(300)):
        check(block, text)


STACKS = {
    "starcoder": Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]),
    "falcon": Sequence(
        [Punctuation("contiguous"), ByteLevel(add_prefix_space=False), Digits(),
         ByteLevel(add_prefix_space=False, use_regex=False)]
    ),
    "albert": Sequence([WhitespaceSplit(), Metaspace()]),
    "xlm-roberta scripts": Sequence([UnicodeScripts(), Metaspace(prepend_scheme="first")]),
}  # fmt: skip


@pytest.mark.parametrize("name", STACKS)
def test_real_stacks(name: str) -> None:
    for text in TextMaker(name, "16.0", surrogates=False).batch(max_examples(600)):
        check(STACKS[name], text)


@pytest.mark.parametrize(
    ("block", "text", "pieces"),
    [
        (ByteLevel(), "Hello world", [("ĠHello", (0, 5)), ("Ġworld", (5, 11))]),
        (ByteLevel(), "\nHello", [("Ġ", (0, 1)), ("Ċ", (0, 1)), ("Hello", (1, 6))]),
        (ByteLevel(), " Hello", [("ĠHello", (0, 6))]),
        (ByteLevel(use_regex=False), "a b\n", [("ĠaĠbĊ", (0, 4))]),
        (ByteLevel(add_prefix_space=False), "né", [("nÃ©", (0, 2))]),
        # ByteLevel puts its space before every piece that Digits returns, not only before the text.
        (
            Sequence([Digits(), ByteLevel()]),
            "a1 b",
            [("Ġa", (0, 1)), ("Ġ1", (1, 2)), ("Ġb", (2, 4))],
        ),
        # Later blocks get the characters that stand for bytes; some of these are numbers.
        (
            Sequence([ByteLevel(add_prefix_space=False), Digits()]),
            "²x",
            [("Â", (0, 1)), ("²", (0, 1)), ("x", (1, 2))],
        ),
        (Metaspace(prepend_scheme="first"), "a b", [("▁a", (0, 1)), ("▁b", (1, 3))]),
        (
            Sequence([WhitespaceSplit(), Metaspace(prepend_scheme="first")]),
            "a b",
            [("▁a", (0, 1)), ("b", (2, 3))],
        ),
        (Metaspace(), "▁a  b", [("▁a", (0, 2)), ("▁", (2, 3)), ("▁b", (3, 5))]),
        (UnicodeScripts(), " ア漢ー a", [("ア漢ー ", (1, 5)), ("a", (5, 6))]),
        (UnicodeScripts(), "  ", []),
        (Sequence([]), "ab", [("ab", (0, 2))]),
        (Sequence([]), "", [("", (0, 0))]),
        (Digits(), "", []),
    ],
    ids=repr,
)
def test_cases(block: Block, text: str, pieces: list[tuple[str, tuple[int, int]]]) -> None:
    assert block.pre_tokenize_str(text) == pieces
    check(block, text)


CUTTERS = [Punctuation("merged_with_next"), Digits(), WhitespaceSplit(), FixedLength(2)]
STAGES = [
    block
    for block in [*ALL_BLOCKS, STACKS["starcoder"], Sequence([Split("a", "removed"), *CUTTERS])]
    if not (isinstance(block, ByteLevel) and block.add_prefix_space)
]


@pytest.mark.parametrize("block", STAGES, ids=repr)
def test_stages_cut_in_the_same_places(block: Block) -> None:
    cut = None
    if block.stages():
        preset = pretok.Preset("mine", stages=(block,))
        assert preset.stages == block.stages()
        cut = pretok.PreTokenizer(preset)
    texts = TextMaker(repr(block), "16.0", surrogates=False).batch(max_examples(200))
    for text in filter(None, texts):
        wanted = [span for _, span in engine(block).pre_tokenize_str(text)]
        assert list(cut.spans(text) if cut else [(0, len(text))]) == wanted, text


@pytest.mark.parametrize("block", STAGES, ids=repr)
def test_a_stage_says_which_block_it_is(block: Block) -> None:
    for stage in block.stages():
        if stage.huggingface:
            assert from_dict(json.loads(stage.huggingface)).stages() == (stage,)


def test_a_block_that_inserts_a_space_has_no_stages() -> None:
    with pytest.raises(DefinitionError, match="changes the text, so it has no stages"):
        ByteLevel().stages()
    with pytest.raises(DefinitionError, match=r"preset 'mine': .*changes the text, so it"):
        pretok.Preset("mine", stages=(Digits(), ByteLevel()))


@pytest.mark.parametrize("first", [ByteLevel(False), Metaspace()], ids=repr)
def test_a_block_after_one_that_changes_text_has_no_stages(first: Block) -> None:
    assert Sequence([Digits(), first]).stages()[-1:] == first.stages()[-1:]
    for blocks in ([first, Digits()], [Sequence([Digits(), first]), Digits()]):
        with pytest.raises(DefinitionError, match=r"^Digits\(.* comes after .*changes the text"):
            Sequence(blocks).stages()
        with pytest.raises(DefinitionError, match=r"mine.*Digits\(.* comes after "):
            pretok.Preset("mine", stages=blocks)


def test_only_stages_and_blocks_make_up_presets() -> None:
    with pytest.raises(DefinitionError, match=r"stage 2: .*expected a Stage, or a block"):
        pretok.Preset("mine", stages=(Digits(), pretok.get("gpt2").preset))  # type: ignore[arg-type]


# JSON objects, values.

EVERY = [*ALL_BLOCKS, *STACKS.values(), Sequence([])]


@pytest.mark.parametrize("block", EVERY, ids=repr)
def test_the_json_object_is_that_of_hugging_face(block: Block) -> None:
    written = json.loads(engine(block).__getstate__())
    assert block.to_dict() == written
    assert list(block.to_dict()) == list(written)
    assert from_dict(block.to_dict()) == block


@pytest.mark.parametrize("block", EVERY, ids=repr)
def test_blocks_are_values(block: Block) -> None:
    again = pickle.loads(pickle.dumps(block))
    assert again == block
    assert hash(again) == hash(block)
    assert sum(other == block for other in EVERY) == 1
    assert eval(repr(block), vars(pre_tokenizers)) == block
    with pytest.raises(AttributeError):
        block.delimiter = "-"  # type: ignore[attr-defined]


def test_a_sequence_may_be_longer_than_a_preset() -> None:
    block = Sequence([Split(char, "isolated") for char in "abcdefghijklmnopqrstuvwxyz"])
    check(block, "the quick brown fox")
    with pytest.raises(DefinitionError, match="there are 26 stages; expected 16 at most"):
        block.stages()


def test_nested_sequences_are_flattened() -> None:
    inner = Sequence([Digits(), Whitespace()])
    assert Sequence([FixedLength(), inner]) == Sequence([FixedLength(), Digits(), Whitespace()])
    nested = {"type": "Sequence", "pretokenizers": [inner.to_dict()]}
    assert from_dict(nested) == inner


@pytest.mark.parametrize(
    ("given", "block"),
    [
        (
            {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
            ByteLevel(trim_offsets=False),
        ),
        ({"type": "Punctuation"}, Punctuation()),
        ({"type": "FixedLength"}, FixedLength()),
        ({"type": "Metaspace", "replacement": "_"}, Metaspace("_")),
        (
            {"type": "Metaspace", "replacement": "_", "str_rep": "_", "add_prefix_space": True},
            Metaspace("_"),
        ),
        (
            {"type": "Metaspace", "replacement": "_", "add_prefix_space": False,
             "prepend_scheme": "never"},
            Metaspace("_", "never"),
        ),
        (
            {"type": "Metaspace", "replacement": "_", "add_prefix_space": True,
             "prepend_scheme": "never"},
            Metaspace("_", "never"),
        ),
    ],
    ids=str,
)  # fmt: skip
def test_defaults_are_those_of_hugging_face(given: dict[str, Any], block: Block) -> None:
    assert json.loads(read_by_engine(given).__getstate__()) == block.to_dict()
    assert from_dict(given) == block


SPLIT = {"type": "Split", "pattern": {"String": "a"}, "behavior": "Removed", "invert": False}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "unknown pre_tokenizer None; expected an object whose 'type' is one of"),
        ({}, "unknown pre_tokenizer {}"),
        ({"type": "Delimiter"}, "unknown pre_tokenizer {'type': 'Delimiter'}"),
        ({"type": ["Digits"]}, "unknown pre_tokenizer"),
        (
            {"type": "Digits"},
            "Digits: missing field 'individual_digits' in {}; expected 'type', ",
        ),
        ({"type": "Digits", "individual_digits": 1}, "Digits: individual_digits=1; expected True"),
        (
            {"type": "Whitespace", "x": 1},
            "Whitespace: unknown field 'x' in {'x': 1}; expected",
        ),
        ({"type": "ByteLevel"}, "missing field 'add_prefix_space' in {}"),
        ({"type": "Punctuation", "behavior": "removed"}, ", got 'removed'"),
        ({"type": "Punctuation", "behavior": None}, "expected a behavior of ('Isolated'"),
        ({"type": "CharDelimiterSplit", "delimiter": "ab"}, "delimiter='ab'; expected one char"),
        ({"type": "Sequence", "pretokenizers": {}}, "expected a list as pretokenizers, got {}"),
        ({"type": "Sequence", "pretokenizers": [1]}, "unknown pre_tokenizer 1"),
        ({"type": "Metaspace"}, "Metaspace: missing field 'replacement' in {}"),
        (
            {"type": "Metaspace", "replacement": "_", "add_prefix_space": False},
            "with prepend_scheme='never', got False with 'always'",
        ),
        (SPLIT | {"pattern": "a"}, "Split: expected a pattern {'String': text}, got 'a'"),
        (SPLIT | {"pattern": {"Regex": "a"}}, "use pretok.from_huggingface or pretok.from"),
        (
            SPLIT | {"pattern": {"String": ""}},
            "Split: pattern=''; expected literal text of 1",
        ),
        (SPLIT | {"invert": 0}, "Split: invert=0; expected True or False"),
        (SPLIT | {"type": "Splits"}, "unknown pre_tokenizer"),
    ],
    ids=str,
)
def test_from_dict_refuses(given: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(message)):
        from_dict(given)


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (ByteLevel, [1], "ByteLevel: add_prefix_space=1; expected True or False"),
        (Split, ["a", "Removed"], "Split: behavior='Removed'; expected one of 'isolated'"),
        (Split, [b"a", "removed"], "Split: pattern=b'a'; expected literal text"),
        (Split, ["", "removed"], "Split: pattern=''; expected literal text of 1 to 255 characters"),
        (Split, ["a" * 256, "removed"], "(256 characters); expected literal text of 1 to 255 ch"),
        (Digits, [None], "Digits: individual_digits=None; expected True or False"),
        (Punctuation, ["x"], "Punctuation: behavior='x'; expected one of 'isolated'"),
        (Metaspace, ["ab"], "Metaspace: replacement='ab'; expected one character"),
        (Metaspace, ["_", "last"], "prepend_scheme='last'; expected one of 'always'"),
        (Metaspace, ["_", "first", "no"], "Metaspace: split='no'; expected True or False"),
        (CharDelimiterSplit, [""], "CharDelimiterSplit: delimiter=''; expected one character"),
        (FixedLength, [0], "FixedLength: length=0; expected 1 to 2**31-1"),
        (FixedLength, [True], "FixedLength: length=True; expected 1 to 2**31-1"),
        (Sequence, [[Digits]], "Sequence: expected a block as item 1, got <class"),
    ],
)
def test_blocks_refuse_other_arguments(
    kind: Callable[..., Block], arguments: list[Any], message: str
) -> None:
    with pytest.raises(DefinitionError, match=re.escape(message)):
        kind(*arguments)


@pytest.mark.parametrize("block", [Whitespace(), STACKS["falcon"], UnicodeScripts()], ids=repr)
def test_only_str_is_accepted(block: Block) -> None:
    with pytest.raises(TypeError, match="expected str, got bytes"):
        block.pre_tokenize_str(b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize("block", [*ALL_BLOCKS, *STACKS.values()], ids=repr)
def test_a_lone_surrogate_is_kept(block: Block) -> None:
    # Hugging Face refuses such a text. Here, a surrogate is split like a private use character.
    like = block.pre_tokenize_str("a\ue000 1\ue000")
    found = block.pre_tokenize_str("a\ud800 1\udc00")
    assert [span for _, span in found] == [span for _, span in like]


@pytest.mark.parametrize("block", STACKS.values(), ids=STACKS)
def test_pieces_take_time_linear_in_the_text(block: Block) -> None:
    text = "ab 12  ,.あ é\n" * 40
    assert growth(lambda times: block.pre_tokenize_str(text * times), 1) < TOO_MUCH
