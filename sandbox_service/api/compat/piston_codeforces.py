"""Tests of open-r1's package of Codeforces problems, as it sends them to Piston: one file for each part.

The files are main.python or main.cpp, input.txt, correct_output.txt, grader_config, and for some problems checker.py.
The service compares the outputs, or runs the checker, outside of the program's jail.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox_service.errors import BadRequestError
from sandbox_service.schema import WALL_FACTOR

NEEDED = frozenset({"input.txt", "correct_output.txt"})
SLACK_SECONDS = 2.0
MOST_WALL_SECONDS = 24.0  # wall time of a test that sleeps
MIB = 1 << 20


def fields_of(language: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a submission.

    Args:
        language: The name of the program's language.
        texts: The files by name.

    Raises:
        BadRequestError: A file is missing, or the configuration is invalid.
    """
    program = next((text for name, text in texts.items() if name.startswith("main.")), None)
    if program is None or not texts.keys() >= NEEDED:
        raise BadRequestError("files: the package needs main.python, input.txt, correct_output.txt and grader_config")
    checker = {"type": "program", "protocol": "codeforces-python", "source": texts.get("checker.py", "")}
    return {
        "code": program,
        "language": language,
        "tests": [{"type": "stdin", "input": texts["input.txt"], "output": texts["correct_output.txt"]}],
        "limits": _limits(texts.get("grader_config", "")),
        **({"checker": checker} if "checker.py" in texts else {}),
    }


def _limits(config: str) -> dict[str, Any]:
    """Return limits from lines such as `TIME_LIMIT=2.0`, in seconds and MiB. Raise BadRequestError."""
    options = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in config.splitlines())}
    mode = options.get("INPUT_MODE") or "stdio"
    if mode not in ("stdio", "None"):
        raise BadRequestError(f"grader_config: INPUT_MODE is {mode[:20]!r}; only stdio is supported")
    limits: dict[str, Any] = {}
    try:
        if "TIME_LIMIT" in options:
            cpu = limits["cpu_seconds"] = float(options["TIME_LIMIT"])
            limits["wall_seconds"] = max(cpu + SLACK_SECONDS, min(WALL_FACTOR * cpu + SLACK_SECONDS, MOST_WALL_SECONDS))
        if "MEMORY_LIMIT" in options:
            limits["memory_bytes"] = max(64, int(float(options["MEMORY_LIMIT"]))) * MIB
    except (ValueError, OverflowError) as error:
        raise BadRequestError(f"grader_config: {error}") from None
    return limits
