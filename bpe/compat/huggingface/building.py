"""Build the BpeEngine of a tokenizer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bpe import Tokenizer, UnsupportedError
from bpe.characters.marks import SPACE_MARK
from bpe.compat.huggingface import post_processor
from bpe.compat.huggingface.bpe_engine import BpeEngine
from bpe.compat.huggingface.decoding import Decoding, normalized_content
from bpe.compat.huggingface.parts import Parts
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.text_spaces import only_writes_marks
from bpe.formats import huggingface
from bpe.formats.byte_digits import why_words_differ
from bpe.formats.json_value import Value
from bpe.formats.native_readers import open_native, parse_rest
from bpe.formats.tokenizer_config import FLAGS
from bpe.text_ids import TextIds

if TYPE_CHECKING:
    from pretok import _core


def build(
    serialized: bytes,
    added: list[dict[str, Any]] | None = None,
    native: _core.JsonFile | None = None,
) -> BpeEngine:
    """Return the engine of a tokenizer, serialized as a tokenizer.json.

    `added` replaces the added_tokens of the file; `native` is the result of open_native for it.
    Raises UnsupportedError or VocabularyError with the reason if bpe does not give the same ids.
    """
    native = native or open_native(serialized)
    file = parse_rest(serialized, native).object()
    processor = post_processor.read(Value(file.get("post_processor"), "post_processor"))
    # `processor` replaces the post_processor. Truncation and padding are arguments of the engine.
    file |= {"truncation": None, "padding": None, "post_processor": None}
    if added is not None:
        file["added_tokens"] = added
    model = file["model"]
    if why := why_words_differ(Value(file.get("pre_tokenizer"), "pre_tokenizer")):
        raise UnsupportedError(why)
    # The ids are those of a tokenizer that exists, but the library tokenizers may give an added
    # token another id when it loads this file.
    spec = huggingface.read(Value(file, ""), trusts_ids=True, native=native)
    if spec.preset is None:
        raise UnsupportedError(spec.why_no_preset)
    ignore_merges = bool(model.get("ignore_merges"))
    vocab = model.get("vocab") if native is None else TextIds(native)
    parts = Parts(spec, processor, vocab, file.get("decoder"), ignore_merges)
    return _engine(parts, spec.added_tokens)


def build_again(parts: Parts, added: Mapping[int, Any]) -> BpeEngine | None:
    """Return the engine of a tokenizer that differs from that of `parts` only in added tokens.

    `added` are all its added tokens, as get_added_tokens_decoder returns them. Returns None if
    `build` must read the tokenizer. Raises the errors of `build`.
    """
    listed = [
        {"id": id, "content": token.content} | {name: getattr(token, name) for name in FLAGS}
        for id, token in sorted(added.items())
    ]
    tokens = huggingface.added_tokens(Value(listed, "added_tokens"))
    return _engine(parts, tokens) if parts.fit(tokens) else None


def _engine(parts: Parts, added: Sequence[AddedToken]) -> BpeEngine:
    spec = parts.spec
    assert spec.preset is not None, "`build` has checked it"
    if spec.facts.dropout:
        raise UnsupportedError(
            f"model.dropout is {spec.facts.dropout}, which makes ids random; set it to null"
        )
    tokenizer = Tokenizer(
        spec.vocabulary,
        spec.preset,
        added_tokens=added,
        normalizer=spec.normalizer,
        add_prefix_space=spec.add_prefix_space,
        decoder=spec.decoder,
    )
    _check_strips(tokenizer)
    _check_normalized(tokenizer)
    words = _whole_words(tokenizer, parts.vocab) if parts.ignore_merges else []
    return BpeEngine(tokenizer, parts, Decoding(tokenizer, parts), words)


def _whole_words(tokenizer: Tokenizer, vocab: Collection[str]) -> list[str]:
    """Return the `words` of a BpeEngine whose model ignores merges; `vocab` has its tokens.

    Raises UnsupportedError if text may become such a word although special tokens are not treated
    as text: the token must be a word in the text, or a normalizer may change text to it.
    """
    words = []
    normalizer = tokenizer.normalizer
    # A normalizer that only makes marks of spaces makes no word without marks.
    makes_marks = only_writes_marks(normalizer, tokenizer.added_tokens)
    for token in tokenizer.added_tokens:
        if token.special and token.content in vocab:
            is_stable = makes_marks and not token.normalized and SPACE_MARK not in token.content
            if token.single_word or not (normalizer is None or is_stable):
                raise UnsupportedError(
                    f"special token {token.content!r} may be a pre-token of ordinary text, and "
                    "ignore_merges is true"
                )
            words.append(token.content)
    return words


def _check_strips(tokenizer: Tokenizer) -> None:
    """Raise UnsupportedError if tokenizers may panic where bpe drops an added token.

    It panics if the white space after a token with `rstrip` includes a whole token with `lstrip`.
    """
    if not any(token.rstrip for token in tokenizer.added_tokens):
        return
    for token in tokenizer.added_tokens:
        content = normalized_content(tokenizer, token)
        if token.lstrip and not content.strip():
            raise UnsupportedError(
                f"added token {token.content!r} is white space with lstrip, and another one has "
                "rstrip; tokenizers panics if they overlap"
            )


def _check_normalized(tokenizer: Tokenizer) -> None:
    """Raise UnsupportedError if two added tokens are found as the same normalized text.

    The library tokenizers finds either of the two, at random for each of its objects.
    """
    if tokenizer.normalizer is None:
        return
    contents: dict[str, str] = {}
    for token in tokenizer.added_tokens:
        if token.normalized:
            text = normalized_content(tokenizer, token)
            if text in contents:
                raise UnsupportedError(
                    f"added tokens {contents[text]!r} and {token.content!r} are normalized to the "
                    "same text, and tokenizers may find either"
                )
            contents[text] = token.content
