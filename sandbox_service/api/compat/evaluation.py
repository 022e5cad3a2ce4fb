"""Judges answers in the format of SandboxFusion's and ScaleBox's `EvalResult`.

An answer's program is its first closed fenced block in the language or without a tag, or the continuation of the row's
prompt (`tasks`). The originals also accept an unclosed block and lines that look like a function. An answer without a
program is rejected; it does not count as an empty program, which could pass.

Outputs are compared as in the originals: word by word, ignoring case, numbers within a relative 1e-5. Integers are
compared exactly here, and white space between words is ignored. `config.extra` may contain `checker`, `limits` and
`extraction` as in `POST /v1/grade` (`{"checker": {"type": "sandboxfusion"}}` compares exactly like the original).

Grading stops at the first failed test unless `config.extra.run_all_cases` is true. `run_timeout` is CPU time, 20 s by
default. `compile_timeout` and `total_timeout` are ignored: queue time never fails a submission. Code of the request
that would run outside of a jail (`custom_extract_logic`) and special judges are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from fastapi import Request
from pydantic import Field, ValidationError

from sandbox_service import languages
from sandbox_service.api.compat import data_sets, provided_data, row_tests, run_code
from sandbox_service.api.compat.bodies import ForeignBody, misspelt
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.compat.program_run import without_comparison
from sandbox_service.api.compat.tasks import Task, program_of
from sandbox_service.errors import BadRequestError
from sandbox_service.errors.fields import describe
from sandbox_service.schema import ExtractionRule, StdinTest, TestResult, Verdict

SECONDS = 300.0  # these clients have no time limit, but their proxies may
CPU_SECONDS = 20.0
CHECKER = {"type": "tokens", "ignore_case": True, "relative_tolerance": 1e-5}
SHOWN_BYTES = 64 << 10  # of each test's output
ALL_SHOWN_BYTES = 16 << 20
CUT_CHARACTERS = 1000
REFUSED = {
    "code_block_idx": "not supported; use extraction",
    "repr_code": "not supported: answers are not inserted into test programs as text",
}
OPTIONS = frozenset(
    {"autoeval_extract_code_mode", "checker", "extraction", "fewshot", "is_freeform", "limits", "return_full_case"}
    | {"run_all_cases", "special_judge_language", "special_judge_program"}
)
RULES = get_args(ExtractionRule)
MODES: dict[Any, ExtractionRule] = {None: "first_block", "first": "first_block", "all": "all_blocks"}


class TestConfig(ForeignBody):
    """The language, tests and options of an evaluation."""

    __test__ = False  # pytest: this is no test class

    dataset_type: str | None = Field(None, description="the class of SandboxFusion that reads the row")
    language: str | None = None
    locale: str | None = None
    is_fewshot: bool | None = None
    run_timeout: float | None = Field(None, gt=0, allow_inf_nan=False)
    custom_extract_logic: str | None = None
    provided_data: Any = Field(None, description="a row of a data set, with its tests")
    extra: dict[str, Any] | None = None

    @property
    def more(self) -> dict[str, Any]:
        """The options in `extra`. Raises BadRequestError for an unsupported one that would change a verdict."""
        more = self.extra or {}
        for given, meant in misspelt(set(more) - OPTIONS, OPTIONS, more).items():
            raise BadRequestError(f"config.extra.{given} is not known; use {meant}")
        if self.custom_extract_logic:
            raise BadRequestError(
                "config.custom_extract_logic: not supported, it would run outside of a jail; use extra.extraction"
            )
        for name, reason in REFUSED.items():
            if more.get(name):
                raise BadRequestError(f"config.extra.{name}: {reason}")
        return more


class Evaluate(ForeignBody):
    """An answer to judge."""

    dataset: str | None = None
    id: int | str = 0
    completion: str
    config: TestConfig


async def evaluate(grading: HeldGrading, request: Request, payload: Evaluate) -> dict[str, Any]:
    """Return an EvalResult.

    Args:
        grading: Grades the submission.
        request: The request, whose body was read.
        payload: The parsed body.

    Raises:
        BadRequestError: An option or test is invalid or not supported.
        UnavailableError: The service could not grade it in time.
    """
    more, task = payload.config.more, _task(payload)
    fields = _fields(payload.config, task.fields)
    tests = fields.get("tests") or ()
    language = languages.find(fields["language"]).name
    freeform = bool(more.get("is_freeform"))
    code = program_of(payload.completion, task, language, _rule(more), freeform=freeform)
    if code is None:
        untested = [_untested(each) for each in (tests if more.get("run_all_cases") else tests[:1])]
        return _result(payload, "", untested, accepted=False)
    code = row_tests.without_unused(language, code)
    grade = await grading.verdict(request, {"code": code, **fields}, SECONDS)
    is_whole = bool(more.get("return_full_case"))
    tested = [_tested(each, tests[each.index] if tests else None, is_whole=is_whole) for each in grade.tests]
    answer = _result(payload, code, tested, accepted=grade.verdict == Verdict.AC)
    return answer | {"extra": {"forgeable": True}} if grade.forgeable else answer


def _task(payload: Evaluate) -> Task:
    """Return the task of the row. Raise BadRequestError."""
    config, data_set = payload.config, payload.dataset or ""
    kind = data_sets.kind_of(data_set, config.dataset_type)
    try:
        return provided_data.read(
            config.provided_data, data_set, kind, config.language, fewshot=bool(config.is_fewshot)
        )
    except ValidationError as error:
        raise BadRequestError(describe(error, ("config.provided_data",))) from None
    except ValueError as error:
        raise BadRequestError(f"config.provided_data: {error}") from None


def _fields(config: TestConfig, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a submission except its code."""
    count = len(found["tests"]) if "tests" in found else ALL_SHOWN_BYTES
    limits = {"limits": {"cpu_seconds": config.run_timeout}} if config.run_timeout else {}
    return {
        "language": data_sets.language_of(config.language),
        "checker": _checker(config.more),
        "limits": {"cpu_seconds": CPU_SECONDS},
        "stop_on_failure": not config.more.get("run_all_cases"),
        "display_bytes": min(SHOWN_BYTES, ALL_SHOWN_BYTES // count),
        **found,
        **limits,
        **{name: config.more[name] for name in ("checker", "limits") if config.more.get(name)},
    }


def _checker(more: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the checker: ScaleBox's special judge if there is one. Raise BadRequestError for one of a wrong type."""
    program, language = more.get("special_judge_program"), more.get("special_judge_language") or "python"
    if not program:
        return CHECKER
    if not isinstance(program, str) or not isinstance(language, str):
        raise BadRequestError("config.extra.special_judge_program: should be text, with a special_judge_language")
    named = data_sets.language_of(language)
    return {"type": "program", "protocol": "scalebox", "source": program, "language": named}


def _rule(more: Mapping[str, Any]) -> ExtractionRule:
    """Return the extraction rule. Raise BadRequestError for an unknown one."""
    mode, rule = more.get("autoeval_extract_code_mode"), more.get("extraction")
    if rule is not None and rule not in RULES:
        raise BadRequestError(f"config.extra.extraction: should be one of {', '.join(RULES)}")
    if rule is None and mode not in list(MODES):  # a list, because the mode may be unhashable
        raise BadRequestError("config.extra.autoeval_extract_code_mode: should be first or all")
    return rule or MODES[mode]


def _result(payload: Evaluate, code: str, tests: list[dict[str, Any]], *, accepted: bool) -> dict[str, Any]:
    return {
        "id": payload.id,
        "accepted": accepted,
        "extracted_code": code,
        "full_code": None,  # answer and test are separate programs here
        "test_code": None,
        "tests": tests,
        "extracted_type": "fenced" if code else "empty",
        "extra": None,
    }


def _tested(result: TestResult, test: Any, *, is_whole: bool) -> dict[str, Any]:
    passed = result.verdict == Verdict.AC
    about = provided_data.describe_test(test)
    return {
        "passed": passed,
        "exec_info": _exec_info(without_comparison(result) if isinstance(test, StdinTest) else result),
        "test_info": _cut(about) if passed and not is_whole else about,
    }


def _exec_info(result: TestResult) -> dict[str, Any]:
    """Return the result of a run. For a test program, the checker's message takes the place of a traceback."""
    info = run_code.answer_of(result)
    if info["status"] == "Failed" and not info["run_result"]["stderr"]:
        info["run_result"]["stderr"] = result.message or ""
    return info


def _untested(test: Any) -> dict[str, Any]:
    info = run_code.answer_of(TestResult(index=0, verdict=Verdict.CE, message="no code block"))
    return {"passed": False, "exec_info": info, "test_info": provided_data.describe_test(test)}


def _cut(about: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a passed test with its texts truncated, as the originals do."""
    if about is None or "type" in about:
        return about
    return {side: {name: text[:CUT_CHARACTERS] for name, text in found.items()} for side, found in about.items()}
