"""Figures as a page: one file that can be sent to somebody and opened anywhere. No scripts, nothing from elsewhere.

Of one evaluation: the figures with their intervals, by group, and problem by problem. Of several checkpoints of a run:
curves with bands, and the same of the last one. It looks as the page of a run does (`trainer.page`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from trainer.evaluation import table
from trainer.page import BOTTOM, COLOURS, HEIGHT, LEFT, RIGHT, STYLE, TOP, WIDTH

Summary = Mapping[str, Any]
Point = tuple[float, Mapping[str, float]]  # a step and an estimate

PROBLEMS_SHOWN = 2000
MORE_STYLE = """
.band { opacity: .16; }
.bar { display: block; height: .6rem; border-radius: .2rem; background: var(--s0); min-width: 1px; }
td.wide { width: 40%; }
td.name, th.name { text-align: left; overflow-wrap: anywhere; }
.dots { letter-spacing: .05em; }
"""


def render(title: str, summary: Summary, problems: Sequence[Mapping[str, Any]]) -> str:
    """The page of one evaluation. `problems` are the lines of results.jsonl."""
    return _page(title, _subtitle(summary), f"{_tiles(summary)}{_body(summary, problems)}")


def render_curves(title: str, summaries: Sequence[Summary]) -> str:
    """The page of a run: `summaries` are of its checkpoints, each with its "step"."""
    last = max(summaries, key=lambda each: float(each["step"]))
    charts = "".join(_charts(sorted(summaries, key=lambda each: float(each["step"]))))
    body = f'{_tiles(last)}<main class="grid">{charts}</main>{_body(last, ())}'
    return _page(title, f"{len(summaries)} checkpoints · step {last['step']}: {_subtitle(last)}", body)


def _page(title: str, subtitle: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{STYLE}{MORE_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="soft">{escape(subtitle)}</p>
{body}
</body>
</html>
"""


def _subtitle(summary: Summary) -> str:
    parts = [str(summary.get("model") or ""), f"{summary['problems']} problems × {summary['n']} samples"]
    if sampling := summary.get("sampling"):
        parts.append(f"temperature {sampling['temperature']:g}, top-p {sampling['top_p']:g}")
    return " · ".join(filter(None, parts))


def _tiles(summary: Summary) -> str:
    told = map(table.interval, table.estimates(summary))
    tiles = list(zip(table.columns(summary), told, strict=True))
    if (rating := summary.get("rating")) and rating["value"] is not None:
        tiles.append(("Codeforces rating", f"{rating['value']:.0f}"))
    cards = "".join(f'<div class="card"><b>{escape(value)}</b>{escape(name)}</div>' for name, value in tiles)
    return f'<div class="tiles">{cards}</div>'


def _body(summary: Summary, problems: Sequence[Mapping[str, Any]]) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes(summary))
    parts = [
        f'<section class="card"><h2>Figures, per cent, with 95 % intervals</h2>{_figures(summary)}</section>',
        f'<section class="card"><h2>Besides</h2><ul>{notes}</ul></section>' if notes else "",
        _problems(problems) if problems else "",
        _details("Settings", {name: value for name, value in summary.items() if name not in ("by", "rating")}),
    ]
    return "".join(parts)


def _figures(summary: Summary) -> str:
    heads = ["problems", *table.columns(summary), "cut", "tokens", ""]
    rows = [_figure("all", summary)]
    rows += [_figure(f"{by} {name}", each) for by, named in summary["by"].items() for name, each in named.items()]
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    return f'<table><tr><th class="name"></th>{head}</tr>{"".join(rows)}</table>'


def _figure(name: str, figures: Summary) -> str:
    tokens = f"{figures['tokens']:.0f}" if figures["tokens"] is not None else "–"
    told = [str(figures["problems"]), *map(table.interval, table.estimates(figures))]
    cells = "".join(f"<td>{escape(each)}</td>" for each in [*told, f"{figures['cut']:.1%}", tokens])
    share = 100 * (figures["avg"] or {"value": 0})["value"]
    bar = f'<td class="wide"><span class="bar" style="width:{share:.1f}%"></span></td>'
    return f'<tr><td class="name">{escape(name)}</td>{cells}{bar}</tr>'


def _problems(problems: Sequence[Mapping[str, Any]]) -> str:
    """Hardest first; a dot for each sample."""
    order = sorted(problems, key=lambda each: (each["correct"] / max(each["n"], 1), each["problem"]))
    rows = "".join(_problem(each) for each in order[:PROBLEMS_SHOWN])
    head = '<tr><th class="name"></th><th>right</th><th>samples</th><th>verdicts</th><th>tokens</th></tr>'
    return (
        '<section class="card"><details><summary>Problems, hardest first</summary>'
        f"<table>{head}{rows}</table></details></section>"
    )


