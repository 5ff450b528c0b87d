"""Extension of griffe: examples in docstrings become code blocks."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^|(?<=\n\n))>>> .*?(?=\n\n|\Z)", re.DOTALL)


class Doctests(griffe.Extension):
    """Puts the examples of each docstring into a block of code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of `obj`."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
