"""HumanEval, and HumanEval+ as its data set on the hub has it: a function to complete, and a test program.

What stands before the function in the prompt (imports, and in two problems a helper) is given to both the candidate and
the test program, so an answer that gives the function alone is not wrong for that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

CPU_SECONDS = 4.0
CPU_SECONDS_PLUS = 20.0
ASK = "Complete this Python function. Give the whole of it, with its imports, in one fenced code block."


def is_mine(row: Mapping[str, Any]) -> bool:
    """By its fields."""
    return {"task_id", "prompt", "entry_point", "test"} <= row.keys()


def line_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """See `formats`."""
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
    """What stands before the function that is to be completed."""
    found = list(re.finditer(rf"^(async )?def {re.escape(name)}\b", prompt, re.MULTILINE))
    return prompt[: found[-1].start()] if found else ""
