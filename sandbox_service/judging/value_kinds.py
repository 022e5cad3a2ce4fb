"""The kinds of plain values that a comparison distinguishes, and their order for sorting."""

from __future__ import annotations

from decimal import Decimal

# Integers with more bits are beyond any float, so never within a tolerance of one, and slow to write in decimal.
LARGE_BITS = 2000
SET_TAG = "__set__"


class Unordered(list[object]):
    """The elements of a set in a result. They are never hashed, because a submission can make all hashes collide."""


SETS = (set, frozenset, Unordered)
KINDS: dict[type, str] = {
    type(None): "null", bool: "bool", int: "number", float: "number", Decimal: "number", str: "text",
    list: "list", tuple: "list", set: "list", frozenset: "list", Unordered: "list", dict: "dict",
}  # fmt: skip
RANKS = {"null": 0, "bool": 1, "number": 2, "text": 3, "list": 4, "dict": 5, "deep": 6, "foreign": 7}
