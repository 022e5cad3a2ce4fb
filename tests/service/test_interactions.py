"""The ways in which a program and an interactor can end: who ends how first, and the verdict."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Service

LIMITS = {"cpu_seconds": 1.0, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
SAY = "import os, sys, time, threading\ndef say(*values):\n    print(*values, flush=True)\n"
FOREVER = "threading.Event().wait()\n"
SPIN = "while True:\n    pass\n"
FLOOD = "while True:\n    print('x' * 60000)\n"
AC, WA = "sys.exit(42)\n", "sys.exit(43)\n"
ASK = "say(7)\nline = sys.stdin.readline()\n"  # the judge's question, and what came back
ANSWER = "say(2 * int(input()))\n"
RIGHT = ASK + "sys.exit(42 if line.strip() == '14' else 43)\n"
DEADLOCK, IDLE = "deadlock", "idle"

# what happens: the program, the judge, the verdict, and a word of the message
ENDINGS: dict[str, tuple[str, str, str, str]] = {
    "both end well": (ANSWER, RIGHT, "AC", ""),
    "the judge goes on after the program's end, and accepts": (ANSWER, ASK + "sys.stdin.read()\n" + AC, "AC", ""),
    "the program ends at once": ("pass", RIGHT, "WA", ""),
    "the program fails at once, the judge rejects": ("1 / 0", RIGHT, "RTE", ""),
    "the program fails at once, the judge accepts": ("1 / 0", ASK + AC, "RTE", ""),
    "the program fails at once, and then the judge too": ("1 / 0", ASK + "int(line)", "RTE", ""),
    "the program ends at once, and the judge fails": ("pass", ASK + "int(line)", "IE", "invalid literal"),
    "the program is killed by a signal": ("os.abort()", RIGHT, "RTE", "SIG"),
    "the program needs too much memory": ("x = bytearray(1 << 30)", RIGHT, "MLE", ""),
    "the program does not compile": ("def (", RIGHT, "CE", ""),
    "the program answers wrongly, and ends well": ("say(1)", RIGHT, "WA", ""),
    "the judge rejects, the program fails": (ANSWER + "input()\n1 / 0", ASK + WA, "WA", ""),
    "the judge rejects, the program spins": (ANSWER + SPIN, ASK + WA, "WA", ""),
    "the judge rejects, the program waits": (ANSWER + FOREVER, ASK + WA, "WA", ""),
    "the judge rejects slowly, the program fails": (ANSWER + "1 / 0", ASK + "sum(range(9**6))\n" + WA, "WA", ""),
    "the judge accepts, the program fails": (ANSWER + "1 / 0", RIGHT, "RTE", ""),
    "the judge accepts, the program spins": (ANSWER + SPIN, RIGHT, "TLE", "CPU"),
    "the judge accepts, the program waits": (ANSWER + FOREVER, RIGHT, "TLE", IDLE),
    "the judge accepts, the program writes on": (ANSWER + "print('x' * 200000)", RIGHT, "AC", ""),
    "the judge accepts without reading, the program writes on": (
        ANSWER + "print('x' * 300000)", ASK + "time.sleep(0.5)\n" + AC, "AC", ""),
    "the program ends without reading, the judge writes on": (
        ANSWER + "time.sleep(0.5)", ASK + "print('x' * 300000, flush=True)\n" + AC, "AC", ""),
    "the judge accepts, the program floods": (ANSWER + FLOOD, RIGHT, "OLE", ""),
    "the judge accepts, the program reads on": (ANSWER + "assert sys.stdin.read() == ''", RIGHT, "AC", ""),
    "the judge fails at once": (ANSWER, "1 / 0", "IE", "division"),
    "the judge ends with an unknown status": (ANSWER, ASK + "sys.exit(5)", "IE", "5"),
    "the judge spins": (ANSWER, ASK + SPIN, "IE", "CPU"),
    "the judge floods": ("sys.stdin.read()", FLOOD, "IE", ""),
    "the judge waits although the program has ended": (ANSWER, ASK + FOREVER, "IE", "did not end"),
    "the judge sleeps for a while": (ANSWER, "time.sleep(2.5)\n" + RIGHT, "AC", ""),
    "the program spins": (SPIN, RIGHT, "TLE", "CPU"),
    "the program sleeps for a while": ("time.sleep(2.5)\n" + ANSWER, RIGHT, "AC", ""),
    "the program floods": (FLOOD, "sys.stdin.read()\n" + AC, "OLE", ""),
    "the program floods, and the judge does not read": (FLOOD, FOREVER, "TLE", DEADLOCK),
    "each waits for the other": ("input()\ninput()", RIGHT, "TLE", DEADLOCK),
    "the program keeps its answer in a buffer": ("print(14)\n" + 2 * "sys.stdin.readline()\n", RIGHT, "TLE", DEADLOCK),
    "every thread of the program waits": ("threading.Thread(target=input).start()\n" + FOREVER, RIGHT, "TLE", DEADLOCK),
    "the program closes its output, and waits": ("os.close(1)\n" + FOREVER, RIGHT, "TLE", IDLE),
    "the program closes its output, and fails": ("os.close(1)\ntime.sleep(0.2)\n1 / 0", RIGHT, "RTE", ""),
    "the program closes its output, the judge rejects slowly, the program fails": (
        "input()\nsay(1)\nos.close(1)\ntime.sleep(0.02)\n1 / 0",
        "say(7)\nwhile time.process_time() < 0.3: pass\nsys.stdin.readline()\n" + WA, "WA", ""),
    "the program closes its output, and ends": ("os.close(1)\ntime.sleep(0.2)", RIGHT, "WA", ""),
    "the program closes its input": ("os.close(0)\nsay(14)", RIGHT, "AC", ""),
    "the judge accepts before the program begins": ("time.sleep(0.3)\n" + ANSWER.replace("input()", "7"), AC, "AC", ""),
    "the judge rejects before the program begins": ("time.sleep(0.3)\n" + ANSWER.replace("input()", "7"), WA, "WA", ""),
    "the judge ends with 0": (ANSWER, ASK + "sys.exit(0)", "IE", "0"),
    "the judge ends with 1": (ANSWER, ASK + "sys.exit(1)", "IE", "1"),
    "the judge is killed by a signal": (ANSWER, ASK + "os.abort()", "IE", "SIG"),
    "the judge computes for long, the program has ended": (
        ANSWER, ASK + "while time.process_time() < 0.7: pass\n" + RIGHT.replace(ASK, ""), "AC", ""),
    "the judge computes for long, and rejects": (
        ANSWER, ASK + "while time.process_time() < 0.7: pass\n" + WA, "WA", ""),
    "the judge keeps its question in a buffer": (
        ANSWER, "print(7)\nline = sys.stdin.readline()\n" + AC, "TLE", DEADLOCK),
    "the judge reads on after the end, and then fails": (ANSWER, ASK + "sys.stdin.read()\n1 / 0", "IE", "division"),
    "the judge reads on after the end of a program that failed, and then fails": (
        ANSWER + "1 / 0", ASK + "sys.stdin.read()\n1 / 0", "RTE", ""),
    "the judge leaves a malformed score": (
        ANSWER, ASK + "open(sys.argv[3] + 'score.txt', 'w').write('much')\n" + AC, "IE", "number"),
    "the judge leaves a folder as next pass": (
        ANSWER, ASK + "os.mkdir(sys.argv[3] + 'nextpass.in')\n" + AC, "IE", "no regular file"),
    "the program ignores the end": (ANSWER + "while True:\n    sys.stdin.readline()\n", RIGHT, "TLE", "CPU"),
    "the program ends with the judge's status": ("input()\nsay(14)\nos._exit(42)", RIGHT, "RTE", "42"),
    "the program writes verdicts": ("input()\nprint('42 AC', file=sys.stderr)\nsay(13)", RIGHT, "WA", ""),
    "the program reads from a closed pipe": (ANSWER + "os.close(0)\ntime.sleep(0.2)\nos.read(0, 1)", RIGHT, "RTE", ""),
    "both flood": (FLOOD, FLOOD, "TLE", DEADLOCK),
    "both wait": ("input()", "input()", "TLE", DEADLOCK),
    "both end at once": ("pass", AC, "AC", ""),
    "both fail at once": ("1 / 0", "1 / 0", "IE", "division"),
    "both write much before they read": (
        "print('x' * 400000, flush=True)\ninput()", "print('x' * 400000, flush=True)\ninput()\n" + AC, "TLE", DEADLOCK),
    "a long line": ("say(len(input()))", "say('x' * 900000)\nsys.exit(42 if input() == '900000' else 43)", "AC", ""),
    "bytes that are no text": (
        "data = sys.stdin.buffer.read(256)\nsys.stdout.buffer.write(data[::-1])",
        "data = bytes(range(256))\nsys.stdout.buffer.write(data)\nsys.stdout.flush()\n"
        "sys.exit(42 if sys.stdin.buffer.read(256) == data[::-1] else 43)", "AC", ""),
    "the judge closes its input": (
        ANSWER + "for i in range(9999):\n    say(i)", ASK + "os.close(0)\ntime.sleep(0.2)\n" + AC, "AC", ""),
    "the judge closes its output":(ANSWER, "say(7)\nos.close(1)\nsys.exit(42 if input() == '14' else 43)", "AC", ""),
}  # fmt: skip


def interactor(source: str, protocol: str = "kattis", **fields: Any) -> dict[str, Any]:
    return {"type": "program", "protocol": protocol, "source": source, "limits": LIMITS, **fields}


def test_each_ending_has_its_verdict(service: Service) -> None:
    assert len(ENDINGS) >= 30
    submissions = [
        {"id": name, "code": SAY + program, "tests": [{"type": "interactive"}], "interactor": interactor(SAY + judge)}
        for name, (program, judge, _, _) in ENDINGS.items()
    ]
    grades = service.client.batch(submissions, limits=LIMITS)
    wrong = []
    for name, (_, _, verdict, word) in ENDINGS.items():
        grade = grades[name]
        message = grade["failure_reason"] or grade["message"] or ""
        if grade["verdict"] != verdict or word not in message:
            wrong.append((name, grade["verdict"], message))
        if word == DEADLOCK:  # on an idle machine a little more than relay.IDLE_SECONDS; this bound is a guard
            assert grade["tests"][0]["wall_seconds"] < 30, name
    assert wrong == []


GUESS = """lo, hi = 1, 1000000
while True:
    middle = (lo + hi) // 2
    print(middle, flush=True)
    answer = input()
    if answer == "correct":
        break
    lo, hi = (middle + 1, hi) if answer == "higher" else (lo, middle - 1)
