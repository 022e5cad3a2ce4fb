"""The cases of the specification of bounds and turns in bounds/, for every implementation of it.

A case is a list of steps with what each step must give. `test_fairness.py` plays all of them with the backlog of one
process and with the Lua scripts of a fleet.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox_service.bounds import Bounds, over_all, over_share

HIGH, NORMAL, LOW = range(3)
SLOTS = 4


@dataclass(frozen=True)
class Submit:
    """Submissions of one client in one call; the ids are separated by spaces. `refused`: the message, if it is."""

    client: str
    ids: str
    priority: int = NORMAL
    bytes: int = 10
    cpu_seconds: float = 1.0
    refused: str = ""
    retry_seconds: float = 1.0


@dataclass(frozen=True)
class Take:
    """Take submissions one by one; the ids are in the expected order, and `-` stands for none."""

    ids: str


@dataclass(frozen=True)
class GiveBack:
    """Put a submission back that was taken."""

    id: str


@dataclass(frozen=True)
class Finish:
    """Answer a submission that was taken."""

    id: str


@dataclass(frozen=True)
class Cancel:
    """Cancel a submission that waits."""

    id: str


Step = Submit | Take | GiveBack | Finish | Cancel


@dataclass(frozen=True)
class Case:
    """Steps in a queue of these bounds."""

    name: str
    rules: str
    steps: list[Step]
    bounds: Bounds = field(default_factory=lambda: Bounds(100, 100_000, 1000.0))


CASES = [
    Case("empty", "7", [Take("-")]),
    Case("one client in order of arrival", "9", [Submit("a", "a1 a2"), Submit("a", "a3"), Take("a1 a2 a3 -")]),
    Case(
        "clients take turns in order of their arrival",
        "8 9",
        [Submit("a", "a1 a2 a3"), Submit("b", "b1 b2"), Submit("c", "c1"), Take("a1 b1 c1 a2 b2 a3 -")],
    ),
    Case(
        "a late client is served within a round",
        "8",
        [Submit("a", "a1 a2 a3"), Take("a1"), Submit("b", "b1"), Take("a2 b1 a3 -")],
    ),
    Case(
        "a client that ran dry goes to the end",
        "8",
        [Submit("a", "a1"), Submit("b", "b1 b2"), Take("a1"), Submit("a", "a2"), Take("b1 a2 b2 -")],
    ),
    Case(
        "priorities go before turns",
        "7 8",
        [
            Submit("a", "low", LOW),
            Submit("b", "b1"),
            Submit("a", "a1"),
            Submit("b", "b2 b3", HIGH),
            Take("b2 b3 b1 a1 low -"),
        ],
    ),
    Case(
        "a cancelled head costs no turn",
        "8 10",
        [Submit("a", "a1 a2"), Submit("b", "b1 b2"), Cancel("a1"), Take("a2 b1 b2 -")],
    ),
    Case(
        "a cancelled submission in the middle costs no turn",
        "8 10",
        [Submit("a", "a1 a2 a3"), Submit("b", "b1 b2"), Cancel("a2"), Take("a1 b1 a3 b2 -")],
    ),
    Case(
        "a client whose submissions are all cancelled has no turn",
        "8 10",
        [Submit("a", "a1 a2"), Submit("b", "b1"), Cancel("a1"), Cancel("a2"), Take("b1 -")],
    ),
    Case(
        "what is given back is next",
        "11",
        [Submit("a", "a1 a2"), Submit("b", "b1"), Take("a1"), GiveBack("a1"), Take("a1 b1 a2 -")],
    ),
    Case(
        "what is given back is next of its priority only",
        "7 11",
        [Submit("a", "a1"), Take("a1"), Submit("b", "b1", HIGH), GiveBack("a1"), Take("b1 a1 -")],
    ),
    Case(
        "given back, the only one of its client",
        "11",
        [Submit("a", "a1"), Submit("b", "b1"), Take("a1 b1"), GiveBack("b1"), GiveBack("a1"), Take("a1 b1 -")],
    ),
    Case(
        "a client alone has the whole bound",
        "1 3",
        [
            Submit("a", "a1 a2 a3 a4 a5", refused=over_share("submissions", 0, 5, 4, 1)),
            Submit("a", "a1 a2 a3 a4"),
            Submit("a", "a5", refused=over_share("submissions", 4, 1, 4, 1)),
        ],
        Bounds(4, 100_000, 1000.0),
    ),
    Case(
        "a taken submission counts until it is answered",
        "1",
        [
            Submit("a", "a1 a2"),
            Take("a1 a2"),
            Submit("a", "a3", refused=over_share("submissions", 2, 1, 2, 1)),
            Finish("a1"),
            Submit("a", "a3"),
            Cancel("a3"),
            Submit("a", "a4"),
        ],
        Bounds(2, 100_000, 1000.0),
    ),
    Case(
        "bytes are bounded",
        "1 3",
        [Submit("a", "a1", bytes=600), Submit("a", "a2", bytes=401, refused=over_share("bytes", 600, 401, 1000, 1))],
        Bounds(100, 1000, 1000.0),
    ),
    Case(
        "estimated CPU seconds are bounded",
        "1 3 6",
        [
            Submit("a", "a1", cpu_seconds=60.0),
            Submit(
                "a",
                "a2",
                cpu_seconds=41.0,
                refused=over_share("cpu_seconds", 60.0, 41.0, 100.0, 1),
                retry_seconds=60.0 / SLOTS,
            ),
        ],
        Bounds(100, 100_000, 100.0),
    ),
    Case(
        "the time to retry is a minute at most",
        "6",
        [
            Submit("a", "a1", cpu_seconds=900.0),
            Submit(
                "a",
                "a2",
                cpu_seconds=101.0,
                refused=over_share("cpu_seconds", 900.0, 101.0, 1000.0, 1),
                retry_seconds=60.0,
            ),
        ],
    ),
    Case(
        "two clients have half of the bound each",
        "3",
        [
            Submit("a", "a1 a2 a3 a4"),
            Submit("b", "b1 b2"),
            Submit("b", "b3", refused=over_share("submissions", 2, 1, 2, 2), retry_seconds=6 / SLOTS),
            Submit("a", "a5", refused=over_share("submissions", 4, 1, 2, 2), retry_seconds=6 / SLOTS),
        ],
        Bounds(4, 100_000, 1000.0),
    ),
    Case(
        "a share is rounded down",
        "3",
        [
            Submit("a", "a1"),
            Submit("b", "b1"),
            Submit("c", "c1"),
            Submit("c", "c2", refused=over_share("submissions", 1, 1, 5 / 3, 3)),
        ],
        Bounds(5, 100_000, 1000.0),
    ),
    Case(
        "a client that was served leaves its share",
        "3",
        [
            Submit("a", "a1"),
            Submit("b", "b1 b2"),
            Take("a1"),
            Finish("a1"),
            Submit("b", "b3 b4"),
        ],
        Bounds(4, 100_000, 1000.0),
    ),
    Case(
        "a client without load may submit one, however large",
        "4",
        [
            Submit("a", "a1", bytes=5000, cpu_seconds=5000.0),
            Submit("a", "a2", refused=over_share("bytes", 5000, 10, 1000, 1), retry_seconds=60.0),
        ],
        Bounds(100, 1000, 1000.0),
    ),
    Case(
        "a client without load may submit one, however small its share",
        "4",
        [
            Submit("a", "a1 a2"),
            Submit("b", "b1"),
            Submit("c", "c1 c2", refused=over_share("submissions", 0, 2, 2 / 3, 3)),
            Submit("c", "c1"),
        ],
        Bounds(2, 100_000, 1000.0),
    ),
    Case(
        "twice the bound is the most of all together",
        "2 4",
        [
            Submit("a", "a1 a2"),
            Submit("b", "b1"),
            Submit("c", "c1"),
            Submit("d", "d1", refused=over_all("submissions", 4, 4)),
            Submit("a", "a3", refused=over_share("submissions", 2, 1, 2 / 3, 3)),
        ],
        Bounds(2, 100_000, 1000.0),
    ),
    Case(
        "a batch is taken whole or not at all",
        "5",
        [
            Submit("a", "a1 a2 a3", refused=over_share("submissions", 0, 3, 2, 1)),
            Take("-"),
            Submit("a", "a1 a2"),
            Take("a1 a2 -"),
        ],
        Bounds(2, 100_000, 1000.0),
    ),
]
