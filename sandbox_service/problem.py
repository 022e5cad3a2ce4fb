"""A problem as a line of JSON: what is asked, how answers are graded, what is known to be right and wrong, whose it is.

The same line is validated, trained on and evaluated: each reads what it needs. The fields of a submission mean what
they mean there. `format` is the version of this form; another one is refused rather than half understood.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from sandbox_service.schema import SUITE_ID, Checker, Limits, Noun, Real, TestCase

Known = Literal["AC", "WA", "TLE", "MLE", "OLE", "RTE", "CE", "NOT_AC"]


class Message(Noun):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Solution(Noun):
    """A program for this problem, and which verdicts are right for it: `["AC"]` if it is a reference.

    `NOT_AC`: wrong in whatever way.
    """

    code: str
    language: str = "python"
    verdicts: list[Known] = Field(["AC"], min_length=1)
    name: str = ""  # of a file, or where it is from


class Provenance(Noun):
    """Where a problem is from, so that somebody can go and look."""

    dataset: str = ""  # a name on a hub, or a file's
    revision: str = ""
    row: str = ""  # its place or name there
    reader: str = ""  # the form that it was read as
    url: str = ""


class Problem(Noun):
    """One line. `difficulty`: from 0 to 1, such as the share of samples that fail."""

    format: Literal[1] = 1
    id: str = Field(min_length=1)
    prompt: str | None = Field(None, min_length=1)
    messages: list[Message] | None = Field(None, min_length=1)
    starter: str = Field("", description="code that an answer begins with; it is in the prompt as well")
    language: str = "python"
    tests: list[TestCase] | None = Field(None, min_length=1)
    suite: str | None = Field(None, pattern=SUITE_ID)
    checker: Checker | None = None
    limits: Limits | None = None
    solutions: list[Solution] = Field(default_factory=list, description="right and wrong ones; never shown to a model")
    source: str = Field("", description="the data set's short name; for mixtures")
    difficulty: Real | None = Field(None, ge=0, le=1)
    provenance: Provenance | None = None
    licence: str = ""
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
        """Those that are right."""
        return [each for each in self.solutions if each.verdicts == ["AC"]]

    @property
    def wrong(self) -> list[Solution]:
        """Those that are known to be wrong."""
        return [each for each in self.solutions if "AC" not in each.verdicts]
