"""Random Hugging Face tokenizers and calls, for bpe.compat.huggingface and the real engine."""

from __future__ import annotations

import json
import pickle
from collections import deque
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import bpe
from bpe.formats.huggingface_writer import dump

WORDS = (
    "the",
    " the",
    "quick",
    " brown",
    "the quick",
    "  ",
    "\n",
    "é",
    "e\u0301",
    "日本",
    " 🦙",
    "ab",
    "1234",
)
PIECES = (
    *WORDS, "a", "b", "x", " ", "\t", "\r\n", "\u00a0", "\u3000", "'s", "!", "\u0301", "\u0323",
    "\u1112\u1161\u11ab", "\u0958", "\u0344", "\u212b", "🦙", "👩‍🦰", "\x00", "\u0345", "<s>",
    "</s>", "<L>", "<R>", "<W>", "<N>", "[MASK]", "<s", "Ġ", "\u2028", "ſ", "e\u0301\u0323",
    "\u0f73",
)  # fmt: skip
ADDED = (
    {"content": "<s>", "special": True},
    {"content": "</s>", "special": True},
    {"content": "[MASK]", "special": True, "lstrip": True},
    {"content": "<pad>", "special": True},
    {"content": "<L>", "lstrip": True},
    {"content": "<R>", "rstrip": True},
    {"content": "<LR>", "rstrip": True, "lstrip": True},
    {"content": "<W>", "single_word": True},
    {"content": "<N>", "normalized": True},
    {"content": "the", "normalized": True},
    {"content": "  ", "normalized": True},
    {"content": "e\u0301", "normalized": True},
    {"content": "日本", "special": True},
)
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


@cache
def base() -> str:
    """Return the tokenizer.json of a small byte-level vocabulary."""
    tokenizer = bpe.train(
        [" ".join(WORDS) * 4, "the quick brown fox 日本 é 🦙"] * 3, vocab_size=320, preset="gpt2"
    )
    return dump(tokenizer.to_spec()).decode()


def small(**parts: Any) -> str:
    """Return a small tokenizer.json in which `parts` replace members."""
    return json.dumps({**json.loads(base()), **parts})


def both(serialized: str) -> tuple[Any, Any]:
    """Return the tokenizers.Tokenizer of a tokenizer.json, and bpe's stand-in for it."""
    import tokenizers

    from bpe.compat import huggingface

    return tokenizers.Tokenizer.from_str(serialized), huggingface.Tokenizer.from_str(serialized)


def random_tokenizer(random: Random) -> str:
    """Return a random tokenizer.json."""
    file = json.loads(base())
    size = len(file["model"]["vocab"])
    listed = random.sample(ADDED, random.randrange(len(ADDED)))
    file["added_tokens"] = []
    next_id = size
    for token in listed:
        id = file["model"]["vocab"].get(token["content"])
        if id is None:
            id, next_id = next_id, next_id + 1
        file["added_tokens"].append({"id": id, **dict.fromkeys(FLAGS, False), **token})
    file["normalizer"] = random.choice([None, {"type": "NFC"}])
    adds_space = random.random() < 0.3
    file["pre_tokenizer"] = byte_level(
        add_prefix_space=adds_space, trim_offsets=random.random() < 0.5
    )
    file["model"]["ignore_merges"] = random.random() < 0.3
    file["post_processor"] = random_processor(random)
    return json.dumps(file)


def byte_level(**flags: bool) -> dict[str, Any]:
    """Return a ByteLevel object of a tokenizer.json."""
    return {"type": "ByteLevel", "use_regex": True, **flags}


def other_model(kind: str) -> dict[str, Any]:
    """Return a model that bpe does not support: a "WordPiece" or "Unigram"."""
    vocab: dict[str, int] = json.loads(base())["model"]["vocab"]
    if kind == "WordPiece":
        return {"type": kind, "vocab": vocab, "unk_token": "e", "continuing_subword_prefix": "",
                "max_input_chars_per_word": 100}  # fmt: skip
    scores = [[token, -1.0 - id] for token, id in vocab.items()]
    return {"type": kind, "unk_id": 0, "vocab": scores, "byte_fallback": False}


