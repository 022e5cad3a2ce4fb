"""A run as a page: one file with its curves drawn in it, that can be sent to somebody and opened anywhere.

No scripts, and nothing from elsewhere. Light or dark as the reader's machine is, and readable on a phone. What a
figure means is said where it is made (`figures`, `objective`, `clock`); a new one shows in the table by itself, and as
a curve if a line of CHARTS names it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any

from trainer.clock import NAMES

Row = Mapping[str, Any]  # a step: figures by name; those that were not finite are None


@dataclass(frozen=True)
class Chart:
    """Which figures go together. Names may have a `*`."""

    title: str
    names: Sequence[str]
    is_stacked: bool = False


CHARTS = (
    Chart("Reward and pass rate", ("reward", "pass_rate")),
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
    Chart("Seconds of a step", tuple(f"seconds_{name}" for name in NAMES), is_stacked=True),
)
HEADLINES = (
    ("reward", "reward"),
    ("pass_rate", "pass rate"),
    ("length", "tokens a response"),
    ("step_seconds", "s a step"),
)
NO_FIGURES = ("step", "time")
COLOURS = 6
WIDTH, HEIGHT = 400, 200  # of a chart, in its own units: about as many pixels
LEFT, RIGHT, TOP, BOTTOM = 50, 8, 8, 20  # margins
MOST_POINTS = 200
SMOOTH_FROM = 40  # points
LATE = 10  # steps that the last column is the mean of

STYLE = """
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --text: #1c2330; --soft: #667085; --line: #e4e7ec;
  --s0: #2563eb; --s1: #d97706; --s2: #059669; --s3: #dc2626; --s4: #7c3aed; --s5: #64748b; }
