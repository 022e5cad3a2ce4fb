"""Tests of problem files: error messages with their place, and epochs that contain each problem once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem as Line
from sandbox_service.schema import Submission
from trainer.data import GRADING, SENT, Problems
from trainer.errors import ConfigError
from trainer.mixture import Mixture, Order

TESTS = [{"type": "stdin", "input": "1", "output": "2"}]
HASH = "sha256:" + "0" * 64


def line(name: str, **changes: Any) -> dict[str, Any]:
    said = {"id": name, "prompt": f"do {name}", "tests": TESTS} | changes
    return {key: value for key, value in said.items() if value is not None}


def file(folder: Path, *lines: dict[str, Any] | str, name: str = "problems.jsonl") -> Path:
    path = folder / name
    path.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines))
    return path


def cursor(folder: Path, count: int, seed: int = 0, order: Order = "shuffled") -> Mixture:
    return Mixture(Problems([file(folder, *(line(f"p{each}") for each in range(count)))]), seed, order)


def ids(problems: Any) -> list[str]:
    return [problem.id for problem in problems]


def test_a_problem_has_what_its_line_says(tmp_path: Path) -> None:
    path = file(tmp_path, "", line("a", source="hand", checker={"type": "exact"}, limits={"cpu_seconds": 2}))
    (problem,) = Problems([path])
    assert problem.text == "do a"
    assert problem.messages == [{"role": "user", "content": "do a"}]
    assert problem.grading == {"tests": TESTS, "checker": {"type": "exact"}, "limits": {"cpu_seconds": 2}}
    assert (problem.source, problem.place) == ("hand", f"{path}:2")


def test_all_fields_that_decide_a_verdict_are_grading_fields() -> None:
    shared = set(Line.model_fields) & set(Submission.model_fields) - {"id"}
    assert set(GRADING) == shared
    assert set(SENT) == shared - {"tests", "suite", "limits"}  # which the trainer sends changed


def test_problems_are_read_by_place_though_lines_are_of_many_bytes(tmp_path: Path) -> None:
    wide = [json.dumps(line(name), ensure_ascii=False) for name in ("é" * 50, "🙂")]
    path = file(tmp_path, wide[0], "   ", line("漢", suite=HASH, tests=None), wide[1])
    problems = Problems([path])
    assert ids(problems) == ["é" * 50, "漢", "🙂"]
    assert problems[1].grading == {"suite": HASH}
    assert ids(problems[1:]) == ["漢", "🙂"]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "the line is not JSON"),
        ("[]", "the line should be an object"),
        (line("b", tets=[]), "tets is not known"),
        (line("b", prompt=None), "prompt and messages"),
        (line("b", messages=[{"role": "user", "content": "x"}]), "prompt and messages"),
        (
            line("b", prompt=None, messages=[{"role": "judge", "content": "x"}]),
            "messages[0].role should be 'system', 'user' or 'assistant'",
        ),
        (line("b", tests=None), "tests and suite"),
        (line("b", suite=HASH), "tests and suite"),
        (line("b", tests=[]), "tests"),
        (line("b", tests=[{"type": "stdin", "outptu": "2"}]), "tests[0].outptu is not known"),
        (line("b", tests=[{"type": "guess"}]), "tests[0] has an unknown `type`"),
        (line("b", limits={"cpu": 1}), "limits.cpu"),
        (line("b", code="print()"), "code"),
        (line("b", difficulty=1.5), "difficulty"),
        (line(""), "id"),
        (line("a"), "is also at"),
    ],
)
def test_a_bad_line_is_refused_with_its_place(tmp_path: Path, bad: Any, said: str) -> None:
    path = file(tmp_path, line("a"), bad)
    with pytest.raises(ConfigError) as refusal:
        Problems([path])
    assert str(refusal.value).startswith(f"{path}:2: ")
    assert said in str(refusal.value)


def test_an_id_may_not_be_in_two_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"two\.jsonl:1: the id 'a' is also at .*one\.jsonl:1"):
        Problems([file(tmp_path, line("a"), name="one.jsonl"), file(tmp_path, line("a"), name="two.jsonl")])


def test_a_file_that_is_not_there_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.jsonl: No such file"):
        Problems([tmp_path / "gone.jsonl"])
    with pytest.raises(ConfigError, match="no problems"):
        Problems([file(tmp_path, "")])


def test_what_is_not_wanted_is_left_out_and_counted(tmp_path: Path) -> None:
    path = file(tmp_path, line("a"), line("b"), line("c"))
    problems = Problems([path], keep=lambda problem: problem.id != "b")
    assert (ids(problems), problems.left_out) == (["a", "c"], 1)
    with pytest.raises(ConfigError, match="all 3 problems are longer"):
        Problems([path], keep=lambda _: False)


def test_a_file_that_changes_under_us_is_noticed(tmp_path: Path) -> None:
    path = file(tmp_path, line("a"), line("b"))
    problems = Problems([path])
    file(tmp_path, line("longer"), line("b"))
    with pytest.raises(ConfigError, match="has changed"):
        _ = problems[1]


def test_every_epoch_has_every_problem_once_whatever_is_taken_at_a_time(tmp_path: Path) -> None:
    place = cursor(tmp_path, 10)
    taken = [each for size in (3, 4, 6, 1, 16) for each in ids(place.take(size))]
    epochs = [taken[start : start + 10] for start in (0, 10, 20)]
    assert all(sorted(epoch) == sorted(f"p{each}" for each in range(10)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert place.state()["positions"] == {"": (2, 10)}


def test_the_order_is_the_seeds(tmp_path: Path) -> None:
    first = ids(cursor(tmp_path, 10).take(10))
    assert ids(cursor(tmp_path, 10).take(10)) == first
    assert ids(cursor(tmp_path, 10, seed=1).take(10)) != first
    assert first == [f"p{each}" for each in [9, 1, 2, 0, 7, 6, 4, 5, 3, 8]], "another order breaks checkpoints"


def test_without_shuffling_the_order_is_the_files(tmp_path: Path) -> None:
    assert ids(cursor(tmp_path, 3, order="file").take(6)) == ["p0", "p1", "p2"] * 2


@pytest.mark.parametrize("before", [0, 4, 10, 13, 20])
def test_a_restored_cursor_goes_on_where_the_other_was(tmp_path: Path, before: int) -> None:
    one, other = cursor(tmp_path, 10), cursor(tmp_path, 10)
    one.take(before)
    other.restore(json.loads(json.dumps(one.state())))
    assert ids(other.take(17)) == ids(one.take(17))


def test_a_cursor_is_not_restored_over_other_problems(tmp_path: Path) -> None:
    state = cursor(tmp_path, 10).state()
    with pytest.raises(ConfigError, match="differ from those of the checkpoint"):
        cursor(tmp_path, 9).restore(state)
