"""Suites over HTTP: uploaded once, named in submissions, and never taken for another."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Service, running_service

Json = dict[str, Any]
RIGHT = "print(int(input()) + 1)"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """A service of our own: what is stored in it stays."""
    with running_service(max_tests=100, max_cpu_seconds=10) as running:
        yield running


def stdin(number: int, output: int | None = None) -> Json:
    return {"type": "stdin", "input": f"{number}\n", "output": f"{number + 1 if output is None else output}\n"}


def written(tests: list[Json], **fields: Any) -> bytes:
    return json.dumps({"tests": tests, **fields}).encode()


def id_of(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def put(service: Service, body: bytes, name: str | None = None, **headers: str) -> tuple[int, Json]:
    path = f"/v1/suites/{(name or id_of(body)).removeprefix('sha256:')}"
    status, answer = service.client.request("PUT", path, body, headers)
    return status, json.loads(answer)


def stored(service: Service, tests: list[Json], **fields: Any) -> str:
    """The id of a suite that is there now."""
    body = written(tests, **fields)
    status, answer = put(service, body)
    assert status in (200, 201), answer
    assert answer == {"id": id_of(body), "tests": len(tests)}
    return id_of(body)


def refused(service: Service, body: Json, status: int = 422, path: str = "/v1/grade") -> Json:
    found, answer = service.client.post(path, body)
    assert found == status, answer
    error: Json = answer["error"]
    return error


# --- storing


def test_a_suite_is_stored_once_and_got_back_byte_by_byte(service: Service) -> None:
    body = b' { "tests" : [' + json.dumps(stdin(1)).encode() + b'],\n"limits": {"cpu_seconds": 1.50} }'
    status, answer = put(service, body)
    assert (status, answer) == (201, {"id": id_of(body), "tests": 1})
    assert put(service, body)[0] == 200
    for name in (id_of(body), id_of(body).removeprefix("sha256:")):
        assert service.client.request("GET", f"/v1/suites/{name}") == (200, body)


def test_what_is_missing_is_named_in_the_order_in_which_it_was_asked_for(service: Service) -> None:
    there = stored(service, [stdin(2)])
    absent = [id_of(b"absent"), id_of(b"neither")]
    status, answer = service.client.post("/v1/suites/missing", {"suites": [absent[1], there, absent[0]]})
    assert (status, answer) == (200, {"missing": [absent[1], absent[0]]})
    assert service.client.post("/v1/suites/missing", {"suites": []}) == (200, {"missing": []})
    assert refused(service, {"suites": there}, path="/v1/suites/missing")["type"] == "invalid_request"
    assert service.client.get(f"/v1/suites/{absent[0]}")[0] == 404


def test_a_suite_under_another_s_name_is_refused_and_not_stored(service: Service) -> None:
    body, other = written([stdin(3)]), written([stdin(3, output=5)])
    status, answer = put(service, body, id_of(other))
    assert (status, answer["error"]["type"]) == (422, "invalid_request")
    assert id_of(body) in answer["error"]["message"]
    for name in (id_of(body), id_of(other)):
        assert service.client.get(f"/v1/suites/{name}")[0] == 404


def test_the_name_is_of_the_bytes_before_they_were_packed(service: Service) -> None:
    body = written([stdin(4)])
    status, _ = put(service, gzip.compress(body), id_of(body), **{"Content-Encoding": "gzip"})
    assert status == 201
    assert service.client.request("GET", f"/v1/suites/{id_of(body)}") == (200, body)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "invalid_request"),
        (b"{}", "invalid_request"),
        (written([]), "invalid_request"),
        (written([{"type": "stdin"}]), "invalid_request"),
        (written([stdin(1)], code="x"), "invalid_request"),
        (written([stdin(1)], limits={"cpu_seconds": 11}), "limit_too_high"),
        (written([stdin(1)] * 101), "limit_too_high"),
    ],
)
def test_what_could_not_be_graded_is_not_stored(service: Service, body: bytes, kind: str) -> None:
    status, answer = put(service, body)
    assert (status, answer["error"]["type"]) == (422, kind)
    assert service.client.get(f"/v1/suites/{id_of(body)}")[0] == 404


def test_a_path_that_is_no_hash_is_nobody_s(service: Service) -> None:
    for name in ("x", "sha256:", "0" * 63, "%2e%2e", "%F0%9F%98%80"):
        assert service.client.request("GET", f"/v1/suites/{name}")[0] == 404


# --- naming


def test_a_submission_that_names_a_suite_is_graded_by_its_tests(service: Service) -> None:
    suite = stored(service, [stdin(number) for number in range(5)])
    for _ in range(3):
        grade = service.grade(code=RIGHT, suite=suite)
        assert (grade["verdict"], grade["passed"], grade["total"]) == ("AC", 5, 5)
    wrong = service.grade(code="print({0: 1, 1: 2}.get(n := int(input()), 0))", suite=suite)
    assert (wrong["verdict"], wrong["passed"]) == ("WA", 2)
    assert wrong["tests"][-1]["index"] == 2


def test_more_suites_than_a_slot_keeps_are_told_apart(service: Service) -> None:
    names = [stored(service, [stdin(number, output=number * 7)]) for number in range(300)]
    grades = service.client.batch(
        {"id": f"{number}/{turn}", "code": f"print({number * 7})", "suite": name}
        for turn in range(2)
        for number, name in enumerate(names)
    )
    assert len(grades) == 600
    assert {grade["verdict"] for grade in grades.values()} == {"AC"}


def test_an_unknown_suite_is_a_conflict_that_says_what_to_do(service: Service) -> None:
    name = id_of(b"nobody has put it")
    error = refused(service, {"code": RIGHT, "suite": name}, 409)
    assert error["type"] == "unknown_suite"
    assert f"PUT /v1/suites/{name.removeprefix('sha256:')}" in error["message"]
    body = {"defaults": {"suite": name}, "submissions": [{"code": RIGHT}]}
    error = refused(service, body, 409, "/v1/grade/batch")
    assert error["type"] == "unknown_suite"
    assert "submissions[0]" in error["message"]
    assert refused(service, {"code": RIGHT, "suite": name}, 409, "/v1/submissions")["type"] == "unknown_suite"


@pytest.mark.parametrize("name", ["", "sha256:", "0" * 64, "sha256:" + "g" * 64, "SHA256:" + "0" * 64, 3])
def test_what_is_no_suite_s_name_is_refused(service: Service, name: object) -> None:
    assert "suite" in refused(service, {"code": RIGHT, "suite": name})["message"]


def test_exactly_one_of_tests_and_suite_is_wanted(service: Service) -> None:
    suite = stored(service, [stdin(1)])
    for body in ({"tests": [stdin(1)], "suite": suite}, {}, {"tests": None, "suite": None}):
        assert "exactly one of tests and suite" in refused(service, {"code": RIGHT, **body})["message"]


# --- its checker and its limits


def test_a_suite_s_checker_holds_unless_the_submission_has_its_own(service: Service) -> None:
    suite = stored(service, [stdin(1)], checker={"type": "exact"})
    loose = "print(2, '')"
    assert service.grade(code=loose, suite=suite)["verdict"] == "WA"
    assert service.grade(code=loose, suite=suite, checker={"type": "tokens"})["verdict"] == "AC"
    assert service.grade(code=loose, tests=[stdin(1)])["verdict"] == "AC"


def test_a_suite_s_limits_hold_unless_the_submission_has_its_own(service: Service) -> None:
    suite = stored(service, [stdin(1)], limits={"output_bytes": 10})
    long = "print(2, ' ' * 100)"
    assert service.grade(code=long, suite=suite)["verdict"] == "OLE"
    assert service.grade(code=long, suite=suite, limits={"output_bytes": 1000})["verdict"] == "AC"
    assert service.grade(code=long, suite=suite, limits={"cpu_seconds": 2})["verdict"] == "AC"  # its own, as a whole
    assert refused(service, {"code": RIGHT, "suite": suite, "limits": {"cpu_seconds": 11}})["type"] == "limit_too_high"


# --- samples


def echo_index(service: Service, sample: Json, **fields: Any) -> list[int]:
    """The places in the suite of the tests that were run."""
    grade = service.grade(code=RIGHT, sample=sample, **fields)
    assert (grade["verdict"], grade["total"]) == ("AC", len(grade["tests"]))
    return [test["index"] for test in grade["tests"]]


def test_a_sample_is_the_same_for_two_submissions_and_says_its_places_in_the_suite(service: Service) -> None:
    suite = stored(service, [stdin(number) for number in range(10)])
    assert echo_index(service, {"count": 3, "seed": 0}, suite=suite) == [2, 3, 9]
    assert echo_index(service, {"count": 3, "seed": 0}, suite=suite) == [2, 3, 9]
    assert echo_index(service, {"count": 3, "seed": 1}, suite=suite) == [5, 7, 8]
    assert echo_index(service, {"count": 3}, suite=suite) == [2, 3, 9]
    assert echo_index(service, {"count": 99}, suite=suite) == list(range(10))


def test_tests_that_come_with_a_submission_are_sampled_alike(service: Service) -> None:
    tests = [stdin(number) for number in range(10)]
    assert echo_index(service, {"count": 3, "seed": 1}, tests=tests) == [5, 7, 8]


def test_the_place_is_of_the_very_test_that_was_run(service: Service) -> None:
    """Each test's answer is its place; the program sees only the input."""
    suite = stored(service, [stdin(100 + number, output=number) for number in range(10)])
    body = {"code": "print(int(input()) - 100)", "suite": suite, "sample": {"count": 4, "seed": 5}}
    grade = service.grade(**body)
    assert (grade["verdict"], grade["passed"], grade["total"]) == ("AC", 4, 4)
    assert [int(test["stdout"]) for test in grade["tests"]] == [test["index"] for test in grade["tests"]]
    failing = service.grade(**(body | {"code": "print(-1)", "stop_on_failure": False}))
    assert [test["index"] for test in failing["tests"]] == [test["index"] for test in grade["tests"]]


