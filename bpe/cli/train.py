"""The command `pretok train`."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click

import bpe
from bpe.cli.pictures import picture_errors, picture_option
from bpe.cli.text_options import counted, ray_engine, warnings_shown, work_options
from bpe.cli.vocabulary import errors_shown, load
from bpe.plots import draw_curves
from bpe.statistics import Curve
from bpe.statistics import curve as curve_of
from bpe.training.corpus import TrainingSource
from pretok.cli.input import open_bytes, shown_path
from pretok.cli.options import options_of
from pretok.cli.output import one_line, write
from pretok.errors import UnknownPresetError
from pretok.preset import Preset

FALLBACK_SUFFIX = ".json"
"""The suffix of the format that can hold every trained vocabulary."""
CURVE_UNITS = ("tokens", "bytes per token")
"""The columns of each text in a .csv file."""
OUTPUT_HELPS = {
    "--vocab-size -n N": "The number of ids.",
    "--output -o OUT": "The file to write or replace: .pretok, .json (tokenizer.json), .tiktoken "
    "or .model (minbpe; SentencePiece with --alphabet characters). Only .pretok holds any preset.",
    "--lossy": "Omit the parts that the format of OUT cannot hold, such as the special tokens in a "
    ".tiktoken file.",
}
INPUT_HELPS = {
    "--held-out FILE": "Also draw --curve for this file, without training on it. Repeat for more.",
    "--preset -p NAME": "The split; see 'pretok presets'.  [default: cl100k]",
    "--special-token special_tokens TOKEN[=ID]": "A special token. Repeat for more. Give an id to "
    "all of them or to none; without ids, they get the last ids.",
}
INITIAL_HELPS = {
    "--initial FILE": "Go on with this tokenizer: its ids and merges stay, and new tokens follow. "
    "--preset is its split, if FILE does not name one.",
    "--new-ids WHERE": "With --initial: 'after' for the ids after the largest one, 'gaps' for the "
    "lowest free ids, or an id to start from.",
}
STAGE2_HELPS = {
    "--stage2 N": "Go on to N ids with tokens that may cross words, as in SuperBPE. FILEs are read "
    "twice.",
    "--stage2-preset NAME": "With --stage2: the split of its texts and of OUT, such as superbpe or "
    "gemma4.  [default: superbpe]",
    "--stage2-words N": "With --stage2: a new token has at most N words; 0 sets no limit.  "
    "[default: 4]",
}
HELPS = {
    "--alphabet": "What to merge. 'characters' works like SentencePiece: a word includes the space "
    "before it.",
    "--byte-fallback": "With --alphabet characters: add 256 tokens, for the bytes of other "
    "characters.",
    "--character-coverage SHARE": "With --alphabet characters: the share of the text that the kept "
    "characters cover. The rarest characters are left out; 1.0 keeps all.",
    "--min-frequency N": "Merge only pairs with at least this count.",
    "--max-token-length N": "Make only tokens of at most N - 1 bytes, or of at most N - 1 "
    "characters with --alphabet characters.  [default: no limit]",
    "--tie-break": "The order of equally frequent pairs: huggingface as in BpeTrainer, first-seen "
    "as in minbpe.",
    "--max-pre-token BYTES": "A longer pre-token is an error.  [default: 16 MB]",
    "--max-text BYTES": "A longer line of a .jsonl file is an error.  [default: 64 MB]",
    "--memory-mb N": "Take at most N million bytes of memory; the rest goes to disk.",
    "--work-dir FOLDER": "Keep the counts in this folder. After an interruption, the same command "
    "goes on there.",
    "--threads N": "[default: as many as are useful]",
}
"""The help of each option that is a parameter of bpe.train."""
READING = ("field", "include", "max_pre_token", "max_text", "threads")
"""The options that say how to read texts."""
BOUNDS = ("memory_mb", "work_dir")
"""The options that bound memory and keep counts."""


@click.command("train")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options_of(OUTPUT_HELPS)
@picture_option("--curve", "the bytes per token of every smaller vocabulary", ".csv")
@options_of(INPUT_HELPS)
@options_of(INITIAL_HELPS)
@options_of(STAGE2_HELPS)
@options_of(HELPS, bpe.train)
@work_options("Count pre-tokens")
def train_command(
    files: tuple[str, ...],
    vocab_size: int,
    output: Path,
    lossy: bool,
    curve: Path | None,
    held_out: tuple[str, ...],
    preset: Preset | None,
    special_tokens: tuple[str, ...],
    ray: str | None,
    quiet: bool,
    stage2_preset: Preset | None,
    stage2: int | None = None,
    stage2_words: int | None = None,
    initial: str | None = None,
    new_ids: str = "after",
    **options: Any,
) -> None:
    """Train a vocabulary on FILEs, and write it to OUT.

    A FILE is a file, a folder or a glob pattern. Each line of a .jsonl file is an object with a
    text; each row of a .parquet file has a text; any other file is one text. Files that also end in
    .gz or .zst are unpacked. Files of folders that are left out are counted by suffix. Standard
    input, '-', is one text, held in memory. Special tokens in the texts are ordinary text.

    The vocabulary has the 256 bytes, merged tokens, and special tokens. Special tokens with an id
    keep it. Bytes, merged tokens and special tokens without an id, in this order, take the
    remaining ids from 0 on. With --alphabet characters, special tokens come first, and the first
    of them is <unk>. With --initial, the vocabulary has the ids of a tokenizer, and new ones. With
    --stage2, tokens of several words follow.

    With --memory-mb or --work-dir, counts are written to a folder, by default a temporary one. The
    vocabulary is the same.

    --curve needs no further training, because a smaller vocabulary has the first merges of the
    larger one. It reads FILEs a second time.
    """
    options |= {
        "vocab_size": vocab_size,
        "preset": preset,
        "special_tokens": _special_tokens(special_tokens),
        "new_ids": int(new_ids) if new_ids.isdecimal() else new_ids,
    }
    if initial is not None:
        options["initial"] = load(initial, preset, options["backend"])
        options["preset"] = None
    if stage2 is not None:
        words = 4 if stage2_words is None else stage2_words or None
        options["stage2"] = bpe.Stage2(stage2, stage2_preset or "superbpe", words)
    elif stage2_preset is not None or stage2_words is not None:
        name = "--stage2-words" if stage2_preset is None else "--stage2-preset"
        raise click.UsageError(f"{name} needs --stage2")
    _check_output("--output", output, files)
    if curve is not None:
        _check_output("--curve", curve, ())
    elif held_out:
        raise click.UsageError("--held-out needs --curve")
    with errors_shown():
        with warnings_shown(False):
            _rehearse(output, options, lossy)
        source = _source(files)
        with warnings_shown(not quiet):
            progress = False if quiet else None
            engine = ray_engine(ray, options["threads"])
            tokenizer = bpe.train(source, progress=progress, engine=engine, **options)
    _save(tokenizer, output, lossy)
    if curve is not None:
        parts = {"training text": source}
        if held_out:
            parts["held-out text"] = _source(held_out)
        reading: dict[str, Any] = {key: options.get(key) for key in READING}
        with errors_shown(), warnings_shown(False):
            curves = {key: curve_of(tokenizer, part, **reading) for key, part in parts.items()}
        _save_curves(curves, curve)
    if not quiet:
        write([f"{one_line(str(output))}: {_summary(tokenizer)}\n"])


def _special_tokens(values: Sequence[str]) -> list[str] | dict[str, int]:
    """Return the special tokens `values`: their ids by token, or a list if none has an id."""
    names: list[str] = []
    ids: dict[str, int] = {}
    for token in values:
        name, _, id = token.rpartition("=")
        if name and id.isascii() and id.isdigit():
            if name in ids:
                raise click.ClickException(f"duplicate --special-token {name!r}; pass it once")
            ids[name] = int(id)
        else:
            names.append(token)
    if names and ids:
        raise click.UsageError(
            f"--special-token {names[0]!r} has no id, but {next(iter(ids))!r} has one; pass "
            "TOKEN=ID for all special tokens, or for none"
        )
    return ids or names


def _check_output(option: str, output: Path, files: Sequence[str]) -> None:
    """Raise click.ClickException if `output` is not a file to write, or is one of `files`."""
    shown = f"{option} {shown_path(str(output))}"
    if output.is_dir():
        raise click.ClickException(f"{shown} is a folder; name a file")
    if output.exists() and not output.is_file():
        raise click.ClickException(f"{shown} is not a regular file; choose another path")
    for file in files:
        if output.exists() and Path(file).exists() and output.samefile(file):
            raise click.ClickException(f"{shown} is one of the FILEs; choose another path")


def _rehearse(output: Path, options: dict[str, Any], lossy: bool) -> None:
    """Train on no texts and save the result, so that errors in saving appear before training."""
    try:
        # Saving keeps a symbolic link and replaces its target, so try the folder of the target.
        place = os.path.dirname(os.path.realpath(output))
        with tempfile.TemporaryDirectory(prefix=".pretok-", dir=place) as folder:
            trial = os.path.join(folder, output.name)
            try:
                options = options | dict.fromkeys(BOUNDS)
                bpe.train([], progress=False, **options).save(trial, lossy=lossy)
            except ValueError as error:
                if isinstance(error, UnknownPresetError):
                    raise
                raise ValueError(str(error).replace(trial, str(output))) from None
    except OSError as error:
        raise click.ClickException(
            f"cannot write {shown_path(str(output))}: {error.strerror}; choose a file in an "
            "existing, writable folder"
        ) from None


def _source(files: Sequence[str]) -> TrainingSource:
    # bpe.train rejects a str that is the name of a file. The text of standard input may be such a
    # name, so pass it as bytes.
    return cast(
        "TrainingSource", [_standard_input() if file == "-" else Path(file) for file in files]
    )


def _standard_input() -> bytes:
    with open_bytes(None, None) as source:
        return b"".join(source.blocks)


def _save(tokenizer: bpe.Tokenizer, output: Path, lossy: bool) -> None:
    try:
        tokenizer.save(output, lossy=lossy)
    except (bpe.VocabularyError, bpe.UnsupportedError) as error:
        # Training may have taken hours, so save the result in a format that can hold it.
        fallback = output.with_name(output.name + FALLBACK_SUFFIX)
        tokenizer.save(fallback)
        raise click.ClickException(
            f"{error}; saved the vocabulary to {shown_path(str(fallback))} instead"
        ) from None


def _save_curves(curves: Mapping[str, Curve], path: Path) -> None:
    """Draw `curves` to `path`, or write their numbers if it ends in .csv."""
    with picture_errors("--curve"):
        if path.suffix.lower() != ".csv":
            draw_curves(curves, path)
            return
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            heads = [f"{unit} of {name}" for name in curves for unit in CURVE_UNITS]
            writer.writerow(["vocabulary", *heads])
            columns = [
                values.tolist()
                for curve in curves.values()
                for values in (curve.tokens, curve.bytes_per_token)
            ]
            sizes = next(iter(curves.values())).sizes.tolist()
            writer.writerows(zip(sizes, *columns, strict=True))


def _summary(tokenizer: bpe.Tokenizer) -> str:
    return counted(
        (tokenizer.vocab_size, "id"),
        (len(tokenizer.merges), "merge"),
        (len(tokenizer.special_tokens), "special token"),
    )
