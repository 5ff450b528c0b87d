"""Read the BPE vocabulary of a GGUF file, the model format of llama.cpp.

cpp/formats/gguf.hpp is the C++ version.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import ByteLevel
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats import gguf_facts, gguf_text
from bpe.formats.bpe_model import ListedMerges, ListedModel, merge_ids
from bpe.formats.byte_digits import check_numbers
from bpe.formats.file_spec import FileSpec, TextFields
from bpe.formats.files import named, opened
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.json_value import Value
from bpe.formats.native_readers import read_native
from bpe.formats.spec import TokenizerSpec
from bpe.formats.text_model import byte_level_model
from bpe.token_facts import TokenFacts, TokenType
from bpe.types import Template
from bpe.vocabulary import Vocabulary
from pretok.errors import UnknownPresetError
from pretok.formats import gguf_metadata
from pretok.patterns.lookup import WHOLE
from pretok.preset import Preset
from pretok.registry import find

(_MODEL, _PRE, _TOKENS, _TYPES, _MERGES, _SCORES, _BOS, _EOS, _ADD_BOS, _ADD_EOS,
 _ADD_SPACE) = _TOKENIZER_KEYS = tuple(
    f"tokenizer.ggml.{name}"
    for name in ("model", "pre", "tokens", "token_type", "merges", "scores", "bos_token_id",
                 "eos_token_id", "add_bos_token", "add_eos_token", "add_space_prefix")
)  # fmt: skip
_NAME = "general.name"
KEYS = (*_TOKENIZER_KEYS, _NAME)

OTHER_MODELS = {
    "bert": "WordPiece",
    "t5": "SentencePiece unigram",
    "rwkv": "RWKV's greedy search",
    "plamo2": "PLaMo-2's unigram",
    "hybriddna": "BPE with tokens for six DNA bases",
    "whitespace": "BPE of words between spaces",
    "test": "a model for llama.cpp's own tests",
    "none": "a model without a vocabulary",
    "no_vocab": "a model without a vocabulary",
}
"""Values of tokenizer.ggml.model that are not supported, with the algorithm of each."""

# llama.cpp derives these properties from tokenizer.ggml.pre; the file does not store them.
# `python -m cpp.generate.bpe_tables` copies them to C++.
_LLAMA3 = ("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
           "jina-v5-nano")  # fmt: skip
IGNORE_MERGES = frozenset({*_LLAMA3, "tekken", "youtu", "minicpm5", "granite-embed-multi-97m",
                           "glm4", "glm5"})  # fmt: skip
"""Values of tokenizer.ggml.pre for which pre-tokens are looked up whole before they are merged."""
ADD_BOS = frozenset({*_LLAMA3, "tekken", "chameleon"})
"""Values of tokenizer.ggml.pre for which add_bos_token is true by default."""
LSTRIP = {"jina-v2-de": "<mask>", "jina-v2-es": "<mask>", "jina-v2-code": "<mask>",
          "modern-bert": "[MASK]"}  # fmt: skip
"""The added token with the flag lstrip, by tokenizer.ggml.pre."""
GEMMA = frozenset({"gemma4", "granite-embed-multi-311m"})
"""Values of tokenizer.ggml.pre for which a run of line breaks that is a token is not merged.

