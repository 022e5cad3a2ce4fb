"""Runs in AReaL's environment: its single-turn workflow runs episodes with our class in place of its reward function.

The engine gives scripted answers. Output: per episode the reward in AReaL's tensors, or null where the workflow
returned None, which AReaL rejects.
"""

# mypy: ignore-errors

import asyncio
import os

from areal.api.cli_args import GenerationHyperparameters
from areal.api.io_struct import ModelResponse
from asked import answer_all
from tiny import tokenizer

from sandbox_service.adapters.areal import CodeWorkflow

WORDS = tokenizer()


class Engine:
    """Gives one scripted answer."""

    def __init__(self, answer):
        self._tokens = [*WORDS.encode(answer), WORDS.eos_token_id]

    async def agenerate(self, request):
        count = len(self._tokens)
        return ModelResponse(
            input_tokens=request.input_ids,
            output_tokens=self._tokens,
            output_logprobs=[0.0] * count,
            output_versions=[0] * count,
            stop_reason="stop",
            tokenizer=WORDS,
        )


def prompt_tokens(data, words, enable_thinking):
    return words.encode(data)


def prompt_of(data):
    return data["prompt"]


async def episode(asked):
    workflow = CodeWorkflow(
        GenerationHyperparameters(max_new_tokens=512),
        WORDS,
        get_input_ids_fn=prompt_tokens,
        data_extract_prompt_fn=prompt_of,
        options={"limits": {"cpu_seconds": 1}},
    )
    tensors = await workflow.arun_episode(Engine(asked["answer"]), {"prompt": "add", "tests": asked["truth"]})
    return None if tensors is None else tensors["rewards"].item()


async def episodes(samples):
    return await asyncio.gather(*map(episode, samples))


def answer(asked):
    os.environ["PROCTOR_URL"] = asked["url"]
    return asyncio.run(episodes(asked["samples"]))


if __name__ == "__main__":
    answer_all(answer)
