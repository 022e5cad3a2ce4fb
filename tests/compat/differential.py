"""Sends the same programs and tests to the native route and to every compatibility route and compares the verdicts.

A route is a function that sends requests as its client does and returns whether the program passed, or None if the
route cannot express the tests. The programs are those of `datasets/samples`, with all and with some of their tests. If
more are wanted, real data sets (`PROCTOR_DATA`) are used, with their own tests and with the next problem's. Outputs are
compared by words, which every route supports.

    python -m tests.compat.differential --pairs 2000
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_service.formats.problem import Problem
from tests.conftest import Service, running_service
from tests.service import test_data

Json = dict[str, Any]
Test = Json

SAMPLES = Path(__file__).parents[2] / "datasets" / "samples"
CPU_SECONDS = 1
THREADS = 4
TRIES, PAUSE_SECONDS = 3, 1.0  # as verl
SEED = 11
SLOW_SHARE = 0.02  # of those that take all their time, by every route


@dataclass(frozen=True)
class Pair:
    """A program and its tests, which are of one kind."""

    id: str
    code: str
    tests: tuple[Test, ...]
    cpu_seconds: float = CPU_SECONDS
    is_slow: bool = False

    @property
    def kind(self) -> str:
        return str(self.tests[0]["type"])

    @property
    def answer(self) -> str:
        return f"So:\n```python\n{self.code}\n```\n"

    @property
    def calls(self) -> bool:
        """True if these are calls that columns of arguments and results can express."""
        return self.kind == "call" and not any(test.get("kwargs") or test.get("calls") for test in self.tests)

    @property
    def columns(self) -> Json:
        """The tests in the format of LiveCodeBench, APPS and verl."""
        if self.kind == "stdin":
            return {name + "s": [test.get(name, "") for test in self.tests] for name in ("input", "output")}
        name = self.tests[0]["function"].removeprefix("Solution.")
        wanted = [test["output"] for test in self.tests]
        return {"inputs": [test.get("args", []) for test in self.tests], "outputs": wanted, "fn_name": name}


class Asked:
    """The service as a client uses it: retries when told that it took too long."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def __call__(self, path: str, body: object) -> Any:
        for _ in range(TRIES):
            status, answer = self._service.client.post(path, body)
            if status in (200, 201):
                return answer
            if status not in (503, 504):
                break
            time.sleep(PAUSE_SECONDS)
        raise AssertionError(f"{status}: {str(answer)[:300]}")


# --- by each route


def natively(ask: Asked, pair: Pair) -> bool:
    limits = {"cpu_seconds": pair.cpu_seconds}
    grade = ask("/v1/grade", {"code": pair.code, "tests": pair.tests, "limits": limits})
    assert grade["verdict"] != "IE", grade["failure_reason"]
    return bool(grade["verdict"] == "AC")


def run_code(ask: Asked, pair: Pair) -> bool | None:
    """Run a program per test and compare its output."""
    if pair.kind != "stdin":
        return None
    fixed = {"code": pair.code, "language": "python", "run_timeout": pair.cpu_seconds, "compile_timeout": 4}

    def passes(test: Test) -> bool:
        answer = ask("/run_code", fixed | {"stdin": test.get("input", "")})
        assert answer["status"] != "SandboxError"
        return answer["status"] == "Success" and same_words(answer["run_result"]["stdout"], test)

    return all(map(passes, pair.tests))


def submit(ask: Asked, pair: Pair) -> bool | None:
    def accepted(data: Json) -> bool:
        config = {"language": "python", "run_timeout": pair.cpu_seconds, "provided_data": data}
        return bool(ask("/submit", {"dataset": "", "id": 0, "completion": pair.answer, "config": config})["accepted"])

    if pair.kind == "stdin":
        cases = [
            {"input": {"stdin": test.get("input", "")}, "output": {"stdout": test["output"]}} for test in pair.tests
        ]
        return accepted({"test": cases})
    if pair.kind == "call":
        return accepted({"tests": pair.tests})
    return all(accepted(human_eval(test)) for test in pair.tests)


def common_evaluate(ask: Asked, pair: Pair) -> bool | None:
    def accepted(cases: Json) -> bool:
        config = {"language": "python", "run_timeout": pair.cpu_seconds, "provided_data": {"test_cases": cases}}
        return bool(ask("/common_evaluate_batch", {"completion": pair.answer, "config": config})["accepted"])

    if pair.kind == "assert":
        return all(accepted({"type": "assert", **human_eval(test)}) for test in pair.tests)
    if pair.kind == "call" and not pair.calls:
        return None
    columns = pair.columns
    cases = {"type": "stdin_stdout", "input": columns["inputs"], "output": columns["outputs"]}
    if pair.calls:
        wrapped = [[wanted] for wanted in columns["outputs"]]
        cases |= {"type": "function_call", "fn_name": columns["fn_name"], "output": wrapped}
    return accepted(cases)


