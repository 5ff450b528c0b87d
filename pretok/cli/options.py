"""Options that commands share, and what their help has in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from pretok.preset import Preset
from pretok.registry import find
from pretok.unicode import VERSIONS

_ESCAPED = r"""
Escapes: \\ \n \r \t; \xNN for any other ASCII control; \uNNNN or \UNNNNNNNN for white space other
than U+0020, controls, format characters, private use and unassigned code points."""
ESCAPES = rf"""{_ESCAPED} With --binary, a
byte that is not UTF-8 is \xNN, always 80 or more, which no character is.
"""
TOKEN_ESCAPES = rf"""{_ESCAPED} Each byte
of a token that is not a whole character is \xNN, always 80 or more, which no character is.
"""


def options(*given: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator for all of `given`, in that order, as if written above each other."""

    def decorate(function: Any) -> Any:
        for option in reversed(given):
            function = option(function)
        return function

    return decorate


def format_option(*names: str) -> Callable[[Any], Any]:
    """Return the option --format, one of `names`, by default the first."""
    return click.option(
        "--format",
        "-f",
        "output_format",
        type=click.Choice(names),
        default=names[0],
        show_default=True,
    )


if TYPE_CHECKING:
    _ParamType = click.ParamType[Preset]
else:  # which is generic from click 8.3 on
    _ParamType = click.ParamType


class PresetType(_ParamType):
    """A preset by name or alias, or as MODULE:NAME of a Python module."""

    name = "preset"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Preset:
        """Return the preset; raises UnknownPresetError, or click.ClickException for a module."""
        return value if isinstance(value, Preset) else find_preset(value)


def find_preset(name: str) -> Preset:
    """Return the preset that `name` stands for on the command line, as PresetType says."""
    module_name, colon, attribute = name.partition(":")
    if not colon:
        return find(name)
    # Like `python -m`, but behind everything installed.
    if "" not in sys.path:
        sys.path.append("")
    try:
        preset = getattr(import_module(module_name), attribute)
    except Exception as error:  # what a module does when it is imported is its own
        raise click.ClickException(
            f"cannot import preset {name!r}: {type(error).__name__}: {error}; give MODULE:NAME of "
            "a module that Python finds here"
        ) from None
    if not isinstance(preset, Preset):
        raise click.ClickException(
            f"{name!r} is of type {type(preset).__name__}; expected a pretok.Preset"
        )
    return preset


PRESET = PresetType()
preset_option = click.option(
    "--preset",
    "-p",
    required=True,
    type=PRESET,
    metavar="NAME",
    help="Name or alias, see 'pretok presets'; or MODULE:NAME of your own.",
)
unicode_option = click.option(
    "--unicode",
    metavar="VERSION",
    help=f"Unicode version: {', '.join(VERSIONS)}.  [default: the preset's]",
)
color_option = click.option(
    "--color/--no-color", "color", default=None, help="[default: on a terminal, not if $NO_COLOR]"
)
backend_option = click.option(
    "--backend", type=click.Choice(["native", "python"]), help="[default: the best there is]"
)
file_argument = click.argument("file", required=False)
text_options = options(
    click.option("--text", "-t", metavar="TEXT", help="The text itself, instead of FILE."),
    click.option("--binary", is_flag=True, help="Take any bytes, not only UTF-8 text."),
    backend_option,
)
input_options = options(file_argument, text_options)
