"""Build the Engine of a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Collection

from bpe import Tokenizer, UnsupportedError
from bpe.characters.marks import SPACE_MARK
from bpe.compat.huggingface import post_processor
from bpe.compat.huggingface.decoding import Decoding
from bpe.compat.huggingface.engine import Engine
from bpe.encoding.text_spaces import spaces_of
from bpe.formats import huggingface
from bpe.formats.bpe_model import assigned_ids
from bpe.formats.byte_digits import why_words_differ
from bpe.formats.json_value import Value
from bpe.normalizers.chain import NormalizerChain


def build(serialized: str) -> Engine:
    """Return the engine of a tokenizer, serialized as a tokenizer.json.

    Raises UnsupportedError or VocabularyError with the reason if bpe does not give the same ids.
    """
    file = json.loads(serialized)
    processor = post_processor.read(Value(file["post_processor"], "post_processor"))
    # `processor` replaces the post_processor. Truncation and padding are arguments of the engine.
    file |= {"truncation": None, "padding": None, "post_processor": None}
    vocab = file["model"].get("vocab")
    decoder = file["decoder"]
    if why := why_words_differ(Value(file["pre_tokenizer"], "pre_tokenizer")):
        raise UnsupportedError(why)
    # The ids are those of a tokenizer that exists, but the library tokenizers may give an added
    # token another id when it loads this file.
    spec = huggingface.read(Value(file, ""), trusts_ids=True)
    if spec.preset is None:
        raise UnsupportedError(spec.why_no_preset)
    tokenizer = Tokenizer(
        spec.vocabulary,
        spec.preset,
        added_tokens=spec.added_tokens,
        normalizer=spec.normalizer,
        add_prefix_space=spec.add_prefix_space,
        decoder=spec.decoder,
    )
    _check_strips(tokenizer)
    names = {id: text for text, id in vocab.items()}
    words = _whole_words(tokenizer, vocab) if file["model"].get("ignore_merges") else []
    engine = Engine(tokenizer, processor, names, Decoding(tokenizer, names, decoder), words)
    engine.is_kept_by_copies = _keeps_ids(tokenizer, vocab)
    return engine


def _keeps_ids(tokenizer: Tokenizer, vocab: dict[str, int]) -> bool:
    """Return whether a copy of the real tokenizer surely has the same ids.

    The library copies a tokenizer through its file. If ids of the model have gaps, the copy may
    give other ids to added tokens, and versions of the library disagree on these ids.
    """
    contents = [token.content for token in tokenizer.added_tokens]
    has_gaps = max(vocab.values(), default=-1) >= len(vocab)
    if has_gaps and not vocab.keys() >= set(contents):
        return False
    return assigned_ids(contents, vocab) == [token.id for token in tokenizer.added_tokens]


def _whole_words(tokenizer: Tokenizer, vocab: Collection[str]) -> list[str]:
    """Return the `words` of an Engine whose model ignores merges; `vocab` has its tokens.

    Raises UnsupportedError if text may become such a word although special tokens are not treated
    as text: the token must be a word in the text, or a normalizer may change text to it.
    """
    words = []
    normalizer = tokenizer.normalizer
    # A normalizer that only makes marks of spaces makes no word without marks.
    makes_marks = spaces_of(normalizer, tokenizer.added_tokens) is not None
    for token in tokenizer.added_tokens:
        if token.special and token.content in vocab:
            is_stable = makes_marks and not token.normalized and SPACE_MARK not in token.content
            if token.single_word or not (normalizer is None or is_stable):
                raise UnsupportedError(
                    f"special token {token.content!r} may be ordinary text and a whole word"
                )
            words.append(token.content)
    return words


def _check_strips(tokenizer: Tokenizer) -> None:
    """Raise UnsupportedError if tokenizers may panic where bpe drops an added token.

    It panics if the white space after a token with `rstrip` includes a whole token with `lstrip`.
    """
    if not any(token.rstrip for token in tokenizer.added_tokens):
        return
    normalizer = tokenizer.normalizer
    for token in tokenizer.added_tokens:
        content = token.content
        if token.normalized and isinstance(normalizer, NormalizerChain):
            content = normalizer.normalize(content)
        if token.lstrip and not content.strip():
            raise UnsupportedError(
                f"added token {token.content!r} is white space with lstrip, and another one has "
                "rstrip; tokenizers panics if they overlap"
            )
