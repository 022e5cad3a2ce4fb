"""Runs in verl's environment: verl's own reward worker scores answers with its own configuration.

Input: overrides of verl's configuration, and samples of `answer`, `truth`, `source`. Output: the score and logs of
each, or the exception; and verl's advantages of a group in which one score is NaN.
"""

# mypy: ignore-errors

import asyncio
import tempfile

import numpy as np
import torch
from asked import answer_all
from hydra import compose, initialize_config_module
from tensordict import TensorDict
from tiny import tokenizer
from verl import DataProto
from verl.experimental.reward_loop.reward_loop import RewardLoopWorker
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage


def worker(overrides):
    """Return a worker as verl's controller makes it, without Ray."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer().save_pretrained(folder)
        with initialize_config_module("verl.trainer.config", version_base=None):
            config = compose("ppo_trainer", [f"actor_rollout_ref.model.path={folder}", *overrides])
        return RewardLoopWorker(config)


def sample(asked):
    """Return a finished rollout as an agent loop passes it on."""
    response = torch.tensor([tokenizer().encode(asked["answer"])])
    batch = TensorDict({"responses": response, "attention_mask": torch.ones_like(response)}, batch_size=1)
    about = {"data_source": asked["source"], "reward_model": {"ground_truth": asked["truth"]}, "extra_info": {}}
    columns = {name: np.array([value], dtype=object) for name, value in about.items()}
    return DataProto(batch=batch, non_tensor_batch=columns)


async def score(worker, asked):
    try:
        said = await worker.compute_score(sample(asked))
    except Exception as error:  # noqa: BLE001 - whatever it is, verl would see it
        return {"raised": f"{type(error).__name__}: {error}"}
    return {"score": said["reward_score"], "logged": said["reward_extra_info"]}


async def main(asked):
    rewards = worker(asked["overrides"])
    return await asyncio.gather(*(score(rewards, each) for each in asked["samples"]))


def advantages(scores):
    """Return the advantages of one group."""
    rewards, names = torch.tensor([[each] for each in scores]), np.array(["group"] * len(scores))
    return compute_grpo_outcome_advantage(rewards, torch.ones_like(rewards), names)[0].flatten().tolist()


def answer(asked):
    said = asyncio.run(main(asked))
    return {"samples": said, "advantages": [str(each) for each in advantages([1.0, 0.0, float("nan")])]}


if __name__ == "__main__":
    answer_all(answer)
