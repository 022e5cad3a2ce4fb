"""Answers that are judged, in SandboxFusion's words: `EvalResult`, which ScaleBox has as well.

An answer's program is its first closed fenced block in the language, or the first without a tag; theirs also take a
block that is not closed, and lines that look like a function. No program is no empty program, which could pass.

Outputs are compared as there, word by word, in any case, numbers within a relative 1e-5; but integers are compared
exactly, and how words are spaced is not looked at. `config.extra` may have a `checker`, `limits` or `extraction` as
`POST /v1/grade` has them (`{"checker": {"type": "sandboxfusion"}}` compares exactly as theirs).

Tests end at the first that fails, unless `config.extra.run_all_cases` is true. `run_timeout` is of CPU time, 20 s
unless it is given; `compile_timeout` and `total_timeout` are not used: how long a queue is fails nobody here. Refused
is what would have to run outside of a jail (`custom_extract_logic`), and special judges, which are not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from fastapi import Request
from pydantic import BaseModel, Field

from sandbox_service import languages
from sandbox_service.api.compat import provided, run_code
from sandbox_service.api.compat.desk import Desk, tests_of
from sandbox_service.api.compat.running import unjudged
from sandbox_service.errors import BadRequest
from sandbox_service.judging.extraction import extract
from sandbox_service.schema import ExtractionRule, StdinTest, TestResult, Verdict

SECONDS = 300.0  # these clients wait for ever, or for as long as their proxies do
CPU_SECONDS = 20.0
CHECKER = {"type": "tokens", "ignore_case": True, "relative_tolerance": 1e-5}
SHOWN_BYTES = 64 << 10  # of a test's output
ALL_SHOWN_BYTES = 16 << 20
CUT_CHARACTERS = 1000
REFUSED = {
    "special_judge_program": "there are no special judges here",
    "code_block_idx": "it is not used here; use extraction",
    "repr_code": "an answer is not put into its test as text",
}
RULES = get_args(ExtractionRule)
MODES: dict[Any, ExtractionRule] = {None: "first_block", "first": "first_block", "all": "all_blocks"}


class TestConfig(BaseModel):
    """How an answer is tested."""

    __test__ = False  # pytest: this is no test class

    language: str | None = None
    run_timeout: float | None = Field(None, gt=0, allow_inf_nan=False)
    custom_extract_logic: str | None = None
    provided_data: Any = Field(None, description="a row of a data set, with its tests")
    extra: dict[str, Any] | None = None

    @property
    def more(self) -> dict[str, Any]:
        """What is said besides. Raises BadRequest for what would change a verdict and is not to be had here."""
        more = self.extra or {}
        if self.custom_extract_logic:
            raise BadRequest(
                "config.custom_extract_logic: code of a request is run in jails only; use extra.extraction"
            )
        for name, reason in REFUSED.items():
            if more.get(name):
                raise BadRequest(f"config.extra.{name}: {reason}")
        return more


class Evaluate(BaseModel):
    """An answer to be judged."""

    dataset: str | None = None
    id: int | str = 0
    completion: str
    config: TestConfig


async def evaluate(desk: Desk, request: Request, asked: Evaluate) -> dict[str, Any]:
    """An EvalResult. Raises as `Desk.verdict` does."""
    more, fields = asked.config.more, _fields(asked.config)
    tests = fields.get("tests") or ()
    code = extract(asked.completion, _rule(more), languages.find(fields["language"]).name)
    if code is None:
        untested = [_untested(each) for each in (tests if more.get("run_all_cases") else tests[:1])]
        return _result(asked, "", untested, accepted=False)
    grade = await desk.verdict(request, {"code": code, **fields}, SECONDS)
    is_whole = bool(more.get("return_full_case"))
    tested = [_tested(each, tests[each.index] if tests else None, is_whole=is_whole) for each in grade.tests]
    return _result(asked, code, tested, accepted=grade.verdict == Verdict.AC)


def _fields(config: TestConfig) -> dict[str, Any]:
    """Of a submission, but for its code."""
    found = tests_of(config.provided_data, "config.provided_data", provided.read)
    count = len(found["tests"]) if "tests" in found else ALL_SHOWN_BYTES
    return {
        "language": config.language or "python",
        "checker": CHECKER,
        "limits": {"cpu_seconds": config.run_timeout or CPU_SECONDS},
        "stop_on_failure": not config.more.get("run_all_cases"),
        "display_bytes": min(SHOWN_BYTES, ALL_SHOWN_BYTES // count),
        **found,
        **{name: config.more[name] for name in ("checker", "limits") if config.more.get(name)},
    }


def _rule(more: Mapping[str, Any]) -> ExtractionRule:
    """Which part of an answer is its program. Raises BadRequest."""
    mode, rule = more.get("autoeval_extract_code_mode"), more.get("extraction")
    if rule is not None and rule not in RULES:
        raise BadRequest(f"config.extra.extraction: one of {', '.join(RULES)}")
    if rule is None and mode not in list(MODES):  # which asks for no hash
        raise BadRequest("config.extra.autoeval_extract_code_mode: first or all")
    return rule or MODES[mode]


def _result(asked: Evaluate, code: str, tests: list[dict[str, Any]], *, accepted: bool) -> dict[str, Any]:
    return {
        "id": asked.id,
        "accepted": accepted,
        "extracted_code": code,
        "full_code": None,  # there is none: answer and test are not one program
        "test_code": None,
        "tests": tests,
        "extracted_type": "fenced" if code else "empty",
        "extra": None,
    }


def _tested(result: TestResult, test: Any, *, is_whole: bool) -> dict[str, Any]:
    passed = result.verdict == Verdict.AC
    about = provided.about(test)
    return {
        "passed": passed,
        "exec_info": _exec_info(unjudged(result) if isinstance(test, StdinTest) else result),
        "test_info": _cut(about) if passed and not is_whole else about,
    }


def _exec_info(result: TestResult) -> dict[str, Any]:
    """What became of the program. Where another one tested it, what that one found stands for a traceback."""
    info = run_code.answer_of(result)
    if info["status"] == "Failed" and not info["run_result"]["stderr"]:
        info["run_result"]["stderr"] = result.message or ""
    return info


def _untested(test: Any) -> dict[str, Any]:
    info = run_code.answer_of(TestResult(index=0, verdict=Verdict.CE, message="no code block"))
    return {"passed": False, "exec_info": info, "test_info": provided.about(test)}


def _cut(about: dict[str, Any] | None) -> dict[str, Any] | None:
    """A test that was passed, its texts cut, as there."""
    if about is None or "type" in about:
        return about
    return {side: {name: text[:CUT_CHARACTERS] for name, text in found.items()} for side, found in about.items()}
