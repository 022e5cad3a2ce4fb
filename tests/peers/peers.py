"""The peers whose own tests are run against the service, and how to run them.

`PROCTOR_PEERS` names a folder that `scripts/peers` makes: an environment with the peers' packages, and their tests as
far as a registry has them. Other peers' tests are taken from checkouts that are put beside them.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = 3600.0
ALLOWED = ("passed", "skipped")


@dataclass(frozen=True)
class Peer:
    """A peer.

    Attributes:
        name: The name of its plugin and of its table of expected outcomes.
        folder: Of its sources, in the folder that PROCTOR_PEERS names.
        tests: What pytest is to run there.
        origin: Where the sources come from, for people.
    """

    name: str
    folder: str
    tests: tuple[str, ...]
    origin: str


PEERS = (
    Peer("judge0_sdk", "judge0", ("tests",), "the source archive of judge0 on PyPI: scripts/peers"),
    Peer(
        "sandbox_fusion_tests",
        "SandboxFusion",
        ("sandbox/tests/datasets", "sandbox/tests/runners"),
        "a checkout of bytedance/SandboxFusion",
    ),
    Peer(
        "open_instruct_tests",
        "open-instruct",
        ("open_instruct/code_utils/test_code_utils.py",),
        "a checkout of allenai/open-instruct",
    ),
    Peer(
        "verl_tests",
        "verl",
        ("tests/utils/reward_score/reward_score/test_sandbox_fusion_on_cpu.py",),
        "a checkout of volcengine/verl",
    ),
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one of a peer's tests, and its reason unless it passed."""

    outcome: str
    reason: str


def missing(peer: Peer) -> str | None:
    """Return why a peer's tests cannot be run here, or None if they can."""
    root = os.environ.get("PROCTOR_PEERS", "")
    if not root:
        return "PROCTOR_PEERS names no folder; scripts/peers makes one"
    if not (Path(root) / "venv" / "bin" / "python").exists():
        return f"{root} has no environment for peers: run scripts/peers {root}"
    if not any((Path(root) / peer.folder / test).exists() for test in peer.tests):
        return f"{root} has no tests of {peer.folder}: {peer.origin}"
    return None


def outcomes(peer: Peer, url: str, report: Path) -> dict[str, Outcome]:
    """Run a peer's tests.

    Args:
        peer: The peer, of which nothing is missing.
        url: The service.
        report: A file to be written.

    Returns:
        The outcomes by the names of the tests.
    """
    root = Path(os.environ["PROCTOR_PEERS"])
    folder = root / peer.folder
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "PYTHONPATH": str(HERE / "plugins"),
        "PEERS_URL": url,
        "PEERS_REPORT": str(report),
        "PEERS_FOLDER": str(folder),
        "JUDGE0_CE_ENDPOINT": url,
        "JUDGE0_CE_AUTH_HEADERS": "{}",
        "JUDGE0_EXTRA_CE_ENDPOINT": url,
        "JUDGE0_EXTRA_CE_AUTH_HEADERS": "{}",
    }
    python = root / "venv" / "bin" / "python"
    there = [test for test in peer.tests if (folder / test).exists()]
    options = [
        "-p",
        "report",
        "-p",
        peer.name,
        "-p",
        "no:cacheprovider",
        "--noconftest",
        "-q",
        "--rootdir",
        str(folder),
    ]
    command = [str(python), "-m", "pytest", *options, "--override-ini", "addopts=", *there]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert report.exists(), f"no test was run: {ran.stdout[-2000:]}{ran.stderr[-2000:]}"
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return {line["test"]: Outcome(line["outcome"], line["reason"]) for line in lines}


def expected(peer: Peer) -> Mapping[str, Mapping[str, str]]:
    """Return the tests that do not pass, by outcome, each with the reason that it should not."""
    with (HERE / "expected" / f"{peer.name}.toml").open("rb") as file:
        found: dict[str, dict[str, str]] = tomllib.load(file)
    return found


def surprises(peer: Peer, found: Mapping[str, Outcome]) -> list[str]:
    """Return the differences between the outcomes and the table, as lines for people.

    A test that the service refuses with a reason (422) need not be in the table: the peer's client is told.
    """
    table = {test: outcome for outcome, tests in expected(peer).items() for test in tests}
    lines = []
    for test, each in found.items():
        wanted = table.get(test, "passed")
        if each.outcome == wanted or (each.outcome in ("refused", "skipped") and test not in table):
            continue
        lines.append(f"{test}: {each.outcome}, expected {wanted}: {each.reason}")
    return lines
