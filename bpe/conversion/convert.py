"""Define `convert`, which writes a tokenizer in another format after a proof that ids stay equal.

The bytes of the new files are loaded again, and both tokenizers encode and decode many texts
(`bpe.conversion.texts`). Only if no text differs, the files are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bpe.conversion.difference import find_difference
from bpe.conversion.gguf_into import GgufModel
from bpe.conversion.targets import TARGETS, TargetName, adapted, check_target, target_name
from bpe.conversion.texts import check_count, texts_for
from bpe.errors import ConversionError, UnsupportedError, VocabularyError
from bpe.formats import losses
from bpe.formats.files import named, whole_file
from bpe.formats.gguf_pre import difference_from_llama_cpp
from bpe.formats.tokenizer_config import FILE_NAME as CONFIG
from bpe.loading import PathLike, load
from bpe.tokenizer import Tokenizer
from bpe.types import PresetLike
from pretok.errors import short_path

TEXTS = 2000
"""The number of random texts of a proof."""


@dataclass(frozen=True)
class Conversion:
    """The result of `convert`."""

    format: TargetName
    """The format of the new files."""
    paths: tuple[Path, ...]
    """The new files."""
    texts: int
    """The number of texts whose ids and decoded texts were compared."""
    lost: tuple[str, ...]
    """The parts that changed ids or texts and that `lossy` has omitted."""
    omitted: tuple[str, ...]
    """Other parts that the files do not hold, such as a chat template; ids do not depend on them.
    """
    differences: tuple[str, ...] = ()
    """Sentences that say how llama.cpp itself splits text otherwise than the new GGUF file asks."""


def convert(
    source: PathLike | tuple[PathLike, PathLike] | Tokenizer,
    target: PathLike,
    *,
    format: TargetName | None = None,
    preset: PresetLike | None = None,
    special_tokens: Mapping[str, int] | None = None,
    lossy: bool = False,
    into: PathLike | None = None,
    rows_match: bool = False,
    texts: int = TEXTS,
) -> Conversion:
    """Write the tokenizer `source` to the file `target`, with equal ids for all compared texts.

    `source` is a Tokenizer, or what `bpe.load` accepts; `preset` and `special_tokens` are as in
    `bpe.load`. The name of `target` says the format: ".json" (tokenizer.json), ".model"
    (SentencePiece if tokens are text, else minbpe), ".gguf", ".tiktoken", ".pretok", or a name that
    ends with "vocab.json" (with its merges.txt, and a tokenizer_config.json if there are added
    tokens). `format` replaces it.

    Before a file is written, its bytes are loaded, and the new tokenizer must give the ids and the
    decoded texts of the old one. The compared texts are all tokens of the vocabulary, added tokens
    in context, hard cases, and `texts` random texts. Takes a few seconds for a large vocabulary.

    `into` is a GGUF file, whose tensors and other metadata `target` gets, byte for byte; only the
    tokenizer is replaced. `target` may be the same file. Each token must keep its id, because the
    model has a row of its embedding for each id. `rows_match` omits this check, for a model whose
    rows already are in the order of the new ids.

    Raises ConversionError, which names a text, if a text differs. Raises VocabularyError, which
    names the parts, if the format cannot hold a part of the tokenizer; `lossy` omits the part, and
    the rest is compared. Raises VocabularyError or UnsupportedError if the format cannot hold the
    vocabulary, ValueError for an unknown format, and the errors of `bpe.load`.

    >>> import bpe, tempfile
    >>> tok = bpe.train(["ab", "abc"], vocab_size=258)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = bpe.convert(tok, f"{folder}/tokenizer.json")
    ...     bpe.load(made.paths[0]).encode("abc")
    [257]
    """
    check_count(texts)
    tokenizer = source if isinstance(source, Tokenizer) else load(source, preset, special_tokens)
    path = Path(target)
    name = target_name(path, tokenizer.vocabulary) if format is None else check_target(format)
    if rows_match and into is None:
        raise ValueError("rows_match= needs into=, the model with the rows")
    if into is not None and name != "gguf":
        raise ValueError(f"into= is for GGUF files; the format of {short_path(path)} is {name}")
    spec = adapted(tokenizer.to_spec(), name)
    with named(path):
        TARGETS[name].check(tokenizer.vocabulary)
        if name == "gguf" and into is None:
            GgufModel.check_replaced(path)
        kept = losses.check(spec, TARGETS[name].title, TARGETS[name].holds(spec, path), lossy)
        lost = losses.names(spec, TARGETS[name].holds(spec, path))
        expected = Tokenizer._of_spec(kept, tokenizer.pre_tokenizer) if lost else tokenizer
        model = None if into is None else GgufModel.of(Path(into), kept, rows_match)
        files = TARGETS[name].files(kept, path) if model is None else {path: model.head_only()}
        if name == "vocab.json":
            _check_config(files, path)
        made = _loaded(files, path, expected, TARGETS[name].says_split)
        count = _prove(expected, made, texts, path)
    _write(files, path, model)
    omitted = _omitted(tokenizer, expected, made, TARGETS[name].says_split)
    difference = difference_from_llama_cpp(made.preset) if name == "gguf" else ""
    differences = (difference,) if difference else ()
    return Conversion(name, tuple(files), count, lost, omitted, differences)


def _loaded(
    files: Mapping[Path, bytes], path: Path, expected: Tokenizer, says_split: bool
) -> Tokenizer:
    """Return the tokenizer of `files`, which are written to a temporary folder."""
    with TemporaryDirectory() as folder:
        for file, data in files.items():
            (Path(folder) / file.name).write_bytes(data)
        copy = Path(folder) / list(files)[-1].name
        try:
            if says_split:
                return load(copy)
            added = {token.content: token.id for token in expected.added_tokens}
            has_config = any(file.name.endswith(CONFIG) for file in files)
            return load(copy, expected.pre_tokenizer, None if has_config else added)
        except (VocabularyError, UnsupportedError) as error:
            text = str(error).replace(str(copy), path.name)
            raise VocabularyError(f"the new file would be unreadable: {text}") from None


def _prove(expected: Tokenizer, made: Tokenizer, count: int, path: Path) -> int:
    """Compare both tokenizers; return the number of texts. Raises ConversionError."""
    texts = texts_for([expected, made], count)
    difference = find_difference(expected, made, texts)
    if difference is not None:
        raise ConversionError(
            f"{short_path(path)}: the new file would differ: {difference} (before and after); "
            "nothing was written",
            difference.text,
        )
    for part, ours, theirs in (
        ("the special tokens", expected.special_tokens, made.special_tokens),
        ("the template (add_special_tokens)", expected.template, made.template),
    ):
        if ours != theirs:
            raise VocabularyError(
                f"{part} would change from {ours} to {theirs}; nothing was written"
            )
    return len(texts)


def _check_config(files: Mapping[Path, bytes], path: Path) -> None:
    """Refuse to replace, or to be read with, a tokenizer_config.json that exists."""
    for file in (path.with_name(CONFIG), *files):
        if file.name.endswith(CONFIG) and file.exists():
            raise VocabularyError(
                f"the folder already has a {file.name}, which `load` reads with vocab.json; choose "
                "a folder without one"
            )


def _write(files: Mapping[Path, bytes], path: Path, model: GgufModel | None) -> None:
    """Write all files to temporary files first, so that an error changes none of them."""
    if model is not None:
        with whole_file(path) as file:
            model.write(file)
        return
    with ExitStack() as stack:
        for target, data in reversed(list(files.items())):
            stack.enter_context(whole_file(target)).write(data)


def _omitted(
    tokenizer: Tokenizer, expected: Tokenizer, made: Tokenizer, says_split: bool
) -> tuple[str, ...]:
    """Return the parts without effect on ids that `made` lacks."""
    preset = tokenizer.preset
    roles = [role for role, id in expected.role_ids.items() if made.role_ids.get(role) != id]
    parts: Sequence[tuple[str, bool]] = (
        (f"the split, preset {preset and preset.name!r}", not says_split),
        ("the chat template", not tokenizer.chat_templates.items() <= made.chat_templates.items()),
        (f"the roles {', '.join(roles)}", bool(roles)),
        ("trim_offsets", tokenizer.trim_offsets != made.trim_offsets),
    )
    return tuple(part for part, is_omitted in parts if is_omitted)
