"""Define AddedToken, and AddedTokens, which gives ids to the added tokens of a tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bpe.compat.huggingface.record import rust

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_READ_ONLY = ("single_word", "lstrip", "rstrip", "normalized")


class AddedToken:
    """A token that is searched for literally, as tokenizers.AddedToken.

    `normalized` is the opposite of `special` unless it was given. Only `content` and `special` can
    be changed.
    """

    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    special: bool

    def __init__(self, content: str = "", /, **options: Any) -> None:
        values = {"content": content, **options}
        flags = {name: rust.flag(values.pop(name)) for name in FLAGS if name in values}
        vars(self).update(
            {name: flags.get(name, False) for name in FLAGS},
            content=rust.text(values.pop("content")),
            normalized=flags.get("normalized"),
        )
        rust.ignore(values)

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return not self.special if name == "normalized" and value is None else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _READ_ONLY:
            raise AttributeError(
                f"attribute {name!r} of 'tokenizers.AddedToken' objects is not writable"
            )
        convert = {"content": rust.text, "special": rust.flag}.get(name)
        vars(self)[name] = value if convert is None else convert(value)

    def _values(self) -> tuple[Any, ...]:
        return self.content, *(getattr(self, name) for name in FLAGS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        names = "rstrip", "lstrip", "single_word", "normalized", "special"
        flags = ", ".join(f"{name}={getattr(self, name)}" for name in names)
        return f'AddedToken("{self.content}", {flags})'

    def __getstate__(self) -> dict[str, Any]:
        return dict(zip(("content", *FLAGS), self._values(), strict=True))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def copy(self) -> AddedToken:
        """Return an equal token."""
        return AddedToken(**self.__getstate__())


class AddedTokens:
    """The added tokens of a tokenizer, with the ids that tokenizers 0.23 gives them.

    A token of the model keeps its id. The first new token of a call of `add` gets the number of
    tokens of the model, or one more than the largest id of an added token before this call. Each
    further one gets the next id.
    """

    def __init__(self, model: Mapping[str, int], tokens: Iterable[AddedToken]) -> None:
        """`model` has the ids of the model's tokens."""
        self._model = model
        self._next = len(model)
        """The id of the first new token of the next call."""
        self.by_id: dict[int, AddedToken] = {}
        self.ids: dict[str, int] = {}
        """The id of each added token by its content."""
        self.add(tokens)

    def add(self, tokens: Iterable[AddedToken]) -> int:
        """Add tokens; return the number of tokens that were not there with the same flags."""
        count, new = 0, self._next
        for token in tokens:
            id = self.ids.get(token.content)
            if not token.content or (id is not None and self.by_id[id] == token):
                continue
            if id is None:
                id = self._model.get(token.content)
            if id is None:
                id, new = new, new + 1
            self._next = max(self._next, id + 1)
            self.ids[token.content] = id
            self.by_id[id] = token.copy()
            count += 1
        return count

    def listed(self) -> list[dict[str, Any]]:
        """Return the added_tokens of a tokenizer.json."""
        return [{"id": id, **token.__getstate__()} for id, token in sorted(self.by_id.items())]
