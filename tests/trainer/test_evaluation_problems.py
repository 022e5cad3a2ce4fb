"""Tests of published data formats, safe unpickling and date windows."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem as Line
from sandbox_service.formats.unpacking import packed_text
from tests.validation.sources.published import LIVECODEBENCH, packed
from trainer.errors import ConfigError
from trainer.evaluation.formats import codeelo, format_of, humaneval, livecodebench, mbpp
from trainer.evaluation.presets import PRESETS, Hub, Window, window
from trainer.evaluation.problems import PROBLEMS, ProblemSelection, from_hub, select_problems


def livecodebench_row(**changes: Any) -> dict[str, Any]:
    return LIVECODEBENCH | changes


FUNCTIONAL = livecodebench_row(
    question_id="3210",
    platform="leetcode",
    starter_code="class Solution:\n    def pick(self, xs: List[int], k: int) -> List[int]:\n        ",
    public_test_cases=json.dumps([{"input": "[1, 2]\n1", "output": "[1]", "testtype": "functional"}]),
    private_test_cases=json.dumps([{"input": "[]\n0", "output": "[]", "testtype": "functional"}]),
    metadata='{"func_name": "pick"}',
)
HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": "from typing import List\n\n\ndef helper(x):\n    return x\n\n\ndef add(a: int, b: int):\n    '+'\n",
    "entry_point": "add",
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
}
MBPP = {
    "task_id": 11,
    "text": "Write a function to add.",
    "code": "def add(a, b): return a + b",
    "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
    "test_setup_code": "one = 1",
    "challenge_test_list": [],
}
CODEELO = {
    "problem_id": "2000B1",
    "title": "Sum",
    "rating": 900,
    "description": "Add.",
    "input": "Two numbers.",
    "output": "Their sum.",
    "interaction": "",
    "note": "",
    "examples": [["1 2\n", "3\n"]],
    "time_limit_ms": 1500,
    "memory_limit_mb": 256,
}


def line_of(row: dict[str, Any]) -> dict[str, Any]:
    """A line that the trainer accepts as well."""
    form = format_of(row)
    assert form is not None
    line: dict[str, Any] = form.line_of(row)
    Line.model_validate_json(json.dumps(line))
    return line


def test_livecodebench_has_public_and_hidden_tests() -> None:
    line = line_of(livecodebench_row())
    assert line["id"] == "livecodebench/abc1_a"
    assert [(test["input"], test["output"]) for test in line["tests"]] == [("1\n", "2\n"), ("4\n", "8\n")]
    assert line["meta"] == {"date": "2024-08-03", "difficulty": "easy", "platform": "atcoder", "title": "Double"}
    assert line["limits"]["cpu_seconds"] == 6.0


def test_livecodebench_calls_have_an_argument_a_line() -> None:
    line = line_of(FUNCTIONAL)
    assert line["tests"] == [
        {"type": "call", "function": "pick", "args": [[1, 2], 1], "output": [1]},
        {"type": "call", "function": "pick", "args": [[], 0], "output": []},
    ]
    assert "def pick(self" in line["prompt"]


def test_humaneval_gives_what_stands_before_the_function_to_both_boxes() -> None:
    (test,) = line_of(HUMANEVAL)["tests"]
    assert test["entry_point"] == "add"
    assert test["prelude"] == "from typing import List\n\n\ndef helper(x):\n    return x\n\n\n"


def test_humaneval_plus_is_another_set_with_more_time() -> None:
    line = line_of(HUMANEVAL | {"test": "def check(candidate):\n    inputs = [[1, 2]]\n"})
    assert (line["id"], line["source"]) == ("HumanEval+/0", "humaneval+")
    assert line["limits"]["cpu_seconds"] > line_of(HUMANEVAL)["limits"]["cpu_seconds"]


def test_mbpp_shows_its_assertions_for_they_name_the_function() -> None:
    line = line_of(MBPP)
    assert line["id"] == "mbpp/11"
    assert line["tests"] == [{"type": "assert", "code": "one = 1\nassert add(1, 2) == 3\nassert add(0, 0) == 0"}]
    assert "assert add(1, 2) == 3" in line["prompt"]


def test_mbpp_plus_is_graded_by_its_own_program_and_asked_as_mbpp() -> None:
    plus = {name: MBPP[name] for name in ("task_id", "code", "test_list")} | {
        "prompt": "Add.",
        "test": "assert add(2, 2) == 4",
    }
    line = line_of(plus)
    assert (line["id"], line["tests"]) == ("mbpp+/11", [{"type": "assert", "code": "assert add(2, 2) == 4"}])
    assert "assert add(1, 2) == 3" in line["prompt"]


def test_codeelo_knows_its_contest() -> None:
    line = line_of(CODEELO)
    assert line["meta"]["contest"] == {"id": 2000, "index": "B1"}
    assert line["limits"] == {"cpu_seconds": 1.5, "memory_bytes": 256 << 20}
    assert codeelo.line_of(CODEELO | {"interaction": "You ask, we answer."}) is None


def test_a_format_is_known_by_its_fields() -> None:
    assert [format_of(each) for each in (livecodebench_row(), HUMANEVAL, MBPP, CODEELO)] == [
        livecodebench,
        humaneval,
        mbpp,
        codeelo,
    ]
    assert format_of({"id": "ours", "prompt": "?", "tests": []}) is None


# --- pickles


class Exploit:
    """Would run a program when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, ("exit 1",)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (Exploit(), "not unpickled"),
        ([1, 2], "the packed value should be text, but is a list"),
        (b"bytes", "not unpickled"),
        (Path("x"), "not unpickled"),
    ],
    ids=["code", "list", "bytes", "object"],
)
def test_nothing_but_text_comes_out_of_a_pickle(found: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        packed_text(packed(found))


@pytest.mark.parametrize("garbage", ["", "!!", "aGVsbG8=", base64.b64encode(zlib.compress(b"hello")).decode()])
def test_what_is_no_pickle_is_an_error_and_no_crash(garbage: str) -> None:
    with pytest.raises(ValueError, match=r"packed data|not zlib|pickle"):
        packed_text(garbage)


def test_text_comes_out_as_it_went_in_whichever_protocol_wrote_it() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        text = base64.b64encode(zlib.compress(pickle.dumps('[{"a": "ü\\n"}]', protocol))).decode()
        assert packed_text(text) == '[{"a": "ü\\n"}]'


def test_tests_that_cannot_be_read_name_their_problem(tmp_path: Path) -> None:
    (path := tmp_path / "lcb.jsonl").write_text(json.dumps(livecodebench_row(private_test_cases=packed([1]))) + "\n")
    with pytest.raises(
        ConfigError,
        match=r"lcb\.jsonl:1: livecodebench/abc1_a: its tests cannot be read: the packed value should be text",
    ):
        select_problems(ProblemSelection((path,)), tmp_path / "out")


# --- which ones


def test_a_window_includes_both_of_its_ends() -> None:
    five = PRESETS["livecodebench-v5"].window
    assert five is not None
    days = ["2024-07-31", "2024-08-01", "2024-08-01T23:59:59", "2025-02-01", "2025-02-01T00:00:00", "2025-02-02"]
    assert [five.has(day) for day in days] == [False, True, True, True, True, False]
    assert window("livecodebench-v6") == Window("2025-02-01", "2025-05-01") == window("2025-02-01..2025-05-01")


@pytest.mark.parametrize("text", ["2025", "2025-05-01..2025-02-01", "a..b", "humaneval"])
def test_a_window_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected FIRST\.\.LAST"):
        window(text)


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_only_problems_of_the_window_are_chosen_and_the_others_counted(tmp_path: Path) -> None:
    days = ["2024-07-31", "2024-08-01", "2025-02-01", "2025-02-02"]
    rows = [livecodebench_row(question_id=day, contest_date=f"{day}T10:00:00") for day in days]
    chosen = select_problems(
        ProblemSelection((write(tmp_path / "f.jsonl", *rows),), window=window("livecodebench-v5")), tmp_path / "out"
    )
    assert [each.id for each in chosen.problems] == ["livecodebench/2024-08-01", "livecodebench/2025-02-01"]
    assert (chosen.outside, chosen.refused) == (2, 0)


def test_files_of_any_form_go_together_and_sources_are_named(tmp_path: Path) -> None:
    ours = {"id": "x", "prompt": "?", "tests": [{"type": "stdin", "output": "1"}], "meta": {"difficulty": "hard"}}
    files = (
        write(tmp_path / "a.jsonl", HUMANEVAL, MBPP),
        write(tmp_path / "own.jsonl", ours, CODEELO | {"interaction": "!"}),
    )
    chosen = select_problems(ProblemSelection(files), tmp_path / "out")
    assert [(each.id, each.source) for each in chosen.problems] == [
        ("HumanEval/0", "humaneval"),
        ("mbpp/11", "mbpp"),
        ("x", "own"),
    ]
    assert chosen.problems[2].meta == {"difficulty": "hard"}
    assert chosen.refused == 1
    again = select_problems(ProblemSelection((tmp_path / "out" / PROBLEMS,), limit=2), tmp_path / "out")
    assert len(again.problems) == 2, "what was chosen can be chosen from"
    assert len(select_problems(ProblemSelection((tmp_path / "out" / PROBLEMS,)), tmp_path / "out").problems) == 3, (
        "and is left as it is"
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, r"no problems: name files"),
        ({"files": ("none.jsonl",)}, r"none\.jsonl: No such file"),
        (
            {"files": ("dated.jsonl",), "window": Window("2020-01-01", "2020-01-02")},
            "no problems are left: 1 are outside",
        ),
        ({"files": ("undated.jsonl",), "window": Window("2020-01-01", "2020-01-02")}, 'has no "meta": {"date"}'),
        ({"files": ("broken.jsonl",)}, r"broken\.jsonl:1: invalid JSON"),
    ],
)
def test_what_cannot_be_chosen_is_said(
    asked: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "dated.jsonl", livecodebench_row())
    write(tmp_path / "undated.jsonl", HUMANEVAL)
    (tmp_path / "broken.jsonl").write_text("{\n")
    asked["files"] = tuple(map(Path, asked.get("files", ())))
    with pytest.raises(ConfigError, match=said):
        select_problems(ProblemSelection(**asked), tmp_path / "out")


def test_without_the_library_for_the_hub_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(ConfigError, match="pip install datasets, or download"):
        from_hub(Hub("somebody/something"))


def test_the_library_for_the_hub_is_asked_for_the_files_of_what_was_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    class Library:
        @staticmethod
        def load_dataset(*names: object, **more: object) -> list[dict[str, Any]]:
            calls.append((names, more))
            return [HUMANEVAL]

    monkeypatch.setitem(__import__("sys").modules, "datasets", Library)
    assert list(from_hub(PRESETS["livecodebench-v5"].hub)) == [HUMANEVAL]
    from_hub(PRESETS["mbpp"].hub)
    files = "hf://datasets/livecodebench/code_generation_lite/test*.jsonl"
    assert calls == [
        (("json",), {"data_files": files, "split": "train", "streaming": True}),
        (("google-research-datasets/mbpp", "full"), {"split": "test"}),
    ]
