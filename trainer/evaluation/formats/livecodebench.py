"""Converts LiveCodeBench (code_generation and code_generation_lite): public and hidden tests, by stdin or by call.

Output is compared as LiveCodeBench does (numbers by their exact value, without rounding), except that line breaks are
ignored. Its tests reject alternative right answers of some problems; its ERRATA lists about twenty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandbox_service.formats.unpacking import packed_text
from trainer.errors import ConfigError

CPU_SECONDS = 6.0  # LiveCodeBench's runner: 6 s a test
MEMORY_BYTES = 2 << 30
CHECKER = {"type": "tokens", "float_tolerance": 0.0}
BY_STDIN = (
    "Solve this problem with a Python program that reads standard input and prints to standard output. "
    "Give the whole program in one fenced code block."
)
BY_CALL = (
    "Solve this problem in Python. Complete the code that it begins with, and give the whole of it in one fenced "
    "code block."
)


def is_mine(row: Mapping[str, Any]) -> bool:
    """Return whether a row has this format.

    Args:
        row: The row.
    """
    return {"question_content", "public_test_cases", "contest_date"} <= row.keys()


def line_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row; see `formats`.

    Args:
        row: The row.

    Returns:
        The problem's line.

    Raises:
        ConfigError: The tests cannot be read.
    """
    name = f"livecodebench/{row['question_id']}"
    try:
        tests = [*_tests(row["public_test_cases"]), *_tests(row["private_test_cases"])]
        function = json.loads(row.get("metadata") or "{}").get("func_name")
        made = [_test(test, function) for test in tests]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{name}: its tests cannot be read: {error}") from None
    return {
        "id": name,
        "prompt": _prompt(row),
        "tests": made,
        "checker": CHECKER,
        "limits": {"cpu_seconds": CPU_SECONDS, "memory_bytes": MEMORY_BYTES},
        "source": "livecodebench",
        "meta": {
            "date": str(row["contest_date"])[:10],
            "difficulty": row.get("difficulty"),
            "platform": row.get("platform"),
            "title": row.get("question_title"),
        },
    }


def _tests(text: str) -> list[dict[str, Any]]:
    """Parse tests, which are JSON or packed JSON."""
    try:
        found = json.loads(text)
    except ValueError:
        found = json.loads(packed_text(text))
    return list(found)


def _test(test: Mapping[str, Any], function: str | None) -> dict[str, Any]:
    if test.get("testtype") != "functional":
        return {"type": "stdin", "input": test["input"], "output": test["output"]}
    if not function:
        raise ValueError("a test calls a function that has no name")
    arguments = [json.loads(line) for line in test["input"].split("\n") if line.strip()]
    return {"type": "call", "function": function, "args": arguments, "output": json.loads(test["output"])}


def _prompt(row: Mapping[str, Any]) -> str:
    question, starter = str(row["question_content"]).strip(), row.get("starter_code") or ""
    if not starter.strip():
        return f"{BY_STDIN}\n\n{question}"
    return f"{BY_CALL}\n\n{question}\n\n```python\n{starter.rstrip()}\n```"
