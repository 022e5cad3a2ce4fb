"""Tests of duels: test cases, rewards of testers, groups with two roles, and the opponent of another run."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from examples import duel
from tests.ports import free_port
from tests.trainer.fake_service import completion, configured, grading, run
from trainer import text_api
from trainer.batch import trained_episodes, training_rows
from trainer.checkpoint import read_groups, write_groups
from trainer.collect import Batch, Collector
from trainer.config import Config, resolve
from trainer.data import Problem
from trainer.duel import opponent
from trainer.duel.opponent import Opponent
from trainer.duel.question import CASE_BYTES, parse_cases, question_for, without_examples
from trainer.duel.referee import EarlierPrograms, distinct, scores
from trainer.engines.process import VllmProcess
from trainer.episode import Completion, Episode, Group, Prompt, Reward, Row
from trainer.errors import ConfigError, TrainerError
from trainer.metrics import batch_metrics

ONE = '[{"input": "1", "output": "2"}]'


# --- test cases


@pytest.mark.parametrize(
    "text",
    [ONE, f"<think>[1]</think>\n{ONE}\n", f"first\n```json\n[]\n```\nthen\n```json\n{ONE}\n```\n", f"```\n{ONE}\n```"],
)
def test_the_last_block_or_the_whole_answer_is_read(text: str) -> None:
    assert parse_cases(text, 1) == [{"type": "stdin", "input": "1", "output": "2"}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        f"Here: {ONE}",
        ONE[:-1],
        ONE.replace('"2"', "2"),
        ONE.replace("}", ', "weight": 9}'),
        ONE.replace('"input"', '"stdin"'),
        f"[{ONE}]",
        f"{ONE[:-1]}, {ONE[1:]}",
        '[{"input": "\\ud800", "output": "2"}]',
        "[" * 100_000,
        json.dumps([{"input": "", "output": "é" * (CASE_BYTES // 2 + 1)}]),
    ],
)
def test_what_has_another_form_is_no_answer(text: str) -> None:
    assert parse_cases(text, 1) is None


def test_equal_cases_are_graded_once() -> None:
    one, two = ({"type": "stdin", "input": name, "output": ""} for name in "ab")
    assert distinct([[one, two], None, [two, two]]) == ([one, two], [[0, 1], None, [1, 1]])


# --- the question


def problem(text: str, kind: str = "stdin") -> Problem:
    return Problem("p", [{"role": "user", "content": text}], text, {"tests": [{"type": kind}]}, "", "file:1")


STATEMENT = """Add two numbers, for example the ages of two people.

Input
Two numbers.

