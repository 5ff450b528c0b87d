"""Read the parts of a tokenizer.json whose BPE merges characters, as SentencePiece does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.decoders import steps
from bpe.decoders.chain import DecoderChain
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats import normalizer_json
from bpe.formats.bpe_model import ListedMerges, ListedModel, build_if_bytes, check_ids, merge_ids
from bpe.formats.decoder_json import metaspace
from bpe.formats.json_value import Value
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.vocabulary import Vocabulary
from pretok.errors import DefinitionError, UnsupportedPreTokenizerError
from pretok.formats import huggingface
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizers import Metaspace
from pretok.pre_tokenizers.sequence import BLOCK_TYPES
from pretok.preset import Preset


def options(model: Value, pre_tokenizer: Value) -> TextOptions:
    """Return the options of the TextVocabulary of a model.

    `byte_level` says whether the last part of the pre_tokenizer is ByteLevel. If it is, the tokens
    of most models are bytes, and need no TextVocabulary.
    """
    prefix, suffix, unknown = (
        "" if model[name].value is None else model[name].text()
        for name in ("continuing_subword_prefix", "end_of_word_suffix", "unk_token")
    )
    return TextOptions(
        unknown or None,
        model["fuse_unk"].flag(default=False),
        model["byte_fallback"].flag(default=False),
        prefix,
        suffix,
        model["ignore_merges"].flag(default=False),
        _ends_byte_level(pre_tokenizer),
    )


def vocabulary(
    vocab: Value, merges: ListedMerges, options: TextOptions, added: Sequence[AddedToken]
) -> TextVocabulary:
    """Return the vocabulary of a model whose tokens are text.

    Raises VocabularyError for invalid ids or merges. Raises UnsupportedError if byte_fallback is
    set together with a prefix or suffix of tokens.
    """
    ids = check_ids(vocab)
    listed = merge_ids(ids, merges.pairs(), merges.location, options.prefix)
    texts = {id: text for text, id in ids.items() if text}
    if not texts:
        raise vocab.malformed("at least one token")
    special = [token.id for token in added if token.special]
    return TextVocabulary(texts, listed, options, special)


def byte_level_model(
    model: ListedModel, native: Vocabulary | None = None
) -> tuple[Vocabulary, DecoderChain | None]:
    """Return the vocabulary whose characters stand for bytes, and its decoder if it needs one.

    Like Hugging Face's tokenizers and llama.cpp, encoding drops bytes that have no token. `native`
    is the vocabulary, if C++ has made it. Raises VocabularyError.
    """
    made = native or build_if_bytes(model)
    if made is not None:
        is_text = isinstance(made, TextVocabulary)
        return made, DecoderChain((steps.ByteLevel(),)) if is_text else None
    ids = check_ids(model.vocab)
    rows = merge_ids(ids, model.merges.pairs(), model.merges.location)
    omitted = set(model.loose).difference(chain.from_iterable(rows))
    texts = {id: text for text, id in ids.items() if text and id not in omitted}
    options = TextOptions(ignores_merges=model.ignore_merges, byte_level=True)
    special = [token.id for token in model.added if token.special]
    return TextVocabulary(texts, rows, options, special), DecoderChain((steps.ByteLevel(),))


class ModelSplit(NamedTuple):
    """The parts of a pre_tokenizer: Metaspace, which writes spaces as "▁", and the split."""

    metaspace: MetaspaceStep | None
    preset: Preset | None
    why_no_preset: str
    add_prefix_space: bool


def split(pre_tokenizer: Value, needs_preset: bool) -> ModelSplit:
    """Return the parts of a pre_tokenizer; raises UnsupportedError.

    If `needs_preset` is false, the preset is not looked up.
    """
    parts = [part for part in pre_tokenizer.parts("pretokenizers") if part.value is not None]
    places = [at for at, part in enumerate(parts) if part.kind() == "Metaspace"]
    if len(places) > 1:
        raise parts[places[-1]].unsupported("expected at most one Metaspace")
    for part in parts:
        if part.kind() not in BLOCK_TYPES:
            raise part.unsupported(f"expected one of {', '.join(BLOCK_TYPES)}")
    first = places[0] if places else 0
    for part in parts[:first]:
        if part.kind() == "ByteLevel":
            raise part.unsupported(
                "it changes the text, and the Metaspace would split the changed text; expected it "
                "after the Metaspace"
            )
    block = metaspace(parts[first]) if places else None
    try:
        step = None
        if block is not None:
            before = huggingface.read(_sequence(parts[:first]), pre_tokenizer.path)
            split_before = huggingface.preset_of(before) if first else None
            step = MetaspaceStep(block.replacement, block.prepend_scheme, split_before)
        if not needs_preset:
            return ModelSplit(step, None, "its pre_tokenizer was not looked up", False)
        parsed = huggingface.read(_sequence(parts[first + len(places) :]), pre_tokenizer.path)
        if block is not None:
            if parsed.prefix_space_path:
                raise UnsupportedPreTokenizerError(
                    parsed.prefix_space_path,
                    "after Metaspace it puts a space before every piece of the text; set "
                    "add_prefix_space to false",
                )
            parsed = parsed._replace(
                stages=block.stages() + parsed.stages, part_types=("Metaspace", *parsed.part_types)
            )
        preset = huggingface.preset_of(parsed)
    except UnsupportedPreTokenizerError as error:
        raise UnsupportedError(
            f"{error}; pass preset= to choose the split: a preset or any object with offsets(text)"
        ) from None
    return ModelSplit(step, preset, "", bool(parsed.prefix_space_path))


def _sequence(parts: Sequence[Value]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": [part.value for part in parts]}


def normalizer(value: Value, step: MetaspaceStep | None) -> NormalizerChain | None:
    """Return the normalizer and the Metaspace of a pre_tokenizer as one chain, or None."""
    steps = normalizer_json.read(value)
    return NormalizerChain(steps, step) if steps or step is not None else None


def write_pre_tokenizer(spec: TokenizerSpec) -> dict[str, Any] | None:
    """Return the pre_tokenizer of a tokenizer with a TextVocabulary.

    Raises VocabularyError if a tokenizer.json cannot hold the split.
    """
    step = spec.normalizer.metaspace if isinstance(spec.normalizer, NormalizerChain) else None
    if spec.preset is None:
        raise VocabularyError(
            "a tokenizer.json cannot hold a custom pre-tokenizer; use a preset, or pickle the "
            "tokenizer"
        )
    assert isinstance(spec.vocabulary, TextVocabulary), "the caller has checked it"
    parts: list[dict[str, Any]] = []
    try:
        if spec.vocabulary.options.byte_level:
            whole = huggingface.to_byte_level_json(spec.preset, spec.add_prefix_space)
            parts = whole["pretokenizers"] if whole["type"] == "Sequence" else [whole]
        elif spec.preset != WHOLE:
            parts = huggingface.to_json(spec.preset)["pretokenizers"]
    except DefinitionError as error:
        raise _not_held(error) from None
    if step is not None:
        # A Metaspace replaces spaces, and also splits if `split` is true. If the split itself
        # begins with a Metaspace, one part does both; otherwise a part that only replaces is added.
        marks = Metaspace(step.replacement, step.prepend_scheme)
        if parts[:1] == [Metaspace(step.replacement, "never").to_dict()]:
            parts[0] = marks.to_dict()
        else:
            parts.insert(0, replace(marks, split=False).to_dict())
        if step.before is not None:
            parts[:0] = _parts_before(step.before)
    if len(parts) == 1:
        return parts[0]
    return {"type": "Sequence", "pretokenizers": parts} if parts else None


def _parts_before(preset: Preset) -> list[dict[str, Any]]:
    """Return the parts of a pre_tokenizer before its Metaspace, which split like `preset`.

    Raises VocabularyError if a tokenizer.json cannot hold this split.
    """
    try:
        parts: list[dict[str, Any]] = huggingface.to_json(preset)["pretokenizers"]
    except DefinitionError as error:
        raise _not_held(error) from None
    return parts


def _not_held(error: DefinitionError) -> VocabularyError:
    """Return the error for a pre-tokenizer that a tokenizer.json cannot hold."""
    return VocabularyError(f"{error}; pickle the tokenizer to keep its pre-tokenizer")


def _ends_byte_level(pre_tokenizer: Value) -> bool:
    parts = list(pre_tokenizer.parts("pretokenizers"))
    return bool(parts) and parts[-1].value is not None and parts[-1].kind() == "ByteLevel"
