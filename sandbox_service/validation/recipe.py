"""Recipes: sources, filters, thresholds and the output folder of a validation, read from TOML.

An unknown field is an error, so a misspelt threshold is not ignored. Recipes with equal `fingerprint` give equal
judgements, so one may resume the run of another. Difficulty is not part of the fingerprint.
"""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from sandbox_service.errors import ConfigurationError
from sandbox_service.errors.fields import describe
from sandbox_service.validation import toml_files
from sandbox_service.validation.finding import MEANINGS, Severity

# fields that do not affect a judgement
OF_A_CONNECTION = {"url", "concurrency", "patience_seconds", "key_variable"}
NOT_IN_FINGERPRINT: dict[str, Any] = {
    **dict.fromkeys(("output", "judge", "difficulty", "strengthen"), True),
    "checker": {"writer": OF_A_CONNECTION},
}

Rung = Literal["exact", "lines", "tokens", "numbers", "ignore_case", "unordered_lines"]


class Part(BaseModel):
    """An immutable model that forbids unknown fields and converts no text to a number or a truth value."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Source(Part):
    """A source of problems: a file, a folder, or a name on the hub."""

    path: str = Field(min_length=1, description="a file or folder, from where the command runs; or a name on the hub")
    revision: str = Field("", description="of the hub's repository: name one, or the data may change")
    split: str = ""
    reader: str = Field("", description="format of the rows; empty: detected by their fields")
    licence: str = Field("", description="written into lines that name none")
    limit: int | None = Field(None, ge=1, description="read at most this many rows")
    options: dict[str, Any] = Field(default_factory=dict, description="more options of the container and the reader")


class Filters(Part):
    """Rules that leave out problems before judging and cut tests. The manifest counts the problems left out."""

    languages: list[str] = Field(default_factory=list, description="keep only problems in one of these languages")
    sources: list[str] = Field(default_factory=list, description="keep only problems of these sources")
    not_sources: list[str] = Field(default_factory=list, description="drop problems of these sources")
    not_ids: list[str] = Field(default_factory=list, description="drop these problems, which have known faults")
    not_containing: list[str] = Field(
        default_factory=list, description="drop problems whose tests contain one of these texts"
    )
    from_date: str = Field("", pattern=r"^(\d{4}-\d\d-\d\d)?$", description="meta.date: this day or later")
    until_date: str = Field("", pattern=r"^(\d{4}-\d\d-\d\d)?$", description="meta.date: before this day")
    difficulty: tuple[float, float] | None = Field(
        None, strict=False, description="from … to, both included, where it is known"
    )
    most_tests: int | None = Field(None, ge=1, description="tests kept of each problem")
    kept_tests: Literal["first", "shortest"] = "first"
    most_input_bytes: int = Field(1 << 20, ge=1, description="tests with larger inputs are removed from a problem")

    @field_validator("from_date", "until_date")
    @classmethod
    def _is_a_day(cls, given: str) -> str:
        if given:
            date.fromisoformat(given)
        return given

    @model_validator(mode="after")
    def _keep_something(self) -> Self:
        if self.difficulty and self.difficulty[0] > self.difficulty[1]:
            raise ValueError("difficulty: the first number is greater than the second one, so that nothing is kept")
        if self.from_date and self.until_date and self.from_date >= self.until_date:
            raise ValueError("from_date is not before until_date, so that nothing is kept")
        return self


class Thresholds(Part):
    """Thresholds of the checks.

    Two of them are lower for functions (calls and assertions) than for programs that read stdin. Of MBPP's 974
    problems, 958 have three assertions, and 937 prompts have fewer than 100 letters: the name and arguments of a
    function replace a part of the statement, and a call's result is compared as a value, which is harder to meet by
    luck than a word. Probes test for constant answers, however few the tests are. One or two tests are too few for a
    function as well. A mathematics problem has one answer and may be asked in a line, so neither threshold applies.
    """

    least_tests: int = Field(5, ge=1, description="distinct tests of a program")
    least_function_tests: int = Field(3, ge=1, description="distinct calls and assertions of a function")
    most_same_answer: float = Field(1.0, gt=0, le=1, description="share of tests with one answer that is too much")
    least_letters: int = Field(100, ge=0, description="letters and digits of a prompt that asks for a program")
    least_function_letters: int = Field(25, ge=0, description="the same for a function")
    most_references: int = Field(8, ge=1, description="run the first references, at most this many")
    most_wrong: int = Field(8, ge=0, description="run the first known-wrong solutions, at most this many")
    hash_seeds: list[Annotated[int, Field(ge=1, le=4294967295)]] = Field(
        default_factory=lambda: [1], description="references are run again with these; the judge's own is 0"
    )
    measured_seconds: float = Field(10.0, gt=0, description="CPU time that a reference may take for a test")
    limit_factor: float = Field(4.0, ge=1, description="the limit is the slowest accepted reference's time × this")
    least_limit_seconds: float = Field(1.0, gt=0)
    most_limit_seconds: float = Field(20.0, gt=0, description="a problem that needs more is too slow to train on")
    shingle_words: int = Field(5, ge=1, description="words in a shingle of the text comparison")
    similarity: float = Field(0.9, gt=0, le=1, description="problems at least this similar are duplicates")
    evaluation_similarity: float = Field(0.6, gt=0, le=1, description="the same, against evaluation sets")


class Endpoint(Part):
    """A model at an OpenAI-compatible endpoint, and how to sample from it."""

    url: str = Field("", description="base address of an OpenAI-compatible endpoint; /chat/completions is appended")
    model: str = Field("", description="name of the model at the endpoint")
    temperature: float = Field(0.6, ge=0)
    top_p: float = Field(0.95, gt=0, le=1)
    max_tokens: int = Field(8192, ge=1, description="of a completion")
    seed: int = Field(0, ge=0, description="changes the samples")
    extra: dict[str, Any] = Field(default_factory=dict, description="more fields of each request, or other values")
    concurrency: int = Field(16, ge=1, le=1024, description="concurrent requests")
    patience_seconds: float = Field(1800.0, gt=0, description="longest time to wait for an unavailable endpoint")
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable with the API key")

    def _require_model(self) -> None:
        if self.url and not self.model:
            raise ValueError("url needs model, the name of the model at the endpoint")

    def _require_address(self) -> None:
        if not self.url:
            raise ValueError("url is missing: the base address of an OpenAI-compatible endpoint")
        self._require_model()


class CheckerModel(Endpoint):
    """A model that writes checkers for problems with several right answers and no checker."""

    programs: int = Field(3, ge=1, le=64, description="checkers to try for a problem, until one is confirmed")

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        self._require_address()
        return self


class CheckerPolicy(Part):
    """Which checker is written into a clean line.

    `keep`: the problem's own. `loosen`: if the references fail under it, the strictest one under which they pass.
    `strictest`: the strictest one under which they pass, in any case.
    """

    policy: Literal["keep", "loosen", "strictest"] = "loosen"
    allowed: list[Rung] = Field(["tokens", "numbers"], description="strictest first")
    tolerance: float = Field(1e-6, gt=0, description="of numbers")
    programs: str = Field("", description="a TOML file of checker programs for problems that have none")
    writer: CheckerModel | None = Field(None, description="a model that writes checkers; none by default")


class Judge(Part):
    """The service that grades; this machine if there is no URL."""

    url: str = ""
    slots: int = Field(0, ge=0, description="grading processes on this machine; 0: one per processor")
    in_flight: int = Field(0, ge=0, description="concurrent problems; 0: three per slot, or 24 with a service")


class Difficulty(Endpoint):
    """The way to measure the difficulty of problems for a model: 1 − the share of its samples that pass (avg@k).

    Uses samples that were graded before (`results`), or requests samples from a model (`url`). Only clean problems are
    measured; `least` and `most` leave some of them out.
    """

    results: str = Field("", description="lines of JSON with problem, n and correct: `proctor evaluate` writes them")
    samples: int = Field(8, ge=1, description="completions of each clean problem")
    least: float = Field(0.0, ge=0, le=1, description="easier ones are left out; 0.01: those that are always solved")
    most: float = Field(1.0, ge=0, le=1, description="harder ones are left out; 0.99: those that are never solved")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.results) == bool(self.url):
            raise ValueError("set either results (a file of graded samples) or url (an endpoint to sample from)")
        self._require_model()
        if self.least > self.most:
            raise ValueError("least is greater than most")
        return self


class Generators(Endpoint):
    """A model that writes programs which print inputs; see docs/strengthen.md."""

    programs: int = Field(2, ge=1, le=16, description="generators of each problem")
    inputs: int = Field(16, ge=1, le=256, description="inputs that each generator prints")

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        self._require_address()
        return self


class Strengthening(Part):
    """The way in which `proctor strengthen` adds tests to a problem; see docs/strengthen.md."""

    tests: int = Field(20, ge=0, description="most tests to add to a problem")
    least_tests: int = Field(20, ge=0, description="tests to add where fewer refuse all known wrong programs")
    audit: int = Field(0, ge=0, description="further tests to add as audit tests")
    depth: int = Field(8, ge=1, description="tests that refuse each wrong program, if there is room")
    inputs: int = Field(96, ge=1, le=2000, description="inputs to make")
    mutants: int = Field(40, ge=0, le=1000, description="mutants of the references in Python")
    most_input_bytes: int = Field(50_000, ge=1, description="size of the largest input")
    large_bytes: int = Field(150_000, ge=0, description="size of the largest input for slow programs; 0 for none")
    large_tests: int = Field(1, ge=0, description="most tests of large inputs, beside the others")
    least_references: int = Field(
        1, ge=1, description="leave problems with fewer: nothing contradicts the answers of a single reference"
    )
    mutant_seconds: float = Field(1.0, gt=0, description="least CPU limit of mutants; at most the problem's")
    most_wrong: int = Field(40, ge=0, description="use the first known wrong solutions, at most this many")
    generators: Generators | None = Field(None, description="a model that writes generators; none by default")


class Recipe(Part):
    """One data set, from its sources to its clean lines."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    about: str = ""
    output: str = Field("", description="a folder; empty: validated/<name>")
    sources: list[Source] = Field(min_length=1)
    evaluation: list[Source] = Field(
        default_factory=list, description="evaluation sets; copies of their problems go into quarantine"
    )
    filters: Filters = Filters()
    thresholds: Thresholds = Thresholds()
    severity: dict[str, Severity] = Field(default_factory=dict, description="finding = quarantine, note or off")
    checker: CheckerPolicy = CheckerPolicy()
    judge: Judge = Judge()
    difficulty: Difficulty | None = None
    strengthen: Strengthening = Strengthening()

    @field_validator("severity")
    @classmethod
    def _known_findings(cls, given: dict[str, Severity]) -> dict[str, Severity]:
        if unknown := [name for name in given if name not in MEANINGS]:
            raise ValueError(f"there is no finding {unknown[0]!r}; there are: {', '.join(MEANINGS)}")
        return given

    @model_validator(mode="after")
    def _limits_make_sense(self) -> Self:
        if self.thresholds.least_limit_seconds > self.thresholds.most_limit_seconds:
            raise ValueError("thresholds.least_limit_seconds is greater than most_limit_seconds")
        return self

    @model_validator(mode="after")
    def _difficulty_is_known_in_time(self) -> Self:
        if self.difficulty and self.difficulty.url and self.filters.difficulty:
            raise ValueError(
                "filters.difficulty applies before judging, and the model is sampled afterwards: "
                "use difficulty.least and difficulty.most"
            )
        return self

    @property
    def folder(self) -> Path:
        """The output folder."""
        return Path(self.output or f"validated/{self.name}")

    @property
    def fingerprint(self) -> str:
        """A hash of all fields that affect the judgement."""
        text = self.model_dump_json(exclude=NOT_IN_FINGERPRINT)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def read(path: Path) -> Recipe:
    """Return the recipe in a TOML file.

    Raises:
        ConfigurationError: The file cannot be read, or a field is wrong; the message names it.
    """
    try:
        return Recipe.model_validate(toml_files.read(path))
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {describe(error)}") from None
