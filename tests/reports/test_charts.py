"""Charts: ticks, number formats, and shapes that stay within the plot."""

from __future__ import annotations

import pytest

from sandbox_service.reports import axes, charts


@pytest.mark.parametrize("values", [[1.0], [5.0, 5.0], [0.0, 1.0], [3.0, 20000.0]])
@pytest.mark.parametrize("is_log", [False, True])
def test_bars_stay_within_the_plot(values: list[float], is_log: bool) -> None:
    chart = charts.histogram("x", values, unit="", is_log=is_log)
    assert chart is not None
    assert chart.shapes
    for shape in chart.shapes:
        x, y, width, height = (float(shape.attributes[name]) for name in ("x", "y", "width", "height"))
        assert x >= charts.LEFT
        assert x + width <= charts.WIDTH - charts.RIGHT + 1
        assert y >= charts.TOP
        assert y + height <= charts.HEIGHT - charts.BOTTOM + 1


def test_no_values_give_no_chart() -> None:
    assert charts.histogram("x", [], unit="") is None
    assert charts.band_chart("x", {"a": []}, str) is None


@pytest.mark.parametrize(
    ("low", "high", "about", "ticks"),
    [
        (0, 1, 4, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 10, 4, [0, 2, 4, 6, 8, 10]),
        (1, 1000, 5, [200, 400, 600, 800, 1000]),
        (-1e-6, 1e-6, 4, [-1e-6, -5e-7, 0, 5e-7, 1e-6]),
    ],
)
def test_ticks_are_round(low: float, high: float, about: int, ticks: list[float]) -> None:
    assert list(axes.ticks(low, high, about)) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0"), (1234567, "1,234,567"), (1234.5, "1,234"), (0.12345, "0.123"), (2.5e15, "2.5e+15")],
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert axes.number(value) == text


def test_many_dots_are_thinned() -> None:
    points = [(0.01, 1.0, "good")] * (3 * charts.MAX_DOTS)
    chart = charts.scatter_chart("x", points, unit="s", note="")
    assert len(chart.shapes) == charts.MAX_DOTS + 1
