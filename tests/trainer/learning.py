"""`python -m tests.trainer.learning SABOTAGE CONFIG`: a run of the trainer, unmodified or with one defect."""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from trainer import __main__, batch
from trainer.episode import Completion, Prompt, Reward
from trainer.reward import Grader
from trainer.vllm_ext import Extension


def no_advantages() -> None:
    """Every episode is worth the same."""
    patch.object(batch, "advantages", lambda _, rewards: [0.0] * len(rewards)).start()


def no_sync() -> None:
    """Nothing is loaded: vLLM receives the weights, says so, and goes on as before. What it holds is its own word."""

    def pretend(_: Any, weights: Any) -> None:
        for _ in weights:
            pass

    patch.object(Extension, "_proctor_load", pretend).start()
    patch.object(Extension, "_proctor_held", lambda _, received: received.plain).start()


def shuffled_rewards() -> None:
    """Each sample gets the reward of one of the last few hundred."""
    grade = Grader.grade
    last: deque[Reward] = deque(maxlen=512)
    draw = random.Random(0)

    async def wrong(self: Grader, name: str, prompt: Prompt, completion: Completion) -> Reward:
        last.append(await grade(self, name, prompt, completion))
        return draw.choice(last)

    patch.object(Grader, "grade", wrong).start()


def nothing() -> None:
    """As it is."""


SABOTAGE = {each.__name__: each for each in (nothing, no_advantages, no_sync, shuffled_rewards)}


def main(arguments: Sequence[str]) -> int:
    SABOTAGE[arguments[0]]()
    return __main__.main(list(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
