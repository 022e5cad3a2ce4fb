r"""Statements write bounds in LaTeX, HTML or plain text: `1 \leq n \leq 2\cdot 10^5`, `1 &lt;= n`, `n ≤ 100\,000`.

Read as it stands, the last of these is 100, and the first one 2.
"""

from __future__ import annotations

import html
import re

_GAP = r"\\[,;:! ]|~|[\u2009\u202f\xa0]"
_THOUSANDS = re.compile(rf"(?<=\d)(?:{_GAP}|\{{,\}})(?=\d{{3}}(?!\d))")
_SIGNS = (
    (
        re.compile(r"\\(?:sub)*section\*?\{([^{}]*)\}|<h[1-6]\b[^>]*>(.*?)</h[1-6]>"),
        r"\n\1\2\n",
    ),  # a heading has its own line
    (re.compile(r"\\(Input|Output)File\b"), r"\n\1\n"),  # of Polygon's
    (re.compile(r"\\(?:leqslant|leqq|leq|le)(?![A-Za-z])"), "≤"),
    (re.compile(r"\\lt(?![A-Za-z])"), "<"),
    (re.compile(r"\\(?:cdot|times)(?![A-Za-z])"), "·"),
    (re.compile(r",\s*(?:\\[lc]?dots[bc]?|…|\.\.\.)\s*,"), ","),
    (re.compile(rf"{_GAP}|\$"), " "),
)


def plain(statement: str) -> str:
    """Return a statement with one sign for each relation and product, plain headings, and without gaps in numbers.

    Args:
        statement: Text, perhaps with LaTeX or HTML in it.
    """
    text = _THOUSANDS.sub("", html.unescape(statement))
    for found, sign in _SIGNS:
        text = found.sub(sign, text)
    return text
