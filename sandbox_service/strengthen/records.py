"""The record of a problem: the tests that are added, their strength, and examples for the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sandbox_service.schema import TestCase
from sandbox_service.strengthen.answers import EXCERPT, Answered, Candidate
from sandbox_service.strengthen.choice import Choice, counts, held_out
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.subjects import Subject
from sandbox_service.validation.recipe import Recipe

STATED_AUDIT_FACTOR, LEAST_AUDIT_SECONDS = 10, 0.05  # an audit test states ten times the time of the slowest reference;
PYTHON_FACTOR = 10  # … so many times more where no reference is in Python
EXAMPLES = 12  # programs of a problem that the report names

Record = dict[str, Any]


def record_of(
    runner: Runner,
    references: Sequence[Program],
    subject: Subject,
    answered: Answered,
    choice: Choice,
    recipe: Recipe,
) -> Record:
    """Return the record of a problem.

    Args:
        runner: Has the problem, and counts what its programs cost.
        references: Those that were run.
        subject: Merges tests.
        answered: The valid tests.
        choice: Those that are added.
        recipe: Says how tests are chosen.
    """
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
