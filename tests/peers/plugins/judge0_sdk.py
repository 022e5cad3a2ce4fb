"""A pytest plugin for the tests of Judge0's SDK: the clients that they request, all connected to this service.

The tests name a client for each of Judge0's hosts. Each is built by the SDK's own class, whose address is ours; the SDK
itself is not changed.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from judge0 import clients

URL = os.environ["PEERS_URL"]
NAMES = {
    "ce_client": "Judge0CloudCE",
    "extra_ce_client": "Judge0CloudExtraCE",
    "atd_ce_client": "ATDJudge0CE",
    "atd_extra_ce_client": "ATDJudge0ExtraCE",
    "rapid_ce_client": "RapidJudge0CE",
    "rapid_extra_ce_client": "RapidJudge0ExtraCE",
    "judge0_cloud_ce_client": "Judge0CloudCE",
    "judge0_cloud_extra_ce_client": "Judge0CloudExtraCE",
}
HEADERS = '{"X-Auth-Token": "any"}'


def pytest_configure() -> None:
    """Set the addresses of the SDK's classes, as their documentation allows for hosts of one's own."""
    for name in set(NAMES.values()):
        getattr(clients, name).DEFAULT_ENDPOINT = URL


def _fixture(name: str) -> Any:
    @pytest.fixture(scope="session", name=name)
    def client() -> Any:
        kind = getattr(clients, NAMES[name])
        return kind(HEADERS) if "Cloud" in NAMES[name] else kind("key")

    return client


for each in NAMES:
    globals()[f"_{each}"] = _fixture(each)
