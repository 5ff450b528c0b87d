"""Read and write the tokenizer.json of Hugging Face's tokenizers, for byte-level BPE.

With a file that bpe wrote, tokenizers gives the same ids as bpe. cpp/formats/tokenizer_json.hpp is
the C++ reader.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from operator import methodcaller
from typing import Any, Literal

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats import post_processor, pre_tokenizers
from bpe.formats.bpe_model import ListedMerges, assigned_ids, build
from bpe.formats.byte_level import to_text
from bpe.formats.files import named
from bpe.formats.files import read as read_file
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.json_value import Value, parse
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tokenizer_config import added_token, config_tokens, join, named_tokens
from bpe.vocabulary import Vocabulary
from pretok.errors import shortened
from pretok.unicode import DEFAULT_VERSION

_PARTS = ("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
          "post_processor", "decoder", "model")  # fmt: skip
_OPTIONS = ("type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix",
            "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges")  # fmt: skip


class HuggingFaceFormat(Format):
    """A tokenizer.json; holds every part of a tokenizer."""

    name = "tokenizer.json"
    suffix = ".json"

    def detects(self, source: Source) -> bool:
        return source.json is not None and type(source.json["model"].value) is dict

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec:
        assert source.json is not None, "`detects` has checked it"
        listed: tuple[AddedToken, ...] = ()
        special: tuple[str, ...] = ()
        if source.config is not None:
            with named(source.config):
                config = parse(read_file(source.config))
                listed, special = config_tokens(config), named_tokens(config)
        with named(source.path):
            return read(source.json, options.needs_preset, listed, special)

    def dump(self, spec: TokenizerSpec) -> bytes:
        return dump(spec)


def read(
    file: Value,
    needs_preset: bool = True,
    in_config: Sequence[AddedToken] = (),
    named_in_config: Sequence[str] = (),
) -> TokenizerSpec:
    """Return the tokenizer in a tokenizer.json, with the added tokens of its tokenizer_config.json.

    `in_config` and `named_in_config` are the results of `config_tokens` and `named_tokens` for the
    tokenizer_config.json. Raises UnsupportedError for a part that bpe does not support, and
    VocabularyError for a malformed part; both messages name the path of the part. If `needs_preset`
    is false, the pre_tokenizer is not looked up and `preset` is None.
    """
    file.only(*_PARTS)
    for name in ("truncation", "padding"):
        if file[name].value is not None:
            raise file[name].unsupported("bpe neither truncates nor pads; set it to null")
    model = file["model"]
    _check_model(model)
    normalizer = _normalizer(file["normalizer"])
    preset, why, add_prefix_space = None, "its pre_tokenizer was not looked up", False
    if needs_preset:
        preset, add_prefix_space = pre_tokenizers.read(file["pre_tokenizer"])
    else:
        try:
            add_prefix_space = pre_tokenizers.puts_space(file["pre_tokenizer"])
        except UnsupportedError as error:
            why = str(error)
    _check_decoder(file["decoder"])
    added = added_tokens(file["added_tokens"])
    _check_ids(file["added_tokens"], added, model["vocab"].object())
    added = join(added, in_config, named_in_config, model["vocab"].object())
    merges = model["merges"]
    vocabulary = build(
        model["vocab"],
        ListedMerges(
            merges.values(), lambda: _pairs(merges), lambda index: f"model.merges[{index}]"
        ),
        model["ignore_merges"].flag(default=False),
        added,
    )
    return TokenizerSpec(
        vocabulary,
        preset,
        why,
        added,
        normalizer,
        add_prefix_space,
        post_processor.read(file["post_processor"]),
    )


def added_tokens(listed: Value) -> tuple[AddedToken, ...]:
    """Return the added tokens of a tokenizer.json, in its order."""
    if listed.value is None:
        return ()
    return tuple(added_token(item, item["id"].number(), "id") for item in listed.items())


def _check_model(model: Value) -> None:
    kind = model["type"]
    if kind.value is not None and kind.text() != "BPE":
        raise kind.unsupported("bpe reads only byte-level BPE")
    model.only(*_OPTIONS)
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model[name].value not in (None, ""):
            raise model[name].unsupported("byte-level BPE has none")
    dropout = model["dropout"]
    if type(dropout.value) not in (type(None), int, float):
        raise dropout.malformed("null or a number")
    if dropout.value:
        raise dropout.unsupported("dropout makes ids random; set it to null")
    # unk_token has no effect if each byte is a token, which Vocabulary checks.
    if model["unk_token"].value is not None:
        model["unk_token"].text()
    for name in ("fuse_unk", "byte_fallback"):
        model[name].flag(default=False)


def _pairs(merges: Value) -> list[tuple[str, str]]:
    listed = merges.values()
    kinds = set(map(type, listed))
    if kinds == {str} and set(map(methodcaller("count", " "), listed)) == {1}:
        texts = iter(" ".join(listed).split(" "))
        return list(zip(texts, texts, strict=True))
    if kinds == {list} and set(map(len, listed)) == {2}:
        pairs = list(map(tuple, listed))
        if set(map(type, chain.from_iterable(pairs))) == {str}:
            return pairs
    return [_pair(merges, index) for index in range(len(listed))]


def _pair(merges: Value, index: int) -> tuple[str, str]:
    merge = merges.value[index]
    parts = merge.split(" ") if type(merge) is str else merge
    if type(parts) is not list or list(map(type, parts)) != [str, str]:
        raise Value(merge, f"model.merges[{index}]").malformed('two tokens, as "a b" or ["a", "b"]')
    return parts[0], parts[1]


def _check_ids(listed: Value, added: Sequence[AddedToken], vocab: dict[str, int]) -> None:
    """Raise VocabularyError if the file and tokenizers disagree on the id of an added token."""
    ids = assigned_ids([token.content for token in added], vocab)
    for index, (token, id) in enumerate(zip(added, ids, strict=True)):
        if token.id != id:
            raise VocabularyError(
                f"{listed.path}[{index}].id is {token.id}, but tokenizers gives "
                f"{shortened(token.content)} the id {id}, "
                + (
                    "its id in model.vocab"
                    if token.content in vocab
                    else "the next free one; to choose the id, add the token to model.vocab"
                )
            )


def _normalizer(normalizer: Value) -> Literal["NFC"] | None:
    name: Literal["NFC"] | None = None
    for part in normalizer.parts("normalizers"):
        if part.value is None:
            continue
        if part.kind() != "NFC":
            raise part.unsupported("expected NFC or null")
        part.only("type")
        name = "NFC"
    return name


def _check_decoder(decoder: Value) -> None:
    pending = [decoder]
    while pending:
        part = pending.pop()
        if part.value is None:
            continue
        kind = part.kind()
        if kind == "Sequence":
            pending += reversed(list(part["decoders"].items()))
        elif kind != "ByteLevel":
            raise part.unsupported("expected ByteLevel or null")


def dump(spec: TokenizerSpec) -> bytes:
    """Return the tokenizer.json of a tokenizer; equal tokenizers give equal files.

    Ranks become merges. The template of a pair of texts repeats the template of one text. Raises
    VocabularyError if the library tokenizers cannot give the same ids.
    """
    unicode = spec.preset and (spec.unicode or spec.preset.unicode)
    if unicode not in (None, DEFAULT_VERSION):
        raise VocabularyError(
            f"the tokenizer splits by Unicode {unicode}, but a tokenizer.json always uses "
            f"Unicode {DEFAULT_VERSION}; create the tokenizer with unicode={DEFAULT_VERSION!r}"
        )
    pre_tokenizer = pre_tokenizers.write(spec.preset, spec.add_prefix_space)
    vocabulary = spec.vocabulary
    added = sorted(spec.added_tokens, key=lambda token: token.id)
    texts = _texts(vocabulary)
    merges = [f"{texts[left]} {texts[right]}" for left, right, _ in spec.merges()]
    names = texts | {token.id: token.content for token in added}
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": vocabulary.ignore_merges,
        "vocab": _with_added({text: id for id, text in texts.items()}, added),
        "merges": merges,
    }
    file: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(token) for token in added],
        "normalizer": {"type": spec.normalizer} if spec.normalizer else None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor.write(spec.template, names),
        "decoder": {
            "type": "ByteLevel",
            "add_prefix_space": True,
            "trim_offsets": True,
            "use_regex": True,
        },
        "model": model,
    }
    return json.dumps(file, ensure_ascii=False, separators=(",", ":")).encode()


def _texts(vocabulary: Vocabulary) -> dict[int, str]:
    """Return each token by its id, in the characters that stand for bytes, in order of ids."""
    tokens = vocabulary.token_bytes
    if len(vocabulary.ids) != len(tokens):
        id = next(id for id, token in tokens.items() if vocabulary.ids[token] != id)
        raise VocabularyError(
            f"tokens {vocabulary.ids[tokens[id]]} and {id} are both {shortened(tokens[id])}; a "
            "tokenizer.json allows one id for each token"
        )
    return {id: to_text(token) for id, token in sorted(tokens.items())}


def _with_added(ids: dict[str, int], added: list[AddedToken]) -> dict[str, int]:
    """Return `ids`; include the added tokens if tokenizers would otherwise give them other ids."""
    for token in added:
        if ids.get(token.content, token.id) != token.id:
            raise VocabularyError(
                f"added token {shortened(token.content)} has id {token.id}, but the token of the "
                f"same text has id {ids[token.content]}; a tokenizer.json allows one id for each "
                "text"
            )
    contents = [token.content for token in added]
    # If ids have gaps, versions of tokenizers disagree on the next free id.
    has_all = max(ids.values()) == len(ids) - 1
    if has_all and assigned_ids(contents, ids) == [token.id for token in added]:
        return ids
    taken = {id: text for text, id in ids.items()}
    for token in added:
        if taken.get(token.id, token.content) != token.content:
            raise VocabularyError(
                f"added token {shortened(token.content)} has the id {token.id} of the token "
                f"{shortened(taken[token.id])}; a tokenizer.json needs unique ids"
            )
        taken[token.id] = token.content
    both = ids | {token.content: token.id for token in added}
    return dict(sorted(both.items(), key=lambda entry: entry[1]))


def _added(token: AddedToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }
