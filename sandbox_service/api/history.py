"""`GET /v1/recent` and `/v1/problems`: recent submissions that match a search, one in detail, and all by problem.

The dashboard, `proctor tail` and people use these routes; they are not part of the API contract. The responses contain
programs and expected answers, so they require a key like all of `/v1`. A key sees its own submissions, an admin's key
those of all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request
from pydantic import Field

from sandbox_service import languages
from sandbox_service.api.authentication import owner
from sandbox_service.errors import NotFoundError
from sandbox_service.grading import suites
from sandbox_service.judging.extraction import extract
from sandbox_service.observe.history import History
from sandbox_service.observe.records import Record
from sandbox_service.observe.search import Order, Problem, Search, by_problem, ordered, search
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import AssertTest, CallTest, InteractiveTest, StdinTest, TestCase, Verdict

MOST_RECORDS = 400
MOST_TESTS = 100
SHOWN = 4096  # characters of each text of a test
SHOWN_OF_PROGRAM = 65_536
SUITES_OF_A_PROBLEM = 4
Shown = dict[str, Any]


class ListSearch(Search):
    """The query of `GET /v1/recent`."""

    limit: int = Field(100, ge=1, le=MOST_RECORDS)


class ProblemSearch(ListSearch):
    """The query of `GET /v1/problems`. `by` is the label that names a problem."""

    order: Order = "most"
    by: str = Field("problem", max_length=256)


def routes(queue: JobQueue, book: History) -> APIRouter:
    """Return `GET /v1/recent`, `GET /v1/recent/{key}` and `GET /v1/problems`."""
    router = APIRouter(prefix="/v1", include_in_schema=False)

    @router.get("/recent")
    async def recent(request: Request, wanted: Annotated[ListSearch, Query()]) -> Shown:
        """Return submissions, latest first."""
        await book.refresh()
        last = book.last
        found = await search(book.records(), _own(request, wanted), wanted.limit)
        return {"process": book.name, "last": last, "submissions": [row(each) for each in found]}

    @router.get("/recent/{key}")
    async def one(request: Request, key: str) -> Shown:
        await book.refresh()
        record = book.find(key[:64])
        if record is None or not _own(request, Search()).matches(record):
            raise NotFoundError(f"no submission {key[:64]!r} here: it has expired, or its API process has ended")
        body = book.suite(record.suite)
        suite = suites.read(body) if body else await queue.suite(record.suite)
        tests = suite.tests if suite and suite.tests else None
        return row(record) | await asyncio.to_thread(details, record, tests)

    @router.get("/problems")
    async def problems(request: Request, wanted: Annotated[ProblemSearch, Query()]) -> Shown:
        """Return problems, in the order that is asked for."""
        await book.refresh()
        found = await by_problem(book.unordered(), _own(request, wanted), wanted.by)
        begin = min((each.first for each in found), default=0.0)
        end = max((each.last for each in found), default=0.0)
        return {
            "count": len(found),
            "begin": begin,
            "end": end,
            "problems": [
                problem_row(each, begin, end, book.flips)
                for each in ordered(found, wanted.order, book.flips)[: wanted.limit]
            ],
        }

    return router


def _own(request: Request, wanted: Search) -> Search:
    """Return a search within the submissions that the request's key may see."""
    key = owner(request)
    return wanted if key is None else wanted.model_copy(update={"key": key})


def problem_row(problem: Problem, begin: float, end: float, flips: Mapping[str, int]) -> Shown:
    """Return the fields of a problem that the list shows.

    Args:
        problem: The problem.
        begin: Unix time of the first submission of the list.
        end: Unix time of the last one.
        flips: Verdicts that a recheck did not confirm, by suite.
    """
    return {
        "name": problem.name[:256],
        "suites": sorted(problem.suites)[:SUITES_OF_A_PROBLEM],
        "submissions": len(problem.records),
        "verdicts": dict(problem.verdicts),
        "pass_rate": problem.pass_rate,
        "mean_seconds": problem.mean_seconds,
        "last": problem.last,
        "flips": problem.flips(flips),
        "suspects": problem.suspects,
        "course": problem.course(begin, end),
    }


