"""Runs in verifiers' environment: tasks score traces with our function, configured as documented."""

# mypy: ignore-errors

import asyncio
import os

import verifiers.v1 as vf
from asked import answer_all


class Data(vf.TaskData):
    """The data of a task set."""

    tests: object


class Adding(vf.Task[Data, vf.State, vf.TaskConfig]):
    """A task without a reward of its own."""


CONFIGURATION = {"rewards": {"proctor": {"fn": "sandbox_service.adapters.verifiers:reward"}}}


async def scored(sample):
    """Score a trace as verifiers' rollout does: an error is recorded on it."""
    task = Adding(Data(prompt="add", tests=sample["truth"]), vf.TaskConfig.model_validate(CONFIGURATION))
    begun = {"rewards": {}, "metrics": {}, "errors": [], "calls": [], "nodes": [], "stop_condition": None}
    trace = vf.Trace.model_construct(root_reply=sample["answer"], is_completed=False, ok=False, **begun)
    try:
        await task.score(trace)
    except vf.RolloutError as error:
        trace.record_error(error)
    scores = {name: None if reward is None else reward.value for name, reward in trace.rewards.items()}
    return {"rewards": scores, "error": trace.errors[-1].type if trace.errors else None}


async def all_scored(samples):
    return await asyncio.gather(*map(scored, samples))


def answer(asked):
    os.environ["PROCTOR_URL"] = asked["url"]
    return asyncio.run(all_scored(asked["samples"]))


if __name__ == "__main__":
    answer_all(answer)
