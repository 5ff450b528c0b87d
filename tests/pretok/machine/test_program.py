"""Programs: the partition of code points into classes, and the 32-bit words that C++ reads."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok import Contraction, DefinitionError, Enclosed, Literal, Preset, Run
from pretok.charsets import code_points
from pretok.charsets.alphabet import END, Alphabet, partition
from pretok.charsets.sets import ANY, LETTER, LIMIT, CharSet
from pretok.machine.backend import BackendName
from pretok.machine.program import MAGIC, compile_rules, serialize_stages
from pretok.machine.stored import restore_stages
from pretok.presets import BUILT_IN
from pretok.rules import Rule
from pretok.stage import Stage
from pretok.unicode.atoms import ATOMS
from rule_specs import SPECS
from strategies import char_sets
from support import max_examples, run_python


def cells(alphabet: Alphabet) -> list[tuple[int, int, int]]:
    """Return (first code point of the segment, atom, class) for every segment and atom."""
    return [
        (first, atom, classes[atom])
        for first, classes in zip(alphabet.range_starts, alphabet.class_maps, strict=True)
        for atom in range(len(ATOMS))
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({0: 1}, f"the program: expected version {MAGIC:#x}, got 0x1"),
        ({1: 999}, "the program is malformed"),
        ({-8: 99}, "the program: stage 1: rule 2 is malformed"),
        ({-3: 0}, "the program: stage 1: rule 2: Run: at_least=0; expected 1 to 4096"),
        ({-7: 0}, "the program: stage 1: rule 2: Run: body=NOTHING; expected a non-empty CharSet"),
    ],
)
def test_a_damaged_program_names_the_rule(changes: dict[int, int], message: str) -> None:
    words = serialize_stages([Stage((Run(LETTER), Run(~LETTER)))])
    for index, word in changes.items():
        words[index] = word
    with pytest.raises(DefinitionError) as raised:
        restore_stages(words)
    assert str(raised.value) == message


@given(st.lists(char_sets, min_size=1, max_size=4))
@settings(max_examples=max_examples(150))
def test_the_partition_is_the_coarsest_in_which_each_set_is_a_union(sets: list[CharSet]) -> None:
    alphabet = partition(sets)
    signature_of: dict[int, tuple[bool, ...]] = {}
    for first, atom, class_ in cells(alphabet):
        signature = tuple(bool(chars.mask_at(first) >> atom & 1) for chars in sets)
        for chars, inside in zip(sets, signature, strict=True):
            assert (alphabet.mask(chars) >> class_ & 1) == inside
        # Each class has one signature. Each signature has one class, so the partition is coarsest.
        assert signature_of.setdefault(class_, signature) == signature
    assert len(set(signature_of.values())) == len(signature_of) == alphabet.size
    assert set(signature_of) == set(range(alphabet.size))
    assert alphabet.range_starts[0] == 0
    assert all(mask < 1 << alphabet.size for mask in alphabet.masks.values())


@given(st.lists(char_sets, min_size=1, max_size=4))
@settings(max_examples=max_examples(150))
def test_segments_begin_where_a_set_changes(sets: list[CharSet]) -> None:
    alphabet = partition(sets)
    assert list(alphabet.range_starts) == sorted(set(alphabet.range_starts))
    assert alphabet.range_starts[-1] < LIMIT
    for code_point in {first for chars in sets for first, _ in chars.segments}:
        assert code_point in alphabet.range_starts


def test_no_set_has_the_mask_0() -> None:
    assert partition([LETTER]).mask(None) == 0


def disjoint_sets(count: int) -> list[CharSet]:
    return [code_points((0x4E00 + 2 * i, 0x4E00 + 2 * i)) for i in range(count)]


def test_31_classes_are_the_most(backend: BackendName) -> None:
    # 30 sets and all other code points make the classes 0 to 30. END, the class of the end of the
    # text, is 31.
    sets = disjoint_sets(END - 1)
    rules = tuple(Run(chars) for chars in [*sets, ~disjoint_union(sets)])
    assert compile_rules(rules).alphabet.size == END
    tok = pretok.get(Preset("31-classes", rules=rules), backend=backend)
    text = "".join(chr(0x4E00 + i) * 2 for i in range(70)) + "ab"
    in_sets = [chr(0x4E00 + 2 * i) * 2 for i in range(END - 1)]
    between = [chr(0x4E01 + 2 * i) * 2 for i in range(END - 2)]
    found = tok.split(text)
    assert found[: 2 * END - 3] == [
        part for pair in zip(in_sets, [*between, ""], strict=True) for part in pair if part
    ]
    assert "".join(found) == text
    assert len(found) == 2 * END - 2
    assert [step.rule for step in tok.explain(text)] == [
        rules[min(i // 2, END - 1)] if i % 2 == 0 and i // 2 < END - 1 else rules[-1]
        for i in range(len(found))
    ]


def disjoint_union(sets: list[CharSet]) -> CharSet:
    union = ~ANY
    for chars in sets:
        union |= chars
    return union


@pytest.mark.parametrize("count", [END, END + 1, 100])
def test_more_than_31_classes_are_refused(count: int) -> None:
    message = f"the rules distinguish {count + 1} classes .*; expected 31 at most. Use fewer"
    with pytest.raises(DefinitionError, match=message):
        compile_rules([Run(chars) for chars in disjoint_sets(count)])
    with pytest.raises(DefinitionError, match=message):
        pretok.get(Preset("many", rules=tuple(Run(chars) for chars in disjoint_sets(count))))


@pytest.mark.parametrize("preset", BUILT_IN, ids=lambda preset: preset.name)
def test_built_in_presets_have_few_classes(preset: Preset) -> None:
    for stage in preset.stages:
        assert 2 <= compile_rules(stage.rules).alphabet.size <= 16


def test_words_begin_with_the_magic_number_and_fit_32_bits() -> None:
    for spec in SPECS:
        words = serialize_stages(spec.preset.stages)
        assert words[0] == MAGIC
        assert all(0 <= word < 1 << 32 for word in words)


def test_serialized_presets_split_like_the_presets(native: BackendName) -> None:
    from pretok._core import Machine

    for spec in SPECS:
        machine = Machine(serialize_stages(spec.preset.stages), "16.0")
        texts = ["".join(letters) for letters in product(spec.alphabet, repeat=3)]
        tok = pretok.get(spec.preset, backend="python")
        assert [machine.split(text) for text in texts] == [tok.split(text) for text in texts]


# The words of a rule: their number, the RuleKind, and the fields. A set is a mask of classes. RUN
# has the sets body, lead, tail; then at_most, at_least, tail_at_most, lead_required. GROUPS has the
# sets body, stop; then size, at_least. 0 means no set, or no limit.
RUN = (8, 1, 1, 0, 0, 0, 1, 0, 0)
GROUPS = (5, 6, 1, 0, 3, 1)


def one(*rules: int, first: int = 0, atoms: int = 0, size: int = 1) -> list[int]:
    """Return the words of a stage with one class; wrong arguments make them malformed.

    `rules` are the number of rules, and the words of each. `size` is the number of classes. The
    only segment begins at the code point `first`; `atoms` has the classes of its first four atoms.
    """
    words = [size, 1, first, atoms, 0, 0, 0, 0, *rules]
    return [0, 0, len(words), *words]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the words are not a program of this version"),
        ([MAGIC ^ 1], "the words are not a program"),
        ([MAGIC], "expected 1 to 16 stages"),
        ([MAGIC, 17], "expected 1 to 16 stages"),
        ([MAGIC, 1], "stage 1 has a malformed alphabet"),
        ([MAGIC, 1, 5, 0, 0], "stage 1 is malformed"),
        ([MAGIC, 1, 0, 0, 1], "stage 1 is malformed"),
        ([MAGIC, 2, *one(1, *RUN)], "stage 2 has a malformed alphabet"),
        ([MAGIC, 1, *one(1, *RUN), 0], "the stages have the wrong length"),
        ([MAGIC, 1, *one()], "stage 1 must have 1 to 255 rules"),
        ([MAGIC, 1, *one(1)], "rule 1 of stage 1 is cut short"),
        ([MAGIC, 1, *one(1, 1, 9)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, *RUN, 7)], "stage 1 has the wrong length"),
        ([MAGIC, 1, *one(1, 9, *RUN[1:], 7)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 8, 1, 1, 1, 0, 0, 1, 0, 0)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 8, 1, 1, 0, 0, 0, 0, 0, 0)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 8, 1, 1, 0, 0, 2, 3, 0, 0)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 5, 4, 1, 0, 1, 0)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 6, 4, 1, 0, 1, 256, 97)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 10, 5, 1, 0, 1, 0, 1, 1, 97, 1, 98)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 5, 6, 1, 0, 0, 1)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 5, 7, 1, 0, 0, 0)], "rule 1 of stage 1 is malformed"),
        # Masks with the class of the end of the text, and with a class that does not exist.
        ([MAGIC, 1, *one(1, 5, 6, 1 | 1 << END, 0, 3, 1)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(1, 8, 1, 1, 0, 2, 0, 1, 0, 0)], "rule 1 of stage 1 is malformed"),
        # White space up to the end of the text, with a limit.
        ([MAGIC, 1, *one(1, 6, 3, 1, 1, 0, 2, 1)], "rule 1 of stage 1 is malformed"),
        ([MAGIC, 1, *one(2, *RUN, *RUN[:-1])], "rule 2 of stage 1 is cut short"),
        ([MAGIC, 1, *one(2, *GROUPS, *GROUPS)], "stage 1 has two rules for groups"),
        ([MAGIC, 1, *one(1, *RUN, first=5)], "stage 1 has a malformed alphabet"),
        ([MAGIC, 1, *one(1, *RUN, atoms=1)], "stage 1 has a malformed alphabet"),
        ([MAGIC, 1, *one(1, *RUN, size=32)], "stage 1 has a malformed alphabet"),
    ],
)
def test_malformed_words_are_refused(native: BackendName, words: list[int], message: str) -> None:
    from pretok._core import Machine

    with pytest.raises(ValueError, match=message):
        Machine(words, "16.0")


def test_well_formed_words_are_accepted(native: BackendName) -> None:
    from pretok._core import Machine

    assert Machine([MAGIC, 1, *one(1, *RUN)], "16.0").split("a1 ") == ["a1 "]
    two = [MAGIC, 1, *one(1, 8, 1, 1, 0, 0, 2, 1, 0, 0)]
    assert Machine(two, "16.0").split("a1 ") == ["a1", " "]
    groups = [MAGIC, 2, *one(1, *RUN), *one(1, *GROUPS)]
    assert Machine(groups, "16.0").split("a1 b") == ["a", "1 b"]
    with pytest.raises(ValueError, match=r"no table of Unicode 14\.0"):
        Machine(two, "14.0")


LITERAL, ENCLOSED, CONTRACTION = 4, 5, 0


@pytest.mark.parametrize(
    ("rule", "kind", "place"),
    [
        (Literal("a1"), LITERAL, 2),
        (Enclosed("a", code_points("1"), "b"), ENCLOSED, 2),
        (Contraction("s"), CONTRACTION, 1),
    ],
)
def test_wrong_masks_of_literal_text_change_nothing(
    native: BackendName, rule: Rule, kind: int, place: int
) -> None:
    # In a former version, wrong masks made the fast path cut literal text, or write past its
    # buffers. `place` is the index of the changed mask in the words of the rule.
    from pretok._core import Machine

    rules = (rule, *(Run(chars) for chars in (LETTER, code_points("0-9"), code_points("'", " "))))
    words = serialize_stages([Stage(rules)])
    text = "a1b's a1 x" * 300
    wanted = Machine(words, "16.0").split(text)
    record = rule.serialize(compile_rules(rules).alphabet)
    at = next(i for i in range(len(words)) if words[i : i + len(record)] == record)
    assert words[at] == kind
    liar = [*words[: at + place], 0, *words[at + place + 1 :]]
    assert Machine(liar, "16.0").split(text) == wanted


# In a new process, so that a crash fails this test and does not end the test run.
CORRUPT = """
import sys
from pretok._core import Machine
from pretok.presets import BUILT_IN
from pretok.machine.program import serialize_stages

