"""Scales of a chart: positions, round ticks and number formats."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from values `low` to `high` onto positions `start` to `end`; logarithmic if `is_log`."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Return the position of `value`, in units of the drawing."""
        low, high, value = (math.log10(each) if self.is_log else each for each in (self.low, self.high, value))
        return self.start + (value - low) / (high - low or 1.0) * (self.end - self.start)

    def ticks(self, about: int = 4) -> Iterator[float]:
        """Return about so many round values within the axis: powers of ten if logarithmic, else as `ticks` does."""
        if not self.is_log:
            return ticks(self.low, self.high, about)
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        return (10.0**power for power in range(first, last + 1))


def ticks(low: float, high: float, about: int) -> Iterator[float]:
    """Return round values from `low` to `high`: multiples of 1, 2 or 5 times a power of ten.

    Args:
        low: Lower end of the range.
        high: Upper end of the range; greater than `low`.
        about: Number of intervals to aim at.
    """
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * min((1, 2, 5, 10), key=lambda nice: abs(math.log(nice * power / rough)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return (round(step * count, 12) for count in range(first, last + 1))


def number(value: float | None) -> str:
    """Return `value` for a reader: integers in full, others with three significant digits, "–" for None."""
    if value is None:
        return "–"
    if value == int(value) and abs(value) < 1e12:
        return f"{int(value):,}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def short_number(value: float) -> str:
    """Return `value` for a tick of an axis: as `number`, with "k" from 10,000 on."""
    return f"{value / 1000:g}k" if 10_000 <= abs(value) < 1e6 else number(value)
