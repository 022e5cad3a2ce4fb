"""The data model of the API and of the queues: immutable, strict models, the same in every process.

A `Submission` arrives over HTTP and travels as JSON through a queue to a grader; a `Grade` returns the same way.
Unknown fields are refused. Units are in the names: seconds, bytes. The models of tests and checkers are in `tests.py`;
other modules import all names from here.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from sandbox_service.schema.tests import (
    MOST_GROUPS,
    WALL_FACTOR,
    AnyChecker,
    AssertTest,
    CallTest,
    Checker,
    FrozenModel,
    InteractiveTest,
    JudgedTest,
    JudgeProgram,
    Limits,
    ReferenceTime,
    SendableText,
    StdinTest,
    StrictBool,
    StrictFloat,
    StrictInt,
    SuiteChecker,
    TestCase,
    TestGroup,
    sendable,
)

__all__ = [
    "MOST_LABELS",
    "SUITE_ID",
    "WALL_FACTOR",
    "AnyChecker",
    "AssertTest",
    "BatchRequest",
    "CallTest",
    "Checker",
    "ExtractionRule",
    "FailureKind",
    "FrozenModel",
    "Grade",
    "GraderIdentity",
    "GroupResult",
    "Groups",
    "InteractiveTest",
    "Isolation",
    "JudgeProgram",
    "JudgedTest",
    "Limits",
    "Mode",
    "ReferenceTime",
    "Reward",
    "Sample",
    "SendableText",
    "SharingAudit",
    "StdinTest",
    "StrictBool",
    "StrictFloat",
    "StrictInt",
    "Submission",
    "SuiteBody",
    "SuiteChecker",
    "TestCase",
    "TestGroup",
    "TestResult",
    "Timing",
    "Verdict",
    "sendable",
]

MOST_LABELS = 64


def _few(labels: Any) -> Any:
    """Raise ValueError for too many labels, before each of them is validated."""
    if isinstance(labels, dict) and len(labels) > MOST_LABELS:
        raise ValueError(f"{len(labels)} labels, the limit is {MOST_LABELS}")
    return labels


class Verdict(StrEnum):
    """The result of a test or a submission, grouped by cause."""

    # every test passed
    AC = "AC"
    # the program ended normally with a wrong output
    WA = "WA"
    # the program exceeded a limit
    TLE = "TLE"
    MLE = "MLE"
    OLE = "OLE"
    # the program failed
    RTE = "RTE"
    CE = "CE"
    # the service failed: says nothing about the program
    IE = "IE"


class Reward(FrozenModel):
    """Turns a verdict into a number. `values` is for schemes such as Code-R1's −1.1 / 0.1 / 1.1.

    `score` is the share of the points of all groups. `suspect` replaces the reward of an accepted submission that fails
    an audit test.
    """

    scheme: Literal["all_or_nothing", "fraction", "weighted", "values", "score"] = "all_or_nothing"
    no_format: StrictFloat = 0.0
    failed: StrictFloat = 0.0
    passed: StrictFloat = 1.0
    suspect: StrictFloat | None = Field(None, description="for a suspect submission; null: the scheme's own reward")

    @model_validator(mode="after")
    def _values_only_with_their_scheme(self) -> Self:
        if self.scheme != "values" and (self.no_format, self.failed, self.passed) != (0.0, 0.0, 1.0):
            raise ValueError('no_format, failed and passed need "scheme": "values"')
        return self


ExtractionRule = Literal[
    "last_block", "first_block", "all_blocks", "answer_tag", "whole", "boxed", "boxed_after_thinking"
]


SUITE_ID = r"^sha256:[0-9a-f]{64}$"


class Sample(FrozenModel):
    """Selects some of a suite's tests, the same ones for every submission with the same count, rule and seed.

    `longest` selects the tests with the longest inputs, and the earlier of two of equal length. With `by: submission`
    the choice depends on the submission's id too.
    """

    count: StrictInt = Field(ge=1)
    seed: StrictInt = Field(0, description="only for the rule random")
    rule: Literal["random", "first", "longest"] = "random"
    by: Literal["suite", "submission"] = Field("suite", description="submission: only for the rule random")

    @model_validator(mode="after")
    def _seed_only_for_chance(self) -> Self:
        if self.seed and self.rule != "random":
            raise ValueError(f"the rule {self.rule} is not random: remove the seed")
        if self.by == "submission" and self.rule != "random":
            raise ValueError(f"the rule {self.rule} takes the same tests for every submission: remove `by`")
        return self

    def of(self, submission_id: str) -> Sample:
        """Return the sample of one submission: with `by: submission` the seed follows from this one and the id."""
        if self.by == "suite":
            return self
        digest = hashlib.blake2b(f"{self.seed}/{submission_id}".encode(), digest_size=8).digest()
        return Sample(count=self.count, seed=int.from_bytes(digest))


Groups = Annotated[list[TestGroup], Field(min_length=1, max_length=MOST_GROUPS)]

Mode = Literal["lcb", "prime_code", "sandboxfusion", "code_r1", "deepcoder", "kattis"]


class SuiteBody(FrozenModel):
    """Tests that many submissions share, with the checker and limits of submissions that set none."""

    tests: Annotated[list[TestCase], Field(fail_fast=True)] = Field(min_length=1)
    checker: AnyChecker | None = None
    interactor: JudgeProgram | None = None
    limits: Limits | None = None
    groups: Groups | None = None


Isolation = Literal["submission", "calls", "shuffled", "test"]


class CompileLimits(FrozenModel):
    """Limits of the compiler, for languages that are compiled. A field that is not given has the service's value."""

    cpu_seconds: StrictFloat | None = Field(None, gt=0)
    wall_seconds: StrictFloat | None = Field(None, gt=0)
    memory_bytes: StrictInt | None = Field(None, ge=64 << 20)
    output_bytes: StrictInt | None = Field(None, ge=1, description="size of the program, and of the compiler's words")


