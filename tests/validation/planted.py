"""Plants defects in good problems and counts which ones the validation finds.

    python -m tests.validation.planted [--take N] CLEAN.jsonl [more …]     clean lines of `proctor validate`

A test does this for a few problems, this command for many. Each defect is planted in every problem to which it applies,
beside the unchanged problems. Found means in quarantine for a finding whose name describes the defect. Published
problems may have defects of their own, which count as false positives until they are checked by hand. `--take` uses so
many problems of each file, evenly spread.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox_service.commands.recipe_judge import local_judge
from sandbox_service.formats.problem import Problem
from sandbox_service.settings import Settings
from sandbox_service.validation import finding, job
from sandbox_service.validation.recipe import Recipe, Source, Thresholds
from sandbox_service.validation.sources import Malformed
from tests.validation import defects
from tests.validation.defects import Planted, form_of

FORMS = ("stdin", "call", "assert")
SHOWN = 5  # that were missed, of each defect

DEFECTS: Mapping[str, tuple[Callable[[Problem], Planted], set[str]]] = {
    "wrong_answer": (defects.wrong_answer, {"reference_fails", "bad_test"}),
    "trimmed_input": (defects.trimmed_input, {"reference_fails", "contradictory_tests"}),
    "two_right_orders": (defects.two_right_orders, {"needs_checker"}),
    "missing_tests": (defects.missing_tests, {"too_few_tests"}),
    "duplicated_tests": (defects.duplicated_tests, {"too_few_tests"}),
    "image_only": (defects.image_only, {"image"}),
    "interactive": (defects.interactive, {"interactive"}),
    "random_reference": (defects.random_reference, {"unstable", "reference_fails"}),
    "hash_order": (defects.hash_order, {"unstable"}),
    "slow_reference": (defects.slow_reference, {"too_slow"}),
    "leaked": (defects.leaked, {"contaminated"}),
    "useless_tests": (defects.useless_tests, {"same_answer"}),
}


def planted(problems: Sequence[Problem]) -> Iterator[Problem]:
    """The problems with each defect that applies; the ids name the defect."""
    for problem in problems:
        for name, (plant, _) in DEFECTS.items():
            found = plant(problem)
            if found is not None:
                yield found.model_copy(update={"id": f"{name}:{problem.id}"})


async def findings(
    problems: Sequence[Problem], folder: Path, evaluation: Sequence[Problem] = (), slots: int = 2, **thresholds: Any
) -> dict[str, list[str]]:
    """Names of the findings that put each problem into quarantine; empty for a clean one."""
    rows = {"problems": list(problems), "evaluation": list(evaluation)}

    def read(source: Source) -> Iterator[Problem | Malformed]:
        yield from rows[source.path]

    recipe = Recipe(
        name="planted",
        output=str(folder),
        sources=[Source(path="problems")],
        evaluation=[Source(path="evaluation")],
        severity={"duplicate": "off", "twin": "off", "same_id": "off"},  # a defect is planted into copies
        thresholds=Thresholds(**thresholds),
    )
    async with local_judge(Settings(slots=slots)) as ready:
        await job.Job(recipe, ready, 3 * slots, lambda _: None, read).run()
    found: dict[str, list[str]] = {each.id: [] for each in problems}
    for line in (folder / job.QUARANTINE).read_text().splitlines():
        said = json.loads(line)
        found[said["id"]] = [
            each.name for each in finding.quarantine_causes(finding.read(said["findings"]), recipe.severity)
        ]
    return found


def evenly(problems: Sequence[Problem], take: int) -> list[Problem]:
    """At most `take` problems, evenly spread."""
    count = min(take, len(problems))
    return [problems[place * len(problems) // count] for place in range(count)]


def read(paths: Sequence[str], take: int) -> list[Problem]:
    """The problems in these files whose answer is a program, with their references only, to save time."""
    found = []
    for path in paths:
        lines = [Problem.model_validate_json(line) for line in Path(path).read_text().splitlines() if line]
        found += evenly([each for each in lines if form_of(each) in FORMS], take)
    return [each.model_copy(update={"solutions": each.references}) for each in found]


def table(problems: Sequence[Problem], found: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Found and planted by defect and form, and some of the missed ones."""
    forms = {each.id: form_of(each) for each in problems}
    planted_, hits = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    missed: dict[str, list[str]] = {name: [] for name in DEFECTS}
    for name, names in found.items():
        defect, _, original = name.partition(":")
        is_found = bool({*names} & DEFECTS[defect][1])
        for key in (
            (defect, forms[original]),
            (defect, "all"),
            ("all defects", forms[original]),
            ("all defects", "all"),
        ):
            planted_[key] += 1
            hits[key] += is_found
        if not is_found:
            missed[defect].append(f"    {original}: {', '.join(names) or 'clean'}")
    columns = [form for form in (*FORMS, "all") if planted_["all defects", form]]
    yield f"{'':20}" + "".join(f"{form:>14}" for form in columns)
    for defect in (*DEFECTS, "all defects"):
        cells = (f"{hits[defect, form]} / {planted_[defect, form]}" for form in columns)
        yield f"{defect:20}" + "".join(f"{cell:>14}" for cell in cells)
        yield from missed.get(defect, [])[:SHOWN]
    yield f"{'':20}found: {hits['all defects', 'all'] / max(planted_['all defects', 'all'], 1):.1%}"


def main(arguments: Sequence[str]) -> int:
    """Plant defects in all problems of these files and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.planted", description="see this module's text")
    parser.add_argument("paths", nargs="+", metavar="CLEAN.jsonl")
    parser.add_argument("--take", type=int, default=sys.maxsize, help="so many problems of each file; default: all")
    parser.add_argument("--slots", type=int, default=2)
    options = parser.parse_args(arguments)
    problems = read(options.paths, options.take)
    with tempfile.TemporaryDirectory() as folder:
        accused = asyncio.run(findings(problems, Path(folder) / "untouched", slots=options.slots))
        wrongly = [f"    {name}: {', '.join(names)}" for name, names in accused.items() if names]
        print(f"{'untouched':20}{len(wrongly)} of {len(problems)} accused", *wrongly, sep="\n", flush=True)
        others = list(planted(problems))
        found = asyncio.run(
            findings(others, Path(folder) / "planted", problems, slots=options.slots, measured_seconds=1.0)
        )
    print(*table(problems, found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
