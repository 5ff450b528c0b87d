"""The encoding of each model of OpenAI, as published in tiktoken 0.14."""

from __future__ import annotations

ENCODING_NAMES = (
    "gpt2",
    "r50k_base",
    "p50k_base",
    "p50k_edit",
    "cl100k_base",
    "o200k_base",
    "o200k_harmony",
)

_MODELS = {
    "gpt2": "gpt2 gpt-2",
    "r50k_base": (
        "davinci curie babbage ada "
        "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 "
        "text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001 "
        "text-similarity-ada-001 "
        "text-search-davinci-doc-001 text-search-curie-doc-001 text-search-babbage-doc-001 "
        "text-search-ada-doc-001 "
        "code-search-babbage-code-001 code-search-ada-code-001"
    ),
    "p50k_base": (
        "text-davinci-002 text-davinci-003 code-davinci-001 code-davinci-002 "
        "code-cushman-001 code-cushman-002 davinci-codex cushman-codex"
    ),
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "cl100k_base": (
        "gpt-4 gpt-3.5 gpt-3.5-turbo gpt-35-turbo davinci-002 babbage-002 "
        "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large"
    ),
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
}

_PREFIXES = {
    "o200k_base": ("o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o"),
    "cl100k_base": (
        "gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 "
        "ft:babbage-002"
    ),
    "o200k_harmony": "gpt-oss-",
}


def _by_name(names: dict[str, str]) -> dict[str, str]:
    """Return the encoding of each name; `names` has the names of each encoding in one str."""
    return {name: encoding for encoding, listed in names.items() for name in listed.split()}


MODEL_TO_ENCODING = _by_name(_MODELS)
# The longest prefixes come first, because "ft:gpt-4o" also begins with "ft:gpt-4".
MODEL_PREFIX_TO_ENCODING = dict(
    sorted(_by_name(_PREFIXES).items(), key=lambda entry: -len(entry[0]))
)


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding of a model, by its name or a known prefix of its name.

    Raises KeyError for an unknown model.

    >>> encoding_name_for_model("gpt-4o-2024-05-13")
    'o200k_base'
    """
    known = MODEL_TO_ENCODING.get(model_name)
    if known is not None:
        return known
    for prefix, encoding in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return encoding
    raise KeyError(
        f"Could not automatically map {model_name} to a tokeniser. Pass the name of an encoding, "
        f"one of {', '.join(ENCODING_NAMES)}, to get_encoding"
    )
