"""The page in Chromium: its controls, its pieces and ids, and its accessibility.

A piece is a pre-token or a token that the page shows.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

import pretok
from browser import Open, Tab, visible
from pretok.diff import Diff
from pretok.fuzz.text import TextMaker
from support import seeded

TEXT = "I'm 12345,  hello\n\nhello"
WORDS = "It's some 12 words,  over\n\nand over. "


def test_a_text_is_split_and_counted_as_it_is_typed(tab: Tab) -> None:
    tab.page.locator("#text").fill("")
    tab.page.locator("#text").press_sequentially(TEXT)
    expected = pretok.get("cl100k").split(TEXT)
    # The text has this number of pre-tokens before its last letter is typed, so do not wait for it.
    tab.wait_for_pieces([visible(piece) for piece in expected])
    counts = dict(zip(
        tab.page.locator("#text-counts dt").all_inner_texts(),
        tab.page.locator("#text-counts dd").all_inner_texts(),
        strict=True,
    ))  # fmt: skip
    assert counts["code points"] == counts["bytes"] == str(len(TEXT))
    tab.type("e\u0301👩\u200d🚀")
    tab.page.locator("#clusters", has_text=re.compile("^2$")).wait_for()
    counts = tab.page.locator("#text-counts dd").all_inner_texts()
    assert counts == ["2", "5", "7", "14"]


def test_presets_and_unicode_versions_are_chosen(tab: Tab) -> None:
    tab.type(TEXT)
    names = tab.page.locator("#preset-a option").all_inner_texts()
    assert names == [preset.name for preset in pretok.presets()]
    for name in ("gpt2", "qwen2", "deepseek-v3", "whitespace"):
        tab.page.select_option("#preset-a", name)
        expected = pretok.get(name).split(TEXT)
        tab.page.locator("summary", has_text=f"Rules of {name}").wait_for()
        assert tab.pieces() == [visible(piece) for piece in expected]
    # The last row counts the pre-tokens that no rule made.
    *patterns, last = tab.page.locator("#sides table tbody code").all_inner_texts()
    assert patterns == [str(rule) for rule in pretok.get("whitespace").preset.rules]
    assert last == ""
    letter = "\U00016ea0"  # since Unicode 17.0
    tab.page.select_option("#preset-a", "gpt2")
    tab.type(f"a{letter}")
    for version, pieces in (("16.0", ["a", letter]), ("17.0", [f"a{letter}"])):
        tab.page.select_option("#unicode-a", version)
        assert pretok.get("gpt2", unicode=version).split(f"a{letter}") == pieces
        tab.wait_for_count("pre-tokens", len(pieces))
        tab.page.locator(".rules .note", has_text=f"Unicode {version}").wait_for()


def test_a_piece_has_bytes_offsets_and_the_rules_that_were_tried(tab: Tab) -> None:
    tab.type("é😀 don't")
    tab.wait_for_count("pre-tokens", 4)
    tab.page.locator("#pieces-a [role=option]").nth(1).click()
    details = tab.page.locator("#details")
    facts = dict(zip(
        details.locator("dt").all_inner_texts(),
        details.locator("dd").all_inner_texts(),
        strict=True,
    ))  # fmt: skip
    assert facts["Bytes"] == "F0 9F 98 80"
    assert facts["Code points"] == "U+1F600"
    assert facts["In bytes"] == "2 to 6 (4)"
    assert facts["In code points"] == "1 to 2 (1)"
    assert facts["In UTF-16 units"] == "1 to 3 (2)"
    details.locator(".tried summary").click()
    steps = pretok.get("cl100k").explain("é😀 don't")
    rules = pretok.get("cl100k").preset.rules
    number = rules.index(steps[1].rule) if steps[1].rule else -1
    details.locator("tr.matched").wait_for()
    assert details.locator(".tried tbody tr").count() == number + 1
    assert details.locator("tr.matched code").inner_text() == str(steps[1].rule)


def test_a_tip_shows_the_bytes_of_the_piece_under_the_pointer(tab: Tab) -> None:
    tab.type("é 12")
    tab.wait_for_pieces(["é", "·", "12"])
    tab.page.locator("#pieces-a [role=option]").first.hover()
    tip = tab.page.locator("#tip")
    tip.get_by_text("C3 A9", exact=True).wait_for()
    tab.page.keyboard.press("Escape")
    tip.wait_for(state="hidden")


def test_two_presets_are_compared(tab: Tab) -> None:
    tab.type(TEXT)
    tab.page.check("#compare")
    tab.page.select_option("#preset-b", "gpt2")
    tab.wait_for_count("pre-tokens", pretok.get("gpt2").count(TEXT), "B")
    differing = {}
    for side, name in (("a", "cl100k"), ("b", "gpt2")):
        pieces = tab.page.locator(f"#pieces-{side} .differs .shown").all_inner_texts()
        differing[name] = pieces
    diff = Diff(pretok.get("cl100k"), pretok.get("gpt2"), [TEXT])
    regions = list(diff)
    assert differing == {
        "cl100k": [visible(step.text) for region in regions for step in region.first],
        "gpt2": [visible(step.text) for region in regions for step in region.second],
    }
    assert tab.page.locator("#differences").inner_text() == f"{len(regions)} differences"
    tab.page.click("#next-difference")
    tab.page.locator("#differences", has_text=f"difference 1 of {len(regions)}").wait_for()
    assert (
        tab.page.locator("#pieces-a [aria-selected=true]")
        .inner_text()
        .startswith(differing["cl100k"][0])
    )


@pytest.mark.parametrize("clicks", [1, 2, 3])
def test_compare_is_clicked_before_the_result_arrives(tab: Tab, clicks: int) -> None:
    # The worker was asked for the sides of before the clicks.
    tab.page.evaluate(
        """([text, clicks]) => {
            const area = document.getElementById("text");
            area.value = text;
            area.dispatchEvent(new Event("input"));
            for (let i = 0; i < clicks; i++) document.getElementById("compare").click();
            document.getElementById("share").click();
        }""",
        [TEXT, clicks],
    )
    tab.wait_for_pieces([visible(piece) for piece in pretok.get("cl100k").split(TEXT)])
    if clicks % 2:
        tab.wait_for_pieces([visible(piece) for piece in pretok.get("qwen2").split(TEXT)], "B")
    else:
        assert tab.page.locator("#pieces-b").count() == 0


def test_keys_in_a_list_without_pieces_do_nothing(tab: Tab) -> None:
    tab.type("")
    tab.wait_for_count("pre-tokens", 0)
    tab.page.focus("#pieces-a")
    for key in ("ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Home", "End", "Enter"):
        tab.page.keyboard.press(key)
    assert tab.page.locator("#error").is_hidden()


def paste(tab: Tab, text: str) -> None:
    """Replace the text in the text field by pasting `text`."""
    tab.page.evaluate(
        """(text) => {
          const area = document.getElementById("text");
          area.select();
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
        }""",
        text,
    )


def test_a_megabyte_is_pasted(tab: Tab) -> None:
    text = WORDS * (1_000_000 // len(WORDS))
    paste(tab, text)
    count = pretok.get("cl100k").count(text)
    tab.wait_for_count("pre-tokens", count)
    ranges = tab.page.locator(".side .range")
    assert ranges.inner_text() == f"1 to 1,000 of {count:,}"
    assert len(tab.pieces()) == 1000
    tab.page.get_by_role("button", name="Later").click()
    # Pass a function, because the Content-Security-Policy forbids evaluating an expression.
    tab.page.wait_for_function(
        "() => document.querySelector('.range').textContent.startsWith('1,001')"
    )
    expected = pretok.get("cl100k").split(text)[1000:2000]
    assert tab.pieces() == [visible(piece) for piece in expected]
    # The page shows only the beginning of a pre-token of a megabyte.
    paste(tab, "a" * 1_000_000)
    tab.wait_for_count("pre-tokens", 1)
    assert len(tab.pieces()[0]) < 500


def test_a_link_holds_text_and_settings(opened: Open) -> None:
    text = "naïve 中文 👍🏽\u202e\n" * 20
    first = opened()
    first.type(text)
    first.page.check("#compare")
    first.page.select_option("#preset-a", "gpt2")
    first.page.select_option("#preset-b", "o200k")
    first.page.select_option("#label", "utf16")
    for name in ("gpt2", "o200k"):
        first.page.locator("summary", has_text=f"Rules of {name}").wait_for()
    first.page.click("#share")
    first.page.locator("#status", has_text="link").wait_for()
    fragment = "#" + first.page.url.partition("#")[2]
    second = opened(fragment)
    assert second.page.input_value("#text") == text
    assert second.page.input_value("#preset-a") == "gpt2"
    assert second.page.input_value("#preset-b") == "o200k"
    for side in "AB":
        assert second.pieces(side) == first.pieces(side)
        assert second.labels(side) == first.labels(side)
    damaged = opened("#a=gpt2&text=%25")
    damaged.page.locator("#error", has_text="damaged").wait_for()


def test_a_link_holds_a_text_of_8_mib_at_most(opened: Open) -> None:
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(b" " * ((8 << 20) + 1)) + packer.flush()
    tab = opened(f"#text={base64.urlsafe_b64encode(packed).decode().rstrip('=')}")
    tab.page.locator("#error", has_text="longer than 8 MiB; ask for the file").wait_for()
    made = tab.page.evaluate(
        "async () => (await import('./link.js')).toFragment(' '.repeat((8 << 20) + 1), {})"
    )
    assert made is None


def test_unusual_text_is_shown(tab: Tab, tmp_path: Path) -> None:
    tab.type("\x00\u200b\u202etxt שלום")
    tab.page.locator("#pieces-a", has_text="NUL").wait_for()
    shown = "".join(tab.pieces())
    assert "U+200B" in shown
    assert "U+202E" in shown
    assert "\u202e" not in shown
    tab.type("שלום עולם")
    tab.page.locator("#pieces-a[dir=rtl]").wait_for()
    # Sequences of emoji stay whole. cl100k cuts the keycap after its digit.
    tab.type("👩\u200d🚀👍🏽🇪🇺")
    tab.wait_for_pieces(["👩\u200d🚀👍🏽🇪🇺"])
    tab.type("1\ufe0f\u20e3")
    tab.wait_for_pieces(["1", "U+FE0F\u25cc\u20e3"])
    (tmp_path / "bytes.txt").write_bytes(b"a\xff\xe4\xb8 b")
    tab.page.locator("#text-file").set_input_files(tmp_path / "bytes.txt")
    tab.page.locator("#text-note", has_text="not valid UTF-8").wait_for()
    tab.page.locator("#pieces-a", has_text="FF").wait_for()
    assert "".join(tab.pieces()) == "aFFE4B8·b"
    assert tab.page.locator("#pieces-a .byte").all_inner_texts() == ["FF", "E4", "B8"]
    spoken = tab.page.locator("#pieces-a [role=option]").nth(1).get_attribute("aria-label")
    assert spoken.startswith("byte FF byte E4 byte B8, ")
    tab.page.click("#share")
    tab.page.locator("#status", has_text="It holds U+FFFD in place of what is not valid").wait_for()
    tab.type("valid")
    tab.page.click("#share")
    # Wait for the new message: "The link is copied." or "The link is in the address bar."
    tab.page.wait_for_function(
        "() => /^The link is [a-z ]+[.]$/.test(document.getElementById('status').textContent)"
    )


def test_pieces_and_rules_are_those_of_python(tab: Tab) -> None:
    presets = pretok.presets()
    texts = TextMaker(str(seeded("page").random()), "16.0", surrogates=False).batch(500)
    cases = [[text, presets[i % len(presets)].name] for i, text in enumerate(texts)]
    answers = tab.page.evaluate(
        """async (cases) => {
          const { ask } = await import("./client.js");
          const answers = [];
          for (const [source, preset] of cases) {
            const settings = [{ preset, unicode: "", special: false }];
            const { window, sides } = await ask("run", { source, settings, view: "pre-tokens" });
            answers.push(window.sides[0].pieces.map(({ span, preToken }) =>
              [...span.char, span.byte[1], span.utf16[1],
               sides[0].preset.rules[preToken.rule]?.pattern ?? null]));
          }
          return answers;
        }""",
        cases,
    )
    for (text, name), answer in zip(cases, answers, strict=True):
        expected = [
            [
                step.start,
                step.end,
                len(text[: step.end].encode()),
                len(text[: step.end].encode("utf-16-le")) // 2,
                None if step.rule is None else str(step.rule),
            ]
            for step in pretok.get(name).explain(text)
        ]
        assert answer == expected, f"{name}: {json.dumps(text)}"


@pytest.mark.parametrize("file", ["core/pretok.wasm", "worker.js", "side.js"])
def test_a_page_without_its_core_says_so(browser: Any, address: str, file: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.route(f"**/{file}", lambda route: route.abort())
        page.goto(address)
        page.locator("#error", has_text="could not load the core; reload the page").wait_for()


@pytest.mark.parametrize("fragment", ["", "#a=gpt2"])
def test_opening_the_page_splits_its_text_once(browser: Any, address: str, fragment: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.add_init_script(
            """window.kinds = [];
            const post = Worker.prototype.postMessage;
            Worker.prototype.postMessage = function (message, ...rest) {
              window.kinds.push(message.kind);
              post.call(this, message, ...rest);
            };"""
        )
        page.goto(address + fragment)
        page.wait_for_selector("html[data-ready]")
        expected = pretok.get("gpt2" if fragment else "cl100k").split(page.input_value("#text"))
        assert page.locator("#pieces-a [role=option]").count() == len(expected)
        assert page.evaluate("() => window.kinds.filter((kind) => kind === 'run').length") == 1
