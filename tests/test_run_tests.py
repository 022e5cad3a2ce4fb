"""Tests of scripts/run-tests: a test that fails beside others is run once more, alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/run-tests"
FIRST_TIME = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("name", {names})
def test_of(name):
    seen = Path(f"{{name}} was here")
    is_first = not seen.exists()
    seen.touch()
    assert not is_first
"""


def run(folder: Path, test_file: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(test_file)
    command = [str(SCRIPT), "group", sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "1"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # their import takes most of the time
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_test_that_passes_alone_is_reported_and_does_not_fail_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, FIRST_TIME.format(names=["one two", "three"]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 failed in group; running them once more, alone" in done.stdout
    listed = {line.partition("::")[2] for line in done.stdout.splitlines() if line.startswith("  test_it.py::")}
    assert listed == {"test_of[one two]", "test_of[three]"}


@pytest.mark.parametrize(
    ("test_file", "status"),
    [
        ("def test_it(): assert False", 1),
        (FIRST_TIME.format(names=[str(number) for number in range(6)]), 1),
        ("import nothing_of_this_name", 1),
        ("", 5),
    ],
    ids=["fails twice", "too many fail", "cannot be imported", "no test"],
)
def test_a_run_fails_otherwise(tmp_path: Path, test_file: str, status: int) -> None:
    done = run(tmp_path, test_file)
    assert done.returncode == status, done.stdout + done.stderr
    assert "unstable" not in done.stdout


def test_the_failures_of_an_earlier_run_are_forgotten(tmp_path: Path) -> None:
    assert run(tmp_path, "def test_it(): assert False").returncode == 1
    assert run(tmp_path, "def test_other(): pass").returncode == 0
