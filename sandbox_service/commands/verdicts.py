"""Grades as people and programs want to read them.

What a program printed may be meant for the reader's terminal, not for the reader: no control character gets there.
"""

from __future__ import annotations

import json
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sandbox_service.schema import Grade, TestResult, Verdict

MOST_SHOWN = 200
WIDTH_WHERE_NONE = 140  # in a pipe or a file
STYLES = {Verdict.AC: "green", Verdict.IE: "bold magenta"}


def json_line(path: Path, grade: Grade) -> str:
    """The grade as one line of ASCII JSON; its id is the file's name."""
    return json.dumps({**grade.model_dump(mode="json"), "id": str(path)})


def print_table(rows: list[tuple[Path, Grade]]) -> None:
    """A line for each file, in the order given, and how many were accepted."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH_WHERE_NONE)
    console.print(_table(rows))
    accepted = sum(grade.verdict == Verdict.AC for _, grade in rows)
    console.print(f"{accepted} of {len(rows)} accepted")


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
    """Why it was not accepted: which test, and what was wrong."""
    if grade.verdict == Verdict.AC:
        return ""
    if grade.verdict == Verdict.IE:
        return f"{grade.failure_kind}: {grade.failure_reason}"
    failed: TestResult | None = next((test for test in grade.tests if test.verdict != Verdict.AC), None)
    if failed is None:
        return grade.message or ""
    return f"test {failed.index}: {failed.message or failed.verdict}"


def printable(text: str) -> str:
    """In one line, without what a terminal would obey, and not too long."""
    line = "".join(
        sign if sign.isprintable() else " " if sign.isspace() else "\N{REPLACEMENT CHARACTER}" for sign in text
    )
    return line if len(line) <= MOST_SHOWN else f"{line[: MOST_SHOWN - 1]}…"
