"""Make a page of the C header: comments become text, and declarations become code."""

from __future__ import annotations

import re

SECTION = re.compile(r"^/\* ---- (.*?) -+ \*/$", re.MULTILINE)
COMMENT = re.compile(r"^/\*.*?\*/\n", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"\b(?:(?:enum|struct) )?(pretok_\w+)(?=\(| \{|;)")
MACRO = re.compile(r"^#define (\w+)")


def header_page(header: str) -> str:
    """Return the page of pretok.h."""
    opening, _, body = header.partition("#ifndef PRETOK_H\n")
    body = body[body.index("/* The version of the interface in this header.") :]
    first, *rest = SECTION.split(body)
    parts = ["# The C API\n", _text(opening), "\n## Versions and errors\n", *_declarations(first)]
    for title, declarations in zip(rest[::2], rest[1::2], strict=True):
        parts += [f"\n## {title}\n", *_declarations(declarations)]
    return "\n".join(parts) + "\n"


def _text(comment: str) -> str:
    """Return the paragraphs of a comment."""
    lines = comment.strip().removeprefix("/*").removesuffix("*/").split("\n")
    text = "\n".join(re.sub(r"^ *\* ?", "", line).strip() for line in lines)
    return text.replace("*", "\\*").strip()


def _declarations(section: str) -> list[str]:
    """Return each declaration after its comment, below a heading with its name."""
    section = section.partition("#ifdef __cplusplus")[0]
    parts: list[str] = []
    comment = ""
    for code in re.split(f"({COMMENT.pattern})", section, flags=COMMENT.flags):
        if code.startswith("/*"):
            comment = _text(code)
            continue
        for declaration in re.split(r"(?<=;)\n(?=[^\s}])|\n\n+", code.strip()):
            if not declaration.strip():
                continue
            code_text = (
                declaration.strip().replace("PRETOK_API ", "").replace(" PRETOK_NOEXCEPT", "")
            )
            names = NAME.findall(code_text) or MACRO.findall(code_text)
            parts += [f"\n### {names[0]}\n", comment, f"\n```c\n{code_text}\n```"]
            comment = ""
    return parts
