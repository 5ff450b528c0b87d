"""Measure the page in Chromium: its size, its first pieces, a pasted megabyte, and its speed.

python tests/bench/page.py english.txt --json record.json

Needs Chromium and `pip install '.[browser]'`. The load of the machine counts in every figure.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
from browser import chromium
from pretok.page import server

PATIENCE = 3.0
"""Seconds from the start of a load until its times are read; reading earlier would delay them."""
WATCH = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("#pieces-a [role=option]")) return;
  observer.disconnect();
  window.times = [performance.now()];
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.times.push(performance.now()); // after the frame was drawn
    port2.postMessage(null);
  });
}).observe(document, { subtree: true, childList: true });
"""
SPLIT = """
async ([text, preset, calls, rounds]) => {
  const { load } = await import("./core/pretok.js");
  const pretok = await load(new URL("core/pretok.wasm", location.href));
  const split = pretok.get(preset);
  const bytes = new TextEncoder().encode(text);
  const seconds = Object.fromEntries(calls.map((call) => [call, []]));
  for (let round = 0; round < rounds; round++) {
    for (const call of calls) {
      const start = performance.now();
      split[call](bytes, "byte");
      seconds[call].push((performance.now() - start) / 1000);
    }
  }
  return { bytes: bytes.length, seconds };
}
"""
PASTE = """
async (text) => {
  const tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries())).observe({ type: "longtask" });
  const area = document.getElementById("text");
  area.select();
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const start = performance.now();
  area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
  const range = document.querySelector(".side .range");
  while (!range.textContent) await new Promise((resolve) => setTimeout(resolve));
  const shown = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, 500));
  return [shown, Math.max(0, ...tasks.map((task) => task.duration))];
}
"""
SERVE = """
from pretok.page.server import PageServer
with PageServer() as server:
    print(server.address, flush=True)
    server.serve_forever()
"""
CALLS = ("count", "offsets", "splitWithRules")


@contextmanager
def served() -> Iterator[str]:
    """Serve the page in another process, as `pretok page` does; yield its address."""
    command = [sys.executable, "-P", "-c", SERVE]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield process.stdout.readline().strip()
    finally:
        process.terminate()


def first_pieces(browser: Any, address: str, loads: int) -> list[list[float]]:
    """Return for each load the milliseconds until pieces are in the document, and are drawn."""
    found = []
    for _ in range(loads):
        with browser.new_context() as context:
            page = context.new_page()
            page.add_init_script(WATCH)
            page.goto(address, wait_until="commit")
            time.sleep(PATIENCE)
            found.append(page.evaluate("() => window.times"))
    return found


def paste(browser: Any, address: str, text: str, times: int) -> list[list[float]]:
    """Return for each paste the milliseconds until pieces appear, and those of the longest task.

    The page does not respond while a task runs.
    """
    found = []
    for _ in range(times):
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(address)
            page.wait_for_selector("html[data-ready]")
            found.append(page.evaluate(PASTE, text))
    return found


def split(browser: Any, address: str, text: str, rounds: int) -> dict[str, Any]:
    """Return the seconds of each call that splits `text`, with the first preset of the page."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        answer: dict[str, Any] = page.evaluate(SPLIT, [text, "cl100k", CALLS, rounds])
        return answer


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path, help="an English text of a few megabytes")
    parser.add_argument("--loads", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    core = server.files()["core/pretok.wasm"].read_bytes()
    with chromium() as browser, served() as address:
        loads = first_pieces(browser, address, options.loads)
        text = options.text.read_text(encoding="utf-8")
        pastes = paste(browser, address, text[:1_000_000], options.loads)
        speed = split(browser, address, text, options.rounds)
        sizes = {"bytes": len(core), "gzip": len(gzip.compress(core, 9))}
        record = {
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "processor": processor(),
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "browser": f"Chromium {browser.version}",
            "module": sizes,
            "first pieces, ms": [[round(each, 1) for each in load] for load in loads],
            "pasted megabyte, ms": [[round(each, 1) for each in pasted] for pasted in pastes],
            "split": speed,
        }
    print(f"module: {sizes['bytes']:,} bytes, {sizes['gzip']:,} with gzip")
    rows = (
        ("first pieces in the document", [load[0] for load in loads]),
        ("first pieces drawn", [load[1] for load in loads]),
        ("pieces of a pasted megabyte", [pasted[0] for pasted in pastes]),
        ("longest task meanwhile", [pasted[1] for pasted in pastes]),
    )
    for name, times in rows:
        print(f"{name}: median {median(times):.0f} ms, best {min(times):.0f} ms")
    for call, seconds in speed["seconds"].items():
        rates = [speed["bytes"] / each / 1e6 for each in seconds]
        print(f"{call}: median {median(rates):.0f} MB/s, best {max(rates):.0f} MB/s")
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def processor() -> str:
    """Return the name of the processor."""
    try:
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        names = []
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
