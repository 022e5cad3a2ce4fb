"""The calls of workers, and of the process that watches them: claim, report steps, beat, reap."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox_service.fleet.ledger import wire
from sandbox_service.fleet.ledger.calls import MOST_STEPS, LedgerCalls, parts
from sandbox_service.fleet.ledger.entries import (
    Claim,
    Drop,
    Elsewhere,
    Finish,
    GiveBack,
    Lost,
    Need,
    Start,
    Step,
    WorkerState,
)
from sandbox_service.fleet.ledger.lua import Argument
from sandbox_service.fleet.ledger.packing import UNSURE

REAPER = "reaper"
"""Holds lost submissions until they are answered; no worker may have this name."""

LAST_PRIORITY = 2


class WorkerCalls(LedgerCalls):
    """See the module. Only one process, with one ledger, may claim for a worker."""

    async def register(self, worker: str, info: Mapping[str, object], slots: int) -> None:
        """Register a worker.

        Args:
            worker: its name, new at each start: the worker holds whatever a namesake held.
            info: facts about it, for `workers`; sent as JSON.
            slots: how many it has.

        Raises:
            ValueError: the name is empty or the reaper's.
        """
        if worker == REAPER or not worker:
            raise ValueError(f"no worker may be called {worker!r}")
        await self._scripts.run("register", [worker, json.dumps(info), slots])

    async def claim(
        self, worker: str, most: int, idle: int, slots: int, last_priority: int = LAST_PRIORITY, least: int = 0
    ) -> tuple[list[Claim], Need]:
        """Claim waiting submissions, in the order of bounds.py.

        A suspect, which an earlier worker may have ended by, comes alone and only to a worker with an idle slot. If the
        reply to the last claim was lost, this one returns the same submissions again.

        Args:
            worker: a registered worker.
            most: submissions at most; there are never more than 64.
            idle: its idle slots. It gets enough for them, or its share of half of what waits, if that is more.
            slots: all its slots.
            last_priority: the least urgent priority that it takes.
            least: submissions that it gets in any case.

        Returns:
            The submissions, and how much still waits.

        Raises:
            UnknownWorkerError: the worker is not registered.
            RedisError: Redis cannot be reached or refuses.
        """
        state = self._claim_states[worker]
        async with state.lock:
            while True:
                turn = f"{self._session}-{next(self._turns)}"
                arguments: list[Argument] = [worker, most, idle, slots, self._max_body, turn, state.last_turn]
                arguments += (last_priority, least)
                reply = await self._scripts.run("claim", arguments)
                need, gave_up, now = wire.need(reply, worker), reply[4], float(reply[5])
                claims, unreadable = [], []
                for row in zip(*[iter(reply[6:])] * 6, strict=True):
                    try:
                        claim = wire.claim(row, now)
                    except ValueError:
                        unreadable.append(row[0])
                    else:
                        claims.append(claim)
                        state.digests[claim.id] = row[3]
                if unreadable:
                    await self._refuse(worker, unreadable)
                if claims:
                    state.last_turn = turn
                if claims or not gave_up:
                    return claims, need

    async def _refuse(self, worker: str, ids: Sequence[bytes]) -> None:
        """Delete submissions that another program has written into Redis."""
        arguments: list[Argument] = [worker, 0, 0, 0]
        for each in ids:
            arguments += (b"R", each)
        await self._scripts.run("steps", arguments)

    async def apply_steps(self, worker: str, steps: Sequence[Step]) -> list[str]:
        """Apply the steps of a worker, in order. Return the ids that it does not hold any more."""
        strangers: list[str] = []
        digests = self._claim_states[worker].digests if worker in self._claim_states else {}
        for part in parts(steps, MOST_STEPS):
            arguments: list[Argument] = [worker, self._answer_seconds, self._fault_seconds, self._cache_seconds]
            for step in _without_needless_starts(part):
                arguments += self._step(step, digests)
            strangers += [each.decode() for each in await self._scripts.run("steps", arguments)]
            for step in part:
                if not isinstance(step, Start):
                    digests.pop(step.id, None)
        return strangers

    def _step(self, step: Step, digests: dict[str, bytes]) -> tuple[Argument, ...]:
        """Return a step in the order that steps.lua reads."""
        match step:
            case Start(id_):
                return b"S", id_
            case Finish(id_, answer, fault, cacheable):
                packed = self._packing.pack(answer, fault, digests.get(id_, UNSURE))
                return b"F", id_, packed, int(cacheable)
            case GiveBack(id_):
                return b"B", id_
            case Drop(id_):
                return b"D", id_

    async def beat(self, worker: str, busy: int, ready_slots: int, idle: int = 0) -> tuple[list[str], Need, Elsewhere]:
        """Report that a worker lives.

        Args:
            worker: its name.
            busy: number of slots that grade.
            ready_slots: number of slots that have started.
            idle: number of ready slots that grade nothing.

        Returns:
            The ids that it must cancel, again each time until it settles them; how much waits; and the other workers.

        Raises:
            UnknownWorkerError: the worker is not registered.
            RedisError: Redis cannot be reached or refuses.
        """
        reply = await self._scripts.run("beat", [worker, busy, ready_slots, idle])
        need = wire.need(reply, worker)
        return [each.decode() for each in reply[6:]], need, Elsewhere(reply[4], reply[5])

    async def held(self, worker: str) -> list[str]:
        """Return the ids that the worker holds."""
        members: Any = await self._redis.smembers(f"{self._name}:held:{worker}")
        return [each.decode() for each in members]

    async def leave(self, worker: str) -> None:
        """Deregister a worker. All that it holds waits again; what it had started is not suspected."""
        await self._scripts.run("leave", [worker])
        self._claim_states.pop(worker, None)

    async def beats(self) -> dict[str, int]:
        """Return the number of beats of each registered worker."""
        rows = zip(*[iter(await self._scripts.run("beats"))] * 2, strict=True)
        return {name.decode(): int(beats) for name, beats in rows}

    async def workers(self) -> dict[str, WorkerState]:
        """Return all registered workers. Redis takes 14 µs for each: too much for every half second."""
        rows = zip(*[iter(await self._scripts.run("workers"))] * 7, strict=True)
        return {row[0].decode(): WorkerState(json.loads(row[1]), *row[2:]) for row in rows}

    # --- reaping

    async def lead(self, name: str, seconds: float) -> bool:
        """Take or keep the lock of the one process that reaps. Return whether `name` has it for so many seconds."""
        return bool(await self._scripts.run("lead", [name, max(1, round(seconds * 1000))]))

    async def reap(self, worker: str) -> list[Lost]:
        """Deregister a dead worker. Repeating the call is safe.

        What it held waits again.

        Args:
            worker: its name, or `REAPER` for what is lost and not yet answered.

        Returns:
            What was tried too often. It must be answered with `finish_lost`.
        """
        reply = await self._scripts.run("reap", [worker, self._most_attempts])
        return [Lost(row[0].decode(), row[1], row[2]) for row in zip(*[iter(reply)] * 3, strict=True)]

    async def finish_lost(self, answers: Mapping[str, bytes]) -> None:
        """Answer lost submissions, by id."""
        await self.apply_steps(REAPER, [Finish(id_, answer, fault=True) for id_, answer in answers.items()])


def _without_needless_starts(steps: Sequence[Step]) -> Iterator[Step]:
    """Drop the starts of submissions that the same call finishes: no other call can see them."""
    finished = {step.id for step in steps if isinstance(step, Finish)}
    return (step for step in steps if not isinstance(step, Start) or step.id not in finished)
