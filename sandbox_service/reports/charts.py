"""Charts as data: SVG shapes with their positions, ticks and a legend. `templates/parts.html` draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from sandbox_service.reports.axes import Axis, number, short_number

WIDTH, HEIGHT = 400, 200  # of a chart, in units of the drawing: about as many pixels
LEFT, RIGHT, TOP, BOTTOM = 50, 10, 10, 20  # margins around the plot
UNIT_HEIGHT = 14  # added to HEIGHT by a chart that names the unit of its horizontal axis
COLOURS = 6  # --s0 to --s5 of the style sheet
BINS = 20
MAX_LINE_POINTS = 200
MAX_DOTS = 1500
SMOOTH_FROM = 40  # points: a longer line is drawn as a running mean

Curve = Sequence[float | None]
Estimate = Mapping[str, float]  # "value", "low" and "high"


@dataclass(frozen=True, slots=True)
class Shape:
    """An SVG element."""

    tag: str
    attributes: Mapping[str, str | float]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a legend. `colour` is a variable of the style sheet, without its dashes."""

    colour: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A label beside an axis; `at` is its position along the axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart that is ready to be drawn."""

    title: str
    shapes: Sequence[Shape]
    rows: Sequence[Tick]  # ticks of the vertical axis, each with a rule across the plot
    columns: Sequence[Tick]  # ticks of the horizontal axis
    legend: Sequence[Entry] = ()
    note: str = ""
    unit: str = ""  # of the horizontal axis

    @property
    def height(self) -> int:
        """Height of the drawing, with the line for the unit."""
        return HEIGHT + (UNIT_HEIGHT if self.unit else 0)


def line_chart(title: str, steps: Sequence[float], curves: Mapping[str, Curve]) -> Chart:
    """Draw curves over steps; a long curve as a running mean in front of its faint points.

    Args:
        title: Heading of the chart.
        steps: Horizontal positions, ascending; at least one.
        curves: By name, a value for each step, or None for a gap. At least one value is not None.

    Returns:
        The chart.
    """
    thin_steps, thin = _thinned_all(steps, curves)
    across, up = _around(thin_steps, [value for values in thin for value in values if value is not None])
    shapes = [shape for place, values in enumerate(thin) for shape in _line(across, up, thin_steps, values, place)]
    return Chart(title, shapes, _rows(up), _steps(across), _last_values(curves))


def stacked_chart(title: str, steps: Sequence[float], curves: Mapping[str, Curve]) -> Chart:
    """Draw curves as areas on top of each other.

    Args:
        title: Heading of the chart.
        steps: As for `line_chart`.
        curves: By name, a value for each step; None counts as zero.

    Returns:
        The chart.
    """
    thin_steps, thin = _thinned_all(steps, curves)
    sums = (accumulate(value or 0.0 for value in column) for column in zip(*thin, strict=True))
    tops = list(zip(*sums, strict=True))
    across, up = _around(thin_steps, [0.0, *tops[-1]])
    floors = [(0.0,) * len(thin_steps), *tops]
    shapes = [
        Shape("path", {"fill": _colour(place), "fill-opacity": ".75", "d": _area(across, up, thin_steps, floor, top)})
        for place, (floor, top) in enumerate(zip(floors, tops, strict=False))
    ]
    return Chart(title, shapes, _rows(up), _steps(across), _last_values(curves))


def band_chart(
    title: str, curves: Mapping[str, Sequence[tuple[float, Estimate]]], describe: Callable[[Estimate], str]
) -> Chart | None:
    """Draw shares from 0 to 1 over steps, each with a band for its interval.

    Args:
        title: Heading of the chart.
        curves: By name, steps with their estimates, ascending.
        describe: Formats the last estimate of a curve for the legend.

    Returns:
        The chart, or None if no curve has a point.
    """
    steps = sorted({step for points in curves.values() for step, _ in points})
    if not steps:
        return None
    across, up = _horizontal(steps[0], max(steps[-1], steps[0] + 1)), _vertical(0, 1)
    shapes = [
        shape
        for place, points in enumerate(curves.values())
        if points
        for shape in _band(across, up, points, _colour(place))
    ]
    legend = [
        Entry(f"s{place % COLOURS}", name, describe(points[-1][1]))
        for place, (name, points) in enumerate(curves.items())
        if points
    ]
    rows = [Tick(up.at(share), f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    columns = [Tick(_inside(across.at(step)), f"{step:g}") for step in steps[:: -(-len(steps) // 6)]]
    return Chart(title, shapes, rows, columns, legend)


def histogram(
    title: str,
    values: Sequence[float],
    *,
    unit: str,
    is_log: bool = False,
    others: Sequence[float] = (),
    note: str = "",
) -> Chart | None:
    """Count values in `BINS` columns, with the median below.

    Args:
        title: Heading of the chart.
        values: The values; not negative.
        unit: Name of the horizontal axis.
        is_log: Whether the horizontal axis is logarithmic.
        others: More values, drawn in grey on top of the columns of `values`.
        note: Text before the median.

    Returns:
        The chart, or None if there are no values.
    """
    together = sorted([*values, *others])
    if not together:
        return None
    across = _horizontal(*_histogram_range(together[-1], is_log=is_log), is_log=is_log)
    counts, more = _binned(values, across), _binned(others, across)
    up = _vertical(0, max(map(sum, zip(counts, more, strict=True))) * 1.05)
    shapes = [
        _column(place, up, bottom, count, colour)
        for place in range(BINS)
        for bottom, count, colour in ((0, counts[place], "s0"), (counts[place], more[place], "grey"))
        if count
    ]
    rows = [tick for tick in _rows(up) if "." not in tick.label]
    median = f"median {number(together[len(together) // 2])}"
    return Chart(title, shapes, rows, _columns(across), note=f"{note} · {median}" if note else median, unit=unit)


def scatter_chart(
    title: str, points: Sequence[tuple[float, float, str]], *, unit: str, note: str, low: float = 0.001
) -> Chart:
    """Draw a dot for each point on two logarithmic axes, and the dashed diagonal on which x equals y.

    Args:
        title: Heading of the chart.
        points: x, y and colour; at least one. Values are positive.
        unit: Name of the horizontal axis.
        note: Text below the chart.
        low: Lower end of the horizontal axis; smaller values are drawn there.

    Returns:
        The chart.
    """
    drawn = points[:: math.ceil(len(points) / MAX_DOTS)]
    high = 10.0 ** math.ceil(math.log10(max(max(x, y) for x, y, _ in drawn)) + 1e-9)
    across = _horizontal(low, high, is_log=True)
    up = _vertical(min(0.1, min(y for _, y, _ in drawn)), high, is_log=True)
    corner = max(low, up.low)
    ends = {"x1": across.at(corner), "y1": up.at(corner), "x2": across.at(high), "y2": up.at(high)}
    diagonal = Shape("line", {"class": "limit", **{name: _rounded(value) for name, value in ends.items()}})
    dots = [
        _dot(across.at(max(x, low)), up.at(y), 2.6, {"fill-opacity": ".45", "fill": f"var(--{colour})"})
        for x, y, colour in drawn
    ]
    return Chart(title, [diagonal, *dots], _rows(up), _columns(across), note=note, unit=unit)


# --- axes


def _horizontal(low: float, high: float, *, is_log: bool = False) -> Axis:
    return Axis(low, high, LEFT, WIDTH - RIGHT, is_log)


def _vertical(low: float, high: float, *, is_log: bool = False) -> Axis:
    return Axis(low, high, HEIGHT - BOTTOM, TOP, is_log)


def _around(steps: Sequence[float], values: Sequence[float]) -> tuple[Axis, Axis]:
    """Axes with room for all values; the vertical one begins at 0 where that costs at most half of its length."""
    low, high = min(values), max(values)
    if 0 <= low <= 0.5 * high:
        low = 0.0
    if high - low < 1e-9 * max(abs(high), 1e-9):  # constant: in the middle
        margin = abs(high) / 2 or 1.0
        low, high = low - margin, high + margin
    margin = 0.04 * (high - low)
    right = steps[-1] if steps[-1] > steps[0] else steps[0] + 1
    return _horizontal(steps[0], right), _vertical(low - (margin if low else 0.0), high + margin)


def _histogram_range(most: float, *, is_log: bool) -> tuple[float, float]:
    if is_log:
        return 1.0, 10.0 ** max(math.ceil(math.log10(max(most, 1.0)) + 1e-9), 1)
    return 0.0, max(most, 1.0)


def _rows(up: Axis) -> list[Tick]:
    return [Tick(up.at(value), short_number(value)) for value in up.ticks()]


def _columns(across: Axis) -> list[Tick]:
    return [Tick(_inside(across.at(value)), short_number(value)) for value in across.ticks()]


def _steps(across: Axis) -> list[Tick]:
    ticks = (value for value in across.ticks(5) if value == int(value))
    return [Tick(_inside(across.at(value)), short_number(value)) for value in ticks]


def _inside(position: float) -> float:
    """Return the middle of a label, moved so that the label stays within the drawing."""
    return min(max(position, LEFT + 8), WIDTH - 16)


# --- shapes


def _line(across: Axis, up: Axis, steps: Sequence[float], values: Curve, place: int) -> list[Shape]:
    drawn = [("curve", values)] if len(values) < SMOOTH_FROM else [("curve faint", values), ("curve", _smooth(values))]
    return [
        Shape("path", {"class": kind, "stroke": _colour(place), "d": _path(across, up, steps, each)})
        for kind, each in drawn
    ]


def _band(across: Axis, up: Axis, points: Sequence[tuple[float, Estimate]], colour: str) -> list[Shape]:
    """An interval, a line and a dot for each point."""

    def along(name: str) -> list[str]:
        return [_pair(across.at(step), up.at(estimate[name])) for step, estimate in points]

    return [
        Shape("path", {"class": "band", "fill": colour, "d": _joined([*along("high"), *along("low")[::-1]]) + "Z"}),
        Shape("path", {"class": "curve", "stroke": colour, "d": _joined(along("value"))}),
        *(_dot(across.at(step), up.at(estimate["value"]), 2.2, {"fill": colour}) for step, estimate in points),
    ]


def _dot(x: float, y: float, radius: float, paint: Mapping[str, str]) -> Shape:
    return Shape("circle", {"cx": _rounded(x), "cy": _rounded(y), "r": radius, **paint})


def _column(place: int, up: Axis, bottom: int, count: int, colour: str) -> Shape:
    width, top = (WIDTH - RIGHT - LEFT) / BINS, up.at(bottom + count)
    box = {"x": LEFT + place * width + 0.5, "y": top, "width": width - 1, "height": up.at(bottom) - top}
    return Shape("rect", {**{n: _rounded(size) for n, size in box.items()}, "rx": 1.5, "fill": f"var(--{colour})"})


def _path(across: Axis, up: Axis, steps: Sequence[float], values: Curve) -> str:
    """A line with a gap at None. A tiny dash begins each piece: without it a lone point would be invisible."""
    parts, is_down = [], False
    for step, value in zip(steps, values, strict=True):
        if value is not None:
            point = _pair(across.at(step), up.at(value))
            parts.append(f"L{point}" if is_down else f"M{point}h.1")
        is_down = value is not None
    return "".join(parts)


def _area(across: Axis, up: Axis, steps: Sequence[float], floor: Sequence[float], top: Sequence[float]) -> str:
    """The area between two curves; over a single step, a bar."""
    if len(steps) == 1:
        steps, floor, top = [steps[0], across.high], [floor[0]] * 2, [top[0]] * 2
    there = [_pair(across.at(step), up.at(value)) for step, value in zip(steps, top, strict=True)]
    back = [_pair(across.at(step), up.at(value)) for step, value in zip(steps, floor, strict=True)]
    return _joined([*there, *back[::-1]]) + "Z"


def _pair(x: float, y: float) -> str:
    return f"{x:.1f} {y:.1f}"


def _joined(points: Sequence[str]) -> str:
    return "M" + "L".join(points)


def _rounded(value: float) -> str:
    return f"{value:.1f}"


def _colour(place: int) -> str:
    return f"var(--s{place % COLOURS})"


# --- values


def _binned(values: Iterable[float], across: Axis) -> list[int]:
    counts = [0] * BINS
    for value in values:
        share = (across.at(max(value, across.low)) - across.start) / (across.end - across.start)
        counts[min(int(share * BINS + 1e-9), BINS - 1)] += 1
    return counts


def _last_values(curves: Mapping[str, Curve]) -> list[Entry]:
    """A legend with the last known value of each curve."""
    return [
        Entry(f"s{place % COLOURS}", name, number(next((each for each in reversed(values) if each is not None), None)))
        for place, (name, values) in enumerate(curves.items())
    ]


def _thinned_all(steps: Sequence[float], curves: Mapping[str, Curve]) -> tuple[list[float], list[list[float | None]]]:
    thin_steps = [step for step in _thinned(steps) if step is not None]
    return thin_steps, [_thinned(values) for values in curves.values()]


def _thinned(values: Curve) -> list[float | None]:
    """At most MAX_LINE_POINTS values, each the mean of neighbours."""
    size = math.ceil(len(values) / MAX_LINE_POINTS)
    return [mean(values[at : at + size]) for at in range(0, len(values), size)]


def _smooth(values: Curve) -> list[float | None]:
    """A running mean over a fortieth of the curve to either side."""
    reach = max(len(values) // SMOOTH_FROM, 1)
    return [mean(values[max(at - reach, 0) : at + reach + 1]) for at in range(len(values))]


def mean(values: Curve) -> float | None:
    """Return the mean of the values that are not None, or None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
