"""Block quotes and list items of a Markdown text: removes their markers and indentation from a line."""

from __future__ import annotations

import re

FENCE_INDENT = 3
TAB = 4
QUOTE = 0  # a container that is a block quote; any other number is a list item's indentation in columns
_ITEM = re.compile(r"([-+*]|[0-9]{1,9}[.)])( +|$)")


def item_width(column: int, body: str) -> int | None:
    """Return the indentation of the contents of a list item that begins with this line; None if none does.

    Args:
        column: indentation of the line, in columns.
        body: the line without its indentation.
    """
    found = _ITEM.match(body)
    if found is None:
        return None
    blanks = len(found[2])
    # text indented by four columns or more is an indented code block
    return column + len(found[1]) + (blanks if 1 <= blanks <= TAB else 1)


def inner_line(line: str, containers: list[int]) -> str | None:
    """Return a line without the markers and indentation of its containers; None if it is not in all of them.

    Args:
        line: the line.
        containers: QUOTE for a block quote, the indentation in columns for a list item; outermost first.
    """
    for width in containers:
        body = line.lstrip(" ")
        if width == QUOTE:
            if len(line) - len(body) > FENCE_INDENT or not body.startswith(">"):
                return None
            line = body[1:].removeprefix(" ")
        elif not line.strip(" \t"):
            line = ""
        else:
            line = _expanded(line, width)
            if line[:width].strip(" "):
                return None
            line = line[width:]
    return line


def _expanded(line: str, width: int) -> str:
    """Replace leading tabs by blanks, if there is a tab in the first columns."""
    if "\t" not in line[:width]:
        return line
    body = line.lstrip(" \t")
    return line[: len(line) - len(body)].expandtabs(TAB) + body
