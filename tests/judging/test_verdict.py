"""Verdicts from facts: which limit names a run, which timeouts are suspect, and a submission's verdict."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from sandbox_service.errors import JailDiedError
from sandbox_service.judging.verdict import is_suspect, judge, overall
from sandbox_service.sandbox.base import OUT_OF_MEMORY, Outcome
from sandbox_service.schema import Limits, TestResult, Verdict

LIMITS = Limits(cpu_seconds=4, memory_bytes=100 << 20, output_bytes=1000)
AC, WA, TLE, MLE, OLE, RTE, CE, IE = Verdict


def outcome(**facts: Any) -> Outcome:
    """Return a successful run's outcome, changed by the given facts."""
    usual = {
        "exit_code": 0 if facts.get("signal") is None else None,
        "signal": None,
        "timed_out": False,
        "cpu_seconds": 0.1,
        "wall_seconds": 0.2,
        "starved_seconds": 0.0,
        "peak_memory_bytes": 10 << 20,
        "stdout": b"",
        "stderr": b"",
        "stdout_bytes": 0,
    }
    return Outcome(**(usual | facts))


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        ({}, AC),
        ({"stderr": b"a warning\n"}, AC),
        # CPU
        ({"cpu_seconds": 4.0}, AC),
        ({"cpu_seconds": 4.01}, TLE),
        ({"cpu_seconds": 3.8, "signal": signal.SIGKILL}, TLE),
        ({"cpu_seconds": 3.96, "signal": signal.SIGXCPU}, TLE),
        ({"cpu_seconds": 3.7, "signal": signal.SIGXCPU}, RTE),
        ({"cpu_seconds": 3.96, "signal": signal.SIGSEGV}, RTE),
        ({"cpu_seconds": 3.96, "exit_code": 1}, RTE),
        # wall clock
        ({"timed_out": True, "signal": signal.SIGKILL}, TLE),
        ({"timed_out": True, "exit_code": None}, TLE),
        ({"wall_seconds": 99.0}, AC),
        # output
        ({"stdout_bytes": 1000}, AC),
        ({"stdout_bytes": 1001}, OLE),
        ({"signal": signal.SIGXFSZ}, OLE),
        # memory
        ({"exit_code": OUT_OF_MEMORY}, MLE),
        ({"signal": signal.SIGKILL, "peak_memory_bytes": 95 << 20}, MLE),
        ({"signal": signal.SIGSEGV, "peak_memory_bytes": 99 << 20}, RTE),
        ({"peak_memory_bytes": 100 << 20}, AC),
        ({"peak_memory_bytes": 101 << 20}, MLE),
        # the end
        ({"exit_code": 1}, RTE),
        ({"exit_code": 255}, RTE),
        ({"signal": signal.SIGSEGV}, RTE),
        ({"signal": signal.SIGKILL}, RTE),
    ],
)
def test_each_limit_gives_its_verdict(facts: dict[str, Any], verdict: Verdict) -> None:
    assert judge(outcome(**facts), LIMITS)[0] == verdict


CAUSES: list[tuple[Verdict, dict[str, Any]]] = [
    (OLE, {"stdout_bytes": 2000}),
    (MLE, {"peak_memory_bytes": 101 << 20}),
    (TLE, {"cpu_seconds": 5.0}),
    (MLE, {"peak_memory_bytes": 100 << 20, "signal": signal.SIGKILL}),
    (TLE, {"timed_out": True, "signal": signal.SIGKILL}),
    (RTE, {"exit_code": 1, "signal": None}),
]


@pytest.mark.parametrize("first", range(len(CAUSES)))
def test_the_first_cause_names_the_run(first: int) -> None:
    """Each cause has precedence over all later ones: output, resident memory, CPU, memory, wall clock, exit."""
    verdict, facts = CAUSES[first]
    for _, others in CAUSES[first + 1 :]:
        assert judge(outcome(**(others | facts)), LIMITS)[0] == verdict


def test_the_two_time_outs_say_which_clock_it_was() -> None:
    _, cpu = judge(outcome(cpu_seconds=4.25, timed_out=True), LIMITS)
    _, wall = judge(outcome(timed_out=True, signal=9, wall_seconds=14.0), LIMITS)
    assert cpu == "4.25 s of CPU time, the limit is 4 s"
    assert wall == "wall clock: 14.00 s with 0.10 s of CPU time; the program slept or waited"


