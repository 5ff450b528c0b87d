"""Fixtures and settings of the whole suite."""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import built_once
from built_once import Built, library_sources
from c_library import CLibrary, build
from command_line import PACKAGE_FOLDER, Call, caller, small_tokenizer
from paths import CPP
from pretok import registry
from pretok.cli import input as cli_input
from pretok.machine.backend import BackendName
from support import BACKENDS, REPORT, SEED, native_missing, need_native

# SEED comes from the environment variable PRETOK_SEED. If it is None, hypothesis tries the same
# examples in each run. It has no database, so that no run depends on an earlier run. It has no
# deadline, because a busy machine makes any example slow.
settings.register_profile(
    "pretok",
    derandomize=SEED is None,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("pretok")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Pass SEED to hypothesis, enable SIGINT, and set how pytest-xdist divides the tests.

    "worksteal" gives a worker neighbouring tests. These need the same vocabularies and fixtures, so
    few workers load each of them.
    """
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "worksteal"
    if SEED is not None:
        config.option.hypothesis_seed = str(SEED)
    # In a background job of a shell, Python inherits that SIGINT is ignored, and then installs no
    # handler. Tests of Ctrl-C need the handler.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exclude the ten thousand test items, which live until the end, from garbage collection.

    Without garbage collection, pytest makes them in two thirds of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> BackendName:
    """Each backend in turn. If the native backend is missing, its tests are skipped.

    With PRETOK_REQUIRE_NATIVE=1, they fail instead.
    """
    name: BackendName = request.param
    if name == "native":
        need_native()
    return name


@pytest.fixture(scope="session")
def native() -> BackendName:
    """The native backend, for tests of only this backend."""
    need_native()
    return "native"


@pytest.fixture(scope="session", autouse=True)
def all_tables() -> None:
    """Let new tokenizers make all tables for their first text.

    Else short texts would test only the slower way of the first texts, which has its own tests.
    """
    _set_first_size(-1)


def _set_first_size(size: int) -> None:
    if not native_missing():
        from pretok import _core

        _core.set_first_size(size)


@pytest.fixture
def first_texts() -> Iterator[None]:
    """Let new tokenizers encode their first texts as they do outside of tests."""
    _set_first_size(2048)
    yield
    _set_first_size(-1)


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Hugging Face's tokenizers use one thread.

    With several threads, it reports any one of several errors in a batch, so a test could not
    predict the error.
    """
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture
def no_logs() -> Iterator[None]:
    """Suppress logging."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """A function that runs `main` in this process; returns its status, output and errors."""
    return caller(monkeypatch, capsys)


@pytest.fixture(scope="session")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a tokenizer.json that stores command_line.small_tokenizer()."""
    path = tmp_path_factory.mktemp("vocab") / "small.json"
    small_tokenizer().save(path)
    return str(path)


@pytest.fixture
def given(vocab: str, backend: BackendName) -> list[str]:
    """The command-line options for the small vocabulary and the backend."""
    return ["--vocab", vocab, "--backend", backend]


@pytest.fixture(params=[1, 3, 64])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands read blocks of few bytes, which end inside lines and UTF-8 sequences."""
    monkeypatch.setattr(cli_input, "BLOCK", request.param)


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A function that builds programs or libraries once: built_once.built with pytest's cache."""
    spare = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        spare = spare.parent
    cache = getattr(request.config, "cache", None)
    return lambda name, sources, build: built_once.built(cache, name, sources, build, spare)


@pytest.fixture(scope="session")
def c_library(built: Built) -> CLibrary:
    """The C library; skips tests that cannot build it."""
    if not (CPP / "amalgamate.py").exists():
        pytest.skip("this checkout has no C++ sources")
    folder = built("c_library", library_sources(), build)
    return CLibrary(folder / "libpretok.so")


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test a copy of the registry, so the presets that it registers disappear after it."""
    for name in ("_presets", "_by_name", "_pre_tokenizers"):
        monkeypatch.setattr(registry, name, dict(getattr(registry, name)))
    monkeypatch.setattr(registry, "_installed", None)


def pytest_report_header() -> str:
    """Return the folder of the tested pretok.

    `python -m pytest` may import the sources in the current folder, which have no C++ core, instead
    of the installed package. The report shows the mistake.
    """
    return f"pretok: {PACKAGE_FOLDER}, {native_missing() or 'with the native backend'}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print SEED, and the lines of support.REPORT."""
    if SEED is not None:
        terminalreporter.section(f"random tests: PRETOK_SEED={SEED} repeats them")
    if REPORT:
        terminalreporter.section("cases of the exhaustive tests")
        for line in REPORT:
            terminalreporter.write_line(line)
