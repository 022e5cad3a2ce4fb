"""Stores groups of samples as arrays and a JSON index: a batch may have millions of tokens, for which JSON is too slow.

Token ids and log-probabilities of all responses are end to end, in full precision. The prompts are stored by their id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from trainer.episode import Completion, Episode, Group, Prompt, Reward

INDEX, ARRAYS = "groups.json", "groups.npz"
COLUMNS = ("ids", "logprobs")
PLAIN = [each.name for each in fields(Completion) if each.name not in COLUMNS]


def write_groups(folder: Path, groups: Sequence[Group]) -> None:
    """Write groups to two files of a folder.

    Raises:
        OSError: Writing failed.
    """
    completions = [episode.completion for group in groups for episode in group.episodes]
    ends = np.cumsum([0, *(len(each.ids) for each in completions)])
    np.savez(
        folder / ARRAYS,
        ends=ends,
        ids=_joined([each.ids for each in completions], np.int64),
        logprobs=_joined([each.logprobs for each in completions], np.float64),
    )
    (folder / INDEX).write_text(json.dumps([_entry(group) for group in groups]))


def read_groups(folder: Path, prompt: Callable[[str], Prompt]) -> list[Group]:
    """Return the groups that `write_groups` wrote, none if the folder has none; `prompt` returns the prompt of an id.

    Raises:
        OSError: A file cannot be read.
    """
    if not (folder / INDEX).exists():
        return []
    with np.load(folder / ARRAYS) as arrays:
        columns = {name: arrays[name].tolist() for name in (*COLUMNS, "ends")}
    spans = iter([slice(*span) for span in pairwise(columns["ends"])])
    groups = []
    for entry in json.loads((folder / INDEX).read_text()):
        own = prompt(entry["prompt"])
        episodes = [_episode(each, own, columns, next(spans)) for each in entry["episodes"]]
        groups.append(Group(own, episodes, entry["number"]))
    return groups


def _joined(columns: Sequence[Sequence[float]], dtype: Any) -> Any:
    return np.concatenate([np.empty(0, dtype), *(np.asarray(each, dtype) for each in columns)])


def _entry(group: Group) -> dict[str, Any]:
    return {"prompt": group.prompt.id, "number": group.number, "episodes": [_plain(each) for each in group.episodes]}


def _plain(episode: Episode) -> dict[str, Any]:
    """Return all fields of an episode but its prompt and its arrays."""
    return {
        "completion": {name: getattr(episode.completion, name) for name in PLAIN},
        "reward": asdict(episode.reward),
        "penalty": episode.penalty,
        "is_masked": episode.is_masked,
        "is_silenced": episode.is_silenced,
        "role": episode.role,
    }


def _episode(entry: dict[str, Any], prompt: Prompt, columns: dict[str, list[Any]], span: slice) -> Episode:
    completion = Completion(ids=columns["ids"][span], logprobs=columns["logprobs"][span], **entry["completion"])
    rest = {name: entry[name] for name in ("penalty", "is_masked", "is_silenced", "role")}
    prompt = prompt.tester or prompt if entry["role"] == "tester" else prompt
    return Episode(prompt, completion, Reward(**entry["reward"]), **rest)
