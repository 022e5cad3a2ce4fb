"""A rolling upgrade under load: processes of two versions share a Redis, and those of one replace those of the other.

Nothing may be lost, answered wrongly or refused. The other version is this code under another version number, or what
PROCTOR_NEIGHBOUR names: a folder made by `pip install --no-deps --target FOLDER CHECKOUT`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.fleet.fleet import GUARD_SECONDS, Fleet, FleetWorker, ending, running_fleet_redis, until
from tests.fleet.load import mix

NEIGHBOUR = os.environ.get("PROCTOR_NEIGHBOUR", "")
IN_FLIGHT = 6  # submissions at a time, each by itself
PHASE = 12  # answers in each phase of the upgrade


class SteadyLoad:
    """Sends submissions to the API processes in turn until it is left; each is sent once."""

    def __init__(self, url: str) -> None:
        """Begin when `running` is entered.

        Args:
            url: of the first API process.
        """
        self.answers: Counter[str] = Counter()
        self.versions: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.sent = 0
        self._urls = [url]
        self._open: Counter[str] = Counter()  # requests by API process
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._send()), daemon=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send until the end of the context, and wait for all answers."""
        self._thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            self._thread.join(GUARD_SECONDS)
            assert not self._thread.is_alive(), "a submission is not answered"

    def until_more(self) -> None:
        """Wait for so many answers as a phase has."""
        there = self.answers.total()
        until(lambda: self.answers.total() >= there + PHASE, "the load goes on")

    def add(self, url: str) -> None:
        """Send to this API process too."""
        self._urls.append(url)

    def remove(self, url: str) -> None:
        """Send nothing more to this API process, and wait for its answers, as a load balancer does."""
        self._urls.remove(url)
        until(lambda: not self._open[url], "the API process has answered")

    async def _send(self) -> None:
        submissions = itertools.cycle((name, body) for name, body in mix(60).items() if not name.startswith("TLE"))
        async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as senders:
            for _ in range(IN_FLIGHT):
                senders.create_task(self._send_each(submissions, session))

    async def _send_each(self, submissions: Iterator[tuple[str, Any]], session: aiohttp.ClientSession) -> None:
        while not self._is_over.is_set():
            self.sent += 1
            name, body = next(submissions)
            url = self._urls[self.sent % len(self._urls)]
            self._open[url] += 1
            try:
                await self._send_one(f"{self.sent}/{name}", name, body, url, session)
            finally:
                self._open[url] -= 1

    async def _send_one(self, sent_as: str, name: str, body: Any, url: str, session: aiohttp.ClientSession) -> None:
        try:
            async with session.post(f"{url}/v1/grade", json=body | {"id": sent_as}) as response:
                answer = await response.json()
        except (aiohttp.ClientError, OSError) as error:
            self.wrong.append(f"{sent_as} at {url}: {type(error).__name__}: {error}")
            return
        self.answers[str(response.status)] += 1
        if response.status != 200 or not name.startswith(f"{answer['verdict']}-"):
            self.wrong.append(f"{sent_as} at {url}: {response.status} {answer}")
        else:
            self.versions[answer["grader"]["version"]] += 1


@pytest.fixture
def neighbour(tmp_path: Path) -> str:
    """The folder of another version."""
    if NEIGHBOUR:
        return NEIGHBOUR
    facts = tmp_path / "proctor-0.0.99.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: proctor\nVersion: 0.0.99\n")
    return str(tmp_path)


def test_a_rolling_upgrade_loses_and_refuses_nothing(neighbour: str) -> None:
    with running_fleet_redis() as server:
        fleet = Fleet(server, apis=2, workers=2)
        old_api, (old_worker, new_worker) = fleet.apis[0], fleet.workers
        old_api.code = old_worker.code = neighbour
        with ending(fleet):
            upgrade(fleet, old_worker, new_worker, load := SteadyLoad(old_api.url))
        assert (load.wrong, dict(load.answers)) == ([], {"200": load.sent})
        assert {"duplicates", "reaped", "lost"}.isdisjoint(fleet_counts(server.client()))
        assert NEIGHBOUR or len(load.versions) > 1


def upgrade(fleet: Fleet, old_worker: FleetWorker, new_worker: FleetWorker, load: SteadyLoad) -> None:
    """Start the new processes beside the old ones under load, then have the old ones end: worker first."""
    old_api, new_api = fleet.apis
    old_api.start()
    old_worker.start()
    until(lambda: old_api.is_ready(), "the old version is ready")
    with load.running():
        load.until_more()
        new_worker.start()
        new_api.start()
        fleet.wait_ready()
        load.add(new_api.url)
        load.until_more()  # both versions
        assert old_worker.terminate() == 0
        load.until_more()  # the old version takes what the new one grades
        load.remove(old_api.url)
        load.until_more()
        assert old_api.terminate() == 0
        load.until_more()


def fleet_counts(client: Any) -> set[str]:
    """The names of what the ledger has counted."""
    return {name.decode() for name in client.hkeys("proctor:stats")}
