"""Strengthens one problem: makes inputs, finds their answers, makes wrong programs, chooses tests, measures.

The record of a problem has everything that the output and the report say about it. It follows from the problem, the
recipe and the verdicts; no order of events and no clock has a part in it, but for the reported CPU time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.errors import BadRequestError
from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.schema import Limits, StdinTest, TestCase, Verdict
from sandbox_service.strengthen import answers, cover, generators, strength, tiers
from sandbox_service.strengthen.answers import EXCERPT, Answered, Candidate
from sandbox_service.strengthen.constants import constants_of
from sandbox_service.strengthen.runs import Kind, Program, Runner
from sandbox_service.strengthen.strength import Share
from sandbox_service.strengthen.subjects import Subject, subject_of
from sandbox_service.strengthen.tiers import Made, Wanted
from sandbox_service.strengthen.wrong_programs import known_wrong, mutants_of, tables_of
from sandbox_service.validation.evidence import STEP_SECONDS, can_be_run
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.sampler import Sampler

CHUNK = 16  # tests at a time, so that a program which needs its whole limit is not run on all
MOST_TIMEOUTS = 2  # after so many a program is not run on further tests,
MOST_FAILURES = 8  # nor is a mutant after so many failures: nearly every test refuses it
MUTANT_FACTOR = 10  # a mutant may take ten times the time of the slowest reference
ROUNDS = 3  # of inputs: further rounds follow doubted inputs, or make more until half as many as wanted are valid
MOST_RARE, RARE_BYTES = 12, 2000  # inputs with rare answers that are changed
PYTHON_DIGITS = 9  # of the largest inputs that references in Python alone judge
STATED_AUDIT_FACTOR, LEAST_AUDIT_SECONDS = 10, 0.05  # an audit test states ten times the time of the slowest reference;
PYTHON_FACTOR = 10  # … so many times more where no reference is in Python
EXAMPLES = 12  # programs of a problem that the report names
CE = Verdict.CE
COSTLY = (Verdict.TLE, Verdict.MLE, Verdict.OLE)

Record = dict[str, Any]

_DIGITS = re.compile(r"\d{1,100}")  # of a number; a longer one is text


@dataclass(frozen=True)
class Choice:
    """The tests chosen for a problem, and the wrong programs with the tests that they fail.

    Attributes:
        programs: Mutants, tables, known wrong programs.
        passed: The places of those that pass all given tests.
        fails: For these, the candidates that they fail.
        candidates: Valid tests.
        chosen: Places of the candidates that are added.
        audit: Places of the candidates that are added as audit tests.
    """

    programs: list[Program]
    passed: list[int]
    fails: dict[int, set[int]]
    candidates: list[Candidate]
    chosen: list[int] = field(default_factory=list)
    audit: list[int] = field(default_factory=list)


async def strengthen(runner: Runner, recipe: Recipe, sampler: Sampler | None = None) -> Record:
    """Return the record of a problem.

    Args:
        runner: Runs programs of the problem.
        recipe: Says how much to do.
        sampler: Asks the model that writes generators; None for no generators.

    Raises:
        ConfigurationError: The model refuses every prompt.
        NotJudgedError: The service failed.
        UnavailableError: The judge or the model stayed away for too long.
    """
    subject = subject_of(runner.problem)
    if isinstance(subject, str):
        return _unchanged(subject)
    try:
        return await _strengthened(runner, recipe, subject, sampler)
    except BadRequestError as error:
        return _unchanged(f"the judge refuses it: {error}")


def with_tests(problem: Problem, record: Record) -> Problem:
    """Return the problem with the tests and the strength of its record."""
    if record["reason"]:
        return problem
    line = problem.model_dump(mode="json")
    line["tests"] += record["added"]
    return Problem.model_validate({**line, "strength": record["strength"]})


def _unchanged(reason: str) -> Record:
    return {"reason": reason}


async def _strengthened(runner: Runner, recipe: Recipe, subject: Subject, sampler: Sampler | None) -> Record:
    problem, limits = runner.problem, runner.problem.limits or Limits()
    references = await sound_references(runner, problem.references[: recipe.thresholds.most_references], limits)
    if not references:
        return _unchanged(_why_none(problem))
    if len(references) < recipe.strengthen.least_references:
        return _unchanged("it has too few references that pass its tests")
    wrong = [each for each in problem.wrong if can_be_run(each.language)][: recipe.strengthen.most_wrong]
    printed = await _printed(runner, recipe, subject, sampler, judges=len(references))
    answered = await valid_tests(runner, recipe, subject, references, printed)
    programs = [*known_wrong(wrong), *tables_of(subject), *mutants_of(problem, references, recipe.strengthen.mutants)]
    found = await fails_of(runner, recipe, programs, answered)
    choice = chosen(found, recipe)
    return _record(runner, references, subject, answered, choice, recipe)


def _why_none(problem: Problem) -> str:
    """Why no reference is sound."""
    languages = sorted({each.language for each in problem.references})
    if not languages:
        return "it has no reference, which is a solution that is right"
    if not any(language != "text" and can_be_run(language) for language in languages):
        return f"its references cannot be run here: {', '.join(languages)}"
    return "no reference that can be run here passes its tests"


async def _printed(
    runner: Runner, recipe: Recipe, subject: Subject, sampler: Sampler | None, *, judges: int
) -> list[Made]:
    """The inputs that generators of a model print, if the recipe names one."""
    wanted = recipe.strengthen
    if sampler is None or wanted.generators is None:
        return []
    most_bytes = wanted.most_input_bytes
    return await generators.inputs_of(runner, subject, sampler, wanted.generators, judges=judges, most_bytes=most_bytes)


async def sound_references(runner: Runner, solutions: Sequence[Solution], limits: Limits) -> list[Program]:
    """Return the right solutions that can be run here and pass the given tests.

    Args:
        runner: Runs programs.
        solutions: The right solutions.
        limits: Of the problem.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    programs = [
        Program("reference", each.name or f"reference {place}", each.code, each.language)
        for place, each in enumerate(solutions, 1)
        if each.language != "text" and can_be_run(each.language)
    ]
    rows = await runner.run(programs, runner.problem.tests or [], limits)
    return [each for each, row in zip(programs, rows, strict=True) if row.passed]


