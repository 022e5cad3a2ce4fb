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
PAGE = 400  # the most that the service lists
MOST_SEEN = 10 * PAGE

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
    if not 1 <= options.count <= PAGE:
        raise BadRequestError(f"-n/--count: must be between 1 and {PAGE}")
    service, console = ServiceQueries(options.url), Console(highlight=False, soft_wrap=True)
    news = _News(service, options.wanted)
    rows = news.look()
    _print(reversed(rows[: options.count]), service, options, console)
    if not rows:
        said = "no submission matches" if any(value for _, value in options.wanted) else "no submissions yet"
        print(f"proctor: {said}", file=sys.stderr)
    while options.follow:
        sleep(LOOK_SECONDS)
        _print(reversed(news.look()), service, options, console)
    return 0


class _News:
    """The submissions that match and that were not returned before, the latest first.

    A proxy may send each request to another API process of a fleet. Each has numbers of its own, so that an answer of
    another process than the last one's is asked for anew, from the first number on.
    """

    def __init__(self, service: ServiceQueries, wanted: list[tuple[str, str]]) -> None:
        self._service, self._wanted = service, wanted
        self._process, self._last = "", 0
        self._seen: dict[str, None] = {}

    def look(self) -> list[Row]:
        found = self._asked(self._last)
        if self._last and found["process"] != self._process:
            found = self._asked(0)
        self._process, self._last = found["process"], found["last"]
        new = [row for row in found["submissions"] if row["key"] not in self._seen]
        for row in new:
            self._seen[row["key"]] = None
        for key in list(self._seen)[:-MOST_SEEN]:
            del self._seen[key]
        return new

    def _asked(self, after: int) -> dict[str, Any]:
        query = [*self._wanted, ("after", str(after) if after else ""), ("limit", str(PAGE))]
        return self._service.get("/v1/recent", query)


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
