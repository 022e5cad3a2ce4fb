"""Prints the figures of an evaluation on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

Summary = Mapping[str, Any]


def show(summary: Summary, console: Console) -> None:
    """Print all figures, in total and by group, and notes on what they exclude.

    Args:
        summary: The evaluation's summary.
        console: Where to print.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    for name in ("problems", *columns(summary), "cut", "tokens"):
        table.add_column(name, justify="right", no_wrap=True)
    _add(table, "all", summary, "bold")
    for grouping, named in summary["by"].items():
        table.add_section()
        for name, figures in named.items():
            _add(table, f"{grouping} {name}", figures, "")
    console.print(table)
    for note in notes(summary):
        console.print(note, markup=False, highlight=False, soft_wrap=True)


def columns(summary: Summary) -> list[str]:
    """Return the headings of `estimates`. The share of samples that pass equals pass@1.

    Args:
        summary: The evaluation's summary.
    """
    return [f"avg@{summary['n']} = pass@1", *(f"pass@{k}" for k in summary["k"] if k != 1)]


def estimates(figures: Summary) -> list[Mapping[str, float] | None]:
    """Return the estimates in the order of `columns`.

    Args:
        figures: The summary, or the figures of a group.
    """
    return [figures["avg"], *(each for k, each in figures["pass"].items() if k != "1")]


def notes(summary: Summary) -> Iterator[str]:
    """Yield the lines about omitted samples and problems, and about the rating.

    Args:
        summary: The evaluation's summary.
    """
    if summary["faults"]:
        yield f"{summary['faults']} samples have no verdict: they are in no figure"
    if summary["missing"]:
        yield f"{summary['missing']} samples are not there or not graded yet"
    if (without := summary["without_verdict"])["problems"]:
        yield f"{without['problems']} problems are in no figure: {', '.join(without['first'])}"
    for k, estimate in summary["pass"].items():
        if estimate and estimate["n"] < summary["problems"] - without["problems"]:
            yield f"pass@{k} is of {estimate['n']} problems: the others have fewer than {k} samples"
    if selection := summary.get("selection"):
        written = f"{selection['testers']} × {selection['cases']} test cases of its own"
        yield f"best of {summary['n']} by {written}: {interval(selection['best'])}"
    if rating := summary.get("rating"):
        yield from _rating(rating)


def interval(estimate: Mapping[str, float] | None) -> str:
    """Format an estimate in per cent: `45.1 (40.2–50.0)`.

    Args:
        estimate: The estimate, if there is one.

    Returns:
        The text; a dash if there is no estimate.
    """
    if estimate is None:
        return "–"
    value, low, high = (100 * estimate[name] for name in ("value", "low", "high"))
    return f"{value:.1f} ({low:.1f}–{high:.1f})"


def _rating(rating: Mapping[str, Any]) -> Iterator[str]:
    if rating["value"] is None:
        yield "no Codeforces rating: no contest could be used"
    else:
        error = f" ± {1.96 * rating['error']:.0f}" if rating["error"] is not None else ""
        contests = len(rating["contests"])
        yield f"Codeforces rating {rating['value']:.0f}{error} over {contests} contests; few tests make it too high"
    for contest, why in rating["left_out"].items():
        yield f"contest {contest} is left out: {why}"


def _add(table: Table, name: str, figures: Summary, style: str) -> None:
    cells = [
        str(figures["problems"]),
        *map(interval, estimates(figures)),
        f"{figures['cut']:.1%}",
        f"{figures['tokens']:.0f}" if figures["tokens"] is not None else "–",
    ]
    table.add_row(Text(name), *cells, style=style)
