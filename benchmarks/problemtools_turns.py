"""Runs tests by Kattis' problemtools; `python -m benchmarks judges --problemtools PYTHON` starts this file.

    PYTHON benchmarks/problemtools_turns.py FOLDER

PYTHON has problemtools (`pip install problemtools`). FOLDER has problem packages. The process reads lines
`PACKAGE COUNT` from stdin, runs the package's only submission on its first test that often by problemtools' own judge,
and answers each line with `done`. It loads and compiles a package at its first line.
"""

# mypy: ignore-errors
# problemtools has an environment of its own

from __future__ import annotations

import sys
import tempfile
from functools import cache
from pathlib import Path

from problemtools.diagnostics import LoggingDiagnostics
from problemtools.judge import execute_testcase
from problemtools.model.problem import load_problem

TIME_LIMIT = 10.0


@cache
def loaded(package: Path):
    """Return the metadata, the test, the submission and the output validator of a package."""
    problem = load_problem(package, LoggingDiagnostics.create("benchmark"))
    validator = problem.output_validators.select(problem.format_version, problem.metadata)
    return (
        problem.metadata,
        problem.testdata.get_all_testcases()[0],
        problem.submissions.submissions[0].program,
        validator,
    )


def main(folder: Path) -> None:
    """Serve the lines of stdin."""
    with tempfile.TemporaryDirectory() as work:
        for line in sys.stdin:
            package, count = line.split()
            metadata, test, program, validator = loaded(folder / package)
            diagnostics = LoggingDiagnostics.create("benchmark")
            for _ in range(int(count)):
                result = execute_testcase(test, program, validator, metadata, TIME_LIMIT, Path(work), diagnostics)
                assert result.verdict == "AC", (result.verdict, result.reason, result.additional_info)
            print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
