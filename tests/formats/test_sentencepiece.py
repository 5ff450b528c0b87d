"""SentencePiece .model files: ids, spans and decoded text equal those of sentencepiece."""

from __future__ import annotations

import pickle
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import (
    AddedToken,
    BpeError,
    SpecialTokenError,
    Template,
    Tokenizer,
    UnsupportedError,
    VocabularyError,
)
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.token_facts import TokenType
from paths import shared
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from random_sentencepiece import SENTENCES, random_texts
from sentencepiece_models import (
    BPE,
    BYTE_FALLBACK,
    BYTES,
    UNKNOWN,
    Row,
    assert_equal,
    message,
    model,
    normal,
    trained,
    varint,
)
from support import TOO_MUCH, growth, seeded
from vocabulary_files import write

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

SYMBOLS = ["<sep>", "▁foo", "a b", "日本", "aa", " x"]
RULES = "61 62\t78 20 79\n2603\t\n20\t5F\n41\t20\n3042 20\t20 20\n"
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "identity": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    "casefold": {"normalization_rule_name": "nmt_nfkc_cf", "unk_surface": " XX "},
    "no prefix": {"add_dummy_prefix": False},
    "no prefix, all spaces": {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix, all spaces": {"treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False},
    "bytes": {"byte_fallback": True, "vocab_size": 520, "remove_extra_whitespaces": False},
    "bytes, small": {"byte_fallback": True, "vocab_size": 340, "character_coverage": 0.98},
    "over spaces": {"split_by_whitespace": False, "split_digits": True},
    "spaces": {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    "symbols": {"user_defined_symbols": SYMBOLS, "control_symbols": ["<ctl>", "foo"]},
    "symbols, identity": {"user_defined_symbols": SYMBOLS, "normalization_rule_name": "identity"},
}


def both(path: Path) -> list[Tokenizer]:
    """Return the tokenizer of a file with the Python backend and with the default backend."""
    return [bpe.load(path, backend="python"), bpe.load(path)]


def both_of(folder: Path, data: bytes) -> list[Tokenizer]:
    return both(write(folder / "tokenizer.model", data))


def loaded(folder: Path, data: bytes) -> Tokenizer:
    return bpe.load(write(folder / "tokenizer.model", data))


@pytest.mark.parametrize("options", OPTIONS)
def test_trained_models(tmp_path: Path, options: str) -> None:
    data = trained(SENTENCES * 4, **{"vocab_size": 200, **OPTIONS[options]})
    tokenizers = both_of(tmp_path, data)
    live = sentencepiece.SentencePieceProcessor(model_proto=data)
    random = seeded(options)
    for text in ("", " ", "▁", " ▁ ", *SENTENCES[:4], *random_texts(random, 30)):
        assert_equal(tokenizers, live, text, random)
    assert tokenizers[0].vocab_size == live.get_piece_size()


