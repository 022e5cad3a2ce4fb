"""The routes of what was answered of late: a list, and one submission with each test beside what it should have said.

They are for people and the page that shows them (`dashboard`), not part of the contract: each API process knows its
own answers only. Expected answers are in them, so they want a key as all of `/v1` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query

from sandbox_service import suites
from sandbox_service.errors import NotFound
from sandbox_service.recent import Entry, RecordedQueue
from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase, Verdict

MOST_ENTRIES = 400
MOST_TESTS = 100
SHOWN = 4096  # characters of each text of a test
SHOWN_OF_PROGRAM = 65_536
Shown = dict[str, Any]


def routes(queue: RecordedQueue) -> APIRouter:
    """`GET /v1/recent` and `GET /v1/recent/{key}`."""
    router = APIRouter(prefix="/v1/recent", include_in_schema=False)
    book = queue.book

    @router.get("")
    async def recent(
        verdict: str = "",
        client: str = "",
        after: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=MOST_ENTRIES)] = 100,
    ) -> Shown:
        """The last first. `after`: only those with a greater number; `verdict`, `client`: only those that have it."""
        last = book.last
        found = [each for each in book.entries() if each.number > after and _is_asked_for(each, verdict, client)]
        rows = [{"key": book.key(each), **row(each)} for each in found[:limit]]
        return {"process": book.name, "last": last, "submissions": rows}

    @router.get("/{key}")
    async def one(key: str) -> Shown:
        entry = book.find(key[:64])
        if entry is None:
            raise NotFound("this API process does not know it, or no more")
        body = book.suite(entry.suite)
        suite = suites.read(body) if body is not None else await queue.suite(entry.suite)
        return {"key": key, **row(entry), **details(entry, suite.tests if suite else None)}

    return router


def _is_asked_for(entry: Entry, verdict: str, client: str) -> bool:
    return verdict in ("", entry.facts["verdict"]) and client in ("", _client(entry))


def _client(entry: Entry) -> str:
    return entry.labels.get("client", "")


def row(entry: Entry) -> Shown:
    """What a list says of a submission."""
    return {
        "number": entry.number,
        "time": entry.when,
        "id": entry.id,
        "client": _client(entry)[:256],
        "api_key": entry.client.partition("/")[0],
        "suite": entry.suite,
        **entry.facts,
    }


def details(entry: Entry, tests: Sequence[TestCase] | None) -> Shown:
    """All else of it, long texts cut. `tests`: of its suite, None if that is here no more."""
    submission = orjson.loads(entry.program) if entry.program else {}
    grade = orjson.loads(entry.answer) if entry.answer else {}
    run = grade.get("tests", [])
    return {
        "asked": {name: submission[name] for name in ("checker", "limits", "reward", "sample") if name in submission},
        "labels": {name[:256]: value[:256] for name, value in list(entry.labels.items())[:32]},
        "program": (submission.get("code") or submission.get("completion") or "")[:SHOWN_OF_PROGRAM],
        "is_completion": "completion" in submission,
        "is_whole": bool(entry.program and entry.answer),
        "has_suite": tests is not None,
        "suite_tests": entry.tests,
        "message": (grade.get("message") or "")[:SHOWN],
        "failure_reason": (grade.get("failure_reason") or "")[:SHOWN],
        "grader": grade.get("grader", {}),
        "run": len(run),
        "tests": [_test(result, tests) for result in worth_showing(run)],
    }


def worth_showing(run: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of many results so many as are shown: first of all those that did not pass."""
    ranked = sorted(run, key=lambda result: (result["verdict"] == Verdict.AC, result["index"]))
    return sorted(ranked[:MOST_TESTS], key=lambda result: int(result["index"]))


def _test(result: Mapping[str, Any], tests: Sequence[TestCase] | None) -> Shown:
    index = result["index"]
    asked = asks(tests[index]) if tests is not None and 0 <= index < len(tests) else {}
    texts = {name: (result.get(name) or "")[:SHOWN] for name in ("stdout", "stderr", "message")}
    is_cut = result["stdout_truncated"] or len(texts["stdout"]) < len(result["stdout"])
    return {**result, **texts, "stdout_truncated": is_cut, **asked}


def asks(test: TestCase) -> Shown:
    """What a test gives, and each answer that would be right, as text."""
    match test:
        case StdinTest():
            return _asks("stdin", test.input, test.outputs)
        case CallTest():
            return _asks("call", _call(test), [_json(test.output)])
        case AssertTest():
            return _asks("assert", test.code, [])


def _asks(kind: str, given: str, expected: Sequence[str]) -> Shown:
    shown = [each[:SHOWN] for each in expected[:8]]
    is_cut = shown != list(expected)
    return {"kind": kind, "input": given[:SHOWN], "expected": shown, "expected_truncated": is_cut}


def _call(test: CallTest) -> str:
    if test.calls is not None:
        return "\n".join(f"{method}({', '.join(map(_json, args))})" for method, args in test.calls)
    named = [f"{name}={_json(value)}" for name, value in test.kwargs.items()]
    return f"{test.function}({', '.join([*map(_json, test.args), *named])})"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)  # not orjson, which knows no large integers
