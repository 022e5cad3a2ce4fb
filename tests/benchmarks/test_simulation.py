"""The simulated fleet at a small size: two workers answer every submission without a fault."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from benchmarks.simulation.members import REPOSITORY

SECONDS = 120


@pytest.mark.full
@pytest.mark.redis  # in the processes that it starts
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_two_workers_answer_everything_and_nothing_stays_behind() -> None:
    namespaces = _namespaces()
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "simulation", "--workers", "2", "--seconds", "2", "--settle", "1"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    rows = [line.split(" | ") for line in run.stdout.splitlines() if line.startswith("| 2 |")]
    assert len(rows) == 2, run.stdout
    answered, faults, refused = (int(re.sub(r"\D", "", cell)) for cell in rows[1][-3:])
    assert answered > 100
    assert (faults, refused) == (0, 0)
    assert _namespaces() <= namespaces


def _namespaces() -> set[str]:
    """The network namespaces that `ip netns` lists; others end with their processes."""
    if shutil.which("ip") is None:
        return set()
    return set(subprocess.run(["ip", "netns"], capture_output=True, text=True, check=False).stdout.splitlines())
