"""Records flame graphs of processes with py-spy (pip install py-spy), which is no dependency of this project."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.contenders.base import UnavailableError

RATE = 250  # samples a second
LONGEST_SECONDS = 3600
END_SECONDS = 60.0


def need() -> str:
    """Return the path of py-spy. Raises UnavailableError if it is not installed."""
    found = shutil.which("py-spy")
    if found is None:
        raise UnavailableError("flame graphs need py-spy: pip install py-spy, and have it in PATH")
    return found


@contextlib.contextmanager
def recorded(folder: Path, pids: Mapping[str, int]) -> Iterator[None]:
    """Record Python processes until the end of the block, each to an SVG file.

    Only time on a processor counts. The functions of C extensions appear as the Python functions that call them.

    Args:
        folder: Where the files go; made if it is not there.
        pids: Processes, by the names of their files.

    Raises:
        UnavailableError: py-spy is not installed, or it cannot record a process.
    """
    program = need()
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--rate", str(RATE), "--duration", str(LONGEST_SECONDS), "--nonblocking"]
    recorders = {
        name: subprocess.Popen(
            [program, "record", *options, "--pid", str(pid), "--output", str(folder / f"{name}.svg")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name, pid in pids.items()
    }
    try:
        yield
    finally:
        for recorder in recorders.values():
            recorder.send_signal(signal.SIGINT)  # it writes its file then
        said = {name: recorder.communicate(timeout=END_SECONDS)[1] for name, recorder in recorders.items()}
    missing = [name for name in recorders if not (folder / f"{name}.svg").is_file()]
    if missing:
        raise UnavailableError(f"py-spy wrote no {missing[0]}.svg: {said[missing[0]].strip()[-400:]}")
