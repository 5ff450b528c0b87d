"""Take the pictures of the page with Chromium.

python docs/tools/screenshots.py     # rewrite docs/pictures/page-*.png

Needs Chromium, fonts for many scripts, and `pip install '.[browser]'`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
DESKTOP = {"viewport": {"width": 1180, "height": 1000}}
WIDE = {"viewport": {"width": 1180, "height": 1130}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}

sys.path.insert(0, str(ROOT / "tests" / "helpers"))
from browser import Tab, chromium, serving  # noqa: E402


def choose(tab: Tab, number: int) -> None:
    """Choose a piece of side A, and show the rules that were tried."""
    tab.page.locator("#pieces-a [role=option]").nth(number).click()
    tab.page.locator("#details .tried summary").click()
    tab.page.locator("#details tr.matched").wait_for()
    tab.page.mouse.move(0, 0)


def picture(browser: Any, address: str, name: str, **options: Any) -> None:
    """Take one picture: light, dark, phone or compare."""
    fragment = "#a=cl100k&b=gpt2" if name == "compare" else ""
    tab = Tab(browser, address, fragment, reduced_motion="reduce", **options)
    tab.page.locator("#clusters", has_text="1").wait_for()
    if name == "compare":
        tab.page.click("#next-difference")
        tab.page.locator("#differences", has_text="difference 1").wait_for()
    else:
        choose(tab, 14)
    if name == "phone":
        tab.page.locator(".side").evaluate("(side) => side.scrollIntoView()")
    tab.page.wait_for_timeout(800)  # until the status is shown
    tab.page.screenshot(path=PICTURES / f"page-{name}.png")
    tab.context.close()


def main() -> None:
    """Take all pictures."""
    with chromium() as browser, serving() as address:
        picture(browser, address, "light", color_scheme="light", **DESKTOP)
        picture(browser, address, "dark", color_scheme="dark", **DESKTOP)
        picture(browser, address, "phone", color_scheme="light", **PHONE)
        picture(browser, address, "compare", color_scheme="light", **WIDE)


if __name__ == "__main__":
    main()
