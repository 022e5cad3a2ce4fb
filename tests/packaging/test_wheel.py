"""The wheel works where it is installed: built from the sdist, put into an empty environment, used from elsewhere.

Nothing is downloaded: the environment sees the dependencies of this one, but neither its source tree nor its `proctor`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.conftest import need_firejail

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = ("sandbox_service", "trainer")
BUILT_FROM = (*PACKAGES, "pyproject.toml", "setup.py", "README.md", "LICENSE")
LEFT_OUT = {"trainer/README.md"}
PROBLEM = {"tests": [{"type": "stdin", "input": "1 2\n", "output": "3\n"}]}


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints. It must succeed, and knows nothing of this tree."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    ended = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def build(hook: str, tree: Path, target: Path) -> Path:
    """Call a hook of the build backend, as pip and `python -m build` do; the file that it made."""
    ask = f"from setuptools import build_meta; print('made:', build_meta.{hook}({str(target)!r}))"
    name = run(sys.executable, "-c", ask, cwd=tree).rpartition("made: ")[2].strip()
    return target / name


def files_of(tree: Path) -> set[str]:
    """All files of our packages but what is compiled."""
    return {
        path.relative_to(tree).as_posix()
        for package in PACKAGES
        for path in (tree / package).rglob("*")
        if path.is_file() and path.suffix not in (".so", ".elf", ".o", ".pyc")
    }


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpacked."""
    folder = tmp_path_factory.mktemp("build")
    tree = folder / "tree"
    tree.mkdir()
    for name in BUILT_FROM:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            shutil.copy(source, tree)
    archive = build("build_sdist", tree, folder)
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "sdist", filter="data")
    [unpacked] = (folder / "sdist").iterdir()
    return unpacked


@pytest.fixture(scope="module")
def installed(sdist: Path) -> Path:
    """An environment with the wheel in it."""
    folder = sdist.parents[1]
    wheel = build("build_wheel", sdist, folder)
    assert "-cp311-abi3-" in wheel.name, "one wheel is for all versions of Python"
    environment = folder / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=folder)
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python")
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=folder)
    elsewhere = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site_packages(environment) / "dependencies.pth").write_text("\n".join(elsewhere) + "\n")
    return environment


def site_packages(environment: Path) -> Path:
    [found] = environment.glob("lib/python*/site-packages")
    return found


def test_the_sdist_and_the_wheel_hold_every_file(sdist: Path, installed: Path) -> None:
    wanted = files_of(REPOSITORY)
    assert len(wanted) > 200
    assert wanted - files_of(sdist) == LEFT_OUT
    assert wanted ^ files_of(site_packages(installed)) == LEFT_OUT


def test_no_other_folder_is_installed(installed: Path) -> None:
    names = {path.name for path in site_packages(installed).iterdir()}
    assert {name for name in names if not name.endswith((".dist-info", ".pth"))} == set(PACKAGES)


def test_the_command_is_there_and_says_its_version(installed: Path, tmp_path: Path) -> None:
    said = run(installed / "bin" / "proctor", "--help", cwd=tmp_path)
    assert "serve" in said
    ask = "import sandbox_service, importlib.metadata as m; print(sandbox_service.__file__, m.version('proctor'))"
    place, version = run(installed / "bin" / "python", "-c", ask, cwd=tmp_path).split()
    assert Path(place).is_relative_to(installed)
    assert version[0].isdigit()
    if "--version" in said:
        assert version in run(installed / "bin" / "proctor", "--version", cwd=tmp_path)


def test_what_is_compiled_can_be_loaded(installed: Path, tmp_path: Path) -> None:
    for name in ("guest._box", "sandbox._host"):
        ask = f"import sandbox_service.{name} as built; print(built.__file__)"
        assert Path(run(installed / "bin" / "python", "-c", ask, cwd=tmp_path).strip()).is_relative_to(installed)


def test_data_is_found_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    """The pages, the Lua scripts, the attacks and the profile, each read by its own reader."""
    read = """
from redis.asyncio import Redis
from sandbox_service.api import dashboard
from sandbox_service.doctor import proof
from sandbox_service.fleet.ledger import lua
from sandbox_service.languages import python
from sandbox_service.sandbox import firejail
assert "/" in {route.path for route in dashboard.routes().routes}
assert len(lua.library().names) > 10
assert proof.known_attacks()
assert firejail.PROFILE.is_file() and (python.GUEST / "zygote.py").is_file()
"""
    run(installed / "bin" / "python", "-c", read, cwd=tmp_path)
    assert "SANDBOX_SLOTS" in run(installed / "bin" / "proctor", "serve", "--settings", cwd=tmp_path)


def test_it_grades(installed: Path, tmp_path: Path) -> None:
    need_firejail()
    (tmp_path / "problem.json").write_text(json.dumps(PROBLEM))
    (tmp_path / "right.py").write_text("print(sum(map(int, input().split())))\n")
    words = ("grade", "--json", "problem.json", "right.py")
    grade = json.loads(run(installed / "bin" / "proctor", *words, cwd=tmp_path))
    assert (grade["verdict"], grade["reward"]) == ("AC", 1.0)
