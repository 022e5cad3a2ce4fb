"""The contenders whose programs may be absent: each says what is missing, and runs the commands that it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import contenders, pools
from benchmarks.contenders.base import UnavailableError

FAKE_ISOLATE = """#!/bin/sh
# -b NUMBER ACTION, or the limits with --run and a command
folder=FOLDER/$2
case "$*" in
*--init*) mkdir -p $folder/box; echo $folder ;;
*--cleanup*) rm -r $folder ;;
*--run*) while [ "$1" != -- ]; do shift; done; shift; cd $folder/box && exec "$@" ;;
esac
"""
BODY = {
    "code": "print(sum(map(int, input().split())))",
    "tests": [{"type": "stdin", "input": f"{n} 1\n", "output": f"{n + 1}\n"} for n in range(3)],
}
WRONG = BODY | {"code": "print(1)"}
FAKE_VERL = """
def compute_score(code, cases, continuous):
    return all(eval(code)(text) == wanted for text, wanted in zip(cases["inputs"], cases["outputs"])), None
"""


@pytest.mark.parametrize(
    ("name", "missing"),
    [("prime_code", "pip install --no-deps --target FOLDER verl"), ("isolate", "isolate is not installed")],
)
def test_what_is_missing_is_named(name: str, missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BENCH_VERL", raising=False)
    with pytest.raises(UnavailableError, match=missing):
        pools.check_usable(name)


def test_isolate_makes_runs_and_removes_a_box_for_each_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command, boxes = tmp_path / "isolate", tmp_path / "boxes"
    command.write_text(FAKE_ISOLATE.replace("FOLDER", str(boxes)))
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert pools.passed("isolate", [BODY, WRONG], 1) == [True, False]
    assert list(boxes.iterdir()) == []


def test_verls_module_gets_the_tests_in_its_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "verl/utils/reward_score/prime_code"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(FAKE_VERL)
    monkeypatch.setenv("BENCH_VERL", str(tmp_path))
    right = BODY | {"code": "lambda text: str(sum(map(int, text.split()))) + '\\n'"}
    assert pools.passed("prime_code", [right, right | {"code": "lambda text: ''"}], 1) == [True, False]


def test_calls_are_given_to_verls_module_as_lines_of_json() -> None:
    tests = [{"type": "call", "function": "add", "args": [1, [2]], "output": [3]}]
    code, cases = contenders.make("prime_code").prepare({"code": "…", "tests": tests})
    assert (code, cases) == ("…", {"fn_name": "add", "inputs": ["1\n[2]"], "outputs": ["[3]"]})
