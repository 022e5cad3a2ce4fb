"""Checker programs in Python, by every protocol: each way to end, and the verdict that it means."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any

import pytest

from tests.conftest import Service
from tests.markers import one_in

TEST = {"type": "stdin", "input": "3\n", "output": "6\n"}
READ = "import sys\ninput, output, answer = (open(name).read().split() for name in sys.argv[1:4])\n"
KATTIS = """import sys
input, answer = (open(name).read().split() for name in sys.argv[1:3])
feedback, output = sys.argv[3], sys.stdin.read().split()
"""
FOREIGN = "import sys\ninput, answer, output = (open(name).read().split() for name in sys.argv[1:4])\n"
SCALEBOX = """import sys
input, answer, output = (open(name).read().split() for name in ("stdin.txt", "stdout.txt", "answer.txt"))
"""
IE = "IE"
SHORT = {"cpu_seconds": 0.5, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}  # for checkers that use all of it

# endings that no protocol allows, whatever it is: the checker failed
FAILURES = {
    "crash": "1 / 0",
    "unknown status": "raise SystemExit(99)",
    "spin": "while True:\n    pass",
    "flood": "while True:\n    print('x' * 100000)",
    "memory": "x = bytearray(1 << 40)",
    "signal": "import ctypes\nctypes.string_at(0)",
    "syntax": "def (",
    "past the end": "output[99]",
}

# protocol: what the checker is, by name; the verdict, and the share if it gives one
CHECKERS: dict[str, dict[str, tuple[str, str, float | None]]] = {
    "testlib": {
        "right": (READ + "sys.exit(output != answer)", "AC", None),
        "wrong": (READ + "sys.exit(1)", "WA", None),
        "presentation": (READ + "sys.exit(2)", "WA", None),
        "dirt": (READ + "sys.exit(4)", "WA", None),
        "end of file": (READ + "sys.exit(8)", "WA", None),
        "its own failure": (READ + "sys.exit(3)", IE, None),
        "points": (READ + "sys.stderr.write('points 0.25 so so')\nsys.exit(7)", "WA", 0.25),
        "all points": (READ + "sys.stderr.write('points 1')\nsys.exit(7)", "AC", 1.0),
        "points without a number": (READ + "sys.exit(7)", IE, None),
    },
    "kattis": {
        "right": (KATTIS + "sys.exit(42 if output == answer else 43)", "AC", None),
        "wrong": (KATTIS + "sys.exit(43)", "WA", None),
        "score": (KATTIS + "open(feedback + 'score.txt', 'w').write('0.5')\nsys.exit(42)", "AC", 0.5),
        "score of a wrong one": (KATTIS + "open(feedback + 'score.txt', 'w').write('0.5')\nsys.exit(43)", "WA", 0.0),
        "no number": (KATTIS + "open(feedback + 'score.txt', 'w').write('nan')\nsys.exit(42)", IE, None),
        "zero": (KATTIS + "sys.exit(0)", IE, None),
        "one": (KATTIS + "sys.exit(1)", IE, None),
    },
    "codeforces-python": {
        "right": (FOREIGN + "print(int(output == answer))", "AC", None),
        "wrong": (FOREIGN + "print(0)", "WA", None),
        "points": (FOREIGN + "print(0.5)", "WA", 0.5),
        "says nothing": (FOREIGN, IE, None),
        "says no number": (FOREIGN + "print('yes')", IE, None),
        "fails after its verdict": (FOREIGN + "print(1)\nsys.exit(1)", IE, None),
    },
    "scalebox": {
        "right": (SCALEBOX + "sys.exit(output != answer)", "AC", None),
        "wrong": (SCALEBOX + "sys.exit(1)", "WA", None),
    },
    "function": {
        "right": ("def check(input, output, answer):\n    return output.split() == answer.split()", "AC", None),
        "wrong": ("def check(input, output, answer):\n    return False", "WA", None),
        "points": ("def check(input, output, answer):\n    return 0.5", "WA", 0.5),
        "message": ("def check(input, output, answer):\n    return 'AC', 'well done'", "AC", None),
        "too many points": ("def check(input, output, answer):\n    return 2", IE, None),
        "nothing": ("def check(input, output, answer):\n    pass", IE, None),
        "no function": ("x = 1", IE, None),
        "raises": ("def check(input, output, answer):\n    return int('x')", IE, None),
        "spins": ("def check(input, output, answer):\n    while True:\n        pass", IE, None),
        "exits": ("import os\ndef check(input, output, answer):\n    os._exit(0)", IE, None),
    },
}
SCORE, MULTIPLIER = "open(feedback + 'score.txt', 'w').write", "open(feedback + 'score_multiplier.txt', 'w').write"
LEAVE = "import os\nleft = feedback + 'nextpass.in'\nonce = not os.path.exists(feedback + 'seen')\n"
LEAVE += "open(feedback + 'seen', 'w').close()\n"
PASSES, HUNDRED = {"passes": 3}, {"full_score": 100.0}

# endings that few judges have: the protocol and the end of the checker, its other fields, the verdict, the share
UNUSUAL: dict[str, tuple[str, str, dict[str, Any], str, float | None]] = {
    **{
        f"{protocol} exit {status}": (protocol, f"print(1)\nsys.exit({status})", {}, IE, None)
        for protocol, statuses in {
            "testlib": (5, 6, 9, 16, 42, 43, 44, 111, 139, 255),
            "kattis": (2, 3, 4, 7, 44, 255),
            "codeforces-python": (1, 42, 43),
            "scalebox": (2, 3, 7, 42, 43),
        }.items()
        for status in statuses
    },
    "exits with a text": ("testlib", "sys.exit('wrong')", {}, IE, None),
    "ends at once": ("kattis", "import os\nos._exit(42)", {}, "AC", None),
    "no points": ("testlib", "sys.stderr.write('points 0')\nsys.exit(7)", {}, "WA", 0.0),
    "few points": ("testlib", "sys.stderr.write('points +1e-3')\nsys.exit(7)", {}, "WA", 0.001),
    "a number alone": ("testlib", "sys.stderr.write('0.5')\nsys.exit(7)", {}, "WA", 0.5),
    "points and bytes": ("testlib", "sys.stderr.buffer.write(b'points 0.5 \\xff\\0')\nsys.exit(7)", {}, "WA", 0.5),
    "points of a hundred": ("testlib", "sys.stderr.write('points 25.')\nsys.exit(7)", HUNDRED, "WA", 0.25),
    "more points than there are": ("testlib", "sys.stderr.write('points 50')\nsys.exit(7)", {}, IE, None),
    "less than no points": ("testlib", "sys.stderr.write('points -1')\nsys.exit(7)", {}, IE, None),
    "points with a comma": ("testlib", "sys.stderr.write('points 0,5')\nsys.exit(7)", {}, IE, None),
    "points in hexadecimal": ("testlib", "sys.stderr.write('points 0x1')\nsys.exit(7)", {}, IE, None),
    "points in per cent": ("testlib", "sys.stderr.write('points 1%')\nsys.exit(7)", {}, IE, None),
    "points and points": ("testlib", "sys.stderr.write('points 0.3.4')\nsys.exit(7)", {}, IE, None),
    "infinite points": ("testlib", "sys.stderr.write('points 1e999')\nsys.exit(7)", {}, IE, None),
    "partially": ("testlib", "sys.stderr.write('partially correct (40) x')\nsys.exit(40)", HUNDRED, "WA", 0.4),
    "partially, nothing": ("testlib", "sys.stderr.write('partially correct (0) x')\nsys.exit(0)", HUNDRED, "WA", 0.0),
    "score and white space": ("kattis", SCORE + "(' 0.5\\n')\nsys.exit(42)", {}, "AC", 0.5),
    "score of a hundred": ("kattis", SCORE + "('25')\nsys.exit(42)", HUNDRED, "AC", 0.25),
    "score above the full one": ("kattis", SCORE + "('1e5')\nsys.exit(42)", {}, "AC", 1.0),
    "score below 0": ("kattis", SCORE + "('-1')\nsys.exit(42)", {}, IE, None),
    "no score": ("kattis", SCORE + "('')\nsys.exit(42)", {}, IE, None),
    "two scores": ("kattis", SCORE + "('0.5 0.5')\nsys.exit(42)", {}, IE, None),
    "score in other digits": ("kattis", SCORE + "('\u0661')\nsys.exit(42)", {}, IE, None),
    "long score": ("kattis", SCORE + "('1' + ' ' * 99999 + 'x')\nsys.exit(42)", {}, IE, None),
    "wrong, and a malformed score": ("kattis", SCORE + "('nan')\nsys.exit(43)", {}, "WA", 0.0),
    "a folder as score": ("kattis", "import os\nos.mkdir(feedback + 'score.txt')\nsys.exit(42)", {}, IE, None),
    "a link as score": (
        "kattis", "import os\nos.symlink('/tmp/input.txt', feedback + 'score.txt')\nsys.exit(42)", {}, IE, None),
    "multiplier": ("kattis", MULTIPLIER + "('0.5')\nsys.exit(42)", HUNDRED, "AC", 0.5),
    "multiplier above 1": ("kattis", MULTIPLIER + "('1.5')\nsys.exit(42)", {}, IE, None),
    "multiplier and score": ("kattis", MULTIPLIER + "('1')\n" + SCORE + "('1')\nsys.exit(42)", {}, IE, None),
    "message of bytes": (
        "kattis", "open(feedback + 'judgemessage.txt', 'wb').write(b'a\\xff\\0b')\nsys.exit(43)", {}, "WA", None),
    "message of a megabyte": (
        "kattis", "open(feedback + 'judgemessage.txt', 'w').write('x' * 1000000)\nsys.exit(43)", {}, "WA", None),
    "feedback without end": (
        "kattis", "try:\n    for i in range(5000):\n        open(feedback + str(i), 'w').write('x')\n"
        "except OSError:\n    pass\nsys.exit(42)", {}, "AC", None),
    "feedback of many bytes": (
        "kattis", "try:\n    for i in range(40):\n        open(feedback + str(i), 'w').write('x' * 999999)\n"
        "except OSError:\n    pass\nsys.exit(42)", {}, "AC", None),
    "folders in folders": (
        "kattis", "import os\nos.chdir(feedback)\nfor i in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\n"
        "sys.exit(42)", {}, "AC", None),
    "next pass where there is one": ("kattis", LEAVE + "open(left, 'w').close()\nsys.exit(42)", {}, IE, None),
    "next pass for ever": ("kattis", LEAVE + "open(left, 'w').write('1')\nsys.exit(42)", PASSES, IE, None),
    "next pass of a wrong one": ("kattis", LEAVE + "open(left, 'w').write('1')\nsys.exit(43)", PASSES, "WA", None),
    "next pass without input": (
        "kattis", LEAVE + "if once:\n    open(left, 'w').close()\nsys.exit(42)", PASSES, "RTE", None),
    "next pass of bytes": (
        "kattis", LEAVE + "if once:\n    open(left, 'wb').write(b'\\xff')\nsys.exit(42)", PASSES, "RTE", None),
    "next pass of many bytes": (
        "kattis", LEAVE + "open(left, 'wb').truncate(65 << 20)\nsys.exit(42)",
        PASSES | {"limits": {"output_bytes": 100 << 20}}, IE, None),
    "a folder as next pass": ("kattis", LEAVE + "os.mkdir(left)\nsys.exit(42)", PASSES, IE, None),
    "a link as next pass": ("kattis", LEAVE + "os.symlink('/tmp/answer.txt', left)\nsys.exit(42)", PASSES, IE, None),
    "reads its stdin": ("testlib", "sys.exit(sys.stdin.read() != '')", {}, "AC", None),
    "sleeps": ("testlib", "import time\ntime.sleep(1.2)\nsys.exit(0)", {}, "AC", None),
    "aborts": ("kattis", "import os\nos.abort()", {}, IE, None),
    "kills itself": ("scalebox", "import os\nos.kill(os.getpid(), 9)", {}, IE, None),
    "no stack is left": ("kattis", "sys.setrecursionlimit(10**9)\ndef f(): f()\nf()", {}, IE, None),
    "many words": ("codeforces-python", "print('debug ' * 9999)\nprint('1.0')", {}, "AC", None),
    "no number from 0 to 1": ("codeforces-python", "print(2)", {}, IE, None),
    "less than nothing": ("codeforces-python", "print(-1)", {}, IE, None),
    "a number and NUL": ("codeforces-python", "print('1\\0')", {}, IE, None),
    "a word": ("codeforces-python", "print(True)", {}, IE, None),
    "a part": ("codeforces-python", "print(25)", HUNDRED, "WA", 0.25),
}  # fmt: skip
RETURNED: dict[str, tuple[str, float | None]] = {
    "float('nan')": (IE, None),
    "float('inf')": (IE, None),
    "-0.5": (IE, None),
    "10**5000": (IE, None),
    "1": ("AC", 1.0),
    "0": ("WA", 0.0),
    "'ac'": (IE, None),
    "True, 1, 2": (IE, None),
    "[True, '']": (IE, None),
    "b'AC'": (IE, None),
    "(x for x in [True])": (IE, None),
    "0.5, 'half'": ("WA", 0.5),
    "False, None": ("WA", None),
    "False, b'\\xff'": ("WA", None),
    "False, '\\ud800'": ("WA", None),
    "False, 'x' * 3000000": ("WA", None),
    "'AC', 0.5": ("AC", None),
}
for _value, (_verdict, _share) in RETURNED.items():
    _source = f"def check(input, output, answer):\n    return {_value}"
    UNUSUAL[f"returns {_value}"] = "function", _source, {}, _verdict, _share
FUTURE = "from __future__ import annotations\n"
THREADED = "import atexit, threading, time\natexit.register(time.sleep, 60)\n"
NAP = "threading.Thread(target=time.sleep, args=(60,)).start()"
# modules whose function is called: the verdict, and the share if it gives one
MODULES: dict[str, tuple[str, str, float | None]] = {
    "a boolean of numpy": ("import numpy\ndef check(*_): return numpy.ones(1).all()", "AC", None),
    "a number of numpy": ("import numpy\ndef check(*_): return numpy.float64(0.5)", "WA", 0.5),
    "an array of numpy": ("import numpy\ndef check(*_): return numpy.ones(2)", IE, None),
    "a fraction": ("from fractions import Fraction\ndef check(*_): return Fraction(1, 4)", "WA", 0.25),
    "a member of an enumeration": ("import enum\ndef check(*_): return enum.IntEnum('V', 'OK').OK", "AC", 1.0),
    "a text in an enumeration": (
        "import enum\nclass V(str, enum.Enum):\n    NO = 'WA'\ndef check(*_): return V.NO, V.NO", "WA", None),
    "a data class": (
        FUTURE + "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: ClassVar[int] = 1\n"
        "def check(*_): return A().x == 1", "AC", None),
    "a class that is pickled": (
        "import pickle\nclass A: pass\ndef check(*_): return bool(pickle.loads(pickle.dumps(A())))", "AC", None),
    "a thread that goes on": (THREADED + f"def check(*_):\n    {NAP}\n    return False", "WA", None),
    "a thread that goes on, and a failure": (THREADED + f"def check(*_):\n    {NAP}\n    1 / 0", IE, None),
}  # fmt: skip
for _name, (_source, _verdict, _share) in MODULES.items():
    UNUSUAL[_name] = "function", _source, {}, _verdict, _share
PROLOGUES = {"testlib": READ, "kattis": KATTIS, "codeforces-python": FOREIGN, "scalebox": SCALEBOX}


def table(every: bool) -> list[tuple[str, str, str, str, float | None]]:
    """Return all rows, or all but those of failures in other protocols than one, which take turns."""
    rows = [(protocol, name, *row) for protocol, rows in CHECKERS.items() for name, row in rows.items()]
    rows += [
        (protocol, name, prologue + code, IE, None)
        for turn, (protocol, prologue) in enumerate(PROLOGUES.items())
        for place, (name, code) in enumerate(FAILURES.items())
        if every or place % len(PROLOGUES) == turn
    ]
    return rows


def checker(protocol: str, source: str, **fields: Any) -> dict[str, Any]:
    limits = {"cpu_seconds": 1.0, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
    return {"type": "program", "protocol": protocol, "source": source, "limits": limits, **fields}


@pytest.mark.parametrize("protocol", [*PROLOGUES, "function"])
def test_unusual_endings_have_their_verdicts(service: Service, protocol: str) -> None:
    rows = {name: row for name, row in UNUSUAL.items() if row[0] == protocol}
    prologue = PROLOGUES.get(protocol, "")
    submissions = [
        {"id": name, "checker": checker(protocol, prologue + source) | fields, "reward": {"scheme": "fraction"}}
        for name, (_, source, fields, _, _) in rows.items()
    ]
    grades = service.client.batch(submissions, code="print(2 * int(input()))", tests=[TEST])
    wrong = {}
    for name, (_, _, _, verdict, share) in rows.items():
        grade = grades[name]
        found = grade["verdict"], grade["tests"][0]["share"]
        if found != (verdict, share) or (grade["failure_kind"] == "bad_checker") != (verdict == IE):
            wrong[name] = found, grade["failure_reason"], grade["message"]
    assert wrong == {}


INT = "def check(input, output, answer):\n    return int(output) == int(answer)"
TALK = "import sys\nprint(7, flush=True)\nline = sys.stdin.readline()\n"
SLOW_FAILURE = "import time\ntime.sleep(0.3)\n1 / 0"
# what a submission does to its judge, the judge, and whether its failure is the submission's doing
PROVOKED: dict[str, tuple[str, str, str, bool]] = {
    "no number": ("print('x')", "function", INT, True),
    "nothing": ("pass", "function", INT, True),
    "too many digits": ("print('9' * 5000)", "function", INT, True),
    "no text": ("import sys\nsys.stdout.buffer.write(b'\\xff')", "testlib", READ + "sys.exit(output != answer)", True),
    "a value that cannot be hashed": (
        "print('[6]')", "function",
        "import ast\ndef check(input, output, answer):\n    return len({ast.literal_eval(output): 1}) == 1", True),
    "depth": (
        "print('(' * 100000)", "function",
        "def check(input, output, answer):\n    def depth(at):\n"
        "        return output[at] == '(' and 1 + depth(at + 1)\n    return depth(0) == 0", True),
    "time": (
        "print('6 ' * 50000)", "function",
        "def check(input, output, answer):\n    words = output.split()\n"
        "    return sum(one == other for one in words for other in words) == 1", True),
    "an unknown status": ("print(7)", "kattis", KATTIS + "sys.exit(42 if output == answer else 1)", True),
    "a judge without answers": (
        "print(7)", "function",
        "def check(input, output, answer):\n    return {'': False, '5': True}[output.strip()]", True),
    "a judge that blames its data": ("print(7)", "testlib", READ + "sys.exit(0 if output == answer else 3)", False),
    "a judge that always fails": ("print('x')", "function", "def check(input, output, answer):\n    1 / 0", False),
    "a judge that does not compile": ("print('x')", "kattis", "def (", False),
    "words for an interactor": ("input()\nprint('x')", "interact", TALK + "sys.exit(42 if int(line) else 43)", True),
    "silence for an interactor": ("pass", "interact", TALK + "sys.exit(42 if int(line) else 43)", True),
    "an interactor that always fails": (
        "input()\ninput()", "interact", "import sys\nprint(7, flush=True)\n1 / 0", False),
    "an interactor that fails by itself after a program's end": ("pass", "interact", SLOW_FAILURE, False),
    "an interactor that fails without reading": ("print('x')", "interact", SLOW_FAILURE, False),
}  # fmt: skip


@pytest.mark.parametrize("meaning", ["mask", "reject"])
def test_a_failure_that_the_submission_provokes_is_named_and_can_count_as_wrong(service: Service, meaning: str) -> None:
    submissions = []
    for name, (code, protocol, source, _) in PROVOKED.items():
        talks = protocol == "interact"
        judge = checker("kattis" if talks else protocol, source, provoked_failure=meaning)
        test = {"type": "interactive"} if talks else TEST
        submissions.append({"id": name, "code": code, "tests": [test], "interactor" if talks else "checker": judge})
    grades = service.client.batch(submissions)
    wrong = {}
    for name, (_, _, _, provoked) in PROVOKED.items():
        grade = grades[name]
        verdict = "WA" if provoked and meaning == "reject" else IE
        found = grade["verdict"], grade["provoked"], grade["mask_sample"]
        if found != (verdict, provoked, verdict == IE):
            wrong[name] = found, grade["failure_reason"], grade["message"]
    assert wrong == {}


def test_a_judge_that_waits_on_its_own_answer_is_not_asked_about_another(service: Service) -> None:
    slow = checker("function", "import time\ndef check(input, output, answer):\n    time.sleep(60)")
    slow["limits"] = slow["limits"] | {"wall_seconds": 1.0}
    begin = time.monotonic()
    grade = service.grade(code="print(6)", tests=[TEST], checker=slow)
    assert (grade["verdict"], grade["provoked"]) == (IE, False)
    assert "slept or waited" in grade["message"]
    assert time.monotonic() - begin < 20  # two runs of a second, and what else the machine does


def test_a_right_output_is_accepted_whatever_failures_mean(service: Service) -> None:
    judge = checker("function", INT, provoked_failure="reject")
    grade = service.grade(code="print(6)", tests=[TEST], checker=judge)
    assert (grade["verdict"], grade["provoked"]) == ("AC", False)


@pytest.mark.parametrize("every", one_in(2, [False, True]))
def test_each_ending_has_its_verdict(service: Service, every: bool) -> None:
    rows = table(every)
    assert min(sum(row[0] == protocol for row in table(True)) for protocol in CHECKERS) >= 10
    submissions = [
        {"id": f"{protocol}/{name}", "code": "print(2 * int(input()))", "tests": [TEST]}
        | {"checker": checker(protocol, source, limits=SHORT), "reward": {"scheme": "fraction"}}
        for protocol, name, source, _, _ in rows
    ]
    grades = service.client.batch(submissions)
    wrong = []
    for protocol, name, _, verdict, share in rows:
        grade = grades[f"{protocol}/{name}"]
        kind = "bad_checker" if verdict == IE else None
        reward = None if verdict == IE else (1.0 if verdict == "AC" else 0.0) if share is None else share
        found = grade["verdict"], grade["failure_kind"], grade["reward"], grade["mask_sample"]
        if found != (verdict, kind, reward, verdict == IE):
            wrong.append((protocol, name, found, grade["message"], grade["failure_reason"]))
    assert wrong == []


@pytest.mark.parametrize(("protocol", "prologue"), [("testlib", READ), ("codeforces-python", FOREIGN)])
def test_files_have_their_roles(service: Service, protocol: str, prologue: str) -> None:
    """Also of an answer in text, although no program reads the input."""
    ending = "right = [input, output, answer] == [['in'], ['out'], ['ans']]\n"
    ending += "print(int(right))\nsys.exit(0 if right else 1)"
    test = {"type": "stdin", "input": "in", "output": "ans"}
    judge = checker(protocol, prologue + ending)
    assert service.grade(code="print('out')", tests=[test], checker=judge)["verdict"] == "AC"
    assert service.grade(code="out", tests=[test], checker=judge, language="text")["verdict"] == "AC"


def test_scalebox_names_the_participants_output_answer(service: Service) -> None:
    ending = "sys.exit(0 if (input, output, answer) == (['in'], ['out'], ['ans']) else 1)"
    test = {"type": "stdin", "input": "in", "output": "ans"}
    judge = checker("scalebox", SCALEBOX + ending)
    assert service.grade(code="print('out')", tests=[test], checker=judge)["verdict"] == "AC"


def test_flags_and_further_files_reach_the_checker(service: Service) -> None:
    helper = "def status(argv):\n    return 42 if argv[4:] == ['case_sensitive', '7'] else 43"
    files = {"main.py": "import helper, sys\nsys.exit(helper.status(sys.argv))", "helper.py": helper}
    judge = {"type": "program", "protocol": "kattis", "files": files, "main": "main.py"}
    judge |= {"arguments": ["case_sensitive", "7"]}
    assert service.grade(code="print(1)", tests=[TEST], checker=judge)["verdict"] == "AC"


def test_arguments_and_full_scores_may_differ_by_test(service: Service) -> None:
    source = KATTIS + SCORE + "(sys.argv[5])\nsys.exit(42 if sys.argv[4] == 'all' else 43)"
    tests = [
        TEST | {"judge_arguments": ["1"], "full_score": 2.0},
        TEST | {"judge_arguments": ["30"], "full_score": 40.0},
        TEST | {"judge_arguments": ["1"]},
    ]
    judge = checker("kattis", source, arguments=["all"])
    grade = service.grade(code="print(1)", tests=tests, checker=judge, reward={"scheme": "fraction"})
    assert [test["share"] for test in grade["tests"]] == [0.5, 0.75, 1.0]
    assert grade["reward"] == 0.75
    refused = service.grade(code="print(6)", tests=[TEST, TEST, tests[0]])
    assert (refused["verdict"], refused["failure_kind"]) == (IE, "bad_test")


def test_a_judge_without_its_function_is_told_so(service: Service) -> None:
    judge = checker("function", "def checks(*_): return True")
    grade = service.grade(code="print(6)", tests=[TEST], checker=judge)
    assert (grade["verdict"], grade["failure_kind"]) == (IE, "bad_checker")
    assert "the judge defines no function check" in grade["message"]


def test_the_message_is_in_the_answer(service: Service) -> None:
    source = KATTIS + "open(feedback + 'judgemessage.txt', 'w').write('line 1: too small')\nsys.exit(43)"
    grade = service.grade(code="print(1)", tests=[TEST], checker=checker("kattis", source))
    assert (grade["verdict"], grade["message"]) == ("WA", "line 1: too small")


DRAWS = {
    "random": "import random\nprint(random.random())",
    "numpy": "import numpy, random\nprint(numpy.random.random(), random.random())",
}


@pytest.mark.parametrize("code", DRAWS.values(), ids=DRAWS)
def test_each_pass_draws_other_random_numbers_and_every_run_the_same(service: Service, code: str) -> None:
    """A program must not know in the second pass what it drew in the first."""
    source = (
        "import os, sys\nfolder = sys.argv[3]\ndrawn = sys.stdin.read()\n"
        "seen = sorted(os.listdir(folder))\n"
        "if any(open(os.path.join(folder, each)).read() == drawn for each in seen): sys.exit(43)\n"
        "open(os.path.join(folder, f'pass{len(seen)}'), 'w').write(drawn)\n"
        "if len(seen) < 2: open(os.path.join(folder, 'nextpass.in'), 'w').write('x')\n"
        "else: open(os.path.join(folder, 'judgemessage.txt'), 'w').write(drawn)\n"
        "sys.exit(42)\n"
    )
    judge = checker("kattis", source, passes=3)
    grades = [service.grade(code=code, tests=[TEST], checker=judge) for _ in range(2)]
    assert [grade["verdict"] for grade in grades] == ["AC", "AC"], grades[0]
    assert grades[0]["tests"][0]["stdout"] == grades[1]["tests"][0]["stdout"]


def test_passes_share_the_feedback_folder_and_nothing_else_does(service: Service) -> None:
    source = (
        KATTIS
        + """import os
