"""Measures which programs are selected for audit tests: `python -m tests.strengthen.measure_selection FILE …`.

Nothing is run. Counted are the references of each problem, a table of all its tests, and special-casers: mutants of the
reference that know all given calls, or only the last one.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path

from sandbox_service.formats.problem import Problem
from sandbox_service.judging.known_tests import known_of, may_know
from sandbox_service.strengthen import mutants
from sandbox_service.strengthen.calls import calls_of
from sandbox_service.strengthen.subjects import subject_of
from tests.strengthen.measure import problems
from tests.strengthen.measure_audit import special_caser

MUTANTS = 3  # of each reference


def count(problem: Problem, counts: Counter[str]) -> None:
    """Add the programs of a problem, and those of them that are selected.

    Args:
        problem: With references.
        counts: By kind of program.
    """
    tests = problem.tests or []
    read = list(map(known_of, tests))
    programs = [("right", each.code) for each in problem.references]
    subject, calls = subject_of(problem), calls_of(tests)
    if not isinstance(subject, str):
        programs += [("table", each.code) for each in subject.tables()[:1]]
    if calls is not None and problem.references and problem.references[0].language == "python":
        name, last = calls.function.rpartition(".")[2], calls.given[-1]
        known = f"    if list(args) == {list(last.args)!r}: return {last.result!r}\n"
        for each in mutants.of(problem.references[0].code, MUTANTS, random.Random(1)):
            programs.append(("special-caser", special_caser(each.code, calls)))
            one = f"{each.code}\nreal = {name}\ndef {name}(*args):\n{known}    return real(*args)\n"
            programs.append(("special-caser of one test", one))
    for kind, code in programs:
        counts[kind] += 1
        counts[f"{kind} selected"] += may_know(code, read)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    total: Counter[str] = Counter()
    for file in parser.parse_args().files:
        counts: Counter[str] = Counter()
        begin = time.process_time()
        for problem in problems(file, 1, 10_000):
            count(problem, counts)
        print(file.name, dict(counts), f"{time.process_time() - begin:.1f} s CPU", flush=True)
        total += counts
    print(json.dumps(total, indent=1))


if __name__ == "__main__":
    main()
