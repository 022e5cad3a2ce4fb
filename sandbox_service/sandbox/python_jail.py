"""A sandbox whose zygote is a Python interpreter: runs programs, calls their functions, and tests them in two boxes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NoReturn

from sandbox_service.errors import SandboxError
from sandbox_service.sandbox import calls_run, files, wire
from sandbox_service.sandbox.base import Check, JudgeCall, Outcome, PairResult
from sandbox_service.sandbox.file_uses import python_uses_files
from sandbox_service.sandbox.files import Program
from sandbox_service.sandbox.jail import Jail
from sandbox_service.sandbox.launch_wire import Request
from sandbox_service.sandbox.outcomes import STDERR_BYTES, outcome_of, with_stdout
from sandbox_service.sandbox.running import RunningBox
from sandbox_service.sandbox.shared_run import ChannelRun
from sandbox_service.sandbox.stall import Stall
from sandbox_service.schema import Limits, sendable

STARVED_FACTOR = 8.0  # a starved box may run for up to this many times its wall limit
LEAST_FILE_BYTES = 16 << 20  # room for the compiled program, whatever the output limit
TESTER_SECONDS = 10.0
MOST_REPORTS = 2
REPLY_BYTES = (1 << 17) + 1  # that are read of a candidate's replies


class PythonJail(Jail):
    """An isolation tool with an interpreter in it; see `base.Sandbox`."""

    def run_stdin(self, program: Program, stdin: bytes, limits: Limits) -> Outcome:
        """Run the program once on this input, in a box of its own; see `base.Sandbox`."""
        job = _job(wire.STDIN, limits, mounts=program.mounts, seed=program.seed)
        own = (program.source_fd, program.cache_fd)
        return self._run_box(wire.JOB.pack(*job), own, stdin, (), limits, job.patience_seconds)

    def start_shared(self, program: Program, stdin: bytes, limits: Limits) -> ChannelRun:
        """Start a box that runs one test after the other; see `base.Sandbox`."""
        job, own = _job(wire.SHARED, limits, mounts=program.mounts), (program.source_fd, program.cache_fd)
        message = wire.JOB.pack(*job)
        return self._begin_shared(message, own, stdin, (), limits, job.patience_seconds, writes_over=True)

    def run_calls(self, program: Program, calls: bytes, count: int, limits: Limits) -> tuple[Outcome, bytes]:
        """Make the calls in one box; see `base.Sandbox`."""
        job, fds = _job(wire.CALLS, limits, mounts=program.mounts), files.create_all(calls, b"", b"", b"")
        try:
            if count == 1:
                (record,) = self._run(job, limits, program, fds)
                outcome = outcome_of(record, fds[1], fds[2], limits)
            else:
                given = [program.source_fd, program.cache_fd, *fds]
                box = self._begin(wire.JOB.pack(*job), given, os.dup(fds[2]), limits, job.patience_seconds)
                outcome = with_stdout(calls_run.end_of(box, fds[3], count, limits), fds[1], limits)
            return outcome, files.read(fds[3], limits.output_bytes + 1)
        finally:
            files.close_all(fds)

    def run_pair(self, program: Program, prelude: str, test: bytes, limits: Limits) -> PairResult:
        """Run a test program against the candidate, in two boxes; see `base.Sandbox`."""
        fds = files.create_all(prelude.encode(), test, b"", b"", b"", b"")
        try:
            _, _, out, err, tester_err, report = fds
            job = _job(wire.PAIR, limits, mounts=_has_mounts(program, prelude))
            candidate, tester = self._run(job, limits, program, fds)
            tested = outcome_of(tester, report, tester_err, limits)
            return PairResult(outcome_of(candidate, out, err, limits), tested, *_reports(report))
        finally:
            files.close_all(fds)

    def run_candidate(
        self, program: Program, prelude: str, requests: bytes, read: Callable[[bytes], bool], limits: Limits
    ) -> Outcome:
        """Let a candidate answer requests, in one box; see `base.Sandbox`."""
        fds = files.create_all(prelude.encode(), requests, b"", b"", b"")
        try:
            _, _, out, err, replies = fds
            job = _job(wire.CANDIDATE, limits, mounts=_has_mounts(program, prelude))
            given = [program.source_fd, program.cache_fd, *fds]
            box = self._begin(wire.JOB.pack(*job), given, os.dup(err), limits, job.patience_seconds)
            outcome = box.end(Stall.look_seconds(limits), lambda: read(files.read(replies, REPLY_BYTES)))
            read(files.read(replies, REPLY_BYTES))
            return with_stdout(outcome, out, limits)
        finally:
            files.close_all(fds)

    def run_judge(self, program: Program, call: JudgeCall, stdin: bytes, limits: Limits) -> Outcome:
        """Run a judge once, with its folder; see `base.Sandbox`."""
        job = _job(wire.JUDGE, limits, mounts=True)
        own = (program.source_fd, program.cache_fd)
        return self._run_box(wire.JOB.pack(*job), own, stdin, (call.folder,), limits, job.patience_seconds)

    def run_checked(self, program: Program, stdin: bytes, limits: Limits, check: Check) -> NoReturn:  # noqa: ARG002
        """Raise SandboxError: a launcher runs a check after a program with its stdin and limits."""
        raise SandboxError(f"{self.zygote.kind} boxes are not followed by others")

    def start_program(self, program: Program, stdin: int, stdout: int, limits: Limits) -> RunningBox:
        """Start the program with these ends of pipes; see `base.Sandbox`."""
        return self._start(wire.STDIN, program, limits, [stdin, stdout], [])

    def start_judge(self, program: Program, call: JudgeCall, stdin: int, stdout: int, limits: Limits) -> RunningBox:
        """Start a judge with its folder and these ends of pipes; see `base.Sandbox`."""
        return self._start(wire.JUDGE, program, limits, [stdin, stdout], [call.folder])

    def _start(self, mode: int, program: Program, limits: Limits, pipes: list[int], rest: list[int]) -> RunningBox:
        is_judge, err = mode == wire.JUDGE, files.create()
        job = _job(mode, limits, mounts=is_judge or program.mounts, seed=0 if is_judge else program.seed)
        fds = [program.source_fd, program.cache_fd, *pipes, err, *rest]
        return self._begin(wire.JOB.pack(*job), fds, err, limits, job.patience_seconds)

    def _run(self, job: wire.Job, limits: Limits, program: Program, of_run: list[int]) -> list[wire.Record]:
        fds = [program.source_fd, program.cache_fd, *of_run]
        message = wire.JOB.pack(*job)
        return self._limited(
            limits,
            lambda: wire.unpack_records(self._exchange(message, fds, job.wall_seconds, job.patience_seconds)),
        )

    def launch(self, request: Request, fds: Sequence[int], limits: Limits) -> NoReturn:  # noqa: ARG002
        """Raise SandboxError: a request and its fds are for a launcher."""
        raise SandboxError(f"{self.zygote.kind} boxes execute nothing")


def _job(mode: int, limits: Limits, *, mounts: bool, seed: int = 0) -> wire.Job:
    return wire.Job(
        mode=mode,
        mounts=mounts,
        seed=seed,
        cpu_seconds=limits.cpu_seconds,
        tester_cpu_seconds=limits.cpu_seconds + TESTER_SECONDS,
        processes=limits.processes,
        memory_bytes=limits.memory_bytes,
        file_bytes=max(limits.output_bytes, LEAST_FILE_BYTES) + 1,
        wall_seconds=limits.wall,
        patience_seconds=limits.wall * (STARVED_FACTOR if limits.processes == 1 else 1.0),  # or they starve each other
    )


@lru_cache(maxsize=256)
def _prelude_uses_files(prelude: str) -> bool:
    return python_uses_files(prelude)


def _has_mounts(program: Program, prelude: str) -> bool:
    return program.mounts or _prelude_uses_files(prelude)


def _reports(fd: int) -> list[dict[str, object] | None]:
    """Return the reports on one or two test programs, a line each; None for none."""
    return [_report(line) for line in files.read(fd, STDERR_BYTES).splitlines()[:MOST_REPORTS]] or [None]


def _report(line: bytes) -> dict[str, object] | None:
    try:
        report = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(report, dict):
        return None
    return {name: sendable(value) if isinstance(value, str) else value for name, value in report.items()}
