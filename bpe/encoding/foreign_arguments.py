"""Say what bpe calls the arguments of tiktoken, tokenizers, transformers and sentencepiece."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeAlias, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])
Advice: TypeAlias = Mapping[str, str]
"""Maps the name of a foreign argument to the sentence that follows the error."""

_SPECIAL = 'special= takes "raise", "text", "allow", "plain", "content" or a set of special tokens'
_STAND_IN = "bpe.compat.tiktoken takes the arguments of tiktoken"
_PADDED = "encode_padded takes pad_id=, side=, max_length= and multiple_of="
_SKIP = "the argument is called skip_special="
_PRESET = "the argument is called preset="
_THREADS = "the argument is called threads="
_SPANS = "tokens and token_spans return the spans"
_AROUND = "add_special_tokens= adds the ids before and after a text"
_AS_TEXT = 'special="text" encodes special tokens as ordinary text'
_WORDS = "encode each part of the text"
_UNKNOWN = 'the argument is called unknown_token=, for alphabet="characters"'
_ONE_TEXT = "encode both texts, and join their ids"
_LOCAL = "load reads only files of this machine; bpe.fetch downloads a published vocabulary"
_FIRST = "pass this as the first argument, without a name"
_SAVE = "train returns a Tokenizer, which has the method save(path)"

ENCODE = {
    "allowed_special": f"{_SPECIAL}; {_STAND_IN}",
    "disallowed_special": f"{_SPECIAL}; {_STAND_IN}",
    "split_special_tokens": _AS_TEXT,
    "encode_special_tokens": _AS_TEXT,
    "parse_special": _SPECIAL,
    "add_special": "the argument is called add_special_tokens=",
    "add_bos": _AROUND,
    "add_eos": _AROUND,
    "bos": _AROUND,
    "eos": _AROUND,
    "return_tensors": "encode_array, encode_batch_array and encode_padded return arrays of NumPy",
    "padding": _PADDED,
    "truncation": _PADDED,
    "max_length": _PADDED,
    "stride": "encode_padded cuts texts without an overlap",
    "padding_side": _PADDED,
    "pad_to_multiple_of": _PADDED,
    "return_attention_mask": "encode_padded returns the ids and their mask",
    "return_offsets_mapping": _SPANS,
    "return_length": "count returns the number of ids",
    "pair": _ONE_TEXT,
    "text_pair": _ONE_TEXT,
    "is_pretokenized": _WORDS,
    "is_split_into_words": _WORDS,
    "num_threads": _THREADS,
    "num_workers": _THREADS,
    **dict.fromkeys(
        ("input", "inputs", "sequence", "text_batch", "batch_text_or_text_pairs"), _FIRST
    ),
    "out_type": "encode returns ids, and tokens returns the tokens with their bytes",
}
"""The arguments of calls that encode, each with advice."""
BUDGETS = {
    **ENCODE,
    **dict.fromkeys(("max_length", "max_tokens", "chunk_size"), "the argument is called n="),
    **dict.fromkeys(("stride", "chunk_overlap"), "the argument of chunks is called overlap="),
    "truncation_side": "the argument of truncate is called side=",
}
DECODE = {
    "skip_special_tokens": _SKIP,
    "ignore_special_tokens": _SKIP,
    "remove_special": _SKIP,
    **dict.fromkeys(("token_ids", "tokens", "batch", "sequences", "input"), _FIRST),
    "clean_up_tokenization_spaces": "decode never changes spaces; decode_stream has clean_up=",
    "spaces_between_special_tokens": "decode never adds spaces",
    "num_threads": "decode_batch uses one thread",
}
TRAIN = {
    **dict.fromkeys(("files", "iterator", "text_iterator", "texts", "text", "input"), _FIRST),
    "trainer": "pass the arguments of the trainer, such as vocab_size=",
    "show_progress": "the argument is called progress=",
    "verbose": "the argument is called progress=",
    "pattern": "pass preset=pretok.from_pattern(pattern)",
    "pat_str": "pass preset=pretok.from_pattern(pattern, engine='tiktoken')",
    "pre_tokenizer": _PRESET,
    "initial_alphabet": 'all bytes have ids; alphabet="characters" takes required_characters=',
    "limit_alphabet": 'all bytes have ids; alphabet="characters" takes character_coverage=',
    "user_defined_symbols": "the argument is called special_tokens=",
    "control_symbols": "the argument is called special_tokens=",
    "unk_token": _UNKNOWN,
    "unk_piece": _UNKNOWN,
    "num_threads": _THREADS,
    "model_prefix": _SAVE,
    "model_type": "train finds the merges of BPE only",
    "max_sentence_length": "the argument is called max_text=, in bytes",
}
LOAD = {
    **dict.fromkeys(("path", "name", "tokenizer_file", "vocab_file", "model_file"), _FIRST),
    "pretrained_model_name_or_path": _FIRST,
    "pre_tokenizer": _PRESET,
    "use_fast": "no argument is needed; both backends give the same ids",
    "trust_remote_code": "load runs no code of a model",
    "revision": _LOCAL,
    "token": _LOCAL,
    "cache_dir": _LOCAL,
    "local_files_only": _LOCAL,
    "force_download": _LOCAL,
    "pat_str": "pass preset=pretok.from_pattern(pattern, engine='tiktoken')",
    "pattern": "pass preset=pretok.from_pattern(pattern)",
    "added_tokens": "the argument is called special_tokens=",
    "additional_special_tokens": "the argument is called special_tokens=",
}
TOKENIZER = {"pre_tokenizer": _PRESET, "special_tokens": "the argument is called added_tokens="}


def explained(advice: Advice) -> Callable[[Method], Method]:
    """Return a decorator that adds `advice` to the error for an argument that a function lacks."""

    def decorate(method: Method) -> Method:
        explain = explainer(method, advice)

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            except TypeError:
                error = explain(tuple(kwargs))
                if error is None:
                    raise
                raise error from None

        return call  # type: ignore[return-value]

    return decorate


def explainer(
    method: Callable[..., Any], advice: Advice
) -> Callable[[tuple[str, ...]], TypeError | None]:
    """Return a function from the names of the arguments of a failed call to its error.

    The function returns None if `method` has all these arguments, so its own error is right.
    """

    def explain(names: tuple[str, ...]) -> TypeError | None:
        known = inspect.signature(method).parameters
        for name in names:
            if name not in known:
                hint = f"; {advice[name]}" if name in advice else ""
                called = f"{method.__name__}()"
                return TypeError(f"{called} got an unexpected keyword argument {name!r}{hint}")
        return None

    return explain
