"""The report of a validation: one HTML page from which a person decides about a data set.

Shows what was refused and why, verdicts, times against limits, tests, answers, difficulty, and examples of every
finding. The layout is in `templates/report.html`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_service.reports import charts, pages
from sandbox_service.reports.axes import number
from sandbox_service.validation.difficulty import TOO_EASY, TOO_HARD
from sandbox_service.validation.finding import MEANINGS, severity_of
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.totals import Totals

TEMPLATE = Path(__file__).parent / "templates" / "report.html"
LEAST_SECONDS = 0.001  # shorter times are drawn as this

VERDICT_COLOURS = {
    "AC": "good",
    "WA": "bad",
    "TLE": "s1",
    "MLE": "s4",
    "OLE": "s4",
    "RTE": "s0",
    "CE": "grey",
    "IE": "cyan",
}
VERDICT_NAMES = {
    "AC": "passes",
    "WA": "wrong answer",
    "TLE": "too slow",
    "MLE": "too much memory",
    "OLE": "too much output",
    "RTE": "crashes",
    "CE": "does not compile",
    "IE": "fault of the service, no verdict",
}
ROLE_NAMES = {"references": "references", "wrong": "known wrong", "probes": "probes that solve nothing"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar. `colour` is a variable of the style sheet."""

    name: str
    count: int
    colour: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with its label. `link` names the examples that it leads to."""

    name: str
    pieces: Sequence[Piece]
    about: str = ""
    link: str = ""

    @property
    def count(self) -> int:
        """Sum of the pieces."""
        return sum(each.count for each in self.pieces)


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars as long as their share of the longest; stacked ones all of one length, with a legend each."""

    title: str
    bars: Sequence[Bar]
    note: str = ""
    is_stacked: bool = False

    @property
    def longest(self) -> int:
        """Count of the longest bar."""
        return max((each.count for each in self.bars), default=1)


@dataclass(frozen=True, slots=True)
class Examples:
    """Problems that have a finding, each with its reason. `name` is the target of links."""

    name: str
    title: str
    about: str
    problems: Sequence[tuple[str, str]]
    is_grave: bool = False


Card = BarChart | charts.Chart


def write(path: Path, recipe: Recipe, totals: Totals, manifest: Mapping[str, Any]) -> None:
    """Write the page in one step.

    Args:
        path: The page.
        recipe: As for `render`.
        totals: As for `render`.
        manifest: As for `render`.

    Raises:
        OSError: The file cannot be written; an older page is left as it was.
    """
    pages.write(path, render(recipe, totals, manifest))


def render(recipe: Recipe, totals: Totals, manifest: Mapping[str, Any]) -> str:
    """Return the page of a validation as HTML.

    Args:
        recipe: The recipe that was carried out.
        totals: The counts and values of all its problems.
        manifest: Content of manifest.json.
    """
    return pages.render(
        TEMPLATE,
        title=recipe.name,
        subtitle=_subtitle(recipe, totals),
        lead=_lead(totals),
        tiles=_tiles(totals),
        outcome=_outcome(totals),
        cards=[card for card in _cards(recipe, totals) if card is not None],
        examples=_examples(recipe, totals),
        provenance={name: manifest[name] for name in ("graders", "fingerprint", "sources", "evaluation", "files")},
        recipe=manifest["recipe"],
    )


def _subtitle(recipe: Recipe, totals: Totals) -> str:
    graders = ", ".join(sorted(totals.graders)) or "no program was run"
    return " · ".join(filter(None, (recipe.about, ", ".join(each.path for each in recipe.sources), graders)))


def _lead(totals: Totals) -> str:
    """The outcome in two or three sentences."""
    if not totals.read:
        return "There was nothing to validate."
    sentences = [f"{number(totals.clean)} of {number(totals.read)} problems can be trained on."]
    if totals.quarantined:
        sentences.append(f"{_are(totals.quarantined)} in quarantine{_main_cause(totals)}.")
    if left_out := totals.left_out.total():
        sentences.append(f"{_are(left_out)} left out by the recipe.")
    return " ".join(sentences)


