"""The format of a problem: a line of JSON with the prompt, how answers are graded, solutions and provenance.

Validation, training and evaluation read the same line, and each uses the fields that it needs. The fields of a
submission have the same meaning as there. `format` is the version; other versions are refused.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from sandbox_service.schema import (
    SUITE_ID,
    AnyChecker,
    FrozenModel,
    Groups,
    JudgeProgram,
    Limits,
    StrictFloat,
    StrictInt,
    TestCase,
)

Known = Literal["AC", "WA", "TLE", "MLE", "OLE", "RTE", "CE", "NOT_AC"]


class Message(FrozenModel):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Solution(FrozenModel):
    """A program for the problem and its acceptable verdicts: `["AC"]` for a reference solution.

    `NOT_AC` stands for every wrong verdict.
    """

    code: str
    language: str = "python"
    verdicts: list[Known] = Field(["AC"], min_length=1)
    name: str = ""  # of a file, or where it is from


class InputValidator(FrozenModel):
    """A program that reads an input on stdin and says by its exit status whether it obeys the problem's rules."""

    code: str
    language: str = "python"
    files: dict[str, str] = Field(default_factory=dict, description="further files beside it, such as headers")
    accepts: StrictInt = Field(0, ge=0, le=255, description="the exit status for a valid input: 0, or Kattis' 42")


class Provenance(FrozenModel):
    """The source of a problem."""

    dataset: str = ""  # a name on a hub, or a file's
    revision: str = ""
    row: str = ""  # its place or name there
    reader: str = ""  # the form that it was read as
    url: str = ""


class RefusedShare(FrozenModel):
    """The number of wrong programs that a suite refuses, of all; the share with its 95 % interval."""

    refused: StrictInt
    programs: StrictInt
    share: float | None
    low: float
    high: float


class AddedTest(FrozenModel):
    """A test that was made: its index, how its input was made, and how many references agree on its answer."""

    index: StrictInt
    how: str
    references: StrictInt


class Strength(FrozenModel):
    """The strength of a suite before and after tests were added; `held_out` counts programs that did not choose them.

    `kinds` has refused before, refused after and all, for mutants, tables and known wrong programs.
    """

    before: RefusedShare
    after: RefusedShare
    held_out: RefusedShare
    kinds: dict[str, tuple[int, int, int]]
    references: StrictInt
    added: list[AddedTest]


class Problem(FrozenModel):
    """A problem. `difficulty` ranges from 0 to 1, such as the share of failed samples."""

    format: Literal[1] = 1
    id: str = Field(min_length=1)
    prompt: str | None = Field(None, min_length=1)
    messages: list[Message] | None = Field(None, min_length=1)
    starter: str = Field("", description="code that an answer begins with; it is in the prompt as well")
    language: str = "python"
    tests: list[TestCase] | None = Field(None, min_length=1)
    suite: str | None = Field(None, pattern=SUITE_ID)
    checker: AnyChecker | None = None
    interactor: JudgeProgram | None = None
    groups: Groups | None = None
    limits: Limits | None = None
    solutions: list[Solution] = Field(default_factory=list, description="right and wrong ones; never shown to a model")
    validators: list[InputValidator] = Field(default_factory=list, description="of inputs; for proctor strengthen")
    source: str = Field("", description="the data set's short name; for mixtures")
    difficulty: StrictFloat | None = Field(None, ge=0, le=1)
    provenance: Provenance | None = None
    licence: str = ""
    strength: Strength | None = Field(None, description="written by proctor strengthen")
    meta: dict[str, Any] | None = Field(None, description="whatever else is known: date, tags, platform, contest")

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("give exactly one of prompt and messages")
        if (self.tests is None) == (self.suite is None):
            raise ValueError("give exactly one of tests and suite")
        return self

    @property
    def references(self) -> list[Solution]:
        """The solutions that are right."""
        return [each for each in self.solutions if each.verdicts == ["AC"]]

    @property
    def wrong(self) -> list[Solution]:
        """The solutions that are known to be wrong."""
        return [each for each in self.solutions if "AC" not in each.verdicts]
