"""Keeps samples of a run for people to read: `rollouts.jsonl`, and the older `rollouts.old.jsonl`.

One line an episode. `watch.rollouts` says which groups: by default two a step. A file is renamed to the older one,
which is deleted, when it has half of `watch.rollouts_bytes`. `proctor train --show RUN` prints them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from trainer.collect import Batch
from trainer.config import Config
from trainer.episode import ROLES, Episode, Group, Prompt
from trainer.errors import ConfigError
from trainer.report import keep_steps, lines
from trainer.reward import team_advantages

ROLLOUTS, OLDER = "rollouts.jsonl", "rollouts.old.jsonl"
SAMPLED_GROUPS = 2  # of a step
SHOWN = 10  # samples that are printed by default


class Rollouts:
    """The files of one run, on rank 0. `done`: the step of the checkpoint that is resumed; later lines are removed."""

    def __init__(self, config: Config, done: int = 0) -> None:
        self._config = config
        self._path = config.folder / ROLLOUTS
        for path in (self._path, config.folder / OLDER):
            keep_steps(path, done)
        self._file = self._path.open("a", encoding="utf-8")

    def write(self, step: int, batch: Batch, decode: Callable[[Prompt], str]) -> None:
        """Append the episodes of the batch that a step trains on; `decode` returns a prompt as text."""
        for group in _chosen(batch.sampled, self._config.watch.rollouts):
            for episode, advantage in _with_advantages(group, self._config.advantage.name):
                self._file.write(json.dumps(_line(step, group, episode, advantage, decode)) + "\n")
        self._file.flush()
        if 2 * self._file.tell() >= self._config.watch.rollouts_bytes:
            self._file.close()
            self._path.replace(self._path.with_name(OLDER))
            self._file = self._path.open("a", encoding="utf-8")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the kept samples of a run, oldest first. An incomplete last line is ignored."""
    for path in (folder / OLDER, folder / ROLLOUTS):
        yield from lines(path)


def _chosen(groups: Sequence[Group], which: str) -> Sequence[Group]:
    """Return the groups to keep; a sample of them is spread over the batch, which is sorted by age."""
    if which == "none" or not groups:
        return ()
    return groups if which == "all" else groups[:: -(-len(groups) // SAMPLED_GROUPS)]


def _with_advantages(group: Group, name: str) -> Iterator[tuple[Episode, float | None]]:
    """Yield episodes with their advantages, None for those of another policy."""
    for team in group.teams:
        yield from zip(team, team_advantages(team, name), strict=True)
    yield from ((each, None) for each in group.episodes if not each.is_own)


def _line(
    step: int, group: Group, episode: Episode, advantage: float | None, decode: Callable[[Prompt], str]
) -> dict[str, Any]:
    reward, completion = episode.reward, episode.completion
    return {
        "step": step,
        "problem": group.prompt.id,
        "role": episode.role,
        "prompt": decode(episode.prompt),
        "completion": completion.text,
        "verdict": reward.verdict,
        "reason": reward.reason,
        "reward": reward.value,
        "penalty": episode.penalty,
        "advantage": advantage,
        "prompt_tokens": len(episode.prompt.ids),
        "tokens": len(completion.ids),
        "truncated": completion.is_truncated,
        "masked": episode.is_masked,
        "version": completion.version,
        **({"figures": dict(reward.figures)} if reward.figures else {}),
    }


def main(arguments: Sequence[str], console: Console | None = None) -> None:
    """Print the samples that the arguments of `proctor train --show` select, the newest last.

    Raises:
        ConfigError: The run has no samples, or none is selected.
    """
    options = _parser().parse_args(arguments)
    found = [line for line in read(options.show) if _is_wanted(line, options)]
    if not found:
        raise ConfigError(f"no such samples in {options.show / ROLLOUTS} (watch.rollouts selects what is kept)")
    console, prompt = console or Console(soft_wrap=True), ""
    for line in found[-options.limit :]:
        console.print(Rule(_title(line), align="left"))
        if line["prompt"] != prompt:  # samples of a group follow each other
            prompt = line["prompt"]
            console.print(Text(prompt, style="dim"))
        console.print(Text(line["completion"]))
    console.print(Rule())
    rewards = [line["reward"] for line in found if line["reward"] is not None]
    mean = f", mean reward {fmean(rewards):.3f}" if rewards else ""
    console.print(f"{min(options.limit, len(found))} of {len(found)} samples{mean}", markup=False, highlight=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="proctor train", description="Print the samples that a run has kept.")
    add = parser.add_argument
    add("--show", type=Path, required=True, metavar="RUN", help="the run's folder")
    add("--step", type=_range, metavar="FROM[..TO]", help="only of these steps")
    add("--reward", type=_range, metavar="FROM[..TO]", help="only with a reward in this range")
    add("--verdict", metavar="WA", help="only with this verdict")
    add("--role", choices=ROLES, help="only of this role, in a duel")
    add("--problem", metavar="ID", help="only of this problem")
    add("--limit", type=int, default=SHOWN, help=f"the newest so many; default: {SHOWN}")
    return parser


def _range(text: str) -> tuple[float, float]:
    """Parse `3`, `3..9`, `..9` or `3..`."""
    low, dots, high = text.partition("..")
    return float(low or -inf), float(high or inf) if dots else float(low)


def _is_wanted(line: Mapping[str, Any], options: argparse.Namespace) -> bool:
    ranges = ((line[name], getattr(options, name)) for name in ("step", "reward"))
    return all(getattr(options, name) in (None, line[name]) for name in ("verdict", "role", "problem")) and all(
        wanted is None or (value is not None and wanted[0] <= value <= wanted[1]) for value, wanted in ranges
    )


def _title(line: Mapping[str, Any]) -> Text:
    parts = [
        f"step {line['step']}",
        line["problem"],
        line["role"],
        line["verdict"],
        f"reward {'none' if line['reward'] is None else format(line['reward'], '.3g')}",
        f"penalty {line['penalty']:.3g}" if line["penalty"] else "",
        "" if line["advantage"] is None else f"advantage {line['advantage']:+.2f}",
        f"{line['tokens']} tokens" + (", truncated" if line["truncated"] else ""),
        line["reason"],
    ]
    return Text(" · ".join(filter(None, parts)), style="bold green" if (line["advantage"] or 0) > 0 else "bold")
