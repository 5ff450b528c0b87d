"""Files that are dropped on the page or refused, and the layout of the controls."""

from __future__ import annotations

from pathlib import Path

import pytest

import bpe
from browser import Open, Tab

TEXT = "low lower lowest "
DROP = """([selector, name, content]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([content], name));
  const target = document.querySelector(selector);
  const over = new DragEvent("dragover", {dataTransfer, bubbles: true, cancelable: true});
  const drop = new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true});
  return [target.dispatchEvent(over), target.dispatchEvent(drop)];
}"""


def drop(tab: Tab, selector: str, name: str, content: str) -> None:
    """Drop a file on an element; the page must prevent that the browser opens the file."""
    assert tab.page.evaluate(DROP, [selector, name, content]) == [False, False]


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    bpe.train([TEXT * 3], vocab_size=260, preset="gpt2").save(tmp_path / "low.json")
    return (tmp_path / "low.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("selector", ["#text", "body", "footer"])
def test_a_text_is_dropped(tab: Tab, selector: str) -> None:
    drop(tab, selector, "a.txt", "a dropped text")
    tab.wait_for_pieces(["a", "·dropped", "·text"])
    assert tab.page.input_value("#text") == "a dropped text"


def test_a_vocabulary_is_dropped_on_a_side(tab: Tab, vocabulary: str) -> None:
    tab.type(TEXT)
    tab.page.locator("#compare").check()
    for side in ("B", "A"):
        element = f"section[aria-labelledby=side-{side.lower()}]"
        drop(tab, f"{element} .pieces", "low.json", vocabulary)
        tab.page.locator(f"{element} .vocabulary-note", has_text="low.json").wait_for()


def test_a_vocabulary_is_dropped_beside_the_sides(tab: Tab, vocabulary: str) -> None:
    drop(tab, "body", "low.json", vocabulary)
    tab.page.locator("section[aria-labelledby=side-a] .vocabulary-note", has_text="low").wait_for()
    drop(tab, "#text", "low.json", vocabulary)  # on the text box, every file is a text
    tab.page.wait_for_function("v => document.getElementById('text').value === v", arg=vocabulary)


def test_dragged_text_keeps_the_behavior_of_the_browser(tab: Tab) -> None:
    script = """() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData("text/plain", "words");
      const event = new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true});
      return document.getElementById("text").dispatchEvent(event);
    }"""
    assert tab.page.evaluate(script)


def test_an_error_removes_the_line_that_says_opening(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    tab.page.locator("input.vocabulary").set_input_files(tmp_path / "no.json")
    tab.page.locator("#error", has_text="no.json: ").wait_for()
    assert "Opening" not in tab.page.inner_text("body")
    assert tab.page.text_content("#status") == ""


def test_rules_mark_a_space_as_pieces_do(tab: Tab) -> None:
    tab.page.select_option("select.preset", "gpt2")
    tab.type("a b")
    tab.wait_for_pieces(["a", "·b"])
    blanks = tab.page.locator(".rules code .blank")
    assert blanks.count() >= 3
    assert set(blanks.all_text_contents()) == {" "}  # what the user copies
    sign = "element => getComputedStyle(element, '::after').content"
    assert {blanks.nth(i).evaluate(sign) for i in range(blanks.count())} == {'"·"'}


@pytest.mark.parametrize("width", [320, 360, 390, 412, 800, 1280])
def test_no_control_clips_its_text(opened: Open, width: int) -> None:
    tab = opened(viewport={"width": width, "height": 800})
    clipped = tab.page.evaluate("""() => {
      const ruler = document.createElement("canvas").getContext("2d");
      const selects = [...document.querySelectorAll("select")].filter((s) => s.offsetParent);
      return selects.filter((select) => {
        const style = getComputedStyle(select);
        ruler.font = style.font;
        const arrow = 18;
        const room = select.clientWidth - parseFloat(style.paddingLeft)
          - parseFloat(style.paddingRight) - arrow;
        return ruler.measureText(select.selectedOptions[0].textContent).width > room;
      }).map((select) => select.id || select.className);
    }""")
    assert clipped == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
