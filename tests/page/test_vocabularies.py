"""The page in Chromium: vocabulary files, their ids and their merges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bpe
import pretok
from browser import Tab, visible
from command_line import small_tokenizer
from gguf_files import gguf, metadata
from pretok import Run
from pretok.charsets import LETTER
from pretok.fuzz.text import TextMaker
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from support import seeded
from vocabulary_files import made, made_vocabulary

TEXT = "I'm 12345,  hello\n\nhello"


def vocabulary_files(folder: Path) -> dict[str, tuple[Path, bpe.Tokenizer]]:
    """Return a small file of each format that the page opens, with its tokenizer."""
    small = small_tokenizer()
    found = {}
    for suffix in (".json", ".tiktoken", ".pretok"):
        small.save(folder / f"small{suffix}", lossy=suffix == ".tiktoken")
        found[suffix] = folder / f"small{suffix}"
    found[".gguf"] = folder / "small.gguf"
    found[".gguf"].write_bytes(gguf(metadata()))
    found[".model"] = folder / "small.model"
    bpe.train([TEXT * 3], vocab_size=262, preset="gpt2").save(found[".model"])
    preset = {".tiktoken": "cl100k"}
    return {
        suffix: (path, bpe.load(path, preset=preset.get(suffix))) for suffix, path in found.items()
    }


@pytest.mark.parametrize("suffix", [".json", ".tiktoken", ".model", ".gguf", ".pretok"])
def test_vocabularies_are_opened(tab: Tab, tmp_path: Path, suffix: str) -> None:
    path, tokenizer = vocabulary_files(tmp_path)[suffix]
    tab.type(TEXT)
    tab.open_vocabulary(path)
    ids = tokenizer.encode(TEXT, "text")
    tab.wait_for_count("tokens", len(ids))
    assert tab.labels() == list(map(str, ids))
    tab.page.get_by_role("button", name="Close").click()
    tab.page.locator(".vocabulary-note").wait_for(state="hidden")
    preset = tab.page.input_value("#preset-a")
    assert tab.pieces() == [visible(piece) for piece in pretok.get(preset).split(TEXT)]


def test_a_minbpe_file_lists_the_ids_of_the_bytes(tab: Tab, tmp_path: Path) -> None:
    tokenizer = made(vocabulary=made_vocabulary(byte_ids=reversed(range(256))), special=())
    tokenizer.save(tmp_path / "small.model")
    ids = tokenizer.encode(TEXT)
    tab.type(TEXT)
    tab.open_vocabulary(tmp_path / "small.model")
    tab.wait_for_count("tokens", len(ids))
    assert tab.labels() == list(map(str, ids))


def test_a_model_of_sentencepiece_is_opened(tab: Tab, tmp_path: Path) -> None:
    pieces = [UNKNOWN, *BYTES, *normal("\u2581he", "ll", "he", "\u2581", "h", "e", "l", "o")]
    path = tmp_path / "small.model"
    path.write_bytes(model(pieces, BYTE_FALLBACK))
    ids = bpe.load(path).encode("he hello?")
    tab.type("he hello?")
    tab.open_vocabulary(path)
    tab.wait_for_count("tokens", len(ids))
    assert tab.labels() == list(map(str, ids))


def test_a_model_without_pre_tokens_says_so(tab: Tab, tmp_path: Path) -> None:
    pieces = [UNKNOWN, *BYTES, *normal("\u2581a", "\u2581", "a")]
    (tmp_path / "small.model").write_bytes(model(pieces, BYTE_FALLBACK))
    tab.open_vocabulary(tmp_path / "small.model")
    tab.page.locator(".vocabulary-note", has_text="no pre-tokens and no rules").wait_for()
    assert tab.page.locator(".rules").is_hidden()
    tab.page.select_option("#preset-a", "gpt2")
    tab.page.locator(".side .error", has_text='choose "split of the file"').wait_for()
    tab.page.select_option("#preset-a", "")
    tab.page.locator(".vocabulary-note", has_text="no pre-tokens and no rules").wait_for()
    assert tab.page.locator(".side .error").count() == 0


def test_the_name_of_a_rank_file_chooses_its_preset(tab: Tab, tmp_path: Path) -> None:
    path, _ = vocabulary_files(tmp_path)[".tiktoken"]
    named = path.rename(tmp_path / "p50k_base.tiktoken")
    tab.open_vocabulary(named)
    assert tab.page.input_value("#preset-a") == "r50k"
    note = tab.page.locator(".vocabulary-note").inner_text()
    assert "The preset r50k splits the text: a rank file does not say how" in note


def test_a_split_of_the_file_has_rules(tab: Tab, tmp_path: Path) -> None:
    split = pretok.from_pattern(r"\p{L}+|\d{1,3}|.|\s+")
    tokenizer = bpe.train([TEXT * 3], vocab_size=262, preset=split)
    tokenizer.save(tmp_path / "own.pretok")
    tab.type(TEXT)
    tab.open_vocabulary(tmp_path / "own.pretok")
    tab.wait_for_count("tokens", tokenizer.count(TEXT))
    tab.page.check("input[value=pre-tokens]")
    tab.page.select_option("#label", "rule")
    steps = list(split.explain(TEXT))
    tab.wait_for_count("pre-tokens", len(steps))
    assert tab.pieces() == [visible(step.text) for step in steps]
    rules = split.preset.rules
    numbers = [str(rules.index(step.rule) + 1) if step.rule else "no rule" for step in steps]
    assert tab.labels() == numbers
    shown = tab.page.locator(".rules tbody code").all_inner_texts()
    assert shown == [str(rule) for rule in rules]
    tab.page.locator("#pieces-a [role=option]").nth(3).click()
    tab.page.locator("#details .tried summary").click()
    tab.page.locator("#details tr.matched").wait_for()
    assert tab.page.locator("#details tr.matched code").inner_text() == str(steps[3].rule)


def test_a_preset_without_a_source_shows_none(tab: Tab, tmp_path: Path) -> None:
    mine = pretok.Preset("mine", rules=(Run(LETTER), Run(~LETTER)))
    bpe.train([TEXT], vocab_size=258, preset=pretok.PreTokenizer(mine)).save(tmp_path / "a.pretok")
    tab.open_vocabulary(tmp_path / "a.pretok")
    tab.page.locator("summary", has_text="Rules of mine").wait_for()
    note = tab.page.locator(".rules .note").inner_text()
    assert "with the engine. The first rule" in note


def test_a_split_that_no_preset_has_is_replaced_loudly(tab: Tab, tmp_path: Path) -> None:
    split = pretok.from_pattern(r"\p{L}+|\d{1,3}|.|\s+")
    bpe.train([TEXT * 3], vocab_size=262, preset=split).save(tmp_path / "own.json")
    tab.open_vocabulary(tmp_path / "own.json")
    note = tab.page.locator(".vocabulary-note").inner_text()
    assert (
        "The preset cl100k splits the text: no built-in preset has the same pre_tokenizer" in note
    )
    assert "convert it in Python" in note


def test_a_file_that_is_no_vocabulary_is_refused(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    tab.page.locator("input.vocabulary").set_input_files(tmp_path / "no.json")
    tab.page.locator("#error", has_text="no.json: ").wait_for()
    assert tab.page.locator(".vocabulary-note").is_hidden()


def test_a_file_that_only_python_reads_names_the_conversion(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    bpe.train([TEXT * 3], vocab_size=262, preset="gpt2").save(path)
    file = json.loads(path.read_text())
    file["normalizer"] = {"type": "Replace", "pattern": {"Regex": "[lo]+"}, "content": "x"}
    path.write_text(json.dumps(file))
    tab.type(TEXT)
    tab.page.locator("input.vocabulary").set_input_files(path)
    tab.page.locator("#error", has_text='bpe.load("words.json").save("name.pretok")').wait_for()


def test_the_error_of_a_file_stays_until_the_next_change(tab: Tab) -> None:
    # Splitting the text takes a second here, so the file is refused before it ends.
    tab.page.evaluate(
        """() => {
            const post = Worker.prototype.postMessage;
            Worker.prototype.postMessage = function (message, transfer) {
                const delay = message.kind === "run" ? 1000 : 0;
                setTimeout(() => post.call(this, message, transfer), delay);
            };
        }"""
    )
    tab.type(TEXT)
    tab.page.locator("input.vocabulary").set_input_files(
        {"name": "no.json", "mimeType": "", "buffer": b"{}"}
    )
    tab.wait_for_count("pre-tokens", pretok.get("cl100k").count(TEXT))
    tab.page.locator("#error", has_text="no.json: ").wait_for(timeout=5000)
    tab.type(TEXT)
    tab.page.locator("#error").wait_for(state="hidden")


@pytest.mark.parametrize("suffix", [".json", ".pretok"])
def test_a_model_that_merges_characters(tab: Tab, tmp_path: Path, suffix: str) -> None:
    tokenizer = bpe.train(
        [TEXT * 3], vocab_size=290, alphabet="characters", byte_fallback=True,
        special_tokens=["<unk>"],
    )  # fmt: skip
    path = tmp_path / f"words{suffix}"
    tokenizer.save(path)
    tab.type(TEXT)
    tab.open_vocabulary(path)
    assert tab.labels() == list(map(str, tokenizer.encode(TEXT)))
    assert tab.page.locator("#error").is_hidden()


def test_special_tokens_are_text_or_ids(tab: Tab, tmp_path: Path) -> None:
    path, tokenizer = vocabulary_files(tmp_path)[".json"]
    text = "hello<|end|>hello <|end|>"
    tab.type(text)
    tab.open_vocabulary(path)
    tab.wait_for_count("tokens", tokenizer.count(text, "text"))
    tab.page.check("#special")
    tab.wait_for_count("tokens", tokenizer.count(text, "allow"))
    assert tab.labels() == list(map(str, tokenizer.encode(text, "allow")))


def test_merges_are_shown_one_by_one(tab: Tab, tmp_path: Path) -> None:
    path, tokenizer = vocabulary_files(tmp_path)[".json"]
    tab.type("say hello")
    tab.open_vocabulary(path)
    tab.wait_for_count("tokens", len(tokenizer.encode("say hello")))
    tab.page.locator("#pieces-a [role=option]").last.click()
    merges = tab.page.locator("#details .merges")
    merges.locator("summary").click()
    merges.locator("li").first.wait_for()
    shown = [merges.locator("li").all_inner_texts()]
    while merges.get_by_role("button", name="Next merge").is_enabled():
        merges.get_by_role("button", name="Next merge").click()
        shown.append(merges.locator("li").all_inner_texts())
    assert shown[0] == list("·hello")
    assert shown[-1] == ["·hello"]
    assert [len(pieces) for pieces in shown] == [6, 5, 4, 3, 2, 1]
    merges.get_by_role("button", name="Previous merge").click()
    assert merges.locator("li").all_inner_texts() == ["·", "hello"]


def test_ids_are_those_of_python(tab: Tab, tmp_path: Path) -> None:
    path, tokenizer = vocabulary_files(tmp_path)[".json"]
    tab.open_vocabulary(path)
    texts = TextMaker(str(seeded("page ids").random()), "16.0", surrogates=False).batch(500)
    texts = [text + " hello" for text in texts]
    answers = tab.page.evaluate(
        """async (texts) => {
          const { ask } = await import("./client.js");
          const settings = [{ preset: "", unicode: "", special: false }];
          const answers = [];
          for (const source of texts) {
            const { window } = await ask("run", { source, settings, view: "tokens" });
            answers.push(window.sides[0].pieces.map(({ ids, span }) => [ids[0], ...span.char]));
          }
          return answers;
        }""",
        texts,
    )
    for text, answer in zip(texts, answers, strict=True):
        tokens = tokenizer.tokens(text, "text")
        assert answer == [[token.id, token.start, token.end] for token in tokens], json.dumps(text)
