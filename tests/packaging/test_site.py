"""The documentation site: links, pictures, reference pages, and the build by mkdocs."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import bpe
import pretok
from bpe.cli import COMMANDS
from command_line import LONGEST
from paths import CPP, ROOT, repository_module
from pretok.page import server

DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
LINK = re.compile(r"\]\(([^()\s#]*)(?:#([^()\s]*))?\)")


def prose(page: Path) -> str:
    """Return the text of a page without its code."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_of_the_repository(page: Path) -> None:
    for target, anchor in LINK.findall(prose(page)):
        if "://" in target:
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name} links to {target}, which does not exist"
        assert ROOT in path.parents, f"{page.name} links to {target}, outside of the repository"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{target} has no heading for #{anchor}"


def test_every_page_is_in_the_navigation() -> None:
    navigation = re.findall(
        r"- (?:\w+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE
    )
    ours = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert len(set(navigation)) == len(navigation)
    assert ours <= set(navigation)


def test_the_page_of_the_header_has_every_function() -> None:
    header = (CPP / "capi" / "pretok.h").read_text(encoding="utf-8")
    page = repository_module("docs", "tools", "header.py").header_page(header)
    functions = re.findall(r"^PRETOK_API .*?\b(pretok_\w+)\(", header, re.MULTILINE)
    assert len(functions) > 30
    for name in functions:
        assert f"\n### {name}\n" in page
    words = re.findall(r"\w+", header.partition("#ifndef PRETOK_H")[0])
    assert set(words) <= set(re.findall(r"\w+", page))


def test_the_pictures_are_what_the_script_draws() -> None:
    draw = repository_module("docs", "tools", "draw.py")
    for name, picture in draw.pictures().items():
        committed = (DOCS / "pictures" / name).read_text(encoding="utf-8")
        assert committed == picture, f"{name} is stale: run `python docs/tools/draw.py`"


def test_the_page_of_plots_has_the_pictures_and_commands_of_the_script() -> None:
    """Compares only labels, because the numbers change with every change of the measured texts."""
    plots = repository_module("docs", "tools", "plots.py")
    page = (DOCS / "how-to" / "plots.md").read_text(encoding="utf-8")
    pictures = re.findall(r"plot-(\w+)\.svg", plots.COMMANDS)
    assert len(pictures) == 4
    for name in pictures:
        svg = (DOCS / "pictures" / f"plot-{name}.svg").read_text(encoding="utf-8")
        assert f"](../pictures/plot-{name}.svg)" in page
        assert re.search(r"<text [^>]*>[^<]*tokens", svg)
    for command in plots.COMMANDS.splitlines():
        assert f"\n    pretok {command.split()[0]} " in page


def test_every_command_is_on_the_page_of_commands() -> None:
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        row = f"| `pretok {command.name}` | {command.get_short_help_str(200)} |"
        assert row in page, f"docs/reference/commands.md lacks the line {row}"


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    missing = [name for name in ("mkdocs", "material", "mkdocstrings") if not find_spec(name)]
    if missing:
        reason = f"{', '.join(missing)} not installed: pip install '.[docs]'"
        if os.environ.get("PRETOK_REQUIRE_DOCS") == "1":
            pytest.fail(f"PRETOK_REQUIRE_DOCS=1, but {reason}")
        pytest.skip(reason)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)
    assert done.returncode == 0, done.stderr
    reference = (tmp_path / "reference" / "bpe" / "index.html").read_text(encoding="utf-8")
    assert 'id="bpe.Tokenizer.encode"' in reference
    demo = tmp_path / "files" / "pretok" / "page"
    assert {name: (demo / name).read_bytes() for name in server.files()} == {
        name: path.read_bytes() for name, path in server.files().items()
    }


@pytest.mark.parametrize("package", [pretok, bpe], ids=lambda package: package.__name__)
def test_every_public_name_is_in_the_reference(package: ModuleType) -> None:
    reference = "".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
    for name in package.__all__:
        value = getattr(package, name)
        if isinstance(value, type) and issubclass(value, BaseException):
            continue  # the reference includes the modules of exceptions as a whole
        if inspect.isclass(value) or inspect.isfunction(value):
            # A function with the name of a submodule is listed under the module that defines it.
            paths = f"{package.__name__}.{name}", f"{value.__module__}.{name}"
            assert any(f"::: {path}\n" in reference for path in paths), name


def test_the_reference_lists_every_member_of_tokenizer() -> None:
    """The page lists the members by subject. Without a list, inherited members would come first."""
    page = (DOCS / "reference" / "bpe.md").read_text(encoding="utf-8")
    listed = re.search(r"::: bpe\.Tokenizer\n.*?members: \[(.*?)\]", page, re.DOTALL)
    assert listed is not None
    public = {name for name in dir(bpe.Tokenizer) if not name.startswith("_")}
    assert set(re.findall(r"\w+", listed[1])) == public
