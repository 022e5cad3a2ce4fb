"""Evaluation results as one HTML file, in the style of the page of a run (`trainer.inspection.page`).

The page of one evaluation has its figures with intervals, by group, and problem by problem. The page of several
checkpoints has curves with bands, and the figures of the last checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox_service.reports import charts, pages
from trainer.evaluation import table

Summary = Mapping[str, Any]
Point = tuple[float, charts.Estimate]  # a step and its estimate

PROBLEMS_SHOWN = 2000
TEMPLATE = Path(__file__).parent.parent / "templates" / "evaluation.html"


def render(title: str, summary: Summary, problems: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of one evaluation as HTML.

    Args:
        title: Name of the evaluation.
        summary: Content of summary.json.
        problems: The lines of results.jsonl; the hardest `PROBLEMS_SHOWN` are listed.
    """
    return _page(title, _subtitle(summary), summary, problems=_problem_rows(problems))


def render_curves(title: str, summaries: Sequence[Summary]) -> str:
    """Return the page of several checkpoints as HTML.

    Args:
        title: Name of the run.
        summaries: A summary for each checkpoint, with its "step"; at least one, in any order.
    """
    ordered = sorted(summaries, key=lambda each: float(each["step"]))
    last = ordered[-1]
    subtitle = f"{len(summaries)} checkpoints · step {last['step']}: {_subtitle(last)}"
    return _page(title, subtitle, last, drawn=list(filter(None, _charts(ordered))))


def _page(
    title: str,
    subtitle: str,
    summary: Summary,
    *,
    drawn: Sequence[charts.Chart] = (),
    problems: Sequence[Mapping[str, Any]] = (),
) -> str:
    return pages.render(
        TEMPLATE,
        title=title,
        subtitle=subtitle,
        tiles=_tiles(summary),
        charts=drawn,
        columns=["problems", *table.columns(summary), "cut", "tokens"],
        figures=list(_figure_rows(summary)),
        notes=list(table.notes(summary)),
        problems=problems,
        settings={name: value for name, value in summary.items() if name not in ("by", "rating")},
    )


def _subtitle(summary: Summary) -> str:
    parts = [str(summary.get("model") or ""), f"{summary['problems']} problems × {summary['n']} samples"]
    if sampling := summary.get("sampling"):
        parts.append(f"temperature {sampling['temperature']:g}, top-p {sampling['top_p']:g}")
    return " · ".join(filter(None, parts))


def _tiles(summary: Summary) -> list[tuple[str, str]]:
    values = map(table.interval, table.estimates(summary))
    tiles = list(zip(values, table.columns(summary), strict=True))
    if (rating := summary.get("rating")) and rating["value"] is not None:
        tiles.append((f"{rating['value']:.0f}", "Codeforces rating"))
    return tiles


def _figure_rows(summary: Summary) -> Iterator[Mapping[str, Any]]:
    yield _figure_row("all", summary)
    for grouping, groups in summary["by"].items():
        for name, figures in groups.items():
            yield _figure_row(f"{grouping} {name}", figures)


def _figure_row(name: str, figures: Summary) -> Mapping[str, Any]:
    intervals = map(table.interval, table.estimates(figures))
    cells = [str(figures["problems"]), *intervals, f"{figures['cut']:.1%}", _tokens(figures)]
    return {"name": name, "cells": cells, "percent": 100 * (figures["avg"] or {"value": 0})["value"]}


def _problem_rows(problems: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Hardest first, with a mark for each sample."""
    order = sorted(problems, key=lambda each: (each["correct"] / max(each["n"], 1), each["problem"]))
    return [_problem_row(each) for each in order[:PROBLEMS_SHOWN]]


def _problem_row(line: Mapping[str, Any]) -> Mapping[str, Any]:
    marks = "".join({True: "●", False: "○"}.get(each, "·") for each in line["right"])
    verdicts = " ".join(f"{name} {count}" for name, count in line["verdicts"].items())
    return {"name": line["problem"], "cells": [f"{line['correct']}/{line['n']}", marks, verdicts, _tokens(line)]}


def _tokens(figures: Summary) -> str:
    return f"{figures['tokens']:.0f}" if figures["tokens"] is not None else "–"


def _charts(summaries: Sequence[Summary]) -> Iterator[charts.Chart | None]:
    """A chart of all problems, then one for each grouping, with a curve for each of its groups."""
    curves = {"avg": _points((each["step"], each["avg"]) for each in summaries)}
    for k in summaries[-1]["pass"]:
        if k != "1":
            curves[f"pass@{k}"] = _points((each["step"], each["pass"].get(k)) for each in summaries)
    yield charts.band_chart("Share of samples that pass, and pass@k", curves, table.interval)
    for grouping, groups in summaries[-1]["by"].items():
        yield charts.band_chart(
            f"Share of samples that pass, by {grouping}",
            {name: _group_points(summaries, grouping, name) for name in list(groups)[: charts.COLOURS]},
            table.interval,
        )


def _group_points(summaries: Sequence[Summary], grouping: str, name: str) -> list[Point]:
    groups = ((each["step"], each["by"].get(grouping, {}).get(name)) for each in summaries)
    return _points((step, figures["avg"]) for step, figures in groups if figures)


def _points(estimates: Iterable[tuple[Any, charts.Estimate | None]]) -> list[Point]:
    return [(float(step), estimate) for step, estimate in estimates if estimate]