def test_normalization_rules_of_a_file(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.tsv", RULES)
    data = trained(SENTENCES * 4, vocab_size=200, normalization_rule_tsv=str(rules))
    tokenizers = both_of(tmp_path, data)
    live = sentencepiece.SentencePieceProcessor(model_proto=data)
    random = seeded("rules")
    for text in random_texts(random, 30):
        assert_equal(tokenizers, live, text, random)


@pytest.mark.usefixtures("first_texts")
@pytest.mark.parametrize("escapes", [0, 1])
@pytest.mark.parametrize("has_ties", [False, True])
def test_random_pieces(tmp_path: Path, escapes: int, has_ties: bool) -> None:
    """Few pieces, some with equal scores; some characters of the texts have no piece."""
    random = seeded(f"{escapes} {has_ties}")
    for index in range(12):
        drawn = sorted(
            {"".join(random.choices("ab▁ é", k=random.randrange(1, 5))) for _ in range(12)}
        )
        random.shuffle(drawn)
        scores = [random.choice([1.0, 0.0, -2.5]) if has_ties else 6.0 - i for i in range(12)]
        rows: list[Row] = [UNKNOWN, *(BYTES if index % 2 else ())]
        rows += [
            (text, score, TokenType.NORMAL) for text, score in zip(drawn, scores, strict=False)
        ]
        rows += [("aab", 1.0, TokenType.USER_DEFINED)] if "aab" not in drawn else []
        data = model(
            rows,
            BYTE_FALLBACK if index % 2 else BPE,
            [(3, random.randrange(2)), (4, random.randrange(2)), (5, escapes)],
        )
        tokenizers = both_of(tmp_path, data)
        live = sentencepiece.SentencePieceProcessor(model_proto=data)
        for _ in range(8):
            text = "".join(random.choices("ab▁ éx\u00e8", k=random.randrange(90)))
            assert_equal(tokenizers, live, text, random)
            assert loaded(tmp_path, data).encode(text, "text") == live.encode(text)


@pytest.mark.parametrize("lengths", [(2,), (2, 3, 4, 5), (2, 3, 4, 6), (2, 4), (3, 4), (2, 4, 5)])
def test_runs_of_equal_score(tmp_path: Path, lengths: tuple[int, ...]) -> None:
    """Pieces of several "▁": the lengths of Llama 2 and Mistral, and some that C++ cannot merge."""
    rows = [UNKNOWN, *BYTES, *normal("▁a", "ab", "▁ab", "ba", "▁", "a", "b")]
    rows += [("▁" * length, -1e9, TokenType.NORMAL) for length in lengths]
    data = model(rows, BYTE_FALLBACK)
    tokenizers = both_of(tmp_path, data)
    live = sentencepiece.SentencePieceProcessor(model_proto=data)
    random = seeded(str(lengths))
    for _ in range(25):
        runs = [" " * random.randrange(14) + random.choice(["a", "b", "é", ""]) for _ in range(6)]
        assert_equal(tokenizers, live, "".join(runs), random)


def test_unused_pieces(tmp_path: Path) -> None:
    """No text becomes an UNUSED piece, but its id decodes to its text."""
    unused = [("b", 0.0, TokenType.UNUSED), ("<xab>", 0.0, TokenType.UNUSED)]
    rows = [UNKNOWN, *normal("▁", "a", "ab", "xa", "<x"), *unused]
    for data in (model(rows), model([*rows, *BYTES], BYTE_FALLBACK)):
        tokenizers = both_of(tmp_path, data)
        live = sentencepiece.SentencePieceProcessor(model_proto=data)
        for text in ("b", "ab", "abb b", "xab", "bxbb", "<xab>", "<xab"):
            assert_equal(tokenizers, live, text, seeded(text))
        assert tokenizers[0].decode([6, 7, 2]) == live.decode([6, 7, 2]) == "b<xab>a"
        tokenizers[0].save(tmp_path / "saved.model")
        assert bpe.load(tmp_path / "saved.model", backend="python") == tokenizers[0]


def test_signs_of_zero(tmp_path: Path) -> None:
    """As a score, -0.0 is less than 0.0."""
    for scores in ((0.0, -0.0), (-0.0, 0.0), (0.0, 0.0), (-0.0, -0.0)):
        words = zip(("ab", "bc"), scores, (TokenType.NORMAL,) * 2, strict=True)
        data = model([UNKNOWN, *normal("▁", "a", "b", "c"), *words])
        live = sentencepiece.SentencePieceProcessor(model_proto=data)
        tokenizers = both_of(tmp_path, data)
        assert_equal(tokenizers, live, "abc abcab", seeded("zero"))
        assert live.encode("abc") == ([2, 6] if str(scores) == "(-0.0, 0.0)" else [5, 4])


def test_symbols_that_begin_with_a_mark(tmp_path: Path) -> None:
    """Such a control symbol or unknown token does not keep the next token from losing a space."""
    rows: list[Row] = [("▁?", 0.0, TokenType.UNKNOWN), *normal("▁", "a", "▁a", "▁▁")]
    rows += [("▁<s>", 0.0, TokenType.CONTROL), ("▁x", 0.0, TokenType.USER_DEFINED)]
    for adds, removes in product(range(2), repeat=2):
        data = model(rows, normalizer=[(3, adds), (4, removes)])
        live = sentencepiece.SentencePieceProcessor(model_proto=data)
        tokenizers = both_of(tmp_path, data)
        for ids in product(range(len(rows)), repeat=3):
            for tokenizer in tokenizers:
                assert tokenizer.decode(ids) == live.decode(list(ids)), ids
                stream = tokenizer.decode_stream()
                assert stream.feed(ids) + stream.finish() == live.decode(list(ids)), ids


def _published() -> list[str]:
    mistral = ["tokenizer.model.v1", "mistral_instruct_tokenizer_240323.model.v3"]
    return ["llama2.model", *mistral]


@cache
def _path(name: str) -> Path:
    if name.endswith(".model"):
        return shared("vocabs", "spm", name)
    package = pytest.importorskip("mistral_common")
    return Path(package.__file__).parent / "data" / name


@pytest.mark.parametrize("name", _published())
def test_published_models(name: str) -> None:
    path = _path(name)
    tokenizers = both(path)
    tokenizer = tokenizers[0]
    live = sentencepiece.SentencePieceProcessor(model_file=str(path))
    random = seeded(name)
    for text in (*SENTENCES[:4], *random_texts(random, 20), "    x\n\n  y\t<s>[INST] Hi [/INST]"):
        assert_equal(tokenizers, live, text, random)
    assert tokenizer.vocab_size == live.get_piece_size()
    for id in range(0, tokenizer.vocab_size, 997):
        assert tokenizer.decode([id]) == live.decode([id])
    assert tokenizer.token_bytes(300) == live.id_to_piece(300).encode()
    assert tokenizer.token_id("▁the") == live.piece_to_id("▁the")


def test_special_tokens(tmp_path: Path) -> None:
    rows = [UNKNOWN, ("<s>", 0.0, TokenType.CONTROL), *normal("▁", "a", "▁a", "<", "s", ">")]
    tokenizer = loaded(tmp_path, model(rows, normalizer=[(4, 0)]))
    assert tokenizer.special_tokens == {"<unk>": 0, "<s>": 1}
    with pytest.raises(SpecialTokenError, match="<s>"):
        tokenizer.encode("a<s>a")
    assert tokenizer.encode("a<s>a", "text") == [4, 5, 6, 7, 3]
    # The texts before and after a special token are normalized separately.
    assert tokenizer.encode("a<s>a", "allow") == [4, 1, 4]
    assert tokenizer.decode([4, 1, 4]) == "a a"
    assert tokenizer.decode([4, 0], skip_special=True) == "a"
    assert tokenizer.decode([4, 0]) == "a \u2047 "
    assert tokenizer.encode_batch(["a", "", "<s>"], "allow") == [[4], [], [1]]


def test_fallback_decodes_each_byte(tmp_path: Path) -> None:
    tokenizer = loaded(tmp_path, model([UNKNOWN, *BYTES, *normal("▁", "a")], BYTE_FALLBACK))
    ids = [1 + byte for byte in b"\xe2\x96a\xe2\x98\x83"]
    assert tokenizer.decode(ids) == "\ufffd\ufffda☃"
    assert tokenizer.decode_bytes(ids) == b"\xe2\x96a\xe2\x98\x83"
    with pytest.raises(UnicodeDecodeError):
        tokenizer.decode(ids, errors="strict")
    stream = tokenizer.decode_stream()
    assert [stream.feed(id) for id in ids[3:]] == ["", "", "☃"]
    # Bytes that are not UTF-8 become U+FFFD before they are encoded, as in sentencepiece. `merge`
    # keeps them.
    assert tokenizer.encode(b"\xff") == [1 + byte for byte in "\ufffd".encode()]
    assert tokenizer.merge(b"\xff") == [256]


def test_native_takes_any_scores(tmp_path: Path, native: BackendName) -> None:
    ties: list[Row] = [("▁a", 0, TokenType.NORMAL), ("▁b", 0, TokenType.NORMAL)]
    path = write(tmp_path / "a.model", model([UNKNOWN, *ties]))
    assert bpe.load(path, backend=native).backend == native
    tokens = {0: b"?", 1: b"ab", 2: b"bc", 3: b"cd"}
    for scores in ({1: 0.1, 2: 0.1, 3: 0.0}, {1: 0.1, 2: 0.1 + 1e-12, 3: 0.0}):
        vocabulary = CharacterVocabulary(tokens, scores, 0)
        tokenizer = Tokenizer(vocabulary, WHOLE, backend=native)
        expected = Tokenizer(vocabulary, WHOLE, backend="python")
        for text in ("abcd", "bcd", "abc", "cdab"):
            assert tokenizer.encode(text) == expected.encode(text)


@pytest.mark.parametrize("name", ["llama2.model", "mistral_instruct_tokenizer_240323.model.v3"])
def test_published_models_run_natively(name: str, native: BackendName) -> None:
    tokenizer = bpe.load(_path(name), backend=native)
    text = f"{'a' * 1_000_000} {' ' * 1_000_000}\n{' the cat' * 100}"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.cache_bytes > 0
    tokenizer.trim()


def test_equality_and_pickle(tmp_path: Path) -> None:
    tokenizer = loaded(tmp_path, model([UNKNOWN, *BYTES, *normal("▁", "a", "▁a")], BYTE_FALLBACK))
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy == tokenizer
    assert copy.encode(" a é") == tokenizer.encode(" a é")
    assert copy != loaded(tmp_path, model([UNKNOWN, *normal("▁", "a")]))
    assert isinstance(tokenizer.vocabulary, CharacterVocabulary)
    assert tokenizer.merges == (("▁".encode(), b"a"),)


@pytest.mark.parametrize("suffix", ["json", "tiktoken"])
def test_other_formats_cannot_hold_the_model(tmp_path: Path, suffix: str) -> None:
    tokenizer = loaded(tmp_path, model([UNKNOWN, *normal("▁", "a")]))
    with pytest.raises(UnsupportedError, match=r"cannot hold .* save (it|the tokenizer) as"):
        tokenizer.save(tmp_path / f"b.{suffix}")


@pytest.mark.parametrize("options", OPTIONS)
def test_saved_models(tmp_path: Path, options: str) -> None:
    ours = loaded(tmp_path, trained(SENTENCES * 4, **{"vocab_size": 200, **OPTIONS[options]}))
    ours.save(tmp_path / "again.model")
    again = bpe.load(tmp_path / "again.model", backend="python")
    assert again == ours
    live = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
    random = seeded(options)
    for text in ("", " ", *SENTENCES[:4], *random_texts(random, 10)):
        assert_equal([again], live, text, random)


def test_tokenizers_that_the_format_cannot_hold(tmp_path: Path) -> None:
    ours = loaded(tmp_path, model([UNKNOWN, *normal("▁", "a")]))
    parts = {"normalizer": ours.normalizer, "decoder": ours.decoder}
    for changed, error, match in (
        ({**parts, "decoder": None}, UnsupportedError, "its own normalizer and decoder"),
        ({**parts, "template": Template((1,))}, VocabularyError, "cannot hold the template"),
        ({**parts, "added_tokens": [AddedToken("new", 9)]}, VocabularyError, "is not a piece"),
    ):
        other = Tokenizer(ours.vocabulary, WHOLE, **changed)
        with pytest.raises(error, match=match):
            other.save(tmp_path / "b.model")


A = normal("▁", "a")
PIECES: tuple[Row, ...] = (UNKNOWN, *A)


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (model(PIECES, [(3, 1)]), UnsupportedError, "is of type Unigram"),
        (model(PIECES, []), UnsupportedError, "is of type Unigram"),
        (model(PIECES, [(3, 3)]), UnsupportedError, "is of type word"),
        (model(PIECES, [(3, 4)]), UnsupportedError, "is of type character"),
        (model(A), VocabularyError, "has 0 pieces of type UNKNOWN"),
        (model([*PIECES, ("<u>", 0, TokenType.UNKNOWN)]), VocabularyError, "2 pieces of type"),
        (model([*PIECES, *A]), VocabularyError, "pieces 1 and 3 are both '▁'"),
        (model([*PIECES, BYTES[0]]), VocabularyError, "has type BYTE"),
        (model([*PIECES, *BYTES[1:]], BYTE_FALLBACK), VocabularyError, "no piece '<0x00>'"),
        (model([*PIECES, ("x", 0, TokenType.CONTROL)]), UnsupportedError, "control symbol"),
        (model([*PIECES, ("xy", 0, TokenType.UNUSED)]), UnsupportedError, "has type UNUSED"),
        (model([*PIECES, ("x", float("nan"), TokenType.NORMAL)]), VocabularyError, "NaN"),
        (model([*PIECES, ("", 0, TokenType.NORMAL)]), VocabularyError, "piece 3 is empty"),
        (model([*PIECES, ("x" * 5000, 0, TokenType.NORMAL)]), VocabularyError, "5000 characters"),
        (model([*PIECES, ("x" * 300, 0, TokenType.USER_DEFINED)]), UnsupportedError, "300 charac"),
        (model(PIECES, more=[(1, message([(1, b"\xff")]))]), VocabularyError, "is not UTF-8"),
        (model(PIECES, more=[(1, message([(1, b"x"), (3, 7)]))]), VocabularyError, "has type 7"),
        (model(PIECES, more=[(1, 5)]), VocabularyError, "is the number 5"),
        (model(PIECES, more=[(5, message([(2, b"x")]))]), UnsupportedError, "denormalizer"),
        (model(PIECES, normalizer=[(2, b"x")]), VocabularyError, "charsmap has 1 bytes"),
        (model(PIECES) + varint(9 << 3 | 3), VocabularyError, "wire type 3"),
        (model(PIECES) + varint(9 << 3 | 2) + varint(9), VocabularyError, "only 0 bytes follow"),
        (model(PIECES) + b"\x80" * 11, VocabularyError, "more than 10 bytes"),
        (model(PIECES) + b"\x80", VocabularyError, "ends within a number"),
    ],
)
def test_wrong_models_are_refused(
    tmp_path: Path, data: bytes, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match) as caught:
        loaded(tmp_path, data)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("size", [1, 126, 127, 128, 129, 300])