Examples
Input
1 2
Output
3
{}
"""


@pytest.mark.parametrize(
    "heading", ["Examples", "Sample Input 1:", "### Example 2", "**Example:**", "-----Samples-----"]
)
def test_examples_are_not_part_of_the_question(heading: str) -> None:
    text = STATEMENT.replace("Examples", heading).format("Note\nIn the first example 1 + 2 = 3.\nConstraints:\na < 9")
    kept = without_examples(text)
    assert kept.endswith("Two numbers.\n\nConstraints:\na < 9\n")
    assert "for example the ages" in kept


def test_a_statement_of_examples_alone_stays() -> None:
    assert without_examples("Do it.\nExample 1:\n" + "1 2\n" * 50).count("1 2") == 50


def test_the_question_is_in_the_last_turn() -> None:
    asked = question_for(problem(STATEMENT), "{cases} cases for: {statement}", 3)
    assert asked.text is not None
    assert asked.text.startswith("3 cases for: Add two numbers")
    assert asked.messages[-1]["content"] == asked.text
    assert "```json" in str(question_for(problem("p"), "", 2).text)


def test_problems_that_testers_cannot_test_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"file:1: .* of the type call"):
        question_for(problem("p", "call"), "", 1)


# --- rewards of testers


def plain_scores(right: Sequence[Any], rows: Sequence[Any], columns: Sequence[Any]) -> list[float | None]:
    """What the module says in words, one solution and one case after the other."""
    values: list[float | None] = []
    for cases in columns:
        good = bad = caught = 0
        is_valid = cases is not None
        for is_right, row in zip(right, rows, strict=True):
            if is_right is None or row is None:
                continue
            fails = any(not row[case] for case in cases or ())
            if is_right:
                good += 1
                is_valid = is_valid and not fails
            else:
                bad += 1
                caught += fails
        values.append(None if not good or not bad else caught / bad if is_valid else 0.0)
    return values


def test_rewards_are_those_of_a_plain_double_loop() -> None:
    draw = random.Random(0)
    for _ in range(500):
        solutions, cases, testers = draw.randint(1, 5), draw.randint(1, 5), draw.randint(1, 4)
        right = [draw.choice([True, True, False, False, None]) for _ in range(solutions)]
        rows = [draw.choice([None, *[[draw.random() < 0.7 for _ in range(cases)]] * 5]) for _ in range(solutions)]
        columns = [draw.choice([None, *[draw.choices(range(cases), k=2)] * 4]) for _ in range(testers)]
        wanted = plain_scores(right, rows, columns)
        assert [each.value for each in scores(right, rows, columns)] == [each for each in wanted if each is not None]
        assert bool(scores(right, rows, columns)) == (wanted[0] is not None)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Verb and word of the demo's problems."""
    duel.write_problems(folder := tmp_path_factory.mktemp("toy"), seed=0)
    names = [json.loads(line)["id"] for line in (folder / "problems.jsonl").read_text().splitlines()]
    return [(verb, word) for verb, _, word in (name.partition("-") for name in names)]


def mean_reward(toy: list[tuple[str, str]], answer: Callable[[str, str], str]) -> float:
    """Of a tester on the demo's problems, with a solution for each verb; `answer` makes its text from verb and word."""
    earned, meanings = [], duel.MEANINGS
    for verb, word in toy:
        cases, columns = distinct([parse_cases(answer(verb, word), 1)])
        rows = [[means(each["input"], word) == each["output"] for each in cases] for means in meanings.values()]
        earned += [each.value or 0.0 for each in scores([other == verb for other in meanings], rows, columns)]
    return sum(earned) / len(earned)


def case(given: str, wanted: str) -> str:
    return json.dumps([{"input": given, "output": wanted}])


def test_constant_and_echoing_testers_earn_next_to_nothing(toy: list[tuple[str, str]]) -> None:
    verb, word = toy[0]
    right_once = case("x", duel.MEANINGS[verb]("x", word))
    assert 0 < mean_reward(toy, lambda *_: right_once) <= 0.02
    assert mean_reward(toy, lambda *_: case("", "")) == 0
    assert mean_reward(toy, lambda _, word: case(word, word)) == 0
    assert mean_reward(toy, lambda verb, word: case("x", f"{verb} {word}")) == 0
    assert mean_reward(toy, lambda *_: "[]") == 0


def test_a_case_that_tells_more_apart_earns_more(toy: list[tuple[str, str]]) -> None:
    best = mean_reward(toy, lambda verb, word: case("x", duel.MEANINGS[verb]("x", word)))
    same = mean_reward(toy, lambda verb, word: case(word[0], duel.MEANINGS[verb](word[0], word)))
    assert best == 1
    assert 0.4 < same < 0.8, "with the first letter as input, tail and wrap agree"


# --- groups


class World:
    """Engine, grader and prompts: solution k is right if k is odd, and a tester's answer is `text`."""

    def __init__(self, text: str = ONE) -> None:
        self.text = text
        self.seeds: list[int] = []
        self.asked: list[list[int]] = []

    async def generate(self, ids: Sequence[int], seed: int, _: int) -> Completion:
        self.seeds.append(seed)
        self.asked.append(list(ids))
        return Completion([7, 8], [-0.5, -0.25], self.text if ids[0] == 9 else "", False, 0, 0)

    async def grade(self, name: str, *_: object) -> Reward:
        value = int(name.rpartition(".")[2]) % 2
        return Reward(float(value), "AC" if value else "WA")

    async def passes(self, name: str, _: Prompt, __: Completion, tests: Sequence[Any]) -> list[bool]:
        return [int(name.rpartition(".")[2]) % 2 == 1 for _ in tests]

    def select(self, _: Any) -> None: ...

    def take(self, count: int) -> list[Prompt]:
        return [self.by_id(str(each)) for each in range(count)]

    def by_id(self, name: str) -> Prompt:
        return Prompt(name, [1, int(name)], {}, tester=Prompt(name, [9, int(name)], {}))


