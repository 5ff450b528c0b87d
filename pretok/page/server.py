"""Serve the files of the page to browsers on this machine."""

from __future__ import annotations

import socketserver
import sys
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
INDEX = "index.html"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
"""The MIME type of each suffix of the page's files."""
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy. index.html has it too, but only a header applies to the worker."""
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@cache
def files() -> dict[str, Path]:
    """Return the files of the page by name: the path in the folder of the page."""
    folder = Path(__file__).parent
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in TYPES]
    return {path.relative_to(folder).as_posix(): path for path in paths}


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD for the files of the page, and for no other path."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise the body of an answer waits for an acknowledgment
    wbufsize = -1  # headers and body of an answer are sent together
    server_version = "pretok"
    sys_version = ""

    def do_GET(self) -> None:
        """Send a file."""
        self._answer(has_body=True)

    def do_HEAD(self) -> None:
        """Send the headers of a file."""
        self._answer(has_body=False)

    def _answer(self, has_body: bool) -> None:
        name = self.path.partition("?")[0].removeprefix("/") or INDEX
        path = files().get(name)
        if path is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        content = path.read_bytes()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", TYPES[path.suffix])
        self.send_header("Content-Length", str(len(content)))
        for header, value in HEADERS.items():
            self.send_header(header, value)
        self.end_headers()
        if has_body:
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


class PageServer(ThreadingHTTPServer):
    """Serves the page on the loopback address. `port` 0 chooses any free port."""

    def __init__(self, port: int = 0) -> None:
        super().__init__((HOST, port), Handler)

    def server_bind(self) -> None:
        """Bind without looking up a host name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name = HOST
        self.server_port = self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a connection that the browser dropped; print the traceback of any other error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/"
