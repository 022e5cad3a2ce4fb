"""Measures how long short submissions wait beside slow ones, on one machine and in a fleet with as many slots.

Slow tests sleep, so that a busy machine changes little. A wait lasts from the client's request to the answer.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from benchmarks.service import Service

TEST_SECONDS = 2.0
SLOW = 16
STEP_SECONDS = 0.4
STEPS = 40
HEAD_START_SECONDS = 1.0
NUMBERS = itertools.count()

Body = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """Slow and short submissions; the longest wait of the short ones is reported. No scheduler can beat
    `longest_test`.
    """

    name: str
    longest_test: float
    play: Callable[[aiohttp.ClientSession], Awaitable[list[float]]]


def compare(services: dict[str, Service]) -> None:
    """Play every scenario against each service, in turns, and print a table."""
    print(f"| scenario | longest test s | {' | '.join(f'{name}: longest wait s' for name in services)} |")
    print(f"|---|---|{'---|' * len(services)}")
    for scenario in SCENARIOS:
        waits = [f"{max(asyncio.run(_played(scenario, service))):.2f}" for service in services.values()]
        print(f"| {scenario.name} | {scenario.longest_test:g} | {' | '.join(waits)} |", flush=True)


async def _played(scenario: Scenario, service: Service) -> list[float]:
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(service.url, connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as client:
        return await scenario.play(client)


async def _urgent(client: aiohttp.ClientSession) -> list[float]:
    """One client's slow submissions in all slots and in the queue; then another client's urgent ones."""
    slow = [_send(client, _sleeper(1, TEST_SECONDS), "slow") for _ in range(SLOW)]
    return await _after(slow, [_short() for _ in range(1)], client, priority="high")


async def _neighbour(client: aiohttp.ClientSession) -> list[float]:
    """A long test, a test of a second, and short submissions that could run when the second has ended."""
    slow = [_send(client, _sleeper(1, seconds), "same") for seconds in (4 * TEST_SECONDS, 1.0)]
    return await _after(slow, [_short() for _ in range(9)], client, client_label="same", head_start=0.0)


async def _many_tests(client: aiohttp.ClientSession) -> list[float]:
    """Submissions with many tests in all slots; then another client's short ones."""
    slow = [_send(client, _sleeper(STEPS, STEP_SECONDS), "slow") for _ in range(4)]
    return await _after(slow, [_short() for _ in range(4)], client)


async def _many_tests_urgent(client: aiohttp.ClientSession) -> list[float]:
    """The same with urgent short submissions."""
    slow = [_send(client, _sleeper(STEPS, STEP_SECONDS), "slow") for _ in range(4)]
    return await _after(slow, [_short()], client, priority="high")


async def _turns(client: aiohttp.ClientSession) -> list[float]:
    """One client's slow submissions; then another client's short one, whose turn is next."""
    slow = [_send(client, _sleeper(1, TEST_SECONDS), "slow") for _ in range(SLOW)]
    return await _after(slow, [_short()], client)


SCENARIOS = [
    Scenario(f"`high` behind {SLOW} slow ones of another client", TEST_SECONDS, _urgent),
    Scenario(f"the next turn, behind {SLOW} slow ones of another client", TEST_SECONDS, _turns),
    Scenario("9 short ones beside a test of 8 s and one of 1 s", 1.0, _neighbour),
    Scenario(f"4 short ones behind 4 of {STEPS} tests", STEP_SECONDS, _many_tests),
    Scenario(f"`high` behind 4 of {STEPS} tests", STEP_SECONDS, _many_tests_urgent),
]


async def _after(
    slow: Sequence[Awaitable[float]],
    short: list[Body],
    client: aiohttp.ClientSession,
    priority: str = "normal",
    client_label: str = "quick",
    head_start: float = HEAD_START_SECONDS,
) -> list[float]:
    """The waits of the short submissions, which start after the slow ones; waits for all."""
    tasks = [asyncio.ensure_future(each) for each in slow]
    await asyncio.sleep(head_start)
    waits = await asyncio.gather(*(_send(client, body, client_label, priority) for body in short))
    await asyncio.gather(*tasks)
    return list(waits)


async def _send(client: aiohttp.ClientSession, body: Body, label: str, priority: str = "normal") -> float:
    began = time.monotonic()
    labelled = body | {"labels": {"client": label, "priority": priority}}
    async with client.post("/v1/grade", data=json.dumps(labelled)) as answer:
        grade = await answer.json()
        assert grade["verdict"] == "AC", grade
    return time.monotonic() - began


def _sleeper(tests: int, seconds: float) -> Body:
    code = f"import time\ntime.sleep({seconds})\nprint(input()) # {next(NUMBERS)}"
    return {"code": code, "tests": [_test(number) for number in range(tests)], "limits": {"wall_seconds": 60}}


def _short() -> Body:
    return {"code": f"print(input()) # {next(NUMBERS)}", "tests": [_test(1)]}


def _test(number: int) -> Body:
    return {"type": "stdin", "input": f"{number}\n", "output": f"{number}\n"}
