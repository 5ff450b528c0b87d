"""Templates keep trust: each filter, operator and statement, compared with transformers."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import chat
from bpe.chat import ChatTemplateError, Segments, render

# Greek text is that of users, and Latin text that of templates.
CONTENT = "\u03b1<x>\u03b2 \u03b3\n"
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "\u03b4"},
    {"role": "\u03b5", "content": CONTENT, "list": ["\u03b6", 1, None], "map": {"\u03b7": "<x>"}},
]
VALUES: dict[str, Any] = {"extra": "\u03b8<x>", "number": 7}
GREEK = {chr(letter) for letter in range(0x3B1, 0x3CA)}

SHOWN = "0 1 2 3 7 None True False system role content list map"
"""Letters of values that templates show."""

# In these all text of the template stays trusted.
TRACKED = (
    "<x>{{ c }}<x>",
    "{{ '<x>' + c + '<x>' }}",
    "{{ '<x>' ~ c ~ 1 ~ none ~ '<x>' }}",
    "{{ c + '<x>' }}",
    "{{ '<x>' * 2 + c * 2 }}",
    "{{ '<x>%s|%s' % (c, c) }}",
    "{{ '<x>%(a)s%%' % {'a': c} }}",
    "{{ '<x>{}'.format(c) }}",
    "{{ '<x>{a}{b}{{}}'.format(a=c, b=1) }}",
    "{{ '<x>{0!s}{0}'.format(c) }}",
    "{{ '<x>{a}'.format_map({'a': c}) }}",
    "{{ '<x>%s'|format(c) }}",
    "{{ '<x>{0[0]}'.format(l) }}",
    "{{ (' <x>' ~ c ~ ' ')|trim }}",
    "{{ ('<x> ' ~ c).strip('\u03b1') }}",
    "{{ ('<x> ' ~ c).split()|join('-') }}",
    "{{ ('<x>,' ~ c).split(',')[0] }}",
    "{{ c.split('<x>')|join('<x>') }}",
    "{{ ('<x>,' ~ c).rsplit(',', 1)|last }}",
    "{{ ['<x>', c, 1]|join }}",
    "{{ '<x>'.join([c, c]) }}",
    "{{ l|join('<x>') }}",
    "{{ messages|join('<x>', attribute='content') }}",
    "{{ c|replace('<x>', '<y>') }}",
    "{{ c|replace('\u03b1', '<x>') }}",
    "{{ '<x>A'|replace('A', c) }}",
    "{{ c.replace('\u03b1', '<x>', 1) }}",
    "{{ c|replace('', '<x>', 2) }}",
    "{{ ('<x>' ~ c)[1:] }}<x>",
    "{{ ('<x>' ~ c)[0] }}{{ c[-1] }}{{ c[1] }}",
    "{{ ('<x>' ~ c)[::-1] }}",
    "{{ ('<x>' ~ c)|reverse }}",
    "{{ ('<x>' ~ c)|list|join }}",
    "{% for k in '<x>' ~ c %}{{ k }}{% endfor %}",
    "{{ ('<x>\n' ~ c ~ '\nA')|indent(2) }}",
    "{{ ('<x>\n' ~ c)|indent(2, true, true) }}",
    "{{ ('<x>\n' ~ c)|indent('<x>') }}",
    "{{ ('<x>\n' ~ c).splitlines()|join('<x>') }}",
    "{{ ('<x>' ~ c)|string }}",
    "{{ ('<x>' ~ c)|default('<x>') }}",
    "{{ nothing|default('<x>') ~ c }}",
    "{{ '<x>'|safe ~ c }}",
    "{{ c|safe }}",
    "{{ '[x]' + (c|safe) }}",
    "{{ ('[x]'|safe) + 'A' }}",
    "{{ ('<x>' ~ c).partition('<')|join }}",
    "{{ c.rpartition('<x>')[2] }}<x>",
    "{{ ('<x>' ~ c).removeprefix('<x>').removesuffix('\n') }}<x>",
    "{{ ('<x>' ~ c).lstrip().rstrip() }}",
    "{{ ['<x>', c]|map('trim')|join }}",
    "{{ [c, '<x>']|sort|first }}",
    "{{ [c, c]|unique|join('<x>') }}",
    "{% set v = '<x>' %}{{ v }}{% set w = c %}{{ w }}",
    "{% set v %}<x>{{ c }}{% endset %}{{ v }}",
    "{% set v | trim %} <x>{{ c }} {% endset %}{{ v }}",
    "{% filter trim %} <x>{{ c }}{% endfilter %}",
    "{% macro f(a, b='<x>') %}<x>{{ a }}{{ b }}{% endmacro %}{{ f(c) }}{{ f(c, b=c) }}",
    "{% macro f() %}[{{ caller() }}]{% endmacro %}{% call f() %}<x>{{ c }}{% endcall %}",
    "{% set n = namespace(t='') %}{% for m in messages %}{% set n.t = n.t + '<x>' + m.content %}"
    "{% endfor %}{{ n.t }}",
    "{% for m in messages[1:] %}{{ m['content'] }}<x>{{ loop.index }}{% if loop.last %}<x>"
    "{% endif %}{% endfor %}",
    "{% for x in ['<x>', c, c] %}{{ [loop.index, loop.index0, loop.revindex, loop.revindex0,"
    " loop.first, loop.last, loop.length, loop.depth, loop.depth0, loop|length]|join(' ') }}"
    "{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('<x>', c) }}{{ loop.changed(x) }}"
    "{% endfor %}",
    "{% for x in [['<x>', c], c] recursive %}{{ loop.depth }}{{ loop.last }}"
    "{% if x is string %}{{ x }}{% else %}{{ loop(x) }}{% endif %}{% endfor %}",
    "{% for x in ('<x>', c) %}{{ x }}{{ loop.last ~ loop.length }}{{ loop.nextitem }}{% endfor %}",
    "{% for x in range(3) if x != 1 %}{{ loop.index }}<x>{{ loop.length }}{% endfor %}",
    "{% for x in [] %}{{ loop.index }}{% else %}<x>{{ c }}{% endfor %}",
    "{% for x in [1, 2] %}{% for y in ['<x>', c] %}{{ y }}{{ loop.index }}{% endfor %}"
    "{{ loop.index }}{% endfor %}",
    "{{ [nothing is defined, c is defined, m.nothing is undefined, none is none, nothing is none,"
    " c is not none, m.nothing is defined]|join(' ') }}<x>",
    "{{ number % 2 }}{{ 'x' if number % 2 == 1 }}<x>",
    "{% if false %}{{ c|nothing }}{% endif %}{% if false and c is nothing %}{% endif %}<x>",
    "{% if true %}{% set v = '<x>' %}{% endif %}{{ v }}{% for i in [1, 2] %}{{ v }}"
    "{% set v = c %}{{ v }}{% endfor %}{{ v }}",
    "{% set v = '<x>' %}{% macro f() %}{{ v }}{{ w }}{% endmacro %}{% set w = c %}{{ f() }}",
    "{% set v = '<x>' %}{% block b %}{{ v }}{{ c }}{% set v = c %}{% endblock %}{{ v }}",
    "{% for k, v in m.map.items() %}{{ k }}<x>{{ v }}{% endfor %}",
    "{% for k in m.map %}{{ k }}<x>{% endfor %}",
    "{% for k, v in m.map|dictsort %}{{ k }}<x>{{ v }}{% endfor %}",
    "{{ m.map.keys()|list|join('<x>') }}",
    "{% for k, v in m|items %}{{ k }}<x>{% endfor %}",
    "{{ m.map|list|first }}<x>",
    "{% generation %}<x>{{ c }}{% endgeneration %}",
    "{{ '<x>' if '<x>' in c else c }}",
    "{% if c.startswith('\u03b1<x>') and m.role == '\u03b5'"
    " and c | length == 7 %}<x>{{ c }}{% endif %}",
    "{{ {'a': '<x>'}['a'] ~ {'a': c}.a ~ ('<x>', c)[0] ~ ['<x>'][0] }}",
    "{{ [['<x>']]|first|first }}",
    "{% for a in ['<x>', 'b'] %}{{ a }}{{ c }}{% endfor %}",
    "{{ ['<x>', c]|select('string')|list|last }}<x>",
    "{{ cycler('<x>', c).next() }}",
    "{% set j = joiner('<x>') %}{{ j() }}{{ c }}{{ j() }}",
    "{% with v = '<x>' ~ c %}{{ v }}{% endwith %}",
    "{{ dict(a='<x>' ~ c).a }}",
    "{{ ('<x>' ~ c)|upper|lower }}",
    "{{ bos_token ~ c ~ bos_token }}",
    "{{ extra }}<x>{{ number }}",
    "{{ m.get('content', '<x>') }}<x>",
    "{% block b %}<x>{{ c }}{% endblock %}",
    "{{ c|truncate(4, true, '<x>') }}",
    "{{ c|tojson }}<x>{{ m|tojson }}",
    "{{ m|tojson(indent=2) }}<x>{{ tools|tojson }}",
    "{{ {'a': c, 'b': [1, c]}|tojson(separators=(',', ':')) }}<x>",
    "{{ c }}<x>{{ l }}{{ m.map }}{{ none }}{{ true }}{{ 1.5 }}",
    "{{ missing }}<x>",
    "{% if true %}<x>{% endif %}{{ c }}",
)
# In these some of it becomes untrusted.
UNTRACKED = (
    "{{ ('<x>' ~ c)|center(20) }}",
    "{{ '<x>%5s' % c }}",
    "{{ '<x>{:>9}'.format(c) }}",
    "{{ c|upper|title }}",
    "{{ ('<x>' ~ c)|escape }}",
    "{{ ('<x>' ~ c)|e ~ c }}",
    "{{ '<x>' + (c|safe) }}",
    "{{ c|wordcount ~ c|urlencode }}",
    "{{ ('<x>' ~ c)|title }}",
    "{{ ('<x>' ~ c)|capitalize }}",
    "{{ ('<x>' ~ c)|wordwrap(3) }}",
    "{{ c|striptags }}",
    "{{ ('<x>' ~ c).ljust(12) }}",
    "{{ ('<x>' ~ c).center(12, '-') }}",
    "{{ ('<x>' ~ c).zfill(12) }}",
    "{{ ('<x>' ~ c).expandtabs() }}",
    "{{ ('<x>' ~ c).translate({97: '<x>'}) }}",
    "{{ ('<x>' ~ c).encode() }}",
    "{{ ['<x>', c] }}",
    "{{ {'<x>': c} }}",
    "{{ ('<x>' ~ c)|pprint }}",
    "{{ '<x>%r' % (c,) }}",
    "{{ '<x>{!r}'.format(c) }}",
    "{{ '<x>{:{}}'.format(c, 9) }}",
    "{{ '<x>{:{w}}'.format(c, w=9) }}",
    "{{ ('<x>{}' ~ c).format(c) }}",
    "{{ ('%s' ~ c) % c }}",
    "{{ c % () }}",
    "{{ 'a b'|title ~ c }}",
    "{{ c|xmlattr if false else m.map|xmlattr }}",
)


def theirs(template: str, tools: Any = None) -> str:
    utilities = pytest.importorskip("transformers.utils.chat_template_utils")
    rendered, _ = utilities.render_jinja_template(
        [MESSAGES], tools=tools, chat_template=template, bos_token="<x>", **VALUES
    )
    return str(rendered[0])


def ours(template: str, tools: Any = None) -> Segments:
    return render(template, MESSAGES, tools=tools, special_tokens={"bos_token": "<x>"}, **VALUES)


HEAD = "{% set m = messages[1] %}{% set c = m.content %}{% set l = m.list %}"
TOOLS = [
    {
        "type": "function",
        "function": {"name": "\u03b9<x>", "parameters": {"\u03ba": [1, 2.5, None]}},
    }
]


@pytest.mark.parametrize("template", [*TRACKED, *UNTRACKED])
def test_text_and_trust(template: str) -> None:
    template = HEAD + template
    segments = ours(template, TOOLS)
    assert segments.text == theirs(template, TOOLS)
    for (text, special), source in zip(segments, segments.sources, strict=True):
        assert text
        assert special == ("allow" if source is None else "plain")
        if source is None:
            assert not set(text) & set(
                "\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7\u03b8\u03b9\u03ba"
            )
            assert not set(text.lower()) & set(
                "\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7\u03b8\u03b9\u03ba"
            )


@pytest.mark.parametrize("template", TRACKED)
def test_literals_stay_trusted(template: str) -> None:
    """Latin letters, which only templates write, are in no untrusted segment but for JSON."""
    if "tojson" in template or "{{ l }}" in template:
        return
    for (text, special), source in zip(*_with_sources(ours(HEAD + template)), strict=True):
        if special == "plain":
            letters = "".join(source_texts(source)) + SHOWN
            assert all(letter in letters or letter.isspace() for letter in text), (text, source)


def _with_sources(segments: Segments) -> tuple[Segments, list[Any]]:
    return segments, segments.sources


def source_texts(source: tuple[str | int, ...]) -> Iterator[str]:
    """Yield the texts at `source` among the arguments."""
    value: Any = {"messages": MESSAGES, "tools": TOOLS, **VALUES}
    for key in source:
        yield str(key)
        value = value[key]
        if not isinstance(value, (Mapping, list)):
            break
    yield json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value


def test_segments_know_their_sources() -> None:
    template = (
        "{{ messages[1].map|tojson }}{{ messages[1].list[0] }}{{ tools[0].function.name }}"
        "{{ number }}"
    )
    segments = ours(template, TOOLS)
    assert segments.sources == [
        ("messages", 1, "map"), ("messages", 1, "list", 0), ("tools", 0, "function", "name"), (),
    ]  # fmt: skip
    template = "{{ {'name': tools[0].function.name, 'p': tools[0].function.parameters}|tojson }}"
    assert ours(template, TOOLS).sources == [("tools", 0, "function")]


def test_generation_blocks_in_macros() -> None:
    """transformers counts from the start of the text, which is wrong within a macro."""
    template = (
        "{% macro f(m) %}[{% generation %}{{ m.content }}<e>{% endgeneration %}]{% endmacro %}"
        "{% set t = f(messages[0]) %}A{{ t }}"
    )
    segments = ours(template)
    parts = list(zip((text for text, _ in segments), segments.is_generated, strict=True))
    assert parts == [("A[", False), ("\u03b4", True), ("<e>", True), ("]", False)]


def test_dates_are_untrusted() -> None:
    segments = ours("<x>{{ strftime_now('%Y<x>') }}")
    assert segments == [("<x>", "allow"), (f"{datetime.now().year}<x>", "plain")]


def test_roles() -> None:
    """A standard role counts as the template's text; any other one does not."""
    for role, policies in (("user", ["allow"]), ("user|><|x", ["allow", "plain", "allow"])):
        segments = render("<|{{ messages[0].role }}|>", [{"role": role, "content": ""}])
        assert [policy for _, policy in segments] == policies


