"""The command line: `pretok train`, from the options to the file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import bpe
from command_line import Call, error_of
from pretok.machine.backend import BackendName

WORDS = "the cat sat on the mat, and that was that; " * 9


@pytest.fixture
def text(tmp_path: Path) -> str:
    """A file to train on."""
    path = tmp_path / "text.txt"
    path.write_text(WORDS, encoding="utf-8")
    return str(path)


@pytest.fixture
def given(text: str, backend: BackendName) -> list[str]:
    """The arguments of every call, with each backend."""
    return ["train", text, "--backend", backend]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_train_writes_the_vocabulary_of_bpe_train(
    call: Call, given: list[str], tmp_path: Path
) -> None:
    expected = bpe.train([WORDS], vocab_size=270, special_tokens=["<|end|>"])
    options = ["-n", "270", "--special-token", "<|end|>"]
    for name in ("out.json", "out.model"):
        out = tmp_path / name
        status, output, errors = call(*given, *options, "-o", str(out))
        assert (status, errors) == (0, "")
        assert output == f"{out}: 270 ids, 13 merges, 1 special token\n"
        loaded = bpe.load(out)
        assert loaded.merges == expected.merges
        assert loaded.special_tokens == {"<|end|>": 269}
        assert loaded.encode(WORDS) == expected.encode(WORDS)
    out = tmp_path / "out.tiktoken"
    message = error_of(call, *given, *options, "-o", str(out))
    assert "cannot hold 1 added token ('<|end|>')" in message
    assert message.endswith("pass --lossy to save it without them")
    assert not out.exists()
    assert call(*given, *options, "-o", str(out), "--lossy", "-q") == (0, "", "")
    assert bpe.load(out, preset="cl100k").encode(WORDS) == expected.encode(WORDS)
    assert names(tmp_path) == ["out.json", "out.model", "out.tiktoken", "text.txt"]


def test_every_option_is_passed_on(call: Call, tmp_path: Path, backend: BackendName) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / "out.json"
    path.write_text('{"body": "ab abc abcd, xy"}\n{"body": "ab abc abcd"}\n', encoding="utf-8")
    arguments = (
        "-n 300 -p gpt2 --special-token <PAD>=0 --special-token <=>=9 --min-frequency 2 "
        "--max-token-length 4 --tie-break first-seen --field body --threads 1"
    )
    options = [*arguments.split(), "--backend", backend]
    status, output, errors = call("train", str(path), *options, "-o", str(out))
    assert status == 0
    found = bpe.load(out)
    wanted = bpe.train(
        ["ab abc abcd, xy", "ab abc abcd"], vocab_size=300, preset="gpt2",
        special_tokens={"<PAD>": 0, "<=>": 9}, min_frequency=2, max_token_length=4,
        tie_break="first-seen",
    )  # fmt: skip
    assert found.merges == wanted.merges
    assert found.special_tokens == {"<PAD>": 0, "<=>": 9}
    assert found.preset is not None
    assert found.preset.name == "gpt2"
    assert max(map(len, found.vocabulary.token_bytes.values())) == 3
    assert output.startswith(f"{out}: {wanted.vocab_size} ids, {len(wanted.merges)} merges, 2 spec")
    # Fewer merges than requested are not an error, but the command reports them.
    assert errors.startswith("pretok: --vocab-size 300 needs 42 merged tokens")
    assert errors.count("\n") == 1
    assert call("train", str(path), *options, "-o", str(out), "--quiet") == (0, "", "")


def test_standard_input_is_one_text(call: Call, tmp_path: Path, backend: BackendName) -> None:
    out = tmp_path / "out.json"
    given = ("train", "-", "-n", "258", "--backend", backend, "-o", str(out))
    assert call(*given, stdin="aé aé é".encode())[0] == 0
    assert bpe.load(out).merges == ((b"\xc3", b"\xa9"), (b"a", b"\xc3\xa9"))


def test_the_command_restores_the_logger(call: Call, given: list[str], tmp_path: Path) -> None:
    logger = logging.getLogger("bpe")
    before = (logger.propagate, list(logger.handlers))
    assert call(*given, "-n", "270", "-o", str(tmp_path / "out.json"))[0] == 0
    assert call(*given, "-n", "1", "-o", str(tmp_path / "out.json"))[0] == 2
    assert (logger.propagate, logger.handlers) == before


@pytest.mark.parametrize(("quiet", "progress"), [([], None), (["-q"], False)])
def test_quiet_hides_progress(
    call: Call, given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    quiet: list[str], progress: bool | None,
) -> None:  # fmt: skip
    asked = []
    train = bpe.train

    def recording(*arguments: Any, **options: Any) -> bpe.Tokenizer:
        asked.append(options["progress"])
        return train(*arguments, **options)

    monkeypatch.setattr(bpe, "train", recording)
    assert call(*given, "-n", "270", "-o", str(tmp_path / "out.json"), *quiet)[0] == 0
    # The first call tries out the arguments, without progress.
    assert asked == [False, progress]


# --- errors


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if the training begins: wrong arguments must be reported before."""

    def refuse(*_: object) -> None:
        raise AssertionError("the training began")

    monkeypatch.setattr("bpe.cli.train._source", refuse)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("-n 300", "missing option '--output' / '-o'; see 'pretok train --help'"),
        ("-o out.json", "missing option '--vocab-size' / '-n'"),
        ("-n many -o out.json", "'many' is not a valid integer"),
        ("-n 255 -o out.json", "--vocab-size 255; expected at least 256"),
        ("-n 256 -o out.json --special-token x", "--vocab-size 256; expected at least 257"),
        ("-n 99999999 -o out.json", "--vocab-size 99999999; expected an int of at most"),
        ("-n 300 -o out.bin", "out.bin: suffix '.bin'; expected .pretok"),
        ("-n 300 -o out", "out: suffix ''; expected .pretok"),
        ("-n 300 -o folder.json", "folder.json' is a folder; name a file"),
        ("-n 300 -o no/such/out.json", "No such file or directory; choose a file in an"),
        ("-n 300 -o text.txt/out.json", "cannot write"),
        ("-n 300 -o text.txt", "is one of the FILEs; choose another"),
        ("-n 300 -o link.json", "is one of the FILEs; choose another"),
        ("-n 300 -o out.json -p qwen4", "unknown preset 'qwen4'; did you mean"),
        ("-n 300 -o out.json --tie-break no", "'huggingface', 'first-seen'"),
        ("-n 300 -o out.json --min-frequency -1", "--min-frequency -1; expected"),
        ("-n 300 -o out.json --max-token-length 1", "--max-token-length 1; expected"),
        ("-n 300 -o out.json --threads 0", "--threads 0; expected"),
        (
            "-n 300 -o out.json --special-token a --special-token b=3",
            "'a' has no id, but 'b' has one",
        ),
        (
            "-n 300 -o out.json --special-token b=3 --special-token b=4",
            "duplicate --special-token 'b'",
        ),
        ("-n 300 -o out.json --special-token b --special-token b", "duplicate special token 'b'"),
        ("-n 300 -o out.json --special-token b=300", "expected an int from 0 to 299"),
    ],
)
def test_wrong_arguments_are_refused_before_the_work(
    call: Call, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str,
    expected: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("folder.json").mkdir()
    tmp_path.joinpath("link.json").symlink_to(text)
    before = names(tmp_path)
    assert expected in error_of(call, "train", text, *arguments.split())
    assert names(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("missing.txt", None, "missing.txt"),
        ("text.csv", b"x\0", "text.csv: byte 1 is NUL, so the file is not a text; expected a text"),
        ("a.jsonl", b'{"text": "x"}\n{"body": "x"}\n', "line 2: no 'text' among the keys ['body']"),
        ("a.jsonl", b"{", "line 1: not JSON"),
        ("a.txt.gz", b"no gzip", "a.txt.gz: "),
    ],
)
def test_files_that_cannot_be_read(
    call: Call, tmp_path: Path, backend: BackendName, name: str, content: bytes | None,
    expected: str,
) -> None:  # fmt: skip
    path, out = tmp_path / name, tmp_path / "out.json"
    if content is not None:
        path.write_bytes(content)
    out.write_text("as it was", encoding="utf-8")
    given = ("train", str(path), "-n", "300", "-o", str(out), "--backend", backend)
    assert expected in error_of(call, *given)
    assert out.read_text(encoding="utf-8") == "as it was"


