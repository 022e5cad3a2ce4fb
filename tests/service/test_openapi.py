"""The service does what its OpenAPI document says, for requests that fit it and for requests that do not.

Schemathesis reads the document of the running service, makes requests of every kind, and compares each answer's status,
content type, headers and body with what is documented. What it makes up is hardly ever a program that runs; where it
is, the limits are small.
"""

from __future__ import annotations

import hashlib
import http.client
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.errors import InvalidSchema

from tests.conftest import Service, running_service

EXAMPLES = [5, pytest.param(100, marks=pytest.mark.full)]  # of each operation, right and wrong
KEY = "a-key"
HEADERS = {"Authorization": f"Bearer {KEY}"}

LEFT_OUT = {
    # what is refused with 422 may fit the schema: an unknown language, a limit too high, a hash of other bytes
    "positive_data_acceptance",
    # these are about what several requests do together, and are tried by the scenes below
    "use_after_free",
    "ensure_resource_availability",
    "object_level_authorization",
}

SUBMISSION: dict[str, Any] = {"id": "one", "code": "print(1)", "tests": [{"type": "stdin", "output": "1"}]}
ANSWER = "```python\ndef f(): return 1\n```"
SCALEBOX = {"test_cases": {"type": "stdin_stdout", "input": [""], "output": ["1"]}}
COLUMNS = {"inputs": [""], "outputs": ["1"]}
JUDGE0: dict[str, Any] = {"source_code": "print(1)", "language_id": 71}
SLEEPER = SUBMISSION | {"id": "slow", "code": "import time; time.sleep(2); print(1)"}
SUITE = json.dumps({"tests": SUBMISSION["tests"]}).encode()
SHA256 = hashlib.sha256(SUITE).hexdigest()
IN_USE = hashlib.sha256(SUITE + b" ").hexdigest()

