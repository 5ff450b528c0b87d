"""Define TokenFacts, the facts about tokens that samplers and chat servers ask for.

core/encode/token_facts.hpp has the same struct and rules in C++.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Types: TypeAlias = "NDArray[np.uint8]"
Scores: TypeAlias = "NDArray[np.float32]"


class TokenType(IntEnum):
    """The type of a token; the numbers are those of GGUF files and of SentencePiece."""

    UNDEFINED = 0
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


ROLES = ("bos", "eos", "unk", "pad", "sep", "mask", "eot", "eom", "fim_prefix", "fim_suffix",
         "fim_middle", "fim_pad", "fim_repo", "fim_sep")  # fmt: skip
"""The names of the roles of tokens, in the order of `pretok_role` in the C API."""

ROLE_NAMES: dict[str, tuple[str, ...]] = {
    "eot": ("<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>",
            "<|end_of_text|>", "<EOT>", "_<EOT>", "[EOT]", "<｜end▁of▁sentence｜>",
            "<end_of_utterance>"),
    "eom": ("<|eom_id|>",),
    "fim_prefix": ("<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>",
                   "▁<PRE>", "<|code_prefix|>", "<|prefix|>"),
    "fim_suffix": ("<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>",
                   "▁<SUF>", "<|code_suffix|>", "<|suffix|>"),
    "fim_middle": ("<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>",
                   "▁<MID>", "<|code_middle|>", "<|middle|>"),
    "fim_pad": ("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"),
    "fim_repo": ("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"),
    "fim_sep": ("<|file_sep|>",),
}  # fmt: skip
"""The published texts of tokens with a role, for files that do not say their ids. The first text
that a token has counts. Source: llama.cpp (src/llama-vocab.cpp, commit 0c1e57098), which matches
the same texts."""

END_NAMES = (
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>",
    "<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]",
    "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>",
    "<｜end▁of▁sentence｜>", "[e~[", "<|plamo:eos|>",
)  # fmt: skip
"""The published texts of tokens that end a generation, and one more that only a rule below needs.
Source: llama.cpp, as for ROLE_NAMES."""
_END_ROLES = ("eos", "eot", "eom", "fim_pad", "fim_repo", "fim_sep")
_NO_END = "<|plamo:eos|>"
_KNOWN_NAMES = frozenset({*END_NAMES, *(name for names in ROLE_NAMES.values() for name in names)})
MAX_NAME_BYTES = max(len(name.encode()) for name in _KNOWN_NAMES)
"""The size of the longest of all names."""
FIRST_BYTES = frozenset(name.encode()[0] for name in _KNOWN_NAMES)
"""The first bytes of all names."""


def _no_types() -> Types:
    return np.zeros(0, np.uint8)


def _no_scores() -> Scores:
    return np.zeros(0, np.float32)


@dataclass(frozen=True, eq=False)
class TokenFacts:
    """Facts about tokens that a file states. All of them may be absent, and none changes ids.

    `types` and `scores` are by id. An array may be shorter than the vocabulary, and ids beyond its
    end have no type or score in the file.
    """

    types: NDArray[np.uint8] = field(default_factory=_no_types)
    """The TokenType of each id."""
    scores: NDArray[np.float32] = field(default_factory=_no_scores)
    """The score of each id in a model of SentencePiece."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """The ids of tokens by role (ROLES); a role without a token is absent."""
    ends: tuple[int, ...] = ()
    """The ids that end a generation, if a file lists them; ascending."""
    chat_template: str | None = None
    """The chat template in Jinja; never ""."""
    named_templates: Mapping[str, str] = field(default_factory=dict)
    """The other chat templates by name, such as "tool_use"; .pretok files omit them."""
    dropout: float = 0.0
    """The `dropout` of a tokenizer.json. A call that encodes uses it only if it is passed."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenFacts):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __bool__(self) -> bool:
        """Return whether there is any fact."""
        return self._key() != (b"", b"", (), (), None, (), 0.0)

    def _key(self) -> tuple[object, ...]:
        roles = tuple(sorted(self.roles.items()))
        scores = self.scores.astype("<f4").tobytes()
        named = tuple(sorted(self.named_templates.items()))
        types = self.types.tobytes()
        return types, scores, roles, self.ends, self.chat_template, named, self.dropout


def roles_of_names(ids: Mapping[str, int]) -> dict[str, int]:
    """Return the roles that tokens have by their texts; `ids` maps the known texts to ids."""
    roles = {}
    for role, names in ROLE_NAMES.items():
        id = next((ids[name] for name in names if name in ids), None)
        if id is not None:
            roles[role] = id
    return roles


def end_ids(
    listed: Iterable[int], roles: Mapping[str, int], ids: Mapping[str, int]
) -> tuple[int, ...]:
    """Return the ids that end a generation, ascending.

    They are the ids that the file lists (`listed`), the ids with certain roles, and the tokens with
    certain texts. `<|end|>` only ends a message in models that also have `<|return|>` and
    `<|call|>`, or `<|calls|>` and `<|flush|>`. `</s>` is ordinary text in models with
    `<|tool_response>` or `<|plamo:eos|>`. Source of these rules: llama.cpp, as for ROLE_NAMES.
    """
    ends = {*listed}
    ends.update(roles[role] for role in _END_ROLES if role in roles)
    ends.update(ids[name] for name in END_NAMES if name in ids and name != _NO_END)

    def is_end(*names: str) -> bool:
        return any(ids.get(name, -1) in ends for name in names)

    if is_end("<|call|>", "<|calls|>") and is_end("<|return|>", "<|flush|>"):
        ends.discard(ids.get("<|end|>", -1))
    if is_end("<|tool_response>", _NO_END):
        ends.discard(ids.get("</s>", -1))
    return tuple(sorted(ends))


def known_names(tokens: Iterable[tuple[int, str | bytes]]) -> dict[str, int]:
    """Return the lowest id of each known text among `tokens`, pairs of an id and a text."""
    ids: dict[str, int] = {}
    for id, token in tokens:
        text = token if isinstance(token, str) else token.decode("utf-8", "replace")
        if text in _KNOWN_NAMES and id <= ids.get(text, id):
            ids[text] = id
    return ids
