"""What is printed and recorded of figures, and what they depend on."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

from bpe.bench.peers import versions
from bpe.bench.timing import OURS, Result, Settings, allowed_cores, core_count

HEADER = (
    f"{'text':13} {'vocabulary':12} {'what':28} {'pretok':>11}  "
    f"{'against':12} {'':>11} {'times as good':>22}"
)


def lines(result: Result) -> list[str]:
    """Return a line of the table for each peer, or one without any."""
    head = f"{result.text[:13]:13} {result.subject[:12]:12} {result.what[:28]:28} "
    head += f"{cost(result, OURS):>11}"
    found = []
    for peer in result.peers():
        ratios = result.ratios(peer)
        ratio = f"{result.ratio(peer):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        found.append(f"{head}  {peer[:12]:12} {cost(result, peer):>11} {ratio:>22}")
        head = " " * len(head)
    return found or [head]


def cost(result: Result, name: str) -> str:
    """Return the median of one contender in the unit that suits."""
    return UNITS[result.unit](result.median(name))


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _rate(of: str) -> Callable[[float], str]:
    def shown(cost: float) -> str:
        return f"{1e-6 / cost:.{0 if cost < 1e-7 else 1}f} {of}"

    return shown


UNITS: dict[str, Callable[[float], str]] = {
    "B": _rate("MB/s"),
    "code point": _rate("M/s"),
    "call": _time,
    "byte": lambda cost: f"{cost * 1e9:.2f} ns/B",
    "peak": lambda cost: f"{cost / 1e6:.1f} MB",
}
"""How the cost of a unit of work is shown; "peak" is bytes of memory."""


def remarks(results: Sequence[Result]) -> list[str]:
    """Return a line for each peer that did not take part in something, and for each note."""
    taking_part = {(result.group, name) for result in results for name in result.runs}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for result in results:
        for peer, why in result.absent.items():
            named = rows.setdefault((result.group, peer, why), [])
            if (result.group, peer) in taking_part and result.row not in named:
                named.append(result.row)
    found = [
        f"{peer} is not in {', '.join([group, *named])}: {why}"
        for (group, peer, why), named in rows.items()
    ]
    return found + [
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
        "pretok": version("pretok"),
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
    """Return all of a run for a JSON record; `texts` has the UTF-8 length of each by its name."""
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
