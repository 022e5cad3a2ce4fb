"""Single submissions: the request, the upload of suites, and the interpretation of the answer."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import pytest

from sandbox_service.client import Client, GraderFaultError, NotProctorError, Peer, RefusedError, Suite, reason_of
from sandbox_service.client.single_grading import TRIES
from sandbox_service.schema import Limits, StdinTest, Verdict
from tests.client.world import LONG, TESTS, serving
from tests.fake_service import FAULT, PASSED, FakeService, answers, says

pytestmark = pytest.mark.usefixtures("quick")
CODE = "print(3)"


def grade(fake: FakeService, **fields: Any) -> Any:
    with serving(fake) as url, Client(url, patience_seconds=5.0) as client:
        return client.grade(**{"code": CODE, "tests": TESTS} | fields)


def test_a_submission_is_sent_as_it_is_and_gets_an_id() -> None:
    found = grade(fake := FakeService(), limits={"cpu_seconds": 2})
    assert (found.verdict, found.reward, found.id) == ("AC", 1.0, fake.asked[0]["id"])
    assert found.id
    assert fake.asked == [{"id": found.id, "code": CODE, "tests": TESTS, "limits": {"cpu_seconds": 2}}]


def test_nouns_are_sent_as_what_they_say() -> None:
    grade(fake := FakeService(), tests=[StdinTest(output="3")], limits=Limits(cpu_seconds=2), id="a")
    assert fake.asked[0]["tests"][0] == StdinTest(output="3").model_dump(mode="json")
    assert fake.asked[0]["limits"]["cpu_seconds"] == 2


def test_what_is_not_plain_is_refused_before_it_is_sent() -> None:
    with pytest.raises(TypeError, match=r"set .* cannot be sent: give plain values"):
        grade(fake := FakeService(), labels={"a"})
    assert not fake.asked


def test_half_a_character_is_sent_as_a_question_mark() -> None:
    grade(fake := FakeService(), code="a\ud800b")
    assert fake.asked[0]["code"] == "a?b"


def test_long_tests_are_put_once_and_named() -> None:
    with serving(fake := FakeService()) as url, Client(url) as client:
        for _ in range(3):
            client.grade(code=CODE, tests=LONG)
    assert fake.puts == 1
    assert all("tests" not in asked for asked in fake.asked)
    assert json.loads(fake.suites[fake.asked[0]["suite"]]) == {"tests": LONG}


@pytest.mark.parametrize("by_name", [True, False])
def test_a_suite_that_the_service_lost_is_put_again(by_name: bool) -> None:
    with serving(fake := FakeService()) as url, Client(url) as client:
        suite = client.put_suite(TESTS, checker={"type": "exact"}) if by_name else Suite.of(TESTS)
        for _ in range(2):
            assert client.grade(code=CODE, suite=suite).reward == 1.0
            fake.suites.clear()
    assert fake.puts == 2


def test_changed_tests_are_other_tests() -> None:
    tests = list(LONG)
    with serving(fake := FakeService()) as url, Client(url) as client:
        client.grade(code=CODE, tests=tests)
        tests.append(TESTS[0])
        client.grade(code=CODE, tests=tests)
    assert len(fake.suites) == 2


def test_a_suite_that_is_only_named_cannot_be_put() -> None:
    with pytest.raises(RefusedError, match=r"does not know its suite sha256:00.*: upload the suite") as refused:
        grade(FakeService(), tests=None, suite="sha256:" + "0" * 64)
    assert (refused.value.status, refused.value.kind) == (409, "unknown_suite")


def test_a_fault_is_no_reward() -> None:
    found = grade(FakeService(acts=[answers(FAULT | {"reward": 0.0})]))
    assert (found.verdict, found.reward, reason_of(found)) == (Verdict.IE, None, "sandbox: died")


def test_a_masked_grade_is_no_reward() -> None:
    found = grade(FakeService(acts=[answers(PASSED | {"verdict": "WA", "reward": 0.0, "mask_sample": True})]))
    assert found.reward is None


def test_a_grade_of_another_submission_is_refused() -> None:
    with pytest.raises(NotProctorError, match="was not sent"):
        grade(FakeService(acts=[answers(PASSED | {"id": "another"})]))


def test_a_fault_can_be_an_exception() -> None:
    with pytest.raises(GraderFaultError, match="sandbox: died") as fault:
        grade(FakeService(acts=[answers(FAULT)]), on_fault="raise")
    assert (fault.value.kind, fault.value.reason, len(fault.value.grades)) == ("sandbox", "died", 1)


def test_a_service_that_always_fails_is_a_fault_in_the_end() -> None:
    found = grade(fake := FakeService(acts=[says(500, "internal_error", "a defect")] * TRIES))
    assert (found.reward, found.failure_kind) == (None, "given_up")
    assert len(fake.asked) == TRIES


def test_a_refusal_says_what_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_API_KEY", raising=False)
    for status, kind, advice in (
        (401, "unauthorized", "PROCTOR_API_KEY is not set"),
        (404, "not_found", "is url the address of a reward service"),
        (409, "id_reused", "refuses submission 'mine'"),
        (422, "limit_too_high", "refuses submission 'mine': 422 limit_too_high"),
    ):
        with pytest.raises(RefusedError, match=advice) as refused:
            grade(FakeService(acts=[says(status, kind, "no")]), id="mine")
        assert (refused.value.status, refused.value.kind) == (status, kind)


def test_the_key_is_the_environments_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_API_KEY", "theirs")
    with serving(fake := FakeService()) as url:
        for key in (None, "mine"):
            with Client(url, key=key) as client:
                client.grade(code=CODE, tests=TESTS)
    assert [each["Authorization"] for each in fake.headers] == ["Bearer theirs", "Bearer mine"]
    assert {each["User-Agent"] for each in fake.headers} == {f"proctor-client/{version('proctor')}"}


@pytest.mark.parametrize("answer", [{"verdict": "AC", "reward": "1"}, {"verdict": "??", "reward": 1}, {}])
def test_what_is_no_grade_is_not_believed(answer: dict[str, Any]) -> None:
    with pytest.raises(NotProctorError, match="not a reward service"):
        grade(FakeService(acts=[answers(answer)]))


def test_what_a_newer_service_says_is_left_out() -> None:
    assert grade(FakeService(acts=[answers(PASSED | {"mood": "good", "timing": {"slept": 1}})])).reward == 1.0


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(RefusedError, match="does not begin with http"):
        Client("localhost:8080")


def test_on_fault_is_one_of_two() -> None:
    with pytest.raises(ValueError, match='"none" or "raise"'):
        grade(FakeService(), on_fault="zero")


def test_ready_waits_for_nobody() -> None:
    with Client("http://127.0.0.1:9") as client:
        assert not client.ready()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://any:KEY@host:8080/", "http://host:8080"),
        ("https://KEY@host/a@b", "https://host/a@b"),
        ("http://host", "http://host"),
    ],
)
def test_messages_do_not_show_a_key_in_the_address(url: str, address: str) -> None:
    assert Peer(url, 1.0).address == address
