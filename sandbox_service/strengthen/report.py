"""The report of a strengthening: one HTML page, in the layout of the validation's.

Shows strength before and after, what wrong programs are refused, by which input, references that are suspicious, and
problems that stayed as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox_service.reports import charts, pages
from sandbox_service.reports.axes import number
from sandbox_service.strengthen.strength import Share
from sandbox_service.strengthen.totals import Totals
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.report import TEMPLATE, Bar, BarChart, Card, Examples, Piece

KINDS = {"mutant": "mutants of references", "table": "tables of the given tests", "wrong": "known wrong programs"}


def write(path: Path, recipe: Recipe, totals: Totals, manifest: Mapping[str, Any]) -> None:
    """Write the page in one step.

    Args:
        path: The page.
        recipe: The recipe that was carried out.
        totals: Counts, values and examples.
        manifest: Content of manifest.json.

    Raises:
        OSError: The file cannot be written; an older page is left as it was.
    """
    page = pages.render(
        TEMPLATE,
        title=f"{recipe.name}: strength",
        subtitle=" · ".join(filter(None, (recipe.about, ", ".join(each.path for each in recipe.sources)))),
        lead=_lead(totals),
        tiles=_tiles(totals),
        outcome=_outcome(totals),
        cards=[card for card in _cards(totals) if card is not None],
        examples=_examples(totals),
        provenance={name: manifest[name] for name in ("sources", "strength", "problems", "tests", "files")},
        recipe=manifest["recipe"],
    )
    pages.write(path, page)


def _lead(totals: Totals) -> str:
    if not totals.read:
        return "There was nothing to strengthen."
    before, after, other = (totals.shares[name] for name in ("before", "after", "held_out"))
    return (
        f"The given tests refuse {_percent(before)} of {number(before.programs)} wrong programs. "
        f"With {number(totals.added)} added tests in {number(totals.strengthened)} problems it is {_percent(after)}; "
        f"{_percent(other)} of programs that had no part in the choice of the tests."
    )


def _percent(share: Share) -> str:
    return "none" if share.value is None else f"{100 * share.value:.1f} %"


def _tiles(totals: Totals) -> list[tuple[str, str, str]]:
    problems = len(totals.seconds)
    tiles = [
        (_percent(totals.shares["before"]), "", "refused before"),
        (_percent(totals.shares["after"]), "", "refused after"),
        (_percent(totals.shares["held_out"]), "", "refused, if they have no part in the choice"),
        (number(totals.added), "", "tests added"),
    ]
    if problems:
        tiles.append((f"{totals.cpu_seconds / problems:.1f} s", "", "CPU a problem"))
    return tiles


def _outcome(totals: Totals) -> list[Piece]:
    return [
        Piece("strengthened", totals.strengthened, "good"),
        Piece("unchanged", totals.unchanged.total(), "grey"),
        Piece("not judged", totals.not_judged, "cyan"),
        Piece("malformed", totals.malformed, "bad"),
        Piece("left out", totals.left_out.total(), "s4"),
    ]


def _cards(totals: Totals) -> list[Card | None]:
    values = totals.values
    return [
        charts.histogram("Strength of a problem's tests before", values["before"], unit="share refused"),
        charts.histogram("Strength after", values["after"], unit="share refused"),
        charts.histogram("Strength after, by other programs", values["held_out"], unit="share refused"),
        _kinds(totals),
        charts.histogram("Tests added to a problem", totals.added_tests, unit="tests"),
        charts.histogram("CPU time of a problem", totals.seconds, is_log=True, unit="s"),
        _unchanged(totals),
    ]


def _kinds(totals: Totals) -> BarChart | None:
    bars = []
    for kind, (before, after, programs) in sorted(totals.kinds.items()):
        pieces = [
            Piece("refused before", before, "s1"),
            Piece("refused only after", after - before, "good"),
            Piece("still accepted", programs - after, "bad"),
        ]
        bars.append(Bar(KINDS.get(kind, kind), pieces))
    return BarChart("Wrong programs", bars, is_stacked=True) if bars else None


def _unchanged(totals: Totals) -> BarChart | None:
    bars = [Bar(reason, [Piece(reason, count, "grey")]) for reason, count in totals.unchanged.most_common()]
    return BarChart("Problems that stayed as they were", bars) if bars else None


def _examples(totals: Totals) -> list[Examples]:
    sections = [
        Examples(
            "suspicious", "Suspicious references", "they answer otherwise than most references of the problem",
            totals.suspicious, is_grave=True,
        ),
        Examples(
            "left", "Wrong programs that still pass", "no chosen test refuses them", totals.left, is_grave=True
        ),
        Examples(
            "caught", "Wrong programs that are refused now", "each with the first added input that tells",
            totals.caught,
        ),
        Examples("reasons", "Problems that stayed as they were", "with the reason", totals.reasons),
    ]  # fmt: skip
    return [each for each in sections if each.problems]
