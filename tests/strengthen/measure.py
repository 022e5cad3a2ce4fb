"""Measures what `proctor strengthen` achieves on labelled data: `python -m tests.strengthen.measure FILE …`.

Each problem keeps its first two tests (of a test program the first two assertions). In each of five folds, a fifth of
the wrong programs has no part in the choice of the tests, and a fifth of the right programs none in their validity;
only these are counted. Prints a line for each problem, and the totals. Results stay in the journal that is named.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sandbox_service.commands.recipe_judge import local_judge
from sandbox_service.errors import ProctorError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, Limits, TestCase, Verdict
from sandbox_service.settings import Settings
from sandbox_service.strengthen import answers, choice, large_tests, work, wrong_programs
from sandbox_service.strengthen.answers import Answered, Candidate
from sandbox_service.strengthen.calls import calls_of
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.strength import FOLDS
from sandbox_service.strengthen.subjects import Subject, subject_of
from sandbox_service.strengthen.tiers import CASES, EXAMPLES, FOR_FEW, LEAST_JUDGES, Made
from sandbox_service.validation.evidence import can_be_run
from sandbox_service.validation.job import rows_of
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.ceiling import ceilings

MOST_SECONDS = 4.0  # of a limit, so that the measurement ends
MOST_TOLD = 200  # characters of an input by which a right program is refused


@dataclass
class Counts:
    """Refused or accepted programs of all, by kind: before, after (held out), all."""

    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    programs: Counter[str] = field(default_factory=Counter)

    def take(self, kind: str, *, before: bool, after: bool) -> None:
        self.programs[kind] += 1
        self.before[kind] += before
        self.after[kind] += after

    def lines(self) -> dict[str, str]:
        return {kind: f"{self.before[kind]} → {self.after[kind]} of {n}" for kind, n in self.programs.items()}


@dataclass
class Found:
    """What was found for one problem."""

    name: str
    counts: Counts
    tests: int
    given: int
    valid: int
    form: str
    seconds: float


def first_tests(problem: Problem, count: int) -> list[TestCase]:
    """Return the first tests, or tests of the first assertions of a test program."""
    tests = list(problem.tests or [])
    if len(tests) > 1 or not isinstance(tests[0], AssertTest):
        return tests[:count]
    calls = calls_of(tests)
    return [calls.test(each.args, each.result) for each in calls.given[:count]] if calls else tests


async def measure(
    problem: Problem, judge: Judge, journal: Journal, recipe: Recipe, given: int, *, is_reversed: bool = False
) -> Found | str:
    """Return what was found for a problem, or why nothing was."""
    limits = problem.limits or Limits()
    if limits.cpu_seconds > MOST_SECONDS:
        limits = limits.model_copy(update={"cpu_seconds": MOST_SECONDS, "wall_seconds": None})
    whole = Runner(problem.model_copy(update={"limits": limits}), judge, journal)
    references = problem.references[::-1] if is_reversed else problem.references
    right = await work.sound_references(whole, references, limits)  # those that all given tests accept
    small = problem.model_copy(update={"tests": first_tests(problem, given), "limits": limits})
    subject = subject_of(small)
    if isinstance(subject, str):
        return subject
    runner = Runner(small, judge, journal)
    if not right:
        return "no reference passes"
    wrong = [each for each in problem.wrong if can_be_run(each.language)]
    programs = [Program("wrong", each.name, each.code, each.language) for each in wrong]
    programs += [Program("table", each.name, each.code) for each in subject.tables()]
    programs += wrong_programs.mutants_of(small, right, recipe.strengthen.mutants)
    scouts = wrong_programs.scouts_of(small, right, recipe.strengthen.mutants)
    candidates, accepts = await _candidates(runner, subject, right, recipe)
    answered = Answered(candidates, accepts.slowest, [])
    found = await work.fails_of(runner, recipe, programs, answered, scouts)
    counts, tests = _counted(found, right, accepts, recipe)
    return Found(
        problem.id, counts, tests, len(small.tests or []), len(candidates), subject.form, runner.cost.cpu_seconds
    )


@dataclass
class Accepted:
    """By reference, the candidates that it accepts, under both hash seeds; the slowest run; by fold, doubtful ones.

    `fast` has those that it accepts within the share of the time that references have.
    """

    by_reference: list[set[int]]
    slowest: float
    doubts: list[set[int]]
    fast: list[set[int]]

    def valid(self, fold: int) -> set[int]:
        out = _folds_of_right(len(self.by_reference))[fold]
        judges = [one for place, one in enumerate(self.fast) if place not in out]
        return set.intersection(*judges) - self.doubts[fold]

    def take(self, other: Accepted, start: int) -> None:
        """Add the candidates of another round, whose numbers begin with `start`."""
        mine_of = [*self.by_reference, *self.doubts, *self.fast]
        for mine, theirs in zip(mine_of, [*other.by_reference, *other.doubts, *other.fast], strict=True):
            mine |= {start + each for each in theirs}
        self.slowest = max(self.slowest, other.slowest)

    def only(self, kept: Sequence[int]) -> Accepted:
        """The same for some of the candidates, numbered anew."""
        at = {old: new for new, old in enumerate(kept)}
        moved = [
            [{at[each] for each in one if each in at} for one in sets]
            for sets in (self.by_reference, self.doubts, self.fast)
        ]
        return Accepted(moved[0], self.slowest, moved[1], moved[2])


async def _candidates(
    runner: Runner, subject: Subject, right: Sequence[Program], recipe: Recipe
) -> tuple[list[Candidate], Accepted]:
    """Return tests that all references but those of one fold accept, and who accepts which.

    All references say what later rounds make; whether an input is valid in a fold is said by those of the fold.
    """
    every: list[Candidate] = []
    accepts = Accepted([set() for _ in right], 0.0, [set() for _ in range(FOLDS + 1)], [set() for _ in right])
    so_far = Answered([], 0.0, [])
    for number in range(work.ROUNDS):
        known = {each.made.text for each in every}
        made = [each for each in subject.made(work.round_of(number, so_far, recipe, right)) if each.text not in known]
        if not made:
            continue
        found, accepted, doubted = await _round(runner, subject, right, made)
        accepts.take(accepted, len(every))
        every += found
        valid = [every[place] for place in sorted(accepts.valid(FOLDS))]
        so_far = Answered(valid, 0.0, [], so_far.tried | {each.tier for each in made}, so_far.doubted | doubted)
    await _take_large(runner, subject, right, recipe, every, accepts)
    kept = sorted(set().union(*(accepts.valid(fold) for fold in range(FOLDS + 1))))
    return [every[place] for place in kept], accepts.only(kept)


async def _take_large(
    runner: Runner,
    subject: Subject,
    right: Sequence[Program],
    recipe: Recipe,
    every: list[Candidate],
    accepts: Accepted,
) -> None:
    """Add the large inputs which the first reference, that is in all folds, bears. The others judge these, too."""
    wanted = work.large_of(recipe, right, is_validated=False)
    found = await large_tests.find(runner, subject, right[:1], wanted, (), 1)
    made = [each.made for each in found.candidates]
    if made:
        kept, accepted, _ = await _round(runner, subject, right, made, large_tests.bounds_of(right))
        slowest = accepts.slowest
        accepts.take(accepted, len(every))
        accepts.slowest = slowest
        every += kept


async def _round(
    runner: Runner,
    subject: Subject,
    right: Sequence[Program],
    made: Sequence[Made],
    bounds: answers.Bounds = answers.USUAL,
) -> tuple[list[Candidate], Accepted, set[str]]:
    """Tests of made inputs, who accepts which, and the tiers that all references together doubt."""
    limits = runner.problem.limits or Limits()
    half = answers.limits_of(subject, limits, bounds)
    made, said = await answers.asked(runner, subject, right[0], made, half, bounds)
    every = []
    for each, output in zip(made, said.outputs, strict=False):
        test = subject.test(each, output) if output is not None else None
        if test is not None:
            every.append(Candidate(test, each, output or ""))
    tests = [each.test for each in every]
    own = await runner.run(right, tests, half, to_the_end=True)
    every = [replace(each, seconds=max(row.seconds[at] for row in own)) for at, each in enumerate(every)]
    python = [place for place, each in enumerate(right) if each.language == "python"]
    again = await answers.seeded(runner, [right[place] for place in python], tests, half, 1)
    fast = [{at for at, verdict in enumerate(row.verdicts) if verdict == Verdict.AC} for row in own]
    for place, row in zip(python, again, strict=False):
        fast[place] &= {at for at, verdict in enumerate(row.verdicts) if verdict == Verdict.AC}
    accepted = fast
    if bounds is not answers.USUAL:  # a right program has all of the limit
        own = await runner.run(right, tests, limits, to_the_end=True)
        accepted = [{at for at, verdict in enumerate(row.verdicts) if verdict == Verdict.AC} for row in own]
        for at, one in enumerate(every):
            print(f"  {one.made.tier}: {len(one.made.text)} bytes, {[row.seconds[at] for row in own]} s")
    doubts, tiers = [], set[str]()
    for out in _folds_of_right(len(right)):
        judges = [row for place, row in enumerate(own) if place not in out]
        tiers = answers.doubtful_tiers(made, said, every, judges)
        doubts.append({place for place, each in enumerate(every) if each.made.tier in tiers})
        if len(judges) < LEAST_JUDGES <= len(right):
            doubts[-1] |= {place for place, each in enumerate(every) if not _is_made_for_few(subject, each.made)}
    slowest = max((row.slowest_seconds for row in own), default=0.0)
    return (
        every,
        Accepted(accepted, slowest, doubts, fast),
        tiers,
    )  # the tiers of the last fold, which has all references


def _is_made_for_few(subject: Subject, made: Made) -> bool:
    """Return whether an input would be made with one or two references, too."""
    if subject.unexplained or made.tier == EXAMPLES.name:
        return made.tier in (CASES.name, EXAMPLES.name)
    return made.tier in FOR_FEW or subject.admitted(made.text, judges=1) is not None


def _folds_of_right(count: int) -> list[list[int]]:
    """The right programs that have no part in a fold; the first always has, and two are left. The last fold has all."""
    parts = [[place for place in range(1, count) if place % FOLDS == fold] for fold in range(FOLDS)]
    return [*(part if count - len(part) >= 2 else [] for part in parts), []]


def _counted(found: choice.Choice, right: Sequence[Program], accepts: Accepted, recipe: Recipe) -> tuple[Counts, int]:
    """Counts wrong programs by tests that the others chose, and right ones by tests that the others found valid."""
    counts, tests, valid = Counts(), 0, accepts.valid(FOLDS)
    for fold in range(FOLDS):
        part = range(fold, len(found.programs), FOLDS)
        picked = _picked(found, valid, recipe, part)
        tests += len(picked)
        for place in part:
            program, passes = found.programs[place], place in found.fails
            if program.kind == "mutant" and passes and not found.fails[place]:
                continue
            is_refused = not passes or bool(found.fails[place] & picked)
            counts.take(program.kind, before=not passes, after=is_refused)
            if program.kind == "wrong" and not is_refused:
                print(f"  accepted wrong {program.name}: {len(found.fails[place] & valid)} of {len(valid)} inputs tell")
    for fold, out in enumerate(_folds_of_right(len(right))[:FOLDS]):
        picked = _picked(found, accepts.valid(fold), recipe, ()) if out else set()
        for place in out:
            kind = f"right, by {len(right) - len(out)} others"
            refusing = picked - accepts.by_reference[place]
            counts.take(kind, before=True, after=not refusing)
            for at in sorted(refusing):
                print(f"  refused right {right[place].name}: {_told(found.candidates[at])}")
    return counts, tests


def _told(candidate: Candidate) -> str:
    """An input by which a right program is refused, with the assumptions under which it was made."""
    made = candidate.made
    return f"{made.how} ({made.tier}): {made.text[:MOST_TOLD]!r} → {candidate.answer[:MOST_TOLD]!r}"


def _picked(found: choice.Choice, valid: set[int], recipe: Recipe, without: Sequence[int]) -> set[int]:
    """The tests chosen among valid ones."""
    kept = sorted(valid)
    fails = {place: failed & valid for place, failed in found.fails.items()}
    return {kept[place] for place in choice.chosen(_only(found, fails, kept), recipe, without=without).chosen}


def _only(found: choice.Choice, fails: dict[int, set[int]], kept: list[int]) -> choice.Choice:
    """The choice with the kept candidates only."""
    at = {old: new for new, old in enumerate(kept)}
    moved = {place: {at[each] for each in failed} for place, failed in fails.items()}
    scouts = [{at[each] for each in failed if each in at} for failed in found.scouts]
    return replace(found, fails=moved, scouts=scouts, candidates=[found.candidates[place] for place in kept])


def ranks(values: Sequence[float]) -> list[float]:
    """Return the ranks of values, the mean of equal ones."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2 for value in values
    ]


