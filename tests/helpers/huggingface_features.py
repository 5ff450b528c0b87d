"""Calls of transformers tokenizers, grouped by feature. Each group returns plain values."""

from __future__ import annotations

import asyncio
import copy
import pickle
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from huggingface_pairs import plain as plain_encoding

TEXTS = (
    "", "the quick brown", " the  fox\n\n!", "é e\u0301 日本 🦙", "<s>the</s><L> x", "a [MASK] b",
    "Hello , world ! I 'm here", "  <R>  é", "the<W>the <W> the", "ab12345\t\t", "<N>\u00a0ſ",
)  # fmt: skip
IDS: tuple[list[int], ...] = (
    [],
    [5, 6, 7],
    list(range(60, 90)),
    [270, 1, 280],
    [200, 201],
    [10**9, 5],
    [3] * 4,
)
FEATURES: dict[str, Callable[[Any], Any]] = {}
Feature = Callable[[Any], Any]


def feature(name: str) -> Callable[[Feature], Feature]:
    """Return a decorator that registers a function, which makes the calls of the feature `name`."""

    def register(function: Feature) -> Feature:
        FEATURES[name] = function
        return function

    return register


def outcome(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the result of a call in plain values, or its exception."""
    try:
        return plain(call(*args, **kwargs))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic in Rust is not an Exception
        return type(error).__name__, str(error)


def plain(value: Any) -> Any:
    """Return a value that can be compared."""
    if hasattr(value, "encodings"):
        data = [(name, plain(item)) for name, item in value.data.items()]
        return data, plain(value.encodings), getattr(value, "n_sequences", None)
    if hasattr(value, "overflowing"):
        return plain_encoding(value)
    if hasattr(value, "tolist"):
        return str(value.dtype), plain(value.tolist())
    if isinstance(value, dict):
        return [(key, plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if type(value).__name__ == "AddedToken":
        return repr(value)
    return value


def _each(call: Callable[..., Any], texts: Iterable[Any] = TEXTS, **kwargs: Any) -> list[Any]:
    return [outcome(call, text, **kwargs) for text in texts]


@feature("ids")
def _(tok: Any) -> Any:
    kinds: list[dict[str, Any]] = [{}, {"add_special_tokens": False}]
    return [
        [_each(tok, **kind), _each(tok.encode, **kind), outcome(tok, list(TEXTS), **kind)]
        for kind in kinds
    ]


@feature("texts that are refused")
def _(tok: Any) -> Any:
    wrong: list[Any] = [None, 5, b"x", [], [None], ["a", 5], "lone \ud800", ["\udfff"], [[]], {}]
    return _each(tok, wrong), _each(tok._tokenizer.encode, wrong)


@feature("offset_mapping")
def _(tok: Any) -> Any:
    return [
        _each(tok, return_offsets_mapping=True),
        _each(tok, return_offsets_mapping=True, add_special_tokens=False),
        _each(tok, ["the fox"], return_offsets_mapping=False),
        _each(tok, ["the fox"], return_offsets_mapping=1),
        outcome(tok, list(TEXTS), return_offsets_mapping=True, padding=True, return_tensors="np"),
    ]


@feature("alignment of a BatchEncoding")
def _(tok: Any) -> Any:
    batch = tok(list(TEXTS[1:]))
    one = tok("the é quick")
    return [
        [batch.tokens(row), batch.word_ids(row), batch.sequence_ids(row)] for row in range(5)
    ] + [
        [outcome(getattr(one, name), at) for at in range(-1, 8)]
        for name in ("char_to_token", "token_to_chars", "word_to_tokens", "token_to_word",
                     "word_to_chars", "char_to_word", "token_to_sequence")
    ] + _each(tok.tokenize)  # fmt: skip


@feature("special_tokens_mask")
def _(tok: Any) -> Any:
    row = tok("the<s>")["input_ids"]
    return (
        _each(tok, return_special_tokens_mask=True),
        outcome(tok.get_special_tokens_mask, row, already_has_special_tokens=True),
    )


@feature("pairs")
def _(tok: Any) -> Any:
    pairs = list(zip(TEXTS, reversed(TEXTS), strict=True))
    return [
        *[outcome(tok, *pair, return_token_type_ids=True) for pair in pairs],
        *[outcome(tok.encode, *pair) for pair in pairs],
        outcome(tok, list(TEXTS), list(reversed(TEXTS)), padding=True, return_tensors="np"),
        outcome(tok, "the", ["fox"]),
    ]


@feature("pretokenized input")
def _(tok: Any) -> Any:
    words = ["the", " quick", "", "é🦙", "<s>"]
    return [
        outcome(tok, words, is_split_into_words=True, return_offsets_mapping=True),
        outcome(tok, [words, ["the"]], is_split_into_words=True),
        outcome(tok, words, ["fox"], is_split_into_words=True),
        outcome(tok, "the quick", is_split_into_words=True),
    ]


@feature("overflow")
def _(tok: Any) -> Any:
    options = {"truncation": True, "return_overflowing_tokens": True}
    text = "the quick brown é 🦙 fox"
    return [
        outcome(tok, text, max_length=length, stride=stride, **options)
        for length in (0, 1, 2, 3, 5, 8) for stride in (0, 1, 3)
    ] + [
        outcome(tok, text, "the fox", max_length=8, stride=1, truncation=strategy,
                return_overflowing_tokens=True)
        for strategy in ("only_first", "only_second", "longest_first")
    ]  # fmt: skip


@feature("truncation")
def _(tok: Any) -> Any:
    sides = "left", "right"
    results = []
    for tok.truncation_side in sides:
        results += [
            outcome(tok, text, truncation=True, max_length=length)
            for text in TEXTS for length in (0, 1, 2, 4)
        ]  # fmt: skip
    return results


@feature("stride longer than the text")
def _(tok: Any) -> Any:
    return [
        outcome(tok, "the quick brown fox", truncation=True, max_length=length, stride=stride)
        for length, stride in [(2, 3), (4, 4), (3, 9)]
    ]


@feature("padding")
def _(tok: Any) -> Any:
    return [
        outcome(
            tok, list(TEXTS), padding=padding, padding_side=side, pad_to_multiple_of=multiple,
            max_length=20, truncation=True,
        )
        for padding in (True, "max_length", False)
        for side in ("left", "right", None, "up")
        for multiple in (None, 8)
    ]  # fmt: skip


@feature("tensors")
def _(tok: Any) -> Any:
    return [
        outcome(tok, texts, padding=padding, return_tensors=kind)
        for texts in ("the fox", list(TEXTS), ["the", "the"], [""])
        for padding in (True, False)
        for kind in ("np", "pt", "xx")
    ]


@feature("decode")
def _(tok: Any) -> Any:
    options = [
        {}, {"skip_special_tokens": True}, {"clean_up_tokenization_spaces": True},
        {"clean_up_tokenization_spaces": False}, {"spaces_between_special_tokens": False},
    ]  # fmt: skip
    ids = tok("Hello , world ! I 'm here <s>")["input_ids"]
    return [
        [_each(tok.decode, [*IDS, ids], **option), outcome(tok.batch_decode, [*IDS, ids], **option)]
        for option in options
    ]


@feature("decode added tokens")
def _(tok: Any) -> Any:
    added = sorted(tok.added_tokens_decoder)
    return outcome(tok.decode, added), [outcome(tok.decode, [id]) for id in added]


@feature("decode unknown ids")
def _(tok: Any) -> Any:
    return _each(tok.decode, [[10**9], [len(tok) + 5, 5], [-1], [1 << 32], -1, [1.5], ["x"], "x"])


@feature("convert ids and tokens")
def _(tok: Any) -> Any:
    ids = tok("the é<s>")["input_ids"]
    tokens = tok.convert_ids_to_tokens(ids)
    return [
        tokens,
        outcome(tok.convert_ids_to_tokens, [10**9, 5]),
        outcome(tok.convert_tokens_to_ids, tokens),
        outcome(tok.convert_tokens_to_ids, "no token"),
        outcome(tok.convert_tokens_to_string, tokens),
    ]


@feature("add_tokens")
def _(tok: Any) -> Any:
    return [
        outcome(tok.add_tokens, ["<new>", "quick", "<new>"]),
        outcome(tok.add_special_tokens, {"pad_token": "<p>", "eos_token": "<e>"}),
        outcome(tok.add_tokens, "brown"),
        [tok.pad_token_id, tok.eos_token_id, len(tok)],
        _each(tok, ["the quick<new> <e>", "<p>brown"]),
        outcome(tok.decode, range(len(tok) - 4, len(tok))),
        tok._tokenizer.to_str(),
    ]


@feature("flags of added tokens")
def _(tok: Any) -> Any:
    from tokenizers import AddedToken

    results = []
    for flag in ("lstrip", "rstrip", "single_word", "normalized", "special"):
        token = AddedToken(f"<{flag}>", **{flag: True})
        results += [
            outcome(tok.add_tokens, [token]),
            outcome(tok, f"a  <{flag}>  b<{flag}>c e\u0301<{flag}>", return_offsets_mapping=True),
        ]
    again = [outcome(tok.add_tokens, ["<lstrip>"]), outcome(tok, "a  <lstrip>  b")]
    return results + again + [outcome(tok._tokenizer.add_tokens, wrong) for wrong in ("x", [5])]


@feature("split_special_tokens")
def _(tok: Any) -> Any:
    results = [_each(tok, split_special_tokens=split) for split in (True, False, None)]
    tok.split_special_tokens = True
    return [*results, _each(tok), _each(tok.encode)]


@feature("sizes and vocabularies")
def _(tok: Any) -> Any:
    return [
        len(tok), tok.vocab_size, sorted(tok.get_vocab().items()), tok.get_added_vocab(),
        tok._tokenizer.get_vocab_size(), tok._tokenizer.get_vocab_size(False),
        sorted(tok._tokenizer.get_vocab(with_added_tokens=False)), tok.is_fast,
        plain(tok.added_tokens_decoder), sorted(map(repr, tok.added_tokens_encoder)),
        {str(token) for token in tok.added_tokens_decoder.values()},
    ]  # fmt: skip


@feature("num_special_tokens_to_add")
def _(tok: Any) -> Any:
    numbers = [tok.num_special_tokens_to_add(pair) for pair in (True, False)]
    return numbers, tok.max_len_single_sentence, tok.max_len_sentences_pair


@feature("setters of components")
def _(tok: Any) -> Any:
    from tokenizers import decoders, normalizers, pre_tokenizers, processors

    backend = tok._tokenizer
    results = []
    for name, component in (
        ("normalizer", normalizers.Lowercase()),
        ("pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=True)),
        ("normalizer", None),
        ("post_processor", processors.ByteLevel(trim_offsets=False)),
        ("decoder", decoders.Fuse()),
    ):
        setattr(backend, name, component)
        results += [type(getattr(backend, name)).__name__, outcome(tok, "The QUICK fox")]
        results.append(outcome(tok.decode, [60, 80, 100]))
    return results


@feature("components")
def _(tok: Any) -> Any:
    backend = tok._tokenizer
    return [
        outcome(lambda: [token.id for token in backend.model.tokenize("the")]),
        outcome(lambda: backend.pre_tokenizer.pre_tokenize_str("the quick é")),
        outcome(lambda: backend.normalizer.normalize_str("e\u0301")),
        outcome(lambda: backend.decoder.decode(["the", "Ġfox"])),
        outcome(lambda: backend.decoder.__getstate__()),
        type(backend.model).__name__,
    ]


@feature("assistant masks")
def _(tok: Any) -> Any:
    tok.chat_template = (
        "{% for message in messages %}<{{ message.role }}>"
        "{% if message.role == 'assistant' %}"
        "{% generation %}{{ message.content }}{% endgeneration %}"
        "{% else %}{{ message.content }}{% endif %}{% endfor %}"
    )
    messages = [
        {"role": "user", "content": "the é fox"},
        {"role": "assistant", "content": "quick 🦙 brown"},
    ]
    return [
        outcome(
            tok.apply_chat_template, messages, return_dict=True, return_assistant_tokens_mask=True
        ),
        outcome(tok.apply_chat_template, messages, tokenize=False),
        outcome(tok.apply_chat_template, [messages, messages], tokenize=True, padding=True),
    ]


@feature("pickles of results")
def _(tok: Any) -> Any:
    batch = tok(["the quick", "é fox"], return_offsets_mapping=True)
    again = pickle.loads(pickle.dumps(batch))
    return plain(again), outcome(copy.deepcopy, batch)


@feature("isinstance")
def _(tok: Any) -> Any:
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    return (
        isinstance(tok._tokenizer, tokenizers.Tokenizer),
        isinstance(tok("the").encodings[0], tokenizers.Encoding),
        isinstance(tok, PreTrainedTokenizerFast),
        all(isinstance(t, tokenizers.AddedToken) for t in tok.added_tokens_decoder.values()),
    )


@feature("files")
def _(tok: Any) -> Any:
    tok.add_tokens(["<new>"])
    outcome(tok, "the fox", truncation=True, max_length=3, padding="max_length")
    with tempfile.TemporaryDirectory() as folder:
        tok.save_pretrained(folder)
        paths = sorted(Path(folder).iterdir())
        files = [(path.name, path.read_bytes()) for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        tok._tokenizer.model.save(folder)
        files += [(path.name, path.read_bytes()) for path in sorted(Path(folder).iterdir())]
    return files, tok._tokenizer.to_str(), tok._tokenizer.to_str(pretty=True)


@feature("copies of a tokenizer")
def _(tok: Any) -> Any:
    tok.add_tokens(["<new>"])
    copies = [copy.deepcopy(tok), copy.copy(tok), pickle.loads(pickle.dumps(tok))]
    return pickle.dumps(tok), [_each(made, ["the<new> fox", "é"]) for made in copies]


@feature("other methods of the backend")
def _(tok: Any) -> Any:
    backend = tok._tokenizer

    async def later() -> Any:
        return [
            await backend.async_encode("the fox"),
            await backend.async_encode_batch(["the", ("é", "fox")]),
        ]

    first, second = backend.encode("the fox"), backend.encode("é")
    return [
        outcome(lambda: asyncio.run(later())),
        outcome(backend.post_process, first, second),
        outcome(backend.post_process, first, add_special_tokens=False),
        outcome(backend.encode_batch_fast, ["the", ("é", "fox")]),
        outcome(backend.encode, "the", "é"),
        outcome(backend.token_to_id, "the"),
        outcome(backend.id_to_token, 5),
    ]


@feature("streams")
def _(tok: Any) -> Any:
    from tokenizers import decoders

    ids = tok("the é 🦙 日本 fox<s>")["input_ids"]
    results = []
    for skip in (True, False):
        for prefill in range(len(ids)):
            stream = decoders.DecodeStream(ids[:prefill], skip_special_tokens=skip)
            steps = [*ids[prefill:], 10**9, [5, 6], [], -1]
            results.append([outcome(stream.step, tok._tokenizer, id) for id in steps])
    return results


@feature("model options")
def _(tok: Any) -> Any:
    model = tok._tokenizer.model
    results = [outcome(setattr, model, "dropout", 1.0), *_each(tok, ["the quick brown"])]
    # The dropout keeps tokenizers from caching these words. So the last call merges them again,
    # with the changed options.
    results += [
        outcome(setattr, model, option, value)
        for option, value in (("dropout", None), ("end_of_word_suffix", "</w>"))
    ]
    return results + _each(tok, ["the quick brown"])
