"""Finds the installed libraries that boxes are shown: those that a setting names, and their requirements.

Read from the metadata beside the packages, by the service's own interpreter; nothing is imported. A library that is not
shown stays readable below /usr: this decides what `import` finds, and protects nothing.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

FOR_TESTS = ("pytest",)
"""What the test program of an assert test may import, and submissions may not."""

SHOWN_BELOW = "/usr/"  # the part of the file system that boxes see
ASK_SECONDS = 20
FOLDERS = "import json, site; print(json.dumps(site.getsitepackages()))"
EXTRA = re.compile(r";.*\bextra\b")
NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Package:
    """An installed library: its version, and the files and folders that `import` must find."""

    name: str
    version: str
    paths: tuple[str, ...]


@cache
def found(python: str, names: tuple[str, ...]) -> tuple[Package, ...]:
    """Return those of the libraries that the interpreter has, each followed by its requirements.

    Args:
        python: the interpreter's path.
        names: names as on an index, in any spelling.
    """
    known = {normal(each.metadata["Name"] or ""): each for each in distributions(path=_folders(python))}
    packages: dict[str, Package] = {}
    waiting = [normal(name) for name in reversed(names)]
    while waiting:
        name = waiting.pop()
        if name in known and name not in packages:
            packages[name] = Package(name, known[name].version, tuple(_paths(known[name])))
            waiting += reversed(_needed(known[name]))
    return tuple(packages.values())


def paths(packages: Iterable[Package]) -> list[str]:
    """Return the files and folders of all packages, sorted."""
    return sorted({path for package in packages for path in package.paths})


@cache
def _folders(python: str) -> list[str]:
    """Return the folders below /usr in which the interpreter finds libraries; none if it does not run."""
    try:
        said = subprocess.run(
            [python, "-E", "-s", "-c", FOLDERS], capture_output=True, timeout=ASK_SECONDS, cwd="/", env={}, check=False
        )
        folders: list[str] = json.loads(said.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    return [folder for folder in folders if folder.startswith(SHOWN_BELOW)]


def _needed(distribution: Distribution) -> list[str]:
    """Return the names of its requirements, less those of extras."""
    required = [line for line in distribution.requires or () if not EXTRA.search(line)]
    return [normal(match[0]) for line in required if (match := NAME.match(line))]


def _paths(distribution: Distribution) -> Iterator[str]:
    folder = Path(str(distribution.locate_file("")))
    listed = (distribution.read_text("top_level.txt") or "").split()
    for name in listed or [normal(distribution.metadata["Name"]).replace("-", "_")]:
        for path in (folder / name, folder / f"{name}.py", folder / f"{name}.libs", *folder.glob(f"{name}.*.so")):
            if path.exists():
                yield str(path)


def normal(name: str) -> str:
    """Return the name as package indexes normalize it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
