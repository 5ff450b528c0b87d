"""Make corpora and train vocabularies on a Ray cluster; needs `pip install ray`."""

from __future__ import annotations

from collections.abc import Callable, Generator

from bpe.corpus.documents import Position
from bpe.corpus.encode import Encoded
from bpe.corpus.options import Options
from bpe.distributed.cluster import connect, connected, imported
from bpe.distributed.counting import count_runs
from bpe.distributed.encoding import encode_files
from bpe.tokenizer import Tokenizer
from bpe.training.training import Training
from bpe.training.work_folder import WorkFolder

__all__ = ["RayEngine", "ray"]


def ray(address: str | None = None) -> RayEngine:
    """Return the argument `engine` of `bpe.corpus.tokenize` and `bpe.train` for a Ray cluster.

    `address` is that of a running cluster, as `ray.init` takes it: "auto" finds the cluster of this
    machine, and "local" starts a new one. By default, the cluster is that of an earlier call of
    `ray.init`; without such a call, Ray uses the cluster of RAY_ADDRESS, or starts one.

    The results and the errors are those of one process. All nodes must have this package, and must
    find the inputs under the same names, as on a file system that they share. Ray repeats the tasks
    of lost workers and nodes, which gives the same results.

    `bpe.corpus.tokenize` reads and encodes in tasks. Each node gets the tokenizer once; only the
    calling process writes the output. If that process ends, the next call continues, on Ray or
    without it. `bpe.train` counts pre-tokens in tasks; a task counts some files, and one file is
    never divided. The calling process finds the merges. Without `memory_mb`, it needs the memory of
    all distinct pre-tokens; with it, only this process is bounded, not the tasks. With `work_dir`,
    counts of finished tasks are kept.

    Raises ModuleNotFoundError without ray, ValueError for a wrong address, and ConnectionError if
    there is no cluster at `address`.
    """
    if address is not None:
        connect(address)
    imported()
    return RayEngine()


class RayEngine:
    """Does the work of `bpe.corpus.tokenize` and `bpe.train` in tasks of Ray; see `ray`."""

    def encoded(
        self, tokenizer: Tokenizer, files: list[str], options: Options, start: Position
    ) -> Generator[Encoded]:
        """Yield the encoded documents of `files` from `start` on, in order and in batches."""
        return encode_files(connected(), tokenizer, files, options, start)

    def runs(
        self, training: Training, folder: WorkFolder, advance: Callable[[int], object]
    ) -> None:
        """Count the pre-tokens of `training` to `folder`."""
        count_runs(connected(), training, folder, advance)
