"""The model and the problems of the example, made once for all tests that train on them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from examples import arithmetic
from examples.tiny import warm_up


@pytest.fixture(scope="session")
def warm_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that can write programs, about a third of which pass: half of the example's steps."""
    folder = tmp_path_factory.mktemp("warm") / "warm"
    warm_up(folder, 0, arithmetic.example, arithmetic.WARM_STEPS // 2)
    return folder


@pytest.fixture(scope="module")
def warm(warm_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this module's runs with that model and the problems."""
    folder = tmp_path_factory.mktemp("runs")
    shutil.copytree(warm_model, folder / "warm")
    arithmetic.write_problems(folder / "problems.jsonl")
    return folder
