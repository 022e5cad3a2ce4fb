r"""Statements write bounds in LaTeX, HTML or plain text: `1 \leq n \leq 2\cdot 10^5`, `1 &lt;= n`, `n ≤ 100\,000`.

Read as it stands, the last of these is 100, and the first one 2. Statements copied as plain text have lost their
superscripts: `n ≤ 105` stands for 10^5. Bounds that may be such powers are read as powers where the statement writes
none with a sign.
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
    (re.compile(r"<sup>\s*(\d+)\s*</sup>"), r"^\1"),
    (re.compile(rf"{_GAP}|\$"), " "),
)
_POWER = re.compile(r"10\s*(?:\^|\*\*)")
_EXPONENT = r"([3-9]|1[0-8])(?![\d^]|\.\d)"  # 103 to 109, and 1010 to 1018
_LOST = (
    re.compile(rf"((?:≤|<=?|exceeds?|at most|(?:more|greater|less) than|up to)\s*-?\s?)10{_EXPONENT}"),
    re.compile(rf"([·⋅×*]\s*)10{_EXPONENT}"),
    re.compile(r"([-−]\s?)10([3-9]|1[0-8])(?=\s*(?:≤|<))"),
)


def plain(statement: str) -> str:
    """Return a statement with one sign for each relation, product and power, plain headings, and no gaps in numbers.

    Args:
        statement: Text, perhaps with LaTeX or HTML in it.
    """
    text = _THOUSANDS.sub("", html.unescape(statement))
    for found, sign in _SIGNS:
        text = found.sub(sign, text)
    if not _POWER.search(text):
        for lost in _LOST:
            text = lost.sub(r"\g<1>10^\2", text)
    return text
