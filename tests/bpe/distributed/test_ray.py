"""bpe.distributed has the results of one process, also if workers die."""

from __future__ import annotations

import gc
import inspect
import os
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe.corpus.options import make_options
from bpe.distributed import engine, groups, training
from bpe.distributed.cluster import share
from bpe.training.train import Training
from command_line import PACKAGE_FOLDER, Call, caller, error_of
from corpora import content, random_documents, tokenizer, write, write_json_lines
from paths import HELPERS
from ray_worker import DEATHS, SIZES, WithSetup
from support import need

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="workers are killed by POSIX signals"),
    pytest.mark.filterwarnings("ignore"),  # warnings of ray
]
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
        for module in (engine, training):
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
    monkeypatch.setattr(training, "GROUP", 5_000)
    monkeypatch.chdir(tmp_path)
    write_json_lines(Path("a.jsonl"), random_documents(900, 21))
    write(Path("b.txt"), "".join(random_documents(900, 22)).encode())
    for number in range(5):
        write_json_lines(Path(f"c{number}.jsonl.gz"), random_documents(100, number))
    return ["a.jsonl", "b.txt", *(f"c{number}.jsonl.gz" for number in range(5))]


@pytest.mark.parametrize(
    ("local", "distributed"),
    [(bpe.corpus.tokenize, "tokenize"), (bpe.train, "train")],
    ids=["tokenize", "train"],
)
def test_the_arguments_are_those_of_one_process(
    local: Callable[..., Any], distributed: str
) -> None:
    expected = dict(inspect.signature(local).parameters)
    del expected["threads"]
    assert inspect.signature(getattr(bpe.distributed, distributed)).parameters == expected


@pytest.mark.parametrize(
    ("public", "checks"), [(bpe.corpus.tokenize, make_options), (bpe.train, Training.of)]
)
def test_the_checks_have_the_parameters_of_the_functions(
    public: Callable[..., Any], checks: Callable[..., Any]
) -> None:
    """Both signatures state each parameter's name, type and default, so they must be equal."""
    parameters = inspect.signature(public).parameters
    for name, parameter in inspect.signature(checks).parameters.items():
        if name != "tokenizer":
            assert parameter.annotation == parameters[name].annotation, name
            assert parameter.default in (inspect.Parameter.empty, parameters[name].default), name


def test_the_files_are_those_of_one_process(cluster: Path, inputs: list[str]) -> None:
    tok = tokenizer("python")
    options = {"validation": 0.2, "shard_tokens": 4000, "layout": "megatron", **OPTIONS}
    bpe.corpus.tokenize(inputs, "one", tok, **options)
    corpus = bpe.distributed.tokenize(inputs, "many", tok, **options)
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
        bpe.distributed.tokenize(inputs, "raised", tok, shuffle=2)
    documents = random_documents(300, 23)
    write_json_lines(Path("bad.jsonl"), documents)
    with open("bad.jsonl", "ab") as file:
        file.write(b'{"text": 1}\n{"text": "' + b"long " * 4000 + b'\xff"}\n{"text": "end"}\n')
    options = {"shuffle": 2, "pack": 16, "pad": 0, **OPTIONS}
    paths = [*inputs, "bad.jsonl"]
    with pytest.raises(bpe.TextFileError, match=r"^bad\.jsonl, line 301: 'text' is of type"):
        bpe.distributed.tokenize(paths, "damaged", tok, **options)
    options["skip_bad"] = True
    bpe.corpus.tokenize(paths, "one", tok, **options)
    corpus = bpe.distributed.tokenize(paths, "many", tok, **options)
    assert corpus.manifest.skipped == 2
    assert content(Path("many")) == content(Path("one"))


@pytest.mark.parametrize("tie_break", ["huggingface", "first-seen"])
def test_the_merges_are_those_of_one_process(
    cluster: Path, inputs: list[str], tie_break: bpe.TieBreak
) -> None:
    source = [Path(name) for name in inputs]
    options: dict[str, Any] = {"vocab_size": 330, "special_tokens": ["<s>"], "tie_break": tie_break}
    assert bpe.distributed.train(source, **options) == bpe.train(source, **options)
    assert (cluster / "count").exists()
    texts: list[Any] = [*random_documents(20, 24), Path(inputs[0]), bytearray(b"bytes bytes")]
    assert bpe.distributed.train(iter(texts), **options) == bpe.train(iter(texts), **options)
    write(Path("bad.jsonl"), b"{}\n")
    with pytest.raises(bpe.TextFileError, match=r"^bad\.jsonl, line 1: no 'text'"):
        bpe.distributed.train([*source, Path("bad.jsonl")], **options)


def test_the_command_line(
    cluster: Path,
    inputs: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    call: Call = caller(monkeypatch, capsys)
    tokenizer("python").save("v.pretok")
    monkeypatch.setattr("bpe.distributed.connect", lambda address: None)
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
