"""Strengthens one problem: makes inputs, finds their answers, makes wrong programs, chooses tests, measures.

The record of a problem has everything that the output and the report say about it. It follows from the problem, the
recipe and the verdicts; no order of events and no clock has a part in it, but for the reported CPU time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, repeat

from sandbox_service.errors import BadRequestError
from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.schema import Limits, Verdict
from sandbox_service.strengthen import answers, generators, large_tests, merging, scouts, tiers
from sandbox_service.strengthen.answers import EXCERPT, Answered, Candidate
from sandbox_service.strengthen.choice import Choice, chosen
from sandbox_service.strengthen.constants import constants_of
from sandbox_service.strengthen.records import Record, record_of
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.subjects import Subject, subject_of
from sandbox_service.strengthen.tiers import Made, Wanted
from sandbox_service.strengthen.validators import Validator, accepted, refused_tiers, sound_validators
from sandbox_service.strengthen.wrong_programs import known_wrong, mutants_of, scouts_of, tables_of
from sandbox_service.validation.evidence import STEP_SECONDS, can_be_run
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.sampler import Sampler

CHUNKS = (2, 4, 8)  # tests at a time, then MOST_CHUNK: a program that needs its whole limit is run on few
MOST_CHUNK = 16
MOST_TIMEOUTS = 2  # after so many a program is not run on further tests,
MOST_FAILURES = 8  # nor is a mutant after so many failures: nearly every test refuses it
SLOW_SECONDS = 0.05  # of a reference on tests that run only for mutants which no faster one tells
MUTANT_FACTOR = 10  # a mutant may take ten times the time of the slowest reference
ROUNDS = 3  # of inputs: further rounds follow doubted inputs, or make more until half as many as wanted are valid
MOST_RARE, RARE_BYTES = 12, 2000  # inputs with rare answers that are changed
PYTHON_DIGITS = 9  # of the largest inputs that references in Python alone judge
CE = Verdict.CE
COSTLY = (Verdict.TLE, Verdict.MLE, Verdict.OLE)


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
    validators = await sound_validators(runner)
    judges = _judges(references, is_validated=bool(validators))
    printed = await _printed(runner, recipe, subject, sampler, judges=judges)
    answered = await valid_tests(runner, recipe, subject, references, printed, validators)
    if not answered.candidates:
        return _unchanged(_why_no_input(subject))
    large = large_of(recipe, references, is_validated=bool(validators))
    answered += await large_tests.find(runner, subject, references, large, validators, _hash_seed(recipe))
    programs = [*known_wrong(wrong), *tables_of(subject), *mutants_of(problem, references, recipe.strengthen.mutants)]
    further = scouts_of(problem, references, recipe.strengthen.mutants)
    found = await fails_of(runner, recipe, programs, answered, further)
    choice = chosen(found, recipe)
    candidates = choice.candidates
    scored = await merging.scored_tests(runner, subject, [candidates[place] for place in choice.chosen], references)
    audit = await merging.audit_tests(runner, subject, [candidates[place] for place in choice.audit], references)
    return record_of(runner, references, subject, answered, choice, recipe, scored, audit)


def _why_none(problem: Problem) -> str:
    """Why no reference is sound."""
    languages = sorted({each.language for each in problem.references})
    if not languages:
        return "it has no reference, which is a solution that is right"
    if not any(language != "text" and can_be_run(language) for language in languages):
        return f"its references cannot be run here: {', '.join(languages)}"
    return "no reference that can be run here passes its tests"


def _why_no_input(subject: Subject) -> str:
    rule = f': the statement says "{subject.unexplained[:EXCERPT]}"' if subject.unexplained else ""
    return f"no made input is valid, or none has a single right answer, as far as this can be told{rule}"


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
    runner: Runner,
    recipe: Recipe,
    subject: Subject,
    references: Sequence[Program],
    printed: Sequence[Made] = (),
    validators: Sequence[Validator] = (),
) -> Answered:
    """Return tests of made inputs on which all references agree.

    Args:
        runner: Runs programs.
        recipe: Says how many inputs to make, and how large.
        subject: Makes inputs.
        references: Sound references, at least one.
        printed: Inputs that generators printed.
        validators: They accept an input before the references do.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    seed, limits = _hash_seed(recipe), runner.problem.limits or Limits()
    found = Answered([], 0.0, [])
    for number in range(ROUNDS):
        known = {each.made.text for each in found.candidates}
        wanted = round_of(number, found, recipe, references, is_validated=bool(validators))
        made = [each for each in subject.made(wanted) if each.text not in known]
        valid = await accepted(runner, validators, made)
        found += Answered([], 0.0, [], frozenset(each.tier for each in made), refused_tiers(made, valid))
        made = valid
        if made:
            found += await answers.find(runner, subject, references, made, limits, seed)
    new = [each for each in printed if each.text not in {known.made.text for known in found.candidates}]
    new = await accepted(runner, validators, new)
    return found + await answers.find(runner, subject, references, new, limits, seed) if new else found


