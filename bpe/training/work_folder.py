"""Keep the progress of counting in a folder, so that training can go on after it was killed."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bpe.encoding.utf8 import StrOrBytes, encode_utf8
from bpe.errors import CorpusError
from bpe.formats.files import write_atomically
from bpe.training.runs import RunSize, Write, blocks_of, merge_runs, run_file
from pretok.errors import shortened
from pretok.machine.backend import BackendName

STATE = "state.json"
WORDS = "words"
VERSION = 1
FAN_IN = 64
"""The number of runs that are merged together."""
NEW_STATE: dict[str, Any] = {
    "version": VERSION, "arguments": {}, "inputs": [], "current": None, "part": 0, "runs": [],
    "next": 0, "size": None,
}  # fmt: skip
"""The members of state.json, as at the start."""
BASE_BITS = 40
"""The position of a word in run n is n << BASE_BITS, plus its position in the texts of the run."""


class WorkFolder:
    """The runs of a training, and the texts that they count.

    state.json is replaced whenever runs were completed. It says which files are runs, which inputs
    they count, and how much of the next input. All other files are remains of a killed process.
    """

    def __init__(self, path: Path, arguments: dict[str, object]) -> None:
        """Open or make the folder; raise CorpusError if it belongs to other `arguments`."""
        self.path = path
        self._pending: list[list[int]] = []
        path.mkdir(parents=True, exist_ok=True)
        state = self._load()
        if state is None:
            if any(path.iterdir()):
                raise CorpusError(
                    f"{path}: expected an empty folder, or one of an earlier training; name "
                    "another folder as work_dir="
                )
            state = NEW_STATE | {"arguments": arguments}
            write_atomically(path / STATE, json.dumps(state).encode())
        self._state = state
        for key, value in arguments.items():
            if state["arguments"].get(key) != value:
                raise self._changed(
                    f"it belongs to a training with {key}="
                    f"{shortened(str(state['arguments'].get(key)))}, not {shortened(str(value))}"
                )
        # The inputs that are counted. Each has its name, size and time, or a checksum.
        self.done: list[list[Any]] = state["inputs"]
        self.part: int = state["part"]
        """The counted part of the input after these: bytes of a text, or numbers of lists."""
        self._current: list[Any] | None = state["current"]
        kept = {STATE, WORDS, *(f"run-{number}" for number, *_ in self._state["runs"])}
        for file in path.iterdir():
            if file.name not in kept and file.name.startswith(("run-", WORDS, ".")):
                with suppress(OSError):
                    file.unlink()

    def _load(self) -> dict[str, Any] | None:
        try:
            state = json.loads((self.path / STATE).read_text(encoding="utf-8"))
            if isinstance(state, dict) and state.get("version", VERSION) != VERSION:
                raise self._changed(f"its version is {state['version']!r:.20}, not {VERSION}")
            if state.keys() != NEW_STATE.keys():
                raise ValueError
        except FileNotFoundError:
            return None
        except (ValueError, AttributeError) as error:
            if isinstance(error, CorpusError):
                raise
            raise self._changed(f"{STATE} is damaged") from None
        return dict(state)

    def _changed(self, why: str) -> CorpusError:
        return CorpusError(
            f"{self.path}: cannot go on with this folder, because {why}; pass the same inputs and "
            "arguments as before, or remove the folder to start anew"
        )

    def _save(self) -> None:
        write_atomically(self.path / STATE, json.dumps(self._state).encode())

    @property
    def size(self) -> RunSize | None:
        """The size of `words`, or None if counting has not ended."""
        return None if self._state["size"] is None else RunSize(*self._state["size"])

    @property
    def words(self) -> Path:
        """The run of all words."""
        return self.path / WORDS

    def check_input(self, index: int, identity: list[Any]) -> None:
        """Raise CorpusError if input `index`, of which a part is counted, has changed."""
        if (self.done[index] if index < len(self.done) else self._current) != identity:
            name = identity[0] or f"the batch of texts with index {index}"
            raise self._changed(f"the input has changed: {name}")

    def check_end(self, count: int) -> None:
        """Raise CorpusError if there are fewer than the counted inputs; `count` is their number."""
        if count < len(self.done) or (self.size is not None and count > len(self.done)):
            raise self._changed(f"it has counted {len(self.done)} inputs, but there are {count}")

    def new_run(self) -> tuple[int, Path]:
        """Return the number and the path of the next run."""
        number = self._state["next"]
        self._state["next"] += 1
        return number, self.path / f"run-{number}"

    def add_run(self, number: int, size: RunSize, level: int = 0, base: int | None = None) -> None:
        """Add a run, which is part of the state after `commit`."""
        base = number << BASE_BITS if base is None else base
        self._pending.append([number, level, base, *size])

    @property
    def is_pending(self) -> bool:
        """True if runs were added after the last `commit`."""
        return bool(self._pending)

    def commit(
        self,
        inputs: Iterable[list[Any]],
        current: list[Any] | None,
        part: int,
        backend: BackendName,
    ) -> None:
        """Store that all runs so far count `inputs`, and the first `part` of `current`."""
        runs = [*self._state["runs"], *self._pending]
        self._pending = []
        self._state |= {"runs": runs, "inputs": list(inputs), "current": current, "part": part}
        self._save()
        # Runs of one level are neighbors, the highest level first. Merge full levels.
        while len(runs := self._state["runs"]) >= FAN_IN and runs[-1][1] == runs[-FAN_IN][1]:
            self._merge(runs[-FAN_IN:], runs[-1][1] + 1, backend)

    def _merge(self, some: list[list[int]], level: int, backend: BackendName) -> None:
        """Replace the last runs by one."""
        number, path = self.new_run()
        with run_file(path) as write:
            size = self._merged(some, write, backend)
        self._state["runs"] = [*self._state["runs"][: -len(some)], [number, level, 0, *size]]
        self._save()
        self._remove(some)

    def _merged(self, runs: list[list[int]], write: Write, backend: BackendName) -> RunSize:
        sources = [(blocks_of(self.path / f"run-{run[0]}"), run[2]) for run in runs]
        if backend == "python":
            return merge_runs(sources, write)
        from pretok import _core

        return RunSize(*_core.merge_runs(sources, write))

    def _remove(self, runs: list[list[int]]) -> None:
        for run in runs:
            with suppress(OSError):
                (self.path / f"run-{run[0]}").unlink()

    def finish(self, backend: BackendName) -> None:
        """Merge all runs to `words`."""
        while len(runs := self._state["runs"]) > FAN_IN:
            self._merge(runs[-FAN_IN:], runs[-FAN_IN][1] + 1, backend)
        with run_file(self.words) as write:
            size = self._merged(runs, write, backend)
        self._state |= {"runs": [], "size": list(size)}
        self._save()
        self._remove(runs)


def identity_of(item: list[StrOrBytes] | os.PathLike[str], checksum: bool) -> list[Any]:
    """Return what shows that an input has not changed: of a file its name, size and time.

    Of a list of texts it is their checksum, or 0 without `checksum`.
    """
    if not isinstance(item, list):
        name = os.fspath(item)
        stat = os.stat(name)
        return [os.path.abspath(name), stat.st_size, stat.st_mtime_ns]
    total = 0
    for text in item if checksum else ():
        total = zlib.crc32(encode_utf8(text) + b"\0", total)
    return ["", len(item), total]


def without_start(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield `blocks` without their first `size` bytes."""
    for block in blocks:
        if size < len(block):
            yield block[size:]
        size = max(0, size - len(block))
