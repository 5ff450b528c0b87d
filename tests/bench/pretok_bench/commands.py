"""The commands of `tests/bench/run.py`, which measure pretok against its peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from bpe.cli.vocabulary import as_cli_message
from bpe.errors import BpeError
from pretok.cli.options import options
from pretok.cli.run import run
from pretok.registry import find, presets
from pretok_bench.corpus import bench_corpus
from pretok_bench.decode import bench_decode
from pretok_bench.encode import bench_encode
from pretok_bench.latency import bench_latency
from pretok_bench.load import bench_load
from pretok_bench.matrix_command import matrix_command
from pretok_bench.options import run_options, text_options, vocabulary_options
from pretok_bench.session import MILLION, Group, Session
from pretok_bench.subject import Subject, subjects

SPLIT_PRESETS = ("cl100k", "o200k", "qwen2", "gpt2")
TRAINED_PRESET = "gpt2"
"""The preset that every trainer supports."""

worst_options = options(
    click.option("--times", default=MILLION, show_default=True, metavar="N",
                 type=click.IntRange(1), help="The number of repetitions of a character."),
    click.option("--limit", default=20.0, show_default=True, metavar="SECONDS",
                 type=click.FloatRange(min=0, min_open=True),
                 help="The time limit of a peer for one text."),
)  # fmt: skip
vocab_size_option = click.option(
    "--vocab-size",
    "-n",
    default=32_000,
    show_default=True,
    type=click.IntRange(257),
    metavar="N",
    help="The number of ids to train.",
)
megabytes_option = click.option(
    "--megabytes",
    default=200.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="The size of the documents in MB.",
)


@click.group("bench", context_settings={"help_option_names": ["-h", "--help"]})
def bench_command() -> None:
    """Measure pretok against its peers, after comparing their results.

    FILES hold UTF-8 text; by default the texts are generated. pretok and each peer run in turn, in
    one process, without garbage collection, and on one core if the system allows it, unless a
    command says otherwise. The output shows median times, and how many times as fast as each peer
    pretok is. Each round gives one such ratio; the output shows their median, minimum and maximum.
    Missing peers are listed; pip installs a peer by its name, such as gigatoken. An interrupted run
    still writes its --json record.
    """


@bench_command.command()
@click.option("-p", "--preset", "names", multiple=True, help="Repeat for more; default all.")
@text_options
def split(names: tuple[str, ...], **options: Any) -> None:
    """Measure the methods offsets, split and count against regex.findall and others.

    Each peer reads the same pattern, and pretok uses the Unicode version of the peer.
    """
    chosen = [find(name) for name in names] or list(presets())
    session = Session(**options)
    session.run(session.split(chosen))


@bench_command.command()
@vocabulary_options
@text_options
def encode(vocabs: tuple[str, ...], preset: str | None, **options: Any) -> None:
    """Time encoding: bytes and lists of documents, to arrays and to lists.

    Cold is the first pass of a new tokenizer object, warm is the next pass over the same text.
    Special tokens in the text are ordinary text.
    """
    _with_vocabularies(
        vocabs,
        preset,
        Session(**options),
        lambda session, chosen: session.of_texts(bench_encode, chosen),
    )


@bench_command.command()
@vocabulary_options
@text_options
def decode(vocabs: tuple[str, ...], preset: str | None, **options: Any) -> None:
    """Time decoding the ids of whole texts to str and to bytes."""
    _with_vocabularies(
        vocabs,
        preset,
        Session(**options),
        lambda session, chosen: session.of_texts(bench_decode, chosen),
    )


@bench_command.command()
@vocabulary_options
@run_options
def load(vocabs: tuple[str, ...], preset: str | None, **options: Any) -> None:
    """Time loading a .tiktoken file and a tokenizer.json, until a word is encoded.

    A VOCAB that is a file of one of these formats is loaded as it is. The file of the other format
    is generated from VOCAB.
    """
    _with_vocabularies(
        vocabs, preset, Session(files=None, size=None, **options),
        lambda session, chosen: session.of_subjects(bench_load, chosen),
    )  # fmt: skip


@bench_command.command()
@vocabulary_options
@run_options
def latency(vocabs: tuple[str, ...], preset: str | None, **options: Any) -> None:
    """Time encoding one message of 42 characters, call after call."""
    _with_vocabularies(
        vocabs, preset, Session(files=None, size=None, **options),
        lambda session, chosen: session.of_subjects(bench_latency, chosen),
    )  # fmt: skip


@bench_command.command()
@vocabulary_options
@worst_options
@text_options
def worst(
    vocabs: tuple[str, ...], preset: str | None, times: int, limit: float, **options: Any
) -> None:
    """Time one repeated character: the time per byte compared with pretok's time for English.

    The English text is the one called english, else the first. Each peer runs in its own process.
    """
    _with_vocabularies(
        vocabs,
        preset,
        Session(**options),
        lambda session, chosen: session.worst(chosen, times, limit),
    )


@bench_command.command()
@click.option("--preset", "-p", default=TRAINED_PRESET, show_default=True, metavar="NAME",
              help="The split.")  # fmt: skip
@vocab_size_option
@text_options
def train(preset: str, vocab_size: int, **options: Any) -> None:
    """Time training on all cores.

    Each peer gets its preferred input: one text or a list of documents. gigatoken trains only with
    the split of gpt2.
    """
    chosen = find(preset)
    session = Session(**options)
    session.run(session.train(chosen, vocab_size, session.texts))


@bench_command.command()
@vocabulary_options
@megabytes_option
@text_options
def memory(vocabs: tuple[str, ...], preset: str | None, megabytes: float, **options: Any) -> None:
    """Measure the memory of encoding documents, without the documents and the ids.

    Each run has its own process. The result is its peak memory, minus its memory after loading the
    vocabulary and the documents, minus the arrays of ids.
    """
    _with_vocabularies(
        vocabs, preset, Session(**options),
        lambda session, chosen: session.memory(chosen, megabytes, session.texts),
    )  # fmt: skip


@bench_command.command()
@vocabulary_options
@text_options
def corpus(vocabs: tuple[str, ...], preset: str | None, **options: Any) -> None:
    """Time files to tokens: JSON lines and text, with cold caches.

    pretok writes the shards of 'pretok tokenize'. The others are pretok's encode_batch_array for
    the documents in memory, gigatoken's encode_files, which writes no files, Megatron-LM's loop
    with tokenizers, and DataTrove's tokenizer. --cpu-time counts all threads of a process.

    With 'one thread' and 'all cores', one thread or one for each core encodes, and other threads
    may read and write on any core. With 'one core', all threads share one core.
    """
    _with_vocabularies(
        vocabs,
        preset,
        Session(**options),
        lambda session, chosen: session.of_texts(bench_corpus, chosen),
    )


@bench_command.command("all")
@vocabulary_options
@worst_options
@vocab_size_option
@megabytes_option
@text_options
def everything(
    vocabs: tuple[str, ...],
    preset: str | None,
    times: int,
    limit: float,
    vocab_size: int,
    megabytes: float,
    **options: Any,
) -> None:
    """Run all measurements.

    Training, memory and corpora use the text called english, else the first. In the repository of
    pretok, 'python tests/bench/goals.py OUT' shows which goals of pretok the record of --json
    reaches. These goals are for texts called english, code, cjk, multilingual and emoji.
    """

    def groups(session: Session, chosen: list[Subject]) -> Iterator[Group]:
        yield from session.of_texts(bench_encode, chosen)
        yield from session.split([find(name) for name in SPLIT_PRESETS])
        yield from session.of_texts(bench_decode, chosen)
        yield from session.of_subjects(bench_load, chosen)
        yield from session.of_subjects(bench_latency, chosen)
        yield from session.worst(chosen, times, limit)
        yield from session.train(find(TRAINED_PRESET), vocab_size, session.english[:1])
        yield from session.memory(chosen, megabytes, session.english[:1])
        yield from session.of_texts(bench_corpus, chosen, session.english[:1])

    _with_vocabularies(vocabs, preset, Session(**options), groups)


bench_command.add_command(matrix_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    return run(bench_command, arguments, "run.py")


def _with_vocabularies(
    vocabs: tuple[str, ...],
    preset: str | None,
    session: Session,
    groups: Callable[[Session, list[Subject]], Iterator[Group]],
) -> None:
    """Load `vocabs`, and run the groups that `groups` yields for these vocabularies."""
    try:
        with subjects(vocabs, preset, session.backend) as chosen:
            session.run(groups(session, chosen))
    except BpeError as error:
        raise click.ClickException(as_cli_message(error)) from None