def _problem(line: Mapping[str, Any]) -> str:
    marks = "".join({True: "●", False: "○"}.get(each, "·") for each in line["right"])
    verdicts = " ".join(f"{name} {count}" for name, count in line["verdicts"].items())
    tokens = f"{line['tokens']:.0f}" if line["tokens"] is not None else "–"
    cells = [f"{line['correct']}/{line['n']}", marks, verdicts, tokens]
    told = "".join(f"<td>{escape(each)}</td>" for each in cells)
    return f'<tr><td class="name">{escape(line["problem"])}</td>{told}</tr>'


def _details(title: str, said: Mapping[str, Any]) -> str:
    text = escape(json.dumps(said, indent=2, ensure_ascii=False))
    return f'<section class="card"><details><summary>{escape(title)}</summary><pre>{text}</pre></details></section>'


def _charts(summaries: Sequence[Summary]) -> Iterator[str]:
    """All problems together, then each grouping, with a curve for each of its groups."""
    figures = {"avg": [(float(each["step"]), each["avg"]) for each in summaries if each["avg"]]}
    for k in summaries[-1]["pass"]:
        if k != "1":
            found = [(float(each["step"]), each["pass"].get(k)) for each in summaries]
            figures[f"pass@{k}"] = [(step, estimate) for step, estimate in found if estimate]
    yield _chart("Share of samples that pass, and pass@k", figures)
    for grouping, named in summaries[-1]["by"].items():
        yield _chart(
            f"Share of samples that pass, by {grouping}",
            {name: _by(summaries, grouping, name) for name in list(named)[:COLOURS]},
        )


def _by(summaries: Sequence[Summary], grouping: str, name: str) -> list[Point]:
    found = [(float(each["step"]), each["by"].get(grouping, {}).get(name)) for each in summaries]
    return [(step, figures["avg"]) for step, figures in found if figures and figures["avg"]]


def _chart(title: str, curves: Mapping[str, Sequence[Point]]) -> str:
    steps = [step for points in curves.values() for step, _ in points]
    if not steps:
        return ""
    scale = _Scale(min(steps), max(steps))
    drawn = "".join(_curve(scale, place, points) for place, points in enumerate(curves.values()))
    legend = "".join(
        f'<li><i style="background:var(--s{place % COLOURS})"></i>{escape(name)} '
        f"<b>{escape(table.interval(points[-1][1]))}</b></li>"
        for place, (name, points) in enumerate(curves.items())
        if points
    )
    return (
        f'<article class="card"><h2>{escape(title)}</h2><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{scale.drawn(sorted(set(steps)))}{drawn}</svg>'
        f'<ul class="legend">{legend}</ul></article>'
    )


def _curve(scale: _Scale, place: int, points: Sequence[Point]) -> str:
    """A line with its points, and a band where the figure might be."""
    colour = f"var(--s{place % COLOURS})"
    upper = [f"{scale.x(step):.1f} {scale.y(each['high']):.1f}" for step, each in points]
    lower = [f"{scale.x(step):.1f} {scale.y(each['low']):.1f}" for step, each in points]
    line = [f"{scale.x(step):.1f} {scale.y(each['value']):.1f}" for step, each in points]
    dots = "".join(
        f'<circle cx="{scale.x(step):.1f}" cy="{scale.y(each["value"]):.1f}" r="2.2" fill="{colour}"/>'
        for step, each in points
    )
    band = f'<path class="band" fill="{colour}" d="M{"L".join([*upper, *reversed(lower)])}Z"/>' if line else ""
    path = f'<path class="curve" stroke="{colour}" d="M{"L".join(line)}"/>' if line else ""
    return band + path + dots


class _Scale:
    """Where values are on the drawing: steps from left to right, shares from 0 to 1."""

    def __init__(self, first: float, last: float) -> None:
        self._first = first
        self._last = last if last > first else first + 1

    def x(self, step: float) -> float:
        """From the left."""
        return LEFT + (step - self._first) / (self._last - self._first) * (WIDTH - LEFT - RIGHT)

    def y(self, share: float) -> float:
        """From the top."""
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def drawn(self, steps: Sequence[float]) -> str:
        """Rules and numbers; no more steps than there is room for."""
        across = [
            f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{self.y(share):.1f}" y2="{self.y(share):.1f}"/>'
            f'<text x="{LEFT - 6}" y="{self.y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
            for share in (0.0, 0.25, 0.5, 0.75, 1.0)
        ]
        shown = steps[:: -(-len(steps) // 6)]
        below = [
            f'<text x="{min(self.x(step), WIDTH - 20):.1f}" y="{HEIGHT - 5}" text-anchor="middle">{step:g}</text>'
            for step in shown
        ]
        return "".join([*across, *below])
