"""A pytest plugin for SandboxFusion's own tests, whose requests to an application in their process go to the service.

The tests import modules of SandboxFusion. They get the models of its SDK instead, and a test client that sends each
request to the service. A data set that a test names by its id is read from the samples beside the tests, and sent as
`config.provided_data`, because this service holds none. `PEERS_FOLDER` is a checkout of SandboxFusion.
"""

from __future__ import annotations

import asyncio
import importlib.machinery
import inspect
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

import httpx
import pytest
import sandbox_fusion.models as models
from report import refused

URL = os.environ["PEERS_URL"]
CHECKOUT = Path(os.environ["PEERS_FOLDER"])
SAMPLES = CHECKOUT / "sandbox" / "tests" / "datasets" / "samples"
SECONDS = 600.0


class TestClient:
    """Sends requests to the service. Stands for FastAPI's client of an application."""

    __test__ = False

    def __init__(self, _: Any = None) -> None:
        self._client = httpx.Client(base_url=URL, timeout=SECONDS)

    def post(self, path: str, json: Any = None) -> httpx.Response:
        """Return the answer to a POST."""
        return _noted(self._client.post(path, json=_with_rows(path, json)))

    def get(self, path: str) -> httpx.Response:
        """Return the answer to a GET."""
        return _noted(self._client.get(path))


def _noted(response: httpx.Response) -> httpx.Response:
    if response.status_code in (404, 422):
        refused(response.text[:300])
    return response


def _with_rows(path: str, body: Any) -> Any:
    """Return the body with the rows of its data set, if it names one that is among the samples."""
    config = body.get("config") if isinstance(body, dict) else None
    if not isinstance(config, dict) or config.get("provided_data"):
        return body
    rows = _rows(body.get("dataset", ""))
    if path in ("/submit", "/get_prompt_by_id"):
        rows = [row for row in rows if row.get("id") == body.get("id")][:1]
    if not rows:
        return body
    given = rows[0] if path in ("/submit", "/get_prompt_by_id") else rows
    return {**body, "config": {**config, "provided_data": given}}


def _rows(data_set: str) -> list[dict[str, Any]]:
    names = {f"code_eval_{data_set}".lower(), data_set.lower()}
    for path in SAMPLES.rglob("*.jsonl"):
        if path.stem.lower() in names:
            return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return []


def load_jsonl(path: str) -> list[dict[str, Any]]:
    """Return the rows of a file, as SandboxFusion's helper does."""
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line.strip()]


def _module(name: str, **contents: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    vars(module).update(contents)
    sys.modules[name] = module
    return module


def pytest_configure() -> None:
    """Put the stand-ins in place of SandboxFusion's modules."""
    shared = {name: value for name, value in vars(models).items() if inspect.isclass(value)}
    for model in shared.values():
        if hasattr(model, "json") and not hasattr(model, "model_dump"):  # the SDK's models are pydantic 1's
            model.model_dump = lambda self: json.loads(self.json())
    root = _module("sandbox")
    root.__path__ = [str(CHECKOUT / "sandbox")]  # for sandbox.tests
    for name in ("datasets", "datasets.types", "runners", "runners.types", "server", "server.online_judge_api"):
        _module(f"sandbox.{name}", **shared)
    _module("sandbox.server.sandbox_api", **shared)
    _module("sandbox.server.server", app=None)
    _module("sandbox.utils")
    _module("sandbox.utils.common", load_jsonl=load_jsonl)
    _module("fastapi")
    _module("fastapi.testclient", TestClient=TestClient)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run coroutines, as the peer's own plugin does."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
