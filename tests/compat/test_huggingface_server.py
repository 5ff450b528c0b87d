"""Programs that use the patch: a web server, and the processes that a program starts."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import huggingface_pairs as pairs
import transformers_calls as calls
from bpe.compat import huggingface as hf
from command_line import LONGEST, environment
from paths import EXAMPLES
from support import need

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")
TEXTS = ["the é quick 🦙 fox 日本", "", "the <s>fox", "x" * 100, "e\u0301 \r\n\t the"] * 4


@pytest.fixture
def tok(tmp_path: Path) -> Any:
    """Return a tokenizer that is saved as a model in `tmp_path`."""
    tok = calls.make(pairs.base(), {}, tmp_path)
    tok.chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    tok.save_pretrained(tmp_path)
    return tok


def test_the_server_answers_as_the_real_tokenizer(tok: Any, tmp_path: Path) -> None:
    for name in ("fastapi", "uvicorn"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    arguments = [sys.executable, str(EXAMPLES / "fastapi_server.py"), str(tmp_path)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment())
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split()[-1])

        def post(path: str, text: Any, name: str = "text") -> tuple[int, str]:
            connection = HTTPConnection("127.0.0.1", port, timeout=LONGEST)
            headers = {"Content-Type": "application/json"}
            connection.request("POST", path, json.dumps({name: text}), headers)
            response = connection.getresponse()
            body = response.read().decode()
            connection.close()
            return response.status, body

        with ThreadPoolExecutor(4) as pool:
            tokenized = list(pool.map(lambda text: post("/tokenize", text), TEXTS))
            answers = list(pool.map(lambda text: post("/generate", text), TEXTS))
        for text, (status, body), answer in zip(TEXTS, tokenized, answers, strict=True):
            expected = tok(text, return_offsets_mapping=True)
            assert status == 200
            assert json.loads(body) == {
                "ids": expected["input_ids"],
                "offsets": [list(span) for span in expected["offset_mapping"]],
            }
            assert answer == (200, tok.decode(expected["input_ids"], skip_special_tokens=True))
        assert post("/tokenize", "x" * 1_000_001)[0] == 422
        messages = [{"role": "user", "content": "the quick fox\n" * 2000}]
        for content in ("the", "fox"):
            messages.append({"role": "user", "content": content})
            ids = hf.encode_chat(tok, messages).ids.tolist()
            answer = post("/chat", messages, "messages")
            assert answer == (200, tok.decode(ids, skip_special_tokens=True))
    finally:
        process.terminate()
        process.wait(LONGEST)


PROGRAM = """
import multiprocessing, sys

def show(folder, children):
    from transformers import PreTrainedTokenizerFast  # takes half the time of AutoTokenizer
    print(type(PreTrainedTokenizerFast.from_pretrained(folder)._tokenizer).__module__, flush=True)
    if children:
        start(folder, children)

def start(folder, children):
    context = multiprocessing.get_context(children[0])
    process = context.Process(target=show, args=(folder, children[1:]))
    process.start()
    process.join()
    assert process.exitcode == 0

if __name__ == "__main__":
    assert sys.argv[0] == __file__ and sys.modules["__main__"].show is show
    for method in sys.argv[2:]:
        show(sys.argv[1], [method, "spawn"])
"""


@pytest.mark.parametrize(
    ("setting", "expected"), [("on", "bpe.compat.huggingface.tokenizers"), ("off", "tokenizers")]
)
def test_processes_of_a_program_are_patched(
    tok: Any, tmp_path: Path, setting: str, expected: str
) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "a_program.py").write_text(PROGRAM, encoding="utf-8")
    # Without the patch, the way to start a process matters less, and each start takes seconds.
    methods = multiprocessing.get_all_start_methods() if setting == "on" else ["spawn"]
    module = "bpe.compat.huggingface.run"
    output = subprocess.run(
        [sys.executable, "-m", module, "package.a_program", str(tmp_path), *methods],
        cwd=tmp_path,
        env=environment(PRETOK_HF=setting),
        stdout=subprocess.PIPE,
        text=True,
        timeout=LONGEST,
        check=True,
    ).stdout
    assert output.split() == [expected] * 3 * len(methods)


SCRIPT = """
import importlib, sys

def show(folder, child=""):
    import tokenizers
    from transformers import PreTrainedTokenizerFast  # takes half the time of AutoTokenizer
    assert sys.argv[1] == folder
    for tok in (
        PreTrainedTokenizerFast.from_pretrained(folder)._tokenizer,
        tokenizers.Tokenizer.from_file(folder + "/tokenizer.json"),
    ):
        print(type(tok).__module__, flush=True)
    if child:
        start(folder, *child.split("."), [])

def start(folder, package, method, children):
    context = importlib.import_module(package).get_context(method)
    process = context.Process(target=show, args=(folder, *children))
    process.start()
    process.join()
    assert process.exitcode == 0

if __name__ == "__main__":
    from bpe.compat import huggingface as hf

    folder, way = sys.argv[1:]
    start(folder, *way.split("."), [])  # a fork server now runs without the patch
    with hf.patched(factories=True, processes=True):
        start(folder, *way.split("."), [way])
    if way == "multiprocessing.spawn":  # each process takes seconds to import transformers
        with hf.patched(factories=True):
            start(folder, *way.split("."), [])
        with hf.patched(processes=True):
            start(folder, *way.split("."), [])
"""


# Workers of torch's DataLoader come from multiprocessing, and those of datasets from multiprocess.
@pytest.mark.parametrize("package", ["multiprocessing", "multiprocess"])
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_started_processes_of_a_script_are_patched(
    tok: Any, tmp_path: Path, package: str, method: str
) -> None:
    if package == "multiprocess":
        need(package)
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{sys.platform} has no {method}")
    script = tmp_path / "a_script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    output = subprocess.run(
        [sys.executable, str(script), str(tmp_path), f"{package}.{method}"],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        timeout=LONGEST,
        check=True,
    ).stdout
    ours, real = "bpe.compat.huggingface.tokenizers", "tokenizers"
    parts = [real, real, ours, real] if (package, method) == ("multiprocessing", "spawn") else []
    assert output.split() == [real, real, *[ours] * 4, *parts]


def test_a_program_must_be_named() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "bpe.compat.huggingface.run"], env=environment(),
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    usage = "Usage: python -m bpe.compat.huggingface.run MODULE [ARGUMENTS]..."
    assert (result.returncode, result.stderr.splitlines()[-1]) == (1, usage)
