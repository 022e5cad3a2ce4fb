"""Bounds of a worker's claims ahead: as many submissions as its slots begin within half a second (decision 0032)."""

from __future__ import annotations

from sandbox_service.fleet.ledger.entries import ClaimRequest
from sandbox_service.fleet.wakeup import CHUNK
from sandbox_service.slots.pool import SlotPool

AHEAD = 4  # submissions for each slot, running ones included: with fewer, more are claimed
LEAST_AHEAD = 8
AHEAD_SECONDS = 0.5  # … but no more than a slot begins in so long
MEMORY = 0.1  # weight of the last submission in the mean of their times
WORTH_A_CLAIM = 2
LONG_SECONDS = 1.0  # submissions take at least so long, if claims did not begin and went back


class Lookahead:
    """The bounds that follow from the times of the last submissions.

    `most_held`: with fewer submissions here there is room for more.
    """

    def __init__(self) -> None:
        self.most_held = LEAST_AHEAD
        self._seconds = 0.0  # mean time of the last submissions
        self._is_stuck = False  # claims did not begin here and went back

    def update(self, slots: int) -> None:
        """Set how many submissions may be here: those that run, and those that begin soon.

        Args:
            slots: those that can grade.
        """
        if self._is_stuck:
            self.most_held = slots
            return
        most = max(AHEAD * slots, LEAST_AHEAD)
        self.most_held = min(most, slots + self._begin_soon(slots, most))

    def request(self, pool: SlotPool, suites: tuple[str, ...]) -> ClaimRequest | None:
        """Return the claim that a worker would make now; None if it has no room.

        Args:
            pool: its slots.
            suites: the ids of those that it used last.
        """
        slots = pool.ready
        self.update(slots)
        if not slots or pool.held >= self.most_held or not self._is_worth(pool, slots):
            return None
        most = self.most_claims(slots, pool.idle, pool.held)
        return ClaimRequest(most, pool.idle, slots, begins=pool.begins, suites=suites)

    def _is_worth(self, pool: SlotPool, slots: int) -> bool:
        """Return whether to claim now: nothing waits here, a slot is idle, or there is room for `WORTH_A_CLAIM`.

        A claim costs Redis as much as ten of the submissions that it gives.
        """
        waiting, ahead = pool.held - pool.busy, self.most_held - slots
        return pool.idle > 0 or not waiting or ahead - waiting >= WORTH_A_CLAIM

    def most_claims(self, slots: int, idle: int, held: int) -> int:
        """Return how many to claim: up to `CHUNK` short ones, or as many long ones as there is room for.

        Args:
            slots: those that can grade.
            idle: those of them without a submission.
            held: submissions that are here.
        """
        soon = self._begin_soon(slots, CHUNK)
        return max(1, min(CHUNK, max(soon, idle, self.most_held - held)))

    def dry_seconds(self, slots: int, waiting: int) -> float:
        """Return after how many seconds all that waits here will have begun; 0 if times are not known yet.

        Args:
            slots: those that can grade.
            waiting: submissions that are here and have not begun.
        """
        return waiting * self._seconds / max(1, slots)

    def _begin_soon(self, slots: int, unknown: int) -> int:
        return int(AHEAD_SECONDS * slots / self._seconds) if self._seconds else unknown

    def learn(self, seconds: float) -> None:
        """Note that a submission was graded.

        Args:
            seconds: the time it took.
        """
        self._seconds += MEMORY * (seconds - self._seconds)

    def went_on(self) -> None:
        """Note that a submission has ended here: claims begin again."""
        self._is_stuck = False

    def got_stuck(self) -> None:
        """Note that claims did not begin here and went back."""
        self._is_stuck = True
        self._seconds = max(self._seconds, LONG_SECONDS)
