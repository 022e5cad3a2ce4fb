"""`pip install proctor` installs the client, and a command that says what else to install."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
MODULES = {"prometheus-client": "prometheus_client"}


def names(requirements: list[str]) -> set[str]:
    return {found[0] for each in requirements if (found := re.match(r"[\w-]+", each))}


def without_the_service(source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python without any package of the extra `service`."""
    missing = {MODULES.get(name, name): None for name in names(PROJECT["optional-dependencies"]["service"])}
    command = [sys.executable, "-c", f"import sys; sys.modules.update({missing!r}); {source}", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_client_needs_little() -> None:
    assert names(PROJECT["dependencies"]) == {"aiohttp", "pydantic"}


def test_the_client_works_without_the_service() -> None:
    ended = without_the_service(
        "from sandbox_service.client import Client; print(Client('http://127.0.0.1:9').ready())"
    )
    assert ended.stdout == "False\n", ended.stderr


def test_the_command_says_what_to_install() -> None:
    for command in (["top", "--once"], ["grade", "a.json", "a.py"], ["doctor"], ["validate", "a.toml"]):
        ended = without_the_service("from sandbox_service import cli; sys.exit(cli.main())", *command)
        assert ended.returncode == 2, ended.stderr
        assert re.search(
            r"^proctor: \w+ is not installed: pip install 'proctor\[service\]'$", ended.stderr, re.MULTILINE
        ), ended.stderr
