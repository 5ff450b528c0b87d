"""Presets of installed packages, and of modules that the command line names."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import pretok
from command_line import PACKAGE_FOLDER, Call, environment
from paths import EXAMPLE_PLUGIN
from pretok import (
    DuplicatePresetError,
    Preset,
    PresetWarning,
    PreTokenizer,
    Run,
    UnknownPresetError,
)
from pretok.charsets import LETTER
from pretok.machine.backend import BackendName
from support import run_python

WORDS = 'Preset("{name}", (Run(LETTER),), aliases={aliases}, pattern="")'

Install = Callable[..., None]
pytestmark = pytest.mark.usefixtures("own_registry")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make an importable package from its name, the code of its module, and its entry points."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(package: str, code: str, **entry_points: str) -> None:
        module = package.replace("-", "_")
        code = f"from pretok import Preset, Run\nfrom pretok.charsets import LETTER\n{code}\n"
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {module}:{value}" for name, value in entry_points.items()]
        (info / "entry_points.txt").write_text("[pretok.presets]\n" + "\n".join(lines) + "\n")
        monkeypatch.delitem(sys.modules, module, raising=False)
        importlib.invalidate_caches()

    return install


def _words(name: str, *aliases: str) -> str:
    return WORDS.format(name=name, aliases=aliases)


def test_a_preset_is_found_by_name_and_alias(install: Install, backend: BackendName) -> None:
    install("one-package", f"A = {_words('mine', 'ours')}", anything="A")
    for name in ("mine", "ours"):
        tokenizer = pretok.get(name, backend=backend)
        assert tokenizer.split("ab 1") == ["ab", " 1"]
        assert tokenizer.preset.name == "mine"
    assert pretok.presets()[-1] is pretok.get("mine").preset
    again = pickle.loads(pickle.dumps(pretok.get("mine", backend=backend)))
    assert isinstance(again, PreTokenizer)
    assert again == pretok.get("mine", backend=backend)


def test_an_entry_point_may_give_several_presets(install: Install) -> None:
    install(
        "two-package",
        f"A = [{_words('one')}, {_words('two')}]\ndef b(): yield {_words('three')}\n"
        f"def c(): return {_words('four')}",
        a="A",
        b="b",
        c="c",
    )
    assert [preset.name for preset in pretok.presets()][-4:] == ["one", "two", "three", "four"]


def test_suggested_names_include_those_of_packages(install: Install) -> None:
    install("one-package", f"A = {_words('peculiar')}", a="A")
    with pytest.raises(UnknownPresetError, match="did you mean 'peculiar'"):
        pretok.get("peculier")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_module", r"ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("", "AttributeError: .* no attribute 'A'"),
        ("A = 5", "TypeError: 'int' object is not iterable"),
        ("A = [5]", "TypeError: expected only Presets from the entry point, got"),
        ("def A(): raise OSError('no')", "OSError: no"),
        ("A = Preset('has space', (Run(LETTER),))", "DefinitionError: preset name 'has space'"),
        ("import pretok; A = pretok.get('other')", "UnknownPresetError: unknown preset 'other'"),
        (f"A = {_words('gpt2')}", None),
    ],
)
def test_a_broken_package_is_named_and_breaks_no_other(
    install: Install, code: str, message: str | None
) -> None:
    install("broken-package", code, broken="A")
    install("other-package", f"B = {_words('other')}", good="B")
    expected = (
        rf"the presets of package broken-package 1\.0 \(entry point broken = broken_package:A\) "
        rf"cannot be used: {message}"
        if message
        else r"'gpt2' of package broken-package 1\.0 \(.*\) is already a name of preset 'gpt2'"
    )
    with pytest.warns(PresetWarning, match=expected):
        assert pretok.get("other").preset.name == "other"
    assert pretok.get("gpt2").preset.pattern
    assert [preset.name for preset in pretok.presets()].count("gpt2") == 1


def test_a_warning_that_is_an_error_is_raised_again(install: Install) -> None:
    install("broken-package", "1 / 0", broken="A")
    for _ in range(2):  # the test suite turns warnings into errors
        with pytest.raises(PresetWarning, match="broken-package"):
            pretok.presets()
    assert pretok.get("gpt2").preset.name == "gpt2"


def test_two_packages_with_one_name(install: Install) -> None:
    install("one-package", f"A = {_words('mine', 'first')}", a="A")
    install("two-package", f"A = {_words('second', 'mine')}", a="A")
    install("three-package", f"A = {_words('mine', 'third')}", a="A")
    with pytest.raises(DuplicatePresetError, match="'mine'") as raised:
        pretok.get("mine")
    message = str(raised.value)
    assert message.count("(entry point a = ") == 2
    assert "(entry point a = one_package:A)" in message
    assert str(pickle.loads(pickle.dumps(raised.value))) == message
    # The other names of these presets are unique, so they still find the presets.
    assert pretok.get("first").preset.name == "mine"
    assert pretok.get("second").preset.name == "second"
    names = [preset.name for preset in pretok.presets()]
    assert "second" in names
    assert "mine" not in names


def test_two_packages_with_one_preset(install: Install) -> None:
    install("one-package", f"A = {_words('mine')}", a="A")
    install("two-package", f"A = {_words('mine')}", a="A")
    assert pretok.get("mine").preset.name == "mine"


def test_registered_presets_override_installed_ones(install: Install) -> None:
    install("one-package", f"A = {_words('mine')}", a="A")
    own = pretok.register(Preset("mine", (Run(LETTER, at_most=2),)))
    assert pretok.get("mine").preset is own
    with pytest.warns(PresetWarning, match="one-package"):
        assert [preset for preset in pretok.presets() if preset.name == "mine"] == [own]


def test_patterns_of_packages_are_found(install: Install) -> None:
    code = r"""A = Preset("mine", (Run(LETTER), Run(~LETTER)), pattern=r"\p{L}+|\P{L}+")"""
    install("one-package", code, a="A")
    assert pretok.from_pattern(r"\p{L}++|[^\p{L}]+").preset.name == "mine"


def test_packages_are_searched_only_when_needed() -> None:
    done = run_python(
        "import sys, pretok\n"
        "pretok.get('gpt2').split('a b')\n"
        "pretok.from_pattern(pretok.get('llama3').preset.pattern)\n"
        "print('importlib.metadata' in sys.modules)\n"
        "pretok.presets()\n"
        "print('importlib.metadata' in sys.modules)\n"
    )
    assert done.stdout.split() == ["False", "True"], done.stderr


@pytest.mark.filterwarnings("default")
def test_the_command_line_names_a_package_that_a_built_in_preset_hides(
    install: Install, call: Call
) -> None:
    install("hidden-package", f"A = {_words('gpt2')}", gpt2="A")
    install("failing-package", "1 / 0", other="A")
    # No package has an entry point of this name, so none is loaded.
    assert call("split", "-p", "llama3", "-t", "a'll") == (0, "a\n'll\n", "")
    status, out, err = call("split", "-p", "gpt2", "-t", "a'll")
    assert (status, out) == (0, "a\n'll\n")
    assert err.splitlines()[-1] == (
        "pretok: warning: 'gpt2' of package hidden-package 1.0 (entry point gpt2 = "
        "hidden_package:A) is already a name of preset 'gpt2', which is used; to use that of the "
        "package, import the Preset and pass it directly"
    )


@pytest.mark.filterwarnings("default")
def test_the_command_line_shows_a_warning_in_one_line(install: Install, call: Call) -> None:
    install("broken-package", "raise ValueError('two\\nlines')", broken="A")
    install("one-package", f"A = {_words('mine')}", a="A")
    status, out, err = call("split", "-p", "mine", "-t", "ab 1")
    assert (status, out) == (0, "ab\n 1\n")
    assert err.startswith("pretok: warning: the presets of package broken-package 1.0 (entry")
    assert err.endswith("ValueError: two\\nlines\n")


def test_a_preset_of_a_module(install: Install, call: Call, tmp_path: Path) -> None:
    install("my-module", f"A = {_words('mine')}\nB = 5\nclass C: d = {_words('inner')}")
    assert call("split", "-p", "my_module:A", "-t", "ab 1") == (0, "ab\n 1\n", "")
    assert call("split", "-p", "my_module:B", "-t", "x")[0] == 2
    for name, wanted in [
        ("my_module:B", "expected 'my_module:B' to be a pretok.Preset, got int"),
        ("my_module:X", "cannot import preset 'my_module:X': AttributeError: "),
        ("no_module:X", "cannot import preset 'no_module:X': ModuleNotFoundError: "),
        (":A", "cannot import preset ':A': ValueError: "),
        ("my_module:", "cannot import preset 'my_module:': AttributeError: "),
    ]:
        status, out, err = call("explain", "-p", name, "-t", "x")
        assert (status, out) == (2, "")
        assert wanted in err
    with pytest.raises(UnknownPresetError):
        pretok.get("my_module:A")  # a name may come from a file; that must import nothing


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bpe", *arguments],
        env=environment(PYTHONPATH=f"{PACKAGE_FOLDER}{os.pathsep}{folder}"),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip has installed the example."""
    try:
        major = int(version("setuptools").partition(".")[0])
    except PackageNotFoundError:
        major = 0
    if major < 71:
        pytest.skip("needs setuptools 71 or later to build the example")
    source = tmp_path_factory.mktemp("source") / "example"
    for path in EXAMPLE_PLUGIN.rglob("*"):  # building leaves files beside the source
        if path.suffix in (".toml", ".py"):
            copy = source / path.relative_to(EXAMPLE_PLUGIN)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    target = tmp_path_factory.mktemp("installed")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
         "--no-build-isolation", "--target", str(target), str(source)],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


