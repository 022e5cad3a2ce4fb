"""The memory that the boxes of a submission may use at a time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sandbox_service.grading import suites
from sandbox_service.grading.suites import Suite
from sandbox_service.queues.base import job_of
from sandbox_service.schema import Limits, Submission
from sandbox_service.slots.memory import MemoryNeeds, SuiteNeeds, suite_needs
from sandbox_service.slots.tasks import Task
from tests.fakes import hold, made
from tests.slots.test_pool import MIB, RecordingOwner

STDIN = {"type": "stdin", "output": "1"}
ASSERT = {"type": "assert", "code": "assert f(1) == 2"}
INTERACTIVE = {"type": "interactive"}
JUDGE = {"type": "program", "source": "pass"}


def judge(mib: int, **fields: Any) -> dict[str, Any]:
    """A judge program with this limit of memory."""
    return JUDGE | {"limits": {"memory_bytes": mib * MIB}} | fields


def suite(*tests: dict[str, Any], **fields: Any) -> Suite:
    """A suite, read from JSON with blanks."""
    return suites.read(json.dumps({"tests": tests or (STDIN,)} | fields).encode())


@pytest.mark.parametrize(
    ("body", "mib"),
    [
        (b'{"code":"x"}', 1024),
        (b'{"code":"x","limits":{"memory_bytes":67108864}}', 64),
        (b'{"code":"x","limits":{"memory_bytes":734003200},"language":"java"}', 700 + 128),
        (b'{"code":"x","limits":{"memory_bytes":"much"}}', 1024),
        (b'{"code":"x","language":"klingon"}', 1024),
        (b"[[1]]", 1024),
        (b"\xff{", 1024),
    ],
)
def test_a_program_counts_with_its_limit_and_its_machine(body: bytes, mib: int) -> None:
    assert MemoryNeeds().of(body, suite()) == mib * MIB


@pytest.mark.parametrize(
    ("fields", "mib"),
    [
        ({}, 512),
        ({"limits": {"memory_bytes": 600 * MIB}}, 600),
        ({"compile_limits": {"memory_bytes": 2048 * MIB}}, 2048),
        ({"compile_limits": {"memory_bytes": None}}, 512),
        ({"compile_limits": {"memory_bytes": 2048 * MIB}, "language": "python"}, 64),
    ],
)
def test_a_compiler_counts_before_the_program(fields: dict[str, Any], mib: int) -> None:
    body = {"code": "x", "language": "cpp", "limits": {"memory_bytes": 64 * MIB}} | fields
    assert MemoryNeeds().of(json.dumps(body).encode(), suite()) == mib * MIB


@pytest.mark.parametrize(
    ("given", "mib"),
    [
        (suite(ASSERT), 64 + 128),
        (suite(STDIN, STDIN | {"input": '"type": "assert"'}), 64),
        (suite(INTERACTIVE, interactor=JUDGE), 64 + 128),
        (suite(INTERACTIVE, interactor=judge(256)), 64 + 256),
        (suite(INTERACTIVE, interactor=judge(256, language="java")), 64 + 256 + 128),
        (suite(checker=JUDGE), 128),
        (suite(checker=judge(900)), 900),
        (suite(checker={"type": "exact"}), 64),
        (suite(INTERACTIVE, interactor=judge(100), checker=judge(300)), 300),
    ],
)
def test_testers_and_interactors_count_beside_the_program_and_checkers_after_it(given: Suite, mib: int) -> None:
    body = b'{"code":"x","limits":{"memory_bytes":67108864}}'
    needs = MemoryNeeds()
    assert [needs.of(body, given), needs.of(body, given)] == [mib * MIB] * 2
    assert needs.of(b'{"code":"x"}', given) == max(1024 * MIB + suite_needs(given).beside, mib * MIB)


@pytest.mark.parametrize(
    ("written", "letter", "given", "needs"),
    [
        ('"checker"', "c", suite(checker=judge(2048)), SuiteNeeds(128 * MIB, 2048 * MIB)),
        ('"interactor"', "i", suite(INTERACTIVE, interactor=judge(256)), SuiteNeeds(256 * MIB)),
        ('"assert"', "a", suite(ASSERT), SuiteNeeds(128 * MIB)),
    ],
)
def test_a_key_or_a_type_with_an_escaped_letter_counts(
    written: str, letter: str, given: Suite, needs: SuiteNeeds
) -> None:
    escaped = written.replace(letter, f"\\u{ord(letter):04x}", 1)
    body = given.body.replace(written.encode(), escaped.encode())
    assert body != given.body
    assert suite_needs(suites.read(body)) == needs  # a tester counts as well, since the letter may be of `assert`


def test_a_submissions_own_judges_count_like_those_of_a_suite() -> None:
    own = {"code": "x", "interactor": judge(200), "checker": judge(2048), "limits": {"memory_bytes": 64 * MIB}}
    assert MemoryNeeds().of(json.dumps(own).encode(), suite(INTERACTIVE)) == 2048 * MIB
    del own["checker"]
    assert MemoryNeeds().of(json.dumps(own).encode(), suite(INTERACTIVE)) == 264 * MIB


@pytest.mark.parametrize("body", [b"", b'{"checker"', b'{"checker":{"type":"program","limits":5}}', b'"interactor"'])
def test_a_suite_that_cannot_be_read_adds_nothing(body: bytes) -> None:
    assert suite_needs(Suite("sha256:" + "0" * 64, body, [])) == SuiteNeeds()


@pytest.mark.parametrize(
    ("fields", "is_default"),
    [
        ({}, True),
        ({"limits": {"cpu_seconds": 1.0}}, True),
        ({"code": '"memory_bytes" "language"'}, True),
        ({"limits": {"memory_bytes": 64 * MIB}}, False),
        ({"language": "cpp"}, False),
        ({"compile_limits": {"memory_bytes": 2048 * MIB}}, False),
        ({"suite": "sha256:" + "0" * 64, "tests": None, "checker": judge(2048)}, False),
        ({"tests": [INTERACTIVE], "interactor": judge(256)}, False),
    ],
)
def test_a_job_knows_that_its_body_says_nothing_about_memory(fields: dict[str, Any], *, is_default: bool) -> None:
    submission = Submission.model_validate({"id": "a", "code": "x", "tests": [STDIN]} | fields)
    job, needs = job_of(submission, suite()), MemoryNeeds()
    assert job.has_default_memory == job.like("b", job.body).has_default_memory == is_default
    if is_default:
        assert needs.of_default(job.suite) == needs.of(job.body, job.suite)


def test_a_pool_searches_no_body_that_says_nothing_about_memory() -> None:
    async def scenario() -> None:
        owner = RecordingOwner(hold, 2)
        for name, is_default in (("a", True), ("b", False)):
            job = made(name, suite=suite(STDIN), limits=Limits(memory_bytes=64 * MIB))
            task = Task(job.id, job.body, job.suite, job.tests, has_default_memory=is_default)
            owner.pool.give(task)
            assert task.memory_bytes == (1024 if is_default else 64) * MIB
        await owner.pool.close()

    asyncio.run(scenario())
