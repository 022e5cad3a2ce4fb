"""Slots that answer from a script, so that no jail is needed, and jobs for them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox_service import suites
from sandbox_service.queues.base import Job, job_of
from sandbox_service.schema import Grade, StdinTest, Submission, TestResult, Timing, Verdict
from sandbox_service.slots import Owner
from sandbox_service.suites import Suite

# what a slot does with a submission: answer with a verdict, die, hold it, or fail with a kind of fault
DIE, HOLD = "die", "hold"
Script = Callable[[Submission, int], str]  # … which came for the how manieth time
GRADED_SECONDS = 0.002


@dataclass
class Tally:
    """By code: how often it was begun, and how often that came to nothing by a fault of ours."""

    begun: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Held:
    """What a slot has in hand."""

    key: int
    submission: Submission
    suite: Suite


class FakeSlot:
    """A slot process without a process. It knows submissions by their code: their ids never come so far."""

    def __init__(self, index: int, owner: Owner, script: Script, tally: Tally) -> None:
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
        self._owner = owner
        self._script = script
        self._tally = tally
        self._begun = False

    @property
    def free(self) -> bool:
        return self.ready and self.held is None

    def give(self, key: int, suite: Suite, body: bytes) -> None:
        assert self.free, "a submission was given to a slot that is not free"
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
        """Whether it has a submission (this one, if one is named) that its script said nothing more about."""
        return self.held is not None and self._begun and code in (None, self.held.submission.code)

    def finish(self, what: str = "AC") -> None:
        """Answer what it holds: with a verdict, or with a kind of fault."""
        held = self._let_go()
        grade = grade_of(held.submission, held.suite, what)
        self._tally.lost[held.submission.code or ""] += grade.verdict == Verdict.IE
        self._owner.slot_done(held.key, grade.model_dump_json().encode())
        self._tell_free()

    def finish_right(self) -> None:
        """Answer what it holds as it deserves."""
        assert self.held is not None
        self.finish(deserved(self.held.submission.code))

    def die(self) -> None:
        """End with what it holds, and come back a little later."""
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

    def _cancelled(self, key: int) -> None:
        if self.held is not None and self.held.key == key:
            self._let_go()
            self._owner.slot_done(key, None)
            self._tell_free()

    def fail(self, seconds: float) -> None:
        """Say that it has not been able to grade for so long."""
        self.ready, self.reason, self.failed_since = False, "no jail", time.monotonic() - seconds
        self._owner.slot_failed()

    async def close(self) -> None:
        self.closed = True

    def _let_go(self) -> Held:
        assert self.held is not None
        held, self.held = self.held, None
        return held

    def _tell_free(self) -> None:
        """As a real slot does: it may have been given something in the meantime."""
        if self.free:
            self._owner.slot_free()

    def _soon(self, action: Callable[..., None], *arguments: Any) -> None:
        asyncio.get_running_loop().call_soon(action, *arguments)


def grade_of(submission: Submission, suite: Suite, what: str) -> Grade:
    """What a slot answers: a verdict, or a kind of fault."""
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
    """The right verdict of a program."""
    return "WA" if code and "wrong" in code else "AC"


def suite_of(tests: int = 1, output: str = "") -> Suite:
    """A suite of so many tests."""
    return suites.of_tests([StdinTest(output=output)] * tests)


def made(
    name: str, code: str | None = None, suite: Suite | None = None, *, keep: bool = False, key: str = "", **fields: Any
) -> Job:
    """A job whose code is its name, unless it is given."""
    suite = suite or suite_of()
    submission = Submission(id=name, code=name if code is None else code, suite=suite.id, **fields)
    return job_of(submission, suite, key, keep=keep, own_bytes=len(suite.body))


def of_client(client: str, name: str, suite: Suite | None = None, **labels: str) -> Job:
    """A job that comes from a client."""
    return made(name, suite=suite, labels={"client": client, **labels})


def always(what: str) -> Script:
    """A script that does not look at what it is given."""
    return lambda *_: what


def hold(_: Submission, __: int) -> str:
    return HOLD


def hold_at_first(_: Submission, time: int) -> str:
    return HOLD if time == 1 else "AC"


def hold_only(code: str) -> Script:
    """A script that holds one submission, and answers all others."""
    return lambda submission, _: HOLD if submission.code == code else deserved(submission.code)


async def until(condition: Callable[[], bool]) -> None:
    """Until it is so. Who calls this has a guard against hanging."""
    while not condition():
        await asyncio.sleep(0.001)
