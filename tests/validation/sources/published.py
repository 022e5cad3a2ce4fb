"""Rows in the forms that data sets are published in, written for these tests."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import Any

Row = dict[str, Any]

DOUBLE = "print(2 * int(input()))"
PICK = "class Solution:\n    def pick(self, xs: List[int], k: int) -> List[int]:\n        return xs[:k]\n"
STARTER = "class Solution:\n    def pick(self, xs: List[int], k: int) -> List[int]:\n        "


def packed(found: object) -> str:
    """As LiveCodeBench packs its hidden tests."""
    return base64.b64encode(zlib.compress(pickle.dumps(found))).decode()


def verl(source: str, truth: object, ability: str = "code", **more: Any) -> Row:
    return {
        "data_source": source,
        "prompt": [{"role": "system", "content": "Think."}, {"role": "user", "content": "Double a number."}],
        "ability": ability,
        "reward_model": {"style": "rule", "ground_truth": truth if isinstance(truth, str) else json.dumps(truth)},
        "extra_info": {"split": "train", "index": 7, **more},
    }


OURS: Row = {
    "format": 1,
    "id": "double",
    "prompt": "Double a number.",
    "tests": [{"type": "stdin", "input": "2", "output": "4"}],
    "solutions": [{"code": DOUBLE}],
    "source": "mine",
    "licence": "CC0-1.0",
}
LABELLED: Row = {
    "id": "bugs/double",
    "source": "https://example.org/bugs",
    "licence": "MIT",
    "kind": "stdin",
    "language": "python",
    "statement": "Double a number.",
    "tests": [{"input": "2\n", "output": "4\n"}],
    "solutions": [
        {"code": DOUBLE, "language": "python", "expected_verdict": ["AC"], "file": "right.py"},
        {"code": "print(4)", "language": "python", "expected_verdict": ["NOT_AC"], "file": "wrong.py"},
    ],
    "checker": {"type": "default"},
    "time_limit_s": 2,
    "memory_limit_mb": 512,
}
ARCHER_CODE = verl("code", {"inputs": ["2\n"], "outputs": ["4\n"]})
ARCHER_LCB = verl(
    "livecodebench_v5",
    [{"input": "[3, 4]\n1", "output": "[3]", "testtype": "functional", "metadata": {"func_name": "pick"}}],
)
ARCHER_MATH = verl("math", "\\frac{1}{2}", "math")
CODE_R1 = verl(
    "code",
    {"functional": "def check(candidate):\n    assert candidate([3, 4], 1) == [3]\n\n\ncheck(Solution().pick)\n"},
    "coding",
    reference=PICK,
    dataset="LeetCodeDataset",
)
RLLM = verl("primeintellect", [{"type": "stdin_stdout", "input": "2\n", "output": "4\n"}])

PRIMEINTELLECT: Row = {
    "problem": "Double a number.",
    "solutions": [f"```python\n{DOUBLE}\n```"],
    "tests": json.dumps([{"type": "stdin_stdout", "input": "2\n", "output": "4\n", "fn_name": None}]),
}
PRIMEINTELLECT_CALL = PRIMEINTELLECT | {
    "tests": json.dumps([{"type": "function_call", "fn_name": "double", "input": [2], "output": [4]}]),
    "solutions": ["def double(n):\n    return 2 * n\n"],
}
DEEPCODER_TACO: Row = {
    "problem": "Double a number.",
    "solutions": [DOUBLE],
    "tests": json.dumps({"inputs": ["2\n", "3\n"], "outputs": ["4\n", "6\n"]}),
}
DEEPCODER_LCB: Row = {
    "problem": "Take the first k.",
    "starter_code": STARTER,
    "tests": json.dumps([{"input": "[3, 4]\n1", "output": "[3]", "testtype": "functional"}]),
    "metadata": {"func_name": "pick"},
}
DEEPCODER_CODEFORCES: Row = {
    "problem": "Double a number.",
    "tests": json.dumps([{"input": "2\n", "output": "4\n", "testtype": "stdin"}]),
}
LIVECODEBENCH: Row = {
    "question_title": "Double",
    "question_content": "Double a number.",
    "platform": "atcoder",
    "question_id": "abc1_a",
    "contest_id": "abc1",
    "contest_date": "2024-08-03T00:00:00",
    "starter_code": "",
    "difficulty": "easy",
    "public_test_cases": json.dumps([{"input": "1\n", "output": "2\n", "testtype": "stdin"}]),
    "private_test_cases": packed(json.dumps([{"input": "4\n", "output": "8\n", "testtype": "stdin"}])),
    "metadata": "{}",
}
LIVECODEBENCH_CALL = LIVECODEBENCH | {
    "question_id": "3210",
    "platform": "leetcode",
    "starter_code": STARTER,
    "public_test_cases": json.dumps([{"input": "[1, 2]\n1", "output": "[1]", "testtype": "functional"}]),
    "private_test_cases": json.dumps([{"input": "[]\n0", "output": "[]", "testtype": "functional"}]),
    "metadata": '{"func_name": "pick"}',
}
LEETCODE_OLD: Row = {
    "task_id": "pick",
    "prompt": "from typing import *\n",
    "completion": PICK,
    "entry_point": "Solution().pick",
    "test": "def check(candidate):\n    assert candidate(xs = [3, 4], k = 1) == [3]\n",
    "query": "Take the first k. Answer in Python.",
    "response": f"```python\n{PICK}\n```",
    "input_output": [{"input": "xs = [3, 4], k = 1", "output": "[3]"}],
    "meta": {"question_id": 12, "difficulty": "Easy", "question_title": "Pick", "lang_code": STARTER},
}
LEETCODE_NEW: Row = {name: value for name, value in LEETCODE_OLD.items() if name != "meta"} | {
    "question_id": 12,
    "difficulty": "Easy",
    "tags": ["Array"],
    "problem_description": "Take the first k.",
    "starter_code": STARTER,
    "estimated_date": "2019-03-01 00:00:00",
}
TACO: Row = {
    "question": "Double a number.",
    "solutions": json.dumps([DOUBLE, "n = int(input())\nprint(n + n)"]),
    "starter_code": "",
    "input_output": json.dumps({"inputs": [["2"], "3\n"], "outputs": [["4"], "6\n"]}),
    "difficulty": "EASY",
    "source": "codeforces",
    "skill_types": "['Sorting']",
    "tags": "['Mathematics', 'Implementation']",
    "time_limit": "2.0 seconds",
    "memory_limit": "512.0 megabytes",
    "date": "2021-05-01",
    "name": None,
    "url": "https://example.org/1",
}
TACO_CALL = TACO | {
    "solutions": ["def total(t):\n    return sum(k * v for k, v in t.items())\n"],
    "input_output": json.dumps({"fn_name": "total", "inputs": [[{"1": 2}], [{"3": 4}]], "outputs": [[2], [12]]}),
}
APPS: Row = {
    "problem_id": 5,
    "question": "Take the first k.",
    "solutions": json.dumps([PICK]),
    "input_output": json.dumps({"fn_name": "pick", "inputs": [[[3, 4], 1]], "outputs": [[3]]}),
    "difficulty": "interview",
    "url": "https://example.org/5",
    "starter_code": STARTER,
}
CODECONTESTS: Row = {
    "name": "1_A. Double",
    "description": "Double a number.",
    "public_tests": {"input": ["2\n"], "output": ["4\n"]},
    "private_tests": {"input": ["3\n"], "output": ["6\n"]},
    "generated_tests": {"input": ["4\n", "5\n"], "output": ["8\n", "10\n"]},
    "source": 2,
    "difficulty": 7,
    "solutions": {"language": [3, 2], "solution": [DOUBLE, "int main() {}"]},
    "incorrect_solutions": {"language": [1, 9], "solution": ["print 4", "?"]},
    "cf_contest_id": 1,
    "cf_index": "A",
    "cf_rating": 800,
    "cf_tags": ["math", ""],
    "time_limit": {"seconds": 1, "nanos": 500000000},
    "memory_limit_bytes": 512000000,
    "input_file": "",
    "output_file": "",
}
KODCODE: Row = {
    "question_id": "Prefill_1_I",
    "question": "Double a number.",
    "solution": "def double(n):\n    if n is None:\n        raise ValueError('no number')\n    return 2 * n\n",
    "test": (
        "import pytest\nfrom solution import double as twice\n\n\ndef test_two():\n    assert twice(2) == 4\n\n\n"
        "def test_none():\n    with pytest.raises(ValueError, match='number') as caught:\n        twice(None)\n"
        "    assert 'no' in str(caught.value)\n\n\n"
        "class TestMore:\n    def test_nought(self):\n        assert twice(0) == 0\n"
    ),
    "test_info": [{"function_name": "double", "function_declaration": "def double(n):", "docstring": ""}],
    "subset": "Prefill",
    "style": "instruct",
    "gpt_pass_percentage": 0.7,
}
SYNTHETIC: Row = {
    "source": "apps",
    "task_type": "verifiable_code",
    "in_source_id": "9",
    "prompt": "Double a number, in Python.",
    "gold_standard_solution": f"```python\n{DOUBLE}\n```",
    "verification_info": json.dumps(
        {"language": "python", "test_cases": [{"type": "stdin_stdout", "input": "2\n", "output": "4\n"}]}
    ),
    "metadata": "{}",
    "problem_id": "vfc_9",
}
SYNTHETIC_MATH = SYNTHETIC | {
    "task_type": "verifiable_math",
    "prompt": "What is half of one?",
    "gold_standard_solution": "One half.",
    "verification_info": "{'ground_truth': '1/2'}",
}
HUMANEVAL: Row = {
    "task_id": "HumanEval/0",
    "prompt": "from typing import List\n\n\ndef helper(x):\n    return x\n\n\ndef add(a: int, b: int):\n    '+'\n",
    "entry_point": "add",
    "canonical_solution": "    return helper(a) + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
}
HUMANEVAL_PLUS = HUMANEVAL | {
    "test": "def check(candidate):\n    inputs = [[1, 2], [0, 0]]\n    for a, b in inputs:\n"
    "        assert candidate(a, b) == a + b\n"
}
MBPP: Row = {
    "task_id": 11,
    "text": "Write a function to add.",
    "code": "def add(a, b): return a + b",
    "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == one - 1"],
    "test_setup_code": "one = 1",
    "challenge_test_list": [],
}
MBPP_PLUS: Row = {
    "task_id": 11,
    "prompt": "Write a function to add.",
    "code": MBPP["code"],
    "test_list": MBPP["test_list"],
    "test": "assert add(2, 2) == 4",
    "test_imports": [],
}
CODEELO: Row = {
    "problem_id": "2000B1",
    "title": "Double",
    "rating": 900,
    "tags": ["math"],
    "description": "Double.",
    "input": "A number.",
    "output": "Twice the number.",
    "interaction": "",
    "note": "",
    "examples": [["2\n", "4\n"]],
    "time_limit_ms": 1500,
    "memory_limit_mb": 512,
}
AREAL: Row = {
    "query_id": "q1",
    "prompt": "Double a number, please.",
    "task": "code",
    "input_output": json.dumps({"inputs": ["2\n"], "outputs": ["4\n"]}),
    "solutions": [DOUBLE],
}
AREAL_MATH: Row = {"query_id": "q2", "prompt": "Half of one?", "task": "math", "solutions": ["\\boxed{\\frac{1}{2}}"]}
MATH: Row = {"problem": "Half of one?", "answer": "\\frac{1}{2}", "solution": "It is $\\boxed{\\frac{1}{2}}$."}

# Each row, and the reader that it is for.
ROWS: dict[str, tuple[str, Row]] = {
    "ours": ("problem", OURS),
    "labelled": ("labelled", LABELLED),
    "archer code": ("verl", ARCHER_CODE),
    "archer livecodebench": ("verl", ARCHER_LCB),
    "archer math": ("verl", ARCHER_MATH),
    "code-r1": ("verl", CODE_R1),
    "rllm": ("verl", RLLM),
    "deepcoder primeintellect": ("deepcoder", PRIMEINTELLECT),
    "deepcoder primeintellect call": ("deepcoder", PRIMEINTELLECT_CALL),
    "deepcoder taco": ("deepcoder", DEEPCODER_TACO),
    "deepcoder lcbv5": ("deepcoder", DEEPCODER_LCB),
    "deepcoder codeforces": ("deepcoder", DEEPCODER_CODEFORCES),
    "livecodebench": ("livecodebench", LIVECODEBENCH),
    "livecodebench call": ("livecodebench", LIVECODEBENCH_CALL),
    "leetcode before 0.3.1": ("leetcode", LEETCODE_OLD),
    "leetcode from 0.3.1": ("leetcode", LEETCODE_NEW),
    "taco": ("taco", TACO),
    "taco call": ("taco", TACO_CALL),
    "apps": ("taco", APPS),
    "codecontests": ("codecontests", CODECONTESTS),
    "kodcode": ("kodcode", KODCODE),
    "synthetic-1": ("synthetic-1", SYNTHETIC),
    "synthetic-1 math": ("synthetic-1", SYNTHETIC_MATH),
    "humaneval": ("humaneval", HUMANEVAL),
    "humaneval+": ("humaneval", HUMANEVAL_PLUS),
    "mbpp": ("mbpp", MBPP),
    "mbpp+": ("mbpp", MBPP_PLUS),
    "codeelo": ("codeelo", CODEELO),
    "areal": ("areal", AREAL),
    "areal math": ("areal", AREAL_MATH),
    "math": ("math", MATH),
}
