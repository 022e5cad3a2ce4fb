"""Asynchronous submissions over HTTP: taken now, answered later, cancelled when nobody wants them any more."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.conftest import Service, running_service
from tests.guards import HANG_GUARD_SECONDS

Json = dict[str, Any]
PLAIN: Json = {"code": "print(int(input()) + 1)", "tests": [{"type": "stdin", "input": "1\n", "output": "2\n"}]}
NAPS: Json = {"code": "import time\ntime.sleep(0.5)\nprint(int(input()) + 1)", "tests": PLAIN["tests"] * 1000}


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """A service with a single slot, so that what is behind another waits."""
    with running_service(slots=1) as running:
        yield running


@pytest.fixture(autouse=True)
def idle(service: Service) -> Iterator[None]:
    """Each test begins and ends with nothing to do."""
    until(lambda: pending(service)["submissions"] == 0)
    yield
    call(service, "DELETE", "/v1/submissions?" + urlencode({"label": "of=this test"}))
    until(lambda: pending(service)["submissions"] == 0)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + HANG_GUARD_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.02)


def call(service: Service, method: str, path: str, body: Json | None = None) -> tuple[int, Json]:
    data = None if body is None else json.dumps(body).encode()
    status, answer = service.client.request(method, path, data)
    return status, json.loads(answer)


def status_of(service: Service) -> Json:
    status, found = call(service, "GET", "/v1/status")
    assert status == 200
    return found


def pending(service: Service) -> Json:
    found: Json = status_of(service)["pending"]
    return found


def path_of(name: str) -> str:
    return f"/v1/submissions/{quote(name, safe='')}"


def is_pending(answer: tuple[int, Json], name: str) -> bool:
    """Return whether this is the answer for a submission that has no grade yet."""
    status, body = answer
    return status == 202 and body["id"] == name and body["pending"] > 0


def submit(service: Service, **fields: Any) -> str:
    """The id of a submission that was taken."""
    body = PLAIN | {"labels": {"of": "this test"}} | fields
    status, answer = call(service, "POST", "/v1/submissions", body)
    assert status == 202, answer
    assert set(answer) == {"id", "pending", "eta_seconds"}
    assert answer["pending"] > 0
    return str(answer["id"])


def nap(service: Service, name: str, **fields: Any) -> str:
    """One that keeps the slot with a thousand short sleeps: a test that has begun is not broken off."""
    return submit(service, id=name, **NAPS, **fields)


def get(service: Service, name: str, wait: float | None = None) -> tuple[int, Json]:
    return call(service, "GET", path_of(name) + ("" if wait is None else f"?wait={wait}"))


def answer(service: Service, name: str) -> Json:
    """Its grade, when there is one."""
    end = time.monotonic() + HANG_GUARD_SECONDS
    while time.monotonic() < end:
        status, found = get(service, name, 10)
        if status == 200:
            return found
        assert (status, found["id"]) == (202, name)
    raise AssertionError(f"{name} is not answered")


def begun(service: Service) -> None:
    """Wait until the slot is busy."""
    until(lambda: status_of(service)["busy"] == 1)


def boxed(service: Service) -> set[int]:
    """The processes in boxes: below a zygote, which is a python3 below firejail."""
    # one file of /proc for each process: a box must not end while others are looked at
    parents: dict[int, tuple[int, str]] = {}
    for process in service.family():
        with suppress(OSError):
            name, _, rest = Path(f"/proc/{process.pid}/stat").read_text().partition("(")[2].rpartition(")")
            parents[process.pid] = int(rest.split()[1]), name
    found = set()
    for pid in parents:
        above, parent = [], parents[pid][0]
        while parent in parents:
            above.append(parents[parent][1])
            parent = parents[parent][0]
        if "python3" in above and "firejail" in above[above.index("python3") :]:
            found.add(pid)
    return found


# --- submitting and asking


def test_what_is_submitted_is_answered_later_and_again(service: Service) -> None:
    name = submit(service, id="later")
    first = answer(service, name)
    assert (first["id"], first["verdict"], first["reward"]) == ("later", "AC", 1.0)
    assert get(service, name) == (200, first)
    assert get(service, name, 5) == (200, first)


def test_without_an_id_it_gets_one(service: Service) -> None:
    one, other = submit(service), submit(service)
    assert one != other
    assert answer(service, one)["verdict"] == answer(service, other)["verdict"] == "AC"


def test_an_unknown_id_is_not_found(service: Service) -> None:
    for wait in (None, 0, 5):
        status, found = get(service, "never heard of", wait)
        assert (status, found["error"]["type"]) == (404, "not_found")
    assert call(service, "DELETE", path_of("never heard of")) == (200, {"cancelled": 0})


def test_while_it_runs_and_while_it_waits_there_is_no_answer_yet(service: Service) -> None:
    running, waiting = nap(service, "running"), submit(service, id="waiting")
    for name in (running, waiting):
        assert is_pending(get(service, name), name)
        assert is_pending(get(service, name, 0.1), name)


def test_one_who_polls_gets_the_answer_when_it_comes(service: Service) -> None:
    """It is polled while it waits behind another, which is cancelled only then."""
    nap(service, "before")
    submit(service, id="polled")
    with ThreadPoolExecutor(5) as threads:
        polls = [threads.submit(get, service, "polled", 60) for _ in range(5)]
        begun(service)
        assert not any(poll.done() for poll in polls)
        call(service, "DELETE", path_of("before"))
        answers = [poll.result() for poll in polls]
    assert [(status, found["verdict"]) for status, found in answers] == [(200, "AC")] * 5
    assert len({json.dumps(found) for _, found in answers}) == 1


def test_one_who_polls_and_goes_away_stops_nothing(service: Service) -> None:
    nap(service, "before")
    submit(service, id="left alone")
    for _ in range(3):
        assert get(service, "left alone", 0.05)[0] == 202
    call(service, "DELETE", path_of("before"))
    assert answer(service, "left alone")["verdict"] == "AC"


@pytest.mark.parametrize("wait", ["-1", "61", "nan", "soon", "inf"])
def test_a_wait_that_is_none_is_refused_in_the_usual_form(service: Service, wait: str) -> None:
    status, found = call(service, "GET", f"{path_of('x')}?wait={wait}")
    assert (status, found["error"]["type"]) == (422, "invalid_request")
    assert found["error"]["message"].startswith("wait ")


def test_the_same_id_is_the_same_submission_whichever_way_it_comes(service: Service) -> None:
    nap(service, "before")
    submit(service, id="twice")
    submit(service, id="twice")
    assert pending(service)["submissions"] == 2
    call(service, "DELETE", path_of("before"))
    found = answer(service, "twice")
    assert service.grade(**PLAIN, id="twice") == found
    status, refusal = call(service, "POST", "/v1/submissions", PLAIN | {"id": "twice", "code": "print(3)"})
    assert (status, refusal["error"]["type"]) == (409, "id_reused")


def test_what_is_no_submission_is_refused_at_once(service: Service) -> None:
    for body in (
        {},
        PLAIN | {"tests": []},
        PLAIN | {"language": "klingon"},
        PLAIN | {"labels": {"priority": "urgent"}},
    ):
        status, found = call(service, "POST", "/v1/submissions", body)
        assert status == 422, found
    assert pending(service)["submissions"] == 0


def test_a_fault_is_an_answer_too(service: Service) -> None:
    """There is no verdict; who comes back for one is told so, and not that nobody has heard of it."""
    test = {"type": "stdin", "output": "this is no number"}
    name = submit(service, id="bad test", tests=[test], code="print(1)", checker={"type": "numbers"})
    grade = answer(service, name)
    assert (grade["verdict"], grade["reward"], grade["mask_sample"]) == ("IE", None, True)
    assert grade["failure_kind"] == "bad_test"


STRANGE = [
    "step12/prompt7/rollout3",
    "/begins/and/ends/",
    "ünïcode 日本 😀",
    "a?wait=5&b=c#d",
    "100% %2F sure",
    "missing",
    "..",
    "a/../b",
    "a\ttab",
    "two\r\nlines",
    "ends with a line\n",
    "x" * 256,
]


@pytest.mark.parametrize("name", STRANGE)
def test_any_id_can_be_asked_for_and_cancelled(service: Service, name: str) -> None:
    nap(service, "before")
    assert submit(service, id=name) == name
    assert is_pending(get(service, name), name)
    assert call(service, "DELETE", path_of(name)) == (200, {"cancelled": 1})
    submit(service, id=name)
    call(service, "DELETE", path_of("before"))
    found = answer(service, name)
    assert (found["id"], found["verdict"]) == (name, "AC")


def test_slashes_in_a_path_need_no_escape(service: Service) -> None:
    submit(service, id="step/1/rollout/2")
    answer(service, "step/1/rollout/2")
    assert call(service, "GET", "/v1/submissions/step/1/rollout/2")[1]["verdict"] == "AC"


# --- cancelling


def test_one_that_runs_is_cancelled_and_its_program_is_gone(service: Service) -> None:
    nap(service, "asleep")
    until(lambda: boxed(service) != set())
    assert call(service, "DELETE", path_of("asleep")) == (200, {"cancelled": 1})
    until(lambda: status_of(service)["busy"] == 0)
    until(lambda: boxed(service) == set())
    found = answer(service, "asleep")
    assert (found["verdict"], found["reward"], found["failure_kind"]) == ("IE", None, "cancelled")
    assert service.grade(**PLAIN)["verdict"] == "AC"


def test_one_that_waits_is_cancelled_and_never_run(service: Service) -> None:
    nap(service, "before")
    begun(service)
    submit(service, id="waits")
    assert call(service, "DELETE", path_of("waits")) == (200, {"cancelled": 1})
    assert call(service, "DELETE", path_of("waits")) == (200, {"cancelled": 0})
    assert answer(service, "waits")["failure_kind"] == "cancelled"
    assert is_pending(get(service, "before"), "before")
    assert status_of(service)["busy"] == 1


def test_who_waits_on_a_connection_is_told_of_the_cancellation(service: Service) -> None:
    body = NAPS | {"id": "held"}
    with ThreadPoolExecutor(2) as threads:
        single = threads.submit(service.client.post, "/v1/grade", body)
        until(lambda: pending(service)["submissions"] == 1)
        batch = threads.submit(service.client.batch, [body, PLAIN | {"id": "behind"}])
        until(lambda: pending(service)["submissions"] == 2)
        assert call(service, "DELETE", path_of("held")) == (200, {"cancelled": 1})
        status, grade = single.result()
        grades = batch.result()
    assert (status, grade["failure_kind"], grade["mask_sample"]) == (200, "cancelled", True)
    assert grades["held"]["failure_kind"] == "cancelled"
    assert grades["behind"]["verdict"] == "AC"


def test_a_cancelled_one_can_be_sent_again_with_another_body(service: Service) -> None:
    nap(service, "again")
    begun(service)
    call(service, "DELETE", path_of("again"))
    submit(service, id="again")
    assert answer(service, "again")["verdict"] == "AC"


def test_what_was_answered_stays_answered(service: Service) -> None:
    submit(service, id="done")
    found = answer(service, "done")
    assert call(service, "DELETE", path_of("done")) == (200, {"cancelled": 0})
    assert get(service, "done") == (200, found)


def test_a_group_is_cancelled_by_its_label(service: Service) -> None:
    group = {"of": "this test", "group": "prompt=7/ü"}
    nap(service, "group running", labels=group)
    begun(service)
    for name in ("group 1", "group 2"):
        submit(service, id=name, labels=group)
    submit(service, id="another group", labels=group | {"group": "8"})
    path = "/v1/submissions?" + urlencode({"label": "group=prompt=7/ü"})
    assert call(service, "DELETE", path) == (200, {"cancelled": 3})
    for name in ("group running", "group 1", "group 2"):
        assert answer(service, name)["failure_kind"] == "cancelled"
    assert answer(service, "another group")["verdict"] == "AC"
    assert call(service, "DELETE", path) == (200, {"cancelled": 0})


@pytest.mark.parametrize("query", ["", "?label=nothing", "?lable=a%3Db"])
def test_nothing_is_cancelled_by_what_is_no_label(service: Service, query: str) -> None:
    nap(service, "stays")
    status, found = call(service, "DELETE", f"/v1/submissions{query}")
    assert (status, found["error"]["type"]) == (422, "invalid_request")
    assert get(service, "stays")[0] == 202


# --- priorities, and status


def test_what_is_urgent_is_graded_before_what_came_earlier(service: Service) -> None:
    """The order is that of the lines of a batch, which come as they finish."""
    nap(service, "before")
    begun(service)
    order = ["low", "normal", "high"] * 2
    members = [PLAIN | {"id": f"{name} {n}", "labels": {"priority": name}} for n, name in enumerate(order)]
    lines: list[str] = []

    def read() -> None:
        _, text = service.client.request("POST", "/v1/grade/batch", json.dumps({"submissions": members}).encode())
        lines.extend(json.loads(line)["id"] for line in text.splitlines() if line.strip())

    reader = threading.Thread(target=read)
    reader.start()
    until(lambda: pending(service)["submissions"] == 7)
    call(service, "DELETE", path_of("before"))
    reader.join()
    assert lines == ["high 2", "high 5", "normal 1", "normal 4", "low 0", "low 3"]


def test_an_unknown_priority_is_refused_by_name(service: Service) -> None:
    status, found = service.client.post("/v1/grade", PLAIN | {"labels": {"priority": "urgent"}})
    assert status == 422
    assert "urgent" in found["error"]["message"]
    assert "high, normal, low" in found["error"]["message"]


def test_status_says_who_grades_and_how_much_waits(service: Service) -> None:
    idle = status_of(service)
    assert (idle["ready"], idle["reasons"], idle["slots"], idle["busy"]) == (True, [], 1, 0)
    assert idle["pending"] == {"submissions": 0, "waiting": 0, "bytes": 0, "cpu_seconds": 0.0, "oldest_seconds": 0.0}
    [worker] = idle["workers"]
    assert (worker["name"], worker["slots"], worker["busy"], worker["ready"]) == ("local", 1, 0, 1)
    assert worker["languages"][0].lower().startswith("cpython 3")
    before = idle["counts"].get("cancelled", 0)
    nap(service, "running")
    submit(service, id="waiting")
    until(lambda: status_of(service)["busy"] == 1)
    busy = status_of(service)
    assert (busy["pending"]["submissions"], busy["pending"]["waiting"]) == (2, 1)
    assert busy["pending"]["bytes"] > 0
    assert busy["pending"]["cpu_seconds"] > 0
    assert busy["pending"]["oldest_seconds"] > 0
    assert call(service, "DELETE", path_of("waiting")) == (200, {"cancelled": 1})
    assert status_of(service)["counts"]["cancelled"] == before + 1
