"""The command line: what `pretok inspect` and `pretok fetch` print, and their errors."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

import bpe
import pretok
from bpe.hub.published import PUBLISHED
from command_line import Call, error_of, small_tokenizer
from paths import shared
from pretok.machine.backend import BackendName

TEXTS = {"a.txt": "hello hello, caf\u00e9 <pad>", "b.txt": "xhe  yhe\n", "empty.txt": ""}


@pytest.fixture
def vocab(tmp_path: Path) -> str:
    """The file of small_tokenizer."""
    path = tmp_path / "small.json"
    small_tokenizer().save(path)
    return str(path)


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    """Options for the files of TEXTS."""
    for name, text in TEXTS.items():
        tmp_path.joinpath(name).write_bytes(text.encode())
    return [part for name in TEXTS for part in ("--on", str(tmp_path / name))]


def test_inspect_shows_a_vocabulary(call: Call, vocab: str, backend: BackendName) -> None:
    status, output, errors = call("inspect", vocab, "--backend", backend, "--longest", "3")
    assert (status, errors) == (0, "")
    assert output.splitlines() == [
        f"file        {vocab}",
        f"sha256      {hashlib.sha256(Path(vocab).read_bytes()).hexdigest()}",
        "ids         273, 8 of them unused",
        "tokens      262, made by 6 merges",
        "byte ids    0 to 255, in byte order",
        "special     2: <|end|> 270, <pad> 271",
        "added       1: <think> 272",
        "preset      cl100k, Unicode 16.0 (from the vocabulary)",
        "normalizer  none",
        "prefix      none",
        "template    270 text",
        "caches      0.0 MB, at most 128 MB",
        "",
        "     ID  LENGTH  LONGEST TOKENS",
        '    260       6  " hello"',
        '    259       5  "hello"',
        '    258       3  "llo"',
    ]
    assert "LONGEST" not in call("inspect", vocab, "--longest", "0")[1]


def test_inspect_lists_the_steps_of_a_normalizer(call: Call, tmp_path: Path) -> None:
    tokenizer = bpe.train(["ab"], vocab_size=5, alphabet="characters")
    tokenizer.save(tmp_path / "tokenizer.json")
    status, output, _ = call("inspect", str(tmp_path / "tokenizer.json"))
    assert status == 0
    steps = "Prepend(prepend='▁'), Replace(pattern=' ', content='▁', is_regex=False)"
    assert f"\nnormalizer  {steps}\n" in output


def test_inspect_prints_json(call: Call, vocab: str, backend: BackendName) -> None:
    status, output, errors = call("inspect", vocab, "-f", "json", "--backend", backend)
    assert (status, errors) == (0, "")
    record = json.loads(output)
    longest = record.pop("longest")
    assert record == {
        "vocabulary": vocab,
        "files": [{"path": vocab, "sha256": hashlib.sha256(Path(vocab).read_bytes()).hexdigest()}],
        "ids": 273,
        "unused_ids": 8,
        "tokens": 262,
        "merges": 6,
        "ignore_merges": False,
        "byte_ids": list(range(256)),
        "special_tokens": {"<|end|>": 270, "<pad>": 271},
        "added_tokens": {"<think>": 272},
        "preset": "cl100k",
        "preset_source": "tiktoken 0.14.0, openai_public.py, cl100k_base",
        "preset_from": "the vocabulary",
        "unicode": "16.0",
        "normalizer": None,
        "add_prefix_space": False,
        "template": {"before": [270], "after": []},
        "caches": {"limit_mb": 128, "bytes": 0},
    }
    assert len(longest) == 10
    assert longest[0] == {"id": 260, "bytes": 6, "token": " hello"}
    assert {"id": 0, "bytes": 1, "token": "\0"} in longest


def test_a_rank_file(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "small.tiktoken"
    tokens = {byte + 4: bytes([byte ^ 1]) for byte in range(256)} | {260: b"\xff\n"}
    bpe.Tokenizer(bpe.Vocabulary(tokens), "gpt2").save(path)
    assert "--preset" in error_of(call, "inspect", str(path))
    lines = call("inspect", str(path), "-p", "gpt2")[1].splitlines()
    assert "tokens      257, merged by rank, which is the id" in lines
    assert "byte ids    4 to 259, not in byte order" in lines
    assert "ids         261, 4 of them unused" in lines
    assert "special     none" in lines
    assert "preset      gpt2, Unicode 16.0 (from --preset)" in lines
    assert '    260       2  "\\xff\\n"' in lines


def test_many_special_tokens_are_cut_short(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    added = [bpe.AddedToken(f"<{number}\n>", 300 + number) for number in range(20)]
    bpe.Tokenizer(small_tokenizer().vocabulary, "gpt2", added_tokens=added).save(path)
    (line,) = (line for line in call("inspect", str(path))[1].splitlines() if "<0" in line)
    assert line.startswith("special     20: <0\\n> 300, <1\\n> 301, ")
    assert line.endswith(", <18\\n> 318, <19\\n> 319")
    assert ", …, " in line
    assert len(json.loads(call("inspect", str(path), "-f", "json")[1])["special_tokens"]) == 20


def test_statistics_of_texts(
    call: Call, vocab: str, texts: list[str], backend: BackendName
) -> None:
    given = ("inspect", vocab, *texts, "--backend", backend)
    records = json.loads(call(*given, "-f", "json")[1])["on"]
    tokenizer = small_tokenizer("python")
    used: set[int] = set()
    for record, (name, text) in zip(records[:-1], TEXTS.items(), strict=True):
        ids = tokenizer.encode(text, "text")
        assert os.path.basename(record.pop("text")) == name
        assert record == {
            "bytes": len(text.encode()),
            "pre_tokens": pretok.get("cl100k").count(text),
            "tokens": len(ids),
            "bytes_per_token": len(text.encode()) / len(ids) if ids else None,
            "distinct_tokens": len(set(ids)),
        }
        used |= set(ids)
    total = records[-1]
    assert total["text"] == "total"
    for key in ("bytes", "pre_tokens", "tokens"):
        assert total[key] == sum(record[key] for record in records[:-1])
    assert total["distinct_tokens"] == len(used)
    lines = call(*given)[1].splitlines()
    assert lines[-5].split() == ["BYTES", "PRE-TOKENS", "TOKENS", "BYTES/TOKEN", "DISTINCT", "TEXT"]
    rate, part = f"{total['bytes'] / total['tokens']:.3f}", f"{len(used) / 262:.1%}"
    counts = [str(total[key]) for key in ("bytes", "pre_tokens", "tokens")]
    assert lines[-1].split() == [*counts, rate, str(len(used)), part, "total"]
    assert lines[-2].split()[:5] == ["0", "0", "0", "0", "0.0%"]


def test_one_text_has_no_total(call: Call, vocab: str) -> None:
    for data, arguments in ((b"hello", []), (b"hello\xff", ["--binary"])):
        found = call("inspect", vocab, "--on", "-", "-f", "json", *arguments, stdin=data)[1]
        (record,) = json.loads(found)["on"]
        assert (record["text"], record["bytes"]) == ("-", len(data))


def test_a_published_vocabulary(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shared("vocabs", "cl100k_base.tiktoken")
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(path.parent))
    for vocab in (str(path), "cl100k_base"):
        record = json.loads(call("inspect", vocab, "-f", "json")[1])
        assert record["ids"] == 100277
        assert record["special_tokens"]["<|endoftext|>"] == 100257
        assert record["preset"] == "cl100k"
        (file,) = record["files"]
        assert file == {"path": str(path), "sha256": PUBLISHED["cl100k_base"].files[0].sha256}
        assert record["longest"][0] == {"id": 58040, "bytes": 128, "token": " " * 128}


def test_a_vocabulary_in_a_folder(call: Call, tmp_path: Path) -> None:
    small_tokenizer().save(tmp_path / "tokenizer.json")
    output = call("inspect", str(tmp_path))[1]
    assert output.startswith(f"file        {tmp_path}\nsha256      none, it is a folder\nids   ")


def test_errors_are_one_line_that_says_what_to_do(call: Call, vocab: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"a\xff")
    for arguments, expected in (
        ([], "missing argument 'VOCAB'; see 'pretok inspect --help'"),
        (["no_such_vocabulary"], "no_such_vocabulary"),
        ([str(bad)], "bad.txt"),
        ([vocab, "--on", str(bad)], "byte 1: 0xff is not UTF-8"),
        ([vocab, "--on", str(tmp_path / "none")], "cannot open"),
        ([vocab, "--longest", "-1"], "-1 is not in the range"),
        ([vocab, "-f", "xml"], "'text', 'json'"),
    ):
        assert expected in error_of(call, "inspect", *arguments)


# --- fetch


def test_fetch_prints_the_path(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def fetch(name: str, folder: Path | None) -> Path:
        asked.append((name, folder))
        return tmp_path / "r50k_base.tiktoken"

    monkeypatch.setattr("bpe.cli.fetch.fetch", fetch)
    shown = f"{tmp_path / 'r50k_base.tiktoken'}\n"
    assert call("fetch", "gpt2") == (0, shown, "")
    assert call("fetch", "gpt2", "--folder", str(tmp_path)) == (0, shown, "")
    assert asked == [("gpt2", None), ("gpt2", tmp_path)]


def test_fetch_lists_the_vocabularies(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(tmp_path))
    tmp_path.joinpath("o200k_base.tiktoken").touch()
    status, output, errors = call("fetch", "--list")
    assert (status, errors) == (0, "")
    assert call("fetch") == (0, output, "")
    heading, *rows = (line.split(maxsplit=2) for line in output.splitlines())
    assert heading == ["NAME", "PRESET", "HERE"]
    assert [row[:2] for row in rows] == [[name, known.preset] for name, known in PUBLISHED.items()]
    assert ["o200k_base", "o200k", str(tmp_path / "o200k_base.tiktoken")] in rows


def test_errors_of_fetch(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "'gpt9' to download; expected one of gpt2, " in error_of(call, "fetch", "gpt9")
    assert "--folder needs a NAME" in error_of(call, "fetch", "--folder", str(tmp_path))
    assert "--list takes neither" in error_of(call, "fetch", "gpt2", "--list")

    def fail(*_: object) -> None:
        raise bpe.VocabularyError("the bytes that came are not the published file")

    monkeypatch.setattr("bpe.cli.fetch.fetch", fail)
    assert error_of(call, "fetch", "gpt2") == "the bytes that came are not the published file"


def test_inspect_shows_reachability(call: Call, vocab: str, backend: BackendName) -> None:
    _, output, errors = call(
        "inspect", vocab, "--reachability", "--longest", "0", "--backend", backend
    )
    assert not errors
    lines = output.splitlines()
    start = lines.index(" TOKENS  REACHABLE")
    assert lines[start + 1 : start + 4] == [
        "    134  alone",
        "    115  context",
        '             128 "\\x80" in "\\u0080"',
    ]
    never = "no str becomes the token: its bytes are never part of valid UTF-8"
    assert f'             192 "\\xc0" in "\\xc0": {never}' in lines
    _, output, _ = call("inspect", vocab, "--reachability", "--format", "json")
    record = json.loads(output)["reachability"]
    assert sum(record["counts"].values()) == 265
    assert record["examples"]["added"][0]["witness"] == "<|end|>"
