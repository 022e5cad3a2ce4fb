"""API keys: every request for work wants one, wrong ones are counted, and who has a right one does not notice."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from sandbox_service.api.authentication import GUESSES
from sandbox_service.bounds.api_keys import KeyTerms
from sandbox_service.errors import ConfigurationError
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.observe.events import EventBatcher
from sandbox_service.observe.key_metrics import MOST_KEYS, KeyMetrics
from sandbox_service.queues.observers import GradedEvent
from sandbox_service.schema import Grade
from sandbox_service.settings import Settings
from tests.conftest import Service, running_service
from tests.fakes import made
from tests.http import Client
from tests.ports import free_port

PLAIN: dict[str, Any] = {
    "code": "print(int(input()) + 1)",
    "tests": [{"type": "stdin", "input": "1\n", "output": "2\n"}],
}
GUARDED = [
    ("POST", "/v1/grade"),
    ("POST", "/v1/grade/batch"),
    ("POST", "/v1/submissions"),
    ("GET", "/v1/submissions/x"),
    ("DELETE", "/v1/submissions/x"),
    ("DELETE", "/v1/submissions?label=a%3Db"),
    ("PUT", "/v1/suites/" + "0" * 64),
    ("GET", "/v1/suites/" + "0" * 64),
    ("POST", "/v1/suites/missing"),
]
ROUTES: dict[str, dict[str, Any]] = {
    "/run_code": {"code": "", "language": "python"},
    "/submit": {"completion": "", "config": {"provided_data": {"test": ["assert 1"]}}},
    "/common_evaluate": {"completion": "", "config": {"provided_data": {"test": ["assert 1"]}}},
    "/common_evaluate_batch": {"completion": "", "config": {"provided_data": {"test": ["assert 1"]}}},
    "/get_reward": {"query": [], "prompts": [], "labels": []},
    "/slime": {"response": "", "label": "assert 1"},
}
OPEN = ["/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with two keys and remarks."""
    found = tmp_path_factory.mktemp("keys") / "keys"
    found.write_text("# of the trainer\nthird-key  # until May\n\n   fourth-key\n")
    return found


@pytest.fixture(scope="module")
def shared(file: Path) -> Iterator[Service]:
    """A service with keys."""
    with running_service(api_keys="first-key, second-key", api_keys_file=file, slots=1) as running:
        yield running


ADDRESSES = itertools.count(2)


@pytest.fixture
def guarded(shared: Service) -> Service:
    """The service, which has not yet heard a wrong key from the address of this test."""
    service = Service(shared.process, shared.port)
    service.client = Client(shared.client.url, source=f"127.0.0.{next(ADDRESSES)}")
    return service


def ask(service: Service, key: str | None, method: str = "POST", path: str = "/v1/grade") -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": key} if key is not None else {}
    body = json.dumps(PLAIN).encode() if method in ("POST", "PUT") else None
    status, answer = service.client.request(method, path, body, headers)
    return status, json.loads(answer)


def test_wrong_keys_are_counted_by_address(guarded: Service, shared: Service) -> None:
    for number in range(GUESSES):
        assert ask(guarded, f"Bearer guess-{number}")[0] == 401
    assert ask(guarded, None)[0] == 429
    assert ask(shared, None)[0] == 401


def test_each_key_is_as_good_as_any_other(guarded: Service) -> None:
    for key in ("first-key", "second-key", "third-key", "fourth-key"):
        status, grade = ask(guarded, f"Bearer {key}")
        assert (status, grade["verdict"]) == (200, "AC")


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_a_key_may_come_as_the_password_of_a_url_or_as_judge0_has_it(guarded: Service) -> None:
    for given in (
        {"Authorization": basic("any", "first-key")},
        {"Authorization": basic("", "second-key")},
        {"Authorization": basic("any", "first-key").replace("Basic", "basic")},
        {"Authorization": "bearer first-key"},
        {"X-Auth-Token": "third-key"},
    ):
        for path, body in (("/v1/grade", PLAIN), *((path, ROUTES[path]) for path in ("/run_code", "/get_reward"))):
            assert guarded.client.post(path, body, **given)[0] == 200, (given, path)


