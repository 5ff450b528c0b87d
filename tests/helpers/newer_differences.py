"""The differences of tokenizers 1.0 in docs/how-to/tokenizers-1.md, as expressions.

Run this file beside tokenizers 1.0: it prints the value of each expression.
"""

from __future__ import annotations

import copy
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import huggingface_pairs as pairs

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
TEXT = "ab the quick brown"


class Difference(NamedTuple):
    """An expression for tokenizers 1.0, one for 0.23, and their values."""

    newer: str
    """`tok` is the tokenizer; `small`, `prefix` and `custom` are functions that read others."""
    newer_value: Any
    older: str
    older_value: Any


LACKS = "AttributeError"
DIFFERENCES = {
    "two texts": Difference(
        "tok.encode(('ab', 'the')).ids", [295, 284, 257],
        "tok.encode('ab', 'the').ids", [295, 284, 257],
    ),
    "words": Difference(
        "tok.encode(['ab', 'the', 'x']).ids", "TypeError",
        "tok.encode(['ab', 'the', 'x'], is_pretokenized=True).word_ids", [None, 0, 1, 2],
    ),
    "offsets": Difference(
        "tok.encode('ab the').offsets", LACKS,
        "tok.encode('ab the').offsets", [[0, 0], [0, 2], [3, 6]],
    ),
    "words and sequences of tokens": Difference(
        "tok.encode('ab the').word_ids", LACKS,
        "[tok.encode('ab the').word_ids, tok.encode('ab', 'x').sequence_ids]",
        [[None, 0, 1], [None, 0, 1]],
    ),
    "from characters to tokens": Difference(
        "tok.encode('ab the').char_to_token(4)", LACKS,
        "tok.encode('ab the').char_to_token(4)", 2,
    ),
    "tokens": Difference(
        "tok.tokenize('ab the')", ["<s>", "ab", "Ġthe"],
        "tok.encode('ab the').tokens", ["<s>", "ab", "Ġthe"],
    ),
    "mask of special tokens": Difference(
        "tok.encode('ab').special_tokens_mask", LACKS,
        "tok.encode('ab').special_tokens_mask", [1, 0],
    ),
    "numpy arrays": Difference(
        "str(tok.encode('ab').ids_array.dtype)", "uint32", "tok.encode('ab').ids_array", LACKS,
    ),
    "truncation": Difference(
        "tok.encode(TEXT, truncation=tokenizers.Truncation(3)).ids", [295, 284, 264],
        "(tok.enable_truncation(3), tok.encode(TEXT).ids)[1]", [295, 284, 264],
    ),
    "overflow": Difference(
        "tok.encode(TEXT, truncation=tokenizers.Truncation(3)).overflowing", LACKS,
        "(tok.enable_truncation(3), [e.ids for e in tok.encode(TEXT).overflowing])[1]",
        [[295, 263, 279]],
    ),
    "stride": Difference(
        "tokenizers.Truncation(3, stride=1)", "TypeError",
        "(tok.enable_truncation(3, stride=1), len(tok.encode(TEXT).overflowing))[1]", 2,
    ),
    "fewer ids than the template adds": Difference(
        "tok.encode('ab the', truncation=tokenizers.Truncation(0)).ids", [295],
        "(tok.enable_truncation(0), tok.encode('ab the').ids)[1]", [295, 284, 264],
    ),
    "a sequence that is too short to truncate": Difference(
        "tok.encode('ab the', truncation=tokenizers.Truncation(2, 'only_second'))", "ValueError",
        "(tok.enable_truncation(2, strategy='only_second'), tok.encode('ab the'))", "Exception",
    ),
    "padding": Difference(
        "tok.encode('ab', padding=tokenizers.Padding(length=4)).ids", [295, 284, 0, 0],
        "(tok.enable_padding(length=4), tok.encode('ab').ids)[1]", [295, 284, 0, 0],
    ),
    "special tokens as text": Difference(
        "tok.encode('<s>', encode_special_tokens=True).ids", [295, 60, 115, 62],
        "(setattr(tok, 'encode_special_tokens', True), tok.encode('<s>').ids)[1]",
        [295, 60, 115, 62],
    ),
    "a single word after an added token": Difference(
        "tok.encode('日本<W>').ids", [295, 297, 296],
        "tok.encode('日本<W>').ids", [295, 297, 60, 87, 62],
    ),
    "equal encodings": Difference(
        "tok.encode('ab') == tok.encode('ab')", True, "tok.encode('ab') == tok.encode('ab')", False,
    ),
    "decode an encoding": Difference(
        "tok.decode(tok.encode('ab the'))", "ab the",
        "tok.decode(tok.encode('ab the'))", "TypeError",
    ),
    "decode many": Difference(
        "tok.decode_batch([[284], [257]])", LACKS,
        "tok.decode_batch([[284], [257]])", ["ab", "the"],
    ),
    "streams": Difference(
        "tokenizers.decoders", LACKS,
        "[DecodeStream().step(tok, 284)]", ["ab"],
    ),
    "the vocabulary": Difference(
        "tok.token_to_id('ab')", LACKS,
        "[tok.token_to_id('ab'), tok.id_to_token(284), tok.get_vocab_size()]", [284, "ab", 298],
    ),
    "tokens added at run time": Difference(
        "tok.add_tokens(['quick'])", LACKS,
        "[tok.add_tokens([AddedToken('the qu')]), tok.encode('the quick').ids[1]]", [1, 298],
    ),
    "AddedToken": Difference(
        "tokenizers.AddedToken('x')", LACKS, "str(AddedToken('x'))", "x",
    ),
    "from_str and from_buffer": Difference(
        "tokenizers.Tokenizer.from_str('{}')", LACKS,
        "type(tok).from_str(tok.to_str()).encode('ab').ids", [295, 284],
    ),
    "to_str and save": Difference(
        "tok.to_str()", LACKS, "json.loads(tok.to_str())['version']", "1.0",
    ),
    "what a pickle keeps of the post-processor": Difference(
        "json.loads(tok.__reduce__()[1][0])['post_processor']['type']", "TemplateProcessing",
        "json.loads(tok.to_str())['post_processor']['type']", "Sequence",
    ),
    "encode_batch_fast": Difference(
        "tok.encode_batch_fast(['ab'])", LACKS, "tok.encode_batch_fast(['ab'])[0].ids", [295, 284],
    ),
    "async calls": Difference(
        "tok.async_encode('ab')", LACKS,
        "asyncio.run(awaited(tok.async_encode, 'ab')).ids", [295, 284],
    ),
    "attributes of your own": Difference(
        "setattr(tok, 'mine', 1)", LACKS, "(setattr(tok, 'mine', 1), tok.mine)[1]", 1,
    ),
    "ByteLevel with add_prefix_space": Difference(
        "prefix()", "ValueError", "prefix().encode('the').ids", [264],
    ),
    "a pattern of your own": Difference(
        r"custom(r'\w+|\W').encode('the ab').ids", "ValueError",
        r"custom(r'\w+|\W').encode('the ab').ids", [257, 32, 284],
    ),
}  # fmt: skip


