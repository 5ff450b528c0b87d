"""Iterate over the shards of `pretok tokenize` for training, with torch if it is installed.

    pretok tokenize data/ -o corpus -v cl100k_base --eos '<|endoftext|>' --pack 1025
    python torch_shards.py corpus

Each worker of a DataLoader, and each rank of a distributed job, gets its own rows. A row of 1025
tokens becomes 1024 inputs, and 1024 targets: the token after each input.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bpe

try:
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError:  # without torch, Rows is an ordinary iterable
    IterableDataset = object

    def get_worker_info() -> Any:
        """Return None: there are no workers without torch."""
        return None


class Rows(IterableDataset):  # type: ignore[misc]
    """The rows of a packed corpus with layout "bin", as (inputs, targets).

    A distributed job of `ranks` processes passes the number of the process as `rank`.
    """

    def __init__(
        self, folder: str | Path, split: str = "train", rank: int = 0, ranks: int = 1
    ) -> None:
        corpus = bpe.corpus.Corpus(folder)
        options = corpus.manifest.options
        if options["layout"] != "bin" or options["pack"] is None:
            raise ValueError(f"{folder}: expected a corpus made with --layout bin and --pack")
        self._row: int = options["pack"]
        self._dtype = np.dtype(options["dtype"])
        self._paths = [Path(folder, f"{shard.name}.bin") for shard in corpus.splits[split]]
        self._rank, self._ranks = rank, ranks

    def __iter__(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each row of this worker: all tokens but the last, and all tokens but the first."""
        worker = get_worker_info()
        workers, index = (worker.num_workers, worker.id) if worker else (1, 0)
        step, turn = self._ranks * workers, self._rank * workers + index
        for path in self._paths:
            rows = np.memmap(path, self._dtype, "r").reshape(-1, self._row)
            for row in rows[turn::step]:
                tokens = row.astype(np.int64)
                yield tokens[:-1], tokens[1:]
            # Count on in the next shard, so that numbers of rows differ by at most one.
            turn = (turn - len(rows)) % step


def main(folder: str) -> None:
    """Print the number of rows, and the number of tokens of an input."""
    rows = list(Rows(folder))
    print(len(rows), "rows of", len(rows[0][0]) if rows else 0, "tokens")


if __name__ == "__main__":
    main(sys.argv[1])
