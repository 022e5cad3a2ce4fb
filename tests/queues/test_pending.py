"""When a pending submission is looked up: at growing times while it waits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sandbox_service.fleet import pending
from sandbox_service.fleet.pending import PendingSubmissions
from sandbox_service.queues.estimate import Estimate
from sandbox_service.queues.observers import Observers

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    ("most", "ages"), [(10.0, [2.5, 5.5, 11.5, 22.0, 32.5, 43.0, 53.5]), (2.0, [2.5 + 2.5 * n for n in range(24)])]
)
async def test_looks_become_rarer_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch, most: float, ages: list[float]
) -> None:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(pending, "time", SimpleNamespace(monotonic=lambda: clock.now))
    waiting = PendingSubmissions(Estimate(), Observers())
    submission = waiting.add_unknown("name", "id")
    assert not list(waiting.overdue(2.0, most))
    submission.is_known = True
    looked = []
    for _ in range(120):
        clock.now += 0.5
        for each in waiting.overdue(2.0, most):
            each.looked_at = clock.now
            looked.append(clock.now - 100.0)
    assert looked == ages
