"""Run fuzz targets for a number of executions, and keep a small corpus of what they found.

cmake -S cpp -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DPRETOK_FUZZ=ON
cmake --build build/fuzz
python cpp/fuzz/soak.py build/fuzz --executions 10000000 split encode
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
KEPT = 12_000  # bytes of input for each target
# Stacks of allocations are for reading reports; to write one, run the input without this.
ASAN = "malloc_context_size=0:quarantine_size_mb=1:detect_leaks=0"


def kept_inputs(target: str) -> tuple[list[str], list[bytes]]:
    """Return what stands first in a corpus, up to its last comment's input, and all inputs."""
    path = CORPUS / f"{target}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    comments = [i for i, line in enumerate(lines) if line.startswith("#")]
    head = lines[: comments[-1] + 2] if comments else []
    return head, [bytes.fromhex(line) for line in lines if line and not line.startswith("#")]


def write_corpus(target: str, head: list[str], inputs: list[bytes]) -> None:
    """Keep `head`, and of `inputs`, evenly by size, about KEPT bytes."""
    inputs = sorted({data for data in inputs if data and data.hex() not in head}, key=by_size)
    step = max(1, -(-sum(map(len, inputs)) // KEPT))
    CORPUS.mkdir(exist_ok=True)
    lines = [*head, *(data.hex() for data in inputs[step - 1 :: step])]
    (CORPUS / f"{target}.txt").write_text("".join(f"{line}\n" for line in lines))


def by_size(data: bytes) -> tuple[int, bytes]:
    """Sort short inputs first."""
    return len(data), data


def soak(
    build: Path, target: str, executions: int, seconds: int, longest: int, work: Path, keep: bool
) -> bool:
    """Return whether there was no finding. Stops after `executions` or, unless 0, `seconds`."""
    program = next(build.rglob(f"fuzz_{target}"))
    found, merged = work / "found", work / "merged"
    found.mkdir()
    merged.mkdir()
    head, inputs = kept_inputs(target)
    for number, data in enumerate(inputs):
        (found / f"{number}").write_bytes(data)
    environment = {"ASAN_OPTIONS": ASAN, **os.environ}
    begin = time.time()
    run = subprocess.run(
        [program, f"-runs={executions}", f"-max_total_time={seconds}", f"-max_len={longest}",
         "-len_control=0", "-entropic=0", "-reduce_inputs=0", "-timeout=10",
         "-rss_limit_mb=2048", f"-artifact_prefix={work}/", "-verbosity=0",
         "-print_final_stats=1", found],
        env=environment, stderr=subprocess.PIPE, text=True)  # fmt: skip
    done = re.search(r"stat::number_of_executed_units:\s*(\d+)", run.stderr)
    count = int(done[1]) if done else 0
    print(f"{target}: {count:,} executions in {time.time() - begin:,.0f} s, "
          f"{'no finding' if run.returncode == 0 else 'A FINDING'}", flush=True)  # fmt: skip
    if run.returncode != 0:
        print(run.stderr[-8000:])
        for path in work.glob("*-*"):
            print(path.name, path.read_bytes().hex(), flush=True)
        return False
    if keep:
        subprocess.run([program, "-merge=1", "-use_counters=0", merged, found],
                       env=environment, capture_output=True, check=True)  # fmt: skip
        write_corpus(target, head, [path.read_bytes() for path in merged.iterdir()])
    return True


def main() -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("build", type=Path)
    parser.add_argument("targets", nargs="*", help="all, unless given")
    parser.add_argument("--executions", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=int, default=0, help="end each target after that time")
    parser.add_argument(
        "--longest", type=int, default=96,
        help="bytes of an input (default: 96); each stands for several of text",
    )  # fmt: skip
    parser.add_argument("--keep", action="store_true", help="write the corpus anew")
    arguments = parser.parse_args()
    targets = arguments.targets or sorted(
        path.name.removeprefix("fuzz_") for path in arguments.build.rglob("fuzz_*")
        if path.is_file() and os.access(path, os.X_OK))  # fmt: skip
    good = True
    for target in targets:
        with tempfile.TemporaryDirectory() as work:
            good &= soak(
                arguments.build, target, arguments.executions, arguments.seconds,
                arguments.longest, Path(work), arguments.keep,
            )  # fmt: skip
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
