"""The order in which a worker's steps reach the ledger, also when the worker ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

from sandbox_service.event_loop import cancel_tasks
from sandbox_service.fleet.ledger.entries import Beat, ClaimRequest, Exchanged, Finish, GiveBack, Step
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.steps import NOTHING, StepSender
from tests.guards import HANG_GUARD_SECONDS


class NoClaimant:
    """A worker that neither claims nor beats."""

    def wanted(self) -> ClaimRequest | None:
        """See Claimant."""
        return None

    def dry_seconds(self) -> float:
        """See Claimant."""
        return 0.0

    def due_beat(self) -> Beat | None:
        """See Claimant."""
        return None

    def beaten(self, found: Exchanged) -> None:
        """See Claimant."""


class SlowLedger:
    """A ledger whose first call ends when the test says so."""

    def __init__(self) -> None:
        self.called: list[Sequence[Step]] = []
        self.applied: list[Sequence[Step]] = []
        self.may_end = asyncio.Event()

    async def apply_steps(self, _: str, steps: Sequence[Step]) -> list[str]:
        """See Ledger."""
        self.called.append(steps)
        await self.may_end.wait()
        self.applied.append(steps)
        return []


class HungryClaimant(NoClaimant):
    """A worker with an idle slot."""

    def wanted(self) -> ClaimRequest | None:
        """See Claimant."""
        return ClaimRequest(1, 1, 1)


class ClaimingLedger(SlowLedger):
    """A slow ledger that has nothing to claim."""

    def __init__(self) -> None:
        super().__init__()
        self.claims = 0

    async def exchange(self, name: str, steps: Sequence[Step], claim: ClaimRequest, _: Beat | None) -> Exchanged:
        """See Ledger."""
        self.claims += claim.most > 0
        await self.apply_steps(name, steps)
        return NOTHING


def test_a_claim_that_is_asked_for_during_a_call_does_not_wait_for_the_pause_after_it() -> None:
    async def scenario() -> None:
        ledger = ClaimingLedger()
        sender = StepSender(cast(Ledger, ledger), lambda: "worker", HungryClaimant())
        running = asyncio.create_task(sender.run())
        for number in range(100):
            sender.add(Finish(f"{number}", b"answer"))
        sender.note_age(HANG_GUARD_SECONDS)
        while not ledger.called:
            await asyncio.sleep(0)
        claim = asyncio.create_task(sender.claim())
        await asyncio.sleep(0)
        ledger.may_end.set()
        for _ in range(20):
            await asyncio.sleep(0)
        assert ledger.claims == 1
        assert claim.done()
        await cancel_tasks([running])

    asyncio.run(asyncio.wait_for(scenario(), HANG_GUARD_SECONDS))


def test_the_last_steps_wait_for_those_on_their_way() -> None:
    """Else the worker leaves before its last answers have arrived, and they are graded again elsewhere."""

    async def scenario() -> None:
        ledger = SlowLedger()
        sender = StepSender(cast(Ledger, ledger), lambda: "worker", NoClaimant())
        running = asyncio.create_task(sender.run())
        sender.add(Finish("a", b"answer"))
        while not ledger.called:
            await asyncio.sleep(0)
        sender.add(GiveBack("b"))
        rest = asyncio.create_task(sender.send_rest())
        for _ in range(10):
            await asyncio.sleep(0)
        assert not rest.done()
        assert ledger.called == [[Finish("a", b"answer")]]
        ledger.may_end.set()
        await rest
        await cancel_tasks([running])
        assert ledger.applied == [[Finish("a", b"answer")], [GiveBack("b")]]

    asyncio.run(asyncio.wait_for(scenario(), HANG_GUARD_SECONDS))
