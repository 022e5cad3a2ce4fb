"""The plot of a run is an SVG that shows each contender, and needs no package of the development environment."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks import plot, report
from benchmarks.measure import Row

SVG = "{http://www.w3.org/2000/svg}"


def row(contender: str, workload: str, milliseconds: float, **given: Any) -> Row:
    """A row of the table; fields that are not drawn are empty."""
    values: dict[str, Any] = dict.fromkeys((each.name for each in fields(Row)), 1)
    named = {"contender": contender, "label": f"<{contender}>", "workload": workload}
    return Row(**values | named | {"cpu_ms_per_test": milliseconds, "concurrency": 1} | given)


ROWS = [row("proctor", "stdin", 1.0), row("other", "stdin", 100.0), row("proctor", "calls", 0.1, concurrency=8)]


def test_each_contender_has_a_bar_by_workload() -> None:
    drawn = ElementTree.fromstring(plot.draw(ROWS))
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert {"stdin", "calls", "<proctor>", "<other>", "<proctor>, 8 in flight", "1.00", "100.00"} <= set(texts)
    widths = [float(each.attrib["width"]) for each in drawn.iter(f"{SVG}rect") if each.get("class") == "bar"]
    assert len(widths) == 3
    assert widths[1] > widths[0] > widths[2] > 0
    assert all(plot.LEFT + width <= plot.WIDTH for width in widths)


def test_a_single_figure_and_none_at_all_are_drawn() -> None:
    for milliseconds in (0.0, 3.0):
        assert "</svg>" in plot.draw([row("proctor", "stdin", milliseconds)])


def test_a_report_is_written_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    report.write({}, {}, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"results.json", "table.md"}