def _hash_seed(recipe: Recipe) -> int:
    return (recipe.thresholds.hash_seeds or [1])[0]


def large_of(recipe: Recipe, references: Sequence[Program], *, is_validated: bool) -> Wanted:
    """Return the large inputs that are wanted.

    Args:
        recipe: Says how large.
        references: They judge the inputs.
        is_validated: Validators accept the inputs before.
    """
    wanted = recipe.strengthen
    judges = _judges(references, is_validated=is_validated)
    most = wanted.large_bytes if wanted.large_tests else 0
    return Wanted(wanted.inputs, judges, most_bytes=most, is_validated=is_validated)


def _judges(references: Sequence[Program], *, is_validated: bool) -> int:
    """The number of references that judge an input, as makers of inputs see it. With validators one is enough."""
    return max(len(references), tiers.LEAST_JUDGES) if is_validated else len(references)


def round_of(
    number: int, found: Answered, recipe: Recipe, references: Sequence[Program], *, is_validated: bool = False
) -> Wanted:
    """Return the inputs that are wanted in a round.

    Args:
        number: Of the round, from 0.
        found: By the rounds before it.
        recipe: Says how many inputs to make, and how large.
        references: They judge the inputs. Python's numbers have no bound, so that Python alone bounds no input.
        is_validated: Validators accept the inputs before.
    """
    wanted = recipe.strengthen
    has_words = is_validated or any(each.language != "python" for each in references)
    return Wanted(
        wanted.inputs,
        _judges(references, is_validated=is_validated),
        tiers.FAR[-1] if has_words else PYTHON_DIGITS,
        wanted.most_input_bytes,
        number,
        found.tried,
        found.doubted,
        rare_of(found.candidates) if number else (),
        constants_of([(each.language, each.code) for each in references]),
        is_enough=2 * len(found.candidates) >= wanted.inputs,
        is_validated=is_validated,
    )


