"""The record of a problem: the tests that are added, their strength, and examples for the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sandbox_service.schema import TestCase
from sandbox_service.strengthen.answers import EXCERPT, Answered
from sandbox_service.strengthen.choice import Choice, counts, held_out
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.subjects import Subject
from sandbox_service.validation.recipe import Recipe

EXAMPLES = 12  # programs of a problem that the report names

Record = dict[str, Any]


def record_of(
    runner: Runner,
    references: Sequence[Program],
    subject: Subject,
    answered: Answered,
    choice: Choice,
    recipe: Recipe,
    scored: Sequence[TestCase],
    audit: Sequence[TestCase],
) -> Record:
    """Return the record of a problem.

    Args:
        runner: Has the problem, and counts what its programs cost.
        references: Those that were run.
        subject: Made the inputs.
        answered: The valid tests.
        choice: Those that are added.
        recipe: Says how tests are chosen.
        scored: The chosen tests, perhaps merged.
        audit: The same of audit tests.
    """
    before, after = counts(choice)
    start = len(runner.problem.tests or [])
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
