"""`pretok bench`: measure pretok against its peers on your own texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from bpe.formats.files import write_atomically
from pretok.bench.encode import bench_encode
from pretok.bench.inputs import read_texts
from pretok.bench.peers import PEERS, installed
from pretok.bench.report import HEADER, absences, lines, record, surroundings
from pretok.bench.split import bench_split
from pretok.bench.subject import subjects
from pretok.bench.timing import Result, Settings, Watcher
from pretok.cli.options import backend_option, options
from pretok.cli.output import one_line, write
from pretok.pretokenizer import BackendName, choose_backend
from pretok.registry import find, presets

MILLION = 1_000_000


class Session:
    """One run of the command: what is measured, printed as it comes, and recorded at the end."""

    def __init__(
        self,
        files: tuple[Path, ...],
        size: float | None,
        peers: tuple[str, ...],
        rounds: int,
        budget: float,
        backend: BackendName | None,
        json_file: Path | None,
    ) -> None:
        self.backend = choose_backend(backend)
        self.settings = Settings(rounds, budget)
        self.peers, self.missing = installed(peers)
        self.texts = read_texts(files, None if size is None else int(size * MILLION))
        self._json_file = json_file
        self._about = surroundings(self.backend)
        self.results: list[Result] = []

    def run(self, groups: Iterable[Callable[[Watcher], Iterator[Result]]]) -> None:
        """Measure each of `groups`, print its figures, and write the record, even if cut short."""
        write([f"{line}\n" for line in self._heading()])
        try:
            with tqdm(unit=" runs", leave=False, delay=1, disable=None) as bar:

                def watch(what: str) -> None:
                    bar.set_postfix_str(what, refresh=False)
                    bar.update()

                for group in groups:
                    for result in group(watch):
                        self.results.append(result)
                        bar.clear()
                        write([f"{line}\n" for line in lines(result)])
        except BaseException:
            self._save(is_complete=False)
            raise
        write([f"{one_line(line)}\n" for line in absences(self.results)])
        self._save(is_complete=True)

    def _heading(self) -> list[str]:
        machine = self._about["processor"] or self._about["machine"]
        found = [
            f"{machine}, {self.backend} backend; medians, and the least and most of the ratios"
        ]
        found += [f"{name} is left out: {why}" for name, why in self.missing.items()]
        return [*found, HEADER]

    def _save(self, is_complete: bool) -> None:
        if self._json_file is None:
            return
        sizes = {name: len(text.encode()) for name, text in self.texts.items()}
        found = record(self._about, self.settings, sizes, self.missing, self.results, is_complete)
        write_atomically(self._json_file, f"{json.dumps(found, indent=1)}\n".encode())


session_options = options(
    click.argument("files", nargs=-1, type=click.Path(path_type=Path)),
    click.option("--size", type=click.FloatRange(min=0, min_open=True), metavar="M",
                 help="Take the first M million code points of each text.  [default: all]"),
    click.option("--peer", "peers", multiple=True, type=click.Choice(list(PEERS)),
                 help="Measure only this one. Repeat for more.  [default: all installed]"),
    click.option("--rounds", "--runs", default=5, show_default=True, type=click.IntRange(1, 1000),
                 help="How often each contender runs."),
    click.option("--budget", default=20.0, show_default=True, metavar="SECONDS",
                 type=click.FloatRange(min=0),
                 help="One that has taken as long runs no more, but at least twice."),
    backend_option,
    click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False),
                 metavar="OUT", help="Write a record of all runs, machine and versions to OUT."),
)  # fmt: skip
vocabulary_options = options(
    click.option("--vocab", "-v", "vocabs", multiple=True, metavar="VOCAB",
                 help="A file, or the name of one on this machine. Repeat for more.  "
                 "[default: a small one, trained on made-up texts]"),
    click.option("--preset", "-p", metavar="NAME", help="How to split, if VOCAB does not say."),
)  # fmt: skip


@click.group("bench", context_settings={"help_option_names": ["-h", "--help"]})
def bench_command() -> None:
    """Measure pretok against its peers; answers are compared before anything is timed."""


@bench_command.command()
@click.option("-p", "--preset", "names", multiple=True, help="Repeat for more; default all.")
@session_options
def split(names: tuple[str, ...], **given: Any) -> None:
    """Time offsets, split and count against regex.findall of the same pattern."""
    session = Session(**given)
    chosen = [find(name) for name in names] or list(presets())
    session.run(
        partial(bench_split, name, text, preset, session.backend, session.peers, session.settings)
        for name, text in session.texts.items()
        for preset in chosen
    )


@bench_command.command()
@vocabulary_options
@session_options
def encode(vocabs: tuple[str, ...], preset: str | None, **given: Any) -> None:
    """Time encoding: bytes and lists of documents, to arrays and to lists."""
    session = Session(**given)
    with subjects(vocabs, preset, session.backend) as chosen:
        session.run(
            partial(bench_encode, name, text, subject, session.peers, session.settings)
            for name, text in session.texts.items()
            for subject in chosen
        )
