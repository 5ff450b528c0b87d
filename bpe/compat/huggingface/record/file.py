"""Define File, a tokenizer.json as it was read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from bpe.compat.huggingface.record.added_token import FLAGS, AddedToken
from bpe.formats.huggingface import added_tokens, check_model
from bpe.formats.json_value import Value
from bpe.formats.lengths_json import read_padding, read_truncation
from bpe.formats.native_readers import open_native, parse_rest
from bpe.formats.normalizer_json import for_byte_level, read
from bpe.normalizers.chain import NormalizerChain
from bpe.once import once
from bpe.text_ids import TextIds


class File:
    """A tokenizer.json. Immutable; copies of a tokenizer share it."""

    def __init__(self, data: bytes) -> None:
        """Read the file.

        Raises VocabularyError if it is malformed, UnsupportedError if its model is not BPE.
        """
        self.data = data
        self.native = native = open_native(data)
        """The parts of the file that C++ has read; None if Python must read it."""
        file = parse_rest(data, native)
        model = file["model"]
        check_model(model)
        if model["dropout"].value:
            raise model["dropout"].unsupported("dropout makes ids random; set it to null")
        self.vocab: Mapping[str, int] = (
            model["vocab"].object() if native is None else TextIds(native)
        )
        self.truncation = read_truncation(file["truncation"])
        self.padding = read_padding(file["padding"])
        self.post_processor: Value = file["post_processor"]
        self._normalizer_json = file["normalizer"]
        self.added = [
            AddedToken(token.content, **{name: getattr(token, name) for name in FLAGS})
            for token in added_tokens(file["added_tokens"])
        ]
        """The added tokens, without their ids."""

    @once
    def digest(self) -> bytes:
        """A hash of the file."""
        return blake2b(self.data).digest()

    @once
    def names(self) -> dict[int, str]:
        """The text of each token of the model by its id; do not change it."""
        return {id: text for text, id in self.vocab.items()}

    def json(self, parts: dict[str, Any], pretty: bool) -> str:
        """Return the file in which `parts` replace members."""
        if pretty:
            return json.dumps(json.loads(self.data) | parts, ensure_ascii=False, indent=2)
        members, model = self._texts
        return f'{_compact(members | parts)[:-1]},"model":{model}}}'

    @once
    def _texts(self) -> tuple[dict[str, Any], str]:
        """The members of the file without the model, and the JSON of the model."""
        members = json.loads(self.data)
        return members, _compact(members.pop("model"))

    def normalized(self, token: AddedToken) -> str:
        """Return the text of an added token as it is found in normalized text."""
        steps = self._normalizer
        return steps.normalize(token.content) if token.normalized and steps else token.content

    @once
    def _normalizer(self) -> NormalizerChain | None:
        return for_byte_level(read(self._normalizer_json))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
