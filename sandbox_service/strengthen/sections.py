"""Finds the part of a statement that describes the input."""

from __future__ import annotations

import re

_OUTPUT = re.compile(r"^\W*(?:the\s)?output\b", re.IGNORECASE | re.MULTILINE)
_EXAMPLES = re.compile(r"^\W*(?:sample|examples?|notes?)\W*(?:inputs?|tests?|\d+)?\W*$", re.IGNORECASE | re.MULTILINE)
_INPUT = re.compile(r"^\W*(?:the\s)?input\b", re.IGNORECASE | re.MULTILINE)


def before_output(statement: str) -> tuple[str, int]:
    """Return a statement up to the part about the output, and where the part about the input begins.

    Args:
        statement: Text of the problem, as `plain` returns it.
    """
    text = statement[: examples.start()] if (examples := _EXAMPLES.search(statement)) else statement
    text = text[: output.start()] if (output := _OUTPUT.search(text)) else text
    return text, begin.start() if (begin := _INPUT.search(text)) else len(text)


def input_part(statement: str) -> str:
    """Return the part of a statement about the input, empty if it has no such heading."""
    text, start = before_output(statement)
    return text[start:]
