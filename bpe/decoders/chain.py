"""Define DecoderChain, the decoder of a tokenizer.json, and ChainDecoder, which applies it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex

from bpe.decoders.decode import IdStream, list_ids, no_bytes, one_or_several
from bpe.decoders.flows import Flow
from bpe.decoders.steps import ByteLevel, Fuse, Replace, Spaces, Strip, TokenStep
from bpe.decoders.text_decoder import TextDecoder
from bpe.encoding.python_backend import Backend, unknown_id
from bpe.encoding.utf8 import ESCAPE
from bpe.errors import UnsupportedError
from bpe.normalizers.growth import find_excess

_MAX_CACHED_GROWTH = 4
"""A cache of changed tokens takes memory in proportion to this number.

Published decoders do not grow tokens.
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
        return find_excess(self.by_token, "token")[0] <= _MAX_CACHED_GROWTH

    def flows(self, errors: str) -> list[Flow]:
        """Return new flows of the steps after `by_token`.

        ByteLevel and Fuse join all tokens into one, so all flows after them take the parts of one
        token.
        """
        return self.all_flows(errors)[len(self.by_token) :]

    def all_flows(self, errors: str) -> list[Flow]:
        """Return new flows of all steps."""
        flows = []
        in_parts = False
        for step in self.steps:
            flows.append(step.flow(errors, in_parts))
            in_parts = in_parts or isinstance(step, (ByteLevel, Fuse))
        return flows


class ChainDecoder(TextDecoder):
    """Decodes ids with a DecoderChain. `texts` returns the text of each token by its id."""

    def __init__(
        self,
        chain: DecoderChain,
        texts: Callable[[], Mapping[int, str]],
        backend: Backend,
        special: Collection[int],
    ) -> None:
        super().__init__(backend, special)
        self.chain = chain
        self._texts = texts
        # The texts of tokens after the steps `by_token`, if these steps grow them little.
        self._cache: dict[int, str] = {}
        self._caches = chain.is_growth_small

    def _stream(self, errors: str, skip_special: bool, continuation: bool) -> IdStream:
        return ChainDecodeStream(self, errors, skip_special, continuation)

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

    def rendered(self) -> dict[int, bytes]:
        """Return the text of each token after all steps, as for a token between other tokens.

        After the tokens are joined, a step treats all text as one token; its ends are then
        elsewhere.
        """
        tokens: dict[int, bytes] = {}
        for id, text in self._texts().items():
            for flow in self.chain.all_flows(ESCAPE):
                text = flow.middle(text)
            tokens[id] = text.encode("utf-8", ESCAPE)
        return tokens

    def _by_token(self, text: str) -> str:
        for step in self.chain.by_token:
            (text,) = step.flow("strict", False).feed(text)
        return text


class ChainDecodeStream(IdStream):
    """Decodes ids as they come, and holds back only text that later ids may change."""

    def __init__(
        self, decoder: ChainDecoder, errors: str, skip_special: bool, continuation: bool
    ) -> None:
        super().__init__(no_bytes, errors)
        self._chain = decoder
        self._skip_special = skip_special
        self._flows = decoder.chain.flows(errors)
        for flow in self._flows if continuation else ():
            flow.skip_start()

    def feed(self, ids: SupportsIndex | Iterable[int]) -> str:
        """Return the text that `ids`, one id or several, complete.

        Raises UnknownTokenError for an id that no token has, and then leaves the stream unchanged.
        """
        tokens = self._chain.tokens(one_or_several(ids), self._skip_special)
        for flow in self._flows:
            tokens = [part for token in tokens for part in flow.feed(token)]
        return "".join(tokens)

    def finish(self) -> str:
        """Return the text that is held back."""
        super().finish()
        tokens: list[str] = []
        for flow in self._flows:
            tokens = [part for token in tokens for part in flow.feed(token)] + flow.finish()
        return "".join(tokens)
