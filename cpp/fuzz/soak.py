"""Run fuzz targets for a number of executions, and optionally keep a small corpus.

cmake -S cpp -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DPRETOK_FUZZ=ON -DPRETOK_COMPAT=ON
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

INTERRUPTED = 72  # the exit status of libFuzzer after SIGINT
CORPUS = Path(__file__).parent / "corpus"
MAX_CORPUS = 12_000  # the total number of bytes of the inputs of a target
# For speed, AddressSanitizer records no stacks of allocations, and fills only their first bytes.
# For a full report of a finding, run the target over its input without these options.
ASAN = "malloc_context_size=0:quarantine_size_mb=1:detect_leaks=0:max_malloc_fill_size=256"


def read_corpus(target: str) -> tuple[list[str], list[bytes]]:
    """Return (head, inputs): the lines that stay unchanged, and all inputs of the corpus.

    `head` ends with the input after the last comment.
    """
    path = CORPUS / f"{target}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    comments = [i for i, line in enumerate(lines) if line.startswith("#")]
    head = lines[: comments[-1] + 2] if comments else []
    return head, [bytes.fromhex(line) for line in lines if line and not line.startswith("#")]


def write_corpus(target: str, head: list[str], inputs: list[bytes]) -> None:
    """Write `head` and a selection of `inputs` of about MAX_CORPUS bytes.

    The selection has every n-th input in the order of their sizes.
    """
    inputs = sorted({data for data in inputs if data and data.hex() not in head}, key=by_size)
    step = max(1, -(-sum(map(len, inputs)) // MAX_CORPUS))
    CORPUS.mkdir(exist_ok=True)
    lines = [*head, *(data.hex() for data in inputs[step - 1 :: step])]
    (CORPUS / f"{target}.txt").write_text("".join(f"{line}\n" for line in lines))


def by_size(data: bytes) -> tuple[int, bytes]:
    """Return a key that sorts short inputs first."""
    return len(data), data


def soak(
    build: Path, target: str, executions: int, seconds: int, longest: int, work: Path, keep: bool
) -> bool:
    """Run a target; return whether it had no finding.

    The run stops after `executions` inputs, after `seconds` seconds, or when the target receives
    SIGINT. If `seconds` is 0, the time has no limit. If `keep`, rewrite the corpus.
    """
    program = next(build.rglob(f"fuzz_{target}"))
    found, merged = work / "found", work / "merged"
    found.mkdir()
    merged.mkdir()
    head, inputs = read_corpus(target)
    for number, data in enumerate(inputs):
        (found / f"{number}").write_bytes(data)
    environment = {"ASAN_OPTIONS": ASAN, **os.environ}
    begin = time.time()
    run = subprocess.run(
        [program, f"-runs={executions}", f"-max_total_time={seconds}", f"-max_len={longest}",
         "-len_control=0", "-entropic=0", "-reduce_inputs=0", "-reload=0", "-timeout=10",
         "-rss_limit_mb=2048", "-detect_leaks=0", f"-artifact_prefix={work}/", "-verbosity=0",
         "-print_final_stats=1", found],
        env=environment, stderr=subprocess.PIPE, text=True)  # fmt: skip
    done = re.search(r"stat::number_of_executed_units:\s*(\d+)", run.stderr)
    count = int(done[1]) if done else 0
    good = run.returncode in (0, INTERRUPTED)
    print(f"{target}: {count:,} executions in {time.time() - begin:,.0f} s, "
          f"{'no finding' if good else 'A FINDING'}", flush=True)  # fmt: skip
    if not good:
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
    parser.add_argument("targets", nargs="*", help="names of targets (default: all)")
    parser.add_argument("--executions", type=int, default=10_000_000)
    parser.add_argument(
        "--seconds", type=int, default=0, help="time limit of each target (default: none)"
    )
    parser.add_argument(
        "--longest", type=int, default=96,
        help="maximum bytes of an input (default: 96); one input byte makes several bytes of text",
    )  # fmt: skip
    parser.add_argument("--keep", action="store_true", help="rewrite the corpus")
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
