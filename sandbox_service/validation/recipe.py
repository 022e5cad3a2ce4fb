"""A recipe: which data are taken, what is asked of them, and where the result goes. Read from TOML, every field typed.

A field that is not known is an error, so that a misspelt threshold cannot be silently ignored. Two recipes with the
same `fingerprint` judge alike, so one may go on with what the other has done. How hard a problem is is no judgement.
"""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from sandbox_service.api.intake import describe
from sandbox_service.errors import ConfigurationError
from sandbox_service.validation.finding import MEANINGS, Severity

NO_MATTER = {"output", "judge", "difficulty"}  # for what is found, whoever judges and wherever it is written

Rung = Literal["exact", "lines", "tokens", "numbers", "ignore_case", "unordered_lines"]


class Part(BaseModel):
    """Immutable, and without room for misspelt fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Source(Part):
    """Where problems come from: a file, a folder, or a name on the hub."""

    path: str = Field(min_length=1, description="a file or folder, from where the command runs; or a name on the hub")
    revision: str = Field("", description="of the hub's repository: name one, or the data may change")
    split: str = ""
    reader: str = Field("", description="the form of the rows; empty: found by their fields")
    licence: str = Field("", description="written into lines that name none")
    limit: int | None = Field(None, ge=1, description="only so many rows")
    options: dict[str, Any] = Field(default_factory=dict, description="what else the reader should know")


class Filters(Part):
    """What is left out before anything is judged, and how tests are cut. Counted in the manifest, never judged."""

    languages: list[str] = Field(default_factory=list, description="only problems to be answered in one of these")
    sources: list[str] = Field(default_factory=list, description="only those of `source`")
    not_sources: list[str] = Field(default_factory=list, description="none of `source`")
    not_ids: list[str] = Field(default_factory=list, description="these problems have known faults")
    not_containing: list[str] = Field(default_factory=list, description="none whose tests contain one of these texts")
    from_date: str = Field("", pattern=r"^(\d{4}-\d\d-\d\d)?$", description="meta.date: this day or later")
    until_date: str = Field("", pattern=r"^(\d{4}-\d\d-\d\d)?$", description="meta.date: before this day")
    difficulty: tuple[float, float] | None = Field(None, description="from … to, both included, where it is known")
    most_tests: int | None = Field(None, ge=1, description="of each problem, keep so many")
    kept_tests: Literal["first", "shortest"] = "first"
    most_input_bytes: int = Field(1 << 20, ge=1, description="tests with larger inputs are left out of a problem")


class Thresholds(Part):
    """Where the checks draw their lines.

    Two lines are drawn lower for functions (calls and assertions) than for programs that read stdin. Of MBPP's 974
    problems 958 have three assertions, and 937 prompts have fewer than 100 letters: name and arguments of a function
    say what a statement of its own has to say for a program, and a call's result is compared as a value, which luck
    meets less often than a word. Whether constants meet the tests is tried by the probes, whatever their number. One or
    two are too few for a function as well. A problem that is answered in words (mathematics) has one answer, and it may
    be asked for in a line: neither line is drawn for it.
    """

    least_tests: int = Field(5, ge=1, description="of a program, distinct ones")
    least_function_tests: int = Field(3, ge=1, description="of a function: distinct calls and assertions")
    most_same_answer: float = Field(1.0, gt=0, le=1, description="this share of tests with one answer is too much")
    least_letters: int = Field(100, ge=0, description="letters and digits of a prompt that asks for a program")
    least_function_letters: int = Field(25, ge=0, description="of one that asks for a function")
    most_references: int = Field(8, ge=1, description="so many references are run, the first ones")
    most_wrong: int = Field(8, ge=0, description="so many known-wrong solutions are run, the first ones")
    hash_seeds: list[Annotated[int, Field(ge=1, le=4294967295)]] = Field(
        default_factory=lambda: [1], description="references are run again with these; the judge's own is 0"
    )
    measured_seconds: float = Field(10.0, gt=0, description="CPU time that a reference may take for a test")
    limit_factor: float = Field(4.0, ge=1, description="the limit is the slowest accepted reference's time × this")
    least_limit_seconds: float = Field(1.0, gt=0)
    most_limit_seconds: float = Field(20.0, gt=0, description="beyond, the problem is too slow to train on")
    shingle_words: int = Field(5, ge=1, description="texts are compared by runs of so many words")
    similarity: float = Field(0.9, gt=0, le=1, description="from here on two problems are duplicates")
    evaluation_similarity: float = Field(0.6, gt=0, le=1, description="the same, against evaluation sets")


class CheckerPolicy(Part):
    """What is written into a clean line where its own comparison is not the right one.

    `keep`: nothing. `loosen`: the strictest under which the references pass, if they do not under its own.
    `strictest`: the strictest under which they pass, in any case.
    """

    policy: Literal["keep", "loosen", "strictest"] = "loosen"
    allowed: list[Rung] = Field(["tokens", "numbers"], description="strictest first")
    tolerance: float = Field(1e-6, gt=0, description="of numbers")


class Judge(Part):
    """Who grades. Without a URL, this machine does."""

    url: str = ""
    slots: int = Field(0, ge=0, description="here: grading processes; 0: one for each processor")
    in_flight: int = Field(0, ge=0, description="problems at once; 0: three for each slot, or 24 at a service")


class Difficulty(Part):
    """How hard the problems are for a model: 1 − the share of its samples that pass (avg@k).

    Either samples that were graded before (`results`), or a model that is asked now (`url`). Cleaning comes first:
    what is left out by `least` and `most` was clean.
    """

    results: str = Field("", description="lines of JSON with problem, n and correct: `proctor evaluate` writes them")
    url: str = Field("", description="of an OpenAI-compatible endpoint: /chat/completions is added to it")
    model: str = Field("", description="the name that it is served by")
    samples: int = Field(8, ge=1, description="completions of each clean problem")
    temperature: float = Field(0.6, ge=0)
    top_p: float = Field(0.95, gt=0, le=1)
    max_tokens: int = Field(8192, ge=1, description="of a completion")
    seed: int = Field(0, ge=0, description="another one draws other samples")
    extra: dict[str, Any] = Field(default_factory=dict, description="what else each request says, or says otherwise")
    concurrency: int = Field(16, ge=1, le=1024, description="completions at once")
    patience_seconds: float = Field(1800.0, gt=0, description="one who is away is waited for so long")
    key_variable: str = Field("OPENAI_API_KEY", description="the environment variable that has the endpoint's key")
    least: float = Field(0.0, ge=0, le=1, description="easier ones are left out; 0.01: those that are always solved")
    most: float = Field(1.0, ge=0, le=1, description="harder ones are left out; 0.99: those that are never solved")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.results) == bool(self.url):
            raise ValueError("give results (of samples that were graded before), or the url of a model that is asked")
        if self.url and not self.model:
            raise ValueError("say which model is asked at the url")
        if self.least > self.most:
            raise ValueError("least is beyond most")
        return self


class Recipe(Part):
    """One data set, from its sources to its clean lines."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    about: str = ""
    output: str = Field("", description="a folder; empty: validated/<name>")
    sources: list[Source] = Field(min_length=1)
    evaluation: list[Source] = Field(default_factory=list, description="what nothing of this may be a copy of")
    filters: Filters = Filters()
    thresholds: Thresholds = Thresholds()
    severity: dict[str, Severity] = Field(default_factory=dict, description="finding = quarantine, note or off")
    checker: CheckerPolicy = CheckerPolicy()
    judge: Judge = Judge()
    difficulty: Difficulty | None = None

    @field_validator("severity")
    @classmethod
    def _known_findings(cls, given: dict[str, Severity]) -> dict[str, Severity]:
        if unknown := [name for name in given if name not in MEANINGS]:
            raise ValueError(f"there is no finding {unknown[0]!r}; there are: {', '.join(MEANINGS)}")
        return given

    @model_validator(mode="after")
    def _limits_make_sense(self) -> Self:
        if self.thresholds.least_limit_seconds > self.thresholds.most_limit_seconds:
            raise ValueError("thresholds.least_limit_seconds is beyond most_limit_seconds")
        return self

    @model_validator(mode="after")
    def _difficulty_is_known_in_time(self) -> Self:
        if self.difficulty and self.difficulty.url and self.filters.difficulty:
            raise ValueError(
                "filters.difficulty is asked before anything is judged, and a model is asked afterwards: "
                "say difficulty.least and difficulty.most"
            )
        return self

    @property
    def folder(self) -> Path:
        """Where the result goes."""
        return Path(self.output or f"validated/{self.name}")

    @property
    def fingerprint(self) -> str:
        """The same for recipes that say the same."""
        said = self.model_dump_json(exclude=NO_MATTER)
        return "sha256:" + hashlib.sha256(said.encode()).hexdigest()


def read(path: Path) -> Recipe:
    """The recipe in a file. Raises ConfigurationError saying what is wrong with it."""
    try:
        return Recipe.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: not TOML: {error}") from None
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {describe(error)}") from None
