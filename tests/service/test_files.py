"""Programs in Python with files beside them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Service

FILES = {"helper.py": "from other import ONE\ndef add(a, b):\n    return a + b + ONE - 1\n", "other.py": "ONE = 1\n"}
CODE = "from __future__ import annotations\nimport helper\nprint(helper.add(*map(int, input().split())), __name__)"
NAMED = {  # as modules of the library, of which Python has imported `os` before it looks into the folder
    "helper.py": "from random import ONE\nfrom queue import add",
    "random.py": "ONE = 1",
    "queue.py": FILES["helper.py"].replace("other", "random"),
    "os.py": "sep = 1",
}
NAMED_CODE = "import collections, os\nfrom helper import add\nprint(add(1, 2), os.sep)"
STDIN = {"type": "stdin", "input": "1 2", "output": "3 __main__"}


@pytest.mark.parametrize(
    ("code", "files", "test"),
    [
        (CODE, FILES, STDIN),
        (CODE, FILES | {"main.py": "raise SystemExit(1)"}, STDIN),
        ("print(open('words.txt').read())", {"words.txt": "a\r\nb"}, {"type": "stdin", "output": "a\nb"}),
        ("import helper", {"helper.py": "import numpy as n\nprint(n.ones(2))"}, {"type": "stdin", "output": "[1. 1.]"}),
        (NAMED_CODE, NAMED, {"type": "stdin", "output": "3 /"}),
        ("from helper import add", FILES, {"type": "call", "function": "add", "args": [1, 2], "output": 3}),
        ("from helper import add", FILES, {"type": "assert", "code": "assert add(1, 2) == 3"}),
        ("from helper import add", FILES, {"type": "assert", "code": "for n in (1, 2): assert add(n, 2) == n + 2"}),
    ],
    ids=["modules", "a file named main.py", "data", "numpy", "library", "call", "plain assertion", "test program"],
)  # fmt: skip
def test_a_program_finds_the_files_beside_it(service: Service, code: str, files: Any, test: Any) -> None:
    grade = service.grade(code=code, files=files, tests=[test])
    assert grade["verdict"] == "AC", (grade["message"], grade["tests"])
    wrong = files | {"helper.py": "add = print\n", "words.txt": "c"}
    assert service.grade(code=code, files=wrong, tests=[test])["verdict"] in ("WA", "RTE")


def test_a_syntax_error_beside_files_is_found_when_the_program_runs(service: Service) -> None:
    grade = service.grade(code="import helper\nprint(", files=FILES, tests=[STDIN])
    assert grade["verdict"] == "RTE"
    assert "SyntaxError" in grade["tests"][0]["stderr"]


def test_a_text_has_no_files(service: Service) -> None:
    body = {"language": "text", "code": "3", "files": FILES, "tests": [{"type": "stdin", "output": "3"}]}
    assert service.client.post("/v1/grade", body)[0] == 422
