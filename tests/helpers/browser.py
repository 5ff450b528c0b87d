"""Open the page of pretok in Chromium without a window."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pretok.page.server import PageServer

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 60_000
"""The maximum time until an element appears, in milliseconds. Enough for a slow machine."""


def _missing() -> str:
    """Return why the tests have no browser, or "" if they have one."""
    if not find_spec("playwright") or not find_spec("axe_playwright_python"):
        return "playwright or axe-playwright-python not installed: pip install '.[browser]'"
    if _executable() is None:
        return f"no Chromium: install one of {', '.join(BROWSERS)}, or set PRETOK_CHROMIUM"
    return ""


def _executable() -> str | None:
    installed = filter(None, map(shutil.which, BROWSERS))
    return os.environ.get("PRETOK_CHROMIUM") or next(installed, None)


@contextmanager
def chromium() -> Iterator[Any]:
    """Run Chromium; yield playwright's Browser.

    If no browser is installed, skip the test, or fail it if PRETOK_REQUIRE_BROWSER=1.
    """
    if reason := _missing():
        if os.environ.get("PRETOK_REQUIRE_BROWSER") == "1":
            pytest.fail(f"PRETOK_REQUIRE_BROWSER=1, but {reason}")
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_executable(), args=[*ARGUMENTS])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def serving() -> Iterator[str]:
    """Serve the page; yield its address."""
    with PageServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


class Tab:
    """A tab with the page. `problems` records errors, warnings, and requests to other machines."""

    def __init__(self, browser: Any, address: str, fragment: str = "", **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.context.on("request", lambda request: self._on_request(request.url, address))
        self.page.goto(address + fragment)
        self.page.wait_for_selector("html[data-ready]")

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _on_request(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:")):
            self.problems.append(f"request: {url}")

    def type(self, text: str) -> None:
        """Replace the text in the text field."""
        self.page.fill("#text", text)

    def wait_for_count(self, noun: str, count: int, side: str = "A") -> None:
        """Wait until side A or B shows this count, such as noun "tokens" and count 5."""
        self.page.wait_for_function(
            """([id, noun, count]) => [...document.querySelectorAll(
                `section[aria-labelledby=${id}] .counts div`)].some((item) =>
                item.firstChild.textContent === noun && item.lastChild.textContent === count)""",
            arg=[f"side-{side.lower()}", noun, f"{count:,}"],
        )

    def wait_for_pieces(self, texts: list[str], side: str = "A") -> None:
        """Wait until side A or B shows pieces with these texts, as `pieces` returns them."""
        self.page.wait_for_function(
            """([id, texts]) => JSON.stringify([...document.querySelectorAll(
                `#${id} [role=option] .shown`)].map((piece) => piece.innerText)) === texts""",
            arg=[
                f"pieces-{side.lower()}",
                json.dumps(texts, ensure_ascii=False, separators=(",", ":")),
            ],
        )

    def pieces(self, side: str = "A") -> list[str]:
        """Return the text of each piece as the page shows it, with visible white space."""
        options = self.page.locator(f"#pieces-{side.lower()} [role=option] .shown")
        texts: list[str] = options.all_inner_texts()
        return texts

    def labels(self, side: str = "A") -> list[str]:
        """Return the label under each piece."""
        options = self.page.locator(f"#pieces-{side.lower()} [role=option] .label")
        texts: list[str] = options.all_inner_texts()
        return texts

    def open_vocabulary(self, path: Path, side: str = "A") -> None:
        """Open a vocabulary file, and wait until the page has loaded it."""
        section = self.page.locator(f"section[aria-labelledby=side-{side.lower()}]")
        section.locator("input.vocabulary").set_input_files(path)
        section.locator(".vocabulary-note", has_text=path.name).wait_for()

    def ask(self, kind: str, message: dict[str, Any]) -> Any:
        """Return the answer of the page's worker, called as the modules of the page call it."""
        return self.page.evaluate(
            "async ([kind, message]) => (await import('./client.js')).ask(kind, message)",
            [kind, message],
        )


Open = Callable[..., Tab]
"""The fixture `opened`: a function that opens a Tab."""


def visible(text: str) -> str:
    """Return ASCII text as the page shows it."""
    return text.replace(" ", "·").replace("\n", "⏎").replace("\t", "→")
