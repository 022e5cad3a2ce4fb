"""Bounds of a queue and turns among its clients: the specification, and the texts of refusals.

`queues/backlog.py` implements it in Python, `fleet/ledger/scripts` (submit.lua, claims.lua, prelude.lua) in Lua;
`tests/queues/fairness_cases.py` has the cases that both must pass.

1. A submission loads the queue with one submission, its bytes and its estimated CPU seconds, from the time when it is
   taken until it is answered or cancelled.
2. A client is refused while the load of all other clients is at least `MOST_TOGETHER` times a bound.
3. The load of a client with what it submits may be at most the bound divided by the number of clients that have a load,
   the client itself included. A share of a count is rounded down.
4. Rule 3 does not apply to a single submission of a client that has no load, however large the submission is.
5. The submissions of one call are taken together or not at all.
6. A refusal says when to retry: after the CPU seconds of the whole load divided by the number of slots, but after at
   least one second and at most a minute.
7. The next submission is one of the highest priority that waits.
8. Within a priority, clients take turns of one submission each, in the order in which they began to wait.
9. Within a client and a priority, submissions go in order of arrival.
10. A submission that was cancelled is skipped and costs its client no turn.
11. A submission that is given back is the next one of its priority.

Shares that shrink take nothing back, and names of clients cost nothing. With rule 2, a queue therefore holds at most
about three times its bounds, and one submission that is larger than they are.
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("submissions", "bytes", "cpu_seconds")
MOST_TOGETHER = 2  # times the bounds


@dataclass(frozen=True, slots=True)
class Bounds:
    """The load that a queue may hold. `cpu_seconds` are estimated."""

    submissions: int
    bytes: int
    cpu_seconds: float


def figure(kind: str, value: float) -> str:
    """Return the value of one of the `KINDS` with its unit; counts are rounded down."""
    return f"{value:.1f} CPU seconds" if kind == "cpu_seconds" else f"{int(value)} {kind}"


def over_share(kind: str, have: float, want: float, most: float, clients: int) -> str:
    """Return the message for a client that would exceed its share.

    Args:
        kind: one of `KINDS`.
        have: load of the client.
        want: load of what it submits.
        most: its share.
        clients: number of clients that the bound is shared among.
    """
    return (
        f"{figure(kind, have)} of this client are waiting, and {figure(kind, want)} more would be over its share, "
        f"{figure(kind, most)} (shared among {clients} clients)"
    )


def over_all(kind: str, others: float, most: float) -> str:
    """Return the message for a client that is refused because all others have too much together.

    Args:
        kind: one of `KINDS`.
        others: load of all other clients.
        most: load that all may have together.
    """
    return f"{figure(kind, others)} of others are waiting, and all together may have {figure(kind, most)}"


def never(kind: str, want: float, most: float) -> str:
    """Return the message for a call that exceeds a bound of the empty queue.

    Args:
        kind: one of `KINDS`.
        want: load of the call.
        most: the bound.
    """
    return f"{figure(kind, want)} at once, the queue takes {figure(kind, most)}"
