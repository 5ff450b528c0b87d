"""Paths of devices, pipes, sockets and broken links: an error that names the path, never a hang."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import bpe
import pretok
from bpe import VocabularyError
from bpe.formats import files
from c_library import CError, CLibrary, CTokenizer
from command_line import Call, pipes, running
from gguf_files import gguf, metadata
from interrupts import deadline
from pretok.errors import short_path, shortened
from support import run_python
from vocabulary_files import huggingface, made, tiktoken_lines, write

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX devices, pipes and links")
pytestmark = posix


def fifo(folder: Path) -> Path:
    os.mkfifo(folder / "fifo")
    return folder / "fifo"


def sparse(folder: Path) -> Path:
    path = write(folder / "sparse", b"")
    os.truncate(path, 100 << 30)
    return path


def listening(folder: Path) -> Path:
    # The path of a socket is limited to about 100 bytes, so bind a relative path.
    before = os.getcwd()
    os.chdir(folder)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket")
    finally:
        os.chdir(before)
    return folder / "socket"


def dangling(folder: Path) -> Path:
    (folder / "dangling").symlink_to(folder / "nowhere")
    return folder / "dangling"


def looping(folder: Path) -> Path:
    (folder / "loop").symlink_to(folder / "loop")
    return folder / "loop"


def linked(folder: Path) -> Path:
    (folder / "zeros").symlink_to("/dev/zero")
    return folder / "zeros"


def undecodable(folder: Path) -> Path:
    return write(folder / os.fsdecode(b"\xff\xfe.bin"), b"\0\1\2")


MAKERS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "FIFO": (fifo, "this is a pipe"),
    "endless": (lambda _: Path("/dev/zero"), "this is a device"),
    "link to a device": (linked, "this is a device"),
    "socket": (listening, "this is a socket"),
    "sparse": (sparse, "107,374,182,400 bytes"),
    "dangling": (dangling, "No such file"),
    "loop": (looping, "symbolic links"),
    "no size": (lambda _: Path("/proc/self/status"), "status"),
    "name that is not UTF-8": (undecodable, "bin"),
}


@pytest.fixture(params=MAKERS)
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A path, and a pattern of the error message."""
    maker, message = MAKERS[request.param]
    path = maker(tmp_path)
    if request.param in ("endless", "no size") and not path.exists():
        pytest.skip(f"needs {path}")
    return path, message


def test_load_refuses(hostile: tuple[Path, str]) -> None:
    path, message = hostile
    with deadline(), pytest.raises((bpe.BpeError, OSError), match=message) as caught:
        bpe.load(path, "gpt2")
    assert path.name in str(caught.value)


def test_from_huggingface_refuses(hostile: tuple[Path, str]) -> None:
    path, message = hostile
    with deadline(), pytest.raises((pretok.PretokError, OSError), match=message) as caught:
        pretok.from_huggingface(path)
    assert path.name in str(caught.value)


def test_identify_refuses(call: Call, hostile: tuple[Path, str]) -> None:
    path, message = hostile
    with deadline():
        status, out, errors = call("identify", str(path))
    # identify takes the name of a missing file for a pattern, so it may succeed.
    assert out == "" or not os.path.exists(path)
    assert status == (2 if os.path.exists(path) else status)
    assert message in errors or not os.path.exists(path)
    assert "Traceback" not in errors


def test_commands_refuse(call: Call, hostile: tuple[Path, str]) -> None:
    path, message = hostile
    for command in (("encode", "-t", "x", "-v"), ("inspect",), ("bench", "load", "-v")):
        with deadline():
            status, out, errors = call(*command, str(path), stdin=b"")
        assert (status, out) == (2, ""), command
        assert message in errors
        assert errors.count("\n") == 1


def test_c_refuses(c_library: CLibrary, hostile: tuple[Path, str]) -> None:
    path, message = hostile
    if message.startswith("this is a"):
        message = "expected a regular file"
    message = message.replace("107,374,182,400", "more than 536870912")
    with deadline(), pytest.raises(CError, match=message):
        CTokenizer(c_library, path, "gpt2")


def test_folders_permissions_and_names(c_library: CLibrary, tmp_path: Path) -> None:
    with pytest.raises(CError, match="directory"):
        CTokenizer(c_library, tmp_path, "gpt2")
    with pytest.raises(pretok.PretokError, match="this is a folder"):
        bpe.load((tmp_path, tmp_path), "gpt2")
    with pytest.raises(OSError, match="No such file"):
        bpe.load((Path("a\0b"), Path("c")), "gpt2")
    with pytest.raises(bpe.UnknownVocabularyError, match=r"'a\\x00b'"):
        bpe.load("a\0b")
    with pytest.raises(OSError, match="No such file"):
        pretok.from_huggingface("a\0b")
    (tmp_path / "closed").mkdir(mode=0)
    if os.geteuid() != 0:  # permissions do not apply to root
        with pytest.raises(PermissionError, match="closed"):
            bpe.load(tmp_path / "closed" / "a.json", "gpt2")


