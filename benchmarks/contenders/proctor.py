"""Proctor itself: one grader with one slot in the driver, and the whole service over HTTP."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.contenders.base import Contender, Turn, UnavailableError
from benchmarks.service import Service
from benchmarks.workloads import Body

if TYPE_CHECKING:
    from sandbox_service.grading.grader import Grader
    from sandbox_service.schema import Submission


class DirectGrader(Contender[Any]):
    """`Grader.grade` on one slot, without a queue or HTTP: the cost of the execution core.

    The submission is validated beforehand, as by the API. The rest is the grader's: extraction, jail, judge, checker.
    The driver is the trusted host process, so its memory counts.
    """

    label: ClassVar[str] = "proctor, grader alone"
    stops_at_failure: ClassVar[bool] = True

    def start(self) -> None:
        self._stack = contextlib.ExitStack()
        self._grader, self._submission = _direct(self._stack)

    def close(self) -> None:
        self._stack.close()

    def prepare(self, body: Body) -> Any:
        return self._submission.model_validate(body)

    def grade(self, job: Any) -> bool:
        return bool(self._grader.grade(job).verdict == "AC")


class FreshBoxes(DirectGrader):
    """The same with a box for each stdin test: `"isolation": "test"`."""

    label: ClassVar[str] = "proctor, grader alone, fresh"
    isolation: ClassVar[str] = "test"

    def takes(self, body: Body) -> bool:
        return bool(body["tests"][0]["type"] == "stdin")

    def prepare(self, body: Body) -> Any:
        return super().prepare({"isolation": self.isolation, **body})


class SharedBox(FreshBoxes):
    """The same with one box for the stdin tests of a submission: `"isolation": "submission"`."""

    label: ClassVar[str] = "proctor, grader alone, shared"
    isolation: ClassVar[str] = "submission"


class HttpBatch(Contender[Body]):
    """`POST /v1/grade/batch` to a service with a slot for each core, as a trainer uses it.

    At concurrency 1 a batch is one submission; at 16 it is a group of 16 answers to one problem whose tests travel
    once, and a submission's latency is the time until its line arrives. Every batch is a new connection. The client's
    CPU is counted too, its memory is not.
    """

    label: ClassVar[str] = "proctor, over HTTP in batches"
    concurrencies: ClassVar[tuple[int, ...]] = (1, 16)
    stops_at_failure: ClassVar[bool] = True
    driver_is_client: ClassVar[bool] = True

    def start(self) -> None:
        self._service = Service()
        self._service.start()

    def close(self) -> None:
        self._service.close()

    def prepare(self, body: Body) -> Body:
        return body

    def grade(self, job: Body) -> bool:
        return self.run([job], 1).accepted[0]

    def run(self, jobs: list[Body], concurrency: int) -> Turn:
        turn, start = Turn(), time.perf_counter()
        for group in _groups(jobs, concurrency):
            self._send(group, turn)
        turn.wall_seconds = time.perf_counter() - start
        return turn

    def _send(self, group: list[Body], turn: Turn) -> None:
        """One batch: the tests once, the programs, and a line for each as it is done."""
        start = time.perf_counter()
        request = {"defaults": {"tests": group[0]["tests"]}, "submissions": [{"code": job["code"]} for job in group]}
        for line in self._service.lines("/v1/grade/batch", request):
            turn.accepted.append(line.get("verdict") == "AC")
            turn.latencies.append(time.perf_counter() - start)


def _direct(stack: contextlib.ExitStack) -> tuple[Grader, type[Submission]]:
    """Return a grader, closed by `stack`, and the class of its submissions."""
    from sandbox_service import bootstrap  # only here: the drivers of other contenders have none of it in memory
    from sandbox_service.errors import SandboxError
    from sandbox_service.schema import Submission
    from sandbox_service.settings import Settings
    from sandbox_service.slots import main as slots

    slots.pin_to_processor(0)  # as a slot process is
    try:
        return stack.enter_context(bootstrap.grader(Settings())), Submission
    except SandboxError as error:
        raise UnavailableError(str(error)) from error


def _groups(jobs: list[Body], size: int) -> list[list[Body]]:
    """Jobs in groups of up to `size` whose tests are the same list."""
    by_tests: dict[int, list[Body]] = {}
    for job in jobs:
        by_tests.setdefault(id(job["tests"]), []).append(job)
    return [same[start : start + size] for same in by_tests.values() for start in range(0, len(same), size)]
