"""Submissions of a batch become the same jobs as single submissions, although most skip the full validation."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sandbox_service.api.intake import LONG_ID, Intake
from sandbox_service.errors import BadRequestError, ProctorError, UnsupportedLanguageError
from sandbox_service.grading import suites
from sandbox_service.grading.suites import Suite
from sandbox_service.languages import toolchains
from sandbox_service.queues.base import Job, soonest_first
from sandbox_service.schema import Submission
from sandbox_service.settings import Settings

Body = dict[str, Any]

TESTS = [{"type": "stdin", "input": "1", "output": "2"}]
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SHARED: list[Body] = [
    {"tests": TESTS},
    {"tests": TESTS, "labels": {"client": "é", "priority": "low"}, "limits": {"cpu_seconds": 1.5}},
    {"tests": TESTS, "language": "python3", "extraction": "whole", "sample": {"count": 1}, "stop_on_failure": False},
    {"tests": TESTS, "code": None},
    {"tests": TESTS, "completion": None},
    {"tests": TESTS, "id": ""},
]
ODD: list[Body] = [
    {"code": 1},
    {"code": None},
    {"code": "1", "completion": "2"},
    {"completion": "1"},
    {"id": "i"},
    {"code": "1", "id": 1},
    {"code": "1", "id": None},
    {"code": "1", "id": "x" * 256},
    {"code": "1", "id": "x" * 257},
    {"code": "1", "id": "x" * (LONG_ID + 1)},
    {"code": "1", "limits": {"cpu_seconds": 2.0}},
    {"code": "1", "labels": {"client": "another"}},
    {"code": "1", "labels": {"priority": "urgent"}},
    {"code": "1", "tests": [*TESTS, *TESTS]},
    {"code": "1", "nonsense": 1},
    {},
]


def intake() -> Intake:
    async def find(_: str) -> Suite | None:
        return None

    return Intake(Settings(), find, "key")


def test_a_judge_whose_language_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "is_present", lambda language: language.name != "cpp")
    judge = {"type": "program", "language": "cpp", "source": "int main() {}"}
    interactive = [{"type": "interactive", "input": "1"}]
    for fields in ({"tests": TESTS, "checker": judge}, {"tests": interactive, "interactor": judge}):
        with pytest.raises(UnsupportedLanguageError, match=r"judge program.s language .cpp. .*apt-get install g"):
            one({"code": "1"}, fields)
    assert one({"code": "1", "tests": TESTS}, {"checker": judge | {"language": "c"}}).languages == ("python", "c")


def many(defaults: Body, *submissions: Body) -> list[Job]:
    body = json.dumps({"defaults": defaults, "submissions": submissions}).encode()
    return asyncio.run(intake().many(body))


def one(defaults: Body, submission: Body) -> Job:
    return asyncio.run(intake().one(json.dumps(defaults | submission).encode()))


def said(job: Job) -> tuple[object, ...]:
    """Return the job without the parts that only a batch decides: a generated id, and which job counts the suite's
    bytes.
    """
    return job.body, job.digest, job.suite.id, job.tests, job.client, job.priority, job.labels, job.keep, job.fresh


@pytest.mark.parametrize("defaults", SHARED)
@pytest.mark.parametrize("name", ["code", "completion"])
@given(texts=st.lists(TEXT, min_size=2, max_size=4))
def test_any_programs_are_the_same_in_a_batch_and_alone(defaults: Body, name: str, texts: list[str]) -> None:
    jobs = many(defaults, *({name: text} for text in texts))
    assert [said(job) for job in jobs] == [said(one(defaults, {name: text})) for text in texts]
    assert len({job.id for job in jobs}) == len(jobs)
    assert [job.own_bytes > 0 for job in jobs] == [True] + [False] * (len(jobs) - 1)


@pytest.mark.parametrize("defaults", SHARED)
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_whatever_is_otherwise_is_read_as_if_it_were_alone(defaults: Body, odd: Body) -> None:
    plain = [{"code": "print(1)"}, {"code": "print(2)", "id": "mine"}]
    try:
        alone = one(defaults, odd)
    except (ValidationError, ProctorError):
        with pytest.raises(BadRequestError, match=r"submissions\[2\]"):
            many(defaults, *plain, odd)
        return
    *before, found = many(defaults, *plain, odd)
    assert said(found) == said(alone)
    assert found.id == odd["id"] if "id" in odd else len(found.id) == 24
    assert [said(job) for job in before] == [said(one(defaults, each)) for each in plain]
    assert before[1].id == "mine"


REFERENCE = {"cpu_seconds": 0.1, "factor": 5.0, "least_seconds": 0.25}


@pytest.mark.parametrize(
    ("own", "limit"),
    [
        (None, 0.5),
        ({"cpu_seconds": 3.0}, 0.5),
        ({"cpu_seconds": 0.3}, 0.3),
        ({"reference": None}, 4.0),
        ({"reference": {"cpu_seconds": 2.0}}, 4.0),
        ({"reference": REFERENCE | {"cpu_seconds": 0.01}}, 0.25),
    ],
)
def test_the_references_of_a_suite_lower_the_limit_of_a_submission(own: Body | None, limit: float) -> None:
    suite = suites.read(json.dumps({"tests": TESTS, "limits": {"reference": REFERENCE}}).encode())

    async def find(_: str) -> Suite | None:
        return suite

    body = {"code": "1", "suite": suite.id} | ({} if own is None else {"limits": own})
    job = asyncio.run(Intake(Settings(), find, "key").one(json.dumps(body).encode()))
    assert Submission.model_validate_json(job.body).limits.resolved().cpu_seconds == limit
    assert job.most_cpu_seconds == limit


def test_a_batch_begins_with_what_is_likely_to_end_soon() -> None:
    jobs = many(
        {},
        {"code": "1", "tests": TESTS * 3, "id": "long"},
        {"code": "1", "tests": TESTS, "id": "a"},
        {"code": "1", "tests": TESTS * 9, "id": "fast", "limits": {"reference": REFERENCE | {"factor": 2.5}}},
        {"code": "1", "tests": TESTS, "id": "b"},
    )
    assert [job.id for job in soonest_first(jobs)] == ["fast", "a", "b", "long"]


def test_programs_of_several_suites_are_the_same_in_a_batch_and_alone() -> None:
    known = {suite.id: suite for suite in (suites.read(json.dumps({"tests": TESTS * n}).encode()) for n in (1, 2))}

    async def find(name: str) -> Suite | None:
        return known.get(name)

    first, second = known
    given = [{"code": str(n), "suite": suite} for suite in (first, second, first) for n in range(3)]
    body = json.dumps({"defaults": {"suite": second}, "submissions": [*given, {"code": "x"}]}).encode()
    jobs = asyncio.run(Intake(Settings(), find, "key").many(body))
    alone = [json.dumps({"suite": second} | each).encode() for each in (*given, {"code": "x"})]
    assert [said(job) for job in jobs] == [
        said(asyncio.run(Intake(Settings(), find, "key").one(each))) for each in alone
    ]
    for odd in (None, 1, "sha256:" + "0" * 64):
        body = json.dumps({"submissions": [*given, {"code": "y", "suite": odd}]}).encode()
        with pytest.raises(ProctorError, match=r"submissions\[9\]"):
            asyncio.run(Intake(Settings(), find, "key").many(body))


def test_an_id_of_all_is_nobodys() -> None:
    with pytest.raises(BadRequestError, match="have the id"):
        many({"tests": TESTS, "id": "all"}, {"code": "1"}, {"code": "2"})


def test_an_id_that_is_there_twice_is_refused() -> None:
    with pytest.raises(BadRequestError, match="have the id"):
        many({"tests": TESTS}, {"code": "1", "id": "a"}, {"code": "2", "id": "a"})


def test_samples_by_submission_follow_from_the_id_alone_and_in_a_batch() -> None:
    """Answers are cached by the digest of the body: another sample must be another body."""
    defaults: Body = {"tests": TESTS * 5, "sample": {"count": 2, "by": "submission"}}
    given = [{"id": name, "code": "pass"} for name in "abc"]
    digests = [job.digest for job in many(defaults, *given)]
    assert len(set(digests)) == 3
    assert [one(defaults, each).digest for each in given] == digests
