"""Run beside a `tokenizers` with the classes of version 1.0, which the stand-in cannot build on.

The version here has the names of 1.0.0rc3, and gives the ids of bpe.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
print(json.dumps({
    "warnings": [(w.category.__name__, str(w.message), w.filename) for w in caught],
    "is_unchanged": wrapped is tok and tokenizers.Tokenizer is real,
    "engine": hf.engine(tok),
    "fallbacks": hf.fallbacks(),
    "wrong": error_of(lambda: hf.engine(3)),
    "strict": error_of(lambda: hf.patch(strict=True)),
    "Tokenizer": error_of(lambda: hf.Tokenizer),
    "DecodeStream": error_of(lambda: hf.DecodeStream),
    "unknown": error_of(lambda: hf.unknown),
    "from": error_of(lambda: exec("from bpe.compat.huggingface import Encoding")),
}))
"""
REASON = (
    "bpe stands in for tokenizers 0.22.2, 0.23.1, 0.23.3; tokenizers 1.0.0-rc.3 lacks classes that "
    "the stand-in needs"
)


@pytest.fixture
def newer(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `tokenizers` is the version above."""
    folder = tmp_path / "newer" / "tokenizers"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(NEWER, encoding="utf-8")
    small_tokenizer().save(tmp_path / "small.json")
    return environment(PYTHONPATH=os.pathsep.join([str(folder.parent), str(PACKAGE_FOLDER)]))


def test_the_module_imports_and_steps_aside(newer: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "use.py", "small.json"], cwd=tmp_path, env=newer, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    seen = json.loads(done.stdout)
    warnings = seen.pop("warnings")
    warning = ["RuntimeWarning", f"{REASON}, so its tokenizers serve themselves"]
    assert [warned[:2] for warned in warnings] == [warning] * 3
    assert [Path(warned[2]).name for warned in warnings] == ["use.py", "unsupported.py", "use.py"]
    assert seen == {
        "is_unchanged": True,
        "engine": ["tokenizers", REASON, {"bpe": 0, "tokenizers": 0}],
        "fallbacks": {},
        "wrong": "TypeError: expected a tokenizers.Tokenizer or a fast tokenizer of transformers, "
        "got int",
        "strict": f"FallbackError: {REASON}",
        "Tokenizer": f"ImportError: bpe.compat.huggingface has no Tokenizer here: {REASON}",
        "DecodeStream": f"ImportError: bpe.compat.huggingface has no DecodeStream here: {REASON}",
        "unknown": "AttributeError: module 'bpe.compat.huggingface' has no attribute 'unknown'",
        "from": f"ImportError: bpe.compat.huggingface has no Encoding here: {REASON}",
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


def test_without_tokenizers_the_error_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['tokenizers'] = None; import bpe.compat.huggingface"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: bpe.compat.huggingface needs the package tokenizers; install it with "
        "`pip install tokenizers`"
    )


ENGINE = (
    "comparing with hf needs the module tokenizers.pre_tokenizers, which tokenizers 1.0.0-rc.3 "
    "lacks; run `pip install 'tokenizers<1'`"
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hf-check", "small.json"), f"hf-check has nothing to compare: {REASON}"),
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
