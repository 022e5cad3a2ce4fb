"""Slow mutants: they say what the program says, and need longer."""

from __future__ import annotations

import ast
import random
from typing import Any

import pytest

from sandbox_service.strengthen import mutants
from sandbox_service.strengthen.slow_operators import SLOW_OPERATORS


@pytest.mark.parametrize(
    ("code", "operator"),
    [
        ("for i in range(n):\n    a.append(i)", "loop in a loop"),
        ("if x in seen:\n    pass", "linear membership"),
        ("@lru_cache(maxsize=None)\ndef f(n):\n    return n", "lost memory"),
        ("y = bisect.bisect_left(a, x)", "linear search"),
    ],
)
def test_slow_mutants_say_the_same(code: str, operator: str) -> None:
    start = "import bisect\nfrom functools import lru_cache\nn, a, x, seen = 3, [1, 2, 4], 2, {2}\n"
    [made] = mutants.of(start + code, 9, random.Random(0), SLOW_OPERATORS)
    assert made.operator == operator
    before, after = dict[str, Any](), dict[str, Any]()
    exec(start + code, before)
    exec(made.code, after)
    assert [after.get(name) for name in ("a", "y", "x")] == [before.get(name) for name in ("a", "y", "x")]
    assert ast.dump(ast.parse(made.code)) != ast.dump(ast.parse(start + code))
