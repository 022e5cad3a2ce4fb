"""How a report is drawn: one file of HTML that can be sent to somebody and opened anywhere.

No scripts, and nothing from elsewhere. Light or dark as the reader's machine is, and readable on a phone: words are
HTML, which wraps, and only what has axes is drawn.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

Html = str

WIDTH, HEIGHT = 400, 210  # of a drawing, in its own units: about as many pixels
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 10, 34  # margins
BINS = 20
MOST_POINTS = 1500
LEAST_SECONDS = 0.001  # what is faster is drawn as this

STYLE = """
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --text: #1c2330; --soft: #5f6b7e; --line: #e4e7ec;
  --good: #059669; --bad: #dc2626; --s0: #2563eb; --s1: #d97706; --s2: #0891b2; --s4: #7c3aed; --s5: #94a3b8; }
@media (prefers-color-scheme: dark) { :root { --ground: #0f131a; --card: #181e28; --text: #e6e9ef; --soft: #98a2b3;
  --line: #2a3240; --good: #34d399; --bad: #f87171; --s0: #60a5fa; --s1: #fbbf24; --s2: #22d3ee; --s4: #a78bfa;
  --s5: #64748b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.25rem; max-width: 80rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { margin: 0 0 .6rem; font-size: .95rem; font-weight: 600; }
.soft { margin: 0 0 1rem; color: var(--soft); overflow-wrap: anywhere; }
.card .soft { margin: 0 0 .6rem; font-size: .8rem; line-height: 1.35; }
.lead { margin: 0 0 1rem; max-width: 60rem; font-size: 1.1rem; }
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: .2em; }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 23rem), 1fr)); }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin-bottom: 1rem; }
.tiles .card { flex: 1 1 8rem; color: var(--soft); font-size: .85rem; }
.tiles b { color: var(--text); font-size: 1.5rem; font-weight: 600; line-height: 1.25; }
.tiles span { display: block; }
.card { min-width: 0; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .6rem;
  background: var(--card); }
