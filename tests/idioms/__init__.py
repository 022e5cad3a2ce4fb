"""Programs that show one idiom each: how programs begin, how they end, and what contest programs use.

A file contains many: a line `### name`, then the program. CPython's own output is the expected output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
FILES = ("start", "contest", "endings")

INPUT = "20 22\nsecond line\n"
"""What all of them are given."""


class Idiom(NamedTuple):
    """A program that shows one idiom."""

    id: str
    code: str


def idioms() -> list[Idiom]:
    """Return all idioms, in the order of the files."""
    return [idiom for name in FILES for idiom in _read(name)]


def _read(name: str) -> Iterator[Idiom]:
    for part in re.split(r"^### ", (HERE / f"{name}.txt").read_text(), flags=re.MULTILINE)[1:]:
        title, _, code = part.partition("\n")
        yield Idiom(f"{name}/{title.strip()}", code)
