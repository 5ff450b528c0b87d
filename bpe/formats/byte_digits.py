"""Read a pre_tokenizer with the step Digits after ByteLevel, as in Falcon's tokenizer.json.

ByteLevel replaces each byte by a character. Six bytes that are not ASCII become characters that
are numbers, such as "½". So Digits after ByteLevel isolates these bytes, also within a code point.
No preset can split within a code point. But if no merge joins such a byte with a byte from which
Digits separates it, the split at these bytes changes no ids. Then `reordered` moves ByteLevel to
the end, and `ByteDigits.check` refuses all other vocabularies.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.characters.text_vocabulary import TextVocabulary
from bpe.errors import UnsupportedError
from bpe.formats.json_value import Value
from bpe.vocabulary import Rows, Vocabulary
from pretok.errors import DefinitionError
from pretok.pre_tokenizers import Digits, from_dict
from pretok.presets import GPT2

NUMBERS = b"\xb2\xb3\xb9\xbc\xbd\xbe"
"""The bytes that are not ASCII, and whose characters ² ³ ¹ ¼ ½ ¾ are numbers."""
_DIGIT = "[0-9]"
Flags: TypeAlias = NDArray[np.bool_]
_WHY = "it isolates the bytes B2, B3, B9, BC, BD and BE, also within a code point"


class ByteDigits(NamedTuple):
    """A step Digits after ByteLevel: its JSON path, and its option `individual_digits`."""

    path: str
    individual: bool

    def check(self, vocabulary: Vocabulary | TextVocabulary) -> None:
        """Raise UnsupportedError if the split at the bytes NUMBERS may change ids."""
        joined = _joined(vocabulary, self.individual)
        if joined:
            raise UnsupportedError(
                f"{self.path}: {_WHY}, but {joined}, so the split would change ids; pass preset= "
                "to choose another split"
            )


def check_numbers(vocabulary: Vocabulary | TextVocabulary, path: str) -> None:
    """Raise UnsupportedError if preset "falcon" may give other ids than Falcon's pre_tokenizer."""
    ByteDigits(path, False).check(vocabulary)


def digits_of(pre_tokenizer: Value) -> ByteDigits | None:
    """Return the step Digits after ByteLevel; None if there is none that `reordered` can move."""
    for part in _after_byte_level(pre_tokenizer):
        if part.kind() == "Digits":
            return ByteDigits(part.path, _is_individual(part))
    return None


def why_words_differ(pre_tokenizer: Value) -> str:
    """Return why words of an encoding differ from those of the library tokenizers, or ""."""
    digits = digits_of(pre_tokenizer)
    return f"{digits.path}: {_WHY}" if digits else ""


def reordered(pre_tokenizer: Value) -> Value:
    """Return a pre_tokenizer with ByteLevel last; it gives equal ids if ByteDigits.check passes.

    Only Digits, and Splits by ASCII digits, may be after ByteLevel. Otherwise returns the argument.
    """
    after = _after_byte_level(pre_tokenizer)
    if not after:
        return pre_tokenizer
    parts = list(pre_tokenizer.parts("pretokenizers"))
    at = len(parts) - len(after) - 1
    byte_level: dict[str, Any] = dict(parts[at].value)
    moved = [part.value for part in parts[:at]]
    if byte_level.get("use_regex", True):
        moved.append(_isolating(GPT2.pattern))
    for part in after:
        if part.kind() == "Digits":
            moved.append(_isolating(_DIGIT if _is_individual(part) else f"{_DIGIT}+"))
        else:
            moved.append(part.value)
    moved.append(byte_level | {"use_regex": False})
    return Value({"type": "Sequence", "pretokenizers": moved}, pre_tokenizer.path)


def _is_individual(digits: Value) -> bool:
    try:
        block = from_dict(digits.value)
    except DefinitionError as error:
        raise digits.unsupported(str(error)) from None
    assert isinstance(block, Digits)
    return block.individual_digits


def _isolating(pattern: str) -> dict[str, Any]:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    return split | {"invert": False}


def _after_byte_level(pre_tokenizer: Value) -> list[Value]:
    """Return the parts after ByteLevel; return [] if `reordered` cannot move one of them."""
    parts = list(pre_tokenizer.parts("pretokenizers"))
    kinds = [None if part.value is None else part.kind() for part in parts]
    if kinds.count("ByteLevel") != 1:
        return []
    after = parts[kinds.index("ByteLevel") + 1 :]
    return after if all(map(_splits_digits, after)) else []


def _splits_digits(part: Value) -> bool:
    """Return whether `part` is Digits, or a Split that isolates runs of one or more [0-9]."""
    if part.value is None:
        return False
    if part.kind() == "Digits":
        return True
    pattern = part.value.get("pattern") if part.kind() == "Split" else None
    if not isinstance(pattern, dict) or list(pattern) != ["Regex"]:
        return False
    regex = pattern["Regex"]
    is_isolating = part.value.get("behavior") == "Isolated" and part.value.get("invert") is False
    return is_isolating and isinstance(regex, str) and regex == _DIGIT * regex.count(_DIGIT) != ""


def _joined(vocabulary: Vocabulary | TextVocabulary, individual: bool) -> str:
    """Return what joins a byte of NUMBERS with a byte from which Digits splits it, or ""."""
    if vocabulary.ignore_merges:
        return "the model looks up whole pre-tokens (ignore_merges)"
    rows = vocabulary.merge_rows
    if rows is None:
        return "the file lists no merges"
    left_ends, right_begins = _edges(vocabulary, rows)
    differ = left_ends | right_begins if individual else left_ends != right_begins
    if not differ.any():
        return ""
    left, right, _ = rows[int(differ.argmax())].tolist()
    shown = map(repr, map(vocabulary.bytes_of, (left, right)))
    return f"a merge joins {' and '.join(shown)}"


def _edges(vocabulary: Vocabulary | TextVocabulary, rows: Rows) -> tuple[Flags, Flags]:
    """Return two arrays, with an item for each merge.

    The first says whether the left token ends with a byte of NUMBERS, and the second whether the
    right token begins with one. The tokens of a TextVocabulary are the characters of ByteLevel.
    """
    tokens: Mapping[int, Sequence[object]] = vocabulary.token_bytes
    numbers: Container[object] = NUMBERS
    if isinstance(vocabulary, TextVocabulary):
        tokens, numbers = vocabulary.texts, set(NUMBERS.decode("latin-1"))
    ends = [id for id, token in tokens.items() if token and token[-1] in numbers]
    begins = [id for id, token in tokens.items() if token and token[0] in numbers]
    return np.isin(rows[:, 0], ends), np.isin(rows[:, 1], begins)