section { margin-top: 1rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.rule { stroke: var(--line); }
.limit { stroke: var(--soft); stroke-dasharray: 4 3; }
.bars { display: grid; gap: .45rem; }
.bar { font-size: .85rem; }
.bar > div:first-child { display: flex; justify-content: space-between; gap: 1rem; }
.bar b, .legend b { font-variant-numeric: tabular-nums; font-weight: 600; color: var(--text); }
.bar p { margin: 0; color: var(--soft); font-size: .78rem; line-height: 1.35; }
.track { display: flex; overflow: hidden; height: .5rem; margin: .1rem 0; border-radius: .25rem;
  background: var(--line); }
.track i { display: block; min-width: 2px; height: 100%; }
.whole { height: .8rem; border-radius: .4rem; margin-bottom: .35rem; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: .3rem 0 0; padding: 0; list-style: none;
  font-size: .8rem; color: var(--soft); }
.legend i { display: inline-block; width: .65rem; height: .65rem; margin-right: .35rem; border-radius: .2rem; }
details { border-top: 1px solid var(--line); padding: .5rem 0; }
details:first-of-type { border-top: 0; }
summary { cursor: pointer; font-weight: 600; font-size: .9rem; }
dl { margin: .5rem 0; font-size: .85rem; }
dt { font-weight: 600; overflow-wrap: anywhere; }
dd { margin: 0 0 .5rem; color: var(--soft); overflow-wrap: anywhere; }
@media (min-width: 50rem) {
  dl { display: grid; grid-template-columns: minmax(10rem, 24rem) 1fr; gap: .35rem 1.25rem; } }
dt, dd { line-height: 1.4; }
.grave summary { color: var(--bad); }
:target { background: var(--line); }
pre { overflow-x: auto; font-size: .8rem; }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """Something counted. `colour` is one of the page's; `link`, what there is to see of it."""

    name: str
    count: int
    colour: str
    about: str = ""
    link: str = ""


def whole(title: str, subtitle: str, body: Iterable[Html]) -> Html:
    """The page."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="soft">{escape(subtitle)}</p>
{"".join(body)}
</body>
</html>
"""


# --- words and bars


def lead(text: str) -> Html:
    """What it all comes to, in words."""
    return f'<p class="lead">{escape(text)}</p>'


def tiles(said: Iterable[tuple[str, str, str]]) -> Html:
    """Figures that are seen first: each with its share, or nothing, and its name."""
    cards = "".join(
        f'<div class="card"><b>{escape(value)}</b> {escape(share)}<span>{escape(name)}</span></div>'
        for value, share, name in said
    )
    return f'<div class="tiles">{cards}</div>'


def share_bar(parts: Sequence[Bar]) -> Html:
    """One bar of all."""
    return f'<section class="card">{_track(parts, "whole")}{_legend(parts)}</section><p></p>'


def grid(cards: Iterable[Html]) -> Html:
    """Side by side where there is room."""
    return f'<main class="grid">{"".join(cards)}</main>'


def bars(title: str, said: Sequence[Bar], nothing: str = "", note: str = "") -> Html:
    """A bar for each, as long as its share of the longest."""
    most = max((each.count for each in said), default=1)
    rows = "".join(
        f'<div class="bar"><div><span>{_linked(each)}</span><b>{number(each.count)}</b></div>'
        f"{_track([each], total=most)}{f'<p>{escape(each.about)}</p>' if each.about else ''}</div>"
        for each in said
    )
    return _card(title, f'{_soft(note)}<div class="bars">{rows}</div>' if said else _soft(nothing))


def stacked_bars(title: str, rows: Sequence[tuple[str, Sequence[Bar]]], note: str = "") -> Html:
    """A whole bar for each row, and what it is made of."""
    said = "".join(
        f'<div class="bar"><div><span>{escape(name)}</span><b>{number(sum(each.count for each in parts))}</b></div>'
        f"{_track(parts)}{_legend(parts)}</div>"
        for name, parts in rows
    )
    return _card(title, f'{_soft(note)}<div class="bars">{said}</div>')


def section(title: str, parts: Iterable[Html]) -> Html:
    """A card as wide as the page."""
    return f'<section class="card"><h2>{escape(title)}</h2>{"".join(parts)}</section>'


@dataclass(frozen=True, slots=True)
class Examples:
    """Problems and reasons, to be unfolded; `name` is what a bar's link leads to."""

    name: str
    title: str
    about: str
    said: Sequence[tuple[str, str]]
    is_grave: bool = False


def examples(shown: Examples, *, is_open: bool) -> Html:
    """One of them."""
    rows = "".join(f"<dt>{_breakable(name)}</dt><dd>{escape(reason)}</dd>" for name, reason in shown.said)
    kind = (' class="grave"' if shown.is_grave else "") + (" open" if is_open else "")
    about = f'<p class="soft" id="{escape(shown.name)}">{escape(shown.about)}</p>'
    return f"<details{kind}><summary>{escape(shown.title)}</summary>{about}<dl>{rows}</dl></details>"


def details(title: str, body: Html) -> Html:
    """What few want to see."""
    return f'<section class="card"><details><summary>{escape(title)}</summary>{body}</details></section>'


def pre(said: object) -> Html:
    """Plain data as they are."""
    return f"<pre>{escape(json.dumps(said, indent=2, ensure_ascii=False))}</pre>"


def number(value: float) -> str:
    """With three digits that mean something; whole ones whole."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.3g}"


def share(part: float, whole: float) -> str:
    """In per cent, whole ones; nothing of nothing."""
    return f"{100 * part / whole:.0f} %" if part and whole else ""


def _soft(text: str) -> Html:
    return f'<p class="soft">{escape(text)}</p>' if text else ""


def _linked(bar: Bar) -> Html:
    """A browser unfolds what is linked to."""
    return f'<a href="#{escape(bar.link)}">{escape(bar.name)}</a>' if bar.link else escape(bar.name)


def _breakable(name: str) -> Html:
    """A long name is broken between its words rather than within one."""
    return re.sub(r"([/_.-])(?=\w)", r"\1<wbr>", escape(name))


def _card(title: str, body: Html) -> Html:
    return f'<article class="card"><h2>{escape(title)}</h2>{body}</article>'


def _track(parts: Sequence[Bar], kind: str = "", total: int | None = None) -> Html:
    total = total or sum(each.count for each in parts) or 1
    pieces = "".join(
        f'<i style="width:{100 * each.count / total:.2f}%;background:var(--{each.colour})"></i>'
        for each in parts
        if each.count
    )
    return f'<div class="track {kind}">{pieces}</div>'


def _legend(parts: Sequence[Bar]) -> Html:
    said = "".join(
        f'<li><i style="background:var(--{each.colour})"></i>{escape(each.name)} <b>{number(each.count)}</b></li>'
        for each in parts
        if each.count
    )
    return f'<ul class="legend">{said}</ul>'


# --- drawings


@dataclass(frozen=True, slots=True)
class _Axis:
    """From values to places on the drawing."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Where a value is."""
        low, high, value = (math.log10(each) if self.is_log else each for each in (self.low, self.high, value))
        return self.start + (value - low) / (high - low or 1.0) * (self.end - self.start)

    def ticks(self) -> Iterator[float]:
        """Round values: powers of ten, or some five multiples of 1, 2 or 5."""
        if self.is_log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            yield from (10.0**power for power in range(first, last + 1))
            return
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * min((1, 2, 5, 10), key=lambda nice: abs(math.log(nice * power / rough)))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        yield from (round(step * count, 12) for count in range(first, last + 1))


def histogram(
    title: str,
    values: Sequence[float],
    *,
    unit: str,
    is_log: bool = False,
    others: Sequence[float] = (),
    note: str = "",
) -> Html:
    """How many problems have how much; `others`, in grey on top of them. Nothing where nothing is known."""
    together = [*values, *others]
    if not together:
        return ""
    low, high = _range(together, is_log=is_log)
    across = _Axis(low, high, LEFT, WIDTH - RIGHT, is_log)
    counts, more = _counted(values, across), _counted(others, across)
    up = _Axis(0, max(map(sum, zip(counts, more, strict=True))) * 1.05, HEIGHT - BOTTOM, TOP)
    drawn = [
        _column(place, up, bottom, count, colour)
        for place in range(BINS)
        for bottom, count, colour in ((0, counts[place], "s0"), (counts[place], more[place], "s5"))
        if count
    ]
    said = f"median {number(_median(together))}"
    return _drawing(title, _rules(across, up, unit) + "".join(drawn), f"{note} · {said}" if note else said)


def _counted(values: Iterable[float], across: _Axis) -> list[int]:
    """How many are in each column."""
    counts = [0] * BINS
    for value in values:
        share = (across.at(max(value, across.low)) - LEFT) / (WIDTH - RIGHT - LEFT)
        counts[min(int(share * BINS + 1e-9), BINS - 1)] += 1
    return counts


def _column(place: int, up: _Axis, bottom: int, count: int, colour: str) -> Html:
    size, top = (WIDTH - RIGHT - LEFT) / BINS, up.at(bottom + count)
    return (
        f'<rect x="{LEFT + place * size + 0.5:.1f}" y="{top:.1f}" width="{size - 1:.1f}" '
        f'height="{up.at(bottom) - top:.1f}" rx="1.5" fill="var(--{colour})"/>'
    )


def times_chart(title: str, times: Sequence[float]) -> Html:
    """A point for each problem: how long its slowest reference takes, and the limit. `times`: flat triples."""
    points = [(max(times[at], LEAST_SECONDS), times[at + 1], times[at + 2]) for at in range(0, len(times), 3)]
    if not points:
        return ""
    points = points[:: math.ceil(len(points) / MOST_POINTS)]
    low = LEAST_SECONDS
    high = 10 ** math.ceil(math.log10(max(max(x, y) for x, y, _ in points)) + 1e-9)
    across = _Axis(low, high, LEFT, WIDTH - RIGHT, is_log=True)
    up = _Axis(min(0.1, min(y for _, y, _ in points)), high, HEIGHT - BOTTOM, TOP, is_log=True)
    corner = max(low, up.low)
    line = (
        f'<line class="limit" x1="{across.at(corner):.1f}" y1="{up.at(corner):.1f}" '
        f'x2="{across.at(high):.1f}" y2="{up.at(high):.1f}"/>'
    )
    dots = "".join(
        f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="2.6" fill-opacity=".45" '
        f'fill="var(--{"good" if is_clean else "bad"})"/>'
        for x, y, is_clean in points
    )
    return _drawing(title, _rules(across, up, "s of CPU time") + line + dots, _nearest(points))


def _nearest(points: Sequence[tuple[float, float, float]]) -> str:
    took, limit, _ = max(points, key=lambda each: each[0] / each[1])
    return (
        f"nearest to its limit: {number(took)} of {number(limit)} s · green: clean, red: in quarantine · "
        "on the dashed line the limit would be reached"
    )


def _drawing(title: str, shapes: str, note: str) -> Html:
    svg = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">{shapes}</svg>'
    return _card(title, f'{svg}<ul class="legend"><li>{escape(note)}</li></ul>')


def _rules(across: _Axis, up: _Axis, unit: str) -> str:
    levels = [
        f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up.at(value):.1f}" y2="{up.at(value):.1f}"/>'
        f'<text x="{LEFT - 6}" y="{up.at(value) + 4:.1f}" text-anchor="end">{_short(value)}</text>'
        for value in up.ticks()
        if up.is_log or value == int(value)
    ]
    places = [
        f'<text x="{min(max(across.at(value), LEFT + 8), WIDTH - 16):.1f}" y="{HEIGHT - BOTTOM + 16}" '
        f'text-anchor="middle">{_short(value)}</text>'
        for value in across.ticks()
    ]
    name = f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 3}" text-anchor="middle">{escape(unit)}</text>'
    return "".join([*levels, *places, name])


def _range(values: Sequence[float], *, is_log: bool) -> tuple[float, float]:
    """Of the axis: shares from 0 to 1, others from 1 or 0 to beyond the greatest."""
    most = max(values)
    if is_log:
        return 1.0, 10 ** max(math.ceil(math.log10(max(most, 1.0)) + 1e-9), 1)
    return 0.0, 1.0 if most <= 1 else most


def _short(value: float) -> str:
    """For an axis."""
    return f"{value / 1000:g}k" if value >= 10_000 else number(value)


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
