"""What a model is asked, where a data set has a statement and no prompt: our own sentences, as evaluation has them."""

from __future__ import annotations

from collections.abc import Iterable

BY_STDIN = (
    "Solve this problem with a Python program that reads standard input and prints to standard output. "
    "Give the whole program in one fenced code block."
)
BY_CALL = (
    "Solve this problem in Python. Complete the code that it begins with, and give the whole of it in one fenced "
    "code block."
)
TO_COMPLETE = "Complete this Python function. Give the whole of it, with its imports, in one fenced code block."
TO_WRITE = "Write a Python function for this task. Give the whole of it, with its imports, in one fenced code block."
IN_A_BOX = "Think step by step, and put the final answer in \\boxed{}."


def to_solve(statement: str, starter: str = "", function: str = "") -> str:
    """A program, or with a starter (or a function's name) what it begins."""
    if starter.strip():
        return f"{BY_CALL}\n\n{statement.strip()}\n\n{fenced(starter)}"
    if function:
        return f"{TO_WRITE}\n\n{statement.strip()}\n\nThe function is called `{function}`."
    return f"{BY_STDIN}\n\n{statement.strip()}"


def to_pass(statement: str, assertions: Iterable[str]) -> str:
    """A function that some assertions name, and show."""
    return f"{TO_WRITE}\n\n{statement.strip()}\n\nIt has to pass:\n\n{fenced(chr(10).join(assertions))}"


def with_examples(text: str, examples: Iterable[tuple[str, str]]) -> str:
    """The same, with inputs and outputs shown."""
    shown = [f"Example input:\n{given}\nExample output:\n{wanted}" for given, wanted in examples]
    return "\n\n".join([text, *shown])


def fenced(code: str) -> str:
    """In a block."""
    return f"```python\n{code.strip(chr(10)).rstrip()}\n```"
