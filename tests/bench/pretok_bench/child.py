"""Run a contender in a separate process, to measure its memory, or because it may hang or crash.

A contender is pretok or a peer (another package). `python -m pretok_bench.child` reads a job as
JSON from standard input, and writes the result as JSON to standard output. A job is an object with
these entries: "job" is "repeat" or "memory", the function to call; "peer" names the contender;
`files_of` returns the entries for the vocabulary; all other entries are arguments of the function.
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
from pretok.errors import PretokError
from pretok_bench.inputs import documents
from pretok_bench.peer import Calls, CannotError, Peer
from pretok_bench.peers import PEERS
from pretok_bench.peers.ours import Ours
from pretok_bench.subject import Subject
from pretok_bench.timing import OURS, seconds, steady

RUNS = 2
"""The number of timed runs of the job "repeat"."""

# Remove the working folder, an empty string, from sys.path, because modules in this folder must not
# hide installed packages.
START = (
    "import runpy, sys; sys.path[:] = filter(None, sys.path); "
    "runpy.run_module('pretok_bench.child', run_name='__main__')"
)


class ChildError(PretokError, RuntimeError):
    """The process failed or exceeded its time limit."""


def files_of(subject: Subject) -> dict[str, Any]:
    """Return the entries of a job that tell the new process how to load `subject`.

    Raises CannotError if neither a .tiktoken file nor a tokenizer.json can hold the vocabulary.
    """
    path = subject.rank_file or subject.json_file
    if path is None:
        raise CannotError("neither a .tiktoken file nor a tokenizer.json can hold this vocabulary")
    # A .tiktoken file does not say how to split text, so the new process needs the preset. A
    # tokenizer.json has the split.
    is_named = path == subject.rank_file and subject.preset is not None
    return {
        "vocabulary": str(path),
        "preset": subject.preset.name if is_named and subject.preset is not None else None,
        "name": subject.published,
        "backend": subject.tokenizer.backend,
    }


def run_child(job: dict[str, Any], limit: float | None = None) -> dict[str, Any]:
    """Run `job` in a new process, and return the result.

    Raises ChildError if the process fails or takes more than `limit` seconds (None: no limit).
    """
    # Let the new process import packages from the same folders as this process.
    folders = [
        *(str(Path(file).parents[1]) for file in (bpe.__file__, __file__)),
        *filter(None, sys.path),
    ]
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
    """Return the seconds of RUNS runs of encoding `text * times`, each with a new tokenizer.

    Before each run, an untimed call encodes one letter. If `cpu_time`, count the CPU time.
    """
    whole = text * times
    all_seconds = []
    with steady(pinned=True, cpu_time=cpu_time):
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
    """Return the memory that encoding takes beyond input and output, and the sizes of both.

    All sizes are in bytes. First create `megabytes` of documents by repeating the documents of the
    text in the file `path`. Then encode them on `threads` threads. The memory "beyond" is the
    growth of the peak memory of the process during encoding, minus the size of the output: the
    array of ids and the array of offsets. Raises CannotError if `calls.arrays` is None.
    """
    if calls.arrays is None:
        raise CannotError("it has no call that encodes a list of texts into arrays of ids")
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
        # Return freed memory to the system. Otherwise encoding could reuse this memory, and the
        # peak would not grow.
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return _peak()


def _peak() -> int:
    """Return the peak memory of this process in bytes."""
    try:
        return _status("VmHWM")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # macOS counts bytes, other systems count KiB.
        return peak * (1 if sys.platform == "darwin" else 1024)


def _status(key: str) -> int:
    """Return the entry `key` of /proc/self/status in bytes; the file has KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {key}")


def main() -> None:
    """Run the job that standard input describes."""
    job = json.load(sys.stdin)
    # Libraries may print to standard output. Send such lines to standard error, so that the
    # process that reads `output` gets only the result.
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
