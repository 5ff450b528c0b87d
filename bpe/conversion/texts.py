"""Make texts that show whether two tokenizers have the same ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from bpe.tokenizer import Tokenizer

HARD: tuple[str, ...] = (
    "",
    " ",
    "  ",
    "   ",
    "a  b   c",
    " a",
    "a ",
    "\n",
    "\n\n",
    " \n",
    "\n ",
    "a\n\n b \n\n\nc",
    "a \n ",
    "a \n b\r\n\tc\r",
    "\t\t x",
    "I'm you've we'll HE'S it'D 'ſ don’t",
    "0 12 123 1234 12345678 3.14 1,000 x²+1 ١٢٣ ⅷ",
    "camelCase HTTPServer snake_case kebab-case",
    "!? ... --- ==== //// \\n <tag/> {a:[1,2]} $x #y @z",
    "naïve café e\u0301 A\u030a \u1e9b\u0323 ﬁ ǆ İstanbul",
    "中文字符。日本語カナー 한국어 العربية हिन्दी ไทย עברית",
    "😀 👨‍👩‍👧 🇩🇪 \u200b\u200d\ufeff \u00a0\u3000\u2028\u0085",
    "▁ ▁▁a ▁b",
    "<0x0A> <0x41> <unk> <s> </s> [PAD0]",
    "\x00\x01\x7f\x1c\x1d",
    "\U0001d11e\U000e0041\U0010ffff\uffff\ufffd",
    "Ġhello Ċ Ã©",
    " " * 100,
    "a" * 300,
    "\n" * 70,
    "ab" * 120 + " " * 33 + "end",
)
"""Texts with the cases in which splits, normalizers and byte fallback usually differ."""

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz ETAOIN'",
    "etaoin shrdlu.,;:!?\n\t ",
    "0123456789 .,-+*/=x\n",
    " \n\t\r\u00a0\u3000a1.",
    "абвгдежзиклмн ό\u0301αβγ\u0308é",
    "中日한ありカ。、 \n12",
    "العربية ١٢ हिंदी ไทย",
    "😀\u200d👩❤\ufe0f🏽🇩\u0301▁ ",
)
_MAX_ADDED = 300
"""The maximal number of added tokens that texts are made for."""
_MAX_TOKENS = 20_000
"""The maximal number of single tokens in the pure Python backend."""


def check_count(count: int) -> None:
    """Raise ValueError if `count` is not a number of random texts."""
    if type(count) is not int or count < 0:
        raise ValueError(f"texts={count!r:.40}; expected an int of at least 0")


def texts_for(
    tokenizers: Sequence[Tokenizer], count: int, seed: int = 0, *, added_last: bool = False
) -> list[str]:
    """Return texts for a comparison of `tokenizers`: the same ones in each call.

    They are the texts of HARD, each token that is valid UTF-8, added tokens in several contexts,
    and `count` random texts: half of them tokens in random order, half of them characters. If
    `added_last`, the texts for added tokens are the last ones; otherwise the random texts.
    """
    random = Random(seed)
    added = list(dict.fromkeys(token.content for tok in tokenizers for token in tok.added_tokens))
    contents = frozenset(added)
    found = dict.fromkeys(text for tok in tokenizers for text in _tokens(tok))
    tokens = alone = [text for text in found if text not in contents]
    if any(tok.backend == "python" for tok in tokenizers) and len(tokens) > _MAX_TOKENS:
        alone = random.sample(tokens, _MAX_TOKENS)
    if len(added) > _MAX_ADDED:
        added = random.sample(added, _MAX_ADDED)
    texts = [*HARD, *alone]
    for_added = [text for content in added for text in _around(content)]
    if not added_last:
        texts += for_added
    names = added[:20]
    for index in range(count):
        if index % 2 and tokens:
            parts = random.choices(tokens, k=random.randint(2, 8))
            if names and random.random() < 0.1:
                parts.insert(random.randrange(len(parts)), random.choice(names))
            texts.append(random.choice(("", " ")).join(parts))
        else:
            texts.append(_random_text(random))
    return [*texts, *for_added] if added_last else texts


def _random_text(random: Random) -> str:
    parts = []
    for _ in range(random.randint(1, 6)):
        if random.random() < 0.1:
            parts.append("".join(chr(_code_point(random)) for _ in range(random.randint(1, 4))))
        else:
            alphabet = random.choice(_ALPHABETS)
            parts.append("".join(random.choices(alphabet, k=random.randint(1, 12))))
    return "".join(parts)


def _code_point(random: Random) -> int:
    point = random.randrange(random.choice((0x300, 0x3000, 0x10000, 0x110000)))
    return point + 0x2800 if 0xD800 <= point < 0xE000 else point


def _around(content: str) -> Iterator[str]:
    """Yield texts with an added token in several contexts, and with parts of it."""
    for before, after in (("", ""), ("a", "b"), (" ", " "), ("\n", "\n"), ("a ", " b"), (".", "1")):
        yield before + content + after
    yield content * 2
    yield f"{content} {content}"
    yield content[:-1]
    yield content[1:]
    yield content.upper()


def _tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the tokens that are valid UTF-8, as they are in a text."""
    data, offsets, _, _ = tokenizer.vocabulary_buffer()
    whole = data.tobytes()
    ends = offsets.tolist()
    for start, end in pairwise(ends):
        if start < end:
            try:
                yield whole[start:end].decode()
            except UnicodeDecodeError:
                continue
