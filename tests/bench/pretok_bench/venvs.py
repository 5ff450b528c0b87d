"""Virtual environments for packages that cannot be installed beside their other versions.

The benchmark makes them with the running Python, and imports the package into its own process,
under another name. So pretok and the package still take turns on one core.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import distributions
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

from pretok_bench.peer import CannotError, in_one_line

VARIABLE = "PRETOK_BENCH_VENVS"
"""The environment variable for the folder of the environments; by default a temporary folder."""
PIP = (
    "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "20",
    "install", "--quiet", "--no-deps", "--only-binary", ":all:",
)  # fmt: skip


def site_packages(requirement: str, name: str) -> Path:
    """Return the folder with the package `requirement`, such as "tokenizers==1.0.0rc3".

    The folder is in an environment called `name`, which is made unless it has this package already.
    Raises CannotError if pip cannot install the package.
    """
    root = _folder() / name
    site = _site(root)
    if installed_version(site, requirement) is None:
        with _told(f"installing {requirement} in {root}"):
            _install(requirement, root)
    return site


def installed_version(site: Path, requirement: str) -> str | None:
    """Return the version of the package `requirement` in `site`; None if it is another one."""
    package, _, version = requirement.partition("==")
    found = (each.version for each in distributions(name=package, path=[str(site)]))
    return next((each for each in found if each == version), None)


def import_as(name: str, folder: Path) -> None:
    """Import the package in `folder` as the module `name`."""
    spec = spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(sys.modules[name])
    except BaseException:
        del sys.modules[name]
        raise


def _install(requirement: str, root: Path) -> None:
    """Make the environment `root` and install `requirement`."""
    has_pip = find_spec("pip") is not None
    try:
        venv.create(root, clear=True, symlinks=os.name != "nt", with_pip=not has_pip)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotError(f"no environment can be made in {root}: {error}") from None
    python = root / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    command = [sys.executable if has_pip else python, *PIP, "--target", _site(root), requirement]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CannotError(f"pip cannot install {requirement}: {_reason(done.stderr)}")
    if installed_version(_site(root), requirement) is None:
        raise CannotError(f"pip installed another version than {requirement} in {root}")


def _reason(errors: str) -> str:
    """Return the most telling line of the errors of pip."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    cause = re.search(r"(NewConnectionError|NameResolutionError|ConnectTimeoutError|ProxyError)",
                      errors)  # fmt: skip
    if cause:
        return f"the package index cannot be reached ({cause[1]})"
    marked = [line for line in lines if line.startswith("ERROR:")]
    message = (marked or lines or ["no message"])[-1].removeprefix("ERROR:")
    return in_one_line(message)


def _site(root: Path) -> Path:
    if os.name == "nt":
        return root / "Lib" / "site-packages"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return root / "lib" / version / "site-packages"


def _folder() -> Path:
    if not os.environ.get(VARIABLE):
        os.environ[VARIABLE] = _temporary().name  # for processes that this one starts, too
    return Path(os.environ[VARIABLE])


@cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is deleted when this process ends."""
    return tempfile.TemporaryDirectory(prefix="pretok-bench-venvs-")


@contextmanager
def _told(message: str) -> Iterator[None]:
    """Show `message` on a terminal as long as the context lasts."""
    is_terminal = sys.stderr.isatty()
    if is_terminal:
        print(f"{message} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