"""
FUNCTION = """def interact(read, write, input, answer):
    for turn in range(20):
        guess = int(read())
        if guess == int(input):
            write("correct")
            return True, f"{turn + 1} guesses, {answer}"
        write("higher" if guess < int(input) else "lower")
    return False, "too many guesses"
"""


def test_a_function_may_be_the_interactor(service: Service) -> None:
    test = {"type": "interactive", "input": "777777", "output": "of 20"}
    judge = interactor(FUNCTION, "function")
    grade = service.grade(code=GUESS, tests=[test], interactor=judge)
    assert (grade["verdict"], grade["message"]) == ("AC", None)
    (result,) = grade["tests"]
    assert result["message"] == "17 guesses, of 20"
    assert result["transcript"].startswith("> 500000\n< higher\n> 750000\n< higher\n")
    assert result["transcript"].endswith("> 777777\n< correct\n")
    short = service.grade(code=GUESS, tests=[test], interactor=judge, display_bytes=10)
    assert short["tests"][0]["transcript"] == "> 500000\n<"
    hidden = service.grade(code=GUESS, tests=[test | {"hidden": True}], interactor=judge)
    assert hidden["tests"][0]["transcript"] is None
    wrong = service.grade(
        code="for i in range(30):\n    print(i, flush=True)\n    input()", tests=[test], interactor=judge
    )
    assert (wrong["verdict"], wrong["message"]) == ("WA", "too many guesses")
    early = service.grade(code="print(1)", tests=[test], interactor=judge)
    assert (early["verdict"], early["message"]) == ("WA", "the program ended while the interactor waited for a line")


LONG_LINES = """def interact(read, write, input, answer):
    line = read()
    return line.split() == ["1000000"] * 200000, f"{len(line)} characters"
