"""Defects planted into good problems, and whether the validation finds them: as a test over a few, by hand over many.

    python -m tests.validation.planted CLEAN.jsonl [more …]     lines that `proctor validate` has found clean

Each defect is planted into every problem that it can be planted into, and the untouched problems stand beside them.
Found means: in quarantine, and with a finding of a name that says what was done. Problems are written by other people;
those that are used as they come may have defects of their own, which count as accusations until somebody looks.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sandbox_service.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, StdinTest
from sandbox_service.settings import Settings
from sandbox_service.validation import job, judge
from sandbox_service.validation.recipe import Recipe, Source
from sandbox_service.validation.sources import Malformed

Planted = Problem | None
UNTOUCHED = "untouched"


def wrong_answer(problem: Problem) -> Planted:
    """Of the second test, by a word more."""
    return _with_test(problem, lambda test: {"output": _other(test.output)})


def trimmed_input(problem: Problem) -> Planted:
    """The first input that has several lines loses its last."""
    for place, test in enumerate(problem.tests or ()):
        if isinstance(test, StdinTest) and test.input.strip().count("\n") >= 1:
            cut = test.input.strip().rpartition("\n")[0]
            return _replaced(problem, place, test.model_copy(update={"input": cut}))
    return None


def two_right_orders(problem: Problem) -> Planted:
    """An answer of several lines, expected in another order than the reference has it."""
    for place, test in enumerate(problem.tests or ()):
        if isinstance(test, StdinTest) and isinstance(test.output, str):
            lines = test.output.strip().splitlines()
            if len(set(lines)) > 1:
                other = "\n".join([*lines[1:], lines[0]])
                return _replaced(problem, place, test.model_copy(update={"output": other}))
    return None


def missing_tests(problem: Problem) -> Planted:
    """Only two are left."""
    return problem.model_copy(update={"tests": problem.tests[:2]}) if problem.tests and len(problem.tests) > 4 else None


def duplicated_tests(problem: Problem) -> Planted:
    """As many as before, but only three different ones."""
    tests = problem.tests or []
    return problem.model_copy(update={"tests": (tests[:3] * len(tests))[: len(tests)]}) if len(tests) > 4 else None


def image_only(problem: Problem) -> Planted:
    """What is asked is a picture."""
    return problem.model_copy(update={"prompt": "Solve the problem.\n\n![statement](statement.png)\n"})


def interactive(problem: Problem) -> Planted:
    """Before the very same text."""
    return problem.model_copy(update={"prompt": f"This is an interactive problem.\n\n{problem.prompt}"})


def random_reference(problem: Problem) -> Planted:
    """It prints a line less or more from time to time."""
    return _behind(problem, "import os as _os\nif _os.urandom(1)[0] % 2: print('heads')")


def hash_order(problem: Problem) -> Planted:
    """It prints a set of words, in the order that the judge's own hash seed gives."""
    return _behind(problem, "if list({'one', 'two', 'three', 'four', 'five'}) != ORDER: print('other')")


def slow_reference(problem: Problem) -> Planted:
    """It is never done."""
    return _behind(problem, "while True: pass")


def leaked(problem: Problem) -> Planted:
    """As it is, but in other signs and with another beginning: the evaluation set has it."""
    text = (problem.prompt or "").replace("`", "'").replace(",", " ,")
    return problem.model_copy(update={"prompt": f"Read carefully.\n{text}", "meta": {"leaked": True}})


def useless_tests(problem: Problem) -> Planted:
    """All of them expect the same."""
    if not all(isinstance(each, StdinTest) for each in problem.tests or ()):
        return None
    tests = [each.model_copy(update={"output": "7"}) for each in problem.tests or ()]
    solution = problem.references[0].model_copy(update={"code": "print(7)"})
    return problem.model_copy(update={"tests": tests, "solutions": [solution]})


DEFECTS: dict[str, tuple[Callable[[Problem], Planted], set[str]]] = {
    "wrong_answer": (wrong_answer, {"reference_fails"}),
    "trimmed_input": (trimmed_input, {"reference_fails", "contradictory_tests"}),
    "two_right_orders": (two_right_orders, {"needs_checker"}),
    "missing_tests": (missing_tests, {"too_few_tests"}),
    "duplicated_tests": (duplicated_tests, {"too_few_tests"}),
    "image_only": (image_only, {"image"}),
    "interactive": (interactive, {"interactive"}),
    "random_reference": (random_reference, {"unstable", "reference_fails"}),
    "hash_order": (hash_order, {"unstable"}),
    "slow_reference": (slow_reference, {"too_slow"}),
    "leaked": (leaked, {"contaminated"}),
    "useless_tests": (useless_tests, {"same_answer"}),
}


