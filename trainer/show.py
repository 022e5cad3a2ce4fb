"""Prints the kept samples of a run: `proctor train --show RUN`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from trainer.errors import ConfigError
from trainer.rollouts import ROLLOUTS, read

SHOWN = 10

Range = tuple[float, float]


def main(arguments: Sequence[str], console: Console | None = None) -> None:
    """Print the samples that the arguments of the command line select, the newest last.

    Raises:
        ConfigError: The run has no samples, or none is selected.
    """
    options = _parser().parse_args(arguments)
    found = [line for line in read(options.show) if _is_wanted(line, options)]
    if not found:
        raise ConfigError(f"no such samples in {options.show / ROLLOUTS} (watch.rollouts selects what is kept)")
    console = console or Console(soft_wrap=True)
    prompt = ""
    for line in found[-options.limit :]:
        console.print(Rule(_title(line), align="left"))
        if line["prompt"] != prompt:  # samples of a group follow each other
            prompt = line["prompt"]
            console.print(Text(prompt, style="dim"))
        console.print(Text(line["completion"]))
    console.print(Rule())
    console.print(_summary(found, options.limit), markup=False, highlight=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="proctor train", description="Print the samples that a run has kept.")
    add = parser.add_argument
    add("--show", type=Path, required=True, metavar="RUN", help="the run's folder")
    add("--step", type=_range, metavar="FROM[..TO]", help="only of these steps")
    add("--reward", type=_range, metavar="FROM[..TO]", help="only with a reward in this range")
    add("--verdict", metavar="WA", help="only with this verdict")
    add("--role", choices=("solver", "tester"), help="only of this role, in a duel")
    add("--problem", metavar="ID", help="only of this problem")
    add("--limit", type=int, default=SHOWN, help=f"the newest so many; default: {SHOWN}")
    return parser


def _range(text: str) -> Range:
    """Parse `3`, `3..9`, `..9` or `3..`."""
    low, dots, high = text.partition("..")
    return float(low or -math.inf), float(high or math.inf) if dots else float(low)


def _is_wanted(line: Mapping[str, Any], options: argparse.Namespace) -> bool:
    return all(
        (
            _is_within(line["step"], options.step),
            _is_within(line["reward"], options.reward),
            options.verdict in (None, line["verdict"]),
            options.role in (None, line["role"]),
            options.problem in (None, line["problem"]),
        )
    )


def _is_within(value: float | None, allowed: Range | None) -> bool:
    return allowed is None or (value is not None and allowed[0] <= value <= allowed[1])


def _title(line: Mapping[str, Any]) -> Text:
    return Text(" · ".join(_parts(line)), style="bold green" if (line["advantage"] or 0) > 0 else "bold")


def _parts(line: Mapping[str, Any]) -> Iterator[str]:
    yield f"step {line['step']}"
    yield str(line["problem"])
    yield str(line["role"])
    if line["verdict"]:
        yield str(line["verdict"])
    yield f"reward {'none' if line['reward'] is None else format(line['reward'], '.3g')}"
    if line["penalty"]:
        yield f"penalty {line['penalty']:.3g}"
    if line["advantage"] is not None:
        yield f"advantage {line['advantage']:+.2f}"
    yield f"{line['tokens']} tokens" + (", truncated" if line["truncated"] else "")
    if line["reason"]:
        yield str(line["reason"])


def _summary(found: Sequence[Mapping[str, Any]], limit: int) -> str:
    rewards = [line["reward"] for line in found if line["reward"] is not None]
    mean = f", mean reward {sum(rewards) / len(rewards):.3f}" if rewards else ""
    return f"{min(limit, len(found))} of {len(found)} samples{mean}"
