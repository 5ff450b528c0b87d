"""Read the tekken.json of Mistral's tokenizers.

mistral-common defines the format. The file has a pattern of tiktoken's engine, tokens by rank, and
special tokens. The special tokens have the ids from 0 on. If the file lists fewer special tokens
than default_num_special_tokens, tokens called `<SPECIAL_n>` follow. The id of any other token is
its rank plus default_num_special_tokens. Tokens with an id of default_vocab_size or more are
ignored.
"""

from __future__ import annotations

from binascii import Error, a2b_base64
from typing import Any

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import VocabularyError
from bpe.formats.files import named
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.json_value import Value
from bpe.formats.spec import TokenizerSpec
from bpe.types import Template
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok.errors import UnknownPatternError, shortened
from pretok.patterns.recognize import from_pattern
from pretok.preset import Preset

FILE_NAME = "tekken.json"
MAX_SPECIAL_TOKENS = 10_000
"""The maximal number of special tokens: ten times as many as in any published file.

Without a limit, a file of a few bytes could announce any number.
"""
BEGIN_OF_TEXT = "<s>"
# The special tokens of a file that lists no special tokens and has one of VERSIONS_WITH_DEFAULT.
DEFAULT_SPECIAL_TOKENS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]",
    "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)  # fmt: skip
VERSIONS_WITH_DEFAULT = ("v1", "v2", "v3", "v7")
_TOKEN_KEYS = {"rank", "token_bytes", "token_str"}


class TekkenFormat(Format):
    """A tekken.json; has a pattern and special tokens. The template begins with `<s>`."""

    name = FILE_NAME

    def detects(self, source: Source) -> bool:
        return source.json is not None and is_tekken(source.json)

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec:
        assert source.json is not None, "`detects` has checked it"
        with named(source.path):
            return read(source.json, options.needs_preset)


def is_tekken(file: Value) -> bool:
    """Return whether a JSON object is a tekken.json."""
    return type(file["vocab"].value) is list and type(file["config"].value) is dict


def pattern_of(file: Value) -> str:
    """Return the pattern of a tekken.json, which tiktoken's engine reads."""
    return file["config"]["pattern"].text()


def read(file: Value, needs_preset: bool = True) -> TokenizerSpec:
    """Return the tokenizer in a tekken.json.

    Raises VocabularyError if a part is malformed; the message names the path of the part. If
    `needs_preset` is false, the pattern is not looked up and `preset` is None.
    """
    preset, why = None, "its pattern was not looked up"
    if needs_preset:
        preset, why = _preset(file)
    specials = _special_tokens(file)
    size = file["config"]["default_vocab_size"]
    count = size.number() - len(specials)
    tokens = file["vocab"].values()
    if not 256 <= count <= min(len(tokens), ID_LIMIT - len(specials)):
        raise size.malformed(
            f"from {256 + len(specials):,} to {len(tokens) + len(specials):,}, because the file "
            f"has {len(specials):,} special and {len(tokens):,} other tokens"
        )
    vocabulary = Vocabulary(_tokens(file["vocab"], count, len(specials)))
    added = tuple(AddedToken(content, id) for id, content in enumerate(specials))
    before = (specials.index(BEGIN_OF_TEXT),) if BEGIN_OF_TEXT in specials else ()
    return TokenizerSpec(vocabulary, preset, why, added, template=Template(before))


def _preset(file: Value) -> tuple[Preset | None, str]:
    """Return the preset of the pattern, or else the reason why there is none."""
    try:
        return from_pattern(pattern_of(file), "tiktoken", backend="python").preset, ""
    except UnknownPatternError as error:
        return None, f"its config.pattern is unknown: {error}"


def _special_tokens(file: Value) -> list[str]:
    """Return the texts of the special tokens, in order of ids."""
    config = file["config"]
    listed, version = file["special_tokens"], config["version"].text()
    if listed.value is not None:
        texts = [_special_token(item, id) for id, item in enumerate(listed.items())]
    elif version in VERSIONS_WITH_DEFAULT:
        texts = list(DEFAULT_SPECIAL_TOKENS)
    else:
        raise listed.malformed(f"the special tokens, which version {shortened(version)} requires")
    number = config["default_num_special_tokens"]
    if not len(texts) <= number.number() <= MAX_SPECIAL_TOKENS:
        raise number.malformed(f"from {len(texts)} to {MAX_SPECIAL_TOKENS:,}")
    texts += [f"<SPECIAL_{id}>" for id in range(len(texts), number.number())]
    ids: dict[str, int] = {}
    for id, text in enumerate(texts):
        if ids.setdefault(text, id) != id:
            raise VocabularyError(
                f"special tokens {ids[text]} and {id} are both {shortened(text)}; expected "
                "different texts"
            )
    return texts


def _special_token(item: Value, id: int) -> str:
    if item["rank"].number() != id:
        raise item["rank"].malformed(f"{id}, because special tokens are in order of rank")
    text = item["token_str"].text()
    if not text:
        raise item["token_str"].malformed("some text")
    return text


def _tokens(vocab: Value, count: int, first_id: int) -> dict[int, bytes]:
    """Return the first `count` tokens by id."""
    tokens: dict[int, bytes] = {}
    ranks: dict[bytes, int] = {}
    for rank, item in enumerate(vocab.values()[:count]):
        token = _token(item, rank)
        if token is None or (rank < 256 and token != bytes([rank])):
            raise _malformed_token(vocab, rank)
        if ranks.setdefault(token, rank) != rank:
            raise VocabularyError(
                f"{vocab.path}[{rank}] and [{ranks[token]}] are both {shortened(token)}; expected "
                "different tokens"
            )
        tokens[first_id + rank] = token
    return tokens


def _token(item: Any, rank: int) -> bytes | None:
    """Return the bytes of the token of a rank; None if `item` is malformed."""
    if type(item) is not dict or item.keys() != _TOKEN_KEYS or type(item["rank"]) is not int:
        return None
    text = item["token_bytes"]
    if item["rank"] != rank or type(text) is not str or not text.isascii():
        return None
    try:
        return a2b_base64(text, strict_mode=True) or None
    except Error:
        return None


def _malformed_token(vocab: Value, rank: int) -> VocabularyError:
    expected = f"an object with rank {rank}, token_bytes in base64, and token_str"
    if rank < 256:
        expected += f"; the first 256 tokens are the bytes, here 0x{rank:02x}"
    return Value(vocab.values()[rank], f"{vocab.path}[{rank}]").malformed(expected)
