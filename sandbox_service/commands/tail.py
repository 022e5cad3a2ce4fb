"""`proctor tail`: recent submissions of a service, filtered, with the reason of each; follows them if asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from time import sleep
from typing import Any

from rich.console import Console
from rich.text import Text

from sandbox_service.commands.grade_output import STYLES, printable
from sandbox_service.commands.service_queries import ServiceQueries
from sandbox_service.errors import BadRequestError

LOOK_SECONDS = 1.0
PAGE = 400

Row = dict[str, Any]


@dataclass(frozen=True)
class TailOptions:
    """The arguments of the command. `wanted` are names and values of the route's query."""

    url: str
    wanted: list[tuple[str, str]] = field(default_factory=list)
    count: int = 20
    follow: bool = False
    why: bool = False
    as_json: bool = False


def run(options: TailOptions) -> int:
    """Print the last submissions that match, the latest last; then those that follow.

    Args:
        options: The arguments.

    Returns:
        The exit status.

    Raises:
        BadRequestError: The service refuses the request, or an argument is invalid.
        UnavailableError: The service does not answer.
    """
    if options.count < 1:
        raise BadRequestError("-n/--count: must be at least 1")
    service, console = ServiceQueries(options.url), Console(highlight=False, soft_wrap=True)
    found = service.get("/v1/recent", [*options.wanted, ("limit", str(options.count))])
    _print(reversed(found["submissions"]), service, options, console)
    if not found["submissions"]:
        said = "no submission matches" if any(value for _, value in options.wanted) else "no submissions yet"
        print(f"proctor: {said}", file=sys.stderr)
    while options.follow:
        sleep(LOOK_SECONDS)
        after = str(found["last"])
        found = service.get("/v1/recent", [*options.wanted, ("after", after), ("limit", str(PAGE))])
        _print(reversed(found["submissions"]), service, options, console)
    return 0


def _print(rows: Iterable[Row], service: ServiceQueries, options: TailOptions, console: Console) -> None:
    for row in rows:
        details = service.get(f"/v1/recent/{row['key']}", []) if options.why else {}
        if options.as_json:
            print(json.dumps(row | details), flush=True)
            continue
        console.print(line(row))
        for reason in reasons(details) if details else ():
            console.print(Text(f"    {printable(reason)}", "dim"))


def line(row: Row) -> Text:
    """Return a submission in one line: time, verdict, reward, passed tests, duration, id, labels."""
    reward = "masked" if row["reward"] is None else f"{row['reward']:g}"
    labels = " ".join(f"{name}={value}" for name, value in row["labels"].items())
    verdict = row["verdict"]
    return Text.assemble(
        (datetime.fromtimestamp(row["time"]).strftime("%H:%M:%S "), "dim"),
        (f"{printable(verdict):<4}", STYLES.get(verdict, "yellow")),
        f"{reward:>7} {row['passed']:>4}/{row['total']:<4} {row['graded_seconds']:>8.3f} s  ",
        printable(row["id"]),
        ("  suspect" if row.get("suspect") else "", "red"),
        (f"  {printable(labels)}" if labels else "", "dim"),
    )


def reasons(details: Row) -> list[str]:
    """Return why a submission has its reward: a fault, its own message, and the test that decided."""
    said = [f"{details['failure_kind']}: {details['failure_reason']}"] if details["failure_reason"] else []
    decisive = [test for test in details["tests"] if test["index"] == details["decided_by"]]
    if details["message"] and details["message"] not in [test["message"] for test in decisive]:
        said.append(details["message"])
    if details.get("suspect"):  # its scored tests passed: those that did not are audit tests
        decisive = [test for test in details["tests"] if test["verdict"] not in ("AC", "IE")][:1]
        said.append("accepted, but an audit test fails:")
    for test in decisive:
        message = f", {test['message']}" if test["message"] else ""
        said.append(f"test {test['index']}: {test['verdict']}{message}")
    return said