@pytest.mark.parametrize("char", ["x", "é", "日"])
def test_pieces_of_any_size(tmp_path: Path, char: str, size: int) -> None:
    rows = [UNKNOWN, *normal("▁", "x", "é", "日", "▁é日x", "é日x")]
    if size > 1:
        rows.append((char * size, -9.0, TokenType.NORMAL))
    data = model(rows)
    live = sentencepiece.SentencePieceProcessor(model_proto=data)
    for tokenizer in both_of(tmp_path, data):
        assert tokenizer.vocab_size == len(rows)
        for text in (char * size, "é日x é日x", char * (size + 3)):
            assert tokenizer.encode(text, "text") == live.encode(text)


def test_arguments_of_load(tmp_path: Path) -> None:
    path = write(tmp_path / "a.model", model(PIECES))
    with pytest.raises(UnsupportedError, match="without preset="):
        bpe.load(path, "gpt2")
    with pytest.raises(ValueError, match="without normalizer="):
        bpe.load(path, normalizer="NFC")


def test_damaged_files(tmp_path: Path) -> None:
    """Every truncation and bit flip is an error, or loads as sentencepiece loads it."""
    data = model([UNKNOWN, *normal("a", "▁a"), ("<x>", 0.0, TokenType.USER_DEFINED)])
    flips = [
        data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
        for at in range(len(data))
        for bit in range(8)
    ]
    path = tmp_path / "a.model"
    count = 0
    for damaged in (*flips, *(data[:at] for at in range(len(data)))):
        path.write_bytes(damaged)
        try:
            tokenizer = bpe.load(path)
        except BpeError:
            continue
        live = sentencepiece.SentencePieceProcessor(model_proto=damaged)
        for text in ("a aa<x>", " \u00e9<unk>"):
            assert tokenizer.encode(text, "text") == live.encode(text), damaged
        count += 1
    assert count > 30


def test_time_of_long_texts(tmp_path: Path) -> None:
    """A text that cannot be cut is merged in O(n log n)."""
    pieces = ["a" * 2**index for index in range(6)]
    tokenizer = loaded(tmp_path, model([UNKNOWN, *normal(*pieces[::-1], "b")]))
    assert growth(lambda size: tokenizer.encode("a" * size), 2_000) < TOO_MUCH
