"""A suite that is too large for the event loop is the same through every API process."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.fleet.fleet import running_fleet
from tests.markers import one_in


@pytest.mark.parametrize("submissions", one_in(2, [200, 2000]))
def test_a_large_suite_that_another_api_process_took(submissions: int) -> None:
    tests = [{"type": "stdin", "input": "1 2\n" + "x" * 300_000, "output": "3\n"}]
    suite = json.dumps({"tests": tests, "checker": {"type": "exact"}}).encode()
    name = hashlib.sha256(suite).hexdigest()
    with running_fleet(apis=2, workers=1) as fleet:
        one, other = (api.client for api in fleet.apis)
        assert one.request("PUT", f"/v1/suites/{name}", suite)[0] == 201
        for client in (other, other, one):
            status, grade = client.post("/v1/grade", {"code": "print(3)", "suite": f"sha256:{name}"})
            assert (status, grade["verdict"], grade["total"]) == (200, "AC", 1)
        status, grade = other.post("/v1/grade", {"code": "print(3)#" + "x" * 300_000, "tests": tests})
        assert (status, grade["verdict"]) == (200, "AC")
        rows = [{"code": f"print(3)#{number}", "suite": f"sha256:{name}"} for number in range(submissions)]
        grades = other.batch(rows)
        assert {grade["verdict"] for grade in grades.values()} == {"AC"}
        assert len(grades) == submissions
