"""Build the tokenizer of a GGUF file whose BPE merges characters.

As in llama.cpp, the only normalization is that spaces become "▁". A symbol is a character, or
several characters that have merged. The value of tokenizer.ggml.model says how symbols merge:

- "llama": two adjacent symbols merge if their joined text is a token. The token with the highest
  score merges first. Added tokens divide a text into parts; by default, each part gets a space
  before it.
- "gemma4": symbols merge only by the listed merges, in the order of the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bpe.characters.marks import BYTE_NAMES, SPACE_MARK
from bpe.characters.merger import TextMerger
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders import steps as decoders
from bpe.decoders.chain import DecoderChain
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.formats.json_value import Value
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Prepend, Replace
from bpe.vocabulary import Merge

MAX_TOKEN = 1 << 12
"""The maximum length of a token in characters.

Each merge joins the texts of two symbols, so merging long tokens is slow.
"""
MAX_BREAKS = 256
"""The maximum length of a token that is a run of line breaks."""


def vocabulary(
    texts: Sequence[str],
    scores: Value,
    bytes_: Iterable[int],
    special: Iterable[int],
    user_defined: Iterable[int],
) -> CharacterVocabulary:
    """Return the vocabulary of `texts`, which are the tokens in order of ids.

    `bytes_` are the ids of fallback tokens. `special` are the ids of control tokens and unknown
    tokens. As in sentencepiece, merges never make these tokens. `user_defined` are the ids of
    user-defined tokens. Raises VocabularyError for malformed scores or fallback tokens, or a token
    of more than MAX_TOKEN characters; UnsupportedError for a special token of one character.
    """
    fallback, reserved = {texts[id]: id for id in bytes_}, frozenset(special)
    missing = [name for name in BYTE_NAMES if name not in fallback]
    if missing or len(fallback) > 256:
        problem = f"lack {missing[0]!r}" if missing else "include other tokens"
        raise VocabularyError(f"the fallback tokens {problem}; expected <0x00> to <0xFF>")
    byte_ids = [fallback[name] for name in BYTE_NAMES]
    tokens = {id: text.encode() for id, text in enumerate(texts) if text}
    tokens |= {id: bytes([byte]) for byte, id in enumerate(byte_ids)}
    for id in reserved:
        if len(texts[id]) == 1:
            raise UnsupportedError(
                f"token {id}, {shortened(texts[id])}, is a special token of one character, which "
                "llama.cpp also finds in ordinary text; bpe does not support such a vocabulary"
            )
    # llama.cpp finds each user-defined token before it merges, so merges see its text only if they
    # write a space as "▁".
    unseen = {id for id in user_defined if len(texts[id]) != 1 and SPACE_MARK not in texts[id]}
    unmade = reserved | unseen
    kept = [id for id in tokens if id not in unmade and texts[id] not in fallback]
    values = [value or 0.0 for value in _scores(scores, len(texts))]  # -0.0 ties with 0.0
    for id in kept:
        if len(texts[id]) > MAX_TOKEN:
            raise VocabularyError(
                f"token {id} has {len(texts[id])} characters; expected at most {MAX_TOKEN}"
            )
    return CharacterVocabulary(tokens, {id: values[id] for id in kept}, byte_ids[0], byte_ids)


def listed_vocabulary(
    texts: Sequence[str], merges: Sequence[Merge], takes_runs: bool
) -> TextVocabulary:
    """Return the vocabulary of `texts`, the tokens in order of ids, with the listed `merges`.

    llama.cpp splits the text for such a model at runs of "\\n". If `takes_runs`, a run that is a
    token becomes this token without merging. Raises UnsupportedError if this gives other ids than
    merging the text.
    """
    pieces = {id: text for id, text in enumerate(texts) if text}
    if not pieces:
        raise VocabularyError("tokens has only empty tokens; expected at least one other token")
    vocabulary = TextVocabulary(pieces, merges, TextOptions(has_fallback=True))
    merger = TextMerger(vocabulary)
    for id in {result for _, _, result in merges}:
        text = texts[id]
        if "\n" in text and text.strip("\n"):
            raise UnsupportedError(
                f"token {id}, {shortened(text)}, has a line break and other characters, which "
                "llama.cpp never merges; bpe does not support such a vocabulary"
            )
    runs = {id: text for id, text in pieces.items() if takes_runs and not text.strip("\n")}
    for id, text in runs.items():
        if len(text) > MAX_BREAKS or merger.merge(text.encode()) != [id]:
            raise UnsupportedError(
                f"llama.cpp encodes {shortened(text)} as token {id}, but the merges make other "
                "tokens of it; bpe does not support such a vocabulary"
            )
    return vocabulary


def normalizer(adds_space: bool) -> NormalizerChain:
    """Return the normalizer; `adds_space` puts a space before a text."""
    marks = Replace(" ", SPACE_MARK)
    return NormalizerChain((Prepend(SPACE_MARK), marks) if adds_space else (marks,))


def decoder(adds_space: bool) -> DecoderChain:
    """Return the decoder; `adds_space` drops a space at the start of a text."""
    spaces = decoders.Replace(SPACE_MARK, " ")
    strip = (decoders.Strip(" ", 1, 0),) if adds_space else ()
    return DecoderChain((spaces, decoders.ByteFallback(), decoders.Fuse(), *strip))


def _scores(scores: Value, count: int) -> list[float]:
    values = scores.values()
    if len(values) != count or set(map(type, values)) != {float}:
        raise scores.malformed(f"{count} numbers, one for each token")
    return values