def dueling(**duel: Any) -> Config:
    rollout = {"prompts": 2, "samples": 4}
    duel = {"testers": 3, "earlier": 8} | duel
    said = {"model": {"path": "m"}, "data": {"train": ["d"]}, "rollout": rollout, "duel": duel}
    return resolve(said)


def batch_of(world: World, config: Config) -> Batch:
    async def work() -> Batch:
        one = Collector(config, world, world, world)  # type: ignore[arg-type]
        await one.begin(0, config)
        try:
            return await one.batch()
        finally:
            await one.close()

    batch: Batch = run(work())
    return batch


def rows_of(group: Group, drop_flat: bool = False) -> list[Row]:
    config = resolve(dueling().model_dump(mode="json") | {"buffer": {"drop_flat": drop_flat}})
    (rows,) = training_rows(trained_episodes([group], config))
    return rows


def test_a_group_has_solutions_and_answers_with_advantages_of_their_own() -> None:
    batch = batch_of(World(), dueling())
    for group in batch.groups:
        assert [each.role for each in group.episodes] == ["solver"] * 4 + ["tester"] * 3
        assert [each.total for each in group.episodes[4:]] == [1.0] * 3
        rows = rows_of(group)
        assert [row.ids[0] for row in rows] == [1] * 4 + [9] * 3
        assert [round(row.advantage, 2) for row in rows] == [-0.87, 0.87, -0.87, 0.87, 0, 0, 0]
        assert len(rows_of(group, drop_flat=True)) == 4, "the testers' rewards are equal"
    told = batch_metrics(batch)
    assert (told["pass_rate"], told["tester_valid"], told["tester_caught"]) == (0.5, 1.0, 1.0)


def test_solutions_are_those_of_a_run_without_testers() -> None:
    with_testers, without = World(), World()
    batch_of(with_testers, dueling())
    batch_of(without, resolve(dueling().model_dump(mode="json") | {"duel": {}}))
    assert len(set(with_testers.seeds)) == 2 * (4 + 3)
    mine = {seed for seed, ids in zip(with_testers.seeds, with_testers.asked, strict=True) if ids[0] == 1}
    assert mine == set(without.seeds)


def test_without_a_wrong_solution_the_answers_are_masked() -> None:
    class AllRight(World):
        async def grade(self, *_: object) -> Reward:
            return Reward(1.0, "AC")

    batch = batch_of(AllRight(), dueling())
    assert all(each.is_masked == (each.role == "tester") for each in batch.episodes)
    assert all(group.is_flat for group in batch.groups)
    told = batch_metrics(batch)
    assert told["tester_judged"] == told["fault_share"] == 0
    assert math.isnan(told["tester_reward"])


@pytest.mark.parametrize(("trains", "rows"), [("both", 7), ("solver", 4), ("tester", 3)])
def test_a_whole_mini_batch_has_the_rows_of_the_trained_roles(trains: str, rows: int) -> None:
    """A rest of a batch is weighed against it (`optimiser.minibatch_prompts`)."""
    opponent = "" if trains == "both" else "http://o"
    assert dueling(trains=trains, opponent=opponent).group_size == rows


def test_a_suspect_solution_is_no_right_one() -> None:
    """It fails an audit test: a test case that it fails may well be valid."""

    class Suspect(World):
        async def grade(self, *given: Any) -> Reward:
            return replace(await super().grade(*given), is_suspect=True)

    assert batch_metrics(batch_of(Suspect(), dueling()))["tester_judged"] == 0


