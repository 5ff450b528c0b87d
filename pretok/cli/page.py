"""The command `pretok page`."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import click

from pretok.cli.options import options_of
from pretok.page.server import HOST, PageServer


@click.command("page")
@options_of(
    {
        "--port": "Port to serve on.  [default: any free port]",
        "--no-open": "Do not open the browser.",
    }
)
def page_command(port: Annotated[int | None, click.IntRange(0, 65535)], no_open: bool) -> None:
    """Open a page in the browser that shows splits and tokens.

    The page runs offline, and no text leaves the page. The command serves the page only to this
    machine, prints its address, and stops at Ctrl-C.
    """
    try:
        server = PageServer(port or 0)
    except OSError as error:
        raise click.ClickException(
            f"cannot serve on {HOST}, port {port}: {error.strerror}; choose another --port"
        ) from None
    with server:
        click.echo(f"The page is at {server.address} until you press Ctrl-C.")
        if not no_open:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("Stopped.")
