"""`GET /list_datasets`, `POST /list_ids`, `POST /get_prompts` and `POST /get_prompt_by_id` of SandboxFusion.

They are for rows that the request contains.

This service holds no data sets: the list is empty, and a request without `config.provided_data` is 422. A prompt is
made of its row alone. Where SandboxFusion adds instructions of its own, which belong to it (CommonOJ, MBPP, and
`is_freeform`), the request is 422: a prompt without them would be another prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from sandbox_service.api.compat import data_sets
from sandbox_service.api.compat.bodies import ForeignBody
from sandbox_service.api.compat.evaluation import TestConfig
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.compat.row_fields import Row, part, text, unpacked
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.errors import BadRequestError, NotFoundError
from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings

MOST_PROMPTS = 1_000_000
RULE = "-" * 16
QUOTES = '"' * 3
QUESTION, ANSWER = {"en": "Question:", "zh": "问题："}, {"en": "Answer:", "zh": "答案："}


class GetPrompts(ForeignBody):
    """A request for the prompts of several rows."""

    dataset: str
    config: TestConfig
    offset: int = Field(0, ge=0)
    limit: int = Field(MOST_PROMPTS, ge=0)


class GetPromptById(ForeignBody):
    """A request for the prompt of one row."""

    dataset: str
    config: TestConfig
    id: int | str


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `GET /list_datasets`, `POST /list_ids`, `POST /get_prompts` and `POST /get_prompt_by_id`."""
    router = APIRouter(tags=["SandboxFusion"], responses=compat_error_schemas())
    grading = HeldGrading(queue, settings, "get_prompts")

    @router.get("/list_datasets", summary="Data sets: none (SandboxFusion)")
    async def list_datasets() -> list[str]:
        return []

    @router.post("/list_ids", openapi_extra=request_schema(GetPrompts), summary="Ids of rows (SandboxFusion)")
    async def list_ids(request: Request) -> list[Any]:
        asked = await grading.read(request, GetPrompts)
        return [_id(row) for row in _rows(asked.dataset, asked.config)]

    @router.post("/get_prompts", openapi_extra=request_schema(GetPrompts), summary="Prompts of rows (SandboxFusion)")
    async def get_prompts(request: Request) -> list[dict[str, Any]]:
        asked = await grading.read(request, GetPrompts)
        rows = _rows(asked.dataset, asked.config)[asked.offset : asked.offset + asked.limit]
        return [_prompt(row, asked.dataset, asked.config) for row in rows]

    @router.post(
        "/get_prompt_by_id",
        responses={404: {"description": "no row has this id"}},
        openapi_extra=request_schema(GetPromptById),
        summary="Prompt of a row (SandboxFusion)",
    )
    async def get_prompt_by_id(request: Request) -> dict[str, Any]:
        asked = await grading.read(request, GetPromptById)
        rows = _rows(asked.dataset, asked.config)
        is_one = isinstance(unpacked(asked.config.provided_data), Mapping)  # it is the row, whatever its id
        found = next((row for row in rows if is_one or str(_id(row)) == str(asked.id)), None)
        if found is None:
            raise NotFoundError(f"config.provided_data: no row has the id {str(asked.id)[:80]!r}")
        return _prompt(found, asked.dataset, asked.config)

    return router


def _rows(data_set: str, config: TestConfig) -> list[Row]:
    """Return the rows of a request. Raise BadRequestError."""
    found = unpacked(config.provided_data)
    if not found:
        raise BadRequestError(
            f"data set {data_set[:60]!r} is unknown: this service holds no data sets; "
            "send the rows as config.provided_data"
        )
    rows = [found] if isinstance(found, Mapping) else found
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise BadRequestError("config.provided_data: should be a list of objects")
    return rows


def _id(row: Row) -> int | str:
    found = next((row[name] for name in ("id", "task_id", "name") if row.get(name) is not None), 0)
    return found if isinstance(found, int | str) else str(found)


def _prompt(row: Row, data_set: str, config: TestConfig) -> dict[str, Any]:
    """Return a row's prompt in SandboxFusion's format. Raise BadRequestError."""
    kind = data_sets.kind_of(data_set, config.dataset_type)
    try:
        return {"id": _id(row), "prompt": _text_of(row, kind, config, data_set), "labels": _labels(row, kind)}
    except ValueError as error:
        raise BadRequestError(f"config.provided_data: {error}") from None


def _text_of(row: Row, kind: str | None, config: TestConfig, data_set: str) -> str:
    if kind in (data_sets.COMMON_OJ, data_sets.MBPP):
        raise ValueError(f"prompts of {kind} have instructions of SandboxFusion's own; make them of content and tests")
    if kind == data_sets.LIVE_CODE_BENCH and config.is_fewshot:
        raise ValueError(f"is_fewshot adds examples of SandboxFusion's own to prompts of {kind}; leave it out")
    if config.more.get("is_freeform"):
        raise ValueError("is_freeform adds instructions of SandboxFusion's own; leave it out, or make prompts yourself")
    content = text(row, "content") or text(row, "prompt")
    if not content:
        raise ValueError("content: the prompt is missing")
    if kind == data_sets.MHPP:
        example = text(row, "test").partition("\n")[0]
        return f"{content[: content.rfind(QUOTES)]}\n    e.g. {example} {QUOTES}"
    if kind != data_sets.AUTO_EVAL:
        return content
    return _auto_eval(content, row, config, "zh" if data_set.endswith("_zh") else "en")


def _auto_eval(question: str, row: Row, config: TestConfig, spoken: str) -> str:
    """Return the prompt of a row of AutoEval or MBXP, whose parts may be in the request or in the row's labels."""
    more, labels = config.more, part(row, "labels")
    context, template = (more.get(name, labels.get(name)) or "" for name in ("context", "prompt_template"))
    context = context or labels.get("docs") or ""
    examples = (more.get("fewshot", labels.get("fewshot")) or "") if config.is_fewshot else ""
    if config.is_fewshot and not examples:
        raise ValueError("fewshot is missing in labels and config.extra")
    if not all(isinstance(each, str) for each in (context, template, examples)):
        raise ValueError("context, fewshot and prompt_template should be texts")
    locale = config.locale if config.locale in QUESTION else spoken
    if template:
        return Template(template).safe_substitute(
            question=question, fewshot=examples, context=context, locale=config.locale
        )
    if not context and not examples:
        return question
    begin = f"\n\n{RULE}\n\n".join(filter(None, (context, examples)))
    return f"{begin}\n\n{QUESTION[locale]}{question}\n\n{ANSWER[locale]}\n"


def _labels(row: Row, kind: str | None) -> dict[str, Any]:
    if kind == data_sets.HUMAN_EVAL and "labels" not in row:
        return {name: value for name, value in row.items() if name != "prompt"}
    return dict(part(row, "labels"))