def test_an_answer_without_a_program_is_no_wrong_one() -> None:
    """It fails any case, so that catching it says nothing of the case."""

    class Silent(World):
        async def grade(self, *given: Any) -> Reward:
            reward = await super().grade(*given)
            return replace(reward, has_program=reward.verdict == "AC")

    assert batch_metrics(batch_of(Silent(), dueling()))["tester_judged"] == 0


def test_answers_of_another_form_earn_nothing_and_are_counted() -> None:
    told = batch_metrics(batch_of(World("no"), dueling()))
    assert (told["tester_reward"], told["tester_valid"], told["tester_formed"]) == (0, 0, 0)


def test_a_group_survives_a_checkpoint(tmp_path: Path) -> None:
    world = World()
    (group, _) = batch_of(world, dueling()).groups
    write_groups(tmp_path, [group])
    (again,) = read_groups(tmp_path, world.by_id)
    assert rows_of(again) == rows_of(group)
    assert again == group


def test_groups_in_flight_are_started_again_with_the_same_seeds() -> None:
    async def work() -> tuple[World, World]:
        config, first, second = dueling(), World(), World()
        before, after = (Collector(config, each, each, each) for each in (first, second))  # type: ignore[arg-type]
        await before.begin(0, config)
        await asyncio.sleep(0)
        state, ready = await before.state()
        assert (len(state["on_the_way"]), ready) == (2, [])
        await after.restore(json.loads(json.dumps(state)), ready, version=0)
        await after.begin(0, config)
        for each in (before, after):
            await each.batch()
            await each.close()
        return first, second

    first, second = run(work())
    assert sorted(first.seeds) == sorted(second.seeds)
    assert len(first.seeds) == 2 * (4 + 3)


# --- wrong programs of earlier steps


class Learnt(World):
    """A solution is right if its text is "good"; wrong ones pass no case. Later solutions are all right."""

    def __init__(self) -> None:
        super().__init__()
        self.is_good = False
        self.graded: list[str] = []

    async def generate(self, ids: Sequence[int], seed: int, _: int) -> Completion:
        text = self.text if ids[0] == 9 else "good" if self.is_good or seed % 2 else f"bad {seed}"
        return Completion([7, 8], [-0.5, -0.25], text, False, 0, 0)

    async def grade(self, _: str, __: Prompt, completion: Completion) -> Reward:  # type: ignore[override]
        is_right = completion.text == "good"
        return Reward(float(is_right), "AC" if is_right else "WA")

    async def passes(self, _: str, __: Prompt, completion: Completion, tests: Sequence[Any]) -> list[bool]:  # type: ignore[override]
        self.graded.append(completion.text)
        return [completion.text == "good" for _ in tests]


def second_batch(world: Learnt, through_checkpoint: bool = False, **duel: Any) -> Batch:
    """The batch after one in which the solver wrote wrong programs as well."""

    async def work() -> Batch:
        config = dueling(**duel)
        one = Collector(config, world, world, world)  # type: ignore[arg-type]
        await one.begin(0, config)
        await one.batch()
        world.is_good = True
        if through_checkpoint:
            state, ready = await one.state()
            await one.close()
            one = Collector(config, world, world, world)  # type: ignore[arg-type]
            await one.restore(json.loads(json.dumps(state)), ready, version=1)
        world.graded.clear()
        await one.begin(1, config)
        try:
            return await one.batch()
        finally:
            await one.close()

    batch: Batch = run(work())
    return batch


@pytest.mark.parametrize("through_checkpoint", [False, True])
def test_cases_are_judged_by_wrong_programs_of_earlier_steps(through_checkpoint: bool) -> None:
    world = Learnt()
    told = batch_metrics(second_batch(world, through_checkpoint))
    assert (told["pass_rate"], told["tester_judged"], told["tester_reward"], told["tester_caught"]) == (1, 1, 1, 1)
    assert sum(text.startswith("bad") for text in world.graded) > 0


def test_without_earlier_programs_answers_to_solved_problems_are_masked() -> None:
    assert batch_metrics(second_batch(Learnt(), earlier=0))["tester_judged"] == 0