def test_objects_are_messages() -> None:
    @dataclasses.dataclass
    class Message:
        role: str
        content: str

    class Model:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "user", "content": "b", "extra": None}

    class Name(str, enum.Enum):
        FIRST = "first"

    messages: list[Any] = [
        Message("user", "a"), Model(),
        {"role": Name.FIRST, "content": np.int64(3), "x": np.zeros(2), "y": (1, "\u03b1"),
         "extra": None},
    ]  # fmt: skip
    template = (
        "{% for m in messages %}{{ m|tojson }}{{ m.role }}{{ m.x }}{{ m.extra is defined }}"
        "{% endfor %}"
    )
    expected = pytest.importorskip("transformers.utils.chat_template_utils").render_jinja_template
    plain = [
        {"role": "user", "content": "a"}, {"role": "user", "content": "b"},
        {"role": "first", "content": 3, "x": "<ndarray>", "y": (1, "\u03b1")},
    ]  # fmt: skip
    assert render(template, messages).text == expected([plain], chat_template=template)[0][0]


@pytest.mark.parametrize("name", ["reasoning_content", "thinking", "reasoning"])
def test_reasoning_has_three_names(name: str) -> None:
    template = (
        "{{ messages[0].reasoning_content }}{{ messages[0].thinking }}{{ messages[0]|tojson }}"
    )
    messages = [{"role": "assistant", name: "\u03b1", "content": "\u03b2"}]
    utilities = pytest.importorskip("transformers.utils.chat_template_utils")
    if not hasattr(utilities, "_alias_reasoning_fields"):
        pytest.skip("this version of transformers shows reasoning under its own name only")
    segments = render(template, messages)
    assert (
        segments.text == utilities.render_jinja_template([messages], chat_template=template)[0][0]
    )
    assert segments.sources[0] == ("messages", 0, name)


