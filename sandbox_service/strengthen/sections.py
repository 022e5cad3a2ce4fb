"""Finds the part of a statement that describes the input."""

from __future__ import annotations

import re

_OUTPUT = re.compile(r"^\W*(?:the\s)?output\b", re.IGNORECASE | re.MULTILINE)
_EXAMPLES = re.compile(r"^\W*(?:sample|examples?|notes?)\W*(?:inputs?|tests?|\d+)?\W*$", re.IGNORECASE | re.MULTILINE)
_INPUT = re.compile(r"^\W*(?:the\s)?input\b", re.IGNORECASE | re.MULTILINE)


def parts_of(statement: str) -> tuple[str, str]:
    """Return the text before the part about the output, and the part of it about the input, if it is told apart.

    Args:
        statement: Text of the problem, as `plain` returns it.
    """
    text = statement[: examples.start()] if (examples := _EXAMPLES.search(statement)) else statement
    text = text[: output.start()] if (output := _OUTPUT.search(text)) else text
    return text, text[begin.start() :] if (begin := _INPUT.search(text)) else ""