def test_the_example_splits_and_explains(installed: Path, native: BackendName) -> None:
    done = _run(installed, "split", "-p", "my-nanochat", "--backend", native, "-t", "It's 12345")
    assert (done.returncode, done.stdout) == (0, "It\n's\n \n12\n34\n5\n"), done.stderr
    done = _run(installed, "explain", "-p", "my-nanochat", "--backend", native, "-t", "12")
    assert done.stdout.split() == ["0", "2", '"12"', r"\p{N}{1,2}"]
    assert "my-nanochat" in _run(installed, "presets").stdout
    done = _run(installed, "split", "-p", "pretok_nanochat:NANOCHAT", "-t", "123")
    assert done.stdout == "12\n3\n"
    done = _run(installed, "diff", "my-nanochat", "llama3", "-t", "123")
    assert (done.returncode, done.stderr) == (1, "")
    assert r"+ " in done.stdout


@pytest.mark.parametrize("against", ["regex", "hf", "python"])
def test_the_example_is_fuzzed(installed: Path, native: BackendName, against: str) -> None:
    pytest.importorskip({"hf": "tokenizers"}.get(against, "regex"))
    done = _run(installed, "fuzz", "-p", "my-nanochat", "--backend", native, "--against", against,
                "--seconds", "1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no mismatch in " in done.stdout


def test_the_example_is_pickled_and_known_by_its_pattern(installed: Path) -> None:
    done = run_python(
        "import sys\n"
        "sys.path.insert(1, sys.argv[1])\n"
        "import pickle, pretok\n"
        "tok = pretok.get('my-nanochat')\n"
        "assert 'pretok_nanochat' in sys.modules\n"
        "assert pretok.from_pattern(tok.preset.pattern).preset.stages == tok.preset.stages\n"
        "sys.stdout.write(pickle.dumps(tok, 0).decode())\n",
        str(installed),
    )
    assert done.returncode == 0, done.stderr
    again = pickle.loads(done.stdout.encode())  # this process cannot import the package
    assert again.split("12345") == ["12", "34", "5"]
