"""The published templates of llama-cpp-python's source package render as in transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import chats
from bpe.chat import ChatTemplateError, render
from support import max_examples, seeded

TEMPLATES = chats.templates()
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
# All chats of the tests are rejected: the template needs variables that transformers lacks.
REJECTED = {"fireworks-ai-llama-3-firefunction-v2"}


def outcome(function: Any, *args: Any, **kwargs: Any) -> str | type:
    """Return a text, or the type of the error, which is one of jinja2 or of Python."""
    try:
        return str(function(*args, **kwargs))
    except ChatTemplateError as error:
        return type(error.__cause__)
    except Exception as error:
        return type(error)


def expected(template: str, messages: Any, **kwargs: Any) -> str:
    utilities = pytest.importorskip("transformers.utils.chat_template_utils")
    texts, _ = utilities.render_jinja_template([messages], chat_template=template, **kwargs)
    return str(texts[0])


def got(template: str, messages: Any, **kwargs: Any) -> str:
    return render(template, messages, special_tokens=SPECIAL, **kwargs).text


@pytest.mark.skipif(not TEMPLATES, reason=chats.missing())
@pytest.mark.parametrize("path", TEMPLATES.values(), ids=TEMPLATES)
def test_texts_equal_those_of_transformers(path: Path) -> None:
    template = path.read_text(encoding="utf-8")
    random = seeded(path.stem)
    accepted = 0
    for _ in range(max_examples(10)):
        arguments = chats.chat(random)
        theirs = outcome(expected, template, **arguments, **SPECIAL)
        assert outcome(got, template, **arguments) == theirs, arguments
        accepted += isinstance(theirs, str)
    assert accepted or path.stem in REJECTED


def test_there_are_at_least_70() -> None:
    if not TEMPLATES:
        pytest.skip(chats.missing())
    assert len(TEMPLATES) >= 70
