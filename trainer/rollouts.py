"""Keeps samples of a run for people to read, a line each: `rollouts.jsonl`, and the older `rollouts.old.jsonl`.

A file becomes the older one when it has half of `watch.rollouts_bytes`. `proctor train --show RUN` prints them.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from trainer.batch import Trained
from trainer.collect import Batch
from trainer.config import Config
from trainer.episode import Episode, Prompt
from trainer.report import PatientFile, keep_steps, lines

ROLLOUTS, OLDER = "rollouts.jsonl", "rollouts.old.jsonl"
SAMPLED_GROUPS = 2  # of a step


class Rollouts:
    """The files of one run, on rank 0. `done`: the step of the checkpoint that is resumed; later lines are removed."""

    def __init__(self, config: Config, done: int = 0, notice: Callable[[str], None] = print) -> None:
        self._config = config
        self._notice = notice
        self._path = config.folder / ROLLOUTS
        for path in (self._path, config.folder / OLDER):
            keep_steps(path, done)
        self._file = PatientFile(self._path, notice)

    def write(
        self, step: int, batch: Batch, trained: Sequence[Sequence[Trained]], decode: Callable[[Prompt], str]
    ) -> None:
        """Append episodes of a step's batch, with the advantages of those that train; `decode` makes prompts text."""
        worth = {id(episode): advantage for group in trained for episode, advantage in group}
        groups = batch.sampled
        spread = max(1, math.ceil(len(groups) / SAMPLED_GROUPS))  # over the batch, which is sorted by age
        chosen = {"none": [], "sampled": groups[::spread], "all": groups}[self._config.watch.rollouts]
        episodes = [each for group in chosen for each in group.episodes]
        rows = (_line(step, each, worth.get(id(each)), decode(each.prompt)) for each in episodes)
        size = self._file.append("".join(json.dumps(line) + "\n" for line in rows))
        if 2 * size >= self._config.watch.rollouts_bytes:
            self._file.close()
            self._path.replace(self._path.with_name(OLDER))
            self._file = PatientFile(self._path, self._notice)

    def close(self) -> None:
        self._file.close()


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the kept samples of a run, oldest first."""
    yield from (*lines(folder / OLDER), *lines(folder / ROLLOUTS))


def _line(step: int, episode: Episode, advantage: float | None, prompt: str) -> dict[str, Any]:
    reward, completion = episode.reward, episode.completion
    return {
        "step": step,
        "problem": episode.prompt.id,
        "role": episode.role,
        "prompt": prompt,
        "completion": completion.text,
        "verdict": reward.verdict,
        "reason": reward.reason,
        "reward": reward.value,
        "penalty": episode.penalty,
        "advantage": advantage,  # None: the sample does not train
        "prompt_tokens": len(episode.prompt.ids),
        "tokens": len(completion.ids),
        "truncated": completion.is_truncated,
        "masked": episode.is_masked,
        "version": completion.version,
        **({"figures": dict(reward.figures)} if reward.figures else {}),
    }
