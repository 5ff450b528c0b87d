"""The TypeScript declarations of the npm package: a typed program compiles, and runs in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from javascript import node, tsc
from paths import TESTS, repository_module

OPTIONS = {
    "strict": True,
    "target": "es2022",
    "module": "nodenext",
    "moduleResolution": "nodenext",
    "lib": ["es2022", "dom"],
    "types": [],
}


def test_a_typed_program_compiles_and_runs(tmp_path: Path) -> None:
    compiler = tsc()
    repository_module("cpp", "wasm", "package.py").write(tmp_path / "node_modules" / "pretok")
    shutil.copy(TESTS / "wasm" / "use.ts", tmp_path / "use.mts")
    options = json.dumps({"compilerOptions": OPTIONS, "files": ["use.mts"]})
    (tmp_path / "tsconfig.json").write_text(options, encoding="utf-8")
    compiled = subprocess.run(
        [compiler, "-p", "."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert compiled.returncode == 0, compiled.stdout
    ran = subprocess.run(
        [node(), "use.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "versions": True,
        "rules": True,
        "words": ["I", "'m", " ", "25"],
        "views": [1, 2],
        "offsets": [0, 3, 4, 5],
        "starts": [0, 1, 2],
        "count": 3,
        "isLastRule": True,
        "ids": [256, 257],
        "ends": [1, 2, 2],
        "merges": [[97, 98, 256]],
        "own": "cl100k",
        "token": [97, 98],
        "facts": ["cl100k", 258, 256, True],
        "text": "ab<|end|>",
        "bytes": [97, 98],
        "counted": 2,
        "badUnit": "INVALID_ARGUMENT 0",
        "badText": "INVALID_ARGUMENT 0",
        "refused": "SPECIAL_TOKEN 2",
        "memory": True,
    }
