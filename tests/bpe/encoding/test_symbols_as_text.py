"""A character that is a user-defined symbol keeps its id if the symbols are encoded as text.

All ways to encode give the same ids: the first texts of a tokenizer, later texts, pure Python,
.pretok files and the C library.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

import bpe
from bpe import BpeError
from bpe.formats import sentencepiece
from bpe.token_facts import TokenType
from c_library import CError, CLibrary, CTokenizer
from random_sentencepiece import random_letters, random_texts, random_written
from random_text_models import random_file
from sentencepiece_models import BPE, BYTE_FALLBACK, UNKNOWN, Row, model, normal
from support import max_examples, need_native, seeded
from text_models import PARTS
from text_pretok_files import sentencepiece_model
from vocabulary_files import write

LONG = "ab" * 2048
"""A text for which a tokenizer makes all tables."""
SYMBOL, PAIR = 1, 2
ROWS: list[Row] = [
    UNKNOWN,
    ("x", 0.0, TokenType.USER_DEFINED),
    ("ba", 0.0, TokenType.USER_DEFINED),
    *normal("ab", "a", "b"),
]
TIED: list[Row] = [*ROWS, ("abab", -9.0, TokenType.NORMAL), ("aa", -9.0, TokenType.NORMAL)]
MERGED: list[Row] = [*ROWS, ("xa", -9.0, TokenType.NORMAL)]
SYMBOLS_OF = [
    ("▁foo", "A b", "x", "▁"),
    ("▁foo", "A b", "x", "①", "\n"),
    ("a b", " x", "▁▁", "12", "é", "▁", "a"),
    ("é", "\ufffd"),
]


pytestmark = pytest.mark.usefixtures("first_texts")


def _compare(path: Path, texts: Iterable[bytes], library: CLibrary | None = None) -> None:
    """Compare all ways to encode the texts with the tokenizer of a file."""
    expected = bpe.load(path, backend="python")
    ways = {"later": bpe.load(path)}
    ways["later"].encode(LONG, "text")
    in_c = []
    try:
        expected.save(path.with_name("saved.pretok"))
        ways["saved"] = bpe.load(path.with_name("saved.pretok"))
        ways["saved in Python"] = bpe.load(path.with_name("saved.pretok"), backend="python")
    except BpeError:
        pass  # a .pretok file cannot hold the model
    if library is not None:
        try:
            in_c.append(CTokenizer(library, path.read_bytes()))
        except CError as error:
            if error.status != "unsupported":
                raise
    for text in texts:
        for special in ("plain", "text"):
            ids = expected.encode(text, special)
            assert bpe.load(path).encode(text, special) == ids, (text, special)
            for name, way in ways.items():
                assert way.encode(text, special) == ids, (text, special, name)
            for ours in in_c:
                assert ours.encode(text, special) == ids, (text, special)


@pytest.mark.parametrize("rows", [ROWS, TIED, MERGED], ids=["ranked", "tied", "merged"])
def test_a_symbol_of_one_character(tmp_path: Path, rows: list[Row]) -> None:
    need_native()
    path = write(tmp_path / "tokenizer.model", model(rows, BPE))
    python, first, later = bpe.load(path, backend="python"), bpe.load(path), bpe.load(path)
    later.encode(LONG)
    ids = [0, SYMBOL, 4, SYMBOL, SYMBOL, 5, 4]  # merges do not make the symbol "ba"
    parsed = sentencepiece.parse(path.read_bytes())
    assert parsed.vocabulary == later.vocabulary
    for each in (python, first, later):
        assert each.encode("zxaxxba", "plain") == (
            ids if rows is not MERGED else [0, 6, SYMBOL, SYMBOL, 5, 4]
        )
        assert each.encode("xba", "text") == [SYMBOL, PAIR]
    assert later.decode([SYMBOL]) == "x"
    _compare(path, [b"xabx", b"\xffx", b"bax aba"])


@pytest.mark.parametrize("trainer", [BPE, BYTE_FALLBACK], ids=["unknown", "fallback"])
@pytest.mark.parametrize("symbols", SYMBOLS_OF)
def test_symbols(
    c_library: CLibrary, tmp_path: Path, symbols: tuple[str, ...], trainer: tuple[tuple[int, int]]
) -> None:
    random = seeded(f"symbols as text {symbols} {trainer}")
    options = [(3, random.randrange(2)), (4, random.randrange(2))]
    data = sentencepiece_model(options, trainer, symbols=symbols)
    path = write(tmp_path / "tokenizer.model", data)
    texts = ["".join(random.choices([*symbols, *"xa ▁bé日foo"], k=9)) for _ in range(10)]
    _compare(path, [b"xe\xcc\x81</s>", b"\xff\xe2", *map(str.encode, texts)], c_library)


def test_random_models(c_library: CLibrary, tmp_path: Path) -> None:
    need_native()
    random = seeded("random symbols as text")
    for _ in range(max_examples(15)):
        path = write(tmp_path / "tokenizer.model", random_written(random).data)
        texts = [*random_letters(random, 5), *random_texts(random, 3)]
        _compare(path, map(str.encode, texts), c_library)


def test_random_json(tmp_path: Path) -> None:
    need_native()
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    random = seeded("random added tokens as text")
    for _ in range(max_examples(10)):
        path = write(tmp_path / "tokenizer.json", random_file(random))
        try:
            bpe.load(path)
        except BpeError:
            continue
        texts = ["".join(random.choices(PARTS, k=random.choice([2, 6, 20]))) for _ in range(6)]
        _compare(path, map(str.encode, texts))
