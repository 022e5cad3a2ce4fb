"""The client against a real service with real jails: right, wrong and faulty submissions, restarts and cancellation."""

from __future__ import annotations

import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.service import Service as Running
from sandbox_service.client import Client, GraderFaultError, RefusedError, Suite
from tests.conftest import Service, need_firejail, running_service

DOCUMENTS = ("README.md", "docs/client.md")
EXAMPLES = [
    (document, source)
    for document in DOCUMENTS
    for source in re.findall(
        r"^```python\n(from sandbox_service.client.*?)^```$",
        (Path(__file__).parents[2] / document).read_text(),
        re.MULTILINE | re.DOTALL,
    )
]
TESTS = [{"type": "stdin", "input": "1 2\n", "output": "3\n"}]
SECONDS = 60.0


def submissions(count: int, of: str) -> list[dict[str, Any]]:
    """Return submissions that all differ, every third wrong."""
    return [{"code": f"print({3 if each % 3 else 4})  # {of} {each}"} for each in range(count)]


def expected(count: int) -> list[str]:
    return ["AC" if each % 3 else "WA" for each in range(count)]


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    with Client(service.client.url, patience_seconds=SECONDS) as made:
        yield made


def test_what_is_right_wrong_and_no_verdict(client: Client) -> None:
    assert client.ready()
    assert [each["name"] for each in client.languages()["languages"]][:2] == ["python", "text"]
    right = client.grade(completion="```python\nprint(3)\n```", tests=TESTS)
    wrong = client.grade(code="print(4)", tests=TESTS)
    idle = {"type": "assert", "code": "def check(candidate):\n    assert True\n", "entry_point": "add"}
    fault = client.grade(code="def add(a, b):\n    return 3", tests=[idle])
    assert [(each.verdict, each.reward) for each in (right, wrong, fault)] == [("AC", 1.0), ("WA", 0.0), ("IE", None)]
    with pytest.raises(GraderFaultError, match="bad_test") as raised:
        client.grade(code="def add(a, b):\n    return 3", tests=[idle], on_fault="raise")
    assert raised.value.kind == "bad_test"


def test_three_hundred_in_one_call(client: Client) -> None:
    grades = client.grade_many(submissions(300, "many"), defaults={"tests": TESTS})
    assert [grade.verdict for grade in grades] == expected(300)


def test_suites_and_samples(client: Client) -> None:
    tests = [{"type": "stdin", "input": f"{each}\n", "output": f"{each}\n" + " " * 1000} for each in range(20)]
    named = client.put_suite(tests, limits={"cpu_seconds": 1})
    for suite in (named, Suite.of(tests)):
        grade = client.grade(code="print(input())", suite=suite, sample={"count": 5})
        assert (grade.verdict, grade.total) == ("AC", 5)


def test_what_the_service_refuses_is_named(client: Client) -> None:
    given = [*submissions(2, "refused"), {"code": "", "language": "cobol", "id": "mine"}]
    with pytest.raises(RefusedError, match=r"submission 2 \('mine'\): 422 unsupported_language language 'cobol'"):
        client.grade_many(given, defaults={"tests": TESTS})
    with pytest.raises(RefusedError, match=r"422 invalid_request colour is not known"):
        client.grade(code="", tests=TESTS, colour="red")
    once = secrets.token_hex(8)  # the service is shared with others
    client.grade(id=once, code="print(3)", tests=TESTS)
    with pytest.raises(RefusedError) as refused:
        client.grade(id=once, code="print(4)", tests=TESTS)
    assert refused.value.kind == "id_reused"


def test_what_is_cancelled_is_answered(client: Client) -> None:
    sleeper: dict[str, Any] = {"code": "import time\ntime.sleep(5)", "tests": TESTS, "labels": {"step": "7"}}
    timer = threading.Timer(1.0, lambda: client.cancel_labelled("step", "7"))
    timer.start()
    grade = client.grade(**sleeper)
    timer.join()
    assert (grade.reward, grade.failure_kind) == (None, "cancelled")
    assert client.cancel("nobody/has this") == 0


SPINNING = f"""
import sys
from sandbox_service.client import Client
sleepers = [{{"code": f"import time; time.sleep(3) # {{n}}", "tests": {TESTS}}} for n in range(50)]
Client(sys.argv[1]).grade_many(sleepers)
"""


def test_what_is_interrupted_is_not_graded_any_more() -> None:
    with running_service(slots=1) as service:
        command = [sys.executable, "-c", SPINNING, service.client.url]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            until(lambda: pending(service) == 50)
            process.send_signal(signal.SIGINT)
        assert process.returncode != 0
        until(lambda: pending(service) <= 1)  # the one that runs


def test_a_service_that_is_killed_in_the_middle_costs_time_and_no_answer() -> None:
    need_firejail()
    is_begun, started = threading.Event(), Running(slots=2)

    def end_and_begin_again() -> None:
        assert is_begun.wait(SECONDS)
        started.kill()
        started.start()

    other = threading.Thread(target=end_and_begin_again)
    with closing(started), Client(started.url, patience_seconds=SECONDS) as client:
        started.start()
        other.start()
        grades = client.grade_many(
            submissions(300, "killed"),
            defaults={"tests": TESTS},
            progress=lambda done, _: is_begun.set() if done >= 60 else None,
        )
        other.join()
    assert [grade.verdict for grade in grades] == expected(300)
    assert len({grade.id for grade in grades}) == 300


@pytest.mark.parametrize(("document", "source"), EXAMPLES, ids=[document for document, _ in EXAMPLES])
def test_the_documents_examples_do_what_they_say(service: Service, document: str, source: str) -> None:
    """The examples run one after the other and contain their own assertions."""
    there = source.replace("http://127.0.0.1:8080", service.client.url)
    exec(compile(there, document, "exec"), {"__name__": "example"})


def pending(service: Service) -> int:
    return int(service.client.get("/v1/status")[1]["pending"]["submissions"])


def until(condition: Any) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
