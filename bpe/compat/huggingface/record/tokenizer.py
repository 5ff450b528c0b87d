"""Define Tokenizer, which keeps what a tokenizers.Tokenizer stores, but does not encode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bpe import UnsupportedError
from bpe.compat.huggingface.record import rust
from bpe.compat.huggingface.record.added_token import AddedToken, AddedTokens
from bpe.compat.huggingface.record.file import File
from bpe.formats.lengths_json import write_padding, write_truncation
from bpe.types import Padding, Truncation

_COMPONENTS = ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder")
_LACKED = ("train", "train_from_iterator", "post_process")
_STRATEGIES = ("longest_first", "only_first", "only_second")
_FILE = "tokenizer.json"


class Tokenizer:
    """The file, the added tokens and the settings of a tokenizer, as tokenizers.Tokenizer.

    Each method has the signature, the result and the errors of tokenizers 0.23.3.
    """

    file: File
    """The file that was read."""
    changes: int
    """The number of changes of the added tokens."""
    _added: AddedTokens
    _truncation: Truncation | None
    _padding: Padding | None
    _encode_special_tokens: bool

    def __init__(self, model: Any) -> None:
        raise UnsupportedError(
            "expected a file, because a model alone needs tokenizers 0.22 or 0.23; call from_file "
            "or from_str"
        )

    @classmethod
    def _of(cls, file: File, added: list[AddedToken]) -> Tokenizer:
        self = cls.__new__(cls)
        self.file = file
        self._added = AddedTokens(file.vocab, added)
        self._truncation, self._padding = file.truncation, file.padding
        self._encode_special_tokens = False
        self.changes = 0
        return self

    @classmethod
    def from_buffer(cls, buffer: bytes) -> Tokenizer:
        """Parse the bytes of a tokenizer.json."""
        [data] = rust.instances([buffer], bytes, "bytes")
        file = File(data)
        return cls._of(file, file.added)

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """Parse a tokenizer.json."""
        return cls.from_buffer(rust.text(json).encode())

    @classmethod
    def from_file(cls, path: str) -> Tokenizer:
        """Read a tokenizer.json."""
        return cls.from_buffer(Path(path).read_bytes())

    @classmethod
    def from_pretrained(
        cls, identifier: str, revision: str = "main", token: str | bool | None = None
    ) -> Tokenizer:
        """Read the tokenizer.json of a local folder, or of a repository of the Hugging Face Hub."""
        if Path(identifier, _FILE).is_file():
            return cls.from_file(str(Path(identifier, _FILE)))
        try:
            from huggingface_hub import hf_hub_download
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"expected a folder with a {_FILE}, got {identifier!r}; to load from the Hugging "
                "Face Hub, run `pip install huggingface_hub`"
            ) from None
        path = hf_hub_download(identifier, _FILE, revision=revision, token=token)
        return cls.from_file(path)

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The arguments of `enable_truncation`; None if nothing is truncated."""
        return None if self._truncation is None else self._truncation._asdict()

    @property
    def padding(self) -> dict[str, Any] | None:
        """The arguments of `enable_padding`; None if nothing is padded."""
        return None if self._padding is None else self._padding._asdict()

    @property
    def encode_special_tokens(self) -> bool:
        """True if special tokens in a text are ordinary text."""
        return self._encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._encode_special_tokens = rust.flag(value)

    def enable_truncation(self, max_length: int, **options: Any) -> None:
        """Truncate encodings to `max_length` ids."""
        limit = rust.size(max_length)
        stride = rust.size(options.pop("stride", 0))
        strategy = rust.text(options.pop("strategy", "longest_first"))
        if strategy not in _STRATEGIES:
            raise ValueError(
                f"Unknown `strategy`: `{strategy}`. Use one of `longest_first`, `only_first`, or "
                "`only_second`"
            )
        direction = rust.direction(options.pop("direction", "right"), ".")
        rust.ignore(options)
        added = self.num_special_tokens_to_add(False)
        effective = (limit - added) % (1 << 64)
        if stride > effective:
            raise ValueError(
                f"tokenizer stride set to {stride}, which is greater than or equal to its "
                f"effective max length of {effective} (= {limit} original max length - {added} "
                "added special tokens), "
            )
        self._truncation = Truncation(limit, stride, strategy, direction)

    def no_truncation(self) -> None:
        """Truncate nothing."""
        self._truncation = None

    def enable_padding(self, **options: Any) -> None:
        """Pad encodings to a length, or to that of the longest one of a batch."""
        length = options.pop("length", options.pop("max_length", None))
        multiple = options.pop("pad_to_multiple_of", None)
        self._padding = Padding(
            length=None if length is None else rust.size(length),
            direction=rust.direction(options.pop("direction", "right")),
            pad_id=rust.id_number(options.pop("pad_id", 0)),
            pad_token=rust.text(options.pop("pad_token", "[PAD]")),
            pad_type_id=rust.id_number(options.pop("pad_type_id", 0)),
            pad_to_multiple_of=None if multiple is None else rust.size(multiple),
        )
        rust.ignore(options)

    def no_padding(self) -> None:
        """Pad nothing."""
        self._padding = None

    def add_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens; return the number of tokens that are new or have other flags."""
        return self._add(tokens, False)

    def add_special_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens and make them special; return as `add_tokens`."""
        return self._add(tokens, True)

    def _add(self, tokens: Any, special: bool) -> int:
        added = []
        for token in rust.listed(tokens):
            if isinstance(token, str):
                token = AddedToken(token, special=special)
            elif not isinstance(token, AddedToken):
                raise TypeError("Input must be a List[Union[str, AddedToken]]")
            elif special:
                token.special = True
            added.append(token)
        self.changes += 1
        return self._added.add(added)

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Return a copy of each added token by its id."""
        return {id: token.copy() for id, token in sorted(self._added.by_id.items())}

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the id of each token."""
        added = self._added.ids if rust.flag(with_added_tokens) else {}
        return {**self.file.vocab, **added}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens."""
        vocab = self.file.vocab
        added = self._added.ids if rust.flag(with_added_tokens) else {}
        return len(vocab) + sum(content not in vocab for content in added)

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token; None if there is no such token."""
        id = self._added.ids.get(rust.text(token))
        return self.file.vocab.get(token) if id is None else id

    def id_to_token(self, id: int) -> str | None:
        """Return the token with an id, an added token as it is found in text.

        Returns None if there is no such token.
        """
        token = self._added.by_id.get(rust.id_number(id))
        return self.file.names.get(id) if token is None else self.file.normalized(token)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many ids the template of the post-processor adds."""
        # This module is part of those that post_processor imports.
        from bpe.compat.huggingface.post_processor import read

        return read(self.file.post_processor).added(rust.flag(is_pair))

    def to_str(self, pretty: bool = False) -> str:
        """Return the tokenizer.json."""
        parts = {
            "version": "1.0",
            "truncation": write_truncation(self._truncation),
            "padding": write_padding(self._padding),
            "added_tokens": self.listed_tokens(),
        }
        return self.file.json(parts, rust.flag(pretty))

    def save(self, path: str, pretty: bool = True) -> None:
        """Write the tokenizer.json."""
        Path(rust.text(path)).write_text(self.to_str(pretty), encoding="utf-8", newline="")

    def listed_tokens(self) -> list[dict[str, Any]]:
        """Return the added_tokens of the tokenizer.json."""
        return self._added.listed()

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        """Raise UnsupportedError; DecodeStream calls this for what bpe cannot decode."""
        raise UnsupportedError("bpe does not decode with the decoder of this tokenizer")

    def __getattr__(self, name: str) -> Any:
        if name in _COMPONENTS:
            raise AttributeError(
                f"Tokenizer.{name} needs tokenizers 0.22 or 0.23, because tokenizers 1.0 has no "
                f"components; the JSON is in json.loads(tokenizer.to_str())[{name!r}]"
            )
        if name in _LACKED:
            raise AttributeError(f"Tokenizer.{name} needs tokenizers 0.22 or 0.23")
        raise AttributeError(f"'tokenizers.Tokenizer' object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _COMPONENTS:
            raise AttributeError(
                f"Tokenizer.{name} needs tokenizers 0.22 or 0.23; change it in the tokenizer.json"
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        added = json.dumps([token.content for token in self._added.by_id.values()])
        return f"Tokenizer(vocab_size={self.get_vocab_size()}, added_tokens={added})"

    def __copy__(self) -> Tokenizer:
        copied = Tokenizer._of(self.file, list(self.get_added_tokens_decoder().values()))
        copied._truncation, copied._padding = self._truncation, self._padding
        return copied

    def __deepcopy__(self, memo: Any) -> Tokenizer:
        copied = memo[id(self)] = self.__copy__()
        return copied

    def __reduce__(self) -> Any:
        return Tokenizer.from_str, (self.to_str(),)
