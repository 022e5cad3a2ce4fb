"""A grader in this process, with a compile cache of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.settings import Settings
from tests.conftest import ISOLATION, need_firejail


@pytest.fixture(scope="session")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    """Keeps what it compiled for the whole session, the precompiled headers too."""
    need_firejail()
    settings = Settings(cache_folder=str(tmp_path_factory.mktemp("cache")), first_uid=61800, isolation=ISOLATION)
    with bootstrap.grader(settings) as found:
        yield found
