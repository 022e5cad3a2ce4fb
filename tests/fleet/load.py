"""Submissions with known verdicts, and a client that sends each until it is answered, whatever happens meanwhile.

The client is what docs/api.md asks of one: it sends the same again, under the same id, when a connection breaks and
when it is told to come back (429, 503). It notes every answer, so that an id with two different ones is found.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

Json = dict[str, Any]

SUBMISSIONS = int(os.environ.get("FLEET_SUBMISSIONS", "60"))
IS_FOR_THE_RECORD = SUBMISSIONS >= 1000
TABLE = os.environ.get("FLEET_TABLE", "")
GIVE_UP_SECONDS = 150.0
SILENCE_SECONDS = 45.0  # of a connection: in a batch there is a blank line every 15 s
IN_FLIGHT = 48
BATCH = 40
BATCHES_AT_ONCE = 4
PAUSE_SECONDS = 0.3
SUITES = 20

MIB = 1 << 20
LIMITS = {"cpu_seconds": 0.5, "wall_seconds": 3.0, "memory_bytes": 256 * MIB}
WAIT = "import time\ntime.sleep(0.02)\n"  # so that some are in their boxes whenever a fault comes
PROGRAMS = {  # by kind and verdict; each is given a number, and 1 more is right
    ("stdin", "AC"): WAIT + "print(int(input()) + 1)",
    ("call", "AC"): WAIT + "def solve(n): return n + 1",
    ("stdin", "WA"): WAIT + "print(int(input()) + 2)",
    ("call", "WA"): "def solve(n): return n - 1",
    ("stdin", "RTE"): WAIT + "print(int(input()) // 0)",
    ("call", "RTE"): "def solve(n): return [][n]",
    ("stdin", "CE"): "print(",
    ("stdin", "TLE"): "while True: pass",
    ("stdin", "MLE"): "block = bytearray(1 << 30)\nprint(len(block))",
}
SHARES = {  # of 200
    ("stdin", "AC"): 70,
    ("call", "AC"): 50,
    ("stdin", "WA"): 22,
    ("call", "WA"): 12,
    ("stdin", "RTE"): 12,
    ("call", "RTE"): 10,
    ("stdin", "CE"): 12,
    ("stdin", "TLE"): 6,
    ("stdin", "MLE"): 6,
}


def mix(count: int = SUBMISSIONS) -> dict[str, Json]:
    """So many, shuffled, by id; the id begins with the right verdict."""
    kinds = [key for key, share in SHARES.items() for _ in range(max(1, round(share * count / 200)))]
    random.Random(11).shuffle(kinds)
    return {f"{verdict}-{kind}-{n}": submission(kind, verdict, n) for n, (kind, verdict) in enumerate(kinds)}


def submission(kind: str, verdict: str, number: int) -> Json:
    """One that will get this verdict. Many have the same tests, which are sent to the workers once."""
    number = number % SUITES if number % 3 else number
    test: Json = {"type": "stdin", "input": f"{number}\n", "output": f"{number + 1}\n"}
    if kind == "call":
        test = {"type": "call", "function": "solve", "args": [number], "output": number + 1}
    limits = LIMITS | ({"cpu_seconds": 0.2} if verdict == "TLE" else {})
    return {"code": PROGRAMS[kind, verdict], "tests": [test], "limits": limits}


def essence(grade: Json) -> tuple[Any, ...]:
    """What of an answer must not change: all but times, and how often it was tried."""
    tests = [(test["index"], test["verdict"], test["stdout"]) for test in grade["tests"]]
    fault = grade["failure_kind"], grade["failure_reason"]
    return grade["verdict"], grade["reward"], grade["passed"], grade["total"], fault, str(tests)


@dataclass
class Told:
    """What the client was told, and when."""

    grades: dict[str, Json] = field(default_factory=dict)
    arrived: dict[str, float] = field(default_factory=dict)  # seconds from the beginning
    answers: Counter[str] = field(default_factory=Counter)  # statuses, and broken connections
    conflicts: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)  # what no client of ours should ever be told


class TooLateError(AssertionError):
    """All was answered before what a test waited for."""


class Load:
    """Sends submissions in a thread of its own: every other one by itself, the rest in batches."""

    def __init__(self, urls: Sequence[str], submissions: dict[str, Json]) -> None:
        self.told = Told()
        self._urls = list(urls)
        self._submissions = submissions
        self._began = time.monotonic()
        self._sent = 0
        self._trouble: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def until_answered(self, share: float) -> None:
        """Wait for the first so many answers."""
        self.until(lambda: len(self.told.grades) >= share * len(self._submissions))

    def until(self, so: Any) -> None:
        """Wait until something is so, which must be before the end."""
        while not so():
            if not self._thread.is_alive() and not so():
                raise TooLateError("the load came to its end before that")
            assert self.seconds < GIVE_UP_SECONDS, "it never came to that"
            assert not self.told.strange, self.told.strange[:3]
            time.sleep(0.005)

    def join(self) -> Told:
        """Wait until all are answered, or given up."""
        self._thread.join(GIVE_UP_SECONDS + 30.0)
        assert not self._thread.is_alive(), "the client hangs"
        if self._trouble is not None:
            raise self._trouble
        return self.told

    def longest_gap(self) -> float:
        """The longest time without an answer."""
        times = [0.0, *sorted(self.told.arrived.values())]
        return max((after - before for before, after in itertools.pairwise(times)), default=0.0)

    def _run(self) -> None:
        try:
            asyncio.run(self._send_all())
        except BaseException as trouble:  # noqa: BLE001 - told in `join`
            self._trouble = trouble

    async def _send_all(self) -> None:
        names = list(self._submissions)
        singles, others = names[::2], names[1::2]
        batches = [others[at : at + BATCH] for at in range(0, len(others), BATCH)]
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=5.0, sock_read=SILENCE_SECONDS)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:
            everything = asyncio.gather(
                self._work_off([[name] for name in singles], session, IN_FLIGHT),
                self._work_off(batches, session, BATCHES_AT_ONCE),
            )
            with suppress(TimeoutError):
                await asyncio.wait_for(everything, GIVE_UP_SECONDS)

    async def _work_off(self, parcels: list[list[str]], session: aiohttp.ClientSession, at_once: int) -> None:
        parcels.reverse()

        async def hand() -> None:
            while parcels:
                await self._until_answered(parcels.pop(), session)

        await asyncio.gather(*(hand() for _ in range(at_once)))

    async def _until_answered(self, names: list[str], session: aiohttp.ClientSession) -> None:
        """Send these, and again what was not answered, to one API process after the other."""
        while (left := [name for name in names if name not in self.told.grades]) and self.seconds < GIVE_UP_SECONDS:
            url = self._urls[self._sent % len(self._urls)]
            self._sent += 1
            try:
                if len(left) == 1:
                    await self._send_one(left[0], url, session)
                else:
                    await self._send_many(left, url, session)
            except (aiohttp.ClientError, OSError, TimeoutError):
                self.told.answers["broken"] += 1
            if any(name not in self.told.grades for name in left):
                await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.5))

    async def _send_one(self, name: str, url: str, session: aiohttp.ClientSession) -> None:
        body = {"id": name, **self._submissions[name]}
        async with session.post(f"{url}/v1/grade", json=body) as response:
            answer = await response.json()
            self._heard(response, answer)
            if response.status == 200:
                self._answered(name, answer)

    async def _send_many(self, names: list[str], url: str, session: aiohttp.ClientSession) -> None:
        body = {"submissions": [{"id": name, **self._submissions[name]} for name in names]}
        async with session.post(f"{url}/v1/grade/batch", json=body) as response:
            if response.status != 200:
                self._heard(response, await response.json())
                return
            self.told.answers["200"] += 1
            async for line in response.content:
                if line.strip():
                    self._line(json.loads(line))

    def _line(self, answer: Json) -> None:
        if "error" not in answer:
            self._answered(answer["id"], answer)
        elif answer["error"]["type"] in ("unavailable", "queue_full"):
            self.told.answers["line"] += 1
        else:
            self.told.strange.append(str(answer))

    def _heard(self, response: aiohttp.ClientResponse, answer: Json) -> None:
        self.told.answers[str(response.status)] += 1
        if response.status in (429, 503):
            if int(response.headers.get("Retry-After", "0")) < 1 or not answer["error"]["retry_after_seconds"]:
                self.told.strange.append(f"{response.status} without Retry-After: {answer}")
        elif response.status != 200:
            self.told.strange.append(f"{response.status}: {answer}")

    def _answered(self, name: str, grade: Json) -> None:
        before = self.told.grades.setdefault(name, grade)
        self.told.arrived.setdefault(name, self.seconds)
        if essence(before) != essence(grade):
            self.told.conflicts.append(f"{name}: {essence(before)}, then {essence(grade)}")


@dataclass
class Figures:
    """One line of the table."""

    fault: str
    sent: int
    answered: int
    equal: int
    seconds: float
    gap: float
    twice: int
    answers: Counter[str]
    counts: dict[str, int]

    def write(self) -> None:
        """To where pytest -s shows it, and to the table if there is one."""
        counted = {"requeued", "reaped", "duplicates", "lost", "watchdog", "cancelled"}
        counts = ", ".join(
            f"{name} {count}" for name, count in sorted(self.counts.items()) if name in counted and count
        )
        told = ", ".join(f"{name} {count}" for name, count in sorted(self.answers.items()))
        row = [
            self.fault,
            f"{self.answered} of {self.sent}",
            str(self.equal),
            str(self.twice),
            f"{self.seconds:.1f}",
            f"{self.gap:.1f}",
            told,
            counts,
        ]
        print("\n| " + " | ".join(row) + " |")
        if TABLE:
            with Path(TABLE).open("a") as table:
                table.write("| " + " | ".join(row) + " |\n")