def test_a_vocabulary_that_the_format_cannot_hold_is_saved_in_another(
    call: Call, given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.tiktoken"
    save = bpe.Tokenizer.save

    def fussy(tokenizer: bpe.Tokenizer, path: Path, *, lossy: bool = False) -> None:
        assert not lossy
        if tokenizer.merges and path.suffix == ".tiktoken":
            raise bpe.VocabularyError("a .tiktoken file cannot hold this")
        save(tokenizer, path)

    monkeypatch.setattr(bpe.Tokenizer, "save", fussy)
    found = error_of(call, *given, "-n", "270", "-o", str(out))
    assert (
        found == f"a .tiktoken file cannot hold this; saved the vocabulary to '{out}.json' instead"
    )
    assert bpe.load(f"{out}.json").merges == bpe.train([WORDS], vocab_size=270).merges


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--byte-fallback"],
            '--byte-fallback needs --alphabet "characters"; an alphabet of bytes',
        ),
        (["--character-coverage", "0.5"], "--character-coverage 0.5 needs --alphabet"),
        (["--alphabet", "characters", "-p", "gpt2"], "omit --preset and --tie-break"),
    ],
)
def test_options_that_need_another_alphabet(
    call: Call, tmp_path: Path, options: list[str], said: str
) -> None:
    (tmp_path / "a.txt").write_text(WORDS, encoding="utf-8")
    given = ["train", str(tmp_path / "a.txt"), "-n", "270", "-o", str(tmp_path / "b.json")]
    assert said in error_of(call, *given, *options)


