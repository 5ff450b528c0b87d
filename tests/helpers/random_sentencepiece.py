"""Random SentencePiece models: trained with random options, or written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bpe.token_facts import TokenType
from sentencepiece_models import BPE, BYTES, UNKNOWN, Field, model, trained

SENTENCES = [
    "the quick brown fox  jumps over the lazy dog",
    "Hello world, hello there! naïve café e\u0301 Ａｂｃ ㍿ ① ½ ﬁne",
    "日本語の文章 ☃ 😀 \u3000 \u00a0x\u200b a▁b",
    "aaaa aaaa aa aaa 1234 99 <sep> foo bar foo baz",
    "def f(x):\n    return x  # 2026\t\tx  y",
    "Привет, мир! 10,000.5 ١٢٣ १२ Ⅳ",
]
PARTS = [
    *"Aあabehlo  ▁\t\n日本語é\u0301①ﬁ½㍿Ａ\u3000\u00a0\u200b☃😀\x00\ufffdПр1٢Ⅳ\r\u2028",
    *("<sep>", "foo", "<s>", "</s>", "<unk>", "<0x41>", "a b", "▁foo", "hello", "the", "  ", "aa"),
    *("    ", "1234", "aaaa", "return", "\n\n", "<pad>", "▁▁", "ab", "ß", "ﬀ", "Ω", "\U0001f1e9"),
]  # fmt: skip
SYMBOLS = ["<sep>", "▁foo", "a b", "日本", "aa", " x", "\n", "▁▁", "12", "é", "▁", "a"]
CONTROLS = ["<ctl>", "foo", "<mask>", "hello", "▁the", "日本語"]
RULES = [
    "61 62\t78 20 79",
    "2603\t",
    "20\t5F",
    "41\t20",
    "3042 20\t20 20",
    "68\t48",
    "A\t20",
    "62\t",
]
NORMALIZERS = ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]


def random_texts(random: Random, count: int) -> Iterator[str]:
    """Yield random texts of PARTS."""
    for _ in range(count):
        yield "".join(random.choice(PARTS) for _ in range(random.randrange(25)))


class RandomModel(NamedTuple):
    """A model, and what a failed test should show of it."""

    data: bytes
    description: dict[str, Any]


FLAGS = (
    "add_dummy_prefix", "remove_extra_whitespaces", "treat_whitespace_as_suffix",
    "split_by_whitespace", "split_by_number", "split_by_unicode_script", "split_digits",
    "allow_whitespace_only_pieces", "byte_fallback",
)  # fmt: skip
"""The options of sentencepiece's trainer that are true or false."""


def random_options(random: Random, folder: Path) -> dict[str, Any]:
    """Return random options of sentencepiece's trainer. `folder` gets a file of rules."""
    options: dict[str, Any] = {"normalization_rule_name": random.choice(NORMALIZERS)}
    if random.random() < 0.2:
        rules = folder / f"rules {random.randrange(1 << 40)}.tsv"
        chosen = random.sample(RULES, random.randrange(1, len(RULES)))
        rules.write_text("".join(f"{rule}\n" for rule in chosen), encoding="utf-8")
        options["normalization_rule_tsv"] = str(rules)
    options |= {name: random.random() < 0.5 for name in FLAGS if random.random() < 0.3}
    options["vocab_size"] = random.choice([120, 200, 300, 400])
    options["vocab_size"] += 256 * options.get("byte_fallback", False)
    symbols = random.sample(SYMBOLS, random.randrange(1, 6))
    controls = [text for text in CONTROLS if text not in symbols]
    others = {
        "character_coverage": random.choice([0.98, 0.99, 1.0]),
        "max_sentencepiece_length": random.choice([1, 2, 3, 8, 30]),
        "required_chars": "".join(random.sample("ßxyz日☃Ω", 3)),
        "unk_surface": random.choice([" XX ", "", "?", "▁", " "]),
        "user_defined_symbols": symbols,
        "control_symbols": random.sample(controls, random.randrange(1, 4)),
        "unk_piece": random.choice(["<oov>", "▁?"]),
        "bos_piece": random.choice(["[BOS]", "▁s"]),
    }
    options |= {name: value for name, value in others.items() if random.random() < 0.3}
    if random.random() < 0.3:
        names = random.sample(["unk_id", "bos_id", "eos_id", "pad_id"], 4)
        options |= {name: id for id, name in enumerate(names)}
    elif random.random() < 0.3:
        options |= {"eos_id": -1} if random.random() < 0.5 else {"bos_id": -1, "eos_id": 1}
    return options


def random_trained(random: Random, folder: Path) -> RandomModel | None:
    """Return a model that sentencepiece trains with random options.

    Returns None if sentencepiece refuses the options.
    """
    options = random_options(random, folder)
    sentences = random.sample(SENTENCES, random.randrange(2, len(SENTENCES))) * 4
    try:
        return RandomModel(trained(sentences, **options), options)
    except (RuntimeError, OSError):
        return None


LETTERS = "ab▁ é日cx\u00e8"


def random_written(random: Random) -> RandomModel:
    """Return a model with random pieces of LETTERS, and random types, scores and options."""
    letters = random.choice(["ab", "ab▁ ", "ab▁é", "a▁", "abc日é▁"])
    longest = random.choice([3, 5, 9])
    drawn = {
        "".join(random.choices(letters, k=random.randrange(1, longest)))
        for _ in range(random.choice([3, 8, 20, 60]))
    }
    texts = random.sample(sorted(drawn), len(drawn))
    order = random.randrange(6)

    def score(at: int) -> float:
        return [
            -float(at),
            float(at % 3),
            random.choice([0.0, -1.0, -2.5, -0.0]),
            random.uniform(-9, 9),
            float(len(texts[at])),
            random.choice([-float(at), float("inf"), -1e38, 1e-40]),
        ][order]

    def can_be_made(text: str) -> bool:
        parts = {*drawn, *letters}
        return any(text[:at] in parts and text[at:] in parts for at in range(1, len(text)))

    def kind(text: str) -> TokenType:
        if random.random() < 0.03 and len(text) > 1:
            return TokenType.CONTROL
        if random.random() < 0.1 and not can_be_made(text):
            return TokenType.UNUSED
        return TokenType.USER_DEFINED if random.random() < symbols else TokenType.NORMAL

    symbols = random.choice([0.0, 0.05, 0.3])
    has_bytes = random.random() < 0.5
    rows = [UNKNOWN, ("<s>", 0.0, TokenType.CONTROL), *(BYTES if has_bytes else ())]
    rows += [(text, score(at), kind(text)) for at, text in enumerate(texts)]
    if random.random() < 0.3:
        random.shuffle(rows)
    normalizer: list[Field] = [(field, random.randrange(2)) for field in (3, 4, 5)]
    trainer: list[Field] = [*BPE, (24, random.randrange(2)), (35, int(has_bytes))]
    if random.random() < 0.5:
        trainer.append((44, random.choice([b"", b" ? ", b"x", "▁".encode()])))
    described = {
        "rows": [row for row in rows if row[2] != TokenType.BYTE],
        "trainer": trainer,
        "normalizer": normalizer,
    }
    return RandomModel(model(rows, trainer, normalizer), described)


def random_letters(random: Random, count: int) -> Iterator[str]:
    """Yield random texts of LETTERS."""
    for _ in range(count):
        size = random.choice([3, 10, 40, 120])
        yield "".join(random.choices(LETTERS, [5, 5, 3, 4, 1, 1, 1, 1, 1], k=size))