"""


@pytest.mark.parametrize(
    ("code", "verdict", "message"),
    [
        ("print(*[10**6] * 200_000)", "AC", "1599999 characters"),
        ("print(*[10**6] * 200_000, ' ' * (70 << 20), 'x')", "WA", "a line of more than 67108864 characters"),
    ],
    ids=["of a right answer", "with a right beginning"],
)
def test_a_function_that_interacts_gets_whole_lines(service: Service, code: str, verdict: str, message: str) -> None:
    judge = {"type": "program", "protocol": "function", "source": LONG_LINES}
    limits = {"output_bytes": 100 << 20}
    grade = service.grade(code=code, tests=[{"type": "interactive"}], interactor=judge, limits=limits)
    assert grade["verdict"] == verdict, grade
    assert message in grade["tests"][0]["message"]


TESTLIB = """import sys
secret = open(sys.argv[1]).read().split()[0]
print(secret, flush=True)
open(sys.argv[2], "w").write(input())
"""


def test_after_a_testlib_interactor_the_checker_reads_what_it_left(service: Service) -> None:
    checker = interactor("import sys\nsys.exit(open(sys.argv[2]).read() != open(sys.argv[3]).read())", "testlib")
    test = {"type": "interactive", "input": "7", "output": "14"}
    both = {"tests": [test], "interactor": interactor(TESTLIB, "testlib"), "checker": checker}
    assert service.grade(code="print(2 * int(input()))", **both)["verdict"] == "AC"
    assert service.grade(code="print(3 * int(input()))", **both)["verdict"] == "WA"


def test_passes_may_be_interactive(service: Service) -> None:
    source = """import sys
