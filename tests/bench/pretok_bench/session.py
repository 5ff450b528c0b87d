"""A run of `tests/bench/run.py`: choose measurements, print results at once, and record them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from bpe.formats.files import write_atomically
from pretok.cli.input import shown_path
from pretok.cli.output import one_line, write
from pretok.machine.backend import BackendName, choose_backend
from pretok.preset import Preset
from pretok_bench.inputs import read_texts
from pretok_bench.memory import bench_memory
from pretok_bench.peers import installed
from pretok_bench.report import HEADER, lines, record, remarks, surroundings
from pretok_bench.split import bench_split
from pretok_bench.subject import Subject
from pretok_bench.timing import Result, Settings, Watcher
from pretok_bench.train import bench_train
from pretok_bench.worst import bench_worst

MILLION = 1_000_000
Group = Callable[[Watcher], Iterator[Result]]
"""Measures one vocabulary or preset, usually on one text, and yields the results."""
Bench = Callable[..., Iterator[Result]]


def json_lines(record: object) -> bytes:
    """Return `record` as JSON for a file."""
    return f"{json.dumps(record, indent=1)}\n".encode()


class Session:
    """One run of the command: prints each result at once, and writes the record at the end.

    `files` is None if the command needs no texts. `size` is the maximum size of each text in
    millions of code points, or None. All other parameters are the values of the command line
    options with the same names.
    """

    _header = HEADER

    def __init__(
        self,
        files: tuple[Path, ...] | None,
        size: float | None,
        peers: tuple[str, ...],
        rounds: int,
        budget: float,
        cpu_time: bool,
        backend: BackendName | None,
        json_file: Path | None,
    ) -> None:
        if json_file is not None and not json_file.absolute().parent.is_dir():
            raise click.ClickException(
                f"cannot write {shown_path(str(json_file))}: the folder does not exist; choose an "
                "existing folder"
            )
        self.backend = choose_backend(backend)
        self.settings = Settings(rounds, budget, cpu_time=cpu_time)
        self.peers, self.missing = installed(peers)
        max_size = None if size is None else max(1, int(size * MILLION))
        self.texts = {} if files is None else read_texts(files, max_size)
        self._json_file = json_file
        self._about = surroundings(self.backend)
        self.results: list[Result] = []

    def run(self, groups: Iterable[Group], total: int | None = None) -> None:
        """Measure each of `groups`, and print its results. Write the record, even after an error.

        `total` is the number of groups, or None if the number is not known. The progress bar counts
        groups, or the runs of contenders if `total` is None.
        """
        write([f"{line}\n" for line in self._heading()])
        try:
            unit = " runs" if total is None else " groups"
            with tqdm(total=total, unit=unit, leave=False, delay=1, disable=None) as bar:

                def watch(what: str) -> None:
                    bar.set_postfix_str(what, refresh=total is not None)
                    if total is None:
                        bar.update()

                for group in groups:
                    for result in group(watch):
                        self.results.append(result)
                        bar.clear()
                        write([f"{line}\n" for line in self._lines(result)])
                    if total is not None:
                        bar.update()
                    self._group_done()
        except BaseException:
            if self.results:
                self._save(is_complete=False)
            raise
        write([f"{one_line(line)}\n" for line in self._remarks()])
        self._save(is_complete=True)

    def _lines(self, result: Result) -> list[str]:
        return lines(result)

    def _remarks(self) -> list[str]:
        return remarks(self.results)

    def _group_done(self) -> None:
        """Do nothing. MatrixSession writes its files here, after each group."""

    def _heading(self) -> list[str]:
        machine = self._about["processor"] or self._about["machine"]
        lines = [
            f"{machine}, {self.backend} backend; medians, and the minimum and maximum of the ratios"
        ]
        lines += [f"{name} is left out: {why}" for name, why in self.missing.items()]
        return [*lines, self._header]

    def _save(self, is_complete: bool) -> None:
        if self._json_file is None:
            return
        write_atomically(self._json_file, json_lines(self._record(is_complete)))

    def _record(self, is_complete: bool) -> dict[str, Any]:
        """Return the JSON record of all results so far."""
        sizes = {name: len(text.encode()) for name, text in self.texts.items()}
        return record(self._about, self.settings, sizes, self.missing, self.results, is_complete)

    @property
    def english(self) -> tuple[str, str]:
        """The name and content of the text called "english", or else of the first text."""
        name = "english" if "english" in self.texts else next(iter(self.texts))
        return name, self.texts[name]

    def split(self, chosen: Iterable[Preset]) -> Iterator[Group]:
        """Yield the groups that measure splitting each text with each preset of `chosen`."""
        for name, text in self.texts.items():
            for preset in chosen:
                yield partial(
                    bench_split, name, text, preset, self.backend, self.peers, self.settings
                )

    def of_texts(
        self,
        bench: Callable[..., Iterator[Result]],
        chosen: list[Subject],
        texts: Iterable[str] | None = None,
    ) -> Iterator[Group]:
        """Yield the groups that measure each text with each vocabulary of `chosen`.

        If `texts` is not None, measure only the texts named in it.
        """
        for name in self.texts if texts is None else texts:
            for subject in chosen:
                yield partial(bench, name, self.texts[name], subject, self.peers, self.settings)

    def of_subjects(
        self, bench: Callable[..., Iterator[Result]], chosen: list[Subject]
    ) -> Iterator[Group]:
        """Yield the groups that measure each vocabulary of `chosen`; `bench` needs no text."""
        for subject in chosen:
            yield partial(bench, subject, self.peers, self.settings)

    def worst(self, chosen: list[Subject], times: int, limit: float) -> Iterator[Group]:
        """Yield the groups that measure the worst inputs (worst.py)."""
        for subject in chosen:
            yield partial(
                bench_worst,
                self.english[1][: 2 * MILLION],
                subject,
                self.peers,
                self.settings,
                times=times,
                limit=limit,
            )

    def train(self, preset: Preset, vocab_size: int, texts: Iterable[str]) -> Iterator[Group]:
        """Yield the groups that measure training on each text named in `texts`."""
        for name in texts:
            yield partial(
                bench_train,
                name,
                self.texts[name],
                preset,
                vocab_size,
                self.backend,
                self.peers,
                self.settings,
            )

    def memory(
        self, chosen: list[Subject], megabytes: float, texts: Iterable[str]
    ) -> Iterator[Group]:
        """Yield the groups that measure the memory of encoding each text named in `texts`."""
        for name in texts:
            for subject in chosen:
                yield partial(
                    bench_memory,
                    name,
                    self.texts[name],
                    subject,
                    self.peers,
                    self.settings,
                    megabytes=megabytes,
                )
