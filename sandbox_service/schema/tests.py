"""The data model of tests: limits, tests, groups, checkers and judge programs.

Other modules import these names from `schema`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Strict,
    Tag,
    model_validator,
)

# reject bool and text where a number is expected
StrictFloat = Annotated[float, Strict()]
StrictInt = Annotated[int, Strict()]
StrictBool = Annotated[bool, Strict()]


def sendable(text: str) -> str:
    r"""Return the text with each lone surrogate, which UTF-8 cannot encode, written as its escape, such as `\ud800`.

    A box's text may have one: JSON's `\ud800` produces it, and so does a decoder with `surrogatepass`. All other text
    is unchanged; JSON escapes NUL and the other control characters.
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _sendable_if_text(value: object) -> object:
    return sendable(value) if isinstance(value, str) and not value.isascii() else value


# text that a box may have written
SendableText = Annotated[str, BeforeValidator(_sendable_if_text)]

MOST_NAME = 100  # characters of a group's name
MOST_GROUPS = 200
MOST_JUDGE_FILES = 64
MOST_JUDGE_BYTES = 1 << 20

WALL_FACTOR = 3.0
WALL_SLACK_SECONDS = 2.0


class FrozenModel(BaseModel):
    """Base class: immutable, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="constants")


class ReferenceTime(FrozenModel):
    """The CPU time of a problem's reference solutions, and how much more a submission may take."""

    cpu_seconds: StrictFloat = Field(gt=0, description="of the slowest test of the slowest accepted reference")
    factor: StrictFloat = Field(4.0, ge=1)
    least_seconds: StrictFloat = Field(1.0, gt=0, description="the limit is no lower than this")

    @property
    def limit_seconds(self) -> float:
        """The CPU limit that follows."""
        return max(self.least_seconds, self.factor * self.cpu_seconds)


class Limits(FrozenModel):
    """Resource limits of one test. CPU time is the limit for computation; wall time stops programs that sleep.

    A `reference` lowers `cpu_seconds` and never raises it.
    """

    cpu_seconds: StrictFloat = Field(4.0, gt=0)
    reference: ReferenceTime | None = Field(
        None, description="the CPU limit is `factor` times the references' time, at most `cpu_seconds`"
    )
    wall_seconds: StrictFloat | None = Field(None, gt=0, description="default: 3 × cpu_seconds + 2")
    memory_bytes: StrictInt = Field(1 << 30, ge=64 << 20, description="resident memory, including the interpreter")
    output_bytes: StrictInt = Field(16 << 20, ge=1)
    processes: StrictInt = Field(1, ge=1, description="1: threads are free, fork and exec are refused")

    @property
    def wall(self) -> float:
        """The wall time limit in seconds, given or derived."""
        if self.wall_seconds is not None:
            return self.wall_seconds
        return WALL_FACTOR * self.cpu_seconds + WALL_SLACK_SECONDS

    def resolved(self) -> Limits:
        """Return the same limits without a reference, whose CPU limit is in `cpu_seconds`."""
        if self.reference is None:
            return self
        cpu_seconds = min(self.cpu_seconds, self.reference.limit_seconds)
        return self.model_copy(update={"cpu_seconds": cpu_seconds, "reference": None})

    def under(self, suite: Limits | None) -> Limits:
        """Return these limits of a submission, with the reference of its suite's limits if they have none."""
        if suite is None or suite.reference is None or "reference" in self.model_fields_set:
            return self
        return self.model_copy(update={"reference": suite.reference})


