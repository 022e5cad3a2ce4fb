"""The sandbox protocol: a process behind walls that runs programs in boxes and reports what the kernel saw.

A `Sandbox` is started, proves that it is one, answers runs and is killed. `Jail` (jail.py) implements it for every
isolation tool that can start a zygote: the tool (`IsolationTool`) says how a command is put behind walls, the zygote
(`Zygote`) says which command that is. The pool and the grader know this module only.

An `Outcome` holds facts, read from the kernel and from files that the host made. `judging` turns them into verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import psutil

    from sandbox_service.errors import SandboxError
    from sandbox_service.sandbox.launch_wire import Launched, Request
    from sandbox_service.sandbox.running import RunningBox
    from sandbox_service.sandbox.shared_run import SharedRun
    from sandbox_service.schema import Limits

JUDGING = "judge-"
"""The beginning of the kinds of launcher for judges. The rest of the name is a kind for programs, from which it differs
by the uid of its boxes only."""

OUT_OF_MEMORY = 111
"""The exit status of the guest's runner after an uncaught MemoryError. A hint: it selects one of two failures."""


class Outcome(NamedTuple):
    """The facts of one box. Seconds and bytes; `starved_seconds` is time spent runnable but not running."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cpu_seconds: float
    wall_seconds: float
    starved_seconds: float | None
    peak_memory_bytes: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int


@dataclass(frozen=True)
class PairResult:
    """The outcomes of an assert test's two boxes, and the tester's reports.

    Attributes:
        candidate: of the candidate's box.
        tester: of the tester's box.
        report: on the test program that ran first; None if it is not whole.
        second_report: on the one that ran after it; None if there was none, or it is not whole.
    """

    candidate: Outcome
    tester: Outcome
    report: dict[str, object] | None
    second_report: dict[str, object] | None = None


@dataclass(frozen=True)
class JudgeCall:
    """The call of a judge.

    Attributes:
        folder: descriptor of the folder that its box shares with the host.
        arguments: of its command line, without the program's own name.
        links: the names in the folder that its box shows in /tmp.
        is_inside: the folder is its current one, instead of /tmp, and it has no /tmp and no /proc of its own.
    """

    folder: int
    arguments: tuple[str, ...]
    links: tuple[str, ...]
    is_inside: bool = False


class Check(NamedTuple):
    """A checker that is to judge the output of a program.

    Attributes:
        program: the prepared checker.
        call: its folder and arguments.
        limits: those of its box.
        on_stdin: the program's output is its stdin, too.
        output: descriptor of the file in its folder that is to have that output.
    """

    program: Any
    call: JudgeCall
    limits: Limits
    on_stdin: bool
    output: int


@dataclass(frozen=True)
class Place:
    """The place of a slot's sandboxes: the uid of their boxes (-1: the service's own) and the processor (-1: any)."""

    uid: int
    cpu: int

    @property
    def privileged(self) -> bool:
        """True if boxes get a uid of the slot's own (as root); else all run as the service, in a user namespace."""
        return self.uid >= 0


@dataclass(frozen=True)
class Launch:
    """A command, the descriptors that it inherits, and its environment. The caller closes the descriptors."""

    command: list[str]
    fds: list[int]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Probes:
    """Our own programs, of the kind that a zygote runs, that show whether its boxes hold. Each opens the program.

    Attributes:
        canary: tries what must be blocked and prints the results as JSON; see guest/canary.py. Takes `mounts`.
        sleeper: sleeps for longer than its limit.
        control: prints 42.
        expected: what the canary finds beside what it finds in every box.
    """

    canary: Callable[..., AbstractContextManager[Any]]
    sleeper: Callable[[], AbstractContextManager[Any]]
    control: Callable[[], AbstractContextManager[Any]]
    expected: Mapping[str, object] = field(default_factory=dict)


class Zygote(Protocol):
    """A process that answers jobs on a socket (guest/wire.py), and runs each in fresh boxes.

    Attributes:
        kind: the name of the kind, by which a runtime asks for it.
        may_fork: boxes may have several processes. Memory is then measured and limited over the whole jail by a
            cgroup, where there is one, instead of over each process by its address space.
        start_seconds: the longest that it may take to be ready.
        probes: programs that show whether its boxes hold.
    """

    @property
    def kind(self) -> str: ...
    @property
    def may_fork(self) -> bool: ...
    @property
    def start_seconds(self) -> float: ...
    @property
    def probes(self) -> Probes: ...

    def launch(self, place: Place, control: int) -> Launch:
        """Return the command that starts it.

        Args:
            place: the uid and the processor of its boxes.
            control: the descriptor of its end of the socket, which the caller adds to the inherited ones.

        Raises:
            SandboxError: what it needs is not installed.
        """
        ...


