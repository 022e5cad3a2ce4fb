"""The browser of the pages' tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser import Browser, browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for the tests of a module."""
    with browser(tmp_path_factory.mktemp("browser")) as running:
        yield running
