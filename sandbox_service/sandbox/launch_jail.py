"""A sandbox whose zygote is a launcher: runs executables, and whatever else a request of launch_wire.py says."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from sandbox_service.errors import SandboxError
from sandbox_service.sandbox import files, launch_wire, wire
from sandbox_service.sandbox.base import OUT_OF_MEMORY, Check, JudgeCall, Outcome
from sandbox_service.sandbox.executable import Executable, patience_of
from sandbox_service.sandbox.jail import Jail
from sandbox_service.sandbox.launch_wire import Launched, Request
from sandbox_service.sandbox.running import RunningBox
from sandbox_service.sandbox.shared_run import ChannelRun
from sandbox_service.schema import Limits


class LaunchJail(Jail):
    """An isolation tool with a launcher in it; see `base.Sandbox`."""

    def run_stdin(self, program: Executable, stdin: bytes, limits: Limits) -> Outcome:
        """Run the program once on this input, in a box of its own; see `base.Sandbox`."""
        if program.is_too_large(limits):
            return _too_large(program)
        message = program.message(limits)
        outcome = self._run_box(message, (), stdin, program.fds, limits, patience_of(limits))
        return outcome if outcome.exit_code == 0 else explained(outcome, program)

    def run_judge(self, program: Executable, call: JudgeCall, stdin: bytes, limits: Limits) -> Outcome:
        """Run a judge once, with its folder; see `base.Sandbox`."""
        message, fds = program.judges_message(call, limits), [*program.fds, call.folder]
        return explained(self._run_box(message, (), stdin, fds, limits, patience_of(limits)), program)

    def run_checked(
        self, program: Executable, stdin: bytes, limits: Limits, check: Check
    ) -> tuple[Outcome, Outcome | None]:
        """Run the program, and then a checker on its output, by one message; see `base.Sandbox`."""
        if program.is_too_large(limits):
            return _too_large(program), None
        checker: Executable = check.program
        message = checker.checks_message(program, limits, check)
        fds = [*program.fds, *checker.fds, check.call.folder, check.output]
        both = limits, check.limits
        outcome, *checked = self._run_boxes(message, (), stdin, fds, both, sum(map(patience_of, both)))
        if outcome.exit_code != 0:
            outcome = explained(outcome, program)
        return outcome, explained(checked[0], checker) if checked else None

    def start_program(self, program: Executable, stdin: int, stdout: int, limits: Limits) -> RunningBox:
        """Start the program with these ends of pipes; see `base.Sandbox`."""
        return self._start(program.message(limits), limits, [stdin, stdout], program.fds)

    def start_judge(self, program: Executable, call: JudgeCall, stdin: int, stdout: int, limits: Limits) -> RunningBox:
        """Start a judge with its folder and these ends of pipes; see `base.Sandbox`."""
        message = program.judges_message(call, limits)
        return self._start(message, limits, [stdin, stdout], [*program.fds, call.folder])

    def _start(self, message: bytes, limits: Limits, pipes: list[int], rest: list[int]) -> RunningBox:
        err = files.create()
        return self._begin(message, [*pipes, err, *rest], err, limits, patience_of(limits))

    def _records(self, message: bytes) -> list[wire.Record]:
        return launch_wire.unpack(message).records

    def launch(self, request: Request, fds: Sequence[int], limits: Limits) -> Launched:
        """Run one or two boxes; see launch_wire.py.

        Args:
            request: the boxes.
            fds: the descriptors that the request names by their places; they stay open.
            limits: memory and processes of all boxes together, for a jail with a cgroup.

        Returns:
            The records of the boxes, and which ended first.

        Raises:
            ValueError: the request is too long, or a text in it has a zero.
            SandboxError: the run failed for a reason that is not the programs'.
        """
        message = launch_wire.pack(request)
        return self._launch(message, list(fds), limits, request.wall_seconds, request.patience_seconds)

    def _launch(self, message: bytes, fds: list[int], limits: Limits, wall: float, patience: float) -> Launched:
        first = 0

        def run() -> list[wire.Record]:
            nonlocal first
            launched = launch_wire.unpack(self._exchange(message, fds, wall, patience))
            first = launched.first
            return launched.records

        return Launched(records=self._limited(limits, run), first=first)

    def start_shared(self, program: Executable, stdin: bytes, limits: Limits) -> ChannelRun:
        """Start a box that runs one test after the other; see `base.Sandbox`."""
        return self._begin_shared(
            program.shared_message(limits),
            (),
            stdin,
            program.fds,
            limits,
            patience_of(limits),
            lambda outcome: explained(outcome, program),
        )

    def run_calls(self, program: Any, calls: bytes, count: int, limits: Limits) -> NoReturn:  # noqa: ARG002
        """Raise SandboxError: Python's zygote only makes calls.

        Args:
            program: not used.
            calls: not used.
            count: not used.
            limits: not used.

        Raises:
            SandboxError: always.
        """
        raise SandboxError(f"{self.zygote.kind} boxes make no calls")

    def run_pair(self, program: Any, prelude: str, test: bytes, limits: Limits) -> NoReturn:  # noqa: ARG002
        """Raise SandboxError: test programs are run by Python's zygote only; see `python_jail`."""
        raise SandboxError(f"{self.zygote.kind} boxes run no test programs")

    def run_candidate(
        self,
        program: Any,  # noqa: ARG002
        prelude: str,  # noqa: ARG002
        requests: bytes,  # noqa: ARG002
        read: Callable[[bytes], bool],  # noqa: ARG002
        limits: Limits,  # noqa: ARG002
    ) -> NoReturn:
        """Raise SandboxError: candidates are run by Python's zygote only.

        Args:
            program: not used.
            prelude: not used.
            requests: not used.
            read: not used.
            limits: not used.

        Raises:
            SandboxError: always.
        """
        raise SandboxError(f"{self.zygote.kind} boxes run no test programs")


def explained(outcome: Outcome, program: Executable) -> Outcome:
    """Return the outcome of a failed run, with the exit code OUT_OF_MEMORY if the program gives this as the reason.

    A hint, as the exit code of Python's runner is: it selects one of two failures.

    Args:
        outcome: the outcome.
        program: the program.
    """
    if not outcome.stderr or outcome.timed_out or outcome.signal == signal.SIGKILL:
        return outcome
    if not any(words in outcome.stderr for words in program.needs.out_of_memory):
        return outcome
    return outcome._replace(exit_code=OUT_OF_MEMORY, signal=None)


def _too_large(program: Executable) -> Outcome:
    """Return the outcome of a program whose variables do not fit: the kernel would kill it before its first line."""
    return Outcome(
        exit_code=OUT_OF_MEMORY,
        signal=None,
        timed_out=False,
        cpu_seconds=0.0,
        wall_seconds=0.0,
        starved_seconds=0.0,
        peak_memory_bytes=program.data_bytes,
        stdout=b"",
        stderr=b"",
        stdout_bytes=0,
    )
