"""Large requests are answered as small ones are, and hold up nobody, whatever is in them.

`python -m tests.service.bodies` sends all of the bodies and prints what was measured; here are some of each family.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.conftest import Service, running_service
from tests.service.bodies import SUM, Body, Observer, bodies, send

TESTS = [{"type": "stdin", "input": "1 2\n", "output": "3\n"}]
LARGE = "\n#" + "x" * 300_000
SLEEPER = "import time\ntime.sleep(0.5)"  # a submission that is cancelled ends after the test that runs
MOST_LOOP_SECONDS = 0.25  # CPU time, a third of that on processors that are not shared
MOST_MEMORY = 1700 << 20
CHOSEN = {
    "tests of {}, 300,000",
    "tests of {}",
    "tests of wrong types",
    "args of []",
    "deep",
    "unknown fields of a test",
    "labels, all wrong",
    "lone surrogates",
    "commas in a text",
    "submissions of {}, 100,000",
    "tests of {}, gzip",
    "of its own kind",
    "half a million names",
    "honest: 9,000 tests, 55 MB",
}


@pytest.fixture(scope="module")
def roomy() -> Iterator[Service]:
    with running_service(queue_bytes=4 << 30) as running:
        yield running


@pytest.fixture(scope="module")
def observer(roomy: Service) -> Iterator[Observer]:
    watching = Observer(roomy)
    yield watching
    watching.end()


# the same shapes in other places of a submission, and shapes that all routes read with the same parser
REPEATED = {
    "tests of {}, 300,000",
    "tests of wrong types",
    "unknown fields of a test",
    "commas in a text",
    "submissions of {}, 100,000",
}
ONE_ROUTE = {"tests of {}", "deep", "honest: 9,000 tests, 55 MB"}
FOREIGN = "of its own kind"
# of each shape of body
FOREIGN_ROUTES = {"/run_code", "/submit"}


def chosen() -> list[Any]:
    """Some bodies of each family as parameters; those that repeat another are marked `full`."""
    found = []
    for body in bodies():
        if body.name in CHOSEN:
            is_repeated = (
                body.name in REPEATED
                or (body.name in ONE_ROUTE and body.path != "/v1/grade")
                or (body.name == FOREIGN and body.path not in FOREIGN_ROUTES)
            )
            name = f"{body.method} {body.path[:24]} {body.name}"
            found.append(pytest.param(body, id=name, marks=pytest.mark.full if is_repeated else ()))
    return found


@pytest.mark.parametrize("body", chosen())
def test_a_large_body_holds_up_nobody(roomy: Service, observer: Observer, body: Body) -> None:
    seen = send(roomy, observer, body)
    assert seen.status in body.statuses, seen.answer[:500]
    assert seen.loop < MOST_LOOP_SECONDS
    assert seen.peak < MOST_MEMORY
    assert seen.status == 200 or len(seen.answer) < 2000


@pytest.mark.parametrize("padding", ["", LARGE], ids=["small", "large"])
class TestBothWays:
    """What the service reads itself and what it leaves to another process."""

    def test_one(self, roomy: Service, padding: str) -> None:
        grade = roomy.grade(code=SUM + padding, tests=TESTS)
        assert (grade["verdict"], grade["passed"], grade["total"]) == ("AC", 1, 1)

    def test_a_batch(self, roomy: Service, padding: str) -> None:
        rows = [{"id": f"{len(padding)}-{number}", "code": SUM + padding} for number in range(3)]
        grades = roomy.client.batch(rows, tests=TESTS)
        assert {name: grade["verdict"] for name, grade in grades.items()} == {row["id"]: "AC" for row in rows}

    def test_asked_for_later(self, roomy: Service, padding: str) -> None:
        name = f"later-{len(padding)}"
        assert roomy.client.post("/v1/submissions", {"id": name, "code": SUM + padding, "tests": TESTS})[0] == 202
        status, grade = roomy.client.get(f"/v1/submissions/{name}?wait=30")
        assert (status, grade["verdict"]) == (200, "AC")

    def test_a_suite(self, roomy: Service, padding: str) -> None:
        suite = json.dumps({"tests": [{**TESTS[0], "input": "1 2\n" + padding}], "checker": {"type": "exact"}}).encode()
        name = hashlib.sha256(suite).hexdigest()
        path = f"/v1/suites/{name}"
        status, stored = roomy.client.request("PUT", path, suite)
        assert (status, json.loads(stored)) == (201, {"id": f"sha256:{name}", "tests": 1})
        assert roomy.client.request("PUT", path, suite)[0] == 200
        assert roomy.client.request("GET", path)[1] == suite
        for code in ("print(3)", "print(3)" + LARGE):
            assert roomy.grade(code=code, suite=f"sha256:{name}")["verdict"] == "AC"
        assert roomy.grade(code="print(3, end='')", suite=f"sha256:{name}")["verdict"] == "WA", "the suite's checker"
        status, answer = roomy.client.post("/v1/grade", {"code": "3", "language": "text", "suite": f"sha256:{name}"})
        assert (status, "no use for an input" in answer["error"]["message"]) == (422, True)

    def test_a_foreign_route(self, roomy: Service, padding: str) -> None:
        status, answer = roomy.client.post("/run_code", {"code": "print(1)" + padding, "language": "python"})
        assert (status, answer["run_result"]["stdout"]) == (200, "1\n")

    def test_errors(self, roomy: Service, padding: str) -> None:
        post = roomy.client.post
        wrong: dict[str, tuple[int, dict[str, Any]]] = {
            "invalid_request": (422, {"tests": TESTS, "nonsense": 1}),
            "unknown_suite": (409, {"suite": "sha256:" + "0" * 64}),
            "limit_too_high": (422, {"tests": TESTS, "limits": {"cpu_seconds": 1e9}}),
            "unsupported_language": (422, {"tests": TESTS, "language": "cobol"}),
        }
        for kind, (status, fields) in wrong.items():
            found, answer = post("/v1/grade", {"code": SUM + padding, **fields})
            assert (found, answer["error"]["type"]) == (status, kind)
        assert post("/v1/grade", {"id": "used" + str(len(padding)), "code": SUM + padding, "tests": TESTS})[0] == 200
        assert post("/v1/grade", {"id": "used" + str(len(padding)), "code": "1" + padding, "tests": TESTS})[0] == 409


def test_a_client_that_goes_away_has_its_large_submission_cancelled(roomy: Service) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", roomy.port)
    body = json.dumps({"code": SLEEPER + LARGE, "tests": TESTS * 200, "stop_on_failure": False})
    connection.request("POST", "/v1/grade", body)
    until(lambda: pending(roomy) > 0)
    connection.close()
    until(lambda: pending(roomy) == 0)


def test_a_process_that_is_killed_is_replaced(roomy: Service) -> None:
    assert roomy.grade(code=SUM + LARGE, tests=TESTS)["verdict"] == "AC"
    connection = http.client.HTTPConnection("127.0.0.1", roomy.port)
    body = json.dumps({"code": SLEEPER + LARGE, "tests": TESTS * 200, "stop_on_failure": False})
    connection.request("POST", "/v1/grade", body)
    until(lambda: pending(roomy) > 0)
    for process in roomy.family():
        if any("large.main" in part for part in process.cmdline()):
            process.kill()
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["error"]["type"]) == (503, "unavailable")
    assert answer.headers["Retry-After"]
    connection.close()
    until(lambda: pending(roomy) == 0)
    assert roomy.grade(code=SUM + LARGE, tests=TESTS)["verdict"] == "AC"


def test_keys_are_asked_for_and_nothing_is_left_behind() -> None:
    with running_service(api_keys="secret", slots=1) as service:
        submission = {"code": SUM + LARGE, "tests": TESTS}
        assert service.client.post("/v1/grade", submission)[0] == 401
        assert service.client.post("/v1/grade", submission, Authorization="Bearer secret")[0] == 200
        family = service.family()
        assert any("large.main" in part for process in family for part in process.cmdline())
    _, alive = psutil.wait_procs(family, timeout=15)
    assert alive == []


def pending(service: Service) -> int:
    _, status = service.client.get("/v1/status")
    found: int = status["pending"]["submissions"]
    return found


def until(so: Any) -> None:
    end = time.monotonic() + 30
    while not so():
        assert time.monotonic() < end
        time.sleep(0.02)
