"""An engine of Ray has the results of one process, also if workers die."""

from __future__ import annotations

import gc
import inspect
import os
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bpe
from bpe.corpus.options import make_options
from bpe.distributed import RayEngine, counting, encoding, groups
from bpe.distributed.cluster import share
from bpe.training import work_folder
from command_line import PACKAGE_FOLDER, Call, caller, error_of
from corpora import content, random_documents, tokenizer, write, write_json_lines
from paths import HELPERS
from ray_worker import DEATHS, SIZES, WithSetup
from support import need

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="workers are killed by POSIX signals"),
    pytest.mark.filterwarnings("ignore"),  # warnings of ray
]
RAY = RayEngine()
OPTIONS: dict[str, Any] = {"special": "text", "eos": "<s>", "progress": False}

ENVIRONMENT = {
    "AUTH_MODE": "disabled",
    "USAGE_STATS_ENABLED": "0",
    # A busy machine may be slow to start processes.
    "NUM_REDIS_GET_RETRIES": "1000",
    "worker_niceness": "0",
    "worker_register_timeout_seconds": "1000",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """A cluster with 2 CPUs, where the helper ray_worker.py kills some workers.

    Yields a folder that has a file for each kind of task in which a worker died.
    """
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # paths of sockets must be short
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE_FOLDER), str(HELPERS)]))
        patch.setenv(DEATHS, str(folder))
        for name, value in ENVIRONMENT.items():
            patch.setenv(f"RAY_{name}", value)
        patch.chdir(folder)  # workers import from here before PYTHONPATH
        ray = need("ray")  # reads the environment
        for module in (counting, encoding):
            patch.setattr(module, "share", lambda ray, value: share(ray, WithSetup(value)))
        ray.init(
            "local",
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=100 << 20,
            log_to_driver=False,
            logging_level="ERROR",
            _temp_dir=str(folder),
        )
        try:
            yield folder
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # ray does not wait for its processes
                ray.shutdown()
                gc.collect()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files of several groups, with long documents, named relative to the current folder."""
    for module, name, size in SIZES:  # messages about damage depend on these sizes
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(groups, "GROUP", 20_000)
    monkeypatch.setattr(counting, "GROUP", 5_000)
    monkeypatch.chdir(tmp_path)
    write_json_lines(Path("a.jsonl"), random_documents(900, 21))
    write(Path("b.txt"), "".join(random_documents(900, 22)).encode())
    for number in range(5):
        write_json_lines(Path(f"c{number}.jsonl.gz"), random_documents(100, number))
    return ["a.jsonl", "b.txt", *(f"c{number}.jsonl.gz" for number in range(5))]


def test_the_checks_have_the_parameters_of_tokenize() -> None:
    """Both signatures state each parameter's name, type and default, so they must be equal."""
    parameters = inspect.signature(bpe.corpus.tokenize).parameters
    for name, parameter in inspect.signature(make_options).parameters.items():
        if name != "tokenizer":
            assert parameter.annotation == parameters[name].annotation, name
            assert parameter.default == parameters[name].default, name


def test_threads_and_an_engine_are_not_combined(cluster: Path, inputs: list[str]) -> None:
    for call in (
        lambda: bpe.corpus.tokenize(inputs, "x", tokenizer("python"), threads=2, engine=RAY),
        lambda: bpe.train([Path("a.jsonl")], 300, threads=2, engine=RAY),
    ):
        with pytest.raises(ValueError, match=r"^pass threads= or engine=, not both"):
            call()


