"""Reports a run: metrics.jsonl, an HTML page, TensorBoard, optionally Weights & Biases, and the terminal.

`metrics.jsonl` is authoritative: one line a step, flushed at once. Everything else shows the same figures, which
`metrics` and `train` compute.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from trainer import page
from trainer.clock import NAMES, Clock
from trainer.config import Config
from trainer.errors import ConfigError

METRICS = "metrics.jsonl"
PAGE = "page.html"
PAGE_SECONDS = 30.0  # the least interval between two writes of the page


class Sink(Protocol):
    """A further destination of figures."""

    def step(self, step: int, figures: Mapping[str, float | None]) -> None:
        """Receive the figures of a step; None for values that are not finite."""
        ...

    def close(self) -> None:
        """Finish."""
        ...


class Report:
    """The report of one run, on rank 0. `done`: the step of the checkpoint that is resumed, 0 for a new run.

    Lines of later steps, which will run again, are removed from the file.
    """

    def __init__(self, config: Config, done: int = 0, console: Console | None = None) -> None:
        self._config = config
        config.folder.mkdir(parents=True, exist_ok=True)
        self._sinks: list[Sink] = [_Wandb(config)] if config.watch.wandb else []
        self._terminal = _Terminal(config, done, console or Console(stderr=True))
        if config.watch.tensorboard:
            self._sinks += _tensorboard(config.folder, done, self.notice)
        keep_steps(config.folder / METRICS, done)
        self._rows: list[Mapping[str, Any]] = [*lines(config.folder / METRICS)]
        self._file = (config.folder / METRICS).open("a", encoding="utf-8")
        self._seconds: Counter[str] = Counter()
        self._page_written = -math.inf

    def notice(self, text: str) -> None:
        """Print a line of text on the terminal. Thread-safe."""
        self._terminal.say(text)

    def step(self, step: int, figures: Mapping[str, float], clock: Clock) -> None:
        """Report a step: its figures by name, and its time by the clock."""
        seconds = clock.seconds()
        self._seconds.update(seconds)
        row = _finite({**figures, "step_seconds": sum(seconds.values()), **_named(seconds)})
        self._write({"step": step, "time": round(time.time(), 3), **row})
        for sink in self._sinks:
            sink.step(step, row)
        self._terminal.step(step, row)
        if time.monotonic() - self._page_written >= PAGE_SECONDS:
            self._write_page()

    def close(self) -> None:
        """Write the page a last time and print where the time went."""
        if self._file.closed:
            return
        self._file.close()
        self._write_page()
        for sink in self._sinks:
            sink.close()
        self._terminal.close()
        if self._seconds:
            self.notice(where_the_time_went(self._seconds))

    def _write(self, row: Mapping[str, Any]) -> None:
        self._rows.append(row)
        self._file.write(json.dumps(row, allow_nan=False) + "\n")
        self._file.flush()

    def _write_page(self) -> None:
        page.write(self._config.folder / PAGE, self._rows, self._config.model_dump(mode="json"))
        self._page_written = time.monotonic()


def where_the_time_went(seconds: Mapping[str, float]) -> str:
    """Return one line with the shares of the total time, from seconds by name."""
    total = sum(seconds.values()) or 1.0
    shares = [f"{name} {seconds[name] / total:.0%}" for name in _in_order(seconds) if seconds[name] > 0]
    return f"{_duration(sum(seconds.values()))}: " + " · ".join(shares)


class _Terminal:
    """A progress bar on a terminal, otherwise one line a step."""

    def __init__(self, config: Config, done: int, console: Console) -> None:
        self._console = console
        self._steps = config.steps
        self._bar: Progress | None = None
        self._task = TaskID(0)
        if config.watch.bar and console.is_terminal:
            self._bar = _progress(console)
            self._task = self._bar.add_task("", total=config.steps, completed=done, status_line="")
            self._bar.start()

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def step(self, step: int, row: Mapping[str, float | None]) -> None:
        status_line = " · ".join(
            f"{label} {value:{form}}"
            for name, label, form in (
                ("reward", "reward", ".3f"),
                ("pass_rate", "passed", ".1%"),
                ("step_seconds", "s/step", ".3g"),
            )
            if (value := row.get(name)) is not None
        )
        if self._bar is None:
            self.say(f"step {step}/{self._steps} · {status_line}")
        else:
            self._bar.update(self._task, completed=step, status_line=status_line)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("step"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.fields[status_line]}"),
        TextColumn("· left"),
        TimeRemainingColumn(),
        console=console,
    )


class _TensorBoard:
    """Writes event files to the run's folder."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def step(self, step: int, figures: Mapping[str, float | None]) -> None:
        for name, value in figures.items():
            if value is not None:
                self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _tensorboard(folder: Path, done: int, notice: Any) -> list[Sink]:
    """Return the TensorBoard sink; none if the package is missing, because it is on by default."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        notice("no TensorBoard: pip install tensorboard, or set watch.tensorboard = false")
        return []
    return [_TensorBoard(SummaryWriter(str(folder / "tensorboard"), purge_step=done + 1))]


class _Wandb:
    """Sends figures to Weights & Biases."""

    def __init__(self, config: Config) -> None:
        self._run = _import_wandb().init(
            project=config.watch.wandb, name=config.name, dir=str(config.folder), config=config.model_dump(mode="json")
        )

    def step(self, step: int, figures: Mapping[str, float | None]) -> None:
        self._run.log({name: value for name, value in figures.items() if value is not None}, step=step)

    def close(self) -> None:
        self._run.finish()


def _import_wandb() -> ModuleType:
    try:
        return importlib.import_module("wandb")
    except ImportError:
        raise ConfigError(
            "watch.wandb names a project, but wandb is not installed: pip install wandb, or leave watch.wandb empty"
        ) from None


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, none if it does not exist. An incomplete last line is ignored."""
    if path.exists():
        with path.open(encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.endswith("\n"))


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a metrics file."""
    return list(lines(path))


def keep_steps(path: Path, done: int) -> None:
    """Remove the lines of steps after `done`, which will run again, and an incomplete last line from a file (path)."""
    if path.exists():
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        with unfinished.open("w", encoding="utf-8") as new:
            new.writelines(json.dumps(row) + "\n" for row in lines(path) if row["step"] <= done)
        unfinished.replace(path)


def _named(seconds: Mapping[str, float]) -> dict[str, float]:
    return {f"seconds_{name}": seconds[name] for name in _in_order(seconds)}


def _in_order(seconds: Mapping[str, float]) -> list[str]:
    return sorted(seconds, key=lambda name: (NAMES.index(name) if name in NAMES else len(NAMES), name))


def _finite(figures: Mapping[str, float]) -> dict[str, float | None]:
    """Replace NaN and infinity, which JSON does not have, by None."""
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def _duration(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{seconds:.1f} s"
