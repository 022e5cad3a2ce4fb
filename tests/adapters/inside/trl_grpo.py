"""Runs in TRL's environment: a GRPOTrainer trains a tiny model, made on the spot, with rewards of the service.

Input: rows of a data set; the model's answers to each prompt, or an alphabet for answers of its own; the number of
steps.
Output: TRL's logs of each answer and of each step.
"""

# mypy: ignore-errors

import logging
import math
import pickle
import tempfile

import torch
from asked import answer_all
from tiny import tokenizer
from transformers import LlamaConfig, LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer

from datasets import Dataset
from sandbox_service.adapters.trl import CodeReward

GROUP = 4


def model(words):
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    ends = {"eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id, "bos_token_id": None}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(words), max_position_embeddings=2048, **size, **ends))


def scripted(answers, words):
    """Return a rollout function that gives the n-th answer for the n-th sample of a prompt."""

    def rollout(prompts, trainer):
        said = dict.fromkeys(answers, 0)
        completions = []
        for prompt in prompts:
            completions.append([*words.encode(answers[prompt][said[prompt] % GROUP]), words.eos_token_id])
            said[prompt] += 1
        return {"prompt_ids": [words.encode(each) for each in prompts], "completion_ids": completions, "logprobs": None}

    return rollout


def config(folder, asked):
    return GRPOConfig(
        output_dir=folder,
        use_cpu=True,
        bf16=False,
        max_steps=asked["steps"],
        per_device_train_batch_size=GROUP * len(asked["rows"]),
        num_generations=GROUP,
        learning_rate=asked.get("learning_rate", 1e-3),
        max_completion_length=asked.get("longest", 512),
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        log_completions=False,
        seed=0,
    )


def reward(asked):
    """Return the reward function after pickling, as in another process."""
    return pickle.loads(pickle.dumps(CodeReward(asked["url"], **asked.get("options", {}))))


def answer(asked):
    logging.disable(logging.WARNING)
    words = tokenizer(asked.get("alphabet"))
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model(words),
            reward_funcs=[reward(asked)],
            args=config(folder, asked),
            train_dataset=Dataset.from_list(asked["rows"]),
            processing_class=words,
            rollout_func=scripted(asked["answers"], words) if "answers" in asked else None,
        )
        trainer.train()
    return {
        "steps": [each for each in trainer.state.log_history if "loss" in each],
        "prompts": list(trainer._logs["prompt"]),
        "rewards": nulls(trainer._logs["rewards"]["proctor"]),
        "advantages": nulls(trainer._logs["advantages"]),
        "verdicts": list(trainer._logs["extra"]["proctor_verdict"]),
        "is_finite": all(bool(torch.isfinite(each).all()) for each in trainer.model.parameters()),
    }


def nulls(numbers):
    """Replace NaN by None for JSON."""
    return [None if math.isnan(each) else each for each in numbers]


if __name__ == "__main__":
    answer_all(answer)
