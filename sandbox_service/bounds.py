"""How much may wait, whichever queue it waits in, and the words in which it is refused.

Each client has an equal share of the bounds: one for each who has something waiting. One who has nothing may send one
submission, however large. Shares shrink only what is still to come, and names of clients cost nothing; so, to bound the
whole as well, nothing is taken from anybody while the others together have twice the bounds. What there can be at most
is therefore about three times the bounds, and one submission that is larger than they are.
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("submissions", "bytes", "cpu_seconds")
MOST_TOGETHER = 2  # times the bounds


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that may wait. `cpu_seconds` are estimated."""

    submissions: int
    bytes: int
    cpu_seconds: float


def figure(kind: str, value: float) -> str:
    """An amount of one of the kinds, in words."""
    return f"{value:.1f} CPU seconds" if kind == "cpu_seconds" else f"{value:.0f} {kind}"


def over_share(kind: str, have: float, want: float, most: float, clients: int) -> str:
    """Why a client is refused who would have more than its share."""
    return (
        f"{figure(kind, have)} of this client are waiting, and {figure(kind, want)} more would be over its share, "
        f"{figure(kind, most)} (shared among {clients} clients)"
    )


def over_all(kind: str, others: float, most: float) -> str:
    """Why anybody is refused while there is too much of all together."""
    return f"{figure(kind, others)} of others are waiting, and all together may have {figure(kind, most)}"


def never(kind: str, want: float, most: float) -> str:
    """Why so much at once is refused for good."""
    return f"{figure(kind, want)} at once, the queue takes {figure(kind, most)}"
