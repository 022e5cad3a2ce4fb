"""The nouns that cross walls: frozen, strict, and the same on every side.

A `Submission` comes in over HTTP, travels as JSON through a queue to a grader, and a `Grade` comes back the
same way. Unknown fields are refused. Units are in the names: seconds, bytes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict, model_validator

# numbers are numbers: neither true nor "1" is one
Real = Annotated[float, Strict()]
Whole = Annotated[int, Strict()]
Truth = Annotated[bool, Strict()]

WALL_FACTOR = 3.0
WALL_SLACK_SECONDS = 2.0


class Noun(BaseModel):
    """Immutable, and without room for misspelt fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="constants")


class Verdict(StrEnum):
    """What became of a test or a submission, grouped by cause."""

    # the program did what was asked
    AC = "AC"
    # it ended well, but with the wrong answer
    WA = "WA"
    # it went over a limit
    TLE = "TLE"
    MLE = "MLE"
    OLE = "OLE"
    # it failed
    RTE = "RTE"
    CE = "CE"
    # we failed: no statement about the program
    IE = "IE"


class Limits(Noun):
    """What one test may use. CPU time decides; wall time is a generous backstop against sleepers."""

    cpu_seconds: Real = Field(4.0, gt=0)
    wall_seconds: Real | None = Field(None, gt=0, description="default: 3 × cpu_seconds + 2")
    memory_bytes: Whole = Field(1 << 30, ge=64 << 20, description="resident memory, the interpreter's own included")
    output_bytes: Whole = Field(16 << 20, ge=1)
    processes: Whole = Field(1, ge=1, description="1: threads are free, fork and exec are refused")

    @property
    def wall(self) -> float:
        """The wall-clock limit in seconds, given or derived."""
        if self.wall_seconds is not None:
            return self.wall_seconds
        return WALL_FACTOR * self.cpu_seconds + WALL_SLACK_SECONDS


class StdinTest(Noun):
    """A whole program: `input` on stdin (a regular file), and the `output` it should print, or a list of such."""

    type: Literal["stdin"] = "stdin"
    input: str = ""
    output: str | Annotated[list[str], Field(min_length=1)] = Field(description="of a list, any one is right")
    weight: Real = Field(1.0, gt=0)

    @property
    def outputs(self) -> list[str]:
        """All outputs that are right."""
        return [self.output] if isinstance(self.output, str) else self.output


class CallTest(Noun):
    """A function call with plain arguments and the plain value that it should return.

    `function`: a global of the program, else a method of its `Solution` class; `Solution.twoSum` says it outright.
    With `calls`, `function` names a class and each call is `[method, [arguments…]]`, the constructor first under the
    class's own name; `output` is then the list of all results, `null` for the constructor.
    """

    type: Literal["call"] = "call"
    function: str = Field(min_length=1)
    args: list[JsonValue] = Field(default_factory=list)
    kwargs: dict[str, JsonValue] = Field(default_factory=dict)
    calls: list[tuple[str, list[JsonValue]]] | None = Field(None, min_length=1)
    output: JsonValue
    weight: Real = Field(1.0, gt=0)

    @model_validator(mode="after")
    def _calls_or_arguments(self) -> Self:
        if self.calls is not None and (self.args or self.kwargs):
            raise ValueError("give either calls or args/kwargs, not both")
        return self


class AssertTest(Noun):
    """A test program that runs in a box of its own and reaches the candidate only through plain values."""

    type: Literal["assert"] = "assert"
    code: str
    entry_point: str | None = None
    prelude: str | None = Field(None, description='trusted code that both boxes run first; "@leetcode" is built in')
    weight: Real = Field(1.0, gt=0)


TestCase = Annotated[StdinTest | CallTest | AssertTest, Field(discriminator="type")]


OWN_TOLERANCE = ("lcb", "prime_code", "sandboxfusion", "deepcoder")


class Checker(Noun):
    """How an answer is compared with the expected one.

    `float_tolerance` sets both tolerances; a number is right if it is within either. Without a tolerance numbers
    are compared as written (tokens) or exactly (numbers, json, calls, math). The types that are named after other
    systems compare numbers as these do, and take no tolerance.
    """

    type: Literal[
        "exact", "stripped", "lines", "tokens", "numbers", "json", "unordered_lines", "math",
        "lcb", "prime_code", "sandboxfusion", "deepcoder",
    ] = "tokens"  # fmt: skip
    float_tolerance: Real | None = Field(None, ge=0)
    absolute_tolerance: Real | None = Field(None, ge=0)
    relative_tolerance: Real | None = Field(None, ge=0)
    ignore_case: Truth = False

    @model_validator(mode="after")
    def _no_second_tolerance(self) -> Self:
        given = (self.float_tolerance, self.absolute_tolerance, self.relative_tolerance)
        if self.type in OWN_TOLERANCE and any(tolerance is not None for tolerance in given):
            raise ValueError(f"{self.type} compares numbers by a rule of its own: give it no tolerance")
        return self


