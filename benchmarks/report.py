"""Writes the results of a run: a table in Markdown, JSON, and a plot."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import time
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks import plot
from benchmarks.measure import Readings, Row, rows

HEADINGS = (
    *("contender", "in flight", "CPU ms/test", "lowest to highest", "× fork limit", "× Code-R1", "× fresh"),
    *("tests/s per core", "tests/s", "p50 ms", "p99 ms", "idle RSS / PSS MB"),
)
EXPLANATION = """\
CPU time is that of the contender's whole cgroup, killed descendants included: the median over rounds, within one
interleaved run. Ratios are medians of ratios within a round. tests/s per core follows from CPU time; tests/s is by the
clock, with the submissions in flight that are stated. p50 and p99 are per submission, with all its tests.
"""


def write(readings: Readings, facts: dict[str, Any], folder: Path) -> str:
    """Write table.md, results.json and plot.svg to `folder`, and return the table."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = rows(readings)
    facts = _machine() | facts
    rounds = [
        {**dataclasses.asdict(entry), "cpu_ms_per_test": reading.cpu_ms, "repetitions": reading.repetitions}
        for entry, reading in readings.items()
    ]
    results = {"facts": facts, "rows": [dataclasses.asdict(row) for row in lines], "rounds": rounds}
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    text = _table(lines, facts)
    (folder / "table.md").write_text(text)
    if lines:
        (folder / "plot.svg").write_text(plot.draw(lines))
    return text


def _machine() -> dict[str, Any]:
    return {
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
    }


def _table(lines: list[Row], facts: dict[str, Any]) -> str:
    parts = [EXPLANATION, " · ".join(f"{key.replace('_', ' ')}: {_text(value)}" for key, value in facts.items()), ""]
    for workload, group in groupby(lines, key=lambda row: row.workload):
        cells = [HEADINGS, ("---",) * len(HEADINGS), *map(_cells, group)]
        parts += [f"## {workload}", "", *("| " + " | ".join(line) + " |" for line in cells), ""]
    return "\n".join(parts)


def _cells(row: Row) -> tuple[str, ...]:
    wrong = f" ({row.rejected} programs misjudged)" if row.rejected else ""
    return (
        row.label + wrong,
        str(row.concurrency),
        f"{row.cpu_ms_per_test:.3f}",
        f"{row.cpu_ms_lowest:.3f} to {row.cpu_ms_highest:.3f}",
        _times(row.times_limit),
        _times(row.times_code_r1),
        _times(row.times_fresh),
        f"{row.tests_per_core_second:.0f}",
        f"{row.tests_per_second:.1f}",
        f"{row.p50_ms:.1f}",
        f"{row.p99_ms:.1f}",
        f"{row.memory.resident_bytes / 1e6:.0f} / {row.memory.proportional_bytes / 1e6:.0f}",
    )


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3f}" if ratio < 0.1 else f"{ratio:.2f}"


def _text(value: Any) -> str:
    return ", ".join(f"{one:.2f}" for one in value) if isinstance(value, tuple) else str(value)
