"""Define DecoderChain, the decoder of a tokenizer.json, and ChainDecoder, which applies it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex

from bpe.decoders.decode import DecodeStream, list_ids, no_bytes, one_or_several
from bpe.decoders.flows import Flow, bytes_of_characters, fallback_byte
from bpe.decoders.steps import ByteFallback, ByteLevel, Fuse, Replace, Spaces, Strip, TokenStep
from bpe.decoders.text_decoder import JoinedTexts, TextDecoder
from bpe.encoding.python_backend import unknown_id
from bpe.errors import UnsupportedError
from bpe.normalizers.growth import find_excess

_MAX_PREPARED_STEPS = 8
_MAX_PREPARED_GROWTH = 4
"""Changing all tokens at once takes time and memory in proportion to these numbers.

Published decoders change tokens in one step, and do not grow them.
"""


@dataclass(frozen=True)
class DecoderChain:
    """The decoders of a tokenizer.json, in order.

    Raises UnsupportedError if they grow a token too much (bpe.normalizers.growth).
    """

    steps: tuple[TokenStep, ...]

    def __post_init__(self) -> None:
        if problem := find_excess(self.steps, "token")[1]:
            raise UnsupportedError(f"the decoders {problem}")

    @property
    def by_token(self) -> tuple[TokenStep, ...]:
        """The steps before the first one that is neither a Replace nor a Strip.

        They change each token independently of the other tokens.
        """
        count = 0
        while count < len(self.steps) and isinstance(self.steps[count], (Replace, Strip)):
            count += 1
        return self.steps[:count]

    @property
    def is_growth_small(self) -> bool:
        """True if the steps of `by_token` grow no token much."""
        return find_excess(self.by_token, "token")[0] <= _MAX_PREPARED_GROWTH

    @property
    def strips_joined(self) -> tuple[int, int] | None:
        """The maximum number of spaces to strip at the start and at the end of the joined tokens.

        The steps of `by_token` change each token before the tokens are joined. The result is None
        if the other steps do more than decode bytes, join and strip, so C++ cannot decode. It is
        also None if `by_token` is too costly: before C++ decodes, all tokens are changed at once.
        """
        if len(self.by_token) > _MAX_PREPARED_STEPS or not self.is_growth_small:
            return None
        if any(step.has_regex for step in self.by_token):
            return None
        rest = self.steps[len(self.by_token) :]
        if rest == (ByteLevel(),):
            return 0, 0
        if isinstance(rest[0] if rest else None, ByteFallback):
            rest = rest[1:]
        if not rest:
            return 0, 0
        match rest:
            case (Fuse(),):
                return 0, 0
            case (Fuse(), Strip(" ", start, stop)):
                return start, stop
        return None

    @property
    def has_fallback(self) -> bool:
        """True if tokens such as <0x0A> are bytes."""
        return any(isinstance(step, ByteFallback) for step in self.steps)

    def flows(self, errors: str) -> list[Flow]:
        """Return new flows of the steps after `by_token`.

        ByteLevel and Fuse join all tokens into one, so all flows after them take the parts of one
        token.
        """
        first = len(self.by_token)
        flows = []
        in_parts = False
        for step in self.steps[first:]:
            flows.append(step.flow(errors, in_parts))
            in_parts = in_parts or isinstance(step, (ByteLevel, Fuse))
        return flows


class ChainDecoder(TextDecoder):
    """Decodes ids with a DecoderChain. `texts` returns the text of each token by its id."""

    def __init__(
        self,
        chain: DecoderChain,
        texts: Callable[[], Mapping[int, str]],
        special: Collection[int],
        is_native: bool = False,
    ) -> None:
        super().__init__(special, is_native and chain.strips_joined is not None)
        self.chain = chain
        self._texts = texts
        # The texts of tokens after the steps `by_token`, if these steps grow them little.
        self._cache: dict[int, str] = {}
        self._caches = chain.is_growth_small

    def _joined(self) -> JoinedTexts:
        texts = self._texts()
        changed = list(texts.values())
        for step in self.chain.by_token:
            if isinstance(step, Replace) and not step.is_regex:
                changed = _replace_in_all(changed, step.pattern, step.content)
            else:
                changed = [text for old in changed for text in step.flow("strict", False).feed(old)]
        tokens = dict(zip(texts, map(str.encode, changed), strict=True))
        if self.chain.steps[-1:] == (ByteLevel(),):
            tokens = dict(zip(texts, map(bytes_of_characters, changed), strict=True))
        if self.chain.has_fallback:
            for id, text in zip(texts, changed, strict=True):
                if text.startswith("<0x") and (byte := fallback_byte(text)) is not None:
                    tokens[id] = bytes([byte])
        assert self.chain.strips_joined is not None, "`calls` has checked it"
        return JoinedTexts.of(tokens, *self.chain.strips_joined)

    def _stream(self, errors: str, skip_special: bool) -> DecodeStream:
        return ChainDecodeStream(self, errors, skip_special)

    def decode(self, ids: Iterable[int], errors: str, skip_special: bool) -> str:
        """Return the text of `ids`."""
        if self.chain.steps == (Spaces(),):  # the same text, but faster than with a stream
            return " ".join(self.tokens(ids, skip_special))
        return super().decode(ids, errors, skip_special)

    def tokens(self, ids: Iterable[int], skip_special: bool) -> list[str]:
        """Return the texts of `ids` after the steps `by_token`.

        Raises UnknownTokenError for an id that no token has, and TypeError for an item that is not
        an int.
        """
        sequence = list_ids(ids)
        cache, special = self._cache, self._special if skip_special else frozenset()
        try:
            values = [index(id) for id in sequence]
            changed = cache
            if missing := set(values).difference(cache):
                changed = {id: self._by_token(self._texts()[id]) for id in missing}
        except (TypeError, KeyError):
            raise unknown_id(sequence, dict.fromkeys(self._texts(), b"")) from None
        if self._caches and changed is not cache:
            cache.update(changed)
            changed = cache
        return [changed[id] for id in values if id not in special]

    def _by_token(self, text: str) -> str:
        for step in self.chain.by_token:
            (text,) = step.flow("strict", False).feed(text)
        return text


class ChainDecodeStream(DecodeStream):
    """Decodes ids as they come, and holds back only text that later ids may change."""

    def __init__(self, decoder: ChainDecoder, errors: str, skip_special: bool) -> None:
        super().__init__(no_bytes, errors)
        self._chain = decoder
        self._skip_special = skip_special
        self._flows = decoder.chain.flows(errors)

    def feed(self, ids: SupportsIndex | Iterable[int]) -> str:
        """Return the text that `ids`, one id or several, complete.

        Raises UnknownTokenError for an id that no token has, and then leaves the stream unchanged.
        Raises ValueError after `finish`.
        """
        self._check_open()
        tokens = self._chain.tokens(one_or_several(ids), self._skip_special)
        for flow in self._flows:
            tokens = [part for token in tokens for part in flow.feed(token)]
        return "".join(tokens)

    def finish(self) -> str:
        """Return the text that is held back, and close the stream."""
        super().finish()
        tokens: list[str] = []
        for flow in self._flows:
            tokens = [part for token in tokens for part in flow.feed(token)] + flow.finish()
        return "".join(tokens)


def _replace_in_all(texts: Sequence[str], old: str, new: str) -> list[str]:
    """Return `texts` with `old` replaced by `new` in each.

    >>> _replace_in_all(["a", "ba"], "a", "c")
    ['c', 'bc']
    """
    # One call of str.replace for all texts is faster than one call for each text. It gives the same
    # result if neither `old`, `new` nor a text contains the separator.
    separator = "\x00"
    joined = separator.join(texts)
    if separator in old + new or joined.count(separator) != len(texts) - 1:
        return [text.replace(old, new) for text in texts]
    return joined.replace(old, new).split(separator)