def random_processor(random: Random) -> dict[str, Any] | None:
    """Return a random post_processor."""
    level = byte_level(add_prefix_space=random.random() < 0.5, trim_offsets=random.random() < 0.7)
    kind = random.randrange(6)
    if kind == 0:
        return None
    if kind == 1:
        return level
    if kind in (2, 3):
        name, *flags = ("BertProcessing",) if kind == 2 else ("RobertaProcessing", "both")
        processor: dict[str, Any] = {"type": name, "sep": ["</s>", 2], "cls": ["<s>", 1]}
        if flags:
            processor |= {
                "trim_offsets": random.random() < 0.5,
                "add_prefix_space": random.random() < 0.5,
            }
        return processor
    template = random_template(random)
    if kind == 4:
        return template
    return {"type": "Sequence", "processors": [level, template]}


def random_template(random: Random) -> dict[str, Any]:
    """Return a random TemplateProcessing."""

    def specials() -> list[dict[str, Any]]:
        return [
            {
                "SpecialToken": {
                    "id": random.choice(["<s>", "</s>", "two"]),
                    "type_id": random.randrange(2),
                }
            }
            for _ in range(random.randrange(3))
        ]

    def sequence(name: str) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": random.randrange(2)}}

    return {
        "type": "TemplateProcessing",
        "single": [*specials(), sequence("A"), *specials()],
        "pair": [*specials(), sequence("A"), *specials(), sequence("B"), *specials()],
        "special_tokens": {
            "<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]},
            "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]},
            "two": {"id": "two", "ids": [3, 4], "tokens": ["#", "$"]},
        },
    }


def random_text(random: Random) -> str:
    """Return a random text."""
    if random.random() < 0.02:
        return "lone \ud800"
    return "".join(random.choices(PIECES, k=random.randrange(12)))


Call = Callable[[Any], Any]


def random_call(random: Random, only_calls: bool = False) -> tuple[str, Call]:
    """Return a random call of a tokenizer, and its description.

    With `only_calls`, the call sets no component, and adds no token.
    """
    calls = [call for call in _CALLS if call not in (_component, _added)] if only_calls else _CALLS
    name, args, kwargs = random.choice(calls)(random)
    return f"{name}(*{args!r}, **{kwargs!r})", lambda tok: getattr(tok, name)(*args, **kwargs)


