"""Draws the results of a run as SVG: CPU time per test, a bar for each contender, by workload."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.measure import Row
from sandbox_service.reports import pages
from sandbox_service.reports.axes import Axis, short_number

TEMPLATE = Path(__file__).with_name("plot.svg.jinja")
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1000, 330, 90, 10, 40
BAR, TITLE = 22, 34  # height of a row, and of a workload's title
OURS, OTHERS = "#c2410c", "#64748b"


def draw(rows: Sequence[Row]) -> str:
    """Return the plot. The scale is logarithmic, because the contenders are far apart.

    Args:
        rows: Results, those of a workload one after another; at least one.
    """
    figures = [row.cpu_ms_per_test for row in rows if row.cpu_ms_per_test > 0] or [1.0]
    scale = Axis(min(figures) / 2, max(figures), LEFT, WIDTH - RIGHT, is_log=True)
    y, groups = TOP, []
    for workload, group in groupby(rows, key=lambda row: row.workload):
        bars = [_bar(row, scale, y + TITLE + BAR * number) for number, row in enumerate(group)]
        groups.append({"title": workload, "y": y + TITLE - 10, "bars": bars})
        y += TITLE + BAR * len(bars)
    ticks = [{"at": round(scale.at(each), 1), "label": short_number(each)} for each in scale.ticks()]
    return pages.render(TEMPLATE, width=WIDTH, height=y + BOTTOM, left=LEFT, ticks=ticks, groups=groups)


def _bar(row: Row, scale: Axis, y: int) -> dict[str, Any]:
    name = row.label + (f", {row.concurrency} in flight" if row.concurrency > 1 else "")
    value = max(row.cpu_ms_per_test, scale.low)
    colour = OURS if row.contender.startswith("proctor") else OTHERS
    shown = f"{row.cpu_ms_per_test:.2f}"
    return {"name": name, "y": y, "width": round(scale.at(value) - LEFT, 1), "colour": colour, "value": shown}
