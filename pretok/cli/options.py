"""Options and help texts that commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from pretok.preset import Preset
from pretok.registry import find_and_warn, registered
from pretok.unicode import VERSIONS

_ESCAPED = r"""
Escapes: \\ \n \r \t; \xNN for any other ASCII control; \uNNNN or \UNNNNNNNN for white space other
than U+0020, controls, format characters, private use and unassigned code points."""
ESCAPES = rf"""{_ESCAPED} With --binary, a
byte that is not UTF-8 is \xNN, where NN is 80 or more; no character has such an escape.
"""
TOKEN_ESCAPES = rf"""{_ESCAPED} Each byte
of an incomplete character is \xNN, where NN is 80 or more; no character has such an escape.
"""


def options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator that applies all `decorators`, the last one first."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def format_option(*names: str) -> Callable[[Any], Any]:
    """Return the option --format with the choices `names`; the first is the default."""
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
else:  # click.ParamType is generic only from click 8.3 on
    _ParamType = click.ParamType


class PresetType(_ParamType):
    """A preset by name or alias, or as MODULE:NAME of a Python module."""

    name = "preset"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Preset:
        """Return the preset; raises UnknownPresetError, or click.ClickException for a module."""
        return value if isinstance(value, Preset) else find_preset(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        """Return the names and aliases that start with `incomplete`."""
        from pretok.cli.completion import starting_with

        names = (name for preset in registered() for name in (preset.name, *preset.aliases))
        return starting_with(names, incomplete)


def find_preset(name: str) -> Preset:
    """Return the preset for `name`: a name, an alias, or MODULE:NAME."""
    module_name, colon, attribute = name.partition(":")
    if not colon:
        return find_and_warn(name)
    # Also search the working folder, as `python -m` does, but after the folders of installed
    # modules.
    if "" not in sys.path:
        sys.path.append("")
    try:
        preset = getattr(import_module(module_name), attribute)
    except Exception as error:  # importing a module may raise anything
        raise click.ClickException(
            f"cannot import preset {name!r}: {type(error).__name__}: {error}; pass MODULE:NAME, "
            "an importable module and the name of a Preset in it"
        ) from None
    if not isinstance(preset, Preset):
        raise click.ClickException(
            f"expected {name!r} to be a pretok.Preset, got {type(preset).__name__}"
        )
    return preset


PRESET = PresetType()
preset_option = click.option(
    "--preset",
    "-p",
    required=True,
    type=PRESET,
    metavar="NAME",
    help="Name or alias (see 'pretok presets'), or MODULE:NAME of your own preset.",
)
unicode_option = click.option(
    "--unicode",
    metavar="VERSION",
    help=f"Unicode version: {', '.join(VERSIONS)}.  [default: the preset's]",
)
color_option = click.option(
    "--color/--no-color",
    "color",
    default=None,
    help="[default: color on a terminal, unless $NO_COLOR is set]",
)
backend_option = click.option(
    "--backend", type=click.Choice(["native", "python"]), help="[default: native if it was built]"
)
file_argument = click.argument("file", required=False)
text_options = options(
    click.option("--text", "-t", metavar="TEXT", help="Text to use instead of FILE."),
    click.option("--binary", is_flag=True, help="Allow any bytes, not only UTF-8 text."),
    backend_option,
)


def split_options(*formats: str) -> Callable[[Any], Any]:
    """Return the options of the commands that split an input and print it in one of `formats`."""
    return options(
        unicode_option, file_argument, text_options, format_option(*formats), color_option
    )
