"""Measure the peak memory of encoding, beyond the documents and the arrays of their ids."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pretok_bench.child import ChildError, files_of, run_child
from pretok_bench.peer import ALL_THREADS, CannotError, Peer
from pretok_bench.subject import Subject
from pretok_bench.timing import OURS, Result, Settings, Watcher

GROUP = "memory"


def bench_memory(
    name: str,
    text: str,
    subject: Subject,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
    megabytes: float,
) -> Iterator[Result]:
    """Yield the memory that encoding a list of documents to arrays takes.

    Each run of each contender has its own process. The process loads the vocabulary, creates
    `megabytes` of documents, returns freed memory to the system, and then encodes the documents.
    The result is the growth of the peak memory while encoding, minus the size of the arrays of ids.
    So the result counts caches, buffers, copies of the input and spare capacity of the arrays. On
    Linux the peak is VmHWM, which a write to /proc/self/clear_refs resets before encoding. On other
    systems the result is the growth of ru_maxrss, which is too low if encoding reuses freed memory.
    """
    with tempfile.TemporaryDirectory(prefix="pretok-bench-") as folder:
        path = Path(folder, "text")
        path.write_bytes(text.encode())
        for what, threads in (("one thread", 1), ("all cores", ALL_THREADS)):
            job = {
                "job": "memory",
                **files_of(subject),
                "path": str(path),
                "megabytes": megabytes,
                "threads": threads,
            }
            runs: dict[str, list[float]] = {}
            absent: dict[str, str] = {}
            for _ in range(settings.rounds):
                for peer in (OURS, *(peer.name for peer in peers)):
                    if peer in absent:
                        continue
                    try:
                        _check_encodes_to_arrays(peer, subject, peers)
                        watch(peer)
                        result = run_child({**job, "peer": peer})
                        runs.setdefault(peer, []).append(float(result["beyond"]))
                    except (CannotError, ChildError) as error:
                        if peer == OURS:
                            raise
                        absent[peer] = str(error)
            yield Result(
                GROUP,
                f"{megabytes:g} MB, {what}",
                name,
                subject.name,
                "peak",
                {peer: tuple(each) for peer, each in runs.items()},
                dict.fromkeys(runs, 1.0),
                absent,
            )


def _check_encodes_to_arrays(name: str, subject: Subject, peers: Sequence[Peer]) -> None:
    """Raise CannotError if the peer `name` has no call from a list of texts to arrays."""
    for peer in peers:
        if peer.name == name and peer.calls(subject).arrays is None:
            raise CannotError("it cannot encode a list of texts to arrays")