stage = int(open(sys.argv[1]).read())
print(stage, flush=True)
if int(input()) != stage + 1:
    sys.exit(43)
if stage < 2:
    open(sys.argv[3] + "nextpass.in", "w").write(str(stage + 1))
sys.exit(42)
"""
    test = {"type": "interactive", "input": "0"}
    judge = interactor(source, passes=3)
    assert service.grade(code="print(int(input()) + 1)", tests=[test], interactor=judge)["verdict"] == "AC"
    assert service.grade(code="print(1)", tests=[test], interactor=judge)["verdict"] == "WA"


def test_interactive_tests_mix_with_others_and_count_in_groups(service: Service) -> None:
    tests = [
        {"type": "stdin", "input": "7\n", "output": "14\n", "group": "plain"},
        {"type": "interactive", "group": "talk"},
    ]
    groups = [{"name": "plain", "points": 40.0}, {"name": "talk", "points": 60.0}]
    scored = {"tests": tests, "groups": groups, "reward": {"scheme": "score"}}
    assert service.grade(code="print(2 * int(input()))", interactor=interactor(SAY + RIGHT), **scored)["reward"] == 1.0
    assert (
        service.grade(code="print(2 * int(input()))", interactor=interactor(SAY + ASK + WA), **scored)["reward"] == 0.4
    )


@pytest.mark.parametrize("judge", [None, interactor("", "scalebox")])
def test_without_an_interactor_the_test_is_bad(service: Service, judge: dict[str, Any] | None) -> None:
    grade = service.grade(code="1", tests=[{"type": "interactive"}], **({"interactor": judge} if judge else {}))
    assert (grade["verdict"], grade["failure_kind"]) == ("IE", "bad_test")


@pytest.mark.full
def test_right_programs_are_never_taken_for_deadlocked(service: Service) -> None:
    judge = interactor(FUNCTION, "function")
    test = {"type": "interactive", "input": "777777", "output": ""}
    for _ in range(10):
        grades = service.client.batch([{"code": GUESS}] * 500, tests=[test], interactor=judge)
        assert {grade["verdict"] for grade in grades.values()} == {"AC"}
