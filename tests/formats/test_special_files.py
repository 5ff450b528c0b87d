"""Paths of anything but a vocabulary: an error that names the path, and never a hang."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import bpe
import pretok
from bpe import VocabularyError
from bpe.formats import files, pretok_file, pretok_tokens
from c_library import CError, CLibrary, CTokenizer
from command_line import Call, pipes, running
from gguf_files import gguf, metadata
from pretok import json_text
from pretok.errors import short_path, shortened
from support import run_python
from vocabulary_files import huggingface, made, tiktoken_lines, write

posix = pytest.mark.skipif(os.name != "posix", reason="files of these kinds are those of POSIX")
pytestmark = posix


@contextmanager
def deadline(seconds: int = 30) -> Iterator[None]:
    """Raise AssertionError in what waits for longer."""

    def fail(*_: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fifo(folder: Path) -> Path:
    os.mkfifo(folder / "fifo")
    return folder / "fifo"


def sparse(folder: Path) -> Path:
    path = write(folder / "sparse", b"")
    os.truncate(path, 100 << 30)
    return path


def listening(folder: Path) -> Path:
    # The name of a socket must be short.
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
    """A path, and what has to be said of it."""
    maker, message = MAKERS[request.param]
    path = maker(tmp_path)
    if request.param in ("endless", "no size") and not path.exists():
        pytest.skip(f"there is no {path}")
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
    assert out == "" or not os.path.exists(path)  # a path that is not there is a pattern
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
    if os.geteuid() != 0:  # whom nothing is forbidden
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


def test_text_still_comes_through_pipes(call: Call, tmp_path: Path) -> None:
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
    """The limit holds for what is read, whatever the file said of its size."""
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
    """In a process of its own, since what reads a mapped file would die of SIGBUS."""
    path = write(tmp_path / "a.gguf", gguf(metadata(tokens=[f"t{i}" for i in range(300_000)])))
    code = (
        "import os, sys, bpe\n"
        "from pretok.formats import gguf_metadata\n"
        "values = gguf_metadata._Reader.values\n"
        "def shrunk(self, wanted):\n"
        "    os.truncate(sys.argv[1], 1 << 16)\n"
        "    return values(self, wanted)\n"
        "gguf_metadata._Reader.values = shrunk\n"
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


# ---- Saving


def test_save_never_replaces_a_device(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for target, kind in (("/dev/null", "a device"), (tmp_path / "fifo", "a pipe")):
        link = tmp_path / f"{Path(target).name}.json"
        link.symlink_to(target)
        before = os.lstat(target)
        with (
            deadline(),
            pytest.raises(VocabularyError, match=f"{link}: expected a regular file .*got {kind}"),
        ):
            made().save(link)
        after = os.lstat(target)
        assert (after.st_mode, after.st_ino) == (before.st_mode, before.st_ino)
        assert link.is_symlink()
    if os.geteuid() == 0:
        node = tmp_path / "node.json"
        try:
            os.mknod(node, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            return
        with pytest.raises(VocabularyError, match="got a device"):
            made().save(node)
        assert node.is_char_device()


def test_train_refuses_its_output_before_the_work(call: Call, tmp_path: Path) -> None:
    (tmp_path / "out.json").symlink_to("/dev/null")
    write(tmp_path / "a.txt", "some text")
    status, out, errors = call(
        "train", str(tmp_path / "a.txt"), "--vocab-size", "258", "-o", str(tmp_path / "out.json")
    )
    assert (status, out) == (2, "")
    assert "not a regular file" in errors


def test_permissions_of_a_replaced_file_stay(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", "old")
    path.chmod(0o640)
    made().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert bpe.load(path).vocab_size == made().vocab_size


def test_a_link_that_loops_is_no_target(tmp_path: Path) -> None:
    link = tmp_path / "a.json"
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links") as caught:
        made().save(link)
    assert caught.value.errno == errno.ELOOP
    assert link.is_symlink()


def test_a_name_as_long_as_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 250 + ".json")
    made().save(path)
    assert path.exists()


@pytest.mark.parametrize("what", ["write", "fsync", "replace"])
def test_a_full_disk_is_said_of_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    path = write(tmp_path / "a.json", "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if what == "write":
        monkeypatch.setattr(os, "fchmod", full)
    else:
        monkeypatch.setattr(os, what, full)
    with pytest.raises(OSError, match="No space left") as caught:
        made().save(path)
    assert caught.value.filename == str(path)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_may_not_be_so_large(tmp_path: Path) -> None:
    """As on a full disk: the system refuses to write more."""
    code = (
        "import resource, signal, sys, bpe\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "tok = bpe.train(['some text'], vocab_size=258, progress=False)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: tok.save(sys.argv[1])\n"
        "except OSError as error: print(error)\n"
    )
    path = tmp_path / "a.json"
    found = run_python(code, str(path))
    assert "File too large" in found.stdout, found
    assert str(path) in found.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_stream_that_is_full(tmp_path: Path) -> None:
    vocab = tmp_path / "small.pretok"
    made().save(vocab)
    with (
        open("/dev/full", "wb") as full,
        running("encode", "-v", str(vocab), "-t", "x", stdout=full, stderr=subprocess.PIPE) as run,
    ):
        errors = run.stderr.read() if run.stderr else b""
    assert b"cannot write to standard output: No space left" in errors
    assert b"Traceback" not in errors


# ---- JSON


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" + "[]," * 1_000_000 + "[]]", "lists and objects"),
        ('{"model":' + "{}," * 1_000_000, "lists and objects"),
        ("[" * 100_000, "lists and objects|too deep"),
        ('{"model": ' + "[" * 100_000, "lists and objects|too deep"),
        ('{"model": {"dropout": NaN}}', "NaN, which JSON does not have"),
        ('{"model": -Infinity}', "Infinity, which JSON does not have"),
        ('{"model": {"a": 1e400}}', "a"),
        ('{"model": ' + "9" * 5000 + "}", "too many digits"),
        ('{"model": {}, "\\ud800": 1}', "not supported"),
        ('{"model": {"vocab": {"\\ud800": 1}, "merges": []}}', "lone surrogate"),
    ],
)
def test_json_of_no_tokenizer(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "a.json", text)
    with pytest.raises(bpe.BpeError, match=message) as caught:
        bpe.load(path, "gpt2")
    assert len(str(caught.value)) < 1000
    with suppress(pretok.PretokError):
        pretok.from_huggingface(path)


def test_json_takes_memory_as_its_size_says(tmp_path: Path) -> None:
    """A list takes 56 bytes, and of `[],` there are 3."""
    import tracemalloc

    path = write(tmp_path / "a.json", b"[" + b"[]," * 500_000 + b"[]]")
    tracemalloc.start()
    try:
        with pytest.raises(bpe.BpeError):
            bpe.load(path, "gpt2")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * path.stat().st_size


def test_large_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAX_BYTES", 1000)
    path = write(tmp_path / "tokenizer.json", json.dumps(huggingface()))
    with pytest.raises(VocabularyError, match="has 1,000 at most"):
        bpe.load(path)
    with pytest.raises(pretok.PretokError, match="1,000 at most"):
        pretok.from_huggingface(path)


def test_merges_as_lists_are_within_the_limits() -> None:
    file: dict[str, Any] = {"merges": [["a", "b"]] * 10_000}
    assert json_text.parse(json.dumps(file, separators=(",", ":")).encode()) == file


# ---- Merges that make much of little


def test_what_merges_make_has_a_limit_in_minbpe_files(tmp_path: Path) -> None:
    lines = ["minbpe v1", "", "0", "97 97"]
    lines += [f"{id} {id}" for id in range(256, 271)]  # "a", 65,536 times
    lines += ["270 270"] * 300
    with pytest.raises(
        VocabularyError, match=r"have 16,[\d,]+ bytes; expected at most [\d,]+ for a vocabulary"
    ):
        bpe.load(write(tmp_path / "a.model", "\n".join([*lines, ""])))


def test_what_merges_make_has_a_limit_in_pretok_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens that do not fit are written out, and read as before."""
    tok = bpe.train(["abcdefgh " * 3] * 3, vocab_size=270, preset="gpt2", progress=False)
    whole = pretok_file.dump(tok.to_spec())
    monkeypatch.setattr(pretok_tokens, "max_merged_bytes", lambda count: 9)
    monkeypatch.setattr(pretok_tokens, "backend", lambda: "python")
    with pytest.raises(VocabularyError, match=r"tokens of more than \d+ bytes"):
        pretok_file.parse(whole)
    tok.save(tmp_path / "a.pretok")
    assert len((tmp_path / "a.pretok").read_bytes()) > len(whole)
    assert bpe.load(tmp_path / "a.pretok") == tok
    monkeypatch.undo()
    assert bpe.load(tmp_path / "a.pretok") == tok
