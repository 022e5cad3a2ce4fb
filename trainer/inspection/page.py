"""The page of a run: one HTML file with its curves, a table of all figures and the configuration.

A new figure appears in the table by itself, and as a curve if an entry of CHARTS names it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sandbox_service.reports import charts, pages

Row = Mapping[str, Any]  # a step: figures by name; None for a figure that was not finite


@dataclass(frozen=True)
class Chart:
    """Figures that share a chart. Names may contain a `*`."""

    title: str
    names: Sequence[str]
    is_stacked: bool = False


CHARTS = (
    Chart("Reward and pass rate", ("reward", "pass_rate")),
    Chart("Held-out pass rate", ("held_out_pass_rate",)),
    Chart("Testers: reward, valid cases, wrong solutions caught", ("tester_reward", "tester_valid", "tester_caught")),
    Chart("Tokens of a response", ("length", "length_max")),
    Chart("Cut off and repeated, share", ("truncated", "repetition")),
    Chart("Entropy", ("entropy",)),
    Chart("KL divergence to the reference", ("kl",)),
    Chart("KL divergence of a batch's steps", ("approx_kl",)),
    Chart("Clipped tokens, share", ("clip_*", "dual_*", "correction_cut")),
    Chart("Log-probability gap to vLLM, mean", ("logprob_gap",)),
    Chart("Log-probability gap to vLLM, greatest", ("logprob_gap_max",)),
    Chart("Flat groups, masked samples, faults, share", ("flat_share", "masked_share", "fault_share")),
    Chart("Gradient norm", ("grad_norm",)),
    Chart("Versions that a batch is behind, mean and most", ("staleness", "staleness_max")),
    Chart("Seconds of a step", ("seconds_*",), is_stacked=True),
)
HEADLINES = (
    ("reward", "reward"),
    ("pass_rate", "pass rate"),
    ("length", "tokens a response"),
    ("step_seconds", "s a step"),
)
NO_FIGURES = ("step", "time")
LATE = 10  # steps that the headlines and a column of the table average over
TEMPLATE = Path(__file__).parents[1] / "templates" / "run.html"


def write(path: Path, rows: Sequence[Row], config: Mapping[str, Any]) -> None:
    """Write the page of a run at a path, in one step; see `render`."""
    pages.write(path, render(rows, config))


def render(rows: Sequence[Row], config: Mapping[str, Any]) -> str:
    """Return the page of a run as HTML, from its steps (rows, ascending) and its configuration (config)."""
    names = list(dict.fromkeys(name for row in rows for name in row if name not in NO_FIGURES))
    tiles = ((_late_mean(rows, name), label) for name, label in HEADLINES)
    return pages.render(
        TEMPLATE,
        title=str(config.get("name", "run")),
        subtitle=_subtitle(rows, config),
        tiles=[(value, label) for value, label in tiles if value is not None],
        charts=list(_charts(rows, names)),
        late=LATE,
        figures=[(name, _summary(rows, name)) for name in names],
        config=config,
    )


def _subtitle(rows: Sequence[Row], config: Mapping[str, Any]) -> str:
    if not rows:
        return "no step yet"
    model = (config.get("model") or {}).get("path", "")
    parts = [config.get("algorithm", ""), model, f"step {rows[-1]['step']} of {config.get('steps', '?')}"]
    return " · ".join(str(part) for part in parts if part)


def _summary(rows: Sequence[Row], name: str) -> tuple[float | None, ...]:
    """First, last, mean of the last LATE steps, least, greatest."""
    values = [value for value in _values(rows, name) if value is not None]
    if not values:
        return (None,) * 5
    return values[0], values[-1], _late_mean(rows, name), min(values), max(values)


def _charts(rows: Sequence[Row], known: Sequence[str]) -> Iterator[charts.Chart]:
    """Charts of the known figures that are not always 0 or unknown."""
    steps = [float(row["step"]) for row in rows]
    for chart in CHARTS:
        names = [name for pattern in chart.names for name in known if fnmatchcase(name, pattern)]
        curves = {name.removeprefix("seconds_"): values for name in names if any(values := _values(rows, name))}
        if curves:
            draw = charts.stacked_chart if chart.is_stacked else charts.line_chart
            yield draw(chart.title, steps, curves)


def _values(rows: Sequence[Row], name: str) -> list[float | None]:
    found = [row.get(name) for row in rows]
    return [float(value) if isinstance(value, int | float) and math.isfinite(value) else None for value in found]


def _late_mean(rows: Sequence[Row], name: str) -> float | None:
    return charts.mean(_values(rows[-LATE:], name))
