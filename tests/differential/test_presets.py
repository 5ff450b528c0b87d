"""Compare every preset with the installed engines on random texts.

Hypothesis makes small texts to compare with `regex`. `fuzz` makes many texts for all engines.
"""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import pretok
from pretok import Preset, Rule
from pretok.fuzz import fuzz
from pretok.fuzz.engines import Ask, engine
from pretok.fuzz.text import (
    CONFUSABLE,
    CONTRACTIONS,
    LONE_SURROGATES,
    PLAIN,
    SEEDS,
    WHITE_SPACE,
    TextMaker,
    changed_runs,
)
from pretok.machine.backend import BackendName
from strategies import any_rules
from support import CORE_NAMES, FULL, SEED, SOME_NAMES, max_examples

SYMBOLS = st.sampled_from(
    [*PLAIN, *WHITE_SPACE, *CONFUSABLE, *CONTRACTIONS, *LONE_SURROGATES, *SEEDS]
    + [char for text in TextMaker(0, "16.0").batch(300) for char in text]
)
CHANGED = st.sampled_from([chr(c) for run, _ in changed_runs() for c in run])
TEXTS = st.lists(SYMBOLS | SYMBOLS | st.characters() | CHANGED, max_size=12).map("".join)
HYPOTHESIS = settings(
    max_examples=max_examples(250),
    suppress_health_check=[HealthCheck.too_slow],
)
NAMES = [preset.name for preset in pretok.presets()]
# The number of texts for each engine. `pretok fuzz` tries millions each night.
LIVE = {"regex": 5_000, "tiktoken": 2_000, "hf": 5_000}
LIVE_PYTHON = 1_500


BY_REGEX = [
    name for name in SOME_NAMES if not engine("regex").unsupported_reason(pretok.get(name).preset)
]
"""The presets of SOME_NAMES that `regex` can express. Tests below use engines for the rest."""


@cache
def oracle(preset: Preset) -> Ask:
    return engine("regex").comparisons(pretok.get(preset))[0].theirs


@cache
def unlike_regex(version: str) -> dict[int, None]:
    """Return a `str.translate` table that drops code points whose class is another in `regex`."""
    versions = (version, engine("regex").unicode(pretok.presets()[0]))
    return dict.fromkeys(
        point for (first, last), _ in changed_runs(versions) for point in range(first, last + 1)
    )


@pytest.mark.parametrize("name", BY_REGEX)
@HYPOTHESIS
@given(text=TEXTS)
@example(text="\u0295Ab")
def test_splits_without_changed_code_points_equal_those_of_regex(
    name: str, backend: BackendName, text: str
) -> None:
    tokenizer = pretok.get(name, backend=backend)
    text = text.translate(unlike_regex(tokenizer.unicode))
    assert tokenizer.split(text) == oracle(tokenizer.preset)([text])[0]


@pytest.mark.parametrize("name", BY_REGEX)
@HYPOTHESIS
@given(text=TEXTS)
@example(text="\u0295Ab")
def test_splits_in_the_unicode_version_of_regex_equal_those_of_regex(
    name: str, backend: BackendName, text: str
) -> None:
    version = engine("regex").unicode(pretok.get(name).preset)
    tokenizer = pretok.get(name, unicode=version, backend=backend)
    assert tokenizer.split(text) == oracle(tokenizer.preset)([text])[0]


def test_few_code_points_changed() -> None:
    """Without these checks, the table could drop all text from the first test above."""
    dropped = unlike_regex("16.0")
    assert 0x295 in dropped or engine("regex").unicode(pretok.presets()[0]) == "16.0"
    assert len(dropped) < 30_000
    assert not {ord(char) for text in (*PLAIN, *WHITE_SPACE) for char in text} & set(dropped)


# The presets that each engine cannot express. The tests must skip no other preset.
REFUSED = {
    "hf": {"r50k", "cl100k"},
    # They use pre-tokenizer blocks of Hugging Face, `$` or `\\b` of Oniguruma, or nested classes.
    "regex": {"kimi-k2", "tiny-aya", "deepseek-coder", "deepseek-llm", "afmoe", "starcoder",
              "falcon", "bloom", "viking", "superbpe"},
    # They have several stages, or gaps between matches, which tiktoken drops.
    "tiktoken": {preset.name for preset in pretok.presets() if len(preset.stages) > 1}
    | {"bloom", "whitespace", "superbpe-extend"},
}  # fmt: skip


@pytest.mark.parametrize("engine_name", LIVE)
@pytest.mark.parametrize("name", NAMES)
def test_a_preset_splits_as_the_engine_does(
    name: str, engine_name: str, backend: BackendName
) -> None:
    preset, live = pretok.get(name).preset, engine(engine_name)
    refusal = live.unsupported_reason(preset)
    assert bool(refusal) == (name in REFUSED[engine_name])
    if refusal:
        pytest.skip(f"{engine_name} cannot express {name}: {refusal}")
    cases = LIVE[engine_name] if backend == "native" else LIVE_PYTHON
    if name not in CORE_NAMES:
        cases //= 4
    if not FULL:
        cases //= 4
    result = fuzz(preset, live, seed=SEED or 1, cases=cases, backend=backend)
    assert result.mismatch is None, result.mismatch
    assert result.cases >= cases


def test_the_engines_of_the_presets_have_their_default_unicode_version() -> None:
    """If this fails, an installed engine has a new Unicode version: set it in its presets."""
    for preset in pretok.presets():
        assert engine(preset.engine).unicode(preset) == preset.unicode


@settings(HYPOTHESIS, max_examples=max_examples(80))
@given(rules=any_rules, seed=st.integers(0, 1 << 32), text=TEXTS)
def test_random_rules_give_equal_results_on_both_backends(
    rules: list[tuple[Rule, str]], seed: int, text: str, native: BackendName
) -> None:
    """Tries combinations of rules that no preset has, with every method that splits."""
    preset = Preset("drawn", rules=tuple(rule for rule, _ in rules))
    texts = [text, *TextMaker(seed, preset.unicode).batch(20)]
    for what, ours, theirs in engine("python").comparisons(pretok.get(preset, backend=native)):
        assert ours(texts) == theirs(texts), what