# (operation, arguments of its case, status): each kind of answer that there can be when all is well, in order
ROWS = [{"id": 1, "content": "Add one."}]
SCENES: list[tuple[str, dict[str, Any], int]] = [
    ("POST /v1/grade", {"body": SUBMISSION}, 200),
    ("POST /v1/grade", {"body": SUBMISSION | {"code": "print(2)"}}, 409),
    ("POST /v1/grade", {"body": SUBMISSION | {"id": "ce", "code": "("}}, 200),
    ("POST /v1/grade/batch", {"body": {"submissions": [SUBMISSION | {"id": "two"}]}}, 200),
    ("PUT /v1/suites/{sha256}", {"path_parameters": {"sha256": SHA256}, "body": json.loads(SUITE)}, 201),
    ("PUT /v1/suites/{sha256}", {"path_parameters": {"sha256": SHA256}, "body": json.loads(SUITE)}, 200),
    ("GET /v1/suites/{sha256}", {"path_parameters": {"sha256": SHA256}}, 200),
    ("GET /v1/suites/{sha256}", {"path_parameters": {"sha256": "0" * 64}}, 404),
    ("POST /v1/suites/missing", {"body": {"suites": [f"sha256:{SHA256}", "sha256:0"]}}, 200),
    ("POST /v1/grade", {"body": {"code": "print(1)", "suite": f"sha256:{SHA256}"}}, 200),
    ("POST /v1/grade", {"body": {"code": "print(1)", "suite": f"sha256:{'0' * 64}"}}, 409),
    ("POST /v1/submissions", {"body": SLEEPER}, 202),
    ("GET /v1/submissions/{submission_id}", {"path_parameters": {"submission_id": "slow"}}, 202),
    ("GET /v1/submissions/{submission_id}", {"path_parameters": {"submission_id": "one"}}, 200),
    ("GET /v1/submissions/{submission_id}", {"path_parameters": {"submission_id": "none"}}, 404),
    ("DELETE /v1/submissions/{submission_id}", {"path_parameters": {"submission_id": "slow"}}, 200),
    ("DELETE /v1/submissions", {"query": {"label": "step=1"}}, 200),
    ("POST /run_code", {"body": {"code": "print(1)", "language": "python"}}, 200),
    ("POST /submit", {"body": {"completion": ANSWER, "config": {"provided_data": {"test": ["assert f() == 1"]}}}}, 200),
    ("POST /submit", {"body": {"dataset": "mbpp", "completion": ANSWER, "config": {}}}, 422),
    ("POST /list_ids", {"body": {"dataset": "any", "config": {"provided_data": ROWS}}}, 200),
    ("POST /get_prompts", {"body": {"dataset": "any", "config": {"provided_data": ROWS}}}, 200),
    ("POST /get_prompts", {"body": {"dataset": "mbpp", "config": {}}}, 422),
    ("POST /get_prompt_by_id", {"body": {"dataset": "any", "id": 1, "config": {"provided_data": ROWS}}}, 200),
    ("POST /get_prompt_by_id", {"body": {"dataset": "any", "id": 2, "config": {"provided_data": ROWS}}}, 404),
    ("POST /common_evaluate", {"body": {"completion": ANSWER, "config": {"provided_data": SCALEBOX}}}, 200),
    ("POST /common_evaluate_batch", {"body": {"completion": "none", "config": {"provided_data": SCALEBOX}}}, 200),
    ("POST /get_reward", {"body": {"query": ["a" + ANSWER], "prompts": ["a"], "labels": [COLUMNS]}}, 200),
    ("POST /get_reward", {"body": {"query": [], "prompts": [], "labels": []}}, 200),
    ("POST /slime", {"body": {"prompt": "a", "response": ANSWER, "label": COLUMNS}}, 200),
    ("POST /slime", {"body": {"response": ANSWER, "label": COLUMNS}, "query": {"detail": "true"}}, 200),
    ("GET /v1/ping", {}, 200),
    ("POST /test_program", {"body": {"program": "def f(): return 1", "tests": ["assert f() == 1"]}}, 200),
    ("POST /test_program_stdio", {"body": {"program": "print(1)", "tests": [{"input": "", "output": "1"}]}}, 200),
    ("POST /verify", {"body": {"response": {"output": []}, "verifier_metadata": {"unit_tests": COLUMNS}}}, 200),
    ("POST /seed_session", {"body": {"resources_session_id": "one"}}, 200),
    ("POST /close_session", {"body": {}}, 200),
    ("POST /aggregate_metrics", {"body": {"verify_responses": [{"reward": 1.0}]}}, 200),
    ("POST /api/v2/execute", {"body": {"language": "python", "version": "*", "files": [{"content": "print(1)"}]}}, 200),
    ("POST /api/v2/execute", {"body": {"language": "cobol", "version": "*", "files": [{"content": ""}]}}, 400),
    ("POST /submissions", {"body": JUDGE0, "query": {"wait": "true"}}, 201),
    ("POST /submissions", {"body": JUDGE0 | {"language_id": 1}}, 422),
    ("POST /submissions/batch", {"body": {"submissions": [JUDGE0]}}, 201),
    ("GET /submissions/batch", {"query": {"tokens": "one,two"}}, 200),
    ("GET /submissions/{token}", {"path_parameters": {"token": "none"}}, 404),
    ("POST /execute", {"body": {"generated_code": "print(1)", "language": "python"}}, 200),
    *(
        (f"GET {path}", {}, 200)
        for path in (
            "/health",
            "/reverify_mode",
            "/api/v2/runtimes",
            "/languages",
            "/statuses",
            "/about",
            "/config_info",
        )
    ),
    ("GET /config_info", {}, 200),
    ("GET /list_datasets", {}, 200),
    ("GET /languages/{number}", {"path_parameters": {"number": 71}}, 200),
    ("GET /languages/{number}", {"path_parameters": {"number": 44}}, 404),
    *((f"GET {path}", {}, 200) for path in ("/healthz", "/readyz", "/metrics", "/v1/languages", "/v1/status")),
]


@pytest.fixture(scope="module")
def documented() -> Iterator[Service]:
    with running_service(api_keys=KEY, max_processes=1, max_memory_bytes=1 << 30, cache_seconds=60) as service:
        yield service


