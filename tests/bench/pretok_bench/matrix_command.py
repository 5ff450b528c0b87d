"""`run.py matrix`: time all vocabularies x texts x shapes of call against the best peer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from bpe.cli.vocabulary import as_cli_message
from bpe.errors import BpeError
from bpe.formats.files import write_atomically
from pretok.cli.output import one_line, write
from pretok.files import naming
from pretok_bench import venvs
from pretok_bench.heat_map import heat_map
from pretok_bench.matrix import MATRIX_PEERS, OF_SUBJECT, SHAPES, WAYS, bench_passes
from pretok_bench.matrix_report import HEADER, line, markdown, summary
from pretok_bench.options import file_options, measuring_options
from pretok_bench.session import Group, Session, json_lines
from pretok_bench.subject import Subject
from pretok_bench.timing import Result, Watcher, one_core
from pretok_bench.vocabularies import LISTED, AbsentError, check_names, opened_vocabulary

NAME = "matrix"


@click.command("matrix")
@click.option(
    "--vocab",
    "-v",
    "vocabs",
    multiple=True,
    metavar="VOCAB",
    help=f"One of {', '.join(LISTED)}, or a file, or the name of a vocabulary on this machine. "
    "Repeat for more.  [default: all of the list]",
)
@click.option(
    "--vocab-dir",
    "folders",
    multiple=True,
    envvar="PRETOK_VOCAB_DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Look for listed vocabularies here, and in its folders hf/ and gguf/. Repeat for more.",
)
@click.option("--preset", "-p", metavar="NAME", help="The split, if VOCAB does not name one.")
@click.option(
    "--text",
    "-t",
    "names",
    multiple=True,
    metavar="NAME",
    help="Measure only the text of this name. Repeat for more.  [default: all]",
)
@click.option(
    "--shape",
    "-s",
    "shapes",
    multiple=True,
    type=click.Choice(SHAPES),
    help="Measure only this shape of call. Repeat for more.  [default: all]",
)
@click.option(
    "--peer",
    "peers",
    multiple=True,
    type=click.Choice(MATRIX_PEERS),
    help="Measure only this peer. Repeat for more.  [default: all installed]",
)
@click.option(
    "--output-dir",
    "-o",
    "folder",
    default=NAME,
    show_default=True,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for matrix.json, matrix.md and matrix.svg.",
)
@click.option(
    "--venv-dir",
    envvar=venvs.VARIABLE,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the virtual environments of peers here.  [default: a temporary folder]",
)
@click.option(
    "--kernels",
    metavar="NAME",
    help="The set of vector instructions that pretok uses, such as avx2. Peers use what they "
    "choose.  [default: the fastest]",
)
@measuring_options
@file_options
def matrix_command(
    vocabs: tuple[str, ...],
    folders: tuple[Path, ...],
    venv_dir: Path | None,
    preset: str | None,
    names: tuple[str, ...],
    shapes: tuple[str, ...],
    folder: Path,
    kernels: str | None,
    **options: Any,
) -> None:
    """Time every vocabulary, text and shape of call against the best peer.

    The shapes arrays, lists and counts encode the documents of a text: in the first pass of a new
    tokenizer that has encoded one word (cold), in the second pass, and in three more passes (warm,
    the median). Some peers keep the ids of whole texts, so the fourth column (unseen) has every
    second document, after two passes over the others. message encodes a message of 42 characters,
    call after call, and messages that are new (unseen). load loads a file and encodes a word.
    Everything runs on one core if the system allows it.

    The peer tokenizers-1 is tokenizers 1.0, which pip installs in a virtual environment of its own,
    in a temporary folder, or in that of --venv-dir, where it stays.

    Vocabularies keep their added tokens. The output names missing vocabularies, and the peers that
    are left out of a cell because their ids differ or because they refuse the vocabulary.

    The files are updated after each vocabulary and text, and keep all results if the run is
    interrupted. Without FILES, texts are generated. A full run takes hours; --size, --rounds and
    --budget shorten it.
    """
    if venv_dir is not None:
        os.environ[venvs.VARIABLE] = str(venv_dir.absolute())
    session = MatrixSession(folder, json_file=None, **options)
    session.choose_texts(names)
    if kernels is not None:
        session.use_kernels(kernels)
    chosen = tuple(dict.fromkeys(vocabs)) or tuple(LISTED)
    shapes = shapes or SHAPES
    text_groups = len(session.texts) * any(shape in WAYS for shape in shapes)
    total = len(chosen) * (text_groups + sum(shape in OF_SUBJECT for shape in set(shapes)))
    try:
        check_names(chosen)
        with naming(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with one_core():
            session.run(session.matrix(chosen, folders, preset, shapes), total)
    except BpeError as error:
        raise click.ClickException(as_cli_message(error)) from None
    write(f"wrote {one_line(str(path))}\n" for path in session.paths.values())


class MatrixSession(Session):
    """A run of the matrix, which writes its three files after each group."""

    _header = HEADER

    def __init__(self, folder: Path, peers: tuple[str, ...], **options: Any) -> None:
        super().__init__(peers=peers or MATRIX_PEERS, **options)
        self.settings = replace(self.settings, is_strict=False)
        self.paths = {suffix: folder / f"{NAME}.{suffix}" for suffix in ("json", "md", "svg")}
        self.absent: dict[str, str] = {}

    def choose_texts(self, names: Sequence[str]) -> None:
        """Keep only the texts called `names`; if `names` is empty, keep all."""
        for name in names:
            if name not in self.texts:
                raise click.ClickException(
                    f"no text is called {one_line(name)!r}; expected one of {', '.join(self.texts)}"
                )
        self.texts = {name: text for name, text in self.texts.items() if name in (names or [name])}

    def use_kernels(self, name: str) -> None:
        """Let pretok use the kernels `name`, and note this in the record."""
        try:
            from pretok import _core
        except ImportError:
            raise click.ClickException("pretok has no C++ core here, so no kernels") from None
        if not _core.use_kernels(name):
            known = ", ".join(_core.kernels())
            raise click.ClickException(f"no kernels are called {name!r}; expected one of {known}")
        self._about["kernels"] = name

    def matrix(
        self,
        vocabs: Sequence[str],
        folders: Sequence[Path],
        preset: str | None,
        shapes: Sequence[str],
    ) -> Iterator[Group]:
        """Yield the groups of each vocabulary of `vocabs`.

        A vocabulary stays open until its last group has run. `folders` are those of --vocab-dir.
        """
        for name in vocabs:
            try:
                with opened_vocabulary(name, folders, preset, self.backend) as subject:
                    yield from self._groups(subject, shapes)
            except AbsentError as error:
                self.absent[name] = str(error)

    def _groups(self, subject: Subject, shapes: Sequence[str]) -> Iterator[Group]:
        """Yield a group for each text, then one for each of `shapes` that needs no text."""
        ways = [way for shape, way in WAYS.items() if shape in shapes]
        for name, text in self.texts.items() if ways else ():
            bench = partial(bench_passes, name, text, subject, ways, self.peers, self.settings)
            yield partial(_named, f"{subject.name}, {name}", bench)
        for shape, of_subject in OF_SUBJECT.items():
            if shape in shapes:
                bench = partial(of_subject, subject, self.peers, self.settings)
                yield partial(_named, f"{subject.name}, {shape}", bench)

    def _lines(self, result: Result) -> list[str]:
        return [line(result)]

    def _remarks(self) -> list[str]:
        return list(summary(self.results, self.absent))

    def _group_done(self) -> None:
        self._save(is_complete=False)

    def _save(self, is_complete: bool) -> None:
        """Write matrix.json, matrix.md and matrix.svg."""
        record = {**self._record(is_complete), "absent": self.absent}
        subtitle = (
            f"{record['processor'] or record['machine']}, one core, {record['date'][:10]}, "
            f"pretok {record['pretok']}"
        )
        contents = {
            "json": json_lines(record),
            "md": markdown(record, self.results, self.absent).encode(),
            "svg": heat_map(self.results, subtitle).encode(),
        }
        for suffix, content in contents.items():
            write_atomically(self.paths[suffix], content)


def _named(label: str, bench: Group, watch: Watcher) -> Iterator[Result]:
    """Return the results of `bench`; `watch` gets `label` and the name of the peer."""
    return bench(lambda peer: watch(f"{label}: {peer}"))