def file(dropout: float | None = None) -> str:
    """Return a small tokenizer.json with a template, and added tokens."""
    made = json.loads(pairs.base())
    made["model"]["dropout"] = dropout
    added = [{**FLAGS, "content": "<s>", "special": True},
             {**FLAGS, "content": "<W>", "special": False, "single_word": True},
             {**FLAGS, "content": "日本", "special": True}]  # fmt: skip
    made["added_tokens"] = [
        {"id": len(made["model"]["vocab"]) + at, **token} for at, token in enumerate(added)
    ]
    start = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    first, second = ({"Sequence": {"id": id, "type_id": at}} for at, id in enumerate("AB"))
    template = {
        "type": "TemplateProcessing",
        "single": [start, first],
        "pair": [start, first, second],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [295], "tokens": ["<s>"]}},
    }
    trims = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
    made["post_processor"] = {"type": "Sequence", "processors": [trims, template]}
    return json.dumps(made)


def values(expressions: dict[str, str], names: dict[str, Any], read: Any) -> dict[str, Any]:
    """Return the value of each expression, or the name of its error.

    `read` makes a tokenizer of a tokenizer.json; `names` are the names in the expressions.
    """

    def prefix() -> Any:
        level = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
        return read(pairs.small(pre_tokenizer=level))

    def custom(pattern: str) -> Any:
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
                 "invert": False}  # fmt: skip
        level = {**pairs.byte_level(add_prefix_space=False, trim_offsets=True), "use_regex": False}
        return read(
            pairs.small(pre_tokenizer={"type": "Sequence", "pretokenizers": [split, level]})
        )

    async def awaited(call: Any, *args: Any) -> Any:
        return await call(*args)

    names = {**names, "prefix": prefix, "custom": custom, "awaited": awaited, "TEXT": TEXT}
    found = {}
    for name, expression in expressions.items():
        try:
            found[name] = eval(expression, {**names, "tok": read(file())})
        except Exception as error:
            found[name] = type(error).__name__
    return found


def read_newer(serialized: str) -> Any:
    """Return the tokenizer of tokenizers 1.0, which reads only files."""
    import tokenizers

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(serialized, encoding="utf-8")
        return tokenizers.Tokenizer.from_file(str(path))


def newer() -> dict[str, Any]:
    """Return the values with tokenizers 1.0."""
    import tokenizers

    expressions = {name: each.newer for name, each in DIFFERENCES.items()}
    return values(expressions, {"tokenizers": tokenizers, "json": json}, read_newer)


def older(tokenizer: Any, stream: Any, added_token: Any) -> dict[str, Any]:
    """Return the values with these classes of tokenizers 0.23, or of bpe."""
    import asyncio

    names = {"DecodeStream": stream, "AddedToken": added_token, "json": json, "asyncio": asyncio,
             "copy": copy}  # fmt: skip
    expressions = {name: each.older for name, each in DIFFERENCES.items()}
    return json.loads(json.dumps(values(expressions, names, tokenizer.from_str)))  # type: ignore[no-any-return]


def main() -> None:
    """Print the values with tokenizers 1.0, and those of bpe beside it."""
    from bpe.compat import huggingface as hf

    json.dump(
        {"newer": newer(), "bpe": older(hf.Tokenizer, hf.DecodeStream, hf.AddedToken)}, sys.stdout
    )


if __name__ == "__main__":
    main()
