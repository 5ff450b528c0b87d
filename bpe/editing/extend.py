"""Add tokens for words, and the merges that make them."""

from __future__ import annotations

from collections.abc import Iterable

from bpe.byte_level import to_text
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.editing.grow import free_ids, with_tokens
from bpe.encoding.utf8 import decode_utf8, has_surrogates
from bpe.errors import VocabularyError, shortened
from bpe.tokenizer import Tokenizer
from bpe.training.initial import Initial, InitialWords
from bpe.training.pre_tokens import PreTokens
from bpe.types import NewIds
from bpe.vocabulary import ID_LIMIT


def extend(tokenizer: Tokenizer, words: Iterable[str], new_ids: NewIds) -> Tokenizer:
    """Do the work of Tokenizer.extend."""
    if isinstance(words, (str, bytes)):
        raise TypeError(f"words is one {type(words).__name__}; pass [word] for one word")
    listed = list(dict.fromkeys(words))
    free_ids(tokenizer, new_ids, 1)  # checks new_ids
    pre_tokens = _pre_tokens(tokenizer, listed)
    lacking = [
        pre_token for word, pre_token in zip(listed, pre_tokens, strict=True)
        if not _is_token(tokenizer, word)
    ]  # fmt: skip
    if tokenizer.vocabulary.ignore_merges:
        made = _with_whole(tokenizer, lacking, new_ids)
    else:
        made = _with_merges(tokenizer, lacking, new_ids)
    for word in listed:
        ids = made.encode(word)
        if len(ids) != 1:
            parts = [made.decode([id]) for id in ids]
            raise VocabularyError(
                f"{shortened(word)} stays {shortened(parts)}; no merges join them, because the "
                "vocabulary has no token for a character of it, or drops the character"
            )
        if made.decode(ids) != word:
            raise VocabularyError(
                f"{shortened(word)} would get a token that stands for "
                f"{shortened(made.decode(ids))}, because the normalizer changes it or a character "
                "of it has no token; pass this text instead"
            )
    return made


def _is_token(tokenizer: Tokenizer, word: str) -> bool:
    """Return whether the word is one token, and not a token for unknown characters."""
    ids = tokenizer.encode(word)
    return len(ids) == 1 and tokenizer.decode(ids) == word


def _pre_tokens(tokenizer: Tokenizer, words: list[str]) -> list[bytes]:
    """Return the one pre-token of each word.

    Raises ValueError or TypeError for a word that is not one pre-token, with its parts.
    """
    find = PreTokens(tokenizer, tokenizer.pre_tokenizer, tokenizer.backend)
    found = []
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"a word is of type {type(word).__name__}; expected a str")
        if not word or has_surrogates(word):
            raise ValueError(f"word {word!a:.60}; expected a non-empty str without surrogates")
        pre_tokens, added = find.of(word, "allow")
        if added:
            names = [token.content for token in tokenizer.added_tokens if token.id in added]
            raise VocabularyError(
                f"{shortened(word)} has the added token {shortened(names[0])} in it, which is "
                "matched before any merge; leave it out"
            )
        if len(pre_tokens) != 1:
            parts = [decode_utf8(part) for part in pre_tokens]
            raise VocabularyError(
                f"{shortened(word)} is split into {shortened(parts)}, and merges do not cross "
                "pre-tokens; pass these parts as separate words"
            )
        found += pre_tokens
    return found


def _with_whole(tokenizer: Tokenizer, words: list[bytes], new_ids: NewIds) -> Tokenizer:
    """Return the tokenizer with a token for each pre-token, which needs no merge."""
    vocabulary = tokenizer.vocabulary
    if isinstance(vocabulary, TextVocabulary) and vocabulary.options.byte_level:
        texts = [to_text(word) for word in words]
    elif isinstance(vocabulary, AnyCharacterVocabulary):
        texts = [decode_utf8(word) for word in words]
    else:
        texts = [word.decode("latin-1") for word in words]
    ids = free_ids(tokenizer, new_ids, len(texts))
    return with_tokens(tokenizer, dict(zip(ids, texts, strict=True)), ())


def _with_merges(tokenizer: Tokenizer, words: list[bytes], new_ids: NewIds) -> Tokenizer:
    """Return the tokenizer with the merges that training on the pre-tokens makes."""
    initial = Initial.of(tokenizer, new_ids, "huggingface", tokenizer.vocab_size)
    chars = {char for word in words for char in decode_utf8(word)}
    required = "".join(char for char in chars if not "\ud800" <= char <= "\udfff")
    pre_tokens = [(word, 1) for word in words]
    rows = InitialWords(initial, tokenizer.backend)
    if initial.takes_characters:
        rows.add_characters(pre_tokens, 1.0, required)
    rows.add(pre_tokens)
    trainer = rows.trainer("huggingface", 0, None)
    trainer.step(ID_LIMIT)
    return rows.tokenizer(trainer)
