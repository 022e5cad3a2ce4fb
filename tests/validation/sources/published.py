"""Rows in the formats of published data sets, written for these tests."""

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
    """Compress hidden tests as LiveCodeBench does."""
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
CODEFORCES: Row = {
    "id": "2000/B1",
    "contest_id": "2000",
    "index": "B1",
    "time_limit": 1.5,
    "memory_limit": 512.0,
    "title": "Any double",
    "description": "Print any even number that is at least twice the number.",
    "input_format": "A number.",
    "output_format": "An even number.",
    "interaction_format": None,
    "note": None,
    "examples": [{"input": "2\n", "output": "4\n"}],
    "rating": 900,
    "tags": ["math"],
    "official_tests": [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}],
    "official_tests_complete": False,
    "input_mode": "stdio",
    "generated_checker": "import sys\n"
    "given, answer, output = (open(name).read().split() for name in sys.argv[1:])\n"
    "print(int(len(output) == 1 and output[0].isdigit() and int(output[0]) % 2 == 0 and "
    "int(output[0]) >= 2 * int(given[0])))\n",
    "executable": True,
}
CODECONTESTS_PLUS: Row = {
    "source": "codeforces",
    "id": "2000_B1",
    "title": "Any double",
    "description": "Print any even number that is at least twice the number.",
    "time_limit": 1500,
    "memory_limit": 512,
    "checker": "#include <fstream>\nint main(int, char **v) { std::ifstream o(v[2]), a(v[3]); long x, y;"
    " return !(o >> x && a >> y && x >= y && x % 2 == 0); }",
    "test_cases": [{"input": "2\n", "output": "4\n"}],
    "correct_submissions": [{"code": DOUBLE, "language": 3}, {"code": "int main() {}", "language": "cpp"}],
    "incorrect_submissions": [{"code": "print(4)", "language": "py3"}],
    "true_positive_rate": 1.0,
    "true_negative_rate": 0.9,
}
MULTIPL_E: Row = {
    "name": "HumanEval_0_add",
    "language": "cpp",
    "prompt": "#include <assert.h>\n#include <bits/stdc++.h>\n// Add two numbers.\nlong add(long a, long b) {\n",
    "doctests": "transform",
    "original": "HumanEval_0_add.py",
    "prompt_terminology": "reworded",
    "tests": "}\nint main() {\n    auto candidate = add;\n    assert(candidate((1), (2)) == (3));\n}\n",
    "stop_tokens": ["\n}"],
}
HUMANEVAL_X: Row = {
    "task_id": "CPP/0",
    "prompt": "/*\nAdd two numbers.\n*/\n#include <stdio.h>\nusing namespace std;\nint add(int a, int b){\n",
    "declaration": "#include <stdio.h>\nusing namespace std;\nint add(int a, int b){\n",
    "canonical_solution": "    return a + b;\n}\n",
    "test": "#undef NDEBUG\n#include <assert.h>\nint main(){\n    assert (add(1, 2) == 3);\n}\n",
    "example_test": "",
}
MULTIPL_E_JS = MULTIPL_E | {
    "language": "js",
    "prompt": "//Add two numbers.\nfunction add(a, b){\n",
    "tests": "const assert = require('node:assert');\n\n\nfunction test() {\n  let candidate = add;\n"
    "  assert.deepEqual(candidate(1, 2),3);\n}\n\ntest();",
}
HUMANEVAL_X_JS = HUMANEVAL_X | {
    "task_id": "JavaScript/0",
    "prompt": "/* Add two numbers. */\nconst add = (a, b) => {\n",
    "declaration": "\nconst add = (a, b) => {\n",
    "canonical_solution": "  return a + b;\n}\n",
    "test": "const testAdd = () => {\n  console.assert(add(1, 2) === 3)\n}\n\ntestAdd()\n",
}
HUMANEVAL_PACK: Row = HUMANEVAL_X | {
    "entry_point": "add",
    "buggy_solution": "    return a - b;\n}\n",
    "bug_type": "operator misuse",
    "failure_symptoms": "incorrect output",
    "import": "",
    "test_setup": "",
}

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
    "codeforces": ("codeforces", CODEFORCES),
    "codecontests+": ("codecontests+", CODECONTESTS_PLUS),
    "multipl-e": ("multipl-e", MULTIPL_E),
    "humaneval-x": ("humaneval-x", HUMANEVAL_X),
    "multipl-e javascript": ("multipl-e", MULTIPL_E_JS),
    "humaneval-x javascript": ("humaneval-x", HUMANEVAL_X_JS),
    "humanevalpack": ("humaneval-x", HUMANEVAL_PACK),
}
