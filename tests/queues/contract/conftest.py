"""Runs each test of the contract with every implementation of JobQueue; slots answer from a script, without a sandbox.

A test may not suppose that anything happens at once: see world.py.
"""

from __future__ import annotations

import pytest

from tests.queues.worlds import WORLDS


@pytest.fixture(params=list(WORLDS))
def kind(request: pytest.FixtureRequest) -> str:
    """The name of an implementation; see `play`."""
    return str(request.param)