def _main_cause(totals: Totals) -> str:
    """The most frequent cause, unless each cause has one problem."""
    name, count = totals.causes.most_common(1)[0]
    if count == 1 and totals.quarantined > 1:
        return ""
    how_many = "" if count == totals.quarantined else f", {number(count)} of them"
    return f"{how_many} because of this: {MEANINGS[name][1]}"


def _are(count: int) -> str:
    return f"{number(count)} {'is' if count == 1 else 'are'}"


def _percent(part: float, whole: float) -> str:
    """A whole percentage; nothing for 0."""
    return f"{100 * part / whole:.0f} %" if part and whole else ""


def _tiles(totals: Totals) -> list[tuple[str, str, str]]:
    """Value, share of all problems and label of each headline."""
    per_test = totals.cpu_seconds / totals.tests_run if totals.tests_run else 0.0
    counts = (
        (totals.clean, "clean"),
        (totals.quarantined, "in quarantine"),
        (totals.left_out.total(), "left out by the recipe"),
    )
    tiles = [(number(count), _percent(count, totals.read), name) for count, name in counts]
    if samples := totals.samples["graded"]:
        passed = _percent(totals.samples["passed"], samples) or "0 %"
        tiles.append((passed, "", f"of {number(samples)} samples pass"))
    tiles += [(number(totals.runs), "", "programs run"), (f"{1000 * per_test:.1f} ms", "", "CPU per test")]
    return [each for each in tiles if each[0] != "0" or each[2] in ("clean", "in quarantine")]


def _outcome(totals: Totals) -> list[Piece]:
    return [
        Piece("clean", totals.clean, "good"),
        Piece("in quarantine", totals.quarantined, "bad"),
        Piece("left out", totals.left_out.total(), "grey"),
    ]


def _cards(recipe: Recipe, totals: Totals) -> list[Card | None]:
    values = totals.values
    return [
        _causes(totals),
        _notes(recipe, totals),
        _verdicts(totals),
        _times(totals),
        charts.histogram("Tests of a problem", values["tests"], is_log=True, unit="tests"),
        charts.histogram("Different answers, of all tests", values["diversity"], unit="share"),
        _difficulty(recipe, totals),
        charts.histogram("Letters and digits of a prompt", values["letters"], is_log=True, unit="characters"),
        _left_out(totals),
        _by_source(totals),
    ]


def _causes(totals: Totals) -> BarChart:
    """Counts each problem once, under its first reason."""
    note = "each problem once, by the first of its reasons" if totals.causes else "nothing is in quarantine"
    return BarChart("Why problems are in quarantine", _finding_bars(totals.causes.most_common(), "bad"), note)


def _notes(recipe: Recipe, totals: Totals) -> BarChart | None:
    found = [each for each in totals.findings.most_common() if severity_of(each[0], recipe.severity) == "note"]
    note = "on clean problems too; a note excludes no problem"
    return BarChart("Notes", _finding_bars(found, "s1"), note) if found else None


def _finding_bars(counts: Iterable[tuple[str, int]], colour: str) -> list[Bar]:
    return [Bar(_title(name), [Piece(name, count, colour)], MEANINGS[name][1], name) for name, count in counts]


def _verdicts(totals: Totals) -> BarChart | None:
    """Red marks unexpected results: a reference that fails, or any other program that passes."""
    bars = [
        Bar(ROLE_NAMES[role], [Piece(name, count, _colour(role, name)) for name, count in sorted(counts.items())])
        for role, counts in totals.verdicts.items()
        if counts
    ]
    seen = sorted({name for counts in totals.verdicts.values() for name in counts})
    note = " · ".join(f"{name} {VERDICT_NAMES[name]}" for name in seen if name in VERDICT_NAMES)
    return BarChart("Verdicts of the programs that were run", bars, note, is_stacked=True) if bars else None