def solved(problem: str, *texts: str, verdict: str = "WA", cut: bool = False, silent: bool = False) -> Group:
    prompt = Prompt(problem, [1], {})
    reward = Reward(float(verdict == "AC"), verdict, has_program=not silent)
    return Group(prompt, [Episode(prompt, Completion([1], [0.0], text, cut, 0, 0), reward) for text in texts])


def test_the_newest_wrong_programs_are_kept_once_each() -> None:
    kept = EarlierPrograms(2)
    for group in (
        solved("p", "a", "b", "b"),
        solved("p", "a"),
        solved("p", "c", verdict="AC"),
        solved("p", "d", cut=True),
        solved("p", "no program", silent=True),
        solved("q", "e"),
    ):
        kept.add(group)
    assert (kept.of("p"), kept.of("q"), kept.of("r")) == (["b", "a"], ["e"], [])


def test_the_programs_of_all_problems_are_bounded() -> None:
    kept = EarlierPrograms(2, text_length=5)
    for group in (solved("p", "aa"), solved("q", "bb"), solved("p", "cc"), solved("r", "d")):
        kept.add(group)
    assert kept.state() == {"p": ["aa", "cc"], "r": ["d"]}
    again = EarlierPrograms(2, text_length=5)
    again.restore(kept.state())
    again.add(solved("s", "e"))
    assert again.state() == {"r": ["d"], "s": ["e"]}


# --- two runs


@pytest.mark.parametrize(
    "duel", [{"opponent": "http://o"}, {"trains": "solver"}, {"trains": "tester", "opponent": "http://o", "testers": 1}]
)
def test_roles_and_opponents_must_agree(duel: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="duel"):
        dueling(**duel)


@pytest.mark.parametrize(("own", "thinks"), [({}, False), ({"template": {"enable_thinking": True}}, True)])
def test_the_other_policy_is_environment(own: dict[str, Any], thinks: bool) -> None:
    asked: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        return web.json_response({"choices": [{"message": {"content": ONE}, "finish_reason": "stop"}]})

    async def work() -> Batch:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port := free_port()).start()
        config, world = dueling(trains="solver", opponent=f"http://127.0.0.1:{port}", **own), World()
        data = config.data.model_copy(update={"template": {"enable_thinking": False}})
        config = config.model_copy(update={"data": data})
        one = Collector(config, world, world, world)  # type: ignore[arg-type]
        await one.begin(0, config)
        batch = await one.batch()
        await one.close()
        await runner.cleanup()
        return batch

    batch: Batch = run(work())
    assert len(asked) == 2 * 3
    assert all(each["temperature"] == 1.0 and each["top_p"] == 1.0 for each in asked)
    assert all(each["chat_template_kwargs"] == {"enable_thinking": thinks} for each in asked)
    for group in batch.groups:
        assert [each.is_own for each in group.episodes] == [True] * 4 + [False] * 3
        assert len(rows_of(group)) == 4
    told = batch_metrics(batch)
    assert told["tester_valid"] == 1
    assert math.isnan(told["tester_length"]), "its token ids are not known"
    assert told["length"] == 2


def answered(finishes: Sequence[str | int], **said: Any) -> tuple[Completion, list[int]]:
    """The opponent's answer, by a server that ends its texts so or refuses, and the limits of the requests."""
    left, limits = list(finishes), list[int]()

    async def answer(request: web.Request) -> web.Response:
        limits.append((await request.json())["max_tokens"])
        finish = left.pop(0)
        if isinstance(finish, int):
            return web.json_response({"error": {"message": "no"}}, status=finish)
        return web.json_response({"choices": [{"text": "x", "finish_reason": finish}]})

    async def work() -> Completion:
        app = web.Application()
        app.router.add_post("/v1/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port := free_port()).start()
        own = {"testers": 2, "trains": "solver", "opponent": f"http://127.0.0.1:{port}"} | said
        other = Opponent(configured(data={"train": ["d"], "format": "plain"}, duel=own))
        try:
            return await other.generate(Prompt("p", [1], {}, messages=[{"role": "user", "content": "hi"}]), 1)
        finally:
            await other.close()
            await runner.cleanup()

    return run(work()), limits


def test_an_answer_of_the_opponent_may_be_truncated() -> None:
    told, _ = answered(["length"])
    assert (told.text, told.is_truncated, tuple(told.ids)) == ("x", True, ())


def test_the_opponent_has_a_limit_of_its_own() -> None:
    assert answered(["stop"], max_tokens=77)[1] == [77]
    assert answered(["stop"])[1] == [configured().rollout.max_tokens]


def test_an_opponent_that_fails_is_asked_again_and_one_that_refuses_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_api, "pauses", lambda count: [0.0] * count)
    told, limits = answered([500, "abort", "stop"])
    assert (told.text, told.is_truncated, len(limits)) == ("x", False, 3)
    for finishes, said in (
        ([400], "refuses /v1/completions: 400 no"),
        ([500] * text_api.TRIES, "/v1/completions: 500 no"),
    ):
        with pytest.raises(TrainerError, match=f"the opponent's server at .*{said}"):
            answered(finishes)


