"""Prints samples that a run has kept: `proctor train --show RUN`."""

import argparse
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from trainer.episode import ROLES
from trainer.errors import ConfigError
from trainer.rollouts import ROLLOUTS, read

SHOWN = 10  # samples that are printed by default


def main(arguments: Sequence[str], console: Console | None = None) -> None:
    """Print the samples that arguments of `proctor train --show` select, newest last. Raise ConfigError for none."""
    options = _parser().parse_args(arguments)
    found = [line for line in read(options.show) if _is_wanted(line, options)]
    if not found:
        raise ConfigError(f"no such samples in {options.show / ROLLOUTS} (watch.rollouts selects what is kept)")
    console, shown = console or Console(soft_wrap=True), found[-options.limit :]
    for before, line in zip([None, *shown], shown, strict=False):
        console.print(Rule(_title(line), align="left"))
        if not before or line["prompt"] != before["prompt"]:  # samples of a group follow each other
            console.print(Text(line["prompt"], style="dim"))
        console.print(Text(line["completion"]))
    console.print(Rule())
    rewards = [line["reward"] for line in found if line["reward"] is not None]
    mean = f", mean reward {fmean(rewards):.3f}" if rewards else ""
    console.print(f"{len(shown)} of {len(found)} samples{mean}", markup=False, highlight=False)


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
