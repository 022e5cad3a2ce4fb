"""Reports a run: metrics.jsonl, TensorBoard, optionally Weights & Biases, and the terminal; and where the time goes.

`metrics.jsonl` is authoritative: one line a step, flushed at once. Everything else shows the same figures.
"""

import importlib
import json
import math
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from trainer.config import Config
from trainer.errors import ConfigError

METRICS = "metrics.jsonl"
LEFT_BYTES = 1 << 24  # of lines that wait for room on a full disk
STATUS = (("reward", "reward", ".3f"), ("pass_rate", "passed", ".1%"), ("step_seconds", "s/step", ".3g"))
SPANS = ("generate", "wait", "train", "sync", "evaluate", "save", "other")  # of a step's time, in their order

Sink = tuple[Callable[[int, Mapping[str, float]], None], Callable[[], None]]  # receives a step's figures; finishes


class Clock:
    """Measures a step's wall time by named spans of one thread, `with clock("sync"): …`, that add up to the step.

    The time of a nested span counts for the inner span only, and time outside all spans as "other". Sampling and
    grading overlap, so grading has no span: "wait" is the time from the end of the last sample to the last reward.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._name = "other"  # the innermost open span
        self.reset()

    def reset(self) -> None:
        self._since = self._now()
        self._seconds: dict[str, float] = defaultdict(float, other=0.0)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Measure a block as a span by its name."""
        outer = self._switch(name)
        try:
            yield
        finally:
            self._switch(outer)

    def count_as_wait(self, seconds: float) -> None:
        """Count some seconds of "generate", at most all of them, as "wait"."""
        moved = min(max(seconds, 0.0), self._seconds["generate"])
        self._seconds["generate"] -= moved
        self._seconds["wait"] += moved

    def seconds(self) -> dict[str, float]:
        """Return the seconds by name since the last reset."""
        self._switch(self._name)
        return dict(self._seconds)

    def _switch(self, name: str) -> str:
        """Count the time until now for the open span, open another one (name), and return the former."""
        now, former = self._now(), self._name
        self._seconds[former] += now - self._since
        self._since, self._name = now, name
        return former


class PatientFile:
    """A file of lines to append to, which a full disk does not end: what it could not take follows when there is room.

    At most about LEFT_BYTES wait; later lines are lost.
    """

    def __init__(self, path: Path, notice: Callable[[str], None]) -> None:
        self._path = path
        self._notice = notice
        self._file = path.open("ab", buffering=0)
        self._left = b""  # not written yet

    def append(self, text: str) -> int:
        """Write whole lines of text, and return the size of the file in bytes."""
        self._left += text.encode()
        try:
            while self._left:
                self._left = self._left[self._file.write(self._left) :]
        except OSError as error:
            self._left = self._left[: self._left.find(b"\n", LEFT_BYTES) + 1 or None]
            self._notice(f"{self._path} could not be written, the run continues: {error}")
        return self._file.tell()

    def close(self) -> None:
        self._file.close()


class Report:
    """The report of one run, on rank 0. `done`: the step of the checkpoint that is resumed, 0 for a new run.

    Lines of later steps, which will run again, are removed from the file.
    """

    def __init__(self, config: Config, done: int = 0) -> None:
        self._config = config
        config.folder.mkdir(parents=True, exist_ok=True)
        self._sinks = [*_wandb(config), *_tensorboard(config, done, self.notice)]
        keep_steps(config.folder / METRICS, done)
        self._file = PatientFile(config.folder / METRICS, self.notice)
        self._seconds: Counter[str] = Counter()

    def notice(self, text: str) -> None:
        """Print a line of text on the terminal. Thread-safe."""
        sys.stderr.write(text + "\n")

    def step(self, step: int, figures: Mapping[str, float], clock: Clock) -> None:
        """Report a step: its figures by name, and the seconds of its parts by the clock."""
        seconds = clock.seconds()
        self._seconds.update(seconds)
        timed = {f"seconds_{name}": seconds[name] for name in SPANS if name in seconds}
        row = {**figures, "step_seconds": sum(seconds.values()), **timed}
        known = {name: value for name, value in row.items() if math.isfinite(value)}
        line = {"step": step, "time": round(time.time(), 3), **dict.fromkeys(row), **known}  # JSON has no NaN
        self._file.append(json.dumps(line, allow_nan=False) + "\n")
        for send, _ in self._sinks:
            send(step, known)
        status = [f"{label} {known[name]:{form}}" for name, label, form in STATUS if name in known]
        self.notice(" · ".join([f"step {step}/{self._config.steps}", *status]))

    def close(self) -> None:
        """Close the files and print where the time went."""
        self._file.close()
        for _, finish in self._sinks:
            finish()
        if self._seconds:
            self.notice(where_the_time_went(self._seconds))


def where_the_time_went(seconds: Mapping[str, float]) -> str:
    """Return one line with the shares of the total time, from seconds by name."""
    total = sum(seconds.values()) or 1.0
    shares = [f"{name} {seconds[name] / total:.0%}" for name in SPANS if seconds.get(name, 0.0) > 0]
    return f"{timedelta(seconds=round(total))}: " + " · ".join(shares)


def _tensorboard(config: Config, done: int, notice: Callable[[str], None]) -> Iterator[Sink]:
    """Yield a writer of event files; none if the package is missing, because it is on by default."""
    if not config.watch.tensorboard:
        return
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        notice("no TensorBoard: pip install tensorboard, or set watch.tensorboard = false")
        return
    writer: Any = SummaryWriter(str(config.folder / "tensorboard"), purge_step=done + 1)

    def send(step: int, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            writer.add_scalar(name, value, step)
        writer.flush()

    yield send, writer.close


def _wandb(config: Config) -> Iterator[Sink]:
    if not config.watch.wandb:
        return
    try:
        wandb = importlib.import_module("wandb")
    except ImportError:
        raise ConfigError(
            "watch.wandb names a project, but wandb is not installed: pip install wandb, or leave watch.wandb empty"
        ) from None
    settings = config.model_dump(mode="json")
    run = wandb.init(project=config.watch.wandb, name=config.name, dir=str(config.folder), config=settings)
    yield lambda step, figures: run.log(dict(figures), step=step), run.finish


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, none if it does not exist. An incomplete last line is ignored."""
    if path.exists():
        with path.open(encoding="utf-8") as file:
            try:
                yield from (json.loads(line) for line in file if line.endswith("\n"))
            except ValueError as error:
                raise ConfigError(f"{path}: a line is damaged, remove it: {error}") from None


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
