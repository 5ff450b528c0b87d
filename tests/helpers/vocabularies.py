"""Random small vocabularies, and published vocabularies in bpe and in the installed engines.

The engines are tiktoken and Hugging Face's tokenizers. Functions that begin with `live` return
their tokenizers. A vocabulary of ranks, as in a .tiktoken file, has no list of merges: the pair
whose joined token has the lowest id merges first.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

import pretok
from bpe import AddedToken, Tokenizer, Vocabulary
from paths import shared
from pretok.machine.backend import BackendName

BYTES: dict[int, bytes] = {byte: bytes([byte]) for byte in range(256)}
LETTERS = b"abc"
"""The bytes of random tokens; few, so merges overlap."""

ENDOFTEXT = "<|endoftext|>"
OURS = ("r50k", "p50k", "cl100k", "o200k", "llama3", "qwen2")
"""The vocabularies of ranks, by their names in the golden files of the shared folder."""


class Source(NamedTuple):
    """The file of a real vocabulary of ranks, its preset and its special tokens."""

    file: str
    preset: str
    special: dict[str, int]


SOURCES = {
    "r50k": Source("r50k_base.tiktoken", "r50k", {ENDOFTEXT: 50256}),
    "p50k": Source("p50k_base.tiktoken", "r50k", {ENDOFTEXT: 50256}),
    "p50k_edit": Source(
        "p50k_base.tiktoken",
        "r50k",
        {
            ENDOFTEXT: 50256,
            "<|fim_prefix|>": 50281,
            "<|fim_middle|>": 50282,
            "<|fim_suffix|>": 50283,
        },
    ),
    "cl100k": Source(
        "cl100k_base.tiktoken",
        "cl100k",
        {
            ENDOFTEXT: 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k": Source("o200k_base.tiktoken", "o200k", {ENDOFTEXT: 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": Source("o200k_base.tiktoken", "o200k", {}),  # specials: golden_special.jsonl
    "llama3": Source(
        "llama3_tokenizer.model",
        "llama3",
        {
            "<|begin_of_text|>": 128000,
            "<|end_of_text|>": 128001,
            "<|start_header_id|>": 128006,
            "<|end_header_id|>": 128007,
            "<|eot_id|>": 128009,
        },
    ),
    "qwen2": Source(
        "qwen.tiktoken",
        "qwen2",
        {ENDOFTEXT: 151643, "<|im_start|>": 151644, "<|im_end|>": 151645},
    ),
}


@cache
def ranks(file: str) -> dict[bytes, int]:
    """Return the tokens of a tiktoken rank file in the shared folder."""
    lines = shared("vocabs", file).read_bytes().split(b"\n")
    found = [line.split() for line in lines if line]
    return {base64.b64decode(token): int(rank) for token, rank in found}


@cache
def installed_ranks(name: str) -> dict[bytes, int]:
    """Return the tokens of cl100k_base or o200k_base, which are in an installed package."""
    bpe_openai = pytest.importorskip("bpe_openai", reason="bpe_openai is not installed")
    encoding = bpe_openai.get_encoding(name)
    special = encoding.special_tokens_set
    found = {}
    for id in range(encoding.n_vocab):
        try:
            token: bytes = encoding.decode_single_token_bytes(id)
        except KeyError:
            continue
        if token.decode("utf-8", "replace") not in special:
            found[token] = id
    return found


@cache
def vocabulary(file: str) -> Vocabulary:
    """Return the vocabulary of a tiktoken rank file in the shared folder."""
    return Vocabulary({rank: token for token, rank in ranks(file).items()})


def specials(found: dict[str, int]) -> list[AddedToken]:
    """Return added tokens for the special tokens of a tiktoken encoding."""
    return [AddedToken(content, id) for content, id in found.items()]


@cache
def tokenizer(name: str, backend: BackendName) -> Tokenizer:
    """Return our tokenizer with a real vocabulary of ranks."""
    source = SOURCES[name]
    return Tokenizer(
        vocabulary(source.file),
        source.preset,
        added_tokens=specials(source.special),
        name=name,
        backend=backend,
    )


@cache
def live(name: str) -> Any:
    """Return the tiktoken.Encoding with a real vocabulary of ranks."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    source = SOURCES[name]
    return tiktoken.Encoding(
        name,
        pat_str=pretok.get(source.preset).preset.pattern,
        mergeable_ranks=ranks(source.file),
        special_tokens=source.special,
    )


