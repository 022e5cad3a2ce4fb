"""Intervals of beats and batches, which grow with the fleet to limit the load of Redis."""

from __future__ import annotations


def beat_seconds(workers: int) -> float:
    """Return the seconds between two beats of a worker: 0.5 with up to 50 workers, 1 with 100 to 250, then up to 4.

    Of 50 to 100 workers, all together beat 100 times a second; of more, up to 1,000, at most 250 times. See
    docs/decisions/0182 and 0289.
    """
    return max(0.5, min(workers * 0.01, 1.0), min(workers * 0.004, 4.0))


def dead_seconds(workers: int) -> float:
    """Return the seconds after the last beat of a worker until it is dead: 2.0 to 2.5, and 8.0 from 1,000 workers on.

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
