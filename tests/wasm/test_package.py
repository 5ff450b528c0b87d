"""The npm package is whole: another module can import it by its name."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pretok
from javascript import node
from paths import CPP, repository_module

NPM = CPP / "wasm" / "npm"
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
