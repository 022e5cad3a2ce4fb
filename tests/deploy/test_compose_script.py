"""scripts/compose, with a stand-in for Docker Compose: which commands make the secrets."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "compose"
SECRETS = {"api_keys", "grafana_password", "redis_password"}
STAND_IN = Path(__file__).parents[1] / "stand_ins" / "docker"


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("up --detach --build", SECRETS),
        ("--profile validate run --rm validate", SECRETS),
        ("down", set()),
        ("ps", set()),
        ("--help", set()),
        ("up --help", set()),
    ],
)
def test_only_commands_that_start_containers_make_secrets(command: str, made: set[str], tmp_path: Path) -> None:
    for folder in ("scripts", "deploy", "bin"):
        (tmp_path / folder).mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    shutil.copy(STAND_IN, tmp_path / "bin")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        [tmp_path / "scripts" / "compose", *command.split()],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"docker compose -f compose.yaml {command}\n")
    assert {each.name for each in (tmp_path / "deploy").glob("secrets/*")} == made
