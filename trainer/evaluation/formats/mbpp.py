"""Converts MBPP (full and sanitised) and MBPP+ as on the hub: a task description and assertions about a function.

The description does not name the function, so the assertions (MBPP's, also for "+") are part of the prompt, as is
usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CPU_SECONDS = 4.0
CPU_SECONDS_PLUS = 20.0
ASK = "Write a Python function for this task. Give the whole of it, with its imports, in one fenced code block."


def is_mine(row: Mapping[str, Any]) -> bool:
    """Return whether a row has this format.

    Args:
        row: The row.
    """
    return {"task_id", "code", "test_list"} <= row.keys() and ("text" in row or "prompt" in row)


def line_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row; see `formats`.

    Args:
        row: The row.

    Returns:
        The problem's line.
    """
    asked, shown = str(row.get("text") or row.get("prompt")).strip(), "\n".join(row["test_list"])
    is_plus = bool(row.get("test"))
    return {
        "id": f"{'mbpp+' if is_plus else 'mbpp'}/{row['task_id']}",
        "prompt": f"{ASK}\n\n{asked}\n\nIt has to pass:\n\n```python\n{shown}\n```",
        "tests": [{"type": "assert", "code": str(row["test"])} if is_plus else _asserted(row)],
        "limits": {"cpu_seconds": CPU_SECONDS_PLUS if is_plus else CPU_SECONDS},
        "source": "mbpp+" if is_plus else "mbpp",
    }


def _asserted(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return all assertions as one test program, with the setup code, which may use the candidate's classes."""
    needed = [row.get("test_setup_code") or "", *(row.get("test_imports") or ())]
    return {"type": "assert", "code": "\n".join([*filter(None, needed), *row["test_list"]])}
