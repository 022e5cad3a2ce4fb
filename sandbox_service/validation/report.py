"""What the report of a validation says, and in which order: a page that a person can look at and decide by.

What was refused and why, verdicts, times against limits, tests, answers, difficulty, and examples of every finding. How
it is drawn is said in `page`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox_service.validation import page
from sandbox_service.validation.difficulty import TOO_EASY, TOO_HARD
from sandbox_service.validation.finding import MEANINGS, severity_of
from sandbox_service.validation.page import Bar, Examples, Html
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
VERDICT_NAMES = {
    "AC": "passes",
    "WA": "wrong answer",
    "TLE": "too slow",
    "MLE": "too much memory",
    "OLE": "too much output",
    "RTE": "crashes",
    "CE": "does not compile",
    "IE": "our fault, and no verdict",
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
        page.lead(_in_words(totals)),
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


def _in_words(totals: Totals) -> str:
    """Two or three sentences for who reads no further."""
    if not totals.read:
        return "There was nothing to validate."
    said = [f"{page.number(totals.clean)} of {page.number(totals.read)} problems can be trained on."]
    if totals.quarantined:
        said.append(f"{_are(totals.quarantined)} in quarantine{_most_often(totals)}.")
    if left := totals.left_out.total():
        said.append(f"{_are(left)} left out as the recipe wants.")
    return " ".join(said)


def _most_often(totals: Totals) -> str:
    """What is behind most of the quarantine, if one reason is."""
    name, count = totals.causes.most_common(1)[0]
    if count == 1 and totals.quarantined > 1:
        return ""
    how_many = "" if count == totals.quarantined else f", {page.number(count)} of them"
    return f"{how_many} because of this: {MEANINGS[name][1]}"


def _are(count: int) -> str:
    return f"{page.number(count)} {'is' if count == 1 else 'are'}"


def _tiles(totals: Totals) -> list[tuple[str, str, str]]:
    per_test = totals.cpu_seconds / totals.tests_run if totals.tests_run else 0.0
    counts = (
        (totals.clean, "clean"),
        (totals.quarantined, "in quarantine"),
        (totals.left_out.total(), "left out by the recipe"),
    )
    tiles = [(page.number(count), page.share(count, totals.read), name) for count, name in counts]
    samples = totals.samples["graded"]
    if samples:
        tiles.append(
            (page.share(totals.samples["passed"], samples) or "0 %", "", f"of {page.number(samples)} samples pass")
        )
    tiles += [(page.number(totals.runs), "", "programs run"), (f"{1000 * per_test:.1f} ms", "", "CPU a test")]
    return [each for each in tiles if each[0] != "0" or each[2] in ("clean", "in quarantine")]


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
        _hardness(recipe, totals),
        page.histogram("Letters and digits of a prompt", values["letters"], is_log=True, unit="signs"),
        _left_out(totals),
        _by_source(totals),
    ]


def _causes(totals: Totals) -> Html:
    """Every problem once, by its first reason."""
    bars = [Bar(_title(name), count, "bad", MEANINGS[name][1], name) for name, count in totals.causes.most_common()]
    note = "each problem once, by the first of its reasons"
    return page.bars("Why problems are in quarantine", bars, "nothing is in quarantine", note)


def _notes(recipe: Recipe, totals: Totals) -> Html:
    found = [each for each in totals.findings.most_common() if severity_of(each[0], recipe.severity) == "note"]
    bars = [Bar(_title(name), count, "s1", MEANINGS[name][1], name) for name, count in found]
    return page.bars("What else was noted", bars, note="of clean problems as well; nothing follows") if bars else ""


def _verdicts(totals: Totals) -> Html:
    """Red is what should not be: a reference that fails, or anything else that passes."""
    rows = [
        (ROLE_NAMES[role], [Bar(name, count, _colour(role, name)) for name, count in sorted(counts.items())])
        for role, counts in totals.verdicts.items()
        if counts
    ]
    seen = sorted({name for counts in totals.verdicts.values() for name in counts})
    note = " · ".join(f"{name} {VERDICT_NAMES[name]}" for name in seen if name in VERDICT_NAMES)
    return page.stacked_bars("Verdicts of the programs that were run", rows, note) if rows else ""


def _colour(role: str, verdict: str) -> str:
    if role == "references":
        return VERDICT_COLOURS.get(verdict, "s5")
    return {"AC": "bad", "WA": "good", "IE": "s2"}.get(verdict, "s5")


def _hardness(recipe: Recipe, totals: Totals) -> Html:
    """Of clean problems by what a model solves, if the recipe wants to know; else as the data say."""
    wanted = recipe.difficulty
    if wanted is None:
        return page.histogram("Difficulty, as the data say", totals.values["difficulty"], unit="difficulty")
    said = [
        f"{page.number(totals.left_out[name])} {name} (grey)" for name in (TOO_EASY, TOO_HARD) if totals.left_out[name]
    ]
    samples = totals.samples
    if samples["cut"]:
        said.append(f"{page.number(samples['cut'])} of {page.number(samples['graded'])} samples were cut off")
    if samples["not_judged"]:
        said.append(f"{page.number(samples['not_judged'])} were not judged")
    title = f"Samples of {wanted.model or 'the model'} that pass"
    return page.histogram(title, totals.solved, unit="share", others=totals.solved_dropped, note=" · ".join(said))


def _left_out(totals: Totals) -> Html:
    bars = [Bar(name, count, "s5") for name, count in totals.left_out.most_common()]
    return page.bars("Left out by the recipe", bars) if bars else ""


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
    order = sorted(
        totals.examples, key=lambda name: (_rank(recipe, name), -totals.causes[name], -totals.findings[name], name)
    )
    shown = [_example(recipe, totals, name) for name in order]
    if totals.unknown:
        shown.append(_unknown(totals))
    parts = [page.examples(each, is_open=place == 0) for place, each in enumerate(shown)]
    return page.section("What was found, problem by problem", parts) if parts else ""


def _example(recipe: Recipe, totals: Totals, name: str) -> Examples:
    said = totals.examples[name]
    title = _counted(_title(name), totals.findings[name], len(said))
    return Examples(name, title, MEANINGS[name][1], said, is_grave=_rank(recipe, name) == 0)


def _unknown(totals: Totals) -> Examples:
    title = _counted("difficulty not known", totals.unknowns, len(totals.unknown))
    about = "clean, and kept without a difficulty: there is no sample of it, or none could be judged"
    return Examples("difficulty_not_known", title, about, totals.unknown)


def _counted(name: str, count: int, shown: int) -> str:
    more = f" – the first {shown}" if count > shown else ""
    return f"{name} · {page.number(count)}{more}"


def _rank(recipe: Recipe, name: str) -> int:
    return ("quarantine", "note", "off").index(severity_of(name, recipe.severity))


def _provenance(manifest: Mapping[str, Any]) -> Html:
    return page.pre({name: manifest[name] for name in ("graders", "fingerprint", "sources", "evaluation", "files")})


def _title(name: str) -> str:
    return name.replace("_", " ")
