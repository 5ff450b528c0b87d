"""Run beside a `tokenizers` with the classes of version 1.0, and without any.

The version here has the names of 1.0.0rc3, and gives the ids of bpe.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import newer_tokenizers
from command_line import COMMAND, PACKAGE_FOLDER, environment, small_tokenizer

RUN = str(Path(__file__).parents[1] / "bench" / "run.py")
"""The command that measures peers."""
NEWER = '''
"""The names and classes of tokenizers 1.0."""

import json

__version__ = "1.0.0-rc.3"
__all__ = ["Encoding", "Padding", "Tokenizer", "Truncation", "__version__"]


def final(cls):
    def refuse(**options):
        raise TypeError(f"type {cls.__name__} is not an acceptable base type")

    cls.__init_subclass__ = staticmethod(refuse)
    return cls


@final
class Encoding:
    __slots__ = ("ids",)


@final
class Padding:
    __slots__ = ()


@final
class Truncation:
    __slots__ = ()


@final
class Tokenizer:
    __slots__ = ("_tok",)

    @staticmethod
    def from_file(path):
        import bpe

        self = Tokenizer()
        self._tok = bpe.load(path)
        return self

    def encode(self, input, *, add_special_tokens=True):
        encoding = Encoding()
        encoding.ids = self._tok.encode(input, special="allow")
        return encoding

    def encode_batch(self, inputs, *, add_special_tokens=True):
        return [self.encode(text) for text in inputs]
'''
USE = """
import json, sys, warnings

import tokenizers
from bpe.compat import huggingface as hf

tok = tokenizers.Tokenizer.from_file(sys.argv[1])
real = tokenizers.Tokenizer


def error_of(call):
    try:
        return str(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    hf.patch()
    with hf.patched():
        wrapped = hf.wrap(tok)
    hf.unpatch()
ours = hf.Tokenizer.from_file(sys.argv[1])
print(json.dumps({
    "warnings": [(w.category.__name__, str(w.message)) for w in caught],
    "is_unchanged": wrapped is tok and tokenizers.Tokenizer is real,
    "engine": hf.engine(tok),
    "ours": [hf.engine(ours), hf.wrap(ours) is ours, isinstance(ours, hf.Tokenizer)],
    "fallbacks": hf.fallbacks(),
    "wrong": error_of(lambda: hf.engine(3)),
    "strict": error_of(lambda: hf.patch(strict=True)),
    "unknown": error_of(lambda: hf.unknown),
}))
"""
REASON = "tokenizers 1.0.0-rc.3 lacks classes of tokenizers 0.22.2, 0.23.1, 0.23.3"
INSTEAD = "read the file with from_file of bpe.compat.huggingface.Tokenizer"


@pytest.fixture
def newer(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `tokenizers` is the version above."""
    folder = tmp_path / "newer" / "tokenizers"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(NEWER, encoding="utf-8")
    small_tokenizer().save(tmp_path / "small.json")
    return environment(PYTHONPATH=os.pathsep.join([str(folder.parent), str(PACKAGE_FOLDER)]))


def test_patch_and_wrap_say_that_they_change_nothing(newer: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "use.py", "small.json"], cwd=tmp_path, env=newer, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    warnings = seen.pop("warnings")
    assert {category for category, _ in warnings} == {"RuntimeWarning"}
    patched, within, wrapped = (message for _, message in warnings)
    assert patched == within
    assert patched.startswith("patch has no class of transformers to change")
    assert patched.endswith(f": {REASON}; {INSTEAD}")
    assert wrapped == f"wrap changes no tokenizer: {REASON}; {INSTEAD}"
    assert seen == {
        "is_unchanged": True,
        "engine": ["tokenizers", REASON, {"bpe": 0, "tokenizers": 0}],
        "ours": [["bpe", "", {"bpe": 0, "tokenizers": 0}], True, True],
        "fallbacks": {},
        "wrong": "TypeError: expected a tokenizers.Tokenizer or a fast tokenizer of transformers, "
        "got int",
        "strict": f"FallbackError: {patched}",
        "unknown": "AttributeError: module 'bpe.compat.huggingface' has no attribute 'unknown'",
    }


def test_the_variable_that_turns_patch_off_also_turns_the_warning_off(
    newer: dict[str, str], tmp_path: Path
) -> None:
    code = "from bpe.compat import huggingface as hf; hf.patch(); hf.unpatch()"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path,
        env={**newer, "PRETOK_HF": "off"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("is_installed", [True, False], ids=["tokenizers 1.0", "no tokenizers"])
def test_a_tokenizer_without_the_classes_of_tokenizers(
    newer: dict[str, str], is_installed: bool, tmp_path: Path
) -> None:
    code = """
import copy, pickle
from bpe.compat import huggingface as hf

tok = hf.Tokenizer.from_pretrained(".")
assert tok.add_tokens([hf.AddedToken("<new>", lstrip=True)]) == 1
for each in (tok, copy.deepcopy(tok), pickle.loads(pickle.dumps(tok)),
             hf.Tokenizer.from_str(tok.to_str()), hf.Tokenizer.from_buffer(tok.to_str().encode())):
    encoding = pickle.loads(pickle.dumps(each.encode("a  <new>é")))
    assert encoding.offsets == [(0, 0), (0, 1), (1, 8), (8, 9)], encoding.offsets
    assert type(each) is hf.Tokenizer
    assert each.token_to_id("<new>") == (273 if each is tok else 265)  # as in tokenizers 0.23.3
    stream = hf.DecodeStream()
    assert [stream.step(each, id) for id in encoding.ids] == ["<|end|>", "a", "<new>", "é"]
"""
    small_tokenizer().save(tmp_path / "tokenizer.json")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path,
        env=newer if is_installed else newer_tokenizers.beside(None), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


ENGINE = (
    "comparing with hf needs the module tokenizers.pre_tokenizers, which tokenizers 1.0.0-rc.3 "
    "lacks; run `pip install 'tokenizers<1'`"
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hf-check", "small.json"), f"hf-check has nothing to compare with: {REASON}"),
        (("fuzz", "--preset", "gpt2", "--against", "hf", "--seconds", "1"), ENGINE),
        (("identify", "small.json", "--against", "text.txt"), ENGINE),
    ],
)
def test_commands_say_what_is_missing(
    newer: dict[str, str], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "text.txt").write_text("some text", encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=tmp_path, env=newer, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"pretok: error: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("split", "-p", "gpt2"),
            f"tokenizers is not in split: it fails with EngineError: {ENGINE}",
        ),
        (("train",), "tokenizers is not in train: it fails with ImportError: "),
        (("encode", "-v", "small.json"), "list to lists, cold"),
    ],
)
def test_benchmarks_go_on(
    newer: dict[str, str], tmp_path: Path, arguments: tuple[str, ...], line: str
) -> None:
    (tmp_path / "text.txt").write_text("some text\n" * 9, encoding="utf-8")
    command, *options = arguments
    # With PYTHONSAFEPATH the script would not find the modules beside it.
    done = subprocess.run(
        [sys.executable, RUN, command, "text.txt", "--peer", "tokenizers", "--rounds=1", *options],
        cwd=tmp_path, env={**newer, "PYTHONSAFEPATH": ""}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    [found] = [shown for shown in done.stdout.splitlines() if line in shown]
    assert "fails with AttributeError" not in done.stdout
    assert command != "encode" or "tokenizers" in found
