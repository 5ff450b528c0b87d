"""Options that the commands of `pretok bench` share."""

from __future__ import annotations

from pathlib import Path

import click

from bpe.bench.peers import PEERS
from pretok.cli.options import backend_option, options

measuring_options = options(
    click.option("--rounds", "--runs", default=5, show_default=True, type=click.IntRange(1, 1000),
                 help="How often each contender runs."),
    click.option("--budget", default=20.0, show_default=True, metavar="SECONDS",
                 type=click.FloatRange(min=0),
                 help="One that has taken as long runs no more, but at least twice."),
    click.option("--cpu-time", is_flag=True,
                 help="Time what is on one core by what the process used: for a busy machine."),
    backend_option,
)  # fmt: skip
file_options = options(
    click.argument("files", nargs=-1, type=click.Path(path_type=Path)),
    click.option("--size", type=click.FloatRange(min=0, min_open=True), metavar="M",
                 help="Take the first M million code points of each text.  [default: all]"),
)  # fmt: skip
run_options = options(
    click.option("--peer", "peers", multiple=True, type=click.Choice(list(PEERS)),
                 help="Measure only this one. Repeat for more.  [default: all installed]"),
    measuring_options,
    click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False),
                 metavar="OUT", help="Write a record of all runs, machine and versions to OUT."),
)  # fmt: skip
text_options = options(file_options, run_options)
vocabulary_options = options(
    click.option("--vocab", "-v", "vocabs", multiple=True, metavar="VOCAB",
                 help="A file, or the name of one on this machine. Repeat for more.  "
                 "[default: a small one, trained on made-up texts]"),
    click.option("--preset", "-p", metavar="NAME", help="How to split, if VOCAB does not say."),
)  # fmt: skip