For these values, llama.cpp ignores add_bos_token and takes it as true.
"""
MERGES_CHARACTERS = GEMMA | {"sarvam-moe"}
"""Values of tokenizer.ggml.pre for which listed merges join characters, and "▁" is the space."""
NOT_BYTE_LEVEL = MERGES_CHARACTERS | {"whitespace"}
"""Values of tokenizer.ggml.pre for which tokens are UTF-8, not characters that stand for bytes."""
_NOT_RSTRIP = frozenset({"<unk>", "<s>", "<|endoftext|>"})
"""The added tokens without the flag rstrip, in files of Phi-3."""


_ORDINARY = frozenset({int(TokenType.UNDEFINED), int(TokenType.NORMAL)})
_SPECIAL = frozenset({int(TokenType.UNKNOWN), int(TokenType.CONTROL)})
_ADDED = _SPECIAL | {int(TokenType.USER_DEFINED)}


class GgufFormat(Format):
    """A GGUF file; reads its metadata only, not the tensors after it."""

    name = "GGUF"

    def detects(self, source: Source) -> bool:
        return source.head.startswith(gguf_metadata.MAGIC)

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec | FileSpec:
        with named(source.path):
            if source.is_packed:
                raise UnsupportedError("this is a GGUF file packed with gzip; unpack it first")
            native = _native_spec(source.path, options.needs_preset)
            if native is not None:
                return native
            load = partial(gguf_metadata.load, source.path)
            return read(gguf_facts.read_values(load, KEYS), options.needs_preset)


def _native_spec(path: Path, needs_preset: bool) -> FileSpec | None:
    """Return the tokenizer in a file, or None if Python must read it."""
    with opened(path) as file:
        native = read_native(file)
    if native is None:
        return None
    spec = FileSpec(native, _read_others)
    if _merges_characters(spec):
        return spec if needs_preset else None
    return None if needs_preset and not spec.fields["preset"] else spec


def _merges_characters(spec: FileSpec) -> bool:
    text = spec.fields["text"]
    return text is not None and not TextFields(*text).byte_level


def _read_others(spec: FileSpec) -> TokenizerSpec:
    """Return the tokenizer of a file; C++ has read the vocabulary of `spec`."""
    if _merges_characters(spec):
        characters = spec.fields["characters"]
        adds_space = characters is not None and characters[0] == "always"
        return TokenizerSpec(
            spec.vocabulary,
            WHOLE,
            normalizer=gguf_text.normalizer(adds_space),
            decoder=gguf_text.decoder(adds_space),
        )
    preset = spec.fields["preset"]
    decoder = DecoderChain((ByteLevel(),)) if spec.native.is_text else None
    return TokenizerSpec(spec.vocabulary, find(preset) if preset else None, decoder=decoder)


class GgufSplit(NamedTuple):
    """The preset that `pre`, the value of tokenizer.ggml.pre, names, or why there is no preset."""

    pre: str
    preset: Preset | None
    why_no_preset: str


def read(file: Value, needs_preset: bool = True) -> TokenizerSpec:
    """Return the tokenizer in the metadata of a GGUF file.

    Control tokens and the unknown token are special: llama.cpp finds them only with parse_special.
    User-defined tokens are always found. tokenizer.ggml.pre names the preset. Raises
    UnsupportedError for a model that is not BPE, VocabularyError for a malformed file.
    """
    if file[_MODEL].value is None:
        raise VocabularyError(
            f"there is no {_MODEL}, so the file holds no vocabulary; if the model is split into "
            "several files, give the first"
        )
    model = file[_MODEL].text()
    if model == "llama":
        return _text_spec(file, "")
    if model == "gemma4":
        return _text_spec(file, model)
    _check_model(file[_MODEL])
    pre, preset, why_no_preset = _split(file)
    if pre in MERGES_CHARACTERS:
        return _text_spec(file, pre)
    if pre in NOT_BYTE_LEVEL:
        raise file[_PRE].unsupported(
            "bpe does not read models of this kind, whose tokens are text and not bytes"
        )
    texts = _texts(file[_TOKENS])
    types = _types(file[_TYPES], len(texts))
    added = _added(texts, types, LSTRIP.get(pre), file[_NAME])
    vocabulary, decoder = _vocabulary(texts, types, file[_MERGES], pre in IGNORE_MERGES, added)
    if needs_preset and preset is not None and preset.name == "falcon":
        check_numbers(vocabulary, _PRE)
    return TokenizerSpec(
        vocabulary,
        preset,
        why_no_preset,
        added,
        add_prefix_space=file[_ADD_SPACE].flag(default=False),
        template=_template(file, file[_ADD_BOS], pre in ADD_BOS, texts),
        decoder=decoder,
        facts=_facts(file, texts, types),
    )


def _text_spec(file: Value, pre: str) -> TokenizerSpec:
    """Return the tokenizer of a file whose BPE merges characters.

    `pre` is one of MERGES_CHARACTERS, whose files list merges, or "": SentencePiece's BPE, which
    merges by scores.
    """
    has_scores = pre == ""
    texts = _texts(file[_TOKENS])
    types = _types(file[_TYPES], len(texts), may_have_bytes=True)
    ids = _different(texts)
    adds_space = has_scores and file[_ADD_SPACE].flag(default=True)
    vocabulary: CharacterVocabulary | TextVocabulary
    if has_scores:
        kinds = {kind: [id for id, own in enumerate(types) if own == kind] for kind in TokenType}
        vocabulary = gguf_text.vocabulary(
            texts,
            file[_SCORES],
            kinds[TokenType.BYTE],
            kinds[TokenType.UNKNOWN] + kinds[TokenType.CONTROL],
            kinds[TokenType.USER_DEFINED],
        )
    else:
        rows = merge_ids(ids, _pairs(file[_MERGES]), _merge_location)
        vocabulary = gguf_text.listed_vocabulary(texts, rows, takes_runs=pre in GEMMA)
    # Some files of Gemma 4 have a wrong add_bos_token, which llama.cpp ignores.
    add_bos = Value(None, _ADD_BOS) if pre in GEMMA else file[_ADD_BOS]
    return TokenizerSpec(
        vocabulary,
        WHOLE,
        added_tokens=_added(texts, types, None, file[_NAME]),
        normalizer=gguf_text.normalizer(adds_space),
        template=_template(file, add_bos, has_scores or pre in GEMMA, texts),
        decoder=gguf_text.decoder(adds_space),
        facts=_facts(file, texts, types),
    )


def _facts(file: Value, texts: Sequence[str], types: Sequence[int]) -> TokenFacts:
    listed = None if file[_TYPES].value is None else types
    return gguf_facts.read_facts(file, texts, listed)


def _check_model(model: Value) -> None:
    name = model.text()
    if name != "gpt2":
        kind = OTHER_MODELS.get(name)
        raise model.unsupported(
            f'it is {kind}; bpe reads only "gpt2", "llama" and "gemma4", which are BPE'
            if kind
            else 'bpe reads only "gpt2", "llama" and "gemma4", which are BPE'
        )


def _split(file: Value) -> GgufSplit:
    pre = file[_PRE].text() if file[_PRE].value else ""
    if not pre:
        return GgufSplit(
            pre,
            None,
            f"there is no {_PRE}, so the split is unknown (llama.cpp then splits like preset "
            '"default")',
        )
    try:
        return GgufSplit(pre, find(pre), "")
    except UnknownPresetError as error:
        near = f" (similar names: {', '.join(map(repr, error.near))})" if error.near else ""
        why = f"{_PRE} is {pre[:80]!a}, but no preset has this name{near}"
        return GgufSplit(pre, None, why)


def _texts(tokens: Value) -> list[str]:
    texts = tokens.values()
    if set(map(type, texts)) != {str}:
        raise tokens.malformed("an array of strings, one for each token")
    return texts


def _types(types: Value, count: int, may_have_bytes: bool = False) -> list[int]:
    """Return the TokenType of each of `count` tokens."""
    if types.value is None:
        return [TokenType.NORMAL] * count
    listed = types.values()
    if len(listed) != count:
        raise VocabularyError(
            f"{_TYPES} has {len(listed)} types, but {_TOKENS} has {count} tokens; the file is "
            "damaged"
        )
    for kind in set(listed):
        if type(kind) is not int or not 0 <= kind <= TokenType.BYTE:
            index = listed.index(kind)
            raise Value(kind, f"{_TYPES}[{index}]").malformed("a number from 0 to 6")
    if TokenType.BYTE in listed and not may_have_bytes:
        index = listed.index(TokenType.BYTE)
        raise Value(int(TokenType.BYTE), f"{_TYPES}[{index}]").unsupported(
            "it marks a fallback token for a byte, which byte-level BPE does not have"
        )
    return listed


def _pairs(merges: Value) -> list[tuple[str, str]]:
    """Return the two tokens of each merge."""
    listed = merges.values()
    if set(map(type, listed)) <= {str} and set(map(str.count, listed, repeat(" "))) <= {1}:
        parts = " ".join(listed).split(" ")
        return list(zip(parts[::2], parts[1::2], strict=True)) if listed else []
    for index, merge in enumerate(listed):
        if type(merge) is not str or merge.count(" ") != 1:
            raise Value(merge, _merge_location(index)).malformed("two tokens with a space between")
    return []


def _added(
    texts: Sequence[str], types: Sequence[int], lstrip: str | None, name: Value
) -> tuple[AddedToken, ...]:
    """Return the added tokens. `lstrip` is the one with this flag; `name` is general.name."""
    lowered = name.value.lower() if type(name.value) is str else ""
    is_phi3 = "phi3" in lowered or "phi-3" in lowered
    return tuple(
        AddedToken(
            texts[id],
            id,
            special=kind in _SPECIAL,
            lstrip=texts[id] == lstrip,
            rstrip=is_phi3 and texts[id] not in _NOT_RSTRIP,
        )
        for id, kind in enumerate(types)
        if kind in _ADDED and texts[id]
    )


def _vocabulary(
    texts: Sequence[str],
    types: Sequence[int],
    merges: Value,
    ignore_merges: bool,
    added: Sequence[AddedToken],
) -> tuple[Vocabulary, DecoderChain | None]:
    ids = _different(texts)
    merges.values()
    listed = ListedMerges(lambda: _pairs(merges), _merge_location)
    # `byte_level_model` drops entries that are not ordinary tokens (`loose`), unless a merge names
    # them or they are ASCII bytes.
    loose = [id for id, kind in enumerate(types) if kind not in _ORDINARY]
    return byte_level_model(
        ListedModel(Value(ids, _TOKENS), listed, ignore_merges, added, loose=loose)
    )


def _merge_location(index: int) -> str:
    return f"{_MERGES}[{index}]"


def _different(texts: Sequence[str]) -> dict[str, int]:
    """Return the id of each text; raise VocabularyError if two texts that are not "" are equal."""
    ids = dict(zip(texts, range(len(texts)), strict=True))
    for id, text in enumerate(texts) if len(ids) < len(texts) else ():
        if text and ids[text] != id:
            raise VocabularyError(
                f"{_TOKENS} has {text[:80]!a} twice, with ids {id} and {ids[text]}; the file is "
                "damaged"
            )
    return ids


def _template(file: Value, add_bos: Value, adds_bos: bool, texts: Sequence[str]) -> Template:
    """Return the ids around a text; `adds_bos` is the default of `add_bos`."""
    return Template(
        _around(file[_BOS], add_bos, adds_bos, texts),
        _around(file[_EOS], file[_ADD_EOS], False, texts),
    )


def _around(id: Value, is_added: Value, default: bool, texts: Sequence[str]) -> tuple[int, ...]:
    """Return the id to add at one end of a text, or () if `is_added` is false.

    `default` is the value of `is_added` if it is missing. `texts` has the texts of the tokens.
    """
    if not is_added.flag(default):
        return ()
    if not 0 <= id.number() < len(texts):
        raise id.malformed(f"an id below {len(texts)}, the number of tokens")
    if not texts[id.value]:
        raise id.malformed("the id of a token that is not empty")
    return (id.value,)
