"""Hostile and honest submissions, mixed in random order, through one service.

Each honest submission must get the verdict that it gets alone, no attack may be paid or masked, and afterwards the
service's processes hold what they held before: descriptors and their flags, processes, memory, and every setting that a
process of theirs has in /proc.

`PROCTOR_MIXED` is the number of submissions (40 by default, 125 in `make test-all`).
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from benchmarks import procs, soak
from sandbox_service.api.large.pool import MIDDLE_BYTES
from tests import corpus
from tests.conftest import Service, running_service

SUBMISSIONS = int(os.environ.get("PROCTOR_MIXED", "40"))
BATCH = 64
SEED = 15
DEAR = 0.02  # how often a submission that uses its whole time is drawn, beside others
SETTLE_SECONDS, STEADY_SECONDS = 180.0, 12.0  # a jail takes a second to start, many more on a busy machine
POLL_SECONDS = 2.0
LARGE_SECONDS = 20.0  # within which processes for large requests are used again: they end after a minute
EACH_KIND = 16  # submissions, so that every slot starts a jail of the kind
RESIDENT_BYTES = 64 << 20
CHANCE = re.compile(r"(?<=/proctor-)\w+|\d+")  # numbers, and what tempfile adds
SETTINGS = ("autogroup", "oom_score_adj", "comm", "limits", "timerslack_ns", "cgroup", "sessionid", "loginuid")


@dataclass(frozen=True)
class Drawn:
    """A submission of the mixture, and the verdict that it gets alone."""

    body: dict[str, Any]
    is_attack: bool
    verdict: str


@dataclass(frozen=True)
class Holdings:
    """What the service's processes hold and how they are set."""

    counted: dict[str, int]
    settings: Counter[tuple[str, ...]]
    flags: Counter[str]


def bodies() -> Iterator[tuple[dict[str, Any], bool]]:
    """Every submission of the corpus, with whether it is an attack."""
    for attack in corpus.attacks():
        yield attack.body(), True
    for program in corpus.programs():
        yield program.body(), False
    for case in corpus.verdicts():
        yield case.body(), False


@pytest.fixture(scope="module")
def mixture(service: Service) -> list[Drawn]:
    """The pool: all of the corpus if many submissions are asked for, else a part of it."""
    found = list(bodies())
    random.Random(SEED).shuffle(found)
    return [alone(service, body, is_attack) for body, is_attack in found[: max(min(80, SUBMISSIONS), SUBMISSIONS // 8)]]


def alone(service: Service, body: dict[str, Any], is_attack: bool) -> Drawn:
    return Drawn(body, is_attack, service.grade(**body)["verdict"])


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """A service of this module's own, since its holdings are compared."""
    with running_service() as running:
        yield running


@pytest.fixture(scope="module")
def mixed(service: Service, mixture: list[Drawn]) -> tuple[list[tuple[Drawn, dict[str, Any]]], Holdings, Holdings]:
    """The answers, and what the service held before and after."""
    for code, limits in (("print(1)", {}), ("import numpy", {}), ("print(2)", {"processes": 2})):
        test = {"type": "stdin", "output": ""}
        service.client.batch([{"code": f"{code}  # {n}", "tests": [test], "limits": limits} for n in range(EACH_KIND)])
    send_large(service)
    before = settled(service, None)
    draw = random.Random(SEED + 1)
    weights = [DEAR if one.verdict == "TLE" else 1.0 for one in mixture]
    answers: list[tuple[Drawn, dict[str, Any]]] = []
    for first in range(0, SUBMISSIONS, BATCH):
        batch = draw.choices(mixture, weights, k=min(BATCH, SUBMISSIONS - first))
        named = {f"{first}-{place}": one for place, one in enumerate(batch)}
        grades = service.client.batch({"id": name, **one.body} for name, one in named.items())
        answers += [(one, grades[name]) for name, one in named.items()]
    send_large(service)
    return answers, before, settled(service, before)


def send_large(service: Service) -> None:
    """Start the processes for large requests, which end when they are idle: a batch of the mixture may be large."""
    for size in (MIDDLE_BYTES // 2, MIDDLE_BYTES):
        service.grade(code="print(3)  # " + "x" * size, tests=[{"type": "stdin", "output": "3"}])


def settled(service: Service, before: Holdings | None) -> Holdings:
    """The holdings once spares have started and the dead are buried: those of before, or what stays for a while."""
    now = time.monotonic()
    end, steady, large = now + SETTLE_SECONDS, now + STEADY_SECONDS, now + LARGE_SECONDS
    found = holdings(service)
    while now < end and (now < steady if before is None else differing(before, found)):
        if now >= large:
            send_large(service)
            large = now + LARGE_SECONDS
        time.sleep(POLL_SECONDS)
        latest, now = holdings(service), time.monotonic()
        if differing(found, latest):
            steady = now + STEADY_SECONDS
        found = latest
    return found


def holdings(service: Service) -> Holdings:
    pids = [process.pid for process in service.family()]
    counted = vars(soak.take(pids))
    settings = Counter(tuple(text(pid, name) for name in SETTINGS) for pid in pids)
    return Holdings(dict(counted), settings, Counter(flag for pid in pids for flag in flags(pid)))


def text(pid: int, name: str) -> str:
    found = procs.read(pid, name)
    return found.partition(" nice ")[2] if name == "autogroup" else found


def flags(pid: int) -> list[str]:
    """The status flags of all open descriptors: what a file is, but for the chance in its name, and how it is open."""
    found = []
    for fd in procs.descriptor_numbers(pid):
        lines = dict(line.split(":\t", 1) for line in procs.read(pid, f"fdinfo/{fd}").splitlines() if ":\t" in line)
        target = CHANCE.sub("N", procs.link(pid, f"fd/{fd}").partition(":")[0])
        found.append(f"{target} {lines.get('flags', '')}")
    return found


def differing(before: Holdings, after: Holdings) -> list[str]:
    """Why the one is not the other."""
    counted = [name for name in before.counted if name not in ("resident_bytes", "descriptors", "files_host")]
    found = [name for name in counted if before.counted[name] != after.counted[name]]
    if after.counted["resident_bytes"] > before.counted["resident_bytes"] + RESIDENT_BYTES:
        found.append("resident_bytes")
    if before.settings != after.settings:
        found.append(f"settings {(before.settings - after.settings, after.settings - before.settings)}")
    return found


def test_every_honest_submission_gets_the_verdict_that_it_gets_alone(mixed: Any) -> None:
    answers, *_ = mixed
    wrong = [(one.body, one.verdict, grade) for one, grade in answers if not one.is_attack]
    differing = [(body["code"][:200], alone, grade) for body, alone, grade in wrong if grade["verdict"] != alone]
    assert differing == []


def test_no_attack_is_paid_or_masked(mixed: Any) -> None:
    answers, *_ = mixed
    attacks = [(one, grade) for one, grade in answers if one.is_attack]
    assert len(attacks) > SUBMISSIONS // 10
    assert [grade for _, grade in attacks if grade["reward"] != 0.0] == []
    assert [one for one, grade in attacks if any(corpus.ESCAPED in test["stdout"] for test in grade["tests"])] == []


def test_the_service_holds_what_it_held(mixed: Any) -> None:
    _, before, after = mixed
    assert differing(before, after) == []


def test_no_descriptor_is_open_in_another_way(mixed: Any) -> None:
    _, before, after = mixed
    new = {flag for flag in after.flags if flag not in before.flags and not flag.startswith("socket")}
    assert new == set()