class IsolationTool(Protocol):
    """A program that starts a command behind walls: the outer ones, since the zygote builds its own inside.

    Attributes:
        name: the value of SANDBOX_ISOLATION that selects it, and the name of its package.
        program: its path.
        version_pattern: a regular expression for the version in what `--version` prints.
        oldest_tried: the oldest version that was tried.
        capabilities: those that root must hold to use it, as named in `diagnosis.CAPABILITIES`.
        setuid: a normal user can use it only if its file is SUID root.
    """

    @property
    def name(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def version_pattern(self) -> str: ...
    @property
    def oldest_tried(self) -> tuple[int, ...]: ...
    @property
    def capabilities(self) -> tuple[str, ...]: ...
    @property
    def setuid(self) -> bool: ...

    def enclose(self, launch: Launch) -> Launch:
        """Return the command that starts `launch` behind walls, with the descriptors that the tool adds."""
        ...

    def debug_command(self) -> str:
        """Return a shell command that shows why the tool starts nothing."""
        ...


class Sandbox(Protocol):
    """A proved or starting sandbox. Not thread-safe: one slot drives it, one run at a time.

    Attributes:
        zygote: what runs in it.
        place: the slot's place, in which its boxes run.
        runs: how many runs it was given.
        identity: what the zygote reported about itself; empty before `wait_ready` returns.
    """

    zygote: Zygote
    place: Place
    runs: int
    identity: dict[str, object]

    def wait_ready(self) -> None:
        """Wait until it answers, and verify that it is isolated.

        Raises:
            JailDiedError: it did not start.
            JailUnsafeError: it started, and is not isolated.
        """
        ...

    def run_stdin(self, program: Any, stdin: bytes, limits: Limits) -> Outcome:
        """Run the program once, in a box of its own.

        Args:
            program: the prepared program.
            stdin: its standard input.
            limits: those of the box.

        Raises:
            SandboxError: the run failed for a reason that is not the program's.
        """
        ...

    def start_shared(self, program: Any, stdin: bytes, limits: Limits) -> SharedRun:
        """Start a box that runs one test after the other, and do not wait for the first.

        No other run may begin before it has ended.

        Args:
            program: the prepared program, which may share a box (`languages.base.Program.can_share`).
            stdin: the standard input of the first test.
            limits: those of the box.

        Returns:
            The started box.

        Raises:
            SandboxError: it could not be started.
        """
        ...

    def run_calls(self, program: Any, calls: bytes, count: int, limits: Limits) -> tuple[Outcome, bytes]:
        """Make calls in one box. A call after the first that does not end soon is stopped (stall.py).

        Args:
            program: the prepared program.
            calls: a JSON list of objects with `function`, `args`, `kwargs`, `calls`.
            count: how many they are.
            limits: those of the box.

        Returns:
            The outcome, which is that of a usual end if a call was stopped; and a line of JSON for each result.

        Raises:
            SandboxError: the run failed for a reason that is not the program's.
        """
        ...

    def run_pair(self, program: Any, prelude: str, test: bytes, limits: Limits) -> PairResult:
        """Run a test program against the candidate, in two boxes.

        Args:
            program: the candidate.
            prelude: code that is run before the candidate's, in its box too.
            test: a JSON object with `code`, `prelude`, `entry_point` and possibly `needs_call`; and with `audit`,
                the same of a test program with this prelude that runs first, if there is one.
            limits: those of the candidate's box.

        Raises:
            SandboxError: the run failed for a reason that is not the program's.
        """
        ...

    def run_candidate(
        self, program: Any, prelude: str, requests: bytes, read: Callable[[bytes], bool], limits: Limits
    ) -> Outcome:
        """Let a candidate answer requests that were written beforehand, in one box.

        Args:
            program: the candidate.
            prelude: code that is run before the candidate's.
            requests: what a tester would ask, in frames (guest/channel.py).
            read: called now and then, and at the end, with the beginning of the replies; returns whether the box is no
                longer needed.
            limits: those of the box.

        Returns:
            The outcome, which is that of a usual end if the box was not needed any more.

        Raises:
            SandboxError: the run failed for a reason that is not the program's.
        """
        ...

    def launch(self, request: Request, fds: Sequence[int], limits: Limits) -> Launched:
        """Run one or two boxes as the request says.

        Args:
            request: the boxes; see launch_wire.py.
            fds: the descriptors that the request names by their places; they stay open.
            limits: memory and processes of all boxes together, for a jail with a cgroup.

        Raises:
            ValueError: the request is too long, or a text in it has a zero.
            SandboxError: the run failed for a reason that is not the programs', or the zygote is not a launcher.
        """
        ...

    def run_judge(self, program: Any, call: JudgeCall, stdin: bytes, limits: Limits) -> Outcome:
        """Run a judge program once, in a box of its own.

        Args:
            program: the prepared judge.
            call: its folder and arguments.
            stdin: its standard input.
            limits: those of the box.

        Raises:
            SandboxError: the run failed for a reason that is not the judge's.
        """
        ...

    def run_checked(self, program: Any, stdin: bytes, limits: Limits, check: Check) -> tuple[Outcome, Outcome | None]:
        """Run a program as `run_stdin` does, and a checker on its output when the program's box has ended.

        Args:
            program: the prepared program.
            stdin: its standard input.
            limits: those of its box.
            check: the checker. Its box has another uid, and a copy of the output.

        Returns:
            The outcome of the program; and that of the checker, None if the program failed or wrote too much.

        Raises:
            SandboxError: the run failed for a reason that is not the programs'.
        """
        ...

    def start_program(self, program: Any, stdin: int, stdout: int, limits: Limits) -> RunningBox:
        """Start a program whose stdin and stdout are these descriptors, and do not wait for its end.

        No other run may begin before that end was received.

        Args:
            program: the prepared program.
            stdin: an end of a pipe, or a file.
            stdout: the same.
            limits: those of the box.

        Returns:
            The running box.

        Raises:
            SandboxError: it could not be started.
        """
        ...

    def start_judge(self, program: Any, call: JudgeCall, stdin: int, stdout: int, limits: Limits) -> RunningBox:
        """Start a judge with its folder, as `start_program` does a program.

        Args:
            program: the prepared judge.
            call: its folder and arguments.
            stdin: an end of a pipe.
            stdout: an end of a pipe.
            limits: those of the box.

        Returns:
            The running box.
        """
        ...

    def kill(self) -> None:
        """End all processes in it."""
        ...

    def processes(self) -> list[psutil.Process]:
        """Return the isolation tool's processes and those in the sandbox."""
        ...

    def explained(self, fault: SandboxError) -> SandboxError:
        """Return the fault with advice for the operator, if the cause is known."""
        ...
