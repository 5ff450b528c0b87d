"""Define ThinCall: `__call__` and `encode` of transformers' tokenizers, for frequent arguments."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from bpe.compat.huggingface import listed, padded, settings, values
from bpe.compat.huggingface.classes import Classes, settle
from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.engine import Engine, pad
from bpe.compat.huggingface.errors import CallFallbackError
from bpe.compat.huggingface.state import KEY
from bpe.compat.huggingface.windows import Padding, Truncation, checked
from bpe.types import Treatment
from pretok.machine.backend import choose_backend

_OPTIONS = frozenset(
    ("add_special_tokens", "padding", "truncation", "max_length", "padding_side",
     "pad_to_multiple_of", "return_tensors", "return_attention_mask", "return_token_type_ids",
     "return_offsets_mapping", "return_special_tokens_mask", "return_length",
     "split_special_tokens", "verbose")
)  # fmt: skip
_SHAPING = _OPTIONS - {"add_special_tokens", "verbose"}
"""The options that only `ThinCall.call` supports."""


class ThinCall:
    """Answers frequent calls. A method returns None if the original method must answer."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes

    def quickest(self) -> Callable[..., Any] | None:
        """Return a function of (tok, text, wants_spans) that does the same as `quick`, but in C++.

        Its only option is return_offsets_mapping. Without the argument wants_spans, it does the
        same as `encode` without options. It returns None for any other argument, and while
        `settings.check` is set. If C++ is not available, `quickest` returns None.
        """
        if choose_backend() != "native":
            return None
        from pretok import _core

        classes = self._classes
        return _core.quick_call(
            KEY, classes.is_plain, classes.batch_encoding, Encoding, Engine.whole, vars(settings)
        )

    def quick(self, tok: Any, text: str, options: dict[str, Any]) -> Any:
        """Return tok(text, **options).

        Also returns None for options other than return_offsets_mapping and add_special_tokens, and
        for the first call of a class or of a tokenizer. The caller then tries `call`.
        """
        adds_special_tokens, wants_spans = True, False
        for name, value in options.items():
            if type(value) is not bool:
                return None
            if name == "return_offsets_mapping":
                wants_spans = value
            elif name == "add_special_tokens":
                adds_special_tokens = value
            else:
                return None
        classes = self._classes
        attributes = tok.__dict__
        real = attributes.get("_tokenizer")
        if real is None or not classes.is_plain.get(type(tok)):
            return None
        state = real.__dict__.get(KEY)
        if state is None:
            return None
        engine: Engine | None = state.engine(real)
        if engine is None or not engine.is_simple:
            return None
        # Attributes in a __dict__ are read from there, since the class of `tok` has a __getattr__,
        # which makes other ways slow. `is_plain` excludes classes with properties of these names.
        split, limit = attributes.get("split_special_tokens"), attributes.get("model_max_length")
        names = attributes.get("model_input_names")
        if type(split) is not bool or limit is None or names is None:
            return None
        treatment: Treatment = "text" if split else "allow"
        spans = None
        if wants_spans:
            encoded = engine.quick_spans(text, treatment, adds_special_tokens)
            if encoded is None:
                return None
            ids, spans = encoded
        else:
            quick_ids = engine.quick(text, treatment, adds_special_tokens)
            if quick_ids is None:
                return None
            ids = quick_ids
        if len(ids) > limit:
            return None
        # `settle` tests the same conditions; testing them here usually saves the call.
        if (
            real.truncation is not None
            or real.padding is not None
            or real.encode_special_tokens != split
        ):
            settle(real, split)
        data: dict[str, Any] = {"input_ids": ids}
        if "token_type_ids" in names:
            data["token_type_ids"] = engine.type_ids(len(ids), adds_special_tokens)
        if "attention_mask" in names:
            data["attention_mask"] = [1] * len(ids)
        if spans is not None:
            data["offset_mapping"] = spans
        state.served += 1
        encoding = Encoding.__new__(Encoding)
        encoding._source = Engine.whole, engine, text, treatment, adds_special_tokens
        cls = classes.batch_encoding
        result = cls.__new__(cls)
        result.data = data
        result._encodings = [encoding]
        result._n_sequences = 1
        return result

    def encode(self, tok: Any, text: Any, options: dict[str, Any]) -> list[int] | None:
        """Return tok.encode(text, **options)."""
        if type(text) is not str:
            return None
        if options:
            if not options.keys() <= _OPTIONS - {"return_tensors"}:
                return None
            if not options.keys().isdisjoint(_SHAPING):
                result = self.call(tok, text, options)
                return None if result is None else result.data["input_ids"]
        served = self._classes.engine(tok)
        if served is None:
            return None
        engine, state, real = served
        adds_special_tokens = options.get("add_special_tokens", True)
        if type(adds_special_tokens) is not bool or not engine.is_simple:
            return None
        split = tok.split_special_tokens
        ids = engine.quick(text, "text" if split else "allow", adds_special_tokens)
        if ids is None:
            return None  # the original method counts this fallback
        settle(real, split)
        _warn(tok, ids, None, options.get("verbose", True))
        state.served += 1
        return ids

    def call(self, tok: Any, text: Any, options: dict[str, Any]) -> Any:
        """Return tok(text, **options)."""
        if not options.keys() <= _OPTIONS:
            return None
        is_batch = type(text) is list
        if is_batch:
            if not text or not all(type(item) is str for item in text):
                return None
        elif type(text) is not str:
            return None
        get = options.get
        tensors = values.tensor_type(get("return_tensors"))
        adds_special_tokens = get("add_special_tokens", True)
        if tensors is None or type(adds_special_tokens) is not bool:
            return None
        served = self._classes.engine(tok)
        if served is None:
            return None
        engine, state, real = served
        split = get("split_special_tokens", tok.split_special_tokens)
        if type(split) is not bool:
            return None
        truncation: Truncation | None = None
        padding: Padding | None = None
        max_length = get("max_length")
        treatment: Treatment = "text" if split else "allow"
        try:
            if "padding" in options or "truncation" in options or max_length is not None:
                truncation, padding, max_length = self._shape(tok, options)
                if real.encode_special_tokens != split:
                    real.encode_special_tokens = split
            else:
                settle(real, split)
            if tensors and is_batch:
                result = self._padded(tok, engine, text, treatment, truncation, padding, options)
                if result is not None:
                    state.served += 1
                    return result
            if is_batch and not tensors and truncation is None:
                result = self._listed(tok, engine, text, treatment, padding, options)
                if result is not None:
                    state.served += 1
                    return result
            rows = engine.rows(text, treatment) if is_batch else [engine.row(text, treatment)]
            encodings = [engine.encoding((row,), adds_special_tokens, truncation) for row in rows]
        except CallFallbackError:
            return None
        if padding is not None:
            pad(encodings, padding)
        for encoding in encodings:
            _warn(tok, encoding._ids, max_length, get("verbose", True))
        data = values.lists(tok, encodings, options)
        if tensors:
            arrays = values.tensors(data, tensors)
            if arrays is None:
                return None
            data = arrays
        elif not is_batch:
            # For one text, transformers unpacks each list but that of "length".
            data = {key: value if key == "length" else value[0] for key, value in data.items()}
        state.served += 1
        return self._classes.result(data, encodings, encodings[0].n_sequences)

    def _padded(
        self,
        tok: Any,
        engine: Engine,
        texts: list[str],
        treatment: Treatment,
        truncation: Truncation | None,
        padding: Padding | None,
        options: dict[str, Any],
    ) -> Any:
        """Return the ids and the mask of a batch as arrays; None if `call` must make the result."""
        get = options.get
        names, mask_option = tok.model_input_names, get("return_attention_mask")
        types = get("return_token_type_ids")
        wants_types = "token_type_ids" in names if types is None else types
        adds_special_tokens = get("add_special_tokens", True)
        if any(map(get, values.RICH)):
            return None
        encoded = padded.encode(engine, texts, treatment, adds_special_tokens, truncation, padding)
        if encoded is None or (truncation is None and encoded[1].shape[1] > tok.model_max_length):
            return None  # `call` warns of long texts
        encodings, ids, mask = encoded
        wrap = values.wrapper(get("return_tensors"))
        data: dict[str, Any] = {"input_ids": wrap(ids)}
        if wants_types:
            if engine.has_types(adds_special_tokens):
                return None
            data["token_type_ids"] = wrap(padded.type_ids(mask, padding))
        if "attention_mask" in names if mask_option is None else mask_option:
            data["attention_mask"] = wrap(mask)
        return self._classes.result(data, encodings, 1)

    def _listed(
        self,
        tok: Any,
        engine: Engine,
        texts: list[str],
        treatment: Treatment,
        padding: Padding | None,
        options: dict[str, Any],
    ) -> Any:
        """Return the values of a batch as lists; None if `call` must make the result."""
        get = options.get
        if get("return_special_tokens_mask") or get("return_length"):
            return None
        names = tok.model_input_names
        types, mask = get("return_token_type_ids"), get("return_attention_mask")
        wants = (
            bool("token_type_ids" in names if types is None else types),
            bool("attention_mask" in names if mask is None else mask),
            bool(get("return_offsets_mapping")),
        )
        adds_special_tokens = get("add_special_tokens", True)
        encoded = listed.encode(engine, texts, treatment, adds_special_tokens, padding, wants)
        if encoded is None or encoded.longest > tok.model_max_length:
            return None  # `call` warns of long texts
        data: dict[str, Any] = {"input_ids": encoded.ids}
        if wants[0]:
            data["token_type_ids"] = encoded.type_ids
        if wants[1]:
            data["attention_mask"] = encoded.masks
        if encoded.spans is not None:
            data["offset_mapping"] = encoded.spans
        return self._classes.result(data, encoded.encodings, 1)

    def _shape(
        self, tok: Any, options: dict[str, Any]
    ) -> tuple[Truncation | None, Padding | None, int | None]:
        """Return the truncation, padding and maximal length that transformers derives."""
        names = ("padding", "truncation", "max_length", "pad_to_multiple_of", "verbose")
        given = {name: options[name] for name in names if name in options}
        strategies = tok._get_padding_truncation_strategies(**given)
        padding_strategy, truncation_strategy, max_length, _ = strategies
        multiple, side = options.get("pad_to_multiple_of"), options.get("padding_side")
        # Leave the same state as transformers. The real tokenizer also checks the values.
        tok.set_truncation_and_padding(
            padding_strategy=padding_strategy,
            truncation_strategy=truncation_strategy,
            max_length=max_length,
            stride=0,
            pad_to_multiple_of=multiple,
            padding_side=side,
        )
        truncation = padding = None  # `index` converts integers of NumPy
        if truncation_strategy != self._classes.no_truncation:
            truncation = checked(
                Truncation(index(max_length), 0, truncation_strategy.value, tok.truncation_side)
            )
        if padding_strategy != self._classes.no_padding:
            padding = Padding(
                index(max_length) if padding_strategy == self._classes.to_max_length else None,
                side if side is not None else tok.padding_side,
                tok.pad_token_id,
                tok.pad_token,
                tok.pad_token_type_id,
                None if multiple is None else index(multiple),
            )
        return truncation, padding, max_length


def _warn(tok: Any, ids: list[int], max_length: int | None, verbose: bool) -> None:
    if max_length is None and len(ids) > tok.model_max_length:
        tok._eventual_warn_about_too_long_sequence(ids, max_length, verbose)