@pytest.fixture(scope="module")
def document(documented: Service) -> Any:
    raw = documented.client.get("/openapi.json")[1]
    schemas = raw["components"]["schemas"]
    # a suite that is there, or hardly any submission would be taken; one that is not there has a scene
    assert documented.client.request("PUT", f"/v1/suites/{IN_USE}", SUITE + b" ", HEADERS)[0] == 201
    schemas["Submission"]["properties"]["suite"] = {"enum": [f"sha256:{IN_USE}", None]}
    found = schemathesis.openapi.from_dict(raw)
    found.config.update(base_url=documented.client.url)
    return found


@pytest.fixture(scope="module")
def operations(document: Any) -> dict[str, Any]:
    """Schemathesis's own plugin for pytest does not know this pytest, so they are gone through by hand."""
    return {result.ok().label: result.ok() for result in document.get_all_operations()}


def checks() -> list[Any]:
    load_all_checks()
    return [CHECKS.get_one(name) for name in CHECKS.get_all_names() if name not in LEFT_OUT]


def test_every_operation_is_documented_and_has_a_scene(documented: Service, operations: dict[str, Any]) -> None:
    paths = documented.client.get("/openapi.json")[1]["paths"]
    wanted = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert set(operations) == wanted == {name for name, _, _ in SCENES}


def test_all_checks_are_made_but_those_left_out() -> None:
    assert len(checks()) >= 9
    assert set(CHECKS.get_all_names()) > LEFT_OUT


def test_when_all_is_well_answers_are_as_documented(operations: dict[str, Any]) -> None:
    for name, arguments, status in SCENES:
        operation = operations[name]
        if "body" in arguments:
            arguments = {"media_type": "application/json"} | arguments
        case = operation.Case(**arguments)
        answer = case.call(headers=HEADERS, timeout=60)
        assert answer.status_code == status, (name, arguments, answer.text)
        if "ndjson" not in answer.headers["content-type"][0]:
            case.validate_response(answer, checks=checks())


def test_other_methods_are_refused_with_the_list_of_those_that_there_are(documented: Service) -> None:
    paths = documented.client.get("/openapi.json")[1]["paths"]
    for path, methods in paths.items():
        connection = http.client.HTTPConnection("127.0.0.1", documented.port, timeout=60)
        connection.request("PATCH", path.replace("{", "").replace("}", ""), headers=HEADERS)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 405, path
        allowed = set(answer.headers["Allow"].split(", "))
        assert allowed >= {method.upper() for method in methods}, path
        connection.close()


def explore(name: str, operation: Any, mode: GenerationMode, examples: int) -> Counter[int]:
    """Try an operation with what is made up; how often each status came."""
    seen: Counter[int] = Counter()
    wanted = checks()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def one(case: schemathesis.Case[Any]) -> None:
        answer = case.call(headers=HEADERS, timeout=60)
        seen[answer.status_code] += 1
        case.validate_response(answer, checks=wanted)

    try:
        one()
    except Unsatisfiable:
        print(f"{name}: there is no {mode.name.lower()} request")
    except InvalidSchema as error:  # its own confusion about wrong arrays that may not be empty
        print(f"{name}: Schemathesis could not go on: {error}")
        assert seen
    print(name, dict(seen))
    return seen


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
def test_whatever_is_asked_the_answer_is_as_documented(
    operations: dict[str, Any], mode: GenerationMode, examples: int
) -> None:
    trouble: list[str] = []
    seen: dict[str, Counter[int]] = {}
    for name, operation in operations.items():
        try:
            seen[name] = explore(name, operation, mode, examples)
        except Exception as error:  # noqa: BLE001 all are shown at the end
            trouble.append(f"{name}: {error!r}: {error}")
    assert not trouble, "\n\n".join(trouble)
    assert sum(found.total() for found in seen.values()) > examples
    if mode == GenerationMode.POSITIVE:
        assert seen["POST /v1/grade"][200] > 0, "no submission was taken, so that hardly anything was tried"
