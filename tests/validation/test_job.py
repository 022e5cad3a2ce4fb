"""The job: keeps the order, judges nothing twice, and gives the same result however often it is interrupted. Fake
judges.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.commands.recipe_judge import remote_judge
from sandbox_service.errors import BadRequestError, ConfigurationError, UnavailableError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Grade, ReferenceTime
from sandbox_service.validation import job, judge
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Fields, Judge, RetryingJudge
from sandbox_service.validation.recipe import Source
from sandbox_service.validation.sources import Malformed
from tests.fake_service import FakeService, says
from tests.validation.world import FakeJudge, letters, recipe, run, sums, words

FILES = ("clean.jsonl", "quarantine.jsonl")
Json = dict[str, Any]


def problems(count: int = 12) -> list[Problem]:
    """Different problems; every fourth has too few tests."""
    made = []
    for number in range(count):
        like = (sums, words, letters)[number % 3]()
        tests = like.tests or []
        more = " ".join(f"{like.id}{number}x{each}" for each in range(80))
        test = tests[0].model_copy(update={"input": f"{number}"})
        changes = {"id": f"p{number}", "prompt": more, "tests": [test, *tests[1:]][: 2 if number % 4 == 3 else 6]}
        made.append(like.model_copy(update=changes))
    return made


def validate(folder: Path, rows: Sequence[Problem | Malformed], by: Judge | None = None, **fields: Any) -> Json:
    def read(source: Source) -> Iterator[Problem | Malformed]:
        yield from rows if source.path == "ours" else fields_evaluation

    fields_evaluation = fields.pop("rows_of_evaluation", ())
    made = recipe(folder, **fields)
    return asyncio.run(job.Job(made, by or FakeJudge(), 3, lambda _: None, read).run())


def lines(folder: Path, name: str = "clean.jsonl") -> list[Json]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def test_lines_are_in_the_order_of_the_input_whoever_is_done_first(tmp_path: Path) -> None:
    class Slow(FakeJudge):
        async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
            await asyncio.sleep(0.001 * (hash(str(shared["tests"])) % 7))
            return await super().grade(shared, submissions)

    manifest = validate(tmp_path, problems(), Slow())
    assert [each["id"] for each in lines(tmp_path)] == [f"p{n}" for n in range(12) if n % 4 != 3]
    assert [each["id"] for each in lines(tmp_path, "quarantine.jsonl")] == ["p3", "p7", "p11"]
    assert manifest["problems"] == {"read": 12, "left_out": {}, "malformed": 0, "clean": 9, "quarantined": 3}
    assert manifest["causes"] == {"too_few_tests": 3}
    assert json.loads((tmp_path / "manifest.json").read_text()) == manifest
    assert manifest["files"]["clean.jsonl"]["lines"] == 9


def test_clean_lines_are_problems_and_quarantine_has_reasons(tmp_path: Path) -> None:
    validate(tmp_path, [sums(), words(prompt="This is an interactive problem. " * 9)])
    [clean] = lines(tmp_path)
    back = Problem.model_validate(clean)
    assert back.tests == sums().tests
    assert back.limits is not None
    assert back.limits.cpu_seconds == 1.0
    assert back.limits.reference == ReferenceTime(cpu_seconds=0.05, factor=4.0, least_seconds=1.0)
    assert back.limits.resolved().cpu_seconds == 1.0
    [refused] = lines(tmp_path, "quarantine.jsonl")
    assert [each["name"] for each in refused["findings"]] == ["interactive"]
    assert Problem.model_validate(refused["problem"]).solutions == words().solutions


def test_an_answer_of_null_is_kept(tmp_path: Path) -> None:
    tests = [{"type": "call", "function": "f", "args": [n], "output": None if n else 1} for n in range(6)]
    problem = sums(tests=tests, solutions=[{"code": "def f(n): return None if n else 1  # input"}])
    validate(tmp_path, [problem], FakeJudge(lambda code: "AC" if code.startswith("def f(n)") else "WA"))
    assert Problem.model_validate(lines(tmp_path)[0]).tests == problem.tests


@pytest.mark.parametrize("after", [1, 5, 17, 40])
def test_ended_in_the_middle_the_result_is_the_same(tmp_path: Path, after: int) -> None:
    class Dying(FakeJudge):
        async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
            await asyncio.sleep(0)
            if self.asked.total() >= after:
                raise UnavailableError("gone")
            return await super().grade(shared, submissions)

    whole = FakeJudge()
    validate(tmp_path / "whole", problems(), whole)
    first, second = Dying(), FakeJudge()
    with pytest.raises(UnavailableError):
        validate(tmp_path / "parts", problems(), first)
    assert not (tmp_path / "parts" / "clean.jsonl").exists(), "there is no half of a result"
    done = len((tmp_path / "parts" / "journal.jsonl").read_text().splitlines()) - 1
    with (tmp_path / "parts" / "journal.jsonl").open("a") as file:
        file.write('{"key": "torn')
    again = validate(tmp_path / "parts", problems(), second)
    for name in FILES:
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert again["run"]["judged_now"] == 12 - done


def test_nothing_is_judged_twice(tmp_path: Path) -> None:
    validate(tmp_path, problems())
    idle = FakeJudge()
    assert validate(tmp_path, problems(), idle)["run"]["judged_now"] == 0
    assert not idle.asked
    twin = FakeJudge()
    validate(tmp_path / "twins", [sums(), sums(), sums()], twin)
    assert twin.asked[sums().references[0].code] == 1


def test_another_recipe_may_not_go_on(tmp_path: Path) -> None:
    validate(tmp_path, [sums()])
    with pytest.raises(ConfigurationError, match="another recipe"):
        validate(tmp_path, [sums()], thresholds={"least_tests": 3})


def test_duplicates_leaks_and_ids_are_seen_among_those_that_are_kept(tmp_path: Path) -> None:
    few = sums(id="few", tests=sums().model_dump(mode="json")["tests"][:2])
    rows = [few, sums(), sums(id="copy"), words(id="sums"), letters()]
    validate(tmp_path, rows, rows_of_evaluation=[letters(id="exam")], evaluation=[{"path": "exam"}])
    assert [each["id"] for each in lines(tmp_path)] == ["sums"]
    said = {(each["id"], found["name"]) for each in lines(tmp_path, "quarantine.jsonl") for found in each["findings"]}
    assert {("few", "too_few_tests"), ("copy", "duplicate"), ("sums", "same_id"), ("letters", "contaminated")} <= said
    assert ("few", "duplicate") not in said


def test_a_twin_of_what_was_not_kept_is_no_twin(tmp_path: Path) -> None:
    everything = FakeJudge(lambda code: "AC" if "input()" in code and "stdin" not in code else "WA")
    few = words(tests=words().model_dump(mode="json")["tests"][:2])
    validate(tmp_path, [few, sums(), letters()], everything)
    assert [each["id"] for each in lines(tmp_path)] == ["sums"]
    assert [each["findings"][-1]["name"] for each in lines(tmp_path, "quarantine.jsonl")][1:] == ["twin"]


def test_rows_that_are_no_problems_and_those_that_are_not_wanted(tmp_path: Path) -> None:
    rows: list[Problem | Malformed] = [Malformed("file:3", "no tests", "{'id': 1"), sums(), words(source="other")]
    manifest = validate(tmp_path, rows, filters={"sources": ["ours"]})
    assert manifest["problems"] == {"read": 3, "left_out": {"source": 1}, "malformed": 1, "clean": 1, "quarantined": 1}
    assert lines(tmp_path, "quarantine.jsonl")[0]["row"] == "{'id': 1"


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"not_ids": ["sums"]}, "named in the recipe"),
        ({"languages": ["text"]}, "language"),
        ({"from_date": "2024-08-01", "until_date": "2025-02-01"}, "date"),
        ({"not_containing": ["100 250"]}, "tests contain what the recipe excludes"),
        ({"difficulty": [0.5, 0.9]}, "difficulty"),
    ],
)
def test_filters(tmp_path: Path, filters: Json, left: str) -> None:
    problem = sums(meta={"date": "2024-07-31"}, difficulty=0.1)
    assert validate(tmp_path, [problem], filters=filters)["problems"]["left_out"] == {left: 1}


def test_tests_are_cut_as_the_recipe_wants(tmp_path: Path) -> None:
    tests = sums().model_dump(mode="json")["tests"]
    long = {"type": "stdin", "input": "1" * 5000, "output": "1"}
    filters = {"most_input_bytes": 4096, "most_tests": 5, "kept_tests": "shortest"}
    validate(tmp_path, [sums(tests=[long, tests[0], *tests])], filters=filters)
    [line] = lines(tmp_path)
    assert [each["input"] for each in line["tests"]] == ["1 2\n", "10 20\n", "0 0\n", "-5 3\n", "7 -7\n"]


def test_difficulty_is_what_a_model_fails(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"problem": "sums", "n": 8, "correct": 2}\n')
    fields: Json = {"difficulty": {"results": str(tmp_path / "results.jsonl")}, "filters": {"difficulty": [0.1, 0.9]}}
    validate(tmp_path / "out", [sums()], **fields)
    assert lines(tmp_path / "out")[0]["difficulty"] == 0.75


# --- judges


def test_a_fault_is_tried_again_and_never_a_failure(tmp_path: Path) -> None:
    class Faulty(FakeJudge):
        def _grade(self, shared: Fields, code: str) -> Grade:
            grade = super()._grade(shared, code)
            return run("reference", ["IE"], kind="sandbox").grade if self.asked[code] < 3 else grade

    faulty = Faulty()
    validate(tmp_path, [sums()], RetryingJudge(faulty, 0.0))
    assert len(lines(tmp_path)) == 1
    assert faulty.asked[sums().references[0].code] == 3


def test_what_cannot_be_judged_is_tried_again_the_next_time(tmp_path: Path) -> None:
    broken = FakeJudge(lambda _: "IE")
    validate(tmp_path, [sums()], RetryingJudge(broken, 0.0))
    assert lines(tmp_path, "quarantine.jsonl")[0]["findings"][0]["name"] == "not_judged"
    assert broken.asked[sums().references[0].code] == judge.TRIES
    validate(tmp_path, [sums()])
    assert len(lines(tmp_path)) == 1


def test_a_refusal_is_the_problems_and_an_absence_is_not(tmp_path: Path) -> None:
    class Refusing(FakeJudge):
        async def grade(self, _: Fields, __: Sequence[Fields]) -> list[Grade]:
            raise BadRequestError("limits.memory_bytes is too much")

    validate(tmp_path, [sums()], Refusing())
    assert "memory_bytes" in lines(tmp_path, "quarantine.jsonl")[0]["findings"][0]["reason"]


def test_a_service_that_is_full_is_asked_again() -> None:
    fake = FakeService(batch_acts=[says(429, "queue_full", **{"Retry-After": "0"}), says(503, "unavailable")])

    async def ask() -> list[Grade]:
        async with fake.running() as url, remote_judge(url) as there:
            return await there.grade({}, [{"code": "1"}, {"code": "2"}])

    assert [each.verdict for each in asyncio.run(ask())] == ["AC", "AC"]
    assert len(fake.batches) == 3


# --- the journal


def test_a_journal_forgets_only_what_was_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path, "r") as journal:
        journal.put("a", {"n": 1})
        journal.put("b", {"n": 2})
    for cut in range(len(path.read_bytes()) - 1, 0, -1):
        path.write_bytes(path.read_bytes()[:cut])
        with Journal(path, "r") as journal:
            assert ("b" in journal) <= ("a" in journal)
            assert "b" not in journal
            journal.put("c", {"n": 3})
            assert journal.get("c") == {"key": "c", "n": 3}
            assert journal.get("z") is None
            path.write_bytes(path.read_bytes()[:cut])


def test_a_record_that_found_no_room_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other problems are in work at the same time, and their records follow."""
    path, write = tmp_path / "journal.jsonl", os.write

    def full(file: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[: len(data) - 10])

    with Journal(path, "r") as journal:
        journal.put("a", {"n": 1})
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            journal.put("b", {"n": 2})
        monkeypatch.undo()
        assert "b" not in journal
        journal.put("c", {"n": 3})
        assert journal.get("c") == {"key": "c", "n": 3}
    with Journal(path, "r") as journal:
        assert [name for name in "abc" if name in journal] == ["a", "c"]


def test_what_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text("something else\n")
    with pytest.raises(ConfigurationError, match="not a line of a journal"):
        Journal(path, "r")
    assert path.read_text() == "something else\n"


def test_two_do_not_write_into_one_folder(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path, "r"), pytest.raises(ConfigurationError, match="another validation is writing there"):
        Journal(path, "r")
    with Journal(path, "r"):
        pass
