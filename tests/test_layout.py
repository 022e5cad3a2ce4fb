"""What is where: folders of data hold no code, and every package is one that is installed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.conftest import LONGEST, SLOW, WAITING

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("folder", ["datasets", "docker", "deploy"])
def test_folders_of_data_hold_no_python(folder: str) -> None:
    """They must not be importable: `datasets` and `docker` would hide well-known packages."""
    assert (REPOSITORY / folder).is_dir()
    assert [path for kind in ("*.py", "*.pyi", "*.so") for path in (REPOSITORY / folder).rglob(kind)] == []


def test_every_package_is_listed_as_one() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {path.parent for name in ("sandbox_service", "trainer") for path in (REPOSITORY / name).rglob("*.py")}
    assert sorted(settings["packages"]) == sorted(".".join(path.relative_to(REPOSITORY).parts) for path in folders)


def test_every_marker_that_is_set_by_itself_is_declared() -> None:
    markers = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["markers"]
    assert {"jail", "redis", "browser", "vllm"} <= {marker.partition(":")[0] for marker in markers}


@pytest.mark.parametrize("name", [*LONGEST, *SLOW, *WAITING])
def test_the_tests_that_are_named_are_there(name: str) -> None:
    assert [*(REPOSITORY / "tests").glob(f"{name}*")]