state = feedback + "state"
seen = int(open(state).read()) if os.path.exists(state) else 0
if seen != int(input[0]) or output != input:
    sys.exit(43)
open(state, "w").write(str(seen + 1))
if seen < 2:
    open(feedback + "nextpass.in", "w").write(str(seen + 1))
sys.exit(42)
"""
    )
    tests = [{"type": "stdin", "input": "0", "output": ""}] * 2
    judge = checker("kattis", source, passes=3)
    assert service.grade(code="print(input())", tests=tests, checker=judge)["verdict"] == "AC"
    assert service.grade(code="print(input() or 1)\nif 0: pass", tests=tests, checker=judge)["verdict"] == "AC"
    assert service.grade(code="print(0)", tests=tests, checker=judge)["verdict"] == "WA"
    grade = service.grade(code="print(input())", tests=tests, checker=judge | {"passes": 2})
    assert (grade["verdict"], grade["failure_kind"]) == ("IE", "bad_checker")


def test_a_checker_runs_only_if_the_program_ended_well(service: Service) -> None:
    accepts_all = checker("testlib", "raise SystemExit(0)")
    assert service.grade(code="print(6)\n1 / 0", tests=[TEST], checker=accepts_all)["verdict"] == "RTE"
    assert service.grade(code="def (", tests=[TEST], checker=accepts_all)["verdict"] == "CE"


def test_a_checker_of_a_suite_serves_its_submissions(service: Service) -> None:
    body = json.dumps({"tests": [TEST], "checker": checker("testlib", READ + "sys.exit(output != ['7'])")}).encode()
    name = hashlib.sha256(body).hexdigest()
    service.client.request("PUT", f"/v1/suites/{name}", body)
    suite = {"suite": f"sha256:{name}"}
    assert service.grade(code="print(7)", **suite)["verdict"] == "AC"
    assert service.grade(code="print(6)", **suite)["verdict"] == "WA"
    assert service.grade(code="print(6)", **suite, checker={"type": "tokens"})["verdict"] == "AC"
    assert service.grade(code="print(7)", **suite, checker={"type": "suite"})["verdict"] == "AC"


@pytest.mark.parametrize(
    "changes",
    [
        {"checker": {"type": "suite"}},
        {"checker": {"type": "program"}},
        {"checker": {"type": "program", "source": "", "files": {"a": ""}}},
        {"checker": {"type": "program", "files": {"../a": ""}, "main": "../a"}},
        {"checker": {"type": "program", "source": "", "language": "text"}},
        {"checker": {"type": "program", "source": "", "limits": {"cpu_seconds": 1e6}}},
        {"checker": {"type": "program", "source": ""}, "tests": [{"type": "call", "function": "f", "output": 1}]},
        {"checker": {"type": "program", "source": ""}, "tests": [{"type": "stdin", "output": ["1", "2"]}]},
        {"interactor": {"type": "program", "source": "", "protocol": "kattis", "passes": 0}},
    ],
)
def test_what_cannot_be_run_is_refused(service: Service, changes: dict[str, Any]) -> None:
    status, answer = service.client.post("/v1/grade", {"code": "1", "tests": [TEST], **changes})
    assert status in (400, 422), answer
