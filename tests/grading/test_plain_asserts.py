"""Plain assertions whose calls alone run in a box: verdicts and reasons are those of the test program in a box."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox_service import bootstrap
from sandbox_service.grading import asserts
from sandbox_service.grading.grader import Grader
from sandbox_service.judging.distances import NEAR_ROW
from sandbox_service.judging.plain_asserts import plain_test
from sandbox_service.sandbox.python_jail import PythonJail
from sandbox_service.schema import Grade, Submission
from sandbox_service.settings import Settings
from tests.conftest import ISOLATION, need_firejail
from tests.markers import one_in

MORE = "\nassert f([2]) == [2]"
TESTS: dict[str, tuple[str, str | None]] = {
    "number": ("assert f([3, 1]) == 42" + MORE, None),
    "list": ("assert f([3, 1]) == [1, 3], 'not sorted'" + MORE, None),
    "truth": ("assert f([3, 1])\nassert not f([])", None),
    "pytest": (
        "from solution import f\ndef test_a():\n    assert f([2]) == [2]\ndef test_b():\n    assert not f([])",
        None,
    ),
    "near": ("assert abs(f([3, 1]) - 42.0) < 1e-6", None),
    "from near": ("assert abs(1 / 3 - f([2])) <= 50" + MORE, None),
    "near row": (f"assert {NEAR_ROW.format('f([3, 1])', '(1.0, 3.0000001)')}" + MORE, None),
    "longer row": (f"assert {NEAR_ROW.format('f([3, 1])', '[1, 3, 5]')}" + MORE, None),
    "shorter row": (f"assert {NEAR_ROW.format('f([3, 1])', '[1]')}" + MORE, None),
    "loop": (
        "from json import loads\nfor args, result in loads('[[[[3, 1]], [1, 3]], [[[2]], [2]]]'):\n"
        "    assert f(*args) == result",
        None,
    ),
    "loop of literals": (
        "def check(candidate):\n    from ast import literal_eval\n"
        "    for args, result in literal_eval('[[[[3, 1]], 42], [[(2,)], None]]'):\n"
        "        assert candidate(*args) == result",
        "f",
    ),
    "none": ("def check(candidate):\n    assert candidate([3, 1]) is None\n    assert candidate(None) is None", "f"),
}

FRAME = """
import os, json
def frame(text):
    data = text.encode()
    return len(data).to_bytes(4, "little") + data