def test_the_two_runs_of_the_demonstration_name_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("start", "end"):
        monkeypatch.setattr(VllmProcess, name, lambda _: None)
    with duel.two_policies(tmp_path, "http://s", {"steps": 3}) as said:
        solver, tester = (resolve(each) for each in said)
    assert (solver.duel.trains, tester.duel.trains) == ("solver", "tester")
    assert (solver.duel.opponent,) == tester.rollout.servers
    assert (tester.duel.opponent,) == solver.rollout.servers
    assert resolve(duel.settings(tmp_path, "http://s", steps=3)).duel.trains == "both"


# --- the matrix, by the real service


def test_the_matrix_is_that_of_a_plain_double_loop(service: str) -> None:
    programs = [
        "print(input()[::-1])",
        "print(input())",
        "print('aba')",
        "print(1/0)",
        "while True: pass",
        "no program (",
    ]
    cases = [case_of("abc", "cba"), case_of("aba", "aba"), case_of("", "x"), case_of("xy", "xy")]
    asked = Prompt("p", [1], {"tests": cases[:1], "limits": {"cpu_seconds": 0.3}})

    async def work() -> tuple[list[Any], list[list[bool]]]:
        async with grading(configured(service, reward={"extraction": "whole", "patience_seconds": 300})) as grader:
            samples = [completion(program) for program in programs]
            rows = [await grader.passes(f"m.{number}", asked, each, cases) for number, each in enumerate(samples)]
            plain = []
            for number, each in enumerate(samples):
                row = []
                for place, one in enumerate(cases):
                    single = Prompt("p", [1], {**asked.grading, "tests": [one]})
                    row.append((await grader.grade(f"s.{number}.{place}", single, each)).verdict == "AC")
                plain.append(row)
            return rows, plain

    rows, plain = asyncio.run(work())
    assert rows == plain
    assert rows[0] == [True, True, False, False]
    assert [sum(row) for row in rows] == [2, 2, 1, 0, 0, 0]


def case_of(given: str, wanted: str) -> dict[str, str]:
    return {"type": "stdin", "input": given, "output": wanted}


def test_an_episode_knows_its_role() -> None:
    made = Episode(Prompt("p", [1], {}), Completion((), (), "", False, 0, 0), Reward(1.0), role="tester")
    assert not made.is_own


def test_a_connection_that_was_idle_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server hangs up at the second request on a connection, as vLLM does that has just closed it."""
    monkeypatch.setattr(opponent, "IDLE_SECONDS", 0.05)
    body = json.dumps({"choices": [{"text": "x", "finish_reason": "stop"}]}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    notices: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(request.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
        writer.write(head + body)
        await reader.read(1)
        writer.close()

    async def work() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", port := free_port())
        duel = {"testers": 2, "trains": "solver", "opponent": f"http://127.0.0.1:{port}"}
        other = Opponent(configured(data={"train": ["d"], "format": "plain"}, duel=duel), notices.append)
        async with server:
            for seconds in (0.2, 0.0):
                await other.generate(Prompt("p", [1], {}, messages=[{"role": "user", "content": "hi"}]), 1)
                await asyncio.sleep(seconds)
            await other.close()

    run(work())
    assert not notices
