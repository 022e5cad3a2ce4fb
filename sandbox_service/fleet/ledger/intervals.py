"""Intervals of beats and batches, which grow with the fleet to limit the load of Redis."""

from __future__ import annotations


def beat_seconds(workers: int) -> float:
    """Return the seconds between two beats of a worker: 0.5, but so that all workers together beat 250 times a second.

    It is at most 4 s. See docs/decisions/0182.
    """
    return min(max(0.5, workers * 0.004), 4.0)


def dead_seconds(workers: int) -> float:
    """Return the seconds after the last beat of a worker until it is dead: 2.0, and 8.0 from 1,000 workers on.

    A beat may be late by 1.5 s, and by as much as the time between two if that is longer.
    """
    pause = beat_seconds(workers)
    return pause + max(1.5, pause)


def gathering_seconds(count: int, age: float, most: float) -> float:
    """Return the seconds to wait before the next call, so that it carries more.

    A call costs as much as ten of its items. The pause grows by 1 ms for each item, and to a twentieth of the time that
    they have taken anyhow.

    Args:
        count: items of the last call.
        age: of its youngest item, in seconds.
        most: the longest pause, in seconds.
    """
    return min(max(count * 0.001, age / 20), most)