class Reward(Noun):
    """How a verdict becomes a number. `values` is for schemes such as Code-R1's −1.1 / 0.1 / 1.1."""

    scheme: Literal["all_or_nothing", "fraction", "weighted", "values"] = "all_or_nothing"
    no_format: Real = 0.0
    failed: Real = 0.0
    passed: Real = 1.0

    @model_validator(mode="after")
    def _values_only_with_their_scheme(self) -> Self:
        if self.scheme != "values" and (self.no_format, self.failed, self.passed) != (0.0, 0.0, 1.0):
            raise ValueError('no_format, failed and passed need "scheme": "values"')
        return self


ExtractionRule = Literal[
    "last_block", "first_block", "all_blocks", "answer_tag", "whole", "boxed", "boxed_after_thinking"
]


SUITE_ID = r"^sha256:[0-9a-f]{64}$"


class Sample(Noun):
    """Some of a suite's tests: the same ones for every submission that names the same count, rule and seed.

    `longest`: those with the longest inputs, and the earlier of two that are equally long.
    """

    count: Whole = Field(ge=1)
    seed: Whole = Field(0, description="for the rule random")
    rule: Literal["random", "first", "longest"] = "random"

    @model_validator(mode="after")
    def _seed_only_for_chance(self) -> Self:
        if self.seed and self.rule != "random":
            raise ValueError(f"the rule {self.rule} leaves nothing to chance: give it no seed")
        return self


Mode = Literal["lcb", "prime_code", "sandboxfusion", "code_r1", "deepcoder", "kattis"]


class SuiteBody(Noun):
    """Tests that many submissions share, and what they are graded with unless a submission says otherwise."""

    tests: list[TestCase] = Field(min_length=1)
    checker: Checker | None = None
    limits: Limits | None = None


class Submission(Noun):
    """A program, or a model's answer with a program in it, and the tests it is to pass.

    `tests` or `suite` (the id of a suite that was uploaded), and perhaps a `sample` of them. `labels` say whose it is
    and how urgent: `client` and `priority` (high, normal, low) decide its place in the queue. A `mode` is replaced by
    the `checker`, `limits` and `sample` that it stands for where a submission is taken; a grader does not know it.
    """

    id: str = Field("", max_length=256, description="idempotency key; made by the service if empty")
    language: str = "python"
    code: str | None = None
    completion: str | None = None
    extraction: ExtractionRule = "last_block"
    tests: list[TestCase] | None = Field(None, min_length=1)
    suite: str | None = Field(None, pattern=SUITE_ID, description="sha256:…, see PUT /v1/suites/{sha256}")
    sample: Sample | None = None
    mode: Mode | None = Field(None, description="another system's checker, limits and sample, where none are given")
    checker: Checker = Checker()
    limits: Limits = Limits()
    reward: Reward = Reward()
    stop_on_failure: Truth = True
    display_bytes: Whole | None = Field(
        None, ge=0, description="of stdout and stderr in the answer; null: the service's"
    )
    labels: dict[str, str] = Field(default_factory=dict)

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


class TestResult(Noun):
    """What one test said. `stdout` and `stderr` are cut for display; judging saw all of it.

    `exit_code` or `signal`: how the program ended, where a process was seen to end.
    """

    __test__ = False  # pytest: this is no test class

    index: int
    verdict: Verdict
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory_bytes: int = 0
    stdout: str = ""
    stdout_truncated: bool = False
    stderr: str = ""
    message: str | None = None


class Timing(Noun):
    """Where the time of one submission went."""

    queued_seconds: float = 0.0
    graded_seconds: float = 0.0


class GraderIdentity(Noun):
    """Who graded: enough to tell two graders' answers apart."""

    version: str = ""
    language: str = ""
    host: str = ""
    attempts: int = 1
    cached: bool = False


class Grade(Noun):
    """The answer to a submission. Where the verdict is `IE` the reward is null and the sample should be masked."""

    id: str
    verdict: Verdict
    reward: float | None
    mask_sample: bool = False
    failure_kind: str | None = None
    failure_reason: str | None = None
    passed: int = 0
    total: int = 0
    message: str | None = None
    timing: Timing = Timing()
    grader: GraderIdentity = GraderIdentity()
    tests: list[TestResult] = Field(default_factory=list)  # the last: see answers.py

    @classmethod
    def fault(cls, submission_id: str, total: int, kind: str, reason: str, attempts: int = 1) -> Self:
        """The grade of a submission that we could not grade."""
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
    """`defaults` are fields of a submission that every one of `submissions` has unless it says otherwise."""

    model_config = ConfigDict(extra="forbid")

    defaults: dict[str, Any] = Field(default_factory=dict)
    submissions: list[dict[str, Any]] = Field(min_length=1)