def test_the_alphabet_of_characters(call: Call, tmp_path: Path, backend: BackendName) -> None:
    (tmp_path / "a.txt").write_text("ab ab abc é", encoding="utf-8")
    options = [
        "-n",
        "270",
        "--alphabet",
        "characters",
        "--byte-fallback",
        "-q",
        "--special-token",
        "<s>",
    ]
    options += ["--character-coverage", "0.9", "--backend", backend, str(tmp_path / "a.txt")]
    for name in ("spm.model", "tokenizer.json"):
        out = tmp_path / name
        assert call("train", *options, "-o", str(out)) == (0, "", "")
        tokenizer = bpe.load(out)
        assert tokenizer.special_tokens == {"<unk>": 0, "<s>": 1}
        assert tokenizer.decode(tokenizer.encode("abé")) == "abé"
        assert len(tokenizer.encode("é")) == 3  # "▁" and two bytes


def test_stage2(call: Call, given: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.pretok"
    options = ["-n", "270", "-p", "gpt2", "-o", str(out), "-q", "--stage2"]
    assert call(*given, *options, "280") == (0, "", "")
    expected = bpe.train([WORDS], 270, preset="gpt2", stage2=bpe.Stage2(280))
    assert bpe.load(out) == expected
    more = ["--stage2-preset", "gemma4", "--stage2-words", "0"]
    assert call(*given, *options, "280", *more) == (0, "", "")
    stage = bpe.Stage2(280, "gemma4", None)
    assert bpe.load(out) == bpe.train([WORDS], 270, preset="gpt2", stage2=stage)
    message = error_of(call, *given, *options, "260")
    assert "--stage2 has the vocab_size 260; expected an int from 270" in message
    assert "--stage2-preset needs --stage2" in error_of(call, *given, *options[:-1], *more)
    assert "--stage2-words needs --stage2" in error_of(call, *given, *options[:-1], *more[2:])


def test_initial(call: Call, given: list[str], tmp_path: Path) -> None:
    old = bpe.train([WORDS[:30]], vocab_size=262, special_tokens=["<e>"])
    old.save(tmp_path / "old.json")
    old.save(tmp_path / "old.tiktoken", lossy=True)
    out = str(tmp_path / "new.json")
    for name, options in (("old.json", []), ("old.tiktoken", ["-p", "cl100k"])):
        start = ["--initial", str(tmp_path / name), *options]
        for where in ("after", "gaps", "265"):
            if where == "gaps" and name == "old.tiktoken":
                continue
            options = ["--new-ids", where, "-n", "270", "-o", out]
            status, output, errors = call(*given, *start, *options)
            assert (status, errors) == (0, "")
            assert f" ids, {len(bpe.load(out).merges)} merges, " in output
            initial = bpe.load(tmp_path / name, "cl100k")
            new_ids = int(where) if where.isdecimal() else where
            expected = bpe.train([WORDS], 270, initial=initial, new_ids=new_ids)  # type: ignore[arg-type]
            assert bpe.load(out).merge_ids == expected.merge_ids
    message = error_of(call, *given, "--new-ids", "5", "-n", "270", "-o", out)
    assert "--new-ids 5 needs --initial, the tokenizer to go on with" in message
    message = error_of(call, *given, *start, "-n", "99", "-o", out)
    assert "--vocab-size 99; expected at least 261, the vocab_size of --initial" in message


def test_bounded_memory(call: Call, given: list[str], tmp_path: Path) -> None:
    out, work = tmp_path / "out.json", tmp_path / "work"
    expected = bpe.train([WORDS], 270)
    options = ["-n", "270", "--memory-mb", "100000", "--work-dir", str(work), "-o", str(out)]
    for _ in range(2):
        status, _, errors = call(*given, *options)
        assert (status, errors) == (0, "")
        assert bpe.load(out).merges == expected.merges
    message = error_of(call, *given, *options, "--preset", "gpt2")
    assert "cannot go on with this folder, because it belongs to a training with" in message
    message = error_of(call, *given, "-n", "270", "--memory-mb", "1", "-o", str(out))
    assert "--memory-mb 1; training needs at least" in message
    assert names(tmp_path) == ["out.json", "text.txt", "work"]
