"""Runs all checks of the doctor, in order."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox_service.doctor import machine, preflight, proof
from sandbox_service.doctor.preflight import Finding, Level
from sandbox_service.settings import Settings


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield all findings as they are made. If something essential is missing, no sandbox is started."""
    found = preflight.system(settings)
    yield found
    if found.level == Level.PROBLEM:
        return  # the other checks read files that only Linux has
    startable = True
    for check in preflight.essential(settings)[1:]:
        found = check(settings)
        startable &= found.level != Level.PROBLEM
        yield found
    for check in machine.CHECKS:
        yield check(settings)
    if startable:
        yield from proof.prove(settings)
    else:
        yield Finding("jail", Level.PROBLEM, "not tried: mend the problems above first")
