"""`POST /list_ids`, `/get_prompts` and `/get_prompt_by_id`: prompts of rows that the request contains."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compat.test_data_sets import BIG_CODE_BENCH, HUMAN_EVAL, MBPP, MHPP, PROMPT
from tests.conftest import Service

ROWS: list[dict[str, Any]] = [
    {"id": 1, "content": "one", "labels": "{}"},
    {"id": "two", "content": "two", "labels": {"a": 1}},
]


def asked(service: Service, path: str, data: Any, data_set: str = "any", **more: Any) -> Any:
    fields: dict[str, Any] = {name: more.pop(name) for name in ("offset", "limit", "id") if name in more}
    body = {"dataset": data_set, "config": {"provided_data": data, **more}, **fields}
    status, answer = service.client.post(path, body)
    return answer if status == 200 else (status, answer["error"]["message"])


def test_there_are_no_data_sets(service: Service) -> None:
    assert service.client.get("/list_datasets") == (200, [])
    for path in ("/list_ids", "/get_prompts", "/get_prompt_by_id"):
        status, message = asked(service, path, None, "mbpp", id=1)
        assert (status, "holds no data sets" in message) == (422, True)


def test_prompts_of_rows(service: Service) -> None:
    assert asked(service, "/list_ids", ROWS) == [1, "two"]
    prompts = asked(service, "/get_prompts", ROWS, dataset_type="AutoEvalDataset")
    assert prompts == [{"id": 1, "prompt": "one", "labels": {}}, {"id": "two", "prompt": "two", "labels": {"a": 1}}]
    assert asked(service, "/get_prompts", ROWS, offset=1, limit=1) == prompts[1:]
    assert asked(service, "/get_prompt_by_id", ROWS, id="two") == prompts[1]
    assert asked(service, "/get_prompt_by_id", ROWS[0], id=0) == prompts[0]
    assert asked(service, "/get_prompt_by_id", ROWS, id=3)[0] == 404


def test_prompts_of_each_class(service: Service) -> None:
    [human_eval] = asked(service, "/get_prompts", [HUMAN_EVAL], "humaneval_python")
    assert (human_eval["id"], human_eval["prompt"], set(human_eval["labels"])) == (
        "x/0",
        PROMPT,
        {"task_id", "entry_point", "test"},
    )
    [big] = asked(service, "/get_prompts", [BIG_CODE_BENCH], "bigcodebench")
    assert (big["prompt"], big["labels"]) == ("import random\n" + PROMPT, {"entry_point": "add_up"})
    [mhpp] = asked(service, "/get_prompts", [MHPP], "mhpp")
    assert mhpp["prompt"].endswith('Return the sum.\n    e.g. assert add_up([1]) == 1 """')


def test_parts_of_a_prompt(service: Service) -> None:
    row = {"id": 1, "content": "Q", "labels": {"context": "C", "fewshot": "F"}}
    kind = {"dataset_type": "AutoEvalDataset"}
    [plain] = asked(service, "/get_prompts", [row], **kind)
    assert plain["prompt"] == "C\n\nQuestion:Q\n\nAnswer:\n"
    [shown] = asked(service, "/get_prompts", [row], **kind, is_fewshot=True)
    assert shown["prompt"] == "C\n\n----------------\n\nF\n\nQuestion:Q\n\nAnswer:\n"
    template = {"prompt_template": "$context: $question ${unknown}"}
    [made] = asked(service, "/get_prompts", [row], **kind, extra=template)
    assert made["prompt"] == "C: Q ${unknown}"
    ood = {"id": 84, "content": "Q", "labels": {"task_id": "x/1", "docs": "D"}}
    [spoken] = asked(service, "/get_prompts", [ood], "oodtest_v1_zh")
    assert spoken["prompt"] == "D\n\n问题：Q\n\n答案：\n"


@pytest.mark.parametrize(
    ("data", "config", "named"),
    [
        ([MBPP], {"data_set": "mbpp"}, "instructions"),
        (ROWS, {"dataset_type": "CommonOJDataset"}, "instructions"),
        ([HUMAN_EVAL], {"extra": {"is_freeform": True}}, "is_freeform"),
        (ROWS, {"dataset_type": "CruxEvalDataset"}, "not served"),
        (ROWS, {"dataset_type": "LiveCodeBenchDataset", "is_fewshot": True}, "is_fewshot"),
        (ROWS, {"dataset_type": "AutoEvalDataset", "is_fewshot": True}, "fewshot"),
        ([3], {}, "list of objects"),
        ([{"content": 3}], {}, "content"),
        ([{"id": 1}], {}, "the prompt is missing"),
    ],
)
def test_other_prompts_are_refused(service: Service, data: Any, config: dict[str, Any], named: str) -> None:
    status, message = asked(service, "/get_prompts", data, **config)
    assert (status, named in message) == (422, True), message
