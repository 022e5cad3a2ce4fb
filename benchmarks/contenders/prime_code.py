"""verl's grader for code, `prime_code`: its own module, run as its reward manager runs it."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.contenders.base import Contender, UnavailableError
from benchmarks.workloads import Body

FOLDER = "BENCH_VERL"
INSTALL = f"{FOLDER} names no folder with verl: pip install --no-deps --target FOLDER verl"


class PrimeCode(Contender[tuple[str, Body]]):
    """`prime_code.compute_score` of an installed verl, called as its `default_compute_score` does.

    For each submission it starts a Manager and a forked process, which runs all tests inside itself, with an alarm of
    5 s for each and 6 s for all of them. After a failure it does the same for each of the first ten tests, and the
    reward is the share of these that pass: so a program that fails in a later test only has the reward of a right one,
    and counts as accepted. Only this module is imported, without verl's other imports (torch, ray), so
    the forks are cheaper than in a trainer. verl's manager has 64 processes on any machine; pools here are smaller.
    """

    label: ClassVar[str] = "verl's prime_code"

    def start(self) -> None:
        """Import the module. Raises UnavailableError."""
        folder = Path(os.environ.get(FOLDER, "/nonexistent")) / "verl/utils/reward_score"
        if not (folder / "prime_code").is_dir():
            raise UnavailableError(INSTALL)
        sys.path.insert(0, str(folder))
        try:
            self._module: Any = importlib.import_module("prime_code")
        except ImportError as error:
            raise UnavailableError(f"verl's prime_code: {error}") from error
        finally:
            sys.path.remove(str(folder))

    def takes(self, body: Body) -> bool:
        """See Contender: stdin and call tests."""
        return bool(body["tests"][0]["type"] in ("stdin", "call"))

    def prepare(self, body: Body) -> tuple[str, Body]:
        """See Contender: tests in the form of the APPS data set."""
        tests = body["tests"]
        if tests[0]["type"] == "stdin":
            cases = {name + "s": [test[name] for test in tests] for name in ("input", "output")}
            return body["code"], cases
        inputs = ["\n".join(map(json.dumps, test["args"])) for test in tests]
        outputs = [json.dumps(test["output"]) for test in tests]
        return body["code"], {"fn_name": tests[0]["function"], "inputs": inputs, "outputs": outputs}

    def grade(self, job: tuple[str, Body]) -> bool:
        """See Contender."""
        code, cases = job
        reward, _ = self._module.compute_score(code, cases, continuous=True)
        return bool(reward == 1)