def test_what_looks_like_a_key_in_a_url_and_is_none_is_refused(guarded: Service) -> None:
    for given in (
        {"Authorization": basic("first-key", "")},
        {"Authorization": basic("any", "first-key ")},
        {"Authorization": basic("any:first-key", "x")},
        {"Authorization": "Basic " + basic("any", "first-key")[6:-2] + "!!"},
        {"Authorization": "Basic f\xefrst-key"},
        {"Authorization": "Digest first-key"},
        {"X-Auth-Token": ""},
        {"Authorization": basic("any", "wrong"), "X-Auth-Token": "first-key"},
    ):
        status, answer = guarded.client.post("/v1/grade", PLAIN, **given)
        assert (status, answer["error"]["type"]) == (401, "unauthorized"), given


def test_every_foreign_route_wants_a_key(guarded: Service) -> None:
    assert len(ROUTES) < GUESSES
    for path, body in ROUTES.items():
        status, answer = guarded.client.post(path, body)
        assert (status, answer["error"]["type"]) == (401, "unauthorized"), path


def test_without_a_right_key_nothing_is_done(guarded: Service) -> None:
    assert len(GUARDED) < GUESSES
    for method, path in GUARDED:
        status, answer = ask(guarded, None, method, path)
        assert (status, answer["error"]["type"]) == (401, "unauthorized"), (method, path)
    for path in OPEN:
        assert guarded.client.request("GET", path)[0] == 200


@pytest.mark.parametrize(
    "wrong",
    [
        [
            "Bearer wrong",
            "Bearer ",
            "Bearer",
            "",
            "Bearer first-key, second-key",
            "Bearer first-ke",
            "Bearer first-key2",
        ],
        ["Basic first-key", "Bearer f\xefrst-key", "Bearer # of the trainer", "Bearer FIRST-KEY", "Bearer until May"],
    ],
    ids=["none or half", "other"],
)
def test_what_is_no_right_key_is_refused(guarded: Service, wrong: list[str]) -> None:
    for key in wrong:
        status, answer = ask(guarded, key)
        assert (status, answer["error"]["type"]) == (401, "unauthorized"), key
        assert "first-key" not in answer["error"]["message"]


def test_who_guesses_too_often_is_told_to_wait_while_a_right_key_is_still_served(guarded: Service) -> None:
    answers = [ask(guarded, f"Bearer guess-{number}") for number in range(GUESSES + 5)]
    assert [status for status, _ in answers] == [401] * GUESSES + [429] * 5
    for _, answer in answers[GUESSES:]:
        assert answer["error"]["type"] == "too_many_guesses"
        assert 0 < answer["error"]["retry_after_seconds"] <= 60
    for _ in range(3):
        status, grade = ask(guarded, "Bearer first-key")
        assert (status, grade["verdict"]) == (200, "AC")
    assert ask(guarded, None)[0] == 429


def test_a_right_key_is_no_guess(guarded: Service) -> None:
    for _ in range(2 * GUESSES):
        assert ask(guarded, "Bearer first-key", "GET", "/v1/submissions/x")[0] == 404
    assert ask(guarded, "Bearer wrong")[0] == 401


