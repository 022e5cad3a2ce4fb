"""The figures of each size of fleet, and their two tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Measured:
    """The figures of one size of fleet. `idle`: CPU seconds a second of Redis, the APIs, and one worker."""

    workers: int
    idle: list[float] = field(default_factory=list)
    rate: float = 0.0
    costs: list[float] = field(default_factory=list)  # CPU ms a submission: Redis, API, worker
    commands: float = 0.0
    calls: float = 0.0  # over the network, without commands within scripts
    bytes_in: float = 0.0
    bytes_out: float = 0.0
    waits: list[float] = field(default_factory=list)  # seconds from submission to the slot, while slots are idle
    busy: float = 0.0  # share of the slots' time in a batch of two for each
    tail: float = 0.0  # from the first slot without work to the last answer of it, in times of the longest grading
    connections: int = 0
    answered: int = 0
    faults: int = 0
    refused: int = 0  # and sent again


def print_costs(rows: Sequence[Measured]) -> None:
    """Return the cost of a submission by number of workers, as a table in Markdown."""
    print("\n| workers | /s | Redis ms | API ms | workers ms | commands | calls | bytes in | bytes out | connections |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        costs = " | ".join(f"{each:.3f}" for each in row.costs)
        print(
            f"| {row.workers} | {row.rate:.0f} | {costs} | {row.commands:.1f} | {row.calls:.2f} | {row.bytes_in:.0f} "
            f"| {row.bytes_out:.0f} | {row.connections} |"
        )


def print_waits(rows: Sequence[Measured]) -> None:
    """Return the cost of an idle fleet and the wait of a small group, as a table in Markdown."""
    costs = "idle: Redis % | API % | a worker %"
    print(f"\n| workers | {costs} | wait p50 ms | p99 ms | busy | tail | answered | faults | refused |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        idle = " | ".join(f"{100 * each:.2f}" for each in row.idle)
        p50, p99 = (1000 * row.waits[int(share * (len(row.waits) - 1))] for share in (0.5, 0.99))
        print(
            f"| {row.workers} | {idle} | {p50:.1f} | {p99:.1f} | {row.busy:.2f} | {row.tail:.2f} | {row.answered} "
            f"| {row.faults} | {row.refused} |"
        )
