"""Folders that hold data must not be importable: `datasets` and `docker` would hide well-known packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import LONGEST

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("folder", ["datasets", "docker", "deploy"])
def test_folders_of_data_hold_no_python(folder: str) -> None:
    assert (REPOSITORY / folder).is_dir()
    assert [path for kind in ("*.py", "*.pyi", "*.so") for path in (REPOSITORY / folder).rglob(kind)] == []


def test_the_tests_that_go_first_are_there() -> None:
    assert [name for name in LONGEST if not (REPOSITORY / "tests" / f"{name}.py").is_file()] == []
