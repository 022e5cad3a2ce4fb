"""What the report of a validation says, and in which order: a page that a person can look at and decide by.

What was refused and why, verdicts, times against limits, tests, answers, difficulty, and examples of every finding. How
it is drawn is said in `page`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox_service.validation import page
from sandbox_service.validation.finding import MEANINGS, severity_of
from sandbox_service.validation.page import Bar, Html
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.totals import Totals

VERDICT_COLOURS = {
    "AC": "good",
    "WA": "bad",
    "TLE": "s1",
    "MLE": "s4",
    "OLE": "s4",
    "RTE": "s0",
    "CE": "s5",
    "IE": "s2",
}
ROLE_NAMES = {"references": "references", "wrong": "known wrong", "probes": "probes that solve nothing"}


def write(path: Path, recipe: Recipe, totals: Totals, manifest: Mapping[str, Any]) -> None:
    """Write the page, all at once."""
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(render(recipe, totals, manifest), encoding="utf-8")
    unfinished.replace(path)


def render(recipe: Recipe, totals: Totals, manifest: Mapping[str, Any]) -> str:
    """The page of a validation."""
    body = [
        page.tiles(_tiles(totals)),
        page.share_bar(_outcome(totals)),
        page.grid(filter(None, _charts(recipe, totals))),
        _examples(recipe, totals),
        page.details("Who judged, and what the files are", _provenance(manifest)),
        page.details("Recipe", page.pre(manifest["recipe"])),
    ]
    return page.whole(recipe.name, _subtitle(recipe, totals), body)


def _subtitle(recipe: Recipe, totals: Totals) -> str:
    graders = ", ".join(sorted(totals.graders)) or "nothing was run"
    return " · ".join(filter(None, (recipe.about, ", ".join(each.path for each in recipe.sources), graders)))


def _tiles(totals: Totals) -> list[tuple[str, str]]:
    per_test = totals.cpu_seconds / totals.tests_run if totals.tests_run else 0.0
    tiles = [
        (page.number(totals.clean), "clean"),
        (page.number(totals.quarantined), "in quarantine"),
        (page.number(totals.left_out.total()), "left out by the recipe"),
        (page.number(totals.runs), "programs run"),
        (f"{1000 * per_test:.1f} ms", "CPU a test"),
    ]
    return [each for each in tiles if each[0] != "0" or each[1] in ("clean", "in quarantine")]


def _outcome(totals: Totals) -> list[Bar]:
    return [
        Bar("clean", totals.clean, "good"),
        Bar("in quarantine", totals.quarantined, "bad"),
        Bar("left out", totals.left_out.total(), "s5"),
    ]


def _charts(recipe: Recipe, totals: Totals) -> list[Html]:
    values = totals.values
    return [
        _causes(totals),
        _notes(recipe, totals),
        _verdicts(totals),
        page.times_chart("CPU time of the slowest reference, and the limit", totals.times),
        page.histogram("Tests of a problem", values["tests"], is_log=True, unit="tests"),
        page.histogram("Different answers, of all tests", values["diversity"], unit="share"),
        page.histogram("Difficulty: samples that fail", values["difficulty"], unit="share"),
        page.histogram("Letters and digits of a prompt", values["letters"], is_log=True, unit="signs"),
        _left_out(totals),
        _by_source(totals),
    ]


def _causes(totals: Totals) -> Html:
    """Every problem once, by its first reason."""
    bars = [Bar(_title(name), count, "bad", MEANINGS[name][1]) for name, count in totals.causes.most_common()]
    return page.bars("Why problems are in quarantine", bars, "nothing is in quarantine")


def _notes(recipe: Recipe, totals: Totals) -> Html:
    found = [each for each in totals.findings.most_common() if severity_of(each[0], recipe.severity) == "note"]
    bars = [Bar(_title(name), count, "s1", MEANINGS[name][1]) for name, count in found]
    return page.bars("What else was noted", bars) if bars else ""


def _verdicts(totals: Totals) -> Html:
    rows = [
        (
            ROLE_NAMES[role],
            [Bar(name, count, VERDICT_COLOURS.get(name, "s5")) for name, count in sorted(counts.items())],
        )
        for role, counts in totals.verdicts.items()
        if counts
    ]
    return page.stacked_bars("Verdicts of the programs that were run", rows) if rows else ""


def _left_out(totals: Totals) -> Html:
    bars = [Bar(name, count, "s5") for name, count in totals.left_out.most_common()]
    return page.bars("Left out by the recipe, for their", bars) if bars else ""


def _by_source(totals: Totals) -> Html:
    if len(totals.by_source) < 2:
        return ""
    rows = [
        (name, [Bar("clean", counts["clean"], "good"), Bar("quarantine", counts["quarantine"], "bad")])
        for name, counts in sorted(totals.by_source.items())
    ]
    return page.stacked_bars("By source", rows)


def _examples(recipe: Recipe, totals: Totals) -> Html:
    """Those in quarantine before notes, the most frequent first, and the very first of them open."""
    order = sorted(totals.examples, key=lambda name: (_rank(recipe, name), -totals.findings[name], name))
    parts: list[Html] = []
    for name in order:
        count, shown = totals.findings[name], totals.examples[name]
        more = f" – the first {len(shown)}" if count > len(shown) else ""
        title = f"{_title(name)} · {page.number(count)}{more}"
        parts.append(
            page.examples(title, MEANINGS[name][1], shown, is_grave=_rank(recipe, name) == 0, is_open=not parts)
        )
    return page.section("What was found, problem by problem", parts) if parts else ""


def _rank(recipe: Recipe, name: str) -> int:
    return ("quarantine", "note", "off").index(severity_of(name, recipe.severity))


def _provenance(manifest: Mapping[str, Any]) -> Html:
    return page.pre({name: manifest[name] for name in ("graders", "fingerprint", "sources", "evaluation", "files")})


def _title(name: str) -> str:
    return name.replace("_", " ")
