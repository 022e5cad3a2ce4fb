"""Runs in OpenRLHF's environment: its own executor and sample generator make experiences from answers.

vLLM is not needed: the engine gives scripted answers, and an empty module lets OpenRLHF import vLLM. Input: the source
of rewards, prompts with their label and answers, and whether groups are filtered. Output: the rewards and scores of
each remaining group, or the exception.
"""

# mypy: ignore-errors

import asyncio
import importlib.machinery
import os
import sys
import types
from types import SimpleNamespace

from asked import answer_all
from tiny import tokenizer


def absent(name, **contents):
    """A module that is not installed."""
    module = types.ModuleType(name)
    module.__dict__.update(contents, __spec__=importlib.machinery.ModuleSpec(name, None), __path__=[])
    sys.modules[name] = module


absent("vllm", SamplingParams=SimpleNamespace)
absent("vllm.inputs", TokensPrompt=dict)
absent("vllm.utils", random_uuid=None)

from openrlhf.trainer.ppo_utils import samples_generator  # noqa: E402
from openrlhf.utils.agent import SingleTurnAgentExecutor  # noqa: E402

TOKENIZER = tokenizer()
LENGTH = 4096


class Engine:
    """Gives one scripted answer."""

    def __init__(self, answer):
        self._answer = answer

    async def generate(self, *_, **__):
        tokens = [*TOKENIZER.encode(self._answer), TOKENIZER.eos_token_id]
        output = SimpleNamespace(token_ids=tokens, text=self._answer, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


class Near:
    """The parts of Ray that the generator needs, in one process."""

    @staticmethod
    def wait(pending, num_returns, **_):
        return pending[:num_returns], pending[num_returns:]

    @staticmethod
    def get(group):
        return group


async def group_of(executor, asked):
    """Return the responses to a prompt in the form of OpenRLHF's rollout actor."""
    sampling = SimpleNamespace(max_tokens=LENGTH // 2, logprobs=None)
    return await asyncio.gather(
        *(
            executor.execute(asked["prompt"], asked["label"], sampling, LENGTH, TOKENIZER, Engine(answer))
            for answer in asked["answers"]
        )
    )


class Generator(samples_generator.SamplesGenerator):
    """OpenRLHF's generator with given responses in place of vLLM's."""

    def __init__(self, groups):
        self._groups = groups
        self.args = SimpleNamespace(algo=SimpleNamespace(dynamic_filtering_range=[0.0, 1.0]))

    def _dispatch_prompts_to_vllm(self, prompts, *_, **__):
        return [self._groups[int(prompt)] for prompt in prompts]


async def all_groups(executor, groups):
    return await asyncio.gather(*(group_of(executor, each) for each in groups))


def answer(asked):
    os.environ.update(asked.get("environment", {}))
    samples_generator.ray = Near
    executor = SingleTurnAgentExecutor(asked["rewards"])
    groups = asyncio.run(all_groups(executor, asked["groups"]))
    prompts = iter([(None, [str(index)], [None], [None]) for index in range(len(groups))])
    count = asked.get("wanted", len(groups))
    try:
        experiences, consumed, _ = Generator(groups)._generate_vllm(prompts, count, asked.get("filtering", False))
    except Exception as error:  # noqa: BLE001 - whatever it is, the run would end with it
        return {"raised": f"{type(error).__name__}: {error}"}
    return {"consumed": consumed, "experiences": [said(each) for each in experiences]}


def said(experience):
    """Return the relevant parts of an experience; None is what ends OpenRLHF's run."""
    rewards, scores = experience.rewards, experience.scores
    return {
        "reward": None if rewards is None else rewards.item(),
        "score": None if scores is None else scores[0].item(),
        "logs": {name: value.item() for name, value in experience.info.items()},
    }


if __name__ == "__main__":
    answer_all(answer)
