"""Record the sources of the committed WebAssembly module, and find those that changed since.

The record lets a test find a stale module on a machine without Emscripten. build.py writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "cpp" / "wasm" / "sources.json"
MODULE = ROOT / "pretok" / "page" / "core" / "pretok.wasm"
COMMAND = "python cpp/wasm/build.py"

# A comment, or a token that may contain the characters of a comment. A number may contain "'".
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"(?:\\.|[^"\\\n])*"|\b\d[\w.']*|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)


def code_hash(source: str) -> str:
    """Return a hash of C++ code that comments and white space do not change."""
    code = _TOKEN.sub(lambda found: " " if found["comment"] else found[0], source)
    return sha256(" ".join(code.split()).encode()).hexdigest()[:16]


def write(sources: Iterable[Path], tools: dict[str, str]) -> None:
    """Write the record of MODULE. `tools` names the versions that built it."""
    record = {
        **tools,
        "module": sha256(MODULE.read_bytes()).hexdigest(),
        "sources": {
            path.relative_to(ROOT).as_posix(): code_hash(path.read_text(encoding="utf-8"))
            for path in sorted(sources)
        },
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def changed() -> list[str]:
    """Return the files that are not as in the record: the module and its sources."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    now = {
        name: code_hash(path.read_text(encoding="utf-8")) if path.exists() else ""
        for name, path in ((name, ROOT / name) for name in record["sources"])
    }
    names = [name for name, code in record["sources"].items() if now[name] != code]
    if sha256(MODULE.read_bytes()).hexdigest() != record["module"]:
        names.append(MODULE.relative_to(ROOT).as_posix())
    return names
