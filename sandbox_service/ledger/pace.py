"""How fast those who share a Redis go: what each does more seldom leaves it time for all."""

from __future__ import annotations


def beat_seconds(workers: int) -> float:
    """How often a worker beats that is one of so many: twice a second, and together at most 500 times, down to a beat
    in two seconds. A worker is dead after four.
    """
    return min(max(0.5, workers * 0.002), 2.0)


def gathering_seconds(count: int, age: float, most: float) -> float:
    """How long to let things gather after a call that carried so many, of which the youngest had this age in seconds.

    A call costs as much as ten of what it carries. So the more come, the more go in the next one; and what was long on
    its way anyhow, as all is when much waits, may wait a twentieth of that. A lone one hardly waits, none over `most`.
    """
    return min(max(count * 0.001, age / 20), most)
