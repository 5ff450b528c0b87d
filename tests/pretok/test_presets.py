"""Presets and their registry: names, aliases, near matches, collisions, caching."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import pytest

import pretok
from pretok import (
    BackendError,
    DefinitionError,
    DuplicatePresetError,
    Groups,
    Preset,
    PretokError,
    Run,
    Stage,
    UnknownPresetError,
    UnknownUnicodeVersionError,
)
from pretok.charsets import LETTER, NUMBER
from pretok.machine.backend import BackendName
from pretok.presets import BUILT_IN
from pretok.unicode import DEFAULT_VERSION, VERSIONS
from support import CORE_NAMES

NAMES = tuple(preset.name for preset in BUILT_IN)
ALIASES = {
    "gpt2": ["gpt-2", "roberta", "whisper"],
    "r50k": ["r50k_base", "p50k", "p50k_base"],
    "cl100k": ["cl100k_base", "gpt-4"],
    "llama3": ["llama-bpe", "cl100k-hf"],
    "qwen2": ["qwen2.5", "qwen3", "stablelm2"],
    "o200k": ["o200k_base", "gpt-4o", "gpt-oss"],
}
RULES = (Run(NUMBER),)


pytestmark = pytest.mark.usefixtures("own_registry")


def test_the_built_in_presets_come_first() -> None:
    assert list(NAMES[: len(CORE_NAMES)]) == CORE_NAMES
    assert pretok.presets()[: len(NAMES)] == BUILT_IN
    assert isinstance(pretok.presets(), tuple)


@pytest.mark.parametrize("preset", BUILT_IN, ids=lambda preset: preset.name)
def test_a_preset_says_where_it_comes_from(preset: Preset) -> None:
    assert all(stage.pattern or stage.huggingface for stage in preset.stages)
    assert preset.source
    assert preset.unicode == "16.0" == DEFAULT_VERSION
    of_tiktoken = ("r50k", "cl100k", "o200k", "nanochat", "kimi-k2")
    assert preset.engine == ("tiktoken" if preset.name in of_tiktoken else "hf")
    assert ("not checked against" in preset.source or preset.name == "whitespace") == (
        preset.exactness == "unknown"
    )
    assert (preset.name == "falcon") == (preset.exactness == "approximate")


@pytest.mark.parametrize(("name", "alias"), [(n, a) for n, found in ALIASES.items() for a in found])
def test_aliases_are_names(name: str, alias: str) -> None:
    assert pretok.get(alias) is pretok.get(name)
    assert pretok.get(alias).preset.name == name


def test_no_name_stands_for_two_presets() -> None:
    names = [name for preset in BUILT_IN for name in (preset.name, *preset.aliases)]
    assert len(set(names)) == len(names)
    assert all(pretok.get(name).preset in BUILT_IN for name in names)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_of_every_preset(backend: BackendName, version: str) -> None:
    for name in NAMES:
        tok = pretok.get(name, unicode=version, backend=backend)
        assert tok.unicode == version
        assert tok.split("It's 12") == pretok.get(name, backend=backend).split("It's 12")


def test_the_same_arguments_give_the_same_object() -> None:
    assert pretok.get("gpt2") is pretok.get("gpt2")
    assert pretok.get("gpt2", unicode="16.0") is pretok.get("gpt2")
    assert pretok.get("gpt2", unicode="17.0") is not pretok.get("gpt2")
    assert pretok.get("gpt2", backend="python") is pretok.get("gpt2", backend="python")
    assert pretok.get("gpt2", backend="python").backend == "python"


def test_get_from_many_threads_gives_one_object() -> None:
    pretok.register(Preset("threaded", rules=RULES))
    found: list[object] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        found.append(pretok.get("threaded"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(tok) for tok in found}) == 1


@pytest.mark.parametrize(
    ("name", "near"),
    [("cl100", "cl100k"), ("qwen", None), ("Qwen2", "qwen2"), ("GPT2", "gpt2"),
     ("o200k-base", "o200k_base"), ("lama3", "llama3"), ("gpt 4", "gpt-4")],
)  # fmt: skip
def test_an_unknown_name_lists_near_matches(name: str, near: str | None) -> None:
    if near is None:
        assert pretok.get(name).preset.name == "qwen2"
        return
    with pytest.raises(UnknownPresetError) as caught:
        pretok.get(name)
    message = str(caught.value)
    assert message.startswith(f"unknown preset {name!r}; did you mean ")
    assert repr(near) in message
    assert "pass a pretok.Preset or pretok.from_pattern(pattern) to use your own" in message
    assert near in caught.value.near
    assert caught.value.name == name


@pytest.mark.parametrize("name", ["", "xyzzy", "\u4e2d", "gpt2 "])
def test_a_strange_name(name: str) -> None:
    with pytest.raises(UnknownPresetError) as caught:
        pretok.get(name)
    message = str(caught.value)
    assert message.startswith(f"unknown preset {name!r}; ")
    for known in caught.value.near:
        assert repr(known) in message
    assert "pretok.presets() lists them all" in message
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, PretokError)


@pytest.mark.parametrize("wrong", [None, 3, b"gpt2", ["gpt2"], {"a": 1}])
def test_a_name_that_is_not_a_str(wrong: Any) -> None:
    expected = f"unknown preset .*; expected a name as str, got {type(wrong).__name__}; "
    with pytest.raises(UnknownPresetError, match=expected):
        pretok.get(wrong)


@pytest.mark.parametrize("version", ["14.0", "16", "16.0.0", "latest", 16.0])
def test_an_unknown_version(version: Any) -> None:
    with pytest.raises(UnknownUnicodeVersionError) as caught:
        pretok.get("gpt2", unicode=version)
    assert str(caught.value) == (
        f"unknown Unicode version {version!r}; expected one of "
        "'15.0', '15.1', '16.0', '17.0', '18.0'"
    )
    with pytest.raises(UnknownUnicodeVersionError):
        Preset("mine", rules=RULES, unicode=version)


@pytest.mark.parametrize("wrong", ["rust", "Native", "C++", 1])
def test_an_unknown_backend(wrong: Any) -> None:
    with pytest.raises(BackendError) as caught:
        pretok.get("gpt2", backend=wrong)
    assert str(caught.value) == f"backend={wrong!r}; expected one of 'native', 'python'"


def test_errors_keep_type_message_and_fields_when_pickled() -> None:
    for call in (
        lambda: pretok.get("cl100"),
        lambda: pretok.get("gpt2", unicode="1.0"),
        lambda: pretok.get("gpt2", backend="x"),  # type: ignore[arg-type]
        lambda: Run(LETTER, lead=LETTER, at_most=2),
    ):
        with pytest.raises(PretokError) as caught:
            call()
        for copied in (pickle.loads(pickle.dumps(caught.value)), copy.deepcopy(caught.value)):
            assert type(copied) is type(caught.value)
            assert str(copied) == str(caught.value)
            assert vars(copied) == vars(caught.value)


def test_a_preset_of_the_user(backend: BackendName) -> None:
    mine = Preset("mine", rules=(Run(NUMBER, at_most=2),))
    assert pretok.get(mine, backend=backend).split("12345a") == ["12", "34", "5", "a"]
    with pytest.raises(UnknownPresetError):
        pretok.get("mine")
    assert pretok.register(mine) is mine
    assert pretok.presets()[-1] is mine
    assert pretok.get("mine", backend=backend).split("123") == ["12", "3"]


def test_registering_the_same_preset_again_changes_nothing() -> None:
    mine = pretok.register(Preset("mine", rules=RULES, aliases=("own",)))
    before = pretok.presets()
    made = pretok.get("mine")
    pretok.register(Preset("mine", rules=(Run(NUMBER),), aliases=("own",)))
    assert pretok.presets() == before
    assert pretok.get("own") is made
    assert pretok.get("own").preset == mine


@pytest.mark.parametrize(
    ("name", "aliases", "taken", "by"),
    [
        ("gpt2", (), "gpt2", "gpt2"),
        ("gpt-4", (), "gpt-4", "cl100k"),
        ("mine", ("o200k",), "o200k", "o200k"),
        ("mine", ("fine", "gpt-4o"), "gpt-4o", "o200k"),
    ],
)
def test_a_taken_name_is_refused(name: str, aliases: tuple[str, ...], taken: str, by: str) -> None:
    before = pretok.presets()
    message = f"preset name '{taken}' is taken by preset '{by}'; choose another name or alias"
    with pytest.raises(DuplicatePresetError, match=message) as raised:
        pretok.register(Preset(name, rules=RULES, aliases=aliases))
    assert isinstance(raised.value, ValueError)
    assert raised.value.name == taken
    assert str(pickle.loads(pickle.dumps(raised.value))) == message
    assert pretok.presets() == before
    for unused in {"mine", "fine"} & {name, *aliases}:
        with pytest.raises(UnknownPresetError):
            pretok.get(unused)


@pytest.mark.parametrize("wrong", ["gpt2", None, RULES, {"name": "x"}])
def test_only_presets_are_registered(wrong: Any) -> None:
    with pytest.raises(TypeError, match="expected a Preset, got "):
        pretok.register(wrong)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "preset name ''; expected text without white space"),
    ({"name": " a"}, "preset name ' a'"),
    ({"name": None}, "preset name None"),
    ({"aliases": ("ok", "bad\n")}, r"preset name 'bad\\n'"),
    ({"aliases": (1,)}, "preset name 1"),
    ({"rules": ()}, "preset 'mine' has no rules; expected either rules or stages"),
    (
        {"rules": (Run(NUMBER), "x")},
        "preset 'mine': rule 2 of a stage: 'x'; expected a rule",
    ),
    ({"rules": (NUMBER,)}, "preset 'mine': rule 1 of a stage: NUMBER; expected"),
    ({"stages": (Stage(RULES),)}, "preset 'mine' has both rules and stages; expected either"),
    ({"rules": (), "stages": (RULES,)}, r"preset 'mine': stage 1: \(Run.*; expected a Stage, or a"),
    ({"rules": (), "stages": (Stage(RULES),) * 17}, "there are 17 stages; expected 16 at most"),
    (
        {"rules": (), "stages": (Stage(RULES),), "pattern": "x"},
        "preset 'mine': pass pattern or stages, not both; each Stage has its own pattern",
    ),
    ({"rules": (Run(NUMBER),) * 256}, "a stage has 256 rules; expected 1 to 255"),
    ({"rules": (Groups(NUMBER), Groups(LETTER))}, "a stage may have at most one Groups rule"),
    ({"exactness": "sure"}, r"preset 'mine': exactness 'sure'; expected one of 'tested', 'app"),
    ({"engine": "pcre"}, r"preset 'mine': engine 'pcre'; expected one of 'hf', 'tiktoken'"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED)
def test_wrong_definitions_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        Preset(**{"name": "mine", "rules": RULES, **fields})


@pytest.mark.parametrize("preset", BUILT_IN, ids=lambda preset: preset.name)
def test_presets_are_values(preset: Preset) -> None:
    for copied in (pickle.loads(pickle.dumps(preset)), copy.copy(preset), copy.deepcopy(preset)):
        assert copied == preset
        assert hash(copied) == hash(preset)
        assert copied.rules == preset.rules
    with pytest.raises(AttributeError):
        preset.name = "other"  # type: ignore[misc]


def test_rules_and_aliases_may_be_lists() -> None:
    mine = Preset("mine", rules=[Run(NUMBER)], aliases=["own"])
    assert mine == Preset("mine", rules=RULES, aliases=("own",))
    assert isinstance(mine.rules, tuple)
    assert isinstance(mine.aliases, tuple)


def test_presets_that_differ_in_any_field_differ() -> None:
    mine = Preset("mine", rules=RULES)
    others = [
        Preset("other", rules=RULES),
        Preset("mine", rules=(Run(LETTER),)),
        Preset("mine", rules=RULES, engine="tiktoken"),
        Preset("mine", rules=RULES, unicode="15.0"),
        Preset("mine", rules=RULES, pattern="x"),
    ]
    assert all(mine != other for other in others)
    assert len({mine, *others}) == 6
