"""Tests of requests to the reward service and the use of its answers; one test uses the real service."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest

from sandbox_service.client.single_grading import TRIES
from tests.fake_service import FAULT, PASSED, FakeService, answers, says, sleeps
from tests.ports import free_port
from tests.trainer.fake_service import TESTS, ask, completion, configured, grading, prompt, run
from trainer.config.sections import RewardService
from trainer.episode import Episode, Prompt, Reward
from trainer.errors import ConfigError
from trainer.reward import build_group, overlong

pytestmark = pytest.mark.usefixtures("quick")


# --- what is asked


def test_a_sample_gets_its_reward() -> None:
    fake = FakeService(acts=[answers(PASSED | {"verdict": "WA", "reward": 0.25, "message": "line 1"})])
    (reward,) = ask(fake, prompt())
    assert (reward.value, reward.verdict, reward.reason, reward.is_fault) == (0.25, "WA", "line 1", False)
    assert 0 < reward.seconds < 60


def test_a_submission_says_what_the_problem_and_the_configuration_say() -> None:
    fake = FakeService()
    problem = prompt(tests=TESTS, checker={"type": "exact"}, limits={"cpu_seconds": 2, "processes": 4})
    ask(
        fake,
        problem,
        reward={"extraction": "answer_tag", "limits": {"cpu_seconds": 9}, "scheme": {"scheme": "fraction"}},
    )
    suite = "sha256:" + hashlib.sha256(fake.suites[fake.asked[-1]["suite"]]).hexdigest()
    assert fake.asked[-1] == {
        "id": "run.x.0.0",
        "completion": completion().text,
        "extraction": "answer_tag",
        "suite": suite,
        "reward": {"scheme": "fraction"},
        "stop_on_failure": False,
        "labels": {"client": "run"},
        "checker": {"type": "exact"},
        "limits": {"cpu_seconds": 9, "processes": 4},
    }
    assert json.loads(fake.suites[suite]) == {"tests": TESTS}


def test_judges_and_groups_of_a_problem_are_sent() -> None:
    fake = FakeService()
    judged: dict[str, Any] = {
        "interactor": {"type": "program", "protocol": "function", "source": "def interact(*_): return True"},
        "groups": [{"name": "small", "points": 40.0}],
        "language": "cpp",
    }
    ask(fake, prompt(tests=TESTS, **judged))
    assert judged.items() <= fake.asked[-1].items()


def test_other_tests_than_a_problems_own_belong_to_no_group() -> None:
    async def work(fake: FakeService) -> list[bool] | None:
        port = free_port()
        async with fake.running(port), grading(configured(f"http://127.0.0.1:{port}")) as grader:
            grouped = prompt(tests=TESTS, groups=[{"name": "small", "points": 40.0}])
            return await grader.passes("run.x.0.0", grouped, completion(), TESTS[:1])

    fake = FakeService()
    assert run(work(fake)) is not None
    asked = fake.asked[-1]
    assert (asked["groups"], asked["stop_on_failure"], asked["reward"]) == (None, False, {"scheme": "all_or_nothing"})


def test_tests_are_stored_once_and_named_afterwards() -> None:
    fake = FakeService()
    ask(fake, prompt("a"), prompt("a"), prompt("b", tests=TESTS[:1]), prompt("a"))
    assert fake.puts == len(fake.suites) == 2
    assert "tests" not in fake.asked[-1]


def test_a_group_that_comes_at_once_stores_its_tests_once() -> None:
    async def work(fake: FakeService) -> None:
        port = free_port()
        async with fake.running(port), grading(configured(f"http://127.0.0.1:{port}")) as grader:
            await asyncio.gather(*(grader.grade(f"run.x.1.{each}", prompt(), completion()) for each in range(16)))

    run(work(fake := FakeService()))
    assert fake.puts == 1


def test_a_suite_that_the_service_has_forgotten_is_put_again() -> None:
    async def work(fake: FakeService) -> None:
        port = free_port()
        async with fake.running(port), grading(configured(f"http://127.0.0.1:{port}")) as grader:
            for each in range(3):
                assert (await grader.grade(f"run.x.{each}.0", prompt(), completion())).value == 1.0
                fake.suites.clear()

    run(work(fake := FakeService()))
    assert fake.puts == 3


def test_a_suite_that_only_has_a_name_cannot_be_put() -> None:
    with pytest.raises(ConfigError, match=r"problem 'p': .* does not know its suite sha256:0000"):
        ask(FakeService(), prompt(suite="sha256:" + "0" * 64))


def test_a_suite_that_is_never_known_is_a_fault_in_the_end() -> None:
    fake = FakeService(acts=[says(409, "unknown_suite", "gone")] * 100)
    (reward,) = ask(fake, prompt())
    assert (reward.is_fault, reward.reason) == (True, "given_up: 409 unknown_suite gone")


def test_a_groups_samples_are_put_to_the_same_tests() -> None:
    async def work(fake: FakeService) -> None:
        port = free_port()
        async with fake.running(port), grading(configured(f"http://127.0.0.1:{port}", reward={"tests": 1})) as grader:
            for name in ("run.x.1.0", "run.x.1.15", "run.y.1.0", "run.x.2.0"):
                await grader.grade(name, prompt(), completion())
            await grader.grade("run.x.1.0", prompt("q"), completion())
            await grader.grade("run.held_out.0", prompt(), completion(), all_tests=True)

    run(work(fake := FakeService()))
    *some, whole = fake.asked
    assert whole.get("sample") is None
    one, same, restarted, later, other = [each["sample"]["seed"] for each in some[1:]]
    assert all(each["sample"]["count"] == 1 for each in some)
    assert one == same == restarted
    assert len({one, later, other}) == 3


def test_no_more_are_asked_at_once_than_is_said() -> None:
    async def work(fake: FakeService) -> None:
        port = free_port()
        said = configured(f"http://127.0.0.1:{port}", reward={"concurrency": 3})
        async with fake.running(port), grading(said) as grader:
            await asyncio.gather(*(grader.grade(f"run.x.{each}.0", prompt(), completion()) for each in range(12)))

    run(work(fake := FakeService(acts=[sleeps(0.02)] * 12)))
    assert fake.busiest == 3


def test_half_a_character_is_no_reason_to_stop() -> None:
    async def work(fake: FakeService) -> Any:
        port = free_port()
        async with fake.running(port), grading(configured(f"http://127.0.0.1:{port}")) as grader:
            return await grader.grade("run.x.1.0", prompt(), completion("a\ud800b"))

    assert run(work(fake := FakeService())).value == 1.0
    assert fake.asked[-1]["completion"] == "a?b"


# --- no verdict


def test_no_verdict_is_no_reward() -> None:
    (reward,) = ask(FakeService(acts=[answers(FAULT)]), prompt())
    assert (reward.value, reward.verdict, reward.reason) == (None, "IE", "sandbox: died")


def test_a_reward_beside_a_fault_is_not_believed() -> None:
    (reward,) = ask(FakeService(acts=[answers(FAULT | {"reward": 0.0})]), prompt())
    assert reward.value is None


@pytest.mark.parametrize("kind", ["suite_lost", "forgotten"])
def test_what_the_service_lost_is_sent_again(kind: str) -> None:
    fake = FakeService(acts=[answers(FAULT | {"failure_kind": kind})] * 2)
    (reward,) = ask(fake, prompt())
    assert reward.value == 1.0
    assert fake.puts == (3 if kind == "suite_lost" else 1)


def test_a_service_that_fails_at_one_sample_loses_only_that() -> None:
    fake = FakeService(acts=[says(500, "internal_error", "a defect")] * TRIES)
    lost, fine = ask(fake, prompt(), prompt())
    assert (lost.is_fault, lost.reason) == (True, "given_up: 500 internal_error a defect")
    assert fake.puts == 1, "the tests were not at fault"
    assert fine.value == 1.0


# --- what is made of it


@pytest.mark.parametrize(
    ("tokens", "penalty"),
    [(0, 0.0), (16384, 0.0), (16385, -1 / 4096), (17408, -0.25), (18432, -0.5), (20480, -1.0), (30000, -1.0)],
)
def test_overlong_is_dapos(tokens: int, penalty: float) -> None:
    assert overlong(tokens, 20480, RewardService(overlong_buffer=4096)) == penalty
    assert overlong(tokens, 20480, RewardService(overlong_buffer=4096, overlong_factor=0.5)) == penalty / 2


def test_overlong_is_archers_and_can_be_off() -> None:
    archers = RewardService(overlong_buffer=16)
    assert [overlong(tokens, 32768, archers) for tokens in (32752, 32756, 32768)] == [0.0, -0.25, -1.0]
    assert overlong(32768, 32768, RewardService()) == 0.0


def episode(value: float | None, tokens: int = 10, is_truncated: bool = False) -> Episode:
    return Episode(prompt(), completion("", tokens, is_truncated), Reward(value))


def test_a_sample_without_a_verdict_is_masked_and_no_other() -> None:
    group = build_group([episode(None), episode(0.0), episode(1.0, is_truncated=True)], configured())
    assert [each.is_masked for each in group.episodes] == [True, False, False]
    assert not any(each.is_silenced for each in group.episodes)
    assert group.prompt.id == "p"


def test_the_filter_silence_is_of_what_is_cut_and_wrong() -> None:
    episodes = [
        episode(value, is_truncated=cut) for value, cut in ((0.0, True), (0.0, False), (1.0, True), (-1.0, True))
    ]
    group = build_group(episodes, configured(reward={"overlong_filter": "silence"}))
    assert [each.is_silenced for each in group.episodes] == [True, False, False, True]
    assert not any(each.is_masked for each in group.episodes)


def test_the_filter_mask_is_of_all_that_is_cut() -> None:
    episodes = [episode(0.0, is_truncated=True), episode(1.0, is_truncated=True), episode(0.0)]
    group = build_group(episodes, configured(reward={"overlong_filter": "mask"}))
    assert [each.is_masked for each in group.episodes] == [True, True, False]
    assert not any(each.is_silenced for each in group.episodes)


def test_the_penalty_is_of_the_room_that_the_response_had() -> None:
    said: dict[str, Any] = {"reward": {"overlong_buffer": 10, "overlong_factor": 2.0}}
    at_most = configured(**said, rollout={"max_tokens": 100})
    group = build_group([episode(1.0, 90), episode(1.0, 95), episode(1.0, 100)], at_most)
    assert [each.total for each in group.episodes] == [1.0, 0.0, -1.0]
    cramped = configured(
        **said, data={"train": ["d"], "max_prompt_tokens": 9}, rollout={"max_tokens": 100, "max_model_len": 83}
    )  # the prompt has 3
    assert build_group([episode(1.0, 75)], cramped).episodes[0].penalty == -1.0


def test_a_penalty_does_not_make_a_flat_group_another() -> None:
    group = build_group(
        [episode(1.0, 10), episode(1.0, 100)], configured(reward={"overlong_buffer": 50}, rollout={"max_tokens": 100})
    )
    assert group.is_flat
    assert group.episodes[0].total != group.episodes[1].total


# --- the real one


def test_the_real_service_pays_for_what_is_right(service: str) -> None:
    async def work() -> list[Reward]:
        texts = ["```python\nprint(3)\n```", "```python\nprint(4)\n```", "no program", "```python\nprint(\n```"]
        async with grading(configured(service, name="real", reward={"patience_seconds": 60.0, "tests": 1})) as grader:
            return await asyncio.gather(
                *(
                    grader.grade(f"real.{service}.1.{place}", prompt(), completion(text))
                    for place, text in enumerate(texts)
                )
            )

    rewards: list[Reward] = run(work())
    assert [(each.value, each.verdict) for each in rewards] == [(1.0, "AC"), (0.0, "WA"), (0.0, "CE"), (0.0, "CE")]
    assert [each.has_program for each in rewards] == [True, True, False, True]


def test_the_real_service_refuses_what_is_wrong(service: str) -> None:
    async def work(problem: Prompt) -> None:
        async with grading(configured(service, name="real")) as grader:
            await grader.grade("real.refused.1.0", problem, completion())

    with pytest.raises(ConfigError, match=r"refuses problem 'p': 422 "):
        run(work(prompt(tests=TESTS, limits={"cpu_seconds": 1e9})))
    with pytest.raises(ConfigError, match="does not know its suite"):
        run(work(prompt(suite="sha256:" + "0" * 64)))
