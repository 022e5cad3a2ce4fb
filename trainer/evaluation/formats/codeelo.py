"""Converts CodeElo: Codeforces problems with their contests, for a rating. Only the examples are published.

CodeElo itself submits to Codeforces, which runs hidden tests. With the examples alone many wrong programs pass; see
`rating`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

ASK = (
    "Solve this problem with a Python program that reads standard input and prints to standard output. "
    "Give the whole program in one fenced code block."
)
PARTS = (("description", ""), ("input", "Input"), ("output", "Output"), ("note", "Note"))


def is_mine(row: Mapping[str, Any]) -> bool:
    """Return whether a row has this format.

    Args:
        row: The row.
    """
    return {"problem_id", "description", "examples", "time_limit_ms"} <= row.keys()


def line_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Convert a row; None for interactive problems and problems without examples. See `formats`.

    Args:
        row: The row.

    Returns:
        The problem's line, or None.
    """
    if row.get("interaction") or not row["examples"]:
        return None
    contest = re.fullmatch(r"(\d+)([A-Z]\d*)", str(row["problem_id"]))
    return {
        "id": f"codeforces/{row['problem_id']}",
        "prompt": _prompt(row),
        "tests": [{"type": "stdin", "input": given, "output": wanted} for given, wanted in row["examples"]],
        "limits": _limits(row),
        "source": "codeforces",
        "meta": {
            "platform": "codeforces",
            "difficulty": row.get("rating"),
            "title": row.get("title"),
            **({"contest": {"id": int(contest[1]), "index": contest[2]}} if contest else {}),
        },
    }


def _limits(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contest's limits, which apply to all languages."""
    limits: dict[str, Any] = {"cpu_seconds": float(row["time_limit_ms"]) / 1000}
    if row.get("memory_limit_mb"):
        limits["memory_bytes"] = max(int(float(row["memory_limit_mb"]) * (1 << 20)), 256 << 20)
    return limits


def _prompt(row: Mapping[str, Any]) -> str:
    parts = [(title, str(row.get(name) or "").strip()) for name, title in PARTS]
    texts = [f"{title}:\n{text}" if title else text for title, text in parts if text]
    shown = [f"Example input:\n{given}\nExample output:\n{wanted}" for given, wanted in row["examples"]]
    return "\n\n".join([ASK, *texts, *shown])
