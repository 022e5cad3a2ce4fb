"""The reward service's word on a submission: tests are put there when they are missing, and what it lost is sent again.

Nothing is decided here about what a verdict is worth. An answer without a verdict has no value, whatever else it says.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trainer.errors import ConfigError
from trainer.service import Answer, Peer, Service, pauses, said
from trainer.suites import Suites

TRIES = 5  # at what the service lost or failed at, before the submission counts as a fault


@dataclass(frozen=True)
class Grade:
    """What the service said. `value` is None if it could not tell."""

    value: float | None
    verdict: str
    reason: str
    passed: int = 0
    total: int = 0


class Grades:
    """Asks for them. To be used and closed in one event loop; `notice` as for Service."""

    def __init__(self, peer: Peer, notice: Callable[[str], None] = print) -> None:
        self._service = Service(peer, notice)
        self._suites = Suites()

    @property
    def away_seconds(self) -> float:
        """How long the service has been away, in all."""
        return self._service.outage.seconds

    async def close(self) -> None:
        """Let go of the connections."""
        await self._service.close()

    async def of(self, submission: Mapping[str, Any], grading: Mapping[str, Any], problem: str) -> Grade:
        """The grade of a submission, which has all but its tests: those are `grading`'s "tests" or "suite".

        `problem` is its name in messages. Raises Away, and ConfigError for what the service refuses.
        """
        suite = grading.get("suite") or self._suites.of(grading["tests"]).id
        return self._grade(await self._answer({**submission, "suite": suite}, grading, problem))

    async def _answer(self, submission: Mapping[str, Any], grading: Mapping[str, Any], problem: str) -> Answer:
        """What the service has lost is sent again; what it fails at again and again is a fault."""
        reason, body = "", json.dumps(submission).encode()
        for pause in pauses(TRIES):
            puts = self._suites.puts(submission["suite"])
            status, answer = await self._service.ask("POST", "/v1/grade", body)
            if status == 200 and answer.get("failure_kind") not in ("suite_lost", "forgotten"):
                return answer
            if status not in (200, 500) and not _is_unknown_suite(status, answer):
                raise self._service.refusal(status, answer, f"problem {problem!r}")
            reason = _reason(answer) if status == 200 else said(status, answer)
            if status == 500 or answer.get("failure_kind") == "forgotten":
                await asyncio.sleep(pause)
            else:
                await self._put(grading, problem, puts)
        return {"verdict": "IE", "reward": None, "failure_kind": "given_up", "failure_reason": reason}

    async def _put(self, grading: Mapping[str, Any], problem: str, puts: int) -> None:
        """Store a problem's tests, if nobody else has since there had been so many puts of them."""
        if "tests" not in grading:
            raise ConfigError(
                f"problem {problem!r}: the reward service at {self._service.url} does not know its suite "
                f"{grading['suite']}: put it there, or give the tests themselves"
            )
        suite = self._suites.of(grading["tests"])
        async with self._suites.lock(suite.id):
            if self._suites.puts(suite.id) > puts:
                return
            status, answer = await self._service.ask("PUT", f"/v1/suites/{suite.id}", suite.body)
            if status not in (200, 201):
                raise self._service.refusal(status, answer, f"the tests of problem {problem!r}")
            self._suites.count_put(suite.id)

    def _grade(self, answer: Answer) -> Grade:
        verdict, value = answer.get("verdict"), answer.get("reward")
        if not isinstance(verdict, str) or not isinstance(value, int | float | None):
            raise self._service.stranger(json.dumps(answer)[:200])
        if verdict == "IE" or value is None:
            return Grade(None, verdict, _reason(answer) or "no reason given")
        message = str(answer.get("message") or "")
        return Grade(float(value), verdict, message, int(answer.get("passed", 0)), int(answer.get("total", 0)))


def text_of(completion: str) -> str:
    """As it can be sent: half a surrogate pair is no JSON text."""
    return completion.encode("utf-8", "replace").decode()


def _is_unknown_suite(status: int, answer: Answer) -> bool:
    error = answer.get("error")
    return status == 409 and isinstance(error, Mapping) and error.get("type") == "unknown_suite"


def _reason(answer: Answer) -> str:
    return ": ".join(str(answer[key]) for key in ("failure_kind", "failure_reason") if answer.get(key))
