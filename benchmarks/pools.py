"""Grades with a contender in a pool of processes, as trainers run the graders that they have copied."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from benchmarks import contenders
from benchmarks.contenders.base import Contender
from benchmarks.workloads import Body

_contenders: list[Contender[Any]] = []  # of this process of a pool


def check_usable(name: str) -> None:
    """Raise UnavailableError if the contender of this name cannot run here."""
    contender = contenders.make(name)
    contender.start()
    contender.close()


def passed(name: str, bodies: Sequence[Body], processes: int) -> list[bool]:
    """Return for each submission whether a contender accepts it.

    Args:
        name: of the contender.
        bodies: the submissions.
        processes: of the pool.
    """
    with ProcessPoolExecutor(processes, initializer=_start, initargs=(name,)) as pool:
        return list(pool.map(_grade, bodies))


def _start(name: str) -> None:
    _contenders.append(contenders.make(name))
    _contenders[-1].start()


def _grade(body: Body) -> bool:
    contender = _contenders[-1]
    return contender.grade(contender.prepare(body))
