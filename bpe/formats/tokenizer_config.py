"""Read the added tokens of a tokenizer_config.json, and add them to a tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError
from bpe.formats.json_value import Value
from bpe.vocabulary import ID_LIMIT
from pretok.errors import shortened

FILE_NAME = "tokenizer_config.json"
NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
NAMED_LISTS = ("additional_special_tokens", "extra_special_tokens")
_MAX_NAMES = 3
"""The maximal number of added tokens that a warning names."""
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def added_token(item: Value, id: int, *besides: str) -> AddedToken:
    """Return the added token that the object `item` describes by its content and flags.

    `item` may also have the members `besides`.
    """
    item.only("content", *FLAGS, *besides)
    if not 0 <= id < ID_LIMIT:
        raise item.malformed(f"an id from 0 to {ID_LIMIT - 1}")
    flags = {name: item[name].flag() for name in FLAGS}
    return AddedToken(item["content"].text(), id, **flags)


def config_tokens(config: Value) -> tuple[AddedToken, ...]:
    """Return the tokens in the added_tokens_decoder of a tokenizer_config.json."""
    listed = config["added_tokens_decoder"]
    if listed.value is None:
        return ()
    added = []
    for key in listed.object():
        if not (key.isascii() and key.isdecimal()) or len(key) > 9:
            raise listed[key].malformed("an id as the key")
        added.append(added_token(_with_defaults(listed[key]), int(key), "__type"))
        if not added[-1].content:
            raise listed[key]["content"].malformed("some text")
    return tuple(added)


def _with_defaults(item: Value) -> Value:
    """Return the object `item` with the flags that transformers adds if they are missing.

    An added token is by default normalized unless it is special.
    """
    given = item.object()
    defaults = dict.fromkeys(FLAGS, False) | {"normalized": given.get("special") is not True}
    return Value(defaults | dict(given), item.path)


def named_tokens(config: Value) -> tuple[str, ...]:
    """Return the texts of the special tokens that a tokenizer_config.json names, in order."""
    named = [config[name] for name in NAMED]
    for name in NAMED_LISTS:
        if type(config[name].value) is list:
            named += config[name].items()
    texts = []
    for token in named:
        if token.value is not None:
            texts.append((token["content"] if type(token.value) is dict else token).text())
    return tuple(dict.fromkeys(text for text in texts if text))


def other_ids(file: str, listed: Sequence[AddedToken], ids: Mapping[str, int]) -> tuple[str, ...]:
    """Return a sentence about those tokens of a file, `listed`, that have other ids in `ids`."""
    other = dict.fromkeys(token for token in listed if ids[token.content] != token.id)
    if not other:
        return ()
    shown = [
        f"{shortened(token.content)} has the id {ids[token.content]}, not {token.id}"
        for token in islice(other, _MAX_NAMES)
    ]
    rest = f", and {len(other) - _MAX_NAMES} more" * (len(other) > _MAX_NAMES)
    return (
        f"added tokens get the ids of the tokenizers library, and not those in {file}: "
        f"{', '.join(shown)}{rest}",
    )


def join(
    listed: Sequence[AddedToken],
    config: Sequence[AddedToken],
    named: Sequence[str],
    vocab: Mapping[str, int],
) -> tuple[AddedToken, ...]:
    """Return the added tokens of a tokenizer.json and of its tokenizer_config.json.

    `listed` are the tokens of the tokenizer.json, `config` the result of `config_tokens`, `named`
    the result of `named_tokens`. Like transformers, add the tokens of `config` in order of ids, and
    then special tokens for `named`. As in Hugging Face's tokenizers, a new token gets its id in
    `vocab`, or else the next free id, whatever `config` says. A token in both files gets the flags
    of `config`, and is special if one file says so. Raises UnsupportedError if only the
    tokenizer.json says that a token is normalized, because the library then keeps both tokens.
    """
    tokens = {token.content: token for token in listed}
    next_id = max((token.id + 1 for token in listed), default=0)
    for token in sorted(config, key=lambda token: token.id):
        known = tokens.get(token.content)
        if known is None:
            id = vocab.get(token.content, max(next_id, len(vocab)))
        else:
            id = known.id
            if known.normalized and not token.normalized:
                raise UnsupportedError(
                    f"{FILE_NAME} says normalized=False of the added token "
                    f"{shortened(token.content)}, but tokenizer.json says True; correct one file, "
                    "or load tokenizer.json itself"
                )
            token = replace(token, special=token.special or known.special)
        next_id = max(next_id, id + 1)
        tokens[token.content] = replace(token, id=id)
    for text in named:
        if text not in tokens:
            id = vocab.get(text, max(next_id, len(vocab)))
            next_id = max(next_id, id + 1)
            tokens[text] = AddedToken(text, id)
    return tuple(tokens.values())