@pytest.mark.parametrize(
    ("content", "named"),
    [("", "has no key in it"), ("# nothing\n\n  # here\n", "has no key in it"), (None, "No such file")],
)
def test_a_file_without_a_key_does_not_open_the_service_to_everybody(
    tmp_path: Path, content: str | None, named: str
) -> None:
    path = tmp_path / "keys"
    if content is not None:
        path.write_text(content)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    environment["SANDBOX_API_KEYS_FILE"] = str(path)
    port = free_port()
    command = [sys.executable, "-m", "sandbox_service.cli", "serve", "--port", str(port)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0
    assert "SANDBOX_API_KEYS_FILE" in ended.stderr
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_answer_is_seen_by_its_own_key_and_by_an_administrators() -> None:
    with running_service(api_keys="own,other", admin_keys="chief", slots=1) as running:
        status, taken = ask(running, "Bearer own", path="/v1/submissions")
        assert status == 202
        path = f"/v1/submissions/{taken['id']}?wait=60"
        assert ask(running, "Bearer other", "GET", path)[0] == 404
        for key in ("own", "chief"):
            status, grade = ask(running, f"Bearer {key}", "GET", path)
            assert (status, grade["verdict"]) == (200, "AC")
        status, refused = ask(running, "Bearer other", "GET", path)
        assert (status, refused["error"]["type"]) == (404, "not_found")
        kept = {"stdin": "1", "language_id": 71, "source_code": "print(1)"}
        _, made = running.client.post("/submissions", kept, **{"X-Auth-Token": "own"})
        for key, known in (("other", 404), ("own", 200)):
            asked = running.client.request("GET", f"/submissions/{made['token']}", headers={"X-Auth-Token": key})
            assert asked[0] == known


def test_a_quota_is_told_and_the_metrics_name_keys_by_their_labels(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("own  label=team-a submissions=2  # of the trainer\nother\n")
    with running_service(api_keys_file=tmp_path / "keys", slots=1) as running:
        for _ in range(2):
            assert ask(running, "Bearer own")[0] == 200
        status, refused = ask(running, "Bearer own")
        assert (status, refused["error"]["type"]) == (429, "over_quota")
        assert "key team-a has used up its quota of 2 submissions a minute" in refused["error"]["message"]
        assert 1 <= refused["error"]["retry_after_seconds"] <= 30
        assert ask(running, "Bearer other")[0] == 200
        metrics = running.client.request("GET", "/metrics")[1].decode()
        name = hashlib.sha256(b"other").hexdigest()[:12]
        for line in (
            'proctor_key_submissions_total{key="team-a"} 2.0',
            f'proctor_key_submissions_total{{key="{name}"}} 1.0',
            'proctor_key_refused_total{key="team-a"} 1.0',
        ):
            assert line in metrics
        assert "own" not in metrics


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("own quota=3", "line 1: 'quota=3' follows the key; only label=…, submissions=…, slot_seconds=… may"),
        ("own submissions=many", "line 1: submissions=many should be a number for each minute; 0: no quota"),
        ("own slot_seconds=-1", "line 1: slot_seconds=-1 should be a number"),
        ("own label=a/b", "line 1: label=a/b should be up to 40 letters"),
    ],
)
def test_a_wrong_line_of_the_key_file_is_named(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(line)
    with pytest.raises(ConfigurationError) as error:
        Settings(api_keys_file=str(tmp_path / "keys")).key_terms  # noqa: B018 (a property that raises)
    assert said in str(error.value)


def test_beyond_a_number_of_keys_metrics_count_the_others_together() -> None:
    registry, events = CollectorRegistry(), EventBatcher()
    terms = {f"{number:012}": KeyTerms() for number in range(MOST_KEYS + 20)}
    KeyMetrics(terms, {"000000000119": 4}, events, registry)
    for number in (0, 105, 110):
        job = made("a", key=f"{number:012}")
        answer = EncodedGrade(Grade.fault("a", 1, "sandbox", "").model_dump_json().encode())
        events.add(GradedEvent(job, answer, 0.0, 0.0))
    assert registry.get_sample_value("proctor_key_submissions_total", {"key": "000000000000"}) == 1
    assert registry.get_sample_value("proctor_key_submissions_total", {"key": "others"}) == 2
    assert registry.get_sample_value("proctor_key_refused_total", {"key": "others"}) == 4
    series = [sample for family in registry.collect() for sample in family.samples]
    assert len(series) <= 3 * (MOST_KEYS + 1)


def test_slot_seconds_of_a_single_submission_count_at_once(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("own slot_seconds=0.01\n")
    with running_service(api_keys_file=tmp_path / "keys", slots=1) as running:
        spins = PLAIN | {"code": "import time\nwhile time.process_time() < 0.1: pass\nprint(2)"}
        header = {"Authorization": "Bearer own"}
        assert running.client.post("/v1/grade", spins, **header)[0] == 200
        status, refused = running.client.post("/v1/grade", PLAIN, **header)
        assert status == 429
        assert "quota of 0.01 slot_seconds a minute" in refused["error"]["message"]
