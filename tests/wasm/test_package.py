"""The npm package is whole: another module can import it by its name."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest

import pretok
from javascript import node
from paths import CPP, repository_module

NPM = CPP / "wasm" / "npm"
SOURCES = repository_module("cpp", "wasm", "sources.py")
MAX_COMPRESSED = 360_000
"""Maximum bytes of the module with gzip: half of what a page should load."""
USE = """
import { NO_RULE, PretokError, load } from "pretok";
import { readFileSync } from "node:fs";
const wasm = new URL(import.meta.resolve?.("pretok/pretok.wasm") ?? process.argv[2]);
const both = [await load(), await load(readFileSync(wasm)), await load(wasm.href)];
console.log(JSON.stringify([NO_RULE, PretokError.name, ...both.map((each) => each.version)]));
"""


def test_the_package_is_used_by_its_name(tmp_path: Path) -> None:
    target = tmp_path / "node_modules" / "pretok"
    repository_module("cpp", "wasm", "package.py").write(target)
    script = tmp_path / "use.mjs"
    script.write_text(USE)
    process = subprocess.run(
        [node(), script, (target / "pretok.wasm").as_uri()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == [-1, "PretokError", *[pretok.__version__] * 3]


def test_the_package_has_the_version_of_pretok() -> None:
    assert json.loads((NPM / "package.json").read_text())["version"] == pretok.__version__


def test_the_declarations_name_what_the_module_exports() -> None:
    declared = (NPM / "pretok.d.ts").read_text(encoding="utf-8")
    exported = re.findall(r"^export (?:class|function|const) (\w+)", declared, re.MULTILINE)
    assert sorted(exported) == ["NO_RULE", "PretokError", "load"]


def test_the_committed_module_is_built_from_the_current_sources() -> None:
    changed = SOURCES.changed()
    assert not changed, f"pretok.wasm is stale, run `{SOURCES.COMMAND}`; changed: {changed}"


def test_the_record_ignores_only_comments_and_white_space() -> None:
    code = """int f() { return 1'000; } // one's\nconst char *s = "/* // */"; char c = '"';"""
    same = f"// f\n/* a\nb */ {code}".replace("; ", ";  // it's\n")
    assert SOURCES.code_hash(code) == SOURCES.code_hash(same)
    for old, new in (("1'000", "1'001"), ("// */", "/// */"), ("'\"'", "'/'"), ("int", "long")):
        assert SOURCES.code_hash(code) != SOURCES.code_hash(code.replace(old, new))


def test_a_changed_source_and_a_changed_module_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, module = tmp_path / "a.cpp", tmp_path / "pretok.wasm"
    monkeypatch.setattr(SOURCES, "ROOT", tmp_path)
    monkeypatch.setattr(SOURCES, "RECORD", tmp_path / "sources.json")
    monkeypatch.setattr(SOURCES, "MODULE", module)
    source.write_text("int a;")
    module.write_bytes(b"1")
    SOURCES.write([source], {"emscripten": "3.1.6"})
    assert SOURCES.changed() == []
    source.write_text("long a;")
    assert SOURCES.changed() == ["a.cpp"]
    source.unlink()
    module.write_bytes(b"2")
    assert SOURCES.changed() == ["a.cpp", "pretok.wasm"]


def test_the_module_is_small() -> None:
    assert len(gzip.compress(SOURCES.MODULE.read_bytes(), 9)) < MAX_COMPRESSED