def _truncation(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    if random.random() < 0.3:
        return "no_truncation", (), {}
    return (
        "enable_truncation",
        (random.randrange(10),),
        {
            "stride": random.choice([0, 0, 1, 3]),
            "strategy": random.choice(
                ["longest_first", "longest_first", "only_first", "only_second"]
            ),
            "direction": random.choice(["left", "right"]),
        },
    )


def _padding(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    if random.random() < 0.3:
        return "no_padding", (), {}
    return (
        "enable_padding",
        (),
        {
            "direction": random.choice(["left", "right"]),
            "pad_id": random.randrange(5),
            "pad_type_id": random.randrange(2),
            "pad_token": "<pad>",
            "length": random.choice([None, None, 4, 20]),
            "pad_to_multiple_of": random.choice([None, None, 0, 8]),
        },
    )


def _flags(random: Random) -> dict[str, Any]:
    return {} if random.random() < 0.6 else {"add_special_tokens": random.random() < 0.5}


def _words(random: Random) -> list[str]:
    return [random_text(random) for _ in range(random.randrange(4))]


def _encode(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    if random.random() < 0.2:
        words = (_words(random),) if random.random() < 0.5 else (_words(random), _words(random))
        return "encode", words, {"is_pretokenized": True, **_flags(random)}
    texts = [random_text(random) for _ in range(random.choice([1, 1, 2]))]
    return "encode", tuple(texts), _flags(random)


def _encode_batch(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    def pair() -> Any:
        pair = random_text(random), random_text(random)
        return list(pair) if random.random() < 0.2 else pair

    name = random.choice(["encode_batch", "encode_batch", "encode_batch_fast"])
    kind: Any = random.choice([list, list, tuple, deque])
    if random.random() < 0.2:
        batch: list[Any] = [_words(random) for _ in range(random.randrange(4))]
        return name, (kind(batch),), {"is_pretokenized": True, **_flags(random)}
    count = random.randrange(5)
    batch = [pair() if random.random() < 0.3 else random_text(random) for _ in range(count)]
    return name, (kind(batch),), _flags(random)


def _decode(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    ids: Any = [random.randrange(345) for _ in range(random.randrange(10))]
    if random.random() < 0.1:
        ids.append(random.choice([-1, 10**9, 1 << 32, 1.5, "x", True]))
    if random.random() < 0.1:
        ids = tuple(ids)
    skip = {} if random.random() < 0.5 else {"skip_special_tokens": random.random() < 0.5}
    if random.random() < 0.3:
        return "decode_batch", ([ids, [random.randrange(300)]],), skip
    return "decode", (ids,), skip


def _added(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    from bpe.compat.huggingface import AddedToken

    flags = {name: random.random() < 0.3 for name in FLAGS}
    token = random.choice(["<new>", "<L>", "the", "x", " brown", "", "<s>", "<W>"])
    made: Any = token if random.random() < 0.3 else AddedToken(token, **flags)
    return random.choice(["add_tokens", "add_special_tokens"]), ([made],), {}


def _special(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    return "__setattr__", ("encode_special_tokens", random.random() < 0.5), {}


def _component(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    from tokenizers import normalizers, pre_tokenizers, processors

    return (
        "__setattr__",
        random.choice(
            [
                ("post_processor", processors.ByteLevel(trim_offsets=random.random() < 0.5)),
                ("normalizer", random.choice([None, normalizers.NFC(), normalizers.Lowercase()])),
                ("pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=random.random() < 0.5)),
            ]
        ),
        {},
    )


_CALLS = (
    *[_encode] * 12,
    *[_encode_batch] * 6,
    *[_decode] * 6,
    *[_truncation] * 3,
    *[_padding] * 2,
    _added,
    _special,
    _component,
)


def outcome(call: Call, tok: Any, convert: Call | None = None) -> Any:
    """Return what a call does: its result in plain values, by `convert`, or its exception."""
    try:
        return (convert or plain)(call(tok))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic in Rust is not an Exception
        return type(error).__name__, str(error)


def plain(value: Any) -> Any:
    """Return plain values that can be compared.

    The values of an encoding are its attributes, the results of its lookups, and its overflow. Of
    most parts of a long overflow, they are only the attributes.
    """
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if not hasattr(value, "overflowing"):
        return value
    lookups = _lookups(value)  # before __getstate__, which makes a real Encoding
    state = json.loads(value.__getstate__())
    ranges = [range(each["start"], each["end"]) for each in state["sequence_ranges"].values()]
    if len(set().union(*ranges)) < sum(map(len, ranges)):
        # The library tokenizers may then choose any of the sequences of a token.
        lookups = [lookup for lookup in lookups if lookup[0] != "token_to_sequence"]
    parts = value.overflowing
    return {
        **_attributes(value),
        "repr": repr(value),
        "lookups": lookups,
        "state": state,
        "pickle": json.loads(pickle.loads(pickle.dumps(value)).__getstate__()),
        "overflowing": [
            plain(part) if at < 3 or at == len(parts) - 1 else _attributes(part)
            for at, part in enumerate(parts)
        ],
    }


def _attributes(value: Any) -> dict[str, Any]:
    names = ("ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask",
             "word_ids", "sequence_ids", "n_sequences")  # fmt: skip
    return {name: getattr(value, name) for name in names}


def state(value: Any) -> Any:
    """Return plain values as `plain` does; of an encoding, only its pickled state."""
    if isinstance(value, (list, tuple)):
        return [state(item) for item in value]
    return json.loads(value.__getstate__()) if hasattr(value, "overflowing") else value


def _lookups(value: Any) -> list[Any]:
    """Return the results of the methods that relate tokens, words and characters."""
    calls: list[tuple[Any, ...]] = [
        (method, at)
        for method in ("token_to_sequence", "token_to_word", "token_to_chars")
        for at in range(len(value) + 2)
    ]
    sequences = [(at, sequence) for at in range(6) for sequence in (0, 1)]
    calls += [
        (method, *args)
        for method in ("word_to_tokens", "word_to_chars", "char_to_token", "char_to_word")
        for args in [*sequences, (1,), (1, 2)]  # by default 0; and 2 does not exist
    ]
    return [(method, *args, getattr(value, method)(*args)) for method, *args in calls]
