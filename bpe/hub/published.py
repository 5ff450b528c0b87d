"""Define PUBLISHED, the vocabularies of tiktoken 0.14.0: their files, presets, special tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from pathlib import Path

from bpe.formats.files import read


@dataclass(frozen=True)
class PublishedFile:
    """A published file: its name in the cache folder, its URL and its sha256."""

    name: str
    url: str
    sha256: str

    def is_in(self, path: Path) -> bool:
        """Return whether the file `path` has this sha256; its line ends may be those of Windows."""
        return has_digest(read(path), self.sha256)


@dataclass(frozen=True)
class PublishedVocabulary:
    """A published vocabulary: its files, its special tokens, and the name of its preset.

    `pretok fetch` downloads `files`. Each of `alternatives` is another set of files with the same
    vocabulary.
    """

    name: str
    files: tuple[PublishedFile, ...]
    preset: str
    special_tokens: Mapping[str, int] = field(hash=False)
    alternatives: tuple[tuple[PublishedFile, ...], ...] = ()

    @property
    def editions(self) -> tuple[tuple[PublishedFile, ...], ...]:
        """All sets of files that hold this vocabulary."""
        return (self.files, *self.alternatives)


def has_digest(data: bytes, digest: str) -> bool:
    r"""Return whether `data` has the sha256 `digest`, as it is or with each "\r\n" as "\n"."""
    if sha256(data).hexdigest() == digest:
        return True
    return b"\r\n" in data and sha256(data.replace(b"\r\n", b"\n")).hexdigest() == digest


_BASE_URL = "https://openaipublic.blob.core.windows.net"
_R50K = PublishedFile(
    "r50k_base.tiktoken",
    f"{_BASE_URL}/encodings/r50k_base.tiktoken",
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
)
_P50K = PublishedFile(
    "p50k_base.tiktoken",
    f"{_BASE_URL}/encodings/p50k_base.tiktoken",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
)
_CL100K = PublishedFile(
    "cl100k_base.tiktoken",
    f"{_BASE_URL}/encodings/cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_O200K = PublishedFile(
    "o200k_base.tiktoken",
    f"{_BASE_URL}/encodings/o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
_GPT2 = (
    PublishedFile(
        "gpt2_vocab.json",
        f"{_BASE_URL}/gpt-2/encodings/main/encoder.json",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    ),
    PublishedFile(
        "gpt2_merges.txt",
        f"{_BASE_URL}/gpt-2/encodings/main/vocab.bpe",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    ),
)

_END = {"<|endoftext|>": 50256}
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_HARMONY = {
    199998: "startoftext", 199999: "endoftext", 200002: "return", 200003: "constrain",
    200005: "channel", 200006: "start", 200007: "end", 200008: "message", 200012: "call",
    200018: "endofprompt",
}  # fmt: skip
_HARMONY_RESERVED = range(200000, 201088)

PUBLISHED: dict[str, PublishedVocabulary] = {
    vocabulary.name: vocabulary
    for vocabulary in (
        # The ranks in r50k_base.tiktoken imply the merges of GPT-2, so gpt2 may use this file, too.
        PublishedVocabulary("gpt2", (_R50K,), "r50k", _END, alternatives=(_GPT2,)),
        PublishedVocabulary("r50k_base", (_R50K,), "r50k", _END),
        PublishedVocabulary("p50k_base", (_P50K,), "r50k", _END),
        PublishedVocabulary(
            "p50k_edit", (_P50K,), "r50k", _END | dict(zip(_FIM, range(50281, 50284), strict=True))
        ),
        PublishedVocabulary(
            "cl100k_base",
            (_CL100K,),
            "cl100k",
            {"<|endoftext|>": 100257}
            | dict(zip(_FIM, range(100258, 100261), strict=True))
            | {"<|endofprompt|>": 100276},
        ),
        PublishedVocabulary(
            "o200k_base", (_O200K,), "o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
        ),
        PublishedVocabulary(
            "o200k_harmony",
            (_O200K,),
            "o200k",
            {f"<|{name}|>": id for id, name in _HARMONY.items()}
            | {f"<|reserved_{id}|>": id for id in _HARMONY_RESERVED if id not in _HARMONY}
            # tiktoken has two names for the id 200018.
            | {"<|reserved_200018|>": 200018},
        ),
    )
}


def vocabulary_of_files(paths: tuple[Path, ...]) -> PublishedVocabulary | None:
    """Return the published vocabulary that the names of `paths` identify, or None.

    A single path may have the name of a vocabulary in PUBLISHED, with the suffix .tiktoken or
    without a suffix. Otherwise `paths` must have the names of all files of one of the `editions` of
    the vocabulary: the published names, or the names in tiktoken's cache.
    """
    names = [path.name for path in paths]
    if len(paths) == 1:
        by_name = PUBLISHED.get(paths[0].stem if paths[0].suffix == ".tiktoken" else names[0])
        if by_name is not None:
            return by_name
    # gpt2 and r50k_base share a file. The name of this file in tiktoken's cache must identify
    # r50k_base, so the loop tries gpt2 last.
    for vocabulary in sorted(PUBLISHED.values(), key=lambda vocabulary: vocabulary.name == "gpt2"):
        for files in vocabulary.editions:
            if names in ([file.name for file in files], [tiktoken_key(file) for file in files]):
                return vocabulary
    return None


def tiktoken_key(file: PublishedFile) -> str:
    """Return the name of the file in tiktoken's cache."""
    return sha1(file.url.encode(), usedforsecurity=False).hexdigest()
