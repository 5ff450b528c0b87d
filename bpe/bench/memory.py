"""How much memory encoding takes at its peak, beyond the documents and the arrays of their ids."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bpe.bench.child import ChildError, files_of, run_child
from bpe.bench.peer import ALL_THREADS, CannotError, Peer
from bpe.bench.subject import Subject
from bpe.bench.timing import OURS, Result, Settings, Watcher

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
    """Yield what encoding `megabytes` of documents, a list of str, to arrays takes.

    Each run is a process of its own, in turn. It loads the vocabulary, makes the documents, each a
    str of its own, gives back what was freed, and notes how much it has. Then it encodes. What the
    peak grew by, less the arrays that came out, is the figure: caches and tables that encoding
    fills, buffers, copies of the input, room that arrays have grown by. On Linux the peak is
    counted from the start of encoding (VmHWM, reset by /proc/self/clear_refs); elsewhere it is the
    growth of ru_maxrss, from which what was freed before may hide a little.
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
                        _able(peer, subject, peers)
                        watch(peer)
                        found = run_child({**job, "peer": peer})
                        runs.setdefault(peer, []).append(float(found["beyond"]))
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


def _able(name: str, subject: Subject, peers: Sequence[Peer]) -> None:
    for peer in peers:
        if peer.name == name and peer.calls(subject).arrays is None:
            raise CannotError("it has no call for list to arrays")