CONTINUED = "{% for m in messages %}<s>{{ m.role }}:{{ m.content|trim }}<e>\n{% endfor %}"


@pytest.mark.parametrize(
    "content", ["a", "a  ", [{"type": "text", "text": "b <e> "}, {"type": "image"}]]
)
@pytest.mark.parametrize("trims", [True, False])
def test_continue_final_message(content: Any, trims: bool) -> None:
    utilities = pytest.importorskip("transformers.utils.chat_template_utils")
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": content}]
    template = (
        CONTINUED
        if isinstance(content, str)
        else CONTINUED.replace("m.content", "m.content[0].text")
    )
    if isinstance(content, list):
        messages[0]["content"] = [{"type": "text", "text": "a"}]
    template = template if trims else template.replace("|trim", "")
    expected = utilities.render_jinja_template(
        [messages], chat_template=template, continue_final_message=True
    )
    assert render(template, messages, continue_final_message=True).text == expected[0][0]


def test_continue_another_field() -> None:
    template = "{{ messages[0].thinking }}</t>{{ messages[0].content }}"
    messages = [{"role": "assistant", "thinking": "a", "content": "b"}]
    assert render(template, messages, continue_final_message="thinking").text == "a"
    template = "{% generation %}{{ messages[0].content }}<e>{% endgeneration %}"
    assert render(template, messages, continue_final_message=True).text == "b"
    for template, field in (("{{ messages[0].content }}", "thinking"), ("x", "none")):
        with pytest.raises(ValueError, match="continue_final_message"):
            render(template, messages, continue_final_message=field)


