"""Finds valid tests among made inputs: those that all references accept and answer alike, twice.

The first reference answers each input under half of the time limit. Its answers become tests, on which every reference
runs, and again under another hash seed; one failure removes the test. References that differ from the majority of the
others are suspicious, and are reported with the input that tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox_service.schema import Limits, StdinTest, TestCase, Verdict
from sandbox_service.strengthen.runs import OUTPUT_BYTES, Program, Row, Runner
from sandbox_service.strengthen.subjects import Subject
from sandbox_service.strengthen.tiers import LEAST_JUDGES, Made
from sandbox_service.validation import seeds

EXCERPT = 200  # characters of an input in a report
CHUNK = 16  # inputs at a time
MOST_LATE = 2  # inputs of a tier that may take too long, before no more are tried
MOST_DOUBT = 0.1  # share of a tier's inputs on which references crash or differ, before none of them is believed


@dataclass(frozen=True, slots=True)
class Candidate:
    """A valid test, how its input was made, the answer, and the CPU time of the slowest reference, if that is known."""

    test: TestCase
    made: Made
    answer: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of references on an input: the share of the problem's time, and the bytes of an answer."""

    time_share: float = 1 / 2
    output_bytes: int = OUTPUT_BYTES


USUAL = Bounds()


@dataclass(frozen=True)
class Answered:
    """The valid tests, the slowest run of a reference on them, and suspicious references.

    `tried` has the names of the tiers of all inputs, `doubted` those that the references doubt.
    """

    candidates: list[Candidate]
    slowest_seconds: float
    suspicious: list[dict[str, Any]]
    tried: frozenset[str] = frozenset()
    doubted: frozenset[str] = frozenset()

    def __add__(self, other: Answered) -> Answered:
        """Return the tests of two batches."""
        known = {each["program"] for each in self.suspicious}
        return Answered(
            [*self.candidates, *other.candidates],
            max(self.slowest_seconds, other.slowest_seconds),
            [*self.suspicious, *(each for each in other.suspicious if each["program"] not in known)],
            self.tried | other.tried,
            self.doubted | other.doubted,
        )


async def find(
    runner: Runner,
    subject: Subject,
    references: Sequence[Program],
    made: Sequence[Made],
    limits: Limits,
    hash_seed: int,
    bounds: Bounds = USUAL,
) -> Answered:
    """Return the valid tests among made inputs.

    Args:
        runner: Runs programs.
        subject: Makes tests.
        references: At least one; the first one answers.
        made: The inputs.
        limits: Of the problem.
        hash_seed: Another seed than the judge's own.
        bounds: Of the references.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    limits = limits_of(subject, limits, bounds)
    made, said = await asked(runner, subject, references[0], made, limits, bounds)
    took_by_text = dict(zip((each.text for each in made), said.seconds, strict=True))
    found = []
    for each, output in zip(made, said.outputs, strict=True):
        test = subject.test(each, output) if output is not None else None
        if test is not None:
            found.append(Candidate(test, each, output or ""))
    found, own = await _judged(runner, references, found, limits)
    took = [took_by_text[each.made.text] for each in found]
    suspicious = _suspicious(references, own, found)
    agreed = [place for place in range(len(found)) if all(_is_accepted(row, place) for row in own)]
    again = await seeded(runner, references, [found[place].test for place in agreed], limits, hash_seed)
    if any(row.bad_test for row in [*own, *again]):
        return Answered([], 0.0, suspicious)
    needed = _seconds(own, took)
    valid = [
        replace(found[place], seconds=needed[place])
        for at, place in enumerate(agreed)
        if all(_is_accepted(row, at) for row in again)
    ]
    doubtful = doubtful_tiers(made, said, found, own)
    kept = [each for each in valid if each.made.tier not in doubtful]
    slowest = max((row.slowest_seconds for row in [*own, *again]), default=0.0)
    return Answered(kept, slowest, suspicious, frozenset(each.tier for each in made), frozenset(doubtful))


async def _judged(
    runner: Runner, references: Sequence[Program], found: Sequence[Candidate], limits: Limits
) -> tuple[list[Candidate], list[Row]]:
    """Return the tests on which the references ran, and what each did.

    No more tests of a tier run after some that take too long.
    """
    ran: list[Candidate] = []
    parts: list[list[Row]] = []
    late = Counter[str]()
    for start in range(0, len(found), CHUNK):
        chunk = [each for each in found[start : start + CHUNK] if late[each.made.tier] < MOST_LATE]
        rows = await runner.run(references, [each.test for each in chunk], limits, to_the_end=True)
        for place, each in enumerate(chunk):
            late[each.made.tier] += any(row.verdicts[place : place + 1] == (Verdict.TLE,) for row in rows)
        ran += chunk
        parts.append(rows)
    return ran, [_joined(each) for each in zip(*parts, strict=True)] or [Row(()) for _ in references]


def _joined(rows: Sequence[Row]) -> Row:
    """Return the results of one program on the tests of several requests."""
    return Row(
        tuple(verdict for row in rows for verdict in row.verdicts),
        max(row.slowest_seconds for row in rows),
        bad_test=next((row.bad_test for row in rows if row.bad_test), ""),
        seconds=tuple(seconds for row in rows for seconds in row.seconds),
    )


def limits_of(subject: Subject, limits: Limits, bounds: Bounds = USUAL) -> Limits:
    """Return the limits of references on made inputs: a share of the problem's time, no more than the subject bears.

    Args:
        subject: Makes tests.
        limits: Of the problem.
        bounds: Have the share.
    """
    seconds = min(limits.cpu_seconds * bounds.time_share, subject.most_seconds)
    return limits.model_copy(update={"cpu_seconds": seconds, "wall_seconds": None})


async def asked(
    runner: Runner, subject: Subject, reference: Program, made: Sequence[Made], limits: Limits, bounds: Bounds = USUAL
) -> tuple[list[Made], Row]:
    """Return the inputs that a reference was asked for, and its answers.

    No more inputs of a tier are asked for after some that take too long: each costs its whole limit.

    Args:
        runner: Runs programs.
        subject: Makes tests.
        reference: The one that answers.
        made: The inputs.
        limits: Of each run.
        bounds: Have the size of an answer.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    inputs: list[Made] = []
    verdicts: list[str] = []
    outputs: list[str | None] = []
    seconds: list[float] = []
    late = Counter[str]()
    for start in range(0, len(made), CHUNK):
        chunk = [each for each in made[start : start + CHUNK] if late[each.tier] < MOST_LATE]
        tests: list[TestCase] = [StdinTest(input=each.text, output="") for each in chunk]
        asking, most = [subject.asking(reference)], bounds.output_bytes
        [row] = await runner.run(asking, tests, limits, to_the_end=True, wants_outputs=True, output_bytes=most)
        late.update(each.tier for each, verdict in zip(chunk, row.verdicts, strict=False) if verdict == Verdict.TLE)
        if len(row.outputs) == len(chunk):
            inputs, verdicts, outputs = [*inputs, *chunk], [*verdicts, *row.verdicts], [*outputs, *row.outputs]
            seconds += row.seconds
    return inputs, Row(tuple(verdicts), outputs=tuple(outputs), seconds=tuple(seconds))


