"""The committed generated files are what the generators write now."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import pretok
from paths import CPP, ROOT, generator
from pretok.machine.backend import BackendName
from pretok.machine.program import serialize_stages

CORE = CPP / "core"
FILES = generator("files")
FORMATS = CPP / "formats" / "generated"


def _check_fresh(module: ModuleType, *wanted: Path) -> None:
    files: dict[Path, str] = module.files()
    assert list(files) == list(wanted)
    for path, text in files.items():
        committed = path.read_text(encoding="utf-8")
        assert committed == text, f"{path.name} is stale: run `{module.COMMAND}`"


def test_the_committed_files_are_what_the_generator_writes() -> None:
    _check_fresh(
        generator("presets"),
        CORE / "split" / "generated" / "presets.inc",
        FORMATS / "pre_tokenizers.inc",
        FORMATS / "json_stages.inc",
        ROOT / "pretok" / "presets" / "README.md",
    )


def test_the_committed_tables_of_bpe_are_what_the_generator_writes() -> None:
    _check_fresh(
        generator("bpe_tables"),
        CORE / "unicode" / "generated" / "nfc_kinds.inc",
        CORE / "unicode" / "generated" / "compositions.inc",
        CORE / "unicode" / "generated" / "word_characters.inc",
        FORMATS / "gguf_types.inc",
        CORE / "encode" / "generated" / "token_names.inc",
    )


def test_the_committed_tables_of_the_normalizers_are_what_the_generator_writes() -> None:
    _check_fresh(
        generator("normalizer_tables"), CORE / "normalize" / "generated" / "characters.inc"
    )


def test_the_committed_presets_of_the_page_are_what_the_generator_writes() -> None:
    _check_fresh(generator("javascript"), ROOT / "pretok" / "page" / "core" / "presets.js")


def test_files_are_written_or_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {tmp_path / "a.inc": "one\n", tmp_path / "b.md": "zwei: ü\n"}
    assert not FILES.parser("generate", "What it does.\n\nMore.").parse_args([]).check
    assert FILES.write_or_check("generate", files, check=True) == 1
    assert capsys.readouterr().err.count("is stale; run `generate`") == 2
    assert FILES.write_or_check("generate", files, check=False) == 0
    assert [path.read_text(encoding="utf-8") for path in files] == list(files.values())
    assert FILES.write_or_check("generate", files, check=True) == 0
    (tmp_path / "b.md").write_text("drei\n")
    assert FILES.write_or_check("generate", files, check=True) == 1
    assert capsys.readouterr().err.splitlines() == [f"{tmp_path / 'b.md'} is stale; run `generate`"]


def test_literals_of_cpp_have_the_bytes_of_the_text() -> None:
    assert FILES.literal("a b") == '"a b"'
    assert FILES.literal('"\\?1\nü') == r'"\042\134\0771\012\303\274"'


def test_the_page_lists_every_preset_with_its_aliases() -> None:
    lines = generator("presets").page().splitlines()
    for preset in pretok.presets():
        (row,) = (line for line in lines if line.startswith(f"| `{preset.name}` |"))
        assert all(f"`{alias}`" in row for alias in preset.aliases)
        assert ("unknown" in row) == (preset.exactness == "unknown")


def test_cpp_finds_each_preset_by_its_name_and_aliases(native: BackendName) -> None:
    from pretok import _core
    from pretok.presets import BUILT_IN

    for preset in BUILT_IN:
        wanted = (preset.unicode, serialize_stages(preset.stages))
        for name in (preset.name, *preset.aliases):
            assert _core.built_in_program(name) == wanted
    for name in ("", " ", "gpt", "gpt2 gpt-2", "GPT2", pretok.presets()[0].name + " "):
        assert _core.built_in_program(name) is None
