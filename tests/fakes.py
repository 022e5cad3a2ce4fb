"""Slots that answer from a script, without a jail, and jobs for them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.grading import suites
from sandbox_service.grading.suites import Suite
from sandbox_service.queues.base import Job, job_of
from sandbox_service.schema import Grade, StdinTest, Submission, TestResult, Timing, Verdict
from sandbox_service.slots.process import SlotOwner

# what a slot does with a submission: answer with a verdict, die, hold it, or fail with a kind of fault
DIE, HOLD = "die", "hold"
Script = Callable[[Submission, int], str]  # … which came for the how manieth time
GRADED_SECONDS = 0.002


@dataclass
class Tally:
    """Counts per code of starts and of faults."""

    begun: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Held:
    """A submission that a slot holds."""

    key: int
    submission: Submission
    suite: Suite


class FakeSlot:
    """A slot process without a process. It identifies submissions by their code, since it never sees ids."""

    def __init__(self, index: int, owner: SlotOwner, script: Script, tally: Tally) -> None:
        self.index = index
        self.ready = True
        self.failed_since: float | None = None
        self.reason = ""
        self.language = f"Fake 1.{index}"
        self.closed = False
        self.given: list[str] = []
        self.suites: list[str] = []
        self.held: Held | None = None
        self.is_deaf = False  # it is told to cancel, and does not
        self.is_told = False
        self.is_asked_back = False  # it was told to pause, and does so when a test calls `pause_now`
        self.progress = b""
        self._owner = owner
        self._script = script
        self._tally = tally
        self._begun = False

    @property
    def free(self) -> bool:
        return self.ready and self.held is None

    def give(self, key: int, suite: Suite, body: bytes, progress: bytes = b"") -> None:
        assert self.free, "a submission was given to a slot that is not free"
        self.is_asked_back, self.progress = False, progress
        submission = Submission.model_validate_json(body)
        assert submission.id == ""
        assert submission.suite == suite.id
        self.held, self._begun = Held(key, submission, suite), False
        self.given.append(submission.code or "")
        self.suites.append(suite.id)
        self._tally.begun[submission.code or ""] += 1
        self._soon(self._begin, key)

    def _begin(self, key: int) -> None:
        if self.held is None or self.held.key != key:
            return
        self._begun, submission = True, self.held.submission
        what = self._script(submission, self._tally.begun[submission.code or ""])
        if what == DIE:
            self.die()
        elif what != HOLD:
            self.finish(what)

    def is_holding(self, code: str | None = None) -> bool:
        """Return True if it holds a submission (this one, if named) for which its script has no answer."""
        return self.held is not None and self._begun and code in (None, self.held.submission.code)

    def finish(self, what: str = "AC") -> None:
        """Answer the held submission with a verdict or with a kind of fault."""
        held = self._let_go()
        grade = grade_of(held.submission, held.suite, what)
        self._tally.lost[held.submission.code or ""] += grade.verdict == Verdict.IE
        self._owner.slot_done(held.key, grade.model_dump_json().encode())
        self._tell_free()

    def finish_right(self) -> None:
        """Answer the held submission with the right verdict."""
        assert self.held is not None
        self.finish(deserved(self.held.submission.code))

    def die(self) -> None:
        """Die with the held submission and restart a little later."""
        held = self._let_go()
        self.ready = False
        self._tally.lost[held.submission.code or ""] += 1
        self._owner.slot_lost(held.key)
        self._soon(self._revive)

    def _revive(self) -> None:
        self.ready = True
        self._tell_free()

    def cancel(self, key: int) -> None:
        self.is_told = True
        if self.held is not None and self.held.key == key and not self.is_deaf:
            self._soon(self._cancelled, key)

    def pause(self, key: int) -> None:
        if self.held is not None and self.held.key == key:
            self.is_asked_back = True

    def pause_now(self) -> None:
        """End a test: return the held submission unfinished."""
        held = self._let_go()
        self._owner.slot_paused(held.key, self.progress + b"+")
        self._tell_free()

    def _cancelled(self, key: int) -> None:
        if self.held is not None and self.held.key == key:
            self._let_go()
            self._owner.slot_done(key, None)
            self._tell_free()

    def fail(self, seconds: float) -> None:
        """Report that it has not been able to grade for this long."""
        self.ready, self.reason, self.failed_since = False, "no jail", time.monotonic() - seconds
        self._owner.slot_failed()

    async def close(self) -> None:
        self.closed = True

    def _let_go(self) -> Held:
        assert self.held is not None
        held, self.held = self.held, None
        return held

    def _tell_free(self) -> None:
        """Report that it is free, as a real slot does, unless it was given a submission in the meantime."""
        if self.free:
            self._owner.slot_free()

    def _soon(self, action: Callable[..., None], *arguments: Any) -> None:
        asyncio.get_running_loop().call_soon(action, *arguments)


def grade_of(submission: Submission, suite: Suite, what: str) -> Grade:
    """Return a slot's answer: a verdict, or a kind of fault."""
    verdict = Verdict(what) if what in Verdict.__members__ else Verdict.IE
    tests = [TestResult(index=index, verdict=verdict) for index in range(len(suites.read(suite.body).tests))]
    return Grade(
        id="",
        verdict=verdict,
        reward=None if verdict == Verdict.IE else float(verdict == Verdict.AC),
        mask_sample=verdict == Verdict.IE,
        failure_kind=what if verdict == Verdict.IE else None,
        total=len(tests),
        tests=tests,
        timing=Timing(graded_seconds=GRADED_SECONDS * len(tests)),
    )


def deserved(code: str | None) -> str:
    """Return the right verdict of a program."""
    return "WA" if code and "wrong" in code else "AC"


def suite_of(tests: int = 1, output: str = "") -> Suite:
    """Return a suite of this many tests."""
    return suites.of_tests([StdinTest(output=output)] * tests)


def made(
    name: str, code: str | None = None, suite: Suite | None = None, *, keep: bool = False, key: str = "", **fields: Any
) -> Job:
    """Return a job whose code is its name by default."""
    suite = suite or suite_of()
    submission = Submission(id=name, code=name if code is None else code, suite=suite.id, **fields)
    return job_of(submission, suite, key, keep=keep, own_bytes=len(suite.body))


def of_client(client: str, name: str, suite: Suite | None = None, **labels: str) -> Job:
    """Return a job of this client."""
    return made(name, suite=suite, labels={"client": client, **labels})


def always(what: str) -> Script:
    """Return a script that always gives the same answer."""
    return lambda *_: what


def hold(_: Submission, __: int) -> str:
    return HOLD


def hold_at_first(_: Submission, time: int) -> str:
    return HOLD if time == 1 else "AC"


def hold_only(code: str) -> Script:
    """Return a script that holds one submission and answers all others."""
    return lambda submission, _: HOLD if submission.code == code else deserved(submission.code)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until the condition is true. The caller guards against hanging."""
    while not condition():
        await asyncio.sleep(0.001)
