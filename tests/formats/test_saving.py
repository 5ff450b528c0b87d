"""Saving to devices, pipes, links and full disks: errors lose no file."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
from pathlib import Path

import pytest

import bpe
from bpe import VocabularyError
from command_line import Call, running
from interrupts import deadline
from support import run_python
from vocabulary_files import made, write

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX devices, pipes and links")
pytestmark = posix


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


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "a.json"
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links") as caught:
        made().save(link)
    assert caught.value.errno == errno.ELOOP
    assert link.is_symlink()


def test_a_name_of_the_greatest_length(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 250 + ".json")
    made().save(path)
    assert path.exists()


@pytest.mark.parametrize("what", ["write", "fsync", "replace"])
def test_the_error_of_a_full_disk_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    path = write(tmp_path / "a.json", "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    # Saving calls fchmod right after it writes the data.
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


def test_a_file_above_the_size_limit_of_the_system(tmp_path: Path) -> None:
    """As on a full disk, the system refuses to write more."""
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


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_standard_output_on_a_full_disk(tmp_path: Path) -> None:
    vocab = tmp_path / "small.pretok"
    made().save(vocab)
    with (
        open("/dev/full", "wb") as full,
        running("encode", "-v", str(vocab), "-t", "x", stdout=full, stderr=subprocess.PIPE) as run,
    ):
        errors = run.stderr.read() if run.stderr else b""
    assert b"cannot write to standard output: No space left" in errors
    assert b"Traceback" not in errors