def test_calls_are_sampled_too(service: Service) -> None:
    tests = [{"type": "call", "function": "f", "args": [number], "output": number * 2} for number in range(10)]
    suite = stored(service, tests)
    grade = service.grade(code="def f(n): return n * 2", suite=suite, sample={"count": 3, "seed": 0})
    assert (grade["verdict"], [test["index"] for test in grade["tests"]]) == ("AC", [2, 3, 9])


def test_a_sampled_reward_is_a_share_of_the_sample(service: Service) -> None:
    suite = stored(service, [stdin(number) for number in range(10)])
    code = "n = int(input())\nprint(n + 1 if n != 3 else 0)"
    fields = {"reward": {"scheme": "fraction"}, "stop_on_failure": False, "sample": {"count": 4, "seed": 0}}
    grade = service.grade(code=code, suite=suite, **fields)
    places = [test["index"] for test in grade["tests"]]
    assert 3 in places
    assert (grade["total"], grade["passed"], grade["reward"]) == (4, 3, 0.75)


@pytest.mark.parametrize("sample", [{}, {"count": 0}, {"count": -1}, {"count": 1, "seeds": 2}, {"count": 1.5}, 3])
def test_what_is_no_sample_is_refused(service: Service, sample: object) -> None:
    assert "sample" in refused(service, {"code": RIGHT, "tests": [stdin(1)], "sample": sample})["message"]


