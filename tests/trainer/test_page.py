"""Tests of a run's page: content, escaping, charts, and rendering in a browser if there is one."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.reports import charts, pages
from tests.browser import Elements, opened
from trainer.config import resolve
from trainer.inspection import page


def row(step: int, **changes: Any) -> dict[str, Any]:
    wave = math.sin(step / 5)
    return {
        "step": step,
        "time": 1.7e9 + step,
        "reward": 0.5 + wave / 4,
        "pass_rate": 0.5 + wave / 3,
        "length": 4000 + 100 * wave,
        "length_max": 8192.0,
        "truncated": 0.05,
        "repetition": 0.0,
        "entropy": 1 / step,
        "kl": 1e-4 * step,
        "clip_low": 1e-3,
        "clip_high": 2e-3,
        "logprob_gap": 1e-6,
        "flat_share": 0.3,
        "grad_norm": 0.2,
        "step_seconds": 12.0,
        "seconds_generate": 7.0,
        "seconds_wait": 1.0,
        "seconds_train": 4.0,
    } | changes


def rows(count: int, **changes: Any) -> list[dict[str, Any]]:
    return [row(step, **changes) for step in range(1, count + 1)]


CONFIG: dict[str, Any] = resolve(
    {"model": {"path": "tiny"}, "data": {"train": ["d"]}, "name": "fine <run>", "algorithm": "aspo", "steps": 500}
).model_dump(mode="json")


def titles(text: str) -> list[str]:
    return re.findall(r'<article class="card"><h2>(.*?)</h2>', text)


def numbers(text: str) -> list[float]:
    """Of all that is drawn."""
    return [float(number) for shape in re.findall(r' d="([^"]*)"', text) for number in re.findall(r"-?[\d.]+", shape)]


@pytest.mark.parametrize("count", [0, 1, 2, 40, 1000])
def test_a_page_is_whole_however_long_the_run_is(count: int) -> None:
    text = page.render(rows(count), CONFIG)
    Elements(text)
    assert len(titles(text)) == (10 if count else 0)
    assert all(-1 <= number <= charts.WIDTH for number in numbers(text)), "nothing is drawn beside the drawing"
    assert not re.search(r"\b(nan|inf|None)\b", text.partition("<details>")[0])


def test_a_page_needs_nothing_from_elsewhere() -> None:
    text = page.render(rows(50), CONFIG)
    elements = Elements(text).seen
    assert not [tag for tag, _ in elements if tag in ("script", "img", "iframe", "object", "embed")]
    assert [attrs["href"] for _, attrs in elements if "href" in attrs] == ["data:,"]
    assert not [attrs for _, attrs in elements if "src" in attrs or any(name.startswith("on") for name in attrs)]
    assert "url(" not in text
    assert "@import" not in text


def test_what_is_named_is_escaped() -> None:
    text = page.render(rows(3, **{"<b>bold</b>": 1.0}), CONFIG)
    assert "<h1>fine &lt;run&gt;</h1>" in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "<b>bold" not in text


def test_light_dark_and_small_screens_are_thought_of() -> None:
    text = page.render(rows(3), CONFIG)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    style = (pages.TEMPLATES / "style.css").read_text()
    light, dark = (set(re.findall(r"(--\w+):", part)) for part in style.split("@media (prefers")[:2])
    assert dark >= light, "every colour has its dark one"


def test_the_configuration_and_all_figures_are_there() -> None:
    text = page.render(rows(12, oddity=7.25), CONFIG)
    assert "<details><summary>Configuration</summary>" in text
    assert "aspo · tiny · step 12 of 500" in text
    table = dict(re.findall(r"<tr><th>(\w+)</th>(.*?)</tr>", text))
    assert set(table) == set(row(1)) - {"step", "time"} | {"oddity"}
    assert re.findall("<td>(.*?)</td>", table["oddity"]) == ["7.25"] * 5


def test_the_table_says_first_last_late_least_and_greatest() -> None:
    said = [row(step, reward=value) for step, value in enumerate([5.0, None, 9.0, *[1.0] * 8, 3.0], 1)]
    cells = re.search(r"<tr><th>reward</th>(.*?)</tr>", page.render(said, CONFIG))
    assert cells is not None
    assert re.findall("<td>(.*?)</td>", cells[1]) == ["5", "3", "2", "1", "9"]


def test_a_figure_that_is_never_more_than_nothing_has_no_chart() -> None:
    assert "Entropy" not in titles(page.render(rows(3, entropy=0.0), CONFIG))
    assert "Entropy" not in titles(page.render(rows(3, entropy=None), CONFIG))


def test_a_curve_goes_through_its_points_and_has_a_gap_where_there_is_none() -> None:
    said = [{"step": step, "entropy": value} for step, value in enumerate([0.0, 1.0, None, 1.0], 1)]
    (shape,) = re.findall(r'class="curve"[^>]* d="([^"]*)"', page.render(said, CONFIG))
    left, right, floor = charts.LEFT, charts.WIDTH - charts.RIGHT, charts.HEIGHT - charts.BOTTOM
    third = (right - left) / 3
    high = floor - (floor - charts.TOP) / 1.04
    assert shape == f"M{left:.1f} {floor:.1f}h.1L{left + third:.1f} {high:.1f}M{right:.1f} {high:.1f}h.1"


def test_stacked_seconds_reach_their_sum() -> None:
    said = [{"step": step, "seconds_generate": 6.0, "seconds_train": 4.0} for step in (1, 2)]
    areas = re.findall(r'fill-opacity="[^"]*" d="([^"]*)"', page.render(said, CONFIG))
    heights = [charts.HEIGHT - charts.BOTTOM - float(re.findall(r"-?[\d.]+", area)[1]) for area in areas]
    assert [round(height / heights[1], 2) for height in heights] == [0.6, 1.0]


def test_long_runs_are_thinned() -> None:
    assert len(page.render(rows(20_000), CONFIG)) < 2 * len(page.render(rows(400), CONFIG))


def test_a_page_is_written_all_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    page.write(path, rows(2), CONFIG)
    before = path.read_text()

    def full(self: Path, target: Path) -> Path:
        raise OSError("disk full")

    with monkeypatch.context() as context:
        context.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="disk full"):
            page.write(path, rows(3), CONFIG)
    assert path.read_text() == before
    page.write(path, rows(3), CONFIG)
    assert path.read_text() == page.render(rows(3), CONFIG)
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_browser_has_no_complaint(tmp_path: Path) -> None:
    dom, complaints = opened(tmp_path, page.render([*rows(30), row(31, entropy=None), *rows(60)[31:]], CONFIG))
    assert complaints == []
    assert len(titles(dom)) == 10


def test_a_browser_would_complain(tmp_path: Path) -> None:
    _, complaints = opened(tmp_path, page.render(rows(3), CONFIG).replace(' d="M', ' d="Mx', 1))
    assert "attribute d" in complaints[0]
