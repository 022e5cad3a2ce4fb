"""From facts to a verdict. What the program said of itself is not asked.

`judge` says whether a run went over a limit or failed; whether a run that ended well gave the right answer is for
`checkers`. CPU time decides what is too slow; the wall clock only ends those that sleep, and as a neighbour can hold
up any program, `is_suspect` names the runs that prove nothing before they are repeated alone.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable

from sandbox_service.errors import JailDied
from sandbox_service.jails.base import OUT_OF_MEMORY, Outcome
from sandbox_service.schema import Limits, TestResult, Verdict

# The kernel kills a little before the limit is used up, and meters a little late.
NEAR_LIMIT = 0.95
# Runnable but not running for this part of the wall time: the machine was slow, not (only) the program.
STARVED_PART = 0.1
MESSAGE_CHARACTERS = 200
STDERR_TAIL_BYTES = 4096
MIB = 1 << 20


def judge(outcome: Outcome, limits: Limits) -> tuple[Verdict, str | None]:
    """TLE, MLE, OLE or RTE with a reason, or AC: it ended well, and its answer is yet to be checked.

    A run can break several limits; the first of resident memory, CPU, output, other signs of too little memory and wall
    clock names it, and only a run that broke none is RTE. (Resident memory first: what takes too much of it is allowed
    to go on for a while, and may run into another limit only for that.)
    """
    if outcome.peak_memory_bytes > limits.memory_bytes:
        return Verdict.MLE, _memory_message(outcome, limits)
    if _used_up_cpu(outcome, limits):
        return Verdict.TLE, f"{outcome.cpu_seconds:.2f} s of CPU time, the limit is {limits.cpu_seconds:g} s"
    if outcome.stdout_bytes > limits.output_bytes or outcome.signal == signal.SIGXFSZ:
        return Verdict.OLE, f"{outcome.stdout_bytes} bytes of output, the limit is {limits.output_bytes}"
    if _ran_out_of_memory(outcome, limits):
        return Verdict.MLE, _memory_message(outcome, limits)
    if outcome.timed_out:
        return Verdict.TLE, _wall_message(outcome)
    return _judge_end(outcome)


def _used_up_cpu(outcome: Outcome, limits: Limits) -> bool:
    if outcome.cpu_seconds > limits.cpu_seconds:
        return True
    killed = outcome.signal in (signal.SIGKILL, signal.SIGXCPU)
    return killed and outcome.cpu_seconds >= NEAR_LIMIT * limits.cpu_seconds


def _ran_out_of_memory(outcome: Outcome, limits: Limits) -> bool:
    """By what it really used: the address space, which is limited too, has room for stacks that are only reserved."""
    if outcome.exit_code == OUT_OF_MEMORY:
        return True
    return outcome.signal == signal.SIGKILL and outcome.peak_memory_bytes >= NEAR_LIMIT * limits.memory_bytes


def _memory_message(outcome: Outcome, limits: Limits) -> str:
    peak, limit = outcome.peak_memory_bytes / MIB, limits.memory_bytes / MIB
    return f"out of memory at {peak:.0f} MiB, the limit is {limit:.0f} MiB"


def _wall_message(outcome: Outcome) -> str:
    return (
        f"wall clock: {outcome.wall_seconds:.2f} s with {outcome.cpu_seconds:.2f} s of CPU time; "
        "the program slept or waited"
    )


def _judge_end(outcome: Outcome) -> tuple[Verdict, str | None]:
    if outcome.signal is not None:
        return Verdict.RTE, f"killed by {_signal_name(outcome.signal)}"
    if outcome.exit_code is None:
        raise JailDied("an outcome with neither an exit code nor a signal")
    if outcome.exit_code != 0:
        return Verdict.RTE, f"exit code {outcome.exit_code}{_last_words(outcome.stderr)}"
    return Verdict.AC, None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(stderr: bytes) -> str:
    """The last line of stderr: for most languages, what went wrong."""
    last = stderr[-STDERR_TAIL_BYTES:].rstrip().rpartition(b"\n")[2].strip()
    return f": {last.decode('utf-8', 'replace')[:MESSAGE_CHARACTERS]}" if last else ""


def is_suspect(outcome: Outcome, limits: Limits) -> bool:
    """Whether this is a time-out that may be ours: run it again, alone, before it counts.

    It is if the wall clock ended it with CPU time to spare, and it was kept from running; or if nobody knows.
    """
    if not outcome.timed_out or outcome.cpu_seconds >= NEAR_LIMIT * limits.cpu_seconds:
        return False
    if judge(outcome, limits)[0] != Verdict.TLE:
        return False
    return outcome.starved_seconds is None or outcome.starved_seconds >= STARVED_PART * outcome.wall_seconds


def overall(results: Iterable[TestResult], total: int) -> Verdict:
    """The verdict of `total` tests: the first failing test's; else IE if any test has no verdict; else AC.

    A test that was not run, or not judged (IE), has no verdict. It is no failure: a later test that fails decides.
    No tests at all is IE, for who is asked nothing has passed nothing.
    """
    by_index = sorted(results, key=lambda result: result.index)
    failed = next((result.verdict for result in by_index if result.verdict not in (Verdict.AC, Verdict.IE)), None)
    if failed is not None:
        return failed
    judged = [result.index for result in by_index if result.verdict == Verdict.AC]
    return Verdict.AC if total > 0 and judged == list(range(total)) else Verdict.IE