MOST_SOURCES = 100
FILE_NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}$"


def _few_files(files: Any) -> Any:
    """Raise ValueError for too many files, before each of them is validated."""
    if isinstance(files, dict) and len(files) > MOST_SOURCES:
        raise ValueError(f"{len(files)} files, the limit is {MOST_SOURCES}")
    return files


FileName = Annotated[str, Field(pattern=FILE_NAME)]


class Submission(FrozenModel):
    """A program, or a model's answer that contains one, and the tests to run.

    The tests are given as `tests`, or as `suite`, the id of an uploaded suite; `sample` selects some of them. `labels`
    state the `client` and its `priority` (high, normal, low), which decide the place in the queue. A `mode` is replaced
    by its `checker`, `limits` and `sample` when the submission is accepted; graders do not know modes.
    """

    id: str = Field("", max_length=256, description="idempotency key; generated by the service if empty")
    language: str = "python"
    code: str | None = None
    completion: str | None = None
    extraction: ExtractionRule = "last_block"
    tests: Annotated[list[TestCase], Field(fail_fast=True)] | None = Field(None, min_length=1)
    suite: str | None = Field(None, pattern=SUITE_ID, description="sha256:…, see PUT /v1/suites/{sha256}")
    sample: Sample | None = None
    mode: Mode | None = Field(None, description="uses another system's checker, limits and sample where none are given")
    checker: AnyChecker = Checker()
    interactor: JudgeProgram | None = Field(None, description="talks to the program in tests of type interactive")
    limits: Limits = Limits()
    files: Annotated[dict[FileName, str], BeforeValidator(_few_files)] = Field(
        default_factory=dict, description="further files by name, in the program's folder"
    )
    compile_limits: CompileLimits = CompileLimits()
    groups: Groups | None = Field(None, description="how tests are scored together")
    reward: Reward = Reward()
    stop_on_failure: StrictBool = True
    isolation: Isolation | None = Field(
        None,
        description="each test has its own box (test); calls share one, in order (calls) or shuffled; stdin tests in "
        "Python and Java too (submission); null: calls do, and stdin tests if the service is set so",
    )
    display_bytes: StrictInt | None = Field(
        None, ge=0, description="bytes of stdout and stderr in the answer; null: the service's default"
    )
    labels: Annotated[dict[str, str], BeforeValidator(_few)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _code_or_completion(self) -> Self:
        if (self.code is None) == (self.completion is None):
            raise ValueError("give exactly one of code and completion")
        return self

    @model_validator(mode="after")
    def _tests_or_suite(self) -> Self:
        if (self.tests is None) == (self.suite is None):
            raise ValueError("give exactly one of tests and suite")
        return self


class TestResult(FrozenModel):
    """The result of one test. `stdout` and `stderr` are truncated for display; the checker saw the whole output.

    `exit_code` or `signal` is set if the end of a process was observed. `share` is the part of the test that a checker
    program awarded, if it gave points. `transcript` is the beginning of an interaction.
    """

    __test__ = False  # pytest: not a test class

    index: int
    verdict: Verdict
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory_bytes: int = 0
    stdout: SendableText = ""
    stdout_truncated: bool = False
    stderr: SendableText = ""
    message: SendableText | None = None
    forgeable: bool = Field(False, description="the test program ran in one process with the submission")
    share: float | None = None
    transcript: SendableText | None = None
    provoked: bool = Field(False, description="the judge failed on what the submission wrote, and not without that")
    hidden: bool = False


class GroupResult(FrozenModel):
    """The score of a group: points, and the verdict of its first test that is not accepted; null if none was run."""

    name: str
    score: float
    points: float
    verdict: Verdict | None = None


class FailureKind(StrEnum):
    """The cause of a missing verdict, `failure_kind` on the wire; grading/retries.py says which faults are retried.

    `Grade.failure_kind` is a string: a newer service may send a kind that this version does not know.
    """

    SANDBOX = "sandbox"  # a box or a slot failed
    JAIL_UNSAFE = "jail_unsafe"  # the canary did not prove the sandbox
    GRADER_ERROR = "grader_error"  # a defect of the grader
    WORKER_LOST = "worker_lost"  # slots or workers ended while they had it
    SUITE_LOST = "suite_lost"  # Redis has lost its suite
    FORGOTTEN = "forgotten"  # Redis has lost the submission
    UNREADABLE_ANSWER = "unreadable_answer"  # Redis holds no grade where the answer should be
    BAD_TEST = "bad_test"  # the test cannot be run
    BAD_CHECKER = "bad_checker"  # the checker or interactor itself failed
    CANCELLED = "cancelled"  # cancelled on request
    BAD_SUBMISSION = "bad_submission"  # a slot received no valid submission
    GIVEN_UP = "given_up"  # made by the client: the service failed too often


REQUEST_FAULTS = frozenset({FailureKind.BAD_TEST, FailureKind.BAD_CHECKER, FailureKind.CANCELLED})
"""Failures that the request causes and not the service; grading the same request again gives the same."""


class SharingAudit(StrEnum):
    """The result of grading a submission once more, without a shared box."""

    AGREED = "agreed"  # fresh boxes accept it too
    FLIPPED = "flipped"  # they do not, and the answer is theirs
    STOPPED = "stopped"  # the same, and once too often: this grader shares no boxes any more


class Timing(FrozenModel):
    """Seconds that a submission spent waiting and being graded."""

    queued_seconds: float = 0.0
    graded_seconds: float = 0.0


class GraderIdentity(FrozenModel):
    """The grader that produced a grade, to tell the answers of two graders apart."""

    version: str = ""
    language: str = ""
    host: str = ""
    attempts: int = 1
    cached: bool = False


class Grade(FrozenModel):
    """The answer to a submission. If the verdict is `IE`, the reward is null and the sample should be masked.

    `audit` has the results of the audit tests that were run. They are no part of the verdict, of `passed` and `total`,
    and of the score; a submission that failed one of them is `suspect`.
    """

    id: str
    verdict: Verdict
    reward: float | None
    mask_sample: bool = False
    failure_kind: str | None = None
    failure_reason: SendableText | None = None
    passed: int = 0
    total: int = 0
    message: SendableText | None = None
    forgeable: bool = Field(False, description="the submission could have forged the verdict of a test")
    score: float | None = None
    groups: list[GroupResult] | None = None
    shared: int = Field(0, description="stdin tests that passed in a box in which others had run before")
    sharing_audit: SharingAudit | None = Field(
        None, description="what fresh boxes said, of a share of the submissions that shared one"
    )
    notes: list[str] | None = None
    suspect: bool = False
    provoked: bool = Field(False, description="a judge failed on what the submission wrote, and not without that")
    audit: list[TestResult] | None = None
    timing: Timing = Timing()
    grader: GraderIdentity = GraderIdentity()
    tests: list[TestResult] = Field(default_factory=list)  # keep this field last: see grading/encoded_grade.py

    @classmethod
    def fault(cls, submission_id: str, total: int, kind: str, reason: str, attempts: int = 1) -> Self:
        """Return the grade of a submission that the service failed to grade.

        Args:
            submission_id: The submission's id.
            total: The number of its tests.
            kind: The kind of fault, for programs.
            reason: The reason, for people.
            attempts: The number of attempts.
        """
        return cls(
            id=submission_id,
            verdict=Verdict.IE,
            reward=None,
            mask_sample=True,
            failure_kind=kind,
            failure_reason=reason,
            total=total,
            grader=GraderIdentity(attempts=attempts),
        )


class BatchRequest(BaseModel):
    """Submissions, with `defaults` for fields that a submission does not set."""

    model_config = ConfigDict(extra="forbid")

    defaults: dict[str, Any] = Field(default_factory=dict)
    submissions: Annotated[list[dict[str, Any]], Field(fail_fast=True)] = Field(min_length=1)