def _colour(role: str, verdict: str) -> str:
    if role == "references":
        return VERDICT_COLOURS.get(verdict, "grey")
    return {"AC": "bad", "WA": "good", "IE": "cyan"}.get(verdict, "grey")


def _times(totals: Totals) -> charts.Chart | None:
    """A dot for each problem: the time of its slowest reference, and the limit."""
    flat = totals.times
    times = [(max(flat[at], LEAST_SECONDS), flat[at + 1], flat[at + 2]) for at in range(0, len(flat), 3)]
    if not times:
        return None
    took, limit, _ = max(times, key=lambda each: each[0] / each[1])
    note = (
        f"nearest to its limit: {number(took)} of {number(limit)} s · green: clean, red: in quarantine · "
        "dashed: time equals limit"
    )
    points = [(took, limit, "good" if is_clean else "bad") for took, limit, is_clean in times]
    title = "CPU time of the slowest reference, and the limit"
    return charts.scatter_chart(title, points, unit="s of CPU time", note=note, low=LEAST_SECONDS)


def _difficulty(recipe: Recipe, totals: Totals) -> charts.Chart | None:
    """The share of a model's samples that pass, if the recipe measures it; else the difficulty in the data."""
    measured = recipe.difficulty
    if measured is None:
        return charts.histogram("Difficulty, as the data say", totals.values["difficulty"], unit="difficulty")
    notes = [f"{number(totals.left_out[name])} {name} (grey)" for name in (TOO_EASY, TOO_HARD) if totals.left_out[name]]
    samples = totals.samples
    if samples["cut"]:
        notes.append(f"{number(samples['cut'])} of {number(samples['graded'])} samples were cut off")
    if samples["not_judged"]:
        notes.append(f"{number(samples['not_judged'])} were not judged")
    title = f"Samples of {measured.model or 'the model'} that pass"
    return charts.histogram(title, totals.solved, unit="share", others=totals.solved_dropped, note=" · ".join(notes))


def _left_out(totals: Totals) -> BarChart | None:
    bars = [Bar(name, [Piece(name, count, "grey")]) for name, count in totals.left_out.most_common()]
    return BarChart("Left out by the recipe", bars) if bars else None


def _by_source(totals: Totals) -> BarChart | None:
    if len(totals.by_source) < 2:
        return None
    bars = [Bar(name, _source_pieces(counts)) for name, counts in sorted(totals.by_source.items())]
    return BarChart("By source", bars, is_stacked=True)


def _source_pieces(counts: Counter[str]) -> list[Piece]:
    return [Piece("clean", counts["clean"], "good"), Piece("quarantine", counts["quarantine"], "bad")]


def _examples(recipe: Recipe, totals: Totals) -> list[Examples]:
    """Findings that lead to quarantine before notes, the most frequent first."""
    order = sorted(
        totals.examples, key=lambda name: (_rank(recipe, name), -totals.causes[name], -totals.findings[name], name)
    )
    examples = [_finding_examples(recipe, totals, name) for name in order]
    return [*examples, _unknown_difficulty(totals)] if totals.unknown else examples


def _finding_examples(recipe: Recipe, totals: Totals, name: str) -> Examples:
    problems = totals.examples[name]
    title = _counted(_title(name), totals.findings[name], len(problems))
    return Examples(name, title, MEANINGS[name][1], problems, is_grave=_rank(recipe, name) == 0)


def _unknown_difficulty(totals: Totals) -> Examples:
    title = _counted("difficulty not known", totals.unknowns, len(totals.unknown))
    about = "clean, and kept without a difficulty: the model gave no sample, or no sample could be judged"
    return Examples("difficulty_not_known", title, about, totals.unknown)


def _counted(name: str, count: int, shown: int) -> str:
    more = f" – the first {shown}" if count > shown else ""
    return f"{name} · {number(count)}{more}"


def _rank(recipe: Recipe, name: str) -> int:
    return ("quarantine", "note", "off").index(severity_of(name, recipe.severity))


def _title(name: str) -> str:
    return name.replace("_", " ")
