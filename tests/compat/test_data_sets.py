"""`POST /submit` with rows of the data sets whose tests are programs, as SandboxFusion's classes read them."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import Any

import pytest

from sandbox_service.api.compat import data_sets
from sandbox_service.errors import BadRequestError
from tests.compat.programs import fenced
from tests.conftest import Service

BODY = "    total = 0\n    for number in numbers:\n        total += number\n    return total\n"
PROMPT = 'from typing import List\n\n\ndef add_up(numbers: List[int]) -> int:\n    """Return the sum."""\n'
CHECK = "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n"
HUMAN_EVAL = {"task_id": "x/0", "prompt": PROMPT, "entry_point": "add_up", "test": CHECK}
EVO_EVAL = {"id": "x/0", "content": PROMPT, "labels": json.dumps({"entry_point": "add_up"}), "test": CHECK}
UNITTEST = """import unittest
class TestCases(unittest.TestCase):
    def setUp(self):
        random.seed(1)
    def test_sum(self):
        self.assertEqual(add_up([1, 2]), 3)
    def test_error(self):
        with self.assertRaises(TypeError):
            add_up(None)
"""
BIG_CODE_BENCH = EVO_EVAL | {"content": "import random\n" + PROMPT, "test": UNITTEST}
MBPP = {
    "id": 1,
    "content": "Add up.",
    "labels": json.dumps({"test_setup_code": "ZERO = 0"}),
    "test_list": json.dumps(["assert add_up([1, 2]) == 3", "assert add_up([]) == ZERO"]),
}
MHPP = {
    "id": 1,
    "content": f"Write it.\n\n{PROMPT}",
    "labels": "{}",
    "test": "assert add_up([1]) == 1\nassert add_up([]) == 0",
}
AUTO_EVAL = {
    "id": 1,
    "content": "",
    "labels": {"programming_language": "python"},
    "test": {"code": "assert add_up([1]) == 1"},
}
CPP = {
    "name": "x_0",
    "language": "cpp",
    "prompt": "#include <vector>\n#include<boost/any.hpp>\n// Add up.\nlong add_up(std::vector<long> numbers) {\n",
    "tests": "}\nint main() {\n    auto candidate = add_up;\n"
    "    assert(candidate((std::vector<long>({(long)1, (long)2}))) == (3));\n}\n",
    "stop_tokens": ["\n}"],
}
CPP_BODY = (
    "    long total = 0;\n    for (long each : numbers) total += each;\n    return total;\n}\nint main() { broken"
)


def submitted(service: Service, completion: str, row: Any, data_set: str = "any", **config: Any) -> Any:
    body = {"dataset": data_set, "id": 1, "completion": completion, "config": {"provided_data": row, **config}}
    status, answer = service.client.post("/submit", body)
    return answer if status == 200 else (status, answer["error"]["message"])


def accepted(service: Service, completion: str, row: Any, data_set: str = "any", **config: Any) -> bool:
    answer = submitted(service, completion, row, data_set, **config)
    assert isinstance(answer, dict), answer
    found: bool = answer["accepted"]
    return found


@pytest.mark.parametrize(
    ("row", "config"),
    [
        (HUMAN_EVAL, {}),
        (HUMAN_EVAL, {"dataset_type": "HumanEvalDataset"}),
        (EVO_EVAL, {}),
        (EVO_EVAL, {"data_set": "evoeval"}),
        (BIG_CODE_BENCH, {"data_set": "bigcodebench"}),
    ],
    ids=["HumanEval", "by class", "EvoEval", "by name", "BigCodeBench"],
)
def test_an_answer_continues_the_prompt(service: Service, row: Any, config: dict[str, Any]) -> None:
    assert accepted(service, BODY, row, **config)
    assert accepted(service, BODY + "\n\ndef random(", row, **config)
    assert not accepted(service, BODY.replace("+=", "-="), row, **config)
    assert not accepted(service, "    return [0, 3]", row, **config)


@pytest.mark.parametrize("row", [HUMAN_EVAL, EVO_EVAL, BIG_CODE_BENCH, MBPP, MHPP, AUTO_EVAL])
def test_an_answer_is_a_block(service: Service, row: Any) -> None:
    whole = "def add_up(numbers):\n" + BODY
    for freeform in (True, False):
        assert accepted(service, fenced(whole), row, extra={"is_freeform": freeform})
        assert not accepted(service, fenced(whole.replace("+=", "-=")), row, extra={"is_freeform": freeform})
    answer = submitted(service, BODY, row, extra={"is_freeform": True})
    assert (answer["accepted"], answer["extracted_type"]) == (False, "empty")


@pytest.mark.parametrize("row", [MBPP, MHPP])
def test_an_answer_may_be_a_program_without_a_fence(service: Service, row: Any) -> None:
    assert accepted(service, f"def add_up(numbers):\n{BODY}[DONE]\nAnd so on.", row)
    assert not accepted(service, "I cannot.", row)


def test_the_last_assertion_counts_where_the_prompt_shows_the_others(service: Service) -> None:
    code = fenced("def add_up(numbers):\n    return 0")
    assert not accepted(service, code, MBPP)
    assert accepted(service, code, MBPP, is_fewshot=True)


def test_a_program_that_ends_before_its_tests_does_not_pass(service: Service) -> None:
    for row in (MHPP, MBPP, AUTO_EVAL):
        assert not accepted(service, fenced("def add_up(numbers):\n    raise SystemExit(0)"), row)


def test_a_place_for_the_answer(service: Service) -> None:
    test = {"code": "import math\nLIMIT = 3\n#<INSERT>\nassert add_up([1, 2]) == LIMIT"}
    right = fenced("def add_up(numbers):\n    return min(LIMIT, math.floor(sum(numbers)))")
    assert accepted(service, right, AUTO_EVAL | {"test": test})
    assert not accepted(service, fenced("def add_up(numbers):\n    return LIMIT - 1"), AUTO_EVAL | {"test": test})
    for code in ("x = '''#<INSERT>'''", "#<INSERT>\n#<INSERT>", "def f():\n    #<INSERT>\n    f()"):
        status, message = submitted(service, right, AUTO_EVAL | {"test": {"code": code}})
        assert (status, "#<INSERT>" in message) == (422, True)


def test_files_beside_a_program(service: Service) -> None:
    asset = {"data/numbers.csv": base64.b64encode(b"1\n2\n").decode(), "empty": None}
    test = {"code": "assert add_up() == 3", "asset": json.dumps(asset)}
    right = "def add_up():\n    return sum(map(int, open('data/numbers.csv')))"
    assert accepted(service, fenced(right), AUTO_EVAL | {"test": test})
    assert not accepted(service, fenced("def add_up():\n    return open('empty')"), AUTO_EVAL | {"test": test})


def test_tests_for_pytest(service: Service) -> None:
    code = "import pytest\nclass TestIt:\n    @pytest.mark.parametrize('n', [1, 2])\n    def test_one(self, n):\n"
    row = AUTO_EVAL | {
        "labels": {"programming_language": "python", "execution_language": "pytest"},
        "test": {"code": code + "        assert add_up([n]) == n"},
    }
    assert accepted(service, fenced("def add_up(numbers):\n" + BODY), row)
    assert not accepted(service, fenced("def add_up(numbers):\n    return 1"), row)
    tagged = "[Python]\ndef add_up(numbers):\n" + BODY + "[/Python]"
    assert accepted(service, tagged, row, "ncb_python_en")


def test_another_language(service: Service) -> None:
    named: list[tuple[str, dict[str, Any]]] = [("any", {}), ("humaneval_cpp", {"language": "python"})]
    for data_set, config in named:
        row = CPP if data_set == "any" else {name: value for name, value in CPP.items() if name != "language"}
        answer = submitted(service, CPP_BODY, row, data_set, **config)
        assert (answer["accepted"], answer["extra"]) == (True, None), answer
        assert not accepted(service, CPP_BODY.replace("total +=", "total -="), row, data_set, **config)


def test_an_import_that_nothing_uses_is_left_out(service: Service) -> None:
    whole = CPP["prompt"] + CPP_BODY.partition("int main")[0]  # type: ignore[operator]
    assert accepted(service, f"```cpp\n{whole}```", CPP, extra={"is_freeform": True})


def test_a_test_that_can_be_forged_says_so(service: Service) -> None:
    row = CPP | {"tests": "}\nint main() { for (int i = 0; i < 2; i++) assert(add_up({i}) == i); }"}
    answer = submitted(service, CPP_BODY, row)
    assert (answer["accepted"], answer["extra"]) == (True, {"forgeable": True})


@pytest.mark.parametrize(
    ("row", "config", "named"),
    [
        (CPP | {"stop_tokens": ["re:x"]}, {}, "stop_tokens"),
        (CPP | {"tests": "boost::any x;"}, {}, "not installed"),
        (CPP | {"language": "jl"}, {}, "'jl' is not supported"),
        (CPP | {"language": "lua"}, {}, "tests of type assert are for"),
        (MBPP, {"dataset_type": "HumanEvalDataset"}, "test program is missing"),
        (HUMAN_EVAL, {"dataset_type": "MBPPDataset"}, "test should be a list of texts"),
        (HUMAN_EVAL, {"dataset_type": "RepobenchPDataset"}, "'RepobenchPDataset' is not served"),
        (HUMAN_EVAL, {"data_set": "cruxeval"}, "not served"),
        (AUTO_EVAL | {"labels": {"programming_language": "java", "execution_language": "junit"}}, {}, "junit"),
        (
            AUTO_EVAL | {"labels": {"programming_language": "cpp"}, "test": {"code": "1", "asset": {"a": ""}}},
            {},
            "files",
        ),
    ],
)
def test_what_is_not_served_is_refused_by_name(service: Service, row: Any, config: dict[str, Any], named: str) -> None:
    status, message = submitted(service, BODY, row, **config)
    assert (status, named in message) == (422, True), message


@pytest.mark.parametrize(
    ("data_set", "language"),
    [("humaneval_cpp", "cpp"), ("shadow_humaneval_python", "python"), ("multiple_rs", "rs"), ("mbpp", ""), ("", "")],
)
def test_a_name_may_tell_the_language(data_set: str, language: str) -> None:
    assert data_sets.language_in(data_set) == language


def test_a_class_that_is_not_served_is_not_another() -> None:
    with pytest.raises(BadRequestError, match="minif2f_lean4_test"):
        data_sets.kind_of("minif2f_lean4_test", None)


def _mbxp(language: str, test: str) -> dict[str, Any]:
    labels = {"task_id": "MBXP/1", "programming_language": language, "execution_language": language}
    return {"id": 1, "content": "", "labels": json.dumps(labels), "test": json.dumps({"code": f"#<INSERT>\n{test}"})}


def test_rows_of_mbxp(service: Service) -> None:
    python = _mbxp("python", "def x_check(candidate):\n    assert candidate([1, 2]) == 3\nx_check(add_up)")
    right = "def add_up(numbers):\n" + BODY
    for config in ({"data_set": "mbxp_v1_en"}, {"dataset_type": "MBXPDataset"}, {"data_set": "humanevalds_v2_en"}):
        assert accepted(service, fenced(right), python, **config)
        assert not accepted(service, fenced(right.replace("+=", "-=")), python, **config)
    script = _mbxp("javascript", 'const _ = require("lodash")\nlet x = addUp([1])\nassert(_.isEqual(x, 1), "no")')
    for operator in "+-":
        code = f"```javascript\nfunction addUp(numbers) {{ return 0 {operator} numbers[0] }}\n```"
        assert accepted(service, code, script, "mbxp_v1_en") == (operator == "+")


@pytest.mark.parametrize("packed", [True, False])
def test_rows_of_live_code_bench(service: Service, packed: bool) -> None:
    columns = {"inputs": ["[1, 2]", "[]"], "outputs": ["3", "0"], "fn_name": "addUp"}
    test: Any = {"input_output": json.dumps(columns)}
    if packed:
        test = base64.b64encode(zlib.compress(pickle.dumps(test))).decode()
    row = {"id": 1, "content": "", "labels": "{}", "test": test}
    right = "class Solution:\n    def addUp(self, numbers: List[int]) -> int:\n        return sum(numbers)"
    assert accepted(service, fenced(right), row, "live_code_bench_v1")
    assert not accepted(service, fenced(right.replace("sum", "len")), row, "live_code_bench_v1")
    status, message = submitted(service, fenced(right), row | {"test": "1"}, "live_code_bench_v1")
    assert (status, "input_output" in message) == (422, True)


@pytest.mark.parametrize(
    ("language", "code", "test", "absent"),
    [
        ("java", "class A { static int f() { return 1; } }", "import org.junit.jupiter.api.Test;\nclass T {}", "junit"),
        (
            "javascript",
            "function f() { return 1 }",
            'const _ = require("nowhere"); for (const n of [1]) _.same(f(), n)',
            "nowhere",
        ),
    ],
)
def test_a_library_that_a_test_program_needs_is_no_fault_of_the_answer(
    service: Service, language: str, code: str, test: str, absent: str
) -> None:
    row = AUTO_EVAL | {"labels": {"programming_language": language}, "test": {"code": test}}
    status, message = submitted(service, f"```{language}\n{code}\n```", row)
    assert (status, absent in message, "bad_test" in message) == (422, True, True), message


@pytest.mark.parametrize(
    ("language", "code", "test"),
    [
        (
            "javascript",
            "function f() { console.error(\"Cannot find module 'fs'\"); process.exit(1) }",
            'const fs = require("fs"); for (const n of [1]) { if (f() !== n) throw n }',
        ),
        (
            "cpp",
            "#error fatal error: vector: No such file\nint f() { return 2; }",
            "#include <vector>\n#include <cassert>\nint main() { for (int n : std::vector<int>{1}) assert(f() == n); }",
        ),
    ],
)
def test_an_answer_cannot_say_that_a_library_is_missing(service: Service, language: str, code: str, test: str) -> None:
    """The verdict would be masked instead of wrong."""
    row = AUTO_EVAL | {"labels": {"programming_language": language}, "test": {"code": test}}
    assert not accepted(service, f"```{language}\n{code}\n```", row)
