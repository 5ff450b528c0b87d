"""What is generated from Python for C++, and for people, is what the generators write."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pretok
from pretok.pretokenizer import BackendName
from pretok.program import stage_words
from support import REPOSITORY, repository_module

CORE = REPOSITORY / "cpp" / "core" / "generated"


def _check_fresh(generator: ModuleType, path: Path, wanted: Path, text: str) -> None:
    assert path == wanted
    assert path.read_text(encoding="utf-8") == text, (
        f"{path.name} is stale: run `{generator.COMMAND}`"
    )


def test_the_committed_files_are_what_the_generator_writes() -> None:
    generator = repository_module("pretok", "generate.py")
    formats = REPOSITORY / "cpp" / "formats" / "generated"
    page = REPOSITORY / "pretok" / "presets" / "README.md"
    _check_fresh(generator, generator.TARGET, CORE / "presets.inc", generator.render())
    _check_fresh(generator, generator.GGUF, formats / "gguf_types.inc", generator.render_gguf())
    _check_fresh(
        generator, generator.SPLITS, formats / "pre_tokenizers.inc", generator.render_splits()
    )
    _check_fresh(generator, generator.PAGE, page, generator.page())


def test_the_committed_tables_of_nfc_and_words_are_what_the_generator_writes() -> None:
    generator = repository_module("bpe", "generate.py")
    _check_fresh(generator, generator.TARGET, CORE / "nfc.inc", generator.render())
    _check_fresh(generator, generator.WORDS, CORE / "words.inc", generator.render_words())


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
