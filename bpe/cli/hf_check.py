"""The command `pretok hf-check`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import click

from pretok.cli.input import read_text
from pretok.cli.output import one_line, write

CONFIG = "tokenizer_config.json"
EQUAL, DIFFERENT = 0, 1
"""Exit statuses."""
MAX_CHARACTERS = 4000
"""The maximum length of a text; longer lines are cut."""
MAX_TEXTS = 2000
TIMED_TEXTS = 64
ROUNDS = 5
SAMPLE = """\
The quick brown fox doesn't jump over 12,345 lazy dogs -- or does it?
  def f(x):\n\treturn {"key": [x ** 2 for _ in range(10)]}  # indented
Zażółć gęślą jaźń; e\u0301 is é; Straße, naïve café, ½ of Ⅷ, ﬁne.
中文分词和日本語のテキスト、한국어 텍스트도 있습니다。
مرحبا بالعالم नमस्ते दुनिया สวัสดีชาวโลก שלום עולם
🦙👩‍🦰🇩🇪 emoji\u200d and  double  spaces\u00a0end\t
"""
Call = Callable[[Any], Any]


@click.command("hf-check", short_help="Check which calls of a Hugging Face tokenizer bpe answers.")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option("--on", "file", metavar="FILE", help="Compare on the lines of this text.")
def hf_check_command(path: Path, file: str | None) -> int:
    """Compare a tokenizer of Hugging Face with bpe.compat.huggingface, and measure both.

    PATH is a tokenizer.json, or the folder of a model that transformers can load. The real
    tokenizer and the stand-in encode and decode each line of the text, and all values of the
    results are compared. Prints which library serves the tokenizer, which calls fall back and why,
    and the time of each call. If transformers is installed, the calls go through its tokenizer. The
    exit status is 1 after a difference.
    """
    try:
        hf: Any = import_module("bpe.compat.huggingface")
    except ModuleNotFoundError:
        raise click.ClickException(
            "hf-check needs the package tokenizers; install it with `pip install tokenizers`"
        ) from None
    if hf.WHY_RECORD:
        raise click.ClickException(f"hf-check has nothing to compare with: {hf.WHY_RECORD}")
    texts = _texts(file)
    tok = _load(path)
    fallen_before = hf.fallbacks()
    difference, count = _first_difference(hf, tok, texts)
    with _serving(hf, tok) as served:
        engine = hf.engine(served)
    fallen = {
        reason: number - fallen_before.get(reason, 0)
        for reason, number in hf.fallbacks().items()
        if number > fallen_before.get(reason, 0)
    }
    timings = list(_timings(hf, tok, texts[:TIMED_TEXTS]))
    write(_report(engine, difference, count, len(texts), fallen, timings))
    return DIFFERENT if difference else EQUAL


def _texts(file: str | None) -> list[str]:
    """Return the first lines of `file`, or of SAMPLE."""
    text = SAMPLE if file is None else read_text(file, may_be_empty=False)
    return [line[:MAX_CHARACTERS] for line in text.splitlines()[:MAX_TEXTS]] or [""]


def _load(path: Path) -> Any:
    """Return a tokenizer of transformers, or of tokenizers if transformers is not installed."""
    file = path / "tokenizer.json" if path.is_dir() else path
    has_config = (path / CONFIG).is_file()
    if path.is_dir() and not (file.is_file() or has_config):
        raise click.ClickException(
            f"expected a tokenizer.json or a {CONFIG} in the folder {path}; found neither"
        )
    # transformers warns if PyTorch is missing. This variable suppresses the warning.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        transformers = import_module("transformers")
    except ImportError:
        transformers = None
    try:
        if transformers is None:
            return import_module("tokenizers").Tokenizer.from_file(str(file))
        if not has_config:
            return transformers.PreTrainedTokenizerFast(tokenizer_file=str(file))
        tok = transformers.AutoTokenizer.from_pretrained(str(path), local_files_only=True)
    except Exception as error:  # tokenizers raises plain Exception
        raise click.ClickException(f"{path} is not a tokenizer: {one_line(str(error))}") from None
    if not hasattr(tok, "backend_tokenizer"):
        raise click.ClickException(
            f"expected a fast tokenizer in {path}, which has a backend of the library tokenizers; "
            f"transformers made a {type(tok).__name__}"
        )
    return tok


def _calls(tok: Any, text: str) -> Iterator[tuple[str, Call]]:
    """Yield the calls to compare, each with the Python code that the report shows for it."""
    if not hasattr(tok, "backend_tokenizer"):
        yield f"encode({text!r})", lambda tok: tok.encode(text)
        yield (
            f"encode_batch([{text!r}, ({text!r}, {text!r})])",
            lambda tok: tok.encode_batch([text, (text, text)]),
        )
        ids = tok.encode(text).ids
    else:
        yield f"tok({text!r})", lambda tok: tok(text)
        yield f"tok({text!r}, {text!r})", lambda tok: tok(text, text)
        cut = {"truncation": True, "max_length": 5}
        yield f"tok({text!r}, truncation=True, max_length=5)", lambda tok: tok(text, **cut)
        ids = tok(text)["input_ids"]
    yield f"decode({ids!r})", lambda tok: tok.decode(ids)
    yield (
        f"decode({ids!r}, skip_special_tokens=True)",
        lambda tok: tok.decode(ids, skip_special_tokens=True),
    )


def _first_difference(hf: Any, tok: Any, texts: list[str]) -> tuple[str, int]:
    """Return the first call whose results differ, or "", and the number of calls."""
    count = 0
    for text in texts:
        for name, call in list(_calls(tok, text)):
            count += 1
            with _serving(hf, tok) as served:
                ours = _outcome(hf, call, served)
            if ours != _outcome(hf, call, tok):
                return name, count
    return "", count


def _outcome(hf: Any, call: Call, tok: Any) -> Any:
    """Return the plain values of the result of a call, or of its error."""
    try:
        return hf.comparable(call(tok))
    except Exception as error:  # tokenizers raises plain Exception
        return type(error).__name__, str(error)


@contextmanager
def _serving(hf: Any, tok: Any) -> Iterator[Any]:
    """Let bpe serve a tokenizer; yield the tokenizer to call."""
    if not hasattr(tok, "backend_tokenizer"):
        yield hf.wrap(tok)
        return
    with hf.patched():
        yield tok


def _timings(hf: Any, tok: Any, texts: list[str]) -> Iterator[str]:
    """Yield a line with the shortest times of each call, of the real tokenizer and of bpe."""
    length = int(median(map(len, texts)))
    has_transformers = hasattr(tok, "backend_tokenizer")

    def encode(tok: Any) -> list[Any]:
        if has_transformers:
            return [tok(text)["input_ids"] for text in texts]
        return [tok.encode(text).ids for text in texts]

    def encode_batch(tok: Any) -> list[Any]:
        if has_transformers:
            return tok(texts)["input_ids"]  # type: ignore[no-any-return]
        return [encoding.ids for encoding in tok.encode_batch(texts)]

    def decode(tok: Any) -> list[str]:
        return [tok.decode(row) for row in rows]

    rows = encode(tok)
    for name, call, calls in (
        (f"a text (median {length:,} chars)", encode, len(texts)),
        (f"a batch of {len(texts):,} texts", encode_batch, 1),
        ("decode", decode, len(texts)),
    ):
        real = ours = float("inf")
        for _ in range(ROUNDS):
            real = min(real, _seconds(call, tok))
            with _serving(hf, tok) as served:
                ours = min(ours, _seconds(call, served))
        times = f"{real / calls * 1e6:10,.1f} µs {ours / calls * 1e6:10,.1f} µs"
        yield f"  {name:28} {times} {real / ours:8.1f}x\n"


def _seconds(call: Call, tok: Any) -> float:
    """Return the time of a call, after one that fills the caches."""
    call(tok)
    start = time.perf_counter()
    call(tok)
    return max(time.perf_counter() - start, 1e-9)


def _report(
    engine: Any, difference: str, count: int, texts: int, fallen: dict[str, int], timings: list[str]
) -> Iterator[str]:
    reason = f": {one_line(engine.reason)}" if engine.reason else ""
    yield f"served by {engine.name}{reason}\n"
    if difference:
        yield f"different: {one_line(difference)}\n"
    else:
        yield f"equal: all {count:,} calls on {texts:,} texts\n"
    for reason, number in sorted(fallen.items(), key=lambda item: -item[1]):
        yield f"fell back in {number:,} calls: {one_line(reason)}\n"
    yield f"  {'':28} {'Hugging Face':>13} {'bpe':>13}\n"
    yield from timings
