"""Derives verdicts from the facts of a run; the program's own statements do not count.

`judge` says whether a run exceeded a limit or failed; `checkers` decide whether a successful run gave the right answer.
CPU time decides whether a program is too slow; the wall-clock limit only ends programs that sleep. A busy machine can
delay any program, so `is_suspect` names the timeouts that are repeated alone before they count.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable

from sandbox_service.errors import JailDiedError
from sandbox_service.sandbox.base import OUT_OF_MEMORY, Outcome
from sandbox_service.schema import Limits, TestResult, Verdict

# The kernel kills slightly before the limit is used up, and updates its counters slightly late.
NEAR_LIMIT = 0.95
# Runnable but not running for this part of the wall time: the machine was slow, not only the program.
STARVED_PART = 0.1
MESSAGE_CHARACTERS = 200
SIGNALLED = 128  # and the number: the exit code of a program in C that a signal has ended (guest/start.c)
STDERR_TAIL_BYTES = 4096
# What is below an error: in Java, JavaScript, C#, Ruby, Lua and Go the calls that led to it; what node and Rust add.
_BELOW_ERRORS = re.compile(
    r"at .*|from .*|\.\.\. \d+ more|stack traceback:|\[C\]: .*|\S+:\d+: in .*|Node\.js v\S+|note: run with .*"
    r"|goroutine \d+ .*|created by .*|[\w.*()/]+\([^()]*\)|\S+:\d+ \+0x[0-9a-f]+|exit status \d+"
)
MIB = 1 << 20


def judge(outcome: Outcome, limits: Limits) -> tuple[Verdict, str | None]:
    """Judge the end of a run.

    A run can exceed several limits. They are checked in this order: output, resident memory, CPU, other signs of too
    little memory, wall clock; only a run that exceeded none can be RTE. (Output is first because many programs go on
    after it until they exceed another limit. One that is over its memory is killed at once, or may continue for a while
    and exceed its time as a consequence.)

    Args:
        outcome: the facts of the run.
        limits: the limits it ran under.

    Returns:
        TLE, MLE, OLE or RTE with a reason; AC for a successful run, whose answer is still to be checked.

    Raises:
        JailDiedError: the outcome has neither an exit code nor a signal.
    """
    if _is_within(outcome, limits):
        return Verdict.AC, None
    if outcome.stdout_bytes > limits.output_bytes:
        return Verdict.OLE, f"{outcome.stdout_bytes} bytes of output, the limit is {limits.output_bytes}"
    if outcome.signal == signal.SIGXFSZ or outcome.exit_code == SIGNALLED + signal.SIGXFSZ:
        return Verdict.OLE, f"a file or stderr exceeds the limit of {limits.output_bytes} bytes of output"
    if outcome.peak_memory_bytes > limits.memory_bytes:
        return Verdict.MLE, _memory_message(outcome, limits)
    if _used_up_cpu(outcome, limits):
        return Verdict.TLE, f"{outcome.cpu_seconds:.2f} s of CPU time, the limit is {limits.cpu_seconds:g} s"
    if _ran_out_of_memory(outcome, limits):
        return Verdict.MLE, _memory_message(outcome, limits)
    if outcome.timed_out:
        return Verdict.TLE, _wall_message(outcome)
    return _judge_end(outcome)


def _is_within(outcome: Outcome, limits: Limits) -> bool:
    """Return whether the program ended well, within all limits: no other rule can apply to such a run."""
    return (
        outcome.exit_code == 0
        and not outcome.timed_out
        and outcome.stdout_bytes <= limits.output_bytes
        and outcome.peak_memory_bytes <= limits.memory_bytes
        and outcome.cpu_seconds <= limits.cpu_seconds
    )


def _used_up_cpu(outcome: Outcome, limits: Limits) -> bool:
    if outcome.cpu_seconds > limits.cpu_seconds:
        return True
    killed = outcome.signal in (signal.SIGKILL, signal.SIGXCPU)
    return killed and outcome.cpu_seconds >= NEAR_LIMIT * limits.cpu_seconds


def _ran_out_of_memory(outcome: Outcome, limits: Limits) -> bool:
    """Judge by the memory used: the address space, which is limited too, includes stacks that are only reserved."""
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
        raise JailDiedError("an outcome with neither an exit code nor a signal")
    if outcome.exit_code != 0:
        return Verdict.RTE, f"exit code {outcome.exit_code}{_last_words(outcome.stderr)}"
    return Verdict.AC, None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(stderr: bytes) -> str:
    """Return the last line of stderr, which in most languages is the error, or the last one above a trace of calls."""
    lines = stderr[-STDERR_TAIL_BYTES:].decode("utf-8", "replace").split("\n")
    said = [line.strip()[:MESSAGE_CHARACTERS] for line in lines if line.strip()]
    if not said:
        return ""
    return f": {next((line for line in reversed(said) if not _BELOW_ERRORS.fullmatch(line)), said[-1])}"


def is_suspect(outcome: Outcome, limits: Limits) -> bool:
    """Return True for a timeout that may be the machine's fault, to be repeated alone before it counts.

    That is a run ended by the wall clock with CPU time to spare that was kept from running, or for which that is
    unknown.

    Args:
        outcome: the facts of the run.
        limits: the limits it ran under.
    """
    if not outcome.timed_out or outcome.cpu_seconds >= NEAR_LIMIT * limits.cpu_seconds:
        return False
    if judge(outcome, limits)[0] != Verdict.TLE:
        return False
    return outcome.starved_seconds is None or outcome.starved_seconds >= STARVED_PART * outcome.wall_seconds


def overall(results: Iterable[TestResult], total: int) -> Verdict:
    """Return the verdict of a submission.

    A test that was not run, or was judged IE, has no verdict. It is not a failure: a later failing test decides. No
    tests at all is IE, since nothing was tested.

    Args:
        results: the results of the tests that were run.
        total: number of tests.

    Returns:
        The verdict of the first failing test; else IE if any test has no verdict; else AC.
    """
    by_index = sorted(results, key=lambda result: result.index)
    failed = next((result.verdict for result in by_index if result.verdict not in (Verdict.AC, Verdict.IE)), None)
    if failed is not None:
        return failed
    judged = [result.index for result in by_index if result.verdict == Verdict.AC]
    return Verdict.AC if total > 0 and judged == list(range(total)) else Verdict.IE