def row(record: Record) -> Shown:
    """Return the fields of a submission that the list shows."""
    return {
        "key": record.key,
        "number": record.number,
        "time": record.when,
        "id": record.id,
        "client": record.labels.get("client", "")[:256],
        "api_key": record.client.partition("/")[0],
        "suite": record.suite,
        "labels": {name[:256]: value[:256] for name, value in list(record.labels.items())[:32]},
        "verdict": record.verdict,
        "reward": record.reward,
        "suspect": record.suspect,
        "passed": record.passed,
        "total": record.total,
        "failure_kind": record.failure_kind,
        "queued_seconds": record.queued_seconds,
        "graded_seconds": record.graded_seconds,
        "cached": record.cached,
        "language": record.language,
    }


def details(record: Record, tests: Sequence[TestCase] | None) -> Shown:
    """Return the remaining fields of a submission, with long texts truncated.

    Args:
        record: The submission.
        tests: The tests of its suite; None if the suite is gone.
    """
    submission = orjson.loads(record.program) if record.program else {}
    grade = orjson.loads(record.answer) if record.answer else {}
    run = grade.get("tests", [])
    return {
        "asked": {name: submission[name] for name in ("checker", "limits", "reward", "sample") if name in submission},
        "program": _program(submission)[:SHOWN_OF_PROGRAM],
        "completion": (submission.get("completion") or "")[:SHOWN_OF_PROGRAM],
        "is_completion": "completion" in submission,
        "extraction": submission.get("extraction", "last_block"),
        "is_whole": bool(record.program and record.answer),
        "has_suite": tests is not None,
        "suite_tests": record.tests,
        "message": (grade.get("message") or "")[:SHOWN],
        "failure_reason": (grade.get("failure_reason") or "")[:SHOWN],
        "notes": [each[:SHOWN] for each in grade.get("notes") or []],
        "groups": grade.get("groups") or [],
        "score": grade.get("score"),
        "forgeable": grade.get("forgeable", False),
        "provoked": grade.get("provoked", False),
        "grader": grade.get("grader", {}),
        "decided_by": _deciding(run),
        "run": len(run),
        "suspect": bool(grade.get("suspect")),
        "tests": [_test(result, tests) for result in worth_showing([*run, *(grade.get("audit") or ())])],
    }


def _program(submission: Mapping[str, Any]) -> str:
    """Return the program that was graded, extracted from a completion as the grader does; empty if there is none."""
    if "completion" not in submission:
        return str(submission.get("code") or "")
    language = languages.find(submission.get("language", "python")).name
    return extract(submission["completion"], submission.get("extraction", "last_block"), language) or ""


def _deciding(run: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the index of the first test that was not passed; None if there is none."""
    return min((int(result["index"]) for result in run if result["verdict"] != Verdict.AC), default=None)


def worth_showing(run: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the results of a run to show, failed ones first, in the order of their tests."""
    ranked = sorted(run, key=lambda result: (result["verdict"] == Verdict.AC, result["index"]))
    return sorted(ranked[:MOST_TESTS], key=lambda result: int(result["index"]))


def _test(result: Mapping[str, Any], tests: Sequence[TestCase] | None) -> Shown:
    index = result["index"]
    test = shown_test(tests[index]) if tests is not None and 0 <= index < len(tests) else {}
    texts = {name: (result.get(name) or "")[:SHOWN] for name in ("stdout", "stderr", "message")}
    is_cut = result["stdout_truncated"] or len(texts["stdout"]) < len(result["stdout"])
    return {**result, **texts, "stdout_truncated": is_cut, **test}


def shown_test(test: TestCase) -> Shown:
    """Return a test's input and all expected outputs as text."""
    match test:
        case StdinTest():
            return _test_fields("stdin", test.input, test.outputs)
        case CallTest():
            return _test_fields("call", _call(test), [_json(test.output)])
        case AssertTest():
            return _test_fields("assert", test.code, [])
        case InteractiveTest():
            return _test_fields("interactive", test.input, [test.output])


def _test_fields(kind: str, given: str, expected: Sequence[str]) -> Shown:
    shown = [each[:SHOWN] for each in expected[:8]]
    is_cut = shown != list(expected)
    return {"kind": kind, "input": given[:SHOWN], "expected": shown, "expected_truncated": is_cut}


def _call(test: CallTest) -> str:
    if test.calls is not None:
        return "\n".join(f"{method}({', '.join(map(_json, args))})" for method, args in test.calls)
    named = [f"{name}={_json(value)}" for name, value in test.kwargs.items()]
    return f"{test.function}({', '.join([*map(_json, test.args), *named])})"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)  # orjson rejects large integers
