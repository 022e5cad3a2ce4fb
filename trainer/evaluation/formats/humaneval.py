"""Converts HumanEval and HumanEval+ as on the hub: a function to complete, and a test program.

Code before the function in the prompt (imports, and in two problems a helper) is given to both the candidate and the
test program, so that an answer with the function alone is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

CPU_SECONDS = 4.0
CPU_SECONDS_PLUS = 20.0
ASK = "Complete this Python function. Give the whole of it, with its imports, in one fenced code block."


def is_mine(row: Mapping[str, Any]) -> bool:
    """Return whether a row has this format.

    Args:
        row: The row.
    """
    return {"task_id", "prompt", "entry_point", "test"} <= row.keys()


def line_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row; see `formats`.

    Args:
        row: The row.

    Returns:
        The problem's line.
    """
    prompt, name, test = str(row["prompt"]), str(row["entry_point"]), str(row["test"])
    is_plus = "inputs = [" in test
    task = str(row["task_id"])
    return {
        "id": task.replace("HumanEval/", "HumanEval+/") if is_plus else task,
        "prompt": f"{ASK}\n\n```python\n{prompt.rstrip()}\n```",
        "tests": [{"type": "assert", "entry_point": name, "code": test, "prelude": before(prompt, name)}],
        "limits": {"cpu_seconds": CPU_SECONDS_PLUS if is_plus else CPU_SECONDS},
        "source": "humaneval+" if is_plus else "humaneval",
    }


def before(prompt: str, name: str) -> str:
    """Return the code before the function to be completed.

    Args:
        prompt: The prompt.
        name: The function's name.
    """
    found = list(re.finditer(rf"^(async )?def {re.escape(name)}\b", prompt, re.MULTILINE))
    return prompt[: found[-1].start()] if found else ""