def rare_of(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return short inputs whose answers are rare: a change of these is likely to change the answer."""
    answers = Counter(each.answer for each in candidates)
    short = [each for each in candidates if len(each.made.text) <= RARE_BYTES]
    return tuple(each.made.text for each in sorted(short, key=lambda each: answers[each.answer])[:MOST_RARE])


async def fails_of(
    runner: Runner, recipe: Recipe, programs: Sequence[Program], answered: Answered, further: Sequence[Program] = ()
) -> Choice:
    """Return the wrong programs that pass the given tests, and the candidates that each of them fails.

    Mutants that do not compile are left out.

    Args:
        runner: Runs programs.
        recipe: Has the least limit of mutants.
        programs: Wrong programs.
        answered: The valid tests.
        further: Scouts.

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
    usual = [each for each in answered.candidates if not each.made.is_large]
    fails = await _failed(runner, programs, passed, usual, limits)
    refused = [place for place, each in enumerate(programs) if each.kind == "mutant" and place not in fails]
    known = await _failed(runner, programs, refused, usual, limits) if recipe.strengthen.audit else {}
    depth = recipe.strengthen.depth
    few = [place for place, failed in fails.items() if len(failed) < (1 if programs[place].kind == "mutant" else depth)]
    for places, within in _within_limits(runner, recipe, programs, few, answered):
        for place, failed in (await _slow_on(runner, programs, places, answered, within)).items():
            fails[place] |= failed
    scouted = await scouts.failures(runner, further, usual)
    return Choice(list(programs), passed, fails, answered.candidates, known, scouted)


async def _failed(
    runner: Runner, programs: Sequence[Program], places: Sequence[int], candidates: Sequence[Candidate], limits: Limits
) -> dict[int, set[int]]:
    """The candidates that the programs at these places fail. Mutants run on slow ones only if no other tells them."""
    fails: dict[int, set[int]] = {place: set() for place in places}
    timeouts = dict.fromkeys(places, 0)
    fast = [at for at, each in enumerate(candidates) if (each.seconds or 0.0) <= SLOW_SECONDS]
    slow = [at for at in range(len(candidates)) if at not in fast]
    for tests, most_failures in ((fast, MOST_FAILURES), (slow, 1)):
        for start, size in _chunks(len(tests)):
            chunk = tests[start : start + size]
            running = [
                each
                for each in places
                if timeouts[each] < MOST_TIMEOUTS
                and (programs[each].kind != "mutant" or len(fails[each]) < most_failures)
            ]
            sent = [programs[place] for place in running]
            rows = await runner.run(sent, [candidates[at].test for at in chunk], limits, to_the_end=True)
            for place, row in zip(running, rows, strict=True):
                fails[place] |= {at for at, verdict in zip(chunk, row.verdicts, strict=False) if verdict != Verdict.AC}
                timeouts[place] += sum(verdict in COSTLY for verdict in row.verdicts)
    return fails


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    """Yield where the parts of so many tests begin, and how many each has at most."""
    start = 0
    for size in chain(CHUNKS, repeat(MOST_CHUNK)):
        if start >= count:
            return
        yield start, size
        start += size


def _within_limits(
    runner: Runner, recipe: Recipe, programs: Sequence[Program], places: Sequence[int], answered: Answered
) -> Iterator[tuple[list[int], Limits]]:
    """Places of mutants and of others, each with their limits on large inputs: only mutants may be stopped early."""
    limits = runner.problem.limits or Limits()
    slowest = max((each.seconds or 0.0 for each in answered.candidates if each.made.is_large), default=0.0)
    of_mutants = _mutant_limits(limits, slowest, recipe)
    yield [place for place in places if programs[place].kind == "mutant"], of_mutants
    yield [place for place in places if programs[place].kind != "mutant"], limits


async def _slow_on(
    runner: Runner, programs: Sequence[Program], places: Sequence[int], answered: Answered, limits: Limits
) -> dict[int, set[int]]:
    """The first large candidate that each program at these places fails: a slow one costs its whole limit."""
    fails: dict[int, set[int]] = {place: set() for place in places}
    for at, candidate in enumerate(answered.candidates):
        running = [place for place in places if candidate.made.is_large and not fails[place]]
        rows = await runner.run([programs[place] for place in running], [candidate.test], limits, to_the_end=True)
        for place, row in zip(running, rows, strict=True):
            if not row.passed:
                fails[place].add(at)
    return fails


def _mutant_limits(limits: Limits, slowest_seconds: float, recipe: Recipe) -> Limits:
    seconds = max(recipe.strengthen.mutant_seconds, MUTANT_FACTOR * slowest_seconds)
    rounded = math.ceil(seconds / STEP_SECONDS) * STEP_SECONDS
    return limits.model_copy(update={"cpu_seconds": min(rounded, limits.cpu_seconds), "wall_seconds": None})