@pytest.mark.parametrize("name", ["x" * 3_000_000, "x/" * 1_000_000])
def test_long_names_are_shortened(name: str) -> None:
    with pytest.raises(LookupError) as caught:
        bpe.load(name)
    assert len(str(caught.value)) < 1500
    with pytest.raises(OSError, match="name too long") as failed:
        pretok.from_huggingface(name)
    assert len(str(failed.value)) < 1000
    with pytest.raises(OSError, match="name too long") as failed:
        made().save(name + "a.json")
    assert len(str(failed.value)) < 1000
    with pytest.raises(ValueError, match="unknown preset 'x") as unknown:
        pretok.get(name)
    assert len(str(unknown.value)) < 4000


def test_long_values_are_shortened(tmp_path: Path) -> None:
    long = "a" * 1_000_000
    for change in (
        {"merges": [[long, "b"]]},
        {"vocab": {long: -1}},
        {long: 1},
        {"type": long},
        {"dropout": [long]},
    ):
        file = huggingface()
        file["model"].update(change)
        with pytest.raises(bpe.BpeError) as caught:
            bpe.load(write(tmp_path / "a.json", json.dumps(file)), "gpt2")
        assert len(str(caught.value)) < 1200
    lines = [*tiktoken_lines(), tiktoken_lines()[0].replace(b" ", b"A" * 100_000 + b" ")]
    with pytest.raises(bpe.BpeError) as caught:
        bpe.load(write(tmp_path / "a.tiktoken", lines), "gpt2")
    assert len(str(caught.value)) < 1000
    assert len(shortened(10**5000)) < 100
    assert len(shortened([long] * 3)) < 400
    assert short_path("/" + long).startswith("/aaa")


def test_text_is_read_from_pipes(call: Call, tmp_path: Path) -> None:
    vocab = tmp_path / "small.pretok"
    made().save(vocab)
    text = "the abc the"
    wanted = call("encode", "-v", str(vocab), "-t", text)[1]
    assert call("encode", "-v", str(vocab), stdin=text.encode())[1] == wanted
    for path in (fifo(tmp_path), Path("/dev/stdin")):
        with running(
            "encode", "-v", str(vocab), str(path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            stdin, stdout = pipes(process)
            if path.name == "fifo":
                path.write_text(text)
            stdin.write(text.encode())
            stdin.close()
            assert stdout.read().decode() == wanted


# ---- Files that change while they are read


def test_a_file_that_grows_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for the bytes that are read, not only for the size before reading."""
    path = write(tmp_path / "a.tiktoken", tiktoken_lines())
    status = path.stat()

    def grown(_: int) -> os.stat_result:
        os.truncate(path, 1 << 40)
        return status

    monkeypatch.setattr(files, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(os, "fstat", grown)
    with deadline(), pytest.raises(VocabularyError, match="more than 1,048,576 bytes"):
        bpe.load(path, "gpt2")


def test_a_gguf_file_that_shrinks(tmp_path: Path) -> None:
    """In a new process, because SIGBUS would kill a reader that maps the file into memory."""
    path = write(tmp_path / "a.gguf", gguf(metadata(tokens=[f"t{i}" for i in range(300_000)])))
    code = (
        "import os, sys, bpe\n"
        "from pretok.formats import gguf_metadata\n"
        "values = gguf_metadata.Reader.values\n"
        "def shrunk(self, wanted):\n"
        "    os.truncate(sys.argv[1], 1 << 16)\n"
        "    return values(self, wanted)\n"
        "gguf_metadata.Reader.values = shrunk\n"
        "try: bpe.load(sys.argv[1])\n"
        "except bpe.VocabularyError as error: print(error)\n"
    )
    found = run_python(code, str(path))
    assert found.returncode == 0, found
    assert "the file is truncated or damaged" in found.stdout


def test_c_reads_a_gguf_file_that_shrinks(c_library: CLibrary, tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", gguf(metadata(tokens=[f"t{i}" for i in range(300_000)])))
    code = (
        "import ctypes, os, sys, threading\n"
        "library = ctypes.CDLL(sys.argv[1])\n"
        "path = os.fsencode(sys.argv[2])\n"
        "size = os.path.getsize(path)\n"
        "done = threading.Event()\n"
        "def change():\n"
        "    while not done.is_set():\n"
        "        os.truncate(path, 4096)\n"
        "        os.truncate(path, size)\n"
        "thread = threading.Thread(target=change)\n"
        "thread.start()\n"
        "for _ in range(200):\n"
        "    made = ctypes.c_void_p()\n"
        "    status = library.pretok_tokenizer_from_file(path, None, ctypes.byref(made), None)\n"
        "    assert status == 6, status\n"
        "done.set()\n"
        "thread.join()\n"
        "print('fine')\n"
    )
    found = run_python(code, str(c_library.path), str(path))
    assert (found.returncode, found.stdout) == (0, "fine\n"), found
