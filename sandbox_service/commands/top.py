"""`proctor top`: a service or a fleet at a glance in the terminal, refreshed each second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sandbox_service.commands.grade_output import STYLES, printable
from sandbox_service.commands.service_queries import ServiceQueries
from sandbox_service.errors import UnavailableError

MOST_WORKERS = 20
MOST_SUITES = 5
RATE_BUCKETS = 2  # complete buckets from which the rate is computed

Sample = Mapping[str, Any]


@dataclass(frozen=True)
class TopOptions:
    """The arguments of the command."""

    url: str
    once: bool = False


def run(options: TopOptions) -> int:
    """Show the service until it closes or the user ends it; with `once`, one sample.

    Args:
        options: The arguments.

    Returns:
        The exit status.

    Raises:
        BadRequestError: The service refuses the request, or the address is invalid.
        UnavailableError: The service does not answer.
    """
    console = Console(highlight=False)
    if options.once:
        for found in _screens(options.url):
            console.print(found)
            return 0
    else:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            for found in _screens(options.url):
                live.update(found, refresh=True)
    raise UnavailableError(f"{options.url} is closing")


def _screens(url: str) -> Iterator[RenderableType]:
    """Yield what is shown of each sample until the service closes."""
    buckets: dict[int, Sample] = {}
    size = 5
    for name, found in ServiceQueries(url).events():
        if name == "history":
            size = found["bucket_seconds"]
        for bucket in found["buckets"]:
            buckets[bucket["start"]] = bucket
        if name == "now":
            yield screen(url, found, [buckets[start] for start in sorted(buckets)], size)


def screen(url: str, now: Sample, buckets: Sequence[Sample], size: int) -> RenderableType:
    """Return all that is shown of a sample.

    Args:
        url: The address of the service.
        now: The event `now`.
        buckets: The buckets of the last minutes, the oldest first.
        size: The seconds of a bucket.
    """
    return Group(*_headline(url, now), Text(""), _figures(now, buckets, size), *_workers(now), *_suites(now))


def _headline(url: str, now: Sample) -> Iterable[Text]:
    kind = "fleet" if now["is_fleet"] else "one machine"
    state = Text("ready", "green") if now["ready"] else Text("not ready: " + "; ".join(now["reasons"]), "bold red")
    yield Text.assemble(("proctor ", "bold"), url, f"  {kind}  ", state)
    if now["is_open_to_all"]:
        yield Text("reachable from other machines without an API key: set SANDBOX_API_KEYS", "bold red")


def _figures(now: Sample, buckets: Sequence[Sample], size: int) -> Table:
    pending, verdicts = now["pending"], Counter[str]()
    for bucket in buckets:
        verdicts.update(bucket["verdicts"])
    last = [
        bucket for bucket in buckets if now["time"] - (RATE_BUCKETS + 1) * size <= bucket["start"] < now["time"] - size
    ]
    rate = sum(sum(bucket["verdicts"].values()) for bucket in last) / (RATE_BUCKETS * size)
    table = Table(box=None, show_header=False, pad_edge=False)
    slots, busy = sum(each["slots"] for each in now["workers"]), sum(each["busy"] for each in now["workers"])
    counted = Text("  ").join(
        Text(f"{count} {verdict}", STYLES.get(verdict, "yellow")) for verdict, count in verdicts.most_common()
    )
    rows: list[tuple[str, str | Text]] = [
        ("answered", f"{rate:.1f} per second"),
        ("pending", f"{pending['submissions']} submissions, the oldest for {pending['oldest_seconds']:.1f} s"),
        ("slots", f"{busy} of {slots} busy"),
        ("last 15 min", counted if verdicts else "nothing"),
        ("faults", ", ".join(f"{count} {kind}" for kind, count in now["faults"].items()) or "none"),
        ("flips", f"{now['flips']:.0f} of {now['rechecks']:.0f} rechecks"),
    ]
    for name, value in rows:
        table.add_row(Text(name, "dim"), value)
    return table


def _workers(now: Sample) -> Iterable[RenderableType]:
    table = Table("worker", "busy", "ready", "slots", "version", "", box=box.SIMPLE_HEAD, pad_edge=False)
    for each in now["workers"][:MOST_WORKERS]:
        reasons = printable("; ".join(each["reasons"]))
        shown = (printable(each["name"]), each["busy"], each["ready"], each["slots"], each["version"])
        table.add_row(*map(str, shown), Text(reasons, "red"))
    yield table
    if len(now["workers"]) > MOST_WORKERS:
        yield Text(f"and {len(now['workers']) - MOST_WORKERS} more workers", "dim")


def _suites(now: Sample) -> Iterable[RenderableType]:
    if now["slowest"]:
        table = Table("slowest suites", "tests", "submissions", "mean", "longest", box=box.SIMPLE_HEAD, pad_edge=False)
        for each in now["slowest"][:MOST_SUITES]:
            mean = each["seconds"] / each["submissions"]
            times = (f"{mean:.3f} s", f"{each['longest_seconds']:.3f} s")
            table.add_row(each["suite"][:23], str(each["tests"]), str(each["submissions"]), *times)
        yield table