class Test(FrozenModel):
    """The fields of every kind of test. `group` names one of the suite's groups.

    The answer shows only the verdict of a `hidden` test. An `audit` test runs only if all others passed, and never
    counts: a submission that fails it is `suspect`.
    """

    __test__ = False  # pytest: not a test class

    weight: StrictFloat = Field(1.0, gt=0)
    group: str = Field("", max_length=MOST_NAME)
    hidden: StrictBool = False
    role: Literal["scored", "audit"] = "scored"
    cpu_seconds: StrictFloat | None = Field(
        None, gt=0, description="CPU limit of an audit test, if a right program needs far less than the limit"
    )

    @model_validator(mode="after")
    def _only_audit_tests_have_a_limit(self) -> Self:
        if self.cpu_seconds is not None and self.role != "audit":
            raise ValueError("cpu_seconds is for audit tests: give a scored test the limits of its submission")
        return self

    @model_validator(mode="after")
    def _audit_tests_have_no_group(self) -> Self:
        if self.role == "audit" and self.group:
            raise ValueError("an audit test is not scored: remove its group")
        return self


class JudgedTest(Test):
    """A test that a judge program may decide."""

    judge_arguments: list[str] = Field(
        default_factory=list,
        max_length=MOST_JUDGE_FILES,
        description="words of the judge's command line for this test, behind the judge's own arguments",
    )
    full_score: StrictFloat | None = Field(
        None, gt=0, description="the score that counts as this whole test; null: the judge's full_score"
    )

    @property
    def asks_for_a_judge(self) -> bool:
        """True if only a judge program can decide it."""
        return bool(self.judge_arguments) or self.full_score is not None


class StdinTest(JudgedTest):
    """Runs a whole program with `input` on stdin (a regular file). `output` is the expected stdout, or a list of
    alternatives.
    """

    type: Literal["stdin"] = "stdin"
    input: str = ""
    output: str | Annotated[list[str], Field(min_length=1, fail_fast=True)] = Field(
        description="any entry of a list is accepted"
    )

    @property
    def outputs(self) -> list[str]:
        """All accepted outputs."""
        return [self.output] if isinstance(self.output, str) else self.output


class InteractiveTest(JudgedTest):
    """Runs the program and an interactor at the same time, joined by two pipes.

    The interactor reads `input` and the answer `output`; the program sees neither.
    """

    type: Literal["interactive"] = "interactive"
    input: str = ""
    output: str = ""


class CallTest(Test):
    """Calls a function with plain arguments and compares its plain result.

    `function` is a global of the program, or else a method of its `Solution` class; `Solution.twoSum` is explicit. With
    `calls`, `function` names a class and each call is `[method, [arguments…]]`; the first is the constructor, with the
    name of the class. `output` is then the list of all results, `null` for the constructor.
    """

    type: Literal["call"] = "call"
    function: str = Field(min_length=1)
    args: list[JsonValue] = Field(default_factory=list)
    kwargs: dict[str, JsonValue] = Field(default_factory=dict)
    calls: Annotated[list[tuple[str, list[JsonValue]]], Field(fail_fast=True)] | None = Field(None, min_length=1)
    output: JsonValue

    @model_validator(mode="after")
    def _calls_or_arguments(self) -> Self:
        if self.calls is not None and (self.args or self.kwargs):
            raise ValueError("give either calls or args/kwargs, not both")
        return self


class AssertTest(Test):
    """A test program in a box of its own. It reaches the submission only through plain values."""

    type: Literal["assert"] = "assert"
    code: str
    entry_point: str | None = None
    prelude: str | None = Field(None, description='trusted code that both boxes run first; "@leetcode" is built in')
    needs_call: StrictBool = Field(
        True, description="false: a Python test program that never uses the submission may pass, if that loads"
    )


TestCase = Annotated[StdinTest | CallTest | AssertTest | InteractiveTest, Field(discriminator="type")]


class TestGroup(FrozenModel):
    """Tests that are scored together, as a subtask of a contest.

    The group's share of its `points` follows from the shares of its tests by `rule`: `all` (1 if every test is
    accepted), `min`, `max`, or `sum` (the mean by weight). A group scores 0 unless each group in `requires` has its
    full share.
    """

    __test__ = False  # pytest: not a test class

    name: str = Field(min_length=1, max_length=MOST_NAME)
    points: StrictFloat = Field(1.0, ge=0)
    rule: Literal["all", "min", "max", "sum"] = "all"
    requires: list[str] = Field(default_factory=list, max_length=MOST_GROUPS)


