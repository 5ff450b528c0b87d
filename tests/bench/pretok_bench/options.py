"""Options that the commands of `tests/bench/run.py` share."""

from __future__ import annotations

from pathlib import Path

import click

from bpe.cli.vocabulary import complete_vocabulary
from pretok.cli.options import backend_option, options
from pretok_bench.peers import PEERS

measuring_options = options(
    click.option("--rounds", "--runs", default=5, show_default=True, type=click.IntRange(1, 1000),
                 help="The number of runs of each contender."),
    click.option("--budget", default=20.0, show_default=True, metavar="SECONDS",
                 type=click.FloatRange(min=0),
                 help="The time limit of each contender; it runs at least twice."),
    click.option("--cpu-time", is_flag=True,
                 help="Measure CPU time, not elapsed time, where one core is used. For a busy "
                 "machine."),
    backend_option,
)  # fmt: skip
file_options = options(
    click.argument("files", nargs=-1, type=click.Path(path_type=Path)),
    click.option("--size", type=click.FloatRange(min=0, min_open=True), metavar="M",
                 help="Use the first M million code points of each text.  [default: all]"),
)  # fmt: skip
run_options = options(
    click.option("--peer", "peers", multiple=True, type=click.Choice(list(PEERS)),
                 help="Measure only this peer. Repeat for more.  [default: all installed, "
                 "except tokenizers-1]"),
    measuring_options,
    click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False),
                 metavar="OUT", help="Write a record of all runs, machine and versions to OUT."),
)  # fmt: skip
text_options = options(file_options, run_options)
vocabulary_options = options(
    click.option("--vocab", "-v", "vocabs", multiple=True, metavar="VOCAB",
                 shell_complete=complete_vocabulary,
                 help="A file, or the name of a vocabulary on this machine. Repeat for more.  "
                 "[default: a small one, trained on generated texts]"),
    click.option("--preset", "-p", metavar="NAME", help="The split, if VOCAB does not name one."),
)  # fmt: skip
