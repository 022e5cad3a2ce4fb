"""Faults in a fleet under load, one or two at once: every submission is answered once, with the right verdict.

Clients may be refused for now, or their connections may break; then they send the same ids again. Only the end of the
load is asserted, no time; `pytest -s` shows the figures.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from tests.fleet.conftest import Answers, Under
from tests.fleet.fleet import AOF, running_fleet
from tests.fleet.load import IS_FOR_THE_RECORD, SUBMISSIONS, Load

AWAY_SECONDS = 10 if IS_FOR_THE_RECORD else 6  # all longer than a worker may be silent
FROZEN_SECONDS = 15 if IS_FOR_THE_RECORD else 8
READ_ONLY_SECONDS = 4
TIMES = 20  # so often Redis cuts all connections, in two seconds


def test_an_undisturbed_fleet_answers_everything_once(undisturbed: Answers) -> None:
    assert abs(len(undisturbed) - SUBMISSIONS) < 10


def test_a_worker_that_is_killed_changes_no_answer(under: Under) -> None:
    with running_fleet() as fleet:
        figures = under(fleet, "kill -9 a worker of two", lambda _: fleet.workers[0].kill())
        assert figures.counts["reaped"] == 1


@pytest.mark.full
def test_all_workers_killed_and_started_again_change_no_answer(under: Under) -> None:
    with running_fleet() as fleet:

        def disturb(_: Load) -> None:
            for worker in fleet.workers:
                worker.kill()
            for worker in fleet.workers:
                worker.start()

        figures = under(fleet, "kill -9 both workers, started again", disturb)
        assert figures.counts["reaped"] == 2


def test_an_api_process_killed_and_started_again_changes_no_answer(under: Under) -> None:
    with running_fleet() as fleet:

        def disturb(_: Load) -> None:
            fleet.apis[0].kill()
            fleet.apis[0].start()

        figures = under(fleet, "kill -9 the only API process, started again", disturb)
        assert figures.answers["broken"] > 0


def test_an_api_process_of_two_that_is_killed_with_a_worker_changes_no_answer(under: Under) -> None:
    """The one that watches the workers among them, or not: the other one takes over."""
    with running_fleet(apis=2) as fleet:

        def disturb(_: Load) -> None:
            leader = fleet.redis.client().get("proctor:lead").decode()
            next(api for api in fleet.apis if f".{api.pid}." in leader).kill()
            fleet.workers[0].kill()
            fleet.apis = [api for api in fleet.apis if api.process.poll() is None]

        dead = list(fleet.apis)
        figures = under(fleet, "kill -9 the API process that watches, and a worker", disturb)
        assert figures.counts["reaped"] == 1
        assert [left for api in dead for left in api.end()] == []


def test_redis_killed_and_restarted_with_its_file_changes_no_answer(under: Under) -> None:
    with running_fleet(*AOF) as fleet:
        under(fleet, "kill -9 Redis, restarted, AOF", lambda _: fleet.redis.restart())


def test_redis_killed_and_restarted_without_memory_changes_no_answer(under: Under) -> None:
    with running_fleet() as fleet:
        figures = under(fleet, "kill -9 Redis, restarted, nothing kept", lambda _: fleet.redis.restart())
        assert figures.counts["watchdog"] > 0


def test_redis_frozen_for_seconds_changes_no_answer(under: Under) -> None:
    with running_fleet() as fleet:

        def disturb(_: Load) -> None:
            fleet.redis.stop()
            time.sleep(AWAY_SECONDS)
            fleet.redis.cont()

        figures = under(fleet, f"Redis frozen {AWAY_SECONDS} s", disturb)
        assert figures.counts.get("reaped", 0) == 0


@pytest.mark.full
def test_redis_away_for_seconds_changes_no_answer(under: Under) -> None:
    with running_fleet(*AOF) as fleet:

        def disturb(_: Load) -> None:
            fleet.redis.kill()
            time.sleep(AWAY_SECONDS)
            fleet.redis.restart()

        figures = under(fleet, f"Redis away {AWAY_SECONDS} s, AOF", disturb)
        assert figures.counts.get("reaped", 0) == 0


def test_a_frozen_worker_that_goes_on_later_changes_no_answer(under: Under) -> None:
    with running_fleet() as fleet:

        def disturb(_: Load) -> None:
            fleet.workers[0].freeze()
            time.sleep(FROZEN_SECONDS)
            fleet.workers[0].thaw()

        figures = under(fleet, f"a worker of two frozen {FROZEN_SECONDS} s", disturb)
        assert figures.counts["reaped"] == 1
        fleet.wait_ready()  # it has come back, under another name


@pytest.mark.full
def test_a_worker_and_redis_killed_at_once_change_no_answer(under: Under) -> None:
    with running_fleet(*AOF) as fleet:

        def disturb(_: Load) -> None:
            fleet.workers[0].kill()
            fleet.redis.restart()

        figures = under(fleet, "kill -9 a worker and Redis at once, AOF", disturb)
        assert figures.counts["reaped"] == 1


@pytest.mark.full
def test_an_api_process_of_two_that_is_frozen_changes_no_answer(under: Under) -> None:
    """The one that watches the workers: the other one takes over meanwhile."""
    with running_fleet(apis=2) as fleet:

        def disturb(_: Load) -> None:
            leader = fleet.redis.client().get("proctor:lead").decode()
            api = next(api for api in fleet.apis if f".{api.pid}." in leader)
            api.freeze()
            time.sleep(FROZEN_SECONDS)
            api.thaw()

        under(fleet, f"the API process that watches frozen {FROZEN_SECONDS} s", disturb)


def test_a_redis_that_cuts_connections_forgets_functions_and_takes_no_writes_changes_no_answer(under: Under) -> None:
    with running_fleet(*AOF) as fleet:

        def disturb(_load: Load) -> None:
            redis = fleet.redis.client()
            for _ in range(TIMES):
                redis.function_flush()
                redis.client_kill_filter(_type="normal", skipme=True)
                time.sleep(0.1)
            redis.replicaof("127.0.0.1", "1")  # a master that nobody is
            time.sleep(READ_ONLY_SECONDS)
            redis.replicaof("NO", "ONE")

        under(fleet, f"Redis cuts connections, forgets functions, read-only {READ_ONLY_SECONDS} s", disturb)


def test_redis_restarted_with_an_older_file_changes_no_answer(under: Under, tmp_path: Path) -> None:
    """What was answered since is pending again, and what was submitted since is unknown."""
    files, older = tmp_path / "redis", tmp_path / "older"
    files.mkdir()
    with running_fleet("--appendonly", "yes", "--appendfsync", "always", folder=str(files)) as fleet:

        def disturb(load: Load) -> None:
            fleet.redis.stop()
            shutil.copytree(files, older)
            fleet.redis.cont()
            load.until_answered(0.5)
            fleet.redis.kill()
            shutil.rmtree(files / "appendonlydir")
            shutil.copytree(older / "appendonlydir", files / "appendonlydir")
            fleet.redis.restart()

        under(fleet, "kill -9 Redis, restarted with an older file", disturb)