def _byte_chars() -> dict[int, str]:
    """Return the character that stands for each byte in byte-level vocabularies."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printed]
    return {byte: chr(byte) for byte in printed} | {
        byte: chr(256 + at) for at, byte in enumerate(others)
    }


BYTE_CHARS = _byte_chars()
_CHAR_BYTES = {char: byte for byte, char in BYTE_CHARS.items()}


def as_chars(token: bytes) -> str:
    """Return a token in the characters of ByteLevel (Hugging Face's tokenizers)."""
    return "".join(BYTE_CHARS[byte] for byte in token)


def as_bytes(token: str) -> bytes:
    """Return the bytes of a token in the characters of ByteLevel."""
    return bytes(_CHAR_BYTES[char] for char in token)


def from_chars(vocab: dict[str, int], merges: list[list[str]]) -> Vocabulary:
    """Return the vocabulary of a byte-level BPE model of Hugging Face's tokenizers."""
    return Vocabulary(
        {id: as_bytes(token) for token, id in vocab.items()},
        merges=[(vocab[left], vocab[right], vocab[left + right]) for left, right in merges],
    )


def pairs(merges: list[Any]) -> list[list[str]]:
    """Return merges as lists [left, right]. Some files write a merge as "left right"."""
    return [merge.split(" ") if isinstance(merge, str) else merge for merge in merges]


@cache
def huggingface_file(name: str) -> dict[str, Any]:
    """Return the contents of a tokenizer.json in the shared folder."""
    found: dict[str, Any] = json.loads(shared("vocabs", "hf", name).read_text(encoding="utf-8"))
    return found


@cache
def huggingface(name: str, backend: BackendName) -> Tokenizer:
    """Return our tokenizer of a tokenizer.json that splits like GPT-2."""
    file = huggingface_file(name)
    added = [AddedToken(**token) for token in file["added_tokens"]]
    contents = {token.content for token in added}
    model = file["model"]
    vocab = {token: id for token, id in model["vocab"].items() if token not in contents}
    return Tokenizer(
        from_chars(vocab, pairs(model["merges"])),
        "gpt2",
        added_tokens=added,
        normalizer="NFC" if file["normalizer"] else None,
        backend=backend,
    )


@cache
def live_huggingface(name: str) -> Any:
    """Return the tokenizers.Tokenizer of a tokenizer.json."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    return tokenizers.Tokenizer.from_file(str(shared("vocabs", "hf", name)))


@cache
def _qwen2() -> tuple[dict[str, int], list[list[str]]]:
    vocab = json.loads(shared("vocabs", "qwen2_vocab.json").read_text(encoding="utf-8"))
    lines = shared("vocabs", "qwen2_merges.txt").read_text(encoding="utf-8").split("\n")
    return vocab, [line.split(" ") for line in lines if line and not line.startswith("#version")]


@cache
def qwen2_with_merges(backend: BackendName) -> Tokenizer:
    """Return our tokenizer with the vocabulary and the merges of Qwen2, and its normalizer."""
    return Tokenizer(
        from_chars(*_qwen2()),
        "qwen2",
        added_tokens=specials(SOURCES["qwen2"].special),
        normalizer="NFC",
        backend=backend,
    )


@cache
def live_qwen2() -> Any:
    """Return the tokenizers.Tokenizer that equals qwen2_with_merges."""
    vocab, merges = _qwen2()
    made = live_bpe(vocab, [(left, right) for left, right in merges])
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    pre = tokenizers.pre_tokenizers
    pattern = tokenizers.Regex(pretok.get("qwen2").preset.pattern)
    made.pre_tokenizer = pre.Sequence(
        [pre.Split(pattern, "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    made.normalizer = tokenizers.normalizers.NFC()
    made.add_special_tokens(
        [tokenizers.AddedToken(name, normalized=False) for name in SOURCES["qwen2"].special]
    )
    return made


def live_bpe(
    vocab: dict[str, int], merges: list[tuple[str, str]], *, ignore_merges: bool = False
) -> Any:
    """Return a tokenizers.Tokenizer with ByteLevel, the split of GPT-2, and no prefix space."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    model = tokenizers.models.BPE(vocab, merges, ignore_merges=ignore_merges)
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    return made


def in_chars(made: Vocabulary) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return the vocabulary and the merges in the form of Hugging Face's tokenizers."""
    tokens = {id: as_chars(token) for id, token in made.token_bytes.items()}
    merges = [(tokens[left], tokens[right]) for left, right, _ in made.merges or ()]
    return {token: id for id, token in tokens.items()}, merges


class Whole:
    """A pre-tokenizer that does not split: each text between added tokens is one pre-token."""

    def offsets(self, text: str) -> NDArray[np.int64]:
        return np.array([0, len(text)])


_joins = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=14)
_words = st.lists(st.integers(0, len(LETTERS) - 1), min_size=2, max_size=6).map(
    lambda at: bytes(LETTERS[i] for i in at)
)


