"""Runs an example: a folder and a reward service of its own, `proctor train` as processes, and curves as text."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.error import URLError
from urllib.request import urlopen

from trainer import checkpoint
from trainer.engines.process import free_port, start_guarded
from trainer.errors import ConfigError, TrainerError
from trainer.report import METRICS, read

START_SECONDS = 120.0
BARS = "▁▂▃▄▅▆▇█"


def run(name: str, main: Callable[[], int]) -> None:
    """Run the main function of an example, by its name in messages, and exit with its status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that started processes are stopped
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        sys.exit(main())
    except TrainerError as error:
        sys.exit(f"{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def parser(name: str, about: str | None, folder: Path, steps: int) -> argparse.ArgumentParser:
    """Return a parser with the options that all examples have.

    Args:
        name: The example's module.
        about: Its docstring, whose first line describes it.
        folder: The default of `--folder`.
        steps: The default of `--steps`.
    """
    made = argparse.ArgumentParser(prog=f"python -m examples.{name}", description=(about or "").partition("\n")[0])
    command = shutil.which("proctor") or ".venv/bin/proctor"
    made.add_argument("--folder", type=Path, default=folder)
    made.add_argument("--service", default="", help="URL of a running service; empty: start one")
    made.add_argument("--proctor", default=command, help="the command that starts the service")
    made.add_argument("--steps", type=int, default=steps)
    made.add_argument("--seed", type=int, default=0)
    return made


def train(*configs: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the metrics of the steps of `proctor train` with each configuration, run at the same time.

    Raises:
        ConfigError: A run failed.
    """
    folders = [Path(config["out"]) / config["name"] for config in configs]
    with ExitStack() as stack:
        for folder, config in zip(folders, configs, strict=True):
            path = folder.with_name(f"{folder.name}.json")
            path.write_text(json.dumps(config, indent=2))
            stack.enter_context(guarded([sys.executable, "-m", "trainer", str(path)], waits=True))
    for folder in folders:
        if not (folder / "model").exists():
            raise ConfigError(f"the run in {folder} did not end well: see its messages above")
    return [read(folder / METRICS) for folder in folders]


def curve(rates: list[float], width: int = 60) -> str:
    """Draw values in [0, 1], such as pass rates, as a line of bars of at most `width` characters."""
    size = -(-len(rates) // width)
    means = [mean(rates[start : start + size]) for start in range(0, len(rates), size)]
    return "".join(BARS[min(int(rate * len(BARS)), len(BARS) - 1)] for rate in means)


def mean(values: list[float]) -> float:
    """Return the mean, 0 of no values."""
    return sum(values) / len(values) if values else 0.0


@contextmanager
def serving(options: argparse.Namespace) -> Iterator[str]:
    """Start the reward service, unless the options name one, yield its URL, and stop it afterwards."""
    if options.service:
        yield options.service
        return
    port, log = free_port(), options.folder / "service.log"
    print("starting the reward service …", flush=True)
    with log.open("wb") as file, guarded([options.proctor, "serve", "--port", str(port)], file) as process:
        _wait_until_ready(process, f"http://127.0.0.1:{port}", log)
        yield f"http://127.0.0.1:{port}"


@contextmanager
def guarded(
    command: list[str], output: IO[bytes] | None = None, waits: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """Yield the guard of a command's process, with its output to a file, that ends with the block; if it `waits`, the
    block ends with the process. See `start_guarded`.
    """
    process = start_guarded(command, output)
    try:
        yield process
        if waits:
            process.wait()
    finally:
        process.terminate()
        process.wait()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create an empty folder for one example at a time; its content is deleted.

    Raises:
        ConfigError: Another process uses the folder.
    """
    with checkpoint.locked(folder.with_name(f".{folder.name}.lock")) as is_ours:
        if not is_ours:
            raise ConfigError(f"another run uses {folder}: wait for it, or name another folder (--folder)")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"{url}/readyz", timeout=5):  # noqa: S310 - our own URL
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise ConfigError(f"the reward service did not become ready:\n{log.read_text()[-2000:]}")
