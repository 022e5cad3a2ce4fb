"""Checker programs in Python, by every protocol: each way to end, and the verdict that it means."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.conftest import Service

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

# endings that no protocol allows, whatever it is: the checker failed
FAILURES = {
    "crash": "1 / 0",
    "unknown status": "raise SystemExit(99)",
    "spin": "while True:\n    pass",
    "flood": "while True:\n    print('x' * 100000)",
    "memory": "x = bytearray(1 << 40)",
    "signal": "import os, signal, resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True:\n    pass",
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
PROLOGUES = {"testlib": READ, "kattis": KATTIS, "codeforces-python": FOREIGN, "scalebox": SCALEBOX}


def table() -> list[tuple[str, str, str, str, float | None]]:
    rows = [(protocol, name, *row) for protocol, rows in CHECKERS.items() for name, row in rows.items()]
    rows += [
        (protocol, name, prologue + code, IE, None)
        for protocol, prologue in PROLOGUES.items()
        for name, code in FAILURES.items()
    ]
    return rows


def checker(protocol: str, source: str, **fields: Any) -> dict[str, Any]:
    limits = {"cpu_seconds": 1.0, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
    return {"type": "program", "protocol": protocol, "source": source, "limits": limits, **fields}


def test_each_ending_has_its_verdict(service: Service) -> None:
    rows = table()
    assert min(sum(row[0] == protocol for row in rows) for protocol in CHECKERS) >= 10
    submissions = [
        {"id": f"{protocol}/{name}", "code": "print(2 * int(input()))", "tests": [TEST]}
        | {"checker": checker(protocol, source), "reward": {"scheme": "fraction"}}
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
    ending = "right = [input, output, answer] == [['in'], ['out'], ['ans']]\n"
    ending += "print(int(right))\nsys.exit(0 if right else 1)"
    test = {"type": "stdin", "input": "in", "output": "ans"}
    assert (
        service.grade(code="print('out')", tests=[test], checker=checker(protocol, prologue + ending))["verdict"]
        == "AC"
    )


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


def test_the_message_is_in_the_answer(service: Service) -> None:
    source = KATTIS + "open(feedback + 'judgemessage.txt', 'w').write('line 1: too small')\nsys.exit(43)"
    grade = service.grade(code="print(1)", tests=[TEST], checker=checker("kattis", source))
    assert (grade["verdict"], grade["message"]) == ("WA", "line 1: too small")


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