async def valid_tests(
    runner: Runner, recipe: Recipe, subject: Subject, references: Sequence[Program], printed: Sequence[Made] = ()
) -> Answered:
    """Return tests of made inputs on which all references agree.

    Args:
        runner: Runs programs.
        recipe: Says how many inputs to make, and how large.
        subject: Makes inputs.
        references: Sound references, at least one.
        printed: Inputs that generators printed.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    seed, limits = (recipe.thresholds.hash_seeds or [1])[0], runner.problem.limits or Limits()
    found = Answered([], 0.0, [])
    for number in range(ROUNDS):
        known = {each.made.text for each in found.candidates}
        wanted = round_of(number, found, recipe, references)
        made = [each for each in subject.made(wanted) if each.text not in known]
        if made:
            found += await answers.find(runner, subject, references, made, limits, seed)
    new = [each for each in printed if each.text not in {known.made.text for known in found.candidates}]
    return found + await answers.find(runner, subject, references, new, limits, seed) if new else found


def round_of(number: int, found: Answered, recipe: Recipe, references: Sequence[Program]) -> Wanted:
    """Return the inputs that are wanted in a round.

    Args:
        number: Of the round, from 0.
        found: By the rounds before it.
        recipe: Says how many inputs to make, and how large.
        references: They judge the inputs. Python's numbers have no bound, so that Python alone bounds no input.
    """
    wanted = recipe.strengthen
    has_words = any(each.language != "python" for each in references)
    return Wanted(
        wanted.inputs,
        len(references),
        tiers.FAR[-1] if has_words else PYTHON_DIGITS,
        wanted.most_input_bytes,
        number,
        found.tried,
        found.doubted,
        rare_of(found.candidates) if number else (),
        constants_of([(each.language, each.code) for each in references]),
        is_enough=2 * len(found.candidates) >= wanted.inputs,
    )


def rare_of(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return short inputs whose answers are rare: a change of these is likely to change the answer."""
    answers = Counter(each.answer for each in candidates)
    short = [each for each in candidates if len(each.made.text) <= RARE_BYTES]
    return tuple(each.made.text for each in sorted(short, key=lambda each: answers[each.answer])[:MOST_RARE])