@media (prefers-color-scheme: dark) { :root { --ground: #0f131a; --card: #181e28; --text: #e6e9ef; --soft: #98a2b3;
  --line: #2a3240; --s0: #60a5fa; --s1: #fbbf24; --s2: #34d399; --s3: #f87171; --s4: #a78bfa; --s5: #94a3b8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.25rem; max-width: 84rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { margin: 0 0 .5rem; font-size: .9rem; font-weight: 600; }
.soft { margin: 0 0 1rem; color: var(--soft); }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem; margin-bottom: 1rem; }
.tiles .card { flex: 1 1 9rem; color: var(--soft); }
.tiles b { display: block; font-size: 1.5rem; font-weight: 600; }
.card { min-width: 0; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .6rem;
  background: var(--card); }
section { margin-top: 1rem; overflow-x: auto; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.rule { stroke: var(--line); }
.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.faint { stroke-width: 1; opacity: .3; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: .4rem 0 0; padding: 0; list-style: none;
  font-size: .8rem; color: var(--soft); }
.legend i { display: inline-block; width: .7rem; height: .7rem; margin-right: .35rem; border-radius: .2rem; }
.legend b, .tiles b, td { color: var(--text); font-variant-numeric: tabular-nums; }
table { width: 100%; border-collapse: collapse; font-size: .85rem; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: right; }
th { color: var(--soft); font-weight: 500; }
th:first-child { text-align: left; }
summary { cursor: pointer; font-weight: 600; }
pre { overflow-x: auto; font-size: .8rem; }
"""


def write(path: Path, rows: Sequence[Row], config: Mapping[str, Any]) -> None:
    """Write the page of a run: all at once, so that no reader ever finds half of it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(render(rows, config), encoding="utf-8")
    unfinished.replace(path)


def render(rows: Sequence[Row], config: Mapping[str, Any]) -> str:
    """The page. `rows` are the steps in order, `config` is what was configured, as plain data."""
    title = escape(str(config.get("name", "run")))
    charts = "\n".join(text for chart in CHARTS if (text := _chart(chart, rows)))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p class="soft">{escape(_subtitle(rows, config))}</p>
<div class="tiles">{_tiles(rows)}</div>
<main class="grid">
{charts}
</main>
<section class="card"><h2>Figures</h2>{_table(rows)}</section>
<section class="card"><details><summary>Configuration</summary>
<pre>{escape(json.dumps(config, indent=2, ensure_ascii=False))}</pre></details></section>
</body>
</html>
"""


def _subtitle(rows: Sequence[Row], config: Mapping[str, Any]) -> str:
    if not rows:
        return "no step yet"
    model = (config.get("model") or {}).get("path", "")
    parts = [config.get("algorithm", ""), model, f"step {rows[-1]['step']} of {config.get('steps', '?')}"]
    return " · ".join(str(part) for part in parts if part)


def _tiles(rows: Sequence[Row]) -> str:
    return "".join(
        f'<div class="card"><b>{_number(late)}</b>{escape(label)}</div>'
        for name, label in HEADLINES
        if (late := _mean(_values(rows[-LATE:], name))) is not None
    )


def _table(rows: Sequence[Row]) -> str:
    lines = [
        f"<tr><th>{escape(name)}</th>"
        + "".join(f"<td>{_number(value)}</td>" for value in _summary(rows, name))
        + "</tr>"
        for name in _names(rows)
    ]
    head = (
        f"<tr><th></th><th>first</th><th>last</th><th>mean of the last {LATE}</th><th>least</th><th>greatest</th></tr>"
    )
    return f"<table>{head}{''.join(lines)}</table>"


def _summary(rows: Sequence[Row], name: str) -> tuple[float | None, ...]:
    """First, last, late mean, least, greatest."""
    values = [value for value in _values(rows, name) if value is not None]
    if not values:
        return (None,) * 5
    return values[0], values[-1], _mean(_values(rows[-LATE:], name)), min(values), max(values)


def _chart(chart: Chart, rows: Sequence[Row]) -> str:
    """A card with a drawing and its legend; nothing if there are no such figures."""
    names = [name for name in _matching(chart.names, _names(rows)) if any(_values(rows, name))]
    if not names:
        return ""
    steps = [float(row["step"]) for row in rows]
    curves = [_values(rows, name) for name in names]
    lasts = [_last(values) for values in curves]
    steps = [step for step in _thinned(steps) if step is not None]
    curves = [_thinned(values) for values in curves]
    drawing = _stacked(steps, curves) if chart.is_stacked else _lines(steps, curves)
    legend = "".join(_legend(place, *each) for place, each in enumerate(zip(names, lasts, strict=True)))
    return (
        f'<article class="card"><h2>{escape(chart.title)}</h2>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart.title)}">{drawing}</svg>'
        f'<ul class="legend">{legend}</ul></article>'
    )


def _legend(place: int, name: str, last: float | None) -> str:
    swatch = f'<i style="background:var(--s{place % COLOURS})"></i>'
    return f"<li>{swatch}{escape(name.removeprefix('seconds_'))} <b>{_number(last)}</b></li>"


def _lines(steps: Sequence[float], curves: Sequence[Sequence[float | None]]) -> str:
    """Curves; long ones as a running mean, with what it is the mean of faintly behind."""
    known = [value for values in curves for value in values if value is not None]
    frame = _Frame.around(steps, known)
    parts = [frame.drawn()]
    for place, values in enumerate(curves):
        stroke = f'stroke="var(--s{place % COLOURS})"'
        if len(values) < SMOOTH_FROM:
            parts.append(f'<path class="curve" {stroke} d="{frame.path(steps, values)}"/>')
        else:
            parts.append(f'<path class="curve faint" {stroke} d="{frame.path(steps, values)}"/>')
            parts.append(f'<path class="curve" {stroke} d="{frame.path(steps, _smooth(values))}"/>')
    return "".join(parts)


def _stacked(steps: Sequence[float], curves: Sequence[Sequence[float | None]]) -> str:
    """Areas upon each other: what is not known is nothing."""
    tops = list(
        zip(*(accumulate(value or 0.0 for value in column) for column in zip(*curves, strict=True)), strict=True)
    )
    frame = _Frame.around(steps, [0.0, *tops[-1]])
    parts = []
    floor: Sequence[float] = [0.0] * len(steps)
    for place, top in enumerate(tops):
        parts.append(f'<path fill="var(--s{place % COLOURS})" fill-opacity=".75" d="{frame.area(steps, floor, top)}"/>')
        floor = top
    return frame.drawn() + "".join(parts)


@dataclass(frozen=True)
class _Frame:
    """Where values are on the drawing."""

    left: float
    right: float
    low: float
    high: float

    @classmethod
    def around(cls, steps: Sequence[float], values: Sequence[float]) -> _Frame:
        """With room for all; from 0 on where that costs little."""
        low, high = min(values), max(values)
        if 0 <= low <= 0.5 * high:
            low = 0.0
        if high - low < 1e-9 * max(abs(high), 1e-9):  # flat: as far above as below
            margin = abs(high) / 2 or 1.0
            low, high = low - margin, high + margin
        margin = 0.04 * (high - low)
        right = steps[-1] if steps[-1] > steps[0] else steps[0] + 1
        return cls(steps[0], right, low - (margin if low else 0.0), high + margin)

    def x(self, step: float) -> float:
        """From the left."""
        return LEFT + (step - self.left) / (self.right - self.left) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """From the top."""
        return HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)

    def drawn(self) -> str:
        """Rules and numbers."""
        across = [
            f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{self.y(value):.1f}" y2="{self.y(value):.1f}"/>'
            f'<text x="{LEFT - 6}" y="{self.y(value) + 4:.1f}" text-anchor="end">{_number(value)}</text>'
            for value in _ticks(self.low, self.high, 4)
        ]
        below = [
            f'<text x="{self.x(step):.1f}" y="{HEIGHT - 5}" text-anchor="middle">{_number(step)}</text>'
            for step in _ticks(self.left, self.right, 5)
            if step == int(step) and self.x(step) < WIDTH - 14
        ]
        return "".join([*across, *below])

    def path(self, steps: Sequence[float], values: Sequence[float | None]) -> str:
        """A curve, with gaps where there is no value. A point alone is a dash."""
        said, is_down = [], False
        for step, value in zip(steps, values, strict=True):
            if value is None:
                is_down = False
                continue
            said.append(f"{'L' if is_down else 'M'}{self.x(step):.1f} {self.y(value):.1f}" + ("" if is_down else "h.1"))
            is_down = True
        return "".join(said)

    def area(self, steps: Sequence[float], floor: Sequence[float], top: Sequence[float]) -> str:
        """What is between two curves; over a single step, a bar."""
        there = list(zip(steps, top, strict=True))
        back = list(zip(steps, floor, strict=True))[::-1]
        if len(there) == 1:
            there, back = [*there, (self.right, there[0][1])], [(self.right, back[0][1]), *back]
        return "M" + "L".join(f"{self.x(step):.1f} {self.y(value):.1f}" for step, value in [*there, *back]) + "Z"


def _thinned(values: Sequence[float | None]) -> list[float | None]:
    """No more points than can be seen: means of as many neighbours as it takes."""
    size = math.ceil(len(values) / MOST_POINTS)
    return [_mean(values[at : at + size]) for at in range(0, len(values), size)]


def _smooth(values: Sequence[float | None]) -> list[float | None]:
    """The mean of what is near: a fortieth of the run to either side."""
    reach = max(len(values) // SMOOTH_FROM, 1)
    return [_mean(values[max(at - reach, 0) : at + reach + 1]) for at in range(len(values))]


def _ticks(low: float, high: float, about: int) -> Iterator[float]:
    """Round numbers from low to high: multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * min((1, 2, 5, 10), key=lambda nice: abs(math.log(nice * power / rough)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return (round(step * number, 12) for number in range(first, last + 1))


def _matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    return [name for pattern in patterns for name in names if fnmatchcase(name, pattern)]


def _names(rows: Sequence[Row]) -> list[str]:
    """Of all figures, in the order that they came up."""
    return list(dict.fromkeys(name for row in rows for name in row if name not in NO_FIGURES))


def _values(rows: Sequence[Row], name: str) -> list[float | None]:
    found = [row.get(name) for row in rows]
    return [float(value) if isinstance(value, int | float) and math.isfinite(value) else None for value in found]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _last(values: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(values) if value is not None), None)


def _number(value: float | None) -> str:
    """Three digits that mean something."""
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.3g}"
    return f"{value:.3g}"
