"""A closed fenced code block of a Markdown text: its place, its tag and its code."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_NAME = 40  # of a language with its version
_VERSION = re.compile(r"(?:\.[0-9]+)+$")


@dataclass(frozen=True, slots=True)
class Block:
    """A closed fenced block, and its place in the text with its fences.

    `source` and `body` locate its lines, which are cut out when they are read.
    """

    start: int
    end: int
    info: str
    source: str
    body: slice
    indent: int

    @property
    def tag(self) -> str:
        """The language in lower case; empty if the fence names none."""
        return tag(self.info)

    @property
    def code(self) -> str:
        """The lines without the indentation of the fence."""
        return _unindented(self.source[self.body], self.indent)


def _unindented(code: str, indent: int) -> str:
    """Return the code without up to `indent` leading blanks on each line."""
    return re.sub(rf"^ {{1,{indent}}}", "", code, flags=re.MULTILINE) if indent else code


def tag(info: str) -> str:
    """Return the language that a fence names, in lower case and without a minor version; empty if it names none.

    Accepts `python`, `Python 3`, `python3.11`, `py,linenos`, `python title="x"`, `python{1,3}`, `{.python #id}`.

    Args:
        info: the text after the fence.
    """
    info = info.strip(" \t").lower()
    words = info.strip("{} \t").split()
    if info.startswith("{"):
        named = [word for word in words if word[0] not in "#" and "=" not in word]
        words = [word for word in named if word[0] == "."] or named
    if not words:
        return ""
    word = re.split(r"[,;:{(\[=]", words[0].lstrip("."), maxsplit=1)[0]
    return _VERSION.sub("", word) if len(word) <= LONGEST_NAME else word
