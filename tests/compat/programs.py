"""Programs with known results, reading stdin and as functions, and the tests that tell them apart."""

from __future__ import annotations

INPUTS, OUTPUTS = ["1 2\n", "10 20\n", "-3 3\n"], ["3\n", "30\n", "0\n"]
CALLS, RESULTS = [[1, 2], [10, 20], [-3, 3]], [3, 30, 0]
ASSERTIONS = [f"assert add({left}, {right}) == {wanted}" for (left, right), wanted in zip(CALLS, RESULTS, strict=True)]
CHECK = "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(10, 20) == 30\n"

READ = "a, b = map(int, input().split())\n"
STREAMS = {
    "right": READ + "print(a + b)",
    "wrong": READ + "print(a + b if a < 10 else 0)",
    "slow": "while True: pass",
    "crashing": READ + "raise ValueError('no')",
    "broken": READ + "print(a + b",
}
FUNCTIONS = {
    "right": "def add(a, b):\n    return a + b",
    "wrong": "def add(a, b):\n    return a + b if a < 10 else 0",
    "slow": "def add(a, b):\n    while True: pass",
    "crashing": "def add(a, b):\n    raise ValueError('no')",
    "broken": "def add(a, b:\n    return a + b",
    "equal to all": "class Yes:\n    __eq__ = lambda self, other: True\ndef add(a, b):\n    return Yes()",
    "gone": "def add(a, b):\n    raise SystemExit(0)",
}


def fenced(code: str) -> str:
    """Return a model's answer that contains the program."""
    return f"<think>perhaps\n```python\nprint(0)\n```\n</think>\nSo:\n```python\n{code}\n```\nThat is all."