LOOK = frame('ok\\n[[[["f",[{"H":[0,"function","f"]}]]],null]]')
"""

PROGRAMS: dict[str, str] = {
    "sorted": "def f(x): return sorted(x)",
    "in place": "def f(x):\n    x.sort()\n    return x",
    "the argument": "def f(x): return x",
    "a list in a list": "def f(x): return [x]",
    "right for one": "def f(x): return 42",
    "none": "def f(x): pass",
    "true": "def f(x): return x != []",
    "tuple": "def f(x): return tuple(x)",
    "generator": "def f(x):\n    yield 42",
    "coroutine": "async def f(x): return 42",
    "partial": "import functools\nf = functools.partial(lambda y, x: sorted(x), 1)",
    "cached": "import functools\n@functools.lru_cache\ndef f(x): return 42",
    "lambda": "f = lambda x: sorted(x)",
    "class": "class f:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return True",
    "an object that can be called": "class C:\n    def __call__(self, x): return sorted(x)\nf = C()",
    "a number": "f = 42",
    "missing": "def g(x): return 42",
    "deleted": "def f(x):\n    global f\n    del f\n    return sorted(x)",
    "liar": "class Liar(int):\n    def __eq__(self, other): return True\ndef f(x): return Liar(1)",
    "extended int": "class Own(int): pass\ndef f(x): return Own(42)",
    "extended list": "class Own(list): pass\ndef f(x): return Own(sorted(x))",
    "enumeration": "import enum\nclass E(enum.IntEnum):\n    A = 42\ndef f(x): return E.A",
    "named tuple": "import collections\nP = collections.namedtuple('P', 'a b')\ndef f(x): return P(1, 3)",
    "deque": "import collections\ndef f(x): return collections.deque(sorted(x))",
    "decimal": "import decimal\ndef f(x): return decimal.Decimal(42)",
    "float": "def f(x): return 42.0",
    "nan": "def f(x): return float('nan')",
    "text": "def f(x): return '42'",
    "half a character": "def f(x): return '\\ud800'",
    "large integer": "def f(x): return 10**400",
    "large list": "def f(x): return [0] * 200_000",
    "deep list": "def f(x):\n    y = []\n    for _ in range(150): y = [y]\n    return y",
    "a list in itself": "def f(x):\n    x.append(x)\n    return x",
    "set": "def f(x): return {42}",
    "frozen set": "def f(x): return frozenset((1, 3))",
    "exception": "def f(x): raise ValueError('no', 1)",
    "own exception": "class Own(Exception): pass\ndef f(x): raise Own(x)",
    "base exception": "def f(x): raise BaseException('no')",
    "interrupt": "def f(x): raise KeyboardInterrupt",
    "exit in a call": "import sys\ndef f(x): sys.exit(0)",
    "assertion": "def f(x): assert x == 5, 'own'",
    "half an exception": "def f(x): raise ValueError('\\ud800')",
    "memory error": "def f(x): raise MemoryError",
    "stop iteration": "def f(x): raise StopIteration",
    "recursion": "def f(x): return f(x)",
    "wrong number of parameters": "def f(): return 42",
    "no import": "import nothing_of_that_name",
    "exit while loading": "import sys\ndef f(x): return sorted(x)\nsys.exit(0)",
    "failure while loading": "import sys\ndef f(x): return sorted(x)\nsys.exit(3)",
    "syntax": "def f(x) return",
    "end": "import os\ndef f(x): os._exit(0)",
    "end with another status": "import os\ndef f(x): os._exit(5)",
    "signal": "import os\ndef f(x): os.kill(os.getpid(), 9)",
    "crash": "import ctypes\ndef f(x): ctypes.string_at(0)",
    "memory": "def f(x): return len(bytearray(1 << 30))",
    "resident memory": "def f(x):\n    global kept\n    kept = b'x' * (100 << 20)\n    return sorted(x)",
    "output": "def f(x):\n    print('x' * (2 << 20))\n    return sorted(x)",
    "little output": "def f(x):\n    print('x')\n    return sorted(x)",
    "spin in the first call": "def f(x):\n    while len(x) == 2: pass",
    "spin after a failure": "def f(x):\n    while len(x) == 1: pass",
    "spin in a thread": "import threading\ndef f(x):\n    threading.Thread(target=spin).start()\n    return sorted(x)\n"
    "def spin():\n    while True: pass",
    "closed pipe": "import os\ndef f(x):\n    os.close(7)\n    return sorted(x)",
    "replaced pipe": "import os\ndef f(x):\n    os.dup2(1, 7)\n    return sorted(x)",
    "replies of its own": FRAME + "os.write(7, LOOK + 3 * frame('ok\\n[42]'))\nos._exit(0)",
    "half a reply": FRAME + "os.write(7, LOOK + frame('ok\\n[42]') + b'\\xff')\nos._exit(0)",
    "rubbish": FRAME + "os.write(7, b'\\xff' * 100)\nos._exit(0)",
    "a report": FRAME + "os.write(7, frame('passed\\n[]'))\nos._exit(0)",
    "truncated replies": FRAME + "def f(x):\n    os.ftruncate(7, 0)\n    return 42",
    "sealed replies": "import fcntl\ndef f(x):\n    fcntl.fcntl(7, 1033, 8)\n    return sorted(x)",
    "another place in the replies": "import os\ndef f(x):\n    os.lseek(7, 0, 0)\n    return 42",
    "appended replies": "import fcntl, os\nfcntl.fcntl(7, 4, os.O_APPEND)\ndef f(x): return sorted(x)",
    "changed requests": "import os\ntry: os.pwrite(6, b'x' * 100, 0)\nexcept OSError: pass\ndef f(x): return sorted(x)",
    "another encoder": "import sys, json\njson.JSONEncoder.encode = lambda *a: '[42]'\ndef f(x): return 1",
    "another dispatcher": "import sys\nfor each in list(sys.modules.values()):\n    if hasattr(each, 'to_text'):\n"
    "        each.to_text = lambda value: '[42]'\ndef f(x): return 1",
}
"""Those in `FORGED` use the descriptors of the two ways, which differ: what they change reaches only their own box."""

FORGED = {
    "replies of its own", "half a reply", "truncated replies", "another place in the replies", "rubbish",
    "sealed replies", "changed requests",
}  # fmt: skip


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    need_firejail()
    with bootstrap.grader(Settings(isolation=ISOLATION, audit_test_share=1.0)) as found:
        yield found


def grade(grader: Grader, code: str, *tests: tuple[str, str | None], **fields: Any) -> Grade:
    limits = {"cpu_seconds": 0.5, "wall_seconds": 20, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
    made = [{"type": "assert", "code": text, "entry_point": entry} for text, entry in tests]
    body = {"id": "x", "code": code, "tests": made, "limits": limits, "stop_on_failure": False} | fields
    return grader.grade(Submission.model_validate(body))


def findings(grade: Grade) -> list[tuple[str, str | None]]:
    """The verdicts and their reasons, but of limits, whose reasons have times and sizes."""
    return [(test.verdict, None if test.verdict in ("TLE", "MLE", "OLE") else test.message) for test in grade.tests]


@pytest.mark.parametrize("name", one_in(3, [each for each in PROGRAMS if each not in FORGED]))
def test_the_finding_is_that_of_the_test_program(grader: Grader, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = findings(grade(grader, PROGRAMS[name], *TESTS.values()))
    monkeypatch.setattr(asserts, "plain_test", lambda *_, **__: None)
    assert alone == findings(grade(grader, PROGRAMS[name], *TESTS.values()))
    assert all(plain_test(text, entry) for text, entry in TESTS.values())


@pytest.mark.parametrize("name", sorted(FORGED))
def test_a_candidate_that_changes_its_replies_has_only_claimed_values(grader: Grader, name: str) -> None:
    """Without the expected values it cannot claim them."""
    for test in (("assert f([3, 1]) == 43" + MORE, None), ("assert f([2]) == 1\nassert f([3]) == 42", None)):
        assert grade(grader, PROGRAMS[name], test).reward == 0


def test_a_plain_test_takes_one_box(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a test program ran in a box")

    monkeypatch.setattr(PythonJail, "run_pair", fail)
    found = grade(grader, PROGRAMS["sorted"], *TESTS.values())
    verdicts = dict(zip(TESTS, (test.verdict for test in found.tests), strict=True))
    assert {name for name, verdict in verdicts.items() if verdict == "AC"} == {
        "list",
        "truth",
        "pytest",
        "near row",
        "loop",
    }
    assert grade(grader, PROGRAMS["right for one"], TESTS["near"]).verdict == "AC"


AUDITED = [
    {"type": "assert", "code": "assert f([3, 1]) == [1, 3]"},
    {"type": "assert", "code": "assert f([2, 2]) == [2, 2]\nassert f([5, 4]) == [4, 5]", "role": "audit"},
]
AUDIT_ONLY = {
    "table": "def f(x): return {'[3, 1]': [1, 3]}.get(str(x))",
    "right for some": "def f(x): return [1, 3] if x == [3, 1] else [2, 2] if x == [2, 2] else x",
    "wrong, then endless": "def f(x):\n    while x == [5, 4]: pass\n    return x[::-1] if x == [3, 1] else 0",
    "endless otherwise": "def f(x):\n    while x != [3, 1]: pass\n    return [1, 3]",
    "ends otherwise": "import os\ndef f(x): return [1, 3] if x == [3, 1] else os._exit(0)",
    "fails otherwise": "def f(x): return {'[3, 1]': [1, 3]}[str(x)]",
    "bears two calls": "n = []\ndef f(x):\n    n.append(1)\n    return sorted(x) if len(n) < 3 else 0",
}


@pytest.mark.parametrize("name", [*AUDIT_ONLY, *one_in(3, [each for each in PROGRAMS if each not in FORGED])])
def test_an_audit_test_in_the_same_box_has_the_same_findings(
    grader: Grader, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def graded() -> tuple[object, ...]:
        found = grade(grader, (PROGRAMS | AUDIT_ONLY)[name], tests=AUDITED)
        return findings(found), found.suspect, [test.verdict for test in found.audit or ()]

    in_one_box = graded()
    monkeypatch.setattr(asserts, "plain_test", lambda *_, **__: None)
    assert in_one_box == graded()


@pytest.mark.parametrize("name", sorted(FORGED))
def test_a_candidate_that_claims_values_passes_no_audit_test(grader: Grader, name: str) -> None:
    found = grade(grader, PROGRAMS[name], tests=[{"type": "assert", "code": "assert f([3, 1]) == 42"}, AUDITED[1]])
    assert found.verdict != "AC" or found.suspect


def test_an_audited_program_takes_one_box(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    run = PythonJail.run_candidate

    def counted(self: PythonJail, *given: Any) -> Any:
        runs.append(given)
        return run(self, *given)

    monkeypatch.setattr(PythonJail, "run_candidate", counted)
    monkeypatch.setattr(PythonJail, "run_pair", lambda *_: pytest.fail("a test program ran in a box"))
    for name, suspect in (("sorted", False), ("table", True), ("right for some", True)):
        found = grade(grader, (PROGRAMS | AUDIT_ONLY)[name], tests=AUDITED)
        assert (found.verdict, found.suspect) == ("AC", suspect)
    assert len(runs) == 3


def test_a_box_is_ended_soon_after_its_audit_test_has_failed(grader: Grader) -> None:
    """Otherwise the second call of the audit test would use up the limit of time."""
    limits = {"cpu_seconds": 30, "wall_seconds": 60}
    begin = time.monotonic()
    found = grade(grader, AUDIT_ONLY["wrong, then endless"], tests=AUDITED, limits=limits)
    assert (found.verdict, found.suspect) == ("AC", True)
    assert [test.verdict for test in found.audit or ()] == ["WA"]
    assert time.monotonic() - begin < 20


def test_a_box_whose_replies_decide_is_ended(grader: Grader) -> None:
    """The second call would use up the limit of time."""
    limits = {"cpu_seconds": 30, "wall_seconds": 60}
    found = grade(grader, PROGRAMS["spin after a failure"], TESTS["number"], limits=limits)
    assert found.verdict == "WA"
    assert found.tests[0].cpu_seconds < 20


def test_a_prelude_runs_before_the_candidate(grader: Grader) -> None:
    check = "def check(candidate):\n    assert candidate([3, 1]) == [1, 3]"
    tests = [
        {
            "type": "assert",
            "code": check,
            "entry_point": "f",
            "prelude": "import heapq\ndef helper(x): return sorted(x)",
        }
    ]
    assert grade(grader, "def f(x): return helper(x)", tests=tests).verdict == "AC"
    tests[0]["prelude"] = "1 / 0"
    assert grade(grader, "def f(x): return helper(x)", tests=tests).verdict == "IE"