def get_reward(ask: Asked, pair: Pair) -> bool | None:
    label = {"tests": pair.tests, "limits": {"cpu_seconds": pair.cpu_seconds}}
    prompt = "<|im_start|>user\n?<|im_end|>\n<|im_start|>assistant\n"
    query = f"{prompt}{pair.answer}<|im_end|>"
    [reward] = ask("/get_reward", {"query": [query], "prompts": [prompt], "labels": [label]})["rewards"]
    return bool(reward)


def slime(ask: Asked, pair: Pair) -> bool | None:
    tests: Json = pair.columns if pair.kind == "stdin" or has_plain_columns(pair) else {"tests": pair.tests}
    label = tests | {"limits": {"cpu_seconds": pair.cpu_seconds}}
    return bool(ask("/slime", {"prompt": "?", "response": pair.answer, "label": label}))


def test_program(ask: Asked, pair: Pair) -> bool | None:
    if pair.kind == "call" or any(test.get("prelude") for test in pair.tests):
        return None
    body: Json = {"program": pair.code, "max_execution_time": pair.cpu_seconds}
    if pair.kind == "assert":
        return all(ask("/test_program", body | {"tests": [called(test) for test in pair.tests]})["results"])
    tests = [{"input": test.get("input", ""), "output": test["output"]} for test in pair.tests]
    return all(ask("/test_program_stdio", body | {"tests": tests})["results"])


def verify(ask: Asked, pair: Pair) -> bool | None:
    if pair.is_slow or (pair.kind != "stdin" and not has_plain_columns(pair)):
        return None  # its time limit is its own
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": pair.answer}]}
    tests = pair.columns
    if pair.calls:  # as LiveCodeBench: JSON a line
        dump = json.dumps
        tests |= {"inputs": ["\n".join(map(dump, args)) for args in tests["inputs"]]}
        tests |= {"outputs": [dump(wanted) for wanted in tests["outputs"]]}
    body = {
        "responses_create_params": {"input": []},
        "response": {"output": [message]},
        "verifier_metadata": {"unit_tests": tests},
    }
    return bool(ask("/verify", body)["reward"])


def judge0(ask: Asked, pair: Pair) -> bool | None:
    if pair.kind != "stdin":
        return None
    fixed = {"source_code": pair.code, "language_id": 71, "cpu_time_limit": pair.cpu_seconds}

    def accepted(test: Test) -> bool:
        body = fixed | {"stdin": test.get("input", ""), "expected_output": test["output"]}
        said = ask("/submissions?wait=true", body)["status"]["description"]
        assert said not in ("Internal Error", "In Queue", "Processing"), said
        return bool(said == "Accepted")

    return all(map(accepted, pair.tests))


def piston(ask: Asked, pair: Pair) -> bool | None:
    """open-r1's package for Codeforces."""
    if pair.kind != "stdin":
        return None

    def accepted(test: Test) -> bool:
        texts = {
            "main.python": pair.code,
            "input.txt": test.get("input", ""),
            "correct_output.txt": test["output"],
            "grader_config": f"TIME_LIMIT={pair.cpu_seconds}\nMEMORY_LIMIT=1024\nINPUT_MODE=stdio",
        }
        files = [{"name": name, "content": content} for name, content in texts.items()]
        run = ask("/api/v2/execute", {"language": "cf_python3", "version": "*", "files": files})["run"]
        return bool(run["code"] == 0 and run["stdout"].strip() == "1")

    return all(map(accepted, pair.tests))


def execute(ask: Asked, pair: Pair) -> bool | None:
    if pair.kind != "stdin":
        return None
    fixed = {"generated_code": pair.code, "language": "python", "timeout": pair.cpu_seconds}

    def passes(test: Test) -> bool:
        answer = ask("/execute", fixed | {"std_input": test.get("input", ""), "max_output_characters": 10**6})
        return answer["process_status"] == "completed" and not answer["stderr"] and same_words(answer["stdout"], test)

    return all(map(passes, pair.tests))


ROUTES: dict[str, Callable[[Asked, Pair], bool | None]] = {
    "/run_code": run_code,
    "/submit": submit,
    "/common_evaluate_batch": common_evaluate,
    "/get_reward": get_reward,
    "/slime": slime,
    "/test_program": test_program,
    "/verify": verify,
    "/submissions": judge0,
    "/api/v2/execute": piston,
    "/execute": execute,
}


