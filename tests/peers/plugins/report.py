"""A pytest plugin that runs in a peer's environment and writes each test's outcome as a line of JSON.

An outcome is `passed`, `skipped`, `refused` (the test failed after the service had answered 422 with a reason), or
`failed`. `PEERS_REPORT` names the file. The plugins of single peers call `refused` for each such answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_refusals: list[str] = []


def refused(reason: str) -> None:
    """Note that the service answered 422 during the current test."""
    _refusals.append(reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    """Write the outcome of a test, after its call or where its set-up ended it."""
    outcome: Any = yield
    report = outcome.get_result()
    if call.when == "teardown" or (call.when == "setup" and report.outcome == "passed"):
        return
    found = report.outcome
    if found == "failed" and _refusals:
        found = "refused"
    reason = " | ".join(dict.fromkeys(_refusals)) if found == "refused" else str(report.longrepr or "")[-600:]
    line = {"test": item.nodeid, "outcome": found, "reason": reason if found != "passed" else ""}
    with Path(os.environ["PEERS_REPORT"]).open("a") as file:
        file.write(json.dumps(line) + "\n")
    _refusals.clear()
