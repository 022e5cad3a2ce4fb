"""A grader in this process, with a compile cache that the processes of a test run share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.settings import Settings
from tests.conftest import ISOLATION, need_firejail


@pytest.fixture(scope="session")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    """Keeps what it compiled for the whole test run. The precompiled header of C++ takes seconds."""
    need_firejail()
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "compiled"
    settings = Settings(cache_folder=str(folder), first_uid=61800, isolation=ISOLATION)
    with bootstrap.grader(settings) as found:
        yield found