@pytest.mark.parametrize(
    "error",
    [
        ValueError("Invalid address format: nonsense"),
        ConnectionError("Could not find any running Ray instance. Please specify the one"),
    ],
)
def test_a_wrong_address_is_explained(
    error: Exception, monkeypatch: pytest.MonkeyPatch, call: Call, tmp_path: Path
) -> None:
    def init(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("bpe.distributed.cluster.imported", lambda: SimpleNamespace(init=init))
    shown = (
        f"cannot connect to a Ray cluster at 'nonsense': {str(error).partition('. ')[0]}; expected "
        "the address of a node, such as '10.0.0.1:6379', 'auto' for the cluster of this machine, "
        "or 'local' to start one"
    )
    with pytest.raises(type(error)) as raised:
        bpe.distributed.ray("nonsense")
    assert str(raised.value) == shown
    tokenizer("python").save(tmp_path / "v.pretok")
    write(tmp_path / "a.txt", b"text")
    arguments = ["-v", str(tmp_path / "v.pretok"), "-o", str(tmp_path / "out"), "--ray", "nonsense"]
    assert error_of(call, "tokenize", str(tmp_path / "a.txt"), *arguments) == shown
    arguments = ["-n", "270", "-o", str(tmp_path / "out.json"), "--ray", "nonsense"]
    assert error_of(call, "train", str(tmp_path / "a.txt"), *arguments) == shown


def test_the_files_are_those_of_one_process(cluster: Path, inputs: list[str]) -> None:
    tok = tokenizer("python")
    options = {"validation": 0.2, "shard_tokens": 4000, "layout": "megatron", **OPTIONS}
    bpe.corpus.tokenize(inputs, "one", tok, **options)
    corpus = bpe.corpus.tokenize(inputs, "many", tok, **options, engine=RAY)
    assert corpus.manifest.documents == 1401
    assert content(Path("many")) == content(Path("one"))
    # Workers died in tasks that read, that encode, and that do both.
    assert (cluster / "read").exists()
    assert (cluster / "encode").exists()
    assert (cluster / "read_and_encode").exists()
    # Each worker has unpickled the tokenizer once, for all its tasks.
    loads = Counter((cluster / "unpickled").read_text().split())
    assert set(loads.values()) == {1}


def test_errors_are_those_of_one_process(cluster: Path, inputs: list[str]) -> None:
    tok = tokenizer("python")
    with pytest.raises(bpe.CorpusError, match=r"^a\.jsonl, line \d+: .*'<s>' at byte \d+; pass"):
        bpe.corpus.tokenize(inputs, "raised", tok, shuffle=2, engine=RAY)
    documents = random_documents(300, 23)
    write_json_lines(Path("bad.jsonl"), documents)
    with open("bad.jsonl", "ab") as file:
        file.write(b'{"text": 1}\n{"text": "' + b"long " * 4000 + b'\xff"}\n{"text": "end"}\n')
    options = {"shuffle": 2, "pack": 16, "pad": 0, **OPTIONS}
    paths = [*inputs, "bad.jsonl"]
    with pytest.raises(bpe.TextFileError, match=r"^bad\.jsonl, line 301: 'text' is of type"):
        bpe.corpus.tokenize(paths, "damaged", tok, **options, engine=RAY)
    options["skip_bad"] = True
    bpe.corpus.tokenize(paths, "one", tok, **options)
    corpus = bpe.corpus.tokenize(paths, "many", tok, **options, engine=RAY)
    assert corpus.manifest.skipped == 2
    assert content(Path("many")) == content(Path("one"))


@pytest.mark.parametrize("tie_break", ["huggingface", "first-seen"])
def test_the_merges_are_those_of_one_process(
    cluster: Path, inputs: list[str], tie_break: bpe.TieBreak, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    source = [Path(name) for name in inputs]
    options: dict[str, Any] = {"vocab_size": 330, "special_tokens": ["<s>"], "tie_break": tie_break}
    expected = bpe.train(source, **options)
    assert bpe.train(source, engine=RAY, **options) == expected
    assert (cluster / "count_run").exists()
    assert bpe.train(source, engine=RAY, **options, memory_mb=100_000) == expected
    monkeypatch.setattr(counting, "RUNS_PER_STATE", 1)
    monkeypatch.setattr(work_folder, "FAN_IN", 3)
    finish = work_folder.WorkFolder.finish
    monkeypatch.setattr(work_folder.WorkFolder, "finish", interrupt)
    with pytest.raises(KeyboardInterrupt):
        bpe.train(source, engine=RAY, **options, work_dir=tie_break)
    monkeypatch.setattr(work_folder.WorkFolder, "finish", finish)
    assert bpe.train(source, engine=RAY, **options, work_dir=tie_break) == expected
    texts: list[Any] = [*random_documents(20, 24), Path(inputs[0]), bytearray(b"bytes bytes")]
    assert bpe.train(iter(texts), engine=RAY, **options) == bpe.train(iter(texts), **options)
    write(Path("bad.jsonl"), b"{}\n")
    with pytest.raises(bpe.TextFileError, match=r"^bad\.jsonl, line 1: no 'text'"):
        bpe.train([*source, Path("bad.jsonl")], engine=RAY, **options)


def test_the_command_line(
    cluster: Path,
    inputs: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    call: Call = caller(monkeypatch, capsys)
    tokenizer("python").save("v.pretok")
    monkeypatch.setattr("bpe.distributed.ray", lambda address: RAY)
    arguments = ["tokenize", inputs[0], "-v", "v.pretok", "--special", "text"]
    assert call(*arguments, "-o", "one")[0] == 0
    assert call(*arguments, "-o", "many", "--ray", "local")[0] == 0
    assert content(Path("many")) == content(Path("one"))
    message = error_of(call, *arguments, "-o", "x", "--ray", "local", "--threads", "2")
    assert message.startswith("--threads cannot be used with --ray")
    arguments = ["train", *arguments[1:2], "-n", "270"]
    assert call(*arguments, "-o", "one.json")[0] == 0
    assert call(*arguments, "-o", "many.json", "--ray", "local")[0] == 0
    assert Path("many.json").read_bytes() == Path("one.json").read_bytes()
    message = error_of(call, *arguments, "-o", "x.json", "--ray", "local", "--threads", "2")
    assert message.startswith("--threads cannot be used with --ray")
