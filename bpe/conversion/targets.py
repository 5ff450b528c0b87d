"""Define TARGETS, the formats that `convert` writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.conversion.flags import without_idle_flags
from bpe.errors import UnsupportedError
from bpe.formats import (
    gguf_values,
    gguf_writer,
    gpt2,
    gpt2_writer,
    huggingface_writer,
    minbpe,
    pretok_file,
    sentencepiece,
    sentencepiece_writer,
    tiktoken,
)
from bpe.formats.losses import PARTS
from bpe.formats.pieces_as_text import as_text, with_normalizer
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tokenizer_config import FILE_NAME as CONFIG
from bpe.vocabulary import Vocabulary, no_token_for
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.errors import short_path, shortened

TargetName: TypeAlias = Literal[
    "tokenizer.json", "sentencepiece", "gguf", "tiktoken", "vocab.json", "minbpe", "pretok"
]
"""The name of a format that `convert` writes."""

Files: TypeAlias = "dict[Path, bytes]"


class Target(NamedTuple):
    """A format that `convert` writes."""

    title: str
    """The name of the format in an error."""
    holds: Callable[[TokenizerSpec, Path], frozenset[str]]
    """Returns the parts of the tokenizer that the files can hold; see `bpe.formats.losses`."""
    files: Callable[[TokenizerSpec, Path], Files]
    """Returns the contents of the files; raises VocabularyError or UnsupportedError."""
    tokens: Literal["all bytes", "bytes", "text", "any"] = "any"
    """The tokens that the files can hold; "all bytes" if each byte must be a token."""
    says_split: bool = True
    """True if the files say how to split text."""

    def check(self, vocabulary: Vocabulary) -> None:
        """Raise UnsupportedError if the format cannot hold the tokens of `vocabulary`."""
        is_text = isinstance(vocabulary, AnyCharacterVocabulary)
        is_byte_level = isinstance(vocabulary, TextVocabulary) and vocabulary.options.byte_level
        if self.tokens == "text" and (not is_text or is_byte_level):
            raise UnsupportedError(
                f"the tokens are bytes, and the format {self.title} has only tokens that are text"
            )
        if self.tokens in ("all bytes", "bytes") and is_text and not is_byte_level:
            raise UnsupportedError(
                f"the tokens are text, and the format {self.title} has only tokens that are bytes"
            )
        if self.tokens == "all bytes" and isinstance(vocabulary, TextVocabulary):
            raise UnsupportedError(
                f"the format {self.title} cannot hold this vocabulary: {_why_not_bytes(vocabulary)}"
                "; write a tokenizer.json, a vocab.json or a .pretok file"
            )


def _why_not_bytes(vocabulary: TextVocabulary) -> str:
    """Return why the tokens of a byte-level vocabulary are not those of a Vocabulary."""
    pieces = vocabulary.pieces
    missing = [byte for byte, char in enumerate(BYTE_CHARACTERS) if char not in pieces]
    if missing:
        return no_token_for(missing)
    return "a character of one of its tokens stands for no byte"


def target_name(path: Path, vocabulary: Vocabulary) -> TargetName:
    """Return the format that the name of the file `path` stands for; raises ValueError."""
    if any(path.name.endswith(ending) for pair in gpt2.NAMES.items() for ending in pair):
        return "vocab.json"
    by_suffix: dict[str, TargetName] = {
        ".json": "tokenizer.json",
        ".gguf": "gguf",
        ".tiktoken": "tiktoken",
        ".pretok": "pretok",
    }
    suffix = path.suffix.lower()
    if suffix == ".model":
        return "sentencepiece" if isinstance(vocabulary, AnyCharacterVocabulary) else "minbpe"
    if suffix not in by_suffix:
        raise ValueError(
            f"{short_path(path)}: suffix {shortened(path.suffix)}; expected "
            f"{', '.join(by_suffix)}, .model, or a name that ends with vocab.json; or pass format="
        )
    return by_suffix[suffix]


def check_target(name: str) -> TargetName:
    """Return `name`; raise ValueError if no format has this name."""
    for known in get_args(TargetName):
        if known == name:
            return known  # type: ignore[no-any-return]  # get_args returns Any
    raise ValueError(f"format={shortened(name)}; expected one of {', '.join(TARGETS)}")


def _one(dump: Callable[[TokenizerSpec], bytes]) -> Callable[[TokenizerSpec, Path], Files]:
    return lambda spec, path: {path: dump(spec)}


def _tokenizer_json(spec: TokenizerSpec) -> bytes:
    if isinstance(spec.vocabulary, CharacterVocabulary):
        spec = as_text(spec)
    return huggingface_writer.dump(spec)


def _sentencepiece(spec: TokenizerSpec) -> bytes:
    if isinstance(spec.vocabulary, CharacterVocabulary):
        spec = with_normalizer(spec)
    return sentencepiece_writer.dump(spec)


def _gguf(spec: TokenizerSpec) -> bytes:
    return gguf_values.file_of(gguf_file_entries(spec))


def gguf_file_entries(spec: TokenizerSpec) -> list[bytes]:
    """Return the entries of a GGUF file that holds only the tokenizer."""
    values = {"general.architecture": "llama", **gguf_writer.metadata(spec)}
    return [gguf_values.entry(key, value) for key, value in values.items()]


def _gguf_parts(spec: TokenizerSpec, path: Path) -> frozenset[str]:
    parts = {"added_tokens", "special", "add_prefix_space"}
    if gguf_writer.has_template(spec):
        parts.add("template")
    if isinstance(spec.vocabulary, AnyCharacterVocabulary):
        parts |= {"normalizer", "decoder"}
    return frozenset(parts)


def _sentencepiece_parts(spec: TokenizerSpec, path: Path) -> frozenset[str]:
    return sentencepiece.SentencePieceFormat.holds


def _vocab_parts(spec: TokenizerSpec, path: Path) -> frozenset[str]:
    parts = {"decoder"} if isinstance(spec.vocabulary, TextVocabulary) else set()
    if _pair(path)[2] is not None:
        parts |= {"added_tokens", "flags", "add_prefix_space"}
    return frozenset(parts)


def _pair(path: Path) -> tuple[Path, Path, Path | None]:
    """Return the paths of the vocab.json, of the merges.txt and of the config, by one of them.

    OpenAI's pair of names has no config.
    """
    for vocab, merges in gpt2.NAMES.items():
        for ending in (vocab, merges):
            if path.name.endswith(ending):
                start = path.name.removesuffix(ending)
                config = path.with_name(start + CONFIG) if vocab == gpt2.VOCAB else None
                return path.with_name(start + vocab), path.with_name(start + merges), config
    raise ValueError(
        f"{short_path(path)}: expected a name that ends with vocab.json or merges.txt, because "
        "the two files are found by these names"
    )


def _vocab_files(spec: TokenizerSpec, path: Path) -> Files:
    vocab, merges, config = _pair(path)
    contents = gpt2_writer.dump(spec)
    files = {merges: contents.merges}
    if contents.config is not None and config is not None:
        files[config] = contents.config
    return {**files, vocab: contents.vocab}


TARGETS: dict[TargetName, Target] = {
    "tokenizer.json": Target("tokenizer.json", lambda *_: PARTS, _one(_tokenizer_json)),
    "sentencepiece": Target("SentencePiece", _sentencepiece_parts, _one(_sentencepiece), "text"),
    "gguf": Target("GGUF", _gguf_parts, _one(_gguf)),
    "tiktoken": Target(
        "tiktoken", lambda *_: frozenset(), _one(tiktoken.dump), "all bytes", says_split=False
    ),
    "vocab.json": Target(
        "vocab.json and merges.txt", _vocab_parts, _vocab_files, "bytes", says_split=False
    ),
    "minbpe": Target(
        "minbpe", lambda *_: minbpe.MinbpeFormat.holds, _one(minbpe.dump), "all bytes"
    ),
    "pretok": Target(".pretok", lambda *_: pretok_file.PretokFormat.holds, _one(pretok_file.dump)),
}


def adapted(spec: TokenizerSpec, name: TargetName) -> TokenizerSpec:
    """Return `spec` without flags of added tokens that have no effect, if the format lacks them."""
    if name in ("gguf", "minbpe", "tiktoken"):
        spec = without_idle_flags(spec)
    if name != "tokenizer.json":
        spec = replace(spec, trim_offsets=())
    return spec
