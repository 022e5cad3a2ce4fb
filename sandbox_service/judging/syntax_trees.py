"""The syntax trees of test programs. Each slot reads a program for two ends one after the other, and parses it once.

One end is the comparison of plain assertions (plain_asserts.py), the other one the selection of programs that know
their tests (known_tests.py).
"""

from __future__ import annotations

import ast
import functools

KEPT = 4  # trees, which take about a hundred times the memory of their text


@functools.lru_cache(maxsize=KEPT)
def parsed(code: str) -> ast.Module:
    """Return the syntax tree of a test program. Nobody may change it.

    Args:
        code: its text, of bounded length.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no program, or too deep.
    """
    return ast.parse(code)
