"""What every queue does, whichever it is. All of it is called from one event loop."""

from __future__ import annotations

from typing import Protocol

from sandbox_service.schema import Grade, Submission


class JobQueue(Protocol):
    """Takes submissions, bounded; gives grades back."""

    def submit(self, submission: Submission) -> None:
        """Take a submission. The same id with the same body again is the same submission.

        Raises QueueFull, IdReused, or Unavailable while closing.
        """

    async def wait(self, submission_id: str) -> Grade:
        """The grade of a submission that was taken. Raises KeyError if it is not known."""

    def release(self, submission_id: str) -> None:
        """One who submitted this no longer waits; when nobody does, it is cancelled."""

    def room_for(self, submissions: int) -> None:
        """Raises QueueFull if so many would not be taken now, BadRequest if they never would."""

    def depth(self) -> int:
        """How many submissions wait or are being graded."""

    def unready(self) -> list[str]:
        """Why nothing can be graded now; empty if something can."""

    def languages(self) -> list[str]:
        """What the interpreters call themselves."""

    async def drain(self, seconds: float) -> None:
        """Take nothing more and finish what was taken, for so long; the rest is answered with Unavailable."""

    async def close(self) -> None:
        """Stop. What was not graded by then is answered with Unavailable."""
