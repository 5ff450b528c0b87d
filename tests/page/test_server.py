"""The server of `pretok page`, and the files that it serves."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import struct
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import pretok.page.server as server
from browser import serving
from command_line import LONGEST, Call, running

FOLDER = Path(server.__file__).parent
INDEX = (FOLDER / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as found:
        yield found


def test_each_file_is_served_with_its_type(address: str) -> None:
    assert {"index.html", "app.js", "page.css", "core/pretok.js", "core/pretok.wasm"} <= set(
        server.files()
    )
    for name, path in server.files().items():
        with urllib.request.urlopen(address + name) as answer:
            assert answer.read() == path.read_bytes()
            assert answer.headers["Content-Type"] == server.TYPES[path.suffix]
            assert answer.headers["Content-Security-Policy"].startswith(server.POLICY)
    with urllib.request.urlopen(address + "?query") as answer:
        assert answer.read().decode() == INDEX


@pytest.mark.parametrize(
    "path",
    ["server.py", "core", "core/", "../server.py", "%2e%2e/page.py", "core/../server.py", "x"],
)
def test_no_other_path_is_served(address: str, path: str) -> None:
    host = address.removeprefix("http://").removesuffix("/")
    connection = http.client.HTTPConnection(host)
    connection.request("GET", f"/{path}")
    answer = connection.getresponse()
    assert answer.status == 404
    assert b"def " not in answer.read()
    connection.request("POST", "/")
    assert connection.getresponse().status == 501
    connection.close()


def test_the_server_listens_only_on_the_loopback_address() -> None:
    with server.PageServer() as found:
        assert found.server_address[0] == "127.0.0.1"


def test_the_page_has_the_policy_of_the_server_and_no_inline_code() -> None:
    assert f'content="{server.POLICY}"' in INDEX
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:", INDEX)
    for path in server.files().values():
        if path.suffix == ".js":
            code = path.read_text(encoding="utf-8")
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", code)
            assert not re.search(r"\beval\(|new Function|https?://(?!www\.w3\.org)", code), path


def test_every_file_that_the_page_names_is_served() -> None:
    names = set(re.findall(r'(?:src|href)="([^"#]+)"', INDEX))
    for name, path in server.files().items():
        if path.suffix == ".js":
            folder = name.rpartition("/")[0]
            for target in re.findall(r'from "\./([^"]+)"', path.read_text(encoding="utf-8")):
                names.add(f"{folder}/{target}".removeprefix("/"))
    assert names <= set(server.files())


def test_a_dropped_connection_prints_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # With these threads, closing the server waits until each request has ended.
    monkeypatch.setattr(server.PageServer, "daemon_threads", False)
    request = b"GET /core/pretok.wasm HTTP/1.1\r\nHost: x\r\n\r\n" * 8
    with serving() as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        for _ in range(3):
            connection = socket.create_connection(("127.0.0.1", port))
            # Closing sends RST at once, while the server writes.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(request)
            connection.recv(100)
            connection.close()
    assert capfd.readouterr() == ("", "")


def test_other_errors_of_a_request_are_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with server.PageServer() as found:
        for error in (BrokenPipeError, ConnectionResetError, ConnectionAbortedError, KeyError):
            try:
                raise error
            except Exception:
                found.handle_error(None, ("127.0.0.1", 1))
    errors = capfd.readouterr().err
    assert errors.count("Traceback") == 1
    assert "KeyError" in errors


def test_the_command_prints_the_address_and_stops_at_ctrl_c() -> None:
    with running("page", "--no-open", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert found, line
        with urllib.request.urlopen(found[0]) as answer:
            assert answer.read().decode() == INDEX
        if os.name == "posix":
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=LONGEST)
            assert (process.returncode, output, errors) == (0, b"Stopped.\n", b"")
        else:
            process.kill()


def test_the_command_opens_the_browser(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(server.PageServer, "serve_forever", interrupt)
    status, output, _ = call("page")
    assert status == 0
    assert [
        f"The page is at {opened[0]} until you press Ctrl-C.",
        "Stopped.",
    ] == output.splitlines()


def test_a_port_in_use_is_an_error(call: Call) -> None:
    with server.PageServer() as other:
        status, _, errors = call("page", "--no-open", "--port", str(other.server_port))
    assert status == 2
    assert "choose another --port" in errors