def doubtful_tiers(made: Sequence[Made], said: Row, found: Sequence[Candidate], rows: Sequence[Row]) -> set[str]:
    """Return the tiers whose inputs break rules of the problem: references crash on many of them, or differ.

    Args:
        made: All inputs.
        said: What the first reference did with them.
        found: Tests of its answers.
        rows: What the references did with these.
    """
    tried, doubted = Counter(each.tier for each in made), Counter[str]()
    for each, verdict in zip(made, said.verdicts, strict=False):
        doubted[each.tier] += verdict == Verdict.RTE
    for place, candidate in enumerate(found):
        verdicts = {row.verdicts[place] for row in rows if place < len(row.verdicts)}
        doubted[candidate.made.tier] += bool(verdicts & {Verdict.WA, Verdict.RTE})
    return {tier for tier, count in doubted.items() if count > MOST_DOUBT * tried[tier]}


async def seeded(
    runner: Runner, references: Sequence[Program], tests: Sequence[TestCase], limits: Limits, hash_seed: int
) -> list[Row]:
    """Return the rows of references in Python under another hash seed, where they can run in a second interpreter.

    Args:
        runner: Runs programs.
        references: In any language.
        tests: The tests.
        limits: Of the problem.
        hash_seed: The other seed.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    programs = []
    for each in references:
        code = seeds.with_seed(runner.problem, each.code, hash_seed) if each.language == "python" else None
        if code is not None:
            programs.append(Program("reference", each.name, code, each.language))
    changes = {"cpu_seconds": limits.cpu_seconds + seeds.START_SECONDS, "processes": seeds.PROCESSES}
    limits = limits.model_copy(update=changes)
    return await runner.run(programs, tests, limits, to_the_end=True)


def _seconds(own: Sequence[Row], asked: Sequence[float]) -> list[float | None]:
    """Return the CPU time of the slowest reference by test.

    The first one was also asked for each answer. What only one of its two runs needed beyond its fastest test is noise.

    Args:
        own: The rows of all references.
        asked: The times of the first one when it was asked.
    """
    if not asked or any(len(row.seconds) != len(asked) for row in own):
        return [None] * len(asked)
    first = own[0].seconds
    pairs = zip(first, asked, strict=True)
    steady = [min(first) + min(one - min(first), other - min(asked)) for one, other in pairs]
    return [max(of_test) for of_test in zip(steady, *(row.seconds for row in own[1:]), strict=True)]


def _is_accepted(row: Row, place: int) -> bool:
    return place < len(row.verdicts) and row.verdicts[place] == Verdict.AC


def _suspicious(references: Sequence[Program], rows: Sequence[Row], found: Sequence[Candidate]) -> list[dict[str, Any]]:
    """References that answer otherwise than most others, where at least three answer."""
    if len(references) < LEAST_JUDGES:
        return []
    counts: Counter[int] = Counter()
    first: dict[int, int] = {}
    own = rows[: len(references)]
    for place in range(len(found)):
        verdicts = [row.verdicts[place] if place < len(row.verdicts) else "" for row in own]
        others = [who for who, verdict in enumerate(verdicts) if verdict == Verdict.WA]
        outvoted = others if 2 * len(others) < len(references) else []
        if len(others) == len(references) - 1:
            outvoted = [0]
        for who in outvoted:
            counts[who] += 1
            first.setdefault(who, place)
    return [
        {"program": references[who].name, "inputs": count, "input": found[first[who]].made.text[:EXCERPT]}
        for who, count in sorted(counts.items())
    ]
