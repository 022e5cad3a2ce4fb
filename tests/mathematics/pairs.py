"""Loads the pairs of `pairs.toml`, and adds those that are too long for the file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAIRS = Path(__file__).with_name("pairs.toml")
VERDICTS = {"equal": "AC", "unequal": "WA", "bad": "IE"}
DEEP = 38
LONG = [
    "(" * DEEP + "2" + ")" * DEEP,
    r"\sqrt{" * DEEP + "2" + "}" * DEEP,
    "x^{" * 200 + "1" + "}" * 200,
    "1+" * 490 + "2",
    "1" * 900,
    "0." + "1" * 900,
    "x!" * 400,
    "2" * 5_000,
    "(" * 400,
    r"\frac{1}{" * 100 + "1" + "}" * 100,
    "|" * 101 + "1",
    ",".join(map(str, range(200))),
    r"\text{" + "a" * 900 + "}",
    "\u0661" * 20,
    "1" + "\u202e" * 20,
]


class Pair(NamedTuple):
    """An expected answer, a candidate's answer, and the expected decision."""

    category: str
    expected: str
    answer: str
    verdict: str

    @property
    def is_exact_match(self) -> bool:
        """Return True if the two texts are equal."""
        return self.expected == self.answer


def pairs() -> Iterator[Pair]:
    """Return all pairs."""
    for category, groups in tomllib.loads(PAIRS.read_text()).items():
        for group, written in groups.items():
            yield from (Pair(category, expected, answer, VERDICTS[group]) for expected, answer in written)
    yield from (Pair("hostile", "1", answer, "WA") for answer in LONG)
