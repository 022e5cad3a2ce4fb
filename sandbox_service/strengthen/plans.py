"""Plans of inputs: how many cases and how many items there are, and the pattern of their values."""

from __future__ import annotations

from dataclasses import dataclass

# numbers of repeats: of cases that hold lengths of their own, and of everything else
SCALES = (
    ("one", "least"), ("cases", "few"), ("one", "few"), ("cases", "some"), ("one", "some"), ("cases", "least"),
    ("few", "many"), ("cases", "few"), ("one", "few"), ("one", "largest"), ("one", "many"),
)  # fmt: skip
SMALL = (("one", "small"), ("few", "few"), ("one", "small"), ("one", "least"), ("one", "few"))
SHAPED = (("few", "small"), ("one", "some"), ("few", "small"), ("few", "some"), ("one", "small"))
LONG = (("one", "largest"), ("one", "many"), ("few", "many"), ("cases", "some"), ("one", "largest"))
DEEP = ("ascending", "high", "descending")  # patterns of paths
PATTERNS = (
    "wide", "narrow", "equal", "edges", "ascending", "ties", "low", "descending", "alternating", "high", "odd one",
    "wide", "lower half", "special",
)  # fmt: skip
MOST = {"one": 1, "few": 6, "small": 10, "cases": 60, "some": 24, "many": 400, "deep": 1500, "largest": 200_000}


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes and pattern of an input."""

    cases: str
    size: str
    pattern: str

    @property
    def name(self) -> str:
        """Sizes and pattern in words."""
        return f"{self.cases} × {self.size}, {self.pattern}"

    @property
    def is_large(self) -> bool:
        """Return whether all lengths are the greatest ones of their ranges, whatever the size is."""
        return self.cases == self.size == "largest"


def plan_of(
    number: int, *, is_long: bool = False, is_small: bool = False, is_deep: bool = False, is_graph: bool = False
) -> Plan:
    """Return a plan; each pair of sizes meets each pattern.

    Args:
        number: From 0.
        is_long: Lengths are great.
        is_small: … or all small.
        is_deep: Trees are long paths.
        is_graph: Graphs have shapes.
    """
    if is_deep:
        return Plan("one", "deep", DEEP[number % len(DEEP)])
    scales = LONG if is_long else SHAPED if is_graph else SMALL if is_small else SCALES
    cases, size = scales[number % len(scales)]
    return Plan(cases, size, PATTERNS[number % len(PATTERNS)])
