"""A failover of Redis under load: every submission is answered once, with the right verdict."""

from __future__ import annotations

import pytest

from tests.fleet.conftest import Under
from tests.fleet.load import Load
from tests.fleet.sentinels import watched_fleet


def test_a_master_that_is_killed_changes_no_answer(under: Under) -> None:
    with watched_fleet() as (fleet, server):

        def disturb(_: Load) -> None:
            server.kill_master()

        under(fleet, "kill -9 Redis' master, a replica promoted by Sentinel", disturb)


def test_a_master_that_is_frozen_and_comes_back_changes_no_answer(under: Under) -> None:
    """It still takes itself for the master, for a moment, and what is written to it then is lost."""
    with watched_fleet() as (fleet, server):

        def disturb(_: Load) -> None:
            server.freeze_master(1.0)

        under(fleet, "Redis' master frozen until a replica was promoted, back later", disturb)


@pytest.mark.full
def test_a_failover_with_a_worker_killed_at_once_changes_no_answer(under: Under) -> None:
    with watched_fleet(sentinels=1) as (fleet, server):

        def disturb(_: Load) -> None:
            fleet.workers[0].kill()
            server.kill_master()

        under(fleet, "kill -9 Redis' master and a worker at once, Sentinel", disturb)
