"""Random calls of a tokenizer, whose outcomes are compared between two environments.

One environment has tokenizers 0.23. The other one has tokenizers 1.0 or none, and runs this file.
"""

from __future__ import annotations

import copy
import json
import pickle
import sys
from functools import partial
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import huggingface_pairs as pairs
from bpe import UnsupportedError

UNSUPPORTED = "UnsupportedError"
FRAGMENT = 60
"""The maximal number of characters of a part of a text."""


class Plan(NamedTuple):
    """Which tokenizer to make, and which calls."""

    seed: int
    steps: int
    file: str = ""
    """The path of a tokenizer.json; "" for a random tokenizer."""
    texts: str = ""
    """The path of a text whose parts are encoded, besides the texts of huggingface_pairs."""
    share: float = 0.2
    """The share of calls after which the encodings are also asked for words and characters."""
    shown: int = -1
    """The index of the outcome that is not shortened to a digest."""


class Library(NamedTuple):
    """The classes of one library."""

    tokenizer: Any
    stream: Any
    encoding: Any
    added: Any


def ours() -> Library:
    """Return the classes of bpe."""
    from bpe.compat import huggingface as hf

    return Library(hf.Tokenizer, hf.DecodeStream, hf.Encoding, hf.AddedToken)


def real() -> Library:
    """Return the classes of tokenizers 0.23."""
    import tokenizers

    stream = tokenizers.decoders.DecodeStream
    return Library(tokenizers.Tokenizer, stream, tokenizers.Encoding, tokenizers.AddedToken)


def outcomes(library: Library, plan: Plan) -> list[str]:
    """Return a digest of the outcome of each call, and the tokenizer.json at the end.

    UNSUPPORTED stands for calls that bpe does not support, and for the end if bpe does not support
    the tokenizer.
    """
    random = Random(f"replay {plan.seed}")
    serialized = Path(plan.file).read_text(encoding="utf-8") if plan.file else ""
    texts = Path(plan.texts).read_text(encoding="utf-8") if plan.texts else ""
    found: list[str] = []
    try:
        tok = library.tokenizer.from_str(serialized or pairs.random_tokenizer(random))
    except UnsupportedError:
        return [UNSUPPORTED]
    for _ in range(plan.steps):
        if random.random() < 0.8:
            name, call = _call(random, texts, tok.get_vocab_size())
        else:
            # Copies of large tokenizers take long.
            others = _OTHERS if random.random() < (0.05 if plan.file else 1) else _OTHERS[:-1]
            name, call = random.choice(others)(random, library)
        if name == "copy":
            try:
                tok = call(tok)
            except UnsupportedError:
                return [*found, UNSUPPORTED]
            continue
        convert = pairs.plain if random.random() < plan.share else pairs.state
        value = name, _without_panic(pairs.outcome(call, tok, convert))
        outcome = json.dumps(value, sort_keys=True, default=repr)
        shortened = blake2b(outcome.encode(), digest_size=6).hexdigest()
        if UNSUPPORTED in outcome:
            shortened = UNSUPPORTED
        found.append(outcome if len(found) == plan.shown else shortened)
    return [*found, tok.to_str()]


def _without_panic(outcome: Any) -> Any:
    """Return an outcome that does not depend on the class and the ending of a panic's text."""
    if isinstance(outcome, tuple) and outcome[0] in ("PanicException", "Exception"):
        return "Exception", outcome[1].split(" (note that")[0]
    return outcome


def _call(random: Random, texts: str, size: int) -> tuple[str, pairs.Call]:
    """Return a random call that encodes, decodes, or changes the settings or the added tokens."""
    if texts and random.random() < 0.5:
        parts = [_part(random, texts) for _ in range(random.choice([1, 1, 2]))]
        if random.random() < 0.5:
            return f"encode(*{parts!r})", lambda tok: tok.encode(*parts)
        return f"encode_batch({parts!r})", lambda tok: tok.encode_batch(parts)
    if texts and random.random() < 0.2:
        ids = [random.randrange(size + 2) for _ in range(random.randrange(10))]
        return f"decode({ids!r})", lambda tok: tok.decode(ids)
    return pairs.random_call(random, only_calls=True)


def _part(random: Random, texts: str) -> str:
    start = random.randrange(len(texts))
    return texts[start : start + random.randrange(FRAGMENT)] + pairs.random_text(random)


