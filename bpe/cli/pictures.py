"""Options that name the file of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from bpe.plots.picture import check_picture
from pretok.cli.input import shown_path

HELP = "to FILE: .svg, .png or .pdf; needs matplotlib."


def picture_option(name: str, content: str, *numbers: str) -> Callable[[Any], Any]:
    """Return the option `name`, whose help says that it draws `content`.

    A file with a suffix in `numbers` gets the numbers instead of a picture. Any other file must be
    a picture that this machine can draw; otherwise the command ends before its work.
    """

    def check(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
        if path is None:
            return None
        if not path.absolute().parent.is_dir():
            raise click.ClickException(
                f"{name} {shown_path(str(path))}: its folder does not exist; create it first"
            )
        if path.suffix.lower() not in numbers:
            with picture_errors(name):
                check_picture(path)
        return path

    help_of_numbers = f" {' or '.join(numbers)} gets the numbers." * bool(numbers)
    return click.option(
        name,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        callback=check,
        help=f"Draw {content} {HELP}{help_of_numbers}",
    )


@contextmanager
def picture_errors(option: str) -> Iterator[None]:
    """Report the errors of bpe.plots as errors of `option`."""
    try:
        yield
    except ImportError:
        raise click.ClickException(
            f"{option} needs matplotlib; install it with `pip install matplotlib`"
        ) from None
    except ValueError as error:
        raise click.ClickException(f"{option}: {error}") from None
    except OSError as error:
        raise click.ClickException(
            f"{option}: cannot write {shown_path(str(error.filename))}: {error.strerror}; choose "
            "a file in an existing, writable folder"
        ) from None
