"""The page for everybody: with a keyboard, on a phone, and with the rules of axe-core."""

from __future__ import annotations

from pathlib import Path

import pytest

import pretok
from browser import Open, Tab, visible
from command_line import small_tokenizer
from support import FULL

TEXT = "I'm 12345,  hello\n\nhello"


def test_the_keyboard_is_enough(tab: Tab) -> None:
    page = tab.page
    page.focus("#text")
    page.keyboard.press("Control+A")
    page.keyboard.type(TEXT)
    tab.wait_for_count("pre-tokens", pretok.get("cl100k").count(TEXT))

    def tab_to(selector: str) -> None:
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        pytest.fail(f"the Tab key does not reach {selector}")

    tab_to("#compare")
    page.keyboard.press("Space")
    page.locator("#pieces-b").wait_for()
    tab_to("#preset-a")
    page.keyboard.type("gpt2")
    page.locator("summary", has_text="Rules of gpt2").wait_for()
    tab_to("#pieces-a [role=option]")
    pieces = pretok.get("gpt2").split(TEXT)

    def selected() -> str:
        return str(page.locator("#pieces-a [aria-selected=true] .shown").inner_text())

    assert selected() == visible(pieces[0])
    page.keyboard.press("ArrowRight")
    assert selected() == visible(pieces[1])
    page.keyboard.press("End")
    assert selected() == visible(pieces[-1])
    page.keyboard.press("ArrowUp")
    assert selected() != visible(pieces[-1])
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('#details') !== null")
    page.keyboard.press("Enter")
    page.locator("#details tr.matched").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.closest('#pieces-a') !== null")


def serious_findings(tab: Tab) -> list[str]:
    """Return the serious and critical findings of axe-core. It skips most pieces of a long text."""
    from axe_playwright_python.sync_playwright import Axe

    context = {"exclude": [["[role=option]:nth-child(n+30)"]]}
    return [
        f"{problem['id']}: {problem['help']}: {node['html']}: {node.get('failureSummary')}"
        for problem in Axe().run(tab.page, context).response["violations"]
        if problem["impact"] in ("serious", "critical")
        for node in problem["nodes"][:2]
    ]


DESKTOP, PHONE = (1280, 800), (360, 740)
LOOKS = [
    ({"color_scheme": "light"}, DESKTOP),
    ({"color_scheme": "dark"}, PHONE),
    ({"forced_colors": "active"}, DESKTOP),
]
if FULL:
    LOOKS += [
        ({"color_scheme": "light"}, PHONE),
        ({"color_scheme": "dark"}, DESKTOP),
        ({"forced_colors": "active"}, PHONE),
    ]


@pytest.mark.parametrize(("colors", "size"), LOOKS, ids=str)
def test_axe_finds_nothing_serious(
    opened: Open, colors: dict[str, str], size: tuple[int, int], tmp_path: Path
) -> None:
    width, height = size
    tab = opened(viewport={"width": width, "height": height}, **colors)
    assert serious_findings(tab) == [], "the page as it opens"
    tab.type("I'm 12\x00\n é\u200b")
    tab.page.check("#compare")
    small_tokenizer().save(tmp_path / "small.json")
    tab.open_vocabulary(tmp_path / "small.json", "B")
    tab.page.locator("#pieces-b [role=option]").first.click()
    for summary in tab.page.locator("#details summary").all():
        summary.click()
    tab.page.locator("#details .merge-pieces").wait_for()
    assert serious_findings(tab) == [], "tokens, two tokenizers, and all details"
    (tmp_path / "long.txt").write_bytes(b"12 \xff" * 30_000)
    tab.page.locator("#text-file").set_input_files(tmp_path / "long.txt")
    tab.page.locator(".pages").first.wait_for()
    (tmp_path / "no.json").write_text("{}")
    tab.page.locator("input.vocabulary").first.set_input_files(tmp_path / "no.json")
    tab.page.locator("#error").wait_for()
    tab.page.check("input[value=pre-tokens]")
    assert serious_findings(tab) == [], "a long text, invalid bytes, and an error"


def test_a_phone_needs_no_sideways_scrolling(opened: Open) -> None:
    tab = opened(viewport={"width": 360, "height": 740}, has_touch=True)
    tab.page.check("#compare")
    tab.page.locator("#pieces-b [role=option]").first.wait_for()
    wide = tab.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360


def test_the_details_are_closed_on_a_phone(opened: Open) -> None:
    tab = opened(viewport={"width": 360, "height": 740}, has_touch=True)
    details = tab.page.locator("#details")
    details.get_by_text("How to read the pieces").wait_for()
    tab.page.locator("#pieces-a [role=option]").first.tap()
    details.get_by_text("Code points", exact=True).wait_for()
    details.get_by_role("button", name="Close the details").tap()
    details.get_by_text("How to read the pieces").wait_for()
