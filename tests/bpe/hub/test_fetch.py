"""bpe.hub.fetch.fetch, against a server on this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import bpe
from bpe import UnknownVocabularyError, VocabularyError
from bpe.hub import published
from bpe.hub.fetch import fetch
from bpe.hub.locate import cache_folder
from bpe.hub.published import PublishedFile, PublishedVocabulary
from vocabulary_files import tiktoken_lines, write

DATA = b"".join(line + b"\n" for line in tiktoken_lines())


class _Handler(BaseHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012 - one server at a time

    def do_GET(self) -> None:
        self.asked.append(self.path)
        kind = self.path.strip("/")
        if kind == "missing":
            self.send_error(404)
            return
        self.send_response(200)
        if kind != "unsized":
            self.send_header("Content-Length", str(len(DATA)))
        self.end_headers()
        self.wfile.write({"cut": DATA[:100], "corrupt": DATA[::-1]}.get(kind, DATA))

    def log_message(self, *_: object) -> None:
        """Keep the output of the tests clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The address of a server. The name of a vocabulary says how the server answers."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.delenv("PRETOK_VOCAB_DIR", raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    _Handler.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{http.server_address[1]}"
        for kind in ("good", "unsized", "cut", "corrupt", "missing"):
            url, digest = f"{address}/{kind}", sha256(DATA).hexdigest()
            file = PublishedFile(f"{kind}.tiktoken", url, digest, len(DATA))
            monkeypatch.setitem(
                published.PUBLISHED,
                kind,
                PublishedVocabulary(kind, (file,), "gpt2", {"<|end|>": 300}),
            )
        yield address
        http.shutdown()
        thread.join()


@pytest.mark.parametrize("kind", ["good", "unsized"])
def test_load_finds_the_fetched_file(server: str, kind: str) -> None:
    with pytest.raises(UnknownVocabularyError, match=f"pretok fetch {kind}"):
        bpe.load(kind)
    path = fetch(kind)
    assert path == cache_folder() / f"{kind}.tiktoken"
    assert path.read_bytes() == DATA
    assert bpe.load(kind).special_tokens == {"<|end|>": 300}


def test_existing_files_are_not_fetched_again(server: str, tmp_path: Path) -> None:
    path = fetch("good", tmp_path / "folder" / "in folder")
    assert path == tmp_path / "folder" / "in folder" / "good.tiktoken"
    assert fetch("good", path.parent) == path
    assert _Handler.asked == ["/good"]
    write(path, DATA[:-5])
    assert fetch("good", str(path.parent)).read_bytes() == DATA
    assert _Handler.asked == ["/good", "/good"]


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("cut", VocabularyError, r"got only 100 of [0-9,]+ bytes|not the published file"),
        ("corrupt", VocabularyError, "is not the published file .* try again, or get the file"),
        ("missing", OSError, "/missing: the server answers 404"),
    ],
)
def test_a_failed_download_leaves_the_folder_unchanged(
    server: str, tmp_path: Path, kind: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        fetch(kind, tmp_path / "to")
    assert server in str(caught.value)
    assert list((tmp_path / "to").iterdir()) == []
    old = write(tmp_path / "to" / f"{kind}.tiktoken", "old")
    with pytest.raises(error):
        fetch(kind, tmp_path / "to")
    assert old.read_bytes() == b"old"


def test_no_server(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket() as bound:  # does not listen, so the system refuses connections
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}/x"
        file = PublishedFile("x.tiktoken", f"http://{address}", "", 1)
        monkeypatch.setitem(published.PUBLISHED, "x", PublishedVocabulary("x", (file,), "gpt2", {}))
        with pytest.raises(OSError, match=rf"{address}: the download failed: .*refused"):
            fetch("x", tmp_path)


def test_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownVocabularyError, match="'gpt9' to download; expected one of gpt2,"):
        fetch("gpt9", tmp_path)
