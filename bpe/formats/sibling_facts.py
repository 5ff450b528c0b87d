"""Read the facts about tokens in the other files of a folder with a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bpe.formats.file_spec import FileSpec
from bpe.formats.files import named, read, utf8_text
from bpe.formats.json_value import Value, parse
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tokenizer_config import FILE_NAME as CONFIG
from bpe.token_facts import TokenFacts

SPECIAL_MAP = "special_tokens_map.json"
GENERATION = "generation_config.json"
TEMPLATE = "chat_template.jinja"
MORE_TEMPLATES = "additional_chat_templates"
_ROLES = {f"{role}_token": role for role in ("bos", "eos", "unk", "pad", "sep", "mask")}


def with_siblings(spec: TokenizerSpec | FileSpec, folder: Path) -> TokenFacts:
    """Return the facts of `spec`, and those of the files in `folder`, which replace them.

    tokenizer_config.json names tokens with roles, as special_tokens_map.json does, and has chat
    templates, unless chat_template.jinja and additional_chat_templates have them.
    generation_config.json has the ids that end a generation. Ignores names and ids that no token
    has. Raises VocabularyError for a file that is malformed.
    """
    find = _finder(spec)
    roles = dict(spec.facts.roles)
    templates: dict[str, str] = {}
    for name in (SPECIAL_MAP, CONFIG):
        with named(folder / name):
            config = _object(folder / name)
            roles.update(_roles(config, find))
            templates = _templates(config["chat_template"]) or templates
    templates = _template_files(folder) or templates
    with named(folder / GENERATION):
        ends = _ends(_object(folder / GENERATION)["eos_token_id"], spec)
    facts = spec.facts
    return replace(
        facts,
        roles=roles,
        ends=ends or facts.ends,
        chat_template=templates.pop("default", None) or facts.chat_template,
        named_templates=templates or facts.named_templates,
    )


def _object(path: Path) -> Value:
    """Return the JSON object in a file, or an empty object if there is no file."""
    if not path.is_file():
        return Value({}, "")
    value = parse(read(path))
    value.object()
    return value


def _finder(spec: TokenizerSpec | FileSpec) -> Callable[[str], int | None]:
    """Return a function from the text of a token to its id."""
    added = {token.content: token.id for token in spec.added_tokens}

    def find(text: str) -> int | None:
        return added[text] if text in added else spec.vocabulary.ids.get(text.encode())

    return find


def _roles(config: Value, find: Callable[[str], int | None]) -> Iterator[tuple[str, int]]:
    for name, role in _ROLES.items():
        token = config[name]
        if token.value is None:
            continue
        text = (token["content"] if type(token.value) is dict else token).text()
        id = find(text)
        if id is not None:
            yield role, id


def _templates(value: Value) -> dict[str, str]:
    """Return the template with the name "default", or the templates of a list by name."""
    if type(value.value) is not list:
        return {} if value.value is None else {"default": value.text()}
    return {item["name"].text(): item["template"].text() for item in value.items()}


def _template_files(folder: Path) -> dict[str, str]:
    files = {path.stem: path for path in sorted((folder / MORE_TEMPLATES).glob("*.jinja"))}
    if (folder / TEMPLATE).is_file():
        files["default"] = folder / TEMPLATE
    templates = {}
    for name, path in files.items():
        with named(path):
            templates[name] = utf8_text(read(path))
    return templates


def _ends(value: Value, spec: TokenizerSpec | FileSpec) -> tuple[int, ...]:
    listed = value.items() if type(value.value) is list else [value]
    ids = {item.number() for item in listed if item.value is not None}
    added = {token.id for token in spec.added_tokens}
    return tuple(sorted(id for id in ids if id in added or _has(spec, id)))


def _has(spec: TokenizerSpec | FileSpec, id: int) -> bool:
    return spec.vocabulary.bytes_of(id) is not None