def correlation(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, or None without variance."""
    a, b = ranks(left), ranks(right)
    n = len(a)
    if n < 3:
        return None
    mean_a, mean_b = sum(a) / n, sum(b) / n
    covariance = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    spread = (sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)) ** 0.5
    return covariance / spread if spread else None


def problems(path: Path, step: int, most: int) -> Iterator[Problem]:
    recipe = Recipe.model_validate({"name": "measure", "sources": [{"path": str(path)}]})
    count = 0
    for place, row in enumerate(rows_of(recipe.sources[0])):
        if place % step == 0 and isinstance(row, Problem) and count < most:
            count += 1
            yield row


async def _measured(options: argparse.Namespace) -> list[Found]:
    recipe = Recipe.model_validate(
        {
            "name": "measure",
            "sources": [{"path": "none"}],
            "strengthen": {"inputs": options.inputs, "mutants": options.mutants, "tests": options.tests},
        }
    )
    found = []
    os.environ.setdefault("SANDBOX_LOG_LEVEL", "warning")
    with Journal(options.journal, f"measure {recipe.strengthen.model_dump_json()}") as journal:
        async with local_judge(Settings.from_environment()) as judge:
            for problem in problems(options.file, options.step, options.limit):
                if options.skip and options.skip in problem.id:
                    continue
                begin = time.monotonic()
                try:
                    one = await measure(problem, judge, journal, recipe, options.given, is_reversed=options.reverse)
                except ProctorError as error:
                    one = str(error)
                seconds = time.monotonic() - begin
                if isinstance(one, str):
                    print(f"{problem.id}: {one}", flush=True)
                    continue
                found.append(one)
                print(
                    f"{problem.id}: {one.counts.lines()}, {one.form}, {one.valid} valid, "
                    f"{one.tests / FOLDS:.1f} tests, {one.seconds:.1f} s CPU, {seconds:.0f} s",
                    flush=True,
                )
    return found


def _summary(found: Sequence[Found]) -> dict[str, Any]:
    total: dict[str, list[int]] = {}
    for one in found:
        for kind, n in one.counts.programs.items():
            old = total.setdefault(kind, [0, 0, 0])
            old[0] += one.counts.before[kind]
            old[1] += one.counts.after[kind]
            old[2] += n
    pairs = [one.counts for one in found if one.counts.programs["mutant"] and one.counts.programs["wrong"]]

    def share(counts: Counts, kind: str, name: str) -> float:
        return float(getattr(counts, name)[kind] / counts.programs[kind])

    return {
        "problems": len(found),
        "before, after, all": total,
        "tests a problem": round(sum(one.tests for one in found) / FOLDS / max(len(found), 1), 2),
        "cpu seconds a problem": round(sum(one.seconds for one in found) / max(len(found), 1), 2),
        "forms": dict(Counter(one.form for one in found)),
        "rank correlation before": correlation(
            [share(each, "mutant", "before") for each in pairs], [share(each, "wrong", "before") for each in pairs]
        ),
        "problems in it": len(pairs),
        "rank correlations that chance allows": ceilings(
            [share(each, "mutant", "before") for each in pairs],
            [(each.before["wrong"], each.programs["wrong"]) for each in pairs],
            correlation,
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--given", type=int, default=2)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--limit", type=int, default=10_000)
    parser.add_argument("--inputs", type=int, default=96)
    parser.add_argument("--mutants", type=int, default=30)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument(
        "--reverse", action="store_true", help="the last reference answers, and has a part in each fold"
    )
    parser.add_argument("--skip", default="", help="leave out problems with this in their id")
    found = asyncio.run(_measured(parser.parse_args()))
    json.dump(_summary(found), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
