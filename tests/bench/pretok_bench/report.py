"""Format results for the terminal and for records, with the versions that they depend on."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

from pretok_bench.peers import versions
from pretok_bench.timing import OURS, Result, Settings, allowed_cores, core_count

HEADER = (
    f"{'text':13} {'vocabulary':12} {'what':28} {'pretok':>11}  "
    f"{'against':12} {'':>11} {'times as good':>22}"
)


def lines(result: Result) -> list[str]:
    """Return the lines of `result` in the table: one for each peer; one if no peer takes part."""
    head = f"{result.text[:13]:13} {result.subject[:12]:12} {result.what[:28]:28} "
    head += f"{cost(result, OURS):>11}"
    rows = []
    for peer in result.peers():
        ratios = result.ratios(peer)
        ratio = f"{result.ratio(peer):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        rows.append(f"{head}  {peer[:12]:12} {cost(result, peer):>11} {ratio:>22}")
        head = " " * len(head)
    return rows or [head]


def cost(result: Result, name: str) -> str:
    """Return the median cost of the contender `name`, formatted for the unit of `result`."""
    return UNITS[result.unit](result.median(name))


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _rate(unit: str) -> Callable[[float], str]:
    """Return a function that formats a cost as millions of items per second, with `unit` after it.

    The cost is the time for one item in seconds.
    """

    def shown(cost: float) -> str:
        return f"{1e-6 / cost:.{0 if cost < 1e-7 else 1}f} {unit}"

    return shown


UNITS: dict[str, Callable[[float], str]] = {
    "B": _rate("MB/s"),
    "code point": _rate("M/s"),
    "call": _time,
    "byte": lambda cost: f"{cost * 1e9:.2f} ns/B",
    "peak": lambda cost: f"{cost / 1e6:.1f} MB",
}
"""Functions that format the cost of one unit of work, by `Result.unit`.

The cost is in seconds, except for "peak": bytes of memory. "B" and "code point" are shown as rates,
"call" and "byte" as times.
"""


def remarks(results: Sequence[Result]) -> list[str]:
    """Return a line for each group, absent peer and reason, and a line for each note.

    If the peer has results in other rows of the same group, the line names the rows that lack the
    peer.
    """
    taking_part = {(result.group, name) for result in results for name in result.runs}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for result in results:
        for peer, why in result.absent.items():
            names = rows.setdefault((result.group, peer, why), [])
            if (result.group, peer) in taking_part and result.row not in names:
                names.append(result.row)
    absences = [
        f"{peer} is not in {', '.join([group, *names])}: {why}"
        for (group, peer, why), names in rows.items()
    ]
    return absences + [
        f"{peer} in {result.group}, {result.what}, {result.text}: {note}"
        for result in results
        for peer, note in result.notes.items()
    ]


def surroundings(backend: str) -> dict[str, Any]:
    """Return the date, the machine and the versions that a measurement depends on."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": platform.machine(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": core_count(),
        "pinned": bool(allowed_cores()),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "pretok": version("pretok-bpe"),
        "backend": backend,
        "peers": versions(),
    }


def record(
    about: dict[str, Any],
    settings: Settings,
    texts: dict[str, int],
    missing: dict[str, str],
    results: Sequence[Result],
    is_complete: bool,
) -> dict[str, Any]:
    """Return the JSON record of a run; `texts` maps names to sizes in bytes of UTF-8.

    `about` is the result of `surroundings`. `missing` maps peers that are not usable to the reason.
    """
    return {
        **about,
        "settings": asdict(settings),
        "texts": texts,
        "missing": missing,
        "complete": is_complete,
        "measured": [result.record() for result in results],
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
