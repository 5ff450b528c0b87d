"""Check the fields of a manifest, and that they agree with each other.

Everything that reads a corpus, or continues one, relies on these checks: a shard has the name and
the files that `ShardWriter` gives it, and the sizes of its files fit its numbers of tokens and
documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe.corpus.fields import FieldError, fields_of, record, wrong
from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.layouts.layout import NPY_HEADER_SIZE, OFFSETS_SUFFIX
from bpe.corpus.members import OFFSET, TRAIN, VALIDATION, Manifest

_check_types = record(fields_of(Manifest), may_lack=frozenset({"left_out", "progress"}))


def check_manifest(values: Any) -> None:
    """Raise FieldError unless `values` is the JSON of a valid manifest."""
    _check_types(values)
    if values["complete"] == ("progress" in values):
        raise FieldError(f"expected {'no ' * values['complete']}progress", "progress")
    options = values["options"]
    names = {TRAIN, VALIDATION} if options["validation"] else {TRAIN}
    progress = values.get("progress", {})
    is_begun = values["complete"] or "position" in progress
    _check_names(values["splits"], names if is_begun else set(), "splits")
    for split, shards in values["splits"].items():
        first = 0
        for index, shard in enumerate(shards):
            try:
                _check_shard(shard, f"{split}-{index:05}", first, options)
            except FieldError as error:
                raise error.within(f"splits.{split}[{index}]") from None
            first += shard["documents"] - shard["continues"]
        if shards and shards[-1]["continues"] and values["complete"]:
            raise FieldError("the last shard cannot continue", f"splits.{split}")
    if is_begun and not values["complete"]:
        _check_progress(progress, names, values)
    elif not is_begun and len(progress) > 1:
        raise FieldError("the field is missing", "progress.position")
    _check_totals(values, _totals(values["splits"], progress.get("writers", {})), progress)


def _check_names(values: dict[str, Any], names: set[str], path: str) -> None:
    """Raise FieldError unless the names in `values` are `names`."""
    if values.keys() != names:
        raise wrong(sorted(values), f"the splits {sorted(names)}").within(path)


def _check_shard(shard: dict[str, Any], name: str, first: int, options: dict[str, Any]) -> None:
    """Check one shard. It has the name `name`, and begins with document `first`."""
    _check_equal(shard, "name", name)
    _check_equal(shard, "first_document", first)
    tokens, padding, pack = shard["tokens"], shard["padding"], options["pack"]
    if padding and not padding < min(tokens, pack or 0):
        raise wrong(padding, "less than a row of padding").within("padding")
    if pack is not None and tokens % pack:
        raise wrong(tokens, f"whole rows of {pack}").within("tokens")
    if shard["continues"] and (pack is None or not shard["documents"]):
        raise wrong(True, "false: no document continues").within("continues")
    layout, files = LAYOUTS[options["layout"]], shard["files"]
    names = {name + suffix for suffix in (*layout.suffixes, OFFSETS_SUFFIX)}
    if files.keys() != names:
        raise wrong(sorted(files), f"the files {sorted(names)}").within("files")
    sizes = {OFFSETS_SUFFIX: NPY_HEADER_SIZE + OFFSET.itemsize * (shard["documents"] + 1)}
    if layout.is_raw:
        width = np.dtype(options["dtype"]).itemsize
        sizes[layout.suffix] = layout.header_size + tokens * width
    for suffix, size in sizes.items():
        if files[name + suffix]["bytes"] != size:
            problem = wrong(files[name + suffix]["bytes"], f"{size} bytes")
            raise problem.within(f"files[{name + suffix!r}].bytes")


def _check_equal(values: dict[str, Any], name: str, expected: object) -> None:
    """Raise FieldError unless the field `name` has the expected value."""
    if values[name] != expected:
        raise wrong(values[name], repr(expected)).within(name)


def _check_progress(progress: dict[str, Any], names: set[str], values: dict[str, Any]) -> None:
    """Check the progress of a job that has saved a position."""
    file, line = progress["position"]
    files = progress["files"]
    if file != len(values["inputs"]) or file > len(files) or (file == len(files) and line):
        expected = f"a place after the {len(values['inputs'])} finished inputs"
        raise wrong(progress["position"], expected).within("progress.position")
    for index, (item, stamp) in enumerate(zip(values["inputs"], files, strict=False)):
        if item["path"] != stamp[0]:
            raise wrong(item["path"], repr(stamp[0])).within(f"inputs[{index}].path")
    is_shuffled = values["options"]["shuffle"] is not None
    for name in ("writers", "store") if is_shuffled else ("writers",):
        if name not in progress:
            raise FieldError("the field is missing", f"progress.{name}")
        _check_names(progress[name], names, f"progress.{name}")
        for split, state in progress[name].items():
            _check_state(state, f"progress.{name}.{split}")
    for name in ("store", "shuffled"):
        if name in progress and not is_shuffled:
            raise FieldError("a corpus that is not shuffled has no such field", f"progress.{name}")
    if "shuffled" in progress:
        _check_names(progress["shuffled"], names, "progress.shuffled")
    pack, limit = values["options"]["pack"], values["options"]["shard_tokens"]
    for split, state in progress["writers"].items():
        if pack is not None and state["tokens"] > limit:
            expected = f"at most {limit}, which is options.shard_tokens"
            raise wrong(state["tokens"], expected).within(f"progress.writers.{split}.tokens")


def _check_state(state: dict[str, Any], path: str) -> None:
    """Check the state of an open shard."""
    if not state["is_open"]:
        for name in ("tokens", "documents"):
            if state[name]:
                raise wrong(state[name], "0 in a shard that is not open").within(f"{path}.{name}")
    if state["document_start"] > state["tokens"]:
        expected = f"at most {state['tokens']}, the tokens of the shard"
        raise wrong(state["document_start"], expected).within(f"{path}.document_start")
    if state["is_inside"] != (state["tokens"] > state["document_start"]):
        raise wrong(state["is_inside"], f"{not state['is_inside']}").within(f"{path}.is_inside")


Totals = dict[str, tuple[int, int]]
"""The number of documents and of tokens of each split."""


def _totals(splits: dict[str, Any], states: dict[str, Any]) -> Totals:
    """Return the totals of finished shards, and of open shards with `states`."""
    totals = {}
    for split in splits.keys() | states.keys():
        shards = splits.get(split, ())
        state = states.get(split, {"documents": 0, "tokens": 0})
        documents = sum(shard["documents"] - shard["continues"] for shard in shards)
        tokens = sum(shard["tokens"] - shard["padding"] for shard in shards)
        totals[split] = documents + state["documents"], tokens + state["tokens"]
    return totals


def _check_totals(values: dict[str, Any], written: Totals, progress: dict[str, Any]) -> None:
    """Raise FieldError if the numbers of documents or of tokens do not add up."""
    read = written
    if "store" in progress:
        read = _totals({}, progress["store"])
        shuffled = progress.get("shuffled", dict.fromkeys(written, 0))
        for split, (documents, _) in written.items():
            if shuffled[split] != documents or documents > read[split][0]:
                expected = f"{documents}, the documents of the shards"
                raise wrong(shuffled[split], expected).within(f"progress.shuffled.{split}")
    for at, name in enumerate(("documents", "tokens")):
        total = sum(counts[at] for counts in read.values())
        if values[name] != total:
            raise wrong(values[name], f"{total}, the sum of all shards").within(name)