def _joined(joins: list[tuple[int, int]]) -> list[bytes]:
    """Return letters, and tokens that each join two earlier tokens."""
    tokens = [bytes([letter]) for letter in LETTERS]
    for left, right in joins:
        token = tokens[left % len(tokens)] + tokens[right % len(tokens)]
        if token not in tokens and len(token) <= 40:
            tokens.append(token)
    return tokens


@st.composite
def from_ranks(draw: st.DrawFn) -> Vocabulary:
    """Draw a vocabulary of ranks, like a trained one, or with any tokens in any order."""
    tokens = _joined(draw(_joins))
    if draw(st.booleans()):
        tokens += [word for word in draw(st.lists(_words, max_size=6, unique=True))
                   if word not in tokens]  # fmt: skip
    if draw(st.booleans()):
        tokens = draw(st.permutations(tokens))
    others = [bytes([byte]) for byte in range(256) if byte not in LETTERS]
    first = draw(st.sampled_from([0, len(others)]))
    ordered = [*others[:first], *tokens, *others[first:]]
    step = draw(st.integers(1, 3))
    return Vocabulary({rank * step: token for rank, token in enumerate(ordered)})


@st.composite
def from_merges(draw: st.DrawFn, twins: bool = True) -> Vocabulary:
    """Draw a vocabulary of merges in any order. Some merges occur twice, some are never reached.

    With `twins`, some tokens have the same bytes as another token.
    """
    tokens = _joined(draw(_joins))
    tokens += [word for word in draw(st.lists(_words, max_size=4, unique=True))
               if word not in tokens]  # fmt: skip
    if twins:
        tokens += draw(st.lists(st.sampled_from(tokens), max_size=3))
    others = [bytes([byte]) for byte in range(256) if byte not in LETTERS]
    ids = draw(st.permutations(range(len(others), len(others) + len(tokens))))
    made = dict(zip(ids, tokens, strict=True))
    possible = [
        (left, right, result)
        for left in made
        for right in made
        for result in made
        if made[left] + made[right] == made[result]
    ]
    merges = draw(st.lists(st.sampled_from(possible), max_size=24)) if possible else []
    return Vocabulary(
        made | dict(enumerate(others)), merges=merges, ignore_merges=draw(st.booleans())
    )


def naive(made: Vocabulary, pre_token: bytes) -> list[int]:
    """Return the ids of a pre-token, by the definition of merging.

    Merges the adjacent pair of the lowest rank, the first of equal pairs, until no pair merges. The
    rank is the index of the merge, or the id of the joined token if the vocabulary has only ranks.
    If a pair has several merges, the last one counts.
    """
    tokens = made.token_bytes
    if made.ignore_merges and pre_token in tokens.values():
        return [min(id for id, token in tokens.items() if token == pre_token)]
    symbols = [min(id for id in tokens if tokens[id] == bytes([byte])) for byte in pre_token]
    while True:
        possible = []
        for at in range(len(symbols) - 1):
            left, right = symbols[at : at + 2]
            if made.merges is None:
                joined = tokens[left] + tokens[right]
                possible += [(id, at, id) for id, token in tokens.items() if token == joined]
            else:
                possible += [
                    (rank, at, result)
                    for rank, (first, second, result) in enumerate(made.merges)
                    if (first, second) == (left, right)
                    and (left, right) not in [merge[:2] for merge in made.merges[rank + 1 :]]
                ]
        if not possible:
            return symbols
        _, at, result = min(possible)
        symbols[at : at + 2] = [result]
