"""Writes prompts for data sets that have only statements, worded as in evaluation."""

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
NAMES = {
    "cpp": "C++", "java": "Java", "javascript": "JavaScript", "typescript": "TypeScript", "go": "Go", "rust": "Rust",
    "python": "Python",
}  # fmt: skip
IN_A_BOX = "Think step by step, and put the final answer in \\boxed{}."


def to_solve(statement: str, starter: str = "", function: str = "", language: str = "python") -> str:
    """Return the prompt that asks for a program that solves a problem.

    Args:
        statement: The problem.
        starter: The starter code of the function that is asked for instead of a program.
        function: The name of that function, if there is no starter.
        language: That of a program which reads standard input, by the service's name.
    """
    if starter.strip():
        return f"{BY_CALL}\n\n{statement.strip()}\n\n{fenced(starter)}"
    if function:
        return f"{TO_WRITE}\n\n{statement.strip()}\n\nThe function is called `{function}`."
    return f"{BY_STDIN.replace('Python', NAMES.get(language, language))}\n\n{statement.strip()}"


def to_complete(code: str, language: str) -> str:
    """Return the prompt for the whole of a function in another language than Python.

    Args:
        code: the beginning of the function, with what stands before it.
        language: the language's name in the service, which is the tag of the fence as well.
    """
    name = NAMES.get(language, language)
    return f"{TO_COMPLETE.replace('Python', name)}\n\n{fenced(code, language)}"


def to_pass(statement: str, assertions: Iterable[str]) -> str:
    """Return the prompt with this statement for a function that the assertions name."""
    return f"{TO_WRITE}\n\n{statement.strip()}\n\nIt has to pass:\n\n{fenced(chr(10).join(assertions))}"


def with_examples(text: str, examples: Iterable[tuple[str, str]]) -> str:
    """Return the text with the examples, pairs of input and output, appended."""
    shown = [f"Example input:\n{given}\nExample output:\n{wanted}" for given, wanted in examples]
    return "\n\n".join([text, *shown])


def fenced(code: str, language: str = "python") -> str:
    """Return the code in a fenced block with the language as its tag."""
    return f"```{language}\n{code.strip(chr(10)).rstrip()}\n```"