def planted(problems: Sequence[Problem]) -> Iterator[Problem]:
    """The problems with each defect that they can have, under ids that say which."""
    for problem in problems:
        for name, (plant, _) in DEFECTS.items():
            found = plant(problem)
            if found is not None:
                yield found.model_copy(update={"id": f"{name}:{problem.id}"})


async def findings(
    problems: Sequence[Problem], folder: Path, evaluation: Sequence[Problem] = (), **thresholds: Any
) -> dict[str, list[str]]:
    """By problem: the names of what it was put into quarantine for; nothing for a clean one."""
    rows = {"problems": list(problems), "evaluation": list(evaluation)}

    def read(source: Source) -> Iterator[Problem | Malformed]:
        yield from rows[source.path]

    recipe = Recipe(
        name="planted",
        output=str(folder),
        sources=[Source(path="problems")],
        evaluation=[Source(path="evaluation")],
        severity={"duplicate": "off", "twin": "off", "same_id": "off"},  # a defect is planted into copies
        **({"thresholds": thresholds} if thresholds else {}),
    )
    settings = Settings(slots=2)
    async with judge.here(settings) as ready:
        await job.Job(recipe, ready, 6, lambda _: None, read).run()
    found: dict[str, list[str]] = {each.id: [] for each in problems}
    for line in (folder / job.QUARANTINE).read_text().splitlines():
        said = json.loads(line)
        found[said["id"]] = [each["name"] for each in said["findings"]]
    return found


def _with_test(problem: Problem, change: Callable[[StdinTest | CallTest], dict[str, Any]]) -> Planted:
    tests = problem.tests or []
    place = min(1, len(tests) - 1)
    test = tests[place]
    if isinstance(test, AssertTest):
        return None
    return _replaced(problem, place, test.model_copy(update=change(test)))


def _replaced(problem: Problem, place: int, test: Any) -> Problem:
    tests = list(problem.tests or ())
    tests[place] = test
    return problem.model_copy(update={"tests": tests})


def _other(answer: Any) -> Any:
    if isinstance(answer, str):
        return answer.rstrip() + " 17\n"
    return [answer, 17]


def _behind(problem: Problem, code: str) -> Planted:
    """The references with something that they do at last."""
    if not all(isinstance(each, StdinTest) for each in problem.tests or ()):
        return None
    if "ORDER" in code:
        code = code.replace("ORDER", repr(_order_of_the_judge()))
    solutions = [each.model_copy(update={"code": f"{each.code}\n{code}\n"}) for each in problem.references]
    if any("exit(" in each.code or "os._exit" in each.code for each in solutions):
        return None
    return problem.model_copy(update={"solutions": solutions})


def _order_of_the_judge() -> list[str]:
    """In which a fresh interpreter with hash seed 0 has the words, as every box has."""
    import subprocess

    command = [Settings().python, "-c", "print(list({'one', 'two', 'three', 'four', 'five'}))"]
    said = subprocess.run(command, env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True)
    return list(json.loads(said.stdout.replace("'", '"')))


def main(paths: Sequence[str]) -> int:
    """Plant into all problems of these files, and tell what was found."""
    problems = [
        Problem.model_validate_json(line) for path in paths for line in Path(path).read_text().splitlines() if line
    ]
    others = list(planted(problems))
    with tempfile.TemporaryDirectory() as folder:
        accused = asyncio.run(findings(problems, Path(folder) / "untouched"))
        found = asyncio.run(findings(others, Path(folder) / "planted", problems, measured_seconds=1.0))
    count: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    missed = defaultdict(list)
    for name, names in found.items():
        defect = name.partition(":")[0]
        count[defect] += 1
        if set(names) & DEFECTS[defect][1]:
            hits[defect] += 1
        else:
            missed[defect].append(f"{name}: {names}")
    for defect in DEFECTS:
        print(f"{defect:20} {hits[defect]:4} of {count[defect]:4}")
        print("".join(f"    {each}\n" for each in missed[defect][:5]), end="")
    print(f"{'all defects':20} {hits.total():4} of {count.total():4} = {hits.total() / max(count.total(), 1):.1%}")
    wrongly = [f"{name}: {names}" for name, names in accused.items() if names]
    print(f"{UNTOUCHED:20} {len(wrongly):4} of {len(problems):4} accused")
    print("".join(f"    {each}\n" for each in wrongly), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
