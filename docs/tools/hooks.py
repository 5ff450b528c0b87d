"""Hooks of mkdocs. They add files of the repository to the site, and fit each page to the site.

The pages in docs/ link to other files by their paths in the repository, so the links also work
where the repository is browsed. The site gets a page for each file in PAGES, and a copy of any
other file that a page links to.
"""

from __future__ import annotations

import posixpath
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
from header import header_page  # type: ignore[import-not-found,unused-ignore]

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    ".github/SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "cpp/README.md": "reference/library.md",
    "cpp/capi/pretok.h": "reference/c.md",
    "cpp/core/README.md": "explanation/core.md",
    "cpp/fuzz/README.md": "explanation/fuzzing.md",
    "cpp/rust/README.md": "reference/rust.md",
    "pretok/presets/README.md": "reference/presets.md",
    "tests/bench/records/README.md": "records.md",
    "tests/examples/README.md": "examples.md",
}
"""The page of the site for a file of the repository."""
PAGES_OF_FOLDERS = {posixpath.dirname(path): path for path in PAGES if path.endswith("/README.md")}
WIDE = ("reference/presets.md",)
"""Pages with wide tables, which have no table of contents beside them."""
PAGE_OF_SPLITS = "pretok/page"
"""The folder of the page that `pretok page` serves, which becomes a part of the site."""
SOURCES = {page: path for path, page in PAGES.items()}

LINK = re.compile(r"\]\(([^()\s#]+)(#[^()\s]*)?\)")
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^()\s]+\.svg)\)$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of PAGES, and the other files of the repository that pages link to."""
    for path, page in PAGES.items():
        if path.endswith(".h"):
            text = header_page((ROOT / path).read_text(encoding="utf-8"))
            files.append(File.generated(config, page, content=text))
        else:
            files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
    for page in files.documentation_pages():
        for target, _ in LINK.findall(page.content_string):
            path = _site_path(page.src_uri, target)
            if path.startswith("files/") and files.get_file_from_path(path) is None:
                source = ROOT / path.removeprefix("files/")
                files.append(File.generated(config, path, abs_src_path=str(source)))
    for source in (ROOT / PAGE_OF_SPLITS).rglob("*.*"):
        path = f"files/{source.relative_to(ROOT).as_posix()}"
        if source.suffix in (".css", ".js", ".svg", ".wasm"):
            files.append(File.generated(config, path, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Draw the pictures into the page, rewrite its links, and mark Python sessions."""
    here = page.file.src_uri

    def rewritten(link: re.Match[str]) -> str:
        target = _site_path(here, link[1])
        return f"]({posixpath.relpath(target, posixpath.dirname(here) or '.')}{link[2] or ''})"

    if here in WIDE:
        page.meta["hide"] = ["toc"]
    markdown = PICTURE.sub(lambda found: _picture(here, *found.groups()), markdown)
    markdown = LINK.sub(
        lambda link: rewritten(link) if _is_file(here, link[1]) else link[0], markdown
    )
    return markdown.replace("```python\n>>>", "```pycon\n>>>")


def _repository_path(page: str, target: str) -> str:
    """Return the path in the repository of the relative link `target` on a page."""
    source = SOURCES.get(page, f"docs/{page}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    return PAGES_OF_FOLDERS.get(path, path)


def _is_file(page: str, target: str) -> bool:
    return "://" not in target and (ROOT / _repository_path(page, target)).is_file()


def _site_path(page: str, target: str) -> str:
    """Return the path in the site of the file that a page links to, or `target` itself."""
    if not _is_file(page, target):
        return target
    path = _repository_path(page, target)
    if path in PAGES:
        return PAGES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"files/{path}"


def _picture(page: str, description: str, target: str) -> str:
    """Return the picture as part of the page, where it takes the colors of the page."""
    svg = (ROOT / _repository_path(page, target)).read_text(encoding="utf-8")
    svg = svg[svg.index("<svg ") :]  # matplotlib writes an XML declaration first
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(description)}" ', 1)
    return f'<figure class="picture">{"".join(map(str.strip, svg.splitlines()))}</figure>'