TRACES = [
    (
        'Exception in thread "main" java.lang.RuntimeException: x\n\tat Main.f(Main.java:3)\n\t... 3 more\n'
        "Caused by: java.io.IOException: y\n\tat Main.main(Main.java:7)\n\t... 2 more\n",
        "Caused by: java.io.IOException: y",
    ),
    ("main.js:1\nnull.x;\n     ^\n\nTypeError: y\n    at f (main.js:1:22)\n\nNode.js v20.20.2\n", "TypeError: y"),
    ("[ERROR] FATAL UNHANDLED EXCEPTION: System.Exception: y\n  at P.Main () [0x00000] in <3b7e>:0 \n",
     "[ERROR] FATAL UNHANDLED EXCEPTION: System.Exception: y"),
    ("main.rb:1:in `f': y (RuntimeError)\n\tfrom main.rb:2:in `<main>'\n", "main.rb:1:in `f': y (RuntimeError)"),
    ("lua5.4: main.lua:1: y\nstack traceback:\n\t[C]: in function 'error'\n\tmain.lua:1: in main\n\t[C]: in ?\n",
     "lua5.4: main.lua:1: y"),
    ("panic: y\n\ngoroutine 1 [running]:\nmain.(*T).f(0x5)\n\tmain.go:3 +0x1d\nmain.main()\n\tmain.go:4 +0xf\n",
     "panic: y"),
    ("thread 'main' panicked at main.rs:1:5:\ny\nnote: run with `RUST_BACKTRACE=1` environment variable\n", "y"),
    ("terminate called after throwing an instance of 'E'\n  what():  y\n", "what():  y"),
    ("\tat a.b(c)\n", "at a.b(c)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"exit_code": 0}, None),
        ({"exit_code": 3}, "exit code 3"),
        ({"exit_code": 1, "stderr": b"Traceback\n  line 1\nValueError: x\n\n"}, "exit code 1: ValueError: x"),
        ({"exit_code": 1, "stderr": b"\xff\r\n"}, "exit code 1: \ufffd"),
        ({"exit_code": 1, "stderr": b"x" * 9999}, "exit code 1: " + "x" * 200),
        ({"exit_code": 1, "stderr": b" \n \n"}, "exit code 1"),
        ({"signal": signal.SIGSEGV, "stderr": b"boom"}, "killed by SIGSEGV"),
        *(({"exit_code": 1, "stderr": said.encode()}, f"exit code 1: {error}") for said, error in TRACES),
        ({"signal": 40}, "killed by signal 40"),
        ({"exit_code": OUT_OF_MEMORY}, "out of memory at 10 MiB, the limit is 100 MiB"),
        ({"stdout_bytes": 2000}, "2000 bytes of output, the limit is 1000"),
    ],
)
def test_the_message_says_what_happened(facts: dict[str, Any], message: str | None) -> None:
    assert judge(outcome(**facts), LIMITS)[1] == message


def test_an_outcome_that_says_nothing_is_our_fault() -> None:
    with pytest.raises(JailDiedError):
        judge(outcome(exit_code=None), LIMITS)


@pytest.mark.parametrize(
    ("facts", "suspect"),
    [
        ({"timed_out": True, "signal": 9, "wall_seconds": 14.0, "starved_seconds": 13.0}, True),
        ({"timed_out": True, "signal": 9, "wall_seconds": 14.0, "starved_seconds": 1.5}, True),
        ({"timed_out": True, "signal": 9, "wall_seconds": 14.0, "starved_seconds": 1.3}, False),
        ({"timed_out": True, "signal": 9, "wall_seconds": 14.0, "starved_seconds": None}, True),
        ({"timed_out": True, "signal": 9, "starved_seconds": None, "cpu_seconds": 3.9}, False),
        ({"timed_out": True, "exit_code": None, "starved_seconds": None, "cpu_seconds": 3.9}, False),
        ({"timed_out": True, "signal": 9, "starved_seconds": None, "cpu_seconds": 3.0}, True),
        ({"cpu_seconds": 5.0, "starved_seconds": None}, False),
        ({"timed_out": True, "signal": 9, "starved_seconds": None, "stdout_bytes": 2000}, False),
        ({"exit_code": 1, "starved_seconds": None}, False),
        ({"starved_seconds": None}, False),
    ],
)
def test_only_starved_wall_time_outs_are_suspect(facts: dict[str, Any], suspect: bool) -> None:
    assert is_suspect(outcome(**facts), LIMITS) is suspect


def results(*verdicts: Verdict) -> list[TestResult]:
    return [TestResult(index=index, verdict=verdict) for index, verdict in enumerate(verdicts)]


@pytest.mark.parametrize(
    ("verdicts", "total", "whole"),
    [
        ([AC], 1, AC),
        ([AC, AC, AC], 3, AC),
        ([AC, WA, TLE], 3, WA),
        ([AC, TLE, WA], 3, TLE),
        ([AC, RTE], 9, RTE),
        ([AC, IE, AC], 3, IE),
        # a test that failed, failed: that another one has no verdict does not undo it
        ([IE, WA], 2, WA),
        ([WA, IE], 2, WA),
        # not run is not passed
        ([AC, AC], 3, IE),
        ([], 3, IE),
        # and nothing asked is nothing passed
        ([], 0, IE),
        ([AC, AC], 1, IE),
    ],
)
def test_the_verdict_of_the_whole(verdicts: list[Verdict], total: int, whole: Verdict) -> None:
    assert overall(results(*verdicts), total) == whole


def test_the_order_is_that_of_the_tests_not_of_the_results() -> None:
    assert overall(reversed(results(AC, MLE, WA)), 3) == MLE


def test_one_test_passed_twice_does_not_stand_for_two() -> None:
    passed = TestResult(index=0, verdict=AC)
    assert overall([passed, passed], 2) == IE
