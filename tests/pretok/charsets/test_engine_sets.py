"""The character sets of tokenizers and tiktoken, compared with the installed packages.

The tests try all code points of support.scalar_values.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
import unicodedata2
from numpy.typing import NDArray

from pretok.charsets.sets import (
    DIGIT,
    HF_NUMBER,
    HF_PUNCTUATION,
    ONIGURUMA_WORD,
    WHITE_SPACE,
    WORD,
    CharSet,
    code_points,
)
from pretok.unicode import CODE_POINTS
from support import members, scalar_values, stable

tokenizers = pytest.importorskip("tokenizers")
pre_tokenizers = tokenizers.pre_tokenizers

ALL = "".join(map(chr, scalar_values()))
MEASURED = {"tokenizers": "0.23.3", "tiktoken": "0.14.0"}


def compare(found: NDArray[np.bool_], chars: CharSet, engine: str) -> None:
    """Compare the characters found by `engine` with `chars`.

    If another release of the engine is installed, compare only the code points that have the same
    properties in all Unicode versions.
    """
    wrong = found != members(chars)
    bad = [c for c in scalar_values() if wrong[c]]
    if version(engine) != MEASURED[engine]:
        bad = [c for c in bad if stable(chr(c))]
    assert not bad, [f"U+{c:04X}" for c in bad[:20]]


def bits(code_points: Any) -> NDArray[np.bool_]:
    found = np.zeros(CODE_POINTS, bool)
    found[list(code_points)] = True
    return found


def kept(pre_tokenizer: Any, text: str = ALL) -> NDArray[np.bool_]:
    """Return an array that is true for each code point that `pre_tokenizer` keeps."""
    return bits(ord(char) for part, _ in pre_tokenizer.pre_tokenize_str(text) for char in part)


def apart(pre_tokenizer: Any) -> NDArray[np.bool_]:
    """Return an array that is true for each code point that is split from letters around it."""
    parts = pre_tokenizer.pre_tokenize_str("a".join(ALL))
    return bits(ord(part) for part, (start, _) in parts if len(part) == 1 and start % 2 == 0)


def regex(pattern: str) -> Any:
    return pre_tokenizers.Split(tokenizers.Regex(pattern), "removed", invert=True)


@pytest.mark.parametrize(
    ("pattern", "chars"), [(r"\w", ONIGURUMA_WORD), (r"\d", DIGIT), (r"\s", WHITE_SPACE)]
)
def test_classes_of_oniguruma(pattern: str, chars: CharSet) -> None:
    compare(kept(regex(pattern)), chars, "tokenizers")


def test_word_boundaries_of_oniguruma() -> None:
    text = " ".join(ALL)
    behind = (text[end] for _, (_, end) in regex(r" \b").pre_tokenize_str(text))
    compare(bits(map(ord, behind)), ONIGURUMA_WORD, "tokenizers")


@pytest.mark.parametrize(("pattern", "chars"), [(r"\w", WORD), (r"\d", DIGIT)])
def test_classes_of_fancy_regex(pattern: str, chars: CharSet) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding(
        "bytes", pat_str=pattern, mergeable_ranks={bytes([b]): b for b in range(256)},
        special_tokens={},
    )  # fmt: skip
    found = bytes(encoding.encode_ordinary(ALL)).decode()
    compare(bits(map(ord, found)), chars, "tiktoken")


def test_white_space_that_hugging_face_removes() -> None:
    for pre_tokenizer in (
        pre_tokenizers.WhitespaceSplit(),
        pre_tokenizers.Whitespace(),
        pre_tokenizers.BertPreTokenizer(),
    ):
        compare(kept(pre_tokenizer), ~WHITE_SPACE, "tokenizers")


def test_the_words_of_whitespace() -> None:
    # Whitespace splits a letter from a character that is neither a word character nor white space.
    compare(apart(pre_tokenizers.Whitespace()), ~(WORD | WHITE_SPACE), "tokenizers")


@pytest.mark.parametrize("individual", [False, True])
def test_numbers_of_hugging_face(individual: bool) -> None:
    compare(apart(pre_tokenizers.Digits(individual)), HF_NUMBER, "tokenizers")


def test_punctuation_of_hugging_face() -> None:
    compare(~kept(pre_tokenizers.Punctuation("removed")), HF_PUNCTUATION, "tokenizers")
    compare(apart(pre_tokenizers.BertPreTokenizer()), HF_PUNCTUATION, "tokenizers")


def test_word_equals_its_definition() -> None:
    # UTS #18: Alphabetic, M, Nd, Pc, Join_Control. Alphabetic are L, Nl, and some of M and So.
    categories = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"]
    found = np.isin([unicodedata2.category(chr(c)) for c in range(CODE_POINTS)], categories)
    more = code_points((0x200C, 0x200D), (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169),
                       (0x1F170, 0x1F189))  # fmt: skip
    installed = ".".join(unicodedata2.unidata_version.split(".")[:2])
    assert (members(WORD, installed) == found | members(more)).all()