def _stream(random: Random, library: Library) -> tuple[str, pairs.Call]:
    prompt = None if random.random() < 0.5 else [random.randrange(345) for _ in range(3)]
    skips = random.random() < 0.5
    text, first = pairs.random_text(random).replace("\ud800", ""), random.randrange(300)

    def call(tok: Any) -> Any:
        limits = tok.truncation, tok.padding
        tok.no_truncation()
        tok.no_padding()
        ids = [*tok.encode(text).ids, 10**6, *range(first, 300, 7)]
        for enable, options in zip(
            (tok.enable_truncation, tok.enable_padding), limits, strict=True
        ):
            if options is not None:
                enable(**options)
        stream = library.stream(prompt, skips)
        return [pairs.outcome(partial(_step, tok, id), stream) for id in ids]

    return f"stream({prompt}, {skips}, {text!r})", call


def _step(tok: Any, id: int, stream: Any) -> Any:
    return stream.step(tok, id)


def _ask(random: Random, library: Library) -> tuple[str, pairs.Call]:
    id = random.choice([0, 5, 300, 330, 10**6, -1, 1 << 32, "x"])
    token = random.choice(["a", "the", "<s>", "<new>", "Ġ", "none", 5])
    flag = random.choice([True, False, 1])
    calls = {
        "get_vocab": lambda tok: sorted(tok.get_vocab(flag).items())[::99],
        "id_to_token": lambda tok: tok.id_to_token(id),
        "token_to_id": lambda tok: tok.token_to_id(token),
        "get_vocab_size": lambda tok: tok.get_vocab_size(flag),
        "added": lambda tok: [(id, repr(t)) for id, t in tok.get_added_tokens_decoder().items()],
        "template": lambda tok: tok.num_special_tokens_to_add(flag),
        "settings": lambda tok: [
            sorted((each or {}).items()) for each in (tok.truncation, tok.padding)
        ],
        "last": lambda tok: tok.id_to_token(tok.get_vocab_size() - 1),
        "flag": lambda tok: tok.encode_special_tokens,
    }
    name = random.choice([*calls, *list(calls)[1:]])  # get_vocab is slow, so it is first
    return f"{name} {id!r} {token!r} {flag!r}", calls[name]


def _add(random: Random, library: Library) -> tuple[str, pairs.Call]:
    """Return a call that adds a token.

    The token keeps the flags `special` and `normalized` of an added token with its content:
    tokenizers 0.23 treats it so until the tokenizer is saved.
    """
    content = random.choice(["<new>", "<L>", "the", "x", " brown", "", "<s>", "<W>", "<more>"])
    flags = {name: random.random() < 0.3 for name in pairs.FLAGS}
    method = random.choice(["add_tokens", "add_special_tokens"])
    is_text = random.random() < 0.3

    def call(tok: Any) -> Any:
        kept = dict.fromkeys(("special", "normalized"), False)
        for token in tok.get_added_tokens_decoder().values():
            if token.content == content:
                kept = {name: getattr(token, name) for name in kept}
        token = library.added(content, **{name: flags[name] or kept.get(name) for name in flags})
        return getattr(tok, method)([content if is_text and not any(kept.values()) else token])

    return f"{method} {content!r} {flags} {is_text}", call


def _copy(random: Random, library: Library) -> tuple[str, pairs.Call]:
    return "copy", random.choice(
        [copy.copy, copy.deepcopy, lambda tok: pickle.loads(pickle.dumps(tok))]
    )


def _encoding(random: Random, library: Library) -> tuple[str, pairs.Call]:
    """Return a call that changes encodings, or merges them."""
    texts = [pairs.random_text(random).replace("\ud800", "") for _ in range(2)]
    number, stride = random.choice([0, 1, 2, 3, 5, 8, -1, "x"]), random.choice([0, 0, 1, 2])
    side = random.choice(["left", "right", "right", "up"])
    grows = random.random() < 0.5

    def call(tok: Any) -> Any:
        made = [tok.encode(text) for text in texts]
        first = made[0]
        changes = {
            "pad": lambda _: first.pad(number, direction=side, pad_id=stride, pad_token="p"),
            "truncate": lambda _: first.truncate(number, stride, side),
            "set": lambda _: first.set_sequence_id(number),
            "char": lambda _: first.char_to_token(number, stride),
            "word": lambda _: first.word_to_chars(word_index=number),
        }
        outcome = pairs.outcome(changes[name], None)
        return [_without_panic(outcome), first, library.encoding.merge(made, grows)]

    name = random.choice(["pad", "truncate", "set", "char", "word"])
    return f"{name} {texts!r} {number!r} {stride} {side} {grows}", call


_OTHERS = (*[_stream] * 3, *[_ask] * 4, *[_encoding] * 3, *[_add] * 2, _copy)


def main() -> None:
    """Print the outcomes of each plan in the input, as JSON."""
    print(json.dumps([outcomes(ours(), Plan(*plan)) for plan in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
