"""A contender in a process of its own: for its memory, or because it may hang or crash.

`python -m bpe.bench.child` reads a job from standard input, JSON, and writes what it found.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpe
from bpe.bench.inputs import documents
from bpe.bench.peer import Calls, CannotError, Peer
from bpe.bench.peers import PEERS
from bpe.bench.peers.ours import Ours
from bpe.bench.subject import Subject
from bpe.bench.timing import OURS, seconds, steady
from pretok.errors import PretokError

RUNS = 2

# What is in the working folder is not to stand in for what is installed.
START = (
    "import runpy, sys; sys.path[:] = filter(None, sys.path); "
    "runpy.run_module('bpe.bench.child', run_name='__main__')"
)


class ChildError(PretokError, RuntimeError):
    """The process failed, or took too long."""


def files_of(subject: Subject) -> dict[str, Any]:
    """Return what of a job lets the process make `subject` again; raises CannotError."""
    path = subject.rank_file or subject.json_file
    if path is None:
        raise CannotError("no file can hold this vocabulary")
    is_named = path == subject.rank_file and subject.preset is not None
    return {
        "vocabulary": str(path),
        "preset": subject.preset.name if is_named and subject.preset is not None else None,
        "name": subject.published,
        "backend": subject.tokenizer.backend,
    }


def run_child(job: dict[str, Any], limit: float | None = None) -> dict[str, Any]:
    """Return what a process makes of `job`; raises ChildError, at the latest after `limit` s."""
    # The packages that this process has, wherever it has them from.
    folders = [str(Path(bpe.__file__).parents[1]), *filter(None, sys.path)]
    path = os.pathsep.join(os.path.abspath(folder) for folder in folders)
    try:
        done = subprocess.run(
            [sys.executable, "-c", START],
            input=json.dumps(job).encode(),
            capture_output=True,
            timeout=limit,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired:
        raise ChildError(f"it took more than {limit:g} s") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise ChildError(f"it ended with status {done.returncode}: {said[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def repeat(peer: Peer, subject: Subject, text: str, times: int, cpu_time: bool) -> dict[str, Any]:
    """Return the seconds of some runs of encoding `times` times `text`, each with a new object."""
    whole = text * times
    found = []
    with steady(True, cpu_time):
        for _ in range(RUNS):
            calls = peer.calls(subject)
            if calls.array is not None:
                calls.array(b"a")
                found.append(seconds(calls.array, whole.encode()))
            elif calls.lists is not None:
                calls.lists(["a"], 1)
                found.append(seconds(calls.lists, [whole], 1))
    return {"seconds": found}


def memory(calls: Calls, path: Path, megabytes: float, threads: int) -> dict[str, Any]:
    """Return the bytes that encoding takes beyond its input and its output, and those two.

    The documents, those of the text over and over until there are `megabytes` of UTF-8, are made
    first, each an object of its own. From there on the growth of the peak of the process is taken,
    and the arrays that come out are taken off.
    """
    if calls.arrays is None:
        raise CannotError("it has no call for list to arrays")
    text = path.read_bytes().decode()
    parts = documents(text)
    del text
    size, left = 0, megabytes * 1e6
    given: list[str] = []
    lengths = [len(part.encode()) for part in parts]
    while left > 0:
        for part, length in zip(parts, lengths, strict=True):
            # A copy: one str may not be in memory once for all its documents.
            given.append(part[:-1] + part[-1:])
            size += length
            left -= length
            if left <= 0:
                break
    before = _start()
    found = calls.arrays(given, threads)
    grown = _peak() - before
    ids, offsets = calls.as_arrays(found) if calls.as_arrays is not None else found
    output = ids.nbytes + offsets.nbytes
    return {"beyond": grown - output, "output": output, "input": size, "documents": len(given)}


def _start() -> int:
    """Return the memory in use, and let the peak count from here where the system can."""
    gc.collect()
    with suppress(OSError, AttributeError):
        # What was freed and kept back would hide as much of what is taken from here on.
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return _peak()


def _peak() -> int:
    try:
        return _status("VmHWM")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak * (1 if sys.platform == "darwin" else 1024)


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {key}")


def main() -> None:
    """Do the job that standard input has."""
    job = json.load(sys.stdin)
    # What libraries print must not get among what is found.
    output = os.dup(1)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix="pretok-bench-") as folder:
        loaded = bpe.load(job["vocabulary"], preset=job["preset"], backend=job["backend"])
        subject = Subject("vocabulary", loaded, Path(folder), published=job["name"])
        peer = Ours() if job["peer"] == OURS else PEERS[job["peer"]]
        if job["job"] == "repeat":
            found = repeat(peer, subject, job["text"], job["times"], job["cpu_time"])
        else:
            found = memory(peer.calls(subject), Path(job["path"]), job["megabytes"], job["threads"])
    os.write(output, json.dumps(found).encode() + b"\n")


if __name__ == "__main__":
    main()
