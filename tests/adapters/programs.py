"""Possible answers of a model to "read two numbers, print their sum", by their expected result."""

from __future__ import annotations

INPUTS = ["1 2\n", "4 4\n", "10 -3\n"]
OUTPUTS = ["3\n", "8\n", "7\n"]
RIGHT = "print(sum(map(int, input().split())))"
SLOW = "import time\ntime.sleep(1.5)\n" + RIGHT  # right, and long enough under way to be disturbed
CODE = {
    "right": RIGHT,
    "wrong": "print(3)",  # right for the first test only
    "late": "while True: pass",
    "crashing": RIGHT + "\nraise SystemExit(1)",
    "broken": "print(",
}


def answer(code: str) -> str:
    """Return the program as a model's answer."""
    return f"I add them.\n```python\n{code}\n```\nThat is all."


ANSWERS = {name: answer(code) for name, code in CODE.items()} | {"silent": "I do not know."}

# as data sets have them
COLUMNS = {"inputs": INPUTS, "outputs": OUTPUTS}
NOTHING_PASSES = {"type": "stdin", "input": INPUTS[0], "output": "nan"}
BAD_TEST = {"tests": [NOTHING_PASSES], "checker": {"type": "numbers"}}
