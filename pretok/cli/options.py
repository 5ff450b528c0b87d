"""Options and help texts that commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import click

from pretok.preset import Preset
from pretok.registry import find_and_warn, get, registered
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
TYPES: dict[object, click.ParamType[Any]] = {Path: click.Path(path_type=Path), Preset: PRESET}
"""The types of options that are not the type of the parameter."""


def options_of(
    helps: Mapping[str, str], function: Callable[..., object] | None = None
) -> Callable[[Any], Any]:
    """Return a decorator that gives a command options for parameters of `function`.

    By default, `function` is the decorated command. The signature has the type and the default of
    an option, `helps` its help. A key of `helps` has the names of the option, the name of the
    parameter if it is another, and the metavar: "--preset -p names NAME".
    """

    def decorate(command: Any) -> Any:
        owner = function or command
        hints = get_type_hints(owner, include_extras=True)
        parameters = signature(owner).parameters
        made = []
        for key, text in helps.items():
            words = key.split()
            names = [word for word in words if word.startswith("-") or word in hints]
            own = max(names, key=lambda word: (word in hints, len(word)))
            name = own.lstrip("-").replace("-", "_")
            settings = _settings(hints[name], parameters[name].default)
            metavar = next((word for word in words if word not in names), None)
            made.append(click.option(*names, **settings, metavar=metavar, help=text))
        return options(*made)(command)

    return decorate


def _settings(hint: Any, default: Any) -> dict[str, Any]:
    """Return the settings of an option for a parameter: those of its type and of its default."""
    kind, *types = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    is_optional = is_multiple = False
    while get_args(kind) and get_origin(kind) is not Literal:  # int | None, tuple[str, ...]
        is_multiple |= get_origin(kind) is tuple
        is_optional |= get_origin(kind) is not tuple
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        types.append(click.Choice(get_args(kind)))
    settings = {
        "type": None if kind is bool else types[0] if types else TYPES.get(kind, kind),
        "is_flag": kind is bool,
        "multiple": is_multiple,
    }
    if default is Parameter.empty:
        return settings | {"required": not (is_optional or is_multiple or kind is bool)}
    shows = default is not None and not (kind is bool or is_multiple)
    return settings | {"default": default, "show_default": shows}


preset_option = options_of(
    {"--preset -p NAME": "Name or alias (see 'pretok presets'), or MODULE:NAME of your own preset."}
)
color_option = click.option(
    "--color/--no-color",
    "color",
    default=None,
    help="[default: color on a terminal, unless $NO_COLOR is set]",
)
BACKEND = {"--backend": "[default: native if it was built]"}
backend_option = options_of(BACKEND, get)
file_argument = click.argument("file", required=False)
TEXT = {
    "--text -t TEXT": "Text to use instead of FILE.",
    "--binary": "Allow any bytes, not only UTF-8 text.",
    **BACKEND,
}
UNICODE = {"--unicode VERSION": f"Unicode version: {', '.join(VERSIONS)}.  [default: the preset's]"}


def split_options(*formats: str) -> Callable[[Any], Any]:
    """Return the options of the commands that split an input and print it in one of `formats`."""
    return options(options_of(UNICODE | TEXT), file_argument, format_option(*formats), color_option)
