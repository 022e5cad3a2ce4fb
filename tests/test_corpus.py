"""The corpus keeps its own rules: what the files must say, that nothing is missing, and that right programs are right.

Attacks are only ever parsed here; running them is the business of the tests that have a jail.
"""

from __future__ import annotations

import ast
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sandbox_service.schema import Submission
from tests import corpus
from tests.corpus import Attack, Program, VerdictCase
from tests.markers import some

FIELDS = {
    "attacks": ({"test", "expect", "outcome"}, {"runs"}),
    "programs": (
        set(),
        {"input", "input_expr", "output", "output_expr", "source_expr", "limits", "completion", "numpy"},
    ),
    "verdicts": (set(), set()),
}
PLAIN_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"}


def name(thing: Any) -> str:
    return str(thing.id)


@pytest.mark.parametrize("folder", FIELDS)
def test_every_file_says_what_it_is(folder: str) -> None:
    required, optional = FIELDS[folder]
    for path in corpus.sources(folder):
        _, about, meta = corpus.read(path)
        assert about.rstrip(")").endswith((".", "?", "!")), f"{path.name}: the docstring is no sentence"
        assert required <= meta.keys() <= required | optional, path.name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("folder", FIELDS)
def test_only_ce_does_not_compile(folder: str) -> None:
    for path in corpus.sources(folder):
        if path.parent.name == "CE":
            with pytest.raises((SyntaxError, ValueError)):
                compile(path.read_bytes(), path.name, "exec")
        else:
            compile(path.read_bytes(), path.name, "exec", dont_inherit=True)


def test_there_are_attacks_of_every_group() -> None:
    files = Counter(path.parent.name for path in corpus.sources("attacks"))
    assert set(files) == set(corpus.GROUPS)
    assert files.total() >= 60
    assert {attack.kind for attack in corpus.attacks()} == set(corpus.KINDS)


def test_attacks_can_only_lose() -> None:
    wrong = {attack.id: found for attack in corpus.attacks() if (found := defects(attack))}
    assert wrong == {}


def defects(attack: Attack) -> list[str]:
    """Say what an attack's file states wrongly."""
    rules = {
        "unknown kind of test": attack.kind in corpus.KINDS,
        "no verdict is expected": bool(attack.expect),
        "AC or an unknown verdict is expected": attack.expect <= set(corpus.VERDICTS) - {"AC"},
        "unknown outcome": attack.outcome in ("unpaid", "harmless"),
        "the attacker knows the answer": str(corpus.SECRET) not in attack.code,
        "the tested function is not defined": attack.kind == "stdin"
        or defines_solve(attack.code)
        or not reaches_its_end(attack.code),
    }
    return [rule for rule, is_kept in rules.items() if not is_kept]


def test_there_are_programs() -> None:
    assert len(corpus.programs()) >= 40
    assert sum(program.numpy for program in corpus.programs()) >= 3
    assert sum(program.completion for program in corpus.programs()) >= 3
    assert max(len(program.code) for program in corpus.programs()) > 1_000_000
    assert max(len(program.output) for program in corpus.programs()) > 5_000_000


PLAIN = [program for program in corpus.programs() if not program.numpy]


# of the others the service says so too: tests/service/test_corpora.py
@pytest.mark.parametrize("program", some(PLAIN, PLAIN[::6]), ids=name)
def test_right_programs_are_right(program: Program, tmp_path: Path) -> None:
    ended = run_plainly(program, tmp_path, sys.executable)
    assert ended.returncode == 0, ended.stderr.decode(errors="replace")[-2000:]
    assert ended.stdout.decode().split() == program.output.split()


def test_every_verdict_is_there_for_every_kind() -> None:
    files = Counter((case.kind, case.verdict) for case in corpus.verdicts())
    assert set(files) == {(kind, verdict) for kind in corpus.KINDS for verdict in corpus.VERDICTS}
    for kind in corpus.KINDS:
        assert files[kind, "RTE"] >= 4
        assert files[kind, "MLE"] >= 2


def test_problems_have_three_tests() -> None:
    types = {case.id: [test["type"] for test in case.tests] for case in corpus.verdicts()}
    assert types == {case.id: [case.kind] * 3 for case in corpus.verdicts()}


def test_bodies_are_submissions() -> None:
    things: list[Attack | Program | VerdictCase] = [*corpus.attacks(), *corpus.programs(), *corpus.verdicts()]
    assert {thing.id: trouble for thing in things if (trouble := refusal(thing.body()))} == {}


def refusal(body: dict[str, Any]) -> str:
    """Say why a body is no submission; an empty text if it is one."""
    try:
        submission = Submission.model_validate(body)
    except ValidationError as error:
        return str(error)
    return "" if submission.code or submission.completion else "there is no program"


def run_plainly(program: Program, folder: Path, interpreter: str) -> subprocess.CompletedProcess[bytes]:
    """The program as a file of its own, with a regular file as stdin, as much stack as may be had, and no jail."""
    (folder / "given").write_bytes(program.input.encode())
    (folder / "box").mkdir()
    (folder / "program.py").write_bytes(program.code.encode())
    with (folder / "given").open("rb") as stdin, contest_stack():
        return subprocess.run(
            [interpreter, folder / "program.py"],
            stdin=stdin,
            capture_output=True,
            cwd=folder / "box",
            env=PLAIN_ENVIRONMENT,
            timeout=60,
            check=False,
        )


@contextmanager
def contest_stack() -> Iterator[None]:
    """Raise the stack of the programs that are started: contest judges give one as large as the memory.

    Raised here and inherited: a function to run before the program (`preexec_fn`) would take a fork of all of pytest.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = 1 << 30
    resource.setrlimit(resource.RLIMIT_STACK, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def defines_solve(code: str) -> bool:
    """Is there a top-level function, class or assignment named `solve`?"""
    return any(
        (isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == "solve")
        or (isinstance(node, ast.Assign) and any(isinstance(it, ast.Name) and it.id == "solve" for it in node.targets))
        for node in ast.parse(code).body
    )


def reaches_its_end(code: str) -> bool:
    """Does loading the program plausibly come to its last line? (Some attacks strike, or spin, before.)"""
    last = ast.unparse(ast.parse(code).body[-1])
    return not last.startswith(("os._exit", "while True"))
