"""What is generated from Python for C++, and for people, is what the generators write."""

from __future__ import annotations

import pretok
from pretok.pretokenizer import BackendName
from pretok.program import stage_words
from support import REPOSITORY, repository_module


def test_the_committed_file_is_what_the_generator_writes() -> None:
    generator = repository_module("pretok", "generate.py")
    wanted = REPOSITORY / "cpp" / "core" / "generated" / "presets.inc"
    assert wanted == generator.TARGET
    assert wanted.read_text(encoding="utf-8") == generator.render(), (
        f"presets.inc is stale: run `{generator.COMMAND}`"
    )
    formats = REPOSITORY / "cpp" / "formats" / "generated"
    for path, name, text in (
        (generator.GGUF, "gguf_types.inc", generator.render_gguf()),
        (generator.SPLITS, "pre_tokenizers.inc", generator.render_splits()),
    ):
        assert path == formats / name
        assert path.read_text(encoding="utf-8") == text, (
            f"{name} is stale: run `{generator.COMMAND}`"
        )
    page = REPOSITORY / "pretok" / "presets" / "README.md"
    assert page == generator.PAGE
    assert page.read_text(encoding="utf-8") == generator.page(), (
        f"the page of presets is stale: run `{generator.COMMAND}`"
    )


def test_the_committed_tables_of_nfc_are_what_the_generator_writes() -> None:
    generator = repository_module("bpe", "generate.py")
    wanted = REPOSITORY / "cpp" / "core" / "generated" / "nfc.inc"
    assert wanted == generator.TARGET
    assert wanted.read_text(encoding="ascii") == generator.render(), (
        f"nfc.inc is stale: run `{generator.COMMAND}`"
    )


def test_the_committed_table_of_word_characters_is_what_the_generator_writes() -> None:
    generator = repository_module("bpe", "generate.py")
    wanted = REPOSITORY / "cpp" / "core" / "generated" / "words.inc"
    assert wanted == generator.WORDS
    assert wanted.read_text(encoding="ascii") == generator.render_words(), (
        f"words.inc is stale: run `{generator.COMMAND}`"
    )


def test_the_page_lists_every_preset_with_every_name() -> None:
    lines = repository_module("pretok", "generate.py").page().splitlines()
    for preset in pretok.presets():
        (row,) = (line for line in lines if line.startswith(f"| `{preset.name}` |"))
        assert all(f"`{alias}`" in row for alias in preset.aliases)
        assert ("unknown" in row) == (preset.exactness == "unknown")


def test_cpp_finds_each_preset_by_each_name(native: BackendName) -> None:
    from pretok import _core
    from pretok.presets import BUILT_IN

    for preset in BUILT_IN:
        wanted = (preset.unicode, stage_words(preset.stages))
        for name in (preset.name, *preset.aliases):
            assert _core.built_in_program(name) == wanted
    for name in ("", " ", "gpt", "gpt2 gpt-2", "GPT2", pretok.presets()[0].name + " "):
        assert _core.built_in_program(name) is None
