"""The calls of workers, and of the process that watches them: claim, report steps, beat, all in one; reap."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from sandbox_service.fleet.ledger import wire
from sandbox_service.fleet.ledger.calls import MOST_STEPS, MOST_WORKERS, ClaimState, LedgerCalls, parts
from sandbox_service.fleet.ledger.entries import (
    Beat,
    Claim,
    ClaimRequest,
    Drop,
    Elsewhere,
    Exchanged,
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
NO_BEAT: tuple[Argument, ...] = ("", "")
NO_CLAIM: tuple[Argument, ...] = ("",)
NOTHING_MORE = ("", *NO_BEAT, *NO_CLAIM)
FIXED = 13  # values of the reply of exchange.lua that are always there


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
        await self._functions.run("register", [worker, json.dumps(info), slots])

    async def claim(
        self, worker: str, most: int, idle: int, slots: int, last_priority: int = LAST_PRIORITY, least: int = 0
    ) -> tuple[list[Claim], Need]:
        """Claim waiting submissions, in the order of bounds/.

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
        found = await self.exchange(worker, claim=ClaimRequest(most, idle, slots, last_priority, least))
        return found.claims, found.need

    async def apply_steps(self, worker: str, steps: Sequence[Step]) -> list[str]:
        """Apply the steps of a worker, in order. Return the ids that it does not hold any more."""
        strangers: list[str] = []
        for part in parts(steps, MOST_STEPS):
            reply = await self._functions.run("exchange", [worker, *NOTHING_MORE, *self._packed(worker, part)])
            self._forget(worker, part)
            strangers += [each.decode() for each in reply]
        return strangers

    async def beat(self, worker: str, busy: int, ready_slots: int, idle: int = 0) -> Exchanged:
        """Report that a worker lives.

        Args:
            worker: its name.
            busy: number of slots that grade.
            ready_slots: number of slots that have started.
            idle: number of ready slots that grade nothing.

        Returns:
            What it learns.

        Raises:
            UnknownWorkerError: the worker is not registered.
            RedisError: Redis cannot be reached or refuses.
        """
        return await self.exchange(worker, beat=Beat(busy, ready_slots, idle))

    async def exchange(
        self, worker: str, steps: Sequence[Step] = (), claim: ClaimRequest | None = None, beat: Beat | None = None
    ) -> Exchanged:
        """Apply steps as `apply_steps` does, claim as `claim` does and report as `beat` does, in one call.

        Args:
            worker: a registered worker.
            steps: in order.
            claim: how much it would claim; None: no claim.
            beat: its figures; None: no beat, and then there is a claim.

        Returns:
            What the worker learns.

        Raises:
            UnknownWorkerError: the worker is not registered; the steps were refused.
            RedisError: Redis cannot be reached or refuses. The steps may have been applied; repeating them is safe.
        """
        if len(steps) > MOST_STEPS:
            await self.apply_steps(worker, steps[:-MOST_STEPS])
            steps = steps[-MOST_STEPS:]
        state = self._claim_states[worker]
        async with state.lock if claim else nullcontext():
            while True:
                turn = f"{self._session}-{next(self._turns)}"
                idle = claim.idle if claim else beat.idle if beat else 0
                arguments = [worker, idle, *_of_beat(beat), *self._of_claim(claim, turn, state)]
                reply = await self._functions.run("exchange", [*arguments, *self._packed(worker, steps)])
                self._forget(worker, steps)
                wire.check_known(reply, worker)
                claims, unreadable = _claims(reply, state)
                if unreadable:
                    await self._drop_unreadable(worker, unreadable)
                if claims:
                    state.last_turn = turn
                if claims or not reply[6]:
                    return _exchanged(reply, claims)
                steps = ()

    def _of_claim(self, claim: ClaimRequest | None, turn: str, state: ClaimState) -> Sequence[Argument]:
        """Return a claim in the order that exchange.lua reads."""
        if claim is None:
            return NO_CLAIM
        most, _, slots, last_priority, least, begins, suites = claim
        head = (most, slots, self._max_body, turn, state.last_turn, last_priority, least, begins)
        return *head, len(suites), *suites

    async def _drop_unreadable(self, worker: str, ids: Sequence[bytes]) -> None:
        """Delete submissions that another program has written into Redis."""
        steps = [each for id_ in ids for each in (b"R", id_)]
        await self._functions.run("exchange", [worker, *NOTHING_MORE, *self._kept(), *steps])

    def _kept(self) -> tuple[Argument, ...]:
        """Return the seconds that an answer, a fault and a cached answer are kept."""
        return self._answer_seconds, self._fault_seconds, self._cache_seconds

    def _packed(self, worker: str, steps: Sequence[Step]) -> list[Argument]:
        """Return the steps in the order that exchange.lua reads, behind the seconds that their answers are kept."""
        digests = self._claim_states[worker].digests if worker in self._claim_states else {}
        arguments: list[Argument] = [*self._kept()] if steps else []
        for step in _without_needless_starts(steps):
            arguments += self._step(step, digests)
        return arguments

    def _forget(self, worker: str, steps: Sequence[Step]) -> None:
        """Forget the digests of submissions that the worker does not hold any more."""
        digests = self._claim_states[worker].digests if worker in self._claim_states else {}
        for step in steps:
            if not isinstance(step, Start):
                digests.pop(step.id, None)

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

    async def held(self, worker: str) -> list[str]:
        """Return the ids that the worker holds."""
        members: Any = await self._redis.smembers(f"{self._name}:held:{worker}")
        return [each.decode() for each in members]

    async def leave(self, worker: str) -> None:
        """Deregister a worker. All its submissions wait again; those that it had started are not suspected."""
        await self._functions.run("leave", [worker])
        self._claim_states.pop(worker, None)

    async def beats(self) -> dict[str, int]:
        """Return the number of beats of each registered worker."""
        rows = zip(*[iter(await self._functions.run("beats"))] * 2, strict=True)
        return {name.decode(): int(beats) for name, beats in rows}

    async def workers(self) -> dict[str, WorkerState]:
        """Return all registered workers. Redis takes microseconds for each: too long for a call twice a second."""
        names: Any = await self._redis.smembers(f"{self._name}:workers")
        found: dict[str, WorkerState] = {}
        for part in parts(list(names), MOST_WORKERS):
            rows = zip(*[iter(await self._functions.run("workers", part))] * 5, strict=True)
            found |= {row[0].decode(): WorkerState(json.loads(row[1]), *row[2:]) for row in rows}
        return found

    # --- reaping

    async def lead(self, name: str, seconds: float) -> bool:
        """Take or keep the lock of the one process that reaps. Return whether `name` has it for so many seconds."""
        return bool(await self._functions.run("lead", [name, max(1, round(seconds * 1000))]))

    async def reap(self, worker: str) -> list[Lost]:
        """Deregister a dead worker. Repeating the call is safe.

        What it held waits again.

        Args:
            worker: its name, or `REAPER` for what is lost and not yet answered.

        Returns:
            What was tried too often. It must be answered with `finish_lost`.
        """
        reply = await self._functions.run("reap", [worker, self._most_attempts])
        return [Lost(row[0].decode(), row[1], row[2]) for row in zip(*[iter(reply)] * 3, strict=True)]

    async def mend(self) -> bool:
        """Make lists and counts anew if another program has deleted some of them. Return whether it did so."""
        return bool(await self._functions.run("mend"))

    async def finish_lost(self, answers: Mapping[str, bytes]) -> None:
        """Answer lost submissions, by id."""
        await self.apply_steps(REAPER, [Finish(id_, answer, fault=True) for id_, answer in answers.items()])


