"""Java programs for the comparison of shared and fresh boxes, as submissions of stdin tests.

Solutions of collected stdin problems and mutants of the right ones; HumanEvalPack's functions, right and buggy, with
their test programs, which print whether all is right; and from a checkout's corpus the programs with a known verdict,
mutants of the right ones, the attacks, those that leave something behind on purpose, and unusual ends.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks import workloads
from benchmarks.workloads import Body
from sandbox_service.strengthen import token_mutants

COLLECTED = ("kattis_problemtools", "kodsport_wrong")
FUNCTIONS = "humanevalpack_java_0_59"
MUTANTS = 10  # of each right program
SIZES = (1, 2, 3, 7, 20, 100, 1000, 4000)
VERDICT = "if (correct.contains(false))"
"""In HumanEvalPack's test programs: the end, which throws an exception."""


def all_of(folder: Path, rng: random.Random, repetitions: int) -> Iterator[tuple[str, Body]]:
    """Yield names and submissions.

    Args:
        folder: the collected problems.
        rng: chooses mutants.
        repetitions: of the only test of a program.
    """
    for name, body in (*_collected(folder, rng), *_functions(folder, repetitions), *_corpus(rng, repetitions)):
        yield name, body | {"language": "java"}


def _collected(folder: Path, rng: random.Random) -> Iterator[tuple[str, Body]]:
    for file in COLLECTED:
        for problem in workloads.problems(folder / f"{file}.jsonl"):
            if problem["kind"] != "stdin":
                continue
            for number, solution in enumerate(problem["solutions"]):
                if solution["language"].lower() != "java":
                    continue
                name, body = f"{problem['id']}:{number}", workloads.from_problem(problem, solution["code"])
                yield name, body
                if "AC" in solution["expected_verdict"]:
                    for mutant in token_mutants.of(solution["code"], MUTANTS, rng):
                        yield f"{name}, {mutant.name}", body | {"code": mutant.code}


def _functions(folder: Path, repetitions: int) -> Iterator[tuple[str, Body]]:
    for problem in workloads.problems(folder / f"{FUNCTIONS}.jsonl"):
        program = problem["tests"][0]["assert"]
        if VERDICT not in program:
            continue
        program = program.replace(VERDICT, f"System.out.println(!correct.contains(false));\n{VERDICT}")
        tests = [{"type": "stdin", "input": f"{n}\n", "output": "true\n"} for n in range(repetitions)]
        for number, solution in enumerate(problem["solutions"]):
            yield f"{problem['id']}:{number}", {"code": f"{solution['code']}\n{program}", "tests": tests}


def _squares(rng: random.Random) -> list[Body]:
    """Return tests of the problem of tests/verdicts/stdin, the sum of squares."""
    found = []
    for size in SIZES:
        numbers = [rng.randint(-999, 999) for _ in range(size)]
        text = f"{size}\n{' '.join(map(str, numbers))}\n"
        found.append({"type": "stdin", "input": text, "output": f"{sum(number * number for number in numbers)}\n"})
    return found


def _corpus(rng: random.Random, repetitions: int) -> Iterator[tuple[str, Body]]:
    from tests.languages import shared_java, test_attacks, toolchains  # only a checkout has them

    for case in toolchains.cases():
        if case.language == "java":
            yield f"programs/{case.id}", {"code": case.code, "tests": toolchains.PROBLEM["tests"] * repetitions}
            if case.verdict == "AC":
                for mutant in token_mutants.of(case.code, MUTANTS, rng):
                    yield f"programs/{case.id}, {mutant.name}", {"code": mutant.code, "tests": _squares(rng)}
    for path in test_attacks.FILES:
        if path.suffix == ".java":
            yield f"attacks/{path.name}", {"code": path.read_text(), "tests": [test_attacks.TEST] * repetitions}
    tests = [{"type": "stdin", "input": f"{n} {n + 1}\n", "output": f"{2 * n + 1}\n"} for n in range(repetitions)]
    for name, state in shared_java.STATES.items():
        yield f"suffers/{name}", {"code": shared_java.suffers(state), "tests": tests}
        yield f"profits/{name}", {"code": shared_java.profits(state), "tests": tests}
    for name in shared_java.ENDS:
        yield f"ends/{name}", {"code": shared_java.ends(name), "tests": tests}
