"""The strength of a suite: the share of wrong programs that it refuses, with an interval.

Wrong programs are mutants that some valid input tells from the reference, tables, and known wrong programs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Z = 1.96  # 95 %
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Share:
    """Some of all, with Wilson's interval of 95 % (E. B. Wilson, 1927)."""

    refused: int
    programs: int

    @property
    def value(self) -> float | None:
        """The share, or None of nothing."""
        return self.refused / self.programs if self.programs else None

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end."""
        if not self.programs:
            return 0.0, 1.0
        n, share = self.programs, self.refused / self.programs
        middle = share + Z * Z / (2 * n)
        half = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
        low, high = (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)
        return max(0.0, low), min(1.0, high)

    def line(self) -> dict[str, Any]:
        """Return it as JSON data."""
        low, high = self.interval
        share = None if self.value is None else round(self.value, 4)
        return {
            "refused": self.refused, "programs": self.programs, "share": share,
            "low": round(low, 4), "high": round(high, 4),
        }  # fmt: skip


def total(shares: Iterable[Share]) -> Share:
    """Return the share of all programs together."""
    found = list(shares)
    return Share(sum(each.refused for each in found), sum(each.programs for each in found))


def folds(count: int) -> list[Sequence[int]]:
    """Return the places of a list with `count` items in five parts, which take turns."""
    return [range(part, count, FOLDS) for part in range(FOLDS)]