OWN_TOLERANCE = ("lcb", "prime_code", "sandboxfusion", "deepcoder")


class Checker(FrozenModel):
    """Compares an output with the expected one.

    `float_tolerance` sets both tolerances; a number is accepted if it is within either. Without a tolerance numbers are
    compared as text (tokens) or exactly (numbers, json, calls, math). Two integers are equal or not; with
    `integers_too`, as contests' checkers have it, a tolerance is for them as well (tokens, token_lines, numbers). The
    types that are named after other systems compare numbers as these systems do, and accept no tolerance.
    """

    type: Literal[
        "exact", "stripped", "lines", "tokens", "numbers", "json", "unordered_lines", "math",
        "yes_no", "unordered_tokens", "token_lines", "lcb", "prime_code", "sandboxfusion", "deepcoder",
    ] = "tokens"  # fmt: skip
    float_tolerance: StrictFloat | None = Field(None, ge=0)
    absolute_tolerance: StrictFloat | None = Field(None, ge=0)
    relative_tolerance: StrictFloat | None = Field(None, ge=0)
    integers_too: StrictBool = False
    ignore_case: StrictBool = False

    @model_validator(mode="after")
    def _no_second_tolerance(self) -> Self:
        given = (self.float_tolerance, self.absolute_tolerance, self.relative_tolerance)
        if self.type in OWN_TOLERANCE and any(tolerance is not None for tolerance in given):
            raise ValueError(f"{self.type} has its own rule for numbers: remove the tolerance")
        return self


Protocol = Literal["testlib", "kattis", "domjudge", "codeforces-python", "scalebox", "function"]


JUDGE_FILE = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}"


class JudgeProgram(FrozenModel):
    """A program that judges: a checker reads an output that is complete, an interactor talks to the submission.

    `protocol` says how it is called and what its end means; see docs/judges.md. `passes` is the number of times that a
    submission is run, if the program leaves `nextpass.in`. `full_score` is the score that counts as a whole test.
    `provoked_failure` says what a failure means that only this submission's output causes: no verdict, or WA.
    """

    type: Literal["program"]
    language: str = "python"
    source: str | None = Field(None, max_length=MOST_JUDGE_BYTES)
    files: dict[str, str] | None = Field(None, max_length=MOST_JUDGE_FILES, description="name → text, with `main`")
    main: str | None = Field(None, description="the file to run, one of `files`")
    protocol: Protocol = "testlib"
    arguments: list[str] = Field(default_factory=list, max_length=MOST_JUDGE_FILES)
    limits: Limits = Limits(cpu_seconds=10.0)
    passes: StrictInt = Field(1, ge=1, le=100)
    full_score: StrictFloat = Field(1.0, gt=0)
    provoked_failure: Literal["mask", "reject"] = "mask"

    @model_validator(mode="after")
    def _source_or_files(self) -> Self:
        if (self.source is None) == (self.files is None):
            raise ValueError("give exactly one of source and files")
        if self.files is not None and (self.main is None or self.main not in self.files):
            raise ValueError("main should name one of files")
        for name in self.files or ():
            if not re.fullmatch(JUDGE_FILE, name):
                raise ValueError(f"{name[:60]!r} is not a plain file name")
        if sum(map(len, (self.files or {}).values())) > MOST_JUDGE_BYTES:
            raise ValueError(f"the files have more than {MOST_JUDGE_BYTES} characters")
        return self

    @property
    def program(self) -> str:
        """The text of the file that is run."""
        return self.source if self.source is not None else (self.files or {})[self.main or ""]


class SuiteChecker(FrozenModel):
    """Stands for the checker program of the submission's suite, which stays there."""

    type: Literal["suite"]


def _kind_of_checker(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in ("program", "suite") else "compare"


AnyChecker = Annotated[
    Annotated[Checker, Tag("compare")]
    | Annotated[JudgeProgram, Tag("program")]
    | Annotated[SuiteChecker, Tag("suite")],
    Discriminator(_kind_of_checker),
]
