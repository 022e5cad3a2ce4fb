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
    """Write table.md, results.json and plot.svg/.png to `folder`, and return the table."""
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
    _plot(lines, folder)
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


def _plot(lines: list[Row], folder: Path) -> None:
    """Plot CPU time per test, on a logarithmic scale because the contenders are far apart."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    groups = [list(group) for _, group in groupby(lines, key=lambda row: row.workload)]
    if not groups:
        return
    figure = Figure(figsize=(10, 0.6 + sum(0.7 + 0.34 * len(group) for group in groups)), layout="constrained")
    heights = [0.7 + 0.34 * len(group) for group in groups]
    axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axis, group in zip(axes, groups, strict=True):
        _bars(axis, group)
    axes[-1].set_xlabel("CPU milliseconds per test (logarithmic), killed descendants included")
    for suffix in ("svg", "png"):
        figure.savefig(folder / f"plot.{suffix}", dpi=150)


def _bars(axis: Any, group: list[Row]) -> None:
    names = [row.label + (f", {row.concurrency} in flight" if row.concurrency > 1 else "") for row in group]
    colours = ["#c2410c" if row.contender.startswith("proctor") else "#64748b" for row in group]
    bars = axis.barh(names, [row.cpu_ms_per_test for row in group], color=colours, height=0.7)
    axis.bar_label(bars, [f" {row.cpu_ms_per_test:.2f}" for row in group], fontsize=8)
    axis.set_xscale("log")
    axis.margins(x=0.15)
    axis.invert_yaxis()
    axis.set_title(group[0].workload, loc="left", fontsize=10)
    axis.tick_params(axis="y", labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
