"""Run a contender in a separate process, to measure its memory, or because it may hang or crash.

`python -m bpe.bench.child` reads a job as JSON from standard input, and writes its result as JSON.
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

# Remove the working folder from sys.path: its modules must not hide installed packages.
START = (
    "import runpy, sys; sys.path[:] = filter(None, sys.path); "
    "runpy.run_module('bpe.bench.child', run_name='__main__')"
)


class ChildError(PretokError, RuntimeError):
    """The process failed or exceeded its time limit."""


def files_of(subject: Subject) -> dict[str, Any]:
    """Return the entries of a job from which the process loads `subject` again.

    Raises CannotError if no file can hold its vocabulary.
    """
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
    """Return the result of `job` in a new process.

    Raises ChildError if the process fails or takes more than `limit` seconds.
    """
    # The process imports the same packages as this process.
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
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise ChildError(f"it ended with status {done.returncode}: {lines[-1]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def repeat(peer: Peer, subject: Subject, text: str, times: int, cpu_time: bool) -> dict[str, Any]:
    """Return the seconds of RUNS runs of encoding `text * times`, each with a new tokenizer."""
    whole = text * times
    all_seconds = []
    with steady(True, cpu_time):
        for _ in range(RUNS):
            calls = peer.calls(subject)
            if calls.array is not None:
                calls.array(b"a")
                all_seconds.append(seconds(calls.array, whole.encode()))
            elif calls.lists is not None:
                calls.lists(["a"], 1)
                all_seconds.append(seconds(calls.lists, [whole], 1))
    return {"seconds": all_seconds}


def memory(calls: Calls, path: Path, megabytes: float, threads: int) -> dict[str, Any]:
    """Return the bytes of memory that encoding takes beyond its input and output, and both sizes.

    First create `megabytes` of documents by repeating the documents of the text. Then encode them.
    The result is the growth of the peak memory of the process, minus the size of the arrays of ids.
    """
    if calls.arrays is None:
        raise CannotError("it has no call for list to arrays")
    text = path.read_bytes().decode()
    parts = documents(text)
    del text
    size, left = 0, megabytes * 1e6
    batch: list[str] = []
    lengths = [len(part.encode()) for part in parts]
    while left > 0:
        for part, length in zip(parts, lengths, strict=True):
            # Copy, so that each document has its own memory.
            batch.append(part[:-1] + part[-1:])
            size += length
            left -= length
            if left <= 0:
                break
    before = _reset_peak()
    encoded = calls.arrays(batch, threads)
    growth = _peak() - before
    ids, offsets = calls.as_arrays(encoded) if calls.as_arrays is not None else encoded
    output = ids.nbytes + offsets.nbytes
    return {"beyond": growth - output, "output": output, "input": size, "documents": len(batch)}


def _reset_peak() -> int:
    """Reset the peak memory of the process if the system supports it; return the memory in use."""
    gc.collect()
    with suppress(OSError, AttributeError):
        # Return freed memory to the system: encoding could reuse it, and the peak would not grow.
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
    """Run the job that standard input describes."""
    job = json.load(sys.stdin)
    # Redirect what libraries print to standard error, so that it does not mix with the result.
    output = os.dup(1)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix="pretok-bench-") as folder:
        loaded = bpe.load(job["vocabulary"], preset=job["preset"], backend=job["backend"])
        subject = Subject("vocabulary", loaded, Path(folder), published=job["name"])
        peer = Ours() if job["peer"] == OURS else PEERS[job["peer"]]
        if job["job"] == "repeat":
            result = repeat(peer, subject, job["text"], job["times"], job["cpu_time"])
        else:
            calls = peer.calls(subject)
            result = memory(calls, Path(job["path"]), job["megabytes"], job["threads"])
    os.write(output, json.dumps(result).encode() + b"\n")


if __name__ == "__main__":
    main()
