"""Parses limits of time and memory, which each data set writes in its own form."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from sandbox_service.schema import Limits
from sandbox_service.validation.sources.rows import Row

LEAST_MEMORY_BYTES = 256 << 20  # data sets are for Python, of which the sandbox counts the interpreter too
LEAST_OF_PACKAGES = 64 << 20  # of programs in all languages, which must exceed a small limit; `Limits` has no less

_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_SIZES = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SECONDS = {"time_limit_s": 1.0, "time_limit_seconds": 1.0, "time_limit_ms": 1e-3, "time_limit_ns": 1e-9}
_BYTES = {"memory_limit_bytes": 1, "memory_limit_kb": 1 << 10, "memory_limit_mb": 1 << 20}
# no part of `1,5 seconds`, `00:02` or `1 second 500 ms`
_AMOUNT = re.compile(r"\s*(\d++(?:\.\d++)?+)(?![.,:])\s*+([a-zµ]*+)(?!\s*\d)", re.IGNORECASE)


def limits(
    row: Row,
    cpu_seconds: float | None = None,
    memory_bytes: int | None = None,
    least_memory: int = LEAST_MEMORY_BYTES,
) -> Limits | None:
    """Return the limits of a row.

    Args:
        row: The row.
        cpu_seconds: Time limit if the row has none.
        memory_bytes: Memory limit if the row has none.
        least_memory: The smallest memory limit; a smaller one becomes this.

    Returns:
        The limits, or None if there are none.
    """
    seconds, memory = time_limit(row) or cpu_seconds, memory_limit(row) or memory_bytes
    known: dict[str, Any] = {} if seconds is None else {"cpu_seconds": seconds}
    if memory is not None:
        known["memory_bytes"] = max(memory, least_memory)
    return Limits(**known) if known else None


def time_limit(row: Row) -> float | None:
    """Return the time limit in seconds, from the first field that has one; 0 means none."""
    for name, unit in _SECONDS.items():
        if value := _number(row.get(name), name):
            return value * unit
    return _time(row.get("time_limit")) or None


def memory_limit(row: Row) -> int | None:
    """Return the memory limit in bytes, from the first field that has one; 0 means none."""
    for name, unit in _BYTES.items():
        if value := _number(row.get(name), name):
            return int(value * unit)
    return _memory(row.get("memory_limit")) or None


def _time(value: Any) -> float | None:
    """Parse `2 seconds`, `1500 ms`, `{seconds, nanos}`, or a number: seconds to 300, nanoseconds from a million on."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, dict):
        return float(value.get("seconds") or 0) + float(value.get("nanos") or 0) / 1e9
    amount, unit = _amount(value, "time_limit")
    if amount is None:
        return None
    if unit:
        return amount * _TIMES[_time_unit(unit)]
    return amount if amount <= 300 else amount / 1e9 if amount >= 1e6 else amount / 1e3


def _memory(value: Any) -> int | None:
    """Parse `256 megabytes`, `64 MB`, or a number: megabytes, or bytes from 65,536 on."""
    amount, unit = _amount(value, "memory_limit")
    if amount is None:
        return None
    if unit:
        return int(amount * _SIZES[_size_unit(unit)])
    return int(amount) if amount >= 1 << 16 else int(amount * (1 << 20))


def _time_unit(unit: str) -> str:
    unit = unit.lower().replace("µ", "u")
    for short, words in (("ns", "nano"), ("us", "micro"), ("ms", "milli"), ("ms", "msec"), ("s", "sec")):
        if unit == short or unit.startswith(words):
            return short
    raise ValueError(f"time_limit is in {unit!r}: seconds, ms, us and ns are known")


def _size_unit(unit: str) -> str:
    if unit[0].lower() in _SIZES:
        return unit[0].lower()
    raise ValueError(f"memory_limit is in {unit!r}: bytes, kB, MB and GB are known")


def _amount(value: Any, name: str) -> tuple[float | None, str]:
    if isinstance(value, str) and not isinstance(value, bool):
        if value.strip().lower() in ("", "none", "null", "unknown", "n/a"):
            return None, ""
        match = _AMOUNT.match(value)
        if match is None:
            raise ValueError(f"{name} is {value[:40]!r}, which is not one number and perhaps a unit")
        return float(match[1]), match[2]
    return _number(value, name), ""


def _number(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool):
        raise ValueError(f"{name} is {value}, which is not a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {str(value)[:40]!r}, which is not a number") from None
