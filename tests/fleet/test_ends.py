"""SIGTERM: a worker finishes what has begun and gives back the rest; an API process answers its submissions."""

from __future__ import annotations

import pytest

from tests.fleet.conftest import Under
from tests.fleet.fleet import running_fleet
from tests.fleet.load import Load


def test_a_worker_that_is_asked_to_end_gives_back_what_it_has_not_begun(under: Under) -> None:
    with running_fleet() as fleet:
        statuses: list[int] = []
        figures = under(fleet, "SIGTERM to a worker of two", lambda _: statuses.append(fleet.workers[0].terminate()))
        assert statuses == [0]
        # nobody had to find out that it was gone, and nothing was begun twice
        assert [figures.counts.get(name, 0) for name in ("reaped", "requeued", "duplicates", "lost")] == [0, 0, 0, 0]
        assert figures.twice == 0


@pytest.mark.full
def test_all_workers_asked_to_end_and_started_again_change_no_answer(under: Under) -> None:
    with running_fleet() as fleet:
        statuses: list[int] = []

        def disturb(_: Load) -> None:
            for worker in fleet.workers:
                statuses.append(worker.terminate())
                worker.start()

        figures = under(fleet, "SIGTERM to both workers in turn, started again", disturb)
        assert statuses == [0, 0]
        assert [figures.counts.get(name, 0) for name in ("reaped", "requeued", "duplicates", "lost")] == [0, 0, 0, 0]
        assert figures.twice == 0


def test_an_api_process_that_is_asked_to_end_answers_what_it_took(under: Under) -> None:
    with running_fleet() as fleet:
        statuses: list[int] = []

        def disturb(_: Load) -> None:
            statuses.append(fleet.apis[0].terminate())
            fleet.apis[0].start()

        under(fleet, "SIGTERM to the only API process, started again", disturb)
        assert statuses == [0]