def _of_beat(beat: Beat | None) -> tuple[Argument, ...]:
    """Return a beat in the order that exchange.lua reads, without its idle slots."""
    return NO_BEAT if beat is None else (beat.busy, beat.ready_slots)


def _claims(reply: list[Any], state: ClaimState) -> tuple[list[Claim], list[bytes]]:
    """Return the claims in a reply of exchange.lua, and the ids of those that cannot be read."""
    begun, now = reply[7], int(reply[8]) + int(reply[9]) / wire.MICROSECONDS
    claims, unreadable = [], []
    first = FIXED + reply[10] + reply[11]
    for index, row in enumerate(zip(*[iter(reply[first : first + 6 * reply[12]])] * 6, strict=True)):
        try:
            claim = wire.claim(row, now, begun=index < begun)
        except ValueError:
            unreadable.append(row[0])
        else:
            claims.append(claim)
            state.digests[claim.id] = row[3]
    return claims, unreadable


def _exchanged(reply: list[Any], claims: list[Claim]) -> Exchanged:
    """Return a reply of exchange.lua, whose claims are decoded."""
    to_cancel = FIXED + reply[10]
    first_claim = to_cancel + reply[11]
    suites = {id_.decode(): body for id_, body in zip(*[iter(reply[first_claim + 6 * reply[12] :])] * 2, strict=True)}
    cancelled = [each.decode() for each in reply[to_cancel:first_claim]]
    return Exchanged(cancelled, Need(*reply[:3]), Elsewhere(*reply[3:5]), claims, suites, reply[5])


def _without_needless_starts(steps: Sequence[Step]) -> Iterator[Step]:
    """Drop the starts of submissions that the same call finishes: no other call can see them."""
    finished = {step.id for step in steps if isinstance(step, Finish)}
    return (step for step in steps if not isinstance(step, Start) or step.id not in finished)
