"""The doctor: what is missing or unsafe on this machine, and which command mends it.

    preflight.py    without these no jail starts                      (`serve` and `grade` ask them too)
    machine.py      what makes it slow, small or doubtful
    proof.py        a jail is started, and attacked: attacks.toml     only this says anything about safety

Nothing is changed on the machine, and nothing is believed that can be tried.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandbox_service import preflight
from sandbox_service.doctor import machine, proof
from sandbox_service.preflight import Finding, Level
from sandbox_service.settings import Settings


def examine(settings: Settings) -> Iterator[Finding]:
    """All findings, as they are made. Where an essential thing is missing, no jail is started."""
    found = preflight.system(settings)
    yield found
    if found.level == Level.PROBLEM:
        return  # the other checks read what only Linux has
    startable = True
    for check in preflight.ESSENTIAL[1:]:
        found = check(settings)
        startable &= found.level != Level.PROBLEM
        yield found
    for check in machine.CHECKS:
        yield check(settings)
    if startable:
        yield from proof.prove(settings)
    else:
        yield Finding("jail", Level.PROBLEM, "not tried: mend the problems above first")
