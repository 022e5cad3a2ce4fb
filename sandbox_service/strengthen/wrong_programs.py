"""Gathers the wrong programs of a problem: mutants of its references, tables of its tests, solutions labelled wrong.

Scouts are further mutants of references in Python, see `scouts`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.languages import find
from sandbox_service.strengthen import mutants, token_mutants
from sandbox_service.strengthen.runs import Program
from sandbox_service.strengthen.slow_operators import SLOW_OPERATORS
from sandbox_service.strengthen.subjects import Subject

MUTATED_REFERENCES = 2
SCOUTS = 3  # times as many as mutants that are counted
SLOW_MUTANTS = 3


def mutants_of(problem: Problem, references: Sequence[Program], most: int) -> list[Program]:
    """Return mutants of the first references in Python; if there is none, of the first one that is compiled.

    Args:
        problem: Its id is the seed.
        references: Sound references.
        most: Number of mutants; a quarter of it if each has to be compiled. Some more in Python waste time.
    """
    python = _python(references)
    found = _of_python(problem, references, most)
    found += _slow_mutants(problem, python[:1]) if most else []
    compiled = [each for each in references if find(each.language).family in token_mutants.LANGUAGES]
    if not python and compiled:
        first, chance = compiled[0], random.Random(f"{problem.id} mutants")  # noqa: S311
        made = token_mutants.of(first.code, most // 4, chance)
        found = [Program("mutant", f"{first.name}: {each.name}", each.code, first.language) for each in made]
    return found


def scouts_of(problem: Problem, references: Sequence[Program], most: int) -> list[Program]:
    """Return further mutants of the references in Python, where there are more than those that are counted.

    Args:
        problem: Its id is the seed.
        references: Sound references.
        most: Number of mutants that are counted.
    """
    counted = {each.code for each in _of_python(problem, references, most)}
    every = _of_python(problem, references, most * (1 + SCOUTS))
    return [replace(each, kind="scout") for each in every if each.code not in counted]


def _python(references: Sequence[Program]) -> list[Program]:
    return [each for each in references if each.language == "python"][:MUTATED_REFERENCES]


def _of_python(problem: Problem, references: Sequence[Program], most: int) -> list[Program]:
    """Mutants of the first references in Python."""
    python, found = _python(references), list[Program]()
    for place, each in enumerate(python):
        share = (most - len(found)) // (len(python) - place)
        made = mutants.of(each.code, share, random.Random(f"{problem.id} mutants {place}"))  # noqa: S311
        found += [Program("mutant", f"{each.name}: {mutant.name}", mutant.code) for mutant in made]
    return found


def _slow_mutants(problem: Problem, python: Sequence[Program]) -> list[Program]:
    """Mutants that need longer, which only large inputs tell. Each costs the whole limit of a problem."""
    return [
        Program("mutant", f"{each.name}: {mutant.name}", mutant.code)
        for each in python
        for mutant in mutants.of(each.code, SLOW_MUTANTS, random.Random(f"{problem.id} slow"), SLOW_OPERATORS)  # noqa: S311
    ]


def tables_of(subject: Subject) -> list[Program]:
    """Return the tables of a subject's given tests."""
    return [Program("table", each.name, each.code) for each in subject.tables()]


def known_wrong(solutions: Sequence[Solution]) -> list[Program]:
    """Return solutions that are labelled wrong as programs."""
    return [
        Program("wrong", each.name or f"wrong solution {place}", each.code, each.language)
        for place, each in enumerate(solutions, 1)
    ]
