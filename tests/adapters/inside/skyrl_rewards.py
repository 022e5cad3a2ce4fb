"""Runs in SkyRL's environment: skyrl-agent's verifier for programs, and an environment of skyrl-gym.

skyrl-agent is a folder beside the packages; its verifier is imported without the agents, which need a GPU. It only
knows port 8080; a question mark in the server's name turns the address into ours.
"""

# mypy: ignore-errors

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import skyrl
import skyrl_gym
from asked import answer_all

sys.path.append(str(Path(skyrl.__file__).parents[1] / "skyrl-agent" / "skyrl_agent" / "tasks" / "verifiers"))
os.environ["CODER1_EXEC"] = "sandboxfusion"

import coder1

skyrl_gym.register(
    id="proctor", entry_point="sandbox_service.adapters.skyrl:CodeEnv", kwargs={"limits": {"cpu_seconds": 1}}
)


def verified(sample):
    return coder1.compute_score(sample["answer"], json.dumps(sample["truth"]), {})["score"]


def stepped(sample, url):
    environment = skyrl_gym.make(
        "proctor",
        env_config={},
        url=url,
        extras={"reward_spec": {"ground_truth": json.dumps(sample["truth"])}},
    )
    environment.init([{"role": "user", "content": "add"}])
    try:
        said = environment.step(sample["answer"])
    except Exception as error:  # noqa: BLE001 - whatever it is, SkyRL would see it
        return f"{type(error).__name__}: {error}"
    assert said["done"]
    return said["reward"]


def answer(asked):
    os.environ["SANDBOX_FUSION_SERVERS"] = asked["url"].removeprefix("http://") + "/run_code?"
    with ThreadPoolExecutor(16) as threads:
        if asked["means"] == "verifier":
            return list(threads.map(verified, asked["samples"]))
        return list(threads.map(lambda sample: stepped(sample, asked["url"]), asked["samples"]))


if __name__ == "__main__":
    answer_all(answer)