def test_named_templates() -> None:
    messages = [{"role": "user", "content": ""}]
    templates = {"default": "d", "tool_use": "t", "rag": "r"}
    assert render(templates, messages).text == "d"
    assert render(templates, messages, tools=[]).text == "t"
    assert render(templates, messages, chat_template="rag").text == "r"
    assert render(templates, messages, chat_template="{{ 1 }}").text == "1"
    with pytest.raises(ValueError, match="expected a template with the name 'default'"):
        render({"rag": "r"}, messages)
    with pytest.raises(ValueError, match=r"'chatml'; expected .* the names \['default'"):
        render(templates, messages, chat_template="chatml")


def test_an_undefined_special_token_says_how_to_pass_it() -> None:
    template, messages = "{{ bos_token + 'a' }}", [{"role": "user", "content": ""}]
    with pytest.raises(ChatTemplateError, match=r'pass special_tokens=\{"bos_token": …\}'):
        render(template, messages)
    assert render(template, messages, special_tokens={"bos_token": "<s>"}).text == "<s>a"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
        ("{% if %}", "line 1"),
        ("{{ 'a'|nothing }}", "No filter named 'nothing'"),
        ("{% if true %}{{ 'a'|nothing }}{% endif %}", "No filter named 'nothing' found"),
        ("{% if true and 1 is nothing %}{% endif %}", "No test named 'nothing' found"),
        ("{{ 'a'.__class__.__mro__ }}", "unsafe"),
        ("{{ messages[0].content.__class__.a }}", "unsafe"),
        ("{{ messages.append(1) }}", "unsafe"),
        ("{{ namespace(__class__=1) }}", "without _"),
        ("{% set n = namespace() %}{% set n._a = 1 %}", "without _"),
        ("{{ '{0.__class__.a}'.format(messages[0].content) }}", "unsafe"),
        ("{% autoescape true %}{% endautoescape %}", "autoescape"),
        ("{{ none.a.b }}", "no attribute"),
        ("{{ messages[0].a.b }}", "'dict object' has no attribute 'a'"),
        ("{{ '%s'|format(1, a=2) }}", "got both"),
        ("{{ messages[0].content.a.b }}", "^chat template, line 1: 'str object' has no"),
        ("{{ messages.a.b }}", "'list object' has no attribute 'a'"),
        (
            "{% if true %}\n{{ messages[0].content\n + 1 }}{% endif %}",
            r"line 2: .*: 'str' and 'int'$",
        ),
        ("\n{% for x in 5 %}{% endfor %}", "line 2: 'int' object is not iterable"),
        ("{{ messages[0] + 'a' }}", "'dict' and 'str'"),
        ("{{ 1 // 0 }}", "line 1: .*by zero"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "recursion"),
    ],
)
def test_template_errors(template: str, message: str) -> None:
    with pytest.raises(ChatTemplateError, match=message):
        render(template, MESSAGES)


