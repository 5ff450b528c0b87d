"""Options of the commands that read files of texts: `pretok train` and `pretok tokenize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def field_option(place: str) -> Callable[[Any], Any]:
    """Return the option --field; `place` says what it names."""
    return click.option(
        "--field",
        default="text",
        show_default=True,
        metavar="NAME",
        help=f"{place} that holds the text.",
    )


def max_text_option(limited: str) -> Callable[[Any], Any]:
    """Return the option --max-text; `limited` says what is too long."""
    return click.option(
        "--max-text",
        type=int,
        metavar="BYTES",
        help=f"{limited} is an error.  [default: 64 MB]",
    )


threads_option = click.option(
    "--threads", type=int, metavar="N", help="[default: as many as are useful]"
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print only errors.")
