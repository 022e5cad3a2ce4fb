"""Reads test programs that loop over calls in a text, as `proctor strengthen` writes them, and which are read quickly.

from json import loads
for args, result in loads("[[[1, 2], 3], [[4, 5], 9]]"):
    assert f(*args) == result
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

READERS: dict[tuple[str | None, str], Callable[[str], Any]] = {
    ("json", "loads"): json.loads,
    ("ast", "literal_eval"): ast.literal_eval,
}
"""By module and name, what reads the text."""


@dataclass(frozen=True)
class Loop:
    """The name that is called, rows of arguments and a result, and the assertion about each row."""

    called: str
    rows: list[Any]
    statement: ast.Assert


def looped(body: list[ast.stmt]) -> Loop | None:
    """Return the loop that a test program, or its `check`, is made of; None if it has another form.

    Args:
        body: its statements.

    Raises:
        SyntaxError, ValueError, TypeError, RecursionError, MemoryError: the text cannot be read.
    """
    match body:
        case [
            ast.ImportFrom(module, [ast.alias(reader, None)], 0),
            ast.For(
                ast.Tuple([ast.Name("args"), ast.Name("result")]),
                ast.Call(ast.Name(read), [ast.Constant(str(text))], []),
                [
                    ast.Assert(
                        ast.Compare(
                            ast.Call(ast.Name(called), [ast.Starred(ast.Name("args"))], []),
                            [ast.Eq()],
                            [ast.Name("result")],
                        ),
                        None,
                    ) as statement
                ],
                [],
            ),
        ] if read == reader and (module, reader) in READERS and called not in (reader, "args", "result"):
            rows = READERS[module, reader](text)
            return Loop(called, rows, statement) if isinstance(rows, list) else None
    return None
