"""Workloads: lists of submissions in the form of `POST /v1/grade`, the same for every contender.

Programs are right unless their body is marked `wrong`, a field that no contender sees. Reference implementations here
that share no code with them compute the expected answers.
Random inputs have a fixed seed, so every driver builds the same workload.
"""

from __future__ import annotations

import ast
import copy
import itertools
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Body = dict[str, Any]

DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NODES, EDGES = 200, 300
NUMBERS = 50
HUMANEVAL_PROBLEMS = 16

ADDITION = "a, b = map(int, input().split())\nprint(a + b)\n"

DIJKSTRA = """\
import heapq
import sys


def main():
    numbers = iter(map(int, sys.stdin.read().split()))
    n, m = next(numbers), next(numbers)
    roads = [[] for _ in range(n)]
    for _ in range(m):
        u, v, length = next(numbers), next(numbers), next(numbers)
        roads[u].append((v, length))
        roads[v].append((u, length))
    far = [float("inf")] * n
    far[0] = 0
    queue = [(0, 0)]
    while queue:
        d, u = heapq.heappop(queue)
        if d > far[u]:
            continue
        for v, length in roads[u]:
            if d + length < far[v]:
                far[v] = d + length
                heapq.heappush(queue, (far[v], v))
    print(*far)


main()
"""

TWO_SUM = """\
def two_sum(numbers, target):
    seen = {}
    for i, x in enumerate(numbers):
        if target - x in seen:
            return [seen[target - x], i]
        seen[x] = i
"""


class NoDataError(Exception):
    """A file of the workload is missing; the message names it and says how to set its path."""


def build(name: str) -> list[Body]:
    """Return the submissions of the workload `name`."""
    return WORKLOADS[name]()


def is_wrong(body: Body) -> bool:
    """Return whether a submission must be rejected."""
    return bool(body.get("wrong"))


def fresh(body: Body, number: int) -> Body:
    """Return the same submission as a new program, as every answer of a model is, so that no cache applies."""
    sent = {name: value for name, value in body.items() if name != "wrong"}
    return sent | {"code": f"{body['code']}\n# answer {number}\n"}


def spoiled(body: Body) -> Body:
    """Return the submission with an additional last test that its program cannot pass."""
    changed = copy.deepcopy(body)
    last = changed["tests"][-1]
    if last["type"] == "assert":
        last["code"] += "\nassert False\n"
    else:
        last["output"] = "no such answer"
    return changed


def data_folder() -> Path:
    """Return the folder of collected public problems."""
    return Path(os.environ.get("PROCTOR_DATA") or DEFAULT_DATA)