def test_wrong_arguments() -> None:
    for arguments, kind, message in (
        ({"messages": []}, ValueError, "messages is empty"),
        ({"messages": "hello"}, TypeError, "messages is of type str"),
        ({"messages": ["hello"]}, TypeError, r"messages\[0\] is of type str"),
        ({"tools": [print]}, TypeError, r"tools\[0\] is of type builtin_function"),
        ({"tools": {"a": 1}}, TypeError, "tools is of type dict"),
        ({"documents": ["a"]}, TypeError, r"documents\[0\] is of type str"),
        ({"chat_template": 3}, TypeError, "chat_template=3"),
        ({"add_generation_prompt": True, "continue_final_message": True}, ValueError, "not both"),
    ):
        merged: dict[str, Any] = {"messages": MESSAGES, **arguments}
        with pytest.raises(kind, match=message):
            render("x", **merged)
    with pytest.raises(TypeError, match="or a template, got int"):
        render(3, MESSAGES)  # type: ignore[arg-type]


def test_a_call_leaves_nothing_for_the_next_one(tmp_path: Path) -> None:
    template = (
        "{% set v = extra|default('-') %}{% set extra = 'b' %}{{ v ~ extra }}"
        "{% if v == 'a' %}{% set w = 1 %}{% endif %}{{ w }}"
    )
    bpe.train([], vocab_size=256).save(tmp_path / "tokenizer.json")
    (tmp_path / "chat_template.jinja").write_text(template, encoding="utf-8")
    tok = bpe.load(tmp_path)
    for source in (tok, template, {"default": template}):
        assert render(source, MESSAGES, extra="a").text == "ab1"
        assert render(source, MESSAGES).text == "-b"
    assert render(tok, MESSAGES, chat_template="{{ bos_token is defined }}").text == "False"
    assert render(tok, MESSAGES, special_tokens={"extra": "c"}).text == "cb"


def test_messages_are_not_changed() -> None:
    message = {"role": "user", "thinking": "t", "content": {"a": ["b"]}, "none": None}
    messages = [message]
    before = json.dumps(messages)
    render("{{ messages|tojson }}", messages)
    assert json.dumps(messages) == before
    assert type(message["role"]) is str


def test_public_names() -> None:
    for name in chat.__all__:
        assert hasattr(chat, name)