TEXTS = ["", "I'm 12 \\n\\n x\\u0301A!/\\r\\u3000'LL" * 3, "\\ud800'\\u017f" * 3, " " * 99]
DATA = [b"\\x80" * 70, b" \\xe4\\xb8" * 20, "A\\u4e2d' \\n".encode() * 20]
words = serialize_stages({preset.name: preset for preset in BUILT_IN}[sys.argv[1]].stages)
for size in range(len(words)):
    try:
        Machine(words[:size], "16.0")
    except ValueError:
        continue
    sys.exit(f"accepted {size} of {len(words)} words")
refused = accepted = 0
for at in range(len(words)):
    for bit in range(32):
        changed = [*words[:at], words[at] ^ 1 << bit, *words[at + 1 :]]
        try:
            machine = Machine(changed, "16.0")
        except ValueError:
            refused += 1
            continue
        accepted += 1
        removes = changed[2] == 1
        for text in TEXTS:
            assert removes or "".join(machine.split(text)) == text
            try:
                machine.advance(text, True, False)
            except ValueError:
                assert changed[2] != 0
        for data in DATA:
            assert removes or b"".join(machine.split_bytes(data)) == data
print(refused, accepted)
"""


@pytest.mark.parametrize("preset", ["o200k", "cl100k"])
def test_corrupt_words_never_crash(native: BackendName, preset: str) -> None:
    done = run_python(CORRUPT, preset)
    assert done.returncode == 0, f"status {done.returncode}: {done.stdout}{done.stderr}"
    refused, accepted = map(int, done.stdout.split())
    assert refused > 500
    assert accepted > 100