def problems(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the problems of a data file, a JSON object a line."""
    if not path.exists():
        raise NoDataError(f"{path} is not there; set PROCTOR_DATA to the folder that has {path.name}")
    with path.open() as lines:
        yield from map(json.loads, lines)


def from_problem(problem: dict[str, Any], code: str) -> Body:
    """Return a solution of a collected problem as a submission."""
    make = {"stdin": _stdin_test, "call_args": _call_test, "assert": _assert_test}[problem["kind"]]
    return {"code": code, "tests": [make(problem, test) for test in problem["tests"]]}


def helpers_of(statement: str, entry_point: str) -> str | None:
    """Return the functions in a HumanEval prompt besides the entry point, with the prompt's imports."""
    try:
        nodes = ast.parse(statement).body
    except SyntaxError:
        return None
    kept = [node for node in nodes if getattr(node, "name", None) != entry_point]
    if not any(isinstance(node, ast.FunctionDef) for node in kept):
        return None
    return ast.unparse(ast.Module(kept, type_ignores=[])) + "\n"


def _stdin_test(_problem: dict[str, Any], test: dict[str, Any]) -> Body:
    return {"type": "stdin", "input": test["input"], "output": test["output"]}


def _call_test(problem: dict[str, Any], test: dict[str, Any]) -> Body:
    return {"type": "call", "function": problem["fn_name"], "args": test["args"], "output": test["output"]}


def _assert_test(problem: dict[str, Any], test: dict[str, Any]) -> Body:
    body = {"type": "assert", "code": test["assert"]}
    if entry_point := problem.get("fn_name"):
        body["entry_point"] = entry_point
        if prelude := _prelude(problem.get("statement", ""), entry_point):
            body["prelude"] = prelude
    return body


def _prelude(statement: str, entry_point: str) -> str | None:
    return "@leetcode" if entry_point.startswith("Solution()") else helpers_of(statement, entry_point)


def _stdin(count: int) -> list[Body]:
    """Two whole programs: a trivial one, and shortest paths in a graph of 200 nodes."""
    rng = random.Random(1)
    return [
        {"code": code, "tests": [{"type": "stdin", **case(rng)} for _ in range(count)]}
        for code, case in ((ADDITION, addition_case), (DIJKSTRA, dijkstra_case))
    ]


def addition_case(rng: random.Random) -> dict[str, str]:
    """Return two numbers and their sum."""
    a, b = rng.randrange(10**9), rng.randrange(10**9)
    return {"input": f"{a} {b}\n", "output": f"{a + b}\n"}


def dijkstra_case(rng: random.Random) -> dict[str, str]:
    """Return a connected graph and its distances. Each node has an edge to an earlier one, and others are random."""
    ends = [(rng.randrange(node), node) for node in range(1, NODES)]
    ends += [(rng.randrange(NODES), rng.randrange(NODES)) for _ in range(EDGES - len(ends))]
    edges = [(u, v, rng.randint(1, 1000)) for u, v in ends]
    lines = [f"{NODES} {EDGES}", *(f"{u} {v} {length}" for u, v, length in edges)]
    return {"input": "\n".join(lines) + "\n", "output": " ".join(map(str, _relaxed(edges))) + "\n"}


def _relaxed(edges: list[tuple[int, int, int]]) -> list[int]:
    """Bellman–Ford: relax all edges until nothing changes."""
    far, before = [0] + [10**9] * (NODES - 1), None
    while far != before:
        before = list(far)
        for u, v, length in edges:
            far[v] = min(far[v], far[u] + length)
            far[u] = min(far[u], far[v] + length)
    return far


def _failing(body: Body, place: int) -> Body:
    """Return a submission that fails in one of its tests."""
    tests = list(body["tests"])
    tests[place] = tests[place] | {"output": "no such answer"}
    return body | {"tests": tests, "wrong": True}


def _fail_first() -> list[Body]:
    """The programs of stdin10, which fail in the first test."""
    return [_failing(body, 0) for body in _stdin(10)]


def _mixture() -> list[Body]:
    """Answers as in training: of twelve, six are right, four fail in the first test, two in a later one."""
    bodies = _stdin(10)
    return [*bodies * 3, *(_failing(body, 0) for body in bodies * 2), *(_failing(body, 6) for body in bodies)]


def _calls(count: int) -> list[Body]:
    """Two-sum on a list of 50 numbers."""
    rng = random.Random(2)
    return [{"code": TWO_SUM, "tests": [two_sum_case(rng) for _ in range(count)]}]


def two_sum_case(rng: random.Random) -> Body:
    """Return numbers and a target that exactly one pair reaches."""
    while True:
        numbers = rng.sample(range(10**6), NUMBERS)
        target = sum(rng.sample(numbers, 2))
        pairs = [[i, j] for i, j in itertools.combinations(range(NUMBERS), 2) if numbers[i] + numbers[j] == target]
        if len(pairs) == 1:
            return {"type": "call", "function": "two_sum", "args": [numbers, target], "output": pairs[0]}


def _humaneval() -> list[Body]:
    """Problems spread evenly over HumanEval, each with its canonical solution."""
    found = list(problems(data_folder() / "humaneval.jsonl"))
    chosen = found[:: max(1, len(found) // HUMANEVAL_PROBLEMS)][:HUMANEVAL_PROBLEMS]
    return [from_problem(problem, problem["solutions"][0]["code"]) for problem in chosen]


WORKLOADS: dict[str, Callable[[], list[Body]]] = {
    "stdin10": lambda: _stdin(10),
    "stdin50": lambda: _stdin(50),
    "fail_first": _fail_first,
    "mixture": _mixture,
    "calls10": lambda: _calls(10),
    "calls50": lambda: _calls(50),
    "humaneval": _humaneval,
}