def same_words(stdout: str, test: Test) -> bool:
    return stdout.split() == str(test["output"]).split()


def human_eval(test: Test) -> Json:
    before = test.get("prelude") or ""
    name = test.get("entry_point") or ""
    return {"test": test["code"], "entry_point": name, "prompt": f"{before}def {name}()" if before else ""}


def called(test: Test) -> str:
    """Return a test program that calls its own `check`."""
    name = test.get("entry_point")
    return f"{test['code']}\ncheck({name})" if name else str(test["code"])


def has_plain_columns(pair: Pair) -> bool:
    """Return True if columns are unambiguous: a result that is a list of one could be taken for a wrapped result."""
    return pair.calls and not all(isinstance(test["output"], list) for test in pair.tests)


# --- pairs


def pairs(count: int, data: Path | None) -> list[Pair]:
    """Yield this many pairs, the same ones each time, a few of them slow."""
    chance = random.Random(SEED)
    found = [some for pair in sampled() for some in parts(pair)]
    chance.shuffle(found)
    if data and len(found) < count:
        more = list(real(data))
        chance.shuffle(more)
        found += more
    slow = [pair for pair in found if pair.is_slow][: max(1, int(count * SLOW_SHARE))]
    return [*slow, *(pair for pair in found if not pair.is_slow)][:count]


def parts(pair: Pair) -> Iterator[Pair]:
    """Yield the pair with all of its tests, with the first half, and with the last one."""
    yield pair
    count = len(pair.tests)
    if count > 1:
        for name, tests in (("first", pair.tests[: count // 2]), ("last", pair.tests[-1:])):
            yield Pair(f"{pair.id} {name}", pair.code, tests, pair.cpu_seconds, pair.is_slow)


def sampled() -> Iterator[Pair]:
    """Yield the pairs of `datasets/samples` that are compared by words."""
    for kind in ("stdin", "call", "assert"):
        for line in (SAMPLES / f"{kind}.jsonl").read_text().splitlines():
            problem = Problem.model_validate_json(line)
            if problem.checker is None:
                tests = tuple(test.model_dump(mode="json", exclude_defaults=True) for test in problem.tests or ())
                typed = tuple({"type": kind, **test} for test in tests)
                if all(isinstance(test.get("output", ""), str) or kind == "call" for test in typed):
                    for each in problem.solutions:
                        yield Pair(f"{problem.id} {each.name}", each.code, typed, is_slow="TLE" in each.verdicts)


def real(data: Path) -> Iterator[Pair]:
    """Yield pairs of real problems, compared by words as well, with their time limits."""
    sources: dict[str, Callable[[Json], Json]] = {
        "humaneval": test_data.human_eval,
        "humanevalpack_python_0_59": test_data.human_eval,
        "mbpp": test_data.asserts,
        "codecontests_100": lambda row: test_data.stdin(row, {}),
    }
    for name, to_body in sources.items():
        other = code = ""
        for case in test_data.cases(data, name, to_body):
            tests, seconds = tuple(case.body["tests"]), case.body.get("limits", {"cpu_seconds": 4})["cpu_seconds"]
            if "```" not in case.body["code"]:
                yield Pair(case.id, case.body["code"], tests, seconds, is_slow="TLE" in case.expected)
                if other and other not in case.id:
                    yield Pair(f"{case.id} by {other}", code, tests, seconds)
                other, code = case.id.rpartition("/")[0], case.body["code"]


# --- compared


def differences(service: Service, wanted: list[Pair]) -> tuple[list[str], Counter[str]]:
    """Return a line per answer that differs from the native one, and the number of pairs per route."""
    ask, counts = Asked(service), Counter[str]()

    def compare(pair: Pair) -> list[str]:
        passes = natively(ask, pair)
        counts["passed" if passes else "failed"] += 1
        lines = []
        for name, route in ROUTES.items():
            try:
                found: bool | str | None = route(ask, pair)
            except AssertionError as error:
                found = str(error)
            counts[name] += found is not None
            if found is not None and found != passes:
                lines.append(f"{name:<24} {pair.id:<60} natively {passes}, here {found}")
        return lines

    with ThreadPoolExecutor(THREADS) as threads:
        return [line for lines in threads.map(compare, wanted) for line in lines], counts


def main() -> int:
    """Print the table of differences. Return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2000)
    data = os.environ.get("PROCTOR_DATA")
    wanted = pairs(parser.parse_args().pairs, Path(data) if data else None)
    with running_service() as service:
        lines, counts = differences(service, wanted)
    print(f"{len(wanted)} pairs: {dict(counts)}", *lines, sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
