"""Prints grades as JSON lines or as a table.

A program's output may contain control sequences; no control character reaches the terminal.
"""

from __future__ import annotations

import json
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sandbox_service.commands import grade_package
from sandbox_service.commands.grade_package import PackageSolution
from sandbox_service.schema import Grade, TestResult, Verdict

MOST_SHOWN = 200
WIDTH_WITHOUT_TERMINAL = 140  # in a pipe or a file
STYLES: dict[str, str] = {Verdict.AC: "green", Verdict.IE: "bold magenta"}


def json_line(path: Path, grade: Grade) -> str:
    """Return the grade as one line of ASCII JSON, with the file's name as id."""
    return json.dumps({**grade.model_dump(mode="json"), "id": str(path)})


def print_table(rows: list[tuple[Path, Grade]]) -> None:
    """Print a line per file in the given order, and the number of accepted solutions."""
    console = _console()
    console.print(_table(rows))
    accepted = sum(grade.verdict == Verdict.AC for _, grade in rows)
    console.print(f"{accepted} of {len(rows)} accepted")


def print_package_table(rows: list[tuple[PackageSolution, Grade]]) -> None:
    """Print a line per program of a package with the verdict that its folder names, and how many have it."""
    console = _console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("program", "expected", "verdict", "", "CPU", "first failure"):
        table.add_column(name, overflow="fold")
    met = 0
    for solution, grade in rows:
        is_met = grade_package.is_met(grade, solution)
        met += is_met
        seconds = f"{sum(test.cpu_seconds for test in grade.tests):.3f} s"
        mark = Text("as expected", "green") if is_met else Text("NOT as expected", "bold red")
        name = printable("/".join(solution.path.parts[-2:]))
        shown = (name, " or ".join(solution.expected), str(grade.verdict))
        table.add_row(*map(Text, shown), mark, Text(seconds), Text(printable(first_failure(grade))))
    console.print(table)
    console.print(f"{met} of {len(rows)} as expected")


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH_WITHOUT_TERMINAL)


def _table(rows: list[tuple[Path, Grade]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("file", overflow="fold")
    table.add_column("verdict")
    for name in ("reward", "passed", "CPU"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("first failure", overflow="fold")
    for path, grade in rows:
        table.add_row(*_row(path, grade))
    return table


def _row(path: Path, grade: Grade) -> list[Text]:
    return [
        Text(printable(str(path))),
        Text(grade.verdict, STYLES.get(grade.verdict, "red")),
        Text("none" if grade.reward is None else f"{grade.reward:g}"),
        Text(f"{grade.passed}/{grade.total}"),
        Text(f"{sum(test.cpu_seconds for test in grade.tests):.3f} s"),
        Text(printable(first_failure(grade))),
    ]


def first_failure(grade: Grade) -> str:
    """Return the first test that failed, with the reason; empty for an accepted solution."""
    if grade.suspect:
        audit = next(test for test in grade.audit or () if test.verdict not in (Verdict.AC, Verdict.IE))
        return f"suspect: audit test {audit.index}: {audit.message or audit.verdict}"
    if grade.verdict == Verdict.AC:
        return ""
    if grade.verdict == Verdict.IE:
        return f"{grade.failure_kind}: {grade.failure_reason}"
    failed: TestResult | None = next((test for test in grade.tests if test.verdict != Verdict.AC), None)
    if failed is None:
        return grade.message or ""
    return f"test {failed.index}: {failed.message or failed.verdict}"


def printable(text: str) -> str:
    """Return the text on one line, truncated and without control characters."""
    line = "".join(
        sign if sign.isprintable() else " " if sign.isspace() else "\N{REPLACEMENT CHARACTER}" for sign in text
    )
    return line if len(line) <= MOST_SHOWN else f"{line[: MOST_SHOWN - 1]}…"