async def fails_of(runner: Runner, recipe: Recipe, programs: Sequence[Program], answered: Answered) -> Choice:
    """Return the wrong programs that pass the given tests, and the candidates that each of them fails.

    Mutants that do not compile are left out.

    Args:
        runner: Runs programs.
        recipe: Has the least limit of mutants.
        programs: Wrong programs.
        answered: The valid tests.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    limits = _mutant_limits(runner.problem.limits or Limits(), answered.slowest_seconds, recipe)
    before = await runner.run(programs, runner.problem.tests or [], limits)
    kept = [place for place, row in enumerate(before) if programs[place].kind != "mutant" or CE not in row.verdicts]
    programs, before = [programs[place] for place in kept], [before[place] for place in kept]
    passed = [place for place, row in enumerate(before) if row.passed]
    fails: dict[int, set[int]] = {place: set() for place in passed}
    timeouts = dict.fromkeys(passed, 0)
    tests = [each.test for each in answered.candidates]
    for start in range(0, len(tests), CHUNK):
        chunk = tests[start : start + CHUNK]
        running = [
            each
            for each in passed
            if timeouts[each] < MOST_TIMEOUTS and (programs[each].kind != "mutant" or len(fails[each]) < MOST_FAILURES)
        ]
        rows = await runner.run([programs[place] for place in running], chunk, limits, to_the_end=True)
        for place, row in zip(running, rows, strict=True):
            failed = {start + at for at, verdict in enumerate(row.verdicts) if verdict != Verdict.AC}
            fails[place] |= failed
            timeouts[place] += sum(verdict in COSTLY for verdict in row.verdicts)
    return Choice(list(programs), passed, fails, answered.candidates)


def _mutant_limits(limits: Limits, slowest_seconds: float, recipe: Recipe) -> Limits:
    seconds = max(recipe.strengthen.mutant_seconds, MUTANT_FACTOR * slowest_seconds)
    rounded = math.ceil(seconds / STEP_SECONDS) * STEP_SECONDS
    return limits.model_copy(update={"cpu_seconds": min(rounded, limits.cpu_seconds), "wall_seconds": None})


def chosen(found: Choice, recipe: Recipe, without: Sequence[int] = ()) -> Choice:
    """Return a choice of tests.

    Args:
        found: Wrong programs and what they fail.
        recipe: Says how many tests to choose.
        without: Places of programs that have no part in the choice.
    """
    wanted, candidates = recipe.strengthen, found.candidates
    sizes = [size_of(each.test) for each in candidates]
    groups = [each.made.how for each in candidates]
    said = [each.answer for each in candidates]
    fails = {place: tests for place, tests in found.fails.items() if place not in without}
    least = min(wanted.least_tests, wanted.tests)
    first = cover.choose(fails, sizes, wanted.tests, wanted.depth)
    first += [each for each in extremes(candidates) if each not in first][: max(least - len(first), 0)]
    added = cover.filled(first, groups, said, least)
    others = {place: tests - set(added) for place, tests in fails.items()}
    every = [*added, *cover.choose(others, sizes, wanted.audit, wanted.depth)]
    every = cover.filled(every, groups, said, len(added) + wanted.audit)
    others_by_size = sorted(set(range(len(candidates))) - set(every), key=lambda place: (sizes[place], place))
    every += others_by_size[: len(added) + wanted.audit - len(every)]
    return Choice(found.programs, found.passed, found.fails, candidates, added, every[len(added) :])


def extremes(candidates: Sequence[Candidate]) -> list[int]:
    """Return the places of the candidate with the greatest number and of the longest one; large ones are left out."""
    cheap = [place for place, each in enumerate(candidates) if size_of(each.test) <= cover.LARGE]
    texts = {place: candidates[place].made.text for place in cheap}
    greatest = max(cheap, key=lambda place: (_greatest_number(texts[place]), -len(texts[place]), -place), default=None)
    longest = max(cheap, key=lambda place: (len(texts[place]), -place), default=None)
    return list(dict.fromkeys(each for each in (greatest, longest) if each is not None))


def _greatest_number(text: str) -> int:
    return max((int(digits) for digits in _DIGITS.findall(text)), default=0)


def size_of(test: TestCase) -> int:
    """Return the size of a made test, in characters."""
    return len(test.input) if isinstance(test, StdinTest) else len(test.model_dump_json())


# --- measurements


def counts(choice: Choice, kind: Kind | None = None, places: Sequence[int] | None = None) -> tuple[Share, Share]:
    """Return the shares of wrong programs that are refused before and after.

    A mutant that no valid input tells from its reference is not counted.

    Args:
        choice: Programs and chosen tests.
        kind: Only programs of this kind.
        places: Only these programs.
    """
    before = after = programs = 0
    tests = set(choice.chosen)
    for place in range(len(choice.programs)) if places is None else places:
        program = choice.programs[place]
        if kind is not None and program.kind != kind:
            continue
        if place not in choice.fails:
            before, after, programs = before + 1, after + 1, programs + 1
        elif choice.fails[place] or program.kind != "mutant":
            after += bool(choice.fails[place] & tests)
            programs += 1
    return Share(before, programs), Share(after, programs)


def held_out(found: Choice, recipe: Recipe) -> Share:
    """Return the share that is refused by tests which other programs chose: each fifth by those of the other four."""
    parts = strength.folds(len(found.programs))
    return strength.total(counts(chosen(found, recipe, without=part), places=part)[1] for part in parts)


def _record(
    runner: Runner,
    references: Sequence[Program],
    subject: Subject,
    answered: Answered,
    choice: Choice,
    recipe: Recipe,
) -> Record:
    before, after = counts(choice)
    start = len(runner.problem.tests or [])
    scored = subject.merged([choice.candidates[place].test for place in choice.chosen])
    audit = audit_tests(subject, [choice.candidates[place] for place in choice.audit], references)
    tests = [*scored, *audit]
    indices = _indices(start, len(scored), len(choice.chosen))
    indices += _indices(start + len(scored), len(audit), len(choice.audit))
    kinds = {kind: counts(choice, kind) for kind in ("mutant", "table", "wrong")}
    return {
        "reason": "",
        "added": [each.model_dump(mode="json") for each in tests],
        "strength": {
            "before": before.line(),
            "after": after.line(),
            "held_out": held_out(choice, recipe).line(),
            "kinds": {
                kind: [old.refused, new.refused, new.programs] for kind, (old, new) in kinds.items() if new.programs
            },
            "references": len(references),
            "added": [
                {"index": index, "how": choice.candidates[place].made.how, "references": len(references)}
                for index, place in zip(indices, [*choice.chosen, *choice.audit], strict=True)
            ],
        },
        "caught": list(_caught(choice)),
        "left": [
            {"program": choice.programs[place].name, "kind": choice.programs[place].kind}
            for place in choice.passed
            if not choice.fails[place] & set(choice.chosen)
            and (choice.fails[place] or choice.programs[place].kind != "mutant")
        ][:EXAMPLES],
        "suspicious": answered.suspicious,
        "figures": {
            "form": subject.form,
            "given": start,
            "printed": sum(each.made.how.startswith("generator") for each in choice.candidates),
            "valid": len(choice.candidates),
            "added": len(choice.chosen),
            "audit": len(choice.audit),
            "equivalent": sum(
                not choice.fails[place] and choice.programs[place].kind == "mutant" for place in choice.passed
            ),
            "references": len(references),
            "cpu_seconds": round(runner.cost.cpu_seconds, 3),
            "programs": runner.cost.programs,
            "tests": runner.cost.tests,
        },
    }


def audit_tests(subject: Subject, chosen_ones: Sequence[Candidate], references: Sequence[Program]) -> list[TestCase]:
    """Return audit tests, each with a limit on its CPU time: an endless program costs no more than that.

    Args:
        subject: Merges tests.
        chosen_ones: The tests.
        references: Those that were run on them.
    """
    merged = subject.merged_audit([each.test for each in chosen_ones])
    parts = [[each] for each in chosen_ones] if len(merged) == len(chosen_ones) else [list(chosen_ones)]
    known = [each.seconds for each in chosen_ones if each.seconds is not None]
    start = min(known, default=0.0)  # of a process, which merged tests have in common
    has_python = any(each.language == "python" for each in references)
    factor = STATED_AUDIT_FACTOR if has_python else STATED_AUDIT_FACTOR * PYTHON_FACTOR
    return [
        test.model_copy(update={"role": "audit", "cpu_seconds": _audit_seconds(part, start, factor)})
        for test, part in zip(merged, parts, strict=True)
    ]


def _audit_seconds(part: Sequence[Candidate], start: float, factor: int) -> float | None:
    seconds = [each.seconds - start for each in part if each.seconds is not None]
    if len(seconds) < len(part):
        return None
    return max(LEAST_AUDIT_SECONDS, round(factor * (start + sum(seconds)), 3))


def _indices(start: int, tests: int, made: int) -> list[int]:
    """The index of each made test; all have one index if they were merged."""
    return [start + at if tests == made else start for at in range(made)]


def _caught(choice: Choice) -> Iterator[dict[str, Any]]:
    """Programs that the given tests let pass and the added ones refuse, with the first input that tells."""
    shown = 0
    for place in choice.passed:
        telling = [test for test in choice.chosen if test in choice.fails[place]]
        if telling and shown < EXAMPLES:
            shown += 1
            made = choice.candidates[telling[0]].made
            program = choice.programs[place]
            yield {"program": program.name, "kind": program.kind, "input": made.text[:EXCERPT], "how": made.how}