# --- batches


def test_a_batch_s_default_suite_is_everybody_s_who_has_no_tests_of_its_own(service: Service) -> None:
    suite, other = stored(service, [stdin(1)]), stored(service, [stdin(5), stdin(6)])
    grades = service.client.batch(
        [
            {"id": "default", "code": RIGHT},
            {"id": "own tests", "code": "print(9)", "tests": [stdin(1, output=9)] * 3},
            {"id": "own suite", "code": RIGHT, "suite": other},
            {"id": "wrong", "code": "print(9)"},
        ],
        suite=suite,
    )
    assert {name: (grade["verdict"], grade["total"]) for name, grade in grades.items()} == {
        "default": ("AC", 1),
        "own tests": ("AC", 3),
        "own suite": ("AC", 2),
        "wrong": ("WA", 1),
    }


def test_a_batch_s_default_tests_give_way_to_a_member_s_suite(service: Service) -> None:
    suite = stored(service, [stdin(5), stdin(6)])
    grades = service.client.batch(
        [{"id": "no suite", "code": RIGHT}, {"id": "a suite", "code": RIGHT, "suite": suite}], tests=[stdin(1)]
    )
    assert {name: (grade["verdict"], grade["total"]) for name, grade in grades.items()} == {
        "no suite": ("AC", 1),
        "a suite": ("AC", 2),
    }


def test_a_batch_s_defaults_for_checker_and_sample_go_before_its_suite_s(service: Service) -> None:
    suite = stored(service, [stdin(number) for number in range(10)], checker={"type": "exact"})
    loose = "print(int(input()) + 1, '')"
    grades = service.client.batch(
        [{"id": "loose", "code": loose}, {"id": "own", "code": loose, "checker": {"type": "exact"}}],
        suite=suite,
        checker={"type": "tokens"},
        sample={"count": 3, "seed": 0},
    )
    assert grades["loose"]["verdict"] == "AC"
    assert [test["index"] for test in grades["loose"]["tests"]] == [2, 3, 9]
    assert grades["own"]["verdict"] == "WA"
